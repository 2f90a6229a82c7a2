"""Raw JSON that goes out as it stands: checked, and with its lone surrogates replaced."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from turntape._native import check_arguments
from turntape.errors import InvalidRequest
from turntape.wire.outbound.surrogates import mended_json
from turntape.wire.raw_json import RawJson

if TYPE_CHECKING:
    from turntape.wire.outbound.notes import Notes

__all__ = ["EMPTY_OBJECT", "extra_members", "members_of", "raw_object"]

EMPTY_OBJECT = RawJson("{}")
"""What goes out where there are no arguments."""


def raw_object(text: str, what: str, index: int | None, notes: Notes) -> RawJson:
    """A JSON object as it stands.

    Args:
        text: The object.
        what: What it is, in words, for errors and notes.
        index: The message that it stands in.
        notes: Gets whether a lone surrogate was replaced.

    Raises:
        InvalidRequest: It is no JSON object.
    """
    mended = mended_json(text)
    if mended is not None:
        notes.add("surrogate_replaced", index, f"half a surrogate pair in {what}")
        text = mended
    fault = check_arguments(text)
    if fault is not None or not text.strip():
        if fault is not None and fault[0] == "too_deep" and members_of(text):
            return RawJson(text)
        raise InvalidRequest(f"{what} is no JSON object")
    return RawJson(text)


def extra_members(text: str, what: str, index: int | None, notes: Notes) -> dict[str, Any]:
    """The members of an ``extra``.

    Args:
        text: The object.
        what: Whose it is, in words.
        index: The message that it stands in.
        notes: Gets whether a lone surrogate was replaced.

    Raises:
        InvalidRequest: It is no JSON object.
    """
    members = json.loads(raw_object(text, f"the extra of {what}", index, notes).text)
    return cast("dict[str, Any]", members)


def members_of(text: str) -> dict[str, Any]:
    """The members of a JSON object; none where it is no such text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
