"""Writes an artifact in a process that dies at a given step, once for every step there is.

    python killed.py WAY FOLDER

A step is a call of the system. Each is tried twice: the process dies before it, and after it; a write also
dies halfway. What is found on the disk afterwards goes to standard output as JSON, one line a death. The
children are forked from here, where there are no threads.
"""

from __future__ import annotations

import errno
import json
import os
import sys
from pathlib import Path
from typing import Any

from turntape import ArtifactWriter
from turntape.artifacts import descriptors

STEPS = ("open", "mkdir", "write", "fsync", "link", "rename", "unlink", "close", "stat", "fstat")
OLD, NEW = "the old text\n" * 50, "low tide at six\n" * 5000
KILLED, FAILED = 9, 3


def die_at(step: int, moment: str) -> None:
    """Let this process die at a step: ``before``, ``after`` or ``halfway``."""
    count = 0

    def wrap(name: str) -> None:
        real = getattr(os, name)

        def call(*arguments: Any, **options: Any) -> Any:
            nonlocal count
            count += moment != "halfway" or name == "write"
            if count == step:
                try:
                    if moment == "halfway":
                        fd, data = arguments
                        real(fd, data[: len(data) // 2])
                    if moment == "after":
                        real(*arguments, **options)
                finally:
                    os._exit(KILLED)
            return real(*arguments, **options)

        setattr(os, name, call)

    for name in STEPS:
        wrap(name)


def prepare(way: str) -> None:
    if way != "unnamed":
        # A system without files that have no name.
        setattr(descriptors._Unnamed, "open", lambda _: None)  # noqa: B010
    if way == "without-links":

        def refuse(*_: Any, **__: Any) -> None:
            raise OSError(errno.EPERM, "no hard links here")

        os.link = refuse


def write(way: str, root: Path) -> None:
    writer = ArtifactWriter(root, agent_id="scout", task_id="t1")
    writer.write("output", "scout/t1-result.md", NEW, overwrite=way == "overwrite")


def main(way: str, folder: Path) -> None:
    prepare(way)
    for moment in ("before", "after", "halfway"):
        step, ended = 0, KILLED
        while ended == KILLED:
            step += 1
            root = folder / f"{moment}-{step}"
            if way == "overwrite":
                ArtifactWriter(root, agent_id="scout", task_id="t1").write_default(OLD)
            child = os.fork()
            if child == 0:
                try:
                    die_at(step, moment)
                    write(way, root)
                except BaseException:  # noqa: BLE001 (a child must not go on as its parent)
                    os._exit(FAILED)
                os._exit(0)
            ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            found = {
                path.relative_to(root).as_posix(): path.read_text("utf-8")
                for path in root.rglob("*")
                if path.is_file()
            }
            print(json.dumps({"moment": moment, "step": step, "ended": ended, "files": found}))  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
