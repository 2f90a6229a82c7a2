"""Codecs: histories from rows and rows from histories, so that what did not change stays as it is.

>>> from turntape import Message, Text, Thinking
>>> codec = LosslessCodec()
>>> turn = Message("assistant", (Thinking("Hm.", signature="c2ln"), Text("Seven.")))
>>> rows = codec.reconcile([], [], [Message.user("How many?"), turn])
>>> rows[1].content, rows[1].extra_metadata["reasoning_content"]
('Seven.', 'Hm.')
>>> history = codec.decode_history(rows)
>>> history[1] == turn
True
>>> edited = codec.reconcile(rows, history, [Message.user("How many now?"), turn])
>>> edited[1] is rows[1]
True
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

from turntape.conversation import Message
from turntape.transcript.alignment import align
from turntape.transcript.stored import joined, place_of, read_row, rows_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from turntape.conversation import HistoryItem
    from turntape.transcript.rows import TranscriptMessage
    from turntape.transcript.stored import Place

__all__ = ["LosslessCodec", "Span", "TranscriptCodec", "spans_of"]


class TranscriptCodec(Protocol):
    """What turns rows into the items of a history and back, without touching what did not change."""

    def decode_history(
        self, rows: Sequence[TranscriptMessage], /, *, include_interrupted: bool = False
    ) -> list[HistoryItem]:
        """The items of a history that rows hold.

        Args:
            rows: The rows in their order.
            include_interrupted: Whether rows of turns that were cut become items as well.
        """
        ...

    def reconcile(
        self,
        prior_rows: Sequence[TranscriptMessage],
        prior_items: Sequence[HistoryItem],
        next_items: Sequence[HistoryItem],
        /,
    ) -> list[TranscriptMessage]:
        """The rows of a history that was changed.

        Args:
            prior_rows: The rows as they were.
            prior_items: The items that they were decoded to.
            next_items: The items as they are now.

        Returns:
            The rows, of an unchanged item its very rows.
        """
        ...


@dataclass(slots=True)
class Span:
    """An item, and the rows that are its own: those that say it, and those passed over before the next."""

    item: Message
    start: int
    stop: int
    """The end of the rows that say it."""
    end: int = 0
    """The end of all its rows."""


class LosslessCodec:
    """The codec that loses nothing but the bytes of sound, film and documents.

    Where the fields of a row do not say all of a message, such as its signatures, the order of its blocks,
    or that several rows are one message, the row carries the rest in ``extra_metadata["turntape"]``. It
    counts only as long as the fields say what it says: once a row was edited, its fields alone speak.

    It holds nothing and can be shared.
    """

    __slots__ = ()

    def decode_history(
        self, rows: Sequence[TranscriptMessage], /, *, include_interrupted: bool = False
    ) -> list[HistoryItem]:
        """The messages that rows hold; see ``TranscriptCodec.decode_history``.

        Rows are not checked to pair up: ``validate_native`` does.
        """
        return [span.item for span in spans_of(rows, include_interrupted=include_interrupted)]

    def reconcile(
        self,
        prior_rows: Sequence[TranscriptMessage],
        prior_items: Sequence[HistoryItem],
        next_items: Sequence[HistoryItem],
        /,
    ) -> list[TranscriptMessage]:
        """The rows of a history that was changed; see ``TranscriptCodec.reconcile``.

        A message that is equal to one of ``prior_items`` keeps that one's rows, wherever it stands now.
        Among equal ones the neighbours decide. Any other message gets new rows. Rows of turns that were
        cut, which no item stands for, stay behind the item before them, and go with it. Records of the
        host's own have no rows.

        Args:
            prior_rows: The rows as they were.
            prior_items: What ``decode_history`` made of them, records added or not. Where it is not, in
                number, the rows themselves are decoded.
            next_items: The items as they are now.

        Returns:
            The rows; decoded, they are the messages of ``next_items``, without bytes of sound, film and
            documents.
        """
        before = [item for item in prior_items if isinstance(item, Message)]
        after = [item for item in next_items if isinstance(item, Message)]
        with_cut = False
        spans = spans_of(prior_rows, include_interrupted=with_cut)
        if len(spans) != len(before):
            everything = spans_of(prior_rows, include_interrupted=True)
            if len(everything) == len(before):
                spans, with_cut = everything, True
            else:
                before = [span.item for span in spans]
        rows = list(prior_rows[: spans[0].start] if spans else prior_rows)
        loose: list[tuple[int, Message]] = []
        for message, (kept, behind) in zip(after, _sources(before, after), strict=True):
            if kept is None:
                rows.extend(rows_of(message))
            else:
                span = spans[kept]
                if span.stop - span.start == 1 and place_of(prior_rows[span.start]) is not None:
                    loose.append((len(rows), message))
                rows.extend(prior_rows[span.start : span.stop])
            if behind is not None:
                rows.extend(prior_rows[spans[behind].stop : spans[behind].end])
        if loose and len(spans_of(rows, include_interrupted=with_cut)) != len(after):
            # Rows of a message that fell apart stand together again, and would be one message. That the
            # history says what it is to say goes before keeping them.
            for place, message in reversed(loose):
                rows[place : place + 1] = rows_of(message)
        return rows


def spans_of(rows: Sequence[TranscriptMessage], *, include_interrupted: bool) -> list[Span]:
    """The items that rows hold, each with its rows."""
    spans: list[Span] = []
    seen = (
        list(range(len(rows)))
        if include_interrupted
        else [index for index, row in enumerate(rows) if not row.interrupted]
    )
    at = 0
    while at < len(seen):
        index = seen[at]
        place = place_of(rows[index])
        message = _joined(rows, seen, at) if place is not None and place.row == 0 else None
        if message is None or place is None:
            spans.append(Span(read_row(rows[index]), index, index + 1))
            at += 1
        else:
            at += place.rows
            spans.append(Span(message, index, seen[at - 1] + 1))
    for span, following in pairwise(spans):
        span.end = following.start
    if spans:
        spans[-1].end = len(rows)
    return spans


def _joined(rows: Sequence[TranscriptMessage], seen: Sequence[int], at: int) -> Message | None:
    """The one message of several rows, None where they are not, or no longer, the rows of one."""
    places: list[Place] = []
    while not places or len(places) < places[0].rows:
        number = len(places)
        place = place_of(rows[seen[at + number]]) if at + number < len(seen) else None
        if place is None or place.row != number or (places and place.rows != places[0].rows):
            return None
        places.append(place)
    members = (rows[seen[at + number]] for number in range(len(places)))
    return joined([read_row(row) for row in members], places)


def _sources(
    before: Sequence[Message], after: Sequence[Message]
) -> Iterator[tuple[int | None, int | None]]:
    """For each message, whose rows it keeps, and behind whose place it stands.

    A message that is new where an old one was, so that it is that one edited, stands in its place.
    """
    found = align(before, after)
    taken = {place for place in found if place is not None}
    last = -1
    for kept in found:
        behind = kept
        if kept is None and last + 1 < len(before) and last + 1 not in taken:
            behind = last + 1
        if behind is not None:
            last = behind
        yield kept, behind
