"""What is wrong with a tape, and on which lines."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from turntape.transcript.entries import TapeFault, TapeOpaque, TapeRow
from turntape.transcript.rows import TranscriptMessage
from turntape.transcript.validation import validate_native

if TYPE_CHECKING:
    from collections.abc import Iterable

    from turntape.transcript.entries import TapeEntry
    from turntape.transcript.validation import SequenceFault

__all__ = ["TapeReport", "TapeSequenceFault", "report_on"]


@dataclass(frozen=True, slots=True)
class TapeSequenceFault:
    """A call and a result that do not pair up, and where on the tape.

    Attributes:
        line: The line of the row at fault, counted from 1.
        fault: What is wrong; its ``row`` counts the rows of the tape from 0.
    """

    line: int
    fault: SequenceFault


@dataclass(frozen=True, slots=True)
class TapeReport:
    """What ``verify`` found.

    Attributes:
        rows: How many rows the tape has.
        opaque: How many lines of other versions.
        faults: The lines that are no rows, in their order.
        sequence: How calls and results fail to pair up, in the order of the rows.
    """

    rows: int
    opaque: int
    faults: tuple[TapeFault, ...]
    sequence: tuple[TapeSequenceFault, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong. Opaque lines are not wrong."""
        return not self.faults and not self.sequence


# How much is checked at once: quick, and little to hold.
_BATCH_ROWS = 1024
_BATCH_BYTES = 256 * 1024
# What any row but a result does to a round that is open.
_INTERRUPTER = TranscriptMessage.user("")


def report_on(entries: Iterable[TapeEntry], /) -> TapeReport:
    """Check entries as they come; of a row only its place is kept.

    Args:
        entries: What a tape holds, as ``TranscriptStore.read`` gives it.
    """
    lines = array("Q")
    faults: list[TapeFault] = []
    sequence: list[TapeSequenceFault] = []
    batch: list[TranscriptMessage] = []
    opaque = size = 0

    def check(*after: TranscriptMessage) -> None:
        """Check the batch; what comes after it begins anew."""
        begin = len(lines) - len(batch)
        for fault in validate_native([*batch, *after]):
            place = begin + fault.row
            sequence.append(TapeSequenceFault(place, replace(fault, row=place)))
        batch.clear()

    for entry in entries:
        match entry:
            case TapeRow(row=row):
                full = len(batch) >= _BATCH_ROWS or size >= _BATCH_BYTES
                if full and row.role != "tool" and not row.interrupted:
                    # Whatever round is open ends here, whole or not.
                    check(_INTERRUPTER)
                    size = 0
                lines.append(entry.line)
                batch.append(row)
                size += entry.end - entry.start
            case TapeOpaque():
                opaque += 1
            case TapeFault():
                faults.append(entry)
    check()
    return TapeReport(
        rows=len(lines),
        opaque=opaque,
        faults=tuple(faults),
        sequence=tuple(replace(each, line=lines[each.line]) for each in sequence),
    )
