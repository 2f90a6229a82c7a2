"""The store: what it makes, when it syncs, whom it waits for, and what breaks it."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
import tracemalloc
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import turntape
from turntape import (
    EnvelopeError,
    NativeToolCall,
    NetworkFileSystemWarning,
    Redacted,
    RewriteReport,
    StoreBroken,
    StoreChanged,
    StoreError,
    StoreLocked,
    StoreWriteError,
    TapeFault,
    TapeOpaque,
    TapeRow,
    TranscriptError,
    TranscriptMessage,
    TranscriptStore,
    read_tape,
)
from turntape._native import TapeFile
from turntape.transcript import network, report
from turntape.transcript import store as store_module
from turntape.transcript.lines import encode_line

if TYPE_CHECKING:
    from collections.abc import Iterator

posix = pytest.mark.skipif(os.name != "posix", reason="modes and inodes are POSIX's")
forking = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tape.jsonl"


def said(text: str) -> TranscriptMessage:
    return TranscriptMessage.user(text)


def contents(path: Path) -> list[str]:
    with TranscriptStore(path) as store:
        return [row.content for row in store.rows()]


# What is made ------------------------------------------------------------------------------------


def test_nothing_is_made_before_the_first_row(path):
    with TranscriptStore(path) as store:
        assert list(store.read()) == []
        assert store.verify().ok
        store.append_many([])
        store.flush()
    assert list(path.parent.iterdir()) == []


@posix
@pytest.mark.parametrize("mask", [0o000, 0o022])
def test_files_and_folders_are_the_owners_alone(tmp_path, mask):
    path = tmp_path / "a" / "b" / "tape.jsonl"
    old = os.umask(mask)
    try:
        with TranscriptStore(path) as store:
            store.append(said("q"))
            path.write_bytes(path.read_bytes() + b"torn")
            store.compact()
    finally:
        os.umask(old)

    def mode(each: Path) -> int:
        return stat.S_IMODE(each.stat().st_mode)

    assert {mode(tmp_path / "a"), mode(tmp_path / "a" / "b")} == {0o700}
    assert {each.name: mode(each) for each in path.parent.iterdir()} == {
        "tape.jsonl": 0o600,
        "tape.jsonl.lock": 0o600,
        "tape.jsonl.rejected": 0o600,
    }


@posix
def test_a_rewrite_keeps_the_mode(path):
    path.write_bytes(b'{"role":"user","content":"q"}\n')
    path.chmod(0o640)
    with TranscriptStore(path) as store:
        store.compact()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@posix
def test_a_link_is_followed_and_stays(tmp_path, path):
    link = tmp_path / "link.jsonl"
    link.symlink_to(path)
    with TranscriptStore(link) as store:
        store.append(said("q"))
        store.compact()
        assert store.path == os.path.realpath(path)
    assert link.is_symlink()
    assert contents(path) == ["q"]
    assert not (tmp_path / "link.jsonl.lock").exists()


@pytest.mark.parametrize("kind", ["folder", "fifo"])
def test_what_is_no_file_is_refused(tmp_path, path, kind):
    if kind == "folder":
        path.mkdir()
    elif hasattr(os, "mkfifo"):
        os.mkfifo(path)
    else:
        pytest.skip("there are no such files here")
    with TranscriptStore(path) as store, pytest.raises(StoreWriteError):
        store.append(said("q"))


@pytest.mark.parametrize(
    "options",
    [
        {"fsync": "sometimes"},
        {"timeout": -1},
        {"timeout": float("nan")},
        {"batch_rows": 0},
        {"batch_seconds": -0.1},
        {"max_line_bytes": 0},
    ],
)
def test_options_that_cannot_be(path, options):
    with pytest.raises(ValueError, match=r"is|are"):
        TranscriptStore(path, **options)


# Appending ---------------------------------------------------------------------------------------


def test_many_rows_are_one_write(path, monkeypatch):
    with TranscriptStore(path) as store:
        store.append_many(said(str(number)) for number in range(5))
        before = path.read_bytes()
        with pytest.raises(EnvelopeError):
            store.append_many([said("a"), said("\ud800")])
        assert path.read_bytes() == before
    assert contents(path) == ["0", "1", "2", "3", "4"]


def test_a_row_that_no_reader_would_give_back_is_refused(path):
    with TranscriptStore(path, max_line_bytes=100) as store:
        store.append(said("q"))
        with pytest.raises(EnvelopeError, match="no reader takes more than 100"):
            store.append(said("x" * 100))
        with pytest.raises(EnvelopeError):
            store.rewrite([said("x" * 100)])
    assert contents(path) == ["q"]


def test_a_torn_line_stands_alone_wherever_it_is_cut(path):
    line = b'{"role":"user","content":"q","id":"\xc3\xa9"}'
    for cut in range(len(line) + 1):
        path.write_bytes(line + b"\n" + line[:cut])
        with TranscriptStore(path) as store:
            store.append(said("r"))
            entries = list(store.read())
        rows = [entry.row.content for entry in entries if isinstance(entry, TapeRow)]
        faults = [entry for entry in entries if isinstance(entry, TapeFault)]
        assert rows == (["q", "q", "r"] if cut == len(line) else ["q", "r"])
        assert len(faults) == (0 < cut < len(line))
        for fault in faults:
            assert (fault.line, fault.start, fault.end) == (2, len(line) + 1, len(line) + 1 + cut)
            assert not fault.torn_tail


@pytest.mark.parametrize(
    "foreign", [b"prose", b"\0\0\0", b"\xff", b"[1]", b'{"kind":"x"}', b"{", b'{"v":3,"x":[ 1]}']
)
def test_foreign_lines_in_every_place(path, foreign):
    lines = [b'{"role":"user","content":"%d"}' % number for number in range(4)]
    for place in range(len(lines) + 1):
        content = b"\n".join([*lines[:place], foreign, *lines[place:], b""])
        path.write_bytes(content)
        with TranscriptStore(path) as store:
            entries = list(store.read())
            assert [entry.line for entry in entries] == [1, 2, 3, 4, 5]
            odd = entries.pop(place)
            assert isinstance(odd, TapeFault | TapeOpaque)
            assert content[odd.start : odd.end] == foreign
            assert [entry.row.content for entry in entries if isinstance(entry, TapeRow)] == list(
                "0123"
            )
            report = store.compact()
            opaque = isinstance(odd, TapeOpaque)
            assert report == RewriteReport(rows=4, opaque=int(opaque), rejected=int(not opaque))
            if opaque:
                assert path.read_bytes() == content
            else:
                assert path.read_bytes() == b"\n".join([*lines, b""])
                assert Path(store.rejected_path).read_bytes().split(b"\n")[-2] == foreign


@posix
@pytest.mark.parametrize("told", [True, False])
def test_the_file_may_be_replaced_or_removed_between_two_rows(path, monkeypatch, told):
    monkeypatch.setattr(store_module, "_INODES_ARE_TOLD", told)
    with TranscriptStore(path) as store:
        store.append(said("1"))
        path.rename(path.with_suffix(".old"))
        store.append(said("2"))
        path.unlink()
        store.append(said("3"))
        path.with_suffix(".other").write_bytes(b'{"role":"user","content":"4"}')
        path.with_suffix(".other").rename(path)
        store.append(said("5"))
    assert contents(path) == ["4", "5"]
    assert contents(path.with_suffix(".old")) == ["1"]


def test_a_closed_store_writes_no_more_and_still_reads(path):
    store = TranscriptStore(path)
    store.append(said("q"))
    store.close()
    store.close()
    for call in (lambda: store.append(said("r")), store.flush, store.compact):
        with pytest.raises(StoreError, match="closed"):
            call()
    assert [row.content for row in store.rows()] == ["q"]


# Fsync -------------------------------------------------------------------------------------------


@dataclass
class Disk:
    """Stands between a store and the disk."""

    syncs: int = 0
    failing: bool = False

    def sync(self, _file: Any) -> None:
        if self.failing:
            raise OSError(errno.EIO, "Input/output error")
        self.syncs += 1


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    disk = Disk()
    monkeypatch.setattr(store_module, "_sync", disk.sync)
    return disk


def test_always_syncs_before_each_append_returns(path, disk):
    with TranscriptStore(path, fsync="always") as store:
        for number in range(3):
            store.append(said("q"))
            assert disk.syncs == number + 1
        store.append_many([said("a"), said("b")])
        assert disk.syncs == 4
    assert disk.syncs == 4


def test_never_syncs_only_when_asked(path, disk):
    with TranscriptStore(path, fsync="never") as store:
        for _ in range(300):
            store.append(said("q"))
        assert disk.syncs == 0
        store.flush()
        store.flush()
        assert disk.syncs == 1
        store.append(said("q"))
    assert disk.syncs == 1


def test_batch_syncs_once_in_so_many_rows(path, disk):
    with TranscriptStore(path, batch_rows=10, batch_seconds=1e9) as store:
        for _ in range(25):
            store.append(said("q"))
        assert disk.syncs == 2
        store.append_many([said("q")] * 10)
        assert disk.syncs == 3
        store.append(said("q"))
    # The last row, when it was closed.
    assert disk.syncs == 4


def test_batch_syncs_what_is_old(path, disk, monkeypatch):
    now = [100.0]
    monkeypatch.setattr("turntape.transcript.syncing.time.monotonic", lambda: now[0])
    with TranscriptStore(path, batch_rows=1000, batch_seconds=2.0) as store:
        for passed, syncs in ((0.0, 0), (1.0, 0), (0.9, 0), (0.2, 1), (1.9, 1), (1.9, 1), (0.1, 2)):
            now[0] += passed
            store.append(said("q"))
            assert disk.syncs == syncs, passed


@pytest.mark.parametrize("fsync", ["always", "batch", "never"])
def test_a_disk_that_refuses_breaks_the_store(path, disk, fsync):
    store = TranscriptStore(path, fsync=fsync, batch_rows=2)
    store.append(said("1"))
    disk.failing = True
    with pytest.raises(StoreBroken, match="fsync failed: Input/output error") as caught:
        store.flush() if fsync == "never" else store.append(said("2"))
    if fsync == "always":
        assert isinstance(caught.value.__cause__, OSError)
    assert store.broken
    disk.failing = False
    for call in (lambda: store.append(said("3")), store.flush, store.compact):
        with pytest.raises(StoreBroken, match="writes no more"):
            call()
    store.close()
    # Nothing is said to be there that is not, and what is there can be read.
    assert [row.content for row in store.rows()] == (["1"] if fsync == "never" else ["1", "2"])


def test_a_disk_that_refuses_at_the_end_is_heard_of(path, disk):
    store = TranscriptStore(path)
    store.append(said("1"))
    disk.failing = True
    with pytest.raises(StoreBroken):
        store.close()
    store.close()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has files that can only grow")
def test_a_write_that_cannot_be_undone_breaks_the_store(path):
    """A short write, and a file whose attribute forbids truncating it."""
    script = """
import resource, subprocess, sys
from turntape import StoreBroken, TranscriptMessage, TranscriptStore
store = TranscriptStore(sys.argv[1], fsync="never")
store.append(TranscriptMessage.user("before"))
if subprocess.run(["chattr", "+a", sys.argv[1]], capture_output=True).returncode:
    sys.exit(77)
try:
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    try:
        store.append(TranscriptMessage.user("y" * 2000))
    except StoreBroken as error:
        assert "could not be undone" in str(error), error
    else:
        sys.exit("not broken")
    assert store.broken
finally:
    subprocess.run(["chattr", "-a", sys.argv[1]], check=True)
"""
    command = [sys.executable, "-c", script, str(path)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    if run.returncode == 77 or "chattr" in run.stderr:
        pytest.skip("the attribute cannot be set here")
    assert run.returncode == 0, run.stderr
    with TranscriptStore(path) as store:
        store.append(said("after"))
        entries = list(store.read())
    assert [type(entry) for entry in entries] == [TapeRow, TapeFault, TapeRow]


# Locks -------------------------------------------------------------------------------------------


def held(path: Path) -> subprocess.Popen[bytes]:
    """Another process that has the lock until its input ends."""
    script = (
        "import sys; from turntape._native import TapeFile; f = TapeFile(sys.argv[1], sys.argv[1] + '.lock')"
        "; assert f.acquire(5.0); print('held', flush=True); sys.stdin.read()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    return process


@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("timeout", [0, 0.05])
def test_waiting_for_another_process_has_an_end(path, timeout, monkeypatch, told):
    monkeypatch.setattr(store_module, "_INODES_ARE_TOLD", told)
    with TranscriptStore(path, timeout=timeout) as store:
        store.append(said("q"))
        with held(path) as other:
            started = time.monotonic()
            with pytest.raises(StoreLocked, match="nothing was written"):
                store.append(said("r"))
            assert time.monotonic() - started >= timeout
            with pytest.raises(StoreLocked):
                store.compact()
            other.kill()
        # The lock of a process that was killed is free.
        store.append(said("s"))
        assert [row.content for row in store.rows()] == ["q", "s"]


def test_a_row_is_appended_once_the_lock_is_free(path):
    with TranscriptStore(path, timeout=None) as store, held(path) as other:
        thread = threading.Thread(target=store.append, args=(said("q"),))
        thread.start()
        time.sleep(0.05)
        assert not path.exists()
        assert other.stdin is not None
        other.stdin.close()
        thread.join(30)
    assert contents(path) == ["q"]


def test_a_row_is_appended_in_one_step_only_where_nobody_has_the_lock(path):
    mine, other = (TapeFile(path, f"{path}.lock") for _ in range(2))
    row = said("q")
    assert other.acquire(0)
    assert mine.append_row(row, 0, 1000) is None
    other.release()
    assert not path.exists()
    end = len(encode_line(row)) + 1
    assert mine.append_row(row, 0, 1000) == end
    # What another writer has added is not known.
    assert other.append_row(row, 0, 1000) == 0
    assert mine.append_row(row, end, 1000) == end
    assert mine.append_row(row, 3 * end, 1000) == 4 * end
    # A torn line is ended first.
    with path.open("ab") as file:
        file.write(b"torn")
    assert mine.append_row(row, 4 * end + 4, 1000) == 5 * end + 5
    assert mine.append_row(TranscriptMessage("tool", "{}"), 5 * end + 5, 1000) is None
    assert path.read_bytes().split(b"\n")[4:] == [b"torn", encode_line(row), b""]


@posix
def test_an_interrupt_anywhere_leaves_no_lock_behind(path):
    """As Ctrl-C does, at whatever moment: nothing acknowledged is lost, and the next writer has no wait."""
    inside = False
    acknowledged: list[str] = []
    interrupts = 0

    def interrupt(_number: int, _frame: object) -> None:
        nonlocal inside
        if inside:
            inside = False
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.002, 0.0013)
    try:
        with TranscriptStore(path, timeout=5, fsync="never") as store:
            for number in range(100_000):
                try:
                    inside = True
                    store.append(said(str(number)))
                    inside = False
                    acknowledged.append(str(number))
                except KeyboardInterrupt:
                    interrupts += 1
                if interrupts == 300:
                    break
            signal.setitimer(signal.ITIMER_REAL, 0)
            thread = threading.Thread(target=store.append, args=(said("another thread"),))
            thread.start()
            thread.join(30)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert interrupts
    rows = contents(path)
    assert rows[-1] == "another thread"
    assert set(acknowledged) <= set(rows)
    assert len(set(rows)) == len(rows)


def test_the_lock_file_is_never_removed(path):
    with TranscriptStore(path) as store:
        store.append(said("q"))
        inode = Path(store.lock_path).stat().st_ino
        store.compact()
    assert Path(store.lock_path).stat().st_ino == inode


def test_many_threads_of_many_stores(path):
    stores = [TranscriptStore(path, fsync="never") for _ in range(3)]
    stop = threading.Event()
    problems: list[BaseException] = []

    def append(name: int) -> None:
        try:
            for number in range(100):
                stores[name % 3].append(said(f"{name}:{number}"))
        except BaseException as error:  # noqa: BLE001 (told below)
            problems.append(error)

    def compact() -> None:
        try:
            while not stop.is_set():
                stores[0].compact()
        except BaseException as error:  # noqa: BLE001
            problems.append(error)

    writers = [threading.Thread(target=append, args=(name,)) for name in range(6)]
    compacter = threading.Thread(target=compact)
    for thread in (*writers, compacter):
        thread.start()
    for thread in writers:
        thread.join(60)
    stop.set()
    compacter.join(60)
    assert not problems
    rows = contents(path)
    assert len(rows) == 600
    for name in range(6):
        own = [int(row.split(":")[1]) for row in rows if row.startswith(f"{name}:")]
        assert own == list(range(100))


def test_a_store_that_is_closed_while_a_thread_waits_takes_no_row(path):
    store = TranscriptStore(path, fsync="never")
    store.append(said("q"))
    problems: list[BaseException] = []

    def append() -> None:
        try:
            store.append(said("late"))
        except StoreError as error:
            problems.append(error)

    with store._turn.lock:
        thread = threading.Thread(target=append)
        thread.start()
        time.sleep(0.05)
        store._closed = store._unready = True
    thread.join(30)
    assert len(problems) == 1
    assert contents(path) == ["q"]


def test_a_thread_waits_for_another_that_rewrites(path):
    store = TranscriptStore(path, timeout=30)
    store.append(said("1"))
    thread = threading.Thread(target=store.append, args=(said("3"),))

    def rows() -> Iterator[TranscriptMessage]:
        yield said("2")
        thread.start()
        time.sleep(0.05)
        # Although others have asked meanwhile, this thread is told at once.
        with pytest.raises(StoreError, match="rewriting"):
            store.append(said("never"))

    store.rewrite(rows())
    thread.join(30)
    store.close()
    assert contents(path) == ["2", "3"]


@forking
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_does_not_share_the_lock(path):
    with TranscriptStore(path, timeout=10) as store:
        store.append(said("parent"))
        child = -1

        def rows() -> Iterator[TranscriptMessage]:
            """Fork while the lock is held."""
            yield said("rewritten")
            nonlocal child
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    store.append(said("child"))
                    status = 0
                finally:
                    os._exit(status)
            # It has to wait, or its row would be lost with the old file.
            time.sleep(0.1)
            assert os.waitpid(child, os.WNOHANG) == (0, 0)

        store.rewrite(rows())
        _, status = os.waitpid(child, 0)
        assert status == 0
        assert [row.content for row in store.rows()] == ["rewritten", "child"]


# Reading -----------------------------------------------------------------------------------------


def test_rows_alone(path):
    path.write_bytes(
        b'{"role":"user","content":"q"}\n{"v":9}\n{"role":"user","con\n{"role":"user","content":"r"}\n'
    )
    with TranscriptStore(path) as store:
        assert [row.content for row in store.rows(strict=False)] == ["q", "r"]
        with pytest.raises(TranscriptError) as caught:
            list(store.rows())
    assert (caught.value.line, caught.value.start, caught.value.end) == (3, 38, 57)


def test_a_reader_sees_what_was_there_when_it_began(path):
    with TranscriptStore(path) as store:
        store.append(said("1"))
        reading = store.read()
        assert isinstance(next(reading), TapeRow)
        store.append(said("2"))
        assert list(reading) == []
        reading = store.read()
        next(reading)
        store.rewrite([])
        assert [entry.row.content for entry in reading if isinstance(entry, TapeRow)] == ["2"]
    assert contents(path) == []


@posix
def test_a_tape_that_may_only_be_read():
    script = """
import os, sys
from turntape import TranscriptStore, StoreWriteError, TranscriptMessage
store = TranscriptStore(sys.argv[1])
store.verify()
if os.geteuid() == 0:
    os.setuid(65534)
try:
    os.listdir(os.path.dirname(sys.argv[1]))
except PermissionError:
    sys.exit(77)
assert [row.content for row in store.rows()] == ["q"], list(store.rows())
try:
    store.append(TranscriptMessage.user("r"))
except StoreWriteError as error:
    assert "Permission denied" in str(error)
else:
    sys.exit("appended")
"""
    # Not below the folder of the tests, which is closed to others.
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tape.jsonl"
        path.write_bytes(b'{"role":"user","content":"q"}\n')
        path.chmod(0o444)
        path.parent.chmod(0o555)
        command = [sys.executable, "-c", script, str(path)]
        run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        path.parent.chmod(0o755)
    if run.returncode == 77:
        pytest.skip("others cannot reach the folder for temporary files")
    assert run.returncode == 0, run.stderr


def test_verify_lists_all_faults(path):
    path.write_bytes(
        b'{"role":"tool","content":"x","v":2,"shape":"tool_result","tool_call_id":"c9"}\n'
        b'{"v":9}\n'
        b"prose\n"
        b"\n"
        b'{"role":"assistant","content":"","tool_calls":[{"id":"c1","name":"f","arguments":"{}"}],'
        b'"v":2,"shape":"assistant_calls"}\n'
        b'{"role":"user","content":"q"}\n'
        b'{"role":"us'
    )
    with TranscriptStore(path) as store:
        report = store.verify()
    assert not report.ok
    assert (report.rows, report.opaque) == (3, 1)
    assert [(fault.line, fault.torn_tail) for fault in report.faults] == [(3, False), (7, True)]
    assert [(each.line, each.fault.code, each.fault.call_id) for each in report.sequence] == [
        (1, "orphan_result", "c9"),
        (6, "interrupted_round", "c1"),
    ]


def test_reading_takes_the_memory_of_a_line(path):
    size = 64 * 1024 * 1024
    line = b'{"role":"user","content":"' + b"x" * 65_000 + b'"}\n'
    with path.open("wb") as file:
        for _ in range(size // len(line)):
            file.write(line)
        # A tail of NULs that is longer than any line may be.
        file.write(b"\0" * (16 * 1024 * 1024))
    with TranscriptStore(path, max_line_bytes=1024 * 1024) as store:
        tracemalloc.start()
        try:
            report = store.verify()
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert report.rows == size // len(line)
    assert [fault.code for fault in report.faults] == ["too_long"]
    assert peak < 4 * 1024 * 1024


# Rewriting ---------------------------------------------------------------------------------------

ODD = (
    b'{"content":"1", "role":"user"}\n'
    b'{"v":3,"new":[ 1]}\n'
    b"torn\n"
    b'{"role":"user","content":"2","zeta":[1, 2.50]}\n'
    b'{"role":"assistant","content":"{\\"content\\":null,\\"tool_calls\\":[]}"}\n'
)


def test_one_edited_row_leaves_every_other_line_as_it_was(path):
    from dataclasses import replace

    lines = [b'{ "content":"%d","role":"user","n":%d.50}' % (n, n) for n in range(1000)]
    path.write_bytes(b"\n".join([*lines, b""]))
    with TranscriptStore(path) as store:
        rows = list(store.rows())
        rows[500] = replace(rows[500], content="edited")
        store.rewrite(rows)
    written = path.read_bytes().split(b"\n")
    lines[500] = b'{"role":"user","content":"edited","n":500.50}'
    assert written == [*lines, b""]


def test_a_rewrite_of_rows_alone_rejects_what_is_no_row(path):
    path.write_bytes(ODD)
    with TranscriptStore(path) as store:
        rows = list(store.rows(strict=False))
        report = store.rewrite([*rows, said("new")])
        assert report == RewriteReport(rows=4, opaque=0, rejected=2)
        lines = ODD.splitlines(keepends=True)
        assert (
            path.read_bytes()
            == lines[0] + lines[3] + lines[4] + b'{"role":"user","content":"new"}\n'
        )
        assert Path(store.rejected_path).read_bytes() == lines[1] + lines[2]
        # Later ones come behind it.
        with path.open("ab") as file:
            file.write(b"torn again")
        assert store.compact().rejected == 1
        assert Path(store.rejected_path).read_bytes() == lines[1] + lines[2] + b"torn again\n"


def test_rewriting_what_is_read_keeps_opaque_lines_in_place(path):
    path.write_bytes(ODD)
    with TranscriptStore(path) as store:
        assert store.rewrite(store.read()) == RewriteReport(rows=3, opaque=1, rejected=1)
    assert path.read_bytes() == ODD.replace(b"torn\n", b"")


def test_rows_of_others_are_never_rewritten_away(path):
    with TranscriptStore(path) as store, TranscriptStore(path) as other:
        store.append(said("1"))
        rows = list(store.rows())
        other.append(said("2"))
        before = path.read_bytes()
        with pytest.raises(StoreChanged, match="read again"):
            store.rewrite(rows)
        # Nor by what this store appends after them.
        store.append(said("3"))
        with pytest.raises(StoreChanged):
            store.rewrite(rows)
        # Nor where the other replaced the tape by one that is as long.
        assert path.read_bytes().startswith(before)
        store.rewrite(list(store.read()))
        other.rewrite(other.read())
        with pytest.raises(StoreChanged):
            store.rewrite([])
        assert {each.name for each in path.parent.iterdir()} == {"tape.jsonl", "tape.jsonl.lock"}
        assert store.rewrite(store.read()).rows == 3
        store.append(said("4"))
        store.rewrite([said("all")])
    assert contents(path) == ["all"]


def test_a_rewrite_that_fails_changes_nothing(path):
    path.write_bytes(ODD)

    def failing(store: TranscriptStore) -> Iterator[Any]:
        for number, entry in enumerate(store.read()):
            if number == 4:
                raise RuntimeError("no more")
            yield entry

    with TranscriptStore(path) as store:
        with pytest.raises(RuntimeError):
            store.rewrite(failing(store))
        with pytest.raises(EnvelopeError):
            store.rewrite([said("\ud800")])
        with pytest.raises(StoreWriteError, match="nothing was written"):
            store.rewrite(said((path.parent / name).read_text()) for name in ("none",))
        assert path.read_bytes() == ODD
        rejected = Path(store.rejected_path)
        assert not rejected.exists() or rejected.read_bytes() == b""
        # And the locks are free.
        store.append(said("q"))


def test_what_a_killed_rewrite_left_is_overwritten(path):
    path.write_bytes(ODD)
    Path(f"{path}.new").write_bytes(b"half of a ta")
    with TranscriptStore(path) as store:
        store.compact()
    assert not Path(f"{path}.new").exists()
    assert contents(path) == ["1", "2", '{"content":null,"tool_calls":[]}']


def test_a_rewriting_thread_may_not_append(path):
    with TranscriptStore(path) as store:
        store.append(said("q"))

        def rows() -> Iterator[TranscriptMessage]:
            for call in (lambda: store.append(said("r")), store.close, store.flush, store.compact):
                with pytest.raises(StoreError, match="rewriting"):
                    call()
            yield said("s")

        store.rewrite(rows())
        store.append(said("t"))
    assert contents(path) == ["s", "t"]


def test_a_folder_that_cannot_be_synced_breaks_the_store(path, monkeypatch):
    store = TranscriptStore(path)
    store.append(said("q"))

    def fail(_path: str) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(store_module, "sync_folder", fail)
    with pytest.raises(StoreBroken, match="folder"):
        store.compact()
    assert store.broken
    store.close()


# Redaction ---------------------------------------------------------------------------------------


class Scrub:
    """Replaces `SECRET`, and raises at `BOOM`."""

    def redact(self, text: str, /) -> Redacted:
        if "BOOM" in text:
            raise ValueError("refused")
        return Redacted(text.replace("SECRET", "[gone]"), changed="SECRET" in text)


def test_every_field_that_is_text_is_redacted_and_nothing_else(path):
    row = TranscriptMessage(
        "assistant",
        "a SECRET",
        id="SECRET-id",
        tool_calls=(
            NativeToolCall(
                "SECRET-c", "SECRET-n", '{"k":"SECRET"}', {"thought_signature": "SECRET-x"}
            ),
        ),
        parts=(turntape.TextPart("SECRET"), turntape.ImagePart("https://e.example/a.png")),
        tool_failure=turntape.ToolFailure("SECRET"),
        extra_metadata={
            "reasoning_content": "SECRET",
            "list": ["SECRET", {"signature": "SECRET-s", "data": "SECRET-d", "note": "SECRET"}],
            "number": 1,
        },
        extra={"unknown": "SECRET"},
    )
    with TranscriptStore(path, redactor=Scrub()) as store:
        store.append(row)
        [read] = store.rows()
    assert path.read_text().count("SECRET") == path.read_text().count("SECRET-") == 6
    assert read.content == "a [gone]"
    assert read.tool_calls[0].arguments == '{"k":"[gone]"}'
    assert read.tool_calls[0].extra_content == {"thought_signature": "SECRET-x"}


def test_what_an_envelope_hides_beside_its_fields_is_not_written(path):
    text = '{"content":"ok","tool_call_id":"c1","note":"SECRET"}'
    for row in (TranscriptMessage.tool(text), turntape.normalized(TranscriptMessage.tool(text))):
        with TranscriptStore(path, redactor=Scrub()) as store:
            store.append(row)
    assert "SECRET" not in path.read_text()
    assert contents(path) == ["ok", "ok"]


def test_a_redactor_that_raises_refuses_everything(path):
    with TranscriptStore(path, redactor=Scrub()) as store:
        store.append(said("fine"))
        before = path.read_bytes()
        with pytest.raises(ValueError, match="refused"):
            store.append(said("BOOM"))
        with pytest.raises(ValueError, match="refused"):
            store.append_many([said("fine"), said("BOOM")])
        with pytest.raises(ValueError, match="refused"):
            store.rewrite([said("BOOM")])
        assert path.read_bytes() == before


def test_a_rewrite_redacts_what_was_written_without(path):
    path.write_bytes(
        b'{"content":"SECRET","role":"user"}\n{"content":"fine", "role":"user"}\n{"v":9}\n'
    )
    with TranscriptStore(path, redactor=Scrub()) as store:
        store.compact()
    assert path.read_bytes() == (
        b'{"role":"user","content":"[gone]"}\n{"content":"fine", "role":"user"}\n{"v":9}\n'
    )


def test_without_a_redactor_everything_is_written_verbatim(path):
    """A decision: what is stored is what was said, unless the host asks otherwise."""
    with TranscriptStore(path) as store:
        store.append(said("SECRET"))
    assert contents(path) == ["SECRET"]


# Network file systems ----------------------------------------------------------------------------

MOUNTS = r"""
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/root rw
30 22 0:25 / /mnt/nfs rw - nfs4 server:/x rw
31 22 0:26 / /mnt/nfs/here rw shared:2 master:1 - tmpfs tmpfs rw
32 22 0:27 / /mnt/a\040b rw - fuse.sshfs host: rw
33 22 0:28 / /mnt/twice rw - cifs //s/x rw
34 22 0:29 / /mnt/twice rw - ext4 /dev/b rw
odd line
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/t.jsonl", None),
        ("/mnt/nfs/t.jsonl", "nfs4"),
        ("/mnt/nfs", "nfs4"),
        ("/mnt/nfsx/t.jsonl", None),
        ("/mnt/nfs/here/t.jsonl", None),
        ("/mnt/a b/t.jsonl", "fuse.sshfs"),
        ("/mnt/twice/t.jsonl", None),
    ],
)
@posix
def test_network_file_systems_are_told(tmp_path, monkeypatch, path, kind):
    mounts = tmp_path / "mountinfo"
    mounts.write_text(MOUNTS)
    monkeypatch.setattr(network, "_MOUNTS", mounts)
    assert network.network_file_system(path) == kind


@posix
def test_a_tape_on_a_network_file_system_warns(tmp_path, path, monkeypatch):
    mounts = tmp_path / "mountinfo"
    mounts.write_text(f"1 1 0:1 / {os.path.realpath(tmp_path)} rw - nfs server:/x rw\n")
    monkeypatch.setattr(network, "_MOUNTS", mounts)
    with pytest.warns(NetworkFileSystemWarning, match=r"network file system \(nfs\)"):
        store = TranscriptStore(path)
    store.close()
    monkeypatch.setattr(network, "_MOUNTS", tmp_path / "none")
    TranscriptStore(path).close()


# Errors ------------------------------------------------------------------------------------------


def test_errors_name_the_tape(path):
    path.mkdir()
    with TranscriptStore(path) as store, pytest.raises(StoreWriteError) as caught:
        store.append(said("SECRET"))
    assert caught.value.path == store.path
    assert str(path) in str(caught.value)
    assert "SECRET" not in str(caught.value)
    assert repr(store) == f"TranscriptStore({store.path!r})"


def test_what_is_read_from_a_stream_needs_no_store(path):
    path.write_bytes(ODD)
    with path.open("rb") as file:
        assert [entry.type for entry in read_tape(file)] == ["row", "opaque", "fault", "row", "row"]


round_rows = st.lists(
    st.one_of(
        st.builds(said, st.just("q")),
        st.lists(st.sampled_from("abc"), max_size=3).map(
            lambda ids: TranscriptMessage.assistant_with_calls(
                "", [NativeToolCall(each, "f", "{}") for each in ids]
            )
        ),
        st.sampled_from(["", "a", "b", "c"]).map(
            lambda name: TranscriptMessage.tool_result(name, "r")
        ),
        st.just(TranscriptMessage("assistant", "half", interrupted=True)),
    ),
    max_size=14,
)


@given(rows=round_rows, batch=st.integers(1, 5))
def test_a_tape_is_checked_in_batches_as_in_one(rows, batch):
    entries = [TapeRow(line * 2, line, line + 1, row) for line, row in enumerate(rows)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report, "_BATCH_ROWS", batch)
        found = report.report_on(entries)
    expected = turntape.validate_native(rows)
    assert [each.fault for each in found.sequence] == expected
    assert [each.line for each in found.sequence] == [fault.row * 2 for fault in expected]
    assert found.rows == len(rows)
