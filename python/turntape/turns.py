"""Decoded turns as messages of a history."""

from __future__ import annotations

from typing import TYPE_CHECKING

from turntape.conversation import Message
from turntape.errors import IncompleteTurn
from turntape.messages import ProviderBlock, Thinking, ToolUse
from turntape.notes import ReplayNote

if TYPE_CHECKING:
    from collections.abc import MutableSequence

    from turntape.messages import AssistantBlock, AssistantMessage
    from turntape.notes import ReplayNoteCode

__all__ = ["message_of_turn"]


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
