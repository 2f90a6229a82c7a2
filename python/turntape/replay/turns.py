"""Decoded turns to envelopes and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from turntape.errors import EnvelopeError
from turntape.messages import AssistantMessage, Text, Thinking, ToolUse
from turntape.replay.envelopes import (
    NativeToolCall,
    encode_assistant_envelope,
    parse_assistant_envelope,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from turntape.messages import AssistantBlock

__all__ = ["envelope_of", "is_blank", "joined_thoughts", "message_of"]


def envelope_of(message: AssistantMessage, *, reasoning: bool = False) -> str:
    """Pack a turn with tool calls; see ``AssistantMessage.to_envelope``."""
    if not message.complete:
        text = "complete: the turn is not complete, and must not be kept as the model's answer"
        raise EnvelopeError(text, field="complete")
    calls: list[NativeToolCall] = []
    for index, block in enumerate(message.content):
        if isinstance(block, ToolUse):
            try:
                calls.append(NativeToolCall.from_tool_use(block))
            except EnvelopeError as error:
                path = f"content[{index}]"
                raise EnvelopeError(f"{path}.{error}", field=f"{path}.{error.field}") from None
    if not calls:
        text = "content: the turn calls no tool: its text is its content, no envelope is needed"
        raise EnvelopeError(text, field="content")
    said = "".join(block.text for block in message.content if isinstance(block, Text))
    return encode_assistant_envelope(said, calls, _thoughts(message) if reasoning else None)


def message_of(envelope: str) -> AssistantMessage | None:
    """Unpack a turn; see ``AssistantMessage.from_envelope``."""
    parsed = parse_assistant_envelope(envelope)
    if parsed is None:
        return None
    blocks: list[AssistantBlock] = []
    if parsed.reasoning_content is not None and not is_blank(parsed.reasoning_content):
        blocks.append(Thinking(parsed.reasoning_content))
    if parsed.content:
        blocks.append(Text(parsed.content))
    blocks.extend(call.to_tool_use() for call in parsed.tool_calls)
    return AssistantMessage(content=tuple(blocks), stop_reason="tool_use", complete=True)


def _thoughts(message: AssistantMessage) -> str | None:
    """Join the turn's thoughts."""
    return joined_thoughts(block.text for block in message.content if isinstance(block, Thinking))


def is_blank(text: str) -> bool:
    """Whether a text says nothing: it is empty or white space."""
    return not text or text.isspace()


def joined_thoughts(thoughts: Iterable[str]) -> str | None:
    """Join thoughts by blank lines; blank ones do not count, nor does an immediate repetition.

    Returns:
        The text, None where there is none.
    """
    kept: list[str] = []
    for thought in thoughts:
        if not is_blank(thought) and (not kept or kept[-1] != thought):
            kept.append(thought)
    return "\n\n".join(kept) or None
