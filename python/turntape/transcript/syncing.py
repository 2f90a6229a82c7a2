"""When a store waits for the disk."""

from __future__ import annotations

import time
from typing import Literal, TypeAlias

__all__ = ["FsyncPolicy", "Unsynced"]

FsyncPolicy: TypeAlias = Literal["always", "batch", "never"]
"""When a store waits for the disk: before every ``append`` returns, now and then, or not at all."""


class Unsynced:
    """The rows that the system has and the disk may not.

    Attributes:
        policy: The policy.
        rows: How many there are; with ``never`` at least 1 where there are any.
        counts: Whether it matters how many there are, and so whether ``add`` is to be called.
    """

    __slots__ = ("_batch_rows", "_batch_seconds", "_oldest", "counts", "policy", "rows")

    def __init__(self, policy: FsyncPolicy, batch_rows: int, batch_seconds: float) -> None:
        """Begin with none.

        Raises:
            ValueError: An argument has a value that cannot be.
        """
        if policy not in {"always", "batch", "never"}:
            raise ValueError(f"fsync is 'always', 'batch' or 'never', not {policy!r}")
        if batch_rows < 1 or not batch_seconds >= 0:
            raise ValueError("batch_rows is at least 1, batch_seconds at least 0")
        self.policy = policy
        self.rows = 0
        self.counts = policy != "never"
        self._batch_rows = batch_rows
        self._batch_seconds = batch_seconds
        self._oldest = 0.0

    def add(self, count: int) -> bool:
        """Note rows that were written; whether the disk is waited for now."""
        if self.policy != "batch":
            self.rows += count
            return self.policy == "always"
        now = time.monotonic()
        if not self.rows:
            self._oldest = now
        self.rows += count
        return self.rows >= self._batch_rows or now - self._oldest >= self._batch_seconds
