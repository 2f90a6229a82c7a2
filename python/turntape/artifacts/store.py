"""The one way to a file below an artifact root: every step checked, and the whole way once more."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from turntape.artifacts.folders import (
    LinksRefusedError,
    identity_of,
    is_link,
    is_sole_file,
    open_root,
)
from turntape.artifacts.names import numbered
from turntape.artifacts.paths import ask_policy, shown
from turntape.errors import OffloadError, StorageFailed, SymlinkEscape, UnsafeFile

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from turntape.artifacts.folders import Folder, Identity, Staged
    from turntape.artifacts.policy import ArtifactPathPolicy

__all__ = ["STALE_SECONDS", "Store", "as_storage_failure"]

Steps: TypeAlias = tuple[str, ...]

STALE_SECONDS = 3600.0
"""How old a temporary file must be before it counts as left behind."""

# Where many results have one name, the search for a free number goes on where it last ended; the first
# few are always tried.
_ALWAYS_TRIED = 16
_MOST_TRIED = 100_000


@contextlib.contextmanager
def as_storage_failure(asked: str) -> Generator[None]:
    """Let errors name the path as it was asked for, those of the system as :class:`StorageFailed`."""
    failure: StorageFailed | None = None
    try:
        yield
    except OffloadError as error:
        error.path = asked
        raise
    except OSError as error:
        reason = error.strerror or type(error).__name__
        failure = StorageFailed(f"{shown(asked)}: {reason}", path=asked, errno=error.errno)
    except ValueError:
        # A root that the system cannot have, such as one with a lone surrogate.
        failure = StorageFailed(f"{shown(asked)}: no such path can be", path=asked)
    if failure is not None:
        raise failure


class Store:
    """An artifact root, and how files come into it and out of it.

    Args:
        root: The root: absolute and normal.
        policy: What is off limits; None for nothing.
        check_owner: Whether the folders below the root must belong to the user.
    """

    root: Path

    def __init__(self, root: Path, policy: ArtifactPathPolicy | None, *, check_owner: bool) -> None:
        """Touch nothing yet."""
        self.root = root
        self._policy = policy
        self._check_owner = check_owner
        self._numbers: dict[Steps, int] = {}
        self._swept: set[Identity] = set()

    @contextlib.contextmanager
    def folder(
        self, steps: Steps, *, create: bool, asked: str
    ) -> Generator[tuple[Folder, list[Identity]]]:
        """Go down from the root, step by step.

        Returns:
            The last folder, and which folders led to it.
        """
        real = self._real_root(steps, asked)
        folder = open_root(self.root, create=create, check_owner=self._check_owner)
        try:
            if real is not None and identity_of(real.stat()) != folder.identity:
                raise SymlinkEscape("the artifact root was swapped", path=asked)
            way = [folder.identity]
            for step in steps:
                below = folder.enter(step, create=create)
                folder.close()
                folder = below
                way.append(folder.identity)
            yield folder, way
        finally:
            folder.close()

    def _real_root(self, steps: Steps, asked: str) -> Path | None:
        """Ask the policy about the place that the links above the root lead to, before it is touched."""
        if self._policy is None:
            return None
        real = Path(os.path.realpath(self.root))
        ask_policy(self._policy, real.joinpath(*steps), asked)
        return real

    def open(self, steps: Steps, asked: str) -> int:
        """Open a file for reading.

        Raises:
            OffloadError: The policy, a link, a folder or the system forbids it.
        """
        with (
            as_storage_failure(asked),
            self.folder(steps[:-1], create=False, asked=asked) as (folder, _),
        ):
            self.admit(steps, asked)
            return folder.open_file(steps[-1])

    def admit(self, steps: Steps, asked: str) -> None:
        """Ask the policy about a file, by the path as it is spelled and by the real one.

        Raises:
            OffloadError: It is off limits.
        """
        if self._policy is not None:
            ask_policy(self._policy, self.root.joinpath(*steps), asked)
            ask_policy(self._policy, Path(os.path.realpath(self.root)).joinpath(*steps), asked)

    def put(
        self,
        steps: Steps,
        data: bytes,
        *,
        overwrite: bool,
        accept: Callable[[Steps], None],
        asked: str,
    ) -> Steps:
        """Write a file, whole or not at all.

        Args:
            steps: Where, below the root. Where that is taken, the name gets a number.
            data: The content.
            overwrite: Whether a file that is there is replaced instead.
            accept: Is told where the file is about to lie, and raises if it may not.
            asked: The path as the caller knows it, for errors.

        Returns:
            Where the file lies.

        Raises:
            OffloadError: Nothing has the final name, unless another put it there.
        """
        self.admit(steps, asked)
        accept(steps)
        with (
            as_storage_failure(asked),
            self.folder(steps[:-1], create=True, asked=asked) as (folder, way),
        ):
            staged = self._stage(folder, data, named=overwrite)
            try:
                if overwrite:
                    _check_replaceable(folder, steps[-1])
                    staged.replace(steps[-1])
                    final = steps
                else:
                    try:
                        final = self._publish(folder, staged, steps, accept, asked)
                    except LinksRefusedError:
                        staged.discard()
                        staged = self._stage(folder, data, named=True)
                        final = self._publish(folder, staged, steps, accept, asked)
                self._settle(folder, staged.identity, final, way, overwrite=overwrite, asked=asked)
            finally:
                staged.discard()
        return final

    def _stage(self, folder: Folder, data: bytes, *, named: bool) -> Staged:
        if named and folder.identity not in self._swept:
            # Only such files can be left behind.
            folder.sweep(older_than=STALE_SECONDS)
            self._swept.add(folder.identity)
        return folder.stage(data, named=named)

    def _publish(
        self,
        folder: Folder,
        staged: Staged,
        steps: Steps,
        accept: Callable[[Steps], None],
        asked: str,
    ) -> Steps:
        for number, name in self._candidates(steps):
            here = (*steps[:-1], name)
            if name != steps[-1]:
                self.admit(here, asked)
                accept(here)
            if staged.publish(name):
                if number > _ALWAYS_TRIED:
                    self._numbers[steps] = number + 1
                return here
            status = folder.status(name)
            if status is not None and is_link(status):
                raise SymlinkEscape(f"{shown(asked)}: a link has the name", path=asked)
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))

    def _candidates(self, steps: Steps) -> Iterator[tuple[int, str]]:
        name = steps[-1]
        few = enumerate(islice(chain([name], numbered(name)), _ALWAYS_TRIED), 1)
        start = max(_ALWAYS_TRIED + 1, self._numbers.get(steps, 0))
        more = enumerate(islice(numbered(name, start), _MOST_TRIED), start)
        return chain(few, more)

    def _settle(
        self,
        folder: Folder,
        identity: Identity,
        steps: Steps,
        way: list[Identity],
        *,
        overwrite: bool,
        asked: str,
    ) -> None:
        """Put the name on the disk, if it still is where it should be; else take it back."""
        try:
            self._check_again(identity, steps, way, overwrite=overwrite, asked=asked)
            folder.sync()
        except BaseException:
            with contextlib.suppress(OSError):
                status = folder.status(steps[-1])
                if status is not None and identity_of(status) == identity:
                    folder.unlink(steps[-1])
            raise

    def _check_again(
        self,
        identity: Identity,
        steps: Steps,
        way: list[Identity],
        *,
        overwrite: bool,
        asked: str,
    ) -> None:
        try:
            with self.folder(steps[:-1], create=False, asked=asked) as (folder, again):
                status = folder.status(steps[-1])
        except OSError:
            again, status = [], None
        # Another writer that overwrites may have been quicker; its file is as good as this one.
        if (
            again == way
            and status is not None
            and (identity_of(status) == identity or (overwrite and is_sole_file(status)))
        ):
            return
        raise SymlinkEscape(f"{shown(asked)}: it was swapped while it was written", path=asked)


def _check_replaceable(folder: Folder, name: str) -> None:
    status = folder.status(name)
    if status is None:
        return
    if is_link(status):
        raise SymlinkEscape(f"{shown(name)} is a link", path=name)
    if not stat.S_ISREG(status.st_mode):
        raise UnsafeFile(f"{shown(name)} is no regular file", path=name)
