"""A request's conversation in one form, whatever wire it is written for, and the rules that all wires have.

Each dialect's reader lays the body out as turns; what holds for all of them is checked here: who speaks
first and last, that roles take turns, that calls are answered at once, once and by nothing else.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Item", "Turn", "pairing_faults", "turn_faults"]

Kind = Literal["text", "thinking", "call", "result", "media", "cache", "other"]


@dataclass(frozen=True)
class Item:
    """One thing that is said.

    Attributes:
        kind: What it is.
        path: Where it stands in the body.
        id: Of a call or a result, which call it is.
        name: Of a call or a result, the tool's name, where the wire says it.
        text: What it says.
    """

    kind: Kind
    path: str
    id: str = ""
    name: str = ""
    text: str = ""


@dataclass(frozen=True)
class Turn:
    """What one side says at a time.

    Attributes:
        role: ``system``, ``user``, ``assistant``, or ``tool`` where a wire has results apart.
        path: Where it stands in the body.
        items: What is said.
    """

    role: str
    path: str
    items: list[Item] = field(default_factory=list[Item])

    def of_kind(self, kind: Kind) -> list[Item]:
        """Give the items of a kind."""
        return [item for item in self.items if item.kind == kind]


_MAY_SAY: dict[str, set[Kind]] = {
    "system": {"text", "cache"},
    "user": {"text", "result", "media", "cache", "other"},
    "assistant": {"text", "thinking", "call", "cache", "other"},
    "tool": {"result"},
}


def turn_faults(
    turns: Sequence[Turn], *, alternating: bool, blank_text: bool, prefill: bool
) -> Iterator[str]:
    """Tell what is wrong with who says what.

    Args:
        turns: The conversation.
        alternating: Whether user and assistant have to take turns.
        blank_text: Whether a text may be white space alone.
        prefill: Whether the assistant may speak last.
    """
    spoken = [turn for turn in turns if turn.role != "system"]
    if not spoken:
        # On OpenAI's wires a system message is a conversation.
        if alternating or not turns:
            yield "$: nothing is said"
        return
    if spoken[-1].role == "assistant" and not prefill:
        yield f"{spoken[-1].path}: the assistant speaks last"
    if alternating and spoken[0].role != "user":
        yield f"{spoken[0].path}: the {spoken[0].role} speaks first"
    for before, turn in pairwise(turns if alternating else ()):
        if before.role == turn.role:
            yield f"{turn.path}: the {turn.role} speaks twice"
    for turn in turns:
        yield from _content_faults(turn, blank_text=blank_text)


def _content_faults(turn: Turn, *, blank_text: bool) -> Iterator[str]:
    if not any(item.kind != "cache" for item in turn.items):
        yield f"{turn.path}: nothing is said"
    for item in turn.items:
        if item.kind not in _MAY_SAY[turn.role]:
            yield f"{item.path}: {item.kind} is not for the {turn.role}"
        if item.kind == "text" and not (item.text if blank_text else item.text.strip()):
            yield f"{item.path}: the text is blank"


def pairing_faults(turns: Sequence[Turn], *, in_order: bool = False) -> Iterator[str]:
    """Tell which calls and results do not belong together.

    Args:
        turns: The conversation.
        in_order: Whether the results have to come in the order of the calls.
    """
    ids = Counter(item.id for turn in turns for item in turn.of_kind("call"))
    yield from (f"$: the id {id_!r} is of {times} calls" for id_, times in ids.items() if times > 1)
    waiting: list[Item] = []
    for turn in turns:
        results = turn.of_kind("result")
        if waiting or results:
            yield from _round_faults(turn, waiting, results, in_order=in_order)
        waiting = turn.of_kind("call")
    yield from (f"{call.path}: the call {call.id!r} has no result" for call in waiting)


def _round_faults(
    turn: Turn, calls: list[Item], results: list[Item], *, in_order: bool
) -> Iterator[str]:
    asked = [call.id for call in calls]
    answered = [result.id for result in results]
    for call in calls:
        if call.id not in answered:
            yield f"{call.path}: the call {call.id!r} has no result right after it"
    for result in results:
        if result.id not in asked:
            yield f"{result.path}: the result {result.id!r} has no call right before it"
        elif answered.count(result.id) > 1:
            yield f"{result.path}: the call {result.id!r} has several results"
    if in_order and sorted(asked) == sorted(answered) and asked != answered:
        yield f"{turn.path}: the results are not in the order of the calls"
    said = [item for item in turn.items if item.kind != "cache"]
    if any(item.kind != "result" for item in said[: len(results)]):
        yield f"{turn.path}: the results are not first"
