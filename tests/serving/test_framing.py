"""Cutting bodies into their events, and framing Gemini's payloads in the other way."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import turntape
from turntape.serving.framing import count_events, form_of, pieces_of, to_array, to_sse

lines = st.lists(
    st.sampled_from(
        [b"data: 1", b"data:", b"event: x", b": note", b"", b"\xff", b"data: \xc3\xa9 [{"]
    ),
    max_size=12,
)
ends = st.sampled_from([b"\n", b"\r", b"\r\n"])

payloads = st.lists(
    st.dictionaries(st.text(max_size=3), st.text(max_size=5) | st.integers(), max_size=3),
    max_size=5,
)


@given(lines, ends)
def test_the_pieces_of_a_stream_are_the_stream(lines, end):
    body = end.join(lines)
    pieces = list(pieces_of(body, "sse"))
    assert b"".join(pieces) == body
    assert all(pieces)


@given(lines, ends)
def test_each_piece_of_a_stream_holds_one_event(lines, end):
    body = end.join(lines)
    pieces = list(pieces_of(body, "sse"))
    decoder = turntape.SseDecoder(eof="discard")
    events = [len(decoder.feed(piece)) for piece in pieces]
    # A CR may be half of a line end, so an event may come with the piece after its own.
    if end != b"\r":
        assert all(count == 1 for count in events[:-1])
        assert count_events(pieces[:-1], "sse") == sum(events[:-1])


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_each_event_is_a_piece(end, mark):
    events = [
        mark + b"data: 1" + end * 2,
        b"data: 2" + end * 2,
        b": note" + end * 2 + b"event: x" + end + b"data: 3" + end * 3,
        b"data: 4" + end * 2,
    ]
    assert list(pieces_of(b"".join(events), "sse")) == events
    assert count_events(events, "sse") == len(events)


@given(payloads, st.sampled_from([",", ",\r\n", "\n,\n"]), st.sampled_from([None, 1]))
def test_the_pieces_of_an_array_are_the_array(payloads, comma, indent):
    text = "[" + comma.join(json.dumps(one, indent=indent) for one in payloads) + "]\n"
    for body in (text.encode(), text.encode()[: len(text) // 2]):
        pieces = list(pieces_of(body, "array"))
        assert b"".join(pieces) == body
    assert count_events(pieces_of(text.encode(), "array"), "array") == len(payloads)


@given(payloads)
def test_an_array_of_events_and_back(payloads):
    array = json.dumps(payloads, indent=2).encode()
    sse = to_sse(array)
    decoder = turntape.SseDecoder()
    assert [json.loads(event.data) for event in decoder.feed(sse)] == payloads
    assert json.loads(to_array(sse, closed=True)) == payloads


def test_an_array_that_breaks_off():
    body = b'[{"a": 1},\r\n{"b": "]'
    assert list(pieces_of(body, "array")) == [b'[{"a": 1}', b',\r\n{"b": "]']
    assert to_sse(body) == b'data: {"a": 1}\r\n\r\n'
    assert to_array(to_sse(body), closed=False) == b'[{"a": 1}'


@pytest.mark.parametrize("between", ["data: ping", "data:", "data: [DONE]", ": note", "event: x"])
def test_what_is_no_payload_has_no_place_in_an_array(between):
    sse = f'data: {{"a":1}}\n\n{between}\n\ndata:  {{"b":\ndata: 2}}\n\n{between}\n\n'.encode()
    assert json.loads(to_array(sse, closed=True)) == [{"a": 1}, {"b": 2}]


@pytest.mark.parametrize("body", [b"", b"[", b"[]", b"nothing", b"[" * 5000, b"[{" * 5000])
def test_what_is_no_array_is_one_piece(body):
    assert b"".join(pieces_of(body, "array")) == body
    assert to_sse(body) == b""


@pytest.mark.parametrize(
    ("body", "form"),
    [
        (b"data: 1\n\n", "sse"),
        (b"\xef\xbb\xbfdata: 1\n\n", "sse"),
        (b"\n\n [{}]", "array"),
        (b' {"id":1}', "response"),
        (b"\0\0\0\x10\0", "event-stream"),
        (b"", "sse"),
    ],
)
def test_the_form_of_a_body(body, form):
    assert form_of(body) == form
