"""Appending to a tape, against the bare write under the same lock and against a host's own few lines; and
reading one, against lines that are parsed and nothing more.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from benches.bench_transcripts import plain_rows
from benches.ratio import Target, in_turn

import turntape
from turntape._native import TapeFile
from turntape.transcript.lines import encode_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from benches.conftest import Meter

BARE = Target(2, 1.3, at_most=True)
# Said for comparison: no bound is set.
NAMED = Target(at_most=True)

ARGUMENTS = json.dumps({"command": "grep -rn 'fn main' src | head -20", "timeout": 30})
RESULT = "src/main.rs:12:fn main() {\n" * 150

ROWS = {
    "a short text": turntape.TranscriptMessage.user("Which way to the harbour, please?"),
    "a call": turntape.TranscriptMessage.assistant_with_calls(
        "I will look for the entry point.", [turntape.NativeToolCall("call_01", "shell", ARGUMENTS)]
    ),
    "a result of 4 KiB": turntape.TranscriptMessage.tool_result("call_01", RESULT),
}


@pytest.fixture(params=list(ROWS))
def named(request: pytest.FixtureRequest) -> tuple[str, turntape.TranscriptMessage]:
    """Each row with its name."""
    return request.param, ROWS[request.param]


def bare_writer(path: Path, line: bytes) -> Callable[[], Any]:
    """What writes a finished line under the lock that the store takes, and does nothing else."""
    lock = TapeFile(path, f"{path}.lock")
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    acquire, release, write = lock.acquire, lock.release, os.write

    def bare() -> None:
        acquire(30.0)
        write(file, line)
        release()

    return bare


def measure(
    meter: Meter, what: str, ours: Callable[[], Any], theirs: Callable[[], Any], target: Target
) -> None:
    """Notes how many times the time of theirs ours takes."""
    if not meter.timing:
        ours()
        theirs()
        meter.record(ours, 0)
        return
    mine, other = in_turn([ours, theirs])
    note = f"{mine * 1e6:,.2f} µs a call against {other * 1e6:,.2f}"
    meter.note(what, mine / other, target, note)
    meter.record(ours, mine)


def test_append_against_the_bare_write(
    meter: Meter, named: tuple[str, turntape.TranscriptMessage], tmp_path: Path
) -> None:
    name, row = named
    line = encode_line(row) + b"\n"
    store = turntape.TranscriptStore(tmp_path / "ours.jsonl", fsync="never")
    bare = bare_writer(tmp_path / "bare.jsonl", line)
    store.append(row)
    bare()
    assert (tmp_path / "ours.jsonl").read_bytes() == (tmp_path / "bare.jsonl").read_bytes() == line
    measure(
        meter,
        f"append, fsync never, {name}, against the bare write of the finished line",
        lambda: store.append(row),
        bare,
        BARE,
    )


def test_append_against_what_a_host_would_write(
    meter: Meter, named: tuple[str, turntape.TranscriptMessage], tmp_path: Path
) -> None:
    name, row = named
    value = json.loads(encode_line(row))
    store = turntape.TranscriptStore(tmp_path / "ours.jsonl", fsync="never")
    lock = TapeFile(tmp_path / "host.jsonl", tmp_path / "host.jsonl.lock")
    file = os.open(tmp_path / "host.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def host() -> None:
        line = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        lock.acquire(30.0)
        os.write(file, line)
        lock.release()

    store.append(row)
    host()
    assert (tmp_path / "ours.jsonl").read_bytes() == (tmp_path / "host.jsonl").read_bytes()
    measure(
        meter,
        f"append, fsync never, {name}, against json.dumps and the bare write",
        lambda: store.append(row),
        host,
        NAMED,
    )


def test_append_of_many_rows(meter: Meter, tmp_path: Path) -> None:
    rows = [row for _ in range(100) for row in ROWS.values()]
    line = b"".join(encode_line(row) + b"\n" for row in rows)
    store = turntape.TranscriptStore(tmp_path / "ours.jsonl", fsync="never")
    bare = bare_writer(tmp_path / "bare.jsonl", line)
    store.append_many(rows)
    bare()
    assert (tmp_path / "ours.jsonl").read_bytes() == (tmp_path / "bare.jsonl").read_bytes()
    measure(
        meter,
        "append_many of 300 rows, fsync never, against the bare write of the finished lines",
        lambda: store.append_many(rows),
        bare,
        NAMED,
    )


@pytest.mark.parametrize("fsync", ["never", "batch", "always"])
def test_append_with_each_policy(meter: Meter, fsync: turntape.FsyncPolicy, tmp_path: Path) -> None:
    """By the clock on the wall: who waits for a disk uses no processor."""
    path = tmp_path / "tape.jsonl"
    store = turntape.TranscriptStore(path, fsync=fsync)
    row = ROWS["a call"]
    rows = 20 if fsync == "always" else 2000

    def append() -> None:
        for _ in range(rows):
            store.append(row)

    append()
    assert path.read_bytes() == (encode_line(row) + b"\n") * rows
    if not meter.timing:
        meter.record(append, 0)
        return
    [seconds] = in_turn([append], budget=1.0, now=time.perf_counter)
    unit = Target(at_most=True, unit=" µs a row")
    meter.note(f"append, fsync {fsync}, on the wall", seconds / rows * 1e6, unit)
    meter.record(append, seconds)


@pytest.mark.parametrize("tape", ["one row", "100,000 rows"])
def test_an_append_costs_the_same_on_a_long_tape(meter: Meter, tape: str, tmp_path: Path) -> None:
    row = ROWS["a call"]
    short = turntape.TranscriptStore(tmp_path / "short.jsonl", fsync="never")
    store = turntape.TranscriptStore(tmp_path / "long.jsonl", fsync="never")
    short.append(row)
    store.append_many([row] * (1 if tape == "one row" else 100_000))
    measure(
        meter,
        f"append to a tape of {tape}, against one that is new",
        lambda: store.append(row),
        lambda: short.append(row),
        NAMED,
    )


# Reading -----------------------------------------------------------------------------------------

READ_ROWS = 100_000


@pytest.fixture(scope="module")
def long_tape(tmp_path_factory: pytest.TempPathFactory) -> turntape.TranscriptStore:
    """Rounds of a question, a call, its result and an answer."""
    path = tmp_path_factory.mktemp("reading") / "tape.jsonl"
    store = turntape.TranscriptStore(path, fsync="never")
    store.append_many(plain_rows(READ_ROWS))
    store.close()
    return store


@pytest.mark.parametrize(("parser", "target"), [("json", Target(4, 8)), ("orjson", Target(1.5, 3))])
def test_reading_and_validating(
    meter: Meter, long_tape: turntape.TranscriptStore, parser: str, target: Target
) -> None:
    loads = pytest.importorskip(parser, reason="it is what reading is measured against").loads

    def ours() -> list[turntape.SequenceFault]:
        return turntape.validate_native(list(long_tape.rows()))

    def theirs() -> list[Any]:
        with Path(long_tape.path).open("rb") as file:
            return [loads(line) for line in file]

    assert ours() == []
    assert [row.content for row in long_tape.rows()] == [each["content"] for each in theirs()]
    meter.compare(
        f"read and validate 100,000 rows, against {parser}.loads on each line",
        ours,
        theirs,
        target,
        events=READ_ROWS,
    )


def test_reading_into_columns(meter: Meter, long_tape: turntape.TranscriptStore) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="somebody has to take the batches")

    def columns() -> Any:
        return pyarrow.RecordBatchReader.from_stream(long_tape.to_arrow()).read_all()

    def rows() -> list[turntape.TranscriptMessage]:
        return list(long_tape.rows())

    assert columns()["content"].to_pylist() == [row.content for row in rows()]
    meter.compare(
        "100,000 rows into Arrow columns, against the rows as objects",
        columns,
        rows,
        Target(),
        events=READ_ROWS,
    )
