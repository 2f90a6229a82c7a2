"""The files of a tape, and holding them against other threads and other processes."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NoReturn

from turntape._native import TapeFile, sync_folder
from turntape.errors import StoreLocked
from turntape.transcript.locking import give_back, take, turn_of

if TYPE_CHECKING:
    from collections.abc import Generator

__all__ = ["TapeFiles"]


class TapeFiles:
    """The tape, its lock and its rejected lines: what a store stands on.

    Attributes:
        path: The tape, absolute, with links resolved.

    Args:
        path: The tape.
        timeout: How many seconds are waited for other writers; None for ever.

    Raises:
        ValueError: The timeout is no such number.
    """

    def __init__(self, path: str | os.PathLike[str], timeout: float | None) -> None:
        """Name the files; nothing is opened or made yet."""
        if timeout is not None and not timeout >= 0:
            raise ValueError("timeout is a number of seconds, or None")
        self.path = os.path.realpath(path)
        self._timeout = timeout
        self._has_folder = False
        # The thread that rewrites the tape, and so has both locks.
        self._rewriter: int | None = None
        self._opened_identity: tuple[int, int] | None = None
        self._open_files()

    @property
    def lock_path(self) -> str:
        """The lock file beside the tape."""
        return f"{self.path}.lock"

    @property
    def rejected_path(self) -> str:
        """Where ``rewrite`` and ``compact`` put lines that are no rows."""
        return f"{self.path}.rejected"

    def _open_files(self) -> None:
        self._turn = turn_of(self.path)
        self._file = TapeFile(self.path, self.lock_path)
        self._opened_identity = None

    def _wait(self) -> float | None:
        """Wait for the other threads of this process; give the seconds that are left for other processes."""
        timeout = self._timeout
        if timeout is None:
            self._turn.lock.acquire()
            return None
        started = time.monotonic()
        if not self._turn.lock.acquire(timeout=timeout):
            self._say_locked()
        return max(0.0, timeout - (time.monotonic() - started))

    def _say_locked(self) -> NoReturn:
        raise StoreLocked(
            f"{self.path}: others held it for {self._timeout} s, and nothing was written",
            path=self.path,
        )

    @contextlib.contextmanager
    def _both_locks(self) -> Generator[None]:
        """Hold both locks, unless this thread has them."""
        if self._rewriter == threading.get_ident():
            yield
            return
        self._make_folder()
        try:
            if not take(self._turn, self._file, self._timeout):
                self._say_locked()
            yield
        finally:
            give_back(self._turn, self._file)

    def _look_at_path(self, timeout: float | None) -> bool:
        """Take the lock between processes, and close the file if the path leads elsewhere by now.

        Where the extension cannot compare device and inode, Python can.
        """
        if not self._file.acquire(timeout):
            return False
        try:
            there = self._look()[0]
            if there != self._opened_identity:
                self._file.forget()
                self._file.open()
                self._opened_identity = self._look()[0]
        except BaseException:
            self._file.release()
            raise
        return True

    def _open_whole(self) -> tuple[BinaryIO, tuple[int, int], int] | None:
        """Open the tape between two writes of others: the file, its identity and its length."""
        if not Path(self.path).exists():
            return None
        with contextlib.ExitStack() as stack:
            # Where no lock file may be made, nobody who respects it writes either.
            with contextlib.suppress(OSError):
                stack.enter_context(self._both_locks())
            file = open(self.path, "rb", buffering=0)  # noqa: PTH123, SIM115 (the caller closes it)
            status = os.fstat(file.fileno())
            return file, (status.st_dev, status.st_ino), status.st_size

    def _look(self) -> tuple[tuple[int, int] | None, int]:
        """Identity and length of what the path leads to."""
        try:
            status = os.stat(self.path)  # noqa: PTH116 (no path object is needed)
        except OSError:
            return None, 0
        return (status.st_dev, status.st_ino), status.st_size

    def _make_folder(self) -> None:
        """Make the folders that are missing, for their owner alone."""
        if self._has_folder:
            return
        missing: list[Path] = []
        folder = Path(self.path).parent
        while not folder.exists():
            missing.append(folder)
            folder = folder.parent
        for folder in reversed(missing):
            folder.mkdir(mode=0o700, exist_ok=True)
            sync_folder(folder)
        self._has_folder = True
