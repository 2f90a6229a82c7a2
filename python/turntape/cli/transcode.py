"""``turntape transcode``: rewrite one provider's stream as another's, while it arrives."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Annotated, Literal, TypeAlias

import typer

import turntape
from turntape.cli.complaints import complain, refuse
from turntape.cli.ending import guarded
from turntape.cli.explain import advise, summarise
from turntape.cli.named import name_input
from turntape.cli.options import Choice, MaxEventBytes, Strict
from turntape.cli.output import Output, clean
from turntape.cli.render import show_warnings
from turntape.cli.sources import STANDARD_INPUT, ReadError, detect, open_source

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
    choice: Choice = 0,
    strict: Strict = False,
    max_event_bytes: MaxEventBytes = None,
) -> None:
    """Rewrite a stream; the help text stands in ``TRANSCODE_HELP``, where it can hold line breaks."""
    with guarded():
        remarks = Output(sys.stderr)
        label = name_input(remarks, file, "one stream")
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
        whole = False
        try:
            with open_source(file) as opened:
                pieces = opened.pieces(None)
                if source is None:
                    source, pieces = detect(pieces)
                whole = _Pipe(start(source), remarks, label).run(pieces)
        except turntape.UnknownDialect as error:
            advice = f"if it is a stream, name its dialect: --from {turntape.Dialect.ANTHROPIC}"
            complain(remarks, f"{label}: {summarise(error)}", advice)
        except ReadError as error:
            complain(remarks, f"{label}: cannot be read: {error}")
    raise typer.Exit(0 if whole else 1)


class _Pipe:
    """Writes the new stream, and what is to be said of it."""

    def __init__(self, transcoder: turntape.Transcoder, remarks: Output, label: str) -> None:
        self._transcoder = transcoder
        self._remarks = remarks
        self._label = label

    def run(self, pieces: Iterator[bytes]) -> bool:
        """Rewrite everything that comes.

        Returns:
            Whether the turn is complete.

        Raises:
            ReadError: The input cannot be read; what came of it is written.
        """
        fault = self._rewrite(pieces)
        self._tell()
        if fault is not None:
            complain(self._remarks, f"{self._label}: {summarise(fault)}", advise(fault))
        return fault is None

    def _rewrite(self, pieces: Iterator[bytes]) -> turntape.TurntapeError | None:
        transcoder = self._transcoder
        try:
            for piece in pieces:
                _write(transcoder.feed(piece))
                # A failure waits for the next call, which an open pipe may be long in bringing.
                transcoder.feed(b"")
            _write(transcoder.finish())
        except turntape.ProviderError as error:
            _write(transcoder.fail(error))
            return error
        except (turntape.StreamError, turntape.EncodeError) as error:
            # The other side sees what happened here: a stream that broke off.
            _write(transcoder.cut())
            return error
        return None

    def _tell(self) -> None:
        for note in self._transcoder.notes:
            place = "" if note.index is None else f" at block {note.index}"
            self._remarks.line((note.code, "yellow"), f"{place}: {clean(note.detail)}")
        show_warnings(self._remarks, self._transcoder.warnings)
        self._remarks.flush()


def _write(data: bytes) -> None:
    """Hand over a piece of the new stream at once, as it is."""
    if data:
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
