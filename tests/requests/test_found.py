"""What generated histories found: the smallest example of each."""

from __future__ import annotations

import pytest
from tests.support.building import body_of, built_for
from tests.support.good_bodies import PIXEL

from turntape import (
    Base64Source,
    CachePolicy,
    Dialect,
    Image,
    InvalidRequest,
    Message,
    ModelRequest,
    Text,
    Thinking,
    ToolChoice,
    ToolDef,
    ToolUse,
)

A, C, R, G, B = Dialect

DIM = ToolDef("dim", "Dims a lamp.", {"type": "object"})


@pytest.mark.parametrize(("dialect", "mark"), [(A, "cache_control"), (B, "cachePoint")])
def test_place_whose_result_was_made_up_is_marked_once(dialect, mark):
    """The made-up result stands in another message than the call, and both are of one place."""
    request = ModelRequest(
        "",
        [
            Message.user("q"),
            Message.user("q"),
            Message.assistant([ToolUse("c1", "dim", "{}")]),
        ],
        tools=(DIM,),
        max_tokens=9,
        cache=CachePolicy(messages=(0,), automatic=True),
    )
    built = built_for(request, dialect, repair="repair")
    assert built.to_json().count(f'"{mark}"'.encode()) == 4


def test_blank_prefill_is_left_out_on_chat():
    history = [Message.user("q"), Message.assistant("\u00a0")]
    built = built_for(ModelRequest("", history), C, "deepseek-reasoner", repair="repair")
    assert [message["role"] for message in body_of(built)["messages"]] == ["user"]
    assert [note.code for note in built.notes] == ["empty_text_dropped"]


def test_media_that_follow_results_count_in_digests():
    """They were in no digest while nothing came after them, so that the next request seemed changed."""
    picture = Image(Base64Source(PIXEL, "image/png"))
    history = [
        Message.user("q"),
        Message.assistant([ToolUse("c1", "snap", "{}")]),
        Message.tool_result("c1", [picture]),
    ]
    shorter = built_for(ModelRequest("", history), C)
    longer = built_for(ModelRequest("", [*history, Message.user("n")]), C)
    assert longer.prefix_digests[:3] == shorter.prefix_digests


def test_reasoning_details_are_a_list():
    turn = Message(
        "assistant",
        (Thinking("Hm."), ToolUse("c1", "dim", "{}")),
        reasoning_field="reasoning_details",
    )
    history = [Message.user("q"), turn, Message.tool_result("c1", "r")]
    built = built_for(ModelRequest("", history), C, "z-ai/glm-4.7", vendor="openrouter")
    details = body_of(built)["messages"][1]["reasoning_details"]
    assert details == [{"type": "reasoning.text", "text": "Hm."}]


def test_signed_reasoning_details_hold_their_text_once():
    entry = '{"type":"reasoning.text","text":"Hm.","signature":"c2ln"}'
    turn = Message(
        "assistant",
        (Thinking("Hm.", entry), ToolUse("c1", "dim", "{}")),
        dialect=C,
        vendor="openrouter",
        model="z-ai/glm-4.7",
        reasoning_field="reasoning_details",
    )
    history = [Message.user("q"), turn, Message.tool_result("c1", "r")]
    built = built_for(ModelRequest("", history), C, "z-ai/glm-4.7", vendor="openrouter")
    details = body_of(built)["messages"][1]["reasoning_details"]
    assert details == [{"type": "reasoning.text", "text": "Hm.", "signature": "c2ln"}]


def test_extra_of_a_leading_system_message_is_noted():
    extra = '{"cache_control":{"type":"ephemeral"}}'
    history = [
        Message("system", (Text("Be terse."),), dialect=C, extra=extra),
        Message.user("q"),
    ]
    built = built_for(ModelRequest("", history), C)
    assert [(note.code, note.index) for note in built.notes] == [("content_unsupported", 0)]


def test_temperature_beyond_the_wire_is_dropped():
    request = ModelRequest("", [Message.user("q")], temperature=1.4, max_tokens=9)
    built = built_for(request, B)
    assert "temperature" not in body_of(built)["inferenceConfig"]
    assert [note.code for note in built.notes] == ["parameter_dropped"]
    assert body_of(built_for(request, C))["temperature"] == 1.4


@pytest.mark.parametrize("dialect", [A, B])
def test_empty_schema_has_the_type_of_arguments(dialect):
    request = ModelRequest("", [Message.user("q")], tools=[ToolDef("now", "", {})], max_tokens=9)
    assert b'{"type":"object"}' in built_for(request, dialect).to_json()


def test_extra_of_the_system_text_is_noted():
    system = (Text("Be terse.", extra='{"cache_control":{"type":"ephemeral"}}'),)
    built = built_for(ModelRequest("", [Message.user("q")], system=system), C)
    assert [(note.code, note.index) for note in built.notes] == [("content_unsupported", None)]


def test_reasoning_alone_is_no_message_on_chat():
    history = [Message.user("q"), Message.assistant([Thinking("Hm.")]), Message.user("n")]
    built = built_for(ModelRequest("", history), C, "deepseek-reasoner")
    assert [message["role"] for message in body_of(built)["messages"]] == ["user", "user"]
    assert [note.code for note in built.notes] == ["reasoning_dropped"]


def test_choice_of_a_tool_goes_with_the_tools_that_a_model_does_not_take():
    request = ModelRequest(
        "", [Message.user("q")], tools=(DIM,), tool_choice=ToolChoice.tool("dim")
    )
    built = built_for(request, C, "o1-mini")
    assert not {"tools", "tool_choice"} & body_of(built).keys()
    assert {note.code for note in built.notes} == {"parameter_dropped"}


@pytest.mark.parametrize("dialect", list(Dialect))
def test_choice_of_an_unknown_tool_is_refused(dialect):
    request = ModelRequest(
        "", [Message.user("q")], tools=(DIM,), tool_choice=ToolChoice.tool("snap"), max_tokens=9
    )
    with pytest.raises(InvalidRequest, match="snap"):
        built_for(request, dialect)
