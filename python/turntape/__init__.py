r"""The wire and the tape of conversations with language models.

Bytes of a provider's stream in, one event sequence and one message out, whatever the provider:

>>> import turntape
>>> body = (
...     b'data: {"id":"r1","model":"m","choices":[{"index":0,"delta":{"content":"Hi."}}]}\n\n'
...     b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
...     b'data: [DONE]\n\n'
... )
>>> message = turntape.decode_message(body, "openai-chat")
>>> message.content
(Text(text='Hi.', citations=(), signature=None, extra=None),)
>>> message.complete, message.stop_reason
(True, 'end_turn')

turntape performs no network call, holds no key and runs no tool.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from turntape.errors import (
    EnvelopeError,
    EventTooLarge,
    IncompleteTurn,
    InvalidToolArguments,
    MalformedEvent,
    MarkerError,
    MessageError,
    ProviderError,
    StreamError,
    StrictError,
    TruncatedStream,
    TurntapeError,
    UnknownDialect,
)
from turntape.events import (
    Citation,
    ContentBlockStop,
    DecodeWarning,
    Extension,
    InputJsonDelta,
    MessageStart,
    MessageStop,
    RedactedThinking,
    SignatureDelta,
    SseEvent,
    StopReason,
    StreamEvent,
    Terminal,
    TextDelta,
    ThinkingDelta,
    ToolUseStart,
    Usage,
    WarningCode,
)
from turntape.messages import (
    AssistantBlock,
    AssistantMessage,
    ProviderBlock,
    RedactedThinkingBlock,
    Text,
    Thinking,
    ToolUse,
)
from turntape.wire.dialect import Dialect

if TYPE_CHECKING:
    from turntape._native import (
        SseDecoder,
        StreamDecoder,
        __version__,
        assemble,
        count_image_parts,
        decode,
        decode_many,
        decode_message,
        detect_dialect,
        encode_assistant_envelope,
        encode_sse,
        encode_tool_envelope,
        explain_not_canonical,
        has_image_parts,
        parse_assistant_envelope,
        parse_canonical_assistant_envelope,
        parse_canonical_tool_envelope,
        parse_response,
        parse_tool_envelope,
        split_image_parts,
    )
    from turntape.conversation import (
        ContentBlock,
        CustomRecord,
        HistoryItem,
        Message,
        ResultBlock,
        Role,
        ToolResult,
    )
    from turntape.media import (
        Audio,
        Base64Source,
        Document,
        Image,
        MediaBlock,
        MediaSource,
        PathSource,
        UrlSource,
        Video,
    )
    from turntape.notes import (
        ReplayNote,
        ReplayNoteCode,
    )
    from turntape.replay.envelopes import (
        AssistantEnvelope,
        NativeToolCall,
        NonCanonical,
        NonCanonicalCode,
        ToolEnvelope,
    )
    from turntape.replay.markers import (
        IMAGE_MARKER_PREFIX,
        ImagePart,
        TextPart,
        join_image_parts,
    )
    from turntape.replay.native import (
        AssistantToolCalls,
        Chat,
        DroppedEntry,
        DropReason,
        HistoryEntry,
        NativeDialect,
        NativeResponse,
        PairedHistory,
        ToolResults,
        TypedMessage,
        pair_tool_cycles,
    )
    from turntape.requests import (
        DELETE,
        CachePolicy,
        Delete,
        Effort,
        ModelRequest,
        RawTool,
        Reasoning,
        ResponseFormat,
        ToolChoice,
        ToolDef,
    )
    from turntape.wire.streams import AsyncEventStream, EventStream, aiter_events, iter_events

__all__ = [
    "DELETE",
    "IMAGE_MARKER_PREFIX",
    "AssistantBlock",
    "AssistantEnvelope",
    "AssistantMessage",
    "AssistantToolCalls",
    "AsyncEventStream",
    "Audio",
    "Base64Source",
    "CachePolicy",
    "Chat",
    "Citation",
    "ContentBlock",
    "ContentBlockStop",
    "CustomRecord",
    "DecodeWarning",
    "Delete",
    "Dialect",
    "Document",
    "DropReason",
    "DroppedEntry",
    "Effort",
    "EnvelopeError",
    "EventStream",
    "EventTooLarge",
    "Extension",
    "HistoryEntry",
    "HistoryItem",
    "Image",
    "ImagePart",
    "IncompleteTurn",
    "InputJsonDelta",
    "InvalidToolArguments",
    "MalformedEvent",
    "MarkerError",
    "MediaBlock",
    "MediaSource",
    "Message",
    "MessageError",
    "MessageStart",
    "MessageStop",
    "ModelRequest",
    "NativeDialect",
    "NativeResponse",
    "NativeToolCall",
    "NonCanonical",
    "NonCanonicalCode",
    "PairedHistory",
    "PathSource",
    "ProviderBlock",
    "ProviderError",
    "RawTool",
    "Reasoning",
    "RedactedThinking",
    "RedactedThinkingBlock",
    "ReplayNote",
    "ReplayNoteCode",
    "ResponseFormat",
    "ResultBlock",
    "Role",
    "SignatureDelta",
    "SseDecoder",
    "SseEvent",
    "StopReason",
    "StreamDecoder",
    "StreamError",
    "StreamEvent",
    "StrictError",
    "Terminal",
    "Text",
    "TextDelta",
    "TextPart",
    "Thinking",
    "ThinkingDelta",
    "ToolChoice",
    "ToolDef",
    "ToolEnvelope",
    "ToolResult",
    "ToolResults",
    "ToolUse",
    "ToolUseStart",
    "TruncatedStream",
    "TurntapeError",
    "TypedMessage",
    "UnknownDialect",
    "UrlSource",
    "Usage",
    "Video",
    "WarningCode",
    "__version__",
    "aiter_events",
    "assemble",
    "count_image_parts",
    "decode",
    "decode_many",
    "decode_message",
    "detect_dialect",
    "encode_assistant_envelope",
    "encode_sse",
    "encode_tool_envelope",
    "explain_not_canonical",
    "has_image_parts",
    "iter_events",
    "join_image_parts",
    "pair_tool_cycles",
    "parse_assistant_envelope",
    "parse_canonical_assistant_envelope",
    "parse_canonical_tool_envelope",
    "parse_response",
    "parse_tool_envelope",
    "split_image_parts",
]

# What is imported at first use (PEP 562): the extension module, and what stands on it.
_LAZY = {
    "AssistantEnvelope": "turntape.replay.envelopes",
    "AssistantToolCalls": "turntape.replay.native",
    "AsyncEventStream": "turntape.wire.streams",
    "Audio": "turntape.media",
    "Base64Source": "turntape.media",
    "CachePolicy": "turntape.requests",
    "Chat": "turntape.replay.native",
    "ContentBlock": "turntape.conversation",
    "CustomRecord": "turntape.conversation",
    "DELETE": "turntape.requests",
    "Delete": "turntape.requests",
    "Document": "turntape.media",
    "DropReason": "turntape.replay.native",
    "DroppedEntry": "turntape.replay.native",
    "Effort": "turntape.requests",
    "EventStream": "turntape.wire.streams",
    "HistoryEntry": "turntape.replay.native",
    "HistoryItem": "turntape.conversation",
    "IMAGE_MARKER_PREFIX": "turntape.replay.markers",
    "Image": "turntape.media",
    "ImagePart": "turntape.replay.markers",
    "MediaBlock": "turntape.media",
    "MediaSource": "turntape.media",
    "Message": "turntape.conversation",
    "ModelRequest": "turntape.requests",
    "NativeDialect": "turntape.replay.native",
    "NativeResponse": "turntape.replay.native",
    "NativeToolCall": "turntape.replay.envelopes",
    "NonCanonical": "turntape.replay.envelopes",
    "NonCanonicalCode": "turntape.replay.envelopes",
    "PairedHistory": "turntape.replay.native",
    "PathSource": "turntape.media",
    "RawTool": "turntape.requests",
    "Reasoning": "turntape.requests",
    "ReplayNote": "turntape.notes",
    "ReplayNoteCode": "turntape.notes",
    "ResponseFormat": "turntape.requests",
    "ResultBlock": "turntape.conversation",
    "Role": "turntape.conversation",
    "SseDecoder": "turntape._native",
    "StreamDecoder": "turntape._native",
    "TextPart": "turntape.replay.markers",
    "ToolChoice": "turntape.requests",
    "ToolDef": "turntape.requests",
    "ToolEnvelope": "turntape.replay.envelopes",
    "ToolResult": "turntape.conversation",
    "ToolResults": "turntape.replay.native",
    "TypedMessage": "turntape.replay.native",
    "UrlSource": "turntape.media",
    "Video": "turntape.media",
    "__version__": "turntape._native",
    "aiter_events": "turntape.wire.streams",
    "assemble": "turntape._native",
    "count_image_parts": "turntape._native",
    "decode": "turntape._native",
    "decode_many": "turntape._native",
    "decode_message": "turntape._native",
    "detect_dialect": "turntape._native",
    "encode_assistant_envelope": "turntape._native",
    "encode_sse": "turntape._native",
    "encode_tool_envelope": "turntape._native",
    "explain_not_canonical": "turntape._native",
    "has_image_parts": "turntape._native",
    "iter_events": "turntape.wire.streams",
    "join_image_parts": "turntape.replay.markers",
    "pair_tool_cycles": "turntape.replay.native",
    "parse_assistant_envelope": "turntape._native",
    "parse_canonical_assistant_envelope": "turntape._native",
    "parse_canonical_tool_envelope": "turntape._native",
    "parse_response": "turntape._native",
    "parse_tool_envelope": "turntape._native",
    "split_image_parts": "turntape._native",
}


def __getattr__(name: str) -> Any:
    module = _LAZY.get(name)
    if module is None:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    from importlib import import_module

    value = getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
