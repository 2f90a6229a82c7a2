"""A provider for tests that is none: a replay server, and a pytest fixture that gives one.

In a ``conftest.py``, either makes the fixture known to all tests beside and below it:

    from turntape.testing import replay_server

    pytest_plugins = ["turntape.testing"]  # only in the outermost conftest.py

Without pytest, :class:`ReplayServer` is a context manager. Both need the extra ``serve``.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

try:
    from turntape.serving.arrivals import RecordedRequest
    from turntape.serving.replay import ReplayServer
except ModuleNotFoundError as error:
    _missing = (error.name or "turntape").partition(".")[0]
    if _missing == "turntape":
        raise
    raise ModuleNotFoundError(
        f"turntape.testing needs starlette and uvicorn, and {_missing!r} is not installed: "
        "pip install 'turntape[serve]'",
        name=error.name,
    ) from error

if TYPE_CHECKING:
    from collections.abc import Generator

__all__ = ["RecordedRequest", "ReplayServer", "replay_server"]


def _replay_server() -> Generator[ReplayServer]:
    """A replay server without turns, closed when the test ends."""
    with ReplayServer() as server:
        yield server


if find_spec("pytest") is not None:
    import pytest

    replay_server = pytest.fixture(name="replay_server")(_replay_server)
else:

    def __getattr__(name: str) -> Any:
        if name == "replay_server":
            raise ModuleNotFoundError(
                "the fixture replay_server needs pytest, which is not installed; without it use "
                "turntape.testing.ReplayServer as a context manager",
                name="pytest",
            )
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
