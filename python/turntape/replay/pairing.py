"""Calls and their results: what does not pair in a history, and how it is mended.

Every call is answered, right after it, once. *Right after* means that nothing but results stands in the
messages between a call and the message with its result; within one message their order is free.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from turntape.conversation import Message, ToolResult
from turntape.notes import ReplayNote

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from turntape.conversation import ContentBlock
    from turntape.notes import ReplayNoteCode

__all__ = ["MISSING_RESULT", "FaultKind", "PairingFault", "Placed", "notes_of", "pair", "repaired"]

FaultKind: TypeAlias = Literal["missing", "orphan", "duplicate", "late"]
"""What does not pair: a call without a result, a result without a call, a second result, a result that
stands too far behind its call."""

MISSING_RESULT: Final = "No result: the call was not answered."
"""What stands in for a result that is missing."""


@dataclass(frozen=True, slots=True)
class PairingFault:
    """One thing that does not pair.

    Attributes:
        kind: What is wrong.
        index: The message, counted from 0: that of the call where a result is missing, else that of the
            result.
        block: The block in that message, counted from 0.
        id: The call's id.
        repair: What repairing would do, in words.
    """

    kind: FaultKind
    index: int
    block: int
    id: str
    repair: str

    def __str__(self) -> str:
        """The fault in words, with its place."""
        return f"message {self.index}, block {self.block}: {_WORDS[self.kind]} {self.id!r}"


_WORDS: dict[FaultKind, str] = {
    "missing": "no result for the call",
    "orphan": "a result without a call",
    "duplicate": "a second result for the call",
    "late": "the result comes too late after the call",
}

_REPAIRS: dict[FaultKind, str] = {
    "missing": "insert an error result that says nothing of what the tool did",
    "orphan": "leave the result out",
    "duplicate": "leave the result out and keep the first",
    "late": "move the result to right after its call",
}

_CODES: dict[FaultKind, ReplayNoteCode] = {
    "missing": "missing_result_inserted",
    "orphan": "orphan_result_dropped",
    "duplicate": "duplicate_result_dropped",
    "late": "late_result_moved",
}


class Placed:
    """A message at its place in the history, with the content that is to be sent of it.

    Attributes:
        index: The place, counted from 0. A message that was inserted has that of the calls it answers.
        message: The message.
        content: Its blocks; other than the message's own only where something was mended.
    """

    __slots__ = ("content", "index", "message")

    def __init__(self, index: int, message: Message, content: tuple[ContentBlock, ...]) -> None:
        self.index = index
        self.message = message
        self.content = content


class History:
    """A history in which calls and results pair.

    Attributes:
        messages: The messages as they were given.
        places: The place of each.
        mended: What is to be sent in their place, if something did not pair.
    """

    __slots__ = ("mended", "messages", "places")

    def __init__(
        self, messages: list[Message], places: list[int], mended: list[Placed] | None = None
    ) -> None:
        self.messages = messages
        self.places = places
        self.mended = mended

    def __iter__(self) -> Iterator[Placed]:
        """The messages that are to be sent."""
        if self.mended is not None:
            return iter(self.mended)
        pairs = zip(self.places, self.messages, strict=True)
        return (Placed(place, message, message.content) for place, message in pairs)


_Place: TypeAlias = tuple[int, int]
"""Where a call stands: its turn in the walk, and the block in it."""


class _Pairing:
    """The state of one walk through a history."""

    def __init__(self) -> None:
        self.turns: list[Placed] = []
        self.faults: list[PairingFault] = []
        # The calls of the last turn of the model's that wait for results, by id; of one id in order.
        self.open: dict[str, list[_Place]] = {}
        # The same of the turns before it, and what was answered already.
        self.older: dict[str, list[_Place]] = {}
        self.answered: set[str] = set()
        # Whether something else than results has come since.
        self.is_broken = False
        # What is left out, by turn; and the results that are put in, by the call's place. None for one
        # that is made up.
        self.dropped: dict[int, set[int]] = {}
        self.mended: dict[_Place, tuple[str, ToolResult | None]] = {}

    def assistant(self, message: Message) -> None:
        if self.open:
            self.close_round()
        for place, block in enumerate(message.content):
            if block.type == "tool_use":
                calls = self.open.get(block.id)
                if calls is None:
                    self.open[block.id] = [(len(self.turns), place)]
                else:
                    calls.append((len(self.turns), place))
        self.is_broken = False

    def user(self, index: int, message: Message) -> None:
        breaks = False
        for place, block in enumerate(message.content):
            if block.type == "tool_result":
                self.result(index, place, block)
            elif block.type != "text" or block.text:
                breaks = True
        if breaks:
            self.is_broken = True

    def result(self, index: int, place: int, result: ToolResult) -> None:
        call_id = result.tool_use_id
        calls = self.open.get(call_id)
        if calls is not None:
            call = calls.pop(0)
            if not calls:
                del self.open[call_id]
            self.answered.add(call_id)
            if not self.is_broken:
                return
            kind: FaultKind = "late"
        elif older := self.older.get(call_id):
            call = older.pop(0)
            self.answered.add(call_id)
            kind = "late"
        else:
            call = None
            kind = "duplicate" if call_id in self.answered else "orphan"
        self.fault(kind, index, place, call_id)
        self.dropped.setdefault(len(self.turns), set()).add(place)
        if call is not None:
            self.mended[call] = (call_id, result)

    def close_round(self) -> None:
        """Nothing that comes now stands right after the calls that still wait."""
        for call_id, calls in self.open.items():
            self.older.setdefault(call_id, []).extend(calls)
        self.open = {}

    def finish(self) -> None:
        self.close_round()
        for call_id, calls in self.older.items():
            for call in calls:
                turn, place = call
                self.fault("missing", self.turns[turn].index, place, call_id)
                self.mended[call] = (call_id, None)
        self.faults.sort(key=lambda fault: (fault.index, fault.block))

    def fault(self, kind: FaultKind, index: int, place: int, call_id: str) -> None:
        self.faults.append(PairingFault(kind, index, place, call_id, _REPAIRS[kind]))

    def mend(self, missing_result: str) -> list[Placed]:
        """The turns without their faults."""
        inserted: dict[int, list[ToolResult]] = {}
        for call in sorted(self.mended):
            call_id, late = self.mended[call]
            result = late or ToolResult(call_id, missing_result, is_error=True)
            inserted.setdefault(call[0], []).append(result)
        mended: list[Placed] = []
        waiting: list[ToolResult] = []
        source = 0
        for turn, placed in enumerate(self.turns):
            content = placed.content
            left_out = self.dropped.get(turn)
            if left_out:
                content = tuple(
                    block for place, block in enumerate(content) if place not in left_out
                )
            if waiting and placed.message.role == "user":
                content = _after_results(content, waiting)
                waiting = []
            elif waiting:
                mended.append(_made_up(source, waiting))
                waiting = []
            if content is not placed.content:
                placed = Placed(placed.index, placed.message, content)  # noqa: PLW2901
            mended.append(placed)
            if turn in inserted:
                waiting, source = inserted[turn], placed.index
        if waiting:
            mended.append(_made_up(source, waiting))
        return mended


def _after_results(
    content: tuple[ContentBlock, ...], results: Sequence[ToolResult]
) -> tuple[ContentBlock, ...]:
    """Put results behind those that are there already."""
    at = 0
    for place, block in enumerate(content):
        if block.type == "tool_result":
            at = place + 1
    return (*content[:at], *results, *content[at:])


def _made_up(index: int, results: Sequence[ToolResult]) -> Placed:
    message = Message("user", tuple(results))
    return Placed(index, message, message.content)


def pair(
    history: Iterable[tuple[int, Message]],
    *,
    missing_result: str = MISSING_RESULT,
) -> tuple[list[Placed], list[PairingFault]]:
    """Find out what does not pair in a history, and mend it.

    Args:
        history: The messages, each with its place. Results stand in messages of the user alone, calls in
            those of the assistant.
        missing_result: The text of a result that is made up.

    Returns:
        The history as it pairs, and the faults that it had: none, and the messages are the same.
    """
    walk = _Pairing()
    turns = walk.turns
    for index, message in history:
        role = message.role
        if role == "assistant":
            walk.assistant(message)
        elif role == "user":
            walk.user(index, message)
        else:
            walk.is_broken = True
        turns.append(Placed(index, message, message.content))
    walk.finish()
    return (walk.mend(missing_result) if walk.faults else walk.turns), walk.faults


def notes_of(faults: Iterable[PairingFault]) -> list[ReplayNote]:
    """What mending the faults changed, as notes."""
    return [
        ReplayNote(_CODES[fault.kind], fault.index, f"{_WORDS[fault.kind]} {fault.id!r}")
        for fault in faults
    ]


def repaired(messages: Iterable[Message]) -> list[Message]:
    """A history in which every call is answered, right after it, once.

    Args:
        messages: The history. It is not changed.

    Returns:
        The same messages where nothing is wrong with them. Of the others a changed copy; between them,
        where no message of the user follows calls, one that holds their results.

    >>> from turntape import ToolUse
    >>> history = [Message.user("Go."), Message.assistant([ToolUse("c1", "ls", "{}")])]
    >>> repaired(history)[2].content[0].is_error
    True
    """
    turns, _ = pair(enumerate(messages))
    return [
        turn.message
        if turn.content is turn.message.content
        else replace(turn.message, content=turn.content)
        for turn in turns
    ]
