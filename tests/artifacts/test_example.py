"""The example of offloading runs and shows what it says it shows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "offload.py"


@pytest.mark.skipif(not EXAMPLE.exists(), reason="the examples are not beside the tests")
def test_the_example():
    ended = subprocess.run(
        [sys.executable, "-X", "utf8", EXAMPLE],
        capture_output=True,
        check=True,
        encoding="utf-8",
        timeout=120,
    )
    shown = ended.stdout.splitlines()
    assert shown[0].startswith("[artifact] kind=output path=outputs/tide_reader-")
    assert "day 1200: low tide at 06:00, read by badge [gone]" in shown
    assert shown[-4:-1] == ["refused: PathEscape", "refused: PathEscape", "refused: InternalState"]
    assert shown[-1] == "pruned 1 of 99,999 bytes"
    assert "consumed_by_parent" in ended.stderr
    assert "7741" not in ended.stdout + ended.stderr
