"""turntape beside the libraries that do the same work, in one table (`make bench-peers`).

All read the same bytes from memory, the clients with the transport for tests of their HTTP client: their
times are those of decoding, not of any socket. Everything is measured in turn, in one process.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import pytest
from benches import peers
from benches.bench_decode import check
from benches.peer_table import COLUMNS, Measured
from benches.ratio import Target, clock, in_turn

import turntape

if TYPE_CHECKING:
    from collections.abc import Callable

    from benches.conftest import Meter
    from benches.inputs import Stream
    from benches.peer_table import Kind

pytestmark = [
    pytest.mark.peer,
    # What the peers warn of is theirs to mend.
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.parametrize("stream", COLUMNS, indirect=True),
]

# What the accumulating helpers of the official clients are to be beaten by.
ACCUMULATED = {"openai-chat": Target(1000, 2000), "anthropic": Target(500, 900)}
OFFICIAL = "openai, anthropic"

Build: TypeAlias = "Callable[[Stream], Callable[[], Any]]"


@dataclass(frozen=True)
class Entry:
    """One row of the table: who, what of it is measured, and how."""

    name: str
    does: str
    kind: Kind
    build: Build


def ours_framing(stream: Stream) -> Callable[[], int]:
    reads = stream.reads()

    def run() -> int:
        decoder = turntape.SseDecoder()
        return sum(len(decoder.feed(read)) for read in reads) + len(decoder.finish())

    return run


def ours_events(stream: Stream) -> Callable[[], list[turntape.StreamEvent]]:
    """Decodes the reads one by one, as the peers get them."""
    reads = stream.reads()

    def run() -> list[turntape.StreamEvent]:
        decoder = turntape.StreamDecoder(stream.dialect)
        events = [event for read in reads for event in decoder.feed(read)]
        return events + decoder.finish()

    return run


def parser(package: str, function: str) -> Build:
    """A JSON parser over the bare payloads, whose results are dropped at once."""

    def build(stream: Stream) -> Callable[[], int]:
        loads: Any = import_module(package)
        for name in function.split("."):
            loads = getattr(loads, name)
        payloads = stream.payloads
        assert loads(payloads[5]) == json.loads(payloads[5])

        def run() -> int:
            for payload in payloads:
                loads(payload)
            return len(payloads)

        return run

    return build


ENTRIES = (
    Entry("turntape", "`SseDecoder.feed`, 8 KiB reads", "framing", ours_framing),
    Entry("httpx-sse", "`EventSource.iter_sse`", "framing", lambda s: peers.httpx_sse(s.body)),
    Entry(
        OFFICIAL,
        "the `SSEDecoder` of either client",
        "framing",
        lambda s: peers.official_framing(s.body, s.dialect),
    ),
    Entry(
        "orjson", "`loads` of the bare payloads, no framing", "values", parser("orjson", "loads")
    ),
    Entry("msgspec", "the same", "values", parser("msgspec", "json.decode")),
    Entry("jiter", "the same", "values", parser("jiter", "from_json")),
    Entry("json", "the same", "values", parser("json", "loads")),
    Entry(
        "httpx-sse with orjson",
        "framing, `loads`, text and arguments joined by hand",
        "values",
        lambda s: peers.httpx_sse_orjson(s.body, s.dialect),
    ),
    Entry("turntape", "`StreamDecoder.feed`, 8 KiB reads", "events", ours_events),
    Entry(
        OFFICIAL,
        "the events of `chat.completions.create` and `messages.create`, `stream=True`",
        "events",
        lambda s: peers.official(s.body, s.dialect, "events"),
    ),
    Entry(
        "turntape",
        "`decode_message`",
        "message",
        lambda s: lambda: turntape.decode_message(s.body, s.dialect),
    ),
    Entry(
        OFFICIAL,
        "their accumulating helpers, `ChatCompletionStreamState` and `messages.stream`",
        "message",
        lambda s: peers.official(s.body, s.dialect, "accumulated"),
    ),
    Entry(
        "LangChain",
        "`stream` of its chat model, chunks added up",
        "message",
        lambda s: peers.langchain(s.body, s.dialect),
    ),
    Entry(
        "pydantic-ai",
        "`direct.model_request_stream`, without an agent",
        "message",
        lambda s: peers.pydantic_ai(s.body, s.dialect),
    ),
    Entry(
        "LiteLLM",
        "`completion(stream=True)`, `stream_chunk_builder`",
        "message",
        lambda s: peers.litellm(s.body, s.dialect),
    ),
)

PACKAGES = (
    *("orjson", "msgspec", "jiter", "httpx-sse", "openai", "anthropic"),
    *("langchain-core", "langchain-openai", "langchain-anthropic"),
    *("pydantic-ai-slim", "litellm", "pydantic"),
)
"""What the rows stand for, as their versions are asked for."""


def agree(answer: Any, entry: Entry, stream: Stream) -> None:
    """The answer is what the stream's maker put in, as far as this peer tells."""
    match answer:
        case int():
            ends = stream.dialect == "openai-chat" and entry.kind == "framing"
            assert answer == len(stream.payloads) + ends, entry
        case (str(text), str(arguments)):
            assert text == stream.text, entry
            assert json.loads(arguments) == json.loads(stream.arguments), entry
        case list():
            check(turntape.assemble(cast("list[turntape.StreamEvent]", answer)), stream)
        case turntape.AssistantMessage():
            check(answer, stream)
        case _:
            pytest.fail(f"{entry.name} gave {answer!r:.100}")


def test_peers(meter: Meter, stream: Stream) -> None:
    """Every peer on one stream, in turn."""
    calls: dict[Entry, Callable[[], Any]] = {}
    for entry in ENTRIES:
        try:
            calls[entry] = entry.build(stream)
        except ImportError as error:
            meter.missing(f"{entry.name}: {error}")
            continue
        agree(calls[entry](), entry, stream)
    if not meter.timing:
        meter.record(ours_events(stream), 0)
        return
    events = len(stream.payloads)
    seconds = dict(zip(calls, in_turn(list(calls.values()), 20, clock), strict=True))
    for entry, taken in seconds.items():
        nanoseconds = taken / events * 1e9
        meter.peer(Measured(entry.name, entry.does, entry.kind, stream.dialect, nanoseconds))
    mine, helper = (
        next(
            taken
            for entry, taken in seconds.items()
            if (entry.name, entry.kind) == (name, "message")
        )
        for name in ("turntape", OFFICIAL)
    )
    meter.note(
        f"decode_message, {stream.dialect}, against the official client's accumulating helper",
        helper / mine,
        ACCUMULATED[stream.dialect],
    )
    meter.record(ours_framing(stream), seconds[ENTRIES[0]])
