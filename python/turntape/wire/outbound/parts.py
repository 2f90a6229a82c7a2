"""What a body is made of while it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

# At run time too: the alias below is made of it.
from turntape.wire.raw_json import RawJson

if TYPE_CHECKING:
    from turntape.messages import ToolUse

__all__ = ["MEDIA_TYPES", "Call", "Part", "WireMessage", "Written"]

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


class WireMessage:
    """One message of the body while it is written.

    Attributes:
        role: ``user``, ``assistant`` or ``system``.
        index: The last place in the history that something of it came from.
        results: The results, which stand first in it.
        calls: The call that each of them answers.
        parts: What follows them.
        is_paused: Whether it is a turn that asks to be sent back.
        extra: What the wire's message carries beside role and content.
    """

    __slots__ = ("calls", "extra", "index", "is_paused", "parts", "results", "role")

    def __init__(self, role: str, index: int) -> None:
        self.role = role
        self.index = index
        self.results: list[Written] = []
        self.calls: list[Call] = []
        self.parts: list[Written] = []
        self.is_paused = False
        self.extra: dict[str, Any] | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is in it yet."""
        return not (self.results or self.parts)

    @property
    def has_thinking(self) -> bool:
        """Whether thinking is in it."""
        return any(written[2] for written in self.parts)

    def content(self) -> list[Written]:
        """Everything in it, in the order of the wire."""
        return self.results + self.parts if self.results else self.parts

    def add_extra(self, extra: dict[str, Any]) -> None:
        """Add what the wire's message carries beside role and content."""
        self.extra = extra if self.extra is None else self.extra | extra
