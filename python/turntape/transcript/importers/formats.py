r"""The formats that can be imported, and importing a file as a stream.

>>> from io import BytesIO
>>> file = BytesIO(b'{"role":"user","content":"Hi."}\n{"mood":"good"}\n')
>>> for item in import_transcript(file, "openai-chat"):
...     print(item.line, item.type)
1 row
2 loss
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from turntape.errors import EnvelopeError
from turntape.transcript.entries import MAX_LINE_BYTES, split_lines
from turntape.transcript.importers.base import ImportedRow, ImportLoss, is_object
from turntape.transcript.importers.claude_code import ClaudeCodeLog
from turntape.transcript.importers.codex import CodexRollout
from turntape.transcript.importers.messages import MessageLines
from turntape.transcript.lines import encode_line
from turntape.wire.dialect import Dialect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from turntape.transcript.entries import ByteSource
    from turntape.transcript.importers.base import Importer, ImportItem

__all__ = ["IMPORT_FORMATS", "ImportFormat", "import_transcript"]

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class ImportFormat:
    """A format that can be imported.

    Attributes:
        name: What it is called; ``NAME@VERSION`` insists on this version of it.
        version: When the importer was last held against what the tool writes, as year and month.
        description: What is read, for people.
    """

    name: str
    version: str
    description: str
    make: Callable[[], Importer] = field(repr=False, compare=False)


IMPORT_FORMATS = {
    each.name: each
    for each in (
        ImportFormat(
            "anthropic",
            "2026-11",
            "Anthropic Messages: a message or a request body on each line",
            partial(MessageLines, Dialect.ANTHROPIC),
        ),
        ImportFormat(
            "claude-code",
            "2026-08",
            "session logs of Claude Code, versions 1.0 to 2.1",
            ClaudeCodeLog,
        ),
        ImportFormat(
            "codex",
            "2026-08",
            "rollouts of Codex, versions 0.40 to 0.146",
            CodexRollout,
        ),
        ImportFormat(
            "openai-chat",
            "2026-11",
            "OpenAI Chat Completions: a message or a request body on each line, as for fine-tuning",
            partial(MessageLines, Dialect.OPENAI_CHAT),
        ),
    )
}
"""The formats, by name."""


def import_transcript(
    file: ByteSource,
    format: str,  # noqa: A002 (what it is)
    /,
    *,
    max_line_bytes: int = MAX_LINE_BYTES,
) -> Iterator[ImportItem]:
    r"""Read what another tool wrote, as a stream: rows, and what could not be carried, each with its line.

    Rows are not checked to pair up; ``validate_native`` does. What the format keeps beside a message, such
    as who wrote it where, goes into the row's ``extra_metadata``.

    Args:
        file: The file, opened for reading bytes.
        format: One of ``IMPORT_FORMATS``, alone or as ``NAME@VERSION``.
        max_line_bytes: A longer line is not read.

    Raises:
        ValueError: There is no such format, or not in this version.

    >>> from io import BytesIO
    >>> line = b'{"role":"assistant","content":"Aye."}\n'
    >>> [item.row.content for item in import_transcript(BytesIO(line), "openai-chat")]
    ['Aye.']
    """
    return _checked(_items(file, _format(format).make(), max_line_bytes))


def _format(name: str) -> ImportFormat:
    plain, at, version = name.partition("@")
    found = IMPORT_FORMATS.get(plain)
    if found is None or (at and version != found.version):
        known = ", ".join(f"{each.name}@{each.version}" for each in IMPORT_FORMATS.values())
        raise ValueError(f"{name!r} is no format that can be imported: {known} are")
    return found


def _items(file: ByteSource, importer: Importer, max_line_bytes: int) -> Iterator[ImportItem]:
    for line, _, _, raw, _ in split_lines(file, None, max_line_bytes):
        if raw is None:
            yield ImportLoss(line, "unreadable_line", f"it is longer than {max_line_bytes} bytes")
            continue
        try:
            text = raw.removeprefix(_BOM if line == 1 else b"").decode()
            if not text.strip(" \t\r"):
                continue
            value: Any = json.loads(text)
        except UnicodeDecodeError as error:
            yield ImportLoss(line, "unreadable_line", f"byte {error.start} is not UTF-8")
        except (ValueError, RecursionError) as error:
            detail = (
                error.msg if isinstance(error, json.JSONDecodeError) else "it is too deep or long"
            )
            yield ImportLoss(line, "unreadable_line", f"it is no JSON: {detail}")
        else:
            if is_object(value):
                yield from importer.take(line, text, value)
            else:
                yield ImportLoss(line, "unreadable_line", "it is JSON and no object")
    yield from importer.finish()


def _checked(items: Iterator[ImportItem]) -> Iterator[ImportItem]:
    """Hold back what no line of a tape can say."""
    for item in items:
        if isinstance(item, ImportedRow):
            try:
                encode_line(item.row)
            except EnvelopeError as error:
                yield ImportLoss(item.line, "unwritable", error.field)
                continue
        yield item
