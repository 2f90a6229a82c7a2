"""Which items of one sequence are which of another: what stayed, what moved, what is new.

Equal items are told apart by where they stand: what has the same neighbours is the same. The time is
linear but for the sorting of what is unique on both sides.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["align"]


def align(before: Sequence[object], after: Sequence[object]) -> list[int | None]:
    """For each item of ``after``, the place in ``before`` of the equal one that it is.

    No place is given twice, and no item stays without one while an equal one of ``before`` is left. An item
    that cannot be hashed, and stands elsewhere than it did, is equal to itself alone.

    Args:
        before: The items as they were.
        after: The items as they are.

    Returns:
        A place or None for each item of ``after``.

    >>> align("abcd", "abxcda")
    [0, 1, None, 2, 3, None]
    >>> align("abc", "cab")
    [2, 0, 1]
    """
    # Most of a history stays where it is, and is not even hashed.
    shorter = min(len(before), len(after))
    head = 0
    while head < shorter and _same(before[head], after[head]):
        head += 1
    tail = 0
    while tail < shorter - head and _same(before[-1 - tail], after[-1 - tail]):
        tail += 1
    middle = _align_numbers(
        *_numbered(before[head : len(before) - tail], after[head : len(after) - tail])
    )
    return [
        *range(head),
        *(None if place is None else place + head for place in middle),
        *range(len(before) - tail, len(before)),
    ]


def _same(one: object, other: object) -> bool:
    return one is other or one == other


def _numbered(before: Sequence[object], after: Sequence[object]) -> tuple[list[int], list[int]]:
    """Both sequences as numbers, the same for equal items: each item is hashed once."""
    numbers: dict[object, int] = {}

    def number(item: object) -> int:
        try:
            return numbers.setdefault(item, len(numbers))
        except TypeError:
            return numbers.setdefault(_Itself(item), len(numbers))

    return [number(item) for item in before], [number(item) for item in after]


class _Itself:
    """Something that cannot be hashed, equal to itself alone."""

    __slots__ = ("item",)

    def __init__(self, item: object) -> None:
        self.item = item

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and self.item is other.item

    def __hash__(self) -> int:
        return id(self.item)


def _align_numbers(before: list[int], after: list[int]) -> list[int | None]:
    found: list[int | None] = [None] * len(after)
    # Anchors: what stands once on each side, as far as the order is the same.
    anchors = [(-1, -1), *_anchors(before, after), (len(before), len(after))]
    for left, right in pairwise(anchors):
        if right[1] < len(after):
            found[right[1]] = right[0]
        _match_gap(before, after, range(left[0] + 1, right[0]), range(left[1] + 1, right[1]), found)
    _match_moved(before, after, found)
    return found


def _anchors(before: list[int], after: list[int]) -> list[tuple[int, int]]:
    """The longest common subsequence of what is unique on both sides, as pairs of places."""
    places_before, places_after = _unique(before), _unique(after)
    pairs = [
        (place, places_after[number])
        for number, place in places_before.items()
        if number in places_after
    ]
    # Longest increasing subsequence by patience; the pairs are sorted by their first place.
    tops: list[int] = []
    top_pairs: list[int] = []
    previous: list[int] = []
    for index, (_, place) in enumerate(pairs):
        pile = bisect_left(tops, place)
        previous.append(top_pairs[pile - 1] if pile else -1)
        if pile == len(tops):
            tops.append(place)
            top_pairs.append(index)
        else:
            tops[pile] = place
            top_pairs[pile] = index
    chain: list[tuple[int, int]] = []
    index = top_pairs[-1] if top_pairs else -1
    while index >= 0:
        chain.append(pairs[index])
        index = previous[index]
    return chain[::-1]


def _unique(numbers: list[int]) -> dict[int, int]:
    """The places of the numbers that occur once, in order."""
    places: dict[int, int] = {}
    repeated: set[int] = set()
    for place, number in enumerate(numbers):
        if number in places:
            repeated.add(number)
        places[number] = place
    return {number: place for number, place in places.items() if number not in repeated}


def _match_gap(
    before: list[int],
    after: list[int],
    gap_before: range,
    gap_after: range,
    found: list[int | None],
) -> None:
    """Between two anchors: from both ends inwards while they are equal, then in order."""
    start_before, stop_before = gap_before.start, gap_before.stop
    start_after, stop_after = gap_after.start, gap_after.stop
    while (
        start_before < stop_before
        and start_after < stop_after
        and before[start_before] == after[start_after]
    ):
        found[start_after] = start_before
        start_before += 1
        start_after += 1
    while (
        start_before < stop_before
        and start_after < stop_after
        and before[stop_before - 1] == after[stop_after - 1]
    ):
        stop_before -= 1
        stop_after -= 1
        found[stop_after] = stop_before
    left = _queues(before, range(start_before, stop_before))
    last = -1
    for place in range(start_after, stop_after):
        queue = left.get(after[place])
        while queue and queue[0] < last:
            queue.popleft()
        if queue:
            last = found[place] = queue.popleft()


def _match_moved(before: list[int], after: list[int], found: list[int | None]) -> None:
    """What is left on both sides and equal moved: in the order in which it stood."""
    taken = {place for place in found if place is not None}
    left = _queues(before, (place for place in range(len(before)) if place not in taken))
    for place, number in enumerate(after):
        if found[place] is None and (queue := left.get(number)):
            found[place] = queue.popleft()


def _queues(numbers: list[int], places: Iterable[int]) -> dict[int, deque[int]]:
    queues: dict[int, deque[int]] = {}
    for place in places:
        queues.setdefault(numbers[place], deque()).append(place)
    return queues
