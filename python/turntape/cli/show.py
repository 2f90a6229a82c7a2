"""``turntape show``: a tape for people to read."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

import turntape
from turntape.cli.complaints import complain
from turntape.cli.ending import guarded
from turntape.cli.files import label_of, open_input, size_of
from turntape.cli.output import Output, clean, clip
from turntape.cli.render import describe_usage
from turntape.cli.sources import ReadError
from turntape.transcript.entries import TapeOpaque, TapeRow, read_tape
from turntape.transcript.reasoning import REASONING

__all__ = ["SHOW_HELP", "show"]

SHOW_HELP = """\
Show a tape: turns, thinking, calls with their results, images by name, sizes and token counts.

\b
[bold]Examples[/bold]
  turntape show tape.jsonl
  turntape show tape.jsonl --full | less -R

\b
[bold]Exit status[/bold]
  0    it was shown, lines that are no rows included
  1    it cannot be read
  2    the command line is wrong
  130  interrupted with Ctrl-C
  141  nobody reads the output any more

\b
Long texts are shortened; --full shows all of them.
"""

_LONG = 1_500
_SHORT = 200
_STYLES = {
    "system": "bold magenta",
    "user": "bold green",
    "assistant": "bold blue",
    "tool": "bold cyan",
}


def show(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A tape; [bold]-[/bold] reads standard input.",
            show_default=False,
        ),
    ],
    full: Annotated[
        bool, typer.Option("--full", "-f", help="Show long texts and arguments whole.")
    ] = False,
) -> None:
    """Show a tape; the help text stands in ``SHOW_HELP``, where it can hold line breaks."""
    with guarded():
        remarks, output = Output(sys.stderr), Output(sys.stdout)
        size = size_of(remarks, file)
        view = _TapeView(output, full=full)
        try:
            with open_input(file, size, output, "showing") as (tape, bar):
                for entry in read_tape(tape):
                    with bar.hidden():
                        view.show(entry)
        except ReadError as error:
            output.flush()
            complain(remarks, f"{label_of(file)}: cannot be read: {error}")
            raise typer.Exit(1) from None
        view.finish()


class _TapeView:
    """Shows rows as they come, and keeps of them only which calls wait for results."""

    def __init__(self, output: Output, *, full: bool) -> None:
        """Write to ``output``."""
        self._output = output
        self._full = full
        self._waiting: dict[str, str] = {}
        self._rows = 0
        self._odd = 0
        self._totals = [0] * 6

    def show(self, entry: turntape.TapeEntry) -> None:
        """Show a line of the tape."""
        if isinstance(entry, TapeRow):
            self._rows += 1
            self._row(entry)
            return
        self._odd += 1
        if isinstance(entry, TapeOpaque):
            what, style = "a line of a newer version", "yellow"
        else:
            what, style = "a torn line" if entry.torn_tail else "no row", "bold red"
        self._output.line(
            (f"line {entry.line:,}  ", "dim"),
            (what, style),
            f": {clean(entry.detail)}, {_bytes(entry.end - entry.start)}",
        )
        self._output.line()

    def _row(self, entry: TapeRow) -> None:
        row = entry.row
        if row.role != "tool":
            self._close_round()
        self._head(entry)
        reasoning = (row.extra_metadata or {}).get(REASONING)
        if isinstance(reasoning, str) and reasoning:
            self._output.line(("thinking", "italic magenta"))
            self._text(reasoning, "italic")
        if row.parts is None:
            if row.content:
                self._text(row.content)
        else:
            for part in row.parts:
                self._part(part)
        if row.tool_failure is not None:
            self._output.line(
                ("the tool failed", "bold red"), f": {clean(row.tool_failure.detail)}"
            )
        for call in row.tool_calls:
            self._waiting[call.id] = call.name
            self._output.line(
                ("call ", "cyan"), (clean(call.name), "bold cyan"), ("  " + clean(call.id), "dim")
            )
            self._text(call.arguments, "cyan")
        self._output.line()

    def _head(self, entry: TapeRow) -> None:
        row = entry.row
        facts = [clean(fact) for fact in (row.model, row.created_at) if fact]
        facts.append(_bytes(entry.end - entry.start))
        if row.stop_reason:
            facts.append(f"stop {clean(row.stop_reason)}")
        if row.usage is not None:
            facts.append(describe_usage(row.usage))
            for place, name in enumerate(_COUNTS):
                self._totals[place] += getattr(row.usage, name)
        about = ""
        if row.role == "tool":
            identity = row.tool_call_id or ""
            known = identity in self._waiting
            about = f"answers {clean(self._waiting.pop(identity))}" if known else "answers no call"
            about += f"  {clean(identity)}"
        self._output.line(
            (f"line {entry.line:,}  ", "dim"),
            (clean(row.role), _STYLES.get(row.role, "bold")),
            (f"  {about}" if about else "", "cyan"),
            ("  cut short" if row.interrupted else "", "bold red"),
            (f"  {', '.join(facts)}", "dim"),
        )

    def _part(self, part: turntape.TranscriptPart) -> None:
        match part:
            case turntape.TextPart(text=text):
                self._text(text)
            case turntape.ImagePart(url=url):
                self._output.line(("  image ", "yellow"), _named(url))
            case _:
                source = part.source
                where = source.path if isinstance(source, turntape.PathRef) else source.url
                self._output.line(
                    (f"  {part.type} ", "yellow"), f"{_named(where)}  {clean(part.mime_type)}"
                )

    def _text(self, text: str, style: str = "") -> None:
        self._output.block(text if self._full else clip(text, _LONG), style)

    def _close_round(self) -> None:
        for identity, name in self._waiting.items():
            self._output.line(
                ("no result", "bold red"), f" for {clean(name)}  ", (clean(identity), "dim")
            )
        if self._waiting:
            self._output.line()
            self._waiting.clear()

    def finish(self) -> None:
        """Say what is missing at the end, and the sums."""
        self._close_round()
        tokens = (
            describe_usage(turntape.Usage(*self._totals))
            if any(self._totals)
            else "no tokens counted"
        )
        self._output.line(
            (f"{self._rows:,} rows", "bold"),
            f", {self._odd:,} other lines" if self._odd else "",
            f": {tokens}",
        )


_COUNTS = (
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "cache_write_1h_tokens",
    "reasoning_tokens",
)


def _named(url: str) -> str:
    """Name a medium; of one that carries its bytes only what it is."""
    head, comma, data = url.partition(",")
    if head[:5].lower() == "data:" and comma:
        return f"{clean(clip(head, _SHORT))}, {_bytes(len(data) * 3 // 4)}"
    return clean(clip(url, _SHORT))


def _bytes(count: int) -> str:
    return f"{count:,} bytes"
