"""JSON out: values and ready-made JSON text in one body, byte for byte."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

__all__ = ["RawJson", "plain", "write_json"]


@dataclass(frozen=True, slots=True)
class RawJson:
    """JSON text that stands in a body as it is.

    Attributes:
        text: One JSON value. Whoever makes this has checked that it is one.
    """

    text: str


def write_json(value: Any) -> tuple[bytes, int]:
    """Write a value as compact UTF-8 JSON.

    Args:
        value: What JSON can hold, and :class:`RawJson` anywhere in it. Members keep their order.

    Returns:
        The JSON, and how many lone surrogates were replaced by U+FFFD.

    Raises:
        ValueError: Something in it has no JSON text; the message has the path to it.
    """
    raise NotImplementedError


def plain(value: Any) -> Any:
    """The same value with every :class:`RawJson` parsed."""
    if isinstance(value, RawJson):
        return json.loads(value.text)
    if isinstance(value, Mapping):
        members = cast("Mapping[str, Any]", value)
        return {name: plain(item) for name, item in members.items()}
    if isinstance(value, list | tuple):
        items = cast("list[Any] | tuple[Any, ...]", value)
        return [plain(item) for item in items]
    return value
