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
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, TypeGuard

from turntape._native import read_lines
from turntape.errors import TranscriptError
from turntape.transcript.lines import OpaqueText, UnreadableText, decode_by_rules, decode_line
from turntape.transcript.rows import TranscriptMessage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from turntape.transcript.lines import FaultCode, OpaqueCode

__all__ = [
    "MAX_LINE_BYTES",
    "ByteSource",
    "TapeBlock",
    "TapeEntry",
    "TapeFault",
    "TapeOpaque",
    "TapeRow",
    "read_blocks",
    "read_runs",
    "read_tape",
    "split_lines",
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


class ByteSource(Protocol):
    """What bytes are read from: a file opened for reading bytes, or anything that reads alike."""

    def read(self, size: int, /) -> bytes:
        """Give the next bytes, some at least and ``size`` at most; none at the end."""
        ...


TapeEntry: TypeAlias = TapeRow | TapeOpaque | TapeFault
"""A line of a tape, told apart by ``type``. Blank lines are none."""


def read_tape(
    file: ByteSource, /, *, limit: int | None = None, max_line_bytes: int = MAX_LINE_BYTES
) -> Iterator[TapeEntry]:
    r"""Read a tape from where a file stands, line by line, in the memory of one line.

    Lines end with LF alone. It goes on past whatever is no row.

    Args:
        file: The file, opened for reading bytes.
        limit: How many bytes are read; None for all. What comes after them is not looked at.
        max_line_bytes: A longer line is a fault, and is skipped without being kept.

    >>> from io import BytesIO
    >>> [entry.type for entry in read_tape(BytesIO(b'{"role":"user","content":"q"}\n{"role"'))]
    ['row', 'fault']
    """
    for line, start, end, raw, ended in split_lines(file, limit, max_line_bytes):
        entry = _entry(line, start, end, raw, ended=ended, most=max_line_bytes)
        if entry is not None:
            yield entry


def read_runs(
    file: ByteSource, /, *, limit: int | None = None, max_line_bytes: int = MAX_LINE_BYTES
) -> Iterator[list[TranscriptMessage] | TapeOpaque | TapeFault]:
    """Read a tape as ``read_tape`` does, but for the places of rows: several times as fast.

    Args:
        file: As of ``read_tape``.
        limit: As of ``read_tape``.
        max_line_bytes: As of ``read_tape``.

    Yields:
        Rows that follow each other, in lists that are not empty, and what is none.
    """
    for found in read_blocks(file, limit=limit, max_line_bytes=max_line_bytes):
        if not isinstance(found, TapeBlock):
            yield [found.row] if isinstance(found, TapeRow) else found
            continue
        lines = read_lines(found.raw)
        found.lines = len(lines)
        if _are_rows(lines):
            yield lines
            continue
        run: list[TranscriptMessage] = []
        for line, read in enumerate(lines, found.line):
            if isinstance(read, TranscriptMessage):
                run.append(read)
                continue
            entry = found.entry(line, *read)
            if isinstance(entry, TapeRow):
                run.append(entry.row)
            elif entry is not None:
                if run:
                    yield run
                    run = []
                yield entry
        if run:
            yield run


def _are_rows(
    lines: list[TranscriptMessage | tuple[int, int]],
) -> TypeGuard[list[TranscriptMessage]]:
    """Look at them without a step of Python's for each."""
    return tuple not in set(map(type, lines))


@dataclass(slots=True)
class TapeBlock:
    """Lines that nobody has looked at, each ended by LF but perhaps the last of the file.

    Attributes:
        line: The number of the first one.
        start: Where it begins in the file, in bytes.
        raw: Their bytes.
        max_line_bytes: As of ``read_tape``; none is longer.
        lines: How many lines it has; whoever has taken it apart says so, before the next block is read.
    """

    line: int
    start: int
    raw: bytes
    max_line_bytes: int
    lines: int = 0

    def entry(self, line: int, start: int, end: int) -> TapeEntry | None:
        """What a line of it is by the whole of the rules, None for a blank one.

        Args:
            line: Its number.
            start: Where it begins in the block.
            end: Where it ends there.
        """
        return _entry(
            line,
            self.start + start,
            self.start + end,
            self.raw[start:end],
            ended=end < len(self.raw),
            most=self.max_line_bytes,
            decode=decode_by_rules,
        )


def read_blocks(
    file: ByteSource, /, *, limit: int | None = None, max_line_bytes: int = MAX_LINE_BYTES
) -> Iterator[TapeBlock | TapeEntry]:
    """Read a tape in blocks of whole lines, for those who look at many lines at once.

    Args:
        file: As of ``read_tape``.
        limit: As of ``read_tape``.
        max_line_bytes: As of ``read_tape``. Where it is small, single entries take the place of blocks.

    Yields:
        The blocks, and between them lines that are too long.
    """
    if max_line_bytes < _PIECE:
        yield from read_tape(file, limit=limit, max_line_bytes=max_line_bytes)
        return
    line, place = 1, 0
    for block in _blocks(file, limit, max_line_bytes):
        if isinstance(block, _TooLong):
            yield _too_long(line, place, place + block.length, max_line_bytes, ended=block.ended)
            line += 1
            place += block.length + 1
            continue
        found = TapeBlock(line, place, block, max_line_bytes)
        yield found
        # Counting them here would be a second look at every byte.
        line += found.lines
        place += len(block)


def _entry(
    line: int,
    start: int,
    end: int,
    raw: bytes | None,
    *,
    ended: bool,
    most: int,
    decode: Callable[[bytes], TranscriptMessage | OpaqueText | UnreadableText] = decode_line,
) -> TapeEntry | None:
    """What a line is, None for a blank one."""
    if raw is None:
        return _too_long(line, start, end, most, ended=ended)
    if not raw or raw.isspace():
        if not raw.strip(b" \t\r"):
            return None
        # Other white space is no white space of JSON's.
        return TapeFault(line, start, end, "not_json", "white space of another kind", not ended)
    read = decode(raw)
    if isinstance(read, UnreadableText):
        return TapeFault(line, start, end, read.code, read.detail, not ended)
    if isinstance(read, OpaqueText):
        return TapeOpaque(line, start, end, read.code, read.detail, raw)
    return TapeRow(line, start, end, read)


def _too_long(line: int, start: int, end: int, most: int, *, ended: bool) -> TapeFault:
    return TapeFault(line, start, end, "too_long", f"it is longer than {most} bytes", not ended)


def split_lines(
    file: ByteSource, limit: int | None = None, max_line_bytes: int = MAX_LINE_BYTES
) -> Iterator[tuple[int, int, int, bytes | None, bool]]:
    """Cut a file into lines.

    Yields:
        The number of a line, where it begins and ends, its bytes or None where it is too long, and whether
        an LF ends it.
    """
    number, place = 1, 0
    for block in _blocks(file, limit, max_line_bytes):
        if isinstance(block, _TooLong):
            yield number, place, place + block.length, None, block.ended
            number += 1
            place += block.length + 1
            continue
        lines = block.split(b"\n")
        rest = lines.pop()
        for each in lines:
            end = place + len(each)
            yield number, place, end, each if len(each) <= max_line_bytes else None, True
            number += 1
            place = end + 1
        if rest:
            kept = rest if len(rest) <= max_line_bytes else None
            yield number, place, place + len(rest), kept, False


@dataclass(frozen=True, slots=True)
class _TooLong:
    """A line that nobody keeps: its bytes without the line end, and whether there was one."""

    length: int
    ended: bool


def _blocks(file: ByteSource, limit: int | None, max_line_bytes: int) -> Iterator[bytes | _TooLong]:
    """Cut a file into blocks of whole lines; only the last block may lack its line end."""
    parts: list[bytes] = []
    kept = 0
    left = limit
    while piece := file.read(_PIECE if left is None else min(_PIECE, left)):
        if left is not None:
            left -= len(piece)
        cut = piece.rfind(b"\n") + 1
        if not cut:
            kept += len(piece)
            parts.append(piece)
            if kept > max_line_bytes:
                parts.clear()
            continue
        begin = 0
        if kept:
            first = piece.index(b"\n")
            if kept + first > max_line_bytes:
                yield _TooLong(kept + first, ended=True)
                begin = first + 1
                parts.clear()
        if begin < cut:
            yield b"".join((*parts, piece[begin:cut]))
        rest = piece[cut:]
        kept = len(rest)
        parts = [rest] if 0 < kept <= max_line_bytes else []
    if kept:
        yield b"".join(parts) if kept <= max_line_bytes else _TooLong(kept, ended=False)
