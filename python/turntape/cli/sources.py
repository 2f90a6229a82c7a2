"""Where bytes come from: files and standard input, read as they arrive."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Generator, Iterator
from itertools import chain
from pathlib import Path
from typing import Protocol, cast

import turntape

__all__ = ["STANDARD_INPUT", "ReadError", "Source", "detect", "open_source"]

STANDARD_INPUT = "-"

_READ_SIZE = 64 * 1024
_LARGEST_READ = 16 * 1024 * 1024

# Looking for the dialect reads everything so far from its start. Up to the first size that happens with
# every piece, up to the second with every line, then each time an eighth more has come: prompt where
# the input is short, linear where it is long. Past the last size there is no telling.
_EVERY_PIECE = 4 * 1024
_EVERY_LINE = 64 * 1024
_GROWTH = 8
_NO_TELLING = 16 * 1024 * 1024


class ReadError(Exception):
    """An input cannot be opened or read. Its text is the reason in the system's words."""


class _Readable(Protocol):
    def read1(self, size: int, /) -> bytes: ...


class Source:
    """An input that is open.

    Attributes:
        live: Whether it may still be written, so that what it gives is shown at once.
    """

    def __init__(self, stream: _Readable, *, live: bool) -> None:
        """Read from ``stream``."""
        self._stream = stream
        self.live = live

    def pieces(self, size: int | None) -> Iterator[bytes]:
        """Read at most ``size`` bytes at a time, as soon as any are there.

        Raises:
            ReadError: The system refused.
        """
        size = _READ_SIZE if size is None else min(size, _LARGEST_READ)
        while True:
            try:
                piece = self._stream.read1(size)
            except OSError as error:
                raise ReadError(error.strerror or str(error)) from error
            if not piece:
                return
            yield piece


@contextlib.contextmanager
def open_source(name: str) -> Generator[Source]:
    """Open a file, or standard input for ``-``.

    Raises:
        ReadError: It cannot be opened.
    """
    if name == STANDARD_INPUT:
        # Python sets it to None where the process was started without one.
        if cast("object", sys.stdin) is None:
            raise ReadError("it is closed")
        yield Source(cast("_Readable", sys.stdin.buffer), live=True)
        return
    try:
        stream = Path(name).open("rb")  # noqa: SIM115 (closed below; only its opening is guarded)
    except OSError as error:
        raise ReadError(error.strerror or str(error)) from error
    with stream:
        regular = stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
        yield Source(stream, live=not regular)


def detect(pieces: Iterator[bytes]) -> tuple[turntape.Dialect, Iterator[bytes]]:
    """Tell the dialect from as little of the input as does.

    Returns:
        The dialect and all pieces, those read for the detection included.

    Raises:
        UnknownDialect: The input ended, or went on for long, and nothing in it told.
    """
    head = bytearray()
    read: list[bytes] = []
    looked_at = 0
    for piece in pieces:
        head += piece
        read.append(piece)
        size = len(head)
        if (
            size <= _EVERY_PIECE
            or (size <= _EVERY_LINE and piece.endswith((b"\n", b"\r")))
            or size - looked_at >= size // _GROWTH
        ):
            looked_at = size
            with contextlib.suppress(turntape.UnknownDialect):
                return turntape.detect_dialect(head), chain(read, pieces)
        if size > _NO_TELLING:
            break
    if not head:
        raise turntape.UnknownDialect("the input is empty")
    return turntape.detect_dialect(head), chain(read, pieces)
