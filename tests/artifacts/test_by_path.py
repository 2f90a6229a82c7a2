"""Folders by path, which Windows needs: everything that holds without a race holds there too."""

from __future__ import annotations

import errno
import os

import pytest

import turntape
from turntape import StorageFailed, SymlinkEscape, UnsafeDirectory, UnsafeFile
from turntape.artifacts import folders

BODY = "low tide at six\n" * 1000


@pytest.fixture(autouse=True)
def _by_path(monkeypatch):
    monkeypatch.setattr(folders, "_BY_DESCRIPTOR", False)


def test_writing_and_reading(place):
    writer = place.writer()
    first, second = writer.write_default(BODY), writer.write_default("two")
    assert place.files() == {
        first.relative_path: BODY.encode(),
        "outputs/scout/t1-result-2.md": b"two",
    }
    writer.write("output", "scout/t1-result.md", "new", overwrite=True)
    assert writer.read(first.relative_path).text == "new"
    assert second.stored_bytes == 3
    assert len(turntape.list_artifacts(place.root)) == 2
    assert len(turntape.prune(place.root, max_bytes=0).removed) == 2
    assert place.files() == {}


def test_a_failure_leaves_nothing(place, monkeypatch):
    def fail(fd):
        raise OSError(errno.EIO, "the disk is broken")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(StorageFailed):
        place.writer().write_default(BODY)
    text, artifact = turntape.offload_oversized_result(BODY, place.writer(), 8192, "peruse")
    assert (text, artifact) == (BODY, None)
    assert place.files() == {}


@pytest.mark.skipif(os.name == "nt", reason="making links needs a privilege there")
@pytest.mark.parametrize("step", ["outputs", "outputs/a", "outputs/a/x.md"])
@pytest.mark.parametrize("target", ["", "folder", "new"])
def test_links_are_refused(step, target, place):
    link = place.root / step
    link.parent.mkdir(0o700, parents=True)
    link.symlink_to(place.outside / target)
    for overwrite in (False, True):
        with pytest.raises(SymlinkEscape):
            place.writer().write("output", "a/x.md", BODY, overwrite=overwrite)
    with pytest.raises(SymlinkEscape):
        place.writer().read("outputs/a/x.md")
    assert turntape.list_artifacts(place.root) == []
    place.check_outside()


@pytest.mark.skipif(os.name == "nt", reason="made with what POSIX has")
def test_strange_files_are_refused(place):
    folder = place.root / "outputs"
    folder.mkdir(0o700, parents=True)
    os.mkfifo(folder / "pipe")
    (folder / "file").write_text("x", "utf-8")
    os.link(place.outside / "victim.md", folder / "hard.md")
    writer = place.writer()
    for name in ("pipe", "hard.md"):
        with pytest.raises(UnsafeFile):
            writer.read(f"outputs/{name}")
        assert writer.write("output", name, "x").absolute_path.name != name
    with pytest.raises(UnsafeDirectory):
        writer.write("output", "file/x.md", "x")
    folder.chmod(0o777)
    with pytest.raises(UnsafeDirectory):
        writer.write("output", "x.md", "x")
    place.check_outside()


def test_a_folder_that_is_swapped_meanwhile(place, monkeypatch):
    """It is found out afterwards, and the file is taken back."""
    writer = place.writer()
    writer.write("output", "a/first.md", "x")
    real = os.fsync

    def swap(fd):
        real(fd)
        (place.root / "outputs" / "a").rename(place.root / "outputs" / "b")
        (place.root / "outputs" / "b").rename(place.root / "outputs" / "a")
        (place.root / "outputs").rename(place.root / "aside")
        (place.root / "outputs" / "a").mkdir(0o700, parents=True)

    monkeypatch.setattr(os, "fsync", swap)
    with pytest.raises((SymlinkEscape, StorageFailed)):
        writer.write("output", "a/x.md", BODY)
    assert not [name for name in place.files() if name.endswith("x.md")]


@pytest.mark.skipif(os.name == "nt", reason="the times of links cannot be set there")
def test_the_sweep(place):
    writer = place.writer()
    writer.write("output", "x.md", "x")
    old = place.root / "outputs" / ".turntape-00.tmp"
    old.write_text("half a fi", "utf-8")
    fresh = place.root / "outputs" / ".turntape-11.tmp"
    fresh.write_text("half a fi", "utf-8")
    os.utime(old, (1e9, 1e9))
    writer.write("output", "x.md", "y", overwrite=True)
    assert not old.exists()
    assert fresh.exists()
