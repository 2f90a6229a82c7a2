"""The front page tells the truth: its Python runs, its commands print what it shows, its links lead."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import turntape

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"

pytestmark = pytest.mark.skipif(
    not README.is_file(),
    reason="README.md is not here: these are the tests of an installed package",
)


def blocks(language: str) -> list[str]:
    found = re.findall(
        rf"^```{language}\n(.*?)^```$", README.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    assert found, f"README.md has no {language} block"
    return found


def run_all_python() -> dict[str, object]:
    """Run the blocks in turn, as a reader would who types them into one session."""
    namespace: dict[str, object] = {}
    for block in blocks("python"):
        exec(compile(block, str(README), "exec"), namespace)  # noqa: S102 (our own text)
    return namespace


def test_the_python_runs(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    run_all_python()
    printed = capsys.readouterr().out
    assert "Let me look up the ferry to Skerrow for you.\nfind_ferry ...\n" in printed


def test_the_request_of_the_front_page_runs(monkeypatch, capsys):
    httpx2 = pytest.importorskip("httpx2")
    monkeypatch.chdir(ROOT)
    ask = run_all_python()["ask"]
    capsys.readouterr()
    body = (ROOT / "examples" / "streams" / "anthropic.sse").read_bytes()
    asked: list[str] = []

    def answer(request):
        asked.append(request.url.path)
        return httpx2.Response(200, content=body)

    with httpx2.Client(
        transport=httpx2.MockTransport(answer), base_url="https://api.example"
    ) as client:
        assert callable(ask)
        message = ask(client, {"model": "claude-demo-1"})
    assert isinstance(message, turntape.AssistantMessage)
    assert asked == ["/v1/messages"]
    assert message == turntape.decode_message(body, "anthropic")
    assert capsys.readouterr().out == "".join(
        block.text for block in message.content if isinstance(block, turntape.Text)
    )


def test_the_commands_print_what_is_shown():
    pytest.importorskip("typer")
    # A pipe is no terminal, whatever the surroundings say.
    colours = ("FORCE_COLOR", "TTY_COMPATIBLE")
    env = {name: value for name, value in os.environ.items() if name not in colours}
    for block in blocks("console"):
        prompt, shown = block.split("\n", 1)
        command, *arguments = shlex.split(prompt.removeprefix("$ "))
        assert command == "turntape"
        ended = subprocess.run(
            [sys.executable, "-m", "turntape", *arguments],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            env={**env, "PYTHONUTF8": "1"},
            check=False,
        )
        assert ended.stdout == shown


def test_the_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)", README.read_text("utf-8")):
        assert "://" in target or (ROOT / target).exists(), target


def test_the_first_commands_are_the_demonstration_and_the_tests():
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    assert [line.split("#")[0].strip() for line in lines[:2]] == ["make demo", "make test"]
