"""The vectors of artifacts: names, paths, thresholds, abstracts, pointers, writes, fallbacks."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from tests.support.vectors import cases, parametrize, text_of

import turntape
from turntape import ArtifactKind, ArtifactWriter, OffloadedArtifact, PathPolicy, Redacted

if TYPE_CHECKING:
    from tests.support.vectors import Case

FILE = "artifacts.json"

ERRORS: dict[str, type[turntape.OffloadError]] = {
    "absolute_path": turntape.AbsolutePath,
    "empty_name": turntape.EmptyName,
    "internal_root": turntape.InternalRoot,
    "internal_state": turntape.InternalState,
    "invalid_name": turntape.InvalidName,
    "path_escape": turntape.PathEscape,
    "symlink_escape": turntape.SymlinkEscape,
}

# Those of the redactors have a file of their own.
ELSEWHERE = {"redact", "redact_json", "stream_redact"}

HERE = {
    "build_abstract",
    "default_names_distinct",
    "default_result_name",
    "effective_offload_threshold",
    "extract_artifact_paths",
    "note_artifact_handoff",
    "offload_oversized_result",
    "read",
    "relative_to_root",
    "render_artifact_pointer",
    "resolve_artifact_path",
    "resolve_pointer",
    "sanitize_component",
    "should_offload",
    "write",
    "write_twice_default",
}


def test_every_operation_has_a_test():
    assert {case["op"] for case in cases(FILE)} == HERE | ELSEWHERE


def member(case: Case, name: str) -> Any:
    if f"{name}_json" in case:
        return json.loads(text_of(case[f"{name}_json"]))
    if f"{name}_hex" in case:
        return bytes.fromhex(text_of(case[f"{name}_hex"]))
    value = case.get(name)
    return value if value is None or isinstance(value, int | list) else text_of(value)


@dataclass
class Replacing:
    """The redactor of a vector."""

    old: str
    new: str
    claims: bool | None

    def redact(self, text: str) -> Redacted:
        scrubbed = text.replace(self.old, self.new)
        return Redacted(scrubbed, scrubbed != text if self.claims is None else self.claims)


class Raising:
    def redact(self, text: str) -> Redacted:
        raise RuntimeError(f"cannot handle {text}")


def redactor_of(case: Case) -> Replacing | Raising | None:
    given = case.get("redactor")
    if given is None:
        return None
    if given.get("raises"):
        return Raising()
    old, new = given["replace"]
    return Replacing(old, new, given.get("claims"))


def policy_of(case: Case) -> PathPolicy | None:
    given = case.get("policy")
    return None if given is None else PathPolicy(given["internal_state"], given["internal_root"])


@dataclass
class Scene:
    """A folder with what a vector puts there before."""

    folder: Path
    root: Path

    def files(self, name: str) -> list[str]:
        top = self.folder / name
        return sorted(
            path.relative_to(top).as_posix()
            for path in top.rglob("*")
            if path.is_file() and not path.is_symlink()
        )


@pytest.fixture
def scene(case: Case, tmp_path: Path) -> Scene:
    given = case["input"]

    def place(text: str) -> Path:
        return Path(text.replace("{tmp}", str(tmp_path)))

    outside = tmp_path / "outside"
    outside.mkdir()
    for name, text in given.get("outside", {}).items():
        (outside / name).write_text(text, "utf-8")
    root = place(given.get("root", "{tmp}/run"))
    if given.get("root_link"):
        (tmp_path / "real").mkdir()
        root.symlink_to(tmp_path / "real")
    for name in given.get("dirs", ()):
        (root / name).mkdir(parents=True)
    for name, text in given.get("files", {}).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    for name, target in given.get("links", {}).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).symlink_to(place(target))
    return Scene(tmp_path, root)


def writer_of(case: Case, root: Path) -> ArtifactWriter:
    return ArtifactWriter(
        root,
        policy=policy_of(case),
        redactor=redactor_of(case),
        agent_id=case.get("agent_id", "scout"),
        task_id=case.get("task_id", "t1"),
    )


def check_disk(expected: Case, scene: Scene) -> None:
    if "files_on_disk" in expected:
        assert scene.files(scene.root.name) == expected["files_on_disk"]
    if "outside_files" in expected:
        assert scene.files("outside") == expected["outside_files"]


@parametrize(FILE, "sanitize_component", "default_result_name")
def test_names(case: Case) -> None:
    given = {name: text_of(value) for name, value in case["input"].items()}
    if case["op"] == "sanitize_component":
        name = turntape.sanitize_component(given["value"])
    else:
        name = turntape.default_result_name(**given)
    assert case["expected"].keys() == {"equals"}
    assert name == text_of(case["expected"]["equals"])


@parametrize(FILE, "default_names_distinct")
def test_distinct_names(case: Case) -> None:
    assert case["expected"] == {"all_distinct": True}
    names = [turntape.default_result_name(*pair) for pair in case["input"]["pairs"]]
    assert len(set(names)) == len(names)


@parametrize(FILE, "resolve_artifact_path")
@pytest.mark.skipif(os.name == "nt", reason="the vectors are written with the paths of POSIX")
def test_resolving(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    given, expected = case["input"], case["expected"]
    arguments = (given["root"], given["kind"], member(given, "relative"), policy_of(given))
    if "error" in expected:
        with pytest.raises(turntape.OffloadError) as caught:
            turntape.resolve_artifact_path(*arguments)
        assert type(caught.value) is ERRORS[expected["error"]]
        return
    path = turntape.resolve_artifact_path(*arguments)
    if "path_below_cwd" in expected:
        assert path == tmp_path / expected["path_below_cwd"]
    else:
        assert str(path) == text_of(expected["path"])


@parametrize(FILE, "relative_to_root")
@pytest.mark.skipif(os.name == "nt", reason="the vectors are written with the paths of POSIX")
def test_relative_paths(case: Case) -> None:
    given = case["input"]
    relative = turntape.relative_to_root(given["root"], given["path"])
    assert relative == case["expected"]["relative"]


@parametrize(FILE, "should_offload", "effective_offload_threshold")
def test_thresholds(case: Case) -> None:
    assert getattr(turntape, case["op"])(**case["input"]) == case["expected"]["result"]


@parametrize(FILE, "build_abstract")
def test_abstracts(case: Case) -> None:
    given = dict(case["input"])
    text = text_of(given.pop("text"))
    assert turntape.build_abstract(text, **given) == text_of(case["expected"]["abstract"])


@parametrize(FILE, "render_artifact_pointer")
def test_pointers(case: Case) -> None:
    given, expected = case["input"], dict(case["expected"])
    fields = dict(given["artifact"])
    artifact = OffloadedArtifact(
        kind=ArtifactKind(fields.pop("kind")),
        absolute_path=Path("/srv/run", fields["relative_path"]),
        **fields,
    )
    text = turntape.render_artifact_pointer(
        artifact, text_of(given["abstract"]), given["read_tool"]
    )
    lines = text.split("\n")
    for number in (1, 2, 4, 5):
        if f"line_{number}" in expected:
            assert lines[number - 1] == expected.pop(f"line_{number}")
    if "line_3_starts_with" in expected:
        assert lines[2].startswith(expected.pop("line_3_starts_with"))
    if "rest" in expected:
        assert text.split("[abstract]\n", 1)[1] == text_of(expected.pop("rest"))
    if "extracted_paths" in expected:
        assert turntape.extract_artifact_paths(text) == expected.pop("extracted_paths")
    if "mentions_redaction" in expected:
        if expected.pop("mentions_redaction"):
            assert "redaction was applied" in lines[2]
        else:
            assert "redact" not in text
    for part in expected.pop("contains", ()):
        assert part in text
    assert not expected


@parametrize(FILE, "extract_artifact_paths")
def test_extraction(case: Case) -> None:
    given = case["input"]
    paths = turntape.extract_artifact_paths(text_of(given["text"]), given.get("known"))
    assert paths == case["expected"]["paths"]


@parametrize(FILE, "write")
def test_writes(case: Case, scene: Scene) -> None:
    given, expected = case["input"], dict(case["expected"])
    writer = writer_of(given, scene.root)
    content = member(given, "content")
    if "error" in expected or "refused" in expected:
        kind = ERRORS[expected["error"]] if "error" in expected else turntape.OffloadError
        with pytest.raises(kind):
            writer.write(given["kind"], member(given, "relative"), content)
        check_disk(expected, scene)
        return
    artifact, stored = writer.write_returning_stored(
        given["kind"], member(given, "relative"), content
    )
    for name in ("relative_path", "stored_bytes", "original_bytes", "redacted"):
        if name in expected:
            assert getattr(artifact, name) == expected[name]
    if "file_text" in expected:
        assert artifact.absolute_path.read_bytes() == text_of(expected["file_text"]).encode()
        assert stored == text_of(expected["file_text"])
    if "file_hex" in expected:
        assert artifact.absolute_path.read_bytes() == bytes.fromhex(expected["file_hex"])
    assert artifact.absolute_path == scene.root / artifact.relative_path
    check_disk(expected, scene)


@parametrize(FILE, "write_twice_default")
def test_default_writes(case: Case, scene: Scene) -> None:
    given, expected = case["input"], case["expected"]
    writer = writer_of(given, scene.root)
    artifacts = [writer.write_default(content) for content in given["contents"]]
    assert [artifact.relative_path for artifact in artifacts] == expected["paths"]
    texts = [artifact.absolute_path.read_text("utf-8") for artifact in artifacts]
    assert texts == expected["file_texts"]


@parametrize(FILE, "offload_oversized_result")
def test_offloading(case: Case, scene: Scene) -> None:
    given, expected = case["input"], case["expected"]
    options = {name: given[name] for name in ("on_error", "on_redactor_error") if name in given}
    writer = writer_of(given, scene.root)
    text, artifact = turntape.offload_oversized_result(
        member(given, "text"), writer, given["threshold"], given["read_tool"], **options
    )
    assert (artifact is not None) == expected["offloaded"]
    if artifact is None:
        if "text" in expected:
            assert text == text_of(expected["text"])
        for part in expected.get("text_not_contains", ()):
            assert part not in text
        if expected.get("one_line"):
            assert len(text.splitlines()) == 1
    else:
        assert artifact.relative_path == expected["path"]
        stored = artifact.absolute_path.read_text("utf-8")
        if "file_text" in expected:
            assert stored == text_of(expected["file_text"])
        if "abstract" in expected:
            assert text.split("\n[abstract]\n", 1)[1] == text_of(expected["abstract"])
        assert all(part in text for part in expected.get("contains", ()))
        assert all(part not in text for part in expected.get("not_contains", ()))
        assert all(part not in stored for part in expected.get("file_not_contains", ()))
    check_disk(expected, scene)


@parametrize(FILE, "resolve_pointer")
def test_resolving_pointers(case: Case, scene: Scene) -> None:
    given, expected = case["input"], case["expected"]
    if expected.get("refused"):
        with pytest.raises(turntape.OffloadError):
            turntape.resolve_pointer(scene.root, given["path"])
        return
    path = turntape.resolve_pointer(scene.root, given["path"])
    assert path == scene.root / expected["below_root"]


@parametrize(FILE, "read")
def test_reads(case: Case, scene: Scene) -> None:
    given, expected = case["input"], case["expected"]
    arguments = (given["path"], given["offset"], given["limit"])
    writer = writer_of(given, scene.root)
    if expected.get("refused"):
        with pytest.raises(turntape.OffloadError):
            writer.read(*arguments)
        return
    chunk = writer.read(*arguments)
    assert chunk.text == expected["text"]
    assert chunk.next_offset == expected["next_offset"]
    assert chunk.total_bytes == expected["total_bytes"]


@parametrize(FILE, "note_artifact_handoff")
def test_handoffs(case: Case, caplog: pytest.LogCaptureFixture) -> None:
    given = cast("dict[str, Any]", case["input"])
    with caplog.at_level("INFO", "turntape.artifacts"):
        count = turntape.note_artifact_handoff(**given)
    assert count == case["expected"]["count"] == len(caplog.records)
    assert [vars(record)["artifact_path"] for record in caplog.records] == given["paths"]
