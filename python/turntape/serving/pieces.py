"""Whole texts as the pieces that a stream would bring them in."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from turntape.events import InputJsonDelta, TextDelta, ThinkingDelta

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from turntape.events import StreamEvent

__all__ = ["in_pieces"]

# About what a token is: a word with the space before it, and of a long one a part.
_TOKEN = re.compile(r"\s{0,16}\S{1,12}|\s{1,16}")


def in_pieces(events: Iterable[StreamEvent]) -> Iterator[StreamEvent]:
    """Cut the texts of a turn that was never streamed, always in the same places.

    >>> [event.text for event in in_pieces([TextDelta(0, "It rains in Skerrow.")])]
    ['It', ' rains', ' in', ' Skerrow.']
    """
    for event in events:
        if isinstance(event, TextDelta | ThinkingDelta) and event.text:
            for token in _TOKEN.findall(event.text):
                yield replace(event, text=token)
        elif isinstance(event, InputJsonDelta):
            for token in _TOKEN.findall(event.partial_json):
                yield replace(event, partial_json=token)
        else:
            yield event
