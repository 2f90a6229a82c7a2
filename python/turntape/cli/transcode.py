"""``turntape transcode``: rewrite one provider's stream as another's, while it arrives."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

import turntape
from turntape.cli.complaints import complain, refuse
from turntape.cli.ending import guarded
from turntape.cli.explain import advise, summarise
from turntape.cli.output import Output, clean
from turntape.cli.sources import STANDARD_INPUT, ReadError, Source, detect, open_source

__all__ = ["TRANSCODE_HELP", "transcode"]

# Typer reads the choices from the annotations; a test holds them against `turntape.Dialect`.
_SourceName: TypeAlias = Literal[
    "auto", "anthropic", "openai-chat", "openai-responses", "gemini", "bedrock-converse"
]
_TargetName: TypeAlias = Literal["anthropic", "openai-chat", "openai-responses", "gemini"]

TRANSCODE_HELP = """\
Rewrite one provider's stream as another's, while it arrives.

The new stream goes to standard output, each event as soon as it can be said, and whatever could not be said \
as it was to standard error, a line each. A stream that was cut stays one: it gets no end.

\b
[bold]Examples[/bold]
  turntape transcode --to openai-chat stream.sse
  curl -sN ... | turntape transcode --to anthropic
  turntape transcode --to gemini stream.sse | turntape decode -

\b
[bold]Exit status[/bold]
  0    the turn is complete, and so is the new stream
  1    the stream was cut or damaged, which the new one shows, or the
       provider failed, which the new one says as its provider does; or the
       output cannot be written; standard error says why
  2    the command line is wrong, and nothing was read
  130  interrupted with Ctrl-C
  141  nobody reads the output any more
"""

_STREAM = "The stream"
_NEW = "The new stream"


def transcode(
    to: Annotated[
        _TargetName,
        typer.Option("--to", "-t", help="How the provider speaks that the new stream is to be of."),
    ],
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A recorded response body; [bold]-[/bold], or none, reads standard input as it arrives.",
            show_default=False,
        ),
    ] = STANDARD_INPUT,
    from_: Annotated[
        _SourceName,
        typer.Option(
            "--from", "-f", help="How the provider speaks; auto tells from the stream itself."
        ),
    ] = "auto",
    usage: Annotated[
        bool,
        typer.Option(
            help="Whether a Chat stream says the usage, which its clients have to ask for.",
            rich_help_panel=_NEW,
        ),
    ] = True,
    choice: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="Which choice of a Chat response, counted from 0.",
            rich_help_panel=_STREAM,
        ),
    ] = 0,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Fail a stream at its first warning.", rich_help_panel=_STREAM
        ),
    ] = False,
    max_event_bytes: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Fail a stream with an event of more data.",
            show_default=False,
            rich_help_panel=_STREAM,
        ),
    ] = None,
) -> None:
    """Rewrite a stream; the help text stands in ``TRANSCODE_HELP``, where it can hold line breaks."""
    with guarded():
        remarks = Output(sys.stderr)
        label = _label(remarks, file)
        source = None if from_ == "auto" else turntape.Dialect(from_)

        def start(dialect: turntape.Dialect) -> turntape.Transcoder:
            return turntape.Transcoder(
                dialect,
                to,
                choice=choice,
                strict=strict,
                max_event_bytes=max_event_bytes,
                include_usage=usage,
            )

        try:
            start(source or turntape.Dialect.ANTHROPIC)
        except (OverflowError, ValueError) as error:
            refuse(remarks, f"an option has a value that cannot be: {error}")
        try:
            with open_source(file) as opened:
                dialect, pieces = (
                    detect(opened.pieces(None))
                    if source is None
                    else (source, opened.pieces(None))
                )
                whole = _Pipe(start(dialect), remarks, label).run(pieces)
        except turntape.UnknownDialect as error:
            complain(remarks, f"{label}: {summarise(error)}", "name its dialect: --from anthropic, ...")
        except ReadError as error:
            complain(remarks, f"{label}: cannot be read: {error}")
        else:
            raise typer.Exit(0 if whole else 1)
    raise typer.Exit(1)
