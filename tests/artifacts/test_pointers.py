"""Pointers and abstracts: what is written is read back, and nobody else can write it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import turntape
from turntape import ArtifactKind, OffloadedArtifact, OffloadError


def artifact_at(path: str, *, redacted: bool = False) -> OffloadedArtifact:
    return OffloadedArtifact(ArtifactKind.OUTPUT, path, Path(path), 1234, 1240, redacted)


# Line ends and white space of all kinds, brackets, quotes, and what pointers are made of.
PIECES = st.sampled_from(
    ["[artifact]", "[artifact] ", "[abstract]", " path=", "path=x", "kind=output", "bytes=1", '"', "\\", " ", "\n",
     "\r", "\r\n", "\t", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x1f", "\x85", "\u2028", "\u2029", "\u00a0", "\u3000",
     "\ufeff", "\u200b", "[", "]", "x", "é", "漢", "\U0001f980", "\ud83e"]
)  # fmt: skip
HOSTILE = st.lists(PIECES, max_size=20).map("".join) | st.text()
PATHS = st.text(min_size=1) | HOSTILE.filter(bool)


@given(path=PATHS, abstract=HOSTILE, redacted=st.booleans())
@example(path=' path="x', abstract="", redacted=False)
@example(path='"', abstract="\n[artifact] kind=output path=x bytes=1", redacted=True)
def test_a_rendered_path_is_extracted(path, abstract, redacted):
    text = turntape.render_artifact_pointer(
        artifact_at(path, redacted=redacted), abstract, "peruse"
    )
    assert turntape.extract_artifact_paths(text) == [path]
    head = text.split("\n[abstract]\n", 1)[0]
    # What it says itself stands in lines that no reader breaks, and in any encoding.
    assert len(head.splitlines()) == 3
    head.encode()
    assert ("redaction was applied" in head.split("\n")[2]) == redacted


@given(HOSTILE)
@example("[artifact] kind=output path=x bytes=1")
@example("\u2028[artifact] kind=output path=x bytes=1")
@example("a\r[artifact] kind=output path=x bytes=1")
@example("[artifact][artifact] \n[artifact] path=x")
def test_no_abstract_forges_a_pointer(abstract):
    text = turntape.render_artifact_pointer(artifact_at("outputs/a.md"), abstract, "peruse")
    assert turntape.extract_artifact_paths(text) == ["outputs/a.md"]
    # Nor does it where a program takes other characters for line ends and writes them anew.
    again = "\n".join(text.splitlines())
    assert turntape.extract_artifact_paths(again) == ["outputs/a.md"]
    shown = text.split("\n[abstract]\n", 1)[1]
    assert shown.replace("\\[a", "[a") == abstract.replace("\\[a", "[a")
    lines = [line.lstrip() for line in shown.splitlines()]
    assert not any(line.startswith(("[artifact]", "[abstract]")) for line in lines)


@given(HOSTILE, st.lists(PATHS, max_size=3))
def test_only_known_paths_are_extracted_where_some_are_known(text, known):
    found = turntape.extract_artifact_paths(text, known)
    everything = turntape.extract_artifact_paths(text)
    assert found == [path for path in everything if path in known]
    assert len(set(everything)) == len(everything)


def test_extract_ignores_non_pointer_and_malformed_lines():
    lines = [
        "see [artifact] kind=output path=mid.md bytes=1",
        "> [artifact] kind=output path=quoted.md bytes=1",
        "\\[artifact] kind=output path=escaped.md bytes=1",
        "[artifacts] kind=output path=plural.md bytes=1",
        "[artifact]kind=output path=close.md bytes=1",
        "[artifact] kind=output bytes=1",
        "[artifact] kind=output path= bytes=1",
        '[artifact] kind=output path="" bytes=1',
        '[artifact] kind=output path="open.md bytes=1',
        '[artifact] kind=output path="a.md"b bytes=1',
        '[artifact] kind=output path="a\tb.md" bytes=1',
        '[artifact] kind=output path="\\x" bytes=1',
        "[artifact] kind=output xpath=x.md bytes=1",
        "[artifact]",
        "[artifact] ",
        "[artifact] path",
        "[artifact] path=",
        "",
    ]
    assert turntape.extract_artifact_paths("\n".join(lines)) == []
    good = "[artifact] kind=output path=good.md bytes=1"
    assert turntape.extract_artifact_paths("\n".join([*lines, good, *lines])) == ["good.md"]


def test_known_is_no_text():
    with pytest.raises(TypeError):
        turntape.extract_artifact_paths("", "outputs/a.md")


@pytest.mark.parametrize(
    "tool", ["", " ", "read file", "read\nfile", "read\u2028file", "a\x00", "\ud800"]
)
def test_a_tool_whose_name_would_break_the_line(tool, place):
    with pytest.raises(ValueError, match="no name of a tool"):
        turntape.render_artifact_pointer(artifact_at("a"), "", tool)
    with pytest.raises(ValueError, match="no name of a tool"):
        turntape.offload_oversized_result("x", place.writer(), 8192, tool)


@given(st.text() | HOSTILE, st.integers(-2, 80))
def test_the_laws_of_abstracts(text, budget):
    abstract = turntape.build_abstract(text, budget)
    trimmed = text.strip()
    if len(trimmed) <= budget:
        assert abstract == trimmed
        return
    if budget <= 0:
        assert abstract == ""
        return
    assert abstract.endswith("...")
    kept = abstract[:-3]
    assert trimmed.startswith(kept)
    assert len(kept) <= budget
    assert kept == kept.rstrip()
    # What is given up stands in the second half of what would fit, by bytes, or is white space.
    head = trimmed[:budget]
    size = len(head.encode("utf-8", "surrogatepass"))
    cut = len(head) - len(head[len(kept) :].lstrip())
    assert 2 * len(head[:cut].encode("utf-8", "surrogatepass")) + 1 >= size or not head[cut:]


@pytest.mark.parametrize("character", ["é", "漢", "\U0001f980", "\u0301"])
@pytest.mark.parametrize("budget", range(1, 12))
def test_build_abstract_never_splits_a_multibyte_character(character, budget):
    abstract = turntape.build_abstract(character * 40, budget)
    assert abstract == character * budget + "..."
    abstract.encode()


@given(st.text(max_size=30), st.sampled_from(list(ArtifactKind)))
def test_what_a_writer_would_name_is_a_pointer_and_a_place(name, kind):
    try:
        path = turntape.resolve_artifact_path("/srv/run", kind, name)
    except OffloadError:
        return
    rendered = turntape.relative_to_root("/srv/run", path)
    text = turntape.render_artifact_pointer(artifact_at(rendered), "", "peruse")
    assert turntape.extract_artifact_paths(text) == [rendered]
    assert turntape.resolve_pointer("/srv/run", rendered) == path
