"""Decoded turns as messages of a history, and as events again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from turntape._native import assemble, split_json
from turntape.conversation import Message
from turntape.errors import EncodeError, IncompleteTurn
from turntape.events import (
    Citation,
    ContentBlockStop,
    Extension,
    InputJsonDelta,
    MessageStart,
    MessageStop,
    RedactedThinking,
    SignatureDelta,
    TextDelta,
    ThinkingDelta,
    ToolUseStart,
)
from turntape.messages import ProviderBlock, RedactedThinkingBlock, Text, Thinking, ToolUse
from turntape.notes import ReplayNote

if TYPE_CHECKING:
    from collections.abc import Iterator, MutableSequence

    from turntape.events import StreamEvent
    from turntape.messages import AssistantBlock, AssistantMessage
    from turntape.notes import ReplayNoteCode

__all__ = ["message_of_turn", "turn_events"]

# The facts of a message item (Responses) under the names of their events; `assemble` puts them into the
# `extra` of the text block that opens next.
_ITEM_FACTS = {"id": "item_id", "phase": "phase"}


def message_of_turn(
    turn: AssistantMessage,
    *,
    allow_incomplete: bool = False,
    notes: MutableSequence[ReplayNote] | None = None,
) -> Message:
    """Make a message of a turn; see ``AssistantMessage.to_message``."""
    content = turn.content
    if not turn.complete:
        if not allow_incomplete:
            text = (
                "the turn is not complete: the wire did not end it, and it must not be kept as the "
                "model's answer (allow_incomplete=True keeps what is whole of it)"
            )
            raise IncompleteTurn(text)
        content = _whole_blocks(turn, notes)
    return Message(
        "assistant",
        content,
        model=turn.model,
        dialect=turn.dialect,
        vendor=turn.vendor,
        id=turn.id,
        stop_reason=turn.stop_reason,
        reasoning_field=turn.reasoning_field,
    )


def _whole_blocks(
    turn: AssistantMessage, notes: MutableSequence[ReplayNote] | None
) -> tuple[AssistantBlock, ...]:
    kept: list[AssistantBlock] = []
    for index, block in enumerate(turn.content):
        code: ReplayNoteCode
        if isinstance(block, Thinking) and block.signature is None:
            code, why = "reasoning_dropped", "thinking that is not signed may be cut"
        elif isinstance(block, ToolUse) and not block.complete:
            code, why = "incomplete_dropped", f"the call {block.id!r} is not complete"
        elif isinstance(block, ProviderBlock) and index == len(turn.content) - 1:
            code, why = "incomplete_dropped", f"the last block, {block.kind!r}, may be cut"
        else:
            kept.append(block)
            continue
        if notes is not None:
            notes.append(ReplayNote(code, index, why))
    return tuple(kept)


def turn_events(message: AssistantMessage) -> list[StreamEvent]:
    """Tell the events that add up to a message: each block whole, one after the other.

    ``assemble`` makes the same message of them, but for what events do not carry: its dialect, its
    vendor and its warnings. Whatever a message made by hand holds that no wire's turn can, that law does
    not cover: members of a text's ``extra`` beside ``id`` and ``phase`` are left out, a complete turn
    whose ``terminal`` is None gets ``message_stop``, and no call becomes complete whose text is not.

    A turn that is not complete gets no :class:`MessageStop`, and of its blocks only the complete calls
    get their stop: nothing tells of the others whether they were whole.

    Args:
        message: The message.

    Raises:
        EncodeError: The ``extra`` of a text is not JSON.
        UnicodeEncodeError: A call that is not complete holds a lone surrogate.

    >>> from turntape import AssistantMessage, Text
    >>> turn_events(AssistantMessage("r1", "m", (Text("Hi"),)))
    [MessageStart(id='r1', model='m'), TextDelta(index=0, text='Hi')]
    """
    return list(_events(message))


def _events(message: AssistantMessage) -> Iterator[StreamEvent]:
    yield MessageStart(message.id, message.model)
    # Decoders tell it right before the first thinking delta; without one it has no better place.
    field_at = next((at for at, block in enumerate(message.content) if block.type == "thinking"), 0)
    for index, block in enumerate(message.content):
        if index == field_at:
            yield from _reasoning_field(message)
        yield from _block_events(index, block)
        if _is_closed(message, block):
            yield ContentBlockStop(index)
    if not message.content:
        yield from _reasoning_field(message)
    if message.usage is not None:
        yield message.usage
    if message.complete:
        terminal = message.terminal or "message_stop"
        yield MessageStop(message.stop_reason, message.raw_reason, terminal)


def _reasoning_field(message: AssistantMessage) -> Iterator[StreamEvent]:
    if message.reasoning_field is not None:
        name = json.dumps(message.reasoning_field, ensure_ascii=False)
        yield Extension(None, "reasoning_field", name)


def _block_events(index: int, block: AssistantBlock) -> Iterator[StreamEvent]:
    signature = None
    match block:
        case Text():
            yield from _text_events(index, block)
            signature = block.signature
        case Thinking():
            if block.text or block.signature is None:
                yield ThinkingDelta(index, block.text)
            signature = block.signature
        case RedactedThinkingBlock():
            yield RedactedThinking(index, block.data)
        case ToolUse():
            yield ToolUseStart(index, block.id, block.name, block.extra)
            if block.arguments:
                yield InputJsonDelta(index, block.arguments)
            signature = block.signature
        case ProviderBlock():
            yield Extension(index, block.kind, block.json)
    if signature is not None:
        yield SignatureDelta(index, signature)


def _text_events(index: int, block: Text) -> Iterator[StreamEvent]:
    try:
        facts = list(_item_facts(block.extra))
    except ValueError as error:
        raise EncodeError(f"the extra of text block {index} is not JSON: {error}") from None
    yield from facts
    # Nothing else opens a text block that has neither text nor citations.
    if block.text or not block.citations:
        yield TextDelta(index, block.text)
    for citation in block.citations:
        yield Citation(index, citation)


def _item_facts(extra: str | None) -> Iterator[StreamEvent]:
    pairs = () if extra is None else split_json(extra)
    if isinstance(pairs, tuple):
        for name, value in pairs:
            if name in _ITEM_FACTS:
                yield Extension(None, _ITEM_FACTS[name], value)


def _is_closed(message: AssistantMessage, block: AssistantBlock) -> bool:
    if not isinstance(block, ToolUse):
        return message.complete
    if block.complete or not message.complete:
        return block.complete
    # The call of a turn that ended was closed, whole or not; its stop must not make it whole.
    [call] = assemble(
        (
            ToolUseStart(0, block.id, block.name),
            InputJsonDelta(0, block.arguments),
            ContentBlockStop(0),
            MessageStop(message.stop_reason, None, "message_stop"),
        )
    ).content
    return isinstance(call, ToolUse) and not call.complete
