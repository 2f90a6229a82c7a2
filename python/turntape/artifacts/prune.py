"""What lies below an artifact root, and removing the oldest of it."""

from __future__ import annotations

import contextlib
import stat
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from turntape.artifacts.folders import identity_of, is_link
from turntape.artifacts.locate import artifact_steps
from turntape.artifacts.names import is_default_name, is_temporary
from turntape.artifacts.paths import ArtifactKind, absolute, relative_to_root
from turntape.artifacts.store import STALE_SECONDS, Store, as_storage_failure
from turntape.errors import OffloadError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from turntape.artifacts.folders import Folder, Identity
    from turntape.artifacts.policy import ArtifactPathPolicy

__all__ = ["PruneReport", "StoredArtifact", "list_artifacts", "prune"]


@dataclass(frozen=True, slots=True)
class StoredArtifact:
    """A file below an artifact root.

    Attributes:
        kind: In which folder it lies.
        relative_path: Its path as the conversation knows it.
        stored_bytes: How large it is.
        modified: When it was written, in seconds since 1970.
        default_name: Whether its name is one that turntape gives, so that it may be pruned.
    """

    kind: ArtifactKind
    relative_path: str
    stored_bytes: int
    modified: float
    default_name: bool


@dataclass(frozen=True, slots=True)
class PruneReport:
    """What pruning did.

    Attributes:
        removed: What was removed, or with ``dry_run`` would be, oldest first.
        kept: How many files of the default naming are left.
        kept_bytes: How large those are.
        failed: The paths of what should have gone and could not.
        swept: How many temporary files of writers that died were removed.
    """

    removed: tuple[StoredArtifact, ...]
    kept: int
    kept_bytes: int
    failed: tuple[str, ...] = ()
    swept: int = 0

    @property
    def freed_bytes(self) -> int:
        """How large what was removed is."""
        return sum(artifact.stored_bytes for artifact in self.removed)


@dataclass(frozen=True, slots=True)
class _Found:
    steps: tuple[str, ...]
    status: os.stat_result
    artifact: StoredArtifact

    @property
    def age_order(self) -> tuple[float, tuple[str, ...]]:
        return self.artifact.modified, self.steps


def list_artifacts(
    root: str | os.PathLike[str],
    *,
    render_root: str | os.PathLike[str] | None = None,
    policy: ArtifactPathPolicy | None = None,
    check_owner: bool = True,
) -> list[StoredArtifact]:
    """List the regular files in the folders of artifacts, in the order of their paths.

    Links are not followed. What is off limits, lies in a folder that others may write to, or cannot be
    looked into is left out.

    Args:
        root: The artifact root.
        render_root: What rendered paths are relative to; the root if left out.
        policy: What is off limits.
        check_owner: As of :class:`ArtifactWriter`.

    Raises:
        StorageFailed: The root is not there or cannot be opened.

    >>> from tempfile import TemporaryDirectory
    >>> from turntape import ArtifactWriter
    >>> with TemporaryDirectory() as root:
    ...     artifact = ArtifactWriter(root, agent_id="scout", task_id="t1").write_default("Low tide.")
    ...     [found.relative_path for found in list_artifacts(root)]
    ['outputs/scout/t1-result.md']
    """
    store = Store(absolute(root), policy, check_owner=check_owner)
    found = list(_find(store, _render_root(root, render_root), lambda _: None))
    return [each.artifact for each in sorted(found, key=lambda each: each.steps)]


def _render_root(root: str | os.PathLike[str], render_root: str | os.PathLike[str] | None) -> Path:
    return absolute(root if render_root is None else render_root)


def _find(store: Store, render_root: Path, enter: Callable[[Folder], None]) -> Iterator[_Found]:
    """Find all files; ``enter`` is told of each folder that is looked into."""
    with as_storage_failure(str(store.root)), store.folder((), create=False, asked="."):
        pass
    # Each folder is gone down to from the root, so that no depth needs more than two descriptors.
    waiting: list[tuple[str, ...]] = [(kind.folder,) for kind in ArtifactKind]
    while waiting:
        steps = waiting.pop()
        try:
            with store.folder(steps, create=False, asked="/".join(steps)) as (folder, _):
                enter(folder)
                entries = [(name, folder.status(name)) for name in folder.names()]
        except (OSError, OffloadError):
            continue
        for name, status in entries:
            here = (*steps, name)
            if status is None or is_link(status):
                continue
            if stat.S_ISDIR(status.st_mode):
                waiting.append(here)
            elif stat.S_ISREG(status.st_mode) and not is_temporary(name):
                artifact = _artifact(store, here, status, render_root)
                if artifact is not None:
                    yield _Found(here, status, artifact)


def _artifact(
    store: Store, steps: tuple[str, ...], status: os.stat_result, render_root: Path
) -> StoredArtifact | None:
    path = relative_to_root(render_root, store.root.joinpath(*steps))
    try:
        store.admit(steps, path)
    except OffloadError:
        return None
    kind = next(kind for kind in ArtifactKind if kind.folder == steps[0])
    return StoredArtifact(
        kind, path, status.st_size, status.st_mtime, default_name=is_default_name(steps[1:])
    )


def prune(
    root: str | os.PathLike[str],
    max_bytes: int | None = None,
    max_age: float | timedelta | None = None,
    *,
    keep: Iterable[str | Path] = (),
    dry_run: bool = False,
    render_root: str | os.PathLike[str] | None = None,
    policy: ArtifactPathPolicy | None = None,
    check_owner: bool = True,
) -> PruneReport:
    """Remove artifacts, the oldest first.

    Only regular files under names that turntape gives by itself are looked at (``<agent>/<task>-result.md``
    and such): whatever else lies below the root is the host's. Temporary files that writers left behind when
    they died go too.

    Args:
        root: The artifact root.
        max_bytes: How much may stay; the oldest go until it is no more. None for any amount.
        max_age: What is older goes, in seconds. None for any age.
        keep: Paths, as the conversation knows them or absolute, that stay whatever their age; they count
            for ``max_bytes``. Those of a history come from :func:`extract_artifact_paths`.
        dry_run: Whether to remove nothing and only say what would go.
        render_root: What rendered paths are relative to; the root if left out.
        policy: What is off limits, and so stays.
        check_owner: As of :class:`ArtifactWriter`.

    Raises:
        StorageFailed: The root is not there or cannot be opened.
        ValueError: There is no limit, or one is negative.

    >>> from tempfile import TemporaryDirectory
    >>> from turntape import ArtifactWriter
    >>> with TemporaryDirectory() as root:
    ...     writer = ArtifactWriter(root, agent_id="scout", task_id="t1")
    ...     paths = [writer.write_default("Low tide.").relative_path for _ in range(3)]
    ...     report = prune(root, max_bytes=9, keep=[paths[0]])
    >>> [artifact.relative_path for artifact in report.removed] == paths[1:]
    True
    """
    age = max_age.total_seconds() if isinstance(max_age, timedelta) else max_age
    if max_bytes is None and age is None:
        raise ValueError("prune needs a limit: max_bytes or max_age")
    if isinstance(keep, str):
        raise TypeError("`keep` are several paths; one path is a list of one")
    if (max_bytes or 0) < 0 or (age or 0) < 0:
        raise ValueError("a limit of prune is negative")
    store = Store(absolute(root), policy, check_owner=check_owner)
    shown_root = _render_root(root, render_root)
    kept_steps, kept_files = _named_by(store.root, shown_root, keep)
    swept = 0

    def sweep(folder: Folder) -> None:
        nonlocal swept
        swept += 0 if dry_run else folder.sweep(older_than=STALE_SECONDS)

    found = [each for each in _find(store, shown_root, sweep) if each.artifact.default_name]
    found.sort(key=lambda each: each.age_order)
    size = sum(each.artifact.stored_bytes for each in found)
    now = time.time()
    removed: list[StoredArtifact] = []
    failed: list[str] = []
    for each in found:
        too_old = age is not None and now - each.artifact.modified > age
        too_much = max_bytes is not None and size > max_bytes
        if not (too_old or too_much):
            continue
        if each.steps in kept_steps or identity_of(each.status) in kept_files:
            continue
        if dry_run or _remove(store, each):
            removed.append(each.artifact)
            size -= each.artifact.stored_bytes
        else:
            failed.append(each.artifact.relative_path)
    return PruneReport(tuple(removed), len(found) - len(removed), size, tuple(failed), swept)


def _named_by(
    root: Path, render_root: Path, keep: Iterable[str | Path]
) -> tuple[set[tuple[str, ...]], set[Identity]]:
    """Understand paths to keep by their names, and by the files that they lead to now."""
    steps: set[tuple[str, ...]] = set()
    files: set[Identity] = set()
    for path in map(str, keep):
        # What is no path of an artifact names none that could be removed.
        with contextlib.suppress(OffloadError):
            steps.add(artifact_steps(root, render_root, path))
        with contextlib.suppress(OSError, ValueError):
            files.add(identity_of((render_root / path).stat()))
    return steps, files


def _remove(store: Store, each: _Found) -> bool:
    asked = each.artifact.relative_path
    try:
        with store.folder(each.steps[:-1], create=False, asked=asked) as (folder, _):
            status = folder.status(each.steps[-1])
            # Written anew since it was found, it is no longer the oldest.
            if status is None or _version(status) != _version(each.status):
                return False
            folder.unlink(each.steps[-1])
            return True
    except (OSError, OffloadError):
        return False


def _version(status: os.stat_result) -> tuple[Identity, int, int]:
    return identity_of(status), status.st_mtime_ns, status.st_size
