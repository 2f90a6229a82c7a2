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
    EventTooLarge,
    InvalidToolArguments,
    MalformedEvent,
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
    AssistantMessage,
    ContentBlock,
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
        decode,
        decode_many,
        decode_message,
        detect_dialect,
        encode_sse,
        parse_response,
    )
    from turntape.wire.streams import AsyncEventStream, EventStream, aiter_events, iter_events

__all__ = [
    "AssistantMessage",
    "AsyncEventStream",
    "Citation",
    "ContentBlock",
    "ContentBlockStop",
    "DecodeWarning",
    "Dialect",
    "EventStream",
    "EventTooLarge",
    "Extension",
    "InputJsonDelta",
    "InvalidToolArguments",
    "MalformedEvent",
    "MessageStart",
    "MessageStop",
    "ProviderBlock",
    "ProviderError",
    "RedactedThinking",
    "RedactedThinkingBlock",
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
    "Thinking",
    "ThinkingDelta",
    "ToolUse",
    "ToolUseStart",
    "TruncatedStream",
    "TurntapeError",
    "UnknownDialect",
    "Usage",
    "WarningCode",
    "__version__",
    "aiter_events",
    "assemble",
    "decode",
    "decode_many",
    "decode_message",
    "detect_dialect",
    "encode_sse",
    "iter_events",
    "parse_response",
]

# What is imported at first use (PEP 562): the extension module, and what stands on it.
_LAZY = {
    "AsyncEventStream": "turntape.wire.streams",
    "EventStream": "turntape.wire.streams",
    "SseDecoder": "turntape._native",
    "StreamDecoder": "turntape._native",
    "__version__": "turntape._native",
    "aiter_events": "turntape.wire.streams",
    "assemble": "turntape._native",
    "decode": "turntape._native",
    "decode_many": "turntape._native",
    "decode_message": "turntape._native",
    "detect_dialect": "turntape._native",
    "encode_sse": "turntape._native",
    "iter_events": "turntape.wire.streams",
    "parse_response": "turntape._native",
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
