"""turntape against the libraries that do the same work (`make bench-peers`).

The official clients, LangChain and LiteLLM read the same bytes from memory, with their HTTP client's
transport for tests: their times are those of decoding, not of any socket.
"""

from __future__ import annotations

import json
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest
from benches import peers
from benches.bench_decode import check
from benches.ratio import Target

import turntape

if TYPE_CHECKING:
    from collections.abc import Callable

    from benches.conftest import Meter
    from benches.inputs import Stream

pytestmark = [
    pytest.mark.peer,
    # What the peers warn of is theirs to mend.
    pytest.mark.filterwarnings("ignore"),
]

# What the accumulating helpers of the official clients are to be beaten by.
ACCUMULATED = {"openai-chat": Target(1000, 2000), "anthropic": Target(500, 900)}


def make(build: Callable[..., Any], *arguments: Any) -> Any:
    """The peer, or a skipped test where its library is not installed."""
    try:
        return build(*arguments)
    except ImportError as error:
        pytest.skip(f"make bench-peers installs it: {error}")


def agree(answer: peers.Answer, stream: Stream) -> None:
    """The peer gives what the stream's maker put in: the text, and the arguments as JSON says them."""
    text, arguments = answer
    assert text == stream.text
    assert json.loads(arguments) == json.loads(stream.arguments)


def events_of(stream: Stream) -> list[turntape.StreamEvent]:
    """Decodes the reads one by one, as the peers get them."""
    decoder = turntape.StreamDecoder(stream.dialect)
    events = [event for read in stream.reads() for event in decoder.feed(read)]
    return events + decoder.finish()


@pytest.mark.parametrize("peer", ["jiter", "msgspec", "json"])
def test_json(meter: Meter, stream: Stream, peer: str) -> None:
    """Other JSON parsers than orjson on the bare payloads."""
    module: Any = make(import_module, peer)
    loads = {"jiter": "from_json", "json": "loads", "msgspec": "json"}[peer]
    parse = getattr(module, loads)
    parse = parse.decode if peer == "msgspec" else parse
    payloads = stream.payloads
    assert parse(payloads[5]) == json.loads(payloads[5])
    check(turntape.assemble(turntape.decode(stream.body, stream.dialect)), stream)
    meter.compare(
        f"decode, {stream.dialect}, against {peer} on the payloads",
        lambda: turntape.decode(stream.body, stream.dialect),
        lambda: [parse(payload) for payload in payloads],
        Target(),
        events=len(payloads),
        measured="theirs",
    )


@pytest.mark.parametrize("peer", ["httpx_sse", "official_framing"])
def test_framing(meter: Meter, stream: Stream, peer: str) -> None:
    """The framing by itself, into Python objects."""
    arguments = (stream.body,) if peer == "httpx_sse" else (stream.body, stream.dialect)
    theirs = make(getattr(peers, peer), *arguments)
    reads = stream.reads()

    def ours() -> int:
        decoder = turntape.SseDecoder()
        return sum(len(decoder.feed(read)) for read in reads) + len(decoder.finish())

    assert theirs() == ours()
    meter.compare(
        f"SseDecoder, {stream.dialect}, against {peer.replace('_', ' ')}",
        ours,
        theirs,
        Target(),
        events=len(stream.payloads),
        measured="theirs",
    )


def test_official_events(meter: Meter, stream: Stream) -> None:
    """The typed events of the official clients."""
    chat = stream.dialect == "openai-chat"
    theirs = make(peers.openai_events if chat else peers.anthropic_events, stream.body)
    agree(theirs(), stream)
    check(turntape.assemble(events_of(stream)), stream)
    meter.compare(
        f"StreamDecoder, {stream.dialect}, against the typed events of the official client",
        lambda: events_of(stream),
        theirs,
        Target(),
        events=len(stream.payloads),
        measured="theirs",
    )


def test_official_accumulated(meter: Meter, stream: Stream) -> None:
    """The accumulating helpers of the official clients."""
    chat = stream.dialect == "openai-chat"
    theirs = make(peers.openai_accumulated if chat else peers.anthropic_accumulated, stream.body)
    agree(theirs(), stream)
    check(turntape.decode_message(stream.body, stream.dialect), stream)
    meter.compare(
        f"decode_message, {stream.dialect}, against the official client's accumulating helper",
        lambda: turntape.decode_message(stream.body, stream.dialect),
        theirs,
        ACCUMULATED[stream.dialect],
        events=len(stream.payloads),
        measured="theirs",
    )


@pytest.mark.parametrize("peer", ["langchain", "litellm"])
def test_frameworks(meter: Meter, stream: Stream, peer: str) -> None:
    """The frameworks that stand on the official clients, or beside them."""
    theirs = make(getattr(peers, peer), stream.body, stream.dialect)
    agree(theirs(), stream)
    meter.compare(
        f"decode_message, {stream.dialect}, against {peer}",
        lambda: turntape.decode_message(stream.body, stream.dialect),
        theirs,
        Target(),
        events=len(stream.payloads),
        measured="theirs",
    )
