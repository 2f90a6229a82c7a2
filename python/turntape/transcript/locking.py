"""Who may write: one thread of this process at a time, and one process at a time."""

from __future__ import annotations

import os
import threading
import time
import weakref
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from turntape._native import TapeFile

__all__ = ["Turn", "reset_after_fork", "take", "turn_of"]


class Turn:
    """The lock inside this process, one for all stores of a path.

    The lock of the system is held by a process, or by an open file of it, and not by a thread: without this
    one two threads could be let in at once.
    """

    __slots__ = ("__weakref__", "lock")

    def __init__(self) -> None:
        """Make a lock that nobody has."""
        self.lock = threading.Lock()


class _Forking(Protocol):
    def _after_fork(self) -> None: ...


_TURNS: weakref.WeakValueDictionary[str, Turn] = weakref.WeakValueDictionary()
_TURNS_LOCK = threading.Lock()
_STORES: weakref.WeakSet[_Forking] = weakref.WeakSet()


def turn_of(path: str) -> Turn:
    """The lock of a path, which must be absolute and without links."""
    with _TURNS_LOCK:
        turn = _TURNS.get(path)
        if turn is None:
            turn = _TURNS[path] = Turn()
        return turn


def reset_after_fork(store: _Forking) -> None:
    """Have a store told in every process that is forked from this one.

    A forked process has the open files of its parent, and with them its lock: to use it would be to write
    at the same time as the parent does.
    """
    _STORES.add(store)


def _after_fork_in_child() -> None:
    global _TURNS_LOCK  # noqa: PLW0603 (another thread may have had it when the process was forked)
    _TURNS_LOCK = threading.Lock()
    _TURNS.clear()
    for store in tuple(_STORES):
        store._after_fork()  # noqa: SLF001 (for stores alone)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)


def take(turn: Turn, file: TapeFile, timeout: float | None) -> bool:
    """Take both locks.

    Args:
        turn: The one inside this process.
        file: The files with the one between processes.
        timeout: How many seconds are waited in all; None for ever.

    Returns:
        Whether they were got in time; if not, neither is held.

    Raises:
        OSError: The system refused; neither is held.
    """
    if not turn.lock.acquire(blocking=False):
        started = time.monotonic()
        if not turn.lock.acquire(timeout=-1 if timeout is None else timeout):
            return False
        if timeout is not None:
            timeout = max(0.0, timeout - (time.monotonic() - started))
    try:
        got = file.acquire(timeout)
    except BaseException:
        turn.lock.release()
        raise
    if not got:
        turn.lock.release()
    return got
