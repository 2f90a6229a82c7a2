"""``turntape envelope check``: tell whether the envelopes of a history are canonical."""

from __future__ import annotations

import contextlib
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, BinaryIO, TypeAlias

import typer

import turntape
from turntape._native import mend_envelope, row_content
from turntape.cli.complaints import complain
from turntape.cli.ending import guarded
from turntape.cli.files import label_of, open_new, progress, size_of
from turntape.cli.output import Output, clean, clip
from turntape.cli.sources import ReadError, Source, open_source

__all__ = ["CHECK_HELP", "app"]

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Work with replay envelopes: turns with tool calls, packed into the content of a flat history.",
)

CHECK_HELP = """\
Tell of each row of a history whether its envelope is canonical, and if not, why and where.

A row is a line of JSON: a message with [bold]role[/bold] and [bold]content[/bold], whose content may be \
an envelope; or an envelope by itself; or a JSON string that holds one. Rows without an envelope, such as \
a user's text, are counted and passed over.

\b
[bold]Examples[/bold]
  turntape envelope check history.jsonl           the rows at fault, and a summary
  turntape envelope check history.jsonl --all     every row
  turntape envelope check old.jsonl --fix new.jsonl
  ... | turntape envelope check -                 from standard input

\b
[bold]What is wrong with a row[/bold]
  null_content  the content is null, missing or no string
  reasoning     it carries reasoning, which no canonical envelope does
  extra_member  a member that envelopes do not have
  key_order     keys that are not sorted by their UTF-8 bytes
  whitespace    white space between the tokens
  escape        a character in another spelling than its own
  number        a number in another spelling, or with an exponent
  duplicate_key a name that comes twice
  null_extra    an extra_content that is null
  not_json, not_an_envelope
                it looks like an envelope, and is broken

\b
[bold]Exit status[/bold]
  0    every envelope is canonical, with --fix in the new file
  1    some are not, a line is no JSON, or a file cannot be read or written
  2    the command line is wrong, and nothing was checked
  130  interrupted with Ctrl-C
  141  nobody reads the output any more

\b
--fix writes a new file with every row: an envelope in its canonical form
where nothing is lost by that, else as it is; what would be lost is said.
What no row needs changed comes out byte for byte.
"""

_BAR_FROM = 8 * 1024 * 1024
_SHOWN = 32
_LONGEST = 120
_LISTED = 3

_Around: TypeAlias = "Callable[[], contextlib.AbstractContextManager[None]]"


@dataclass(frozen=True, slots=True)
class _Row:
    """A line and the envelope that it may hold.

    Attributes:
        fault: Why the row is at fault; None where it is not.
        offset: Where, in the bytes of the envelope, or of the line where that cannot be read.
        envelope: The text that was checked; None where there is none.
        place: Which bytes of the line hold it as a JSON string; None where it is the line itself.
    """

    fault: str | None = None
    offset: int = 0
    envelope: str | None = None
    place: tuple[int, int] | None = None


@app.callback()
def _group() -> None:
    """Keep ``check`` a command of its own, whatever else comes."""


@app.command("check", help=CHECK_HELP, no_args_is_help=True)
def check(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A history of JSON lines; [bold]-[/bold] reads standard input.",
            show_default=False,
        ),
    ],
    everything: Annotated[
        bool, typer.Option("--all", "-a", help="Name every row, not only those at fault.")
    ] = False,
    fix: Annotated[
        Path | None,
        typer.Option(
            metavar="NEW",
            help="Write the rows to this new file, envelopes in canonical form.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Check a history; the help text stands in ``CHECK_HELP``, where it can hold line breaks."""
    with guarded():
        remarks, output = Output(sys.stderr), Output(sys.stdout)
        name = label_of(file)
        size = size_of(remarks, file)
        report = _Report(output, everything=everything, fixing=fix is not None)
        with contextlib.ExitStack() as stack:
            new = None if fix is None else open_new(remarks, fix, stack, "--fix")
            try:
                source = stack.enter_context(open_source(file))
                with progress(size, output, "checking") as bar:
                    report.around = bar.hidden
                    for line in _lines(source):
                        report.take(line, new)
                        bar.advance(len(line))
            except ReadError as error:
                report.finish()
                output.flush()
                complain(remarks, f"{name}: cannot be read: {error}")
                raise typer.Exit(1) from None
        report.finish()
    raise typer.Exit(1 if report.failed else 0)


def _lines(source: Source) -> Iterator[bytes]:
    """Cut a source into lines, each with its end."""
    parts: list[bytes] = []
    for piece in source.pieces(None):
        start = 0
        while (end := piece.find(b"\n", start) + 1) > 0:
            parts.append(piece[start:end])
            yield b"".join(parts)
            parts.clear()
            start = end
        if start < len(piece):
            parts.append(piece[start:])
    if parts:
        yield b"".join(parts)


def _read(line: bytes) -> _Row | None:  # noqa: PLR0911 (one a kind of line)
    """Find the envelope of a line and what is wrong with it; None for a blank line."""
    try:
        text = line.decode().rstrip("\r\n")
    except UnicodeDecodeError as error:
        return _Row("not_utf8", error.start)
    if not text.strip(" \t\r"):
        return None
    found = row_content(text)
    if found is not None:
        role, content, start, end = found
        return _judge(content, (start, end), suspect=role in {"assistant", "tool"})
    why = turntape.explain_not_canonical(text)
    if why is not None and why.code == "not_json":
        return _Row("not_json", why.offset)
    if text.lstrip().startswith('"'):
        literal = text.strip()
        start = len(text[: text.index('"')].encode())
        return _judge(json.loads(literal), (start, start + len(literal.encode())), suspect=True)
    if why is None:
        return _Row(envelope=text)
    if why.code == "not_an_envelope" or _has_role(text):
        return _Row()
    return _Row(why.code, why.offset, text)


def _judge(content: str, place: tuple[int, int], *, suspect: bool) -> _Row:
    why = turntape.explain_not_canonical(content)
    if why is None:
        return _Row(envelope=content, place=place)
    if why.code in {"not_json", "not_an_envelope"}:
        broken = content.lstrip().startswith("{") and (
            '"tool_calls"' in content or '"tool_call_id"' in content
        )
        return _Row(why.code, why.offset, content, place) if suspect and broken else _Row()
    return _Row(why.code, why.offset, content, place)


def _has_role(text: str) -> bool:
    """Whether a line is a message in fields, whose content is no string."""
    value: object = json.loads(text)
    return isinstance(value, dict) and "role" in value


class _Report:
    """Says what is found, and counts.

    Attributes:
        failed: Whether something is at fault.
        around: What is done while a line is written.
    """

    def __init__(self, output: Output, *, everything: bool, fixing: bool) -> None:
        self.failed = False
        self.around: _Around = contextlib.nullcontext
        self._output = output
        self._everything = everything
        self._fixing = fixing
        self._number = 0
        self._counts: Counter[str] = Counter()
        self._faults: Counter[str] = Counter()

    def take(self, line: bytes, new: BinaryIO | None) -> None:
        """Check a line, and write it to the new file."""
        self._number += 1
        row = _read(line)
        if row is not None:
            self._counts["rows"] += 1
            line = self._check(row, line)
        if new is not None:
            new.write(line)

    def _check(self, row: _Row, line: bytes) -> bytes:
        if row.fault is None:
            kind = "no envelope" if row.envelope is None else "canonical"
            self._counts[kind] += 1
            if self._everything:
                self._say((kind, "dim" if row.envelope is None else "green"))
            return line
        self._faults[row.fault] += 1
        self._counts["lines that are no JSON" if row.envelope is None else "not canonical"] += 1
        excerpt = "" if row.envelope is None else _excerpt(row.envelope, row.offset)
        where = (f"{row.fault} ", "yellow"), f"at byte {row.offset:,}", excerpt
        if not self._fixing:
            self.failed = True
            self._say(*where)
            return line
        fixed, outcome = _fix(row, line)
        if fixed is None:
            self.failed = True
            self._counts["left as they are"] += 1
        else:
            self._counts["fixed"] += 1
        self._say(*where, ": ", outcome)
        return line if fixed is None else fixed

    def _say(self, *pieces: str | tuple[str, str]) -> None:
        with self.around():
            self._output.line((f"row {self._number:,}: ", "bold"), *pieces)

    def finish(self) -> None:
        """Write the summary."""
        counts = self._counts
        envelopes = counts["canonical"] + counts["not canonical"]
        self._output.line(
            f"{counts['rows']:,} rows, {envelopes:,} envelopes: ",
            (f"{counts['canonical']:,} canonical", "green"),
            ", ",
            (f"{counts['not canonical']:,} not", "yellow" if counts["not canonical"] else ""),
            *(
                f", {counts[what]:,} {what}"
                for what in ("fixed", "left as they are", "lines that are no JSON")
                if counts[what]
            ),
        )
        for fault, count in self._faults.most_common():
            self._output.line(f"  {count:>9,} {fault}")


def _excerpt(text: str, offset: int) -> str:
    """Show what stands at a place."""
    encoded = text.encode("utf-8", "surrogatepass")
    if offset >= len(encoded):
        return ", its end"
    return f": {clean(encoded[offset : offset + _SHOWN].decode(errors='replace'))}"


def _fix(row: _Row, line: bytes) -> tuple[bytes | None, tuple[str, str]]:
    """Write a line with its envelope in canonical form, where nothing is lost by that; say what came of it."""
    mended = None if row.envelope is None else mend_envelope(row.envelope)
    if mended is None:
        return None, ("left as it is, no envelope can be read from it", "red")
    text, lost = mended
    if text is None or lost:
        listed = [f"{clean(clip(path, _LONGEST))} ({what})" for path, what in lost]
        more = "" if len(listed) <= _LISTED else f" and {len(listed) - _LISTED} more"
        would = "no canonical form for" if text is None else "it would lose"
        return None, (f"left as it is, {would} {', '.join(listed[:_LISTED])}{more}", "red")
    if row.place is None:
        end = line[len(line.rstrip(b"\r\n")) :]
        return text.encode() + end, ("fixed", "green")
    start, stop = row.place
    literal = json.dumps(text, ensure_ascii=False).encode()
    return line[:start] + literal + line[stop:], ("fixed", "green")
