"""``turntape offload --transcript``: a tape whose large results go into files."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import turntape
from turntape.cli.output import Output, clean
from turntape.cli.sources import STANDARD_INPUT, ReadError, open_source
from turntape.transcript.entries import split_lines
from turntape.transcript.lines import decode_line, encode_line

__all__ = ["Sweep", "sweep_in_place", "sweep_to_output"]

Sweep: TypeAlias = Callable[
    [list[turntape.TranscriptMessage]],
    tuple[list[turntape.TranscriptMessage], list[turntape.OffloadedArtifact]],
]
"""What moves the large results of rows."""


def sweep_to_output(remarks: Output, file: str, sweep: Sweep) -> None:
    """Write a swept tape to standard output; what nothing changed comes out byte for byte.

    Raises:
        ReadError: The file cannot be read.
    """
    with open_source(file) as source:
        data = b"".join(source.pieces(None))
    lines: list[bytes] = []
    rows: dict[int, turntape.TranscriptMessage] = {}
    for _, start, end, raw, ended in split_lines(io.BytesIO(data), max_line_bytes=len(data)):
        read = None if raw is None else decode_line(raw)
        if isinstance(read, turntape.TranscriptMessage):
            rows[len(lines)] = read
        lines.append(data[start : end + ended])
    # Blank lines at the end are no lines to `split_lines`, and are bytes to whoever compares files.
    tail = data[sum(map(len, lines)) :]
    swept, artifacts = sweep(list(rows.values()))
    changed = 0
    for (at, before), after in zip(rows.items(), swept, strict=True):
        if after is not before:
            lines[at] = encode_line(after) + lines[at][len(lines[at].rstrip(b"\r\n")) :]
            changed += 1
    sys.stdout.flush()
    sys.stdout.buffer.write(b"".join([*lines, tail]))
    sys.stdout.buffer.flush()
    _summarise(remarks, len(rows), len(lines) - len(rows), artifacts)


def sweep_in_place(remarks: Output, file: str, sweep: Sweep) -> None:
    """Replace a tape by the swept one, while other writers wait.

    Raises:
        ReadError: The file cannot be read, or the new one cannot be put in its place.
    """
    if file == STANDARD_INPUT or not Path(file).is_file():
        raise ReadError("--in-place needs a file")
    try:
        with turntape.TranscriptStore(file) as store:
            entries = list(store.read())
            rows = [entry.row for entry in entries if isinstance(entry, turntape.TapeRow)]
            swept, artifacts = sweep(rows)
            waiting = iter(swept)
            if any(after is not before for before, after in zip(rows, swept, strict=True)):
                store.rewrite(
                    next(waiting) if isinstance(entry, turntape.TapeRow) else entry
                    for entry in entries
                )
    except (turntape.StoreError, OSError) as error:
        raise ReadError(str(error)) from error
    _summarise(remarks, len(rows), len(entries) - len(rows), artifacts)


def _summarise(
    remarks: Output, rows: int, others: int, artifacts: list[turntape.OffloadedArtifact]
) -> None:
    size = sum(artifact.stored_bytes for artifact in artifacts)
    kept = f", {others:,} lines that are no rows kept" if others else ""
    remarks.line(
        f"turntape: {rows:,} rows, {len(artifacts):,} results offloaded, {size:,} bytes{kept}"
    )
    for artifact in artifacts:
        remarks.line(f"  {artifact.stored_bytes:>13,}  {clean(artifact.relative_path)}")
