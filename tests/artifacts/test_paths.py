"""Names and paths: what an attacker would try, and the laws that hold for all of them."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import turntape
from turntape import (
    AbsolutePath,
    ArtifactKind,
    InternalRoot,
    InternalState,
    InvalidName,
    OffloadError,
    OpenPathPolicy,
    PathEscape,
    PathPolicy,
)

TOP = Path.cwd().joinpath("/srv/run")

UPWARD = [
    "{0}", "{0}/", "./{0}", "{0}/x.md", "a/{0}/x.md", "a/b/{0}", "a/{0}/{0}/x.md", "a//{0}//x.md",
    "./a/./{0}/x.md", "a\\{0}\\x.md", "{0}\\x.md", "a\\{0}", "a/{0}\\x.md", "C:{0}", "C:{0}/x.md",
    "C:\\{0}\\x.md", "/{0}/x.md", "/a/{0}", "\\\\host\\{0}\\x", "{0}/CON", "a/{0}/nul.md", " /{0}/x",
]  # fmt: skip

# What some program takes for two dots, or for a separator after them, and no file system does.
LOOKALIKES = [
    "%2e%2e/x.md", "%2E%2E%2Fx.md", "..%2fx.md", "..%5cx.md", "%252e%252e/x.md", "..%c0%afx.md",
    "\uff0e\uff0e/x.md", "\u2025/x.md", "\u2024\u2024/x.md", "..\uff0fx.md", "..\u2215x.md", "..\u2044x.md", "..;/x.md", "..a/x.md",
    "a..b/x.md", "~/x.md", "~root/x.md", "$HOME/x.md", "${{HOME}}/x.md", "-rf/x.md", "a/b/..c/x.md",
]  # fmt: skip

REFUSED_NAMES = [
    *(f"{name}{end}" for name in (
        "con", "CON", "Prn", "aux", "NUL", "com1", "COM9", "lpt1", "LPT9", "com¹", "LPT³", "conin$", "CONOUT$",
    ) for end in ("", ".md", ".tar.gz", " .md")),
    "x.", "x ", "x.md.", "x.md ", "...", "....", ". ", ".. ", "..  .", " . .", "x. .",
    "a:b", "x.md:stream", "x.md::$DATA", "c:x", "a\\b", "\\x", "a\x00b", "\x00", "x.md\x00", "\x00/x", "a/\x00/b",
    *(f"a{chr(code)}b" for code in (*range(1, 32), *range(0x7F, 0xA0))),
    "a\ud800b", "\udfff", "a/\udc80/b", "k" * 256, "é" * 128, ".turntape-0123456789abcdef.tmp",
    ".TURNTAPE-00.TMP", ".turntape-0.tmp/x.md", "a..",
]  # fmt: skip


@pytest.mark.parametrize("form", UPWARD)
def test_two_dots_in_every_position(form, place):
    with pytest.raises(PathEscape):
        turntape.resolve_artifact_path(place.root, "output", form.format(".."))
    with pytest.raises(OffloadError):
        place.writer().write("output", form.format(".."), "x")
    assert not place.root.exists()
    place.check_outside()


@pytest.mark.parametrize("form", LOOKALIKES)
def test_what_only_looks_like_two_dots_is_a_name(form, place):
    artifact = place.writer().write("output", form, "x")
    assert place.files() == {f"outputs/{form}": b"x"}
    assert artifact.absolute_path == place.root / "outputs" / form
    place.check_outside()


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd", "//etc/passwd", "///x", "/", "\\x", "\\\\host\\share\\x", "//host/share/x", "\\\\?\\C:\\x",
        "\\\\.\\pipe\\x", "//./COM1", "C:", "C:/x", "C:\\x", "c:x", "Z:nul", "/proc/self/fd/1", "/dev/fd/1",
    ],
)  # fmt: skip
def test_absolute_forms(path, place):
    with pytest.raises(AbsolutePath):
        place.writer().write("output", path, "x")
    assert not place.root.exists()


@pytest.mark.parametrize("name", REFUSED_NAMES)
@pytest.mark.parametrize("form", ["{}", "a/{}", "{}/b.md"])
def test_names_that_some_platform_cannot_have(name, form, place):
    with pytest.raises((InvalidName, AbsolutePath)):
        place.writer().write("output", form.format(name), "x")
    assert not place.root.exists()


@pytest.mark.parametrize("path", [".", "./", "./.", "././/", "./././"])
def test_nothing_but_single_dots_names_nothing(path, place):
    with pytest.raises(InvalidName):
        place.writer().write("output", path, "x")
    assert not place.root.exists()


@pytest.mark.parametrize(
    "path", ["./b.md", "a/.", "a/./", "a/./.", "a/././/", "././b.md", ".//b.md"]
)
def test_a_single_dot_in_a_longer_path_is_dropped(path):
    resolved = turntape.resolve_artifact_path("/srv/run", "output", path)
    assert resolved.parent == TOP / "outputs"


@pytest.mark.parametrize(
    "name",
    ["console", "com", "com0", "com10.md", "lpt", "nulx", "xnul", "auxiliary.md", "a.con", "conin", "..a", ".a"],
)  # fmt: skip
def test_names_that_are_fine(name, place):
    place.writer().write("output", name, "x")
    assert place.files() == {f"outputs/{name}": b"x"}


def test_internal_state_wins_over_internal_root():
    policy = PathPolicy(state=["/srv/run/outputs/state.json"], root="/srv/run")
    with pytest.raises(InternalState):
        turntape.resolve_artifact_path("/srv/run", "output", "state.json", policy)
    with pytest.raises(InternalRoot):
        turntape.resolve_artifact_path("/srv/run", "output", "other.json", policy)


@pytest.mark.parametrize("policy", [None, OpenPathPolicy()])
def test_a_policy_free_resolve_still_enforces_containment(policy):
    for path in ("../x", "a/../../x", "/etc/passwd", "C:/x", "a\\..\\x"):
        with pytest.raises((PathEscape, AbsolutePath)):
            turntape.resolve_artifact_path("/srv/run", "output", path, policy)


def test_scratch_resolves_under_the_artifact_root():
    path = turntape.resolve_artifact_path("/srv/run", ArtifactKind.SCRATCH, "notes/a.txt")
    assert path == TOP / turntape.SCRATCH_DIR / "notes" / "a.txt"


STEP = st.text(
    st.characters(exclude_characters="/\\:\0", exclude_categories=("Cs", "Cc")),
    min_size=1,
    max_size=12,
)
NASTY = st.lists(
    st.sampled_from(
        ["..", ".", "", "a", "/", "\\", "C:", "nul", "x.", "~", "\0", "\ud800", "é", "x.md", " "]
    )
    | STEP,
    max_size=6,
).flatmap(lambda parts: st.sampled_from(["/", "\\", ""]).map(lambda mark: mark.join(parts)))


@given(st.text() | NASTY, st.sampled_from(list(ArtifactKind)))
def test_whatever_resolves_lies_in_its_folder(relative, kind):
    try:
        path = turntape.resolve_artifact_path("/srv/run", kind, relative)
    except OffloadError as error:
        assert error.path == relative  # noqa: PT017 (some paths are fine)
        return
    folder = TOP / kind.folder
    assert Path(os.path.normpath(path)) == path
    assert folder in path.parents
    assert ".." not in path.parts
    # And again: what was rendered resolves to the same place.
    below = turntape.relative_to_root(folder, path)
    assert turntape.resolve_artifact_path("/srv/run", kind, below) == path
    rendered = turntape.relative_to_root(TOP, path)
    assert turntape.resolve_pointer(TOP, rendered) == path


@given(st.text(), st.text())
@example("", "unknown")
@example("a" * 81, "a" * 80)
@example("\ud800", "\udfff")
@example("con", "LPT1")
def test_the_laws_of_names(one, other):
    for value in (one, other):
        clean = turntape.sanitize_component(value)
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,80}", clean)
        assert turntape.sanitize_component(clean) == clean
        name = turntape.default_result_name(value, "t1")
        assert turntape.resolve_artifact_path("/srv/run", "output", name).name == "t1-result.md"
    if one != other:
        assert turntape.default_result_name(one, "t") != turntape.default_result_name(other, "t")
        assert turntape.default_result_name("a", one) != turntape.default_result_name("a", other)


class TestPathPolicy:
    def test_another_way_to_the_same_place(self, tmp_path):
        (tmp_path / "state").mkdir()
        (tmp_path / "state" / "db.json").write_text("{}", "utf-8")
        (tmp_path / "alias").symlink_to("state")
        policy = PathPolicy(state=[tmp_path / "state" / "db.json"])
        assert policy.is_internal_state(tmp_path / "alias" / "db.json")
        assert not policy.is_internal_state(tmp_path / "alias" / "other.json")
        os.link(tmp_path / "state" / "db.json", tmp_path / "hard.json")
        assert policy.is_internal_state(tmp_path / "hard.json")

    def test_what_does_not_exist_is_compared_by_name(self, tmp_path):
        policy = PathPolicy(state=[tmp_path / "new" / "Zustände.json"])
        decomposed = "zusta\u0308nde.JSON"
        assert policy.is_internal_state(tmp_path / "new" / decomposed)
        assert policy.is_internal_state(tmp_path / "NEW" / "Zustände.json" / "below")
        assert not policy.is_internal_state(tmp_path / "new")
        assert not policy.is_internal_state(tmp_path / "new" / "Zustände.json2")

    def test_relative_paths_begin_where_the_policy_was_made(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        policy = PathPolicy(state=["db.json"], root="tree")
        monkeypatch.chdir("/")
        assert policy.is_internal_state(tmp_path / "db.json")
        assert policy.internal_root() == tmp_path / "tree"
        assert (
            repr(policy)
            == f"PathPolicy(state=[{str(tmp_path / 'db.json')!r}], root={str(tmp_path / 'tree')!r})"
        )

    def test_a_root_that_a_link_leads_into_the_tree(self, place):
        inside = place.outside / "folder"
        place.root.symlink_to(inside)
        policy = PathPolicy(root=place.outside)
        assert turntape.resolve_artifact_path(place.root, "output", "x.md") is not None
        with pytest.raises(InternalRoot):
            place.writer(policy=policy).write("output", "x.md", "x")
        place.check_outside()

    def test_a_policy_that_looks_at_the_real_path_alone(self, place):
        place.root.symlink_to(place.outside / "folder")
        asked = []

        class Policy(OpenPathPolicy):
            def is_internal_state(self, path: Path, /) -> bool:
                asked.append(path)
                return place.outside in path.parents

        with pytest.raises(InternalState):
            place.writer(policy=Policy()).write("output", "a/x.md", "x")
        assert asked[0] == place.root / "outputs" / "a" / "x.md"
        assert asked[-1] == place.outside / "folder" / "outputs" / "a" / "x.md"
        place.check_outside()

    def test_a_name_with_a_number_is_asked_about_as_well(self, place):
        policy = PathPolicy(state=[place.root / "outputs" / "report-2.md"])
        writer = place.writer(policy=policy)
        writer.write("output", "report.md", "first")
        with pytest.raises(InternalState):
            writer.write("output", "report.md", "second")
        assert place.files() == {"outputs/report.md": b"first"}

    def test_reading_asks_as_well(self, place):
        place.writer().write("output", "state.md", "x")
        policy = PathPolicy(state=[place.root / "outputs" / "state.md"])
        with pytest.raises(InternalState):
            place.writer(policy=policy).read("outputs/state.md")
        with pytest.raises(InternalState):
            place.writer(policy=policy).resolve_pointer("outputs/state.md")
