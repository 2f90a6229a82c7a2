"""Rows as Arrow record batches, for whatever reads the Arrow PyCapsule interface.

>>> from turntape import TranscriptMessage
>>> rows_to_arrow([TranscriptMessage.user("Which way to the harbour?")])
ArrowRows(batch_rows=8192)
"""

from __future__ import annotations

import json
from json.encoder import encode_basestring_ascii
from typing import TYPE_CHECKING, Any

from turntape._native import RowColumns, arrow_schema, arrow_stream, extra_content_text
from turntape.errors import EnvelopeError
from turntape.replay.envelopes import NativeToolCall
from turntape.replay.markers import ImagePart, TextPart
from turntape.transcript.entries import TapeBlock, TapeFault, TapeRow, read_blocks
from turntape.transcript.members import UnknownMembers
from turntape.transcript.rows import PathRef

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from turntape.events import Usage
    from turntape.transcript.entries import ByteSource
    from turntape.transcript.rows import TranscriptMessage, TranscriptPart

__all__ = ["ArrowRows", "fill_from_tape", "rows_to_arrow"]


class ArrowRows:
    """Rows as a stream of Arrow record batches; made by ``to_arrow`` and ``rows_to_arrow``.

    It is handed to what reads the Arrow PyCapsule interface, such as ``pyarrow.table``,
    ``polars.DataFrame``, and ``FROM`` of DuckDB. Nothing is read before that, and then one batch at a time;
    each stream begins anew. An error that ends the reading reaches the reader as one of its own, after the
    rows before it.

    Attributes:
        batch_rows: How many rows a batch has at most.

    Raises:
        ValueError: ``batch_rows`` is below 1.
    """

    __slots__ = ("_begin", "batch_rows")

    def __init__(self, begin: Callable[[RowColumns], Iterator[None]], batch_rows: int) -> None:
        """Remember how to begin.

        Args:
            begin: Gives an iterator that fills columns and gives something whenever they are full.
            batch_rows: How many rows a batch has at most.
        """
        if batch_rows < 1:
            raise ValueError("batch_rows is at least 1")
        self._begin = begin
        self.batch_rows = batch_rows

    def __repr__(self) -> str:
        """Show how large a batch is."""
        return f"ArrowRows(batch_rows={self.batch_rows})"

    def __arrow_c_schema__(self) -> object:
        """The schema, as a capsule named ``arrow_schema``."""
        return arrow_schema()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The batches, as a capsule named ``arrow_array_stream``.

        Args:
            requested_schema: Not looked at: whoever wants other types casts to them.
        """
        columns = RowColumns(self.batch_rows)
        return arrow_stream(columns, self._begin(columns))


def rows_to_arrow(
    rows: Iterable[TranscriptMessage], /, *, batch_rows: int = 8192, strict: bool = True
) -> ArrowRows:
    """Give rows as Arrow record batches, by their fields; ``line`` counts them from 1.

    Args:
        rows: The rows. An iterator can be read once: what a second stream finds is what is left.
        batch_rows: How many rows a batch has at most.
        strict: Whether a row that Arrow cannot hold is an error; otherwise it is passed over. It is one with
            half of a surrogate pair in a text, or with an integer that is out of range.

    Raises:
        ValueError: ``batch_rows`` is below 1.
    """

    def fill(columns: RowColumns) -> Iterator[None]:
        for line, row in enumerate(rows, 1):
            _add(columns, line, row, strict=strict)
            if columns.full:
                yield

    return ArrowRows(fill, batch_rows)


def fill_from_tape(
    file: ByteSource, /, *, columns: RowColumns, limit: int, max_line_bytes: int, strict: bool
) -> Iterator[None]:
    """Fill columns with the rows of a tape; give something whenever they are full.

    Args:
        file: As of ``read_tape``.
        columns: The columns.
        limit: As of ``read_tape``.
        max_line_bytes: As of ``read_tape``.
        strict: As of ``TranscriptStore.to_arrow``.

    Raises:
        TranscriptError: A line is torn or foreign.
        EnvelopeError: Arrow cannot hold a row.
    """
    for found in read_blocks(file, limit=limit, max_line_bytes=max_line_bytes):
        if not isinstance(found, TapeBlock):
            _add_entry(columns, found, strict=strict)
            if columns.full:
                yield
            continue
        line, start, length = found.line, 0, len(found.raw)
        while start < length:
            # Full columns take nothing: then this is where to go on.
            line, start, end = columns.add_lines(found.raw, start, line)
            if columns.full:
                yield
            elif start < length:
                _add_entry(columns, found.entry(line, start, end), strict=strict)
                line += 1
                start = end + 1
        if columns.full:
            yield
        found.lines = line - found.line


def _add_entry(columns: RowColumns, entry: object, *, strict: bool) -> None:
    if isinstance(entry, TapeRow):
        _add(columns, entry.line, entry.row, strict=strict)
    elif strict and isinstance(entry, TapeFault):
        raise entry.to_error()


def _add(columns: RowColumns, line: int, row: TranscriptMessage, *, strict: bool) -> None:
    try:
        columns.add_row(_flat(line, row))
    except (EnvelopeError, OverflowError, RecursionError, TypeError, ValueError) as error:
        if strict:
            what = "half of a surrogate pair" if isinstance(error, UnicodeError) else str(error)
            text = f"line {line}: a row that Arrow cannot hold: {what}"
            raise EnvelopeError(text, field="") from error


def _flat(line: int, row: TranscriptMessage) -> tuple[Any, ...]:
    """A row as the columns take it."""
    texts = (
        row.role,
        row.content,
        row.id,
        row.tool_call_id,
        None if row.extra_metadata is None else _json(dict(row.extra_metadata)),
        row.request_id,
        None if row.tool_failure is None else row.tool_failure.detail,
        row.model,
        row.stop_reason,
        row.created_at,
        _members(row.extra) if row.extra else None,
    )
    return (
        line,
        texts,
        [(call.id, call.name, call.arguments, _extra_content(call)) for call in row.tool_calls],
        None if row.parts is None else [_part(part) for part in row.parts],
        list(row.cache_breakpoints),
        row.interrupted,
        None if row.usage is None else _counters(row.usage),
    )


def _part(part: TranscriptPart) -> tuple[str | None, ...]:
    """Type, text, URL, path and MIME type of a part."""
    if isinstance(part, TextPart):
        return (part.type, part.text, None, None, None)
    if isinstance(part, ImagePart):
        return (part.type, None, part.url, None, None)
    if isinstance(part.source, PathRef):
        return (part.type, None, None, part.source.path, part.mime_type)
    return (part.type, None, part.source.url, None, part.mime_type)


def _counters(usage: Usage) -> tuple[int, ...]:
    return (
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_read_tokens,
        usage.cache_write_tokens,
        usage.cache_write_1h_tokens,
        usage.reasoning_tokens,
    )


def _extra_content(call: NativeToolCall) -> str | None:
    return None if call.extra_content is None else _json(call.extra_content)


def _json(value: Any) -> str:
    """The canonical form of a value, or another text of JSON where that form cannot hold it."""
    try:
        return extra_content_text(NativeToolCall("", "", "", value)) or "null"
    except EnvelopeError:
        # All characters beyond ASCII escaped, so that half of a surrogate pair can be said as well.
        return json.dumps(value, allow_nan=False, separators=(",", ":"))


def _members(extra: Mapping[str, Any]) -> str:
    """An object of members; those that were read have the text that they were read with."""
    if not isinstance(extra, UnknownMembers):
        return _json(dict(extra))
    pairs = (f"{encode_basestring_ascii(name)}:{text}" for name, text in extra.texts.items())
    return f"{{{','.join(pairs)}}}"
