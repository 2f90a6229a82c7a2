"""What arrives: the recorded bytes where they are asked for, cut and broken where that is asked for."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.support.http import (
    ASKED,
    PATHS,
    ask,
    connected,
    read_reply,
    request_bytes,
    send,
)
from tests.support.samples import CHAT

import turntape
from turntape.serving.framing import pieces_of
from turntape.testing import ReplayServer

EXACT = {
    "anthropic": "anthropic.sse",
    "openai-chat": "openai-chat.sse",
    "openai-responses": "openai-responses.sse",
}


def wait_until(condition):
    for _ in range(1000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("it never came true")


@pytest.mark.parametrize("dialect", EXACT)
@pytest.mark.parametrize("chunk", [None, 1, 37])
def test_a_stream_is_sent_as_it_was_recorded(replay_server, streams, dialect, chunk):
    path = streams / EXACT[dialect]
    replay_server.add(path, chunk=chunk)
    reply = ask(replay_server.url, dialect, stream=True)
    assert (reply.status, reply.whole) == (200, True)
    assert reply.body == path.read_bytes()
    assert reply.headers["content-type"].startswith("text/event-stream")
    assert "content-length" not in reply.headers
    if chunk is not None:
        assert {len(piece) for piece in reply.chunks[:-1]} == {chunk}


def test_an_array_is_sent_as_it_was_recorded(replay_server, streams):
    path = streams / "gemini.json"
    replay_server.add(path)
    reply = send(replay_server.url, "/v1beta/models/m:streamGenerateContent", ASKED["gemini"])
    assert reply.body == path.read_bytes()
    assert reply.headers["content-type"].startswith("application/json")


def test_the_same_array_as_events_and_back(replay_server, streams):
    body = (streams / "gemini.json").read_bytes()
    replay_server.add(body)
    as_events = ask(replay_server.url, "gemini", stream=True).body
    assert as_events.startswith(b"data: {")
    events = turntape.decode(body, "gemini")
    assert turntape.decode(as_events, "gemini") == events
    replay_server.add(as_events)
    path = "/v1beta/models/m:streamGenerateContent"
    as_array = send(replay_server.url, path, ASKED["gemini"]).body
    assert json.loads(as_array) == json.loads(body)


def test_a_response_is_sent_as_it_was_recorded(replay_server):
    body = b'{"id" : "r1", "object":"chat.completion","model":"m","choices":[{"index":0,"message":'
    body += b'{"role":"assistant","content":"Hi."},"finish_reason":"stop"}]}\n'
    replay_server.add(body)
    reply = ask(replay_server.url, "openai-chat", stream=False)
    assert reply.body == body
    assert reply.headers["content-length"] == str(len(body))


def test_an_error_document_is_an_http_error(replay_server):
    body = b'{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"} }'
    for stream in (True, False):
        replay_server.add(body)
        reply = ask(replay_server.url, "anthropic", stream=stream)
        assert (reply.status, reply.body) == (529, body)


def test_a_stream_that_failed_is_sent_as_it_failed(replay_server, streams):
    path = streams / "overloaded.sse"
    replay_server.add(path)
    reply = ask(replay_server.url, "anthropic", stream=True)
    assert (reply.status, reply.body, reply.whole) == (200, path.read_bytes(), True)


def test_a_stream_that_was_cut_is_cut(replay_server, streams):
    path = streams / "truncated.sse"
    replay_server.add(path)
    replay_server.add(path, name="clean", ending="clean")
    lost, clean = (ask(replay_server.url, "openai-chat", stream=True) for _ in range(2))
    assert (lost.body, lost.whole) == (path.read_bytes(), False)
    assert (clean.body, clean.whole) == (path.read_bytes(), True)


@pytest.mark.parametrize("count", [0, 1, 5])
@pytest.mark.parametrize("tempo", [0, 50])
def test_cut_after_events(replay_server, streams, count, tempo):
    body = (streams / "anthropic.sse").read_bytes()
    replay_server.add(body, cut_at=count, tempo=tempo)
    reply = ask(replay_server.url, "anthropic", stream=True)
    assert not reply.whole
    assert reply.body == b"".join(list(pieces_of(body, "sse"))[:count])


@pytest.mark.parametrize("count", [0, 1, 500])
def test_cut_after_bytes(replay_server, streams, count):
    body = (streams / "anthropic.sse").read_bytes()
    replay_server.add(body, cut_at=f"{count}b")
    reply = ask(replay_server.url, "anthropic", stream=True)
    assert (reply.body, reply.whole) == (body[:count], False)


def test_cut_after_more_than_there_is(replay_server, streams):
    body = (streams / "anthropic.sse").read_bytes()
    events = len(list(pieces_of(body, "sse")))
    for place, whole in ((events, False), (events + 1, True), (f"{len(body) + 1}b", True)):
        replay_server.add(body, cut_at=place)
        reply = ask(replay_server.url, "anthropic", stream=True)
        assert (reply.body, reply.whole) == (body, whole)


def test_a_cut_response_has_no_length(replay_server):
    replay_server.add(
        b'{"object":"chat.completion","choices":[{"message":{"content":"Hi."}}]}', cut_at="9b"
    )
    reply = ask(replay_server.url, "openai-chat", stream=False)
    assert (reply.body, reply.whole) == (b'{"object"', False)


@pytest.mark.parametrize("dialect", ASKED)
@pytest.mark.parametrize("status", [400, 429, 500, 529])
def test_an_http_error_instead(replay_server, dialect, status):
    replay_server.add("Hi.", error_at=0, error_status=status, error_message="Not now.")
    replay_server.fail(status, "Not now.", headers={"retry-after": "7"})
    for headers in ({}, {"retry-after": "7"}):
        reply = ask(replay_server.url, dialect, stream=True)
        assert reply.status == status
        assert headers.items() <= reply.headers.items()
        with pytest.raises(turntape.ProviderError) as caught:
            turntape.parse_response(reply.body, dialect)
        assert caught.value.message == "Not now."
        assert caught.value.retryable == (status != 400)


def test_each_event_comes_by_itself_and_in_time(replay_server, streams):
    body = (streams / "anthropic.sse").read_bytes()
    replay_server.add(body, tempo=20)
    started = time.monotonic()
    reply = ask(replay_server.url, "anthropic", stream=True)
    assert reply.chunks == list(pieces_of(body, "sse"))
    # Never sooner; how much later is the machine's affair.
    assert time.monotonic() - started >= (0.4 + 0.02 * (len(reply.chunks) - 1)) / 20


def test_two_hundred_clients_at_once(streams):
    bodies = {name: (streams / file).read_bytes() for name, file in EXACT.items()}
    with ReplayServer(tempo=5, chunk=211) as server:
        for name, body in bodies.items():
            server.add(body, name=name)
        names = list(EXACT) * 67
        gate = threading.Barrier(200)

        def client(name):
            with connected(server.url) as connection:
                gate.wait()
                asked = json.dumps({**ASKED[name], "stream": True}).encode()
                headers = {"x-turntape-turn": name}
                connection.sendall(request_bytes(PATHS[name, True], asked, headers))
                return read_reply(connection)

        with ThreadPoolExecutor(200) as pool:
            replies = list(pool.map(client, names[:200]))
        for name, reply in zip(names, replies, strict=False):
            assert (reply.status, reply.whole, reply.body) == (200, True, bodies[name])
        assert len(server.requests) == 200
        wait_until(lambda: server.sending == 0)


def test_one_connection_for_many_requests(replay_server):
    for number in range(5):
        replay_server.add(CHAT.encode(), name=str(number))
    asked = json.dumps({**ASKED["openai-chat"], "stream": True}).encode()
    with connected(replay_server.url) as connection:
        for number in range(5):
            connection.sendall(request_bytes(PATHS["openai-chat", True], asked))
            reply = read_reply(connection)
            assert (reply.headers["x-turntape-turn"], reply.whole) == (str(number), True)


@pytest.mark.parametrize("reset", [False, True])
def test_a_client_that_goes_away_leaves_nothing_running(replay_server, streams, caplog, reset):
    replay_server.add(streams / "anthropic.sse", tempo=0.01)
    asked = json.dumps({**ASKED["anthropic"], "stream": True}).encode()
    with connected(replay_server.url) as connection:
        connection.sendall(request_bytes(PATHS["anthropic", True], asked))
        assert connection.recv(15).startswith(b"HTTP/1.1 200")
        wait_until(lambda: replay_server.sending == 1)
        if reset:
            linger = struct.pack("ii", 1, 0)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    wait_until(lambda: replay_server.sending == 0)
    assert caplog.messages == []


def test_a_client_that_reads_slowly_gets_all_and_holds_nobody(replay_server):
    words = "It rains in Oslo. " * 1_500_000
    body = f'data: {{"choices":[{{"delta":{{"content":"{words}"}}}}]}}\n\ndata: [DONE]\n\n'.encode()
    replay_server.add(body, name="large", chunk=50_000)
    asked = json.dumps({**ASKED["openai-chat"], "stream": True}).encode()
    named = {"x-turntape-turn": "large"}
    with connected(replay_server.url) as slow:
        slow.sendall(request_bytes(PATHS["openai-chat", True], asked, named))
        wait_until(lambda: replay_server.sending == 1)
        assert ask(replay_server.url, "openai-chat", stream=True, headers=named).body == body
        # What the slow one has not taken waits with the server, and nothing more is made for it.
        assert replay_server.sending == 1
        assert read_reply(slow).body == body


def test_closing_ends_answers_that_are_being_sent(streams, caplog):
    server = ReplayServer(tempo=0.001)
    server.add(streams / "anthropic.sse")
    asked = json.dumps({**ASKED["anthropic"], "stream": True}).encode()
    with connected(server.url) as connection:
        connection.sendall(request_bytes(PATHS["anthropic", True], asked))
        wait_until(lambda: server.sending == 1)
        server.close()
        assert not read_reply(connection).whole
    server.close()
    assert caplog.messages == []
    with pytest.raises(OSError, match=r"."), connected(server.url):
        pass


def test_closing_does_not_wait_for_a_client_that_never_reads(caplog):
    server = ReplayServer()
    server.add("It rains in Oslo. " * 500_000)
    asked = json.dumps(ASKED["openai-chat"]).encode()
    with connected(server.url) as connection:
        connection.sendall(request_bytes(PATHS["openai-chat", False], asked))
        wait_until(lambda: server.requests)
        server.close()
        assert not read_reply(connection).whole
    assert caplog.messages == []


def test_closing_leaves_no_thread():
    before = threading.active_count()
    for _ in range(3):
        with ReplayServer() as server:
            assert ask(server.url, "gemini", stream=True).status == 404
    assert threading.active_count() == before


@pytest.mark.anyio
async def test_it_serves_beside_a_loop_of_the_hosts_own(replay_server):
    replay_server.add(CHAT.encode())
    reply = await asyncio.to_thread(ask, replay_server.url, "openai-chat", stream=True)
    assert reply.body == CHAT.encode()
