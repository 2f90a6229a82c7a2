"""The vectors of envelopes, the native dialect and image markers: one right answer each."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.vectors import parametrize, text_of

import turntape
from turntape import (
    AssistantToolCalls,
    Chat,
    EnvelopeError,
    ImagePart,
    MarkerError,
    NativeDialect,
    NativeToolCall,
    TextPart,
    ToolEnvelope,
    ToolResults,
    pair_tool_cycles,
)

if TYPE_CHECKING:
    from tests.support.vectors import Case

    from turntape import HistoryEntry


def member(case: Case, name: str) -> Any:
    """Give a member that stands as text or, with ``_json`` behind its name, as JSON text of it."""
    if f"{name}_json" in case:
        return json.loads(text_of(case[f"{name}_json"]))
    value = case.get(name)
    return None if value is None else text_of(value)


def call_of(case: Case) -> NativeToolCall:
    return NativeToolCall(
        member(case, "id"),
        member(case, "name"),
        member(case, "arguments"),
        member(case, "extra_content"),
    )


def canonical(text: str) -> bool:
    strict = (
        turntape.parse_canonical_assistant_envelope(text),
        turntape.parse_canonical_tool_envelope(text),
    )
    explained = turntape.explain_not_canonical(text)
    assert (explained is None) == (strict != (None, None))
    return explained is None


def encode(case: Case) -> str:
    if case["op"] == "encode_tool":
        return turntape.encode_tool_envelope(member(case, "tool_call_id"), member(case, "content"))
    return turntape.encode_assistant_envelope(
        member(case, "text"),
        [call_of(call) for call in case["tool_calls"]],
        member(case, "reasoning_content"),
    )


@parametrize("envelopes.json", "encode_assistant", "encode_tool")
def test_encoding(case: Case) -> None:
    expected = case["expected"]
    if "error" in expected:
        with pytest.raises(EnvelopeError):
            encode(case)
        return
    encoded = encode(case)
    assert encoded == text_of(expected["output"])
    assert canonical(encoded) == expected["canonical"]


def plain(envelope: Any) -> dict[str, Any] | None:
    """Give a parsed envelope as the vectors write it."""
    if envelope is None:
        return None
    if isinstance(envelope, ToolEnvelope):
        return {"tool_call_id": envelope.tool_call_id, "content": envelope.content}
    calls = [
        {"id": call.id, "name": call.name, "arguments": call.arguments}
        | ({} if call.extra_content is None else {"extra_content": call.extra_content})
        for call in envelope.tool_calls
    ]
    return {
        "content": envelope.content,
        "tool_calls": calls,
        "reasoning_content": envelope.reasoning_content,
    }


def same(one: Any, other: Any) -> bool:
    """Compare JSON values, with the sign of zero and int apart from float."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float):
        return (
            isinstance(other, float)
            and math.copysign(1, one) == math.copysign(1, other)
            and one == other
        )
    return type(one) is type(other) and one == other


@parametrize("envelopes.json", "parse_assistant", "parse_tool")
def test_parsing(case: Case) -> None:
    text, expected = text_of(case["input"]), case["expected"]
    lenient, strict = {
        "parse_assistant": (
            turntape.parse_assistant_envelope,
            turntape.parse_canonical_assistant_envelope,
        ),
        "parse_tool": (turntape.parse_tool_envelope, turntape.parse_canonical_tool_envelope),
    }[case["op"]]
    if "lenient" in expected:
        assert same(plain(lenient(text)), expected["lenient"])
    assert canonical(text) == expected["canonical"]
    assert strict(text) == (lenient(text) if expected["canonical"] else None)
    if "explain" in expected:
        explained = turntape.explain_not_canonical(text)
        if expected["explain"] is None:
            assert explained is None
        else:
            assert explained is not None
            assert explained.code == expected["explain"]["code"]
            assert explained.offset == expected["explain"].get("offset", explained.offset)


def entry_of(entry: Case) -> HistoryEntry:
    match entry:
        case {"chat": chat}:
            return Chat(**chat)
        case {"assistant_tool_calls": turn}:
            calls = tuple(call_of(call) for call in turn["tool_calls"])
            return AssistantToolCalls(turn["text"], calls, turn["reasoning_content"])
        case {"tool_results": results}:
            return ToolResults(tuple(ToolEnvelope(**result) for result in results))
        case _:
            raise AssertionError(entry)


@parametrize("envelopes.json", "native_messages")
def test_native_messages(case: Case) -> None:
    history = [entry_of(entry) for entry in case["history"]]
    expected = case["expected"]
    messages = NativeDialect.to_provider_messages(history)
    assert [{"role": each.role, "content": each.content} for each in messages] == expected[
        "messages"
    ]
    paired = pair_tool_cycles(history)
    assert [dropped.index for dropped in paired.dropped] == expected["dropped_rows"]
    kept = [entry for at, entry in enumerate(history) if at not in expected["dropped_rows"]]
    assert list(paired.entries) == kept
    typed = NativeDialect.to_typed_messages(history)
    assert [each.role for each in typed] == [each.role for each in messages]


@parametrize("envelopes.json", "native_parse_response")
def test_native_parse_response(case: Case) -> None:
    expected = case["expected"]
    response = NativeDialect.parse_response(case["text"], case["tool_calls"])
    assert response.text == expected["text"]
    got = [
        {
            "id": call.id,
            "name": call.name,
            "arguments": call.arguments,
            "invalid": call.invalid is not None,
        }
        for call in response.tool_calls
    ]
    assert got == expected["tool_calls"]
    objects = [call_of(call) for call in case["tool_calls"]]
    assert NativeDialect.parse_response(case["text"], objects) == response
    assert NativeDialect.parse_response(case["text"], response.tool_calls) == response
    nested = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
        }
        for call in objects
    ]
    assert NativeDialect.parse_response(case["text"], nested) == response


def part_of(part: Case) -> TextPart | ImagePart:
    return TextPart(text_of(part["text"])) if "text" in part else ImagePart(text_of(part["image"]))


@parametrize("image_markers.json", "split")
def test_splitting(case: Case) -> None:
    text, expected = text_of(case["input"]), case["expected"]
    parts = [part_of(part) for part in expected["parts"]]
    # With one character behind it the text is held, and searched, in another form.
    for more in ("", "\u6f22", "\U0001f980", "\ud83d"):
        wanted = parts
        if more:
            last = parts[-1] if parts else None
            wanted = (
                [*parts[:-1], TextPart(last.text + more)]
                if isinstance(last, TextPart)
                else [*parts, TextPart(more)]
            )
        assert turntape.split_image_parts(text + more) == wanted
        assert turntape.join_image_parts(wanted) == text + more
        assert turntape.join_image_parts(wanted, check=True) == text + more
        assert turntape.count_image_parts(text + more) == expected["images"]
        assert turntape.has_image_parts(text + more) is (expected["images"] > 0)


@parametrize("image_markers.json", "join")
def test_joining(case: Case) -> None:
    parts, expected = [part_of(part) for part in case["parts"]], case["expected"]
    joined = text_of(expected["joined"])
    assert turntape.join_image_parts(iter(parts)) == joined
    if expected["check"] == "ok":
        assert turntape.join_image_parts(parts, check=True) == joined
        assert turntape.split_image_parts(joined) == parts
    else:
        with pytest.raises(MarkerError) as caught:
            turntape.join_image_parts(parts, check=True)
        assert 0 <= caught.value.index < len(parts)
        assert turntape.split_image_parts(joined) != parts
