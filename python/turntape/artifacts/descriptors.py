"""Folders by descriptor: what is checked stays what is used, whatever is swapped meanwhile."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import functools
import os
import stat
import sys
import time
from typing import TYPE_CHECKING

from turntape.artifacts.folders import (
    LinksRefusedError,
    check_folder,
    check_same,
    identity_of,
    is_link,
    is_sole_file,
    readable_file,
)
from turntape.artifacts.names import is_temporary, temporary_name
from turntape.artifacts.paths import shown
from turntape.errors import SymlinkEscape, UnsafeDirectory

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from turntape.artifacts.folders import Identity, Staged

__all__ = ["DescriptorFolder", "open_root_by_descriptor"]

if sys.platform == "win32":
    raise ImportError("folders by descriptor are of POSIX")

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NOCTTY
# Linux alone has it.
_UNNAMED: int = getattr(os, "O_TMPFILE", 0)
_PRIVATE_FOLDER = 0o700
_LOOKS = 4
_PRIVATE_FILE = 0o600

# A file without a name can be given one only through this folder.
_OPEN_FILES = "/proc/self/fd"

# What systems say of a file system that cannot do something, and of one where the caller may not.
_CANNOT = frozenset(
    {
        errno.EPERM,
        errno.EACCES,
        errno.EINVAL,
        errno.EMLINK,
        errno.ENOSYS,
        errno.ENOTSUP,
        errno.EOPNOTSUPP,
        errno.EXDEV,
    }
)
# Kernels that do not know O_TMPFILE see an attempt to write to a folder.
_NO_UNNAMED = _CANNOT | {errno.EISDIR, errno.ENOENT}
# Links, where they must not be followed: Linux, the rest, FreeBSD, and a link where a folder should be.
_MAYBE_LINK = frozenset({errno.ELOOP, errno.EMLINK, errno.ENOTDIR})


def open_root_by_descriptor(path: Path, *, create: bool, check_owner: bool) -> DescriptorFolder:
    """Open the artifact root; see :func:`turntape.artifacts.folders.open_root`."""
    try:
        fd = os.open(path, _FOLDER)
    except FileNotFoundError:
        if not create:
            raise
        _make_all(path)
        fd = os.open(path, _FOLDER)
    return DescriptorFolder(fd, os.fstat(fd), check_owner=check_owner)


def _make_all(path: Path) -> None:
    missing = [path]
    while not missing[-1].parent.exists():
        missing.append(missing[-1].parent)
    for folder in reversed(missing):
        with contextlib.suppress(FileExistsError):  # another process was quicker
            os.mkdir(folder, _PRIVATE_FOLDER)  # noqa: PTH102 (all that touches the disk goes through os)
        # What lies above may be closed to the user; then its names are not ours to put on the disk.
        with contextlib.suppress(PermissionError):
            fd = os.open(folder.parent, _FOLDER)
            try:
                _sync_folder(fd)
            finally:
                os.close(fd)


class DescriptorFolder:
    """A folder by its descriptor. See :class:`turntape.artifacts.folders.Folder`."""

    def __init__(self, fd: int, status: os.stat_result, *, check_owner: bool) -> None:
        """Take over a descriptor, and what the system tells of it."""
        self._fd = fd
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
        """Close the descriptor; more than once is fine."""
        if self._fd >= 0:
            fd, self._fd = self._fd, -1
            os.close(fd)

    def enter(self, name: str, /, *, create: bool) -> DescriptorFolder:
        """Open a folder in it without following a link."""
        try:
            fd = self._open_folder(name)
        except FileNotFoundError:
            if not create:
                raise
            # Whoever made it, it is looked at below like one that was there.
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, _PRIVATE_FOLDER, dir_fd=self._fd)
                self.sync()
            fd = self._open_folder(name)
        try:
            status = os.fstat(fd)
            check_folder(name, status, check_owner=self._check_owner)
            return DescriptorFolder(fd, status, check_owner=self._check_owner)
        except BaseException:
            os.close(fd)
            raise

    def _open_folder(self, name: str) -> int:
        try:
            return os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=self._fd)
        except OSError as error:
            if error.errno not in _MAYBE_LINK:
                raise
            status = self.status(name)
        if status is not None and not is_link(status) and not stat.S_ISDIR(status.st_mode):
            raise UnsafeDirectory(f"{shown(name)} is no folder", path=name)
        raise SymlinkEscape(f"{shown(name)} is a link, not a folder", path=name)

    def names(self) -> list[str]:
        """List what is in it."""
        return os.listdir(self._fd)  # noqa: PTH208 (of a descriptor)

    def status(self, name: str, /) -> os.stat_result | None:
        """Tell what has a name, links not followed."""
        try:
            return os.stat(name, dir_fd=self._fd, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def open_file(self, name: str, /) -> int:
        """Open a regular file for reading, without waiting at a pipe and without following a link."""
        # Looked at first, because opening a device can do something by itself; what counts is below.
        readable_file(name, self.status(name), check_owner=self._check_owner)
        try:
            fd = os.open(name, _FILE | os.O_RDONLY | os.O_NONBLOCK, dir_fd=self._fd)
        except OSError as error:
            if error.errno not in _MAYBE_LINK:
                raise
            raise SymlinkEscape(f"{shown(name)} is a link", path=name) from None
        try:
            readable_file(name, os.fstat(fd), check_owner=self._check_owner)
            self._check_sole_name(fd, name)
        except BaseException:
            os.close(fd)
            raise
        return fd

    def _check_sole_name(self, fd: int, name: str) -> None:
        """Make sure that the one name which a file was just seen to have is the one it was opened by.

        Else it may be a file from elsewhere that was linked here for the moment of the opening. A system
        that removes a name counts it off first, and takes it away a moment later: in between, the count
        alone says nothing.
        """
        if _can_link_open():
            # Whoever removes a name holds its folder, and whoever lists the folder waits for that. The
            # system knows by which entry a file was opened: once gone, that one never comes back.
            with os.scandir(self._fd) as entries:
                next(entries, None)
            here = os.path.basename(os.readlink(f"{_OPEN_FILES}/{fd}")) == name  # noqa: PTH115, PTH119
            if not here:
                raise SymlinkEscape(f"{shown(name)} was swapped while it was opened", path=name)
            return
        # Elsewhere every look may fall into such a moment, but hardly all of them.
        for _ in range(_LOOKS):
            now = self.status(name)
            readable_file(name, now, check_owner=self._check_owner)
            check_same(name, now, os.fstat(fd))

    def stage(self, data: bytes, /, *, named: bool) -> Staged:
        """Write content to the disk."""
        staged: _Unnamed | _Named | None = None if named else _Unnamed.open(self)
        if staged is None:
            staged = _Named.open(self)
        try:
            staged.fill(data)
        except BaseException:
            staged.discard()
            raise
        return staged

    def unlink(self, name: str, /) -> None:
        """Remove a name."""
        os.unlink(name, dir_fd=self._fd)

    def sweep(self, *, older_than: float) -> int:
        """Remove temporary files that were left behind."""
        return sum(self._sweep_one(name, older_than) for name in self.names() if is_temporary(name))

    def _sweep_one(self, name: str, older_than: float) -> bool:
        try:
            fd = os.open(name, _FILE | os.O_RDWR | os.O_NONBLOCK, dir_fd=self._fd)
        except OSError:
            return False
        try:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode) or time.time() - status.st_mtime < older_than:
                return False
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            now = self.status(name)
            if now is None or identity_of(now) != identity_of(status):
                return False
            self.unlink(name)
        except OSError:
            # A process writes to it, or has removed it; or the file system has no locks.
            return False
        else:
            return True
        finally:
            os.close(fd)

    def sync(self) -> None:
        """Put the names in it on the disk."""
        _sync_folder(self._fd)

    def open_unnamed(self) -> int:
        """Open a new file that has no name."""
        if not _UNNAMED:
            raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))
        return os.open(".", _UNNAMED | os.O_WRONLY | os.O_CLOEXEC, _PRIVATE_FILE, dir_fd=self._fd)

    def open_new(self, name: str) -> int:
        """Open a new file; it fails where anything has the name, a link that leads nowhere too."""
        flags = _FILE | os.O_CREAT | os.O_EXCL | os.O_WRONLY
        return os.open(name, flags, _PRIVATE_FILE, dir_fd=self._fd)

    def link(self, source: str, name: str) -> None:
        """Give the file behind a name of this folder one more; a link is linked, not followed."""
        os.link(source, name, src_dir_fd=self._fd, dst_dir_fd=self._fd, follow_symlinks=False)

    def link_open(self, fd: int, name: str) -> None:
        """Give a file that is open a name in this folder, whatever other names it has."""
        # Followed is only the system's own link, from the descriptor to its file.
        os.link(f"{_OPEN_FILES}/{fd}", name, dst_dir_fd=self._fd, follow_symlinks=True)

    def rename(self, name: str, final: str) -> None:
        """Rename within this folder, in place of what has the name."""
        os.rename(name, final, src_dir_fd=self._fd, dst_dir_fd=self._fd)


class _Unnamed:
    """A file without a name: if the process dies, nothing is left of it."""

    def __init__(self, folder: DescriptorFolder, fd: int) -> None:
        self._folder = folder
        self._fd = fd

    @classmethod
    def open(cls, folder: DescriptorFolder) -> Self | None:
        """Open one; None where the system has none, or no way to name it later."""
        if not _can_link_open():
            return None
        try:
            return cls(folder, folder.open_unnamed())
        except OSError as error:
            if error.errno in _NO_UNNAMED:
                return None
            raise

    @property
    def identity(self) -> Identity:
        return identity_of(os.fstat(self._fd))

    def fill(self, data: bytes) -> None:
        _write_all(self._fd, data)

    def publish(self, name: str, /) -> bool:
        try:
            self._folder.link_open(self._fd, name)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno in _CANNOT:
                raise LinksRefusedError(error.errno, os.strerror(error.errno)) from None
            raise
        return True

    def replace(self, name: str, /) -> None:
        raise LinksRefusedError(errno.ENOTSUP, os.strerror(errno.ENOTSUP), name)

    def discard(self) -> None:
        if self._fd >= 0:
            fd, self._fd = self._fd, -1
            os.close(fd)


class _Named:
    """A file under a temporary name, locked as long as it is written."""

    def __init__(self, folder: DescriptorFolder, fd: int, name: str) -> None:
        self._folder = folder
        self._fd = fd
        self._name: str | None = name

    @classmethod
    def open(cls, folder: DescriptorFolder) -> Self:
        """Make one."""
        name = temporary_name()
        staged = cls(folder, folder.open_new(name), name)
        # Where there are no locks, a sweep gets none either, and removes nothing.
        with contextlib.suppress(OSError):
            fcntl.flock(staged._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return staged

    @property
    def identity(self) -> Identity:
        return identity_of(os.fstat(self._fd))

    def fill(self, data: bytes) -> None:
        _write_all(self._fd, data)

    def publish(self, name: str, /) -> bool:
        source = self._source()
        try:
            if _can_link_open():
                self._folder.link_open(self._fd, name)
            else:
                self._folder.link(source, name)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in _CANNOT:
                raise
            return self._claim(name)
        self._check(name)
        try:
            self._remove()
        except OSError:
            with contextlib.suppress(OSError):
                self._folder.unlink(name)
            raise
        return True

    def _claim(self, name: str) -> bool:
        """Take the name with an empty file, and rename onto that: there are no hard links here."""
        try:
            os.close(self._folder.open_new(name))
        except FileExistsError:
            return False
        try:
            self._folder.rename(self._source(), name)
        except BaseException:
            with contextlib.suppress(OSError):
                self._folder.unlink(name)
            raise
        self._name = None
        self._check(name)
        return True

    def replace(self, name: str, /) -> None:
        self._folder.rename(self._source(), name)
        self._name = None
        self._check(name)

    def _check(self, name: str) -> None:
        """Take back what was named if it is not this file: the temporary name was swapped."""
        status = self._folder.status(name)
        if status is not None and identity_of(status) == self.identity:
            return
        if self._name is not None:
            swapped = self._folder.status(self._name)
            if status is None or swapped is None or identity_of(status) != identity_of(swapped):
                return  # named as it should be, and replaced since: for the second walk to judge
        elif status is None or is_sole_file(status):
            return
        with contextlib.suppress(OSError):
            self._folder.unlink(name)
        raise SymlinkEscape(f"{shown(name)}: its temporary file was swapped", path=name)

    def _source(self) -> str:
        if self._name is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        return self._name

    def _remove(self) -> None:
        if self._name is not None:
            name, self._name = self._name, None
            with contextlib.suppress(FileNotFoundError):
                self._folder.unlink(name)

    def discard(self) -> None:
        if self._fd < 0:
            return
        with contextlib.suppress(OSError):
            self._remove()
        fd, self._fd = self._fd, -1
        os.close(fd)


@functools.cache
def _can_link_open() -> bool:
    """Whether a file that is open can be given a name, without going through another name of it."""
    return os.path.isdir(_OPEN_FILES)  # noqa: PTH112 (all that touches the disk goes through os)


def _write_all(fd: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]
    _sync(fd)


def _sync(fd: int) -> None:
    if sys.platform == "darwin":
        # There fsync leaves it to the drive when the bytes are safe.
        with contextlib.suppress(OSError):
            fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
            return
    os.fsync(fd)


def _sync_folder(fd: int) -> None:
    try:
        os.fsync(fd)
    except OSError as error:
        # Some file systems have nothing to do for a folder, and say so in this way.
        if error.errno not in {errno.EINVAL, errno.ENOTSUP}:
            raise
