"""The jobs that need a fresh interpreter: `python -m benches.alone JOB ARGUMENT...` prints numbers."""

from __future__ import annotations

import sys
import time

# Whatever a job needs it imports by itself: what is imported here would be missing from the time that
# the job `import` measures.
MIB = 1024 * 1024


def measure_import(names: str) -> list[float]:
    """The seconds that an import takes."""
    statement = f"import {names}"
    start = time.perf_counter()
    exec(statement)  # noqa: S102 (the import statement is what is measured)
    return [time.perf_counter() - start]


def long_line(size: int, chunk: int = 4096) -> list[bytes]:
    """One Chat event of so many bytes, in chunks."""
    start, end = b'data: {"choices":[{"delta":{"content":"', b'"}}]}\n\n'
    line = start + b"x" * (size - len(start) - len(end)) + end
    return [line[at : at + chunk] for at in range(0, size, chunk)]


def feed_line(decoder: str, chunks: list[bytes]) -> list[object]:
    """Decodes a body with a decoder of that name; what the decoder gave."""
    import turntape

    if decoder == "SseDecoder":
        target: turntape.SseDecoder | turntape.StreamDecoder = turntape.SseDecoder()
    else:
        target = turntape.StreamDecoder("openai-chat")
    given: list[object] = []
    for piece in chunks:
        given += target.feed(piece)
    return given


def measure_long_line(decoder: str) -> list[float]:
    """The seconds for a line of 8 MiB and for one of 1 MiB, measured in turn."""
    from benches.ratio import in_turn

    long, short = long_line(8 * MIB), long_line(MIB)
    return in_turn([lambda: feed_line(decoder, long), lambda: feed_line(decoder, short)])


def memory() -> tuple[int, int]:
    """The memory that this process has, and the most that it ever had, in bytes."""
    from pathlib import Path

    try:
        # Not ru_maxrss: after fork and exec Linux counts the parent's memory in it.
        with Path("/proc/self/status").open(encoding="ascii") as status:
            fields = dict(line.split(":", 1) for line in status)
    except OSError:
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        peak *= 1 if sys.platform == "darwin" else 1024
        return peak, peak
    now, peak = (int(fields[name].split()[0]) * 1024 for name in ("VmRSS", "VmHWM"))
    return now, peak


def measure_memory(dialect: str, head: str, block: str, mib: int) -> list[float]:
    """How far memory grows while a stream goes through, and how long the stream was.

    The stream is the file `head` and then the file `block` again and again: never in memory as a whole.
    """
    import gc
    from pathlib import Path

    import turntape

    start = Path(head).read_bytes()
    # Unbuffered: a copy of the whole, freed again, would be memory that the decoder could use unseen.
    with Path(block).open("rb", buffering=0) as file:
        # Pieces whose cuts fall inside events, as those of a socket do.
        pieces = list(iter(lambda: file.read(8191), b""))
    length = sum(map(len, pieces))
    warm = turntape.StreamDecoder(dialect)
    warm.feed(start)
    warm.feed(pieces[0])
    del warm
    gc.collect()
    gc.disable()
    decoder = turntape.StreamDecoder(dialect)
    feed = decoder.feed
    feed(start)
    fed = 0
    before, _ = memory()
    while fed < mib * MIB:
        for piece in pieces:
            feed(piece)
        fed += length
    _, peak = memory()
    assert not decoder.warnings
    return [peak - before, fed]


def main(job: str, *arguments: str) -> None:
    match job:
        case "import":
            numbers = measure_import(*arguments)
        case "long-line":
            numbers = measure_long_line(*arguments)
        case "memory":
            dialect, head, block, mib = arguments
            numbers = measure_memory(dialect, head, block, int(mib))
        case _:
            sys.exit(f"no such job: {job}")
    print(*numbers)


if __name__ == "__main__":
    main(*sys.argv[1:])
