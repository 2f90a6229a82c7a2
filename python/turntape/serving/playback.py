"""How a turn is played: at what pace, in what pieces, and where it breaks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["AS_FAST_AS_POSSIBLE", "CutAt", "Ending", "Playback", "scheduled"]

Ending: TypeAlias = Literal["lost", "clean"]
"""How the answer of a turn that was cut ends: as a lost connection, which HTTP can tell from an end, or as
an answer that ends too early."""

FIRST_PAUSE = 0.4
"""How many seconds pass before the first event of a stream, at the tempo 1."""

PAUSE = 0.02
"""How many seconds pass before each of the others."""

_CUT = re.compile(r"([0-9]{1,15})(b?)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CutAt:
    """Where a stream is cut.

    Attributes:
        count: After how many events or bytes.
        unit: Which of the two.
    """

    count: int
    unit: Literal["events", "bytes"] = "events"

    @classmethod
    def parse(cls, text: str | int) -> CutAt:
        """Read it as the command line has it: ``12`` for events, ``500b`` for bytes.

        Raises:
            ValueError: It is neither.

        >>> CutAt.parse("500b")
        CutAt(count=500, unit='bytes')
        """
        match = _CUT.fullmatch(str(text))
        if match is None:
            raise ValueError(
                f"{text!r} is no place to cut: 12 is after 12 events, 500b after 500 bytes"
            )
        return cls(int(match[1]), "bytes" if match[2] else "events")


@dataclass(frozen=True, slots=True)
class Playback:
    """How a turn is played.

    Attributes:
        tempo: How fast: 1 is a pace that is typical of providers, 2 twice as fast, 0 without any pause.
        chunk: How many bytes are sent at a time; None sends an event at a time, or with ``tempo=0`` as
            many as there are.
        cut_at: Where the answer breaks off; None where it does not. A turn with fewer events or bytes is
            not cut.
        error_at: After how many events the provider reports an error instead of going on; 0 answers with
            an HTTP error. A turn with no more events than that has none.
        error_status: The HTTP status of that error.
        error_message: Its words.
        ending: How an answer ends that breaks off, also one of a recording that does.
    """

    tempo: float = 0.0
    chunk: int | None = None
    cut_at: CutAt | None = None
    error_at: int | None = None
    error_status: int = 529
    error_message: str = "Overloaded"
    ending: Ending = "lost"

    def __post_init__(self) -> None:
        """Refuse what cannot be played.

        Raises:
            ValueError: An attribute has a value that cannot be.
        """
        if not 0 <= self.tempo < float("inf"):
            raise ValueError("the tempo is a number of at least 0")
        if self.chunk is not None and self.chunk < 1:
            raise ValueError("a chunk has at least 1 byte")
        if self.error_at is not None and self.error_at < 0:
            raise ValueError("an error comes after 0 or more events")
        if not 400 <= self.error_status <= 599:  # noqa: PLR2004 (the statuses that are errors)
            raise ValueError("the status of an error is 400 to 599")


AS_FAST_AS_POSSIBLE = Playback()
"""Whole and without a pause."""


def scheduled(pieces: Sequence[bytes], playback: Playback) -> Iterator[tuple[float, bytes]]:
    """What is sent, each piece with the seconds that pass before it.

    Args:
        pieces: The events, as the bytes that say them.
        playback: How they are played.

    >>> [*scheduled([b"ab", b"cde"], Playback(tempo=1, chunk=3))]
    [(0.42000000000000004, b'abc'), (0.0, b'de')]
    """
    if not playback.tempo:
        body = b"".join(pieces)
        size = playback.chunk or len(body) or 1
        for start in range(0, len(body), size):
            yield 0.0, body[start : start + size]
        return
    paused = _paused(pieces, playback.tempo)
    if playback.chunk is None:
        yield from paused
        return
    # A chunk is sent once the last event that it has bytes of is there.
    waiting, pause = bytearray(), 0.0
    for before, piece in paused:
        pause += before
        waiting += piece
        while len(waiting) >= playback.chunk:
            yield pause, bytes(waiting[: playback.chunk])
            del waiting[: playback.chunk]
            pause = 0.0
    if waiting:
        yield pause, bytes(waiting)


def _paused(pieces: Sequence[bytes], tempo: float) -> Iterator[tuple[float, bytes]]:
    pause = FIRST_PAUSE
    for piece in pieces:
        yield pause / tempo, piece
        pause = PAUSE
