"""Decoded streams as Arrow tables: read by others, they say what the objects say."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.columns import FIELDS, by_duckdb, by_polars, by_pyarrow, outcomes, readers
from tests.support.outcome import decode_whole
from tests.support.samples import ANTHROPIC, CHAT, CUT, ODD, REFUSED
from tests.support.streams import said
from tests.support.vectors import body_of, cases

import turntape
from turntape import decode_to_arrow

VECTORS = {
    "chat_streams.json": "openai-chat",
    "anthropic_streams.json": "anthropic",
    "responses_streams.json": "openai-responses",
    "gemini_streams.json": "gemini",
    "bedrock_streams.json": "bedrock-converse",
}
BODIES = [CHAT, CUT, ODD, REFUSED, "", CHAT * 2, "data: {]\n\n"]


@readers
@pytest.mark.parametrize("file", VECTORS)
def test_the_vectors(file, read):
    """Every body of the vectors, those that take the same options in one call."""
    batches: defaultdict[str, list[bytes]] = defaultdict(list)
    for case in cases(file):
        asked = [case.get("dialect", VECTORS[file]), case.get("options", {})]
        batches[json.dumps(asked, sort_keys=True)].append(body_of(case))
    for settled, bodies in batches.items():
        dialect, options = json.loads(settled)
        expected = [decode_whole(body, dialect, **options) for body in bodies]
        assert outcomes(decode_to_arrow(bodies, dialect, **options), read) == expected
        tables = decode_to_arrow(bodies, dialect, strict=True, vendor="v", threads=2)
        expected = [decode_whole(body, dialect, strict=True, vendor="v") for body in bodies]
        assert outcomes(tables, read) == expected


@given(said(), st.integers(min_value=0))
@settings(max_examples=60)
def test_any_stream(case, place):
    pytest.importorskip("pyarrow")
    _, dialect, stream = case
    bodies = [stream.body, stream.body[: place % (len(stream.body) + 1)]]
    assert outcomes(decode_to_arrow(bodies, dialect)) == [
        decode_whole(body, dialect) for body in bodies
    ]


@readers
@pytest.mark.parametrize("threads", [1, 2, 7])
def test_many_bodies_in_order_with_their_failures(read, threads):
    bodies = BODIES * 30
    expected = [decode_whole(body, "openai-chat") for body in BODIES] * 30
    tables = decode_to_arrow(bodies, "openai-chat", threads=threads)
    assert outcomes(tables, read) == expected
    kinds = [outcome.fault and outcome.fault.kind for outcome in expected[: len(BODIES)]]
    assert kinds == [
        None, "TruncatedStream", None, "ProviderError", "TruncatedStream", None, "MalformedEvent",
    ]  # fmt: skip


def test_bodies_that_are_many_pieces_of_work():
    """Long enough together that each thread takes several; batches follow the order of the bodies."""
    pyarrow = pytest.importorskip("pyarrow")
    whole = CHAT.encode().removesuffix(b"data: [DONE]\n\n")
    bodies = [whole * (1 + at % 3 * 400) + str(at).encode() for at in range(40)]
    expected = [decode_whole(body, "openai-chat") for body in bodies]
    for threads in (1, 3):
        tables = decode_to_arrow(iter(bodies), "openai-chat", threads=threads)
        assert outcomes(tables) == expected
        batches = pyarrow.RecordBatchReader.from_stream(tables.events)
        assert sum(1 for _ in batches) > 1


def test_many_events_are_more_than_one_batch():
    pyarrow = pytest.importorskip("pyarrow")
    chunk = b'data: {"choices":[{"delta":{"content":"a"}}]}\n\n'
    tables = decode_to_arrow([chunk * 300_000 + b"data: [DONE]\n\n"], "openai-chat")
    sizes = [batch.num_rows for batch in pyarrow.RecordBatchReader.from_stream(tables.events)]
    assert sum(sizes) == len(tables.events) == 300_003
    assert len(sizes) > 1
    numbers = pyarrow.table(tables.events)["event"]
    assert numbers.to_pylist() == list(range(300_003))


def test_any_iterable_of_any_body():
    pytest.importorskip("pyarrow")
    body = CHAT.encode()
    forms: list[Any] = [CHAT, body, bytearray(body), memoryview(body)]
    expected = [decode_whole(body, "openai-chat")] * 4
    assert outcomes(decode_to_arrow(iter(forms), "openai-chat", threads=2)) == expected
    empty = decode_to_arrow([], "openai-chat")
    assert (len(empty.events), len(empty.messages)) == (0, 0)
    assert outcomes(empty) == []


@pytest.mark.parametrize("read", [by_pyarrow, by_polars, by_duckdb])
def test_no_bodies_still_have_columns(read):
    tables = decode_to_arrow([], "anthropic")
    assert read(tables.events) == read(tables.messages) == []


def test_the_schemas():
    pyarrow = pytest.importorskip("pyarrow")
    tables = decode_to_arrow([ANTHROPIC], "anthropic")
    events, messages = pyarrow.schema(tables.events), pyarrow.schema(tables.messages)
    assert events == pyarrow.table(tables.events).schema
    assert messages == pyarrow.table(tables.messages).schema
    named = "dictionary<values=string, indices=int8, ordered=0>"
    assert [(field.name, str(field.type), field.nullable) for field in events] == [
        ("body", "uint64", False),
        ("event", "uint64", False),
        ("type", named, False),
        ("index", "uint64", True),
        ("text", "large_string", True),
        ("id", "large_string", True),
        ("name", "large_string", True),
        ("stop_reason", named, True),
        ("terminal", named, True),
    ]
    fields = list(turntape.AssistantMessage.__dataclass_fields__)
    assert messages.names == ["body", *fields, "error"]
    required = {"body", "content", "stop_reason", "complete", "dialect", "warnings"}
    assert {field.name for field in messages if not field.nullable} == required
    assert messages.names == tables.messages.column_names
    usage = messages.field("usage").type
    assert [(field.name, str(field.type)) for field in usage] == [
        (name, "uint64") for name in turntape.Usage.__slots__ if name != "type"
    ]
    error = {field.name: str(field.type) for field in messages.field("error").type}
    assert error == {
        "type": "large_string",
        "kind": "large_string",
        "message": "large_string",
        "raw": "large_string",
        "status": "uint16",
        "retryable": "bool",
        "before_content": "bool",
        "offset": "uint64",
    }


def test_every_type_of_event_is_in_the_dictionary():
    pyarrow = pytest.importorskip("pyarrow")
    [column] = pyarrow.table(decode_to_arrow([CHAT], "openai-chat").events)["type"].chunks
    assert set(column.dictionary.to_pylist()) == {*FIELDS, "usage"}


def test_a_question_in_sql():
    duckdb = pytest.importorskip("duckdb")
    tables = decode_to_arrow([CHAT, REFUSED, CHAT], "openai-chat")
    messages = tables.messages
    assert messages.num_rows == 3
    found = duckdb.sql("SELECT sum(usage.output_tokens) FROM messages WHERE error IS NULL")
    assert found.fetchall() == [(18,)]
    found = duckdb.sql("SELECT body, error.kind, error.status FROM messages WHERE NOT complete")
    assert found.fetchall() == [(1, "rate_limit_error", 429)]


def test_a_table_is_read_as_often_as_one_likes():
    pyarrow = pytest.importorskip("pyarrow")
    table = decode_to_arrow([CHAT], "openai-chat").events
    first = pyarrow.table(table)
    assert first == pyarrow.table(table)
    del table
    assert first.num_rows == len(turntape.decode(CHAT, "openai-chat"))


def test_what_a_table_tells_of_itself():
    tables = decode_to_arrow([CHAT], "openai-chat")
    assert len(tables.events) == tables.events.num_rows == 13
    assert 500 < tables.messages.nbytes < 300_000
    assert repr(tables.events).startswith("ArrowTable(num_rows=13, column_names=[")
    assert repr(tables).startswith("DecodedTables(events=ArrowTable(")


def test_the_usage_of_an_event_is_that_of_the_message():
    pytest.importorskip("pyarrow")
    tables = decode_to_arrow([CHAT], "openai-chat")
    [told] = [row["text"] for row in by_pyarrow(tables.events) if row["type"] == "usage"]
    [row] = by_pyarrow(tables.messages)
    assert json.loads(told) == row["usage"]
    assert told.startswith('{"input_tokens":20,"output_tokens":9,')


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ({"threads": 0}, ValueError, "threads is at least 1"),
        ({"threads": -1}, ValueError, "out of range"),
        ({"eof": "later"}, ValueError, "eof"),
        ({"bodies": None}, TypeError, "NoneType"),
        ({"bodies": [CHAT, 1]}, TypeError, "expected bytes"),
        ({"dialect": "esperanto"}, ValueError, "no dialect"),
    ],
)
def test_wrong_arguments(arguments, error, match):
    called: dict[str, Any] = {"bodies": [CHAT], "dialect": "openai-chat", **arguments}
    with pytest.raises(error, match=match):
        decode_to_arrow(**called)


def test_without_a_library_that_reads_tables():
    """Nothing is imported for it."""
    code = (
        "import sys, turntape\n"
        "turntape.decode_to_arrow([], 'openai-chat')\n"
        "assert not {'pyarrow', 'polars', 'duckdb', 'numpy'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
