"""A process that writes to a tape until it is killed or done; run as a script.

    tape_worker.py PATH NAME FSYNC SIZE COUNT COMPACT_EVERY SEED

It appends rows `NAME:0`, `NAME:1`, …, each with up to SIZE more characters, and prints the number of each
row once the store has acknowledged it. Every so many rows it compacts the tape instead.
"""

from __future__ import annotations

import os
import random
import sys

from turntape import TranscriptMessage, TranscriptStore


def main() -> None:
    path, name, fsync = sys.argv[1:4]
    size, count, compact_every, seed = map(int, sys.argv[4:])
    chance = random.Random(seed)
    with TranscriptStore(path, fsync=fsync, timeout=60) as store:  # type: ignore[arg-type]
        os.write(1, b"ready\n")
        for number in range(count):
            if compact_every and number % compact_every == compact_every - 1:
                store.compact()
            filler = "x" * chance.randint(0, size)
            store.append(TranscriptMessage.user(f"{name}:{number}:{filler}"))
            # Not buffered: what was acknowledged is known whatever happens next.
            os.write(1, b"%d\n" % number)


if __name__ == "__main__":
    main()
