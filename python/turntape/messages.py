"""The assembled message: what a turn's events add up to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

# At run time too: pydantic resolves the annotations in this module.
from turntape.dict_form import DictForm
from turntape.events import DecodeWarning, StopReason, Terminal, Usage
from turntape.wire.dialect import Dialect

if TYPE_CHECKING:
    from collections.abc import MutableSequence

    from turntape.conversation import Message
    from turntape.notes import ReplayNote

__all__ = [
    "AssistantBlock",
    "AssistantMessage",
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
class Text(DictForm):
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
class Thinking(DictForm):
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
class RedactedThinkingBlock(DictForm):
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
class ToolUse(DictForm):
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
class ProviderBlock(DictForm):
    """A block of the provider's own: server tools and their results, generated images, unknown types.

    Attributes:
        kind: The block's type in the provider's words.
        json: The whole block as raw JSON text, its deltas worked in.
        type: The constant ``provider_block``.
    """

    type: Literal["provider_block"] = field(default="provider_block", kw_only=True, repr=False)
    kind: str
    json: str


AssistantBlock: TypeAlias = Text | Thinking | RedactedThinkingBlock | ToolUse | ProviderBlock
"""Any block of a turn of the model's, told apart by ``type``."""


@dataclass(frozen=True, slots=True)
class AssistantMessage(DictForm):
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
    content: tuple[AssistantBlock, ...] = ()
    stop_reason: StopReason = "unknown"
    raw_reason: str | None = None
    terminal: Terminal | None = None
    usage: Usage | None = None
    complete: bool = False
    reasoning_field: str | None = None
    dialect: Dialect | None = None
    vendor: str | None = None
    warnings: tuple[DecodeWarning, ...] = ()

    def to_message(
        self,
        *,
        allow_incomplete: bool = False,
        notes: MutableSequence[ReplayNote] | None = None,
    ) -> Message:
        """The turn as a message of a history, with everything that a replay needs.

        Args:
            allow_incomplete: Whether a turn that is not complete becomes one as well. Calls that are not
                complete, thinking that is not signed, and a block of the provider's own at the very end
                are then left out.
            notes: Gets a note for each block that was left out; ``index`` is the block's place.

        Raises:
            IncompleteTurn: The turn is not complete, and ``allow_incomplete`` is not given.

        >>> turn = AssistantMessage(content=(Text("Hi."),), complete=True, stop_reason="end_turn")
        >>> turn.to_message().role
        'assistant'
        """
        from turntape.turns import message_of_turn

        return message_of_turn(self, allow_incomplete=allow_incomplete, notes=notes)

    def to_envelope(self, *, reasoning: bool = False) -> str:
        """Pack a turn with tool calls into one string, for a history of roles and contents.

        It carries the text blocks, joined, and the calls with their ``extra_content``. Signatures, citations
        and the provider's own blocks it does not; thoughts only on request.

        Args:
            reasoning: Whether the thoughts go along as ``reasoning_content``, joined by blank lines, for
                providers that want them back. Such an envelope is not canonical.

        Raises:
            EnvelopeError: The turn or a call is not complete, it calls no tool, or a value cannot be written.

        >>> turn = AssistantMessage(content=(Text("on it"), ToolUse("c1", "ls", "{}")), complete=True)
        >>> turn.to_envelope()
        '{"content":"on it","tool_calls":[{"arguments":"{}","id":"c1","name":"ls"}]}'
        """
        from turntape.replay.turns import envelope_of

        return envelope_of(self, reasoning=reasoning)

    @staticmethod
    def from_envelope(envelope: str, /) -> AssistantMessage | None:
        """Unpack a turn from an assistant envelope, canonical or not; None where the text is none.

        The turn counts as complete, because only complete ones are packed. It is history and carries no
        authority: nothing may run a call because a string parsed.

        >>> AssistantMessage.from_envelope('{"tool_calls":[{"arguments":"{}","id":"c1","name":"ls"}]}').content
        (ToolUse(id='c1', name='ls', arguments='{}', signature=None, extra=None, complete=True),)
        """
        from turntape.replay.turns import message_of

        return message_of(envelope)
