"""JSON text as Python values, exactly: integers of any size, and no number that is none."""

from __future__ import annotations

import json
import math
from typing import Any

from turntape.wire.arguments import exact_int

__all__ = ["load_json"]


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
