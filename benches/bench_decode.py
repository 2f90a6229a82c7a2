"""Decoding whole bodies and single events, against `orjson.loads` of the bare payloads.

orjson is given what turntape has to find first: the payloads, cut out of the stream.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
from benches import inputs
from benches.ratio import Target

import turntape

orjson = pytest.importorskip("orjson", reason="orjson is what decoding is measured against")

if TYPE_CHECKING:
    from benches.conftest import Meter

# The wires after Chat have Chat's bounds.
DECODE = dict.fromkeys(inputs.DIALECTS, Target(4, 10)) | {"anthropic": Target(3, 5)}
DECODE_MESSAGE = dict.fromkeys(inputs.DIALECTS, Target(8, 18)) | {"anthropic": Target(5, 13)}


def check(message: turntape.AssistantMessage, stream: inputs.Stream) -> None:
    """The message says what the stream's maker put in."""
    text, call = message.content
    assert isinstance(text, turntape.Text)
    assert text.text == stream.text
    assert isinstance(call, turntape.ToolUse)
    assert call.arguments == stream.arguments
    assert message.complete
    assert message.stop_reason == "tool_use"
    assert message.usage is not None
    assert message.usage.output_tokens == 831
    assert message.warnings == ()


def loads_all(payloads: list[bytes]) -> list[Any]:
    """Every payload parsed, and all results kept, as a list of events is kept."""
    loads = orjson.loads
    return [loads(payload) for payload in payloads]


def loads_each(payloads: list[bytes]) -> None:
    """Every payload parsed, and nothing kept: the least that orjson can do."""
    loads = orjson.loads
    for payload in payloads:
        loads(payload)


def test_decode(meter: Meter, stream: inputs.Stream) -> None:
    payloads = stream.payloads
    events = turntape.decode(stream.body, stream.dialect)
    check(turntape.assemble(events), stream)
    assert sum(isinstance(event, turntape.TextDelta) for event in events) == inputs.TEXT_DELTAS
    assert len(loads_all(payloads)) == len(payloads)
    meter.compare(
        f"decode, {stream.dialect}, against orjson.loads of the payloads",
        lambda: turntape.decode(stream.body, stream.dialect),
        lambda: loads_all(payloads),
        DECODE[stream.dialect],
        events=len(payloads),
    )


def test_decode_message(meter: Meter, stream: inputs.Stream) -> None:
    payloads = stream.payloads
    check(turntape.decode_message(stream.body, stream.dialect), stream)
    meter.compare(
        f"decode_message, {stream.dialect}, against orjson.loads of the payloads",
        lambda: turntape.decode_message(stream.body, stream.dialect),
        lambda: loads_each(payloads),
        DECODE_MESSAGE[stream.dialect],
        events=len(payloads),
    )


def test_feed_reads(meter: Meter, stream: inputs.Stream) -> None:
    """As a host meets it: 8 KiB a read. No bound of its own; it should stand close to `decode`."""
    payloads, reads = stream.payloads, stream.reads()

    def feed() -> None:
        decoder = turntape.StreamDecoder(stream.dialect)
        for read in reads:
            decoder.feed(read)
        decoder.finish()

    decoder = turntape.StreamDecoder(stream.dialect)
    for read in reads:
        decoder.feed(read)
    # Some wires end with the input alone.
    decoder.finish()
    check(decoder.snapshot(), stream)
    meter.compare(
        f"StreamDecoder.feed, {stream.dialect}, 8 KiB reads, against orjson.loads of the payloads",
        feed,
        lambda: loads_each(payloads),
        Target(),
        events=len(payloads),
    )


def test_feed_events(meter: Meter, stream: inputs.Stream) -> None:
    """One event a chunk, as it comes while the model still writes."""
    payloads, frames = stream.payloads, stream.frames

    def feed() -> turntape.StreamDecoder:
        decoder = turntape.StreamDecoder(stream.dialect)
        take = decoder.feed
        for frame in frames:
            take(frame)
        return decoder

    decoder = feed()
    decoder.finish()
    check(decoder.snapshot(), stream)
    meter.compare(
        f"StreamDecoder.feed, {stream.dialect}, one event a chunk, against orjson.loads of it",
        feed,
        lambda: loads_each(payloads),
        Target(2, 4),
        events=len(payloads),
    )


def test_decode_many(meter: Meter, stream: inputs.Stream) -> None:
    """Two threads against one, the interpreter released meanwhile."""
    bodies = [stream.body] * 400
    for message in turntape.decode_many(bodies, stream.dialect, threads=2):
        assert isinstance(message, turntape.AssistantMessage)
        check(message, stream)
    cores = os.cpu_count() or 1
    meter.compare(
        f"decode_many, {stream.dialect}, 2 threads against 1",
        lambda: turntape.decode_many(bodies, stream.dialect, threads=2),
        lambda: turntape.decode_many(bodies, stream.dialect, threads=1),
        Target(1.7, 1.9) if cores > 1 else Target(),
        events=len(bodies) * len(stream.payloads),
        threads=True,
    )


@pytest.mark.parametrize("threads", [1, 2])
def test_decode_many_of_one(meter: Meter, threads: int) -> None:
    """What a call costs by itself: one short body, which gives threads nothing to share."""
    body = (
        b'data: {"id":"r1","model":"m","choices":[{"index":0,"delta":{"content":"Hi."}}]}\n\n'
        b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
        b"data: [DONE]\n\n"
    )
    message = turntape.decode_message(body, "openai-chat")
    assert message.complete
    assert turntape.decode_many([body], "openai-chat", threads=threads) == [message]
    meter.compare(
        f"decode_many of one short body, threads={threads}, against decode_message",
        lambda: turntape.decode_many([body], "openai-chat", threads=threads),
        lambda: turntape.decode_message(body, "openai-chat"),
        Target(),
    )


@pytest.mark.corpus
@pytest.mark.parametrize("dialect", ["openai-chat", "anthropic"])
def test_recorded(meter: Meter, dialect: inputs.DialectName) -> None:
    """The largest recorded streams, each by itself: what real text, real names and real errors cost."""
    bodies = inputs.recorded(dialect)
    if not bodies:
        pytest.skip("TURNTAPE_CORPUS names no folder of recorded streams")
    payloads = [
        event.data.encode()
        for body in bodies
        for event in turntape.SseDecoder().feed(body)
        if event.data.startswith("{")
    ]
    loads_all(payloads)
    messages = turntape.decode_many(bodies, dialect)
    assert any(isinstance(message, turntape.AssistantMessage) for message in messages)
    meter.compare(
        f"decode_many of {len(bodies)} recorded {dialect} streams, against orjson.loads",
        lambda: turntape.decode_many(bodies, dialect),
        lambda: loads_each(payloads),
        Target(),
        events=len(payloads),
    )
