"""``turntape decode``: show what is in recorded or arriving streams."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

import turntape
from turntape.cli.complaints import complain, refuse
from turntape.cli.ending import guarded
from turntape.cli.explain import advise, summarise
from turntape.cli.options import STREAM, Choice, DecodeOptions, MaxEventBytes, Strict
from turntape.cli.output import Output, clean
from turntape.cli.render import EventsView, FormatName, JsonlView, MessageView, View
from turntape.cli.sources import STANDARD_INPUT, ReadError, Source, open_source
from turntape.cli.summary import summarise_streams

__all__ = ["HELP", "decode"]

# Typer reads the choices from the annotation; a test holds them against `turntape.Dialect`.
_DialectName: TypeAlias = Literal[
    "auto", "anthropic", "openai-chat", "openai-responses", "gemini", "bedrock-converse"
]

HELP = """\
Decode streams and show their events, the assembled turn, or a summary of many.

\b
[bold]Examples[/bold]
  turntape decode stream.sse              each event on a line
  turntape decode stream.sse -f message   text, tool calls, usage, stop reason
  curl -sN ... | turntape decode -        live, while the provider answers
  turntape decode stream.sse -f jsonl     for jq and other programs
  turntape decode --summary recordings/   many at once, in a table

\b
[bold]Exit status[/bold]
  0    every turn is complete
  1    a stream failed: it was cut, refused by the provider, damaged, or is
       not decodable; standard error says so, and what to do about it
  2    the command line is wrong, and nothing was decoded
  130  interrupted with Ctrl-C
  141  nobody reads the output any more

\b
With --summary, files in a folder that are no stream are named and passed
over. They change the status only where there is no stream at all.
"""

_SHOWN = "What is shown"


def decode(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE",
            help="Recorded response bodies; [bold]-[/bold] reads standard input as it arrives. "
            "With --summary folders too.",
            show_default=False,
        ),
    ],
    dialect: Annotated[
        _DialectName,
        typer.Option(
            "--dialect", "-d", help="How the provider speaks; auto tells from the stream itself."
        ),
    ] = "auto",
    format_: Annotated[
        FormatName | None,
        typer.Option(
            "--format",
            "-f",
            help="events (the default): a line for each event, live. message: the assembled turn. "
            "jsonl: a JSON object for each event.",
            show_default=False,
            rich_help_panel=_SHOWN,
        ),
    ] = None,
    summary: Annotated[
        bool,
        typer.Option(
            "--summary",
            "-s",
            help="Decode all files and all files in folders, and show a table of what came out.",
            rich_help_panel=_SHOWN,
        ),
    ] = False,
    chunk: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Feed the bytes N at a time. What comes out is the same; this shows that it is.",
            rich_help_panel=STREAM,
        ),
    ] = None,
    choice: Choice = 0,
    eof: Annotated[
        Literal["flush", "discard"],
        typer.Option(
            help="Whether a last event without its blank line is taken.", rich_help_panel=STREAM
        ),
    ] = "flush",
    strict: Strict = False,
    max_event_bytes: MaxEventBytes = None,
    server_tool: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A tool that the provider runs itself, though the wire shows it as a call. May be "
            "given several times.",
            show_default=False,
            rich_help_panel=STREAM,
        ),
    ] = None,
) -> None:
    """Show streams; the help text stands in ``HELP``, where it can hold line breaks."""
    with guarded():
        remarks = Output(sys.stderr)
        if summary and format_ is not None:
            refuse(remarks, "--format and --summary exclude each other: the summary is a table")
        for name in files:
            _check(remarks, name, folders=summary)
        options = DecodeOptions(
            dialect=None if dialect == "auto" else turntape.Dialect(dialect),
            choice=choice,
            eof=eof,
            max_event_bytes=max_event_bytes,
            strict=strict,
            server_tools=tuple(server_tool or ()),
            chunk=chunk,
        )
        try:
            options.check()
        except (OverflowError, ValueError) as error:
            refuse(remarks, f"an option has a value that cannot be: {error}")
        output = Output(sys.stdout)
        if summary:
            complete = summarise_streams(files, options, output, remarks)
        else:
            view = _make_view(format_ or "events", output, remarks)
            complete = True
            for place, name in enumerate(files):
                if len(files) > 1 and format_ != "jsonl":
                    if place:
                        output.line()
                    output.line((f"== {clean(name)}", "bold"))
                if not _show(name, options, view, output, remarks):
                    complete = False
    raise typer.Exit(0 if complete else 1)


def _check(remarks: Output, name: str, *, folders: bool) -> None:
    """End with a usage error where a name can be no stream."""
    if name == STANDARD_INPUT:
        return
    path = Path(name)
    try:
        is_folder, is_there = path.is_dir(), path.exists()
    except OSError as error:
        refuse(remarks, f"{clean(name)}: cannot be read: {error.strerror or error}")
    if not is_there:
        refuse(remarks, f"{clean(name)}: there is no such file")
    if is_folder and not folders:
        refuse(remarks, f"{clean(name)} is a folder: add --summary to decode what is in it")


def _make_view(name: FormatName, output: Output, remarks: Output) -> View:
    match name:
        case "events":
            return EventsView(output, remarks)
        case "message":
            return MessageView(output)
        case "jsonl":
            return JsonlView(output, remarks)


def _show(name: str, options: DecodeOptions, view: View, output: Output, remarks: Output) -> bool:
    """Show one stream; what goes wrong with it is said in one line.

    Returns:
        Whether its turn is complete.
    """
    label = "standard input" if name == STANDARD_INPUT else clean(name)
    try:
        with open_source(name) as source:
            _show_source(source, options, view, output)
    except turntape.TurntapeError as error:
        output.flush()
        complain(remarks, f"{label}: {summarise(error)}", advise(error))
    except ReadError as error:
        output.flush()
        complain(remarks, f"{label}: cannot be read: {error}")
    else:
        output.flush()
        return True
    return False


def _show_source(source: Source, options: DecodeOptions, view: View, output: Output) -> None:
    dialect, pieces = options.pieces(source)
    prompt = source.live or output.styled
    with options.events(pieces, dialect) as stream:
        try:
            for event in stream:
                view.event(event)
                if prompt:
                    output.flush()
        except turntape.StreamError as error:
            if error.partial is not None:
                view.end(error.partial)
            raise
        view.end(stream.snapshot())
