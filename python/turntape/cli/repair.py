"""``turntape repair``: write a tape anew, so that nothing is wrong with it."""

from __future__ import annotations

import contextlib
import os
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Literal

import typer

import turntape
from turntape.cli.complaints import complain
from turntape.cli.ending import guarded
from turntape.cli.files import label_of, open_input, open_new, size_of
from turntape.cli.output import Output, clean
from turntape.cli.sources import ReadError
from turntape.transcript.entries import TapeFault, TapeRow, read_tape
from turntape.transcript.lines import encode_line

__all__ = ["REPAIR_HELP", "repair"]

REPAIR_HELP = """\
Write a tape anew without what is wrong with it, and say what was done.

Lines that are no rows are left out. Calls and results are made to pair up: with --policy synthesize (the \
default) a late result moves to its call, and a call without one gets a result that says so; with \
--policy drop such calls go. Every row that is kept, and every line of a newer version, keeps its bytes.

\b
[bold]Examples[/bold]
  turntape repair tape.jsonl -o whole.jsonl
  turntape repair tape.jsonl -o whole.jsonl --policy drop

\b
[bold]Exit status[/bold]
  0    the new tape is written, and nothing is wrong with it
  1    the tape cannot be read, or the new one cannot be written
  2    the command line is wrong, and nothing was written
  130  interrupted with Ctrl-C
  141  nobody reads the output any more

\b
The tape itself stays as it is.
"""


def repair(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A tape; [bold]-[/bold] reads standard input.",
            show_default=False,
        ),
    ],
    new: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="NEW", help="The new tape.", show_default=False),
    ],
    policy: Annotated[
        Literal["drop", "synthesize"],
        typer.Option(
            "--policy", "-p", help="What becomes of calls and results without each other."
        ),
    ] = "synthesize",
) -> None:
    """Repair a tape; the help text stands in ``REPAIR_HELP``, where it can hold line breaks."""
    with guarded():
        remarks, output = Output(sys.stderr), Output(sys.stdout)
        size = size_of(remarks, file)
        with contextlib.ExitStack() as stack:
            target = open_new(remarks, new, stack, "--output", private=True)
            work = _Repair(output)
            try:
                with open_input(file, size, output, "reading") as (tape, bar):
                    for entry in read_tape(tape):
                        with bar.hidden() if isinstance(entry, TapeFault) else _plainly():
                            work.take(entry)
            except ReadError as error:
                output.flush()
                complain(remarks, f"{label_of(file)}: cannot be read: {error}")
                raise typer.Exit(1) from None
            for line in work.lines(policy):
                target.write(line + b"\n")
            target.flush()
            os.fsync(target.fileno())
        work.finish()


def _plainly() -> contextlib.AbstractContextManager[None]:
    return contextlib.nullcontext()


class _Repair:
    """The rows of a tape, and what stands between them."""

    def __init__(self, output: Output) -> None:
        """Say on ``output`` what is done."""
        self._output = output
        self._rows: list[turntape.TranscriptMessage] = []
        self._lines: list[int] = []
        # Opaque lines, by how many rows stand before them.
        self._opaque: defaultdict[int, list[bytes]] = defaultdict(list)
        self._left_out = 0
        self._done = 0
        self._written = 0

    def take(self, entry: turntape.TapeEntry) -> None:
        """Take a line of the old tape."""
        if isinstance(entry, TapeRow):
            self._rows.append(entry.row)
            self._lines.append(entry.line)
        elif isinstance(entry, TapeFault):
            self._left_out += 1
            self._say(entry.line, "left out", f"{entry.code}: {entry.detail}")
        else:
            self._opaque[len(self._rows)].append(entry.raw)

    def lines(self, policy: Literal["drop", "synthesize"]) -> Iterator[bytes]:
        """Give the lines of the new tape."""
        rows, notes = turntape.repair_native(self._rows, policy)
        for note in notes:
            self._done += 1
            self._say(self._lines[note.row], note.code, note.detail)
        behind = self._places(rows)
        yield from behind.get(-1, ())
        for index, row in enumerate(rows):
            self._written += 1
            yield encode_line(row)
            yield from behind.get(index, ())

    def _places(self, rows: Iterable[turntape.TranscriptMessage]) -> dict[int, list[bytes]]:
        """Behind which of the new rows opaque lines stand: the last of those that stood before them."""
        index_of = {id(row): index for index, row in enumerate(rows)}
        behind: defaultdict[int, list[bytes]] = defaultdict(list)
        last = -1
        for before in range(len(self._rows) + 1):
            if before:
                last = max(last, index_of.get(id(self._rows[before - 1]), -1))
            if before in self._opaque:
                behind[last] += self._opaque[before]
        return behind

    def _say(self, line: int, what: str, detail: str) -> None:
        self._output.line((f"line {line:,}: ", "bold"), (f"{what} ", "yellow"), clean(detail))

    def finish(self) -> None:
        """Write the summary."""
        self._output.line(
            f"{len(self._rows):,} rows read, {self._written:,} written, {self._done:,} repairs, "
            f"{self._left_out:,} lines left out"
        )
