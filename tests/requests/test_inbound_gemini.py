"""Gemini histories and bodies, read back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import turntape
from turntape import (
    Base64Source,
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
    Video,
)
from turntape.wire.inbound.gemini_schema import json_schema_of
from turntape.wire.synthetic import synthetic_id

if TYPE_CHECKING:
    from turntape import Message, ModelRequest

NOW = "call_215ad519258e9d97"


def read(*contents: Any) -> list[Message]:
    return turntape.from_provider_messages(list(contents), "gemini")


def model(*parts: Any) -> Message:
    [message] = read({"role": "model", "parts": list(parts)})
    return message


def user(*parts: Any) -> Message:
    [message] = read({"role": "user", "parts": list(parts)})
    return message


def call(name: str = "now", **more: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": {}, **more}}


def answer(response: Any, name: str = "now", **more: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": response, **more}}


def request(**body: Any) -> ModelRequest:
    return turntape.from_request({"contents": [], **body}, "gemini", model="gemini-3-pro")


def test_texts_thoughts_and_signatures():
    got = model(
        {"text": "hm", "thought": True, "thoughtSignature": "VA=="},
        {"text": "So", "thoughtSignature": "Uw=="},
        {"text": "and"},
        {"text": "", "thoughtSignature": "QQ=="},
    )
    assert got.content == (
        Thinking("hm", "VA=="),
        Text("So", signature="Uw=="),
        Text("and", signature="QQ=="),
    )


def test_a_signature_that_stands_alone():
    assert model({"text": "", "thoughtSignature": "QQ=="}, call(id="c")).content == (
        Thinking("", "QQ=="),
        ToolUse("c", "now", "{}"),
    )


def test_calls_and_their_results_are_paired_by_name_and_order():
    asked, answered = read(
        {"role": "model", "parts": [call(), call("dim"), call()]},
        {"role": "user", "parts": [answer({"output": "1"}), answer({"output": "2"})]},
    )
    assert [block.id for block in asked.content if isinstance(block, ToolUse)] == [
        f"{NOW}_0",
        synthetic_id("dim", 1),
        f"{NOW}_2",
    ]
    assert answered.content == (ToolResult(f"{NOW}_0", "1"), ToolResult(f"{NOW}_2", "2"))


def test_the_ids_are_those_of_a_decoded_turn():
    body = b'{"candidates":[{"content":{"parts":[{"functionCall":{"name":"now"}}]},"finishReason":"STOP"}]}'
    decoded = turntape.parse_response(body, "gemini")
    assert model({"functionCall": {"name": "now"}}).content == decoded.content


def test_ids_that_the_wire_gave():
    asked, answered = read(
        {"role": "model", "parts": [{**call(id="a"), "thoughtSignature": "Uw=="}, call(id="b")]},
        {
            "role": "user",
            "parts": [answer({"output": "1"}, id="b"), answer({"output": "2"}, id="a")],
        },
    )
    assert asked.content == (
        ToolUse("a", "now", "{}", "Uw=="),
        ToolUse("b", "now", "{}"),
    )
    assert answered.content == (ToolResult("b", "1"), ToolResult("a", "2"))


def test_a_result_that_answers_nothing_gets_an_id_that_no_call_has():
    _, answered = read(
        {"role": "model", "parts": [call()]}, {"role": "user", "parts": [answer({}, "x")]}
    )
    [result] = answered.content
    assert isinstance(result, ToolResult)
    assert not result.tool_use_id.startswith(NOW)


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ({"output": "x"}, ToolResult("c", "x")),
        ({"error": "x"}, ToolResult("c", "x", is_error=True)),
        (
            {"output": {"n": 1}},
            ToolResult("c", '{"n":1}', extra='{"response":{"output":{"n":1}}}'),
        ),
        ({"result": 1}, ToolResult("c", '{"result":1}', extra='{"response":{"result":1}}')),
    ],
)
def test_what_results_say(response, expected):
    assert user(answer(response, id="c")).content == (expected,)


def test_media_in_a_result():
    picture = {"inlineData": {"mimeType": "image/png", "data": "aQ=="}}
    got = user(answer({"output": "x"}, id="c", parts=[picture], willContinue=True))
    assert got.content == (
        ToolResult(
            "c",
            (Text("x"), Image(Base64Source("aQ==", "image/png"))),
            extra='{"willContinue":true}',
        ),
    )


def test_media():
    got = user(
        {"inlineData": {"mimeType": "image/png", "data": "-_8="}},
        {"fileData": {"fileUri": "https://f.example/a", "mimeType": "video/mp4"}},
        {"fileData": {"fileUri": "https://f.example/b"}},
        {"inline_data": {"mime_type": "application/pdf", "data": "JVBERi0="}},
    )
    assert got.content == (
        Image(Base64Source("+/8=", "image/png")),
        Video(UrlSource("https://f.example/a", "video/mp4")),
        Document(UrlSource("https://f.example/b")),
        Document(Base64Source("JVBERi0=", "application/pdf")),
    )


def test_what_only_this_wire_has():
    got = model({"executableCode": {"code": "1"}}, {"codeExecutionResult": {"output": "1"}})
    assert got.content == (
        ProviderBlock("executableCode", '{"executableCode":{"code":"1"}}'),
        ProviderBlock("codeExecutionResult", '{"codeExecutionResult":{"output":"1"}}'),
    )


def test_the_bytes_of_arguments_stay():
    history = (
        '[{"role":"model","parts":[{"functionCall":{"name":"pay","id":"c","args":{"b" : 1.10}}}]}]'
    )
    [got] = turntape.from_provider_messages(history, "gemini")
    assert got.content == (ToolUse("c", "pay", '{"b" : 1.10}'),)


def test_plain_parameters():
    got = request(
        systemInstruction={"parts": [{"text": "s"}]},
        generationConfig={
            "maxOutputTokens": 9,
            "temperature": 0.5,
            "topP": 0.9,
            "topK": 3,
            "stopSequences": ["END"],
            "thinkingConfig": {"thinkingLevel": "LOW", "includeThoughts": True},
        },
        safetySettings=[],
    )
    assert (got.model, got.system, got.max_tokens) == ("gemini-3-pro", "s", 9)
    assert (got.temperature, got.top_p, got.stop) == (0.5, 0.9, ("END",))
    assert got.reasoning == Reasoning(effort="low", summary="auto")
    assert got.stream
    assert got.extra == {"generationConfig": {"topK": 3}, "safetySettings": []}


def test_the_other_spelling():
    got = request(
        system_instruction={"parts": [{"text": "s"}]},
        generation_config={"max_output_tokens": 9},
        tools=[{"function_declarations": [{"name": "now", "parameters_json_schema": {}}]}],
    )
    assert (got.system, got.max_tokens, got.tools) == ("s", 9, (ToolDef("now", "", {}),))


@pytest.mark.parametrize(
    ("config", "reasoning", "extra"),
    [
        ({"thinkingBudget": 512}, Reasoning(budget_tokens=512), {}),
        ({"includeThoughts": True}, Reasoning(summary="auto"), {}),
        (
            {"thinkingBudget": -1},
            None,
            {"generationConfig": {"thinkingConfig": {"thinkingBudget": -1}}},
        ),
        (
            {"thinkingLevel": "OF_TOMORROW"},
            None,
            {"generationConfig": {"thinkingConfig": {"thinkingLevel": "OF_TOMORROW"}}},
        ),
    ],
)
def test_reasoning(config, reasoning, extra):
    got = request(generationConfig={"thinkingConfig": config})
    assert (got.reasoning, got.extra) == (reasoning, extra)


def test_tools():
    declared = {"name": "dim", "description": "D.", "parameters": {"type": "OBJECT"}}
    got = request(tools=[{"functionDeclarations": [declared], "googleSearch": {}}])
    assert got.tools == (
        ToolDef("dim", "D.", {"type": "object"}),
        RawTool(Dialect.GEMINI, '{"googleSearch":{}}'),
    )


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"mode": "AUTO"}, ToolChoice("auto")),
        ({"mode": "NONE"}, ToolChoice("none")),
        ({"mode": "ANY"}, ToolChoice("required")),
        ({"mode": "ANY", "allowedFunctionNames": ["dim"]}, ToolChoice.tool("dim")),
        ({"mode": "ANY", "allowedFunctionNames": ["a", "b"]}, None),
    ],
)
def test_tool_choice(config, expected):
    body = {"functionCallingConfig": config}
    got = request(toolConfig=body)
    assert got.tool_choice == expected
    assert got.extra == ({} if expected else {"toolConfig": body})


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"responseMimeType": "application/json"}, ResponseFormat("json_object")),
        (
            {"responseMimeType": "application/json", "responseJsonSchema": {"type": "object"}},
            ResponseFormat("json_schema", schema={"type": "object"}),
        ),
        (
            {"responseMimeType": "application/json", "responseSchema": {"type": "OBJECT"}},
            ResponseFormat("json_schema", schema={"type": "object"}),
        ),
    ],
)
def test_response_formats(config, expected):
    got = request(generationConfig=config)
    assert (got.response_format, got.extra) == (expected, {})


def test_schemas_in_the_wires_own_form():
    own = {
        "type": "OBJECT",
        "properties": {
            "type": {"type": "STRING", "format": "enum", "enum": ["a"], "nullable": True},
            "list": {"type": "ARRAY", "items": {"type": "NUMBER"}, "minItems": "2"},
            "any": {"anyOf": [{"type": "INTEGER"}]},
        },
        "propertyOrdering": ["list"],
        "example": {"nullable": 1},
    }
    assert json_schema_of(own) == {
        "type": "object",
        "properties": {
            "type": {"type": ["string", "null"], "enum": ["a"]},
            "list": {"type": "array", "items": {"type": "number"}, "minItems": 2},
            "any": {"anyOf": [{"type": "integer"}]},
        },
        "examples": [{"nullable": 1}],
    }


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"role": "robot", "parts": []}, "the role is user or model, not 'robot'"),
        ({"role": "user", "parts": [{}]}, "contents[0].parts[0]: the part is empty"),
        ({"role": "model", "parts": [{"functionCall": {}}]}, "functionCall: 'name' is missing"),
        ({"role": "user", "parts": [{"fileData": {}}]}, "fileData: 'fileUri' is missing"),
    ],
)
def test_faults_name_their_place(content, said):
    with pytest.raises(InvalidRequest) as caught:
        read(content)
    assert said in str(caught.value)
    assert caught.value.index == 0


def test_whose_turns_they_are():
    body = {"contents": [{"role": "model", "parts": [{"text": "a"}]}]}
    [turn] = turntape.from_request(body, "gemini", model="gemini-3-pro").messages
    assert isinstance(turn, turntape.Message)
    assert turn.model == "gemini-3-pro"
    # The model that is to get it is not the one that said it.
    [turn] = turntape.from_request(
        body, "gemini", model="claude-heron-9", target="anthropic"
    ).messages
    assert isinstance(turn, turntape.Message)
    assert turn.model is None


def test_the_model_stands_in_the_path():
    with pytest.raises(InvalidRequest, match="model="):
        turntape.from_request({"contents": []}, "gemini")
