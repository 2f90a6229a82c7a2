"""Results of blocks: texts go, media stay or go, and everything else is left alone."""

from __future__ import annotations

import base64

import pytest
from tests.support.artifacts import SECRET, Raising, Scrubbing

import turntape
from turntape import (
    Base64Source,
    Document,
    Image,
    PathSource,
    ProviderBlock,
    Text,
    ToolResult,
    UrlSource,
)

BODY = "low tide at six\n" * 1000
PIXELS = bytes(range(256)) * 40
PICTURE = Image(Base64Source(base64.b64encode(PIXELS).decode(), "image/png"), '{"detail":"low"}')
LINKED = Image(UrlSource("https://tides.example/a.png"))
CITED = Text(BODY, citations=('{"cited":"x"}',))
OTHER = ProviderBlock("search_result", '{"type":"search_result"}')


def test_a_large_text_goes_and_media_stay(place):
    blocks, artifacts = turntape.offload_structured_result(
        [Text("first"), PICTURE, Text(BODY), LINKED, OTHER], place.writer(), 8192, "peruse"
    )
    (artifact,) = artifacts
    assert blocks[:2] == (Text("first"), PICTURE)
    assert blocks[3:] == (LINKED, OTHER)
    pointer = blocks[2]
    assert isinstance(pointer, Text)
    assert turntape.extract_artifact_paths(pointer.text) == [artifact.relative_path]
    assert place.files() == {artifact.relative_path: BODY.encode()}


def test_neighbouring_texts_are_one(place):
    texts = [Text(f"{number} " + "tide " * 200) for number in range(20)]
    blocks, artifacts = turntape.offload_structured_result(texts, place.writer(), 8192, "peruse")
    assert len(blocks) == len(artifacts) == 1
    assert place.files() == {artifacts[0].relative_path: "".join(t.text for t in texts).encode()}


def test_the_largest_go_first(place):
    texts: list[Text | Image] = [
        Text("a" * 3000),
        LINKED,
        Text("b" * 9000),
        LINKED,
        Text("c" * 4000),
    ]
    blocks, artifacts = turntape.offload_structured_result(texts, place.writer(), 8192, "peruse")
    assert [block is before for block, before in zip(blocks, texts, strict=True)] == [
        True, True, False, True, True,
    ]  # fmt: skip
    assert [artifact.stored_bytes for artifact in artifacts] == [9000]
    blocks, artifacts = turntape.offload_structured_result(texts, place.writer(), 2500, "peruse")
    assert [artifact.stored_bytes for artifact in artifacts] == [3000, 9000, 4000]


def test_what_is_small_or_disabled_stays_the_same(place):
    for threshold, blocks in ((8192, (Text("small"), PICTURE)), (0, (Text(BODY), PICTURE))):
        result = ToolResult("c1", blocks)
        kept, artifacts = turntape.offload_tool_result(
            result, place.writer(), threshold, "peruse", media=threshold == 0
        )
        assert kept is result
        assert artifacts == ()
    result = ToolResult("c1", "small")
    assert turntape.offload_tool_result(result, place.writer(), 8192, "peruse")[0] is result
    assert not place.root.exists()


def test_texts_with_proofs_are_left_alone(place):
    blocks, artifacts = turntape.offload_structured_result([CITED], place.writer(), 8192, "peruse")
    assert (blocks, artifacts) == ((CITED,), ())


def test_media_go_where_they_may(place):
    paper = Document(Base64Source(base64.b64encode(b"%PDF").decode(), "application/pdf; x=1"))
    writer = place.writer()
    blocks, artifacts = turntape.offload_structured_result(
        [Text("seen"), PICTURE, paper, LINKED], writer, 8192, "peruse", media=True
    )
    first, second = artifacts
    assert (first.relative_path, second.relative_path) == (
        "outputs/scout/t1-result.png",
        "outputs/scout/t1-result.pdf",
    )
    assert blocks == (
        Text("seen"),
        Image(PathSource(first.relative_path, "image/png"), '{"detail":"low"}'),
        Text(f"[artifact] kind=output path={first.relative_path} bytes={len(PIXELS)}"),
        Document(PathSource(second.relative_path, "application/pdf; x=1")),
        Text(f"[artifact] kind=output path={second.relative_path} bytes=4"),
        LINKED,
    )
    assert writer.read_bytes(first.relative_path) == PIXELS
    report = turntape.prune(place.root, max_bytes=0)
    assert len(report.removed) == 2


@pytest.mark.parametrize("data", ["not base64!", "A", "YQ==\n", "YQ=", "é"])
def test_media_that_are_no_base64_stay(data, place, caplog):
    broken = Image(Base64Source("A" * 1000 + data, "image/png"))
    blocks, artifacts = turntape.offload_structured_result(
        [broken], place.writer(), 100, "peruse", media=True
    )
    assert (blocks, artifacts) == ((broken,), ())
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_media_that_hold_a_secret_stay(place, caplog):
    data = base64.b64encode(b"\xff" + SECRET.encode() * 100).decode()
    picture = Image(Base64Source(data, "image/png"))
    for redactor in (Scrubbing(), Raising()):
        blocks, artifacts = turntape.offload_structured_result(
            [picture], place.writer(redactor=redactor), 100, "peruse", media=True
        )
        assert (blocks, artifacts) == ((picture,), ())
    assert not place.root.exists()
    assert SECRET not in caplog.text


def test_a_result_whose_writing_fails(place, tmp_path):
    (tmp_path / "run").write_text("a file", "utf-8")
    given = (Text(f"{SECRET} {BODY}"), PICTURE)
    blocks, artifacts = turntape.offload_structured_result(
        given, place.writer(), 8192, "peruse", media=True
    )
    assert (blocks, artifacts) == (given, ())
    blocks, artifacts = turntape.offload_structured_result(
        given, place.writer(redactor=Scrubbing()), 8192, "peruse"
    )
    assert (blocks, artifacts) == ((Text(f"[gone] {BODY}"), PICTURE), ())
    blocks, artifacts = turntape.offload_structured_result(
        given, place.writer(redactor=Raising()), 8192, "peruse", on_redactor_error="withhold"
    )
    assert SECRET not in repr(blocks)


def test_a_result_that_is_a_text(place):
    result = ToolResult("c1", BODY, is_error=True, extra='{"x":1}')
    kept, artifacts = turntape.offload_tool_result(result, place.writer(), 8192, "peruse")
    assert isinstance(kept.content, str)
    assert turntape.extract_artifact_paths(kept.content) == [artifacts[0].relative_path]
    assert (kept.tool_use_id, kept.is_error, kept.extra) == ("c1", True, '{"x":1}')
