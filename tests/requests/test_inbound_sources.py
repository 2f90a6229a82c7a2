"""What histories and requests can be handed in as, and that nothing else than an error comes of the rest."""

from __future__ import annotations

import contextlib
import json
from types import MappingProxyType
from typing import Any

import anthropic.types
import hypothesis.strategies as st
import openai.types.chat
import pytest
from hypothesis import given

import turntape
from turntape import Dialect, InvalidRequest, Message, ModelRequest, Text, Thinking, ToolUse

HISTORY = [{"role": "user", "content": "é\u2028"}]


@pytest.mark.parametrize(
    "source",
    [
        HISTORY,
        tuple(HISTORY),
        [MappingProxyType(HISTORY[0])],
        json.dumps(HISTORY),
        json.dumps(HISTORY, ensure_ascii=False, indent=2),
        json.dumps(HISTORY).encode(),
        b"\xef\xbb\xbf" + json.dumps(HISTORY, ensure_ascii=False).encode(),
        bytearray(json.dumps(HISTORY).encode()),
        memoryview(json.dumps(HISTORY).encode()),
    ],
)
def test_text_bytes_and_values(source):
    [message] = turntape.from_provider_messages(source, "openai-chat")
    assert message == Message("user", (Text("é\u2028"),), dialect=Dialect.OPENAI_CHAT)


def test_values_are_written_compact_and_beyond_ascii():
    history = [
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {"é": [1, 2.5]}}],
        }
    ]
    [message] = turntape.from_provider_messages(history, "anthropic")
    assert message.content == (ToolUse("t", "f", '{"é":[1,2.5]}'),)


def test_the_input_is_not_changed():
    history = [
        {"role": "assistant", "content": [{"type": "text", "text": "a", "cache_control": {}}]}
    ]
    before = json.dumps(history)
    turntape.from_provider_messages(history, "anthropic")
    assert json.dumps(history) == before


def test_objects_of_the_official_clients():
    block = anthropic.types.ToolUseBlock(
        id="t",
        name="f",
        input={"n": 1},
        type="tool_use",
        caller=anthropic.types.DirectCaller(type="direct"),
    )
    thinking = anthropic.types.ThinkingBlock(thinking="hm", signature="c2ln", type="thinking")
    [message] = turntape.from_provider_messages(
        [{"role": "assistant", "content": [thinking, block]}], "anthropic"
    )
    assert message.content == (
        Thinking("hm", "c2ln"),
        ToolUse("t", "f", '{"n":1}', extra='{"caller":{"type":"direct"}}'),
    )

    said = openai.types.chat.ChatCompletionMessage(role="assistant", content="a")
    [message] = turntape.from_provider_messages([said], "openai-chat")
    assert message.content == (Text("a"),)


def test_objects_of_googles_client():
    genai = pytest.importorskip("google.genai").types
    call = genai.FunctionCall(name="f", args={"n": 1}, id="c")
    part = genai.Part(function_call=call, thought_signature=b"\xff\xfe")
    content = genai.Content(role="model", parts=[part])
    [message] = turntape.from_provider_messages([content], "gemini")
    [use] = message.content
    assert isinstance(use, ToolUse)
    assert (use.arguments, use.id) == ('{"n":1}', "c")
    assert use.signature is not None
    assert use.signature.replace("_", "/").replace("-", "+") == "//4="


def test_halves_of_surrogate_pairs_stay_for_building_to_note():
    for source in (
        [{"role": "user", "content": "a\ud800"}],
        r'[{"role":"user","content":"a\ud800"}]',
    ):
        [message] = turntape.from_provider_messages(source, "openai-chat")
        assert message.content == (Text("a\ud800"),)


def test_of_two_members_the_last_counts_and_null_is_absent():
    text = '{"model":"a","model":"b","messages":[],"temperature":null,"seed":null}'
    request = turntape.from_request(text, "openai-chat")
    assert (request.model, request.temperature, request.extra) == ("b", None, {})


def test_integers_of_any_size_are_exact():
    digits = "9" * 5000
    request = turntape.from_request(f'{{"model":"m","messages":[],"seed":{digits}}}', "openai-chat")
    assert request.extra["seed"] == 10**5000 - 1


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("", "not JSON"),
        ("[1", "not JSON"),
        ("[NaN]", "not JSON"),
        (b"\xff[]", "not UTF-8: byte 0"),
        ("[" * 600 + "]" * 600, "nested too deep"),
        (7, "a list is expected, not a number"),
        ([object()], "object is no JSON value"),
        ([float("nan")], "no JSON can hold this"),
        ({1: {(): 2}}, "no JSON can hold this"),
    ],
)
def test_what_is_no_json(source, said):
    with pytest.raises(InvalidRequest) as caught:
        turntape.from_provider_messages(source, "anthropic")
    assert said in str(caught.value)


def test_a_loop_and_a_depth_that_no_json_has():
    loop: list[Any] = []
    loop.append(loop)
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    for source in (loop, deep):
        with pytest.raises(InvalidRequest, match="no JSON can hold this"):
            turntape.from_provider_messages(source, "openai-chat")


def test_a_number_beyond_what_a_float_can_hold():
    with pytest.raises(InvalidRequest, match=r"seed: the number 1e999 is beyond"):
        turntape.from_request('{"model":"m","messages":[],"seed":1e999}', "openai-chat")


def test_an_unknown_dialect():
    with pytest.raises(ValueError, match="klingon"):
        turntape.from_provider_messages([], "klingon")


# Any value -------------------------------------------------------------------------------------------

# Words of the wires, so that what is generated gets far into the readers.
WORDS = [
    "additionalModelRequestFields", "annotations", "any", "args", "arguments", "assistant", "base64",
    "budget_tokens", "bytes", "cachePoint", "cache_control", "call_id", "citations", "content", "contents",
    "custom", "data", "description", "developer", "document", "effort", "encrypted_content", "error",
    "file", "fileData", "file_data", "format", "function", "functionCall", "functionCallingConfig",
    "functionDeclarations", "functionResponse", "function_call", "function_call_output",
    "generationConfig", "id", "image", "image_url", "inferenceConfig", "inlineData", "input",
    "input_audio", "input_image", "input_schema", "input_text", "instructions", "is_error", "json",
    "json_schema", "max_tokens", "message", "messages", "mimeType", "mode", "model", "name", "object",
    "output", "outputConfig", "output_config", "output_text", "parameters", "parts", "reasoning",
    "reasoningContent", "reasoning_details", "refusal", "response", "responseSchema", "response_format",
    "role", "schema", "signature", "source", "status", "stop", "stream", "stream_options", "structure",
    "summary", "system", "systemInstruction", "text", "textFormat", "thinking", "thinkingConfig",
    "thought", "thoughtSignature", "toolConfig", "toolResult", "toolSpec", "toolUse", "toolUseId", "tool",
    "tool_calls", "tool_choice", "tool_result", "tool_use", "tool_use_id", "tools", "type", "url", "user",
]  # fmt: skip

words = st.sampled_from(WORDS)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-5, 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | words
    | st.text(max_size=4)
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(words | st.text(max_size=3), inner, max_size=6)
    ),
    max_leaves=25,
)
dialects = st.sampled_from(list(Dialect))


def typed(kind: str) -> st.SearchStrategy[dict[str, Any]]:
    """An object that says which it is, on whatever wire, with any other members."""
    member = {"type": "type", "role": "role"}.get(kind, kind)
    return st.dictionaries(words, values, max_size=5).flatmap(
        lambda held: words.map(lambda word: {member: word, **held})
    )


messages = st.lists(
    st.builds(
        lambda role, blocks, more: {"role": role, "content": blocks, "parts": blocks, **more},
        st.sampled_from(["user", "assistant", "system", "tool", "model", "function", "developer"]),
        st.lists(typed("type"), max_size=4) | st.text(max_size=3),
        st.dictionaries(words, values, max_size=2),
    )
    | typed("type"),
    max_size=4,
)


@given(values | messages, dialects)
def test_any_value_is_a_history_or_an_error(value, dialect):
    try:
        history = turntape.from_provider_messages(value, dialect, notes=[])
    except InvalidRequest:
        return
    assert all(isinstance(message, Message) for message in history)
    assert [Message.from_dict(message.to_dict()) for message in history] == history
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    assert turntape.from_provider_messages(text, dialect) == history


@given(
    st.builds(
        lambda body, history: {
            "model": "m",
            "messages": history,
            "input": history,
            "contents": history,
            **body,
        },
        st.dictionaries(words, values | typed("type"), max_size=5),
        messages,
    )
    | values,
    dialects,
    st.none() | dialects,
)
def test_any_value_is_a_request_or_an_error(value, dialect, target):
    try:
        request = turntape.from_request(value, dialect, model="m", target=target, notes=[])
    except InvalidRequest:
        return
    assert isinstance(request, ModelRequest)
    assert ModelRequest.from_dict(request.to_dict()) == request
    if target not in {None, dialect}:
        assert request.extra == {}


@given(st.text() | st.binary(), dialects)
def test_any_text_is_a_history_or_an_error(text, dialect):
    with contextlib.suppress(InvalidRequest):
        turntape.from_provider_messages(text, dialect)
