"""Envelopes, made up and broken, and the plainest way to tell whether one is canonical."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

import turntape

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

LARGEST, SMALLEST = 2**64 - 1, -(2**63)

_EXPONENT = re.compile(r'"(?:[^"\\]|\\.)*"|(-?[0-9.]+[eE])', re.DOTALL)


def oracle(text: str) -> bool:
    """Tell whether a text is canonical: parse, write again, compare; refuse exponents."""
    assistant = turntape.parse_assistant_envelope(text)
    if assistant is not None and assistant.reasoning_content is None:
        calls = assistant.tool_calls
        # Without the text that was kept: what counts is the value.
        anew = [turntape.NativeToolCall(c.id, c.name, c.arguments, c.extra_content) for c in calls]
        try:
            again = turntape.encode_assistant_envelope(assistant.content, anew)
        except turntape.EnvelopeError:
            return False
        if again == text:
            return not has_exponent(text)
    result = turntape.parse_tool_envelope(text)
    return (
        result is not None
        and turntape.encode_tool_envelope(result.tool_call_id, result.content) == text
    )


def has_exponent(text: str) -> bool:
    return any(match[1] for match in _EXPONENT.finditer(text))


texts = (
    st.text(max_size=8)
    | st.sampled_from(
        ["", 'a"b\\c', "\n\r\t\b\f\x00\x1f\x0b\x7f", "é漢🦀\u2028/", '{"command":"ls"}']
    )
    | st.text(alphabet='"\\\n{}:a é', max_size=140)
)
integers = st.integers(SMALLEST, LARGEST) | st.integers(-3, 3)
doubles = st.floats(allow_nan=False, allow_infinity=False)
leaves = st.none() | st.booleans() | integers | doubles | texts


def values(leaf: st.SearchStrategy[Any] = leaves) -> st.SearchStrategy[Any]:
    """Make up JSON values."""
    return st.recursive(
        leaf,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
        max_leaves=12,
    )


def calls(
    extra: st.SearchStrategy[Any] | None = None,
) -> st.SearchStrategy[turntape.NativeToolCall]:
    """Make up tool calls."""
    return st.builds(
        turntape.NativeToolCall, texts, texts, texts, values() if extra is None else extra
    )


@st.composite
def envelopes(draw: DrawFn) -> str:
    """Make up an envelope as the encoder writes it."""
    if draw(st.booleans()):
        return turntape.encode_tool_envelope(draw(texts), draw(texts))
    content = draw(texts | st.none()) if draw(st.integers(0, 9)) == 0 else draw(texts)
    made = draw(st.lists(calls(), min_size=1, max_size=3))
    reasoning = draw(texts) if draw(st.integers(0, 9)) == 0 else None
    return turntape.encode_assistant_envelope(content, made, reasoning)


_TOKENS = st.sampled_from(
    [
        "{", "}", "[", "]", ",", ":", '"', "\\", " ", "\n", "null", "true", "0", "-", "1e2", "1.10", ".0", "e5",
        '"a":1,', '"content":"x",', ',"id":"c"', '"extra_content":null,', '"reasoning_content":"r",', "\\ud83d",
        "\\u00e9", "\\u001F", "\\/", "\x00", "\ufeff", "\ud83d", "NaN",
    ]
)  # fmt: skip


@st.composite
def broken(draw: DrawFn) -> str:
    """Make up an envelope, and edit it, or write it in another spelling."""
    text = draw(envelopes())
    match draw(st.sampled_from(["edit", "edit", "indent", "ascii", "unsorted"])):
        case "indent":
            return json.dumps(json.loads(text), indent=draw(st.integers(0, 1)), ensure_ascii=False)
        case "ascii":
            return json.dumps(json.loads(text), separators=(",", ":"))
        case "unsorted":
            members = list(json.loads(text).items())
            order = dict(draw(st.permutations(members)))
            return json.dumps(order, separators=(",", ":"), ensure_ascii=False)
        case _:
            for _ in range(draw(st.integers(1, 3))):
                at = draw(st.integers(0, len(text)))
                to = min(len(text), at + draw(st.integers(0, 2)))
                text = text[:at] + draw(_TOKENS | st.text(max_size=2)) + text[to:]
            return text
