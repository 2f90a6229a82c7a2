"""Who may write: one thread of this process at a time, and one process at a time."""

from __future__ import annotations

import contextlib
import os
import threading
import time
import weakref
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from turntape._native import TapeFile

__all__ = ["Forked", "Turn", "give_back", "reset_after_fork", "take", "turn_of"]


class Turn:
    """The lock inside this process, one for all stores of a path.

    The lock of the system is held by a process, or by an open file of it, and not by a thread: without this
    one two threads could be let in at once.

    It knows its thread, so that whoever was interrupted while taking it can give it back without knowing
    whether it was got: ``release`` raises where it was not.
    """

    __slots__ = ("__weakref__", "lock")

    def __init__(self) -> None:
        """Make a lock that nobody has."""
        self.lock = threading.RLock()


class Forked(Protocol):
    """What has to be told that it is in a forked process now."""

    def forked(self) -> None:
        """Leave what is the parent's alone."""
        ...


class _Registry:
    """The turns of all paths, and the stores that have to hear of forks."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.turns: weakref.WeakValueDictionary[str, Turn] = weakref.WeakValueDictionary()
        self.stores: weakref.WeakSet[Forked] = weakref.WeakSet()

    def forked(self) -> None:
        # Threads that had the lock are not in this process.
        self.lock = threading.Lock()
        self.turns.clear()
        for store in tuple(self.stores):
            store.forked()


_REGISTRY = _Registry()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_REGISTRY.forked)


def turn_of(path: str) -> Turn:
    """The lock of a path, which must be absolute and without links."""
    with _REGISTRY.lock:
        turn = _REGISTRY.turns.get(path)
        if turn is None:
            turn = _REGISTRY.turns[path] = Turn()
        return turn


def reset_after_fork(store: Forked) -> None:
    """Have a store told in every process that is forked from this one.

    A forked process has the open files of its parent, and with them its lock: to use it would be to write
    at the same time as the parent does.
    """
    with _REGISTRY.lock:
        _REGISTRY.stores.add(store)


def take(turn: Turn, file: TapeFile, timeout: float | None) -> bool:
    """Take both locks. Whoever calls this has to call :func:`give_back` in every case.

    Args:
        turn: The one inside this process.
        file: The files with the one between processes.
        timeout: How many seconds are waited in all; None for ever.

    Returns:
        Whether they were got in time.

    Raises:
        OSError: The system refused.
    """
    started = time.monotonic()
    if not turn.lock.acquire(timeout=-1 if timeout is None else timeout):
        return False
    if timeout is not None:
        timeout = max(0.0, timeout - (time.monotonic() - started))
    return file.acquire(timeout)


def give_back(turn: Turn, file: TapeFile) -> None:
    """Give back those of both locks that this thread has.

    An interrupt may come behind any call, also behind one that has just got its lock, and nobody is told.
    """
    # Got where this thread has it, or nobody: in both cases the file's is no other thread's.
    if not turn.lock.acquire(blocking=False):
        return
    try:
        file.release()
    finally:
        turn.lock.release()
        # Raises where this thread did not have it before.
        with contextlib.suppress(RuntimeError):
            turn.lock.release()
