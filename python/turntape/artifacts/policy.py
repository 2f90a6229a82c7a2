"""What is off limits: the host's decision, asked at every write and read."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["ArtifactPathPolicy", "OpenPathPolicy", "PathPolicy", "is_at_or_below"]


class ArtifactPathPolicy(Protocol):
    """Says which paths are the host's own, so that no artifact is written or read there.

    It is asked with the path as it is spelled, and again with the real one, links resolved.
    """

    def is_internal_state(self, path: Path, /) -> bool:
        """Whether a path is one of the host's own locations."""
        ...

    def internal_root(self) -> Path | None:
        """Give a whole tree that is the host's own; None where there is none."""
        ...


class OpenPathPolicy:
    """A policy that keeps nothing for the host. Containment below the root holds all the same.

    >>> OpenPathPolicy().internal_root() is None
    True
    """

    def is_internal_state(self, path: Path, /) -> bool:  # noqa: ARG002 (whatever the path)
        """Say no."""
        return False

    def internal_root(self) -> Path | None:
        """Give none."""
        return None


class PathPolicy:
    """A policy of listed paths.

    What exists is compared by device and inode, so that neither case nor Unicode normalisation nor another
    way to the same place matters. What does not exist yet is compared by name, without regard to case and
    normalisation, because a file system may disregard them as well.

    Args:
        state: The host's own locations, files or folders; what lies in such a folder counts too.
        root: A whole tree of the host's own.

    >>> from pathlib import Path
    >>> policy = PathPolicy(state=["/srv/run/outputs/state.json"])
    >>> policy.is_internal_state(Path("/srv/run/outputs/STATE.json"))
    True
    """

    def __init__(
        self,
        state: Iterable[str | os.PathLike[str]] = (),
        root: str | os.PathLike[str] | None = None,
    ) -> None:
        """Take the paths; relative ones begin at the folder that is current now."""
        self._state = tuple(Path(os.path.abspath(path)) for path in state)  # noqa: PTH100 (no link is followed)
        self._root = None if root is None else Path(os.path.abspath(root))  # noqa: PTH100

    def __repr__(self) -> str:
        """Show the paths as they would be given."""
        root = None if self._root is None else str(self._root)
        return f"PathPolicy(state={[str(path) for path in self._state]!r}, root={root!r})"

    def is_internal_state(self, path: Path, /) -> bool:
        """Whether a path is one of the locations, or lies in one."""
        place = _locate(path)
        return any(_is_at_or_below(place, location) for location in self._state)

    def internal_root(self) -> Path | None:
        """Give the tree."""
        return self._root


def is_at_or_below(path: Path, tree: Path) -> bool:
    """Whether a path is a place or lies below it, whatever either is called.

    Args:
        path: An absolute path; it need not exist.
        tree: Another.
    """
    return _is_at_or_below(_locate(path), tree)


def _is_at_or_below(place: _Place, tree: Path) -> bool:
    target = _locate(tree)
    if not target.existing or not place.existing:
        return False  # a drive that is not there; nothing can be written to it either
    if not target.missing:
        return any(os.path.samestat(status, target.existing[0]) for status in place.existing)
    # The way to the tree leaves what exists at one folder, and so must the way to whatever lies below.
    return (
        os.path.samestat(place.existing[0], target.existing[0])
        and place.missing[: len(target.missing)] == target.missing
    )


class _Place(NamedTuple):
    """Where a path is: what exists of it, from its end up, and the names of what does not."""

    existing: tuple[os.stat_result, ...]
    missing: tuple[str, ...]


def _locate(path: Path) -> _Place:
    existing: list[os.stat_result] = []
    missing: list[str] = []
    for step in (path, *path.parents):
        status = _status(step)
        if status is not None:
            existing.append(status)
        elif not existing:
            missing.append(_plain(step.name))
    return _Place(tuple(existing), tuple(reversed(missing)))


def _plain(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except (OSError, ValueError):
        # Not there, out of reach, or a name that the system cannot have.
        return None
