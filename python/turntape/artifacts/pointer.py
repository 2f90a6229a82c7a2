r"""The pointer that stands in the conversation for an artifact, and finding pointers in a text."""

from __future__ import annotations

import re
from json import JSONDecoder
from json.encoder import encode_basestring
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from turntape.artifacts.writer import OffloadedArtifact

__all__ = ["check_tool", "extract_artifact_paths", "pointer_line", "render_artifact_pointer"]

_MARK = "[artifact]"
_MEMBER = " path="

_NOTE = "the full result is in the file; the abstract below is only a part of it"
_REDACTION = "; redaction was applied"

_BRACKET = re.compile(r"\[(?:artifact|abstract)\]")
# Whatever some program may take for the end of a line.
_LINE_ENDS = re.compile("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
# What would end the value, begin a quoted one, or break the line; and surrogates, which no encoding
# can write.
_NOT_PLAIN = re.compile('[\\s"\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]')
# What JSON leaves as it is and would break the line all the same.
_NOT_IN_LINE = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")
# The name of a tool is one word, so that it forges no line.
_TOOL = re.compile(r"[^\s\x00-\x1f\x7f-\x9f\ud800-\udfff]+")

_decode_json = JSONDecoder().raw_decode


def render_artifact_pointer(artifact: OffloadedArtifact, abstract: str, read_tool: str) -> str:
    """Write the text that stands in the conversation for an artifact.

    Args:
        artifact: The artifact.
        abstract: Part of what was stored. A line of it that looks like one of a pointer is marked, so that
            a tool's output cannot forge one.
        read_tool: The host's tool that reads artifacts; it takes ``path``.

    Raises:
        ValueError: The name of the tool is no single word.

    >>> from pathlib import Path
    >>> from turntape import ArtifactKind, OffloadedArtifact
    >>> path = "outputs/scout/t1-result.md"
    >>> artifact = OffloadedArtifact(
    ...     ArtifactKind.OUTPUT, path, Path("/srv/run", path), 9120, 9120, redacted=False
    ... )
    >>> print(render_artifact_pointer(artifact, "Low tide at six...", "read_artifact"))
    [artifact] kind=output path=outputs/scout/t1-result.md bytes=9120
    read_with: read_artifact {"path":"outputs/scout/t1-result.md"}
    note: the full result is in the file; the abstract below is only a part of it
    <BLANKLINE>
    [abstract]
    Low tide at six...
    """
    check_tool(read_tool)
    note = _NOTE + _REDACTION if artifact.redacted else _NOTE
    return (
        f"{pointer_line(artifact)}\n"
        f'read_with: {read_tool} {{"path":{_quote(artifact.relative_path)}}}\n'
        f"note: {note}\n"
        "\n"
        "[abstract]\n"
        f"{_escape(abstract)}"
    )


def check_tool(read_tool: str) -> None:
    """Refuse a name that would break the line of a pointer.

    Raises:
        ValueError: It is no single word.
    """
    if not _TOOL.fullmatch(read_tool):
        raise ValueError(f"{read_tool!r} is no name of a tool: one word is needed")


def pointer_line(artifact: OffloadedArtifact) -> str:
    """Write the first line of a pointer, which says what it is and where."""
    path = artifact.relative_path
    value = _quote(path) if _NOT_PLAIN.search(path) else path
    return f"{_MARK} kind={artifact.kind}{_MEMBER}{value} bytes={artifact.stored_bytes}"


def _quote(path: str) -> str:
    literal = encode_basestring(path)
    return _NOT_IN_LINE.sub(lambda match: f"\\u{ord(match[0]):04x}", literal)


def _escape(abstract: str) -> str:
    pieces: list[str] = []
    done = 0
    for match in _BRACKET.finditer(abstract):
        before = abstract[done : match.start()]
        blanks = before[len(before.rstrip()) :]
        at_start = done == 0 and len(blanks) == len(before)
        pieces += (before, "\\" if at_start or _LINE_ENDS.search(blanks) else "", match[0])
        done = match.end()
    pieces.append(abstract[done:])
    return "".join(pieces)


def extract_artifact_paths(text: str, known: Container[str] | None = None) -> list[str]:
    r"""Find the paths of the pointers in a text.

    Args:
        text: Such as a turn of the conversation. A pointer begins a line; one that is quoted in the midst
            of a line is none.
        known: The paths that the writers of this run returned; others are left out, because whoever wrote
            the text may have made them up.

    Returns:
        Each path once, in the order in which they come first.

    >>> extract_artifact_paths('[artifact] kind=output path="tide tables/a.md" bytes=1\nmore')
    ['tide tables/a.md']
    """
    if isinstance(known, str):
        raise TypeError("`known` is a set of paths, not a text")
    # Not a set alone, because their order counts.
    found: dict[str, None] = {}
    for line in _pointer_lines(text):
        path = _path_of(line)
        if path is not None and (known is None or path in known):
            found[path] = None
    return list(found)


def _pointer_lines(text: str) -> Iterator[str]:
    """Find the lines that begin with the mark, blanks aside; give each from the mark on."""
    mark = f"{_MARK} "
    searched = 0
    while (at := text.find(mark, searched)) >= 0:
        # No line end since the last one means the same line, which has begun otherwise.
        start = text.rfind("\n", searched, at) + 1
        if (start or not searched) and not text[start:at].strip():
            end = text.find("\n", at)
            yield text[at:] if end < 0 else text[at:end]
            if end < 0:
                return
            searched = end
        else:
            searched = at + len(mark)


def _path_of(line: str) -> str | None:
    member = line.find(_MEMBER, len(_MARK))
    if member < 0:
        return None
    at = member + len(_MEMBER)
    if not line.startswith('"', at):
        words = line[at:].split(maxsplit=1)
        return words[0] if words and not line[at].isspace() else None
    try:
        value, end = _decode_json(line, at)
    except ValueError:
        return None
    if not isinstance(value, str) or not value or not (end == len(line) or line[end].isspace()):
        return None
    return value
