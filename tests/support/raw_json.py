"""Takes JSON text apart without reading what it holds: members and entries as the text they stand in."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["entries", "members"]

_SPACE = " \t\n\r"
_SCAN = json.JSONDecoder(parse_int=str, parse_float=str).raw_decode


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def _values(text: str, at: int) -> Iterator[tuple[int, int]]:
    """Give where the values of a list or object start and end, names and colons of members included."""
    closing = {"[": "]", "{": "}"}[text[at]]
    at = _skip(text, at + 1)
    while text[at] != closing:
        start = at
        _, at = _SCAN(text, at)
        at = _skip(text, at)
        if text[at] == ":":
            _, at = _SCAN(text, _skip(text, at + 1))
        yield start, at
        at = _skip(text, at)
        if text[at] == ",":
            at = _skip(text, at + 1)


def members(text: str) -> dict[str, str]:
    """Give an object's members, each with the text of its value.

    >>> members('{"a": [1, 2], "b":{}}')
    {'a': '[1, 2]', 'b': '{}'}
    """
    found: dict[str, str] = {}
    for start, end in _values(text, _skip(text, 0)):
        name, at = _SCAN(text, start)
        found[name] = text[_skip(text, _skip(text, at) + 1) : end].rstrip(_SPACE)
    return found


def entries(text: str) -> list[str]:
    """Give a list's entries, each as its text.

    >>> entries('[1.10, {"a" : []}]')
    ['1.10', '{"a" : []}']
    """
    return [text[start:end].rstrip(_SPACE) for start, end in _values(text, _skip(text, 0))]
