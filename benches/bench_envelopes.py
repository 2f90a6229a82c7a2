"""Envelopes and image markers, against what a host would write with `json`, `orjson` and `str.find`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from benches.ratio import Target

import turntape

if TYPE_CHECKING:
    from benches.conftest import Meter

ENCODE = Target(5, 10)
CANONICAL_JSON = Target(8, 20)
CANONICAL_ORJSON = Target(2, 4)
MARKERS = Target(1)
MANY_MARKERS = Target(1, 1.5)

ARGUMENTS = json.dumps(
    {
        "command": "grep -rn 'fn main' src | head -20",
        "cwd": "/srv/app",
        "env": {"LANG": "C", "PATH": "/usr/bin:/bin"},
        "timeout": 30,
    }
)
SOURCE = 'def greet(name):\n    """Greet."""\n    print(f"Hello, {name}!")\n\n\n'
PROSE = "I will look for the entry point in the sources, and then run the tests once more. "


@dataclass(frozen=True)
class Turn:
    """A turn, and its envelope."""

    text: str
    calls: tuple[turntape.NativeToolCall, ...]

    @property
    def value(self) -> dict[str, Any]:
        calls = [{"arguments": c.arguments, "id": c.id, "name": c.name} for c in self.calls]
        return {"content": self.text, "tool_calls": calls}

    @property
    def envelope(self) -> str:
        return turntape.encode_assistant_envelope(self.text, self.calls)


def turn(text: str, *arguments: str) -> Turn:
    calls = (
        turntape.NativeToolCall(f"call_{at:024}", "shell", each)
        for at, each in enumerate(arguments)
    )
    return Turn(text, tuple(calls))


TURNS = {
    "a short turn": turn(PROSE, '{"command":"ls"}'),
    "a turn of two calls": turn(PROSE * 3, ARGUMENTS, ARGUMENTS),
    "a file of 8 KiB written": turn(PROSE, json.dumps({"path": "greet.py", "text": SOURCE * 120})),
    "a turn in Japanese": turn(
        "ソースの中から入口を探します。" * 3, json.dumps({"命令": "検索"}, ensure_ascii=False)
    ),
    # Bound by the interpreter's own UTF-8 decoder, which json does not go through.
    "a page of Japanese": turn("ソースの中から入口を探します。" * 400, '{"command":"ls"}'),
}


@pytest.fixture(params=list(TURNS))
def named(request: pytest.FixtureRequest) -> tuple[str, Turn]:
    """Each turn with its name."""
    return request.param, TURNS[request.param]


def dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def test_encode(meter: Meter, named: tuple[str, Turn]) -> None:
    name, spoken = named
    value = spoken.value
    assert spoken.envelope == dumps(value)
    text, calls = spoken.text, spoken.calls
    meter.compare(
        f"encode_assistant_envelope, {name}, against json.dumps",
        lambda: turntape.encode_assistant_envelope(text, calls),
        lambda: dumps(value),
        ENCODE,
    )


def test_canonical_parse_against_json(meter: Meter, named: tuple[str, Turn]) -> None:
    name, spoken = named
    envelope = spoken.envelope
    parsed = turntape.parse_canonical_assistant_envelope(envelope)
    assert parsed == turntape.AssistantEnvelope(spoken.text, spoken.calls)
    assert dumps(json.loads(envelope)) == envelope
    meter.compare(
        f"canonical parse, {name}, against json loads + dumps + compare",
        lambda: turntape.parse_canonical_assistant_envelope(envelope),
        lambda: dumps(json.loads(envelope)) == envelope,
        CANONICAL_JSON,
    )


def test_canonical_parse_against_orjson(meter: Meter, named: tuple[str, Turn]) -> None:
    orjson = pytest.importorskip("orjson", reason="orjson is what the parse is measured against")
    name, spoken = named
    envelope = spoken.envelope
    loads, dump, sort = orjson.loads, orjson.dumps, orjson.OPT_SORT_KEYS
    assert dump(loads(envelope), option=sort).decode() == envelope
    # The host has a str, as it has for turntape, and orjson writes bytes.
    meter.compare(
        f"canonical parse, {name}, against orjson loads + dumps + compare",
        lambda: turntape.parse_canonical_assistant_envelope(envelope),
        lambda: dump(loads(envelope), option=sort).decode() == envelope,
        CANONICAL_ORJSON,
    )


Part = turntape.TextPart | turntape.ImagePart


def find_parts(text: str) -> list[Part]:
    """Split a text as a host would, with a loop over `str.find`."""
    parts: list[Part] = []
    prefix, at = turntape.IMAGE_MARKER_PREFIX, 0
    while (marker := text.find(prefix, at)) >= 0:
        begin = marker + len(prefix)
        end = text.find("]", begin)
        if end < 0:
            break
        if marker > at:
            parts.append(turntape.TextPart(text[at:marker]))
        parts.append(turntape.ImagePart(text[begin:end]))
        at = end + 1
    if at < len(text):
        parts.append(turntape.TextPart(text[at:]))
    return parts


def marked(markers: int, more: str) -> str:
    """A text of 1 MiB with so many markers, evenly spread; half of it are payloads."""
    size = (1 << 20) // (2 * max(markers, 1))
    if not markers:
        return "x" * (1 << 20) + more
    return ("x" * size + "[OH_IMAGE:" + "y" * (size - 11) + "]") * markers + more


@pytest.mark.parametrize("markers", [0, 10, 1000])
@pytest.mark.parametrize("more", ["", "漢"], ids=["ascii", "cjk"])
def test_markers(meter: Meter, markers: int, more: str) -> None:
    text = marked(markers, more)
    parts = turntape.split_image_parts(text)
    assert parts == find_parts(text)
    assert turntape.count_image_parts(text) == markers
    kind = "with one CJK character" if more else "ASCII"
    meter.compare(
        f"split_image_parts, 1 MiB, {kind}, {markers} markers, against a str.find loop",
        lambda: turntape.split_image_parts(text),
        lambda: find_parts(text),
        MANY_MARKERS if markers == 1000 else MARKERS,
    )
