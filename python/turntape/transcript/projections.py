"""Projections between rows and messages. Neither direction is lossless; ``LosslessCodec`` is.

Nothing here reads legacy strings, and nothing opens what a row or a message refers to.

>>> from turntape import TranscriptMessage
>>> transcript_to_message(TranscriptMessage("narrator", "Meanwhile...")).role
'user'
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast, get_args

from turntape.conversation import CustomRecord, Message, ToolResult
from turntape.errors import EnvelopeError, ProjectionError
from turntape.events import StopReason
from turntape.media import Audio, Document, Image, Video
from turntape.messages import Text, ToolUse
from turntape.replay.envelopes import NativeToolCall
from turntape.replay.markers import TextPart
from turntape.transcript.media import has_no_part, media_from_part, part_from_media
from turntape.transcript.reasoning import (
    REASONING,
    reasoning_content_block,
    reasoning_from_content,
)
from turntape.transcript.rows import (
    INCOMPLETE,
    STORED,
    STORED_VERSION,
    ToolFailure,
    TranscriptMessage,
    incomplete_calls,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from turntape.conversation import ContentBlock, HistoryItem, ResultBlock
    from turntape.transcript.rows import TranscriptPart

__all__ = [
    "message_to_display_transcript",
    "message_to_display_transcripts",
    "message_to_native_transcript",
    "message_to_native_transcripts",
    "rest_has_a_row",
    "transcript_to_message",
]

_STOP_REASONS = frozenset(get_args(StopReason))
_MEDIA = (Image, Audio, Video, Document)
_NO_FAILURE_DETAIL = ToolFailure()


def transcript_to_message(row: TranscriptMessage, /) -> Message:
    r"""The message that a row says, whatever the row: nothing is refused and nothing is looked up.

    A row of the assistant's gives its thinking (``extra_metadata["reasoning_content"]``, unless blank), its
    text, always, and its calls with their arguments as they were written; the model and the stop reason go
    along. A row of a tool's gives a result. Any other but the system's is the user's: a block a part, or
    the content literally.

    >>> row = TranscriptMessage.assistant_with_calls("", [NativeToolCall("c1", "dim", '{"n":')])
    >>> transcript_to_message(row).content[1].invalid
    'malformed'
    """
    role = row.role
    if role == "assistant":
        blocks: list[ContentBlock] = []
        if row.extra_metadata:
            reasoning = row.extra_metadata.get(REASONING)
            thinking = reasoning_content_block(reasoning) if isinstance(reasoning, str) else None
            if thinking is not None:
                blocks.append(thinking)
        blocks.append(Text(row.content))
        incomplete = incomplete_calls(row) if row.tool_calls and row.extra_metadata else ()
        blocks.extend(_use_of(call, complete=call.id not in incomplete) for call in row.tool_calls)
        reason = row.stop_reason
        return Message(
            "assistant",
            tuple(blocks),
            model=row.model,
            stop_reason=cast("StopReason", reason) if reason in _STOP_REASONS else None,
        )
    if role == "tool":
        identity = row.tool_call_id
        if identity is None:
            identity = row.id or ""
        answer = _answer(row) if row.parts else row.content
        return Message("user", (ToolResult(identity, answer, row.tool_failure is not None),))
    if role == "system":
        return Message("system", (Text(row.content),))
    if row.parts:
        return Message("user", tuple(map(_block, row.parts)))
    # An empty part list is one empty text, whatever the content.
    return Message("user", (Text(row.content if row.parts is None else ""),))


def message_to_native_transcripts(item: HistoryItem, /) -> list[TranscriptMessage]:
    """The rows of a message, with its calls, the ids that tie results to them, and its media in order.

    A row for each result, in their order, then one for the rest of the message, if there is a rest.

    Args:
        item: The message; a host's own record gives no row.

    >>> message = Message.user([ToolResult("c1", "one"), ToolResult("c2", "two"), Text("and?")])
    >>> [(row.role, row.tool_call_id, row.content) for row in message_to_native_transcripts(message)]
    [('tool', 'c1', 'one'), ('tool', 'c2', 'two'), ('user', None, 'and?')]
    """
    if isinstance(item, CustomRecord):
        return []
    content = item.content
    rows = _native_results(content)
    if not rows or rest_has_a_row(item):
        if item.role == "assistant":
            rows.append(_native_assistant(item))
        else:
            rows.append(TranscriptMessage(item.role, _said(content), parts=_parts(content)))
    return rows


def message_to_native_transcript(item: HistoryItem, /) -> TranscriptMessage | None:
    """The row of a message, where one is enough; see ``message_to_native_transcripts``.

    Returns:
        The row, None for a host's own record.

    Raises:
        ProjectionError: The message has several rows.
    """
    return _only(message_to_native_transcripts(item))


def message_to_display_transcripts(item: HistoryItem, /) -> list[TranscriptMessage]:
    """The rows of a message as a flat history of texts: for reading, never for replaying.

    No call is declared and no medium is kept; a result is known by its row's ``id`` alone.

    Args:
        item: The message; a host's own record gives no row.
    """
    if isinstance(item, CustomRecord):
        return []
    content = item.content
    rows = [
        TranscriptMessage(
            "tool",
            _result_text(block),
            id=block.tool_use_id,
            tool_failure=_NO_FAILURE_DETAIL if block.is_error else None,
        )
        for block in content
        if isinstance(block, ToolResult)
    ]
    if not rows or rest_has_a_row(item):
        rows.append(TranscriptMessage(item.role, _said(content)))
    return rows


def message_to_display_transcript(item: HistoryItem, /) -> TranscriptMessage | None:
    """The display row of a message, where one is enough; see ``message_to_display_transcripts``.

    Returns:
        The row, None for a host's own record.

    Raises:
        ProjectionError: The message has several rows.
    """
    return _only(message_to_display_transcripts(item))


def rest_has_a_row(message: Message) -> bool:
    """Whether what stands beside the results of a message gets a row: a text, a call, or a medium."""
    for block in message.content:
        if isinstance(block, Text):
            return True
        if isinstance(block, ToolUse) and message.role == "assistant":
            return True
        if isinstance(block, _MEDIA) and not has_no_part(block):
            return True
    return False


def _only(rows: list[TranscriptMessage]) -> TranscriptMessage | None:
    if len(rows) > 1:
        raise ProjectionError(
            f"the message has {len(rows)} rows, one for each of its results and one for the rest: "
            "use the function for several rows"
        )
    return rows[0] if rows else None


def _native_assistant(message: Message) -> TranscriptMessage:
    content = message.content
    uses = [block for block in content if isinstance(block, ToolUse)]
    metadata: dict[str, Any] = {}
    reasoning = reasoning_from_content(content)
    if reasoning is not None:
        metadata[REASONING] = reasoning
    incomplete = {use.id: True for use in uses if not use.complete}
    if incomplete:
        # Without it, arguments that were cut where they looked whole would be taken for whole.
        metadata[STORED] = {"v": STORED_VERSION, INCOMPLETE: incomplete}
    return TranscriptMessage(
        "assistant",
        _said(content),
        tool_calls=tuple(map(_call_of, uses)),
        parts=_parts(content),
        extra_metadata=metadata or None,
        model=message.model,
        stop_reason=message.stop_reason,
    )


def _native_results(content: Iterable[ContentBlock]) -> list[TranscriptMessage]:
    return [
        TranscriptMessage(
            "tool",
            _result_text(block),
            tool_call_id=block.tool_use_id,
            parts=_result_media(block),
            tool_failure=_NO_FAILURE_DETAIL if block.is_error else None,
        )
        for block in content
        if isinstance(block, ToolResult)
    ]


def _said(content: Iterable[ContentBlock | ResultBlock]) -> str:
    return "".join(block.text for block in content if isinstance(block, Text))


def _parts(content: Iterable[ContentBlock]) -> tuple[TranscriptPart, ...] | None:
    """The texts and media of a message; None where there is no medium."""
    parts: list[TranscriptPart] = []
    shown = False
    for block in content:
        if isinstance(block, Text):
            parts.append(TextPart(block.text))
        elif isinstance(block, _MEDIA):
            part = part_from_media(block)
            if part is not None:
                parts.append(part)
                shown = True
    return tuple(parts) if shown else None


def _result_text(result: ToolResult) -> str:
    return result.content if isinstance(result.content, str) else _said(result.content)


def _result_media(result: ToolResult) -> tuple[TranscriptPart, ...] | None:
    if isinstance(result.content, str):
        return None
    parts = (part_from_media(block) for block in result.content if isinstance(block, _MEDIA))
    return tuple(part for part in parts if part is not None) or None


def _answer(row: TranscriptMessage) -> tuple[ResultBlock, ...]:
    """The blocks of a tool's row with parts: its text, then its media, unless the parts have texts too."""
    parts = row.parts or ()
    blocks = tuple(map(_block, parts))
    if row.content and not any(isinstance(part, TextPart) for part in parts):
        return (Text(row.content), *blocks)
    return blocks


def _block(part: TranscriptPart) -> ResultBlock:
    return Text(part.text) if isinstance(part, TextPart) else media_from_part(part)


def _use_of(call: NativeToolCall, *, complete: bool) -> ToolUse:
    extra: str | None = None
    if call.extra_content is not None:
        # The host may have put there what no envelope can hold. The call itself is sound.
        with suppress(EnvelopeError):
            extra = call.to_tool_use().extra
    return ToolUse(call.id, call.name, call.arguments, extra=extra, complete=complete)


def _call_of(use: ToolUse) -> NativeToolCall:
    if use.extra is not None:
        try:
            return NativeToolCall.from_tool_use(
                use if use.complete else replace(use, complete=True)
            )
        except EnvelopeError:
            pass
    return NativeToolCall(use.id, use.name, use.arguments)
