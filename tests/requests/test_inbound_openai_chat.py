"""Chat histories and bodies, and those of its imitators, read back."""

from __future__ import annotations

import json
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

if TYPE_CHECKING:
    from turntape import Message, ModelRequest, ReplayNote


def read(*history: Any) -> list[Message]:
    return turntape.from_provider_messages(list(history), "openai-chat")


def turn(**members: Any) -> Message:
    [message] = read({"role": "assistant", **members})
    return message


def call(call_id: str = "c1", arguments: str = "{}", **more: Any) -> dict[str, Any]:
    function = {"name": "dim", "arguments": arguments}
    return {"id": call_id, "type": "function", "function": function, **more}


def request(**body: Any) -> ModelRequest:
    return turntape.from_request({"model": "quill-2", "messages": [], **body}, "openai-chat")


def test_texts_and_roles():
    system, developer, user, named, assistant = read(
        {"role": "system", "content": "s"},
        {"role": "developer", "content": "d"},
        {"role": "user", "content": [{"type": "text", "text": "u"}]},
        {"role": "user", "content": "n", "name": "ann"},
        {"role": "assistant", "content": "a"},
    )
    assert [m.role for m in (system, developer, user, named, assistant)] == [
        "system",
        "system",
        "user",
        "user",
        "assistant",
    ]
    assert (system.extra, developer.extra) == (None, '{"role":"developer"}')
    assert named.extra == '{"name":"ann"}'
    assert [m.content for m in (system, user)] == [(Text("s"),), (Text("u"),)]


def test_a_turn_with_calls():
    got = turn(content=None, tool_calls=[call(arguments='{"b": 1,"a":2 }'), call("c2")])
    assert got.content == (ToolUse("c1", "dim", '{"b": 1,"a":2 }'), ToolUse("c2", "dim", "{}"))


def test_an_empty_text_beside_calls_is_none():
    assert turn(content="", tool_calls=[call()]).content == (ToolUse("c1", "dim", "{}"),)


def test_arguments_given_as_an_object_keep_their_bytes():
    history = (
        '[{"role":"assistant","tool_calls":[{"id":"c1","function":'
        '{"name":"dim","arguments":{"n" : 1.0}}}]}]'
    )
    [got] = turntape.from_provider_messages(history, "openai-chat")
    assert got.content == (ToolUse("c1", "dim", '{"n" : 1.0}'),)


def test_what_a_call_carries_beside_it():
    google = {"google": {"thought_signature": "c2ln"}}
    custom = {"id": "c2", "type": "custom", "custom": {"name": "sh", "input": "ls -l"}}
    got = turn(tool_calls=[call(extra_content=google), custom])
    assert got.content == (
        ToolUse(
            "c1", "dim", "{}", extra='{"extra_content":{"google":{"thought_signature":"c2ln"}}}'
        ),
        ToolUse("c2", "sh", "ls -l", extra='{"type":"custom"}'),
    )


def test_the_results_of_a_round_are_one_message():
    image = {"type": "image_url", "image_url": {"url": "https://i.example/a"}}
    messages = read(
        {"role": "assistant", "tool_calls": [call(), call("c2")]},
        {"role": "tool", "tool_call_id": "c2", "content": "y"},
        {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "x"}, image]},
        {"role": "user", "content": "and?"},
        {"role": "tool", "tool_call_id": "c3", "content": "late"},
    )
    assert [m.role for m in messages] == ["assistant", "user", "user", "user"]
    assert messages[1].content == (
        ToolResult("c2", "y"),
        ToolResult("c1", (Text("x"), Image(UrlSource("https://i.example/a")))),
    )
    assert messages[3].content == (ToolResult("c3", "late"),)


def test_the_old_form_of_calls():
    asked, answered = read(
        {"role": "assistant", "content": None, "function_call": {"name": "now", "arguments": "{}"}},
        {"role": "function", "name": "now", "content": "noon"},
    )
    [use], [result] = asked.content, answered.content
    assert use == ToolUse("call_215ad519258e9d97_0", "now", "{}")
    assert result == ToolResult("call_215ad519258e9d97_0", "noon")


def test_imitators_without_ids():
    asked, answered = read(
        {"role": "assistant", "tool_calls": [call(""), call("")]},
        {"role": "tool", "content": "1"},
    )
    answered_more = read({"role": "tool", "content": "1"})[0]
    ids = [block.id for block in asked.content if isinstance(block, ToolUse)]
    assert len(set(ids)) == 2
    assert answered.content == (ToolResult(ids[0], "1"),)
    [orphan] = answered_more.content
    assert isinstance(orphan, ToolResult)
    assert orphan.tool_use_id not in ids


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "reasoning_text"])
def test_reasoning_keeps_the_name_it_came_in(field):
    got = turn(content="Seven.", **{field: "Count."})
    assert got.content == (Thinking("Count."), Text("Seven."))
    assert (got.reasoning_field, got.extra) == (field, None)


def test_reasoning_details_are_proofs():
    signed = {"type": "reasoning.text", "text": "Hm.", "signature": "c2ln", "index": 0}
    hidden = {"type": "reasoning.encrypted", "data": "ZGF0YQ==", "id": "c1"}
    got = turn(reasoning_details=[signed, hidden], content="a", tool_calls=[call()])
    assert got.content == (
        Thinking("Hm.", json.dumps(signed, separators=(",", ":"))),
        Text("a"),
        ToolUse("c1", "dim", "{}", signature=json.dumps(hidden, separators=(",", ":"))),
    )
    assert got.reasoning_field == "reasoning_details"


def test_content_in_parts():
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Weigh."}]}
    got = turn(
        content=[thought, {"type": "text", "text": "Seven."}, {"type": "of_tomorrow", "n": 1}]
    )
    assert got.content == (
        Thinking("Weigh."),
        Text("Seven."),
        ProviderBlock("of_tomorrow", '{"type":"of_tomorrow","n":1}'),
    )


@pytest.mark.parametrize(
    "members",
    [{"refusal": "Not this."}, {"content": [{"type": "refusal", "refusal": "Not this."}]}],
)
def test_a_refusal_is_text(members):
    got = turn(**members)
    assert (got.content, got.stop_reason) == ((Text("Not this."),), "refusal")


def test_annotations_are_citations_and_sound_stays():
    got = turn(content="a", annotations=[{"type": "url_citation"}], audio={"id": "au1"})
    assert got.content == (Text("a", ('{"type":"url_citation"}',)),)
    assert got.extra == '{"audio":{"id":"au1"}}'


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,aQ=="}},
            Image(Base64Source("aQ==", "image/png")),
        ),
        (
            {"type": "image_url", "image_url": {"url": "https://i.example/a", "detail": "low"}},
            Image(UrlSource("https://i.example/a"), '{"detail":"low"}'),
        ),
        (
            {"type": "input_audio", "input_audio": {"data": "aQ==", "format": "mp3"}},
            Audio(Base64Source("aQ==", "audio/mpeg")),
        ),
        (
            {"type": "video_url", "video_url": {"url": "https://v.example/a"}},
            Video(UrlSource("https://v.example/a")),
        ),
        (
            {
                "type": "file",
                "file": {"file_data": "data:application/pdf;base64,JVBERi0=", "filename": "a.pdf"},
            },
            Document(Base64Source("JVBERi0=", "application/pdf"), '{"filename":"a.pdf"}'),
        ),
        (
            {"type": "file", "file": {"file_id": "f1"}},
            ProviderBlock("file", '{"type":"file","file":{"file_id":"f1"}}'),
        ),
        (
            {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}},
            Text("a", extra='{"cache_control":{"type":"ephemeral"}}'),
        ),
    ],
)
def test_parts_of_the_user(part, expected):
    [message] = read({"role": "user", "content": [part]})
    assert message.content == (expected,)


def test_plain_parameters():
    got = request(
        max_completion_tokens=300,
        temperature=0,
        top_p=0.5,
        stop="END",
        stream=True,
        stream_options={"include_usage": True},
        parallel_tool_calls=False,
        reasoning_effort="xhigh",
        prompt_cache_key="k",
        tool_choice="required",
        seed=7,
        logprobs=None,
    )
    assert (got.max_tokens, got.temperature, got.top_p, got.stop) == (300, 0, 0.5, ("END",))
    assert (got.stream, got.parallel_tool_calls) == (True, False)
    assert got.reasoning == Reasoning(effort="xhigh")
    assert got.cache == CachePolicy(key="k")
    assert got.tool_choice == ToolChoice("required")
    assert got.extra == {"seed": 7}


def test_the_older_name_of_the_limit():
    assert request(max_tokens=5).max_tokens == 5
    both = request(max_tokens=5, max_completion_tokens=6)
    assert both.max_tokens == 6


@pytest.mark.parametrize(
    ("body", "extra"),
    [
        ({"stream": True, "stream_options": {"include_usage": False}}, {"include_usage": False}),
        (
            {
                "stream": True,
                "stream_options": {"include_usage": True, "include_obfuscation": False},
            },
            {"include_obfuscation": False},
        ),
    ],
)
def test_stream_options_that_building_does_not_write(body, extra):
    assert request(**body).extra == {"stream_options": extra}


def test_the_system_text():
    got = request(
        messages=[
            {"role": "system", "content": "s"},
            {"role": "system", "content": "t"},
            {"role": "user", "content": "u"},
        ]
    )
    assert got.system == "s"
    assert [m.role for m in got.messages if isinstance(m, turntape.Message)] == ["system", "user"]
    assert request(messages=[{"role": "user", "content": "u"}]).system is None


def test_tools():
    tool = {"name": "dim", "description": "Dims.", "parameters": {"type": "object"}, "strict": True}
    bare = {"name": "now"}
    grammar = {"type": "custom", "custom": {"name": "sh"}}
    got = request(
        tools=[{"type": "function", "function": tool}, {"function": bare}, grammar],
        tool_choice={"type": "function", "function": {"name": "dim"}},
    )
    assert got.tools == (
        ToolDef("dim", "Dims.", {"type": "object"}, strict=True),
        ToolDef("now", "", {"type": "object", "properties": {}}),
        RawTool(Dialect.OPENAI_CHAT, json.dumps(grammar, separators=(",", ":"))),
    )
    assert got.tool_choice == ToolChoice.tool("dim")


def test_the_old_form_of_tools():
    got = request(
        functions=[{"name": "dim", "parameters": {"type": "object"}}], function_call={"name": "dim"}
    )
    assert got.tools == (ToolDef("dim", "", {"type": "object"}),)
    assert got.tool_choice == ToolChoice.tool("dim")
    assert got.extra == {}


def test_a_choice_that_only_this_wire_has():
    choice = {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}}
    got = request(tool_choice=choice)
    assert (got.tool_choice, got.extra) == (None, {"tool_choice": choice})


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"type": "text"}, ResponseFormat("text")),
        ({"type": "json_object"}, ResponseFormat("json_object")),
        (
            {
                "type": "json_schema",
                "json_schema": {
                    "name": "n",
                    "description": "d",
                    "strict": True,
                    "schema": {"type": "object"},
                },
            },
            ResponseFormat("json_schema", "n", {"type": "object"}, "d", strict=True),
        ),
    ],
)
def test_response_formats(given, expected):
    got = request(response_format=given)
    assert (got.response_format, got.extra) == (expected, {})


def test_a_format_of_an_imitator():
    given = {"type": "json_object", "schema": {"type": "object"}}
    got = request(response_format=given)
    assert (got.response_format, got.extra) == (None, {"response_format": given})


def test_notes_on_what_nothing_can_hold():
    notes: list[ReplayNote] = []
    history = [
        {"role": "user", "content": "a"},
        {
            "role": "assistant",
            "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "", "parsed": 1}}],
        },
    ]
    turntape.from_provider_messages(history, "openai-chat", notes=notes)
    assert [(note.code, note.index) for note in notes] == [("content_unsupported", 1)]


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ({"role": "robot"}, "there is no role 'robot'"),
        ({"role": "user", "content": 7}, "messages[0].content: a list is expected, not a number"),
        (
            {"role": "assistant", "tool_calls": [{"id": "c"}]},
            "messages[0].tool_calls[0]: 'function'",
        ),
        ({"role": "assistant", "reasoning": {}}, "messages[0].reasoning: a string is expected"),
        (
            {"role": "user", "content": [{"type": "image_url"}]},
            "messages[0].content[0]: 'image_url'",
        ),
    ],
)
def test_faults_name_their_place(message, said):
    with pytest.raises(InvalidRequest) as caught:
        read(message)
    assert said in str(caught.value)
    assert caught.value.index == 0


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"temperature": "hot"}, "temperature: a number is expected, not a string"),
        ({"max_tokens": 1.5}, "max_tokens: a whole number is expected, not 1.5"),
        ({"stream": 1}, "stream: true or false is expected, not a number"),
        ({"tools": [{"type": "function"}]}, "tools[0]: 'function' is missing"),
    ],
)
def test_faults_of_parameters(body, said):
    with pytest.raises(InvalidRequest) as caught:
        request(**body)
    assert said in str(caught.value)
    assert (caught.value.index, caught.value.block) == (None, None)
