"""Bytes of one provider in, bytes of another's out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support.encoding_table import TARGETS
from tests.support.vectors import STREAMS, body_of, cases

from turntape import (
    EncodeError,
    MessageStart,
    ProviderError,
    StreamEncoder,
    StreamError,
    ToolUseStart,
    Transcoder,
    TruncatedStream,
    UnsayableDialect,
    decode,
    encode,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from turntape import StreamEvent

CHAT = b'data: {"id":"r1","model":"m","choices":[{"delta":{"content":"Hi"}}]}\n\n'


def bodies():
    for dialect, file in STREAMS.items():
        for case in cases(file):
            if ("body" in case or "body_hex" in case) and not case.get("options"):
                yield pytest.param(dialect, body_of(case), id=f"{dialect}-{case['name']}")


def run(transcoder, body, size):
    """Feed a body in pieces; give what came and the error that ended it."""
    out = b""
    try:
        for at in range(0, len(body), size):
            out += transcoder.feed(body[at : at + size])
        out += transcoder.finish()
    except StreamError as error:
        return out, error
    return out, None


@pytest.mark.parametrize(("dialect", "body"), list(bodies()))
@pytest.mark.parametrize("target", TARGETS)
def test_it_is_the_decoder_and_the_encoder(dialect, body, target):
    encoder = StreamEncoder(target, source=dialect)
    failure: StreamError | None = None
    events: Sequence[StreamEvent]
    try:
        events = decode(body, dialect)
    except StreamError as caught:
        events, failure = caught.events, caught
    wanted = b"".join(map(encoder.feed, events))
    size = max(1, len(body) // 7)
    transcoder = Transcoder(dialect, target)
    out, error = run(transcoder, body, size)
    if failure is None:
        assert error is None
        assert out == wanted + encoder.finish()
        assert transcoder.is_terminal
    else:
        assert type(error) is type(failure)
        assert out + transcoder.fail(failure) == wanted + encoder.fail(failure)
    assert transcoder.notes == encoder.notes


def test_what_came_before_a_failure_is_handed_over_first():
    transcoder = Transcoder("openai-chat", "anthropic")
    out = transcoder.feed(CHAT + b'data: {"error":{"message":"no","type":"server_error"}}\n\n')
    assert b'"Hi"' in out
    with pytest.raises(ProviderError, match="no"):
        transcoder.feed(CHAT)
    with pytest.raises(ProviderError, match="no") as caught:
        transcoder.feed(CHAT)
    assert caught.value.partial == transcoder.snapshot()
    with pytest.raises(ProviderError, match="no"):
        decode(out + transcoder.fail(caught.value), "anthropic")


def test_a_cut_source_is_a_cut_target_unless_it_is_told():
    transcoder = Transcoder("openai-chat", "anthropic")
    out = transcoder.feed(CHAT)
    with pytest.raises(TruncatedStream):
        transcoder.finish()
    with pytest.raises(TruncatedStream):
        decode(out, "anthropic")
    assert not transcoder.is_terminal


def test_the_end_is_the_end():
    transcoder = Transcoder("openai-chat", "gemini")
    transcoder.feed(CHAT + b"data: [DONE]\n\n")
    transcoder.finish()
    with pytest.raises(ValueError, match="ended by finish"):
        transcoder.feed(CHAT)
    with pytest.raises(EncodeError, match="has stopped"):
        transcoder.fail("too late")


def test_options_reach_both_sides():
    transcoder = Transcoder(
        "openai-chat", "anthropic", name_map={"f_": "f"}, model="mine", response_id="id", vendor="x"
    )
    call = b'{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f_"}}]}}]}'
    out = transcoder.feed(b"data: " + call + b"\n\ndata: [DONE]\n\n") + transcoder.finish()
    assert decode(out, "anthropic")[:2] == [
        MessageStart("id", "mine"),
        ToolUseStart(0, "c", "f"),
    ]
    assert transcoder.snapshot().vendor == "x"
    assert transcoder.warnings == ()
    assert transcoder.usage is None


def test_dialects_are_checked():
    with pytest.raises(UnsayableDialect):
        Transcoder("anthropic", "bedrock-converse")
    with pytest.raises(ValueError, match="no dialect"):
        Transcoder("anthropic", "x")


def test_a_large_piece_is_the_same():
    events = decode(CHAT * 4000 + b"data: [DONE]\n\n", "openai-chat")
    transcoder = Transcoder("openai-chat", "anthropic")
    out = transcoder.feed(CHAT * 4000 + b"data: [DONE]\n\n") + transcoder.finish()
    assert out == encode(events, "anthropic", source="openai-chat")
