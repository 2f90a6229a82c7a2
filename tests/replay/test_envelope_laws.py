"""What holds for every envelope and every text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.envelopes import (
    LARGEST,
    SMALLEST,
    broken,
    calls,
    doubles,
    envelopes,
    has_exponent,
    integers,
    oracle,
    texts,
    values,
)

import turntape
from turntape import NativeToolCall


def strict(text: str) -> turntape.AssistantEnvelope | turntape.ToolEnvelope | None:
    return turntape.parse_canonical_assistant_envelope(
        text
    ) or turntape.parse_canonical_tool_envelope(text)


def write(envelope: turntape.AssistantEnvelope | turntape.ToolEnvelope) -> str:
    if isinstance(envelope, turntape.ToolEnvelope):
        return turntape.encode_tool_envelope(envelope.tool_call_id, envelope.content)
    return turntape.encode_assistant_envelope(envelope.content, envelope.tool_calls)


@given(envelopes() | broken() | st.text() | values().map(json.dumps))
def test_the_strict_parsers_agree_with_writing_again(text):
    parsed = strict(text)
    assert (parsed is not None) == oracle(text)
    explained = turntape.explain_not_canonical(text)
    assert (explained is None) == (parsed is not None)
    if parsed is not None:
        assert write(parsed) == text
        lenient = (turntape.parse_assistant_envelope(text), turntape.parse_tool_envelope(text))
        assert parsed in lenient
    if explained is not None:
        assert 0 <= explained.offset <= len(text.encode("utf-8", "surrogatepass"))


@given(st.text() | texts)
def test_extra_content_of_any_json(text):
    for extra in (text, json.dumps(text), json.dumps([text, {text: 1.5}], ensure_ascii=False)):
        envelope = (
            '{"content":"","tool_calls":[{"arguments":"","extra_content":'
            f'{extra},"id":"","name":""}}]}}'
        )
        assert (strict(envelope) is not None) == oracle(envelope)


@given(texts | st.none(), st.lists(calls(), max_size=3), texts | st.none())
def test_what_is_written_is_read(text, made, reasoning):
    written = turntape.encode_assistant_envelope(text, made, reasoning)
    read = turntape.parse_assistant_envelope(written)
    if not made:
        assert read is None
        return
    assert read == turntape.AssistantEnvelope(text or "", tuple(made), reasoning)
    canonical = text is not None and reasoning is None and not has_exponent(written)
    assert (strict(written) is not None) == canonical


def plain(call: NativeToolCall) -> dict[str, Any]:
    extra = {} if call.extra_content is None else {"extra_content": call.extra_content}
    return {"id": call.id, "name": call.name, "arguments": call.arguments, **extra}


@given(
    texts | st.none(),
    st.lists(calls(values(st.none() | st.booleans() | integers | texts)), max_size=3),
)
def test_without_floats_the_bytes_are_those_of_json_and_of_orjson(text, made):
    written = turntape.encode_assistant_envelope(text, made)
    value = {"tool_calls": [plain(call) for call in made], "content": text}
    assert written == json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    orjson = pytest.importorskip("orjson", reason="orjson is compared with where it is there")
    assert written.encode() == orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


# Texts long enough to be handed over in their own form, with none, few, many and rare escapes.
wide = st.builds(
    lambda page, marks, times: page * times + marks + page + marks[::-1],
    st.sampled_from(
        ["é", "Grüße an alle. ", "入口を探します。", "🙂 and more ", "plain, „quoted“ "]
    ),
    st.text(st.sampled_from('"\\\n\t\x00\x1fnu漢'), max_size=6),
    st.sampled_from([1, 40, 300]),
)


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


class Loud(str):
    """A text whose methods say something else."""

    __slots__ = ()

    def replace(self, *_: Any) -> str:
        return "replaced"

    def __getitem__(self, _: Any) -> str:
        return "taken"


@given(wide, wide, st.booleans())
def test_long_texts_beyond_ascii(text, arguments, loud):
    made = (NativeToolCall("漢" * 100, "shell", arguments),)
    value = {"content": text, "tool_calls": [plain(made[0])]}
    written = turntape.encode_assistant_envelope(Loud(text) if loud else text, made)
    assert written == compact(value)
    given = Loud(written) if loud else written
    parsed = turntape.parse_canonical_assistant_envelope(given)
    assert parsed == turntape.AssistantEnvelope(text, made)
    assert parsed == turntape.parse_assistant_envelope(json.dumps(value))
    result = turntape.encode_tool_envelope("c1", Loud(text) if loud else text)
    assert type(result) is str
    assert result == compact({"content": text, "tool_call_id": "c1"})
    assert turntape.parse_tool_envelope(result) == turntape.ToolEnvelope("c1", text)


@given(texts, texts)
def test_tool_envelopes_have_the_bytes_of_json(name, content):
    value = {"tool_call_id": name, "content": content}
    dumped = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    assert turntape.encode_tool_envelope(name, content) == dumped


@given(doubles)
def test_doubles_come_back_to_the_bit(value):
    written = turntape.encode_assistant_envelope("", [NativeToolCall("", "", "", [value])])
    printed = written.partition("[{")[2].partition("[")[2].partition("]")[0]
    assert float(printed).hex() == value.hex()
    plainly = value == 0 or 1e-5 <= abs(value) < 1e16
    assert ("e" in printed) != plainly
    assert (strict(written) is not None) == plainly
    # The digits are those of Python, which are the shortest too.
    digits = repr(value).partition("e")[0].replace("-", "").replace(".", "").strip("0")
    assert printed.partition("e")[0].replace("-", "").replace(".", "").strip("0") == digits


@given(st.integers(SMALLEST - 10, SMALLEST + 10) | st.integers(LARGEST - 10, LARGEST + 10))
def test_integers_in_range_and_out_of_it(value):
    call = NativeToolCall("", "", "", value)
    if SMALLEST <= value <= LARGEST:
        written = turntape.encode_assistant_envelope("", [call])
        assert f'"extra_content":{value},' in written
        assert write(strict(written) or pytest.fail("not canonical")) == written
    else:
        with pytest.raises(turntape.EnvelopeError, match="integer outside"):
            turntape.encode_assistant_envelope("", [call])


@given(st.lists(calls(), min_size=1, max_size=2))
def test_a_mended_envelope_says_the_same(made):
    from turntape._native import mend_envelope

    written = turntape.encode_assistant_envelope("é", made)
    for text in (
        written,
        json.dumps(json.loads(written), indent=1),
        json.dumps(json.loads(written), ensure_ascii=False)[::-1][::-1],
    ):
        mended = mend_envelope(text)
        assert mended is not None
        fixed, lost = mended
        if fixed is None:
            assert has_exponent(text)
            continue
        assert lost == []
        assert fixed == written


PIECES = [
    "[OH_IMAGE:",
    "]",
    "[",
    "[OH_IM",
    "AGE:",
    "a",
    "\n",
    "[oh_image:",
    "é",
    "漢",
    "🦀",
    "\ud83d",
]
marked = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


@given(marked | st.text())
def test_a_text_comes_back_from_its_parts(text):
    parts = turntape.split_image_parts(text)
    assert turntape.join_image_parts(parts) == text
    assert turntape.join_image_parts(parts, check=True) == text
    images = sum(isinstance(part, turntape.ImagePart) for part in parts)
    assert turntape.count_image_parts(text) == images
    assert turntape.has_image_parts(text) is (images > 0)
    # The core, as the oracle of the search in other forms of strings.
    ascii_only = "".join(c if c.isascii() else "x" for c in text)
    kinds = [
        (type(part), len(part.text if isinstance(part, turntape.TextPart) else part.url))
        for part in parts
    ]
    again = turntape.split_image_parts(ascii_only)
    assert kinds == [
        (type(part), len(part.text if isinstance(part, turntape.TextPart) else part.url))
        for part in again
    ]


some_parts = st.lists(
    st.builds(turntape.TextPart, marked) | st.builds(turntape.ImagePart, marked), max_size=4
)


@given(some_parts)
def test_exactly_the_parts_that_come_back_pass_the_check(parts):
    joined = turntape.join_image_parts(parts)
    comes_back = turntape.split_image_parts(joined) == parts
    try:
        turntape.join_image_parts(parts, check=True)
    except turntape.MarkerError:
        assert not comes_back
    else:
        assert comes_back
