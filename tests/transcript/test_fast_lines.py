"""Lines that the extension reads and writes are what the rules in Python say of them."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turntape import (
    ImagePart,
    NativeToolCall,
    ToolFailure,
    TranscriptMessage,
    Usage,
    validate_native,
)
from turntape._native import read_lines, rounds_are_whole, write_line
from turntape.errors import EnvelopeError
from turntape.transcript import lines
from turntape.transcript.entries import read_runs, read_tape
from turntape.transcript.lifting import normalized
from turntape.transcript.lines import decode_line, encode_line
from turntape.transcript.members import UnknownMembers
from turntape.transcript.rows import legacy_memory

TEXTS = st.text(
    st.sampled_from('ab \\"/{}[]\n\t\x00\x1f\x7fé水\U0001f40d:,OH_IMAGE') | st.characters(),
    max_size=12,
) | st.sampled_from(["", "{}", " {", "[OH_IMAGE:a.png]", '{"content":"x","tool_call_id":"c"}'])
OPTIONAL = st.none() | TEXTS
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
CALLS = st.builds(NativeToolCall, TEXTS, TEXTS, TEXTS, st.none() | JSON)
ROWS = st.builds(
    TranscriptMessage,
    st.sampled_from(["user", "assistant", "tool", "system", "narrator", "\\"]),
    TEXTS,
    id=OPTIONAL,
    tool_calls=st.lists(CALLS, max_size=3).map(tuple),
    tool_call_id=OPTIONAL,
    extra_metadata=st.none() | st.dictionaries(TEXTS, JSON, max_size=3),
    request_id=OPTIONAL,
    interrupted=st.booleans(),
    tool_failure=st.none() | st.builds(ToolFailure, TEXTS),
    usage=st.none() | st.builds(Usage, st.integers(0, 2**64 - 1), st.integers(0, 3)),
    model=OPTIONAL,
    stop_reason=OPTIONAL,
    created_at=OPTIONAL,
    cache_breakpoints=st.just(()) | st.just((0,)),
)


def by_the_rules(line: bytes) -> Any:
    """Read a line in Python alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "read_lines", lambda _: [])
        return decode_line(line)


def check_line(line: bytes) -> bool:
    """Compare the two readers; give whether the quick one took the line."""
    ruled = by_the_rules(line)
    (quick,) = read_lines(line) or [(0, 0)]
    if isinstance(quick, tuple):
        return False
    assert quick == ruled
    for name in TranscriptMessage.__dataclass_fields__:
        ours, theirs = getattr(quick, name), getattr(ruled, name)
        if name != "extra":
            assert type(ours) is type(theirs), name
            assert repr(ours) == repr(theirs), name
    assert legacy_memory(quick) == legacy_memory(ruled)
    assert encode_line(quick) == line
    return True


@given(ROWS)
def test_a_written_row_is_read_as_the_rules_say(row):
    try:
        line = encode_line(row)
    except EnvelopeError:
        return
    taken = check_line(line)
    if not row.cache_breakpoints and (row.tool_calls or row.role == "system"):
        assert taken or row.tool_call_id is not None


def written_by_the_rules(row: TranscriptMessage) -> bytes:
    """Write a row in Python alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "write_line", lambda _: None)
        return encode_line(row)


@given(ROWS)
def test_a_row_is_written_as_the_rules_say(row):
    quick = write_line(row)
    try:
        ruled = written_by_the_rules(row)
    except EnvelopeError:
        assert quick is None
        return
    assert quick in (None, ruled)
    if not row.cache_breakpoints and (row.tool_calls or row.role in {"system", "narrator"}):
        assert quick == ruled
        assert decode_line(ruled) == row


@given(
    st.text(st.characters(codec="utf-8") | st.sampled_from('"\\\n\x1f'), max_size=400),
    st.integers(1, 3),
)
def test_long_texts_are_written_as_the_rules_say(text, times):
    call = NativeToolCall(text, text, text * times, {text: [text, 1.5]})
    for row in (
        TranscriptMessage.system(text * times),
        TranscriptMessage.tool_result(text, text * times, failure=ToolFailure(text)),
        TranscriptMessage.assistant_with_calls(text, [call, call]),
    ):
        assert write_line(row) == written_by_the_rules(row)


def test_a_text_so_large_that_the_interpreter_is_released():
    row = TranscriptMessage.system('é"' * 200_000)
    assert write_line(row) == written_by_the_rules(row)


def test_a_row_with_everything_is_written_by_the_extension():
    row = TranscriptMessage(
        "assistant",
        "{}",
        id="r1",
        tool_calls=(NativeToolCall("c", "ls", "{}", {"b": 1, "a": None}),),
        tool_call_id="c0",
        extra_metadata={"z": 1, "a": {"é": [2.0, True]}},
        request_id="q1",
        interrupted=True,
        tool_failure=ToolFailure("no"),
        usage=Usage(1, 2, 3, 4, 5, 2**64 - 1),
        model="m",
        stop_reason="end_turn",
        created_at="2020-01-01T00:00:00Z",
    )
    line = written_by_the_rules(row)
    assert write_line(row) == line
    assert decode_line(line) == row
    assert list(json.loads(line)) == [
        name for name in lines.LINE_MEMBERS if name not in {"parts", "cache_breakpoints"}
    ]


class Text(str):
    __slots__ = ()


class Row(TranscriptMessage):
    __slots__ = ()


@pytest.mark.parametrize(
    "row",
    [
        TranscriptMessage("user", "[OH_IMAGE:a]"),
        TranscriptMessage("tool", "{}"),
        TranscriptMessage("assistant", "{"),
        TranscriptMessage(Text("user"), "x"),
        TranscriptMessage("user", Text("x")),
        TranscriptMessage("user", "x", id=Text("r1")),
        TranscriptMessage("user", "\ud83d"),
        TranscriptMessage("user", "x", id="\udc0d"),
        TranscriptMessage("user", "x", parts=()),
        TranscriptMessage("user", "x", parts=(ImagePart("a"),)),
        TranscriptMessage("user", "x", cache_breakpoints=(0,)),
        TranscriptMessage("user", "x", extra={"future": 1}),
        TranscriptMessage("user", "x", extra_metadata=UnknownMembers({"a": "1"})),
        TranscriptMessage("user", "x", extra_metadata={"a": 2**64}),
        TranscriptMessage("user", "x", extra_metadata={"a": float("nan")}),
        TranscriptMessage("user", "x", extra_metadata={"a": object()}),
        TranscriptMessage("user", "x", interrupted=1),  # type: ignore[arg-type]
        TranscriptMessage("user", "x", usage=Usage(-1)),
        TranscriptMessage("user", "x", usage=Usage(2**64)),
        TranscriptMessage("user", "x", usage=Usage(True)),  # noqa: FBT003
        TranscriptMessage("user", "x", model=3),  # type: ignore[arg-type]
        TranscriptMessage("user", "x", tool_calls=("call",)),  # type: ignore[arg-type]
        TranscriptMessage.assistant_with_calls("", [NativeToolCall("c", "ls", "\ud83d")]),
        TranscriptMessage.assistant_with_calls("", [NativeToolCall("c", "ls", "", {"a": {1}})]),
        Row("user", "x"),
        TranscriptMessage.__new__(TranscriptMessage),
        decode_line(b'{"role":"user", "content":"x"}'),
        normalized(TranscriptMessage("user", "a[OH_IMAGE:b]")),
        None,
        "x",
    ],
)
def test_what_the_quick_writer_leaves_to_the_rules(row):
    assert write_line(row) is None


@given(ROWS, st.data())
def test_a_changed_line_is_read_as_the_rules_say(row, data):
    try:
        line = encode_line(row)
    except EnvelopeError:
        return
    place = data.draw(st.integers(0, len(line)))
    length = data.draw(st.integers(0, 4))
    piece = data.draw(
        st.sampled_from(
            [b"", b" ", b",", b'"', b"\\", b"\\u0041", b"\\ud83d", b"2", b"\x01", b"\xff"]
        )
        | st.sampled_from(
            [b',"id":"x"', b',"id":null', b',"v":2', b'"', b"{", b"}", b"-0", b"1e400"]
        )
    )
    changed = line[:place] + piece + line[place + length :]
    if b"\n" not in changed:
        check_line(changed)


@pytest.mark.parametrize(
    "line",
    [
        r'{"role":"user","content":"\u0041"}',
        r'{"role":"user","content":"\u001F"}',
        r'{"role":"user","content":"\u000a"}',
        r'{"role":"user","content":"\/"}',
        r'{"role":"system","content":"\ud83d\udc0d"}',
        '{"role":"system","content":"","usage":{"input_tokens":0}}',
        '{"role":"system","content":"","usage":{}}',
        '{"role":"system","content":"","extra_metadata":{"b":1,"a":2}}',
        '{"role":"system","content":"","extra_metadata":{"a":1,"a":2}}',
        '{"role":"system","content":"","extra_metadata":{"a":1.50}}',
        '{"role":"system","content":"","extra_metadata":{"a":1e400}}',
    ],
)
def test_a_line_that_is_spelt_otherwise_keeps_its_bytes(line):
    assert check_line(line.encode())


@pytest.mark.parametrize(
    "line",
    [
        "",
        "{}",
        '{"role":"user","content":"x"} ',
        '{"role":"user","content":"x"}x',
        '{"role":"user", "content":"x"}',
        '{"content":"x","role":"user"}',
        '{"role":"user","content":"[OH_IMAGE:a]"}',
        '{"role":"user","content":"\\u005bOH_IMAGE:a]"}',
        '{"role":"tool","content":" {\\"content\\":\\"x\\",\\"tool_call_id\\":\\"c\\"}"}',
        '{"role":"tool","content":"\\n{}"}',
        '{"role":"tool","content":"x","tool_call_id":"c"}',
        '{"role":"tool","content":"x","v":2,"shape":"tool_result"}',
        '{"role":"tool","content":"x","v":3,"shape":"tool_result","tool_call_id":"c"}',
        '{"role":"assistant","content":"x","tool_calls":[],"v":2,"shape":"assistant_calls"}',
        '{"role":"system","content":"","extra_metadata":{"a":18446744073709551616}}',
        '{"role":"system","content":"","extra_metadata":{"a":-0}}',
        '{"role":"system","content":"","extra_metadata":[]}',
        '{"role":"system","content":"","usage":{"input_tokens":1.0}}',
        '{"role":"system","content":"","usage":{"input_tokens":18446744073709551616}}',
        '{"role":"system","content":"","future":1}',
        '{"role":"system","content":"\\ud83d"}',
    ],
)
def test_what_the_quick_reader_leaves_to_the_rules(line):
    assert read_lines(line.encode()) in ([], [(0, len(line.encode()))])


@given(
    st.lists(
        st.sampled_from(
            [
                b'{"role":"user","content":"q"}',
                b'{"role":"user", "content":"q"}',
                b"",
                b"  ",
                b"\x0b",
                b"torn",
                b'{"v":9}',
                b'{"role":"user","content":"' + b"long" * 9 + b'"}',
            ]
        ),
        max_size=12,
    ),
    st.booleans(),
    st.integers(1, 9),
    st.sampled_from([20, 60]),
)
def test_rows_alone_are_those_of_the_entries(parts, ended, size, most):
    tape = b"\n".join(parts) + (b"\n" if ended and parts else b"")

    class Slow(io.BytesIO):
        def read(self, _size: int | None = -1, /) -> bytes:
            return super().read(size)

    with pytest.MonkeyPatch.context() as patch:
        # So that the quick way is taken for short lines too.
        patch.setattr("turntape.transcript.entries._PIECE", 16)
        runs = list(read_runs(Slow(tape), max_line_bytes=most))
    rows = [row for run in runs for row in (run if isinstance(run, list) else [run])]
    assert [] not in runs
    entries = list(read_tape(io.BytesIO(tape), max_line_bytes=most))
    assert rows == [getattr(entry, "row", entry) for entry in entries]


@given(st.lists(ROWS, max_size=6), st.booleans())
def test_whole_rounds_have_no_faults(rows, include):
    if rounds_are_whole(rows, include):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("turntape.transcript.validation.rounds_are_whole", lambda *_: False)
            assert validate_native(rows, include_interrupted=include) == []


def test_a_usual_transcript_is_found_whole():
    calls = [NativeToolCall(name, "ls", "{}") for name in ("a", "b")]
    rows = [
        TranscriptMessage.user("q"),
        TranscriptMessage.assistant_with_calls("", calls),
        TranscriptMessage.tool_result("b", "r"),
        TranscriptMessage.tool_result("a", "r"),
        TranscriptMessage.assistant("done"),
    ]
    assert rounds_are_whole(rows, False)  # noqa: FBT003
    for gone in (1, 2, 3):
        assert not rounds_are_whole(rows[:gone] + rows[gone + 1 :], False)  # noqa: FBT003
    assert json.loads(encode_line(rows[1]))["shape"] == "assistant_calls"
