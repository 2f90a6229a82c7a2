r"""What a tape is made of, line by line, and reading it as a stream.

>>> from io import BytesIO
>>> tape = BytesIO(b'{"role":"user","content":"q"}\n{"role":"assis')
>>> for entry in read_tape(tape):
...     print(entry.line, entry.start, entry.end, type(entry).__name__)
1 0 29 TapeRow
2 30 43 TapeFault
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO, Literal, TypeAlias

from turntape.errors import TranscriptError
from turntape.transcript.lines import OpaqueText, UnreadableText, decode_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from turntape.transcript.lines import FaultCode, OpaqueCode
    from turntape.transcript.rows import TranscriptMessage

__all__ = [
    "MAX_LINE_BYTES",
    "TapeEntry",
    "TapeFault",
    "TapeOpaque",
    "TapeRow",
    "read_tape",
]

MAX_LINE_BYTES = 256 * 1024 * 1024
"""The longest line that is read unless something else is said: a tail of NULs may be very long."""

_PIECE = 256 * 1024


@dataclass(frozen=True, slots=True)
class TapeRow:
    """A line that is a row.

    Attributes:
        line: Its number, counted from 1.
        start: Where it begins, in bytes.
        end: Where it ends, its line end not counted.
        row: The row. It remembers its line, so that unedited it is written back with the same bytes.
        type: The constant ``row``.
    """

    type: Literal["row"] = field(default="row", kw_only=True, repr=False)
    line: int
    start: int
    end: int
    row: TranscriptMessage


@dataclass(frozen=True, slots=True)
class TapeOpaque:
    """A line that this version does not understand and keeps untouched.

    Attributes:
        line: As of :class:`TapeRow`.
        start: As of :class:`TapeRow`.
        end: As of :class:`TapeRow`.
        code: Why it is opaque.
        detail: The same for people.
        raw: Its bytes.
        type: The constant ``opaque``.
    """

    type: Literal["opaque"] = field(default="opaque", kw_only=True, repr=False)
    line: int
    start: int
    end: int
    code: OpaqueCode
    detail: str
    raw: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class TapeFault:
    """A line that is no row: torn by a crash, or put there by another program.

    Attributes:
        line: As of :class:`TapeRow`.
        start: As of :class:`TapeRow`.
        end: As of :class:`TapeRow`.
        code: What it is instead.
        detail: The same for people; it quotes nothing of the line.
        torn_tail: Whether it is the last line and has no end: what a writer was writing when it died.
        type: The constant ``fault``.
    """

    type: Literal["fault"] = field(default="fault", kw_only=True, repr=False)
    line: int
    start: int
    end: int
    code: FaultCode
    detail: str
    torn_tail: bool

    def to_error(self) -> TranscriptError:
        """The fault as an exception."""
        kind = "its last line is torn" if self.torn_tail else "a line is no row"
        return TranscriptError(
            f"line {self.line}, bytes {self.start} to {self.end}: {kind}: {self.detail}",
            line=self.line,
            start=self.start,
            end=self.end,
        )


TapeEntry: TypeAlias = TapeRow | TapeOpaque | TapeFault
"""A line of a tape, told apart by ``type``. Blank lines are none."""


def read_tape(
    file: BinaryIO, /, *, limit: int | None = None, max_line_bytes: int = MAX_LINE_BYTES
) -> Iterator[TapeEntry]:
    """Read a tape from where a file stands, line by line, in the memory of one line.

    Lines end with LF alone. It goes on past whatever is no row.

    Args:
        file: The file, opened for reading bytes.
        limit: How many bytes are read; None for all. What comes after them is not looked at.
        max_line_bytes: A longer line is a fault, and is skipped without being kept.
    """
    for line, start, end, raw, ended in split_lines(file, limit, max_line_bytes):
        if raw is None:
            detail = f"it is longer than {max_line_bytes} bytes"
            yield TapeFault(line, start, end, "too_long", detail, not ended)
        elif raw and not raw.isspace():
            yield _entry(line, start, end, raw, ended=ended)
        elif raw.strip(b" \t\r"):
            # Other white space is no white space of JSON's.
            yield TapeFault(line, start, end, "not_json", "white space of another kind", not ended)


def _entry(line: int, start: int, end: int, raw: bytes, *, ended: bool) -> TapeEntry:
    read = decode_line(raw)
    if isinstance(read, UnreadableText):
        return TapeFault(line, start, end, read.code, read.detail, not ended)
    if isinstance(read, OpaqueText):
        return TapeOpaque(line, start, end, read.code, read.detail, raw)
    return TapeRow(line, start, end, read)


def split_lines(
    file: BinaryIO, limit: int | None = None, max_line_bytes: int = MAX_LINE_BYTES
) -> Iterator[tuple[int, int, int, bytes | None, bool]]:
    """Cut a file into lines.

    Yields:
        The number of a line, where it begins and ends, its bytes or None where it is too long, and whether
        an LF ends it.
    """
    number, start, place = 1, 0, 0
    parts: list[bytes] = []
    kept = 0
    left = limit
    while piece := file.read(_PIECE if left is None else min(_PIECE, left)):
        if left is not None:
            left -= len(piece)
        lines = piece.split(b"\n")
        rest = lines.pop()
        for each in lines:
            end = place + len(each)
            kept += len(each)
            if kept > max_line_bytes:
                raw = None
            elif parts:
                parts.append(each)
                raw = b"".join(parts)
            else:
                raw = each
            parts.clear()
            kept = 0
            yield number, start, end, raw, True
            number += 1
            start = place = end + 1
        place += len(rest)
        kept += len(rest)
        if kept <= max_line_bytes:
            if rest:
                parts.append(rest)
        else:
            parts.clear()
    if kept:
        yield number, start, place, None if kept > max_line_bytes else b"".join(parts), False
