"""The laws, over recorded streams: how a body is cut never matters, and events add up to the message."""

from __future__ import annotations

import re
from base64 import b64decode
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.corpus.streams import SSE, Decoded, facts_of, message_of

from turntape import (
    Citation,
    ContentBlockStop,
    Dialect,
    InputJsonDelta,
    ProviderBlock,
    RedactedThinking,
    RedactedThinkingBlock,
    SignatureDelta,
    StreamDecoder,
    StreamError,
    Text,
    TextDelta,
    Thinking,
    ThinkingDelta,
    ToolUse,
    ToolUseStart,
    TruncatedStream,
    assemble,
    decode_many,
    detect_dialect,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.corpus.streams import Stream

    from turntape import (
        AssistantBlock,
        AssistantMessage,
        StreamEvent,
    )

pytestmark = pytest.mark.corpus

CHUNK_SIZES = (1, 7, 1400, 65536)


def decode_in_chunks(stream: Stream, size: int) -> Decoded:
    decoder = StreamDecoder(stream.dialect)
    events: list[StreamEvent] = []
    failure = None
    body = stream.body
    try:
        for start in range(0, len(body), size):
            events += decoder.feed(body[start : start + size])
        events += decoder.finish()
    except StreamError as error:
        events += error.events
        failure = error
    assert decoder.is_terminal == (failure is None)
    message = decoder.snapshot()
    assert decoder.warnings == message.warnings
    return Decoded(tuple(events), message, failure)


def test_how_a_body_is_cut_does_not_matter(recorded: Sequence[Stream]) -> None:
    for stream in recorded:
        whole = stream.decoded
        for size in CHUNK_SIZES:
            cut = decode_in_chunks(stream, size)
            where = f"{stream.name} in chunks of {size}"
            assert cut.events == whole.events, where
            assert cut.message == whole.message, where
            assert facts_of(cut.error) == facts_of(whole.error), where


@pytest.mark.parametrize("line_end", [b"\r\n", b"\r"], ids=["crlf", "cr"])
def test_the_kind_of_line_ends_does_not_matter(recorded: Sequence[Stream], line_end: bytes) -> None:
    for stream in recorded:
        if stream.framing != SSE:
            continue
        body = stream.body.replace(b"\r\n", b"\n").replace(b"\n", line_end)
        message, error = message_of(b"\xef\xbb\xbf" + body, stream.dialect)
        whole = stream.decoded
        assert replace(message, warnings=()) == replace(whole.message, warnings=()), stream.name
        codes = [warning.code for warning in message.warnings]
        assert codes == [warning.code for warning in whole.message.warnings], stream.name
        assert str(error) == str(whole.error), stream.name


def test_text_gives_what_its_bytes_give(recorded: Sequence[Stream]) -> None:
    for stream in recorded:
        if not stream.is_text:
            continue
        message, error = message_of(stream.body.decode(), stream.dialect)
        assert message == stream.decoded.message, stream.name
        assert facts_of(error) == facts_of(stream.decoded.error), stream.name


def test_events_add_up_to_the_message(recorded: Sequence[Stream]) -> None:
    for stream in recorded:
        whole = stream.decoded
        expected = replace(whole.message, warnings=())
        if whole.error is not None:
            # Usage is an event of a turn that ended; the error's partial message tells it anyway.
            expected = replace(expected, usage=None)
        assert assemble(whole.events, dialect=stream.dialect) == expected, stream.name
        bare = assemble(whole.events)
        assert bare == replace(expected, dialect=None, vendor=None), stream.name


def test_deltas_add_up_to_the_blocks(recorded: Sequence[Stream]) -> None:
    for stream in recorded:
        events, message = stream.decoded.events, stream.decoded.message
        for index, block in enumerate(message.content):
            own = [event for event in events if getattr(event, "index", None) == index]
            check_block(block, own, f"block {index} of {stream.name}")


def check_block(block: AssistantBlock, events: list[StreamEvent], where: str) -> None:
    """Compare a block with what its events say, joined by hand."""
    signature = "".join(e.signature for e in events if isinstance(e, SignatureDelta)) or None
    match block:
        case Text():
            assert block.text == "".join(e.text for e in events if isinstance(e, TextDelta)), where
            assert block.citations == tuple(e.json for e in events if isinstance(e, Citation)), (
                where
            )
            assert block.signature == signature, where
        case Thinking():
            text = "".join(e.text for e in events if isinstance(e, ThinkingDelta))
            assert (block.text, block.signature) == (text, signature), where
        case RedactedThinkingBlock():
            assert [block.data] == [e.data for e in events if isinstance(e, RedactedThinking)], (
                where
            )
        case ToolUse():
            arguments = "".join(e.partial_json for e in events if isinstance(e, InputJsonDelta))
            assert (block.arguments, block.signature) == (arguments, signature), where
            starts = [e for e in events if isinstance(e, ToolUseStart)]
            facts = [(e.id, e.name, e.extra) for e in starts]
            assert facts == [(block.id, block.name, block.extra)], where
        case ProviderBlock():
            assert {e.type for e in events} <= {"extension", "content_block_stop"}, where


def test_blocks_are_counted_in_the_order_in_which_they_open(recorded: Sequence[Stream]) -> None:
    for stream in recorded:
        whole = stream.decoded
        opened = 0
        stops: Counter[int] = Counter()
        for event in whole.events:
            index = getattr(event, "index", None)
            if index is None:
                continue
            assert index <= opened, f"{event} of {stream.name} skips a block"
            assert not stops[index], f"{event} of {stream.name} comes after its block's stop"
            opened = max(opened, index + 1)
            stops[index] += isinstance(event, ContentBlockStop)
        assert opened == len(whole.message.content), stream.name
        kinds = [event.type for event in whole.events]
        # A stream may fail before the message has started.
        assert kinds.count("message_start") == bool(kinds), stream.name
        assert kinds[:1] in ([], ["message_start"]), stream.name
        if whole.error is None:
            assert set(stops.values()) <= {1}, f"a block of {stream.name} has not one stop"
            assert kinds.count("message_stop") == 1, stream.name
            assert kinds[-1] == "message_stop", stream.name
            assert kinds.count("usage") == (whole.message.usage is not None), stream.name
            assert whole.message.usage is None or kinds[-2] == "usage", stream.name
        else:
            assert not {"message_stop", "usage"} & set(kinds), stream.name


def test_a_cut_stream_is_complete_only_where_the_wire_had_ended_the_turn(
    recorded: Sequence[Stream],
) -> None:
    for stream in recorded:
        whole = stream.decoded
        for length in places_to_cut(stream):
            where = f"the first {length} bytes of {stream.name}"
            prefix = stream.body[:length]
            message, error = message_of(prefix, stream.dialect)
            if error is None:
                assert ends_turn(prefix, stream.dialect), f"{where} are complete"
            else:
                assert isinstance(error, TruncatedStream | type(whole.error)), where
            check_partial(message, whole.message, where)


def places_to_cut(stream: Stream) -> list[int]:
    """Choose lengths: around the ends of events, above all the last ones, and evenly in between."""
    body = stream.body
    ends = list(ends_of_events(stream))
    some = ends[:: max(1, len(ends) // 20)] + ends[-6:]
    places = {0, *some, *(end - 9 for end in some), *(len(body) * k // 17 for k in range(17))}
    return sorted(place for place in places if 0 <= place <= len(body))


def ends_of_events(stream: Stream) -> Iterator[int]:
    """Give the places at which events end, as far as the bytes alone show them."""
    body = stream.body
    if stream.is_text:
        separator = rb"(?:\r?\n){2}" if stream.framing == SSE else rb"\n,"
        yield from (match.end() for match in re.finditer(separator, body))
        return
    end = 0
    while end < len(body):
        # A message of the AWS framing begins with its length.
        end += int.from_bytes(body[end : end + 4], "big")
        yield end


# What in a wire can have ended a turn.
ENDS: dict[Dialect, bytes] = {
    Dialect.ANTHROPIC: rb'"message_stop"|"stop_reason": ?"',
    Dialect.OPENAI_CHAT: rb'\[DONE\]|"finish_reason": ?"',
    Dialect.OPENAI_RESPONSES: rb'"response\.(?:completed|incomplete|done)"',
    Dialect.GEMINI: rb'"(?:finishReason|blockReason)"',
    Dialect.BEDROCK_CONVERSE: rb"messageStop",
}


def ends_turn(prefix: bytes, dialect: Dialect) -> bool:
    """Tell from the bytes whether anything in them can have ended a turn."""
    # Anthropic's events on Bedrock are base64.
    wrapped = re.findall(rb'"bytes":"([\w+/=]+)"', prefix)
    return any(re.search(ENDS[dialect], text) for text in [prefix, *map(b64decode, wrapped)])


def check_partial(partial: AssistantMessage, whole: AssistantMessage, where: str) -> None:
    """Hold what came of a cut stream against what comes of the whole one."""
    assert len(partial.content) <= len(whole.content), where
    for piece, block in zip(partial.content, whole.content, strict=False):
        assert type(piece) is type(block), where
        match piece, block:
            case Text() | Thinking(), Text() | Thinking():
                assert block.text.startswith(piece.text), where
            case ToolUse(), ToolUse():
                assert block.arguments.startswith(piece.arguments), where
                # A whole body has all fragments of a name that comes in pieces.
                assert block.name.startswith(piece.name), where
                # Only a call that came whole may be run.
                assert not piece.complete or piece == block, where
            case _:
                pass


def test_a_batch_gives_what_single_calls_give(recorded: Sequence[Stream]) -> None:
    for dialect in {stream.dialect for stream in recorded}:
        own = [stream for stream in recorded if stream.dialect is dialect]
        results = decode_many([stream.body for stream in own], dialect, threads=2)
        for stream, result in zip(own, results, strict=True):
            if isinstance(result, StreamError):
                assert facts_of(result) == facts_of(stream.decoded.error), stream.name
            else:
                assert stream.decoded.error is None, stream.name
                assert result == stream.decoded.message, stream.name


def test_the_dialect_is_told_from_the_body(recorded: Sequence[Stream]) -> None:
    for stream in recorded:
        assert detect_dialect(stream.body) is stream.dialect, stream.name
