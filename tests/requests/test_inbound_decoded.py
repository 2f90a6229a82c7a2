"""A turn that is read back is the turn that was decoded."""

from __future__ import annotations

import json
from typing import Any

import pytest

import turntape

CALL = {"id": "c1", "type": "function", "function": {"name": "dim", "arguments": '{"n": 1}'}}
IMAGE = {"inlineData": {"mimeType": "image/png", "data": "aQ=="}}

CHAT: list[Any] = [
    {"content": "a"},
    {"content": None, "tool_calls": [CALL, {**CALL, "id": "c2", "extra_content": {"g": 1}}]},
    {"content": "a", "reasoning_content": "r", "tool_calls": [CALL]},
    {
        "content": "a",
        "reasoning": "r",
        "reasoning_details": [{"type": "t", "text": "r", "signature": "s"}],
    },
    {
        "content": "a",
        "reasoning_details": [{"summary": "x"}, {"text": "y", "data": "d"}, {"data": "e"}],
    },
    {"content": None, "refusal": "no"},
    {"content": "a", "annotations": [{"type": "url_citation", "n": 1}]},
    {
        "content": [
            {"type": "thinking", "thinking": [{"type": "text", "text": "t"}]},
            {"type": "text", "text": "a"},
        ]
    },
    {"content": [{"type": "reasoning", "summary": [{"text": "t", "signature": "s"}]}]},
    {"content": None, "function_call": {"name": "now", "arguments": "{}"}},
    {"content": "", "tool_calls": [{"function": {"name": "now", "arguments": ""}}]},
    {"content": "a", "images": [{"type": "image_url", "image_url": {"url": "u"}}]},
]

ANTHROPIC: list[Any] = [
    [{"type": "text", "text": "a", "citations": [{"n": 1}]}],
    [
        {"type": "thinking", "thinking": "t", "signature": "s"},
        {"type": "redacted_thinking", "data": "d"},
        {"type": "tool_use", "id": "t", "name": "f", "input": {"b": 1, "a": 2}, "caller": {"x": 1}},
    ],
    [{"type": "server_tool_use", "id": "s", "name": "f", "input": {}}, {"type": "of_tomorrow"}],
]

RESPONSES: list[Any] = [
    [
        {
            "type": "reasoning",
            "id": "rs",
            "summary": [
                {"type": "summary_text", "text": "a"},
                {"type": "summary_text", "text": "b"},
            ],
            "encrypted_content": "E",
        },
        {
            "type": "function_call",
            "id": "fc",
            "call_id": "c",
            "name": "f",
            "arguments": "{}",
            "status": "completed",
        },
        {"type": "custom_tool_call", "id": "ct", "call_id": "d", "name": "g", "input": "x"},
        {"type": "web_search_call", "id": "ws", "status": "completed"},
        {
            "type": "message",
            "id": "m",
            "role": "assistant",
            "status": "completed",
            "phase": "final_answer",
            "content": [
                {"type": "output_text", "text": "a", "annotations": [{"type": "url_citation"}]},
                {"type": "output_text", "text": "b", "annotations": []},
            ],
        },
    ],
    [
        {
            "type": "function_call",
            "id": "fc",
            "call_id": "c",
            "name": "f",
            "arguments": "{}",
            "namespace": "n",
            "caller": {"type": "direct"},
        }
    ],
]

GEMINI: list[Any] = [
    [{"text": "t", "thought": True, "thoughtSignature": "s"}, {"text": "a"}],
    [{"text": "a"}, {"text": "", "thoughtSignature": "s"}],
    [
        {"functionCall": {"name": "now"}},
        {"functionCall": {"name": "f", "args": {"n": 1}, "id": "i"}},
    ],
    [{"functionCall": {"name": "now", "args": {}}, "thoughtSignature": "s"}],
    [IMAGE, {"executableCode": {"code": "1"}}, {"codeExecutionResult": {"output": "1"}}],
    [{"thoughtSignature": "s"}, {"text": "a", "thoughtSignature": "u"}],
]

BEDROCK: list[Any] = [
    [
        {"reasoningContent": {"reasoningText": {"text": "t", "signature": "s"}}},
        {"reasoningContent": {"redactedContent": "RA=="}},
        {"text": "a"},
        {"toolUse": {"toolUseId": "t", "name": "f", "input": {"n": 1}}},
    ],
]


def cases() -> list[Any]:
    found: list[Any] = []
    message: dict[str, Any]
    body: dict[str, Any]
    for number, members in enumerate(CHAT):
        message = {"role": "assistant", **members}
        body = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
        found.append(pytest.param("openai-chat", [message], body, id=f"chat-{number}"))
    for number, content in enumerate(ANTHROPIC):
        message = {"role": "assistant", "content": content}
        body = {"type": "message", "stop_reason": "end_turn", **message}
        found.append(pytest.param("anthropic", [message], body, id=f"anthropic-{number}"))
    for number, items in enumerate(RESPONSES):
        body = {"object": "response", "status": "completed", "output": items}
        found.append(pytest.param("openai-responses", items, body, id=f"responses-{number}"))
    for number, parts in enumerate(GEMINI):
        content = {"role": "model", "parts": parts}
        body = {"candidates": [{"content": content, "finishReason": "STOP"}]}
        found.append(pytest.param("gemini", [content], body, id=f"gemini-{number}"))
    for number, content in enumerate(BEDROCK):
        message = {"role": "assistant", "content": content}
        body = {"output": {"message": message}, "stopReason": "end_turn"}
        found.append(pytest.param("bedrock-converse", [message], body, id=f"bedrock-{number}"))
    return found


@pytest.mark.parametrize(("dialect", "history", "body"), cases())
def test_a_turn_read_back_is_the_turn_decoded(dialect, history, body):
    decoded = turntape.parse_response(json.dumps(body).encode(), dialect).to_message()
    [read] = turntape.from_provider_messages(json.dumps(history), dialect)
    assert read.content == decoded.content
    assert read.reasoning_field == decoded.reasoning_field
    assert read.dialect == decoded.dialect
