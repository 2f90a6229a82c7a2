"""``turntape check``: tell what is wrong with tapes, line by line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated

import typer

from turntape.cli.complaints import complain
from turntape.cli.ending import guarded
from turntape.cli.files import Bar, label_of, open_input, size_of
from turntape.cli.output import Output, clean
from turntape.cli.sources import ReadError
from turntape.transcript.entries import TapeEntry, TapeFault, read_tape
from turntape.transcript.report import report_on

__all__ = ["CHECK_HELP", "check"]

CHECK_HELP = """\
Tell what is wrong with tapes: lines that are no rows, and calls and results that do not pair up.

\b
[bold]Examples[/bold]
  turntape check tape.jsonl
  turntape check sessions/*.jsonl
  ... | turntape check -                from standard input

\b
[bold]What is wrong with a line[/bold]
  torn_tail  the last line has no end: a writer died while it wrote it
  not_utf8   its bytes are no text
  not_json   its text is no JSON
  foreign    its JSON is no row
  too_long   it is longer than any line that is read

\b
[bold]What is wrong with a sequence[/bold]
  orphan_result      no call waits for the result
  duplicate_result   the call has its result already
  missing_result     the call has none
  interrupted_round  another row came while the call waited
  duplicate_call_id, missing_call_id

\b
[bold]Exit status[/bold]
  0    nothing is wrong with any of them
  1    something is, or a file cannot be read
  2    the command line is wrong, and nothing was checked
  130  interrupted with Ctrl-C
  141  nobody reads the output any more

\b
Lines of newer versions are counted, and are not wrong.
"""


def check(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE",
            help="Tapes; [bold]-[/bold] reads standard input.",
            show_default=False,
        ),
    ],
) -> None:
    """Check tapes; the help text stands in ``CHECK_HELP``, where it can hold line breaks."""
    with guarded():
        remarks, output = Output(sys.stderr), Output(sys.stdout)
        sizes = [size_of(remarks, file) for file in files]
        good = True
        for file, size in zip(files, sizes, strict=True):
            name = f"{label_of(file)}: " if len(files) > 1 else ""
            try:
                with open_input(file, size, output, "checking") as (tape, bar):
                    good &= _check(read_tape(tape), name, output, bar)
            except ReadError as error:
                output.flush()
                complain(remarks, f"{label_of(file)}: cannot be read: {error}")
                good = False
    raise typer.Exit(0 if good else 1)


def _check(entries: Iterable[TapeEntry], name: str, output: Output, bar: Bar) -> bool:
    """Say what is wrong as it is found; whether nothing is."""
    faults = 0

    def say(fault: TapeFault) -> None:
        nonlocal faults
        faults += 1
        code = "torn_tail" if fault.torn_tail else fault.code
        with bar.hidden():
            output.line(
                name,
                (f"line {fault.line:,}: ", "bold"),
                (f"{code} ", "yellow"),
                f"at bytes {fault.start:,} to {fault.end:,}: {clean(fault.detail)}",
            )

    report = report_on(_without_faults(entries, say))
    with bar.hidden():
        for each in report.sequence:
            _, _, words = str(each.fault).partition(": ")
            output.line(
                name,
                (f"line {each.line:,}: ", "bold"),
                (f"{each.fault.code} ", "yellow"),
                clean(words),
            )
        wrong = faults + len(report.sequence)
        output.line(
            name,
            f"{report.rows:,} rows",
            f", {report.opaque:,} lines of newer versions" if report.opaque else "",
            ": ",
            (f"{faults:,} lines are no rows", "yellow") if faults else "every line is a row",
            ", ",
            (f"{len(report.sequence):,} faults of calls and results", "yellow")
            if report.sequence
            else "calls and results pair up",
        )
    return not wrong


def _without_faults(
    entries: Iterable[TapeEntry], say: Callable[[TapeFault], None]
) -> Iterator[TapeEntry]:
    """Say faults at once, so that however many there are, none is kept."""
    for entry in entries:
        if isinstance(entry, TapeFault):
            say(entry)
        else:
            yield entry
