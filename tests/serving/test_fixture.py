"""``turntape.testing`` as its users have it: as a fixture, by itself, and where something is missing."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.http import ASKED, ask

import turntape
from turntape import Dialect
from turntape.testing import ReplayServer

EXAMPLES = Path(__file__).parents[2] / "examples"

TEST = """
import json, urllib.request

def test_it(replay_server):
    replay_server.add("Hi.")
    request = urllib.request.Request(
        replay_server.base_url_for("openai") + "/chat/completions",
        json.dumps({"model": "m", "messages": []}).encode(),
        {"content-type": "application/json"},
    )
    with urllib.request.urlopen(request) as response:
        assert json.load(response)["choices"][0]["message"]["content"] == "Hi."

def test_each_gets_its_own(replay_server):
    assert replay_server.requests == []
"""


def run(*arguments, cwd=None):
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, check=False, encoding="utf-8", cwd=cwd
    )


@pytest.mark.parametrize(
    "conftest",
    ["from turntape.testing import replay_server", 'pytest_plugins = ["turntape.testing"]'],
)
def test_either_way_to_make_the_fixture_known(tmp_path, conftest):
    (tmp_path / "conftest.py").write_text(conftest)
    (tmp_path / "test_it.py").write_text(TEST)
    ended = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error", cwd=tmp_path)
    assert ended.returncode == 0, ended.stdout
    assert "2 passed" in ended.stdout


def test_without_pytest_there_is_the_server_alone():
    blocked = (
        "import importlib.util, sys\n"
        "find = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *more: None if name == 'pytest' else find(name, *more)\n"
        "from turntape import testing\n"
        "with testing.ReplayServer() as server: print(server.url)\n"
        "try: testing.replay_server\n"
        "except ModuleNotFoundError as error: print(error)\n"
        "try: testing.nothing\n"
        "except AttributeError as error: print(error)\n"
        "assert 'pytest' not in sys.modules\n"
    )
    ended = run("-c", blocked)
    url, missing, none = ended.stdout.splitlines()
    assert url.startswith("http://127.0.0.1:")
    assert "the fixture replay_server needs pytest, which is not installed" in missing
    assert none == "module 'turntape.testing' has no attribute 'nothing'"


@pytest.mark.parametrize("package", ["uvicorn", "starlette"])
def test_without_the_extra_it_says_what_to_install(package):
    blocked = f"import sys; sys.modules[{package!r}] = None; import turntape.testing"
    ended = run("-c", blocked)
    assert f"needs starlette and uvicorn, and '{package}' is not installed" in ended.stderr
    assert "pip install 'turntape[serve]'" in ended.stderr


def test_the_package_itself_needs_nothing_of_it():
    ended = run(
        "-c",
        "import sys, turntape; turntape.UnreadableRecording; turntape.decode;"
        "print(not {'uvicorn', 'starlette', 'pytest', 'anyio'} & sys.modules.keys())",
    )
    assert ended.stdout == "True\n"


@pytest.mark.parametrize(
    ("client", "path"),
    [
        ("openai", "/v1"),
        ("anthropic", ""),
        ("google-genai", ""),
        (Dialect.OPENAI_RESPONSES, "/v1"),
        ("gemini", ""),
    ],
)
def test_base_urls(replay_server, client, path):
    assert replay_server.base_url_for(client) == replay_server.url + path


def test_a_base_url_that_nobody_knows(replay_server):
    for client in ("opnai", Dialect.BEDROCK_CONVERSE):
        with pytest.raises(ValueError, match="no client is called"):
            replay_server.base_url_for(client)


def asked(server, text, dialect="anthropic"):
    reply = ask(server.url, dialect, stream=False, messages=[{"role": "user", "content": text}])
    if reply.status != 200:
        return reply.status
    (block,) = turntape.parse_response(reply.body, dialect).content
    assert isinstance(block, turntape.Text)
    return block.text


def test_turns_for_some_requests_alone(replay_server):
    replay_server.add("first")
    replay_server.add("ferry", when="ferry")
    replay_server.fail(429, when="too often")
    replay_server.add(
        "large", when=lambda request: request.max_tokens == 9 and "?" not in str(request)
    )
    replay_server.add("second")
    assert [
        asked(replay_server, text)
        for text in ("Is it far?", "A ferry?", "now", "too often?", "Again, a ferry?", "Is it?")
    ] == ["first", "ferry", "large", 429, "ferry", "second"]
    assert replay_server.unserved == []


def test_a_folder_a_file_and_everything_else_can_be_added(replay_server, streams):
    replay_server.add(streams)
    replay_server.add(streams / "gemini.json", name="by path")
    replay_server.add((streams / "bedrock.eventstream").read_bytes(), name="by bytes")
    assert len(replay_server.unserved) == 10
    with pytest.raises(ValueError, match="holds 8 turns: one name is for one"):
        replay_server.add(streams, name="all")
    with pytest.raises(ValueError, match="there is a turn 'by path' already"):
        replay_server.add("x", name="by path")
    with pytest.raises(turntape.UnreadableRecording):
        replay_server.add(b"nothing")
    with pytest.raises(ValueError, match="is no place to cut"):
        replay_server.add("x", cut_at="there")
    with pytest.raises(ValueError, match="the status of an error is 400 to 599"):
        replay_server.fail(200)


def test_names_that_are_made_up_are_free_ones(replay_server):
    replay_server.add("a", name="turn-1")
    replay_server.add("b")
    replay_server.fail(429)
    assert replay_server.unserved == ["turn-1", "turn-2", "turn-3"]


@pytest.mark.parametrize(
    "headers",
    [
        {"retry-after": 1},
        {"x-a": "1\r\nx-b: 2"},
        {"x-a": "20 €"},
        {"x a": "1"},
        {"": "1"},
        {"Content-Length": "3"},
        {"transfer-encoding": "chunked"},
    ],
)
def test_headers_that_cannot_be_sent(replay_server, headers):
    with pytest.raises(ValueError, match="no header that can be sent"):
        replay_server.fail(429, headers=headers)
    assert replay_server.unserved == []


def test_a_failure_with_headers(replay_server):
    replay_server.fail(429, headers={"Retry-After": "1"})
    reply = ask(replay_server.url, "anthropic", stream=True)
    assert (reply.status, reply.headers["retry-after"]) == (429, "1")


def test_what_was_asked(replay_server):
    for dialect in ASKED:
        replay_server.add("Hi.")
        ask(replay_server.url, dialect, stream=True)
    for request, dialect in zip(replay_server.requests, ASKED, strict=True):
        assert (request.dialect, request.stream, request.status) == (dialect, True, 200)
        assert request.request.messages[0].content == (turntape.Text("Hello?"),)
        assert request.request.model == "m"
    replay_server.clear()
    assert replay_server.requests == []
    assert asked(replay_server, "Hello?") == 404


def test_a_server_of_ones_own(streams):
    with ReplayServer(streams / "anthropic.sse", loop=True, chunk=9, port=0) as server:
        assert repr(server) == f"ReplayServer({server.url!r})"
        for _ in range(2):
            reply = ask(server.url, "anthropic", stream=True)
            assert reply.body == (streams / "anthropic.sse").read_bytes()


def test_the_example():
    if not EXAMPLES.is_dir():
        pytest.skip("the examples are not beside the tests")
    for package in ("anthropic", "openai", "google.genai"):
        pytest.importorskip(package)
    ended = run("-X", "utf8", EXAMPLES / "replay_server.py")
    assert ended.returncode == 0, ended.stderr
    *said, lost, asked = ended.stdout.splitlines()
    text = "Let me look up the ferry to Skerrow for you. ['find_ferry']"
    assert [line.split(maxsplit=1) for line in said] == [
        ["openai", text],
        ["anthropic", text],
        ["google-genai", text],
    ]
    assert lost.startswith("openai       lost the connection after")
    assert "'openai-chat first', 'anthropic second', 'gemini third', 'openai-chat cut'" in asked


def test_the_example_can_be_imported():
    if not EXAMPLES.is_dir():
        pytest.skip("the examples are not beside the tests")
    pytest.importorskip("google.genai")
    assert runpy.run_path(str(EXAMPLES / "replay_server.py"))["KEY"]
