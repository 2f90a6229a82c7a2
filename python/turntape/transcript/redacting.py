"""Redacting a row, field by field, before it is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard

from turntape.replay.markers import TextPart
from turntape.transcript.lifting import normalized
from turntape.transcript.rows import ToolFailure, legacy_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from turntape.transcript.rows import TranscriptMessage

__all__ = ["RedactedText", "TextRedactor", "redacted_row"]

# What providers want back byte for byte, and what ties rows together.
_NEVER = frozenset(
    {
        "call_id", "data", "encrypted_content", "id", "item_id", "name", "request_id", "role",
        "signature", "thoughtSignature", "thought_signature", "tool_call_id", "tool_use_id", "type",
    }
)  # fmt: skip


class RedactedText(Protocol):
    """What a redactor gives back."""

    @property
    def text(self) -> str:
        """The text to go on with."""
        ...


class TextRedactor(Protocol):
    """Takes secrets out of a text."""

    def redact(self, text: str, /) -> RedactedText:
        """Give the text without its secrets; raising refuses the write."""
        ...


def redacted_row(row: TranscriptMessage, redactor: TextRedactor) -> TranscriptMessage:
    """Take secrets out of a row.

    Returns:
        The very row where nothing in it changes, so that it keeps what it was read from; else a new one.

    Raises:
        Exception: Whatever the redactor raises.
    """

    def scrub(text: str) -> str:
        return redactor.redact(text).text if text else text

    lifted = normalized(row)
    legacy = legacy_memory(lifted)
    edited = replace(
        lifted,
        content=scrub(lifted.content),
        tool_calls=tuple(
            replace(call, arguments=arguments)
            if (arguments := scrub(call.arguments)) != call.arguments
            else call
            for call in lifted.tool_calls
        ),
        parts=None
        if lifted.parts is None
        else tuple(
            replace(part, text=scrub(part.text)) if isinstance(part, TextPart) else part
            for part in lifted.parts
        ),
        tool_failure=None
        if lifted.tool_failure is None
        else ToolFailure(scrub(lifted.tool_failure.detail)),
        extra_metadata=_scrubbed(lifted.extra_metadata, scrub),
        extra=_scrubbed(lifted.extra, scrub),
    )
    # What an envelope holds beside its fields goes unseen by them, and would be written as it was.
    if edited == lifted and (legacy is None or scrub(legacy) == legacy):
        return row
    return edited


def _scrubbed(value: Any, scrub: Callable[[str], str]) -> Any:
    """Scrub the strings of a value; the value itself where none changes."""
    if isinstance(value, str):
        return scrub(value)
    scrubbed: Any
    if _is_mapping(value):
        scrubbed = {
            name: item if name in _NEVER else _scrubbed(item, scrub) for name, item in value.items()
        }
        return value if scrubbed == value else scrubbed
    if _is_list(value):
        scrubbed = [_scrubbed(item, scrub) for item in value]
        return value if scrubbed == list(value) else scrubbed
    return value


def _is_mapping(value: object) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(value, Mapping)


def _is_list(value: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, list | tuple)
