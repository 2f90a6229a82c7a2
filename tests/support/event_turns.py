"""Turns made up as events: all that the vocabulary can say, and what only one wire says.

:mod:`tests.support.turns` has what a model says on any wire. This adds what an encoder has to leave out, to
join or to put in order: opaque things, neighbours of one kind, blocks that come in turns.
"""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias, get_args

from hypothesis import strategies as st
from tests.support.turns import IDS, NAMES, TEXT, argument_texts

from turntape import (
    Citation,
    ContentBlockStop,
    Extension,
    InputJsonDelta,
    MessageStart,
    MessageStop,
    RedactedThinking,
    SignatureDelta,
    StopReason,
    TextDelta,
    ThinkingDelta,
    ToolUseStart,
    Usage,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hypothesis.strategies import DrawFn, SearchStrategy

    from turntape import StreamEvent

BlockEvents: TypeAlias = "list[StreamEvent]"
# Gives the events of a block that has this index.
Block: TypeAlias = "Callable[[int], BlockEvents]"

_OBJECTS = st.dictionaries(NAMES, TEXT | st.integers(0, 9), max_size=2).map(json.dumps)
_KINDS = ("text", "text", "thinking", "thinking", "call", "call", "opaque")


@st.composite
def _cuts(draw: DrawFn, text: str) -> list[str]:
    """Cut a text into pieces, none of them empty."""
    places = draw(st.lists(st.integers(0, len(text)), max_size=3))
    borders = sorted({0, len(text), *places})
    return [text[start:end] for start, end in pairwise(borders)]


@st.composite
def _speech(draw: DrawFn, event: type[TextDelta | ThinkingDelta]) -> Block:
    pieces = draw(TEXT.flatmap(_cuts))
    tail = draw(st.sampled_from([None, None, "signature", "citation"]))
    sign = draw(_OBJECTS)

    def events(index: int) -> BlockEvents:
        said: BlockEvents = [event(index, piece) for piece in pieces]
        if tail == "signature":
            said.append(SignatureDelta(index, "c2ln"))
        if tail == "citation" and event is TextDelta:
            said.append(Citation(index, sign))
        return said

    return events


@st.composite
def _call(draw: DrawFn, call_id: str) -> Block:
    name = draw(NAMES)
    pieces = draw(argument_texts().flatmap(_cuts))
    extra = draw(st.none() | _OBJECTS.filter(lambda text: text != "{}"))
    signed = draw(st.sampled_from([False, False, True]))

    def events(index: int) -> BlockEvents:
        said: BlockEvents = [ToolUseStart(index, call_id, name, extra)]
        said += [InputJsonDelta(index, piece) for piece in pieces]
        return [*said, SignatureDelta(index, "c2ln")] if signed else said

    return events


@st.composite
def _opaque(draw: DrawFn) -> Block:
    """A block that only its own wire can say, or nothing but a proof."""
    shape = draw(st.sampled_from(["redacted", "block", "signed", "cited"]))
    body = draw(_OBJECTS)

    def events(index: int) -> BlockEvents:
        match shape:
            case "redacted":
                return [RedactedThinking(index, "b3BhcXVl")]
            case "signed":
                return [SignatureDelta(index, "c2ln")]
            case "cited":
                return [Citation(index, body)]
            case _:
                deltas = [Extension(index, "some_delta", body)] if len(body) > 2 else []
                return [Extension(index, "some_block", body), *deltas]

    return events


def _block(kind: str, call_id: str) -> SearchStrategy[Block]:
    match kind:
        case "text":
            return _speech(TextDelta)
        case "thinking":
            return _speech(ThinkingDelta)
        case "call":
            return _call(call_id)
        case _:
            return _opaque()


@st.composite
def _in_turns(draw: DrawFn, blocks: Sequence[BlockEvents]) -> BlockEvents:
    """Say blocks one after the other, or some of them in turns; each opens in its place."""
    random = draw(st.randoms(use_true_random=False))
    mixed = draw(st.booleans())
    waiting = [[*events, ContentBlockStop(at)] for at, events in enumerate(blocks)]
    said: BlockEvents = []
    opened = 0
    while any(waiting):
        able = [queue for queue in waiting[: opened + 1] if queue]
        queue = random.choice(able) if mixed else able[0]
        opened += queue is waiting[opened] if opened < len(waiting) else 0
        said.append(queue.pop(0))
    return said


def _facts(draw: DrawFn, said: BlockEvents) -> BlockEvents:
    """Put facts of the turn that are no content between its events."""
    for place in sorted(draw(st.lists(st.integers(0, len(said)), max_size=2)), reverse=True):
        said.insert(place, Extension(None, "some_fact", draw(_OBJECTS)))
    return said


_COUNTS = st.integers(0, 2**40)


@st.composite
def usages(draw: DrawFn) -> Usage:
    """Make up token counters that fit one another."""
    written, output = draw(_COUNTS), draw(_COUNTS)
    return Usage(
        draw(_COUNTS),
        output,
        draw(_COUNTS),
        written,
        draw(st.integers(0, written)),
        draw(st.integers(0, output)),
    )


@st.composite
def event_turns(draw: DrawFn) -> tuple[StreamEvent, ...]:
    """Make up the events of a complete turn that came from another wire than the one it is said on."""
    kinds = draw(st.lists(st.sampled_from(_KINDS), max_size=6))
    ids = draw(st.lists(IDS, min_size=len(kinds), max_size=len(kinds), unique=True))
    blocks = [draw(_block(kind, id_)) for kind, id_ in zip(kinds, ids, strict=True)]
    said = draw(_in_turns([block(at) for at, block in enumerate(blocks)]))
    said = _facts(draw, said)
    reason = draw(st.sampled_from([*get_args(StopReason), "end_turn", "tool_use"]))
    if reason in {"end_turn", "tool_use"}:
        reason = "tool_use" if "call" in kinds else "end_turn"
    usage = draw(st.none() | usages())
    raw = draw(st.none() | st.just("some_reason")) if reason == "other" else None
    start = MessageStart(draw(st.none() | IDS), draw(st.none() | NAMES))
    counted = [] if usage is None else [usage]
    return (start, *said, *counted, MessageStop(reason, raw, "message_stop"))
