"""Repair: rows whose calls and results pair up, from rows where they do not.

>>> from turntape import TranscriptMessage
>>> rows = [TranscriptMessage.user("q"), TranscriptMessage.tool_result("c1", "ok")]
>>> kept, notes = repair_native(rows, "drop")
>>> kept == rows[:1], notes[0].code
(True, 'orphan_result_dropped')
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from turntape.dict_form import DictForm
from turntape.replay.turns import is_blank
from turntape.transcript.rows import (
    STORED,
    STORED_VERSION,
    ToolFailure,
    TranscriptMessage,
    stored_beside,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["RepairCode", "RepairNote", "RepairPolicy", "is_synthetic", "repair_native"]

RepairPolicy: TypeAlias = Literal["drop", "synthesize"]
"""What becomes of calls without a result: they are dropped, or their results are moved or made up."""

RepairCode: TypeAlias = Literal[
    "duplicate_result_dropped",
    "late_result_moved",
    "missing_result_inserted",
    "nameless_result_dropped",
    "opener_dropped",
    "opener_without_calls",
    "orphan_result_dropped",
    "result_dropped",
]
"""What ``repair_native`` does; ``docs/transcripts.md`` has a line on each."""

_NO_RESULT = "[no result was recorded for this call]"


@dataclass(frozen=True, slots=True)
class RepairNote(DictForm):
    """One thing that a repair did.

    Attributes:
        code: What it did.
        row: The row that it did it to, counted from 0 in the rows that were given; of a result that was
            made up, the row that declares the call.
        call_id: The call that it is about, None where there is none.
        detail: The same for people. It quotes ids, never content.
    """

    code: RepairCode
    row: int
    call_id: str | None
    detail: str


@dataclass(slots=True)
class _Round:
    """A row with calls, and where the results of its calls stand."""

    opener: int
    calls: dict[str, int | None]
    """By id, the row of the result; None while there is none."""
    unfit: str | None
    """Why no results could make it whole."""
    last: int
    """The last row of the round as it stands."""
    late: set[str] = field(default_factory=set[str])

    def missing(self) -> list[str]:
        return [call_id for call_id, result in self.calls.items() if result is None]


def repair_native(
    rows: Iterable[TranscriptMessage],
    /,
    policy: RepairPolicy,
    *,
    include_interrupted: bool = False,
) -> tuple[list[TranscriptMessage], list[RepairNote]]:
    """Make ``validate_native`` content, and say how.

    Under both policies, results that nothing waits for are dropped, the second result of a call too, and
    rows whose calls have no id or one id twice. ``drop`` also drops the rows of calls that have no result,
    with the results that they do have. ``synthesize`` moves a late result to its call, and makes up what is
    missing: a failed result that ``is_synthetic`` knows. What a dropped row of calls said stays as a plain
    row. No row that is kept is changed: it is the very object. Repairing the outcome changes nothing.

    Args:
        rows: The rows in their order.
        policy: ``drop`` or ``synthesize``.
        include_interrupted: As of ``validate_native``: otherwise rows of turns that were cut stay where they
            are and do not count.

    Returns:
        The rows, and a note for everything that was dropped, moved, replaced or made up, in the order of
        the rows.

    Raises:
        ValueError: The policy is none of the two.

    >>> from turntape import NativeToolCall, TranscriptMessage
    >>> opener = TranscriptMessage.assistant_with_calls("", [NativeToolCall("c1", "ls", "{}")])
    >>> kept, notes = repair_native([opener], "synthesize")
    >>> kept[1].tool_call_id, is_synthetic(kept[1])
    ('c1', True)
    """
    if policy not in get_args(RepairPolicy):
        raise ValueError(f"the policy is 'drop' or 'synthesize', not {policy!r}")
    repair = _Repair(list(rows), synthesize=policy == "synthesize")
    repair.read(include_interrupted=include_interrupted)
    repair.decide()
    return repair.rows(), sorted(repair.notes, key=lambda note: note.row)


def is_synthetic(row: TranscriptMessage, /) -> bool:
    """Whether ``repair_native`` made the row up."""
    stored = stored_beside(row)
    return stored is not None and stored.get("synthetic") is True


class _Repair:
    """One repair: who belongs together is read first, what becomes of each row is decided then."""

    def __init__(self, given: list[TranscriptMessage], *, synthesize: bool) -> None:
        self.given = given
        self.synthesize = synthesize
        self.rounds: list[_Round] = []
        self.notes: list[RepairNote] = []
        self.gone: set[int] = set()
        self.replaced: dict[int, TranscriptMessage] = {}
        self.inserted: dict[int, list[TranscriptMessage]] = {}

    def read(self, *, include_interrupted: bool) -> None:
        """Find the rounds, and drop the results that belong to none."""
        current: _Round | None = None
        # By id, the last round that was interrupted before that call had its result.
        waiting: dict[str, _Round] = {}
        for index, row in enumerate(self.given):
            if row.interrupted and not include_interrupted:
                continue
            if row.role == "tool":
                self._read_result(index, row.tool_call_id, current, waiting)
                continue
            if current is not None and self.synthesize and current.unfit is None:
                waiting.update(dict.fromkeys(current.missing(), current))
            current = None
            if row.tool_calls and row.role == "assistant":
                ids = [call.id for call in row.tool_calls]
                current = _Round(index, dict.fromkeys(ids), _unfit(ids), index)
                self.rounds.append(current)

    def _read_result(
        self, index: int, call_id: str | None, current: _Round | None, waiting: dict[str, _Round]
    ) -> None:
        if not call_id:
            self._drop(index, "nameless_result_dropped", None, "the result names no call")
        elif current is not None and call_id in current.calls:
            if current.calls[call_id] is None:
                current.calls[call_id] = current.last = index
            else:
                said = f"the call {call_id!r} has its result already"
                self._drop(index, "duplicate_result_dropped", call_id, said)
        elif (late := waiting.pop(call_id, None)) is not None:
            late.calls[call_id] = index
            late.late.add(call_id)
        else:
            said = f"no call {call_id!r} waits for the result"
            self._drop(index, "orphan_result_dropped", call_id, said)

    def decide(self) -> None:
        """Make every round whole, or drop it."""
        for each in self.rounds:
            missing = each.missing()
            if each.unfit is not None:
                self._drop_round(each, each.unfit)
            elif missing and not self.synthesize:
                named = ", ".join(map(repr, missing))
                self._drop_round(each, f"no result answers {named}")
            elif missing or each.late:
                self._complete(each)

    def rows(self) -> list[TranscriptMessage]:
        """The rows as they are now."""
        kept: list[TranscriptMessage] = []
        for index, row in enumerate(self.given):
            if index in self.replaced:
                kept.append(self.replaced[index])
            elif index not in self.gone:
                kept.append(row)
            if index in self.inserted:
                kept.extend(self.inserted[index])
        return kept

    def _drop(self, index: int, code: RepairCode, call_id: str | None, detail: str) -> None:
        self.gone.add(index)
        self.notes.append(RepairNote(code, index, call_id, detail))

    def _drop_round(self, each: _Round, why: str) -> None:
        opener = self.given[each.opener]
        if is_blank(opener.content) and not opener.parts:
            self._drop(each.opener, "opener_dropped", None, f"the calls are dropped: {why}")
        else:
            self.replaced[each.opener] = _without_calls(opener)
            said = f"the calls are dropped and what was said is kept: {why}"
            self.notes.append(RepairNote("opener_without_calls", each.opener, None, said))
        for call_id, result in each.calls.items():
            if result is not None:
                said = f"the call {call_id!r} was dropped, and its result with it"
                self._drop(result, "result_dropped", call_id, said)

    def _complete(self, each: _Round) -> None:
        added = self.inserted.setdefault(each.last, [])
        for call_id, result in each.calls.items():
            if result is None:
                added.append(_synthetic(call_id))
                said = f"a failed result was made up for the call {call_id!r}"
                note = RepairNote("missing_result_inserted", each.opener, call_id, said)
                self.notes.append(note)
            elif call_id in each.late:
                added.append(self.given[result])
                said = f"the late result of the call {call_id!r} was moved to its round"
                self._drop(result, "late_result_moved", call_id, said)


def _unfit(ids: list[str]) -> str | None:
    if not all(ids):
        return "a call has no id"
    twice = [call_id for call_id, times in Counter(ids).items() if times > 1]
    return f"an id is declared twice: {', '.join(map(repr, twice))}" if twice else None


def _without_calls(opener: TranscriptMessage) -> TranscriptMessage:
    metadata = opener.extra_metadata
    if metadata is not None and STORED in metadata:
        # What a codec stored beside the row holds the calls as well.
        metadata = {name: value for name, value in metadata.items() if name != STORED} or None
    return replace(opener, tool_calls=(), extra_metadata=metadata)


def _synthetic(call_id: str) -> TranscriptMessage:
    return TranscriptMessage(
        "tool",
        _NO_RESULT,
        tool_call_id=call_id,
        tool_failure=ToolFailure("made up by a repair"),
        extra_metadata={STORED: {"v": STORED_VERSION, "synthetic": True}},
    )
