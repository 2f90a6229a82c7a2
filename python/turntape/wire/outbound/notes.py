"""Collecting what was changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from turntape.notes import ReplayNote

if TYPE_CHECKING:
    from collections.abc import Iterable

    from turntape.notes import ReplayNoteCode

__all__ = ["Notes"]


class Notes:
    """The notes of one request, in the order of the history at the end."""

    __slots__ = ("_notes",)

    def __init__(self) -> None:
        self._notes: list[ReplayNote] = []

    def add(self, code: ReplayNoteCode, index: int | None, detail: str) -> None:
        """Add one. The detail quotes ids, names and parameters, never content."""
        self._notes.append(ReplayNote(code, index, detail))

    def extend(self, notes: Iterable[ReplayNote]) -> None:
        """Add several."""
        self._notes.extend(notes)

    def listed(self) -> tuple[ReplayNote, ...]:
        """All of them: those of the whole request first, then message by message."""
        return tuple(sorted(self._notes, key=lambda note: -1 if note.index is None else note.index))
