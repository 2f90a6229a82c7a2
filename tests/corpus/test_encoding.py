"""Every complete turn that was recorded, said on each of the wires and read back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.corpus.streams import NoCorpusError, streams
from tests.support.encoded import expected, form, in_their_places, joined
from tests.support.encoding_table import TARGETS

from turntape import (
    Dialect,
    MessageStop,
    ProviderError,
    StreamEncoder,
    StreamError,
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

    from tests.corpus.streams import Stream
    from tests.support.encoded import Noted

    from turntape import ReplayNote, StreamEvent

pytestmark = [pytest.mark.corpus, pytest.mark.parametrize("target", TARGETS)]

# What differs in a turn that comes back to its own wire, by the file's name; everything else is the same
# event by event.
DIFFERS = {
    # Reasons that came as numbers go out as names.
    "gemini/google-langchaingo__testdata-TestGoogleAIGenerateContentWithSystemMessage__0-91d3cf.json",
    "gemini/google-vertex-openinference__test-instrumentor-test-gemini-token-counts-streaming__0-f49e97.json",
    # The signature of a call whose arguments came in pieces comes behind them.
    "gemini/google-ai__fixtures-google-stream-tool-call-array-arguments-missing-terminal-func__0-25c627.sse",
    "gemini/google-vertex-ai__fixtures-google-vertex-stream-tool-call-arguments-nested.1__0-404793.sse",
    # A text began before the reasoning had ended.
    "openai-responses/openrouter-pydantic-ai__test-openai-responses-test-openai-responses-raw-cot-stream-openrouter__0-f0afdb.sse",
}


def streams_or_skip() -> tuple[Stream, ...]:
    """Give the recorded streams; skip without a corpus."""
    try:
        return streams()
    except NoCorpusError as error:
        pytest.skip(str(error))


def complete() -> list[Stream]:
    """Give the recorded streams that hold a whole turn."""
    return [stream for stream in streams_or_skip() if stream.decoded.error is None]


def told_by(notes: Sequence[ReplayNote]) -> set[Noted]:
    """Give the notes without their texts."""
    return {(note.code, note.index) for note in notes}


def test_a_recorded_turn_is_what_the_table_leaves_of_it(target: Dialect) -> None:
    for stream in complete():
        if stream.dialect is target:
            continue
        where = f"{stream.name} on {target}"
        notes: list[ReplayNote] = []
        body = encode(stream.decoded.events, target, source=stream.dialect, notes=notes)
        message = assemble(decode(body, target))
        wanted = expected(stream.decoded.events, target)
        content, told = form(message), told_by(notes)
        if target is Dialect.OPENAI_CHAT:
            # Which neighbours are joined depends on the calls between their pieces: as many as are noted.
            merges = {note for note in told if note[0] == "blocks_merged"}
            assert joined(content) == joined(wanted.content), where
            assert len(content) + len(merges) == wanted.told, where
            told -= merges
            wanted.notes = {note for note in wanted.notes if note[0] != "blocks_merged"}
        else:
            assert content == wanted.content, where
        assert told == wanted.notes, where
        assert message.stop_reason == wanted.stop_reason, where
        assert message.usage == wanted.usage, where


def test_a_body_says_what_the_stream_says(target: Dialect) -> None:
    for stream in complete():
        if stream.dialect is target:
            continue
        where = f"{stream.name} on {target}"
        message = parse_response(format_response(stream.decoded.message, target), target)
        wanted = expected(stream.decoded.events, target, streamed=False)
        if target is Dialect.OPENAI_CHAT:
            assert joined(form(message)) == in_their_places(wanted.content), where
        else:
            assert form(message) == wanted.content, where
        assert message.complete, where
        assert message.stop_reason == wanted.stop_reason, where
        assert message.usage == wanted.usage, where


def test_a_turn_that_comes_back_to_its_own_wire_is_the_same(target: Dialect) -> None:
    own = [stream for stream in complete() if stream.dialect is target]
    different: set[str] = set()
    for stream in own:
        notes: list[ReplayNote] = []
        before = stream.decoded.events
        after = decode(encode(before, target, notes=notes), target)
        if notes or [*map(without_terminal, before)] != [*map(without_terminal, after)]:
            different.add(stream.name)
        # Whatever the order of the pieces, the turn is the same.
        assert form(assemble(after)) == form(assemble(before)), stream.name
        assert assemble(after).stop_reason == stream.decoded.message.stop_reason, stream.name
    known = {stream.name for stream in own if stream.name in DIFFERS}
    assert different == known


def without_terminal(event: StreamEvent) -> StreamEvent:
    """Set aside what ended the turn: some wires end in several ways, of which one is written."""
    return replace(event, terminal="done") if isinstance(event, MessageStop) else event


def test_bytes_in_and_bytes_out_are_events_in_between(target: Dialect) -> None:
    for stream in complete():
        transcoder = Transcoder(stream.dialect, target)
        body = stream.body
        pieces = [transcoder.feed(body[at : at + 1400]) for at in range(0, len(body), 1400)]
        pieces.append(transcoder.finish())
        wanted = encode(stream.decoded.events, target, source=stream.dialect)
        assert b"".join(pieces) == wanted, f"{stream.name} on {target}"


def test_a_turn_that_failed_is_never_ended(target: Dialect) -> None:
    for stream in streams_or_skip():
        error = stream.decoded.error
        if error is None:
            continue
        encoder = StreamEncoder(target, source=stream.dialect)
        body = b"".join(map(encoder.feed, error.events))
        with pytest.raises(StreamError) as caught:
            decode(body + encoder.finish(), target)
        assert isinstance(caught.value, TruncatedStream), f"{stream.name} on {target}"
        encoder = StreamEncoder(target, source=stream.dialect)
        body = b"".join(map(encoder.feed, error.events)) + encoder.fail(error)
        with pytest.raises(ProviderError) as told:
            decode(body, target)
        if isinstance(error, ProviderError):
            assert told.value.kind == error.kind, f"{stream.name} on {target}"
            assert told.value.message == error.message, f"{stream.name} on {target}"
