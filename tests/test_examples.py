"""The examples that need no network and no client: each is run as its first lines say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"

if not EXAMPLES.is_dir():
    pytest.skip("the examples are not beside the tests", allow_module_level=True)

# What each prints, and why the others are not run here.
PRINTS = {
    "demo.py": "turntape.decode_message(body",
    "offload.py": "refused: PathEscape",
    "replay_server.py": "lost the connection after",
    "replay_to_another_provider.py": "POST /v1/messages",
    "tape.py": "At 14:10, from pier 2.",
}
ELSEWHERE = {
    "loopback_server.py": "what the clients' examples share",
    "with_aiohttp.py": "run in `tests/feeding`",
    "with_anthropic_client.py": "run in `tests/feeding`",
    "with_httpx2.py": "run in `tests/feeding`",
    "with_openai_client.py": "run in `tests/feeding`",
    "with_requests.py": "run in `tests/feeding`",
    "write_streams.py": "writes into the examples' folder",
}


def test_every_example_is_listed():
    assert {path.name for path in EXAMPLES.glob("*.py")} == PRINTS.keys() | ELSEWHERE.keys()


@pytest.mark.parametrize("name", PRINTS)
def test_an_example(name, tmp_path):
    ended = subprocess.run(
        [sys.executable, str(EXAMPLES / name)],
        check=False,
        capture_output=True,
        cwd=tmp_path,
        encoding="utf-8",
        env=os.environ | {"PYTHONIOENCODING": "utf-8"},
        timeout=60,
    )
    assert ended.returncode == 0, ended.stderr
    assert PRINTS[name] in ended.stdout
