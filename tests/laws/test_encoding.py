"""What an encoder writes, the decoder reads back: the blind law, over all pairs of wires."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.encoded import expected, form, is_prefix
from tests.support.encoding_table import TARGETS
from tests.support.event_turns import event_turns
from tests.support.outcome import check_sum, cut, decode_whole
from tests.support.streams import said

import turntape
from turntape import (
    Dialect,
    MessageStop,
    ProviderError,
    StreamEncoder,
    Transcoder,
    TruncatedStream,
    assemble,
    decode,
    encode,
    format_response,
    parse_response,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from turntape import StreamEvent

targets = pytest.mark.parametrize("target", TARGETS)
# A source that is none of the targets: opaque things are left out on each of them.
FOREIGN = Dialect.BEDROCK_CONVERSE


def notes_of(encoder: StreamEncoder) -> set[tuple[str, int | None]]:
    return {(note.code, note.index) for note in encoder.notes}


@targets
@given(events=event_turns())
def test_what_is_said_on_another_wire_is_what_the_table_leaves_of_it(target, events):
    encoder = StreamEncoder(target, source=FOREIGN)
    body = b"".join([*map(encoder.feed, events), encoder.finish()])
    assert encoder.is_terminal
    outcome = decode_whole(body, target)
    assert outcome.fault is None
    check_sum(outcome)
    message, wanted = outcome.message, expected(events, target)
    assert form(message) == wanted.content
    assert message.stop_reason == wanted.stop_reason
    assert message.usage == wanted.usage
    assert not message.warnings
    assert notes_of(encoder) == wanted.notes


@targets
@given(events=event_turns())
def test_labels_stay(target, events):
    message = decode_whole(encode(events, target, source=FOREIGN), target).message
    start = events[0]
    assert start.type == "message_start"
    assert start.id in {None, message.id}
    assert message.model == start.model
    made_up = start.id is None and target is not Dialect.GEMINI
    assert (message.id is None) == (start.id is None and not made_up)
