r"""Decoded streams as columns.

>>> from turntape import decode_to_arrow
>>> body = b'data: {"choices":[{"delta":{"content":"Hi."}}]}\n\ndata: [DONE]\n\n'
>>> tables = decode_to_arrow([body], "openai-chat")
>>> len(tables.events), len(tables.messages)
(4, 1)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from turntape._native import ArrowTable

__all__ = ["DecodedTables"]


@dataclass(frozen=True, slots=True)
class DecodedTables:
    """The events and the messages of many streams, a table each; made by ``decode_to_arrow``.

    Both have a column ``body``, which counts the bodies from 0: ``events`` in as many rows as a body has
    events, ``messages`` in one.

    Attributes:
        events: A row an event, in order, whatever became of the stream.
        messages: A row a body: its message, whole or up to the failure that its column ``error`` tells.
    """

    events: ArrowTable
    messages: ArrowTable
