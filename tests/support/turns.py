"""Turns made up by hypothesis, and how Anthropic and Chat Completions say them.

A :class:`Turn` is what a model said, apart from any wire. The encoders here are written from the wires'
own documents and know nothing of the package, so that a decoder can be held to what was said.
"""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any, Literal

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from hypothesis.strategies import DrawFn, SearchStrategy

Wire = Literal["anthropic", "openai-chat"]
WIRES: tuple[Wire, ...] = ("anthropic", "openai-chat")

# A text as UTF-16 code units, cut into deltas anywhere: also inside a surrogate pair.
Pieces = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Say:
    """A block of text or thinking."""

    kind: Literal["text", "thinking"]
    text: str
    pieces: Pieces


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


@dataclass(frozen=True)
class Frame:
    """One event of a stream before it is written: its payload and what the test has to know of it."""

    data: str
    event: str | None = None
    ends: bool = False
    reports_usage: bool = False


@dataclass
class Stream:
    """A written stream, with the byte offsets that tell what each prefix of it holds."""

    body: bytes = b""
    frames: tuple[Frame, ...] = ()
    data_ends: list[int] = field(default_factory=list)
    block_ends: list[int] = field(default_factory=list)

    def end(self, *, flush: bool) -> int:
        """Return from which length on a prefix holds the end of the turn."""
        at = next(at for at, frame in enumerate(self.frames) if frame.ends)
        return (self.data_ends if flush else self.block_ends)[at]

    def usage_from(self) -> int | None:
        """Return from which length on a prefix holds a report of usage."""
        reports = [at for at, frame in enumerate(self.frames) if frame.reports_usage]
        return self.data_ends[reports[0]] if reports else None


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


_TEXT = st.text(
    st.one_of(
        st.characters(exclude_categories=["Cs"]),
        st.sampled_from(
            '\u2028\u2029\u0085\v\f\r\n\t"\\/\0\ufeff\U0001f40d\U0001f6f0e\u0301 a{}[]:,'
        ),
    ),
    min_size=1,
    max_size=12,
)
_IDS = st.from_regex(r"[A-Za-z0-9_-]{1,12}", fullmatch=True).filter(lambda text: text != "null")
_NAMES = st.from_regex(r"[a-z]{2,4}_[a-z]{2,6}", fullmatch=True)
_VALUES: SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), _TEXT),
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
    text = draw(_TEXT)
    return Say(kind, text, draw(_pieces(text)))


@st.composite
def _arguments(draw: DrawFn) -> str:
    value = draw(st.dictionaries(_TEXT, _VALUES, max_size=3))
    text = json.dumps(value, ensure_ascii=draw(st.booleans()))
    match draw(st.sampled_from(["whole", "whole", "whole", "blank", "cut", "free"])):
        case "blank":
            return draw(st.sampled_from(["", " ", "\n"]))
        case "cut":
            return text[: draw(st.integers(0, len(text)))]
        case "free":
            return draw(_TEXT)
        case _:
            return text


@st.composite
def turns(draw: DrawFn) -> Turn:
    """Make up a turn. No two neighbours are both text or both thinking: Chat could not tell them apart."""
    blocks: list[Say | Call] = []
    ids = draw(st.lists(_IDS, min_size=4, max_size=4, unique=True))
    kinds = draw(st.lists(st.sampled_from(["text", "thinking", "call"]), min_size=1, max_size=5))
    for kind in kinds:
        if kind == "call" and ids:
            arguments = draw(_arguments())
            pieces = draw(_pieces(arguments))
            blocks.append(Call(ids.pop(), draw(_NAMES), arguments, pieces))
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


def _anthropic_usage(turn: Turn, *, output: bool) -> dict[str, Any]:
    assert turn.usage is not None
    fresh, cached, generated = turn.usage
    return {
        "input_tokens": fresh,
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": 0,
        "output_tokens": generated if output else 1,
    }


def anthropic_frames(turn: Turn, habits: Habits) -> list[Frame]:
    """Say a turn as Anthropic Messages does."""
    frames: list[Frame] = []
    names = habits.sometimes()

    def say(kind: str, *, ends: bool = False, reports: bool = False, **members: Any) -> None:
        payload = habits.write({"type": kind, **members})
        frames.append(Frame(payload, kind if names else None, ends, reports))

    message: dict[str, Any] = {"id": "msg_1", "type": "message", "role": "assistant"}
    message |= {"model": "claude-heron", "content": [], "stop_reason": None, "stop_sequence": None}
    late = turn.usage is not None and habits.sometimes()
    if turn.usage is not None and not late:
        message["usage"] = _anthropic_usage(turn, output=False)
    say("message_start", reports="usage" in message, message=message)
    # The wire's own numbers may have gaps.
    number = habits.one_of(0, 3)
    for run in runs(turn.blocks):
        numbered = [(number + at, block) for at, block in enumerate(run)]
        number += len(run) + habits.one_of(0, 0, 2)
        waiting: list[list[tuple[int, dict[str, Any]]]] = []
        for at, block in numbered:
            start, deltas = _anthropic_block(block, habits)
            say("content_block_start", index=at, content_block=start)
            waiting.append([(at, delta) for delta in deltas])
            if not habits.seldom():
                _drain(waiting, say, habits)
                say("content_block_stop", index=at)
                waiting.clear()
                numbered = [pair for pair in numbered if pair[0] != at]
        _drain(waiting, say, habits)
        opened = [at for at, _ in numbered]
        for at in habits.one_of(opened, opened[::-1]):
            say("content_block_stop", index=at)
        if habits.seldom():
            say("ping")
    delta: dict[str, Any] = {"stop_reason": turn.reason, "stop_sequence": None}
    extra = {} if turn.usage is None else {"usage": _anthropic_usage(turn, output=True)}
    say("message_delta", ends=True, reports=bool(extra), delta=delta, **extra)
    if not habits.seldom():
        say("message_stop")
    return frames


def _drain(
    waiting: list[list[tuple[int, dict[str, Any]]]], say: Callable[..., None], habits: Habits
) -> None:
    """Send what blocks wait to say, in turns."""
    while any(waiting):
        queue = habits.one_of(*(queue for queue in waiting if queue))
        at, delta = queue.pop(0)
        say("content_block_delta", index=at, delta=delta)


def _anthropic_block(
    block: Say | Call, habits: Habits
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Give the start of a block and its deltas."""
    deltas = list(habits.deltas(block.pieces))
    if isinstance(block, Call):
        start: dict[str, Any] = {
            "type": "tool_use",
            "id": block.id,
            "name": block.name,
            "input": {},
        }
        if _is_compact_object(block.arguments) and habits.seldom():
            return {**start, "input": Raw(block.arguments)}, []
        return start, [{"type": "input_json_delta", "partial_json": piece} for piece in deltas]
    start = {"type": block.kind, block.kind: ""}
    if habits.seldom():
        start[block.kind] = deltas.pop(0)
    pieces: list[dict[str, Any]] = [
        {"type": f"{block.kind}_delta", block.kind: piece} for piece in deltas
    ]
    if block.kind == "thinking" and habits.sometimes():
        pieces.append({"type": "signature_delta", "signature": "c2ln"})
    return start, pieces


def _is_compact_object(text: str) -> bool:
    """Tell whether a wire could carry the text as JSON instead of as a string."""
    try:
        value = json.loads(text)
    except ValueError:
        return False
    return isinstance(value, dict) and bool(value) and "\n" not in text and "\r" not in text


_CHAT_REASONS = {
    "end_turn": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "other": "odd",
}


def chat_frames(turn: Turn, habits: Habits) -> list[Frame]:  # noqa: C901 (one step a member of the wire)
    """Say a turn as Chat Completions and its imitators do."""
    frames: list[Frame] = []
    head: dict[str, Any] = {"id": "chat-1", "object": "chat.completion.chunk", "model": "quill"}
    nulls = habits.sometimes()

    def say(
        delta: Any,
        reason: str | None = None,
        *,
        index: int = 0,
        reports: bool = False,
        **members: Any,
    ) -> None:
        choice: dict[str, Any] = {"index": index, "delta": delta}
        if reason is not None or nulls:
            choice["finish_reason"] = reason
        payload = habits.write({**head, "choices": [choice], **members})
        ends = reason is not None and index == 0
        frames.append(Frame(payload, None, ends, reports))

    say({"role": "assistant", "content": habits.one_of("", None)})
    thinking = habits.one_of("reasoning_content", "reasoning", "reasoning_text")
    number = 0
    for run in runs(turn.blocks):
        if habits.seldom():
            say({"content": "from another choice"}, index=1)
        if isinstance(run[0], Say):
            member = "content" if run[0].kind == "text" else thinking
            for piece in habits.deltas(run[0].pieces):
                say({member: piece})
            continue
        calls = [block for block in run if isinstance(block, Call)]
        for delta in _chat_calls(calls, number, habits):
            say(delta)
        number += len(calls)
    usage = {} if turn.usage is None else {"usage": _chat_usage(turn)}
    place = habits.one_of("beside the reason", "in the choice", "behind", "x_groq")
    beside: dict[str, Any] = usage if place == "beside the reason" else {}
    if place == "x_groq" and usage:
        beside = {"x_groq": usage}
    say({}, _CHAT_REASONS[turn.reason], reports=bool(beside), **beside)
    if usage and place in {"behind", "in the choice"}:
        late: dict[str, Any] = {**head, "choices": []}
        if place == "behind":
            late |= usage
        else:
            late["choices"] = [{"index": 0, "delta": {}, **usage}]
        frames.append(Frame(habits.write(late), reports_usage=True))
    if habits.sometimes():
        frames.append(Frame("[DONE]"))
    return frames


def _chat_usage(turn: Turn) -> dict[str, Any]:
    assert turn.usage is not None
    fresh, cached, generated = turn.usage
    return {
        "prompt_tokens": fresh + cached,
        "completion_tokens": generated,
        "total_tokens": fresh + cached + generated,
        "prompt_tokens_details": {"cached_tokens": cached},
    }


def _chat_calls(calls: list[Call], number: int, habits: Habits) -> Iterator[dict[str, Any]]:
    """Give the deltas of neighbouring calls, one after the other or interleaved."""
    indexed = habits.sometimes() or len(calls) > 1
    queues: list[list[dict[str, Any]]] = []
    for at, call in enumerate(calls, number):
        place = {"index": at} if indexed else {}
        start: dict[str, Any] = {**place, "id": call.id, "type": "function"}
        start["function"] = {"name": call.name, "arguments": ""}
        rest: list[Any] = list(habits.deltas(call.pieces))
        if _is_compact_object(call.arguments) and habits.seldom():
            rest = [Raw(call.arguments)]
        elif rest and habits.seldom():
            start["function"]["arguments"] = rest.pop(0)
        fragments = [start]
        for piece in rest:
            again = {"id": habits.one_of(call.id, "", None)} if habits.seldom() else {}
            fragments.append({**place, **again, "function": {"arguments": piece}})
        queues.append(fragments)
    if habits.sometimes():
        # All starts first, in one array, then the arguments in turns.
        yield {"tool_calls": [queue.pop(0) for queue in queues]}
        while any(queues):
            yield {"tool_calls": [habits.one_of(*(queue for queue in queues if queue)).pop(0)]}
        return
    for queue in queues:
        for fragment in queue:
            yield {"tool_calls": [fragment]}


_NOISE = (": keep-alive", ":", ": \u2028", "id: 7", "retry: 3000", "retry: soon", "x-unknown")


def lay_out(frames: Sequence[Frame], habits: Habits) -> Stream:
    """Write frames as server-sent events, with the noise that streams have."""
    end = habits.one_of("\n", "\r\n", "\r")
    noisy = habits.sometimes()
    space = habits.one_of(" ", "")
    stream = Stream(frames=tuple(frames))
    body = bytearray("\ufeff".encode() if habits.seldom() else b"")

    def line(text: str) -> None:
        body.extend((text + end).encode())

    for frame in frames:
        if noisy and habits.seldom():
            line(habits.one_of(*_NOISE))
            if habits.sometimes():
                line("")
        if frame.event is not None:
            line(f"event:{space}{frame.event}")
        for text in frame.data.split("\n"):
            line(f"data:{space}{text}")
        stream.data_ends.append(len(body) - len(end))
        # A lone CR already ends the block: what follows it may be the LF of the same line end.
        stream.block_ends.append(len(body) + 1)
        line("")
    stream.body = bytes(body)
    return stream


_ENCODERS = {"anthropic": anthropic_frames, "openai-chat": chat_frames}


@st.composite
def streams(draw: DrawFn, turn: Turn, wire: Wire) -> Stream:
    """Say a turn on a wire, with habits made up for it."""
    habits = Habits(draw)
    return lay_out(_ENCODERS[wire](turn, habits), habits)


@st.composite
def said(draw: DrawFn) -> tuple[Turn, Wire, Stream]:
    """Make up a turn and say it on one of the wires."""
    turn = draw(turns())
    wire = draw(st.sampled_from(WIRES))
    return turn, wire, draw(streams(turn, wire))
