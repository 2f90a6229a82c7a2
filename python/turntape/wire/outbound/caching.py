"""Which messages get a cache mark."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from turntape.replay.pairing import History
    from turntape.requests import CachePolicy
    from turntape.wire.outbound.notes import Notes

__all__ = ["AUTOMATIC_MARKS", "Marks", "before_marks", "plan_marks", "refuse_marks"]

AUTOMATIC_MARKS: Final = 2
"""How many messages of the user's are marked where nobody says which: the last ones."""


class Marks:
    """Where cache marks stand.

    Attributes:
        tools: Whether behind the tools.
        system: Whether behind the system text.
        messages: Behind which messages, by their place in the history.
        ttl: How long the cache is asked to keep; None where the wire's own default is meant.
    """

    __slots__ = ("messages", "system", "tools", "ttl")

    def __init__(
        self, *, tools: bool, system: bool, messages: tuple[int, ...], ttl: str | None
    ) -> None:
        self.tools = tools
        self.system = system
        self.messages = messages
        self.ttl = ttl


def plan_marks(
    policy: CachePolicy,
    *,
    has_tools: bool,
    has_system: bool,
    user_places: Sequence[int],
    markable: frozenset[int],
    limit: int,
    ttls: tuple[str, ...],
    notes: Notes,
) -> Marks:
    """Decide where the marks of a request stand.

    Args:
        policy: What is asked for.
        has_tools: Whether the request has tools.
        has_system: Whether it has a system text.
        user_places: Of each message of the user's as sent, the last place in the history.
        markable: The places that have a block that may carry a mark.
        limit: How many marks a request may hold.
        ttls: What the model may be asked to keep.
        notes: Gets what was left out.
    """
    tools = has_tools and (policy.tools or policy.automatic)
    system = has_system and (policy.system or (policy.automatic and not has_tools))
    wanted = set(policy.messages)
    for place in sorted(wanted - markable):
        notes.add("cache_control_dropped", place, "nothing in this message may carry a cache mark")
    wanted &= markable
    if policy.automatic:
        wanted.update([place for place in user_places if place in markable][-AUTOMATIC_MARKS:])
    for given, name in ((policy.tools, "tools"), (policy.system, "system")):
        if given and not (has_tools if name == "tools" else has_system):
            notes.add("cache_control_dropped", None, f"there is no {name} to mark")
    places = sorted(wanted)
    room = max(0, limit - tools - system)
    while len(places) > room:
        dropped = places.pop((len(places) - 1) // 2)
        notes.add("cache_control_dropped", dropped, f"at most {limit} cache marks are taken")
    if tools + system > limit:
        tools = system = False
        notes.add("cache_control_dropped", None, f"at most {limit} cache marks are taken")
    ttl = policy.ttl if policy.ttl != "5m" else None
    if ttl is not None and ttl not in ttls:
        notes.add("cache_control_dropped", None, f"the model's cache cannot be kept for {ttl}")
        ttl = None
    return Marks(tools=tools, system=system, messages=tuple(places), ttl=ttl)


def before_marks(policy: CachePolicy, history: History) -> int:
    """How many messages at the beginning of a history need no place for a mark.

    Args:
        policy: What is asked for.
        history: The history.

    Returns:
        Their number; where marks are automatic, one that is a guess, if a good one.
    """
    messages = history.messages
    stop = len(messages)
    if policy.messages:
        stop = bisect_left(history.places, min(policy.messages))
    if policy.automatic:
        at, wanted = len(messages), AUTOMATIC_MARKS
        while at and wanted:
            at -= 1
            begins = messages[at].role == "user" and (not at or messages[at - 1].role != "user")
            wanted -= begins and any(
                block.type != "provider_block" for block in messages[at].content
            )
        stop = min(stop, at)
    return stop


def refuse_marks(policy: CachePolicy, notes: Notes) -> None:
    """Say that the wire has no cache marks; what was asked for automatically needs no word."""
    if policy.system or policy.tools or policy.messages:
        notes.add("cache_control_dropped", None, "this wire has no cache marks")
