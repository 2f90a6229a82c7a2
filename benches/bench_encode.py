"""Speaking a dialect: a turn encoded against the same turn decoded, and bytes rewritten a second."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from benches import inputs
from benches.ratio import Target, in_turn

import turntape

if TYPE_CHECKING:
    from benches.conftest import Meter

SPOKEN: tuple[inputs.DialectName, ...] = ("anthropic", "openai-chat", "openai-responses", "gemini")

# Encoding costs no more than decoding.
AGAINST_DECODE = Target(1)
MEGABYTES = Target(unit=" MB/s")


@pytest.mark.parametrize("dialect", SPOKEN)
def test_encode(meter: Meter, dialect: inputs.DialectName) -> None:
    """Against decoding the very bytes that it writes: no noise of a provider's makes those dearer."""
    stream = inputs.make(dialect)
    events = turntape.decode(stream.body, dialect)
    body = turntape.encode(events, dialect)
    again = turntape.decode(body, dialect)
    assert turntape.assemble(again).content == turntape.assemble(events).content
    meter.compare(
        f"encode, {dialect}, against decode of what it writes",
        lambda: turntape.encode(events, dialect),
        lambda: turntape.decode(body, dialect),
        AGAINST_DECODE,
        events=len(events),
    )


@pytest.mark.parametrize("dialect", SPOKEN)
def test_feed(meter: Meter, dialect: inputs.DialectName) -> None:
    """As a gateway meets it: an event a call, on either side."""
    stream = inputs.make(dialect)
    events = turntape.decode(stream.body, dialect)
    whole = turntape.StreamEncoder(dialect)
    pieces = [piece for piece in map(whole.feed, events) if piece]
    pieces.append(whole.finish())
    assert b"".join(pieces) == turntape.encode(events, dialect)

    def encode() -> None:
        encoder = turntape.StreamEncoder(dialect)
        for event in events:
            encoder.feed(event)
        encoder.finish()

    def decode() -> None:
        decoder = turntape.StreamDecoder(dialect)
        for piece in pieces:
            decoder.feed(piece)
        decoder.finish()

    meter.compare(
        f"StreamEncoder.feed of each event, {dialect}, against StreamDecoder.feed",
        encode,
        decode,
        AGAINST_DECODE,
        events=len(events),
    )


@pytest.mark.parametrize("dialect", SPOKEN)
def test_format_response(meter: Meter, dialect: inputs.DialectName) -> None:
    stream = inputs.make(dialect)
    message = turntape.decode_message(stream.body, dialect)
    body = turntape.format_response(message, dialect)
    assert turntape.parse_response(body, dialect).content == message.content
    meter.compare(
        f"format_response, {dialect}, against parse_response",
        lambda: turntape.format_response(message, dialect),
        lambda: turntape.parse_response(body, dialect),
        Target(),
    )


@pytest.mark.parametrize("target", SPOKEN)
def test_transcode(meter: Meter, stream: inputs.Stream, target: inputs.DialectName) -> None:
    """Bytes of one provider to those of another, 8 KiB a read, against decoding them for nothing."""
    reads = stream.reads()

    def transcode() -> list[bytes]:
        transcoder = turntape.Transcoder(stream.dialect, target)
        said = [transcoder.feed(read) for read in reads]
        said.append(transcoder.finish())
        return said

    def decode() -> None:
        decoder = turntape.StreamDecoder(stream.dialect)
        for read in reads:
            decoder.feed(read)
        decoder.finish()

    message = turntape.decode_message(b"".join(transcode()), target)
    assert message.complete
    assert message.stop_reason == "tool_use"
    text, call = message.content
    assert isinstance(text, turntape.Text)
    assert text.text == stream.text
    assert isinstance(call, turntape.ToolUse)
    assert call.arguments == stream.arguments.strip()
    what = f"transcode, {stream.dialect} to {target}"
    if not meter.timing:
        decode()
        meter.record(transcode, 0)
        return
    mine, other = in_turn([transcode, decode])
    note = f"{other / mine:.2f} times the speed of decoding alone"
    meter.note(f"{what}: input", len(stream.body) / mine / 1e6, MEGABYTES, note)
    meter.record(transcode, mine)
