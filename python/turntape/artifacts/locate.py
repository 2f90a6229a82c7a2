"""From a path as the conversation knows it back to the artifact."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from turntape.artifacts.folders import is_link
from turntape.artifacts.paths import (
    ArtifactKind,
    absolute,
    ask_policy,
    shown,
    split_relative,
)
from turntape.errors import EmptyName, PathEscape, SymlinkEscape

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from turntape.artifacts.policy import ArtifactPathPolicy

__all__ = ["artifact_steps", "resolve_pointer"]

_SEPARATORS = re.compile(r"[/\\]")
_FOLDERS = frozenset(kind.folder for kind in ArtifactKind)


def artifact_steps(root: Path, render_root: Path, path: str) -> tuple[str, ...]:
    """Find out which steps below the artifact root a rendered path stands for, by names alone.

    Args:
        root: The artifact root: absolute and normal.
        render_root: What rendered paths are relative to.
        path: What a pointer says.

    Returns:
        The folder of a kind, and the steps below it.

    Raises:
        OffloadError: It does not lie in a folder of artifacts.
    """
    if not path.strip():
        raise EmptyName("the path of an artifact is blank", path=path)
    if ".." in _SEPARATORS.split(path):
        raise PathEscape(f"{shown(path)}: a step is '..'", path=path)
    # Joining begins anew where the path is absolute.
    place = absolute(render_root / path)
    try:
        below = place.relative_to(root).as_posix()
    except ValueError:
        raise PathEscape(f"{shown(path)} lies outside the artifact root", path=path) from None
    steps = split_relative(below)
    if len(steps) == 1 or steps[0] not in _FOLDERS:
        raise PathEscape(f"{shown(path)} lies in no folder of artifacts", path=path)
    return steps


def resolve_pointer(
    root: str | os.PathLike[str],
    path: str,
    *,
    render_root: str | os.PathLike[str] | None = None,
    policy: ArtifactPathPolicy | None = None,
) -> Path:
    """Give the place of an artifact, to show it to people.

    Nothing should open it by this name: what has the name may be swapped until then. Read with
    :meth:`ArtifactWriter.read`.

    Args:
        root: The artifact root.
        path: What a pointer says.
        render_root: What rendered paths are relative to, where that is not the root.
        policy: What is off limits.

    Returns:
        An absolute path below the root.

    Raises:
        OffloadError: The path leads out of the folders of artifacts, by its names or by a link, or is off
            limits.

    >>> resolve_pointer("/srv/run", "outputs/a.md").as_posix()
    '/srv/run/outputs/a.md'
    """
    top = absolute(root)
    steps = artifact_steps(top, top if render_root is None else absolute(render_root), path)
    place = top
    for step in steps:
        place /= step
        try:
            link = is_link(place.lstat())
        except (OSError, ValueError):
            link = False  # nothing is there, so nothing leads elsewhere
        if link:
            raise SymlinkEscape(f"{shown(path)}: step {shown(step)} is a link", path=path)
    if policy is not None:
        ask_policy(policy, place, path)
    return place
