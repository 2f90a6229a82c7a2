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

__all__ = ["Marks", "Reader", "each_block"]

_Block = TypeVar("_Block")


class Marks:
    """The cache marks in a list of which only the end can be marked.

    Attributes:
        lives: The times that they ask for.
    """

    __slots__ = ("_last", "_size", "lives")

    def __init__(self) -> None:
        """Start with none."""
        self.lives: set[str] = set()
        self._size = 0
        self._last: set[int] = set()

    def element(self) -> None:
        """Another element."""
        self._size += 1

    def mark(self, ttl: str) -> None:
        """A mark on the element before it."""
        self.lives.add(ttl)
        self._last.add(self._size)

    @property
    def are_inside(self) -> bool:
        """Whether some stand before the end."""
        return bool(self._last - {self._size})

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self.lives)


@dataclass(slots=True)
class Reader:
    """The settings of one reading, and what it finds beside the messages.

    Attributes:
        dialect: The wire.
        vendor: Who made the model's turns.
        model: Which model made them.
        notes: Gets a note for whatever could not be kept as it was; None to take none.
        index: The message of the wire that is being read.
        keeps_marks: Whether cache marks count, because a whole request is read.
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
    keeps_marks: bool = False
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

    def each_message(
        self, history: Raw, read: Callable[[Raw], Iterable[Message] | None]
    ) -> list[Message]:
        """Read the messages one by one.

        Args:
            history: The list.
            read: Reads one; gives what it is, or keeps that itself.

        Returns:
            What was given.

        Raises:
            InvalidRequest: One cannot be read; ``index`` is its place.
        """
        messages: list[Message] = []
        for index, message in enumerate(history.elements()):
            self.index = index
            try:
                messages += read(message) or ()
            except InvalidRequest as error:
                if error.index is None:
                    error.index = index
                raise
        self.index = None
        return messages

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

    def marked_messages(
        self,
        role: Role,
        elements: list[Raw],
        read: Callable[[Raw], Iterable[ContentBlock]],
        mark_of: Callable[[Raw], str | None],
        **more: Any,
    ) -> list[Message]:
        """Read a message in which cache marks may stand.

        A mark stands at the end of a message, so that a message of the user's with one inside becomes two,
        which building joins again. What must stay together, a turn of the model's or the results of a round,
        is not parted: the mark moves to the end, noted.

        Args:
            role: Who says it.
            elements: Its blocks.
            read: Reads a block.
            mark_of: Gives the time to live of the mark that stands on a block, or is one; None for none.
            more: What else the message has.
        """
        blocks: list[ContentBlock] = []
        marks: dict[int, str] = {}

        def read_one(raw: Raw) -> tuple[()]:
            ttl = mark_of(raw)
            blocks.extend(read(raw))
            if ttl is not None:
                marks[len(blocks)] = ttl
            return ()

        each_block(elements, read_one)
        if not self.keeps_marks:
            for _ in marks:
                self.note("cache_control_dropped", "a history has no cache marks")
            return [self.message(role, blocks, **more)]
        messages: list[Message] = []
        start = 0
        for end, ttl in sorted(marks.items()):
            if not end or (end < len(blocks) and not _may_part(role, blocks[end:])):
                self.note("cache_control_dropped", "a cache mark that nothing can keep where it is")
                continue
            self._mark(ttl)
            if end < len(blocks):
                messages.append(self.message(role, blocks[start:end]))
                start = end
        messages.append(self.message(role, blocks[start:], **more))
        return messages

    def _mark(self, ttl: str) -> None:
        """Take a cache mark at the end of the message that comes next."""
        self.marks.append((len(self.places), ttl))

    def cache_policy(
        self, *, system: Marks | None = None, tools: Marks | None = None, key: str | None = None
    ) -> CachePolicy:
        """The policy that asks for the marks that were found.

        Args:
            system: The marks in the system text.
            tools: Those among the tools.
            key: The key of the cache.
        """
        self.index = None
        lives = {ttl for _, ttl in self.marks}
        for marks, what in ((system, "system text"), (tools, "tools")):
            if marks:
                lives |= marks.lives
                if marks.are_inside:
                    self.note(
                        "cache_control_dropped",
                        f"a cache mark inside the {what} now stands at its end",
                    )
        ttl: Literal["5m", "1h"] = "1h" if lives == {"1h"} else "5m"
        if lives - {ttl}:
            self.note("cache_control_dropped", f"all cache marks of the request now live {ttl}")
        places = tuple(sorted({place for place, _ in self.marks}))
        return CachePolicy(bool(system), bool(tools), places, ttl, key)


def _may_part(role: Role, rest: list[ContentBlock]) -> bool:
    """Whether the rest of a message may stand in one of its own."""
    return role == "user" and not any(block.type == "tool_result" for block in rest)


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
