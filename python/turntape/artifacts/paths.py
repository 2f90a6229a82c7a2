"""Where an artifact lies: from a kind and a relative path to a place below the root, by names alone."""

from __future__ import annotations

import os
import re
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from turntape.artifacts.names import fault_of_step
from turntape.artifacts.policy import is_at_or_below
from turntape.errors import (
    AbsolutePath,
    EmptyName,
    InternalRoot,
    InternalState,
    InvalidName,
    PathEscape,
)

if TYPE_CHECKING:
    from turntape.artifacts.policy import ArtifactPathPolicy

__all__ = [
    "OUTPUTS_DIR",
    "SCRATCH_DIR",
    "ArtifactKind",
    "absolute",
    "ask_policy",
    "relative_to_root",
    "resolve_artifact_path",
    "shown",
    "split_relative",
]

OUTPUTS_DIR = "outputs"
"""The folder of results, a child of the artifact root."""

SCRATCH_DIR = "workspace"
"""The folder of scratch files, a child of the artifact root; no workspace of the host's."""

_DRIVE = re.compile(r"[A-Za-z]:")
_SEPARATORS = re.compile(r"[/\\]")

_LONGEST_SHOWN = 200


class ArtifactKind(StrEnum):
    """What an artifact is for, and so in which folder it lies.

    >>> ArtifactKind.SCRATCH.folder
    'workspace'
    """

    OUTPUT = "output"
    SCRATCH = "scratch"

    @property
    def folder(self) -> str:
        """The folder, a child of the artifact root."""
        return OUTPUTS_DIR if self is ArtifactKind.OUTPUT else SCRATCH_DIR


def absolute(path: str | os.PathLike[str]) -> Path:
    """Make a path absolute and normal by its names alone: links are not looked at.

    Raises:
        InvalidName: It holds a NUL, which no system can have in a path.
    """
    text = os.fspath(path)
    if "\0" in text:
        raise InvalidName("a path holds a NUL", path=text)
    return Path(os.path.abspath(text))  # noqa: PTH100 (`resolve` would follow links)


def shown(path: str) -> str:
    """Write a path into the message of an error, whatever it holds and however long it is."""
    if len(path) > _LONGEST_SHOWN:
        return f"{path[:_LONGEST_SHOWN]!a}... ({len(path):,} characters)"
    return ascii(path)


def split_relative(relative: str) -> tuple[str, ...]:
    """Cut a relative path into its steps, if it is one on every platform.

    Raises:
        EmptyName: It is blank.
        PathEscape: One of its steps is ``..``.
        AbsolutePath: It begins at a root, a drive or a network share.
        InvalidName: A step cannot be stored on every platform.
    """
    if not relative.strip():
        raise EmptyName("the path of an artifact is blank", path=relative)
    drive = _DRIVE.match(relative)
    if ".." in _SEPARATORS.split(relative[drive.end() :] if drive else relative):
        raise PathEscape(f"{shown(relative)}: a step is '..'", path=relative)
    if drive or relative[0] in "/\\":
        raise AbsolutePath(f"{shown(relative)} is no relative path", path=relative)
    steps = tuple(step for step in relative.split("/") if step not in {"", "."})
    if not steps:
        raise InvalidName(f"{shown(relative)} names nothing", path=relative)
    for step in steps:
        fault = fault_of_step(step)
        if fault is not None:
            raise InvalidName(f"{shown(relative)}: step {shown(step)}: {fault}", path=relative)
    return steps


def resolve_artifact_path(
    root: str | os.PathLike[str],
    kind: ArtifactKind | str,
    relative: str,
    policy: ArtifactPathPolicy | None = None,
) -> Path:
    """Give the place of an artifact, by names alone: nothing is looked up on the disk but by the policy.

    Args:
        root: The artifact root; a relative one begins at the current folder.
        kind: Which of its folders the path begins in.
        relative: The path below that folder, ``/`` between its steps.
        policy: What is off limits. Without one only that question is left out: the path lies below the
            folder all the same.

    Returns:
        An absolute path.

    Raises:
        OffloadError: In this order: :class:`EmptyName`, :class:`PathEscape`, :class:`AbsolutePath`,
            :class:`InvalidName`, :class:`InternalState`, :class:`InternalRoot`.

    >>> resolve_artifact_path("/srv/run", "output", "a//./b.md").as_posix()
    '/srv/run/outputs/a/b.md'
    """
    folder = str(absolute(root) / ArtifactKind(kind).folder)
    path = Path(folder, *split_relative(relative))
    # Holds by the way it was made; held to it here, because everything else stands on it.
    if not os.path.normpath(path).startswith(folder + os.sep):
        raise PathEscape(f"{shown(relative)} leads out of its folder", path=relative)
    if policy is not None:
        ask_policy(policy, path, relative)
    return path


def ask_policy(policy: ArtifactPathPolicy, path: Path, asked: str) -> None:
    """Ask whether a path is off limits.

    Args:
        policy: Whom to ask.
        path: An absolute path.
        asked: The path as the caller knows it, for the error.

    Raises:
        InternalState: It is one of the host's locations. Asked first.
        InternalRoot: It lies in the host's tree.
    """
    if policy.is_internal_state(path):
        raise InternalState(f"{shown(asked)} is the host's own", path=asked)
    tree = policy.internal_root()
    if tree is not None and is_at_or_below(path, absolute(tree)):
        raise InternalRoot(f"{shown(asked)} lies in the host's own tree", path=asked)


def relative_to_root(root: str | os.PathLike[str], path: str | os.PathLike[str]) -> str:
    """Write a path as the conversation is to know it.

    Returns:
        What follows the root, ``/`` between the steps; the absolute path where it does not lie below.

    >>> relative_to_root("/srv/run", "/srv/run/outputs/x.md")
    'outputs/x.md'
    """
    place = absolute(path)
    try:
        return place.relative_to(absolute(root)).as_posix()
    except ValueError:
        return str(place)
