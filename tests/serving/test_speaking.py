"""Turns that are said in another dialect, or in another form, than they were recorded in."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.support.http import ASKED, ask, send

import turntape
from turntape import MessageStop, ProviderError, Text, ToolUse, TruncatedStream, Usage
from turntape.serving.framing import pieces_of
from turntape.testing import ReplayServer

RECORDED = {
    "anthropic": "anthropic.sse",
    "openai-chat": "openai-chat.sse",
    "openai-responses": "openai-responses.sse",
    "gemini": "gemini.json",
    "bedrock-converse": "bedrock.eventstream",
}
ARRAY = "/v1beta/models/m:streamGenerateContent"


def said(message):
    """What both wires of any pair can say."""
    texts = [block.text for block in message.content if isinstance(block, Text)]
    calls = [(block.name, block.input) for block in message.content if isinstance(block, ToolUse)]
    return "".join(texts), calls, message.stop_reason, message.complete


@pytest.mark.parametrize("recorded", RECORDED)
@pytest.mark.parametrize("dialect", ASKED)
@pytest.mark.parametrize("stream", [True, False])
def test_a_turn_says_the_same_everywhere(replay_server, streams, recorded, dialect, stream):
    body = (streams / RECORDED[recorded]).read_bytes()
    replay_server.add(body)
    options: dict[str, Any] = {}
    if dialect == "openai-chat":
        options["stream_options"] = {"include_usage": True}
    reply = ask(replay_server.url, dialect, stream=stream, **options)
    assert (reply.status, reply.whole) == (200, True)
    read = turntape.decode_message if stream else turntape.parse_response
    message = read(reply.body, dialect)
    original = turntape.decode_message(body, recorded)
    assert said(message) == said(original)
    assert message.usage is not None
    assert original.usage is not None
    assert message.usage.output_tokens == original.usage.output_tokens
    assert message.model == original.model or original.model is None


@pytest.mark.parametrize("recorded", RECORDED)
def test_an_array_of_any_turn(replay_server, streams, recorded):
    body = (streams / RECORDED[recorded]).read_bytes()
    replay_server.add(body)
    reply = send(replay_server.url, ARRAY, ASKED["gemini"])
    assert isinstance(reply.json(), list)
    message = turntape.decode_message(reply.body, "gemini")
    assert said(message) == said(turntape.decode_message(body, recorded))


@pytest.mark.parametrize("wanted", [True, False, None])
def test_usage_is_told_where_chat_is_asked_for_it(replay_server, wanted):
    replay_server.add([*turn_events_with_usage()])
    options: dict[str, Any] = {}
    if wanted is not None:
        options["stream_options"] = {"include_usage": wanted}
    reply = ask(replay_server.url, "openai-chat", stream=True, **options)
    usage = turntape.decode_message(reply.body, "openai-chat").usage
    assert usage == (Usage(9, 3) if wanted else None)


def turn_events_with_usage():
    yield turntape.MessageStart("r", "m")
    yield turntape.TextDelta(0, "Hi.")
    yield turntape.ContentBlockStop(0)
    yield Usage(9, 3)
    yield MessageStop("end_turn", None, "message_stop")


@pytest.mark.parametrize("dialect", ASKED)
def test_a_turn_without_a_model_is_said_by_the_one_that_was_asked(replay_server, dialect):
    for _ in range(2):
        replay_server.add("Hi.")
    for stream in (True, False):
        reply = ask(replay_server.url, dialect, stream=stream)
        read = turntape.decode_message if stream else turntape.parse_response
        assert read(reply.body, dialect).model == "m"


def test_a_text_comes_in_pieces(replay_server):
    replay_server.add("It rains in Oslo, and it will rain tomorrow.", tempo=1000)
    reply = ask(replay_server.url, "anthropic", stream=True)
    deltas = [
        event.text
        for event in turntape.decode(reply.body, "anthropic")
        if isinstance(event, turntape.TextDelta)
    ]
    assert deltas[:3] == ["It", " rains", " in"]
    assert reply.chunks == list(pieces_of(reply.body, "sse"))


@pytest.mark.parametrize("dialect", sorted(ASKED.keys() - {"openai-chat"}))
def test_a_turn_that_was_cut_is_cut_in_every_dialect(replay_server, streams, dialect):
    for _ in range(2):
        replay_server.add((streams / "truncated.sse").read_bytes())
    reply = ask(replay_server.url, dialect, stream=True)
    assert (reply.status, reply.whole) == (200, False)
    with pytest.raises(TruncatedStream) as caught:
        turntape.decode(reply.body, dialect)
    partial = caught.value.partial
    assert partial is not None
    assert not partial.complete
    assert not any(isinstance(event, MessageStop) for event in caught.value.events)
    reply = ask(replay_server.url, dialect, stream=False)
    assert (reply.status, reply.whole) == (200, False)


def test_an_array_that_was_cut_is_not_closed(replay_server, streams):
    replay_server.add((streams / "truncated.sse").read_bytes())
    reply = send(replay_server.url, ARRAY, ASKED["gemini"])
    assert (reply.status, reply.whole) == (200, False)
    with pytest.raises(ValueError, match="Expecting"):
        json.loads(reply.body)
    with pytest.raises(TruncatedStream):
        turntape.decode(reply.body, "gemini")


@pytest.mark.parametrize("dialect", ASKED)
def test_a_turn_that_failed_fails_in_every_dialect(replay_server, streams, dialect):
    for _ in range(2):
        replay_server.add((streams / "overloaded.sse").read_bytes())
    failure = failure_of((streams / "overloaded.sse").read_bytes(), "anthropic")
    reply = ask(replay_server.url, dialect, stream=True)
    assert (reply.status, reply.whole) == (200, True)
    again = failure_of(reply.body, dialect)
    assert (again.message, again.kind) == (failure.message, failure.kind)
    assert not again.before_content
    reply = ask(replay_server.url, dialect, stream=False)
    assert reply.status == {"anthropic": 529}.get(dialect, 503)
    with pytest.raises(ProviderError, match=failure.message):
        turntape.parse_response(reply.body, dialect)


@pytest.mark.parametrize(
    "failure",
    [
        '{"error":{"code":503,"message":"Late.","status":"UNAVAILABLE"}}\n',
        'data: {"error":{"code":503,"message":"Late.","status":"UNAVAILABLE"}}\n\n',
        "event: error\ndata: Late.\n\n",
    ],
)
def test_an_array_of_a_turn_that_failed_says_so(replay_server, failure):
    payload = {"candidates": [{"content": {"parts": [{"text": "It"}], "role": "model"}}]}
    replay_server.add(f"data: {json.dumps(payload)}\n\n{failure}".encode(), dialect="gemini")
    reply = send(replay_server.url, ARRAY, ASKED["gemini"])
    assert (reply.status, reply.whole) == (200, True)
    assert len(reply.json()) == 2
    assert failure_of(reply.body, "gemini").message == "Late."


def failure_of(body, dialect):
    with pytest.raises(ProviderError) as caught:
        turntape.decode(body, dialect)
    return caught.value


@pytest.mark.parametrize("recorded", RECORDED)
@pytest.mark.parametrize("dialect", ASKED)
@pytest.mark.parametrize("after", [1, 2])
def test_an_error_after_some_events(replay_server, streams, recorded, dialect, after):
    body = (streams / RECORDED[recorded]).read_bytes()
    replay_server.add(body, name="whole")
    replay_server.add(body, name="failing", error_at=after, error_message="Not now.")
    whole, failing = (ask(replay_server.url, dialect, stream=True) for _ in range(2))
    assert (failing.status, failing.whole) == (200, True)
    assert failing.headers["x-turntape-turn"] == "failing"
    before = b"".join(list(pieces_of(whole.body, "sse"))[:after])
    assert failing.body.startswith(before)
    assert failure_of(failing.body, dialect).message == "Not now."


def test_an_error_in_an_array(replay_server, streams):
    replay_server.add(streams / "gemini.json", error_at=2, error_message="Not now.")
    reply = send(replay_server.url, ARRAY, ASKED["gemini"])
    *before, error = reply.json()
    assert before == json.loads((streams / "gemini.json").read_bytes())[:2]
    assert error["error"]["message"] == "Not now."
    assert failure_of(reply.body, "gemini").message == "Not now."


def test_no_error_after_the_last_event(replay_server, streams):
    body = (streams / "anthropic.sse").read_bytes()
    replay_server.add(body, error_at=len(list(pieces_of(body, "sse"))))
    assert ask(replay_server.url, "anthropic", stream=True).body == body


def test_what_a_dialect_cannot_say_is_named(replay_server, streams, caplog):
    replay_server.add(streams / "anthropic.sse")
    with caplog.at_level("INFO", "turntape.serving"):
        ask(replay_server.url, "openai-chat", stream=True)
    (request,) = replay_server.requests
    assert request.notes
    assert "re-encoded, with notes: " in caplog.text
    line = json.loads(request.to_line())
    assert line["notes"][0]["code"] == request.notes[0].code


def test_a_turn_that_cannot_be_said(replay_server):
    events = [turntape.TextDelta(3, "no start"), turntape.ContentBlockStop(9)]
    replay_server.add(events, name="odd")
    reply = ask(replay_server.url, "anthropic", stream=True)
    assert reply.status == 422
    with pytest.raises(ProviderError, match="the turn 'odd' cannot be said as anthropic: "):
        turntape.parse_response(reply.body, "anthropic")


@pytest.mark.parametrize("stream", [True, False])
def test_a_text_that_no_bytes_say_is_refused(replay_server, caplog, stream):
    replay_server.add("half \ud800", name="torn")
    replay_server.add("Hi.", name="whole")
    for name, model in (("torn", "m"), ("whole", "\ud800")):
        reply = ask(replay_server.url, "openai-chat", stream=stream, model=model)
        assert reply.status == 422
        with pytest.raises(ProviderError, match=f"the turn '{name}' cannot be said as openai-chat"):
            turntape.parse_response(reply.body, "openai-chat")
    assert "Traceback" not in caplog.text


def test_a_tape_answers_by_what_was_asked(tmp_path):
    path = tmp_path / "talk.jsonl"
    call = turntape.NativeToolCall("c1", "ls", "{}")
    with turntape.TranscriptStore(path) as store:
        store.append_many(
            [
                turntape.TranscriptMessage.user("What is there?"),
                turntape.TranscriptMessage.assistant_with_calls("", [call]),
                turntape.TranscriptMessage("tool", "a.txt", tool_call_id="c1"),
                turntape.TranscriptMessage("assistant", "One file."),
            ]
        )
    with ReplayServer(path, choice="content") as server:
        question = [{"role": "user", "content": "What is there?"}]
        first = ask(server.url, "openai-chat", stream=False, messages=question).json()
        said = first["choices"][0]["message"]
        assert said["tool_calls"][0]["function"] == {"name": "ls", "arguments": "{}"}
        result = {"role": "tool", "tool_call_id": said["tool_calls"][0]["id"], "content": "a.txt"}
        answer = ask(server.url, "openai-chat", stream=False, messages=[*question, said, result])
        assert answer.json()["choices"][0]["message"]["content"] == "One file."
        other = [{"role": "user", "content": "Who is there?"}]
        assert ask(server.url, "openai-chat", stream=False, messages=other).status == 404
        assert [request.turn for request in server.requests] == [
            "talk.jsonl:2",
            "talk.jsonl:4",
            None,
        ]
