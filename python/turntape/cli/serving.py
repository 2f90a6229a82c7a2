"""The server of ``turntape serve``: its turns, its log and its run. It needs the extra ``serve``."""

from __future__ import annotations

import contextlib
import logging
import sys
import time
from collections.abc import Generator, Iterable
from pathlib import Path

import typer

import turntape
from turntape.cli.complaints import complain, refuse
from turntape.cli.output import Output, clean
from turntape.serving.application import Application
from turntape.serving.arrivals import RequestFile
from turntape.serving.library import Choice, TurnLibrary
from turntape.serving.loading import load
from turntape.serving.playback import Playback
from turntape.serving.server import Server, is_loopback, listen
from turntape.serving.turns import Turn

__all__ = ["log_lines", "run_server", "turns_of"]

# How long answers that are being sent have when the server is stopped.
_GRACE_SECONDS = 3.0

_STYLES = {logging.WARNING: "yellow", logging.ERROR: "bold red"}


class _LogLines(logging.Handler):
    """Writes what the server logs, a line each, with the time."""

    def __init__(self, remarks: Output) -> None:
        super().__init__()
        self._remarks = remarks

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line."""
        at = time.strftime("%H:%M:%S", time.localtime(record.created))
        text = clean(self.format(record))
        self._remarks.line((f"{at} ", "dim"), (text, _STYLES.get(record.levelno, "")))
        self._remarks.flush()


@contextlib.contextmanager
def log_lines(remarks: Output) -> Generator[None]:
    """Write what the server logs."""
    logger = logging.getLogger("turntape.serving")
    handler = _LogLines(remarks)
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


def turns_of(
    remarks: Output, paths: Iterable[Path], dialect: turntape.Dialect | None
) -> list[Turn]:
    """Load the turns.

    Raises:
        typer.Exit: A file is no recording, or there is no turn.
    """
    try:
        turns = list(load(paths, dialect))
    except turntape.UnreadableRecording as error:
        complain(remarks, clean(str(error)))
        raise typer.Exit(1) from None
    if not turns:
        complain(remarks, "there is no recorded turn to serve")
        raise typer.Exit(1)
    return turns


def run_server(
    remarks: Output,
    turns: list[Turn],
    playback: Playback,
    *,
    choice: Choice,
    loop: bool,
    dialect: turntape.Dialect | None,
    record: Path | None,
    address: tuple[str, int],
    allow_remote: bool,
) -> None:
    """Serve until a signal stops it.

    Raises:
        typer.Exit: The address or the file of requests cannot be had.
    """
    host, port = address
    if not is_loopback(host):
        if not allow_remote:
            refuse(
                remarks,
                f"{clean(host)} is reached from other machines, and nothing asks them for a key: "
                "--allow-remote says that this is meant",
            )
        remarks.line(("warning: ", "bold yellow"), "other machines can connect, without any key")
    with contextlib.ExitStack() as stack:
        requests = None if record is None else _request_file(remarks, record, stack)
        application = Application(
            TurnLibrary(turns, choice=choice, loop=loop),
            playback=playback,
            record=None if requests is None else requests.write,
            dialect=dialect,
        )
        try:
            bound = stack.enter_context(listen(host, port))
        except OSError as error:
            where = f"{clean(host)}, port {port}"
            complain(remarks, f"cannot listen at {where}: {error.strerror or error}")
            raise typer.Exit(1) from None
        server = Server(application, bound, grace=_GRACE_SECONDS)
        # Programs that start this read where it is; the rest is for people.
        sys.stdout.write(f"{server.url}\n")
        sys.stdout.flush()
        remarks.line(f"serving {len(turns):,} turns; Ctrl-C stops")
        remarks.flush()
        server.run_until_stopped()
        remarks.line("stopped")


def _request_file(remarks: Output, path: Path, stack: contextlib.ExitStack) -> RequestFile:
    try:
        return stack.enter_context(contextlib.closing(RequestFile(path)))
    except OSError as error:
        complain(remarks, f"{clean(str(path))}: cannot be written: {error.strerror or error}")
        raise typer.Exit(1) from None
