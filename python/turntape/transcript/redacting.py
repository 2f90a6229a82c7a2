"""Redacting a row, field by field, before it is written."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from turntape.replay.markers import TextPart
from turntape.transcript.lifting import normalized
from turntape.transcript.rows import ToolFailure, legacy_memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from turntape.artifacts.redaction import ArtifactRedactor
    from turntape.transcript.rows import TranscriptMessage

__all__ = ["redacted_row"]

# What providers want back byte for byte, and what ties rows together.
_NEVER = frozenset(
    {
        "call_id", "data", "encrypted_content", "id", "item_id", "name", "request_id", "role",
        "signature", "thoughtSignature", "thought_signature", "tool_call_id", "tool_use_id", "type",
    }
)  # fmt: skip


def redacted_row(row: TranscriptMessage, redactor: ArtifactRedactor) -> TranscriptMessage:
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
    if hasattr(value, "items"):
        form = {
            name: item if name in _NEVER else _scrubbed(item, scrub) for name, item in value.items()
        }
        return value if form == value else form
    if isinstance(value, list | tuple):
        listed = [_scrubbed(item, scrub) for item in value]
        return value if listed == list(value) else listed
    return value
