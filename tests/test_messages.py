"""The message model: its constructors, its dict form, and the way in from decoded turns."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter
from tests.support.samples import ANTHROPIC, CHAT

import turntape
from turntape import (
    DELETE,
    AssistantMessage,
    Audio,
    Base64Source,
    CachePolicy,
    CustomRecord,
    Dialect,
    Document,
    Image,
    IncompleteTurn,
    Message,
    MessageError,
    ModelRequest,
    PathSource,
    ProviderBlock,
    RawTool,
    Reasoning,
    RedactedThinkingBlock,
    ReplayNote,
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

PIXEL = Base64Source("iVBORw0KGgo=", "image/png")

MESSAGES: list[Message | CustomRecord] = [
    Message.system("Answer tersely."),
    Message.user([Text("what is this?"), Image(PIXEL, extra='{"detail":"low"}')]),
    Message(
        "assistant",
        (
            Thinking("Count.", "sig"),
            RedactedThinkingBlock("opaque"),
            Text("ok", ('{"a":1}',), "sig", '{"id":"m1"}'),
            ToolUse("c1", "dim", '{ "n":1.10}', "sig", '{"type":"custom"}', complete=False),
            ProviderBlock("server_tool_use", '{"type":"server_tool_use"}'),
        ),
        model="claude-heron-9",
        dialect=Dialect.ANTHROPIC,
        vendor="anthropic",
        id="msg_1",
        stop_reason="pause_turn",
        reasoning_field="reasoning",
        extra="{}",
    ),
    Message.tool_result("c1", "lit", is_error=True),
    Message.tool_result("c1", [Text("lit"), Image(UrlSource("https://den.example/lamp.png"))]),
    Message.user(
        [
            Audio(PathSource("a.ogg", "audio/ogg")),
            Video(UrlSource("https://den.example/v", "video/mp4")),
            Document(PathSource("d")),
            ToolResult("c2", "", extra='{"caller":"x"}'),
        ]
    ),
    CustomRecord("mark", {"at": [1, {"$delete": True}]}, "a mark"),
]
REQUEST = ModelRequest(
    "claude-heron-9",
    MESSAGES,
    system=(Text("First."), Text("Second.")),
    tools=[ToolDef("dim", "Dims.", {"type": "object"}, strict=True), RawTool(Dialect.GEMINI, "{}")],
    tool_choice=ToolChoice.tool("dim"),
    parallel_tool_calls=False,
    max_tokens=5,
    temperature=1,
    top_p=0.5,
    stop=["END"],
    reasoning=Reasoning(budget_tokens=2048, summary="auto"),
    response_format=ResponseFormat.json_schema("tide", {"type": "object"}, strict=True),
    cache=CachePolicy(system=True, messages=(0,), ttl="1h", key="den"),
    stream=False,
    extra={"user": "x", "metadata": {"a": None, "b": [1.5]}},
)
VALUES: list[Any] = [
    *MESSAGES,
    REQUEST,
    ModelRequest("m", []),
    dataclasses.replace(REQUEST, cache=CachePolicy.auto(), system="s"),
    turntape.decode_message(ANTHROPIC, "anthropic", vendor="heronry"),
    turntape.decode_message(CHAT, "openai-chat"),
    ReplayNote("id_mapped", 3, "'a b' is sent as 'a_b-1f'"),
]


def names(value: Any) -> str:
    return type(value).__name__


@pytest.mark.parametrize("value", VALUES, ids=names)
def test_the_dict_form_comes_back_through_json(value):
    form = value.to_dict()
    assert type(value).from_dict(form) == value
    assert type(value).from_dict(json.loads(json.dumps(form))) == value
    assert value.to_dict() == form


@pytest.mark.parametrize("value", VALUES, ids=names)
def test_values_are_copied_and_pickled(value):
    assert pickle.loads(pickle.dumps(value)) == value  # noqa: S301 (our own)
    assert copy.deepcopy(value) == value
    assert not hasattr(value, "__dict__")


@pytest.mark.parametrize("value", VALUES, ids=names)
def test_pydantic_round_trips(value):
    adapter: TypeAdapter[Any] = TypeAdapter(type(value))
    assert adapter.validate_python(adapter.dump_python(value)) == value
    assert adapter.validate_json(adapter.dump_json(value)) == value
    assert adapter.validate_python(value.to_dict()) == value


def test_what_holds_its_default_is_left_out():
    assert Message.user("hi").to_dict() == {
        "role": "user",
        "content": [{"type": "text", "text": "hi"}],
    }
    assert list(Message.user([Image(PIXEL)]).to_dict()["content"][0]) == ["type", "source"]


def test_delete_survives_the_dict_form():
    request = ModelRequest("m", [], extra={"a": DELETE, "b": {"c": DELETE, "$delete": True}})
    form = request.to_dict()
    assert form["extra"] == {
        "a": {"$delete": True},
        "b": {"c": {"$delete": True}, "$delete": True},
    }
    assert ModelRequest.from_dict(json.loads(json.dumps(form))) == request
    assert pickle.loads(pickle.dumps(DELETE)) is DELETE  # noqa: S301 (our own)


def test_a_mark_is_literal_where_nothing_can_be_deleted():
    record = CustomRecord("k", {"$delete": True})
    assert CustomRecord.from_dict(record.to_dict()) == record
    tool = ToolDef("n", "d", {"$delete": True})
    assert ToolDef.from_dict(tool.to_dict()) == tool


@pytest.mark.parametrize(
    ("form", "field", "said"),
    [
        ({"role": "tool", "content": []}, "role", "one of 'system', 'user', 'assistant'"),
        ({"content": []}, "role", "missing"),
        ({"role": "user", "content": "hi"}, "content", "a list is expected"),
        ({"role": "user", "content": [], "name": "x"}, "name", "no such member"),
        ({"role": "user", "content": [{"type": "text"}]}, "content[0].text", "missing"),
        ({"role": "user", "content": [{"text": "x"}]}, "content[0].type", "it is missing"),
        ({"role": "user", "content": [{"type": 1}]}, "content[0].type", "1 is none of"),
        ({"role": "user", "content": [{"type": "text", "text": 1}]}, "content[0].text", "a string"),
        ({"role": "user", "content": [None]}, "content[0]", "null"),
        (
            {"role": "user", "content": [{"type": "tool_use", "id": "a", "name": "b", "complete": 1}]},
            "content[0].complete",
            "true or false",
        ),
        (
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "a", "content": [{"type": "x"}]}],
            },
            "content[0].content[0].type",
            "'x' is none of",
        ),
        ({"role": "user", "content": [], "dialect": "klingon"}, "dialect", "'klingon'"),
        ([], "", "a Message is an object, not a list"),
    ],
)  # fmt: skip
def test_a_wrong_form_is_an_error_with_its_path(form, field, said):
    with pytest.raises(MessageError) as caught:
        Message.from_dict(form)
    assert caught.value.field == field
    assert said in str(caught.value)
    assert str(caught.value).startswith(field)


@pytest.mark.parametrize(
    ("form", "field"),
    [
        ({"model": "m", "messages": [], "max_tokens": True}, "max_tokens"),
        ({"model": "m", "messages": [], "max_tokens": 1.5}, "max_tokens"),
        ({"model": "m", "messages": [], "tool_choice": {"type": "tool"}}, "tool_choice"),
        ({"model": "m", "messages": [], "extra": {1: 2}}, "extra"),
        ({"model": "m", "messages": [], "extra": []}, "extra"),
        ({"model": "m", "messages": [{"type": "custom_record"}]}, "messages[0].kind"),
        ({"model": "m", "messages": [], "reasoning": {"effort": "low", "budget_tokens": 1}}, "reasoning"),
        ({"model": "m", "messages": [], "cache": {"messages": ["0"]}}, "cache.messages[0]"),
    ],
)  # fmt: skip
def test_a_wrong_request_is_an_error_with_its_path(form, field):
    with pytest.raises(MessageError) as caught:
        ModelRequest.from_dict(form)
    assert caught.value.field == field


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "role", "content", "text", "source", "kind", "id"]),
            inner | st.sampled_from(["text", "user", "image", "tool_result"]),
            max_size=5,
        )
    ),
    max_leaves=15,
)


@given(JSON)
def test_any_json_is_a_message_or_a_message_error(form):
    try:
        message = Message.from_dict(form)
    except MessageError:
        return
    assert Message.from_dict(message.to_dict()) == message


def test_a_text_for_the_blocks_is_refused():
    for content in ("hi", [Text("hi")]):
        with pytest.raises(TypeError, match="tuple of blocks"):
            Message("user", content)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="list of texts"):
        ModelRequest("m", [], stop="END")


def test_a_request_keeps_the_history_as_it_was():
    history: list[Any] = [Message.user("one")]
    request = ModelRequest("m", history)
    history.append(Message.user("two"))
    assert request.messages == (Message.user("one"),)


def test_what_contradicts_itself_is_refused():
    for make in (
        lambda: ToolChoice("auto", "dim"),
        lambda: ToolChoice("tool"),
        lambda: Reasoning("low", 1024),
        lambda: Reasoning(budget_tokens=-1),
        lambda: ResponseFormat("json_schema", "n"),
        lambda: ResponseFormat("text", schema={}),
    ):
        with pytest.raises(ValueError, match=r".+"):
            make()


def test_a_decoded_turn_becomes_a_message_whole():
    turn = turntape.decode_message(ANTHROPIC, "anthropic", vendor="heronry")
    message = turn.to_message()
    assert message.role == "assistant"
    for name in ("content", "model", "dialect", "vendor", "id", "stop_reason", "reasoning_field"):
        assert getattr(message, name) == getattr(turn, name), name


def test_a_cut_turn_is_no_message_unless_asked_for():
    turn = AssistantMessage(
        content=(
            Thinking("cut"),
            Thinking("whole", "sig"),
            Thinking("", ""),
            RedactedThinkingBlock("opaque"),
            ProviderBlock("server_tool_use", "{}"),
            Text("half a"),
            ToolUse("c1", "dim", "{}"),
            ToolUse("c2", "dim", '{"n', complete=False),
            ProviderBlock("image", "{}"),
        )
    )
    with pytest.raises(IncompleteTurn):
        turn.to_message()
    notes: list[ReplayNote] = []
    message = turn.to_message(allow_incomplete=True, notes=notes)
    assert message.content == turn.content[1:7]
    assert [(note.code, note.index) for note in notes] == [
        ("reasoning_dropped", 0),
        ("incomplete_dropped", 7),
        ("incomplete_dropped", 8),
    ]
    assert turn.to_message(allow_incomplete=True) == message
