"""``turntape offload``: put what is too large for a conversation into a file, and print the pointer."""

from __future__ import annotations

import logging
import re
import sys
from pathlib import Path
from typing import Annotated, NoReturn, Self

import typer

import turntape
from turntape.cli.ending import guarded
from turntape.cli.output import Output, clean
from turntape.cli.sources import STANDARD_INPUT, ReadError, open_source
from turntape.cli.sweep import sweep_in_place, sweep_to_output

__all__ = ["HELP", "Reasons", "offload", "parse_size", "refuse"]

HELP = """\
Put a text that is too large for a conversation into a file below an artifact root, and print what stands \
for it: where the file is, how it is read, and its beginning.

Secrets are taken out first, by turntape's own rules, unless [bold]--no-redact[/bold] is given. A text that \
is small enough comes out as it is.

\b
[bold]Examples[/bold]
  turntape offload --root run result.txt
  some-command | turntape offload --root run --agent scout --task t1 -
  turntape offload --root run --threshold 32K --read-tool peruse log.txt
  turntape artifacts read --root run outputs/scout/t1-result.md
  turntape offload --root run --transcript history.jsonl > shorter.jsonl

\b
[bold]Exit status[/bold]
  0    the pointer was printed, or the text, because it may stay
  1    the text could not be offloaded, and was printed; or it cannot be read
  2    the command line is wrong, and nothing was written
  130  interrupted with Ctrl-C
  141  nobody reads the output any more
"""

_USAGE = 2

_SIZE = re.compile(r"(\d+)\s*([kKmMgG]?)(?:i?[bB])?", re.ASCII)
_UNITS = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3}


def parse_size(text: str | int) -> int:
    """Read a number of bytes, such as ``8192``, ``64K`` or ``1G``.

    Raises:
        typer.BadParameter: It is none.

    >>> parse_size("64K")
    65536
    """
    if isinstance(text, int):
        return text  # a default, which typer hands over as well
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise typer.BadParameter(f"{clean(text)!r} is no size: write 8192, 64K, 10M or 1G")
    return int(match[1]) * _UNITS[match[2].lower()]


class Reasons(logging.Handler):
    """Collects why something was not offloaded.

    Attributes:
        reasons: What the log said of failures.
        held_back: What it said of results that stay for a reason of their own.
    """

    def __init__(self) -> None:
        """Collect nothing yet."""
        super().__init__(logging.WARNING)
        self.reasons: list[str] = []
        self.held_back: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Take a record."""
        held_back = hasattr(record, "artifact_held_back")
        (self.held_back if held_back else self.reasons).append(record.getMessage())

    def __enter__(self) -> Self:
        logger = logging.getLogger("turntape.artifacts")
        logger.addHandler(self)
        logger.propagate = False
        return self

    def __exit__(self, *_: object) -> None:
        logger = logging.getLogger("turntape.artifacts")
        logger.removeHandler(self)
        logger.propagate = True


def offload(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A text; [bold]-[/bold] reads standard input.",
            show_default=False,
        ),
    ],
    root: Annotated[
        Path,
        typer.Option(
            "--root",
            "-r",
            metavar="DIR",
            help="The artifact root; made where it is missing.",
            show_default=False,
        ),
    ],
    threshold: Annotated[
        int,
        typer.Option(
            "--threshold",
            metavar="SIZE",
            parser=parse_size,
            help="The largest text that stays, such as 8192 or 32K; 0 offloads nothing.",
        ),
    ] = turntape.DEFAULT_OFFLOAD_THRESHOLD_BYTES,
    read_tool: Annotated[
        str,
        typer.Option(
            "--read-tool",
            metavar="NAME",
            help="The tool of yours that reads artifacts; the pointer names it.",
        ),
    ] = "read_artifact",
    agent: Annotated[
        str, typer.Option(metavar="ID", help="Whose result it is: the file's folder.")
    ] = "shell",
    task: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="Which result it is; the name of FILE if left out.",
            show_default=False,
        ),
    ] = None,
    kind: Annotated[
        turntape.ArtifactKind, typer.Option(help="In which folder the file goes.")
    ] = turntape.ArtifactKind.OUTPUT,
    redact: Annotated[
        bool, typer.Option("--redact/--no-redact", help="Whether secrets are taken out first.")
    ] = True,
    transcript: Annotated[
        bool,
        typer.Option(
            "--transcript",
            "-t",
            help="FILE is a transcript of JSON lines: move the large results in it, and print it.",
        ),
    ] = False,
    in_place: Annotated[
        bool,
        typer.Option("--in-place", help="With --transcript: replace FILE, and print nothing."),
    ] = False,
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            help="With --transcript: move results that were sent too, whatever signed thinking "
            "follows them.",
        ),
    ] = False,
) -> None:
    """Offload one text; the help text stands in ``HELP``, where it can hold line breaks."""
    with guarded():
        remarks, output = Output(sys.stderr), Output(sys.stdout)
        if (in_place or force) and not transcript:
            refuse(remarks, "--in-place and --force are of --transcript")
        writer = turntape.ArtifactWriter(
            root,
            redactor=turntape.SecretRedactor() if redact else None,
            agent_id=agent,
            task_id=_task(file) if task is None else task,
        )
        if transcript:
            _sweep(
                remarks, file, writer, threshold, read_tool, kind, in_place=in_place, force=force
            )
        text = _read(remarks, file)
        with Reasons() as log:
            try:
                result, artifact = turntape.offload_oversized_result(
                    text, writer, threshold, read_tool, kind=kind
                )
            except ValueError as error:
                refuse(remarks, f"--read-tool: {clean(str(error))}")
        _print(output, result)
        output.flush()
        if artifact is None:
            for reason in log.reasons or [_why_it_stays(text, threshold)]:
                remarks.line(("turntape: ", "bold red"), clean(reason))
        raise typer.Exit(1 if log.reasons else 0)


def _sweep(
    remarks: Output,
    file: str,
    writer: turntape.ArtifactWriter,
    threshold: int,
    read_tool: str,
    kind: turntape.ArtifactKind,
    *,
    in_place: bool,
    force: bool,
) -> NoReturn:
    def sweep(
        rows: list[turntape.TranscriptMessage],
    ) -> tuple[list[turntape.TranscriptMessage], list[turntape.OffloadedArtifact]]:
        return turntape.offload_transcript(
            rows, writer, threshold, read_tool, kind=kind, force=force
        )

    name = "standard input" if file == STANDARD_INPUT else clean(file)
    with Reasons() as log:
        try:
            (sweep_in_place if in_place else sweep_to_output)(remarks, file, sweep)
        except ReadError as error:
            refuse(remarks, f"{name}: cannot be swept: {clean(str(error))}")
        except ValueError as error:
            refuse(remarks, f"--read-tool: {clean(str(error))}")
    for reason in (*log.held_back, *log.reasons):
        remarks.line(("turntape: ", "bold red"), clean(reason))
    raise typer.Exit(1 if log.reasons else 0)


def _task(file: str) -> str:
    return "stdin" if file == STANDARD_INPUT else Path(file).stem


def _read(remarks: Output, file: str) -> str:
    name = "standard input" if file == STANDARD_INPUT else clean(file)
    if file != STANDARD_INPUT and not Path(file).exists():
        refuse(remarks, f"{name}: there is no such file")
    try:
        with open_source(file) as source:
            data = b"".join(source.pieces(None))
    except ReadError as error:
        remarks.line(("turntape: ", "bold red"), f"{name}: cannot be read: {error}")
        raise typer.Exit(1) from None
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        where = f"{name}: no UTF-8 from byte {error.start:,} on"
        remarks.line(("turntape: ", "bold red"), f"{where}; such bytes are stored as U+FFFD")
        return data.decode(errors="replace")


def _why_it_stays(text: str, threshold: int) -> str:
    size = len(text.encode())
    if turntape.should_offload(size, threshold):
        return "the text stays: its pointer would be no smaller"
    if threshold == 0:
        return "the text stays: a threshold of 0 offloads nothing"
    return f"the text stays: {size:,} bytes are within the threshold of {threshold:,}"


def _print(output: Output, text: str) -> None:
    if output.styled:
        text = clean(text, lines=True)
    output.raw(text if text.endswith("\n") else f"{text}\n")


def refuse(remarks: Output, message: str) -> NoReturn:
    """End with a usage error.

    Raises:
        typer.Exit: Always.
    """
    remarks.line(("turntape: ", "bold red"), message)
    remarks.flush()
    raise typer.Exit(_USAGE)
