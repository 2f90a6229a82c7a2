"""Anthropic histories and bodies, read back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import turntape
from turntape import (
    Base64Source,
    CachePolicy,
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
    UrlSource,
)

if TYPE_CHECKING:
    from turntape import ReplayNote

MARK = {"cache_control": {"type": "ephemeral"}}


def read(content: Any, role: str = "user", **more: Any) -> turntape.Message:
    [message] = turntape.from_provider_messages(
        [{"role": role, "content": content, **more}], "anthropic"
    )
    return message


def request(notes: list[ReplayNote] | None = None, **body: Any) -> turntape.ModelRequest:
    whole = {"model": "claude-heron-9", "max_tokens": 10, "messages": [], **body}
    return turntape.from_request(whole, "anthropic", notes=notes)


def test_a_text_may_stand_for_its_block():
    assert read("hi").content == read([{"type": "text", "text": "hi"}]).content == (Text("hi"),)


def test_a_turn_keeps_every_block_at_its_place():
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    search = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"q": 1}}
    found = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}
    turn = read(
        [
            thinking,
            {"type": "redacted_thinking", "data": "ZGF0YQ=="},
            {"type": "text", "text": "So", "citations": [{"type": "char_location", "n": 1}]},
            search,
            found,
            {"type": "tool_use", "id": "t1", "name": "dim", "input": {"n": 3}, "caller": {"a": 1}},
        ],
        "assistant",
    )
    assert turn.content == (
        Thinking("Hm.", "c2ln"),
        RedactedThinkingBlock("ZGF0YQ=="),
        Text("So", ('{"type":"char_location","n":1}',)),
        ProviderBlock("server_tool_use", json.dumps(search, separators=(",", ":"))),
        ProviderBlock("web_search_tool_result", json.dumps(found, separators=(",", ":"))),
        ToolUse("t1", "dim", '{"n":3}', extra='{"caller":{"a":1}}'),
    )
    assert turn.dialect == "anthropic"


def test_thinking_without_a_text_or_without_a_proof():
    unsigned = {"type": "thinking", "thinking": "a", "signature": ""}
    hidden = {"type": "thinking", "thinking": "", "signature": "c2ln"}
    assert read([unsigned, hidden], "assistant").content == (
        Thinking("a"),
        Thinking("", "c2ln"),
    )


def test_the_makers_of_a_turn_are_told_by_the_caller():
    history = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    asked, turn = turntape.from_provider_messages(
        history, "anthropic", vendor="anthropic", model="claude-heron-9"
    )
    assert (asked.vendor, asked.model) == (None, None)
    assert (turn.vendor, turn.model) == ("anthropic", "claude-heron-9")


def test_a_whole_response_may_stand_for_its_turn():
    response = {"id": "m1", "type": "message", "model": "claude-heron-9", "usage": {}}
    turn = read([{"type": "text", "text": "a"}], "assistant", stop_reason="pause_turn", **response)
    assert (turn.id, turn.model, turn.stop_reason) == ("m1", "claude-heron-9", "pause_turn")
    assert turn.extra is None


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            {"type": "base64", "media_type": "image/png", "data": "aQ=="},
            Image(Base64Source("aQ==", "image/png")),
        ),
        ({"type": "url", "url": "https://i.example/a"}, Image(UrlSource("https://i.example/a"))),
    ],
)
def test_images(source, expected):
    assert read([{"type": "image", "source": source}]).content == (expected,)


def test_documents():
    plain = {"type": "text", "media_type": "text/plain", "data": "tide"}
    pdf = {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}
    content = [
        {"type": "document", "source": plain, "title": "T", "citations": {"enabled": True}},
        {"type": "document", "source": pdf},
    ]
    assert read(content).content == (
        Document(
            Base64Source("dGlkZQ==", "text/plain"), '{"title":"T","citations":{"enabled":true}}'
        ),
        Document(Base64Source("JVBERi0=", "application/pdf")),
    )


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "source": {"type": "file", "file_id": "f1"}},
        {"type": "document", "source": {"type": "content", "content": "a"}},
        {"type": "container_upload", "file_id": "f1"},
        {"type": "search_result", "source": "s", "title": "t", "content": []},
        {"type": "of_tomorrow", "n": 2.50},
    ],
)
def test_what_only_this_wire_has_stays_as_it_is(block):
    text = json.dumps([{"role": "user", "content": [block]}])
    [message] = turntape.from_provider_messages(text, "anthropic")
    assert message.content == (ProviderBlock(block["type"], json.dumps(block)),)


def test_results():
    image = {"type": "image", "source": {"type": "url", "url": "https://i.example/a"}}
    content = [
        {"type": "tool_result", "tool_use_id": "a", "content": "x", "is_error": True},
        {"type": "tool_result", "tool_use_id": "b"},
        {
            "type": "tool_result",
            "tool_use_id": "c",
            "content": [{"type": "text", "text": "y"}, image],
        },
        {"type": "text", "text": "and"},
    ]
    assert read(content).content == (
        ToolResult("a", "x", is_error=True),
        ToolResult("b", ""),
        ToolResult("c", (Text("y"), Image(UrlSource("https://i.example/a")))),
        Text("and"),
    )


def test_the_bytes_of_arguments_and_blocks_stay():
    text = (
        '[{"role": "assistant", "content": ['
        '{"type": "tool_use", "id": "t", "name": "pay", "input": {"b" : 1.10, "a":12345678901234567890}},'
        '{"type": "of_tomorrow", "n": 1e2 }]}]'
    )
    for source in (text, text.encode(), bytearray(text.encode())):
        [turn] = turntape.from_provider_messages(source, "anthropic")
        assert turn.content == (
            ToolUse("t", "pay", '{"b" : 1.10, "a":12345678901234567890}'),
            ProviderBlock("of_tomorrow", '{"type": "of_tomorrow", "n": 1e2 }'),
        )


def test_cache_marks_are_no_part_of_a_history():
    notes: list[ReplayNote] = []
    history = [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "a", **MARK},
                {"type": "of_tomorrow", **MARK},
                {"type": "tool_result", "tool_use_id": "t", **MARK},
            ],
        }
    ]
    [message] = turntape.from_provider_messages(history, "anthropic", notes=notes)
    assert message.content == (
        Text("a"),
        ProviderBlock("of_tomorrow", '{"type":"of_tomorrow"}'),
        ToolResult("t", ""),
    )
    assert {(note.code, note.index) for note in notes} == {("cache_control_dropped", 0)}


def test_cache_marks_of_a_request_are_its_policy():
    notes: list[ReplayNote] = []
    long = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
    tool = {"name": "dim", "input_schema": {"type": "object"}}
    got = request(
        notes,
        system=[{"type": "text", "text": "s", **long}],
        tools=[tool, {**tool, "name": "lock", **long}],
        messages=[
            {"role": "user", "content": "a"},
            {"role": "user", "content": [{"type": "text", "text": "b", **long}]},
        ],
    )
    assert got.cache == CachePolicy(system=True, tools=True, messages=(1,), ttl="1h")
    assert got.system == (Text("s"),)
    assert got.tools == tuple(ToolDef(name, "", {"type": "object"}) for name in ("dim", "lock"))
    assert notes == []


def test_marks_that_a_policy_cannot_say_are_noted():
    notes: list[ReplayNote] = []
    got = request(
        notes,
        system=[{"type": "text", "text": "s", "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
        messages=[
            {
                "role": "user",
                "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b", **MARK}],
            },
            {
                "role": "assistant",
                "content": [{"type": "text", "text": "c", **MARK}, {"type": "text", "text": "d"}],
            },
        ],
    )
    assert got.cache == CachePolicy(system=True, messages=(0,))
    assert [(note.code, note.index) for note in notes] == [
        ("cache_control_dropped", 1),
        ("cache_control_dropped", None),
    ]


def test_a_mark_inside_a_message_of_the_user_parts_it():
    content = [
        {"type": "tool_result", "tool_use_id": "t", "content": "r"},
        {"type": "text", "text": "long", **MARK},
        {"type": "text", "text": "short"},
    ]
    got = request(messages=[{"role": "user", "content": content}])
    assert got.cache == CachePolicy(messages=(0,))
    first, second = (m for m in got.messages if isinstance(m, turntape.Message))
    assert first.content == (ToolResult("t", "r"), Text("long"))
    assert second.content == (Text("short"),)
    alone = turntape.from_provider_messages([{"role": "user", "content": content}], "anthropic")
    assert len(alone) == 1


def test_plain_parameters():
    got = request(
        system="s", temperature=0.5, top_p=1, stop_sequences=["END"], stream=True, metadata={"u": 1}
    )
    assert (got.model, got.max_tokens, got.system) == ("claude-heron-9", 10, "s")
    assert (got.temperature, got.top_p, got.stop) == (0.5, 1, ("END",))
    assert got.stream
    assert got.extra == {"metadata": {"u": 1}}
    assert not request().stream


@pytest.mark.parametrize(
    ("choice", "expected", "parallel"),
    [
        ({"type": "auto"}, ToolChoice("auto"), None),
        ({"type": "any", "disable_parallel_tool_use": True}, ToolChoice("required"), False),
        ({"type": "none"}, ToolChoice("none"), None),
        ({"type": "tool", "name": "dim"}, ToolChoice.tool("dim"), None),
    ],
)
def test_tool_choice(choice, expected, parallel):
    got = request(tool_choice=choice)
    assert (got.tool_choice, got.parallel_tool_calls) == (expected, parallel)
    assert got.extra == {}


@pytest.mark.parametrize(
    ("body", "reasoning", "extra"),
    [
        (
            {"thinking": {"type": "enabled", "budget_tokens": 2048}},
            Reasoning(budget_tokens=2048),
            {},
        ),
        ({"thinking": {"type": "disabled"}}, Reasoning(effort="none"), {}),
        (
            {
                "thinking": {"type": "adaptive", "display": "summarized"},
                "output_config": {"effort": "high"},
            },
            Reasoning(effort="high", summary="auto"),
            {},
        ),
        ({"thinking": {"type": "adaptive"}}, Reasoning(), {}),
        (
            {"thinking": {"type": "adaptive", "of_tomorrow": 1}},
            None,
            {"thinking": {"type": "adaptive", "of_tomorrow": 1}},
        ),
        (
            {"output_config": {"effort": "low", "task_budget": {"n": 1}}},
            Reasoning(effort="low"),
            {"thinking": turntape.DELETE, "output_config": {"task_budget": {"n": 1}}},
        ),
        (
            {"thinking": {"type": "adaptive"}, "output_config": {"effort": "of_tomorrow"}},
            None,
            {"thinking": {"type": "adaptive"}, "output_config": {"effort": "of_tomorrow"}},
        ),
    ],
)
def test_reasoning(body, reasoning, extra):
    got = request(**body)
    assert (got.reasoning, got.extra) == (reasoning, extra)


def test_a_schema_for_the_answer():
    got = request(output_config={"format": {"type": "json_schema", "schema": {"type": "object"}}})
    assert got.response_format == ResponseFormat("json_schema", schema={"type": "object"})
    assert got.extra == {}


def test_tools():
    plain = {
        "type": "custom",
        "name": "dim",
        "description": "Dims.",
        "input_schema": {"type": "object"},
        "strict": True,
    }
    server = {"type": "web_search_20250305", "name": "web_search", "max_uses": 2}
    more = {"name": "x", "input_schema": {}, "input_examples": [{}]}
    assert request(tools=[plain, server, more]).tools == (
        ToolDef("dim", "Dims.", {"type": "object"}, strict=True),
        RawTool(turntape.Dialect.ANTHROPIC, json.dumps(server, separators=(",", ":"))),
        RawTool(turntape.Dialect.ANTHROPIC, json.dumps(more, separators=(",", ":"))),
    )


def test_what_another_wire_does_not_know_is_left_out_with_notes():
    notes: list[ReplayNote] = []
    body = {
        "model": "claude-heron-9",
        "max_tokens": 10,
        "messages": [],
        "metadata": {"user_id": "u"},
        "tools": [{"name": "x", "input_schema": {}, "input_examples": [{}]}],
    }
    got = turntape.from_request(body, "anthropic", target="openai-chat", notes=notes)
    assert got.extra == {}
    assert got.tools == (ToolDef("x", "", {}),)
    assert [note.code for note in notes] == ["parameter_dropped", "parameter_dropped"]
    kept = turntape.from_request(body, "anthropic", target="anthropic")
    assert kept.extra == {"metadata": {"user_id": "u"}}


@pytest.mark.parametrize(
    ("history", "index", "block", "said"),
    [
        ([{"role": "user", "content": "a"}, {"content": "b"}], 1, None, "messages[1]: 'role'"),
        ([{"role": "robot", "content": "a"}], 0, None, "messages[0]: the role is"),
        ([{"role": "user"}], 0, None, "messages[0]: 'content' is missing"),
        (
            [{"role": "user", "content": [{"type": "text", "text": "a"}, {"text": "b"}]}],
            0,
            1,
            "messages[0].content[1]: 'type' is missing",
        ),
        (
            [{"role": "user", "content": [{"type": "image", "source": {"type": "url"}}]}],
            0,
            0,
            "messages[0].content[0].source: 'url' is missing",
        ),
        (
            [{"role": "user", "content": [{"type": "text", "text": 7}]}],
            0,
            0,
            "messages[0].content[0].text: a string is expected, not a number",
        ),
        ({"role": "user"}, None, None, "messages: a list is expected, not an object"),
    ],
)
def test_faults_name_their_place(history, index, block, said):
    with pytest.raises(InvalidRequest) as caught:
        turntape.from_provider_messages(history, "anthropic")
    assert (caught.value.index, caught.value.block) == (index, block)
    assert said in str(caught.value)


def test_a_request_without_a_model():
    with pytest.raises(InvalidRequest, match="model="):
        turntape.from_request({"max_tokens": 1, "messages": []}, "anthropic")
    named = turntape.from_request({"max_tokens": 1, "messages": []}, "anthropic", model="m")
    assert named.model == "m"


def test_the_history_is_of_the_model_that_the_body_names():
    body = {"model": "a", "max_tokens": 1, "messages": [{"role": "assistant", "content": "x"}]}
    got = turntape.from_request(body, "anthropic", model="b")
    [turn] = got.messages
    assert isinstance(turn, turntape.Message)
    assert (got.model, turn.model) == ("b", "a")
