"""Telling a turn by what the model was asked: the same question, however its request is written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TypeAlias

from turntape.conversation import CustomRecord, ToolResult
from turntape.messages import Text, ToolUse

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from turntape.conversation import ContentBlock, HistoryItem, Message

__all__ = ["Key", "latest", "whole"]

Key: TypeAlias = tuple[tuple[str, ...], ...]
"""What was said, in a form that can be compared."""


def latest(history: Sequence[HistoryItem]) -> Key:
    """What was said since the model last spoke: the user's texts and the tools' results, in order.

    Not compared are ids, the system's texts, white space at the ends of a text, what a medium shows, and
    whether a result is an error, which not every wire can say.

    >>> from turntape import Message
    >>> latest([Message.user("Hi."), Message.assistant("Hello."), Message.user(" Bye. ")])
    (('text', 'Bye.'),)
    """
    messages = _messages(history)
    since = max(
        (at for at, message in enumerate(messages, 1) if message.role == "assistant"), default=0
    )
    return tuple(_said(messages[since:]))


def whole(history: Sequence[HistoryItem]) -> Key:
    """What was said in all of the history, by the model too: its texts and its calls, not its thoughts."""
    return tuple(_said(_messages(history)))


def _messages(history: Iterable[HistoryItem]) -> list[Message]:
    return [
        item for item in history if not isinstance(item, CustomRecord) and item.role != "system"
    ]


def _said(messages: Iterable[Message]) -> Iterable[tuple[str, ...]]:
    for message in messages:
        said = [key for block in message.content for key in _key(block)]
        if message.role == "assistant":
            # Wires differ in whether calls or text come first, and in how many blocks a text has.
            texts = "".join(key[1] for key in said if key[0] == "text")
            yield ("model", texts, *(part for key in said if key[0] == "call" for part in key[1:]))
        else:
            yield from said


def _key(block: ContentBlock) -> Iterable[tuple[str, ...]]:
    if isinstance(block, Text):
        text = block.text.strip()
        if text:
            yield ("text", text)
    elif isinstance(block, ToolUse):
        yield ("call", block.name, _arguments(block.arguments))
    elif isinstance(block, ToolResult):
        yield ("result", _result(block))
    elif block.type in {"image", "audio", "video", "document"}:
        yield (block.type,)


def _result(block: ToolResult) -> str:
    if isinstance(block.content, str):
        return block.content.strip()
    return "".join(part.text for part in block.content if isinstance(part, Text)).strip()


def _arguments(text: str) -> str:
    """The arguments in one spelling, or as they are where they are no JSON."""
    try:
        return json.dumps(json.loads(text or "{}"), sort_keys=True)
    except (ValueError, RecursionError):
        return text
