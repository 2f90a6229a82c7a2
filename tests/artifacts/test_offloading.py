"""Offloading a result: the turn never fails, and no secret gets past the redactor."""

from __future__ import annotations

import copy
import logging
import pickle
import traceback

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.artifacts import SECRET, Raising, Scrubbing

import turntape
from turntape import OffloadError, OpenPathPolicy, Redacted, RedactionFailed

BODY = f"key {SECRET}\n" + "low tide at six\n" * 1000


def test_write_without_a_redactor_stores_bytes_verbatim(place):
    """A decision about security: what comes is what is stored, secrets and all."""
    for number, content in enumerate([BODY, BODY.encode(), b"\xff\xfe\x00" + BODY.encode(), ""]):
        artifact = place.writer().write("output", f"{number}.md", content)
        raw = content.encode() if isinstance(content, str) else content
        assert artifact.absolute_path.read_bytes() == raw
        assert (artifact.stored_bytes, artifact.original_bytes) == (len(raw), len(raw))
        assert not artifact.redacted


def test_abstract_is_built_from_the_redacted_body(place):
    writer = place.writer(redactor=Scrubbing())
    text, artifact = turntape.offload_oversized_result(BODY, writer, 8192, "peruse")
    assert artifact is not None
    stored = artifact.absolute_path.read_text("utf-8")
    assert text.split("[abstract]\n", 1)[1] == turntape.build_abstract(stored)
    assert "[gone]" in text
    assert SECRET not in text + stored
    assert artifact.redacted
    assert artifact.original_bytes == len(BODY)
    assert artifact.stored_bytes == len(stored)


def test_offload_failure_keeps_the_inline_payload(place, caplog):
    (place.root / "outputs").mkdir(0o700, parents=True)
    (place.root / "outputs" / "scout").symlink_to(place.outside)
    text, artifact = turntape.offload_oversized_result(BODY, place.writer(), 8192, "peruse")
    assert (text, artifact) == (BODY, None)
    (record,) = caplog.records
    assert (record.name, record.levelname) == ("turntape.artifacts", "WARNING")
    assert "SymlinkEscape" in record.getMessage()
    place.check_outside()


class Shortening:
    """A redactor that leaves almost nothing."""

    def redact(self, text: str, /) -> Redacted:
        return Redacted("[all gone]", changed=True)


class Silent:
    """A redactor that gives no text."""

    def redact(self, text: str, /):
        return Redacted(None, changed=False)  # type: ignore[arg-type]  # what a host's mistake does


class Nothing:
    def redact(self, text: str, /):
        return None


@pytest.mark.parametrize("redactor", [Raising(), Silent(), Nothing()])
def test_a_redactor_that_fails(redactor, place, caplog):
    writer = place.writer(redactor=redactor)
    for content in (BODY, BODY.encode(), b"\xff" + BODY.encode()):
        with pytest.raises(RedactionFailed) as caught:
            writer.write("output", "x.md", content)
        shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
        assert SECRET not in shown
        assert caught.value.__context__ is None
        assert caught.value.__cause__ is None
    text, artifact = turntape.offload_oversized_result(BODY, writer, 8192, "peruse")
    assert (text, artifact) == (BODY, None)
    text, artifact = turntape.offload_oversized_result(
        BODY, writer, 8192, "peruse", on_redactor_error="withhold"
    )
    assert artifact is None
    assert len(text.splitlines()) == 1
    assert SECRET not in text
    assert [record.levelname for record in caplog.records] == ["ERROR", "ERROR"]
    assert not any(record.exc_info for record in caplog.records)
    assert SECRET not in caplog.text
    assert not place.root.exists()


def test_the_pointer_must_be_smaller_than_what_would_stand_instead(place):
    writer = place.writer(redactor=Shortening())
    text, artifact = turntape.offload_oversized_result(BODY, writer, 8192, "peruse")
    assert (text, artifact) == ("[all gone]", None)
    text, artifact = turntape.offload_oversized_result(
        BODY, writer, 8192, "peruse", on_error="original"
    )
    assert artifact is not None
    assert artifact.stored_bytes == len("[all gone]")


def test_exactly_as_large_as_its_pointer(place):
    """With a number behind its name the pointer is longer, and may be no smaller any more."""

    def offload(size: int, task_id: str) -> str | None:
        writer = place.writer(task_id=task_id)
        text, artifact = turntape.offload_oversized_result(
            "x" * size, writer, 1, "peruse", abstract_budget=10
        )
        assert (artifact is None) == (text == "x" * size)
        return None if artifact is None else text

    pointer = offload(400, "t1")
    assert pointer is not None
    size = len(pointer)
    assert 100 < size < 400
    assert offload(size, "t2") is None
    assert len(offload(size + 1, "t2") or "") == size
    before = place.files()
    # Now that name is taken, and "-2" would stand in the pointer twice.
    assert offload(size + 4, "t2") is None
    assert place.files() == before
    assert len(offload(size + 5, "t2") or "") == size + 4


def test_a_policy_that_raises_fails_no_turn(place, caplog):
    class Broken(OpenPathPolicy):
        def is_internal_state(self, path, /):
            raise RuntimeError(SECRET)

    text, artifact = turntape.offload_oversized_result(
        BODY, place.writer(policy=Broken()), 8192, "peruse"
    )
    assert (text, artifact) == (BODY, None)
    assert caplog.records[0].getMessage() == "a result was not offloaded: RuntimeError"


@pytest.mark.parametrize(
    "options", [{"on_error": "other"}, {"on_redactor_error": "other"}, {"kind": "other"}]
)
def test_options_that_there_are_not(options, place):
    with pytest.raises(ValueError, match="other"):
        turntape.offload_oversized_result("x", place.writer(), 8192, "peruse", **options)


def test_what_was_read_is_not_offloaded_again(place):
    writer = place.writer()
    artifact = writer.write_default(BODY)
    chunk = writer.read(artifact.relative_path)
    assert chunk.exempt
    assert turntape.offload_oversized_result(chunk, writer, 10, "peruse") == (BODY, None)


def no_space(*_):
    raise OSError(28, "No space left on device")


def arrange(way, place, monkeypatch):
    """Make a writer, and something that goes wrong."""
    policy = turntape.PathPolicy(root=place.root) if way == "policy" else None
    if way == "link":
        (place.root / "outputs").mkdir(0o700, parents=True)
        (place.root / "outputs" / "scout").symlink_to(place.outside)
    if way == "full":
        monkeypatch.setattr("os.write", no_space)
    return place.writer(redactor=Scrubbing(), policy=policy)


@pytest.mark.parametrize("way", ["good", "overwrite", "link", "full", "policy"])
@pytest.mark.parametrize("content", [BODY, BODY.encode(), b"\xff\xfe" + BODY.encode()])
def test_the_secret_is_nowhere(way, content, place, caplog, monkeypatch):
    caplog.set_level(logging.DEBUG)
    writer = arrange(way, place, monkeypatch)
    prepared = writer.prepare(content)
    seen: list[object] = [writer, prepared, copy.copy(prepared)]
    failed = False
    try:
        artifact, stored = writer.write_returning_stored(
            "output", "scout/x.md", content, overwrite=way == "overwrite"
        )
        seen += [artifact, stored, writer.read(artifact.relative_path), pickle.dumps(artifact)]
    except OffloadError as error:
        failed = True
        seen += [error, str(error), error.__dict__, pickle.dumps(error), error.__context__]
        seen.append("".join(traceback.format_exception(error)))
    text, offloaded = turntape.offload_oversized_result(BODY, writer, 8192, "peruse")
    seen += [text, offloaded, caplog.text, *(vars(record) for record in caplog.records)]
    assert failed == (way in {"link", "full", "policy"}) == (offloaded is None)
    for value in seen:
        assert SECRET not in (value if isinstance(value, str) else repr(value))
    for file in place.files().values():
        assert SECRET.encode() not in file
    place.check_outside()


@given(st.text() | st.text(st.characters(), max_size=8), st.binary(max_size=40))
def test_what_is_stored_is_what_came(tmp_path_factory, text, data):
    writer = turntape.ArtifactWriter(
        tmp_path_factory.getbasetemp() / "stored", agent_id="scout", task_id="t1"
    )
    artifact, stored = writer.write_returning_stored("output", "x.md", text, overwrite=True)
    expected = "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)
    assert stored == expected == artifact.absolute_path.read_bytes().decode()
    assert artifact.original_bytes == artifact.stored_bytes == len(expected.encode())
    scrubbing = turntape.ArtifactWriter(
        writer.root, redactor=Scrubbing(), agent_id="scout", task_id="t1"
    )
    hidden = data + SECRET.encode() + data
    artifact = scrubbing.write("output", "x.bin", hidden, overwrite=True)
    assert scrubbing.read_bytes(artifact.relative_path) == data + b"[gone]" + data
    assert artifact.redacted


def test_content_is_a_text_or_bytes(place):
    for content in (None, 7, ["x"], {"x": 1}):
        with pytest.raises(TypeError):
            place.writer().write("output", "x.md", content)
    artifact = place.writer().write("output", "x.md", bytearray(b"x"))
    assert artifact.stored_bytes == 1


def test_render_root(place):
    inside = place.writer(render_root=place.root.parent)
    artifact = inside.write_default(BODY)
    assert artifact.relative_path == "run/outputs/scout/t1-result.md"
    assert inside.read(artifact.relative_path, limit=3).text == BODY[:3]
    assert inside.resolve_pointer(artifact.relative_path) == artifact.absolute_path
    elsewhere = place.writer(render_root=place.outside)
    artifact = elsewhere.write_default(BODY)
    assert artifact.relative_path == str(artifact.absolute_path)
    assert elsewhere.read(artifact.relative_path, limit=3).text == BODY[:3]
    for path in ("outputs/scout/t1-result.md", "victim.md", str(place.outside / "victim.md")):
        with pytest.raises(OffloadError):
            elsewhere.read(path)
    assert elsewhere.written == (artifact.relative_path,)
    assert repr(elsewhere) == f"ArtifactWriter({str(place.root)!r}, agent_id='scout', task_id='t1')"


def test_handoffs(caplog):
    caplog.set_level(logging.INFO)
    paths = ["outputs/a.md", "outputs/b\n.md"]
    assert turntape.note_artifact_handoff("recorded_by_child", "sc\nout", "t1", paths) == 2
    first, second = caplog.records
    assert vars(first)["artifact_agent"] == "sc\nout"
    assert vars(second)["artifact_path"] == paths[1]
    assert "\n" not in first.getMessage() + second.getMessage()
    with pytest.raises(ValueError, match="no stage"):
        turntape.note_artifact_handoff("lost", "scout", "t1", [])  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        turntape.note_artifact_handoff("recorded_by_child", "scout", "t1", "outputs/a.md")
