"""Killed writers, several writers, full disks: nothing acknowledged is lost, nothing is invented."""

from __future__ import annotations

import logging
import os
import random
import signal
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

import pytest

from turntape import StoreWriteError, TapeFault, TapeRow, TranscriptMessage, TranscriptStore

WORKER = Path(__file__).parents[1] / "support" / "tape_worker.py"

LOG = logging.getLogger(__name__)

# How many writers are killed in each test; set it to hundreds for a run by hand.
KILLS = int(os.environ.get("TURNTAPE_KILLS", "15"))

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes are killed by signals here")


def start(
    path: Path,
    name: str,
    *,
    fsync: str = "never",
    size: int = 100,
    count: int = 10**9,
    compact_every: int = 0,
    seed: int = 0,
) -> subprocess.Popen[bytes]:
    numbers = map(str, (size, count, compact_every, seed))
    command = [sys.executable, str(WORKER), str(path), name, fsync, *numbers]
    # Not buffered: `communicate` reads past a buffer.
    process = subprocess.Popen(command, stdout=subprocess.PIPE, bufsize=0)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process


def kill(process: subprocess.Popen[bytes]) -> list[int]:
    """Kill a writer; the numbers of the rows that it had acknowledged."""
    process.kill()
    output, _ = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    # The last number may be cut like everything else.
    return [int(line) for line in output.split(b"\n")[:-1]]


class Tape:
    """What stands on a tape, held against what was acknowledged."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.acknowledged: dict[str, list[int]] = {}

    def check(self) -> list[TapeFault]:
        """Check rows and their order; the faults."""
        found: dict[str, list[int]] = defaultdict(list)
        faults: list[TapeFault] = []
        with TranscriptStore(self.path) as store:
            for entry in store.read():
                if isinstance(entry, TapeFault):
                    faults.append(entry)
                    continue
                assert isinstance(entry, TapeRow)
                name, number, filler = entry.row.content.split(":")
                assert filler.strip("x") == ""
                found[name].append(int(number))
        assert found.keys() >= {name for name, numbers in self.acknowledged.items() if numbers}
        for name, numbers in found.items():
            acknowledged = self.acknowledged[name]
            assert acknowledged == list(range(len(acknowledged)))
            # In order, each once; at most the last was written and not acknowledged any more.
            assert numbers == list(range(len(numbers)))
            assert len(acknowledged) <= len(numbers) <= len(acknowledged) + 1
        return faults


@pytest.mark.parametrize(
    ("fsync", "size"), [("never", 100), ("batch", 3_000_000), ("always", 100_000)]
)
def test_killing_the_writer(tmp_path, fsync, size):
    tape = Tape(tmp_path / "tape.jsonl")
    chance = random.Random(f"{fsync}{KILLS}")
    for turn in range(KILLS):
        process = start(tape.path, f"w{turn}", fsync=fsync, size=size, seed=turn)
        time.sleep(chance.uniform(0, 0.04))
        tape.acknowledged[f"w{turn}"] = kill(process)
        if turn % 5 == 4 or size <= 100:
            faults = tape.check()
            assert len(faults) <= turn + 1
        if tape.path.exists() and tape.path.stat().st_size > 100_000_000:
            # What was checked need not be checked again and again.
            tape.path.unlink()
            tape.acknowledged.clear()
    faults = tape.check()
    torn_tails = [fault for fault in faults if fault.torn_tail]
    assert len(torn_tails) <= 1
    # For a long run by hand (`--log-cli-level INFO`): how often a kill struck in the middle of a line.
    LOG.info("%d kills, %d torn lines", KILLS, len(faults))
    with TranscriptStore(tape.path) as store:
        # Which leaves a tape as good as new.
        report = store.compact()
        assert report.rejected == len(faults)
    assert tape.check() == []


def test_killing_one_of_several_writers_that_also_compact(tmp_path):
    tape = Tape(tmp_path / "tape.jsonl")
    chance = random.Random(KILLS)
    going: list[tuple[str, subprocess.Popen[bytes]]] = []
    started = 0
    for _ in range(KILLS):
        while len(going) < 3:
            name = f"w{started}"
            process = start(
                tape.path, name, size=50_000, compact_every=7 * (started % 2), seed=started
            )
            going.append((name, process))
            started += 1
        time.sleep(chance.uniform(0, 0.05))
        name, process = going.pop(chance.randrange(len(going)))
        tape.acknowledged[name] = kill(process)
    for name, process in going:
        tape.acknowledged[name] = kill(process)
    tape.check()
    assert {path.name for path in tmp_path.iterdir()} <= {
        f"tape.jsonl{end}" for end in ("", ".lock", ".new", ".rejected")
    }


def test_several_writers_at_once(tmp_path):
    path = tmp_path / "tape.jsonl"
    processes = [start(path, f"w{at}", count=200, seed=at) for at in range(4)]
    # One that replaces the tape all the time.
    processes.append(start(path, "c", count=40, compact_every=2))
    tape = Tape(path)
    for at, process in enumerate(processes):
        output, _ = process.communicate(timeout=120)
        assert process.returncode == 0
        name = "c" if at == 4 else f"w{at}"
        tape.acknowledged[name] = [int(line) for line in output.split()]
    assert tape.check() == []
    with TranscriptStore(path) as store:
        assert store.verify().rows == 4 * 200 + 40


# Full disks --------------------------------------------------------------------------------------

LIMITED = """
import resource, sys
from turntape import StoreWriteError, TranscriptMessage, TranscriptStore
store = TranscriptStore(sys.argv[1], fsync="never")
store.append(TranscriptMessage.user("before"))
size = int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
kept = 0
for number in range(1000):
    try:
        store.append(TranscriptMessage.user(f"{number}:" + "y" * 1000))
        kept += 1
    except StoreWriteError as error:
        assert error.errno in (27, 28), error.errno
        break
assert not store.broken
# What is short enough still fits.
store.append(TranscriptMessage.user("z"))
print(kept)
"""


@pytest.mark.parametrize("size", [5000, 5001, 5500, 6000])
def test_a_file_that_may_not_grow(tmp_path, size):
    path = tmp_path / "tape.jsonl"
    run = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path), str(size)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert run.returncode == 0, run.stderr
    with TranscriptStore(path) as store:
        rows = list(store.rows())
    assert [row.content[:2] for row in rows] == [
        "be",
        *(f"{n}:" for n in range(int(run.stdout))),
        "z",
    ]
    assert path.stat().st_size <= size


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 256 KiB; only root can make one."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0 or sys.platform != "linux":
        pytest.skip("a small tmpfs is mounted, which only root may do")
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting is not allowed here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)  # noqa: S607 (wherever it is)


def fill(store: TranscriptStore) -> int:
    """Append until the disk is full; how many rows were acknowledged."""
    for number in range(100):
        try:
            store.append(TranscriptMessage.user(f"{number}:" + "y" * 9000))
        except StoreWriteError:
            break
    else:
        pytest.fail("the disk was never full")
    with pytest.raises(StoreWriteError, match="No space left") as caught:
        store.append(TranscriptMessage.user("y" * 9000))
    assert caught.value.errno == 28
    return number


@pytest.mark.parametrize("fsync", ["always", "batch", "never"])
def test_a_full_disk(small_disk, fsync):
    path = small_disk / "tape.jsonl"
    with TranscriptStore(path, fsync=fsync) as store:
        kept = fill(store)
        assert not store.broken
        whole = path.read_bytes()
        assert whole.endswith(b"\n")
        assert [int(row.content.split(":")[0]) for row in store.rows()] == list(range(kept))
        # No room for a copy, so the old tape stays.
        with pytest.raises(StoreWriteError, match="No space left"):
            store.compact()
        assert path.read_bytes() == whole
        assert sorted(each.name for each in small_disk.iterdir()) == [
            "tape.jsonl",
            "tape.jsonl.lock",
        ]
        store.append(TranscriptMessage.user("short"))
        assert store.verify().ok
