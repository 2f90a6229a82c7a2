"""``turntape artifacts``: list, read and prune what lies below an artifact root."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, NoReturn

import typer

import turntape
from turntape.cli.ending import guarded
from turntape.cli.offload import parse_size, refuse
from turntape.cli.output import Output, clean
from turntape.cli.sources import ReadError, open_source

__all__ = ["app", "parse_age"]

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Work with artifacts: results that were too large for a conversation, in files below one root.",
)

_EXIT_STATUS = """
\b
[bold]Exit status[/bold]
  0    done
  1    the root or an artifact cannot be read, or something could not be removed
  2    the command line is wrong
"""

_LS_HELP = f"""\
List the artifacts below a root: size, when it was written, path.

A star marks those under a name that turntape gives by itself, which [bold]prune[/bold] may remove. Links \
are not followed.
{_EXIT_STATUS}"""

_READ_HELP = f"""\
Print an artifact, or a range of it. No character is cut.

\b
[bold]Examples[/bold]
  turntape artifacts read --root run outputs/scout/t1-result.md
  turntape artifacts read --root run outputs/scout/t1-result.md --offset 65536
  turntape artifacts read --root run outputs/scout/t1-result.md --all > whole.md
{_EXIT_STATUS}"""

_PRUNE_HELP = f"""\
Remove artifacts, the oldest first, until the rest is small and young enough.

Only files under names that turntape gives by itself are removed ([bold]outputs/AGENT/TASK-result.md[/bold] \
and such), never what [bold]--keep[/bold] names. Temporary files of processes that died go too.

\b
[bold]Examples[/bold]
  turntape artifacts prune --root run --max-bytes 1G --dry-run
  turntape artifacts prune --root run --max-age 7d --keep-from history.jsonl
{_EXIT_STATUS}"""

_AGE = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw]?)", re.ASCII)
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}

Root = Annotated[
    Path,
    typer.Option("--root", "-r", metavar="DIR", help="The artifact root.", show_default=False),
]


def parse_age(text: str) -> timedelta:
    """Read a span of time, such as ``90s``, ``12h`` or ``7d``; seconds without a unit.

    Raises:
        typer.BadParameter: It is none.

    >>> parse_age("12h").total_seconds()
    43200.0
    """
    match = _AGE.fullmatch(text.strip())
    try:
        if match is not None:
            return timedelta(seconds=float(match[1]) * _SECONDS[match[2]])
    except OverflowError:
        pass
    raise typer.BadParameter(f"{clean(text)!r} is no span of time: write 90s, 30m, 12h, 7d or 2w")


@app.command("ls", help=_LS_HELP, no_args_is_help=True)
def ls(root: Root) -> None:
    """List artifacts."""
    with guarded():
        output, remarks = Output(sys.stdout), Output(sys.stderr)
        try:
            listed = turntape.list_artifacts(root)
        except turntape.OffloadError as error:
            _fail(remarks, error)
        for artifact in listed:
            written = datetime.fromtimestamp(artifact.modified, UTC)
            output.line(
                f"{artifact.stored_bytes:>13,}  {written:%Y-%m-%d %H:%M:%S}Z ",
                ("*", "green") if artifact.default_name else " ",
                f" {clean(artifact.relative_path)}",
            )
        total = sum(artifact.stored_bytes for artifact in listed)
        output.line(f"{total:>13,}  bytes in {_count(len(listed))}")


@app.command("read", help=_READ_HELP, no_args_is_help=True)
def read(
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="What the pointer says.", show_default=False)
    ],
    root: Root,
    offset: Annotated[
        int, typer.Option(metavar="N", min=0, help="The first byte, counted from 0.")
    ] = 0,
    limit: Annotated[
        int,
        typer.Option(metavar="SIZE", parser=parse_size, help="How much at most, such as 64K."),
    ] = 65536,
    everything: Annotated[bool, typer.Option("--all", "-a", help="Go on to the end.")] = False,
) -> None:
    """Print an artifact."""
    with guarded():
        output, remarks = Output(sys.stdout), Output(sys.stderr)
        if limit == 0:
            refuse(remarks, "--limit: at least one byte is read")
        writer = turntape.ArtifactWriter(root, agent_id="shell", task_id="read")
        while True:
            try:
                chunk = writer.read(path, offset, limit)
            except turntape.OffloadError as error:
                output.flush()
                _fail(remarks, error)
            output.raw(clean(chunk.text, lines=True) if output.styled else chunk.text)
            if chunk.at_end or not everything:
                break
            offset = chunk.next_offset
        output.flush()
        if not chunk.at_end:
            told = f"{chunk.next_offset:,} of {chunk.total_bytes:,} bytes"
            remarks.line(f"turntape: {told}; read on with --offset {chunk.next_offset}")


@app.command("prune", help=_PRUNE_HELP, no_args_is_help=True)
def prune(
    root: Root,
    max_bytes: Annotated[
        int | None,
        typer.Option(
            metavar="SIZE",
            parser=parse_size,
            help="How much may stay, such as 500M or 1G.",
            show_default=False,
        ),
    ] = None,
    max_age: Annotated[
        timedelta | None,
        typer.Option(
            metavar="AGE",
            parser=parse_age,
            help="What is older goes, such as 12h or 7d.",
            show_default=False,
        ),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH", help="What stays; may be repeated.", show_default=False),
    ] = None,
    keep_from: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="What the pointers in this history name stays too: a text, or lines of JSON. "
            "May be repeated.",
            show_default=False,
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", "-n", help="Remove nothing, only say what would go.")
    ] = False,
) -> None:
    """Remove artifacts."""
    with guarded():
        output, remarks = Output(sys.stdout), Output(sys.stderr)
        if max_bytes is None and max_age is None:
            refuse(remarks, "a limit is needed: --max-bytes, --max-age or both")
        kept = [*(keep or ())]
        for file in keep_from or ():
            kept += _pointers_in(remarks, file)
        try:
            report = turntape.prune(root, max_bytes, max_age, keep=kept, dry_run=dry_run)
        except turntape.OffloadError as error:
            _fail(remarks, error)
        for artifact in report.removed:
            path = clean(artifact.relative_path)
            output.line(
                f"{artifact.stored_bytes:>13,}  ",
                ("would go" if dry_run else "removed", "yellow"),
                f"  {path}",
            )
        for path in report.failed:
            remarks.line(("turntape: ", "bold red"), f"{clean(path)}: could not be removed")
        swept = f"; {report.swept:,} temporary files" if report.swept else ""
        output.line(
            f"{report.freed_bytes:>13,}  bytes of {_count(len(report.removed))} "
            f"{'would go' if dry_run else 'removed'}{swept}; {report.kept_bytes:,} bytes of "
            f"{_count(report.kept)} stay"
        )
    raise typer.Exit(1 if report.failed else 0)


def _count(number: int) -> str:
    return f"{number:,} artifact{'' if number == 1 else 's'}"


def _pointers_in(remarks: Output, file: str) -> list[str]:
    """Find the pointers of a history, in texts and in strings of JSON lines.

    A history that cannot be read ends the command: its artifacts would be lost.
    """
    try:
        with open_source(file) as source:
            data = b"".join(source.pieces(None))
    except ReadError as error:
        refuse(remarks, f"{clean(file)}: cannot be read: {error}")
    text = data.decode(errors="replace")
    paths = turntape.extract_artifact_paths(text)
    for line in text.split("\n"):
        try:
            value: object = json.loads(line)
        except (ValueError, RecursionError):
            continue
        for string in _strings(value):
            paths += turntape.extract_artifact_paths(string)
    return paths


def _strings(value: object) -> Iterator[str]:
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, list):
            waiting += each
        elif isinstance(each, dict):
            waiting += each.values()


def _fail(remarks: Output, error: turntape.OffloadError) -> NoReturn:
    remarks.line(("turntape: ", "bold red"), f"{type(error).__name__}: {clean(str(error))}")
    remarks.flush()
    raise typer.Exit(1)
