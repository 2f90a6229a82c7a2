"""The turns that are served, and which of them a request gets."""

from __future__ import annotations

import threading
from collections import Counter
from typing import TYPE_CHECKING, Literal, TypeAlias
from urllib.parse import unquote

from turntape.serving.matching import latest, whole
from turntape.serving.refusals import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from turntape.requests import ModelRequest
    from turntape.serving.matching import Key
    from turntape.serving.turns import Turn

__all__ = ["Choice", "TurnLibrary"]

Choice: TypeAlias = Literal["order", "content"]
"""How a turn is chosen where the request names none: one after the other, or by what was asked."""

_NAMES_SHOWN = 10


class TurnLibrary:
    """Turns, and which of them were served. It may be used by several threads.

    Args:
        turns: The turns in their order.
        choice: How they are chosen.
        loop: Whether the first comes again after the last.
    """

    def __init__(
        self, turns: Iterable[Turn] = (), *, choice: Choice = "order", loop: bool = False
    ) -> None:
        """Hold the turns."""
        self.choice = choice
        self.loop = loop
        # A condition may well look at the library, or add to it.
        self._lock = threading.RLock()
        self._turns: list[Turn] = []
        self._by_name: dict[str, Turn] = {}
        # What was asked for each turn, since the model last spoke and in all.
        self._questions: dict[str, tuple[Key, Key]] = {}
        self._served = Counter[str]()
        self._next = 0
        for turn in turns:
            self.add(turn)

    def add(self, turn: Turn) -> None:
        """Put a turn behind the others.

        Raises:
            ValueError: Another one has its name.
        """
        with self._lock:
            if turn.name in self._by_name:
                raise ValueError(f"there is a turn {turn.name!r} already")
            self._turns.append(turn)
            self._by_name[turn.name] = turn
            if turn.asked is not None and turn.condition is None:
                self._questions[turn.name] = latest(turn.asked), whole(turn.asked)

    def clear(self) -> None:
        """Forget all turns."""
        with self._lock:
            self._turns.clear()
            self._by_name.clear()
            self._questions.clear()
            self._served.clear()
            self._next = 0

    def turns(self) -> list[Turn]:
        """All turns in their order."""
        with self._lock:
            return list(self._turns)

    def unserved(self) -> list[str]:
        """The names of the turns that were not served yet."""
        with self._lock:
            return [turn.name for turn in self._turns if not self._served[turn.name]]

    def choose(self, request: ModelRequest, name: str | None = None) -> Turn:
        """Give the turn that a request gets, and count it as served.

        The one that it names; else, of those whose condition it meets, the one that was served least; else
        by what was asked, or the next in order, as the library is set.

        Args:
            request: The request.
            name: The turn that it names, as it is or as in a URL.

        Raises:
            Refusal: There is none.
        """
        with self._lock:
            turn = self._named(name) if name is not None else self._chosen(request)
            self._served[turn.name] += 1
            return turn

    def _named(self, name: str) -> Turn:
        turn = self._by_name.get(name) or self._by_name.get(name := unquote(name))
        if turn is None:
            known = ", ".join(list(self._by_name)[:_NAMES_SHOWN])
            more = ", …" if len(self._by_name) > _NAMES_SHOWN else ""
            raise Refusal(404, f"there is no turn {name!r}: there are {known}{more}")
        return turn

    def _chosen(self, request: ModelRequest) -> Turn:
        meant = [turn for turn in list(self._turns) if turn.condition and turn.condition(request)]
        if meant:
            return self._least_served(meant)
        return self._asked(request) if self.choice == "content" else self._in_order()

    def _asked(self, request: ModelRequest) -> Turn:
        """The turn that was recorded for this question, best for the same history too."""
        asked = latest(request.messages)
        found = [name for name, (question, _) in self._questions.items() if question == asked]
        if not found:
            raise Refusal(
                404,
                f"no turn was recorded for this request: of {len(self._turns)} turns "
                f"{len(self._questions)} have a recorded request, and none says the same since the model "
                "last spoke",
            )
        conversation = whole(request.messages)
        same = [name for name in found if self._questions[name][1] == conversation]
        return self._least_served([self._by_name[name] for name in same or found])

    def _least_served(self, turns: list[Turn]) -> Turn:
        return min(turns, key=lambda turn: self._served[turn.name])

    def _in_order(self) -> Turn:
        ordered = [turn for turn in self._turns if turn.condition is None]
        if not ordered:
            raise Refusal(404, "there is no turn to serve")
        if self._next >= len(ordered):
            if not self.loop:
                raise Refusal(
                    404,
                    f"no turn is left: all {len(ordered)} were served, and they are not served again",
                )
            self._next = 0
        turn = ordered[self._next]
        self._next += 1
        return turn
