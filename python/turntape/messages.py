"""The assembled message: what a turn's events add up to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

# At run time too: pydantic resolves the annotations in this module.
from turntape.events import DecodeWarning, StopReason, Terminal, Usage
from turntape.wire.dialect import Dialect

__all__ = [
    "AssistantMessage",
    "ContentBlock",
    "InvalidReason",
    "ProviderBlock",
    "RedactedThinkingBlock",
    "Text",
    "Thinking",
    "ToolUse",
]

InvalidReason: TypeAlias = Literal["not_complete", "malformed", "too_deep", "not_an_object"]
"""Why the arguments of a :class:`ToolUse` cannot be used."""


@dataclass(frozen=True, slots=True)
class Text:
    """What the model says.

    Attributes:
        text: The text; may be empty only where there are citations or a signature.
        citations: The provider's citations, each as raw JSON text.
        signature: The provider's proof for the text (Gemini's thought signature), None where there is
            none.
        extra: A raw JSON object of what a replay needs beside the text (Responses: the item's id and
            phase).
        type: The constant ``text``.
    """

    type: Literal["text"] = field(default="text", kw_only=True, repr=False)
    text: str
    citations: tuple[str, ...] = ()
    signature: str | None = None
    extra: str | None = None


@dataclass(frozen=True, slots=True)
class Thinking:
    """Reasoning that the provider shows.

    Attributes:
        text: The text; empty where the provider shows only its proof.
        signature: The provider's proof, which a replay sends back unchanged, None where there is none.
        type: The constant ``thinking``.
    """

    type: Literal["thinking"] = field(default="thinking", kw_only=True, repr=False)
    text: str
    signature: str | None = None


@dataclass(frozen=True, slots=True)
class RedactedThinkingBlock:
    """Reasoning that only the provider can read.

    Attributes:
        data: What the provider wants back, opaque.
        type: The constant ``redacted_thinking``.
    """

    type: Literal["redacted_thinking"] = field(
        default="redacted_thinking", kw_only=True, repr=False
    )
    data: str


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool call.

    Attributes:
        id: The call's id.
        name: The tool's name.
        arguments: The argument text as the model wrote it, byte for byte. Parse it with :attr:`input`.
        signature: The provider's proof for the call, None where there is none.
        extra: A raw JSON object of the call's other members that a replay needs.
        complete: Whether the call came whole: its block was closed, its arguments do not end in the
            middle of a JSON value and, where the turn was cut, are a whole JSON object. Never run a call
            that is not complete.
        type: The constant ``tool_use``.
    """

    type: Literal["tool_use"] = field(default="tool_use", kw_only=True, repr=False)
    id: str
    name: str
    arguments: str = ""
    signature: str | None = None
    extra: str | None = None
    complete: bool = True

    @property
    def input(self) -> dict[str, Any]:
        """The arguments, parsed: exact integers of any size, blank is ``{}``, the last of two keys wins.

        Nothing is repaired.

        Raises:
            InvalidToolArguments: The call is not complete, or its arguments are no JSON object of at most
                128 levels.
        """
        from turntape.wire.arguments import parse_arguments

        return parse_arguments(self)

    @property
    def invalid(self) -> InvalidReason | None:
        """Why :attr:`input` would raise, or None where it would not."""
        from turntape.wire.arguments import invalid_reason

        return invalid_reason(self)

    def partial_input(self) -> Any:
        """What can be shown of arguments that are still coming. For display only, never for running.

        Returns:
            The value with everything closed that is open; an unfinished key, escape, number or word is
            left out; ``{}`` where nothing can be shown yet.
        """
        from turntape.wire.arguments import partial_arguments

        return partial_arguments(self.arguments)


@dataclass(frozen=True, slots=True)
class ProviderBlock:
    """A block of the provider's own: server tools and their results, generated images, unknown types.

    Attributes:
        kind: The block's type in the provider's words.
        json: The whole block as raw JSON text, its deltas worked in.
        type: The constant ``provider_block``.
    """

    type: Literal["provider_block"] = field(default="provider_block", kw_only=True, repr=False)
    kind: str
    json: str


ContentBlock: TypeAlias = Text | Thinking | RedactedThinkingBlock | ToolUse | ProviderBlock
"""Any block of a message, told apart by ``type``."""


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """One turn of the model, whole or as far as it came.

    Attributes:
        id: The response's id.
        model: The model that answered.
        content: The blocks in the order in which they opened.
        stop_reason: Why the turn stopped; ``unknown`` while it has not.
        raw_reason: What the wire said of it.
        terminal: What on the wire ended the turn; None while nothing has.
        usage: The tokens, None where the wire gave none.
        complete: Whether the wire ended the turn. A message that is not complete must not be stored as
            the model's answer.
        reasoning_field: Under which name Chat Completions sent the reasoning, for the replay.
        dialect: The dialect that it was decoded from, None where it was assembled from events alone.
        vendor: The host's name for the provider, as it was given to the decoder.
        warnings: What was odd in the stream.
    """

    id: str | None = None
    model: str | None = None
    content: tuple[ContentBlock, ...] = ()
    stop_reason: StopReason = "unknown"
    raw_reason: str | None = None
    terminal: Terminal | None = None
    usage: Usage | None = None
    complete: bool = False
    reasoning_field: str | None = None
    dialect: Dialect | None = None
    vendor: str | None = None
    warnings: tuple[DecodeWarning, ...] = ()
