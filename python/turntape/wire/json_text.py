"""JSON text as Python values, exactly: integers of any size, and no number that is none."""

from __future__ import annotations

import json
import math
from typing import Any

__all__ = ["exact_int", "load_json"]

# Python refuses to convert longer decimal texts in one go, because its own way is quadratic.
_DIGITS_AT_ONCE = 4000


def load_json(text: str) -> Any:
    """Parse a JSON text that was checked before.

    Raises:
        ValueError: A number is beyond what a float can hold.
    """
    return json.loads(text, parse_int=exact_int, parse_float=_finite_float)


def _finite_float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"the number {text[:40]} is beyond what a float can hold")
    return number


def exact_int(text: str) -> int:
    """Convert decimal text of any length, halving it where Python would refuse."""
    if len(text) <= _DIGITS_AT_ONCE:
        return int(text)
    if text.startswith("-"):
        return -exact_int(text[1:])
    half = len(text) // 2
    power: int = 10**half
    return exact_int(text[:-half]) * power + exact_int(text[-half:])
