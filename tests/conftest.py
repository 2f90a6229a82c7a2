"""What all tests share: hypothesis profiles and the backend of asynchronous tests."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

# Examples are whole streams: some take a while to make, none says anything about speed.
settings.register_profile(
    "default",
    max_examples=150,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
# For a long run by hand: `make test-python PYTEST_ARGS="tests/laws --hypothesis-profile=thorough"`.
settings.register_profile("thorough", parent=settings.get_profile("default"), max_examples=5000)
# The same examples in every run: a check of a change tells of the change, and the search for what nobody
# has thought of goes on at the desk, where a find is looked into.
settings.register_profile(
    "automation", parent=settings.get_profile("default"), derandomize=True, database=None
)
settings.load_profile("automation" if os.environ.get("CI") else "default")


@pytest.fixture
def anyio_backend():
    return "asyncio"
