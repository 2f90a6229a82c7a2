"""Reasoning between messages and rows: blocks there, one text here."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from turntape.messages import ProviderBlock, Thinking
from turntape.replay.turns import is_blank, joined_thoughts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from turntape.conversation import ContentBlock

__all__ = ["REASONING", "reasoning_content_block", "reasoning_from_content"]

REASONING = "reasoning_content"
"""Under which name a row's metadata keeps the reasoning, and older histories a block of it."""


def reasoning_content_block(text: str, /) -> Thinking | None:
    r"""A row's reasoning as a block.

    Args:
        text: The reasoning; it is kept verbatim.

    Returns:
        The block, None for a text that is blank.

    >>> reasoning_content_block(" Count twice.\n")
    Thinking(text=' Count twice.\n', signature=None)
    """
    return None if is_blank(text) else Thinking(text)


def reasoning_from_content(blocks: Iterable[ContentBlock], /) -> str | None:
    r"""The reasoning of a message as one text: what its blocks think, in their order.

    Blank thoughts do not count, nor does an immediate repetition; the rest is joined by one blank line.
    Signatures are left behind.

    Args:
        blocks: The blocks of the message. Besides thinking, provider blocks of the kind
            ``reasoning_content`` that hold a JSON string count, which older histories have.

    Returns:
        The text, None where nothing is thought.

    >>> reasoning_from_content([Thinking("one"), Thinking(" "), Thinking("one"), Thinking("two")])
    'one\n\ntwo'
    """
    return joined_thoughts(_thoughts(blocks))


def _thoughts(blocks: Iterable[ContentBlock]) -> Iterator[str]:
    for block in blocks:
        if isinstance(block, Thinking):
            yield block.text
        elif isinstance(block, ProviderBlock) and block.kind == REASONING:
            text = _json_string(block.json)
            if text is not None:
                yield text


def _json_string(text: str) -> str | None:
    # Only a string is read: whatever else stands there may be deep, and is none of our business.
    if not text.lstrip().startswith('"'):
        return None
    try:
        value: str = json.loads(text)
    except ValueError:
        return None
    return value
