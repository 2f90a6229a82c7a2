"""A replay server for each test, and the recordings that examples and tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("uvicorn")
pytest.importorskip("starlette")

# Users write just this.
from turntape.testing import replay_server

__all__ = ["replay_server"]


@pytest.fixture(scope="session")
def streams() -> Path:
    return Path(__file__).parents[2] / "examples" / "streams"
