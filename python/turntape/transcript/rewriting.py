"""Replacing a whole tape: written beside it, brought to the disk, and put in its place by one rename."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from turntape._native import sync_folder
from turntape.transcript.entries import TapeFault, TapeOpaque, read_tape

if sys.platform == "darwin":
    import fcntl

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

__all__ = ["Replacement", "RewriteReport"]

_PIECE = 1024 * 1024
_BUFFER = 256 * 1024


@dataclass(frozen=True, slots=True)
class RewriteReport:
    """What a rewrite did.

    Attributes:
        rows: How many rows the tape has now.
        opaque: How many lines of other versions it kept.
        rejected: How many lines went to the ``.rejected`` file.
    """

    rows: int
    opaque: int
    rejected: int


class Replacement:
    """A new tape that is being written; whoever makes it holds the lock.

    Used in a ``with`` statement, at whose end everything that was not put in place is taken back.
    """

    def __init__(self, path: str, rejected_path: str, max_line_bytes: int) -> None:
        """Name the tape and the file for lines that are no rows."""
        self._path = path
        # One name, because who holds the lock is alone; what a killed process left is overwritten.
        self._new_path = f"{path}.new"
        self._rejected_path = rejected_path
        self._max_line_bytes = max_line_bytes
        self._rejected: BinaryIO | None = None
        self._rejected_length = 0
        self._new_rejected_file = False
        self._given: set[int] = set()
        self._counts = {"rows": 0, "opaque": 0, "rejected": 0}
        self._placed = False

    def __enter__(self) -> Self:
        """Open the new file."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._new_path)  # noqa: PTH108 (paths are texts here)
        descriptor = os.open(
            self._new_path,
            os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0),
            0o600,
        )
        self._new = open(descriptor, "wb", buffering=_BUFFER)  # noqa: PTH123 (closed at the end)
        try:
            self._old: BinaryIO | None = open(self._path, "rb")  # noqa: PTH123
            self._take_over_mode()
        except FileNotFoundError:
            self._old = None
        return self

    def _take_over_mode(self) -> None:
        """Give the new file the mode and, where that is allowed, the owner of the old one."""
        if self._old is None or not hasattr(os, "fchmod"):
            return
        old = os.fstat(self._old.fileno())
        if (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
            with contextlib.suppress(OSError):
                os.fchown(self._new.fileno(), old.st_uid, old.st_gid)
        os.fchmod(self._new.fileno(), stat.S_IMODE(old.st_mode))

    def add(self, line: bytes) -> None:
        """Write a row's line."""
        self._counts["rows"] += 1
        self._new.write(line)
        self._new.write(b"\n")

    def keep(self, entry: TapeOpaque) -> None:
        """Write a line as it was."""
        self._counts["opaque"] += 1
        self._given.add(entry.start)
        self._new.write(entry.raw)
        self._new.write(b"\n")

    def reject(self, entry: TapeFault | TapeOpaque) -> None:
        """Copy a line of the old tape to the ``.rejected`` file."""
        self._given.add(entry.start)
        self._counts["rejected"] += 1
        if self._old is None:
            return
        if self._rejected is None:
            self._open_rejected()
        rejected = self._rejected
        assert rejected is not None  # noqa: S101 (it was just opened)
        self._old.seek(entry.start)
        left = entry.end - entry.start
        while left > 0 and (piece := self._old.read(min(left, _PIECE))):
            rejected.write(piece)
            left -= len(piece)
        rejected.write(b"\n")

    def _open_rejected(self) -> None:
        self._new_rejected_file = not os.path.exists(self._rejected_path)  # noqa: PTH110
        descriptor = os.open(
            self._rejected_path,
            os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0),
            0o600,
        )
        self._rejected = open(descriptor, "ab", buffering=_BUFFER)  # noqa: PTH123, SIM115 (closed at the end)
        self._rejected_length = os.fstat(descriptor).st_size

    def reject_the_rest(self) -> None:
        """Reject what the old tape has beside rows and was not handed over: never to nothing."""
        if self._old is None:
            return
        given = frozenset(self._given)
        with open(self._path, "rb", buffering=0) as old:  # noqa: PTH123
            for entry in read_tape(old, max_line_bytes=self._max_line_bytes):
                if isinstance(entry, TapeFault | TapeOpaque) and entry.start not in given:
                    self.reject(entry)

    def put_in_place(self) -> RewriteReport:
        """Bring everything to the disk and rename the new tape over the old one."""
        if self._rejected is not None:
            self._rejected.flush()
            _sync(self._rejected)
            if self._new_rejected_file:
                sync_folder(self._rejected_path)
        self._new.flush()
        _sync(self._new)
        self._new.close()
        if self._old is not None:
            # Windows replaces no file that is open.
            self._old.close()
        os.replace(self._new_path, self._path)  # noqa: PTH105 (paths are texts here)
        self._placed = True
        return RewriteReport(**self._counts)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the files, and take back what was not put in place."""
        # What is buffered for a full disk fails once more when it is closed.
        with contextlib.suppress(OSError):
            self._new.close()
        if self._old is not None:
            self._old.close()
        if self._rejected is not None:
            with contextlib.suppress(OSError):
                self._rejected.close()
            if not self._placed:
                with contextlib.suppress(OSError):
                    os.truncate(self._rejected_path, self._rejected_length)
        if not self._placed:
            with contextlib.suppress(OSError):
                os.unlink(self._new_path)  # noqa: PTH108


def _sync(file: BinaryIO) -> None:
    if sys.platform == "darwin":
        # There fsync leaves the data in the disk's own cache. Some file systems have nothing more.
        with contextlib.suppress(OSError):
            fcntl.fcntl(file.fileno(), fcntl.F_FULLFSYNC)
            return
    os.fsync(file.fileno())
