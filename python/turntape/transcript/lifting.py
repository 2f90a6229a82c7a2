r"""Lifting: from the strings of a flat history to the fields of a row, and back.

>>> from turntape import TranscriptMessage
>>> row = normalized(TranscriptMessage("tool", '{"tool_call_id":"c1", "content":"ok"}'))
>>> row.content, row.tool_call_id
('ok', 'c1')
>>> row.legacy_content()
'{"tool_call_id":"c1", "content":"ok"}'
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from turntape._native import (
    encode_assistant_envelope,
    encode_tool_envelope,
    has_image_parts,
    parse_assistant_envelope,
    parse_tool_envelope,
    split_image_parts,
)
from turntape.errors import EnvelopeError
from turntape.replay.markers import ImagePart, TextPart, join_image_parts
from turntape.replay.turns import is_blank
from turntape.transcript.reasoning import REASONING
from turntape.transcript.rows import incomplete_calls, legacy_memory, line_memory, remember

if TYPE_CHECKING:
    from turntape.transcript.rows import TranscriptMessage

__all__ = ["legacy_content", "normalized"]


def normalized(row: TranscriptMessage, /) -> TranscriptMessage:
    r"""Lift the row of a flat history, whose content is a packed string, into fields.

    The assistant's content may be an envelope, read leniently; its reasoning goes into
    ``extra_metadata["reasoning_content"]``. A tool's content may be an envelope, the user's a text with
    image markers. Other roles, and rows that have these fields already, are never lifted.

    Returns:
        The lifted row, which remembers its string for ``legacy_content``; the very row where there is
        nothing to lift.

    >>> from turntape import TranscriptMessage
    >>> normalized(TranscriptMessage.user("look [OH_IMAGE:a.png]")).parts
    (TextPart(text='look '), ImagePart(url='a.png'))
    """
    role = row.role
    if role == "assistant":
        lifted = None if row.tool_calls else _lifted_calls(row)
    elif role == "tool":
        lifted = None if row.tool_call_id is not None else _lifted_result(row)
    elif role == "user":
        lifted = None if row.parts is not None else _lifted_images(row)
    else:
        lifted = None
    if lifted is None:
        return row
    # A row that was lifted says the same still, so the line that it was read from is its line still.
    return remember(lifted, legacy=row.content, line=line_memory(row))


def legacy_content(row: TranscriptMessage) -> str:
    """Pack a row into one string; see ``TranscriptMessage.legacy_content``."""
    memory = legacy_memory(row)
    if memory is not None and _is_unchanged(row, memory):
        return memory
    if row.role == "assistant" and row.tool_calls:
        cut = incomplete_calls(row)
        for index, call in enumerate(row.tool_calls):
            if call.id in cut:
                path = f"tool_calls[{index}]"
                raise EnvelopeError(f"{path}: the call {call.id!r} is not complete", field=path)
        return encode_assistant_envelope(row.content, row.tool_calls, _reasoning(row))
    if row.role == "tool" and row.tool_call_id is not None:
        return encode_tool_envelope(row.tool_call_id, row.content)
    if row.parts is not None and row.role not in {"assistant", "tool", "system"}:
        shown = (part for part in row.parts if isinstance(part, TextPart | ImagePart))
        return join_image_parts(shown)
    return row.content


def _is_unchanged(row: TranscriptMessage, memory: str) -> bool:
    """Whether a row says what its string says.

    Fields cannot be set, but the dicts in a row, its metadata and the extra content of its calls, can be
    changed in place. Only the assistant's rows take anything of theirs from the string.
    """
    if row.role != "assistant":
        return True
    parsed = parse_assistant_envelope(memory)
    if parsed is None or parsed.tool_calls != row.tool_calls:
        return False
    reasoning = parsed.reasoning_content
    return reasoning is None or (row.extra_metadata or {}).get(REASONING) == reasoning


def _reasoning(row: TranscriptMessage) -> str | None:
    reasoning = (row.extra_metadata or {}).get(REASONING)
    return reasoning if isinstance(reasoning, str) and not is_blank(reasoning) else None


def _lifted_calls(row: TranscriptMessage) -> TranscriptMessage | None:
    envelope = parse_assistant_envelope(row.content)
    if envelope is None:
        return None
    metadata = row.extra_metadata
    if envelope.reasoning_content is not None:
        metadata = {**(metadata or {}), REASONING: envelope.reasoning_content}
    return replace(
        row, content=envelope.content, tool_calls=envelope.tool_calls, extra_metadata=metadata
    )


def _lifted_result(row: TranscriptMessage) -> TranscriptMessage | None:
    envelope = parse_tool_envelope(row.content)
    if envelope is None:
        return None
    return replace(row, content=envelope.content, tool_call_id=envelope.tool_call_id)


def _lifted_images(row: TranscriptMessage) -> TranscriptMessage | None:
    if not has_image_parts(row.content):
        return None
    parts = tuple(split_image_parts(row.content))
    said = "".join(part.text for part in parts if isinstance(part, TextPart))
    return replace(row, content=said, parts=parts)
