"""Whether the calls and the results of a transcript pair up.

>>> from turntape import TranscriptMessage
>>> [fault.code for fault in validate_native([TranscriptMessage.tool_result("c1", "ok")])]
['orphan_result']
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from turntape._native import rounds_are_whole
from turntape.dict_form import DictForm
from turntape.errors import SequenceError
from turntape.transcript.projections import transcript_to_message

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from turntape.conversation import Message
    from turntape.transcript.rows import TranscriptMessage

__all__ = [
    "SequenceFault",
    "SequenceFaultCode",
    "native_transcript_to_messages",
    "validate_native",
]

SequenceFaultCode: TypeAlias = Literal[
    "duplicate_call_id",
    "duplicate_result",
    "interrupted_round",
    "missing_call_id",
    "missing_result",
    "orphan_result",
]
"""What can be wrong with a sequence of rows; ``docs/transcripts.md`` has a line on each."""

_WORDS: dict[SequenceFaultCode, str] = {
    "duplicate_call_id": "the row declares the call {} more than once",
    "duplicate_result": "the call {} has its result already",
    "interrupted_round": "the row comes while the call {} waits for its result",
    "missing_call_id": "the row names no call",
    "missing_result": "the call {} has no result",
    "orphan_result": "no call {} waits for this result",
}


@dataclass(frozen=True, slots=True)
class SequenceFault(DictForm):
    """One thing that is wrong with a sequence of rows.

    Attributes:
        code: What is wrong.
        row: The row at fault, counted from 0: of a missing result the one that declares the call, of an
            interrupted round the one that interrupts it.
        call_id: The call that it is about, None where there is none.
    """

    code: SequenceFaultCode
    row: int
    call_id: str | None = None

    def __str__(self) -> str:
        """The fault in a sentence for people."""
        return f"row {self.row}: {_WORDS[self.code].format(repr(self.call_id))}"


def validate_native(
    rows: Iterable[TranscriptMessage], /, *, include_interrupted: bool = False
) -> list[SequenceFault]:
    """Find everything that is wrong with how calls and results pair up.

    A round is a row of the assistant's with calls, and the results right after it, in any order; it has to
    be whole before another row comes. An id counts within its round, so that a later round may use it again.

    Args:
        rows: The rows in their order.
        include_interrupted: Whether rows of turns that were cut count as well; otherwise they are passed
            over, as in a replay.

    Returns:
        The faults in the order of the rows, one a call; none for rows that can be replayed.

    >>> from turntape import NativeToolCall, TranscriptMessage
    >>> calls = [NativeToolCall("c1", "ls", "{}"), NativeToolCall("c2", "ls", "{}")]
    >>> opener = TranscriptMessage.assistant_with_calls("", calls)
    >>> for fault in validate_native([opener, TranscriptMessage.tool_result("c2", "a.txt")]):
    ...     print(fault)
    row 0: the call 'c1' has no result
    """
    listed = list(rows)
    if rounds_are_whole(listed, include_interrupted):
        return []
    faults: list[SequenceFault] = []
    # The calls of the last round: those without a result yet, and those with one.
    waiting: dict[str | None, None] = {}
    answered: set[str | None] = set()
    opener = 0
    for index, row in enumerate(listed):
        if row.interrupted and not include_interrupted:
            continue
        if row.role == "tool":
            call_id = row.tool_call_id
            if call_id in waiting:
                del waiting[call_id]
                answered.add(call_id)
            else:
                faults.append(_fault_of_result(index, call_id, answered))
            continue
        if waiting:
            faults.extend(SequenceFault("interrupted_round", index, name) for name in waiting)
            waiting = {}
        if answered:
            answered = set()
        if row.tool_calls and row.role == "assistant":
            opener = index
            _declare(index, row, waiting, faults)
    faults.extend(SequenceFault("missing_result", opener, call_id) for call_id in waiting)
    # Missing results name a row that other faults may stand behind. Within a row the order stays.
    faults.sort(key=lambda fault: fault.row)
    return faults


def _declare(
    index: int,
    row: TranscriptMessage,
    waiting: dict[str | None, None],
    faults: list[SequenceFault],
) -> None:
    """Have the calls of a row wait for their results."""
    for call in row.tool_calls:
        if not call.id:
            faults.append(SequenceFault("missing_call_id", index))
        elif call.id in waiting:
            faults.append(SequenceFault("duplicate_call_id", index, call.id))
        else:
            waiting[call.id] = None


def _fault_of_result(index: int, call_id: str | None, answered: set[str | None]) -> SequenceFault:
    """What is wrong with a result that no call waits for."""
    if not call_id:
        return SequenceFault("missing_call_id", index)
    return SequenceFault(
        "duplicate_result" if call_id in answered else "orphan_result", index, call_id
    )


def native_transcript_to_messages(
    rows: Sequence[TranscriptMessage], /, *, include_interrupted: bool = False
) -> list[Message]:
    """The messages of a transcript that can be replayed, a message a row.

    What only a codec keeps, such as signatures, is not in them: see ``LosslessCodec``.

    Args:
        rows: The rows in their order.
        include_interrupted: Whether rows of turns that were cut become messages as well.

    Raises:
        SequenceError: Calls and results do not pair up; it has all faults.

    >>> from turntape import TranscriptMessage
    >>> native_transcript_to_messages([TranscriptMessage.user("Hi.")])[0].role
    'user'
    """
    faults = validate_native(rows, include_interrupted=include_interrupted)
    if faults:
        more = len(faults) - 1
        others = f" (and {more} more)" if more else ""
        raise SequenceError(f"{faults[0]}{others}", faults=tuple(faults))
    return [
        transcript_to_message(row) for row in rows if include_interrupted or not row.interrupted
    ]
