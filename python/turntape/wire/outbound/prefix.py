"""Digests of a request's prefix, which tell where an edited history begins to differ."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from turntape.wire.outbound.plain import PlainRun
from turntape.wire.raw_json import write_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from turntape.wire.outbound.parts import Part, Written
    from turntape.wire.raw_json import RawItems

__all__ = ["Comparison", "Prefix"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """How a request compares with the one before it.

    Attributes:
        changed: The first message that is another, or stands behind something else, by its place in the
            history; None where nothing changed.
        without_thinking: The messages whose thinking is not to be sent: it was left out the last time as
            well, or what stands before it has changed.
    """

    changed: int | None
    without_thinking: frozenset[int]


class Prefix:
    """What a request begins with, message by message.

    Args:
        seed: What goes before all messages: the system text and the tools.
        places: The place of each message in the history, in order.
        trace: What was written for them.
    """

    __slots__ = ("_places", "_seed", "_trace")

    def __init__(
        self,
        seed: Any,
        places: Sequence[int],
        trace: Sequence[Written | PlainRun],
    ) -> None:
        # Nothing is worked out before somebody asks: most requests are sent and forgotten.
        self._seed = seed
        self._places = places
        self._trace = trace

    def _start(self) -> str:
        return blake2b(write_json(self._seed)[0], digest_size=16).hexdigest()

    def _by_place(self) -> dict[int, list[tuple[Part | RawItems, bool]]]:
        by_place: dict[int, list[tuple[Part | RawItems, bool]]] = {}
        for entry in self._trace:
            each = entry.written() if isinstance(entry, PlainRun) else (entry,)
            for place, part, is_thinking in each:
                by_place.setdefault(place, []).append((part, is_thinking))
        return by_place

    def digests(self) -> tuple[str, ...]:
        """One digest a message: of it and of everything before it."""
        digest, digests, by_place = self._start(), list[str](), self._by_place()
        for place in self._places:
            digest = self._next(digest, [part for part, _ in by_place.get(place, ())])
            digests.append(digest)
        return tuple(digests)

    def compare(self, previous: Sequence[str]) -> Comparison:
        """Compare with the digests of the last request of this conversation."""
        digest, by_place = self._start(), self._by_place()
        without: set[int] = set()
        for number, place in enumerate(self._places):
            if number >= len(previous):
                break
            parts = by_place.get(place, ())
            kept = self._next(digest, [part for part, _ in parts])
            if kept != previous[number]:
                spoken = [part for part, is_thinking in parts if not is_thinking]
                if len(spoken) == len(parts) or self._next(digest, spoken) != previous[number]:
                    without.update(self._places[number:])
                    return Comparison(place, frozenset(without))
                without.add(place)
            digest = previous[number]
        return Comparison(None, frozenset(without))

    @staticmethod
    def _next(digest: str, parts: list[Part | RawItems]) -> str:
        content = digest.encode() + write_json(parts)[0]
        return blake2b(content, digest_size=16).hexdigest()
