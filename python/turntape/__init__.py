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
    InvalidRequest,
    InvalidToolArguments,
    MalformedEvent,
    MarkerError,
    MessageError,
    PairingError,
    ProjectionError,
    ProviderError,
    SequenceError,
    StreamError,
    StrictError,
    TruncatedStream,
    TurntapeError,
    UnknownDialect,
    UnsupportedContent,
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
from turntape.wire.dialect import (
    Dialect,
)

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
    from turntape.replay.pairing import (
        PairingFault,
    )
    from turntape.replay.texts import (
        ReplayTexts,
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
    from turntape.transcript.codec import (
        LosslessCodec,
        TranscriptCodec,
    )
    from turntape.transcript.lifting import (
        normalized,
    )
    from turntape.transcript.media import (
        media_from_part,
        part_from_media,
    )
    from turntape.transcript.projections import (
        message_to_display_transcript,
        message_to_display_transcripts,
        message_to_native_transcript,
        message_to_native_transcripts,
        transcript_to_message,
    )
    from turntape.transcript.reasoning import (
        reasoning_content_block,
        reasoning_from_content,
    )
    from turntape.transcript.repair import (
        RepairCode,
        RepairNote,
        RepairPolicy,
        is_synthetic,
        repair_native,
    )
    from turntape.transcript.rows import (
        AudioPart,
        DocumentPart,
        PathRef,
        ToolFailure,
        TranscriptMessage,
        TranscriptPart,
        UrlRef,
        VideoPart,
    )
    from turntape.transcript.validation import (
        SequenceFault,
        SequenceFaultCode,
        native_transcript_to_messages,
        validate_native,
    )
    from turntape.wire.capabilities import (
        Capabilities,
        CapabilityTable,
        model_name,
    )
    from turntape.wire.capability_rows import (
        CAPABILITIES,
    )
    from turntape.wire.inbound.read import (
        from_provider_messages,
        from_request,
    )
    from turntape.wire.outbound.build import (
        build_request,
    )
    from turntape.wire.outbound.built import (
        BuiltRequest,
    )
    from turntape.wire.streams import (
        AsyncEventStream,
        EventStream,
        aiter_events,
        iter_events,
    )
    from turntape.wire.vendor_rows import (
        VENDORS,
    )
    from turntape.wire.vendors import (
        VendorHabits,
    )

__all__ = [
    "CAPABILITIES",
    "DELETE",
    "IMAGE_MARKER_PREFIX",
    "VENDORS",
    "AssistantBlock",
    "AssistantEnvelope",
    "AssistantMessage",
    "AssistantToolCalls",
    "AsyncEventStream",
    "Audio",
    "AudioPart",
    "Base64Source",
    "BuiltRequest",
    "CachePolicy",
    "Capabilities",
    "CapabilityTable",
    "Chat",
    "Citation",
    "ContentBlock",
    "ContentBlockStop",
    "CustomRecord",
    "DecodeWarning",
    "Delete",
    "Dialect",
    "Document",
    "DocumentPart",
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
    "InvalidRequest",
    "InvalidToolArguments",
    "LosslessCodec",
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
    "PairingError",
    "PairingFault",
    "PathRef",
    "PathSource",
    "ProjectionError",
    "ProviderBlock",
    "ProviderError",
    "RawTool",
    "Reasoning",
    "RedactedThinking",
    "RedactedThinkingBlock",
    "RepairCode",
    "RepairNote",
    "RepairPolicy",
    "ReplayNote",
    "ReplayNoteCode",
    "ReplayTexts",
    "ResponseFormat",
    "ResultBlock",
    "Role",
    "SequenceError",
    "SequenceFault",
    "SequenceFaultCode",
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
    "ToolFailure",
    "ToolResult",
    "ToolResults",
    "ToolUse",
    "ToolUseStart",
    "TranscriptCodec",
    "TranscriptMessage",
    "TranscriptPart",
    "TruncatedStream",
    "TurntapeError",
    "TypedMessage",
    "UnknownDialect",
    "UnsupportedContent",
    "UrlRef",
    "UrlSource",
    "Usage",
    "VendorHabits",
    "Video",
    "VideoPart",
    "WarningCode",
    "__version__",
    "aiter_events",
    "assemble",
    "build_request",
    "count_image_parts",
    "decode",
    "decode_many",
    "decode_message",
    "detect_dialect",
    "encode_assistant_envelope",
    "encode_sse",
    "encode_tool_envelope",
    "explain_not_canonical",
    "from_provider_messages",
    "from_request",
    "has_image_parts",
    "is_synthetic",
    "iter_events",
    "join_image_parts",
    "media_from_part",
    "message_to_display_transcript",
    "message_to_display_transcripts",
    "message_to_native_transcript",
    "message_to_native_transcripts",
    "model_name",
    "native_transcript_to_messages",
    "normalized",
    "pair_tool_cycles",
    "parse_assistant_envelope",
    "parse_canonical_assistant_envelope",
    "parse_canonical_tool_envelope",
    "parse_response",
    "parse_tool_envelope",
    "part_from_media",
    "reasoning_content_block",
    "reasoning_from_content",
    "repair_native",
    "split_image_parts",
    "transcript_to_message",
    "validate_native",
]

# What is imported at first use (PEP 562): the extension module, and what stands on it.
_LAZY = {
    "AssistantEnvelope": "turntape.replay.envelopes",
    "AssistantToolCalls": "turntape.replay.native",
    "AsyncEventStream": "turntape.wire.streams",
    "Audio": "turntape.media",
    "AudioPart": "turntape.transcript.rows",
    "Base64Source": "turntape.media",
    "BuiltRequest": "turntape.wire.outbound.built",
    "CAPABILITIES": "turntape.wire.capability_rows",
    "CachePolicy": "turntape.requests",
    "Capabilities": "turntape.wire.capabilities",
    "CapabilityTable": "turntape.wire.capabilities",
    "Chat": "turntape.replay.native",
    "ContentBlock": "turntape.conversation",
    "CustomRecord": "turntape.conversation",
    "DELETE": "turntape.requests",
    "Delete": "turntape.requests",
    "Document": "turntape.media",
    "DocumentPart": "turntape.transcript.rows",
    "DropReason": "turntape.replay.native",
    "DroppedEntry": "turntape.replay.native",
    "Effort": "turntape.requests",
    "EventStream": "turntape.wire.streams",
    "HistoryEntry": "turntape.replay.native",
    "HistoryItem": "turntape.conversation",
    "IMAGE_MARKER_PREFIX": "turntape.replay.markers",
    "Image": "turntape.media",
    "ImagePart": "turntape.replay.markers",
    "LosslessCodec": "turntape.transcript.codec",
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
    "PairingFault": "turntape.replay.pairing",
    "PathRef": "turntape.transcript.rows",
    "PathSource": "turntape.media",
    "RawTool": "turntape.requests",
    "Reasoning": "turntape.requests",
    "RepairCode": "turntape.transcript.repair",
    "RepairNote": "turntape.transcript.repair",
    "RepairPolicy": "turntape.transcript.repair",
    "ReplayNote": "turntape.notes",
    "ReplayNoteCode": "turntape.notes",
    "ReplayTexts": "turntape.replay.texts",
    "ResponseFormat": "turntape.requests",
    "ResultBlock": "turntape.conversation",
    "Role": "turntape.conversation",
    "SequenceFault": "turntape.transcript.validation",
    "SequenceFaultCode": "turntape.transcript.validation",
    "SseDecoder": "turntape._native",
    "StreamDecoder": "turntape._native",
    "TextPart": "turntape.replay.markers",
    "ToolChoice": "turntape.requests",
    "ToolDef": "turntape.requests",
    "ToolEnvelope": "turntape.replay.envelopes",
    "ToolFailure": "turntape.transcript.rows",
    "ToolResult": "turntape.conversation",
    "ToolResults": "turntape.replay.native",
    "TranscriptCodec": "turntape.transcript.codec",
    "TranscriptMessage": "turntape.transcript.rows",
    "TranscriptPart": "turntape.transcript.rows",
    "TypedMessage": "turntape.replay.native",
    "UrlRef": "turntape.transcript.rows",
    "UrlSource": "turntape.media",
    "VENDORS": "turntape.wire.vendor_rows",
    "VendorHabits": "turntape.wire.vendors",
    "Video": "turntape.media",
    "VideoPart": "turntape.transcript.rows",
    "__version__": "turntape._native",
    "aiter_events": "turntape.wire.streams",
    "assemble": "turntape._native",
    "build_request": "turntape.wire.outbound.build",
    "count_image_parts": "turntape._native",
    "decode": "turntape._native",
    "decode_many": "turntape._native",
    "decode_message": "turntape._native",
    "detect_dialect": "turntape._native",
    "encode_assistant_envelope": "turntape._native",
    "encode_sse": "turntape._native",
    "encode_tool_envelope": "turntape._native",
    "explain_not_canonical": "turntape._native",
    "from_provider_messages": "turntape.wire.inbound.read",
    "from_request": "turntape.wire.inbound.read",
    "has_image_parts": "turntape._native",
    "is_synthetic": "turntape.transcript.repair",
    "iter_events": "turntape.wire.streams",
    "join_image_parts": "turntape.replay.markers",
    "media_from_part": "turntape.transcript.media",
    "message_to_display_transcript": "turntape.transcript.projections",
    "message_to_display_transcripts": "turntape.transcript.projections",
    "message_to_native_transcript": "turntape.transcript.projections",
    "message_to_native_transcripts": "turntape.transcript.projections",
    "model_name": "turntape.wire.capabilities",
    "native_transcript_to_messages": "turntape.transcript.validation",
    "normalized": "turntape.transcript.lifting",
    "pair_tool_cycles": "turntape.replay.native",
    "parse_assistant_envelope": "turntape._native",
    "parse_canonical_assistant_envelope": "turntape._native",
    "parse_canonical_tool_envelope": "turntape._native",
    "parse_response": "turntape._native",
    "parse_tool_envelope": "turntape._native",
    "part_from_media": "turntape.transcript.media",
    "reasoning_content_block": "turntape.transcript.reasoning",
    "reasoning_from_content": "turntape.transcript.reasoning",
    "repair_native": "turntape.transcript.repair",
    "split_image_parts": "turntape._native",
    "transcript_to_message": "turntape.transcript.projections",
    "validate_native": "turntape.transcript.validation",
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
