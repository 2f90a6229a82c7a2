"""Links, strange files and other people's folders below the root, put there before a write or a read."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

import pytest

import turntape
from turntape import OffloadError, StorageFailed, SymlinkEscape, UnsafeDirectory, UnsafeFile

pytestmark = pytest.mark.skipif(os.name == "nt", reason="made with what POSIX has")

BODY = "low tide at six\n" * 1000
STEPS = ["outputs", "outputs/a", "outputs/a/b", "outputs/a/b/c"]


def refused(place, error, path="a/b/c/x.md", **options):
    """Write, overwrite, offload and read: all refuse, and nothing outside is touched."""
    writer = place.writer()
    for overwrite in (False, True):
        with pytest.raises(error):
            writer.write("output", path, BODY, overwrite=overwrite)
        place.check_outside()
    with pytest.raises(OffloadError):
        writer.read(f"outputs/{path}")
    place.check_outside()


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(
    "target", ["outside", "outside/folder", "dangling", "self", "root", "file"]
)
def test_a_link_at_each_folder(step, target, place):
    link = place.root / step
    link.parent.mkdir(0o700, parents=True)
    for folder in (place.root, *link.relative_to(place.root).parents):
        (place.root / folder).chmod(0o700)
    targets = {
        "outside": place.outside,
        "outside/folder": place.outside / "folder",
        "dangling": place.outside / "new",
        "self": link,
        "root": place.root,
        "file": place.outside / "victim.md",
    }
    link.symlink_to(targets[target])
    refused(place, SymlinkEscape)
    text, artifact = turntape.offload_oversized_result(
        BODY, place.writer(agent_id="a", task_id="b"), 8192, "peruse"
    )
    if step in {"outputs", "outputs/a"}:
        assert (text, artifact) == (BODY, None)
    place.check_outside()
    with pytest.raises(SymlinkEscape):
        turntape.resolve_pointer(place.root, "outputs/a/b/c/x.md")


def test_parent_that_symlinks_out_of_the_root_is_refused(place):
    (place.root / "outputs").mkdir(0o700, parents=True)
    (place.root / "outputs" / "way").symlink_to(place.outside)
    refused(place, SymlinkEscape, "way/x.md")
    assert place.files() == {}


@pytest.mark.parametrize("name", ["x.md", "x-2.md"])
@pytest.mark.parametrize("target", ["victim.md", "folder", "new.md", ""])
def test_a_link_at_the_final_name(name, target, place):
    folder = place.root / "outputs"
    folder.mkdir(0o700, parents=True)
    (folder / name).symlink_to(place.outside / target if target else name)
    if name == "x-2.md":
        (folder / "x.md").write_text("here already", "utf-8")
    writer = place.writer()
    with pytest.raises(SymlinkEscape):
        writer.write("output", "x.md", BODY)
    with pytest.raises(SymlinkEscape):
        writer.write("output", name, BODY, overwrite=True)
    with pytest.raises(SymlinkEscape):
        writer.read(f"outputs/{name}")
    assert (folder / name).is_symlink()
    place.check_outside()


def test_the_root_may_be_reached_through_a_link(place, tmp_path):
    real = tmp_path / "real"
    real.mkdir()
    place.root.symlink_to(real)
    artifact = place.writer().write("output", "a/x.md", BODY)
    assert artifact.absolute_path == place.root / "outputs" / "a" / "x.md"
    assert (real / "outputs" / "a" / "x.md").read_text("utf-8") == BODY
    assert place.writer().read("outputs/a/x.md", limit=3).text == BODY[:3]


@pytest.mark.parametrize("make", ["pipe", "socket", "folder", "device"])
def test_what_is_no_file_has_the_final_name(make, place, monkeypatch):
    folder = place.root / "outputs"
    folder.mkdir(0o700, parents=True)
    path = folder / "x.md"
    if make == "pipe":
        os.mkfifo(path)
    elif make == "folder":
        path.mkdir()
    elif make == "socket":
        monkeypatch.chdir(folder)  # the name of a socket must be short
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind("x.md")
    else:
        if os.geteuid() != 0:
            pytest.skip("making a device needs root")
        try:
            os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 3))
        except PermissionError:
            pytest.skip("making a device is not allowed here")
    before = path.lstat()
    writer = place.writer()
    # It is there, so the name gets a number; nothing waits for a reader or writer of it.
    assert writer.write("output", "x.md", BODY).relative_path == "outputs/x-2.md"
    with pytest.raises(UnsafeFile):
        writer.write("output", "x.md", BODY, overwrite=True)
    with pytest.raises(UnsafeFile):
        writer.read("outputs/x.md")
    assert path.lstat().st_ino == before.st_ino


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("make", ["file", "pipe"])
def test_a_folder_replaced_by_something_else(step, make, place):
    path = place.root / step
    path.parent.mkdir(0o700, parents=True)
    if make == "file":
        path.write_text("a file", "utf-8")
    else:
        os.mkfifo(path)
    before = path.lstat()
    refused(place, UnsafeDirectory)
    assert path.lstat() == before


def test_a_hard_link_to_a_file_outside(place):
    folder = place.root / "outputs"
    folder.mkdir(0o700, parents=True)
    victim = place.outside / "victim.md"
    content = victim.read_bytes()
    os.link(victim, folder / "x.md")
    writer = place.writer()
    with pytest.raises(UnsafeFile):
        writer.read("outputs/x.md")
    assert writer.write("output", "x.md", BODY).relative_path == "outputs/x-2.md"
    # Overwriting gives the name to a new file; the old one keeps its other name and its content.
    writer.write("output", "x.md", BODY, overwrite=True)
    assert writer.read("outputs/x.md", limit=8).text == BODY[:8]
    assert victim.read_bytes() == content
    assert victim.stat().st_nlink == 1
    place.check_outside()


@pytest.mark.parametrize("step", STEPS)
def test_a_folder_of_another_owner(step, place):
    if os.geteuid() != 0:
        pytest.skip("giving a folder away needs root")
    path = place.root / step
    path.mkdir(0o700, parents=True)
    for folder in (place.root, *path.relative_to(place.root).parents):
        (place.root / folder).chmod(0o700)
    os.chown(path, 54321, -1)
    before = path.stat()
    refused(place, UnsafeDirectory)
    assert path.stat() == before
    unchecked = place.writer(check_owner=False)
    unchecked.write("output", "a/b/c/x.md", BODY)
    assert unchecked.read("outputs/a/b/c/x.md", limit=3).text == BODY[:3]


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777, 0o1777, 0o720])
def test_a_folder_that_others_may_write_to(mode, place):
    path = place.root / "outputs" / "a"
    path.mkdir(0o700, parents=True)
    (place.root / "outputs").chmod(0o700)
    path.chmod(mode)
    refused(place, UnsafeDirectory)
    path.chmod(0o755)
    place.writer().write("output", "a/b/c/x.md", BODY)


def test_a_file_of_another_owner(place):
    if os.geteuid() != 0:
        pytest.skip("giving a file away needs root")
    artifact = place.writer().write("output", "x.md", BODY)
    os.chown(artifact.absolute_path, 54321, -1)
    with pytest.raises(UnsafeFile):
        place.writer().read("outputs/x.md")


def test_everything_is_private(place):
    mask = os.umask(0)
    try:
        writer = place.writer()
        writer.write("output", "a/b/x.md", BODY)
        writer.write("output", "a/b/x.md", BODY, overwrite=True)
        writer.write("scratch", "y.md", BODY)
    finally:
        os.umask(mask)
    for path in [place.root, *place.root.rglob("*")]:
        wanted = 0o700 if path.is_dir() else 0o600
        assert stat.S_IMODE(path.stat().st_mode) == wanted, path


def test_a_root_that_is_a_file(place):
    place.root.write_text("a file", "utf-8")
    for call in (
        lambda: place.writer().write_default(BODY),
        lambda: place.writer().read("outputs/scout/t1-result.md"),
        lambda: turntape.list_artifacts(place.root),
        lambda: turntape.prune(place.root, max_bytes=0),
    ):
        with pytest.raises(StorageFailed):
            call()
    assert place.root.read_text("utf-8") == "a file"


@pytest.mark.parametrize("root", ["a\0b", "run\udc80", "/dev/null/x", "/proc/nowhere/x"])
def test_a_root_that_cannot_be(root, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    try:
        writer = turntape.ArtifactWriter(root, agent_id="scout", task_id="t1")
    except turntape.InvalidName:
        assert "\0" in root
        return
    if "\udc80" in root:
        # A byte that is no UTF-8, which a path of POSIX may have.
        written = writer.write_default(BODY)
        turntape.render_artifact_pointer(written, "", "peruse").encode()
        assert writer.read(written.relative_path, limit=3).text == BODY[:3]
        return
    text, artifact = turntape.offload_oversized_result(BODY, writer, 8192, "peruse")
    assert (text, artifact) == (BODY, None)


def descriptors():
    return sorted(path.name for path in Path("/dev/fd").iterdir())


def test_more_folders_than_descriptors(place):
    import resource

    deep = "/".join(["d"] * 400)
    writer = place.writer()
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    opened = len(descriptors())
    resource.setrlimit(resource.RLIMIT_NOFILE, (opened + 16, limits[1]))
    try:
        artifact = writer.write("output", f"{deep}/x.md", BODY)
        assert writer.read(artifact.relative_path, limit=3).text == BODY[:3]
        assert [each.relative_path for each in turntape.list_artifacts(place.root)] == [
            artifact.relative_path
        ]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_no_descriptor_is_left_open(place):
    (place.root / "outputs").mkdir(0o700, parents=True)
    (place.root / "outputs" / "way").symlink_to(place.outside)
    writer = place.writer()
    before = descriptors()
    for _ in range(3):
        writer.write_default(BODY)
        writer.write("output", "x.md", BODY, overwrite=True)
        writer.read("outputs/x.md")
        turntape.prune(place.root, max_bytes=0)
        for path in ("way/x.md", "x.md/y.md", "../x.md"):
            with pytest.raises(OffloadError):
                writer.write("output", path, BODY)
            with pytest.raises(OffloadError):
                writer.read(f"outputs/{path}")
    assert descriptors() == before


def test_many_threads_and_one_name(place):
    from concurrent.futures import ThreadPoolExecutor

    writer = place.writer()
    with ThreadPoolExecutor(8) as pool:
        artifacts = list(pool.map(lambda n: writer.write_default(f"{n}"), range(100)))
    assert len({artifact.relative_path for artifact in artifacts}) == 100
    assert sorted(writer.written) == sorted(artifact.relative_path for artifact in artifacts)
    for n, artifact in enumerate(artifacts):
        assert artifact.absolute_path.read_text("utf-8") == f"{n}"


def test_overwriting_in_turn_leaves_one_whole_file(place):
    from concurrent.futures import ThreadPoolExecutor

    bodies = [f"{n}" * 50_000 for n in range(8)]
    with ThreadPoolExecutor(8) as pool:
        written = list(
            pool.map(
                lambda b: place.writer().write("output", "x.md", b, overwrite=True), bodies * 8
            )
        )
    assert {artifact.relative_path for artifact in written} == {"outputs/x.md"}
    (content,) = place.files().values()
    assert content.decode() in bodies


def test_numbers_go_on(place):
    writer = place.writer()
    paths = [writer.write("output", "x.tar.gz", "x").relative_path for _ in range(40)]
    assert paths[0] == "outputs/x.tar.gz"
    assert paths[1:] == [f"outputs/x.tar-{n}.gz" for n in range(2, 41)]
    # Another writer, which knows nothing of these, finds the next one too.
    assert place.writer().write("output", "x.tar.gz", "x").relative_path == "outputs/x.tar-41.gz"
    for n in (3, 30):
        (place.root / f"outputs/x.tar-{n}.gz").unlink()
    assert writer.write("output", "x.tar.gz", "x").relative_path == "outputs/x.tar-3.gz"
    long = "é" * 126 + ".md"
    first, second = (writer.write("output", long, "x").absolute_path.name for _ in range(2))
    assert first == long
    assert second == "é" * 125 + "-2.md"
    assert len(second.encode()) == 255
