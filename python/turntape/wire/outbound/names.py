"""The names of tools as they are sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from turntape.replay.mapping import Distinct

if TYPE_CHECKING:
    from turntape.replay.mapping import Form
    from turntape.wire.outbound.notes import Notes

__all__ = ["Names"]


class Names:
    """The names in a request: the same name is sent the same wherever it occurs.

    Args:
        form: What names look like on the wire.
        declared: The names of the request's own tools, which are valid and stay.
        notes: Gets what was mapped.
    """

    __slots__ = ("_distinct", "_notes", "_sent")

    def __init__(self, form: Form, declared: tuple[str, ...], notes: Notes) -> None:
        self._distinct = Distinct(form, declared)
        self._notes = notes
        self._sent = {name: name for name in declared}

    @property
    def known(self) -> dict[str, str]:
        """The names that were asked for, as they are sent, and those that are declared."""
        return self._sent

    def sent(self, name: str, index: int | None) -> str:
        """The name as it is sent, noted at its first use where it is another."""
        sent = self._sent.get(name)
        if sent is None:
            sent = self._sent[name] = self._distinct.take(name)
            if sent != name:
                self._notes.add("name_mapped", index, f"{name!r} is sent as {sent!r}")
        return sent

    def mapped(self) -> dict[str, str]:
        """From what was sent to the host's name, for those that differ."""
        return {sent: name for name, sent in self._sent.items() if sent != name}
