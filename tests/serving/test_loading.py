"""Turns from files: which there are, what they are called, and what is no turn."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from typing import Any

import pytest
from tests.support.samples import ANTHROPIC, CHAT

import turntape
from turntape import (
    AssistantMessage,
    Dialect,
    Message,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    TranscriptMessage,
    TranscriptStore,
    UnreadableRecording,
    Usage,
)
from turntape.serving import loading, turns


# What a turn is made of may be None in general, and is not here.
def load(paths: Any, dialect: Any = None) -> Any:
    return loading.load(paths, dialect)


def turn_of(name: str, content: Any, dialect: Any = None) -> Any:
    return turns.turn_of(name, content, dialect)


def names(loaded):
    return [turn.name for turn in loaded]


def test_every_bundled_stream_is_a_turn(streams):
    loaded = {turn.name: turn for turn in load([streams])}
    assert {turn.recording.form for turn in loaded.values()} == {"sse", "array", "event-stream"}
    for name, turn in loaded.items():
        (path,) = streams.glob(f"{name}.*")
        assert turn.recording.body == path.read_bytes()
        assert turn.said.complete == (name not in {"overloaded", "truncated"})
    assert loaded["bedrock"].recording.dialect is Dialect.BEDROCK_CONVERSE
    assert loaded["overloaded"].said.failure.kind == "overloaded_error"
    assert isinstance(loaded["truncated"].said.damage, turntape.TruncatedStream)


def test_a_body_that_was_not_streamed(tmp_path):
    body = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "heron",
        "content": [{"type": "text", "text": "It rains in Oslo."}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 1, "output_tokens": 2},
    }
    path = tmp_path / "rain.json"
    path.write_text(json.dumps(body))
    (turn,) = load([path])
    assert (turn.name, turn.recording.form) == ("rain", "response")
    message = turn.said.message()
    assert message.content == (Text("It rains in Oslo."),)
    # It was never a stream, and gets the pieces of one.
    assert len(turn.said.events) == 1 + 4 + 1 + 1 + 1


def test_a_tape_gives_each_turn_of_the_model_with_what_came_before(tmp_path):
    path = tmp_path / "talk.jsonl"
    call = turntape.NativeToolCall("c1", "ls", '{"all":true}')
    rows = [
        TranscriptMessage("system", "Be brief."),
        TranscriptMessage.user("What is there?"),
        TranscriptMessage.assistant_with_calls("Looking.", [call]),
        TranscriptMessage("tool", "a.txt", tool_call_id="c1"),
        replace(TranscriptMessage("assistant", "One"), interrupted=True),
        replace(TranscriptMessage("assistant", "One file."), model="heron", usage=Usage(9, 3)),
    ]
    with TranscriptStore(path) as store:
        store.append_many(rows)
    first, cut, last = load([path])
    assert names([first, cut, last]) == ["talk.jsonl:3", "talk.jsonl:5", "talk.jsonl:6"]
    assert first.said.message().content == (Text("Looking."), ToolUse("c1", "ls", '{"all":true}'))
    assert first.said.message().stop_reason == "tool_use"
    assert [item.role for item in first.asked] == ["system", "user"]
    assert not cut.said.complete
    message = last.said.message()
    assert (message.model, message.usage, message.complete) == ("heron", Usage(9, 3), True)
    # A turn that was cut is no history.
    assert [item.role for item in last.asked] == ["system", "user", "assistant", "user"]


def test_a_tape_keeps_what_only_the_provider_reads(tmp_path):
    path = tmp_path / "talk.jsonl"
    said = Message(
        "assistant",
        (Thinking("Hm.", "sig"), Text("Yes.")),
        model="heron",
        dialect=Dialect.ANTHROPIC,
        stop_reason="end_turn",
    )
    rows = turntape.LosslessCodec().reconcile([], [], [Message.user("Well?"), said])
    with TranscriptStore(path) as store:
        store.append_many(rows)
    (turn,) = load([path])
    assert turn.said.message().content == said.content
    assert turn.said.source is Dialect.ANTHROPIC


def test_torn_and_foreign_lines_of_a_tape_are_passed_over(tmp_path, caplog):
    path = tmp_path / "torn.jsonl"
    path.write_bytes(b'{"role":"assistant","content":"Hi."}\n[1]\n{"role":"assist')
    with caplog.at_level(logging.WARNING, "turntape.serving"):
        assert names(load([path])) == ["torn.jsonl:1"]
    assert ["line 2" in text for text in caplog.messages] == [True, False]


def test_the_request_beside_a_recording(tmp_path):
    (tmp_path / "rain.sse").write_text(CHAT)
    request = {"model": "m", "messages": [{"role": "user", "content": "Does it rain?"}]}
    (tmp_path / "rain.request.json").write_text(json.dumps(request))
    (turn,) = load([tmp_path])
    assert [item.content for item in turn.asked] == [(Text("Does it rain?"),)]


@pytest.mark.parametrize("text", ["{", "[]", '{"messages": 1}'])
def test_a_request_that_cannot_be_read_is_said(tmp_path, caplog, text):
    (tmp_path / "rain.sse").write_text(CHAT)
    (tmp_path / "rain.request.json").write_text(text)
    with caplog.at_level(logging.WARNING, "turntape.serving"):
        (turn,) = load([tmp_path])
    assert turn.asked is None
    assert "rain.request.json: no request of this recording" in caplog.text


def test_names_are_those_of_the_files_and_no_two_are_alike(tmp_path):
    for name in ("b/x.sse", "a.sse", "a.txt", ".hidden.sse", ".git/y.sse"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(CHAT)
    assert names(load([tmp_path])) == ["a", "a.txt", "b/x"]
    again = names(load([tmp_path / "a.sse", tmp_path / "a.sse", tmp_path / "a.sse"]))
    assert again == ["a", "a.sse", "a.sse~2"]


def test_what_is_no_recording_is_passed_over_in_a_folder_and_refused_by_name(tmp_path, caplog):
    (tmp_path / "README.md").write_text("# Recordings\n")
    (tmp_path / "empty.sse").write_bytes(b"")
    (tmp_path / "cut.json").write_text('{"type": "message", "content": [')
    (tmp_path / "rain.sse").write_text(CHAT)
    with caplog.at_level(logging.WARNING, "turntape.serving"):
        assert names(load([tmp_path])) == ["rain"]
    for name in ("README.md", "empty.sse", "cut.json"):
        assert f"passed over: {tmp_path / name}: no recorded turn: " in caplog.text
    (tmp_path / "none.jsonl").write_text("\n")
    for name in ("README.md", "empty.sse", "cut.json", "none.jsonl", "none.sse"):
        with pytest.raises(UnreadableRecording) as caught:
            list(load([tmp_path / name]))
        assert caught.value.path == str(tmp_path / name)
        assert str(caught.value).startswith(f"{tmp_path / name}: ")


def test_what_is_no_recording_takes_no_name(tmp_path):
    (tmp_path / "rain.md").write_text("# Rain\n")
    (tmp_path / "rain.sse").write_text(CHAT)
    assert names(load([tmp_path])) == ["rain"]


def test_a_body_whose_dialect_has_to_be_told(tmp_path):
    path = tmp_path / "odd.sse"
    path.write_text('data: {"error":{"message":"No."}}\n\n')
    with pytest.raises(UnreadableRecording, match="say which it is"):
        turn_of("odd", b'data: {"n": 1}\n\n')
    (turn,) = load([path], Dialect.OPENAI_CHAT)
    assert turn.said.failure.message == "No."


def test_what_a_turn_can_be_made_of():
    body = turn_of("t", ANTHROPIC.encode())
    message = turntape.decode_message(ANTHROPIC, "anthropic")
    for content in (body.said.events, list(body.said.events), message):
        made = turn_of("t", content, "anthropic").said
        assert made.message().content == message.content
        assert made.complete
    assert turn_of("t", "Hi.").said.message().content == (Text("Hi."),)
    call = turn_of("t", [Text("On it."), ToolUse("c1", "ls", "{}")]).said.message()
    assert (call.stop_reason, call.complete) == ("tool_use", True)
    assert turn_of("t", Message.assistant("Hi.")).said.message().content == (Text("Hi."),)
    assert turn_of("t", AssistantMessage(content=(Text("H"),))).said.complete is False
    picture = turntape.Image(turntape.UrlSource("https://a.example/b.png"))
    for nothing in (
        [1],
        [Text("a"), turntape.TextDelta(0, "a")],
        [ToolResult("c1", "x")],
        None,
        7,
        Message.user("Hi."),
        Message("assistant", (Text("See:"), picture)),
    ):
        with pytest.raises(TypeError, match="a turn is"):
            turn_of("t", nothing)
