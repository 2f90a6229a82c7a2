"""Turns made up by hypothesis, and the habits of whoever says them.

A :class:`Turn` is what a model said, apart from any wire. Its encoders are written from the wires' own
documents and know nothing of the package, so that a decoder can be held to what was said.
"""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any, Literal

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from hypothesis.strategies import DrawFn, SearchStrategy

# A text as UTF-16 code units, cut into deltas anywhere: also inside a surrogate pair.
Pieces = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Say:
    """A block of text or thinking."""

    kind: Literal["text", "thinking"]
    text: str
    pieces: Pieces
    signature: str | None = None
    """The proof of a thinking block, for the wires that have one."""


@dataclass(frozen=True)
class Call:
    """A tool call."""

    id: str
    name: str
    arguments: str
    pieces: Pieces
    kind: Literal["call"] = "call"


@dataclass(frozen=True)
class Turn:
    """What a model said, apart from any wire."""

    blocks: tuple[Say | Call, ...]
    reason: str
    usage: tuple[int, int, int] | None

    @property
    def calls(self) -> tuple[Call, ...]:
        return tuple(block for block in self.blocks if isinstance(block, Call))

    @property
    def stop_reason(self) -> str:
        """The reason by the rules of the vocabulary: a plain end with calls is for their sake."""
        if self.reason in {"end_turn", "tool_use"}:
            return "tool_use" if self.calls else "end_turn"
        return self.reason


class Body(str):
    """The body of a JSON string, already escaped."""

    __slots__ = ()


class Raw(str):
    """JSON text, to be written as it is."""

    __slots__ = ()


def write(value: Any, space: Callable[[], str]) -> str:
    """Write JSON with white space of the caller's choice between its tokens."""
    match value:
        case Raw():
            return str(value)
        case Body():
            return f'"{value}"'
        case dict():
            members = (
                f"{space()}{json.dumps(name)}{space()}:{space()}{write(item, space)}{space()}"
                for name, item in value.items()
            )
            return "{" + ",".join(members) + "}"
        case list():
            return "[" + ",".join(space() + write(item, space) + space() for item in value) + "]"
        case _:
            return json.dumps(value)


TEXT = st.text(
    st.one_of(
        st.characters(exclude_categories=["Cs"]),
        st.sampled_from(
            '\u2028\u2029\u0085\v\f\r\n\t"\\/\0\ufeff\U0001f40d\U0001f6f0e\u0301 a{}[]:,'
        ),
    ),
    min_size=1,
    max_size=12,
)
IDS = st.from_regex(r"[A-Za-z0-9_-]{1,12}", fullmatch=True).filter(lambda text: text != "null")
NAMES = st.from_regex(r"[a-z]{2,4}_[a-z]{2,6}", fullmatch=True)
_VALUES: SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), TEXT),
    st.lists,
    max_leaves=4,
)


def _units(text: str) -> list[int]:
    data = text.encode("utf-16-le")
    return [int.from_bytes(data[at : at + 2], "little") for at in range(0, len(data), 2)]


@st.composite
def _pieces(draw: DrawFn, text: str) -> Pieces:
    units = _units(text)
    places = draw(st.lists(st.integers(0, len(units)), max_size=4))
    borders = sorted({0, len(units), *places})
    pieces = [tuple(units[a:b]) for a, b in itertools.pairwise(borders)]
    return tuple(pieces)


@st.composite
def _says(draw: DrawFn, kind: Literal["text", "thinking"]) -> Say:
    text = draw(TEXT)
    signature = draw(st.none() | st.just("c2ln")) if kind == "thinking" else None
    return Say(kind, text, draw(_pieces(text)), signature)


@st.composite
def argument_texts(draw: DrawFn) -> str:
    value = draw(st.dictionaries(TEXT, _VALUES, max_size=3))
    text = json.dumps(value, ensure_ascii=draw(st.booleans()))
    match draw(st.sampled_from(["whole", "whole", "compact", "compact", "blank", "cut", "free"])):
        case "compact":
            return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        case "blank":
            return draw(st.sampled_from(["", " ", "\n"]))
        case "cut":
            return text[: draw(st.integers(0, len(text)))]
        case "free":
            return draw(TEXT)
        case _:
            return text


@st.composite
def turns(draw: DrawFn) -> Turn:
    """Make up a turn. No two neighbours are both text or both thinking: Chat could not tell them apart."""
    blocks: list[Say | Call] = []
    ids = draw(st.lists(IDS, min_size=4, max_size=4, unique=True))
    kinds = draw(st.lists(st.sampled_from(["text", "thinking", "call"]), min_size=1, max_size=5))
    for kind in kinds:
        if kind == "call" and ids:
            arguments = draw(argument_texts())
            pieces = draw(_pieces(arguments))
            blocks.append(Call(ids.pop(), draw(NAMES), arguments, pieces))
        elif kind in {"text", "thinking"} and not (blocks and blocks[-1].kind == kind):
            blocks.append(draw(_says("text" if kind == "text" else "thinking")))
    reason = draw(st.sampled_from(["end_turn", "end_turn", "tool_use", "max_tokens", "other"]))
    count = st.integers(0, 2**40)
    usage = draw(st.none() | st.tuples(count, count, count))
    return Turn(tuple(blocks), reason, usage)


class Habits:
    """The choices of one encoder.

    They come from a seed, because drawing each of them takes longer than the test itself; the seed 0, which
    hypothesis shrinks to, has the plainest habits.
    """

    def __init__(self, draw: DrawFn) -> None:
        seed = draw(st.integers(0, 2**32 - 1))
        self.random = Random(seed) if seed else None
        self.spacious = self.sometimes()
        self.ascii = self.sometimes()

    def sometimes(self) -> bool:
        return self.random is not None and self.random.random() < 0.5

    def seldom(self) -> bool:
        return self.random is not None and self.random.random() < 0.125

    def one_of(self, *options: Any) -> Any:
        return self.random.choice(options) if self.random else options[0]

    def write(self, value: Any) -> str:
        def space() -> str:
            return self.one_of("", " ", "\n", "\t\n ") if self.spacious else ""

        return write(value, space)

    def body(self, units: Sequence[int]) -> Body:
        """Escape code units: pairs as a character or as two escapes, halves always as an escape."""
        out = []
        at = 0
        while at < len(units):
            unit = units[at]
            pair = at + 1 < len(units) and 0xD800 <= unit < 0xDC00 <= units[at + 1] < 0xE000
            width = 2 if pair else 1
            lone = 0xD800 <= unit < 0xE000 and not pair
            raw = bytes(b for unit in units[at : at + width] for b in unit.to_bytes(2, "little"))
            text = raw.decode("utf-16-le", "surrogatepass")
            if lone or (self.ascii and ord(text) > 0x7E):
                out += [f"\\u{unit:04x}" for unit in units[at : at + width]]
            else:
                out.append(json.dumps(text, ensure_ascii=False)[1:-1])
            at += width
        return Body("".join(out))

    def deltas(self, pieces: Pieces) -> Iterator[Body]:
        for piece in pieces:
            if self.seldom():
                yield Body("")
            yield self.body(piece)


def runs(blocks: Sequence[Say | Call]) -> Iterator[list[Say | Call]]:
    """Group neighbouring calls: a wire may interleave them."""
    group: list[Say | Call] = []
    for block in blocks:
        if group and not (isinstance(block, Call) and isinstance(group[-1], Call)):
            yield group
            group = []
        group.append(block)
    if group:
        yield group


def is_object(text: str) -> bool:
    """Tell whether a wire could carry the text as JSON instead of as a string."""
    try:
        value = json.loads(text)
    except ValueError:
        return False
    return isinstance(value, dict) and text.strip() == text and not {"\n", "\r"} & set(text)
