"""Framing against the standard's own steps, and writing against reading."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.mutations import broken, soup
from tests.support.outcome import every

from turntape import SseDecoder, SseEvent, encode_sse

_LINE_END = re.compile(r"\r\n|\r|\n")
_TEXT = st.text(max_size=20) | st.text("\r\n\u2028\u2029\x85\v\f: \0ab", max_size=12)


def interpret(body: bytes) -> list[SseEvent]:
    """Interpret a whole stream in the words of WHATWG HTML 9.2.6."""
    text = body.decode("utf-8", "replace").removeprefix("\ufeff")
    events = []
    name, data, identifier, retry = "", None, None, None
    lines = _LINE_END.split(text)
    # An unfinished last line is a line, then the end of input flushes the block.
    if lines and lines[-1] == "":
        lines.pop()
    for line in [*lines, ""]:
        if line == "":
            if data is not None:
                events.append(SseEvent(name or "message", data, identifier, retry))
            name, data, retry = "", None, None
            continue
        if line.startswith(":"):
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            data = value if data is None else data + "\n" + value
        elif field == "event":
            name = value
        elif field == "id" and "\0" not in value:
            identifier = value
        elif field == "retry" and re.fullmatch("[0-9]+", value) and int(value) < 2**64:
            retry = int(value)
    return events


@given(soup() | st.binary(max_size=120) | broken().map(lambda case: case[1]))
def test_framing_is_what_the_standard_says(body):
    for chunks in ([body], every(body, 1)):
        decoder = SseDecoder()
        events = []
        for chunk in chunks:
            events += decoder.feed(chunk)
        assert events + decoder.finish() == interpret(body)


def writable(event: SseEvent) -> bool:
    broken_line = any(end in text for end in "\r\n" for text in (event.event, event.id or ""))
    return not broken_line and "\0" not in (event.id or "")


EVENTS = st.builds(SseEvent, _TEXT, _TEXT, st.none() | _TEXT, st.none() | st.integers(0, 2**64 - 1))


@given(st.lists(EVENTS, max_size=4), st.booleans())
def test_what_is_written_is_read_back(events, escape):
    events = [event for event in events if writable(event)]
    text = "".join(encode_sse(event, ascii_line_separators=escape) for event in events)
    decoder = SseDecoder(eof="discard")
    read = decoder.feed(text)
    assert not decoder.finish()
    assert not decoder.warnings
    identifier = None
    wanted = []
    for event in events:
        identifier = identifier if event.id is None else event.id
        data = _LINE_END.sub("\n", event.data)
        if escape:
            data = data.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
        wanted.append(SseEvent(event.event or "message", data, identifier, event.retry))
    assert read == wanted


@given(EVENTS)
def test_what_could_not_be_read_back_is_not_written(event):
    if not writable(event):
        with pytest.raises(ValueError, match=r"cannot be written|ignore"):
            encode_sse(event)
