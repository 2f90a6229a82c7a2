"""The official clients' accumulating helpers read what is written, stream by stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from turntape import (
    ContentBlockStop,
    InputJsonDelta,
    MessageStart,
    MessageStop,
    ProviderError,
    StreamEncoder,
    TextDelta,
    ThinkingDelta,
    ToolUseStart,
    Usage,
    encode,
)

if TYPE_CHECKING:
    from turntape import StopReason, StreamEvent

peers = pytest.importorskip("tests.corpus.peers", exc_type=ImportError)

SPEECH: list[StreamEvent] = [
    MessageStart("r1", "m"),
    ThinkingDelta(0, "Let me "),
    ThinkingDelta(0, "see."),
    ContentBlockStop(0),
    TextDelta(1, 'Say "Grüße",\n'),
    TextDelta(1, "京都 \u2028 🦀"),
    ContentBlockStop(1),
]
CALLS: list[StreamEvent] = [
    ToolUseStart(2, "call_a", "weigh"),
    ToolUseStart(3, "call_b", "pack"),
    InputJsonDelta(2, '{"grams":'),
    InputJsonDelta(3, '{"box": "b"}'),
    InputJsonDelta(2, " 12}"),
    ContentBlockStop(2),
    ContentBlockStop(3),
]
TEXT = 'Say "Grüße",\n京都 \u2028 🦀'
ARGUMENTS = ['{"grams": 12}', '{"box": "b"}']
TOKENS = Usage(10, 20, 3, 4, 1, 5)


def turn(reason: StopReason = "tool_use") -> list[StreamEvent]:
    calls = CALLS if reason == "tool_use" else []
    return [*SPEECH, *calls, TOKENS, MessageStop(reason, None, "message_stop")]


def replay(body):
    peers.REPLAY.body, peers.REPLAY.media_type = body, "text/event-stream"


def test_anthropic():
    replay(encode(turn(), "anthropic", source="gemini"))
    final = peers.anthropic_final()
    thinking, text, first, second = final["content"]
    assert (thinking["thinking"], text["text"]) == ("Let me see.", TEXT)
    assert (first["id"], first["name"], first["input"]) == ("call_a", "weigh", {"grams": 12})
    assert second["input"] == {"box": "b"}
    assert (final["id"], final["model"], final["stop_reason"]) == ("r1", "m", "tool_use")
    usage = final["usage"]
    assert (usage["input_tokens"], usage["output_tokens"]) == (10, 20)
    assert (usage["cache_read_input_tokens"], usage["cache_creation_input_tokens"]) == (3, 4)


def test_chat():
    replay(encode(turn(), "openai-chat", source="anthropic", created=7))
    final = peers.chat_final()
    [choice] = final["choices"]
    assert choice["message"]["content"] == TEXT
    assert choice["message"]["reasoning_content"] == "Let me see."
    calls = choice["message"]["tool_calls"]
    assert [call["id"] for call in calls] == ["call_a", "call_b"]
    assert [call["function"]["arguments"] for call in calls] == ARGUMENTS
    assert (choice["finish_reason"], final["created"]) == ("tool_calls", 7)
    assert final["usage"]["prompt_tokens"] == 17
    assert final["usage"]["completion_tokens_details"]["reasoning_tokens"] == 5


def test_responses():
    replay(encode(turn(), "openai-responses", source="anthropic"))
    final = peers.responses_final()
    assert [item["type"] for item in final["output"]] == [
        "reasoning",
        "message",
        "function_call",
        "function_call",
    ]
    assert final["output"][1]["content"][0]["text"] == TEXT
    assert [item["arguments"] for item in final["output"][2:]] == ARGUMENTS
    assert final["status"] == "completed"


@pytest.mark.parametrize(
    ("reason", "word"),
    [
        ("end_turn", "end_turn"),
        ("max_tokens", "max_tokens"),
        ("content_filter", "refusal"),
        ("unknown", None),
    ],
)
def test_every_stop_is_read_by_anthropic(reason, word):
    replay(encode(turn(reason), "anthropic"))
    assert peers.anthropic_final()["stop_reason"] == word


@pytest.mark.parametrize(
    ("reason", "word"),
    [("end_turn", "stop"), ("context_window", "length"), ("unknown", None)],
)
def test_every_stop_is_read_by_chat(reason, word):
    replay(encode(turn(reason), "openai-chat"))
    assert peers.chat_final()["choices"][0].get("finish_reason") == word


@pytest.mark.parametrize(
    ("dialect", "final"), [("anthropic", "anthropic"), ("openai-chat", "chat")]
)
def test_a_fault_is_raised(dialect, final):
    encoder = StreamEncoder(dialect)
    body = b"".join(map(encoder.feed, SPEECH))
    body += encoder.fail(ProviderError("Too much", kind="overloaded_error", status=529))
    replay(body)
    with pytest.raises((peers.anthropic.APIError, peers.openai.APIError), match="Too much"):
        getattr(peers, f"{final}_final")()
