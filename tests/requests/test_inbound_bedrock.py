"""Bedrock histories and bodies, read back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import turntape
from turntape import (
    Audio,
    Base64Source,
    CachePolicy,
    Dialect,
    Document,
    Image,
    InvalidRequest,
    ProviderBlock,
    RawTool,
    Reasoning,
    RedactedThinkingBlock,
    ResponseFormat,
    Text,
    Thinking,
    ToolChoice,
    ToolDef,
    ToolResult,
    ToolUse,
)

if TYPE_CHECKING:
    from turntape import Message, ModelRequest, ReplayNote


def read(role: str, *content: Any) -> Message:
    [message] = turntape.from_provider_messages(
        [{"role": role, "content": list(content)}], "bedrock-converse"
    )
    return message


def request(**body: Any) -> ModelRequest:
    return turntape.from_request(
        {"modelId": "amazon.tern-1", "messages": [], **body}, "bedrock-converse"
    )


def test_a_turn():
    got = read(
        "assistant",
        {"reasoningContent": {"reasoningText": {"text": "Look.", "signature": "U0lH"}}},
        {"reasoningContent": {"redactedContent": "RU5D"}},
        {"text": "Wait."},
        {"toolUse": {"toolUseId": "t1", "name": "dim", "input": {"n": 1}}},
        {"toolUse": {"toolUseId": "t2", "name": "search", "input": {}, "type": "server_tool_use"}},
        {"toolResult": {"toolUseId": "t2", "content": []}},
    )
    assert got.content == (
        Thinking("Look.", "U0lH"),
        RedactedThinkingBlock("RU5D"),
        Text("Wait."),
        ToolUse("t1", "dim", '{"n":1}'),
        ProviderBlock(
            "toolUse",
            '{"toolUse":{"toolUseId":"t2","name":"search","input":{},"type":"server_tool_use"}}',
        ),
        ProviderBlock(
            "toolResult",
            '{"toolResult":{"toolUseId":"t2","content":[]}}',
        ),
    )


def test_a_cited_text():
    got = read(
        "assistant",
        {"citationsContent": {"content": [{"text": "Neap."}], "citations": [{"title": "T"}]}},
    )
    assert got.content == (Text("Neap.", ('{"title":"T"}',)),)


def test_results():
    got = read(
        "user",
        {"toolResult": {"toolUseId": "a", "content": [{"text": "x"}], "status": "error"}},
        {"toolResult": {"toolUseId": "b", "content": [{"json": {"n": 1}}], "status": "success"}},
        {
            "toolResult": {
                "toolUseId": "c",
                "content": [
                    {"text": "y"},
                    {"image": {"format": "png", "source": {"bytes": "aQ=="}}},
                ],
            }
        },
    )
    assert got.content == (
        ToolResult("a", "x", is_error=True),
        ToolResult("b", '{"n":1}'),
        ToolResult("c", (Text("y"), Image(Base64Source("aQ==", "image/png")))),
    )


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (
            {"image": {"format": "jpeg", "source": {"bytes": b"i"}}},
            Image(Base64Source("aQ==", "image/jpeg")),
        ),
        (
            {"audio": {"format": "mp3", "source": {"bytes": b"i"}}},
            Audio(Base64Source("aQ==", "audio/mpeg")),
        ),
        (
            {"document": {"format": "pdf", "name": "a", "source": {"bytes": "JVBERi0="}}},
            Document(Base64Source("JVBERi0=", "application/pdf"), '{"name":"a"}'),
        ),
        (
            {"document": {"format": "txt", "name": "a", "source": {"text": "tide"}}},
            Document(Base64Source("dGlkZQ==", "text/plain"), '{"name":"a"}'),
        ),
        (
            {"image": {"format": "png", "source": {"s3Location": {"uri": "s3://b/a"}}}},
            ProviderBlock(
                "image", '{"image":{"format":"png","source":{"s3Location":{"uri":"s3://b/a"}}}}'
            ),
        ),
        (
            {"guardContent": {"text": {"text": "a"}}},
            ProviderBlock("guardContent", '{"guardContent":{"text":{"text":"a"}}}'),
        ),
    ],
)
def test_media_and_what_only_this_wire_has(block, expected):
    assert read("user", block).content == (expected,)


def test_the_bytes_of_arguments_stay():
    history = (
        '[{"role":"assistant","content":[{"toolUse":{"toolUseId":"t","name":"pay",'
        '"input":{"b" : 1.10}}}]}]'
    )
    [got] = turntape.from_provider_messages(history, "bedrock-converse")
    assert got.content == (ToolUse("t", "pay", '{"b" : 1.10}'),)


def test_cache_points():
    notes: list[ReplayNote] = []
    point = {"cachePoint": {"type": "default"}}
    spec = {"toolSpec": {"name": "dim", "description": "D.", "inputSchema": {"json": {}}}}
    got = turntape.from_request(
        {
            "modelId": "amazon.tern-1",
            "system": [{"text": "s"}, point],
            "toolConfig": {"tools": [spec, point]},
            "messages": [
                {"role": "user", "content": [{"text": "a"}]},
                {"role": "user", "content": [{"text": "b"}, point]},
            ],
        },
        "bedrock-converse",
        notes=notes,
    )
    assert got.cache == CachePolicy(system=True, tools=True, messages=(1,))
    assert got.system == (Text("s"),)
    assert got.tools == (ToolDef("dim", "D.", {}),)
    assert [m.content for m in got.messages if isinstance(m, turntape.Message)] == [
        (Text("a"),),
        (Text("b"),),
    ]
    assert notes == []


def test_plain_parameters():
    got = request(
        inferenceConfig={"maxTokens": 9, "temperature": 0.5, "topP": 0.9, "stopSequences": ["END"]},
        additionalModelRequestFields={
            "thinking": {"type": "enabled", "budget_tokens": 2048},
            "top_k": 3,
        },
        guardrailConfig={"guardrailIdentifier": "g"},
    )
    assert (got.max_tokens, got.temperature, got.top_p, got.stop) == (9, 0.5, 0.9, ("END",))
    assert got.reasoning == Reasoning(budget_tokens=2048)
    assert got.extra == {
        "guardrailConfig": {"guardrailIdentifier": "g"},
        "additionalModelRequestFields": {"top_k": 3},
    }


def test_effort_and_a_schema():
    structure = {"jsonSchema": {"schema": '{"type": "object"}', "name": "n"}}
    got = request(
        outputConfig={
            "effort": "low",
            "textFormat": {"type": "json_schema", "structure": structure},
        }
    )
    assert got.reasoning == Reasoning(effort="low")
    assert got.response_format == ResponseFormat("json_schema", "n", {"type": "object"})
    assert got.extra == {}


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ({"auto": {}}, ToolChoice("auto")),
        ({"any": {}}, ToolChoice("required")),
        ({"tool": {"name": "dim"}}, ToolChoice.tool("dim")),
    ],
)
def test_tool_choice(choice, expected):
    got = request(toolConfig={"tools": [{"systemTool": {"name": "x"}}], "toolChoice": choice})
    assert got.tool_choice == expected
    assert got.tools == (RawTool(Dialect.BEDROCK_CONVERSE, '{"systemTool":{"name":"x"}}'),)
    assert got.extra == {}


def test_a_guarded_system_text_goes_back_whole_and_is_read_elsewhere():
    system = [{"text": "s"}, {"guardContent": {"text": {"text": "g"}}}]
    got = request(system=system)
    assert got.system == (Text("s"), Text("g"))
    assert got.extra == {"system": system}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a", "messages[0].content: a list is expected, not a string"),
        ([{}], "messages[0].content[0]: the block is empty"),
        ([{"toolUse": {"name": "a"}}], "toolUse: 'toolUseId' is missing"),
        ([{"image": {"source": {"bytes": "a"}}}], "image: 'format' is missing"),
    ],
)
def test_faults_name_their_place(content, said):
    with pytest.raises(InvalidRequest) as caught:
        turntape.from_provider_messages([{"role": "user", "content": content}], "bedrock-converse")
    assert said in str(caught.value)
    assert caught.value.index == 0


def test_a_schema_that_is_no_json():
    form = {"type": "json_schema", "structure": {"jsonSchema": {"schema": "{"}}}
    with pytest.raises(InvalidRequest, match=r"outputConfig\.textFormat"):
        request(outputConfig={"textFormat": form})
