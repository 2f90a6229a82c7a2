"""Pruning: the oldest first, only what turntape named, and never what is to be kept."""

from __future__ import annotations

import os
import time
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

import turntape
from turntape import StorageFailed

NAMES = [f"outputs/scout/t{number}-result.md" for number in range(5)]


@pytest.fixture
def filled(place):
    """Five artifacts of ten bytes, the first the oldest, an hour apart."""
    now = time.time()
    for number in range(5):
        artifact = place.writer(task_id=f"t{number}").write_default("x" * 10)
        age = now - 3600 * (5 - number)
        os.utime(artifact.absolute_path, (age, age))
    return place


def removed(report):
    return [artifact.relative_path for artifact in report.removed]


def test_by_size(filled):
    report = turntape.prune(filled.root, max_bytes=25)
    assert removed(report) == NAMES[:3]
    assert (report.kept, report.kept_bytes, report.freed_bytes, report.failed) == (2, 20, 30, ())
    assert sorted(filled.files()) == NAMES[3:]
    assert removed(turntape.prune(filled.root, max_bytes=20)) == []
    assert removed(turntape.prune(filled.root, max_bytes=0)) == NAMES[3:]


@pytest.mark.parametrize("age", [9000, 9000.0, timedelta(hours=2.5)])
def test_by_age(age, filled):
    assert removed(turntape.prune(filled.root, max_age=age)) == NAMES[:3]


def test_by_both(filled):
    assert removed(turntape.prune(filled.root, 40, timedelta(hours=3.5))) == NAMES[:2]


def test_a_dry_run_removes_nothing(filled):
    before = filled.files()
    report = turntape.prune(filled.root, max_bytes=0, dry_run=True)
    assert removed(report) == NAMES
    assert filled.files() == before


def test_what_is_kept(filled):
    keep = [
        NAMES[0],
        f"./{NAMES[1]}",
        filled.root / NAMES[2],
        "../x",
        "outputs/forged\0.md",
        "/etc/passwd",
    ]
    report = turntape.prune(filled.root, max_bytes=0, keep=keep)
    assert removed(report) == NAMES[3:]
    with pytest.raises(TypeError):
        turntape.prune(filled.root, max_bytes=0, keep=NAMES[0])


def test_what_is_kept_by_another_way_to_it(filled, tmp_path):
    (tmp_path / "alias").symlink_to(filled.root)
    report = turntape.prune(filled.root, max_bytes=0, keep=[tmp_path / "alias" / NAMES[0]])
    assert removed(report) == NAMES[1:]


def test_what_the_conversation_names_is_kept(filled):
    writer = filled.writer(render_root=filled.root.parent, task_id="t0")
    text, artifact = turntape.offload_oversized_result("tide " * 5000, writer, 8192, "peruse")
    assert artifact is not None
    keep = turntape.extract_artifact_paths(text)
    report = turntape.prune(filled.root, max_bytes=0, keep=keep, render_root=filled.root.parent)
    assert removed(report) == [f"run/{name}" for name in NAMES]
    assert list(filled.files()) == ["outputs/scout/t0-result-2.md"]


@pytest.mark.skipif(os.name == "nt", reason="made with what POSIX has")
def test_what_is_of_the_host_stays(filled):
    folder = filled.root / "outputs" / "scout"
    others = [
        "report.md", "t1-result", "t1-result-1.md", "t1-result-02.md", "t1-result.md.bak", "result.md",
        "-result.tar.gz", "t 1-result.md", "t1-result.MD", ".t1-result.md", "deeper/t9-result.md",
    ]  # fmt: skip
    for name in others:
        (folder / name).parent.mkdir(0o700, exist_ok=True)
        (folder / name).write_text("of the host", "utf-8")
    (filled.root / "t1-result.md").write_text("of the host", "utf-8")
    (filled.root / "elsewhere").mkdir()
    (filled.root / "elsewhere" / "t1-result.md").write_text("of the host", "utf-8")
    (filled.outside / "t1-result.md").write_text("of somebody else", "utf-8")
    filled.remember()
    (folder / "l1-result.md").symlink_to(filled.outside / "victim.md")
    (folder / "d1-result.md").mkdir()
    os.mkfifo(folder / "p1-result.md")
    (filled.root / "outputs" / "linked").symlink_to(filled.outside)
    kept = {f"outputs/scout/{name}" for name in others} | {"t1-result.md", "elsewhere/t1-result.md"}
    report = turntape.prune(filled.root, max_bytes=0)
    assert removed(report) == NAMES
    assert set(filled.files()) == kept
    filled.check_outside()


def test_what_is_off_limits_stays(filled):
    policy = turntape.PathPolicy(state=[filled.root / NAMES[0]])
    assert removed(turntape.prune(filled.root, max_bytes=0, policy=policy)) == NAMES[1:]
    tree = turntape.PathPolicy(root=filled.root)
    with pytest.raises(turntape.InternalRoot):
        turntape.prune(filled.root, max_bytes=0, policy=tree)
    assert list(filled.files()) == NAMES[:1]


def test_limits_that_are_none(filled):
    for size, age in ((None, None), (-1, None), (None, -1.0), (10, timedelta(-1))):
        with pytest.raises(ValueError, match="limit"):
            turntape.prune(filled.root, size, age)
    assert len(filled.files()) == 5


def test_a_root_that_is_not_there(tmp_path):
    with pytest.raises(StorageFailed):
        turntape.prune(tmp_path / "none", max_bytes=0)
    (tmp_path / "empty").mkdir()
    assert turntape.prune(tmp_path / "empty", max_bytes=0).removed == ()
    assert turntape.list_artifacts(tmp_path / "empty") == []


def test_a_listing(filled):
    filled.writer().write("scratch", "notes/a.txt", "low tide")
    listed = turntape.list_artifacts(filled.root)
    assert [each.relative_path for each in listed] == [*NAMES, "workspace/notes/a.txt"]
    assert [each.default_name for each in listed] == [True] * 5 + [False]
    assert listed[-1].kind is turntape.ArtifactKind.SCRATCH
    assert listed[-1].stored_bytes == 8
    rendered = turntape.list_artifacts(filled.root, render_root=filled.root.parent)
    assert rendered[0].relative_path == f"run/{NAMES[0]}"


@given(st.text(max_size=12), st.text(max_size=12), st.integers(1, 3))
def test_every_default_name_may_be_pruned(tmp_path_factory, agent_id, task_id, times):
    root = tmp_path_factory.mktemp("run")
    writer = turntape.ArtifactWriter(root, agent_id=agent_id, task_id=task_id)
    paths = [writer.write_default("x").relative_path for _ in range(times)]
    assert {each.relative_path for each in turntape.list_artifacts(root)} == set(paths)
    report = turntape.prune(root, max_bytes=0)
    assert set(removed(report)) == set(paths)
