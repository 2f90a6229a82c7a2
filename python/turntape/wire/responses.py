"""Turns as the bodies of responses that are not streamed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from turntape._native import encode_response
from turntape.turns import turn_events

if TYPE_CHECKING:
    from turntape.messages import AssistantMessage
    from turntape.notes import ReplayNote
    from turntape.wire.dialect import Dialect

__all__ = ["format_response"]


def format_response(
    message: AssistantMessage,
    dialect: Dialect | str,
    *,
    source: Dialect | str | None = None,
    created: int = 0,
    reasoning_field: str = "reasoning_content",
    response_id: str | None = None,
    model: str | None = None,
    notes: list[ReplayNote] | None = None,
) -> bytes:
    """Write a turn as the body of a response that is not streamed.

    ``parse_response`` reads the same turn back, but for what the dialect has no way to say.

    Args:
        message: The turn.
        dialect: Whose response it is to be.
        source: The dialect that the turn came from; None for the one that the message names. What only
            that one can carry, such as signatures, is left out elsewhere.
        created: When the response was created, in seconds since 1970, for dialects that tell.
        reasoning_field: The member that holds the reasoning on Chat Completions, unless the message names
            one.
        response_id: The response's id where the message has none; None for one that is made up from the model and
            ``created``.
        model: The model where the message names none.
        notes: A list that gets a note on all that could not be said as it was.

    Returns:
        One JSON object, as UTF-8.

    Raises:
        EncodeError: The turn is not complete, so that no response tells of it, or raw JSON in it is none.
        UnicodeEncodeError: A text in the turn holds a lone surrogate.
        UnsayableDialect: The dialect is one that is read but not written.
        ValueError: The dialect or the source is no dialect, or the turn's stop reason is none.

    >>> from turntape import AssistantMessage, Text
    >>> message = AssistantMessage("r1", "m", (Text("Hi"),), "end_turn", complete=True)
    >>> format_response(message, "anthropic")[:59]
    b'{"id":"r1","type":"message","role":"assistant","model":"m",'
    """
    return encode_response(
        turn_events(message),
        dialect,
        source=message.dialect if source is None else source,
        created=created,
        reasoning_field=reasoning_field,
        response_id=response_id,
        model=model,
        notes=notes,
    )
