"""Rows to lines and back: the byte law, the order of members, and what is kept untouched."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import replace
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turntape import (
    AudioPart,
    DocumentPart,
    EnvelopeError,
    ImagePart,
    NativeToolCall,
    PathRef,
    TapeFault,
    TapeOpaque,
    TapeRow,
    TextPart,
    ToolFailure,
    TranscriptError,
    TranscriptMessage,
    UrlRef,
    Usage,
    VideoPart,
    encode_assistant_envelope,
    encode_tool_envelope,
    normalized,
    read_tape,
)
from turntape.transcript.entries import split_lines
from turntape.transcript.lines import (
    LINE_MEMBERS,
    OpaqueText,
    UnreadableText,
    decode_line,
    encode_line,
)
from turntape.transcript.members import UnknownMembers, member_texts

FULL = TranscriptMessage(
    "assistant",
    "on it",
    id="r1",
    tool_calls=(NativeToolCall("c1", "ls", '{ "a":1.10}', {"b": 1, "a": [2.5]}),),
    tool_call_id="t1",
    parts=(
        TextPart("on it"),
        ImagePart("data:image/png;base64,QQ=="),
        AudioPart(PathRef("a.ogg"), "audio/ogg"),
        VideoPart(UrlRef("https://films.example/v.mp4"), "video/mp4"),
        DocumentPart(PathRef("d.pdf"), "application/pdf"),
    ),
    extra_metadata={"z": 1, "a": {"y": None, "b": "ü\u2028"}},
    cache_breakpoints=(0, 2),
    request_id="q1",
    interrupted=True,
    tool_failure=ToolFailure("it fell"),
    usage=Usage(input_tokens=3, output_tokens=4),
    model="m",
    stop_reason="tool_use",
    created_at="2026-01-01T00:00:00Z",
    extra={"later": 1, "earlier": [True]},
)


def row_of(line: bytes | str) -> TranscriptMessage:
    row = decode_line(line)
    assert isinstance(row, TranscriptMessage), row
    return row


def edited(row: TranscriptMessage) -> TranscriptMessage:
    """The same row without any memory of where it came from."""
    return replace(row)


# Writing -----------------------------------------------------------------------------------------


def test_members_stand_in_the_documented_order():
    names = list(json.loads(encode_line(FULL)))
    assert names == [*LINE_MEMBERS, "later", "earlier"]


def test_a_full_row_comes_back():
    row = row_of(encode_line(FULL))
    assert row == FULL
    assert encode_line(edited(row)) == encode_line(FULL)


def test_what_is_default_is_left_out():
    assert encode_line(TranscriptMessage("narrator", "")) == b'{"role":"narrator","content":""}'
    row = TranscriptMessage("user", "", parts=())
    assert json.loads(encode_line(row))["parts"] == []
    assert row_of(encode_line(row)) == row


def test_lines_are_canonical_but_for_the_order_of_their_members():
    text = encode_line(FULL).decode()
    value = json.loads(text)
    for name in ("extra_metadata", "usage"):
        form = json.dumps(value[name], ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        assert f'"{name}":{form}' in text
    assert '"extra_content":{"a":[2.5],"b":1}' in text
    assert "\u2028" in text
    row = TranscriptMessage.user('"\\/\b\t\n\f\r\x00\x1f\x7fé\u2028😀')
    assert encode_line(row).decode() == (
        '{"role":"user","content":"\\"\\\\/\\b\\t\\n\\f\\r\\u0000\\u001f\x7fé\u2028😀"}'
    )


@pytest.mark.parametrize(
    ("row", "field"),
    [
        (TranscriptMessage.user("a\ud800"), "content"),
        (TranscriptMessage("user", "", id="\udfff"), "id"),
        (
            TranscriptMessage.assistant_with_calls("", [NativeToolCall("c", "n", "\ud800")]),
            "tool_calls[0].arguments",
        ),
        (TranscriptMessage.user_with_parts([TextPart("\ud800"), ImagePart("u")]), "content"),
        (TranscriptMessage("user", "", extra_metadata={"a": float("nan")}), "extra_metadata.a"),
        (TranscriptMessage("user", "", extra_metadata={"a": 2**64}), "extra_metadata.a"),
        (TranscriptMessage("user", "", extra={"a": object()}), "extra.a"),
        (
            TranscriptMessage.assistant_with_calls(
                "", [NativeToolCall("a", "b", "c"), NativeToolCall("a", "b", "c", {"x": "\ud800"})]
            ),
            "tool_calls[1].extra_content.x",
        ),
    ],
)
def test_what_no_line_can_hold_is_refused(row, field):
    with pytest.raises(EnvelopeError) as caught:
        encode_line(row)
    assert caught.value.field == field
    assert str(caught.value).startswith(field)


ENVELOPE = encode_assistant_envelope("on it", [NativeToolCall("c1", "ls", "{}")])


@pytest.mark.parametrize(
    "row",
    [
        TranscriptMessage("assistant", ENVELOPE, id="r", extra_metadata={"a": 1}),
        TranscriptMessage("tool", encode_tool_envelope("c1", "ok")),
        TranscriptMessage("user", "look [OH_IMAGE:u] and [OH_IMAGE:"),
    ],
)
def test_a_canonical_string_becomes_a_typed_line(row):
    line = encode_line(row)
    assert json.loads(line)["v"] == 2
    assert encode_line(normalized(row)) == line
    # The string can be had again from the fields alone.
    assert row_of(line) == normalized(row)
    assert row_of(line).legacy_content() == row.content


@pytest.mark.parametrize(
    "row",
    [
        TranscriptMessage("assistant", ENVELOPE.replace(":", ": ", 1), id="r"),
        TranscriptMessage("assistant", ENVELOPE.replace('"on it"', "null")),
        TranscriptMessage("assistant", ENVELOPE.replace("}", ',"reasoning_content":"why"}')),
        TranscriptMessage(
            "assistant",
            encode_assistant_envelope("x", [NativeToolCall("c1", "ls", "{}")], "why"),
            extra_metadata={"kept": [1]},
        ),
        TranscriptMessage("tool", '{"tool_call_id":"c1","content":"ok"}'),
        TranscriptMessage("user", ENVELOPE),
        TranscriptMessage("narrator", "see [OH_IMAGE:u]"),
        TranscriptMessage("assistant", '{"answer":42}'),
    ],
)
def test_any_other_string_is_written_as_it_was(row):
    line = encode_line(row)
    value = json.loads(line)
    assert value["content"] == row.content
    assert "v" not in value
    assert row_of(line) == normalized(row)
    # Also where the host has lifted it.
    assert encode_line(normalized(row)) == line
    assert encode_line(row_of(line)) == line


def test_an_edited_row_never_brings_back_what_was_edited_out():
    row = normalized(TranscriptMessage("assistant", ENVELOPE.replace("on it", "key 1234")))
    for shown in (row, row_of(encode_line(row)), row_of(encode_line(row).replace(b'"v"', b' "v"'))):
        assert b"1234" not in encode_line(replace(shown, content="key [gone]"))


def test_a_dict_that_was_changed_in_place_is_noticed():
    line = b'{"content":"q","role":"user","extra_metadata":{"a": 1}}'
    row = row_of(line)
    assert encode_line(row) == line
    assert row.extra_metadata is not None
    row.extra_metadata["a"] = 2  # type: ignore[index]
    assert encode_line(row) == b'{"role":"user","content":"q","extra_metadata":{"a":2}}'
    row = row_of(line)
    row.extra_metadata.clear()  # type: ignore[union-attr]
    assert encode_line(row) == b'{"role":"user","content":"q","extra_metadata":{}}'


# Reading -----------------------------------------------------------------------------------------


def test_unknown_members_survive_an_edit_as_they_were_read():
    line = b'{"z":1e400,"role":"user","y": [ 2.50 ],"content":"q","a":12345678901234567890123}'
    row = row_of(line)
    assert list(row.extra) == ["z", "y", "a"]
    assert encode_line(row) == line
    assert encode_line(replace(row, content="r")) == (
        b'{"role":"user","content":"r","z":1e400,"y":[ 2.50 ],"a":12345678901234567890123}'.replace(
            b":[", b":["
        )
    )


def test_a_member_of_another_form_is_an_unknown_one():
    line = (
        b'{"role":"user","content":"q","id":7,"usage":{"prompt_tokens":3},"created_at":1700000000,'
        b'"interrupted":"no","model":null,"shape":"round"}'
    )
    row = row_of(line)
    assert dict(row.extra) == {
        "id": 7,
        "usage": {"prompt_tokens": 3},
        "created_at": 1700000000,
        "interrupted": "no",
        "shape": "round",
    }
    assert row.id is None
    assert json.loads(encode_line(edited(row))) == {
        name: value for name, value in json.loads(line).items() if value is not None
    }
    # The row's own field wins where it is given a value.
    assert json.loads(encode_line(replace(row, id="r1")))["id"] == "r1"


def test_typed_members_of_a_plain_line_are_read_too():
    row = row_of(b'{"role":"tool","tool_call_id":"c1","content":"ok"}')
    assert row.tool_call_id == "c1"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ('{"v":3}', "newer_version"),
        ('{"v":3,"role":"user","content":"q"}', "newer_version"),
        ('{"v":1,"role":"user","content":"q"}', "newer_version"),
        ('{"v":"2","role":"user","content":"q"}', "newer_version"),
        ('{"v":true,"role":"user","content":"q"}', "newer_version"),
        ('{"v":2,"role":"user","content":"q"}', "unknown_shape"),
        ('{"v":2,"shape":["user_parts"],"role":"user","content":"q"}', "unknown_shape"),
        ('{"v":2,"shape":"user_parts","role":"user","content":"q"}', "missing_field"),
        ('{"v":2,"shape":"user_parts","role":"user","content":"q","parts":[{}]}', "missing_field"),
        (
            (
                '{"v":2,"shape":"user_parts","role":"user","content":"q",'
                '"parts":[{"type":"hologram"}]}'
            ),
            "missing_field",
        ),
        (
            (
                '{"v":2,"shape":"user_parts","role":"user","content":"q","parts":[{"type":"audio",'
                '"source":{"type":"url","url":"data:audio/ogg;base64,QQ=="},"mime_type":"audio/ogg"}]}'
            ),
            "missing_field",
        ),
        ('{"v":2,"shape":"assistant_calls","role":"assistant","content":""}', "missing_field"),
        (
            '{"v":2,"shape":"assistant_calls","role":"assistant","content":"","tool_calls":[]}',
            "missing_field",
        ),
        (
            (
                '{"v":2,"shape":"assistant_calls","role":"assistant","content":null,"tool_calls":'
                '[{"id":"c","name":"n","arguments":"{}"}]}'
            ),
            "missing_field",
        ),
        (
            (
                '{"v":2,"shape":"assistant_calls","role":"assistant","content":"","tool_calls":'
                '[{"id":"c","name":"n","arguments":"{}","mood":1}]}'
            ),
            "missing_field",
        ),
        (
            '{"v":2,"shape":"tool_result","role":"tool","content":"","tool_call_id":1}',
            "missing_field",
        ),
        (
            (
                '{"v":2,"shape":"tool_result","role":"tool","content":"","tool_call_id":"c",'
                '"parts":[1]}'
            ),
            "missing_field",
        ),
        (f'{{"role":"user","content":"q","n":{"1" * 5000}}}', "number"),
    ],
)
def test_what_is_kept_untouched(line, code):
    read = decode_line(line.encode())
    assert isinstance(read, OpaqueText)
    assert read.code == code


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"\xff", "not_utf8"),
        (b'{"role":"user","content":"\xed\xa0\x80"}', "not_utf8"),
        (b"{", "not_json"),
        (b'{"role":"user","content":"q"} x', "not_json"),
        (b'{"role":"user","content":"q"}{"role":"user","content":"q"}', "not_json"),
        (b'{"role":"user","content":"q","x":NaN}', "not_json"),
        (b'\xef\xbb\xbf{"role":"user","content":"q"}', "not_json"),
        (b'{"role":"user","content":"a\tb"}', "not_json"),
        (b'{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "not_json"),
        (b"\0\0\0", "not_json"),
        (b"7", "foreign"),
        (b'"text"', "foreign"),
        (b'[{"role":"user","content":"q"}]', "foreign"),
        (b"{}", "foreign"),
        (b'{"v":0}', "foreign"),
        (b'{"role":"user"}', "foreign"),
        (b'{"role":"assistant","content":null,"tool_calls":[]}', "foreign"),
        (b'{"role":1,"content":"q"}', "foreign"),
    ],
)
def test_what_is_no_row(line, code):
    read = decode_line(line)
    assert isinstance(read, UnreadableText)
    assert read.code == code


def test_half_of_a_surrogate_pair_is_read_and_only_written_back_unedited():
    line = b'{"role":"user","content":"\\ud83d"}'
    row = row_of(line)
    assert encode_line(row) == line
    with pytest.raises(EnvelopeError):
        encode_line(edited(row))


def test_copies_and_pickles_keep_the_line():
    line = b'{"content":"q","role":"user", "x":1.0}'
    for again in (copy.deepcopy, lambda row: pickle.loads(pickle.dumps(row))):  # noqa: S301
        assert encode_line(again(row_of(line))) == line


def test_member_texts():
    assert member_texts(' {"a" : 1.0 ,"b":{"c":[1, 2]},"\\u0061":"}"} ') == {
        "a": '"}"',
        "b": '{"c":[1, 2]}',
    }
    assert member_texts("{ }") == {}
    assert UnknownMembers({"a": "1"}) == {"a": 1}
    assert repr(UnknownMembers({"a": "1"})) == "{'a': 1}"


# Laws --------------------------------------------------------------------------------------------

texts = st.text(st.characters(codec="utf-8"), max_size=12)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | texts
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
calls = st.builds(
    NativeToolCall, texts, texts, texts, values.filter(lambda value: value is not None) | st.none()
)
refs = st.builds(PathRef, texts) | st.builds(UrlRef, texts.map(lambda text: f"https://{text}"))
parts = st.one_of(
    st.builds(TextPart, texts),
    st.builds(ImagePart, texts),
    *(st.builds(kind, refs, texts) for kind in (AudioPart, VideoPart, DocumentPart)),
)
counts = st.integers(0, 2**64 - 1)
typed_rows = st.builds(
    TranscriptMessage,
    st.sampled_from(["system", "user", "assistant", "tool", "narrator"]),
    texts,
    id=st.none() | texts,
    tool_calls=st.lists(calls, max_size=2).map(tuple),
    tool_call_id=st.none() | texts,
    parts=st.none() | st.lists(parts, max_size=3).map(tuple),
    extra_metadata=st.none() | st.dictionaries(texts, values, max_size=3),
    cache_breakpoints=st.lists(st.integers(0, 9), max_size=2).map(tuple),
    request_id=st.none() | texts,
    interrupted=st.booleans(),
    tool_failure=st.none() | st.builds(ToolFailure, texts),
    usage=st.none() | st.builds(Usage, input_tokens=counts, reasoning_tokens=counts),
    model=st.none() | texts,
    stop_reason=st.none() | texts,
    created_at=st.none() | texts,
    extra=st.dictionaries(texts.filter(lambda name: name not in LINE_MEMBERS), values, max_size=2),
)
envelopes = st.builds(
    encode_assistant_envelope, st.none() | texts, st.lists(calls, max_size=2), st.none() | texts
) | st.builds(encode_tool_envelope, texts, texts)
spaced = envelopes.map(lambda text: text.replace(",", " , "))
marked = texts.map(lambda text: f"{text}[OH_IMAGE:{text}]x")
string_rows = st.builds(
    TranscriptMessage, st.sampled_from(["user", "assistant", "tool"]), envelopes | spaced | marked
)
rows = typed_rows | string_rows


@given(rows)
def test_a_row_comes_back_from_its_line(row):
    line = encode_line(row)
    assert b"\n" not in line
    read = row_of(line)
    assert read == normalized(row) or read == row
    assert encode_line(read) == line
    # And from the line of what was read, whether or not it remembers.
    assert row_of(encode_line(edited(read))) == edited(read)


@given(rows)
def test_a_string_that_was_lifted_is_found_again_or_written_as_it_was(row):
    lifted = normalized(row)
    line = encode_line(lifted)
    assert encode_line(row) == line
    assert row_of(line) == lifted
    if lifted is not row:
        assert row_of(line).legacy_content() == row.content


def spelled(row: TranscriptMessage, chance: Any) -> bytes:
    """A line that says the same in another spelling."""
    value = json.loads(encode_line(row))
    names = chance.sample(sorted(value), len(value))
    return json.dumps(
        {name: value[name] for name in names},
        ensure_ascii=chance.random() < 0.5,
        separators=chance.choice([(",", ":"), (", ", ": "), (" , ", " :\t")]),
    ).encode()


NOISE = st.sampled_from(
    [b"", b" \t\r", b"{", b"prose", b"\0\0", b"\xff\xfe", b'{"v":9,"x":1}', b"[]", b"\x0b", b"1e5"]
) | st.binary(max_size=9).map(lambda raw: raw.replace(b"\n", b""))


@given(
    st.lists(
        st.tuples(rows, st.randoms(use_true_random=False)).map(lambda pair: spelled(*pair)) | NOISE,
        max_size=6,
    ),
    st.booleans(),
    st.integers(1, 40),
)
def test_the_byte_law_over_whole_files(lines, ended, piece):
    content = b"\n".join(lines) + (b"\n" if ended and lines else b"")

    class Slow(BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            return super().read(min(piece, piece if size is None or size < 0 else size))

    entries = list(read_tape(Slow(content)))
    assert entries == list(read_tape(BytesIO(content)))
    for entry in entries:
        raw = content[entry.start : entry.end]
        assert content[entry.end : entry.end + 1] in {b"\n", b""}
        assert content.count(b"\n", 0, entry.start) == entry.line - 1
        match entry:
            case TapeRow():
                assert encode_line(entry.row) == raw
            case TapeOpaque():
                assert entry.raw == raw
            case TapeFault():
                assert entry.torn_tail == (
                    entry.end == len(content) and not content.endswith(b"\n")
                )
    # What is no entry is blank.
    covered = b"".join(content[entry.start : entry.end] for entry in entries)
    assert len(content.translate(None, b" \t\r\n")) == len(covered.translate(None, b" \t\r\n"))


@given(st.binary(max_size=200), st.integers(1, 60), st.integers(1, 20))
def test_lines_are_cut_at_every_lf_and_nowhere_else(content, limit, longest):
    cut = list(split_lines(BytesIO(content), limit, longest))
    expected = content[:limit].split(b"\n")
    if expected[-1] == b"":
        expected.pop()
    assert [raw for _, _, _, raw, _ in cut] == [
        each if len(each) <= longest else None for each in expected
    ]
    assert [content[start:end] for _, start, end, _, _ in cut] == expected
    assert [number for number, *_ in cut] == list(range(1, len(cut) + 1))


def test_a_line_that_is_too_long_is_passed_over():
    content = (
        b'{"role":"user","content":"q"}\n' + b"x" * 1000 + b'\n{"role":"user","content":"r"}\n'
    )
    entries = list(read_tape(BytesIO(content), max_line_bytes=100))
    assert [type(entry) for entry in entries] == [TapeRow, TapeFault, TapeRow]
    assert isinstance(entries[1], TapeFault)
    assert (entries[1].code, entries[1].start, entries[1].end) == ("too_long", 30, 1030)


def test_a_fault_as_an_exception():
    [fault] = read_tape(BytesIO(b'{"role":"user","content":"SECRET'))
    assert isinstance(fault, TapeFault)
    error = fault.to_error()
    assert isinstance(error, TranscriptError)
    assert (error.line, error.start, error.end) == (1, 0, 32)
    assert str(error).startswith("line 1, bytes 0 to 32: its last line is torn")
    assert "SECRET" not in str(error)
    assert pickle.loads(pickle.dumps(error)).line == 1  # noqa: S301
