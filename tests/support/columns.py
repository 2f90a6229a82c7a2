"""Tables of decoded streams, read by other libraries and made into objects again."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pytest
from tests.support import outcome
from tests.support.outcome import Outcome

import turntape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.support.outcome import Fault

    from turntape import ArrowTable, AssistantMessage, DecodedTables, StreamEvent

Row = dict[str, Any]

# Readers -----------------------------------------------------------------------------------------


def by_pyarrow(table: ArrowTable) -> list[Row]:
    pyarrow = pytest.importorskip("pyarrow")
    found = pyarrow.table(table)
    found.validate(full=True)
    rows: list[Row] = found.to_pylist()
    return rows


def by_polars(table: ArrowTable) -> list[Row]:
    polars = pytest.importorskip("polars")
    rows: list[Row] = polars.DataFrame(table).to_dicts()
    return rows


def by_duckdb(table: ArrowTable) -> list[Row]:
    duckdb = pytest.importorskip("duckdb")
    found = duckdb.connect().from_arrow(table).order("body")
    if "event" in table.column_names:
        found = found.order("body, event")
    names = [column[0] for column in found.description]
    return [dict(zip(names, values, strict=True)) for values in found.fetchall()]


READERS: list[Callable[[ArrowTable], list[Row]]] = [by_pyarrow, by_polars, by_duckdb]
readers = pytest.mark.parametrize("read", READERS)

# Rows as objects ---------------------------------------------------------------------------------

# What the columns `text`, `id` and `name` hold of an event, as the page on columns says.
FIELDS: dict[str, dict[str, str]] = {
    "message_start": {"id": "id", "name": "model"},
    "text_delta": {"text": "text"},
    "thinking_delta": {"text": "text"},
    "signature_delta": {"text": "signature"},
    "redacted_thinking": {"text": "data"},
    "tool_use_start": {"id": "id", "name": "name", "text": "extra"},
    "input_json_delta": {"text": "partial_json"},
    "citation": {"text": "json"},
    "extension": {"name": "kind", "text": "json"},
    "content_block_stop": {},
    "message_stop": {"text": "raw_reason"},
}
EVENTS: dict[str, Any] = {
    kind: getattr(turntape, "".join(word.title() for word in kind.split("_")))
    for kind in [*FIELDS, "usage"]
}
PROVIDER = ("kind", "status", "retryable", "before_content")
BLOCKS: dict[str, Any] = {
    "text": turntape.Text,
    "thinking": turntape.Thinking,
    "redacted_thinking": turntape.RedactedThinkingBlock,
    "tool_use": turntape.ToolUse,
    "provider_block": turntape.ProviderBlock,
}


def event_of(row: Row) -> StreamEvent:
    """The event that a row tells, which tells nothing else."""
    kind = row["type"]
    rest = {name: value for name, value in row.items() if value is not None}
    members: dict[str, Any] = {}
    for name in ("body", "event", "type"):
        del rest[name]
    if kind == "usage":
        members = json.loads(rest.pop("text"))
    else:
        for column, field in FIELDS[kind].items():
            members[field] = rest.pop(column, None)
    if kind == "message_stop":
        members |= {name: rest.pop(name) for name in ("stop_reason", "terminal")}
    if "index" in EVENTS[kind].__dataclass_fields__:
        members["index"] = rest.pop("index", None)
    assert not rest, (kind, rest)
    event: StreamEvent = EVENTS[kind](**members)
    return event


def block_of(item: Row) -> Any:
    kind = BLOCKS[item["type"]]
    rest = dict(item)
    members = {name: rest.pop(name) for name in kind.__dataclass_fields__}
    assert members.pop("type") == item["type"]
    if "citations" in members:
        members["citations"] = tuple(members["citations"])
    assert not any(rest.values()), rest
    assert rest.get("complete") is None
    return kind(**members)


def message_of(row: Row) -> AssistantMessage:
    members = {name: row[name] for name in turntape.AssistantMessage.__dataclass_fields__}
    members["content"] = tuple(map(block_of, row["content"]))
    members["usage"] = None if row["usage"] is None else turntape.Usage(**row["usage"])
    members["dialect"] = turntape.Dialect(row["dialect"])
    members["warnings"] = tuple(turntape.DecodeWarning(**each) for each in row["warnings"])
    return turntape.AssistantMessage(**members)


def fault_of(row: Row) -> Fault | None:
    error = row["error"]
    if error is None:
        return None
    facts = {name: error.pop(name) for name in PROVIDER}
    members = {name: error.pop(name) for name in ("message", "offset", "raw")}
    kind: Any = getattr(turntape, error.pop("type"))
    assert not error
    if kind is turntape.ProviderError:
        members |= facts
    else:
        assert set(facts.values()) == {None}
    if kind is turntape.StrictError:
        # The warning that failed it is the last one.
        members["warning"] = turntape.DecodeWarning(**row["warnings"][-1])
    return outcome.fault_of(kind(members.pop("message"), **members))


def outcomes(
    tables: DecodedTables, read: Callable[[ArrowTable], Iterable[Row]] = by_pyarrow
) -> list[Outcome]:
    """What the tables say of each body."""
    events: defaultdict[int, list[StreamEvent]] = defaultdict(list)
    for row in read(tables.events):
        assert row["event"] == len(events[row["body"]])
        events[row["body"]].append(event_of(row))
    messages = list(read(tables.messages))
    assert [row["body"] for row in messages] == list(range(len(messages)))
    assert set(events) <= set(range(len(messages)))
    return [
        Outcome(tuple(events[at]), message_of(row), fault_of(row))
        for at, row in enumerate(messages)
    ]
