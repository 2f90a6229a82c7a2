"""What has to come back of a turn that another wire said, told from the table alone.

It reads the table of :mod:`tests.support.encoding_table` and knows nothing of the encoders.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from tests.support.encoding_table import cell, said_stop

from turntape import (
    Citation,
    Dialect,
    Extension,
    ProviderBlock,
    RedactedThinkingBlock,
    SignatureDelta,
    Text,
    Thinking,
    ToolUse,
    ToolUseStart,
    Usage,
    assemble,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from turntape import AssistantMessage, StopReason, StreamEvent

Piece: TypeAlias = "tuple[str, ...]"
"""A block in the blind form: its kind, then its texts; of a call its id, name and arguments."""

Noted: TypeAlias = "tuple[str, int | None]"
"""A note: its code and the block that it is about."""


@dataclass
class Expected:
    """What has to come back, and what has to be noted.

    Attributes:
        content: The blocks in the blind form.
        stop_reason: The stop reason.
        usage: The tokens.
        notes: The notes.
        told: How many blocks the wire is told of, neighbours that it joins counted one by one.
    """

    content: list[Piece] = field(default_factory=list[Piece])
    stop_reason: StopReason = "unknown"
    usage: Usage | None = None
    notes: set[Noted] = field(default_factory=set[Noted])
    told: int = 0


def form(message: AssistantMessage) -> list[Piece]:
    """Give a message's content in the blind form: what only one wire tells is set aside."""
    pieces: list[Piece] = []
    for block in message.content:
        match block:
            case Text() | Thinking():
                # A block of nothing but a proof or a citation says nothing.
                if block.text:
                    pieces.append((block.type, block.text))
            case ToolUse():
                pieces.append(("tool_use", block.id, block.name, block.arguments))
            case RedactedThinkingBlock():
                pieces.append((block.type,))
            case ProviderBlock():
                pieces.append((block.type, block.kind))
    return pieces


def expected(events: Sequence[StreamEvent], target: Dialect, *, streamed: bool = True) -> Expected:
    """Tell what a stream, or a body, of another wire has to say of a turn."""
    message = assemble(events)
    said = Expected(notes=set(_opaque_notes(events)))
    lost_call = False
    for index, block in enumerate(message.content):
        match block:
            case Text() | Thinking() if block.text:
                said.told += 1
                said.content.append((block.type, block.text))
                _merge(said, index, target)
            case ToolUse():
                arguments, is_noted = _sayable(block.arguments, target, streamed=streamed)
                if is_noted:
                    said.notes.add((_code("arguments that are no JSON object", target), index))
                if arguments is None:
                    lost_call = True
                else:
                    said.told += 1
                    said.content.append(("tool_use", block.id, block.name, arguments))
            case _:
                pass
    said.stop_reason = _stop(said, message.stop_reason, target, lost_call=lost_call)
    if not streamed and message.stop_reason == "refusal" and _can_refuse(said, target):
        said.stop_reason = "refusal"
    if said.stop_reason != message.stop_reason:
        said.notes.add(("reason_mapped", None))
    said.usage, reduced = _usage(message.usage, target)
    said.notes |= {("usage_reduced", None)} if reduced else set()
    if target is not Dialect.GEMINI and None in (message.id, message.model):
        said.notes.add(("id_mapped", None))
    return said


def _code(thing: str, target: Dialect) -> str:
    code = cell(thing, target).note
    assert code is not None, f"{thing} is kept by {target}"
    return code


def _opaque_notes(events: Iterable[StreamEvent]) -> Iterable[Noted]:
    """Tell of everything that only its own wire can say; the code is the same on all others."""
    things: dict[type[StreamEvent], str] = {
        SignatureDelta: "signatures",
        Citation: "citations",
        Extension: "the provider's own blocks",
    }
    for event in events:
        thing = things.get(type(event))
        if event.type == "redacted_thinking":
            thing = "redacted thinking"
        if isinstance(event, ToolUseStart) and event.extra is not None:
            thing = "extra members of calls"
        if thing is not None:
            yield _code(thing, Dialect.OPENAI_RESPONSES), getattr(event, "index", None)


def joined(content: Iterable[Piece]) -> list[Piece]:
    """Join neighbours of one kind, as a wire does that has no border between them.

    On Chat Completions the arguments of a call that comes meanwhile are such a border, so that there it
    depends on the order of the pieces which neighbours are joined.
    """
    said = Expected()
    for piece in content:
        said.content.append(piece)
        if piece[0] in {"text", "thinking"}:
            _merge(said, 0, Dialect.OPENAI_CHAT)
    return said.content


def in_their_places(content: Sequence[Piece]) -> list[Piece]:
    """Sort content into the places of a Chat message, one for each kind."""
    places = ["thinking", "text", "tool_use"]
    return joined(sorted(content, key=lambda piece: places.index(piece[0])))


def _merge(said: Expected, index: int, target: Dialect) -> None:
    """Join the last block to the one before it, where the wire has no border between them."""
    if len(said.content) < 2:
        return
    (kind, *before), (last, *text) = said.content[-2:]
    thing = {"text": "neighbouring texts", "thinking": "neighbouring thinking"}[last]
    if kind == last and cell(thing, target).how == "merged":
        said.content[-2:] = [(kind, before[0] + text[0])]
        said.notes.add((_code(thing, target), index))


def _sayable(arguments: str, target: Dialect, *, streamed: bool) -> tuple[str | None, bool]:
    """Give arguments as the wire says them, None where it cannot, and whether that is noted."""
    how = cell("arguments that are no JSON object", target).how
    if how == "kept" or (how == "string" and streamed):
        return arguments, False
    text = arguments.strip(" \t\r\n")
    if how == "out":
        return (text, False) if not text or is_json_object(text) else (None, True)
    try:
        value: object = json.loads(text or "{}", parse_constant=_refuse)
    except ValueError:
        return json.dumps(arguments, ensure_ascii=False), True
    # Of what is empty nothing is read: it stands for no arguments as well.
    return ("" if value in ({}, [], "") else text), False


def _can_refuse(said: Expected, target: Dialect) -> bool:
    """Tell whether a body, which knows its end, says its text as a refusal."""
    refusing = {Dialect.OPENAI_CHAT, Dialect.OPENAI_RESPONSES}
    return target in refusing and any(piece[0] == "text" for piece in said.content)


def is_json_object(text: str) -> bool:
    """Tell whether a text is a JSON object, NaN and the like being none."""
    try:
        return isinstance(json.loads(text, parse_constant=_refuse), dict)
    except ValueError:
        return False


def _refuse(name: str) -> None:
    raise ValueError(name)


def _stop(said: Expected, reason: StopReason, target: Dialect, *, lost_call: bool) -> StopReason:
    if target is Dialect.GEMINI:
        if reason == "refusal" and not said.content:
            return "refusal"
        if lost_call and reason in {"end_turn", "tool_use"}:
            return "other"
    word = said_stop(reason, target)
    has_calls = any(piece[0] == "tool_use" for piece in said.content)
    if word == "unknown" and target is Dialect.OPENAI_CHAT and has_calls:
        # A stream that ends without a reason is understood to wait for its calls.
        return "tool_use"
    if word in {"end_turn", "tool_use"}:
        return "tool_use" if has_calls else "end_turn"
    return word


def _usage(usage: Usage | None, target: Dialect) -> tuple[Usage | None, bool]:
    """Give the tokens as the wire counts them, and whether it counts fewer kinds."""
    if usage is None:
        made_up = cell("a turn without token counts", target).how == "made up"
        return (Usage(0, 0) if made_up else None), made_up
    said = usage
    if cell("those kept for an hour", target).how == "out":
        said = replace(said, cache_write_1h_tokens=0)
    if cell("tokens written to a cache", target).how == "reduced":
        written = usage.cache_write_tokens
        said = replace(said, input_tokens=usage.input_tokens + written, cache_write_tokens=0)
    return said, said != usage


def is_prefix(part: Sequence[Piece], whole: Sequence[Piece]) -> bool:
    """Tell whether content is the beginning of other content, its last block perhaps cut."""
    if len(part) > len(whole):
        return False
    return all(
        mine[:-1] == its[:-1] and its[-1].startswith(mine[-1])
        for mine, its in zip(part, whole, strict=False)
    )
