"""The texts that building a request puts in where a provider needs one."""

from __future__ import annotations

from dataclasses import dataclass, fields

from turntape.dict_form import DictForm
from turntape.replay.pairing import MISSING_RESULT

__all__ = ["ReplayTexts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayTexts(DictForm):
    """What is said where something has to be said. Keep them the same over a conversation.

    A request is only as stable as these: another text is another prefix, and another cache.

    Attributes:
        error_prefix: Stands before the text of a failed result where the wire cannot mark it.
        missing_result: The result that repairing makes up for a call that was never answered.
        system_open: The line before the text of a system message that may not stay where it is.
        system_close: The line after it.
        opening: What the user says first where a history starts with the model.
        closing: What the user says last where a history ends with the model.
        no_content: What a message says of which nothing is left, where it cannot be left out.
        media_lead: Stands before media that moved out of a result; ``{id}`` is the call's id as sent.
        media_moved: What is left in a result all of which moved.
        media_placeholder: What repairing puts in for a medium that cannot be sent; ``{kind}`` is what it
            is.
    """

    error_prefix: str = "Error: "
    missing_result: str = MISSING_RESULT
    system_open: str = "[system message]"
    system_close: str = "[end of system message]"
    opening: str = "(start of the conversation)"
    closing: str = "Please continue."
    no_content: str = "(no content)"
    media_lead: str = "From the result of call {id}:"
    media_moved: str = "(The content follows in the next message.)"
    media_placeholder: str = "({kind} that could not be sent)"

    def __post_init__(self) -> None:
        """Find out what no provider would take when it is made, not when it is needed.

        Raises:
            ValueError: A text that stands alone says nothing, or one holds half a surrogate pair.
        """
        for field in fields(self):
            text: str = getattr(self, field.name)
            try:
                text.encode()
            except UnicodeEncodeError:
                raise ValueError(f"{field.name} holds half a surrogate pair") from None
            if not text.strip() and field.name not in _MAY_BE_EMPTY:
                raise ValueError(f"{field.name} has to say something")


_MAY_BE_EMPTY = frozenset({"error_prefix", "system_open", "system_close"})
