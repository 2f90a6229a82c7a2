"""Which files a folder of recordings has."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["files_under"]


def files_under(folder: Path) -> Iterator[Path]:
    """Find the regular files in a folder and its folders, in order of their names; hidden ones not.

    Links to folders are not followed, so that a loop of them cannot hold it.
    """
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(root, name)
            if not name.startswith(".") and path.is_file():
                yield path
