"""Folders below an artifact root, held open while something is done in them.

There are two kinds: by descriptor, where the system can do everything relative to one, and by path. What is
written against :class:`Folder` does not know which it has.
"""

from __future__ import annotations

import os
import stat
import sys
from typing import TYPE_CHECKING, Protocol, TypeAlias

from turntape.artifacts.paths import shown
from turntape.errors import SymlinkEscape, UnsafeDirectory, UnsafeFile

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType
    from typing import Self

__all__ = [
    "Folder",
    "Identity",
    "LinksRefusedError",
    "Staged",
    "check_folder",
    "check_same",
    "identity_of",
    "is_link",
    "is_sole_file",
    "open_root",
    "readable_file",
]

Identity: TypeAlias = tuple[int, int]
"""Device and inode: what a name stands for, however it is spelled."""


_BY_DESCRIPTOR = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")


class LinksRefusedError(OSError):
    """The file system gives a file that has no name none."""


class Staged(Protocol):
    """Content that is whole and on the disk, and has no final name yet."""

    @property
    def identity(self) -> Identity:
        """What the final name will stand for."""
        ...

    def publish(self, name: str, /) -> bool:
        """Give it its final name; False where anything has that name already.

        Raises:
            LinksRefusedError: The content must be staged under a temporary name instead.
        """
        ...

    def replace(self, name: str, /) -> None:
        """Give it a final name that a file may have already, in one step."""
        ...

    def discard(self) -> None:
        """Let go of it; without a final name nothing of it stays."""
        ...


class Folder(Protocol):
    """A folder that is held. All names are single steps."""

    @property
    def identity(self) -> Identity:
        """Which folder it is."""
        ...

    def enter(self, name: str, /, *, create: bool) -> Folder:
        """Open a folder in it, made first where it is missing and ``create`` says so.

        Raises:
            SymlinkEscape: A link has the name.
            UnsafeDirectory: What has the name is no folder, or one that others may write to.
            OSError: The system refused.
        """
        ...

    def names(self) -> list[str]:
        """List what is in it."""
        ...

    def status(self, name: str, /) -> os.stat_result | None:
        """Tell what has a name, links not followed; None where nothing has it."""
        ...

    def open_file(self, name: str, /) -> int:
        """Open a regular file for reading.

        Raises:
            SymlinkEscape: A link has the name.
            UnsafeFile: What has the name is no regular file of one name.
            OSError: The system refused.
        """
        ...

    def stage(self, data: bytes, /, *, named: bool) -> Staged:
        """Write content to the disk, if possible without any name, unless ``named``."""
        ...

    def unlink(self, name: str, /) -> None:
        """Remove a name."""
        ...

    def sweep(self, *, older_than: float) -> int:
        """Remove temporary files that no process holds and that are so many seconds old; how many."""
        ...

    def sync(self) -> None:
        """Put the names in it on the disk."""
        ...

    def close(self) -> None:
        """Let go of it."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


def identity_of(status: os.stat_result) -> Identity:
    """Take device and inode out of what the system tells."""
    return status.st_dev, status.st_ino


def is_link(status: os.stat_result) -> bool:
    """Whether a name stands for another: a symbolic link, or any reparse point of Windows."""
    if sys.platform == "win32":
        return bool(status.st_file_attributes & stat.FILE_ATTRIBUTE_REPARSE_POINT)
    return stat.S_ISLNK(status.st_mode)


def is_sole_file(status: os.stat_result) -> bool:
    """Whether it is a regular file with one name, as all artifacts are."""
    return stat.S_ISREG(status.st_mode) and status.st_nlink == 1


def check_folder(name: str, status: os.stat_result, *, check_owner: bool) -> None:
    """Refuse a folder in which others can do what they like.

    Raises:
        UnsafeDirectory: It belongs to another user, or somebody else may write to it. An access list
            shows in the bits of the group, which is why those count.
    """
    if not check_owner or sys.platform == "win32":
        return
    if status.st_uid != os.geteuid():
        raise UnsafeDirectory(f"the folder {shown(name)} belongs to another user", path=name)
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise UnsafeDirectory(f"others may write to the folder {shown(name)}", path=name)


def readable_file(name: str, status: os.stat_result | None, *, check_owner: bool) -> None:
    """Refuse what is no artifact: a file of other names too may be one from elsewhere.

    Raises:
        FileNotFoundError: Nothing has the name.
        SymlinkEscape: A link has it.
        UnsafeFile: It is no regular file, has other names, or belongs to another user.
    """
    if status is None:
        raise FileNotFoundError(2, os.strerror(2), name)
    if is_link(status):
        raise SymlinkEscape(f"{shown(name)} is a link", path=name)
    if not stat.S_ISREG(status.st_mode):
        raise UnsafeFile(f"{shown(name)} is no regular file", path=name)
    if status.st_nlink > 1:
        raise UnsafeFile(f"{shown(name)} is a file of several names", path=name)
    if check_owner and sys.platform != "win32" and status.st_uid != os.geteuid():
        raise UnsafeFile(f"{shown(name)} belongs to another user", path=name)


def check_same(name: str, named: os.stat_result | None, opened: os.stat_result) -> None:
    """Refuse a file that is not what has its name any more.

    Raises:
        SymlinkEscape: It was swapped.
    """
    if named is None or identity_of(named) != identity_of(opened):
        raise SymlinkEscape(f"{shown(name)} was swapped while it was opened", path=name)


def open_root(path: Path, *, create: bool, check_owner: bool) -> Folder:
    """Open the artifact root, which alone may be reached through links.

    Args:
        path: An absolute path.
        create: Whether it is made, with all that lies above it, where it is missing.
        check_owner: Whether the folders in it must belong to the user.

    Raises:
        OSError: The system refused.
    """
    if _BY_DESCRIPTOR:
        from turntape.artifacts.descriptors import open_root_by_descriptor  # noqa: PLC0415 (POSIX)

        return open_root_by_descriptor(path, create=create, check_owner=check_owner)
    from turntape.artifacts.by_path import open_root_by_path  # noqa: PLC0415

    return open_root_by_path(path, create=create, check_owner=check_owner)
