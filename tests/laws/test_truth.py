"""The truth law: a turn is whole only if the wire said so, and nothing in it is invented."""

# Whether a stream fails is part of what is checked, so errors are caught, not expected.
# ruff: noqa: PT017

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.mutations import broken
from tests.support.outcome import (
    check_order,
    check_sum,
    decode_chunks,
    decode_whole,
)
from tests.support.turns import Call, said

from turntape import InvalidToolArguments, MessageStop, StreamDecoder, StreamError, ToolUse

if TYPE_CHECKING:
    from tests.support.outcome import (
        Outcome,
    )
    from tests.support.turns import Stream, Turn


def check_prefix(turn: Turn, wire: str, stream: Stream, length: int, eof: str) -> None:
    outcome = decode_whole(stream.body[:length], wire, eof=eof)
    if length >= stream.end(flush=eof == "flush"):
        assert outcome.fault is None
        assert outcome.message.complete
    else:
        assert outcome.fault is not None
        assert outcome.fault.kind == "TruncatedStream"
        assert outcome.fault.offset <= length
        assert not any(isinstance(event, MessageStop) for event in outcome.events)
    check_usage(turn, stream, length, eof, outcome)
    check_calls(turn, outcome)
    check_sum(outcome)


def check_usage(turn: Turn, stream: Stream, length: int, eof: str, outcome: Outcome) -> None:
    usage = outcome.message.usage
    reported = stream.usage_from()
    if turn.usage is None or reported is None or length < reported:
        assert usage is None
        return
    if usage is None:
        # The event that reports it is not whole without its blank line.
        assert eof == "discard"
        return
    fresh, cached, _ = turn.usage
    assert (usage.input_tokens, usage.cache_read_tokens) == (fresh, cached)


def check_calls(turn: Turn, outcome: Outcome) -> None:
    """Every call that may be run is one that was said, whole."""
    for block, said_block in zip(outcome.message.content, turn.blocks, strict=False):
        if not isinstance(block, ToolUse):
            continue
        assert isinstance(said_block, Call)
        # Half a surrogate pair that was cut off shows as U+FFFD.
        assert said_block.arguments.startswith(block.arguments.removesuffix("\ufffd"))
        if block.complete:
            assert block.arguments == said_block.arguments
            continue
        assert block.invalid == "not_complete"
        with pytest.raises(InvalidToolArguments):
            _ = block.input


@given(said(), st.data(), st.sampled_from(["flush", "discard"]))
def test_a_cut_turn_is_never_whole(case, data, eof):
    turn, wire, stream = case
    lengths = {len(stream.body), stream.end(flush=True), stream.end(flush=True) - 1}
    lengths |= set(data.draw(st.lists(st.integers(0, len(stream.body)), max_size=12)))
    for length in lengths:
        check_prefix(turn, wire, stream, length, eof)


@given(said())
def test_a_snapshot_is_what_a_cut_there_would_leave(case):
    _, wire, stream = case
    decoder = StreamDecoder(wire)
    for at in range(0, len(stream.body), 31):
        decoder.feed(stream.body[at : at + 31])
        snapshot = decoder.snapshot()
        assert snapshot.complete == decoder.is_terminal
        assert snapshot.usage == decoder.usage
        assert snapshot.warnings == decoder.warnings
        if not snapshot.complete:
            assert (snapshot.stop_reason, snapshot.raw_reason) == ("unknown", None)


@given(broken())
def test_a_broken_stream_never_makes_a_call_that_can_be_run_by_half(case):
    wire, body = case
    outcome = decode_whole(body, wire)
    stopped = {event.index for event in outcome.events if event.type == "content_block_stop"}
    for index, block in enumerate(outcome.message.content):
        if isinstance(block, ToolUse):
            assert not block.complete or index in stopped
            assert (block.invalid is None) == runs(block)


def runs(call: ToolUse) -> bool:
    with contextlib.suppress(InvalidToolArguments):
        return isinstance(call.input, dict)
    return False


@given(broken(), st.booleans())
def test_every_failure_hands_over_what_came_before_it(case, strict):
    wire, body = case
    outcome = decode_whole(body, wire, strict=strict)
    check_sum(outcome)
    check_order(outcome.events, complete=outcome.fault is None)
    if outcome.fault is not None:
        assert 0 <= outcome.fault.offset <= len(body)
        assert outcome.message.stop_reason == "unknown"
    offsets = [warning.offset for warning in outcome.warnings]
    assert all(0 <= offset <= len(body) for offset in offsets)


@given(broken())
def test_a_failure_is_raised_again_and_again(case):
    wire, body = case
    decoder = StreamDecoder(wire)
    events = []
    try:
        events += decoder.feed(body)
        events += decoder.feed(b"")
    except StreamError as error:
        assert not error.events
        for _ in range(2):
            with pytest.raises(type(error)) as caught:
                decoder.feed(b"data: {}\n\n")
            assert caught.value.partial == error.partial
            assert str(caught.value) == str(error)
        with pytest.raises(type(error)):
            decoder.finish()
        whole = decode_chunks([body], wire)
        assert tuple(events) == whole.events
