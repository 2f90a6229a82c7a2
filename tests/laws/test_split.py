"""The split law: no cutting of a stream changes what comes out of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.encoders import WIRES
from tests.support.mutations import broken, message_soup, soup
from tests.support.outcome import (
    check_sum,
    cut,
    decode_chunks,
    decode_message_only,
    decode_whole,
    every,
)
from tests.support.streams import said

from turntape import EventTooLarge, SseDecoder

PLACES = st.lists(st.integers(0, 10_000), max_size=12)
POLICIES = st.sampled_from(["flush", "discard"])
LIMITS = st.none() | st.integers(0, 200)


def check_split(body: bytes, wire: str, places: list[int], **options) -> None:
    whole = decode_whole(body, wire, **options)
    assert decode_chunks([body], wire, **options) == whole
    assert decode_chunks(cut(body, places), wire, **options) == whole
    assert decode_chunks(every(body, 1), wire, **options) == whole
    # Empty pieces say nothing.
    empties = [piece for chunk in cut(body, places) for piece in (b"", chunk, b"")]
    assert decode_chunks(empties, wire, **options) == whole
    assert decode_message_only(body, wire, **options) == replace(whole, events=())
    check_sum(whole)


@given(said(), PLACES, POLICIES)
def test_whole_turns(case, places, eof):
    _, wire, stream = case
    check_split(stream.body, wire, places, eof=eof)


@given(broken(), PLACES, POLICIES, LIMITS, st.booleans())
def test_broken_streams(case, places, eof, limit, strict):
    wire, body = case
    check_split(body, wire, places, eof=eof, max_event_bytes=limit, strict=strict)


@given(soup(), st.sampled_from(WIRES), PLACES, POLICIES, LIMITS)
def test_soup(body, wire, places, eof, limit):
    check_split(body, wire, places, eof=eof, max_event_bytes=limit)


@given(
    message_soup(),
    st.sampled_from(["anthropic", "bedrock-converse"]),
    PLACES,
    LIMITS,
    st.booleans(),
)
def test_message_soup(body, wire, places, limit, strict):
    check_split(body, wire, places, max_event_bytes=limit, strict=strict)


@given(said(), st.integers(0, 1), PLACES)
def test_another_choice(case, choice, places):
    _, wire, stream = case
    check_split(stream.body, wire, places, choice=choice)


@given(broken(), st.sets(st.from_regex(r"[a-z]{2}_[a-z]{2}", fullmatch=True)))
def test_options_that_rename(case, names):
    wire, body = case
    calls = [
        event.name
        for event in decode_whole(body, wire).events
        if event.type == "tool_use_start" and event.name
    ]
    options = {"server_tools": {*names, *calls[:1]}, "name_map": dict.fromkeys(calls[1:], "mapped")}
    check_split(body, wire, [len(body) // 2], **options)


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("size", [1000, 262_143, 262_144, 300_000])
@pytest.mark.parametrize(
    "body",
    [
        'error: {"error":{"message":"%s"}}\n\n',
        '{"error":{"message":"%s"}}\n\n',
        "<html>%s</html>\n\n",
        '{"a":\n"%s"}\n\n',
        ": %s\n\n",
        "event: %s\ndata: 1\n\n",
    ],
)
def test_long_foreign_lines(wire, size, body):
    # Only the beginning of text that is no event stream is kept: the same beginning for every cut.
    data = (body % ("x" * size)).encode()
    whole = decode_whole(data, wire)
    assert decode_chunks(every(data, 977), wire) == whole
    assert decode_chunks([data[:3], data[3:]], wire) == whole
    assert decode_chunks([data[:-1], data[-1:]], wire) == whole


def frame(chunks: list[bytes], eof: str, limit: int | None):
    decoder = SseDecoder(eof=eof, max_event_bytes=limit)  # type: ignore[arg-type]
    events = []
    fault = None
    try:
        for chunk in chunks:
            events += decoder.feed(chunk)
        events += decoder.finish()
    except EventTooLarge as error:
        fault = (str(error), error.offset)
    return events, decoder.warnings, fault


@given(
    soup() | st.binary(max_size=80) | broken().map(lambda case: case[1]), PLACES, POLICIES, LIMITS
)
def test_framing(body, places, eof, limit):
    whole = frame([body], eof, limit)
    assert frame(cut(body, places), eof, limit) == whole
    assert frame(every(body, 1), eof, limit) == whole
