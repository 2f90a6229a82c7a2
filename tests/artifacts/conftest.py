"""Places for artifacts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support.artifacts import Place, memory_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """An artifact root that is not there yet, and what lies beside it."""
    return Place(tmp_path / "run", tmp_path / "outside")


@pytest.fixture
def quick_place() -> Iterator[Place]:
    """The same in memory."""
    for folder in memory_folder():
        yield Place(folder / "run", folder / "outside")
