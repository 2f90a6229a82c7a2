"""What is wrong with a tape, and on which lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from turntape.transcript.entries import TapeFault, TapeOpaque, TapeRow
from turntape.transcript.validation import validate_native

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterable, Iterator

    from turntape.transcript.entries import TapeEntry
    from turntape.transcript.rows import TranscriptMessage
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


def report_on(entries: Iterable[TapeEntry], /) -> TapeReport:
    """Check entries as they come; of the rows only their places are kept.

    Args:
        entries: What a tape holds, as ``TranscriptStore.read`` gives it.
    """
    from array import array  # noqa: PLC0415 (only checks need it)

    lines = array("Q")
    faults: list[TapeFault] = []
    opaque: list[int] = [0]
    sequence = validate_native(_rows(entries, lines, faults, opaque))
    return TapeReport(
        rows=len(lines),
        opaque=opaque[0],
        faults=tuple(faults),
        sequence=tuple(TapeSequenceFault(lines[fault.row], fault) for fault in sequence),
    )


def _rows(
    entries: Iterable[TapeEntry], lines: array[int], faults: list[TapeFault], opaque: list[int]
) -> Iterator[TranscriptMessage]:
    for entry in entries:
        match entry:
            case TapeRow():
                lines.append(entry.line)
                yield entry.row
            case TapeOpaque():
                opaque[0] += 1
            case TapeFault():
                faults.append(entry)
