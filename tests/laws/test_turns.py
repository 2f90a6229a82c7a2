"""What was said is what is decoded, on both wires alike: the blind law, and the right answer itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st
from tests.support.outcome import check_sum, decode_whole
from tests.support.turns import Call, said, streams, turns

from turntape import Text, Thinking, ToolUse, Usage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.support.turns import Turn

    from turntape import StreamEvent

# The member that the deltas of a kind concatenate.
_TEXTS = {"text_delta": "text", "thinking_delta": "text", "input_json_delta": "partial_json"}


def normal_form(events: Iterable[StreamEvent]) -> list[Any]:
    """Block by block, deltas joined, stops last; what only one wire tells is set aside."""
    blocks: dict[int, list[Any]] = {}
    frame: list[Any] = []
    for event in events:
        kind = event.type
        if kind in {"usage", "signature_delta", "citation", "content_block_stop"}:
            continue
        index = getattr(event, "index", None)
        if index is None:
            if kind == "message_stop":
                frame.append((kind, event.stop_reason))  # type: ignore[union-attr]
            elif kind != "extension":
                frame.append((kind,))
            continue
        block = blocks.setdefault(index, [])
        if kind not in _TEXTS:
            block.append((kind, getattr(event, "name", "")))
            continue
        text = getattr(event, _TEXTS[kind])
        if block and block[-1][0] == kind:
            text = block.pop()[1] + text
        block.append((kind, text))
    return [frame, [blocks[index] for index in sorted(blocks)]]


@given(said())
def test_a_turn_is_decoded_as_it_was_said(case):
    turn, wire, stream = case
    outcome = decode_whole(stream.body, wire)
    assert outcome.fault is None
    check_sum(outcome)
    message = outcome.message
    assert message.stop_reason == turn.stop_reason
    assert len(message.content) == len(turn.blocks)
    for block, wanted in zip(message.content, turn.blocks, strict=True):
        if isinstance(wanted, Call):
            assert isinstance(block, ToolUse)
            assert (block.id, block.name) == (wanted.id, wanted.name)
            assert block.arguments == wanted.arguments
        else:
            assert isinstance(block, Text if wanted.kind == "text" else Thinking)
            assert block.text == wanted.text
    check_usage(turn, message.usage)


def check_usage(turn: Turn, usage: Usage | None) -> None:
    if turn.usage is None:
        assert usage is None
    else:
        fresh, cached, generated = turn.usage
        assert usage == Usage(fresh, generated, cache_read_tokens=cached)


@given(said())
def test_oddities_are_warned_of_and_nothing_else_is(case):
    turn, wire, stream = case
    codes = {warning.code for warning in decode_whole(stream.body, wire).warnings}
    allowed = set()
    if turn.reason == "tool_use" and not turn.calls:
        allowed.add("tool_stop_without_calls")
    if wire == "anthropic" and '"message_stop"' not in stream.frames[-1].data:
        allowed.add("missing_terminal")
    assert codes == allowed


@given(st.data(), turns())
def test_two_wires_give_one_sequence(data, turn):
    bodies = {wire: data.draw(streams(turn, wire)).body for wire in ("anthropic", "openai-chat")}
    anthropic, chat = (decode_whole(body, wire) for wire, body in bodies.items())
    assert normal_form(anthropic.events) == normal_form(chat.events)
    assert anthropic.message.stop_reason == chat.message.stop_reason
    assert [
        (call.complete, call.invalid)
        for call in anthropic.message.content
        if isinstance(call, ToolUse)
    ] == [
        (call.complete, call.invalid) for call in chat.message.content if isinstance(call, ToolUse)
    ]
