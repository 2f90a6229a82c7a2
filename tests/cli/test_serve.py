"""``turntape serve``: the command as a process, and what it refuses."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.support.http import ask, connected, request_bytes
from tests.support.samples import CHAT

from turntape.serving.framing import pieces_of

if TYPE_CHECKING:
    from collections.abc import Generator

pytest.importorskip("uvicorn")
pytest.importorskip("starlette")

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals differ there")


@contextlib.contextmanager
def serving(*arguments) -> Generator[tuple[subprocess.Popen[str], str]]:
    """Run the command; give the process and the address that it printed."""
    command = [sys.executable, "-m", "turntape", "serve", "--port", "0", *map(str, arguments)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
    ) as process:
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


@posix
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_a_signal_stops_it(tmp_path, number):
    recording, record = tmp_path / "rain.sse", tmp_path / "requests.jsonl"
    recording.write_text(CHAT)
    with serving(recording, "--tempo", "0", "--record", record) as (process, url):
        reply = ask(url, "openai-chat", stream=True, headers={"authorization": "Bearer secret"})
        assert reply.body == CHAT.encode()
        assert ask(url, "anthropic", stream=True).status == 404
        process.send_signal(number)
        _, log = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "serving 1 turns; Ctrl-C stops" in log
    assert "POST /v1/chat/completions: 200: turn rain as recorded" in log
    assert "POST /v1/messages: 404: no turn is left" in log
    assert log.endswith("stopped\n")
    first, second = map(json.loads, record.read_text().splitlines())
    assert (first["turn"], first["status"]) == ("rain", 200)
    assert (second["turn"], second["status"]) == (None, 404)
    assert "secret" not in record.read_text()


@posix
def test_a_second_signal_does_not_wait_for_answers(tmp_path):
    (tmp_path / "rain.sse").write_text(CHAT)
    with serving(tmp_path, "--tempo", "0.001") as (process, url), connected(url) as connection:
        connection.sendall(
            request_bytes("/v1/chat/completions", b'{"model":"m","stream":true,"messages":[]}')
        )
        assert connection.recv(12) == b"HTTP/1.1 200"
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    assert process.returncode == 0


def test_options_reach_the_server(tmp_path):
    (tmp_path / "rain.sse").write_text(CHAT)
    options = ("--loop", "--cut-at", "2", "--ending", "clean", "--chunk", "7", "--tempo", "9")
    with serving(tmp_path, *options) as (_, url):
        for _ in range(2):
            reply = ask(url, "openai-chat", stream=True)
            assert reply.body == b"".join(list(pieces_of(CHAT.encode(), "sse"))[:2])
            assert {len(chunk) for chunk in reply.chunks[:-1]} == {7}
            assert reply.whole
    with serving(tmp_path, "--error-at", "0", "--error-status", "503", "--dialect", "gemini") as (
        _,
        url,
    ):
        assert ask(url, "gemini", stream=True).status == 503
        assert ask(url, "openai-chat", stream=True).status == 404


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["none.sse"], 2, "none.sse: there is no such file or folder"),
        (["rain.sse", "--cut-at", "soon"], 2, "'soon' is no place to cut"),
        (["rain.sse", "--tempo", "inf"], 2, "the tempo is a number"),
        (["rain.sse", "--host", "0.0.0.0"], 2, "--allow-remote says that this is meant"),  # noqa: S104
        (["rain.sse", "--record", "no/such/folder"], 1, "cannot be written: No such file"),
        (["rain.sse", "README.md"], 1, "README.md: no recorded turn: nothing in the body tells"),
        (["empty"], 1, "there is no recorded turn to serve"),
        (["rain.sse", "--host", "no host", "--allow-remote"], 1, "cannot listen at no host"),
    ],
)
def test_what_it_refuses(run, tmp_path, monkeypatch, arguments, status, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rain.sse").write_text(CHAT)
    (tmp_path / "README.md").write_text("# Recordings\n")
    (tmp_path / "empty").mkdir()
    ended = run("serve", "--port", "0", *arguments)
    assert (ended.status, ended.stdout) == (status, "")
    assert said in ended.stderr


def test_an_address_that_is_taken(run, tmp_path):
    (tmp_path / "rain.sse").write_text(CHAT)
    with serving(tmp_path) as (_, url):
        ended = run("serve", tmp_path, "--port", url.rpartition(":")[2])
    assert ended.status == 1
    assert "cannot listen at 127.0.0.1, port" in ended.stderr


def test_without_the_extra(tmp_path):
    (tmp_path / "rain.sse").write_text(CHAT)
    blocked = (
        "import sys; sys.modules['uvicorn'] = None; sys.argv = ['turntape', 'serve', sys.argv[1]];"
        "from turntape.cli import main; main()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", blocked, tmp_path],
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
    assert ended.returncode == 2
    assert "serving needs starlette and uvicorn, and 'uvicorn' is not installed" in ended.stderr
    assert "pip install 'turntape[serve]'" in ended.stderr
