"""Requests of every kind, and what they are answered with: at the right paths, at wrong ones, and hostile."""

from __future__ import annotations

import contextlib
import json
import time
from typing import TYPE_CHECKING

import pytest
from starlette.testclient import TestClient
from tests.support.http import ASKED, PATHS, ask, connected, read_reply, request_bytes, send
from tests.support.samples import ANTHROPIC, CHAT

import turntape
from turntape.serving import application as application_module
from turntape.serving.application import Application
from turntape.serving.endpoints import ENDPOINTS
from turntape.serving.library import TurnLibrary
from turntape.serving.turns import turn_of
from turntape.testing import ReplayServer

if TYPE_CHECKING:
    from turntape.serving.arrivals import RecordedRequest

DIALECTS = list(ASKED)


def fault(reply, dialect):
    """The error that a client of this dialect reads from an answer."""
    with pytest.raises(turntape.ProviderError) as caught:
        turntape.parse_response(reply.body, dialect)
    return caught.value


def test_every_path_is_served_without_a_socket():
    turn = turn_of("t", CHAT.encode())
    requests: list[RecordedRequest] = []
    application = Application(TurnLibrary([turn], loop=True), record=requests.append)
    client = TestClient(application.asgi)
    for endpoint in ENDPOINTS:
        if endpoint.dialect is not turntape.Dialect.OPENAI_CHAT:
            continue
        path = endpoint.path.replace("{model}", "m")
        answer = client.post(path, json={**ASKED["openai-chat"], "stream": True})
        assert answer.status_code == 200
        assert answer.content == CHAT.encode()
        assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert answer.headers["x-turntape-turn"] == "t"
    assert all(request.stream for request in requests)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b'"text"',
        b"\xff\xfe{}",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"null",
        b'{"model":1,"contents":1,"input":1,"messages":1}',
        b'{"model":"m","messages":[1],"input":[1],"contents":[1],"max_tokens":1}',
        b'{"model":"m","messages":{},"input":{},"contents":1,"n":' + b"9" * 10_000 + b"}",
    ],
    ids=range(11),
)
def test_a_body_that_no_provider_takes(replay_server, dialect, body):
    replay_server.add("Hi.")
    reply = send(replay_server.url, PATHS[dialect, False], body)
    assert reply.status == 400
    assert fault(reply, dialect).kind in {"invalid_request_error", "INVALID_ARGUMENT"}
    assert replay_server.requests[0].error
    assert replay_server.requests[0].body == body
    assert replay_server.unserved == ["turn-1"]


@pytest.mark.parametrize(
    ("path", "headers", "dialect"),
    [
        ("/v1/messages/batches", {}, "anthropic"),
        ("/v1/complete", {"anthropic-version": "2023-06-01"}, "anthropic"),
        ("/v1/embeddings", {}, "openai-chat"),
        ("/v1/responses/r1/cancel", {}, "openai-responses"),
        ("/v1beta/models/m:countTokens?key=secret", {}, "gemini"),
        ("/v1/v1/messages", {}, "anthropic"),
        ("/", {}, "openai-chat"),
        ("/%0aforged%20line", {}, "openai-chat"),
        ("//v1/messages", {}, "anthropic"),
        ("/v1/messages/", {}, "anthropic"),
        ("/v1/responses/?key=secret", {}, "openai-responses"),
    ],
)
def test_an_unknown_path(replay_server, caplog, path, headers, dialect):
    reply = send(replay_server.url, path, {}, headers)
    assert reply.status == 404
    assert "is served here" in fault(reply, dialect).message
    assert replay_server.requests[0].error
    (line,) = caplog.messages
    assert "\n" not in line
    assert "secret" not in line + reply.body.decode()


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "OPTIONS"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_another_method(replay_server, dialect, method):
    reply = send(replay_server.url, PATHS[dialect, True], b"", method=method)
    assert (reply.status, reply.headers["allow"]) == (405, "POST")
    assert f"the method {method} is not served here" in fault(reply, dialect).message


@pytest.mark.parametrize(
    "headers",
    [
        {"content-type": "text/plain"},
        {"content-type": "application/x-www-form-urlencoded"},
        {"content-type": ""},
        {"content-encoding": "gzip"},
    ],
)
def test_another_content(replay_server, headers):
    reply = ask(replay_server.url, "anthropic", stream=False, headers=headers)
    assert reply.status == 415
    assert "content-" in fault(reply, "anthropic").message


def test_json_by_another_name(replay_server):
    replay_server.add(ANTHROPIC.encode())
    kind = {"content-type": "Application/JSON; charset=utf-8"}
    assert ask(replay_server.url, "anthropic", stream=True, headers=kind).status == 200


@pytest.mark.parametrize("size", [1001, 5000])
def test_a_body_that_is_too_large(size):
    with ReplayServer(max_body_bytes=1000) as server:
        reply = send(server.url, "/v1/messages", b" " * size)
        assert reply.status == 413
        assert "more than 1000 bytes" in fault(reply, "anthropic").message
        assert reply.headers["connection"] == "close"
        assert server.requests[0].body == b""


def test_a_body_that_says_that_it_is_too_large(replay_server):
    # It is refused without being kept: nothing of this size is ever in memory.
    with connected(replay_server.url) as connection:
        head = request_bytes("/v1/messages", b"", {"transfer-encoding": "chunked"})
        head = head.replace(b"content-length: 0\r\n", b"")
        connection.sendall(head)
        piece = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
        for _ in range(66):
            try:
                connection.sendall(piece)
            except OSError:
                break
        # It may have been refused, and the connection closed, while we were still talking.
        with contextlib.suppress(ConnectionError):
            assert read_reply(connection).status == 413
    assert replay_server.requests[0].status == 413


def test_a_body_that_does_not_come(replay_server, monkeypatch):
    monkeypatch.setattr(application_module, "BODY_SECONDS", 0.05)
    with connected(replay_server.url) as connection:
        connection.sendall(request_bytes("/v1/messages", b"{}")[:-1])
        reply = read_reply(connection)
    assert reply.status == 408
    assert "did not come" in fault(reply, "anthropic").message


def test_a_client_that_goes_away_before_its_body(replay_server):
    with connected(replay_server.url) as connection:
        connection.sendall(request_bytes("/v1/messages", b"{}")[:-1])
    while not replay_server.requests:
        time.sleep(0.01)
    assert "went away" in replay_server.requests[0].error
    assert replay_server.sending == 0


@pytest.mark.parametrize("data", [b"nonsense", b"GET  /", b"\x16\x03\x01"])
def test_what_is_no_http(replay_server, data):
    with connected(replay_server.url) as connection:
        connection.sendall(data + b"\r\n" * 4)
        connection.settimeout(10)
        assert connection.recv(1000).startswith(b"HTTP/1.1 400")
    assert replay_server.requests == []


def test_a_turn_by_its_name(replay_server, streams):
    replay_server.add("a", name="ä b/c")
    replay_server.add(streams / "openai-chat.sse", name="chat")
    named = {"x-turntape-turn": "chat"}
    reply = ask(replay_server.url, "openai-chat", stream=True, headers=named)
    assert reply.headers["x-turntape-turn"] == "chat"
    assert reply.body == (streams / "openai-chat.sse").read_bytes()
    reply = ask(
        replay_server.url, "openai-chat", stream=True, headers={"x-turntape-turn": "d%C3%A4"}
    )
    assert reply.status == 404
    assert "no turn 'dä': there are ä b/c, chat" in fault(reply, "openai-chat").message


def test_a_name_is_taken_as_it_is_and_as_in_a_url(replay_server):
    for name in ("50%41", "ä (1)"):
        replay_server.add(name, name=name)
    for header, name in (("50%41", "50%41"), ("50%2541", "50%41"), ("%C3%A4%20%281%29", "ä (1)")):
        reply = ask(
            replay_server.url, "anthropic", stream=False, headers={"x-turntape-turn": header}
        )
        assert reply.json()["content"][0]["text"] == name
        echoed = {"x-turntape-turn": reply.headers["x-turntape-turn"]}
        assert ask(replay_server.url, "anthropic", stream=False, headers=echoed).body == reply.body


def test_no_turn_is_left(replay_server, streams):
    replay_server.add(streams / "anthropic.sse")
    assert ask(replay_server.url, "anthropic", stream=True).status == 200
    reply = ask(replay_server.url, "anthropic", stream=True)
    assert reply.status == 404
    assert "no turn is left" in fault(reply, "anthropic").message
    assert [request.turn for request in replay_server.requests] == ["anthropic", None]


def test_one_dialect_alone():
    with ReplayServer(dialect="gemini") as server:
        assert ask(server.url, "anthropic", stream=True).status == 404
        reply = ask(server.url, "gemini", stream=True)
        assert "there is no turn" in fault(reply, "gemini").message


def test_a_fault_of_the_servers_own(replay_server, caplog):
    def broken(_request):
        raise ZeroDivisionError

    replay_server.add("Hi.", when=broken)
    reply = ask(replay_server.url, "anthropic", stream=True)
    assert reply.status == 500
    assert "see its log" in fault(reply, "anthropic").message
    assert "ZeroDivisionError" in caplog.text


def test_the_credentials_of_a_request_are_not_kept(replay_server):
    headers = {"x-goog-api-key": "secret", "authorization": "Bearer secret", "x-mine": "1"}
    path = "/v1beta/models/m:generateContent?key=secret"
    send(replay_server.url, path, ASKED["gemini"], headers)
    (request,) = replay_server.requests
    assert b"secret" not in request.to_line()
    assert "secret" not in repr(request)
    assert request.headers["x-mine"] == "1"
    assert request.request.model == "m"
    assert json.loads(request.body) == ASKED["gemini"]
