"""What reading a history or a request carries along, whatever the wire."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from turntape.conversation import Message
from turntape.errors import InvalidRequest
from turntape.notes import ReplayNote
from turntape.requests import CachePolicy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, MutableSequence
    from typing import Literal

    from turntape.conversation import ContentBlock, Role
    from turntape.notes import ReplayNoteCode
    from turntape.wire.dialect import Dialect
    from turntape.wire.inbound.raw import Members, Raw

__all__ = ["Reader", "each_block"]

_Block = TypeVar("_Block")


@dataclass(slots=True)
class Reader:
    """The settings of one reading, and what it finds beside the messages.

    Attributes:
        dialect: The wire.
        vendor: Who made the model's turns.
        model: Which model made them.
        notes: Gets a note for whatever could not be kept as it was; None to take none.
        index: The message of the wire that is being read.
        marks: The messages that a cache mark stands in, by their place among those read, with its time
            to live.
        places: Of each message read, the first message of the wire that it was made of; None where it
            was made of none.
    """

    dialect: Dialect
    vendor: str | None = None
    model: str | None = None
    notes: MutableSequence[ReplayNote] | None = None
    index: int | None = None
    marks: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    places: list[int | None] = field(default_factory=list["int | None"])

    def note(self, code: ReplayNoteCode, detail: str) -> None:
        """Say that something was changed or left out in the message that is being read."""
        if self.notes is not None:
            self.notes.append(ReplayNote(code, self.index, detail))

    def unkept(self, kind: str, members: Members) -> None:
        """Say that a block has members that its kind has no place for."""
        if members:
            self.note(
                "content_unsupported",
                f"members of a {kind} that nothing can hold: {members.names()}",
            )

    def each_message(self, history: Raw, read: Callable[[Raw], None]) -> None:
        """Read the messages one by one.

        Raises:
            InvalidRequest: One cannot be read; ``index`` is its place.
        """
        for index, message in enumerate(history.elements()):
            self.index = index
            try:
                read(message)
            except InvalidRequest as error:
                if error.index is None:
                    error.index = index
                raise
        self.index = None

    def message(
        self,
        role: Role,
        content: Iterable[ContentBlock],
        *,
        extra: str | None = None,
        **more: Any,
    ) -> Message:
        """The next message of those read; a turn of the model's gets its maker."""
        self.places.append(self.index)
        if role == "assistant":
            more = {"model": self.model, "vendor": self.vendor} | {
                name: value for name, value in more.items() if value is not None
            }
        return Message(role, tuple(content), dialect=self.dialect, extra=extra, **more)

    def mark(self, place: int, ttl: str | None) -> None:
        """Take a cache mark in the message that is to stand at this place."""
        self.marks.append((place, ttl or "5m"))

    def cache_policy(
        self, *, system: list[str], tools: list[str], key: str | None = None
    ) -> CachePolicy:
        """The policy that asks for the marks that were found.

        Args:
            system: The times to live of the marks on the system text.
            tools: Those of the marks on the tools.
            key: The key of the cache.
        """
        lives = {*system, *tools, *(ttl for _, ttl in self.marks)}
        ttl: Literal["5m", "1h"] = "1h" if lives == {"1h"} else "5m"
        if lives - {ttl}:
            self.index = None
            self.note("cache_control_dropped", f"all cache marks of the request now live {ttl}")
        places = tuple(sorted({place for place, _ in self.marks}))
        return CachePolicy(bool(system), bool(tools), places, ttl, key)


def each_block(blocks: list[Raw], read: Callable[[Raw], Iterable[_Block]]) -> list[_Block]:
    """Read the blocks of a message one by one; each gives any number of blocks.

    Raises:
        InvalidRequest: One cannot be read; ``block`` is its place.
    """
    found: list[_Block] = []
    for place, block in enumerate(blocks):
        try:
            found.extend(read(block))
        except InvalidRequest as error:
            if error.block is None:
                error.block = place
            raise
    return found
