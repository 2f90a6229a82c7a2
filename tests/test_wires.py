"""What the wires of Responses, Gemini and Bedrock once did wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.support.outcome import check_sum, decode_chunks, decode_whole, every
from tests.support.samples import ANTHROPIC, CHAT, call, chunk
from tests.support.streams import aws_chunk, aws_event, aws_message

import turntape
from turntape import Text, TextDelta, Thinking, ToolUse


def event(kind: str, **members: Any) -> str:
    """Write one event of a Responses stream."""
    payload = {"type": f"response.{kind}", **members}
    return f"data: {json.dumps(payload)}\n\n"


COMPLETED = event("completed", response={"status": "completed"})
CALL = {"type": "function_call", "call_id": "c", "name": "f", "arguments": ""}


def delta(at: int, text: str) -> str:
    return event("output_text.delta", output_index=at, content_index=0, delta=text)


def done(at: int, text: str) -> str:
    return event("output_text.done", output_index=at, content_index=0, text=text)


def test_pieces_of_another_kind_are_dropped():
    body = (
        event("output_item.added", output_index=0, item=CALL)
        + event("output_item.added", output_index=1, item={"type": "reasoning", "id": "r"})
        + event("function_call_arguments.delta", output_index=0, delta="{}")
        + event("reasoning_text.delta", output_index=0, delta="not an argument")
        + event("reasoning_text.done", output_index=0, text="not an argument")
        + event("reasoning_text.delta", output_index=1, delta="Hm.")
        + event("function_call_arguments.delta", output_index=1, delta="no reasoning")
        + event("function_call_arguments.done", output_index=1, arguments="no reasoning")
        + delta(1, "no reasoning")
        + event("output_text.annotation.added", output_index=1, annotation={"a": 1})
        + COMPLETED
    )
    outcome = decode_whole(body, "openai-responses")
    check_sum(outcome)
    tool, thinking = outcome.message.content
    assert isinstance(tool, ToolUse)
    assert tool.arguments == "{}"
    assert thinking == Thinking("Hm.")
    assert {warning.code for warning in outcome.warnings} == {"dropped_fragment"}


def test_a_part_of_reasoning_that_has_ended():
    item = {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "a"}]}
    body = (
        event("output_item.done", output_index=0, item=item)
        + event("reasoning_summary_text.done", output_index=0, summary_index=1, text="b")
        + COMPLETED
    )
    outcome = decode_whole(body, "openai-responses")
    assert outcome.message.content == (Thinking("a"),)
    assert [warning.code for warning in outcome.warnings] == ["done_mismatch"]


@pytest.mark.parametrize(
    ("pieces", "whole", "text", "codes"),
    [
        (["a\ud83d"], "a\U0001f40db", "a\U0001f40db", []),
        (["a\ud83d"], "a\ud83d", "a\ufffd", ["lone_surrogate"]),
        (["a\ud83d"], "a\ud83db", "a\ufffdb", ["lone_surrogate"]),
        (["a\ud83d", "\udc0d"], "a\U0001f40d", "a\U0001f40d", []),
        (["a"], "a\ud83db", "a\ufffdb", ["lone_surrogate"]),
        (["a\ud83db"], "a\ud83db", "a\ufffdb", ["lone_surrogate"]),
    ],
)
def test_a_done_form_completes_half_a_character(pieces, whole, text, codes):
    content = [{"type": "output_text", "text": whole}]
    item = event("output_item.done", output_index=0, item={"type": "message", "content": content})
    body = "".join(delta(0, piece) for piece in pieces) + done(0, whole) + item + COMPLETED
    outcome = decode_whole(body, "openai-responses")
    check_sum(outcome)
    assert outcome.message.content == (Text(text),)
    assert [warning.code for warning in outcome.warnings] == codes


@pytest.mark.parametrize(
    "first",
    [
        done(0, "a"),
        event("content_part.done", output_index=0, part={"type": "output_text", "text": "a"}),
        event("reasoning_summary_text.done", output_index=0, summary_index=0, text="a"),
        event("output_item.done", output_index=0, item={**CALL, "arguments": "{}"}),
    ],
)
def test_a_stream_that_begins_with_a_done_form(first):
    outcome = decode_whole(first + COMPLETED, "openai-responses")
    check_sum(outcome)
    assert len(outcome.message.content) == 1


def test_items_that_all_name_the_same_place():
    calls = [{**CALL, "id": f"fc_{n}", "call_id": f"c{n}", "arguments": f"[{n}]"} for n in (1, 2)]
    texts: list[dict[str, Any]] = [
        {"type": "message", "id": f"m{n}", "content": [{"type": "output_text", "text": str(n)}]}
        for n in (1, 2)
    ]
    body = "".join(
        (event("output_item.added", output_index=0, item={**item, "content": []}) if added else "")
        + event("output_item.done", output_index=0, item=item)
        for item, added in zip((*texts, *calls), (True, False, True, False), strict=True)
    )
    outcome = decode_whole(body + COMPLETED, "openai-responses")
    check_sum(outcome)
    assert [
        block.text if isinstance(block, Text) else getattr(block, "arguments", None)
        for block in outcome.message.content
    ] == ["1", "2", "[1]", "[2]"]


def test_a_done_form_that_comes_twice_is_one_item():
    # With an id that rotates: the call id tells that it is the same.
    once, again = ({**CALL, "id": name, "arguments": "{}"} for name in ("a", "b"))
    body = (
        event("output_item.done", output_index=0, item=once)
        + event("output_item.done", output_index=0, item=again)
        + COMPLETED
    )
    outcome = decode_whole(body, "openai-responses")
    assert len(outcome.message.content) == 1


def test_arguments_may_wait_for_half_a_character_while_another_call_opens():
    fragments = [
        call("", id="a", name="f"),
        call('"\ud83d'),
        {"tool_calls": [{"index": 1, "id": "b", "function": {"name": "g", "arguments": "{}"}}]},
        call('\udc0d"'),
    ]
    body = "".join(map(chunk, fragments)) + chunk(None, "tool_calls")
    first, second = turntape.decode_message(body, "openai-chat").content
    assert isinstance(first, ToolUse)
    assert isinstance(second, ToolUse)
    assert (first.arguments, second.arguments) == ('"\U0001f40d"', "{}")


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("$.a", "a"),
        ("$['a']", "a"),
        ('$["a"]', "a"),
        ("$['a.b[0]']", "a.b[0]"),
        (r"$['it\'s']", "it's"),
        (r"$['a\\b']", "a\\b"),
        (r"$['\n\u000b\u00e9']", "\n\v\u00e9"),
        (r"$['\ud83d\udc0d']", "\U0001f40d"),
        ("$['\"']", '"'),
        (r'$["\""]', '"'),
        ("$['\u00e9\t']", "\u00e9\t"),
    ],
)
def test_names_in_paths_of_arguments(path, name):
    piece = {"jsonPath": path, "stringValue": "x"}
    part = {"functionCall": {"name": "f", "partialArgs": [piece]}}
    candidate = {"content": {"parts": [part]}, "finishReason": "STOP"}
    body = f"data: {json.dumps({'candidates': [candidate]})}\n\n"
    [tool] = turntape.decode_message(body, "gemini").content
    assert isinstance(tool, ToolUse)
    assert tool.input == {name: "x"}


TEXT = b'{"contentBlockIndex":0,"delta":{"text":"a"},"p":"x"}'
STOP = aws_event("messageStop", b'{"stopReason":"end_turn"}')


@pytest.mark.parametrize("kind", ["odd", "contentBlockStart", "metadata"])
def test_a_payload_under_another_name(kind):
    body = aws_event("contentBlockDelta", TEXT) * 3 + aws_event(kind, TEXT) + STOP
    events = turntape.decode(body, "bedrock-converse")
    assert sum(isinstance(event, TextDelta) for event in events) == 3


def test_a_delta_that_also_signs():
    said = {"reasoningContent": {"text": "a", "signature": "s"}}
    payload = json.dumps({"contentBlockIndex": 0, "delta": said}).encode()
    body = aws_event("contentBlockDelta", payload) * 3 + STOP
    assert turntape.decode_message(body, "bedrock-converse").content == (Thinking("aaa", "sss"),)


@pytest.mark.parametrize("rest", [b"\0" * 12, b"garbage, much of it", STOP[:-1] + b"?"])
def test_broken_framing_after_the_end(rest):
    body = aws_event("contentBlockDelta", TEXT) + STOP + rest + STOP
    whole = decode_whole(body, "bedrock-converse")
    assert whole.fault is None
    assert [warning.code for warning in whole.warnings] == ["not_json"]
    assert decode_chunks(every(body, 1), "bedrock-converse") == whole
    assert decode_chunks([body[:-3], body[-3:]], "bedrock-converse") == whole


def test_a_message_without_headers():
    [first, *_] = turntape.decode(aws_message({}, b'{"a":1}') + STOP, "bedrock-converse")
    assert first.type == "message_start"


@pytest.mark.parametrize("blanks", [1000, 1023, 1024, 1025, 2000])
@pytest.mark.parametrize(
    ("wire", "rest"),
    [
        (
            "gemini",
            b'[{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}]',
        ),
        ("bedrock-converse", b'{"message":"no"}'),
    ],
)
def test_blanks_before_the_body(wire, rest, blanks):
    body = b" " * blanks + rest
    whole = decode_whole(body, wire)
    assert decode_chunks(every(body, 1), wire) == whole
    assert decode_chunks([body[:1100], body[1100:]], wire) == whole


def test_detection_of_a_body_whose_lines_look_like_events():
    body = '{"type"\n:\n"message",\n"role":"assistant","content":[],\n\n"stop_reason":"end_turn"}'
    assert turntape.detect_dialect(body) == "anthropic"
    assert turntape.parse_response(body, "anthropic").complete


def test_chunks_hold_what_the_stream_holds():
    payloads = [event.data.encode() for event in turntape.SseDecoder().feed(ANTHROPIC)]
    body = b"".join(map(aws_chunk, payloads))
    assert turntape.decode(body, "anthropic") == turntape.decode(ANTHROPIC, "anthropic")
    assert turntape.detect_dialect(body) == "anthropic"
    assert turntape.detect_dialect(CHAT) == "openai-chat"
