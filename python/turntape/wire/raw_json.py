r"""JSON out: values and ready-made JSON text in one body, byte for byte.

What a model wrote goes back as it stands, its spaces, its order and its spelling of numbers included:

>>> write_json({"name": "dim", "input": RawJson('{"n" : 1.0}')})
(b'{"name":"dim","input":{"n" : 1.0}}', 0)
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from turntape._native import write_json
from turntape.wire.arguments import exact_int

__all__ = ["RawItems", "RawJson", "decimal_text", "plain", "write_json"]


# Not frozen: a request holds one for each of its calls, and a frozen one takes thrice as long to make.
@dataclass(slots=True, unsafe_hash=True)
class RawJson:
    """JSON text that stands in a body as it is. Nobody changes one.

    Attributes:
        text: One JSON value. Whoever makes this has checked that it is one: nobody looks again.
    """

    text: str


@dataclass(slots=True, unsafe_hash=True)
class RawItems:
    """JSON text of several elements of the list that it stands in. Nobody changes one.

    Attributes:
        data: The elements in UTF-8, with commas between them; at least one, as of :class:`RawJson`.
    """

    data: bytes


def plain(value: Any) -> Any:
    r"""The same as Python values: what the JSON of :func:`write_json` says.

    Args:
        value: As for :func:`write_json`.

    Returns:
        New dicts and lists, every :class:`RawJson` parsed, integers of any size exact, lone surrogates
        replaced by U+FFFD.

    >>> plain({"input": RawJson('{"n" : 18446744073709551617}'), "stop": ("a", "\ud800")})
    {'input': {'n': 18446744073709551617}, 'stop': ['a', '�']}
    """
    if isinstance(value, str):
        return _whole(value)
    if isinstance(value, RawJson):
        return json.loads(_whole(value.text), parse_int=exact_int)
    # Stays of any type, where a check would make it a container of unknown ones.
    held: Any = value
    # Loops, not comprehensions: each of those would be one frame more for every container in another.
    if isinstance(value, Mapping):
        members: dict[str, Any] = {}
        for name, item in held.items():
            members[_whole(name)] = plain(item)
        return members
    if isinstance(value, list | tuple):
        items: list[Any] = []
        for item in held:
            if isinstance(item, RawItems):
                items += json.loads(b"[%b]" % item.data, parse_int=exact_int)
            else:
                items.append(plain(item))
        return items
    return value


def _whole(text: str) -> str:
    """The text without lone surrogates; two halves that belong together become their character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    # A plain string, also where it was an enumeration's member.
    return str.__str__(text)


# Python refuses to convert longer integers in one go, because its own way is quadratic.
_DIGITS_AT_ONCE = 4000


def decimal_text(value: int) -> str:
    """The decimal text of an integer of any size, halving it where Python would refuse."""
    if value < 0:
        return "-" + decimal_text(-value)
    # About a third of a digit to the bit, rounded up.
    digits = value.bit_length() * 1234 // 4096 + 1
    if digits <= _DIGITS_AT_ONCE:
        return int.__repr__(value)
    half = digits // 2
    upper, lower = divmod(value, 10**half)
    return decimal_text(upper) + decimal_text(lower).rjust(half, "0")
