"""Calls that wait for their results, for wires whose results may come without an id."""

from __future__ import annotations

from turntape.wire.synthetic import synthetic_id

__all__ = ["Waiting"]


class Waiting:
    """The calls of the last turn in their order, each until it is answered."""

    __slots__ = ("_calls",)

    def __init__(self) -> None:
        """Start with none."""
        self._calls: list[tuple[str, str]] = []

    def clear(self) -> None:
        """Another turn of the model's begins: what was not answered will not be."""
        self._calls = []

    def called(self, name: str, call_id: str) -> None:
        """A call waits for its result."""
        self._calls.append((name, call_id))

    def answered(self, call_id: str | None, name: str | None) -> str:
        """A result has come.

        Args:
            call_id: The id that it carries, if it does.
            name: The tool that it names, if it does.

        Returns:
            The id of the call that it answers: its own, else that of the first one waiting that has the
            name. A result that answers none gets an id that no call has.
        """
        for place, (waiting, waiting_id) in enumerate(self._calls):
            if waiting_id == call_id if call_id else name in {None, waiting}:
                del self._calls[place]
                return waiting_id
        return call_id or synthetic_id(f"{name or ''}:", 0)
