"""The examples run and show what they say they show."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
TEXT = "The tide in Saint-Malo rises by up to 12 mètres 🌊."
INPUT = {"port": "Saint-Malo", "days": 2}
CALL = f"call tide_table with {INPUT}"


@pytest.mark.parametrize(
    ("package", "script", "shown"),
    [
        ("httpx2", "with_httpx2.py", [TEXT, "tool_use, Usage(input_tokens=21", "MessageStop("]),
        ("aiohttp", "with_aiohttp.py", [TEXT, 'tide_table {"port": "Saint-Malo"', CALL]),
        ("requests", "with_requests.py", [TEXT, CALL]),
        (
            "openai",
            "with_openai_client.py",
            [TEXT, 'tide_table {"port": "Saint-Malo", "days": 2}'],
        ),
        ("anthropic", "with_anthropic_client.py", [TEXT, CALL]),
    ],
)
def test_example(package, script, shown):
    pytest.importorskip(package)
    if not (EXAMPLES / script).exists():
        pytest.skip("the examples are not beside the tests")
    run = subprocess.run(
        [sys.executable, "-X", "utf8", EXAMPLES / script],
        capture_output=True,
        check=False,
        encoding="utf-8",
        timeout=120,
    )
    assert run.returncode == 0, run.stderr
    assert not run.stderr
    for part in shown:
        assert part in run.stdout
