"""What an encoder writes, the decoder reads back: the blind law, over all pairs of wires."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.encoded import expected, form, in_their_places, is_prefix, joined
from tests.support.encoding_table import TARGETS
from tests.support.event_turns import event_turns
from tests.support.outcome import check_sum, cut, decode_whole
from tests.support.streams import said

from turntape import (
    Dialect,
    MessageStop,
    ProviderError,
    StreamEncoder,
    Text,
    ToolUse,
    Transcoder,
    TruncatedStream,
    Usage,
    assemble,
    decode,
    encode,
    format_response,
    parse_response,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.support.encoded import Expected, Noted

    from turntape import AssistantMessage, ReplayNote, StreamEvent

targets = pytest.mark.parametrize("target", TARGETS)
# A source that is none of the targets: what only one wire can say is left out on each of them.
FOREIGN = Dialect.BEDROCK_CONVERSE
# Four targets share what one test of other laws takes.
FEWER = settings.get_current_profile_name() != "thorough"
fewer = settings(max_examples=80) if FEWER else settings()


def say(events: Sequence[StreamEvent], target: Dialect) -> tuple[bytes, Counter[Noted]]:
    """Encode event by event; give what was written and noted."""
    encoder = StreamEncoder(target, source=FOREIGN)
    body = b"".join([*map(encoder.feed, events), encoder.finish()])
    assert encoder.is_terminal == isinstance(events[-1], MessageStop)
    return body, Counter((note.code, note.index) for note in encoder.notes)


def check(message: AssistantMessage, notes: Counter[Noted], wanted: Expected, target: Dialect):
    """Hold what came back, and what was noted, to the table."""
    content = form(message)
    assert message.stop_reason == wanted.stop_reason
    assert message.usage == wanted.usage
    if target is not Dialect.OPENAI_CHAT:
        assert content == wanted.content
        assert set(notes) == wanted.notes
        return
    # Which neighbours are joined depends on the calls between their pieces: as many as are noted.
    assert joined(content) == joined(wanted.content)
    merges = [note for note in notes if note[0] == "blocks_merged"]
    assert len(content) + len(merges) == wanted.told
    assert set(notes) - set(merges) == {n for n in wanted.notes if n[0] != "blocks_merged"}


@targets
@fewer
@given(events=event_turns())
def test_what_another_wire_said_is_what_the_table_leaves_of_it(target, events):
    body, notes = say(events, target)
    outcome = decode_whole(body, target)
    assert outcome.fault is None
    assert not outcome.warnings
    check_sum(outcome)
    check(outcome.message, notes, expected(events, target), target)


@targets
@fewer
@given(events=event_turns())
def test_a_body_says_what_the_stream_says(target, events):
    notes: list[ReplayNote] = []
    body = format_response(assemble(events), target, source=FOREIGN, notes=notes)
    message = parse_response(body, target)
    wanted = expected(events, target, streamed=False)
    assert message.complete
    assert not message.warnings
    if target is Dialect.OPENAI_CHAT:
        assert joined(form(message)) == in_their_places(wanted.content)
    else:
        assert form(message) == wanted.content
    assert message.stop_reason == wanted.stop_reason
    assert message.usage == wanted.usage
    # Blocks that are left out are none of the body's, so that the others have other indices, and which
    # neighbours Chat joins depends on its places.
    codes = {note.code for note in notes} - {"blocks_merged"}
    # A message does not hold the facts beside its content.
    told = {code for code, _ in wanted.notes - {("content_unsupported", None)}}
    assert codes == told - {"blocks_merged"}


@targets
@fewer
@given(events=event_turns())
def test_ids_and_the_model_stay(target, events):
    message = decode_whole(say(events, target)[0], target).message
    start = events[0]
    assert start.type == "message_start"
    assert message.model == start.model
    if start.id is not None or target is Dialect.GEMINI:
        assert message.id == start.id
    else:
        assert message.id


@targets
@fewer
@given(events=event_turns(), data=st.data())
def test_a_turn_that_did_not_end_is_never_ended(target, events, data):
    part = events[: data.draw(st.integers(1, len(events) - 1))]
    outcome = decode_whole(say(part, target)[0], target)
    assert outcome.fault is not None
    assert outcome.fault.kind == "TruncatedStream"
    check_sum(outcome)
    content = form(outcome.message)
    if target in {Dialect.ANTHROPIC, Dialect.OPENAI_RESPONSES}:
        # The others join neighbours, of which each may be cut.
        assert is_prefix(content, expected(events, target).content)
    said_so_far = "".join(piece[-1] for piece in content if piece[0] == "text")
    wanted = "".join(event.text for event in part if event.type == "text_delta")
    assert sorted(said_so_far) == sorted(wanted)


@targets
@fewer
@given(
    events=event_turns(),
    data=st.data(),
    kind=st.sampled_from(["overloaded_error", "rate_limit_exceeded", "UNAVAILABLE", "odd"]),
    message=st.text(min_size=1),
    status=st.none() | st.sampled_from([400, 429, 503, 529]),
)
def test_a_failure_is_told_in_the_form_of_the_provider(target, events, data, kind, message, status):
    part = events[: data.draw(st.integers(0, len(events) - 1))]
    encoder = StreamEncoder(target, source=FOREIGN)
    body = b"".join(map(encoder.feed, part))
    failure = ProviderError(message, kind=kind, status=status, retryable=status in {429, 503, 529})
    body += encoder.fail(failure)
    assert not encoder.is_terminal
    with pytest.raises(ProviderError) as caught:
        decode(body, target)
    assert caught.value.kind == kind
    assert caught.value.message == message
    assert not any(isinstance(event, MessageStop) for event in caught.value.events)
    if status is None:
        assert caught.value.retryable == (kind != "odd")
    if target is Dialect.GEMINI and status is not None:
        # The others need not have a place for it within a stream.
        assert caught.value.status == status


@targets
@fewer
@given(case=said(), data=st.data())
def test_bytes_in_and_bytes_out_are_events_in_between(target, case, data):
    _, source, stream = case
    places = data.draw(st.lists(st.integers(0, 2**16), max_size=6))
    transcoder = Transcoder(source, target)
    pieces = [transcoder.feed(piece) for piece in cut(stream.body, places)]
    pieces.append(transcoder.finish())
    notes: list[ReplayNote] = []
    events = decode(stream.body, source)
    assert b"".join(pieces) == encode(events, target, source=source, notes=notes)
    assert transcoder.notes == tuple(notes)
    assert transcoder.snapshot() == decode_whole(stream.body, source).message


@targets
@fewer
@given(case=said(), data=st.data())
def test_a_cut_stream_comes_out_cut(target, case, data):
    _, source, stream = case
    length = data.draw(st.integers(0, len(stream.body)))
    transcoder = Transcoder(source, target)
    out = transcoder.feed(stream.body[:length])
    try:
        out += transcoder.finish()
    except TruncatedStream:
        with pytest.raises(TruncatedStream):
            decode(out, target)
    else:
        assert decode_whole(out, target).message.complete


@given(case=said())
def test_a_turn_that_comes_back_to_its_own_wire_is_the_same(case):
    _, wire, stream = case
    if wire not in TARGETS:
        return
    events = decode(stream.body, wire)
    notes: list[ReplayNote] = []
    again = decode_whole(encode(events, wire, notes=notes), wire)
    assert again.fault is None
    before, after = assemble(events), assemble(again.events)
    if wire == "openai-responses":
        # Its items have ids, which those of the stream need not have had.
        before, after = (replace(it, content=without_extra(it)) for it in (before, after))
    if wire == "anthropic" and before.usage is None:
        # It demands counts.
        before = replace(before, usage=Usage(0, 0))
    assert replace(after, terminal=before.terminal) == before
    assert {note.code for note in notes} <= {"usage_reduced"}


def without_extra(message: AssistantMessage):
    """Take off what items say of themselves."""
    return tuple(
        replace(block, extra=None) if isinstance(block, Text | ToolUse) else block
        for block in message.content
    )
