"""Telling where a value of a wrong type stands that broke the building of a request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from turntape.conversation import CustomRecord, Message
from turntape.dict_form import DictForm
from turntape.errors import InvalidRequest, MessageError
from turntape.requests import ModelRequest

if TYPE_CHECKING:
    from turntape.requests import ModelRequest as Request

__all__ = ["misfit_in"]


def misfit_in(request: Request) -> InvalidRequest | None:
    """The first value of a request that is of another type than its field.

    Types are not checked while building: who keeps to them does not pay for those who do not. This is asked
    only when something broke.

    Args:
        request: The request.

    Returns:
        The error to raise, with the message and the block where it is in one; None where all types fit, so
        that what broke is no fault of the request.
    """
    for index, item in enumerate(request.messages):
        if isinstance(item, Message):
            for place, block in enumerate(item.content):
                if (why := _misfit(block)) is not None:
                    return InvalidRequest(why, index=index, block=place)
        if not isinstance(item, CustomRecord) and (why := _misfit(item)) is not None:
            return InvalidRequest(why, index=index)
    for place, tool in enumerate(request.tools):
        if (why := _misfit(tool)) is not None:
            return InvalidRequest(f"tools[{place}]: {why}")
    # What the extra holds is any value, and is checked where it is merged.
    rest: dict[str, Any] = {
        name: getattr(request, name)
        for name in ModelRequest.__slots__
        if name not in {"messages", "tools", "extra"}
    }
    why = _misfit(ModelRequest(messages=(), **rest))
    return None if why is None else InvalidRequest(why)


def _misfit(value: object) -> str | None:
    """What is wrong with the types in a value of the model's classes; None where nothing is."""
    if not isinstance(value, DictForm):
        return f"{type(value).__name__} is none of the classes that stand here"
    try:
        type(value).from_dict(value.to_dict())
    except MessageError as error:
        return str(error)
    except (AttributeError, TypeError) as error:
        return f"{type(value).__name__}: {error}"
    return None
