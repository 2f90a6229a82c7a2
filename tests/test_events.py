"""The value classes: those made by the extension are those that Python makes."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import json
import pickle
from typing import Annotated, Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, TypeAdapter
from tests.support.mutations import broken
from tests.support.outcome import as_dict, decode_whole
from tests.support.samples import ANTHROPIC, CHAT, ODD
from tests.support.streams import said

import turntape
from turntape import (
    AssistantBlock,
    AssistantMessage,
    Citation,
    ContentBlockStop,
    DecodeWarning,
    Dialect,
    Extension,
    InputJsonDelta,
    MessageStart,
    MessageStop,
    ProviderBlock,
    RedactedThinking,
    RedactedThinkingBlock,
    SignatureDelta,
    SseEvent,
    StreamEvent,
    Text,
    TextDelta,
    Thinking,
    ThinkingDelta,
    ToolUse,
    ToolUseStart,
    Usage,
)

EVENTS_ADAPTER: TypeAdapter[list[StreamEvent]] = TypeAdapter(
    list[Annotated[StreamEvent, Field(discriminator="type")]]
)
EVENT_CLASSES = get_args(StreamEvent)
BLOCK_CLASSES = get_args(AssistantBlock)
NAMES = {name: getattr(turntape, name) for name in turntape.__all__} | {"Dialect": Dialect}

MADE: list[Any] = [
    *turntape.decode(ANTHROPIC, "anthropic"),
    *turntape.decode(CHAT, "openai-chat"),
    *turntape.decode_message(ANTHROPIC, "anthropic").content,
    *turntape.decode_message(CHAT, "openai-chat").content,
    *turntape.decode_message(ODD, "openai-chat").warnings,
    *turntape.SseDecoder().feed("event: e\nid: 1\nretry: 5\ndata: d\n\ndata:\n\n"),
]
MESSAGES = [
    turntape.decode_message(ANTHROPIC, "anthropic", vendor="heronry"),
    turntape.decode_message(CHAT, "openai-chat"),
    turntape.decode_message(ODD, "openai-chat"),
    turntape.StreamDecoder("anthropic").snapshot(),
]


def rebuild(value: Any) -> Any:
    """Call the class with the fields of a value."""
    names = [field.name for field in dataclasses.fields(value) if field.init]
    return type(value)(**{name: getattr(value, name) for name in names})


def check_value(value: Any) -> None:
    """Hold what must be true of any value, whoever made it."""
    twin = rebuild(value)
    assert value == twin
    assert hash(value) == hash(twin)
    assert repr(value) == repr(twin)
    assert type(value) is type(twin)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(value, protocol)) == value  # noqa: S301 (our own)
    assert copy.copy(value) == value
    assert copy.deepcopy(value) == value
    assert dataclasses.replace(value) == value
    assert not hasattr(value, "__dict__")
    for field in dataclasses.fields(value):
        assert type(getattr(value, field.name)) is type(getattr(twin, field.name))
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(value, field.name, None)


def test_the_samples_hold_every_class():
    made = {type(value) for value in MADE}
    assert made >= {*EVENT_CLASSES, *BLOCK_CLASSES, SseEvent, DecodeWarning}


@pytest.mark.parametrize("value", MADE, ids=lambda value: type(value).__name__)
def test_a_made_value_is_an_ordinary_one(value):
    check_value(value)
    assert eval(repr(value), NAMES) == value  # noqa: S307 (our own text)


@pytest.mark.parametrize("message", MESSAGES)
def test_a_made_message_is_an_ordinary_one(message):
    check_value(message)
    assert isinstance(message.content, tuple)
    assert isinstance(message.warnings, tuple)
    assert message.dialect is None or isinstance(message.dialect, Dialect)


@given(said())
def test_every_value_of_a_turn_is_an_ordinary_one(case):
    _, wire, stream = case
    outcome = decode_whole(stream.body, wire)
    for value in (*outcome.events, *outcome.message.content, outcome.message):
        check_value(value)


def test_every_class_has_its_own_tag():
    for classes in (EVENT_CLASSES, BLOCK_CLASSES):
        tags = [cls.__dataclass_fields__["type"].default for cls in classes]
        assert len(set(tags)) == len(tags)
        for cls, tag in zip(classes, tags, strict=True):
            words = (
                cls.__name__.removesuffix("Block") if tag == "redacted_thinking" else cls.__name__
            )
            assert tag == "".join(f"_{c.lower()}" if c.isupper() else c for c in words).lstrip("_")


def describe(event: StreamEvent) -> str:  # noqa: PLR0911, C901 (one branch an event: that is the test)
    match event:
        case MessageStart(id=identifier, model=model):
            return f"{identifier} {model}"
        case TextDelta(index, text) | ThinkingDelta(index, text):
            return f"{index} {text}"
        case SignatureDelta(index, signature):
            return f"{index} {signature}"
        case RedactedThinking(index, data):
            return f"{index} {data}"
        case ToolUseStart(index, identifier, name, extra):
            return f"{index} {identifier} {name} {extra}"
        case InputJsonDelta(index, partial_json):
            return f"{index} {partial_json}"
        case Citation(index, text):
            return f"{index} {text}"
        case Extension(at, kind, text):
            return f"{at} {kind} {text}"
        case ContentBlockStop(index):
            return f"{index}"
        case Usage(input_tokens, output_tokens):
            return f"{input_tokens} {output_tokens}"
        case MessageStop(stop_reason, raw_reason, terminal):
            return f"{stop_reason} {raw_reason} {terminal}"


def test_events_match_by_position():
    described = [describe(event) for event in turntape.decode(ANTHROPIC, "anthropic")]
    assert described == [
        "msg_1 heron",
        "0 Hm.",
        "0 c2ln",
        "0",
        "1 b3BhcXVl",
        "1",
        '2 {"title": "Atlas"}',
        "2 It rains.",
        "2",
        '3 server_tool_use {"type": "server_tool_use", "id": "srv_1", "name": "search", "input": {}}',
        '3 input_json_delta {"type": "input_json_delta", "partial_json": "{\\"q\\": 1}"}',
        "3",
        '4 toolu_1 weather {"caller":{"type": "direct"}}',
        '4 {"city": "Oslo"}',
        "4",
        "9 30",
        "tool_use tool_use message_stop",
    ]


def test_the_blocks_of_a_message():
    content = turntape.decode_message(ANTHROPIC, "anthropic").content
    assert content == (
        Thinking("Hm.", "c2ln"),
        RedactedThinkingBlock("b3BhcXVl"),
        Text("It rains.", ('{"title": "Atlas"}',)),
        ProviderBlock(
            "server_tool_use",
            '{"type": "server_tool_use", "id": "srv_1", "name": "search", "input": {"q": 1}}',
        ),
        ToolUse("toolu_1", "weather", '{"city": "Oslo"}', extra='{"caller":{"type": "direct"}}'),
    )
    assert isinstance(content[-1], ToolUse)
    assert content[-1].input == {"city": "Oslo"}


@pytest.mark.parametrize("wire", ["anthropic", "openai-chat"])
def test_orjson_writes_values_as_they_are(wire):
    orjson = pytest.importorskip("orjson")
    body = ANTHROPIC if wire == "anthropic" else CHAT
    events = turntape.decode(body, wire)
    written = json.loads(orjson.dumps(events))
    assert written == as_dict(events)
    assert [event["type"] for event in written] == [event.type for event in events]
    message = turntape.decode_message(body, wire)
    assert json.loads(orjson.dumps(message)) == json.loads(json.dumps(as_dict(message)))


def test_orjson_and_pydantic_give_a_message_back():
    orjson = pytest.importorskip("orjson")
    adapter = TypeAdapter(AssistantMessage)
    for message in MESSAGES:
        assert adapter.validate_json(orjson.dumps(message)) == message
        assert adapter.validate_json(adapter.dump_json(message)) == message
        assert adapter.validate_python(adapter.dump_python(message)) == message


@given(broken())
def test_pydantic_gives_events_back(case):
    adapter = EVENTS_ADAPTER
    events = list(decode_whole(case[1], case[0]).events)
    assert adapter.validate_json(adapter.dump_json(events)) == events
    assert adapter.validate_python(adapter.dump_python(events)) == events
    assert adapter.validate_python(events) == events


def test_values_of_different_classes_differ():
    said: list[StreamEvent] = [TextDelta(0, "a"), ThinkingDelta(0, "a"), TextDelta(1, "a")]
    assert all(one != other for one, other in itertools.combinations(said, 2))
    assert len({TextDelta(0, "a"), TextDelta(0, "a"), ThinkingDelta(0, "a")}) == 2


@given(st.tuples(*[st.integers(0, 2**64 - 1)] * 6))
def test_the_total_of_usage_saturates(counters):
    usage = Usage(*counters)
    fresh, generated, read, written, _, _ = counters
    assert usage.total_tokens == min(fresh + generated + read + written, 2**64 - 1)


def test_an_empty_wire_value_is_none():
    [start, *_] = turntape.decode(
        'data: {"id":"","model":"","choices":[{"delta":{},"finish_reason":"stop"}]}\n\n',
        "openai-chat",
    )
    assert start == MessageStart(None, None)
