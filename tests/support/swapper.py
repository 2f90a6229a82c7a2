"""A process that swaps what lies below an artifact root, as fast as it can, until it is told to stop.

    python swapper.py KIND ROOT OUTSIDE STOP TOLD

It ends where the file STOP appears, and then writes into TOLD how often it swapped.
"""

from __future__ import annotations

import contextlib
import os
import sys
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

NUMBERS = count()


def swap_for(path: Path, put: Callable[[Path], None], take: Callable[[Path], None]) -> None:
    """Move a folder aside, put something else in its place, and the folder back.

    Where the writer has made the folder anew meanwhile, what was moved aside stays there.
    """
    aside = path.with_name(f"{path.name}-aside-{next(NUMBERS)}")
    with contextlib.suppress(OSError):
        path.rename(aside)
    with contextlib.suppress(OSError):
        put(path)
    with contextlib.suppress(OSError):
        take(path)
    if not os.path.lexists(path):
        with contextlib.suppress(OSError):
            aside.rename(path)


def link_to(target: Path) -> Callable[[Path], None]:
    return lambda path: path.symlink_to(target)


def main(kind: str, root: Path, outside: Path, stop: Path, told: Path) -> None:
    victim = outside / "victim.md"
    agent, final = root / "outputs" / "scout", root / "outputs" / "scout" / "t1-result.md"

    def flicker(path: Path, put: Callable[[Path], None]) -> None:
        with contextlib.suppress(OSError):
            put(path)
        with contextlib.suppress(OSError):
            path.unlink()

    def temporary() -> None:
        with contextlib.suppress(OSError):
            for path in agent.glob(".turntape-*.tmp"):
                path.unlink()
                path.symlink_to(victim)

    def hard_temporary() -> None:
        with contextlib.suppress(OSError):
            for path in agent.glob(".turntape-*.tmp"):
                path.unlink()
                os.link(victim, path)

    swaps: dict[str, Callable[[], None]] = {
        "folder-for-link": lambda: swap_for(agent, link_to(outside), Path.unlink),
        "outputs-for-link": lambda: swap_for(root / "outputs", link_to(outside), Path.unlink),
        "folder-for-file": lambda: swap_for(agent, Path.touch, Path.unlink),
        "folder-for-folder": lambda: swap_for(agent, Path.mkdir, Path.rmdir),
        "final-link": lambda: flicker(final, link_to(victim)),
        "final-dangling": lambda: flicker(final, link_to(outside / "new.md")),
        "final-pipe": lambda: flicker(final, os.mkfifo),
        "final-hard-link": lambda: flicker(final, lambda path: os.link(victim, path)),
        "temporary-for-link": temporary,
        "temporary-for-hard-link": hard_temporary,
    }
    swap, done = swaps[kind], 0
    told.write_text("0", "ascii")  # the sign that it begins
    while not stop.exists():
        for _ in range(20):
            swap()
        done += 20
    told.write_text(str(done), "ascii")


if __name__ == "__main__":
    main(sys.argv[1], *map(Path, sys.argv[2:]))
