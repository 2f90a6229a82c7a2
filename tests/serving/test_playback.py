"""When which bytes are sent."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turntape.serving.playback import FIRST_PAUSE, PAUSE, CutAt, Playback, scheduled

pieces = st.lists(st.binary(min_size=1, max_size=9), max_size=6)
tempos = st.sampled_from([0.0, 0.5, 1.0, 8.0])
chunks = st.none() | st.integers(1, 12)


@given(pieces, tempos, chunks)
def test_every_byte_is_sent_once_and_in_order(pieces, tempo, chunk):
    sent = list(scheduled(pieces, Playback(tempo=tempo, chunk=chunk)))
    assert b"".join(piece for _, piece in sent) == b"".join(pieces)
    if chunk is not None:
        assert all(len(piece) == chunk for _, piece in sent[:-1])


@given(pieces, tempos, chunks)
def test_all_the_time_passes_whatever_the_chunks(pieces, tempo, chunk):
    passed = sum(pause for pause, _ in scheduled(pieces, Playback(tempo=tempo, chunk=chunk)))
    whole = FIRST_PAUSE + PAUSE * (len(pieces) - 1) if pieces and tempo else 0.0
    assert passed == pytest.approx(whole / tempo if tempo else 0.0)


def test_an_event_at_a_time_with_a_tempo_and_all_at_once_without():
    assert [piece for _, piece in scheduled([b"a", b"b"], Playback(tempo=1))] == [b"a", b"b"]
    assert list(scheduled([b"a", b"b"], Playback())) == [(0.0, b"ab")]


@pytest.mark.parametrize(
    ("text", "count", "unit"), [("0", 0, "events"), (12, 12, "events"), ("7B", 7, "bytes")]
)
def test_where_to_cut(text, count, unit):
    assert CutAt.parse(text) == CutAt(count, unit)


@pytest.mark.parametrize("text", ["", "b", "-1", "1.5", "5 b", "5kb", "٣", "9" * 99])
def test_where_not_to_cut(text):
    with pytest.raises(ValueError, match="is no place to cut"):
        CutAt.parse(text)


@pytest.mark.parametrize(
    "options",
    [
        {"tempo": -1.0},
        {"tempo": float("nan")},
        {"tempo": float("inf")},
        {"chunk": 0},
        {"error_at": -1},
        {"error_status": 200},
    ],
)
def test_what_cannot_be_played(options):
    with pytest.raises(ValueError, match=r"."):
        Playback(**options)
