"""The native dialect: pairing with its report, and turns that become envelopes and back."""

from __future__ import annotations

from collections import UserDict
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.envelopes import calls, texts

import turntape
from turntape import (
    AssistantMessage,
    AssistantToolCalls,
    Chat,
    EnvelopeError,
    NativeDialect,
    NativeToolCall,
    Text,
    Thinking,
    ToolEnvelope,
    ToolResults,
    ToolUse,
    pair_tool_cycles,
)

if TYPE_CHECKING:
    from collections.abc import Mapping


def opener(*ids: str) -> AssistantToolCalls:
    return AssistantToolCalls("t", tuple(NativeToolCall(name, "n", "{}") for name in ids))


def results(*ids: str) -> ToolResults:
    return ToolResults(tuple(ToolEnvelope(name, "r") for name in ids))


CHAT = Chat("user", "u")


@pytest.mark.parametrize(
    ("history", "dropped"),
    [
        ([opener("a"), results("a")], []),
        ([opener("a", "b"), results("b", "a")], []),
        ([opener(), results()], []),
        ([opener("a")], [(0, "not_answered")]),
        ([opener("a"), CHAT, results("a")], [(0, "not_answered"), (2, "no_opener")]),
        ([opener("a"), opener("b"), results("b")], [(0, "not_answered")]),
        ([opener("a"), results("b")], [(0, "not_exactly_answered"), (1, "opener_dropped")]),
        ([opener("a"), results()], [(0, "not_exactly_answered"), (1, "opener_dropped")]),
        ([opener("a"), results("a", "b")], [(0, "not_exactly_answered"), (1, "opener_dropped")]),
        (
            [opener("a", "a"), results("a", "a")],
            [(0, "not_exactly_answered"), (1, "opener_dropped")],
        ),
        ([opener("a"), results("a"), results("a")], [(2, "no_opener")]),
        (
            [opener("a"), results("b"), results("a"), CHAT],
            [(0, "not_exactly_answered"), (1, "opener_dropped"), (2, "no_opener")],
        ),
        ([], []),
    ],
)
def test_what_is_dropped_and_why(history, dropped):
    paired = pair_tool_cycles(iter(history))
    assert [(entry.index, entry.reason) for entry in paired.dropped] == dropped
    assert all(entry.detail for entry in paired.dropped)
    gone = {index for index, _ in dropped}
    assert list(paired.entries) == [entry for at, entry in enumerate(history) if at not in gone]
    assert pair_tool_cycles(paired.entries) == replace(paired, dropped=())


def test_the_report_names_the_ids():
    paired = pair_tool_cycles([opener("a", "b"), results("b", "b", "c")])
    assert (
        paired.dropped[0].detail
        == "answered twice: 'b'; not answered: 'a'; answered and not called: 'c'"
    )


entries = st.lists(
    st.builds(Chat, st.sampled_from(["user", "assistant", "tool"]), texts)
    | st.builds(
        AssistantToolCalls,
        texts | st.none(),
        st.lists(calls(), min_size=1, max_size=2).map(tuple),
        st.none(),
    )
    | st.lists(st.sampled_from(["a", "b"]), max_size=2).map(lambda ids: results(*ids))
    | st.lists(st.sampled_from(["a", "b"]), min_size=1, max_size=2).map(lambda ids: opener(*ids)),
    max_size=8,
)


@given(entries)
def test_packed_and_typed_messages_say_the_same(history):
    packed = NativeDialect.to_provider_messages(history)
    typed = NativeDialect.to_typed_messages(history)
    again = []
    for message in typed:
        match message:
            case turntape.TypedMessage("tool", str(content), tool_call_id=str(name)):
                again.append(Chat("tool", turntape.encode_tool_envelope(name, content)))
            case turntape.TypedMessage(role, str(content), ()) if (
                message.tool_call_id is None and Chat(role, content) in history
            ):
                again.append(Chat(role, content))
            case _:
                envelope = turntape.encode_assistant_envelope(
                    message.content, message.tool_calls, message.reasoning_content
                )
                again.append(Chat(message.role, envelope))
    assert again == packed


def test_no_entry_is_a_type_error():
    for function in (
        pair_tool_cycles,
        NativeDialect.to_provider_messages,
        NativeDialect.to_typed_messages,
    ):
        with pytest.raises(TypeError, match="dict is no entry"):
            function([{"role": "user"}])  # type: ignore[list-item]


def test_calls_of_a_response():
    given_calls: list[Mapping[str, Any]] = [
        UserDict({"id": "c1", "name": "f", "arguments": "", "extra_content": {"a": 1.0}}),
        {
            "id": "c2",
            "type": "function",
            "function": {"name": "g", "arguments": "half {"},
            "extra_content": 7,
        },
    ]
    response = NativeDialect.parse_response("t", given_calls)
    assert response.text == "t"
    first, second = response.tool_calls
    assert (first.input, first.invalid, first.extra) == ({}, None, '{"extra_content":{"a":1.0}}')
    assert (second.arguments, second.invalid, second.extra) == (
        "half {",
        "malformed",
        '{"extra_content":7}',
    )
    assert NativeDialect.parse_response(None).tool_calls == ()
    with pytest.raises(EnvelopeError, match=r"tool_calls\[0\]\.arguments: dict, not str"):
        NativeDialect.parse_response(None, [{"id": "c", "name": "n", "arguments": {}}])
    with pytest.raises(EnvelopeError, match=r"tool_calls\[0\]\.id: NoneType, not str"):
        NativeDialect.parse_response(None, [{"name": "n", "arguments": "{}"}])
    with pytest.raises(TypeError, match="str is no tool call"):
        NativeDialect.parse_response(None, "c1")  # type: ignore[arg-type]


# Turns ---------------------------------------------------------------------------------------------

STREAM = Path(__file__).parents[2] / "examples" / "streams" / "openai-chat.sse"


def test_stream_to_message_to_envelope_to_message():
    message = turntape.decode_message(STREAM.read_bytes(), "openai-chat")
    envelope = message.to_envelope()
    again = AssistantMessage.from_envelope(envelope)
    assert turntape.explain_not_canonical(envelope) is None
    assert again is not None
    assert again.content == tuple(
        block for block in message.content if not isinstance(block, Thinking)
    )
    assert again.stop_reason == "tool_use"
    assert again.to_envelope() == envelope


CALL = ToolUse("c1", "f", "{}", extra='{"extra_content": {"b": 1e2, "a": ["\\u00e9"]}, "other": 1}')


def test_what_an_envelope_carries_of_a_turn():
    turn = AssistantMessage(
        content=(
            Thinking("one", "sig"),
            Text("a"),
            Thinking("one"),
            CALL,
            Thinking(" \n"),
            Text("b"),
            Thinking("two"),
        ),
        complete=True,
    )
    assert turn.to_envelope() == (
        '{"content":"ab","tool_calls":[{"arguments":"{}",'
        '"extra_content":{"a":["é"],"b":100.0},"id":"c1","name":"f"}]}'
    )
    reasoned = turn.to_envelope(reasoning=True)
    assert '"reasoning_content":"one\\n\\ntwo"' in reasoned
    again = AssistantMessage.from_envelope(reasoned)
    assert again is not None
    assert again.content[:2] == (Thinking("one\n\ntwo"), Text("ab"))
    assert again.to_envelope(reasoning=True) == reasoned
    quiet = AssistantMessage(content=(CALL,), complete=True)
    assert quiet.to_envelope() == quiet.to_envelope(reasoning=True)
    assert quiet.to_envelope().startswith('{"content":"",')


@pytest.mark.parametrize(
    ("turn", "field"),
    [
        (AssistantMessage(content=(CALL,)), "complete"),
        (
            AssistantMessage(content=(replace(CALL, complete=False),), complete=True),
            "content[0].complete",
        ),
        (AssistantMessage(content=(Text("x"),), complete=True), "content"),
        (AssistantMessage(complete=True), "content"),
        (AssistantMessage(content=(Text("\ud83d"), CALL), complete=True), "text"),
        (
            AssistantMessage(
                content=(replace(CALL, extra='{"extra_content":"\\ud83d"}'),), complete=True
            ),
            "content[0].extra",
        ),
        (
            AssistantMessage(
                content=(replace(CALL, extra='{"extra_content":1e999}'),), complete=True
            ),
            "content[0].extra",
        ),
        (
            AssistantMessage(
                content=(replace(CALL, extra='{"extra_content":' + "[" * 400 + "]" * 400 + "}"),),
                complete=True,
            ),
            "content[0].extra",
        ),
        (
            AssistantMessage(content=(replace(CALL, extra="{"),), complete=True),
            "content[0].extra",
        ),
    ],
)
def test_a_turn_that_no_envelope_can_hold(turn, field):
    with pytest.raises(EnvelopeError) as caught:
        turn.to_envelope()
    assert caught.value.field == field


def test_extra_content_with_an_exponent_is_written_and_not_canonical():
    call = NativeToolCall.from_tool_use(replace(CALL, extra='{"extra_content":[1e300]}'))
    assert call.extra_content == [1e300]
    assert call.to_tool_use().extra == '{"extra_content":[1e+300]}'
    assert (
        NativeToolCall.from_tool_use(replace(CALL, extra='{"extra_content":null}')).extra_content
        is None
    )
    assert NativeToolCall.from_tool_use(replace(CALL, extra='{"x":1}')).extra_content is None


def test_no_envelope_is_no_message():
    assert AssistantMessage.from_envelope("All done.") is None
    assert AssistantMessage.from_envelope('{"content":"x","tool_calls":[]}') is None


@given(st.lists(calls(), min_size=1, max_size=3), texts)
def test_calls_survive_as_blocks(made, text):
    envelope = turntape.encode_assistant_envelope(text, made)
    message = AssistantMessage.from_envelope(envelope)
    assert message is not None
    assert message.to_envelope() == envelope
    for call, block in zip(
        made, [b for b in message.content if isinstance(b, ToolUse)], strict=True
    ):
        assert NativeToolCall.from_tool_use(block) == call
        assert call.to_tool_use() == block
