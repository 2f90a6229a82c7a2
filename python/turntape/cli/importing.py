"""``turntape import``: make a tape of what another tool wrote."""

from __future__ import annotations

import contextlib
import os
import sys
from collections import Counter
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

import turntape
from turntape.cli.complaints import complain
from turntape.cli.ending import guarded
from turntape.cli.files import Bar, label_of, open_input, open_new, size_of
from turntape.cli.output import Output, clean
from turntape.cli.sources import ReadError
from turntape.transcript.importers.base import ImportedRow, ImportLoss
from turntape.transcript.importers.formats import import_transcript
from turntape.transcript.lines import encode_line

__all__ = ["IMPORT_HELP", "import_"]

# Typer reads the choices from the annotation; a test holds them against `turntape.IMPORT_FORMATS`.
_FormatName: TypeAlias = Literal["anthropic", "claude-code", "codex", "openai-chat"]

IMPORT_HELP = """\
Make a tape of a history that another tool wrote, and say what could not be carried.

\b
[bold]Formats[/bold]
  openai-chat  OpenAI Chat, as for fine-tuning: a message or a request on a line
  anthropic    Anthropic Messages: the same
  claude-code  session logs of Claude Code, as of August 2026
  codex        rollouts of Codex, as of August 2026

\b
[bold]Examples[/bold]
  turntape import --format openai-chat training.jsonl -o tape.jsonl
  turntape import --format claude-code session.jsonl -o tape.jsonl --all

\b
[bold]What could not be carried[/bold]
  not_a_message       a record that no model ever saw
  other_conversation  a subagent's message; or where the next conversation begins
  invalid_message     a message that is not of its provider's form
  unreadable_line     no JSON object
  changed             a message was changed to fit
  left_out            a member beside a message
  media_bytes         the bytes of sound, film or a document
  unwritable          no line of a tape can hold it

\b
[bold]Exit status[/bold]
  0    the tape is written, perhaps with losses; standard error names them
  1    there was no message, the file cannot be read, or the tape cannot be
       written
  2    the command line is wrong, and nothing was written
  130  interrupted with Ctrl-C
  141  nobody reads the output any more
"""

_SHOWN_LINES = 5


def import_(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="What the tool wrote; [bold]-[/bold] reads standard input.",
            show_default=False,
        ),
    ],
    format_: Annotated[
        _FormatName,
        typer.Option("--format", "-f", help="Which tool wrote it.", show_default=False),
    ],
    new: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="TAPE", help="The new tape.", show_default=False),
    ],
    everything: Annotated[
        bool, typer.Option("--all", "-a", help="Name every loss, each with its line.")
    ] = False,
) -> None:
    """Import a file; the help text stands in ``IMPORT_HELP``, where it can hold line breaks."""
    with guarded():
        remarks = Output(sys.stderr)
        size = size_of(remarks, file)
        losses = _Losses(remarks, everything=everything)
        rows = 0
        with contextlib.ExitStack() as stack:
            target = open_new(remarks, new, stack, "--output", private=True)
            try:
                with open_input(file, size, remarks, "importing") as (source, bar):
                    for item in import_transcript(source, format_):
                        if isinstance(item, ImportedRow):
                            target.write(encode_line(item.row) + b"\n")
                            rows += 1
                        else:
                            losses.add(item, bar)
            except ReadError as error:
                complain(remarks, f"{label_of(file)}: cannot be read: {error}")
                raise typer.Exit(1) from None
            losses.finish(rows)
            if not rows:
                name = turntape.IMPORT_FORMATS[format_].description
                complain(remarks, f"{label_of(file)}: no message is in it: {name} are read")
                raise typer.Exit(1)
            target.flush()
            os.fsync(target.fileno())


class _Losses:
    """What could not be carried: each at once, or counted."""

    def __init__(self, remarks: Output, *, everything: bool) -> None:
        """Say it on ``remarks``."""
        self._remarks = remarks
        self._everything = everything
        self._counts: Counter[tuple[str, str]] = Counter()
        self._lines: dict[tuple[str, str], list[int]] = {}

    def add(self, loss: ImportLoss, bar: Bar) -> None:
        """Take a loss."""
        kind = loss.code, loss.detail
        self._counts[kind] += 1
        lines = self._lines.setdefault(kind, [])
        if len(lines) < _SHOWN_LINES:
            lines.append(loss.line)
        if self._everything:
            with bar.hidden():
                self._remarks.line(
                    (f"line {loss.line:,}: ", "bold"),
                    (f"{loss.code} ", "yellow"),
                    clean(loss.detail),
                )

    def finish(self, rows: int) -> None:
        """Write the summary."""
        if not self._everything:
            for kind, count in self._counts.most_common():
                shown = ", ".join(f"{line:,}" for line in self._lines[kind])
                more = ", …" if count > _SHOWN_LINES else ""
                self._remarks.line(
                    (f"{count:,} times {kind[0]} ", "yellow"),
                    clean(kind[1]),
                    (f" (line {shown}{more})", "dim"),
                )
        self._remarks.line(f"{rows:,} rows, {self._counts.total():,} losses")
        self._remarks.flush()
