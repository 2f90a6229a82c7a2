"""What was said is what is decoded, on all wires alike: the blind law, and the right answer itself."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.bodies import bodies, can_hold
from tests.support.encoders import WIRES, can_say
from tests.support.outcome import check_sum, decode_whole
from tests.support.streams import said, streams
from tests.support.turns import Call, turns

from turntape import (
    Text,
    Thinking,
    ToolUse,
    TruncatedStream,
    Usage,
    detect_dialect,
    parse_response,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.support.encoders import Wire
    from tests.support.outcome import Outcome
    from tests.support.turns import Say, Turn

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
        elif wanted.kind == "text":
            assert isinstance(block, Text)
            assert block.text == wanted.text
        else:
            assert isinstance(block, Thinking)
            assert block.text == wanted.text
            check_signature(wire, block, wanted)
    check_usage(turn, message.usage)


def check_signature(wire: Wire, block: Thinking, wanted: Say) -> None:
    if wanted.signature is None or wire == "openai-chat":
        # Chat has none but that of some vendors.
        assert block.signature is None
    elif wire == "openai-responses":
        assert block.signature is not None
        assert json.loads(block.signature)["encrypted_content"] == wanted.signature
    else:
        assert block.signature == wanted.signature


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
    # Responses and Gemini have no reason of that name.
    names_calls = wire in {"anthropic", "openai-chat", "bedrock-converse"}
    if names_calls and turn.reason == "tool_use" and not turn.calls:
        allowed.add("tool_stop_without_calls")
    if wire == "anthropic" and '"message_stop"' not in stream.frames[-1].data:
        allowed.add("missing_terminal")
    assert codes == allowed


@given(st.data(), turns())
def test_all_wires_give_one_sequence(data, turn):
    wires: list[Wire] = [wire for wire in WIRES if can_say(turn, wire)]
    outcomes = [decode_whole(data.draw(streams(turn, wire)).body, wire) for wire in wires]
    first, *others = outcomes
    for outcome in others:
        assert normal_form(outcome.events) == normal_form(first.events)
        assert outcome.message.stop_reason == first.message.stop_reason
        assert states_of_calls(outcome) == states_of_calls(first)


def states_of_calls(outcome: Outcome) -> list[tuple[bool, str | None]]:
    blocks = outcome.message.content
    return [(block.complete, block.invalid) for block in blocks if isinstance(block, ToolUse)]


@given(said())
def test_the_dialect_of_a_stream_shows(case):
    _, wire, stream = case
    assert detect_dialect(stream.body) == wire


@given(st.data(), turns())
def test_a_whole_body_says_what_its_stream_says(data, turn):
    able: list[Wire] = [wire for wire in WIRES if can_hold(turn, wire)]
    wire = data.draw(st.sampled_from(able))
    body = data.draw(bodies(turn, wire))
    whole = parse_response(body, wire)
    assert detect_dialect(body) == wire
    streamed = decode_whole(data.draw(streams(turn, wire)).body, wire).message
    # What ended a stream and under which name Chat sends reasoning differs between the streams of one
    # turn; so does what is odd about them.
    aside: dict[str, Any] = {"terminal": None, "reasoning_field": None, "warnings": ()}
    assert replace(whole, **aside) == replace(streamed, **aside)
    assert whole.complete


@given(st.data(), turns())
def test_a_cut_body_is_never_whole(data, turn):
    able: list[Wire] = [wire for wire in WIRES if can_hold(turn, wire)]
    wire = data.draw(st.sampled_from(able))
    body = data.draw(bodies(turn, wire)).strip()
    end = data.draw(st.integers(0, len(body) - 1))
    with pytest.raises(TruncatedStream) as caught:
        parse_response(body[:end], wire)
    assert caught.value.partial is not None
    assert not caught.value.partial.complete
