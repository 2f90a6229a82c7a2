"""Offloading, against what a host would write that trusts its folder: open, write, fsync, rename.

On a disk the clock on the wall counts: most of the time is the disk's. On a disk whose fsync waits long, the
second one, of the folder, is as long as everything else; the row with a folder that is synchronised on both
sides tells what is turntape's own.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from benches.ratio import Target, clock, in_turn

import turntape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benches.conftest import Meter

OFFLOAD = Target(1.5, 1.2, at_most=True)
EXTRACT = Target(1)

SIZE = 256 * 1024
LINE = "2031-04-07 06:12:44 tide gauge 7: 3.41 m, rising, wind 4 from the south-west\n"
TEXT = (LINE * (SIZE // len(LINE) + 1))[:SIZE]
AGENTS = 16
"""Among so many folders the files are spread."""

MEMORY = Path("/dev/shm")  # noqa: S108 (a folder of its own is made in it)


@pytest.fixture(params=["disk", "memory"])
def folder(request: pytest.FixtureRequest) -> Iterator[Path]:
    """A fresh folder on the disk of temporary files, or in memory."""
    if request.param == "memory" and not MEMORY.is_dir():
        pytest.skip("this system has no folder in memory")
    made = tempfile.mkdtemp(dir=MEMORY if request.param == "memory" else None)
    try:
        yield Path(made)
    finally:
        shutil.rmtree(made)


def plain(folder: Path, *, durable: bool) -> Callable[[], Path]:
    """The host's own write; `durable` synchronises the folder too."""
    for agent in range(AGENTS):
        (folder / f"a{agent}").mkdir(parents=True)
    numbers = count()

    def write() -> Path:
        number = next(numbers)
        place = f"{folder}/a{number % AGENTS}"
        final, temporary = f"{place}/t{number}-result.md", f"{place}/t{number}.tmp"
        fd = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        os.write(fd, TEXT.encode())
        os.fsync(fd)
        os.close(fd)
        os.rename(temporary, final)  # noqa: PTH104 (nothing between it and the system)
        if durable:
            fd = os.open(place, os.O_RDONLY)
            os.fsync(fd)
            os.close(fd)
        return Path(final)

    return write


def offloading(folder: Path) -> Callable[[], turntape.OffloadedArtifact]:
    numbers = count()

    def offload() -> turntape.OffloadedArtifact:
        number = next(numbers)
        writer = turntape.ArtifactWriter(
            folder, agent_id=f"a{number % AGENTS}", task_id=f"t{number}"
        )
        _, artifact = turntape.offload_oversized_result(TEXT, writer, 8192, "read_artifact")
        assert artifact is not None
        return artifact

    for _ in range(AGENTS):
        offload()
    return offload


def test_offload(meter: Meter, folder: Path, request: pytest.FixtureRequest) -> None:
    where = request.node.callspec.params["folder"]
    ours = offloading(folder / "ours")
    theirs = plain(folder / "theirs", durable=False)
    durable = plain(folder / "durable", durable=True)
    assert ours().absolute_path.read_bytes() == theirs().read_bytes() == durable().read_bytes()
    if not meter.timing:
        meter.record(ours, 0)
        return
    # In memory nothing waits, and the processor's time says the same with less noise.
    now = clock if where == "memory" else time.perf_counter
    mine, other, fair = in_turn([ours, theirs, durable], now=now)
    told = f"{mine * 1e3:.2f} ms against {other * 1e3:.2f}"
    what = f"offload of 256 KiB, {where}: time against open, write, fsync, rename"
    meter.note(what, mine / other, OFFLOAD, told)
    meter.note(
        f"the same, {where}, against a write whose folder is synchronised too",
        mine / fair,
        Target(at_most=True),
        f"{mine * 1e3:.2f} ms against {fair * 1e3:.2f}",
    )
    meter.record(ours, mine)


def test_extract(meter: Meter) -> None:
    artifact = turntape.OffloadedArtifact(
        turntape.ArtifactKind.OUTPUT,
        "outputs/a/t-result.md",
        Path("/srv"),
        SIZE,
        SIZE,
        redacted=False,
    )
    pointer = turntape.render_artifact_pointer(artifact, LINE * 7, "read_artifact")
    text = f"{TEXT}\n{pointer}\n{TEXT}"

    def by_lines() -> list[str]:
        return [
            line.split(" path=")[1].split()[0]
            for line in text.split("\n")
            if line.lstrip().startswith("[artifact] ")
        ]

    assert turntape.extract_artifact_paths(text) == by_lines() == [artifact.relative_path]
    meter.compare(
        "extract_artifact_paths, 512 KiB, against a loop over lines",
        lambda: turntape.extract_artifact_paths(text),
        by_lines,
        EXTRACT,
    )
