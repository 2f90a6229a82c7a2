"""Members of a line that this version does not know: kept as they were read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["NO_MEMBERS", "UnknownMembers", "member_texts"]

_DECODER = json.JSONDecoder()
_SPACE = " \t\r\n"


class UnknownMembers(Mapping[str, Any]):
    """A mapping that keeps the text of each value, so that a number is never printed anew.

    Args:
        texts: The JSON text of each member, in the order read.

    >>> members = UnknownMembers({"zeta": "[1, 2.50]"})
    >>> members["zeta"], members.texts["zeta"]
    ([1, 2.5], '[1, 2.50]')
    """

    __slots__ = ("texts",)

    def __init__(self, texts: dict[str, str]) -> None:
        """Keep the texts."""
        self.texts = texts

    def __getitem__(self, name: str) -> Any:
        """Parse the value; each time anew, so that what is changed in it changes nothing here."""
        return _DECODER.decode(self.texts[name])

    def __iter__(self) -> Iterator[str]:
        """Give the names in the order read."""
        return iter(self.texts)

    def __len__(self) -> int:
        """Count the members."""
        return len(self.texts)

    def __repr__(self) -> str:
        """Show the values as a dict does."""
        return repr(dict(self))


NO_MEMBERS = UnknownMembers({})
"""None at all, for all rows that have none: nothing can be put into it."""


def member_texts(text: str) -> dict[str, str]:
    """Cut an object that is known to be JSON into the texts of its members; of a name twice, the last.

    >>> member_texts('{"a": 1.50, "b" : [ ]}')
    {'a': '1.50', 'b': '[ ]'}
    """
    texts: dict[str, str] = {}
    place = _after_space(text, text.index("{") + 1)
    while text[place] != "}":
        name, place = _DECODER.raw_decode(text, place)
        start = _after_space(text, _after_space(text, place) + 1)
        _, end = _DECODER.raw_decode(text, start)
        texts[name] = text[start:end]
        place = _after_space(text, end)
        if text[place] == ",":
            place = _after_space(text, place + 1)
    return texts


def _after_space(text: str, place: int) -> int:
    while text[place] in _SPACE:
        place += 1
    return place
