"""``turntape convert``: write a request for another provider."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import typer

import turntape
from turntape.cli.complaints import complain
from turntape.cli.ending import guarded
from turntape.cli.named import name_input
from turntape.cli.output import Output, clean
from turntape.cli.sources import ReadError, open_source
from turntape.wire.inbound.detect import request_dialect
from turntape.wire.inbound.raw import Raw, source_text
from turntape.wire.inbound.read import read_history, read_request
from turntape.wire.inbound.reader import Reader

__all__ = ["CONVERT_HELP", "convert"]

# Typer reads the choices from the annotation; a test holds them against `turntape.Dialect`.
_DialectName: TypeAlias = Literal[
    "anthropic", "openai-chat", "openai-responses", "gemini", "bedrock-converse"
]

CONVERT_HELP = """\
Write a request to one provider as a request to another.

The input is the body of a request as it is sent, or its history alone: the list of messages, items or \
contents. The new body goes to standard output, and whatever had to be changed, left out or made up to \
standard error, a line each.

\b
[bold]Examples[/bold]
  turntape convert --to openai-chat --model gpt-5.2 request.json
  turntape convert --from anthropic --to gemini -m gemini-3-pro request.json
  ... | turntape convert --to anthropic -m claude-opus-4-7 --max-tokens 4096 -
  turntape convert --to openai-chat -m gpt-5.2 --repair broken.json -o whole.json

\b
[bold]Exit status[/bold]
  0    the request is written, perhaps with notes
  1    it cannot be read or cannot be sent so, or the output cannot be
       written; standard error says why
  2    the command line is wrong, and nothing was read
  130  interrupted with Ctrl-C
  141  nobody reads the output any more
"""

_BUILDING = "The new request"
_OUTPUT = "Output"


def convert(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A request as JSON; [bold]-[/bold] reads standard input.",
            show_default=False,
        ),
    ],
    to: Annotated[
        _DialectName,
        typer.Option("--to", "-t", help="How the provider speaks that is to get it."),
    ],
    from_: Annotated[
        _DialectName | None,
        typer.Option(
            "--from",
            "-f",
            help="How the provider speaks that it was written for; left out, the request itself tells, if "
            "it does.",
            show_default=False,
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            help="The model that is to get it; left out, the one that the request names.",
            show_default=False,
            rich_help_panel=_BUILDING,
        ),
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="The limit on the answer, in place of the request's own. Anthropic wants one.",
            show_default=False,
            rich_help_panel=_BUILDING,
        ),
    ] = None,
    vendor: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Who is to get it, where the model does not tell: deepseek, mistral, azure, ...",
            rich_help_panel=_BUILDING,
        ),
    ] = "auto",
    api_version: Annotated[
        str | None,
        typer.Option(
            "--api-version",
            metavar="VERSION",
            help="The version of the API, where the wire names one; left out, the newest. Anthropic's "
            "2023-06-01 still takes temperature and top_p.",
            show_default=False,
            rich_help_panel=_BUILDING,
        ),
    ] = None,
    repair: Annotated[
        bool,
        typer.Option(
            "--repair",
            help="Mend a history that cannot be sent: calls without results, results without calls, ...",
            rich_help_panel=_BUILDING,
        ),
    ] = False,
    unsupported: Annotated[
        Literal["drop", "error"],
        typer.Option(
            help="What happens to parameters that the provider does not take.",
            rich_help_panel=_BUILDING,
        ),
    ] = "drop",
    pretty: Annotated[
        bool,
        typer.Option(
            "--pretty",
            "-p",
            help="Indent the body for reading. Sent so, it would miss prompt caches.",
            rich_help_panel=_OUTPUT,
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="NEW",
            help="Write the body to this file.",
            show_default=False,
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
) -> None:
    """Convert a request; the help text stands in ``CONVERT_HELP``, where it can hold line breaks."""
    with guarded():
        remarks = Output(sys.stderr)
        label = name_input(remarks, file, "one request")
        work = _Conversion(remarks, turntape.Dialect(to))
        try:
            with open_source(file) as source:
                given = b"".join(source.pieces(None))
            request = work.read(given, from_, model)
            if max_tokens is not None:
                request = replace(request, max_tokens=max_tokens)
            body = work.build(
                request,
                vendor=vendor,
                api_version=api_version,
                repair="repair" if repair else "strict",
                unsupported=unsupported,
            )
        except ReadError as error:
            complain(remarks, f"{label}: cannot be read: {error}")
        except turntape.TurntapeError as error:
            work.explain(label, error)
        else:
            _write(remarks, out, _indented(Raw(body)) if pretty else body)
            return
    raise typer.Exit(1)


class _Conversion:
    """One conversion, which tells of places in the messages of the file."""

    def __init__(self, remarks: Output, target: turntape.Dialect) -> None:
        self._remarks = remarks
        self._target = target
        self._places: list[int | None] = []

    def read(self, given: bytes, dialect: str | None, model: str | None) -> turntape.ModelRequest:
        """Read a request, or a history alone.

        Raises:
            TurntapeError: It cannot be read.
        """
        text = source_text(given)
        notes: list[turntape.ReplayNote] = []
        known = turntape.Dialect(dialect) if dialect else request_dialect(text)
        reader = Reader(known, notes=notes)
        if not text.startswith("["):
            request = read_request(reader, text, model, self._target)
        elif model is None:
            raise turntape.InvalidRequest("a history alone names no model: give model=")
        else:
            request = turntape.ModelRequest(model, read_history(reader, text))
        self._places = reader.places
        for note in notes:
            self._note(note, note.index)
        return request

    def build(self, request: turntape.ModelRequest, **options: Any) -> str:
        """Build the request.

        Raises:
            TurntapeError: It cannot be sent so.
        """
        built = turntape.build_request(request, self._target, **options)
        for note in built.notes:
            self._note(note, self._place(note.index))
        return built.to_json().decode()

    def explain(self, label: str, error: turntape.TurntapeError) -> None:
        """Say why it does not work: a line for the error, and one for each fault of a pairing."""
        if isinstance(error, turntape.PairingError):
            for fault in error.faults:
                place = self._place(fault.index)
                repair = f"--repair would {fault.repair}"
                self._line("fault", f"{fault.kind} of {clean(fault.id)!r}; {repair}", place)
            complain(self._remarks, f"{label}: calls and results do not pair", _advice(error))
            return
        shown = clean(str(error))
        complain(self._remarks, f"{label}: {type(error).__name__}: {shown}", _advice(error))

    def _place(self, index: int | None) -> int | None:
        """Where a message that was read stands in the file."""
        if index is None or index >= len(self._places):
            return None
        return self._places[index]

    def _note(self, note: turntape.ReplayNote, place: int | None) -> None:
        self._line(note.code, clean(note.detail), place)

    def _line(self, code: str, detail: str, place: int | None) -> None:
        where = "" if place is None else f" at message {place}"
        self._remarks.line((code, "yellow"), f"{where}: {detail}")
        self._remarks.flush()


def _advice(error: turntape.TurntapeError) -> str:
    text = str(error)
    if isinstance(error, turntape.UnknownDialect):
        return "say whose it is: --from anthropic, --from openai-chat, ..."
    if "model=" in text:
        return "name the model that is to get it: --model"
    if "max_tokens" in text:
        return "give a limit: --max-tokens"
    if "repair=" in text or isinstance(error, turntape.PairingError):
        return "let it be mended: --repair"
    return ""


def _indented(raw: Raw, margin: str = "") -> str:
    """Write JSON for reading: names, strings and numbers stay as they are written."""
    inner = margin + "  "
    if raw.is_object:
        lines = [
            f'{inner}"{literal}": {_indented(Raw(value), inner)}'
            for literal, value in raw.all_pairs()
        ]
        return "{\n" + ",\n".join(lines) + f"\n{margin}}}" if lines else "{}"
    if raw.is_list:
        lines = [inner + _indented(element, inner) for element in raw.elements()]
        return "[\n" + ",\n".join(lines) + f"\n{margin}]" if lines else "[]"
    return raw.text


def _write(remarks: Output, out: Path | None, body: str) -> None:
    """Write the body and a line feed, as it is: it is data, not text for people."""
    data = f"{body}\n".encode()
    if out is None:
        sys.stdout.flush()
        buffer = getattr(sys.stdout, "buffer", None)
        if buffer is None:
            sys.stdout.write(data.decode())
        else:
            buffer.write(data)
            buffer.flush()
        return
    try:
        out.write_bytes(data)
    except OSError as error:
        complain(remarks, f"{clean(str(out))}: cannot be written: {error.strerror or error}")
        raise typer.Exit(1) from None
