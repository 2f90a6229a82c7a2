"""The process dies between any two steps of a write, or the disk gives out: no half file has a final name."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from tests.support.artifacts import Place
from tests.support.killed import FAILED, KILLED, NEW, OLD

import turntape
from turntape import StorageFailed

KILLED_SCRIPT = Path(__file__).parents[1] / "support" / "killed.py"
BODY = "low tide at six\n" * 20000
FINAL = "outputs/scout/t1-result.md"

posix = pytest.mark.skipif(os.name == "nt", reason="forking, limits and mounts are of POSIX")


@posix
@pytest.mark.parametrize("way", ["unnamed", "named", "without-links", "overwrite"])
def test_killed_between_any_two_steps(way, quick_place):
    folder = quick_place.root.parent / "runs"
    folder.mkdir()
    run = subprocess.run(
        [sys.executable, "-P", KILLED_SCRIPT, way, folder],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    deaths: Counter[str] = Counter()
    # What may have the final name. Without hard links it is claimed by an empty file first.
    allowed = {
        NEW,
        *([OLD] if way == "overwrite" else []),
        *([""] if way == "without-links" else []),
    }
    for line in map(json.loads, run.stdout.splitlines()):
        assert line["ended"] in {0, KILLED}, (line, FAILED)
        deaths[line["moment"]] += line["ended"] == KILLED
        files = dict(line["files"])
        final = files.pop(FINAL, None)
        assert final is None or final in allowed, line
        if line["ended"] == 0:
            assert final == NEW
        # Else there is at most a temporary file, which a later sweep removes.
        assert len(files) <= 1
        assert all("/.turntape-" in name and name.endswith(".tmp") for name in files), line
        if way == "unnamed":
            assert not files
        if way == "overwrite":
            assert final is not None
        # Whatever was left, the next write goes well.
        root = folder / f"{line['moment']}-{line['step']}"
        writer = turntape.ArtifactWriter(root, agent_id="scout", task_id="t1")
        again = writer.write("output", "scout/t1-result.md", NEW, overwrite=True)
        assert again.absolute_path.read_text("utf-8") == NEW
    assert min(deaths["before"], deaths["after"]) >= 20
    assert deaths["halfway"] == 1
    print(way, dict(deaths))  # noqa: T201 (shown with `pytest -s`)


@posix
def test_a_temporary_file_that_was_left_is_swept(place, monkeypatch):
    writer = place.writer()
    writer.write("output", "x.md", "first")
    folder = place.root / "outputs"
    old, fresh, held, other = (
        folder / f".turntape-{name}.tmp" for name in ("00", "11", "22", "zz")
    )
    link = folder / ".turntape-33.tmp"
    for path in (old, fresh, held, other):
        path.write_text("half a fi", "utf-8")
        if path is not fresh:
            os.utime(path, (1e9, 1e9))
    link.symlink_to(place.outside / "victim.md")
    os.utime(link, (1e9, 1e9), follow_symlinks=False)
    import fcntl

    with held.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        writer.write("output", "x.md", "second", overwrite=True)
        names = {path.name for path in folder.iterdir()}
        assert names == {fresh.name, held.name, other.name, link.name, "x.md"}
    # Once for each folder and writer is enough.
    old.write_text("half a fi", "utf-8")
    os.utime(old, (1e9, 1e9))
    writer.write("output", "x.md", "third", overwrite=True)
    assert old.exists()
    report = turntape.prune(place.root, max_bytes=10**9)
    assert report.swept == 2
    assert not old.exists()
    assert not held.exists()
    place.check_outside()


LIMITED = """
import json, logging, resource, sys
import turntape
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), int(sys.argv[3])))
logging.basicConfig(format="%(levelname)s %(message)s", stream=sys.stderr)
writer = turntape.ArtifactWriter(sys.argv[1], agent_id="scout", task_id="t1")
text = sys.argv[2] * 20000
result, artifact = turntape.offload_oversized_result(text, writer, 8192, "peruse")
try:
    writer.write_default(text)
    raised = None
except turntape.StorageFailed as error:
    raised = error.errno
print(json.dumps([result == text, artifact is None, raised]))
"""


@posix
@pytest.mark.parametrize("limit", [0, 1, 4096, 100_000, 319_999])
def test_a_limit_on_the_size_of_files(limit, place):
    run = subprocess.run(
        [sys.executable, "-c", LIMITED, place.root, "low tide at six\n", str(limit)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(run.stdout) == [True, True, errno.EFBIG]
    assert run.stderr.startswith("WARNING a result was not offloaded: StorageFailed")
    assert len(run.stderr.splitlines()) == 1
    assert place.files() == {}


@contextlib.contextmanager
def mounted(folder: Path, options: str):
    """A small file system of its own; only root can make one."""
    folder.mkdir()
    mount = shutil.which("mount")
    if mount is None or os.geteuid() != 0:
        pytest.skip("mounting a small disk needs root")
    made = subprocess.run(
        [mount, "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True, check=False
    )
    if made.returncode:
        pytest.skip(f"mounting is not allowed here: {made.stderr!r}")
    try:
        yield mount
    finally:
        subprocess.run(["umount", folder], check=True)  # noqa: S607


@posix
def test_a_full_disk(tmp_path, caplog):
    with mounted(tmp_path / "disk", "size=128k"):
        place = Place(tmp_path / "disk" / "run", tmp_path / "outside")
        writer = place.writer()
        small = writer.write_default("low tide")
        for overwrite in (False, True):
            with pytest.raises(StorageFailed) as caught:
                writer.write("output", "scout/t1-result.md", BODY, overwrite=overwrite)
            assert caught.value.errno == errno.ENOSPC
        text, artifact = turntape.offload_oversized_result(BODY, writer, 8192, "peruse")
        assert (text, artifact) == (BODY, None)
        assert place.files() == {small.relative_path: b"low tide"}
        (record,) = caplog.records
        assert "No space left" in record.getMessage()
        place.check_outside()


@posix
def test_a_disk_without_room_for_another_name(tmp_path):
    with mounted(tmp_path / "disk", "nr_inodes=4"):
        place = Place(tmp_path / "disk" / "run", tmp_path / "outside")
        text, artifact = turntape.offload_oversized_result(BODY, place.writer(), 8192, "peruse")
        assert (text, artifact) == (BODY, None)
        assert place.files() == {}


@posix
def test_a_read_only_disk(tmp_path):
    with mounted(tmp_path / "disk", "size=4m") as mount:
        place = Place(tmp_path / "disk" / "run", tmp_path / "outside")
        place.writer().write_default("low tide")
        subprocess.run([mount, "-o", "remount,ro", tmp_path / "disk"], check=True)
        for overwrite in (False, True):
            with pytest.raises(StorageFailed) as caught:
                place.writer().write("output", "new/x.md", BODY, overwrite=overwrite)
            assert caught.value.errno == errno.EROFS
        text, artifact = turntape.offload_oversized_result(BODY, place.writer(), 8192, "peruse")
        assert (text, artifact) == (BODY, None)
        assert place.writer().read(FINAL).text == "low tide"
        report = turntape.prune(place.root, max_bytes=0)
        assert (report.failed, report.removed) == ((FINAL,), ())


@posix
@pytest.mark.skipif(os.name != "nt" and os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_to(place):
    place.writer().write_default("low tide")
    folder = place.root / "outputs" / "scout"
    folder.chmod(0o500)
    try:
        text, artifact = turntape.offload_oversized_result(BODY, place.writer(), 8192, "peruse")
        assert (text, artifact) == (BODY, None)
    finally:
        folder.chmod(0o700)
    assert place.files() == {FINAL: b"low tide"}


@posix
@pytest.mark.parametrize("step", ["write", "fsync", "link", "close"])
@pytest.mark.parametrize("code", [errno.EIO, errno.ENOSPC, errno.EDQUOT])
def test_a_step_that_fails(step, code, place, monkeypatch):
    place.writer().write_default("low tide")
    failing = [False]
    real = getattr(os, step)

    def fail(*arguments, **options):
        if failing[0]:
            failing[0] = False
            if step == "close":
                real(*arguments)
            raise OSError(code, os.strerror(code))
        return real(*arguments, **options)

    monkeypatch.setattr(os, step, fail)
    failing[0] = True
    with pytest.raises(StorageFailed) as caught:
        place.writer().write_default(BODY)
    failing[0] = False
    assert caught.value.errno == code
    assert place.files() == {FINAL: b"low tide"}


@posix
def test_the_names_of_a_folder_that_cannot_be_synchronised(place, monkeypatch):
    place.writer().write_default("low tide")
    calls = []
    real = os.fsync

    def fail(fd):
        calls.append(fd)
        if len(calls) == 2:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        real(fd)

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(StorageFailed):
        place.writer().write_default(BODY)
    assert len(calls) == 2
    assert place.files() == {FINAL: b"low tide"}
