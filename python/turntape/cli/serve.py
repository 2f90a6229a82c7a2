"""``turntape serve``: recorded turns at the providers' own paths, for clients under test."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

import turntape
from turntape.cli.complaints import complain, refuse
from turntape.cli.ending import guarded
from turntape.cli.output import Output, clean
from turntape.serving.playback import CutAt, Ending, Playback

__all__ = ["SERVE_HELP", "serve"]

# Typer reads the choices from the annotation; a test holds them against `turntape.Dialect`.
_Recorded: TypeAlias = Literal[
    "anthropic", "openai-chat", "openai-responses", "gemini", "bedrock-converse"
]
_Spoken: TypeAlias = Literal["anthropic", "openai-chat", "openai-responses", "gemini"]

SERVE_HELP = """\
Serve recorded turns at the providers' own paths, so that clients can be tested without a provider.

\b
[bold]What is served[/bold]
  Recorded bodies of any dialect, streamed or not; tapes (.jsonl), each turn of
  the model's in them; folders of both. A body whose dialect and form are asked
  for is sent byte for byte, anything else is said anew in the dialect of the
  path that is called. A turn that was cut or failed is served as just that.

\b
[bold]Which turn a request gets[/bold]
  The next one; with --choose content the one that was recorded for the same
  question; in any case the one that its header names:
  x-turntape-turn: NAME

\b
[bold]Examples[/bold]
  turntape serve recordings/                    each once, in order
  turntape serve tape.jsonl --choose content    what was asked decides
  turntape serve a.sse --loop --tempo 0         as fast as possible
  turntape serve a.sse --cut-at 12              the connection is lost
  turntape serve a.sse --error-at 3             the provider fails

\b
[bold]Exit status[/bold]
  0    stopped by Ctrl-C or SIGTERM
  1    a file is no recording, or the address is taken; standard error says so
  2    the command line is wrong, and nothing was served
  141  nobody reads the output any more
"""

_TURNS = "The turns"
_PLAYING = "How they are played"
_SERVER = "The server"


def serve(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH", help="Recorded bodies, tapes, and folders of them.", show_default=False
        ),
    ],
    choose: Annotated[
        Literal["order", "content"],
        typer.Option(
            "--choose",
            help="One after the other, or by what the request asks.",
            rich_help_panel=_TURNS,
        ),
    ] = "order",
    loop: Annotated[
        bool,
        typer.Option(
            "--loop/--once",
            help="Begin again after the last turn; otherwise requests then get an error.",
            rich_help_panel=_TURNS,
        ),
    ] = False,
    dialect: Annotated[
        _Spoken | None,
        typer.Option(
            "--dialect",
            "-d",
            help="Serve the paths of this dialect alone. Left out, the path that is called tells what to "
            "speak.",
            show_default=False,
            rich_help_panel=_TURNS,
        ),
    ] = None,
    from_: Annotated[
        _Recorded | None,
        typer.Option(
            "--from",
            "-f",
            help="The dialect of the bodies; left out, each tells by itself.",
            show_default=False,
            rich_help_panel=_TURNS,
        ),
    ] = None,
    tempo: Annotated[
        float,
        typer.Option(
            min=0,
            metavar="X",
            help="1 is a pace that is typical of providers (0.4 s to the first event, 0.02 s to each "
            "other), 2 twice as fast, 0 as fast as possible.",
            rich_help_panel=_PLAYING,
        ),
    ] = 1.0,
    chunk: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Send N bytes at a time, wherever that cuts; left out, an event at a time.",
            show_default=False,
            rich_help_panel=_PLAYING,
        ),
    ] = None,
    cut_at: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="Break off after N events, or with 500b after 500 bytes.",
            show_default=False,
            rich_help_panel=_PLAYING,
        ),
    ] = None,
    ending: Annotated[
        Literal["lost", "clean"],
        typer.Option(
            help="Where an answer breaks off: lose the connection, or end it as if all were well.",
            rich_help_panel=_PLAYING,
        ),
    ] = "lost",
    error_at: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="Report an error after N events, as the provider does; 0 answers with an HTTP error.",
            show_default=False,
            rich_help_panel=_PLAYING,
        ),
    ] = None,
    error_status: Annotated[
        int,
        typer.Option(
            min=400,
            max=599,
            metavar="N",
            help="The status of that error: 529 an overload, 429 a rate limit, ...",
            rich_help_panel=_PLAYING,
        ),
    ] = 529,
    record: Annotated[
        Path | None,
        typer.Option(
            "--record",
            "-r",
            metavar="FILE",
            help="Add each request to this file as a line of JSON, without credentials.",
            show_default=False,
            rich_help_panel=_SERVER,
        ),
    ] = None,
    host: Annotated[
        str, typer.Option(metavar="HOST", help="Where to listen.", rich_help_panel=_SERVER)
    ] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(
            min=0,
            max=65535,
            metavar="N",
            help="The port; 0 takes one that is free, and standard output names it.",
            rich_help_panel=_SERVER,
        ),
    ] = 8787,
    allow_remote: Annotated[
        bool,
        typer.Option(
            "--allow-remote",
            help="Listen where other machines can connect. Nothing asks them for a key.",
            rich_help_panel=_SERVER,
        ),
    ] = False,
) -> None:
    """Serve; the help text stands in ``SERVE_HELP``, where it can hold line breaks."""
    with guarded():
        remarks = Output(sys.stderr)
        playback = replace(
            _playback(remarks, cut_at, tempo=tempo, chunk=chunk, ending=ending),
            error_at=error_at,
            error_status=error_status,
        )
        for path in paths:
            if not path.exists():
                refuse(remarks, f"{clean(str(path))}: there is no such file or folder")
        try:
            from turntape.cli.serving import log_lines, run_server, turns_of  # noqa: PLC0415 (what it needs may be missing)
        except ModuleNotFoundError as error:
            missing = (error.name or "turntape").partition(".")[0]
            if missing == "turntape":
                raise
            text = f"serving needs starlette and uvicorn, and '{missing}' is not installed"
            complain(remarks, text, "pip install 'turntape[serve]'")
            raise typer.Exit(2) from None
        with log_lines(remarks):
            run_server(
                remarks,
                turns_of(remarks, paths, None if from_ is None else turntape.Dialect(from_)),
                playback,
                choice=choose,
                loop=loop,
                dialect=None if dialect is None else turntape.Dialect(dialect),
                record=record,
                address=(host, port),
                allow_remote=allow_remote,
            )


def _playback(
    remarks: Output, cut_at: str | None, *, tempo: float, chunk: int | None, ending: Ending
) -> Playback:
    """Read how turns are played; end with a usage error where that cannot be."""
    try:
        cut = None if cut_at is None else CutAt.parse(cut_at)
        return Playback(tempo=tempo, chunk=chunk, cut_at=cut, ending=ending)
    except ValueError as error:
        refuse(remarks, str(error))
