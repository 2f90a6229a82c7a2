"""Folders by path, for systems without descriptors of folders: Windows.

Each step is looked at before it is used, and the whole way once more after the write. Between a look and
the use something may be swapped, which no check by path can exclude; where others may write below the
artifact root while an artifact is written, such a system cannot promise what descriptors do.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
import time
from typing import TYPE_CHECKING

from turntape.artifacts.folders import (
    check_folder,
    check_same,
    identity_of,
    is_link,
    readable_file,
)
from turntape.artifacts.names import is_temporary, temporary_name
from turntape.artifacts.paths import shown
from turntape.errors import SymlinkEscape, UnsafeDirectory

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from turntape.artifacts.folders import Identity

__all__ = ["PathFolder", "open_root_by_path"]

_PRIVATE_FOLDER = 0o700
_PRIVATE_FILE = 0o600
# Names that not every system has: bytes as they are, and nothing for a child process.
_BINARY: int = getattr(os, "O_BINARY", 0) | getattr(os, "O_NOINHERIT", 0)
_NO_LINKS: int = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def open_root_by_path(path: Path, *, create: bool, check_owner: bool) -> PathFolder:
    """Open the artifact root; see :func:`turntape.artifacts.folders.open_root`."""
    if create:
        path.mkdir(_PRIVATE_FOLDER, parents=True, exist_ok=True)
    status = path.stat()
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
    return PathFolder(path, status, check_owner=check_owner)


class PathFolder:
    """A folder by its path. See :class:`turntape.artifacts.folders.Folder`."""

    def __init__(self, path: Path, status: os.stat_result, *, check_owner: bool) -> None:
        """Take a path, and what the system tells of it."""
        self._path = path
        self._check_owner = check_owner
        self.identity: Identity = identity_of(status)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Do nothing: a path is not held."""

    def enter(self, name: str, /, *, create: bool) -> PathFolder:
        """Go to a folder in it, if no link stands there."""
        path = self._path / name
        if create:
            with contextlib.suppress(FileExistsError):
                path.mkdir(_PRIVATE_FOLDER)
        status = path.lstat()
        if is_link(status):
            raise SymlinkEscape(f"{shown(name)} is a link, not a folder", path=name)
        if not stat.S_ISDIR(status.st_mode):
            raise UnsafeDirectory(f"{shown(name)} is no folder", path=name)
        check_folder(name, status, check_owner=self._check_owner)
        return PathFolder(path, status, check_owner=self._check_owner)

    def names(self) -> list[str]:
        """List what is in it."""
        return [entry.name for entry in self._path.iterdir()]

    def status(self, name: str, /) -> os.stat_result | None:
        """Tell what has a name, links not followed."""
        try:
            return (self._path / name).lstat()
        except FileNotFoundError:
            return None

    def open_file(self, name: str, /) -> int:
        """Open a regular file for reading."""
        readable_file(name, self.status(name), check_owner=self._check_owner)
        fd = os.open(self._path / name, os.O_RDONLY | _BINARY | _NO_LINKS)
        try:
            now = self.status(name)
            readable_file(name, now, check_owner=self._check_owner)
            check_same(name, now, os.fstat(fd))
        except BaseException:
            os.close(fd)
            raise
        return fd

    def stage(self, data: bytes, /, *, named: bool) -> _StagedByPath:  # noqa: ARG002 (always named)
        """Write content to the disk, under a temporary name."""
        path = self._path / temporary_name()
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | _BINARY | _NO_LINKS
        fd = os.open(path, flags, _PRIVATE_FILE)
        try:
            # Windows renames no file that is open, so it is closed before it gets its name.
            with open(fd, "wb") as file:  # noqa: PTH123 (of a descriptor)
                _lock(fd)
                file.write(data)
                file.flush()
                os.fsync(fd)
                return _StagedByPath(path, identity_of(os.fstat(fd)))
        except BaseException:
            with contextlib.suppress(OSError):
                path.unlink()
            raise

    def unlink(self, name: str, /) -> None:
        """Remove a name."""
        (self._path / name).unlink()

    def sweep(self, *, older_than: float) -> int:
        """Remove temporary files that were left behind."""
        return sum(self._sweep_one(name, older_than) for name in self.names() if is_temporary(name))

    def _sweep_one(self, name: str, older_than: float) -> bool:
        try:
            status = (self._path / name).lstat()
            if not stat.S_ISREG(status.st_mode) or time.time() - status.st_mtime < older_than:
                return False
            with open(os.open(self._path / name, os.O_RDWR | _BINARY | _NO_LINKS), "wb") as file:  # noqa: PTH123
                _lock(file.fileno())
                if identity_of(os.fstat(file.fileno())) != identity_of(status):
                    return False
            self.unlink(name)
        except OSError:
            return False
        return True

    def sync(self) -> None:
        """Do nothing: Windows keeps the names of a folder in its journal and has no call for it."""


class _StagedByPath:
    """A file under a temporary name, whole and closed."""

    def __init__(self, path: Path, identity: Identity) -> None:
        self._path: Path | None = path
        self.identity = identity

    def publish(self, name: str, /) -> bool:
        path = self._source()
        final = path.with_name(name)
        try:
            if sys.platform == "win32":
                path.rename(final)  # which replaces nothing there
            else:
                os.link(path, final, follow_symlinks=False)
                path.unlink()
        except FileExistsError:
            return False
        self._path = None
        return True

    def replace(self, name: str, /) -> None:
        path = self._source()
        path.replace(path.with_name(name))
        self._path = None

    def _source(self) -> Path:
        if self._path is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        return self._path

    def discard(self) -> None:
        if self._path is not None:
            with contextlib.suppress(OSError):
                self._path.unlink()
            self._path = None


def _lock(fd: int) -> None:
    """Take the lock of a temporary file.

    Raises:
        OSError: A process has it.
    """
    if sys.platform == "win32":
        import msvcrt  # noqa: PLC0415 (Windows alone has it)

        msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl  # noqa: PLC0415 (Windows has none)

        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
