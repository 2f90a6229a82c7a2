"""``turn_events``: the events of a message add up to it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.outcome import bare, decode_whole
from tests.support.streams import said
from tests.support.vectors import body_of, cases

from turntape import (
    AssistantMessage,
    ContentBlockStop,
    EncodeError,
    Extension,
    MessageStart,
    MessageStop,
    ProviderBlock,
    RedactedThinkingBlock,
    Text,
    TextDelta,
    Thinking,
    ToolUse,
    Usage,
    assemble,
    format_response,
    turn_events,
)

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
MAYBE = st.none() | TEXT
ITEM_EXTRA = st.sampled_from(
    [None, '{"id":"msg_1"}', '{"phase":"final"}', '{"id":"m\\u00e9","phase":null}']
)
REASONS = st.sampled_from(["end_turn", "tool_use", "max_tokens", "refusal", "other", "unknown"])
ARGUMENTS = st.sampled_from(["", "{}", '{"a": 1}', '{"a"', "[1]", "x", " ", '"'])
BLOCKS = st.one_of(
    st.builds(Text, TEXT, st.lists(st.just('{"c": 1}'), max_size=2).map(tuple), MAYBE, ITEM_EXTRA),
    st.builds(Thinking, TEXT, MAYBE),
    st.builds(RedactedThinkingBlock, TEXT),
    st.builds(
        ToolUse, TEXT, TEXT, ARGUMENTS, MAYBE, st.none() | st.just('{"x": 1}'), st.booleans()
    ),
    st.builds(ProviderBlock, TEXT, st.sampled_from(['{"type": "odd", "input": {}}', "[1]"])),
)
MESSAGES = st.builds(
    AssistantMessage,
    id=MAYBE,
    model=MAYBE,
    content=st.lists(BLOCKS, max_size=4).map(tuple),
    stop_reason=REASONS,
    raw_reason=MAYBE,
    terminal=st.sampled_from(["message_stop", "done", "finish_reason"]),
    usage=st.none() | st.builds(Usage, st.integers(0, 2**64 - 1), st.integers(0, 9)),
    complete=st.booleans(),
    reasoning_field=MAYBE,
)


def possible(message: AssistantMessage) -> AssistantMessage:
    """The message without what no turn can be: a reason before the end, a whole call in pieces."""
    if not message.complete:
        message = replace(message, stop_reason="unknown", raw_reason=None, terminal=None)
    whole = {"", "{}", '{"a": 1}', "[1]", "x", " "}
    if message.complete and message.stop_reason in {"max_tokens", "refusal", "other"}:
        whole = {"{}", '{"a": 1}'}
    content = tuple(
        replace(block, complete=False)
        if isinstance(block, ToolUse) and block.arguments not in whole
        else block
        for block in message.content
    )
    return replace(message, content=content)


@given(message=MESSAGES.map(possible))
def test_the_events_of_a_message_add_up_to_it(message):
    events = turn_events(message)
    assert assemble(events) == message
    assert sum(isinstance(event, MessageStop) for event in events) == message.complete
    stops = {event.index for event in events if isinstance(event, ContentBlockStop)}
    for index, block in enumerate(message.content):
        if not message.complete:
            assert (index in stops) == (isinstance(block, ToolUse) and block.complete)
        elif not (isinstance(block, ToolUse) and not block.complete):
            assert index in stops


@given(case=said(), data=st.data())
def test_the_events_of_a_decoded_message_add_up_to_it_wherever_it_was_cut(case, data):
    _, wire, stream = case
    cut = data.draw(st.none() | st.integers(0, len(stream.body)))
    message = decode_whole(stream.body[:cut], wire).message
    assert assemble(turn_events(message)) == bare(message)


STREAMS = {
    "anthropic": "anthropic_streams.json",
    "openai-chat": "chat_streams.json",
    "openai-responses": "responses_streams.json",
    "gemini": "gemini_streams.json",
    "bedrock-converse": "bedrock_streams.json",
}
VECTORS = [
    pytest.param(case, case.get("dialect", dialect), id=f"{dialect}-{case['name']}")
    for dialect, file in STREAMS.items()
    for case in cases(file)
]


@pytest.mark.parametrize(("case", "dialect"), VECTORS)
def test_the_events_of_a_vector_s_message_add_up_to_it(case, dialect):
    message = decode_whole(body_of(case), dialect, **case.get("options", {})).message
    assert assemble(turn_events(message)) == bare(message)


def test_the_name_of_the_reasoning_comes_before_the_first_thought():
    message = AssistantMessage(
        "r", None, (Text("a"), Thinking("b")), complete=True, reasoning_field="reasoning"
    )
    assert turn_events(message)[:4] == [
        MessageStart("r", None),
        TextDelta(0, "a"),
        ContentBlockStop(0),
        Extension(None, "reasoning_field", '"reasoning"'),
    ]


def test_a_complete_turn_that_no_wire_ended_stops_all_the_same():
    message = AssistantMessage(content=(Text("a"),), complete=True, stop_reason="end_turn")
    assert turn_events(message)[-1] == MessageStop("end_turn", None, "message_stop")


def test_no_call_becomes_whole():
    call = ToolUse("c", "f", "{}", complete=False)
    message = AssistantMessage(content=(call,), complete=True, stop_reason="tool_use")
    [again] = assemble(turn_events(message)).content
    assert again == call
    assert assemble(turn_events(AssistantMessage(content=(call,)))).content == (call,)


def test_other_facts_of_a_text_are_left_out():
    message = AssistantMessage(content=(Text("a", extra='{"id":"m","cache_control":{}}'),))
    assert assemble(turn_events(message)).content == (Text("a", extra='{"id":"m"}'),)


@pytest.mark.parametrize("extra", ["nope", "", "[" * 1000, '{"id":"\ud800"}'])
def test_the_extra_of_a_text_that_is_no_json_is_refused(extra):
    message = AssistantMessage(
        content=(Text("a"), Text("b", extra=extra)), stop_reason="end_turn", complete=True
    )
    for tell in (turn_events, lambda message: format_response(message, "openai-responses")):
        with pytest.raises(EncodeError, match="the extra of text block 1 is not JSON: "):
            tell(message)
