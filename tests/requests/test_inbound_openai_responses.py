"""Responses histories and bodies, read back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import turntape
from turntape import (
    Base64Source,
    CachePolicy,
    Dialect,
    Document,
    Image,
    InvalidRequest,
    ProviderBlock,
    RawTool,
    Reasoning,
    ResponseFormat,
    Text,
    Thinking,
    ToolChoice,
    ToolDef,
    ToolResult,
    ToolUse,
    UrlSource,
)

if TYPE_CHECKING:
    from turntape import Message, ModelRequest


def read(*items: Any) -> list[Message]:
    return turntape.from_provider_messages(list(items), "openai-responses")


def one(*items: Any) -> Message:
    [message] = read(*items)
    return message


def request(**body: Any) -> ModelRequest:
    return turntape.from_request({"model": "quill-r1", "input": "q", **body}, "openai-responses")


def said(text: str, **more: Any) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "role": "assistant", "content": content, **more}


CALL = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "c1",
    "name": "dim",
    "arguments": '{"n": 1}',
}
REASONING = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "Look."}],
    "encrypted_content": "RU5D",
}


def test_the_items_of_a_turn_are_one_message():
    messages = read(
        {"role": "user", "content": "q"},
        REASONING,
        said("Wait.", id="msg_1", status="completed", phase="commentary"),
        {**CALL, "status": "completed"},
        {"type": "function_call_output", "call_id": "c1", "output": "r"},
        {"role": "assistant", "content": "Done."},
    )
    assert [message.role for message in messages] == ["user", "assistant", "user", "assistant"]
    assert messages[1].content == (
        Thinking("Look.", '{"encrypted_content":"RU5D","id":"rs_1"}'),
        Text("Wait.", extra='{"id":"msg_1","phase":"commentary"}'),
        ToolUse("c1", "dim", '{"n": 1}', extra='{"id":"fc_1"}'),
    )
    assert messages[2].content == (ToolResult("c1", "r"),)
    assert messages[3].content == (Text("Done."),)


def test_messages_that_nothing_tells_apart_stay_two():
    first, second = read(said("a"), said("b"))
    assert (first.content, second.content) == ((Text("a"),), (Text("b"),))
    assert one(said("a", id="m1"), said("b", id="m2")).content == (
        Text("a", extra='{"id":"m1"}'),
        Text("b", extra='{"id":"m2"}'),
    )


def test_reasoning_without_a_proof_and_in_several_parts():
    parts = [{"type": "summary_text", "text": text} for text in ("First.", "", "Second.")]
    text = {"type": "reasoning_text", "text": "Third."}
    got = one({"type": "reasoning", "id": "rs", "summary": parts, "content": [text]})
    assert got.content == (Thinking("First.\n\nSecond.\n\nThird."),)
    assert one({"type": "reasoning", "id": "rs", "summary": []}).content == (Thinking(""),)


def test_custom_tools():
    custom = {"type": "custom_tool_call", "id": "ctc", "call_id": "c1", "name": "sh", "input": "ls"}
    turn, answer = read(
        custom, {"type": "custom_tool_call_output", "id": "o", "call_id": "c1", "output": "a"}
    )
    assert turn.content == (
        ToolUse("c1", "sh", "ls", extra='{"type":"custom_tool_call","id":"ctc"}'),
    )
    assert answer.content == (ToolResult("c1", "a", extra='{"id":"o"}'),)


def test_results_with_parts():
    output = [
        {"type": "input_text", "text": "taken"},
        {"type": "input_image", "image_url": "data:image/png;base64,aQ=="},
        {
            "type": "input_file",
            "file_data": "data:application/pdf;base64,JVBERi0=",
            "filename": "a",
        },
    ]
    results = [{"type": "function_call_output", "call_id": name, "output": output} for name in "ab"]
    answer = (
        Text("taken"),
        Image(Base64Source("aQ==", "image/png")),
        Document(Base64Source("JVBERi0=", "application/pdf"), '{"filename":"a"}'),
    )
    assert one(*results).content == (ToolResult("a", answer), ToolResult("b", answer))


@pytest.mark.parametrize(
    ("item", "role"),
    [
        ({"type": "web_search_call", "id": "ws"}, "assistant"),
        ({"type": "computer_call", "id": "cu"}, "assistant"),
        ({"type": "computer_call_output", "call_id": "cu", "output": {}}, "user"),
        ({"type": "mcp_approval_response", "approve": True}, "user"),
        ({"type": "item_reference", "id": "msg_1"}, "assistant"),
        ({"type": "tool_search_output", "execution": "client", "tools": []}, "user"),
        ({"type": "tool_search_output", "execution": "server", "tools": []}, "assistant"),
        ({"type": "of_tomorrow", "n": 2}, "assistant"),
    ],
)
def test_items_that_only_this_wire_has(item, role):
    got = one(item)
    assert got.role == role
    assert got.content == (ProviderBlock(item["type"], json.dumps(item, separators=(",", ":"))),)


def test_an_item_without_a_type():
    assert one({"id": "msg_1"}).content == (ProviderBlock("item_reference", '{"id":"msg_1"}'),)


def test_what_the_user_sends():
    got = one(
        {
            "role": "user",
            "status": "completed",
            "content": [
                {"type": "input_text", "text": "a"},
                {"type": "input_image", "image_url": "https://i.example/a", "detail": "low"},
                {"type": "input_image", "file_id": "f1", "detail": "auto"},
                {"type": "input_file", "file_url": "https://d.example/a"},
            ],
        }
    )
    assert got.content == (
        Text("a"),
        Image(UrlSource("https://i.example/a"), '{"detail":"low"}'),
        ProviderBlock("input_image", '{"type":"input_image","file_id":"f1","detail":"auto"}'),
        Document(UrlSource("https://d.example/a")),
    )
    assert got.extra == '{"status":"completed"}'


def test_a_refusal_and_annotations():
    content = [
        {
            "type": "output_text",
            "text": "a",
            "annotations": [{"type": "url_citation"}],
            "logprobs": [],
        },
        {"type": "refusal", "refusal": "no"},
    ]
    got = one({"type": "message", "role": "assistant", "content": content})
    assert got.content == (Text("a", ('{"type":"url_citation"}',)), Text("no"))
    assert got.stop_reason == "refusal"


def test_plain_parameters():
    got = request(
        instructions="s",
        max_output_tokens=9,
        stream=True,
        store=False,
        include=["reasoning.encrypted_content"],
        reasoning={"effort": "low", "summary": "concise"},
        parallel_tool_calls=True,
        prompt_cache_key="k",
        text={"verbosity": "low", "format": {"type": "text"}},
        truncation="auto",
    )
    assert (got.system, got.max_tokens, got.stream) == ("s", 9, True)
    assert got.reasoning == Reasoning(effort="low", summary="concise")
    assert got.response_format == ResponseFormat("text")
    assert got.cache == CachePolicy(key="k")
    assert got.extra == {"text": {"verbosity": "low"}, "truncation": "auto"}
    [asked] = got.messages
    assert isinstance(asked, turntape.Message)
    assert asked.content == (Text("q"),)


def test_what_building_would_write_otherwise_is_kept():
    got = request(store=True, include=["web_search_call.results"])
    assert got.extra == {"store": True, "include": ["web_search_call.results"]}


def test_tools_and_their_choice():
    tool = {
        "type": "function",
        "name": "dim",
        "description": "Dims.",
        "parameters": {"type": "object"},
        "strict": True,
    }
    got = request(
        tools=[tool, {"type": "web_search"}], tool_choice={"type": "function", "name": "dim"}
    )
    assert got.tools == (
        ToolDef("dim", "Dims.", {"type": "object"}, strict=True),
        RawTool(Dialect.OPENAI_RESPONSES, '{"type":"web_search"}'),
    )
    assert got.tool_choice == ToolChoice.tool("dim")
    assert request(tool_choice={"type": "web_search"}).extra == {
        "tool_choice": {"type": "web_search"}
    }


def test_a_schema_for_the_answer():
    form = {"type": "json_schema", "name": "n", "schema": {"type": "object"}, "strict": True}
    assert request(text={"format": form}).response_format == ResponseFormat(
        "json_schema", "n", {"type": "object"}, strict=True
    )


@pytest.mark.parametrize(
    ("item", "text"),
    [
        ({"type": "function_call", "name": "f"}, "input[0]: 'call_id' is missing"),
        ({"role": "robot", "content": "a"}, "there is no role 'robot'"),
        ({"role": "user", "content": [{"text": "a"}]}, "input[0].content[0]: 'type' is missing"),
        (7, "input[0]: an object is expected, not a number"),
    ],
)
def test_faults_name_their_place(item, text):
    with pytest.raises(InvalidRequest) as caught:
        read(item)
    assert text in str(caught.value)
    assert caught.value.index == 0
