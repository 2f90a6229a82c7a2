"""A place for artifacts beside which lies what must not change, and how to see that it has not."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from turntape import ArtifactWriter, Redacted

if TYPE_CHECKING:
    from collections.abc import Iterator

SECRET = "tok-LOWTIDE-7741"


def snapshot(folder: Path) -> dict[str, tuple[Any, ...]]:
    """Everything that can be told of a tree without following a link."""
    told: dict[str, tuple[Any, ...]] = {}
    for path in [folder, *sorted(folder.rglob("*"))]:
        status = path.lstat()
        kind = stat.S_IFMT(status.st_mode)
        content: object = None
        if kind == stat.S_IFREG:
            content = path.read_bytes()
        elif kind == stat.S_IFLNK:
            content = os.readlink(path)  # noqa: PTH115 (a text)
        told[str(path.relative_to(folder))] = (
            kind, status.st_ino, status.st_mode, status.st_uid, status.st_mtime_ns, content,
        )  # fmt: skip
    return told


@dataclass
class Place:
    """An artifact root, and a folder beside it with files that belong to somebody else."""

    root: Path
    outside: Path

    def __post_init__(self) -> None:
        self.outside.mkdir()
        (self.outside / "victim.md").write_text("of somebody else\n", "utf-8")
        (self.outside / "folder").mkdir()
        self.remember()

    def remember(self) -> None:
        """Take what lies outside now for what must not change."""
        self._before = snapshot(self.outside)

    def writer(self, **options: Any) -> ArtifactWriter:
        given: dict[str, Any] = {"agent_id": "scout", "task_id": "t1", **options}
        return ArtifactWriter(self.root, **given)

    def check_outside(self) -> None:
        assert snapshot(self.outside) == self._before

    def files(self) -> dict[str, bytes]:
        """The regular files below the root."""
        return {
            path.relative_to(self.root).as_posix(): path.read_bytes()
            for path in sorted(self.root.rglob("*"))
            if path.is_file() and not path.is_symlink()
        }


def memory_folder() -> Iterator[Path]:
    """A folder in memory where there is one, so that thousands of writes wait for no disk."""
    memory = Path("/dev/shm")  # noqa: S108 (a folder of its own is made in it)
    usable = memory.is_dir() and os.access(memory, os.W_OK)
    folder = Path(tempfile.mkdtemp(prefix="turntape-", dir=memory if usable else None))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


class Scrubbing:
    """A redactor of the one secret that the tests know."""

    def redact(self, text: str, /) -> Redacted:
        return Redacted(text.replace(SECRET, "[gone]"), SECRET in text)


class Raising:
    """A redactor that fails, and quotes what it failed on."""

    def redact(self, text: str, /) -> Redacted:
        raise RuntimeError(f"cannot handle {text}")
