"""Tool arguments: exact parsing of what a model wrote."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from turntape._native import check_arguments, complete_arguments
from turntape.errors import InvalidToolArguments

if TYPE_CHECKING:
    from turntape.messages import InvalidReason, ToolUse

# Python refuses to convert longer decimal texts in one go, because its own way is quadratic.
_DIGITS_AT_ONCE = 4000


def invalid_reason(call: ToolUse) -> InvalidReason | None:
    """Say why the call's arguments cannot be used, None where they can."""
    if not call.complete:
        return "not_complete"
    fault = check_arguments(call.arguments)
    return None if fault is None else cast("InvalidReason", fault[0])


def parse_arguments(call: ToolUse) -> dict[str, Any]:
    """Parse the call's arguments; raises InvalidToolArguments where they cannot be used."""
    if not call.complete:
        message = f"the call of {call.name!r} is not complete: its arguments may be cut"
        raise InvalidToolArguments(message, reason="not_complete", arguments=call.arguments)
    fault = check_arguments(call.arguments)
    if fault is not None:
        reason, detail = fault
        message = f"the arguments of {call.name!r} cannot be used: {detail}"
        raise InvalidToolArguments(
            message, reason=cast("InvalidReason", reason), arguments=call.arguments
        )
    if not call.arguments.strip(" \t\n\r"):
        return {}
    return cast("dict[str, Any]", _load(call.arguments))


def partial_arguments(text: str) -> Any:
    """Parse what can be shown of an unfinished argument text."""
    return _load(complete_arguments(text))


def _load(text: str) -> Any:
    return json.loads(text, parse_int=exact_int)


def exact_int(text: str) -> int:
    """Convert decimal text of any length, halving it where Python would refuse."""
    if len(text) <= _DIGITS_AT_ONCE:
        return int(text)
    if text.startswith("-"):
        return -exact_int(text[1:])
    half = len(text) // 2
    power: int = 10**half
    return exact_int(text[:-half]) * power + exact_int(text[-half:])
