"""Another process swaps folders, links and files below the root while artifacts are written and read.

Whatever it does, nothing outside changes or is read, no half file has a final name, and the turn has its
text or a pointer.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import turntape
from turntape import OffloadError
from turntape.artifacts import descriptors

if TYPE_CHECKING:
    from collections.abc import Generator

    from tests.support.artifacts import Place

pytestmark = pytest.mark.skipif(
    os.name == "nt", reason="the paths of Windows can promise nothing against races"
)

SWAPPER = Path(__file__).parents[1] / "support" / "swapper.py"
ROUNDS = int(os.environ.get("TURNTAPE_RACE_ROUNDS", "1500"))

BODY = "low tide at six\n" * 1000
SWAPS = [
    "folder-for-link", "outputs-for-link", "folder-for-file", "folder-for-folder", "final-link",
    "final-dangling", "final-pipe", "final-hard-link",
]  # fmt: skip
TEMPORARY = ["temporary-for-link", "temporary-for-hard-link"]


@contextmanager
def swapping(kind: str, place: Place) -> Generator[None]:
    stop, count = place.root.parent / "stop", place.root.parent / "count"
    process = subprocess.Popen(
        [sys.executable, "-P", SWAPPER, kind, place.root, place.outside, stop, count]
    )
    try:
        while not count.exists():
            assert process.poll() is None
            time.sleep(0.01)
        yield
    finally:
        stop.touch()
        try:
            assert process.wait(timeout=60) == 0
        finally:
            process.kill()
    assert int(count.read_text("ascii")) > 0


def check(place: Place, wholes: set[bytes]) -> None:
    place.check_outside()
    others = {b"", (place.outside / "victim.md").read_bytes()}
    for name, content in place.files().items():
        if ".turntape-" not in name:
            # What the other process put there is its own.
            assert content in wholes or content in others, name


@pytest.mark.parametrize("kind", [*SWAPS, *TEMPORARY])
@pytest.mark.parametrize("way", ["unnamed", "named", "named-by-name", "overwrite"])
def test_swapping_while_writing(kind, way, quick_place, monkeypatch):
    if kind in TEMPORARY and way == "unnamed":
        pytest.skip("there is no temporary name to swap")
    place = quick_place
    if way == "named":
        monkeypatch.setattr(descriptors._Unnamed, "open", lambda folder: None)
    if way == "named-by-name":
        monkeypatch.setattr(descriptors, "_can_link_open", lambda: False)
    (place.root / "outputs" / "scout").mkdir(0o700, parents=True)
    for folder in (place.root, place.root / "outputs"):
        folder.chmod(0o700)
    writer = place.writer()
    outcomes: Counter[str] = Counter()
    rounds = ROUNDS // 4
    with swapping(kind, place):
        for _ in range(rounds):
            try:
                artifact = writer.write(
                    "output", "scout/t1-result.md", BODY, overwrite=way == "overwrite"
                )
                outcomes["written"] += 1
            except OffloadError as error:
                outcomes[type(error).__name__] += 1
                continue
            if way != "overwrite":
                # Else the number grows without end, and with it the search for a free one.
                with suppress(OSError):
                    artifact.absolute_path.unlink()
    assert sum(outcomes.values()) == rounds
    check(place, {BODY.encode()})
    print(kind, way, dict(outcomes))  # noqa: T201 (shown with `pytest -s`)


@pytest.mark.parametrize("kind", SWAPS)
def test_swapping_while_offloading(kind, quick_place):
    place = quick_place
    writer = place.writer()
    writer.write_default(BODY)
    pointers = 0
    with swapping(kind, place):
        for _ in range(ROUNDS // 8):
            text, artifact = turntape.offload_oversized_result(BODY, writer, 8192, "peruse")
            if artifact is None:
                assert text == BODY
            else:
                pointers += 1
                assert turntape.extract_artifact_paths(text) == [artifact.relative_path]
                with suppress(OSError):
                    artifact.absolute_path.unlink()
    check(place, {BODY.encode()})


@pytest.mark.parametrize("kind", SWAPS)
def test_swapping_while_reading(kind, quick_place):
    place = quick_place
    writer = place.writer()
    if not kind.startswith("final"):
        writer.write_default(BODY)
    else:
        (place.root / "outputs" / "scout").mkdir(0o700, parents=True)
    (place.outside / "t1-result.md").write_text("a secret of somebody else", "utf-8")
    (place.outside / "scout").mkdir()
    (place.outside / "scout" / "t1-result.md").write_text("a secret of somebody else", "utf-8")
    place.remember()
    with swapping(kind, place):
        for _ in range(ROUNDS):
            try:
                text = writer.read("outputs/scout/t1-result.md", limit=100).text
            except OffloadError:
                continue
            assert text in {BODY[:100], ""}
    place.check_outside()


@pytest.mark.parametrize("kind", ["folder-for-link", "outputs-for-link", "folder-for-folder"])
def test_swapping_while_pruning(kind, quick_place):
    place = quick_place
    (place.outside / "t1-result.md").write_text("of somebody else", "utf-8")
    (place.outside / "scout").mkdir()
    (place.outside / "scout" / "t1-result.md").write_text("of somebody else", "utf-8")
    place.remember()
    writer = place.writer()
    with swapping(kind, place):
        for _ in range(ROUNDS // 10):
            try:
                writer.write_default(BODY)
                turntape.prune(place.root, max_bytes=0)
            except OffloadError:
                continue
    place.check_outside()
