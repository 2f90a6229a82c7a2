"""Files that commands read line by line and write anew, and how far they have got."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import BinaryIO

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from turntape.cli.complaints import refuse
from turntape.cli.output import Output, clean
from turntape.cli.sources import STANDARD_INPUT, Source, open_source

__all__ = ["Bar", "InputFile", "label_of", "open_input", "open_new", "progress", "size_of"]

# From this size on a bar is worth its place on the screen.
_BAR_FROM = 8 * 1024 * 1024


def label_of(file: str) -> str:
    """What an input is called in a remark."""
    return "standard input" if file == STANDARD_INPUT else clean(file)


def size_of(remarks: Output, file: str) -> int:
    """Give the size of a file that is one; end with a usage error where there is none."""
    if file == STANDARD_INPUT:
        return 0
    path = Path(file)
    try:
        if path.is_dir():
            refuse(remarks, f"{clean(file)} is a folder: name a file of JSON lines")
        return path.stat().st_size
    except FileNotFoundError:
        refuse(remarks, f"{clean(file)}: there is no such file")
    except OSError as error:
        refuse(remarks, f"{clean(file)}: cannot be read: {error.strerror or error}")


def open_new(
    remarks: Output, path: Path, stack: contextlib.ExitStack, option: str, *, private: bool = False
) -> BinaryIO:
    """Make a new file; one that is there already stays as it is, and half of one does not stay.

    Args:
        remarks: Where it is said what is wrong.
        path: The file.
        stack: Closes it, and removes it where the command fails.
        option: The option that names it.
        private: Whether its owner alone may read it.
    """
    shown = clean(str(path))
    mode = 0o600 if private else 0o666
    try:
        new = open(  # noqa: SIM115 (a path takes no opener; the stack closes it)
            path, "xb", opener=lambda name, flags: os.open(name, flags, mode)
        )
        stack.enter_context(_whole(path))
        return stack.enter_context(new)
    except FileExistsError:
        refuse(remarks, f"{shown} is there already: {option} writes a new file")
    except OSError as error:
        refuse(remarks, f"{shown}: cannot be written: {error.strerror or error}")


@contextlib.contextmanager
def _whole(path: Path) -> Generator[None]:
    """Remove a file that did not become whole: half of a history is none."""
    try:
        yield
    except BaseException:
        path.unlink(missing_ok=True)
        raise


class Bar:
    """How far a large file was read; nothing where no terminal shows it."""

    def __init__(
        self, shown: Progress | None = None, size: int = 0, *, shared: bool = False
    ) -> None:
        """Show it in ``shown``, on the screen of the output where that is ``shared``."""
        self._progress = shown
        self._shared = shared
        self._task = None if shown is None else shown.add_task("", total=size)

    def advance(self, count: int) -> None:
        """So many bytes more were read."""
        if self._progress is not None and self._task is not None:
            self._progress.advance(self._task, count)

    @contextlib.contextmanager
    def hidden(self) -> Generator[None]:
        """Out of the way of what is written to the same screen."""
        if self._progress is None or not self._shared:
            yield
            return
        self._progress.stop()
        try:
            yield
        finally:
            self._progress.start()


@contextlib.contextmanager
def progress(size: int, output: Output, doing: str) -> Generator[Bar]:
    """Show how far a large file was read, on a terminal.

    Args:
        size: The file's size in bytes, 0 where nobody knows.
        output: Where the command writes.
        doing: What the command does with it, in a word.
    """
    console = Console(file=sys.stderr)
    if size < _BAR_FROM or not console.is_terminal:
        yield Bar()
        return
    columns = (TextColumn(doing), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as shown:
        yield Bar(shown, size, shared=output.styled)


class InputFile:
    """An input as a file that is read in pieces, with a bar that follows."""

    def __init__(self, source: Source, bar: Bar) -> None:
        """Read from ``source``."""
        self._pieces: Iterator[bytes] = source.pieces(None)
        self._bar = bar

    def read(self, _size: int = -1, /) -> bytes:
        """Give the next piece; empty at the end.

        Raises:
            ReadError: The system refused.
        """
        piece = next(self._pieces, b"")
        self._bar.advance(len(piece))
        return piece


@contextlib.contextmanager
def open_input(
    file: str, size: int, output: Output, doing: str
) -> Generator[tuple[InputFile, Bar]]:
    """Open an input, with a bar where it is large; see ``progress``.

    Raises:
        ReadError: It cannot be opened.
    """
    with open_source(file) as source, progress(size, output, doing) as bar:
        yield InputFile(source, bar), bar
