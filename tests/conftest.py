"""What all tests share: hypothesis profiles and the backend of asynchronous tests."""

from __future__ import annotations

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
settings.load_profile("default")


@pytest.fixture
def anyio_backend():
    return "asyncio"
