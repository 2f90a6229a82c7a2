"""What a body is made of while it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

# At run time too: the alias below is made of it.
from turntape.wire.raw_json import RawJson

if TYPE_CHECKING:
    from turntape.messages import ToolUse

__all__ = ["MEDIA_TYPES", "Call", "Part", "Written"]

Part: TypeAlias = dict[str, Any] | RawJson
"""One block, part or item of a body."""

Written: TypeAlias = tuple[int, Part, bool]
"""A part as it was written: its place in the history, the part, and whether it is thinking."""

MEDIA_TYPES = frozenset({"image", "audio", "video", "document"})
"""The ``type`` of each block that is a medium."""


class Call:
    """A call as it was sent, for its result.

    Attributes:
        block: The call.
        id: Its id as sent; empty where the wire does not get one.
        name: The tool's name as sent.
        order: Its place among the calls of its round, counted from 0.
        extra: What its own wire carries beside it.
    """

    __slots__ = ("block", "extra", "id", "name", "order")

    def __init__(
        self, block: ToolUse, sent_id: str, name: str, order: int, extra: dict[str, Any]
    ) -> None:
        self.block = block
        self.id = sent_id
        self.name = name
        self.order = order
        self.extra = extra
