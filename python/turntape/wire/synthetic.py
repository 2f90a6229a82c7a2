"""Ids of calls that came without one."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["is_synthetic_id", "synthetic_id"]

_PLACE: Final = re.compile(r"_\d+")


def synthetic_id(name: str, place: int) -> str:
    """The id of a call that the wire gave none, as a decoded turn without a response id has it.

    Args:
        name: The tool's name.
        place: The call's place among the blocks of its message.

    >>> synthetic_id("now", 0)
    'call_215ad519258e9d97_0'
    """
    return f"call_{_hashed(name)}_{place}"


def is_synthetic_id(call_id: str, name: str, response_id: str | None) -> bool:
    """Whether the id of a call was made up by decoding, because the wire gave none.

    Args:
        call_id: The id.
        name: The tool's name.
        response_id: The id of the response, from which the id was made; None where it had none.

    >>> is_synthetic_id("call_r1_0", "now", "r1"), is_synthetic_id("call_215ad519258e9d97_0", "now", None)
    (True, True)
    """
    if not call_id.startswith("call_"):
        return False
    seeds = (response_id, _hashed(name)) if response_id else (_hashed(name),)
    for seed in seeds:
        start = f"call_{seed}"
        if call_id.startswith(start) and _PLACE.fullmatch(call_id, len(start)):
            return True
    return False


def _hashed(name: str) -> str:
    """FNV-1a of 64 bits."""
    digest = 0xCBF29CE484222325
    for byte in name.encode("utf-8", "replace"):
        digest = ((digest ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return f"{digest:016x}"
