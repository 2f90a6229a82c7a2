"""Growth: each axis over two decades, and the slope of the line through the logarithms.

A slope of 1 is linear. Less means that a fixed cost still shows at the small end; more is a bug.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from benches import inputs
from benches.bench_transcripts import plain_rows

import turntape

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benches.conftest import Meter


def body(dialect: inputs.DialectName, texts: list[str], calls: list[list[str]]) -> inputs.Stream:
    """A stream of a dialect."""
    return inputs.MAKERS[dialect](texts, calls)


def sweep(
    meter: Meter,
    what: str,
    sizes: list[int],
    make: Callable[[int], tuple[Callable[[], Any], Callable[[Any], object]]],
) -> None:
    """Measures a call at each size, in turn; `make` gives the call and what checks its answer."""
    calls: list[Callable[[], Any]] = []
    for size in sizes:
        call, holds = make(size)
        assert holds(call()), f"{what}: wrong answer at {size}"
        calls.append(call)
    meter.sweep(what, sizes, calls)


@pytest.fixture(params=inputs.DIALECTS)
def dialect(request: pytest.FixtureRequest) -> inputs.DialectName:
    name: inputs.DialectName = request.param
    return name


def text_of(message: turntape.AssistantMessage) -> str:
    return "".join(block.text for block in message.content if isinstance(block, turntape.Text))


def arguments_of(message: turntape.AssistantMessage) -> str:
    blocks = message.content
    return "".join(block.arguments for block in blocks if isinstance(block, turntape.ToolUse))


def test_events(meter: Meter, dialect: inputs.DialectName) -> None:
    def make(count: int) -> tuple[Callable[[], Any], Callable[[Any], object]]:
        stream = body(dialect, inputs.text_pieces(count), [])
        return (
            lambda: turntape.decode(stream.body, dialect),
            lambda events: text_of(turntape.assemble(events)) == stream.text,
        )

    sweep(meter, f"decode, {dialect}, events", [100, 300, 1000, 3000, 10_000], make)


def test_message_events(meter: Meter, dialect: inputs.DialectName) -> None:
    def make(count: int) -> tuple[Callable[[], Any], Callable[[Any], object]]:
        stream = body(dialect, inputs.text_pieces(count), [])
        return (
            lambda: turntape.decode_message(stream.body, dialect),
            lambda message: text_of(message) == stream.text,
        )

    sweep(meter, f"decode_message, {dialect}, events", [100, 300, 1000, 3000, 10_000], make)


def test_chunks(meter: Meter, dialect: inputs.DialectName) -> None:
    """One body in more and more chunks, down to single bytes."""
    stream = body(dialect, inputs.text_pieces(100), [])

    def make(count: int) -> tuple[Callable[[], Any], Callable[[Any], object]]:
        size = -(-len(stream.body) // count)
        chunks = [stream.body[at : at + size] for at in range(0, len(stream.body), size)]

        def feed() -> turntape.StreamDecoder:
            decoder = turntape.StreamDecoder(dialect)
            for chunk in chunks:
                decoder.feed(chunk)
            return decoder

        return feed, lambda decoder: text_of(decoder.snapshot()) == stream.text

    most = len(stream.body)
    sweep(
        meter,
        f"feed, {dialect}, chunks",
        [most // 100, most // 30, most // 10, most // 3, most],
        make,
    )


def test_event_size(meter: Meter, dialect: inputs.DialectName) -> None:
    """Eight events with more and more text, fed in reads of 8 KiB."""

    def make(size: int) -> tuple[Callable[[], Any], Callable[[Any], object]]:
        words = "".join(inputs.text_pieces(size // 4))[:size]
        stream = body(dialect, [words] * 8, [])
        reads = stream.reads()

        def feed() -> turntape.StreamDecoder:
            decoder = turntape.StreamDecoder(dialect)
            for read in reads:
                decoder.feed(read)
            return decoder

        return feed, lambda decoder: text_of(decoder.snapshot()) == stream.text

    sweep(meter, f"feed, {dialect}, event size", [1000, 3000, 10_000, 30_000, 100_000], make)


def test_blocks(meter: Meter, dialect: inputs.DialectName) -> None:
    """More and more calls in a turn, each with four fragments."""

    def make(count: int) -> tuple[Callable[[], Any], Callable[[Any], object]]:
        calls = [inputs.argument_pieces(4, seed=at) for at in range(count)]
        stream = body(dialect, [], calls)
        return (
            lambda: turntape.decode_message(stream.body, dialect),
            lambda message: (
                len(message.content) == count and arguments_of(message) == stream.arguments
            ),
        )

    sweep(meter, f"decode_message, {dialect}, calls", [20, 60, 200, 600, 2000], make)


def test_arguments(meter: Meter, dialect: inputs.DialectName) -> None:
    """One call whose arguments come in more and more fragments."""

    def make(count: int) -> tuple[Callable[[], Any], Callable[[Any], object]]:
        stream = body(dialect, [], [inputs.argument_pieces(count)])
        return (
            lambda: turntape.decode_message(stream.body, dialect),
            lambda message: arguments_of(message) == stream.arguments,
        )

    sweep(
        meter,
        f"decode_message, {dialect}, argument fragments",
        [100, 300, 1000, 3000, 10_000],
        make,
    )


def test_input(meter: Meter) -> None:
    """`ToolUse.input` over longer and longer arguments."""

    def make(count: int) -> tuple[Callable[[], Any], Callable[[Any], object]]:
        value = {f"key {at}": [at, "text", None] for at in range(count)}
        call = turntape.ToolUse("call_1", "tool", json.dumps(value))
        return lambda: call.input, lambda parsed: parsed == value

    sweep(meter, "ToolUse.input, members", [30, 100, 300, 1000, 3000], make)


def test_markers(meter: Meter) -> None:
    """More and more image markers, each with as much text around it."""

    def make(count: int) -> tuple[Callable[[], Any], Callable[[Any], object]]:
        text = ("Low tide at six. " * 4 + "[OH_IMAGE:data:image/png;base64,iVBORw0KGgo=]") * count
        return lambda: turntape.split_image_parts(text), lambda parts: len(parts) == 2 * count

    sweep(meter, "split_image_parts, markers", [100, 300, 1000, 3000, 10_000], make)


@pytest.mark.parametrize("step", ["encode", "parse"])
def test_envelopes(meter: Meter, step: str) -> None:
    """Longer and longer arguments of one call, written and read."""

    def make(size: int) -> tuple[Callable[[], Any], Callable[[Any], object]]:
        arguments = json.dumps({"content": "".join(inputs.text_pieces(size // 4))[:size]})
        calls = [turntape.NativeToolCall("call_1", "write_file", arguments)]
        text = turntape.encode_assistant_envelope("", calls)
        if step == "encode":
            return (
                lambda: turntape.encode_assistant_envelope("", calls),
                lambda envelope: json.loads(envelope)["tool_calls"][0]["id"] == "call_1",
            )
        return (
            lambda: turntape.parse_canonical_assistant_envelope(text),
            lambda envelope: envelope.tool_calls == tuple(calls),
        )

    sweep(meter, f"envelope {step}, argument length", [1000, 3000, 10_000, 30_000, 100_000], make)


def test_rows(meter: Meter, tmp_path: Path) -> None:
    """A longer and longer tape, read and validated."""

    def make(count: int) -> tuple[Callable[[], Any], Callable[[Any], object]]:
        path = tmp_path / f"{count}.jsonl"
        with turntape.TranscriptStore(path) as store:
            store.append_many(plain_rows(count))

        def read() -> int:
            with turntape.TranscriptStore(path) as store:
                return sum(1 for _ in store.rows())

        return read, lambda rows: rows == count

    sweep(meter, "tape, rows read", [1000, 3000, 10_000, 30_000, 100_000], make)
