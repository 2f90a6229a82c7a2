"""The event vocabulary: what every provider's stream is decoded into.

All events are frozen, slotted dataclasses: immutable, hashable, comparable, picklable and made for
``match``. Their ``repr`` evaluates back, orjson writes them as they are, and pydantic's ``TypeAdapter``
validates them, ``StreamEvent`` as a union told apart by ``type``.

``index`` counts blocks in the order in which they open: 0, 1, 2, … over all kinds, whatever the
provider's own numbering. ``message.content[event.index]`` is always the block that an event belongs to.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

__all__ = [
    "Citation",
    "ContentBlockStop",
    "DecodeWarning",
    "Extension",
    "InputJsonDelta",
    "MessageStart",
    "MessageStop",
    "RedactedThinking",
    "SignatureDelta",
    "SseEvent",
    "StopReason",
    "StreamEvent",
    "Terminal",
    "TextDelta",
    "ThinkingDelta",
    "ToolUseStart",
    "Usage",
    "WarningCode",
]

StopReason: TypeAlias = Literal[
    "end_turn",
    "tool_use",
    "max_tokens",
    "stop_sequence",
    "refusal",
    "content_filter",
    "pause_turn",
    "context_window",
    "other",
    "unknown",
]
"""Why a turn stopped, in one vocabulary for all providers.

``other`` is a reason that has no name here (``raw_reason`` keeps it), ``unknown`` that none was given.
"""

Terminal: TypeAlias = Literal["message_stop", "done", "finish_reason"]
"""What on the wire ended the turn: its closing event, ``[DONE]``, or the end of input after a finish
reason."""

WarningCode: TypeAlias = Literal[
    "invalid_utf8",
    "lone_surrogate",
    "eof_flush",
    "eof_discard",
    "not_json",
    "content_after_stop",
    "missing_terminal",
    "tool_stop_without_calls",
    "synthetic_tool_id",
    "dropped_fragment",
    "unknown_event",
    "duplicate_tool_id",
    "done_mismatch",
]
"""The kinds of :class:`DecodeWarning`; ``docs/warnings.md`` explains each."""


@dataclass(frozen=True, slots=True)
class MessageStart:
    """The message begins. Comes once and first.

    Attributes:
        id: The response's id, None where the wire gave none or an empty one.
        model: The model that answers, None likewise.
        type: The constant ``message_start``.
    """

    type: Literal["message_start"] = field(default="message_start", kw_only=True, repr=False)
    id: str | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of a text block. The first one opens the block.

    Attributes:
        index: The block.
        text: The piece; never empty.
        type: The constant ``text_delta``.
    """

    type: Literal["text_delta"] = field(default="text_delta", kw_only=True, repr=False)
    index: int
    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """A piece of reasoning that the provider shows. The first one opens the block.

    Attributes:
        index: The block.
        text: The piece; never empty.
        type: The constant ``thinking_delta``.
    """

    type: Literal["thinking_delta"] = field(default="thinking_delta", kw_only=True, repr=False)
    index: int
    text: str


@dataclass(frozen=True, slots=True)
class SignatureDelta:
    """A piece of the proof that a replay has to send back with a block.

    It belongs to a thinking block (Anthropic's signature, encrypted reasoning; it may open one), a text
    block (Gemini's thought signature) or a tool call.

    Attributes:
        index: The block.
        signature: The piece, opaque; the pieces of a block concatenate.
        type: The constant ``signature_delta``.
    """

    type: Literal["signature_delta"] = field(default="signature_delta", kw_only=True, repr=False)
    index: int
    signature: str


@dataclass(frozen=True, slots=True)
class RedactedThinking:
    """A whole block of reasoning that only the provider can read.

    Attributes:
        index: The block.
        data: What the provider wants back, opaque.
        type: The constant ``redacted_thinking``.
    """

    type: Literal["redacted_thinking"] = field(
        default="redacted_thinking", kw_only=True, repr=False
    )
    index: int
    data: str


@dataclass(frozen=True, slots=True)
class ToolUseStart:
    """A tool call opens: its id and its whole name are known.

    Attributes:
        index: The block.
        id: The call's id. Where the wire gave none it is made up, the same on every run.
        name: The tool's name.
        extra: A raw JSON object of the call's other members that a replay needs, None where there are
            none.
        type: The constant ``tool_use_start``.
    """

    type: Literal["tool_use_start"] = field(default="tool_use_start", kw_only=True, repr=False)
    index: int
    id: str
    name: str
    extra: str | None = None


@dataclass(frozen=True, slots=True)
class InputJsonDelta:
    """A piece of a call's argument text, as the model wrote it.

    Attributes:
        index: The block.
        partial_json: The piece, raw; never empty, not JSON by itself.
        type: The constant ``input_json_delta``.
    """

    type: Literal["input_json_delta"] = field(default="input_json_delta", kw_only=True, repr=False)
    index: int
    partial_json: str


@dataclass(frozen=True, slots=True)
class Citation:
    """One citation of a text block. May open it.

    Attributes:
        index: The block.
        json: The citation as the provider's raw JSON text.
        type: The constant ``citation``.
    """

    type: Literal["citation"] = field(default="citation", kw_only=True, repr=False)
    index: int
    json: str


@dataclass(frozen=True, slots=True)
class Extension:
    """What has no place in the other events, as raw JSON text.

    With an index it is a block of the provider's own (server tools and their results, generated images,
    unknown types): the first event holds the start block, each later one a delta of it. Without an index
    it is no part of the content: log probabilities, progress, grounding, facts of the turn such as
    ``stop_sequence``, unknown events.

    Attributes:
        index: The block, or None.
        kind: The type of the block, of the delta or of the event.
        json: The provider's raw JSON text.
        type: The constant ``extension``.
    """

    type: Literal["extension"] = field(default="extension", kw_only=True, repr=False)
    index: int | None
    kind: str
    json: str


@dataclass(frozen=True, slots=True)
class ContentBlockStop:
    """A block is whole. Every opened block of a turn that ended gets it exactly once.

    Attributes:
        index: The block.
        type: The constant ``content_block_stop``.
    """

    type: Literal["content_block_stop"] = field(
        default="content_block_stop", kw_only=True, repr=False
    )
    index: int


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens of one turn. At most once, right before :class:`MessageStop`.

    All counters are unsigned 64-bit token counts; one that the wire did not give is 0. Reports are
    cumulative: a later one replaced an earlier one, nothing was added up.

    Attributes:
        input_tokens: Prompt tokens that no cache served or stored.
        output_tokens: Generated tokens, reasoning included.
        cache_read_tokens: Prompt tokens read from a cache.
        cache_write_tokens: Prompt tokens written to a cache.
        cache_write_1h_tokens: The part of ``cache_write_tokens`` that is kept for an hour.
        reasoning_tokens: The part of ``output_tokens`` that is reasoning.
        type: The constant ``usage``.
    """

    type: Literal["usage"] = field(default="usage", kw_only=True, repr=False)
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cache_write_1h_tokens: int = 0
    reasoning_tokens: int = 0

    @property
    def total_tokens(self) -> int:
        """Input, output and both cache counters together, at most 2**64 - 1."""
        total = (
            self.input_tokens
            + self.output_tokens
            + self.cache_read_tokens
            + self.cache_write_tokens
        )
        return min(total, 2**64 - 1)


@dataclass(frozen=True, slots=True)
class MessageStop:
    """The turn is complete. Comes once and last, and only if the wire ended the turn.

    Attributes:
        stop_reason: Why it stopped, in one vocabulary.
        raw_reason: What the wire said, None where it said nothing.
        terminal: What on the wire ended it.
        type: The constant ``message_stop``.
    """

    type: Literal["message_stop"] = field(default="message_stop", kw_only=True, repr=False)
    stop_reason: StopReason
    raw_reason: str | None
    terminal: Terminal


StreamEvent: TypeAlias = (
    MessageStart
    | TextDelta
    | ThinkingDelta
    | SignatureDelta
    | RedactedThinking
    | ToolUseStart
    | InputJsonDelta
    | Citation
    | Extension
    | ContentBlockStop
    | Usage
    | MessageStop
)
"""Any event of a turn: a closed union, so that a type checker proves a ``match`` exhaustive."""


@dataclass(frozen=True, slots=True)
class DecodeWarning:
    """Something odd in a stream that did not fail it.

    Attributes:
        code: What kind of oddity.
        detail: One sentence for people; its words may change.
        offset: Where the event's first ``data`` line begins, in bytes from the start of the stream.
    """

    code: WarningCode
    detail: str
    offset: int


@dataclass(frozen=True, slots=True)
class SseEvent:
    """One server-sent event (WHATWG HTML, section 9.2).

    Attributes:
        event: The event's name, ``message`` where none was given.
        data: The data lines, joined by LF.
        id: The last event id in force, None before the first.
        retry: The reconnection time in milliseconds, where this event's block gave one.
    """

    event: str
    data: str
    id: str | None = None
    retry: int | None = None
