r"""Replay envelopes: an assistant turn with tool calls, or a tool's result, packed into one string.

A flat chat history has only a role and a content. What does not fit into a text is therefore packed into
the content as JSON, in one canonical form (v1): compact, keys sorted by their UTF-8 bytes at every level,
one spelling for every string and every number.

>>> call = NativeToolCall("c1", "shell", '{"command":"ls"}')
>>> envelope = encode_assistant_envelope("on it", [call])
>>> print(envelope)
{"content":"on it","tool_calls":[{"arguments":"{\"command\":\"ls\"}","id":"c1","name":"shell"}]}
>>> parse_canonical_assistant_envelope(envelope).tool_calls == (call,)
True
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from turntape._native import (
    encode_assistant_envelope,
    encode_tool_envelope,
    explain_not_canonical,
    extra_content_text,
    parse_assistant_envelope,
    parse_canonical_assistant_envelope,
    parse_canonical_tool_envelope,
    parse_tool_envelope,
    read_extra_content,
)
from turntape.errors import EnvelopeError

if TYPE_CHECKING:
    from turntape.messages import ToolUse

__all__ = [
    "AssistantEnvelope",
    "EnvelopeError",
    "NativeToolCall",
    "NonCanonical",
    "NonCanonicalCode",
    "ToolEnvelope",
    "encode_assistant_envelope",
    "encode_tool_envelope",
    "explain_not_canonical",
    "parse_assistant_envelope",
    "parse_canonical_assistant_envelope",
    "parse_canonical_tool_envelope",
    "parse_tool_envelope",
]

NonCanonicalCode: TypeAlias = Literal[
    "not_json",
    "not_an_envelope",
    "null_content",
    "reasoning",
    "extra_member",
    "key_order",
    "whitespace",
    "escape",
    "number",
    "duplicate_key",
    "null_extra",
]
"""Why a text is not a canonical envelope. Of several at one place the first in this order is named."""


# Slots by hand: `@dataclass(slots=True)` makes slots of fields only, and the text that `extra_content` was
# read from is no field. It must neither be compared nor be shown nor survive `dataclasses.replace`.
@dataclass(frozen=True, init=False)
class NativeToolCall:
    """A tool call of an envelope.

    Two calls are equal if their values are; the hash leaves ``extra_content`` out, which may be a dict.

    Attributes:
        id: The call's id.
        name: The tool's name.
        arguments: The provider's argument text, byte for byte, never parsed.
        extra_content: A JSON value that the provider wants back on this call, such as a thought signature;
            None where there is none. Read from a canonical envelope it keeps its exact text beside it, which
            is written again as long as the value still says the same.

    >>> NativeToolCall("c1", "shell", "{}", {"google": {"thought_signature": "s"}}).extra_content
    {'google': {'thought_signature': 's'}}
    """

    __slots__ = ("_extra_text", "arguments", "extra_content", "id", "name")

    id: str
    name: str
    arguments: str
    extra_content: Any

    def __init__(
        self,
        id: str,  # noqa: A002 (what it is called on every wire)
        name: str,
        arguments: str,
        extra_content: Any = None,
    ) -> None:
        """Make a call from its parts; whether they can be written shows when they are."""
        _set(self, "id", id)
        _set(self, "name", name)
        _set(self, "arguments", arguments)
        _set(self, "extra_content", extra_content)
        _set(self, "_extra_text", None)

    def __hash__(self) -> int:
        """Hash what cannot be a dict."""
        return hash((self.id, self.name, self.arguments))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy with the exact text of ``extra_content``."""
        text: str | None = object.__getattribute__(self, "_extra_text")
        return _call, (self.id, self.name, self.arguments, self.extra_content, text)

    @classmethod
    def from_tool_use(cls, use: ToolUse) -> NativeToolCall:
        """Take the call of a decoded turn, with the ``extra_content`` of its ``extra``.

        What only its own wire can say of it, such as its signature, an envelope does not carry.

        Raises:
            EnvelopeError: The call is not complete, which an envelope cannot say, or its ``extra`` holds
                what no envelope can.
        """
        if not use.complete:
            message = (
                f"complete: the call of {use.name!r} is not complete: its arguments may be cut"
            )
            raise EnvelopeError(message, field="complete")
        extra = None if use.extra is None else read_extra_content(use.extra)
        if extra is None:
            return cls(use.id, use.name, use.arguments)
        return _call(use.id, use.name, use.arguments, *extra)

    def to_tool_use(self) -> ToolUse:
        """Give the call as a block of a message.

        Raises:
            EnvelopeError: ``extra_content`` holds what no envelope can.
        """
        from turntape.messages import ToolUse  # noqa: PLC0415 (it imports what imports this module)

        text = extra_content_text(self)
        extra = None if text is None else f'{{"extra_content":{text}}}'
        return ToolUse(self.id, self.name, self.arguments, extra=extra)


_set = object.__setattr__
# A default in the class body would be in the way of the slot; whoever asks the fields learns of it here.
NativeToolCall.__dataclass_fields__["extra_content"].default = None


def _call(
    id: str,  # noqa: A002
    name: str,
    arguments: str,
    extra_content: Any,
    text: str | None,
) -> NativeToolCall:
    call = NativeToolCall(id, name, arguments, extra_content)
    _set(call, "_extra_text", text)
    return call


@dataclass(frozen=True, slots=True)
class AssistantEnvelope:
    """An assistant turn that made tool calls, as it was read.

    It carries no authority: nothing may run a call because a string parsed.

    Attributes:
        content: What the model said; the empty text where the envelope had null, nothing or no string.
        tool_calls: The calls in their order; at least one.
        reasoning_content: The reasoning, None where the envelope had none. Never in a canonical one.
    """

    content: str
    tool_calls: tuple[NativeToolCall, ...]
    reasoning_content: str | None = None


@dataclass(frozen=True, slots=True)
class ToolEnvelope:
    """A tool's result, as it was read.

    Attributes:
        tool_call_id: The id of the call that it answers.
        content: The result; the empty text where the envelope had null, nothing or no string.
    """

    tool_call_id: str
    content: str


@dataclass(frozen=True, slots=True)
class NonCanonical:
    """Why the strict parsers refuse a text.

    Attributes:
        code: The reason.
        offset: The first byte, in UTF-8 and counted from 0, that the encoder would write differently; of a
            number its first byte, of what is no JSON or no envelope the first byte at fault.
    """

    code: NonCanonicalCode
    offset: int
