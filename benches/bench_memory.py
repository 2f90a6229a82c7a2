"""Long lines, long streams and the import: what a decoder keeps, and what the package costs at rest.

These run in processes of their own: what an allocator holds on to and what a module has imported
already would belong to whoever ran before.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import pytest
from benches import inputs
from benches.alone import MIB, feed_line, long_line
from benches.ratio import Target

import turntape

if TYPE_CHECKING:
    from benches.conftest import Meter

STREAM_MIB = int(os.environ.get("TURNTAPE_BENCH_MIB", "1024"))
"""How long the stream is whose memory is measured."""

# The C library of Linux gives large blocks back to the system at once, which clears and maps each page
# anew for the next one: at 8 MiB that is most of the time, at 1 MiB it does not happen.
KEEP_PAGES = {
    "MALLOC_TRIM_THRESHOLD_": str(1024 * MIB),
    "MALLOC_MMAP_THRESHOLD_": str(1024 * MIB),
    "MALLOC_TOP_PAD_": str(256 * MIB),
}


def run_alone(*arguments: str, **environment: str) -> list[float]:
    """Runs one of this file's jobs in a fresh interpreter; the numbers that it prints."""
    command = [sys.executable, "-m", "benches.alone", *arguments]
    root = Path(__file__).parent.parent
    done = subprocess.run(  # noqa: S603 (this interpreter, our own module)
        command,
        cwd=root,
        env={**os.environ, **environment},
        check=True,
        capture_output=True,
        text=True,
    )
    return [float(word) for word in done.stdout.split()]


@pytest.mark.parametrize("pages", ["fresh", "kept"])
@pytest.mark.parametrize("decoder", ["SseDecoder", "StreamDecoder"])
def test_long_line(meter: Meter, decoder: str, pages: str) -> None:
    """One `data:` line of 8 MiB in 4 KiB chunks, against one of 1 MiB: linear is 8 times."""
    for size in (MIB, 8 * MIB):
        last = feed_line(decoder, long_line(size))[-1]
        text = last.data if isinstance(last, turntape.SseEvent) else getattr(last, "text", "")
        assert size - 64 < len(text) < size
    short = long_line(MIB)
    if not meter.timing:
        meter.record(lambda: feed_line(decoder, short), 0)
        return
    environment = KEEP_PAGES if pages == "kept" else {}
    seconds_long, seconds_short = run_alone("long-line", decoder, **environment)
    speeds = f"{8 * MIB / seconds_long / 1e9:.2f} GB/s against {MIB / seconds_short / 1e9:.2f}"
    meter.note(
        f"{decoder}, one line of 8 MiB in 4 KiB chunks: time against 1 MiB",
        seconds_long / seconds_short,
        Target(10, at_most=True),
        f"{speeds}; pages {pages}",
    )
    meter.record(lambda: feed_line(decoder, short), seconds_short)


@pytest.mark.parametrize("largest", [0, MIB], ids=["small", "large"])
@pytest.mark.parametrize("dialect", ["openai-chat", "anthropic"])
def test_memory(meter: Meter, dialect: inputs.DialectName, largest: int, tmp_path: Path) -> None:
    """What a decoder needs over a long stream beyond the message, which has to be somewhere."""
    frames = (inputs.chat if dialect == "openai-chat" else inputs.anthropic)([], []).frames
    # What stands before the content, and content that repeats; the stream never ends.
    start = b"".join(frames[:1])
    texts = inputs.text_pieces(1000)
    deltas = (
        inputs.chat(texts, []).frames[1:-3]
        if dialect == "openai-chat"
        else inputs.anthropic(texts, []).frames[3:-3]
    )
    if dialect == "anthropic":
        start += inputs.anthropic(texts, []).frames[1]
    if largest:
        # A member that means nothing, so that the message stays small.
        ignored = b'data: {"ignored":"' + b"y" * (largest - 512) + b'",'
        deltas.append(deltas[-1].replace(b"data: {", ignored, 1))
    block = b"".join(deltas)
    given = turntape.StreamDecoder(dialect).feed(start + block)
    pieces = [event.text for event in given if isinstance(event, turntape.TextDelta)]
    assert "".join(pieces[: len(texts)]) == "".join(texts)
    message_of_block = sum(len(piece.encode()) for piece in pieces)

    head_file, block_file = tmp_path / "head", tmp_path / "block"
    head_file.write_bytes(start)
    block_file.write_bytes(block)
    mib = STREAM_MIB if meter.timing else 8
    files = str(head_file), str(block_file)
    growth, fed = meter.once(lambda: run_alone("memory", dialect, *files, str(mib)))
    message = message_of_block * fed / len(block)
    event = max(map(len, deltas))
    meter.note(
        f"memory of StreamDecoder, {dialect}, {mib} MiB, events to {event:,} bytes",
        (growth - message) / MIB,
        Target(1 + 2 * event / MIB, at_most=True, unit=" MiB"),
        f"beyond the message of {message / MIB:.1f} MiB",
    )


def test_import(meter: Meter) -> None:
    """`import turntape` against the standard modules that any typed package of dataclasses imports.

    Beside it, without a bound, what comes with the first class that is named.
    """
    named = ("turntape", "turntape.events, turntape.messages", "dataclasses, typing, json")
    seconds: dict[str, list[float]] = {names: [] for names in named}
    meter.once(lambda: run_alone("import", "turntape"))
    for _ in range(40 if meter.timing else 1):
        for names, taken in seconds.items():
            taken.extend(run_alone("import", names))
    bare, classes, other = (median(taken) for taken in seconds.values())
    against = "against import dataclasses, typing, json"
    for what, mine, target in (
        ("import turntape", bare, Target(1.3, 1.1, at_most=True)),
        ("import turntape, its events and messages named", classes, Target(at_most=True)),
    ):
        note = f"{mine * 1e3:.2f} ms against {other * 1e3:.2f}"
        meter.note(f"{what}, {against}", mine / other, target, note)
