"""Redaction of values with fields: what only its maker can read, ids and names are left alone."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from turntape.conversation import CustomRecord, Message, ToolResult
from turntape.media import Audio, Document, Image, UrlSource, Video
from turntape.messages import (
    AssistantMessage,
    ProviderBlock,
    RedactedThinkingBlock,
    Text,
    Thinking,
    ToolUse,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from turntape.artifacts.redaction import ArtifactRedactor
    from turntape.replay.envelopes import NativeToolCall
    from turntape.transcript.rows import TranscriptMessage

__all__ = ["redact_json", "redact_message", "redact_row"]

_Item = TypeVar("_Item", bound=Message | AssistantMessage | CustomRecord)
_Value = TypeVar("_Value")

# The members whose strings are left alone: proofs and ciphers, base64 bytes, ids, names.
_KEPT = frozenset(
    {
        "callId", "call_id", "data", "encryptedContent", "encrypted_content", "id", "item_id", "message_id",
        "name", "previous_response_id", "redactedContent", "redacted_content", "request_id", "response_id",
        "signature", "thoughtSignature", "thought_signature", "toolName", "toolUseId", "tool_call_id",
        "tool_name", "tool_use_id",
    }
)  # fmt: skip

# What the model wrote for a tool: its members are the tool's, whatever they are called.
_ARGUMENTS = frozenset({"args", "arguments", "partial_json"})

# All that an envelope says.
_ENVELOPE = frozenset({"content", "reasoning_content", "tool_call_id", "tool_calls"})

# Raw JSON of the wire's, which holds members of the kept kind.
_RAW = frozenset({"citations", "extra", "json"})

_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_COLON = re.compile(r"[ \t\r\n]*:")
# Base64 alone, behind a type that no secret fits into: what only looks like one is searched.
_DATA_URI = re.compile(
    r"data:(?:[a-z]{1,20}/[a-z0-9+-]{1,30}(?:\.[a-z0-9+-]{1,30}){0,6})?(?:;[a-z-]{1,20}=[a-z0-9.-]{1,20})*"
    r";base64,[a-z0-9+/\s]*={0,2}\s*",
    re.IGNORECASE,
)
_GONE = "[REDACTED]"
_GONE_ARGUMENTS = '{"redacted":true}'


def redact_json(value: Any, redactor: ArtifactRedactor) -> Any:
    """Redact the strings of a JSON value.

    Left alone are the strings of members that only their maker can read (``signature``, ``data``,
    ``encrypted_content``, thought signatures), ids and names, except in the arguments of a tool; keys;
    and images as data URIs. A string that holds JSON itself, as the arguments of calls do, holds JSON
    afterwards. A member's name counts as what stands before its value, so that a rule for ``password:``
    finds ``{"password": …}``.

    Args:
        value: What ``json.loads`` gives.
        redactor: Any redactor.

    Returns:
        The value without secrets; the same object where there is none.

    >>> from turntape import RedactionRule, SecretRedactor
    >>> redact_json({"id": "1234", "pins": ["1234"]}, SecretRedactor([RedactionRule("pin", "[0-9]{4}")]))
    {'id': '1234', 'pins': ['[REDACTED:pin]']}
    """
    return _Fields(redactor).value(value, kept=True)


def redact_message(item: _Item, redactor: ArtifactRedactor) -> _Item:
    """Redact what is said in a message: texts, thoughts, arguments, results, the wire's own members.

    Signatures stay as they are, and so does redacted thinking. A provider refuses signed thinking whose
    text was changed: where that was, send the message without it.

    Args:
        item: A message, a decoded turn, or a host's record.
        redactor: Any redactor.

    Returns:
        A message without secrets; the same object where there is none.

    >>> from turntape import Message, RedactionRule, SecretRedactor
    >>> redactor = SecretRedactor([RedactionRule("pin", "[0-9]{4}")])
    >>> redact_message(Message.user("it is 1234"), redactor).content[0].text
    'it is [REDACTED:pin]'
    """
    fields = _Fields(redactor)
    if isinstance(item, CustomRecord):
        return _edit(
            item,
            payload=fields.value(item.payload, kept=True),
            display=fields.optional(item.display, fields.text),
        )
    content = _all(fields.block, item.content)
    if isinstance(item, Message):
        return _edit(item, content=content, extra=fields.raw(item.extra))
    return _edit(item, content=content)


def redact_row(row: TranscriptMessage, redactor: ArtifactRedactor) -> TranscriptMessage:
    """Redact what is said in a row: content, parts, arguments, metadata, failures, unknown members.

    Args:
        row: A row.
        redactor: Any redactor.

    Returns:
        A row without secrets, which has forgotten what it was read from; the same object where there is
        none.

    >>> from turntape import RedactionRule, SecretRedactor, TranscriptMessage
    >>> redactor = SecretRedactor([RedactionRule("pin", "[0-9]{4}")])
    >>> redact_row(TranscriptMessage.user("it is 1234"), redactor).content
    'it is [REDACTED:pin]'
    """
    from turntape.transcript.rows import (  # noqa: PLC0415 (only those who have rows need them)
        legacy_memory,
        line_memory,
    )

    fields = _Fields(redactor)
    failure = row.tool_failure
    edited = _edit(
        row,
        content=fields.content(row.content) if _may_be_packed(row) else fields.text(row.content),
        tool_calls=_all(fields.call, row.tool_calls),
        parts=None if row.parts is None else _all(fields.part, row.parts),
        extra_metadata=fields.optional(row.extra_metadata, fields.members),
        tool_failure=failure and _edit(failure, detail=fields.text(failure.detail)),
        extra=fields.members(row.extra),
    )
    if edited is not row:
        return edited
    # What it was read from may hold what no field does, and would be written back.
    packed = legacy_memory(row)
    if packed is not None and fields.content(packed) != packed:
        return replace(row)
    line = line_memory(row)
    if line is not None:
        text = line.decode("utf-8", "replace")
        if fields.embedded(text, kept=True) != text:
            return replace(row)
    return row


def _edit(value: _Value, **fields: Any) -> _Value:
    """The value with those fields that are other objects than they were; itself where none is."""
    changed = {name: new for name, new in fields.items() if new is not getattr(value, name)}
    if not changed:
        return value
    edited: _Value = replace(cast("Any", value), **changed)
    return edited


def _all(redact: Callable[[Any], Any], items: tuple[Any, ...]) -> tuple[Any, ...]:
    redacted = tuple(redact(item) for item in items)
    same = all(new is old for new, old in zip(redacted, items, strict=True))
    return items if same else redacted


class _Fields:
    """Redacts the fields of values with one redactor. What holds no secret is given back itself."""

    def __init__(self, redactor: ArtifactRedactor) -> None:
        self._redactor = redactor

    def _plain(self, text: str) -> str:
        redacted = self._redactor.redact(text).text
        return text if redacted == text else redacted

    @staticmethod
    def optional(value: Any, redact: Any) -> Any:
        return None if value is None else redact(value)

    # Texts ----------------------------------------------------------------------------------------

    def text(self, text: str) -> str:
        """What somebody said: free text, or JSON whose members are nobody's but theirs."""
        if _DATA_URI.fullmatch(text):
            return text
        return self.embedded(text, kept=False, strict=False)

    def content(self, text: str) -> str:
        """The content of a row: what somebody said, or the envelope of a turn."""
        from turntape.replay.envelopes import (  # noqa: PLC0415
            parse_assistant_envelope,
            parse_tool_envelope,
        )

        if text.lstrip().startswith("{"):
            try:
                envelope = parse_assistant_envelope(text) or parse_tool_envelope(text)
            except UnicodeEncodeError:
                envelope = None
            # What is in it beside an envelope's own members is nobody's but a tool's.
            if envelope is not None and _ENVELOPE.issuperset(json.loads(text)):
                return self.embedded(text, kept=True)
        return self.text(text)

    def raw(self, text: str | None) -> str | None:
        """Raw JSON of a wire's."""
        return None if text is None else self.embedded(text, kept=True)

    def arguments(self, text: str) -> str:
        """The argument text of a call."""
        return self.embedded(text, kept=False)

    def url(self, url: str) -> str:
        return url if _DATA_URI.fullmatch(url) else self._plain(url)

    def embedded(self, text: str, *, kept: bool, strict: bool = True) -> str:
        """A string that may hold JSON, which it does afterwards if ``strict``.

        Args:
            text: The string.
            kept: Whether members of the kept kind are left alone.
            strict: Whether it may not come out as anything but JSON.
        """
        if not (text.lstrip()[:1] in ("{", "[", '"') and _is_json(text)):
            return self._plain(text)
        try:
            edited = self._literals(text, kept=kept)
        except RecursionError:
            edited, kept = text, False
        if kept:
            return edited
        # Once more as a text: for what stands around a value, and what is no string.
        whole = self._plain(edited)
        if whole == edited or not strict or _is_json(whole):
            return whole
        return _GONE_ARGUMENTS

    def _literals(self, text: str, *, kept: bool) -> str:
        """JSON text with its strings redacted one by one; everything else stays byte for byte."""
        leaves = _leaves(json.loads(text, object_pairs_hook=_Pairs), None, kept=kept)
        pieces: list[str] = []
        at = 0
        for match in _STRING.finditer(text):
            literal = match.group()
            if _COLON.match(text, match.end()):
                continue
            value, name, kept_here = next(leaves)
            # What is spelt as it reads is seen when the whole is searched as a text.
            if kept or "\\" in literal:
                redacted = self._member(value, name, kept=kept_here)
                if redacted is not value:
                    pieces += (text[at : match.start()], _literal(redacted))
                    at = match.end()
        return "".join((*pieces, text[at:])) if pieces else text

    # Values ---------------------------------------------------------------------------------------

    def value(self, value: Any, *, kept: bool) -> Any:
        """Any JSON value."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return self.members(cast("Mapping[str, Any]", value), kept=kept)
        if isinstance(value, list | tuple):
            items = tuple(cast("tuple[Any, ...]", value))
            redacted = _all(lambda item: self.value(item, kept=kept), items)
            if redacted is items:
                return cast("Any", value)
            return list(redacted) if isinstance(value, list) else redacted
        return value

    def members(self, members: Mapping[str, Any], *, kept: bool = True) -> Mapping[str, Any]:
        """An object."""
        call = _is_call(members)
        redacted: dict[str, Any] = {}
        changed = False
        for name, value in members.items():
            new: Any
            if isinstance(value, str):
                new = self._member(value, name, kept=kept)
            else:
                arguments = _is_arguments(name, value, call=call)
                new = self.value(value, kept=kept and not arguments)
            changed = changed or new is not value
            redacted[name] = new
        return redacted if changed else members

    def _member(self, value: str, name: str | None, *, kept: bool) -> str:
        """A string that is a member of that name; None for an item of a list."""
        if kept and name in _KEPT:
            return value
        if name in _ARGUMENTS:
            return self.arguments(value)
        if kept and name in _RAW:
            return self.embedded(value, kept=True)
        redacted = self.text(value)
        return redacted if name is None else self._after(name, redacted)

    def _after(self, name: str, value: str) -> str:
        """A value as it stands behind its name."""
        if not value or _DATA_URI.fullmatch(value):
            return value
        member = json.dumps({name: value}, ensure_ascii=False)
        redacted = self._plain(member)
        if redacted == member:
            return value
        try:
            (new,) = json.loads(redacted).values()
        except (ValueError, AttributeError):
            new = _GONE
        if new == value:
            return value
        return new if isinstance(new, str) else _GONE

    # Parts of messages ----------------------------------------------------------------------------

    def block(self, block: Any) -> Any:  # noqa: PLR0911 (one return a kind of block)
        """A block of a message."""
        match block:
            case Text():
                return _edit(
                    block,
                    text=self.text(block.text),
                    citations=_all(self.raw, block.citations),
                    extra=self.raw(block.extra),
                )
            case Thinking():
                return _edit(block, text=self.text(block.text))
            case RedactedThinkingBlock():
                return block
            case ToolUse():
                return _edit(
                    block, arguments=self.arguments(block.arguments), extra=self.raw(block.extra)
                )
            case ProviderBlock():
                return _edit(block, json=self.raw(block.json))
            case ToolResult():
                said = block.content
                answer = self.text(said) if isinstance(said, str) else _all(self.block, said)
                return _edit(block, content=answer, extra=self.raw(block.extra))
            case Image() | Audio() | Video() | Document():
                source = block.source
                if isinstance(source, UrlSource):
                    source = _edit(source, url=self.url(source.url))
                return _edit(block, source=source, extra=self.raw(block.extra))
            case _:
                raise TypeError(f"{type(block).__name__} is no block of a message")

    def call(self, call: NativeToolCall) -> NativeToolCall:
        """A call of a row."""
        return _edit(
            call,
            arguments=self.arguments(call.arguments),
            extra_content=self.value(call.extra_content, kept=True),
        )

    def part(self, part: Any) -> Any:
        """A part of a row: a text, an image, or a reference."""
        if part.type == "text":
            return _edit(part, text=self.text(part.text))
        if part.type == "image":
            return _edit(part, url=self.url(part.url))
        if part.source.type == "url":
            return _edit(part, source=_edit(part.source, url=self.url(part.source.url)))
        return part


def _may_be_packed(row: TranscriptMessage) -> bool:
    """Whether a content may be the envelope of a turn; of a user it is what the user said."""
    if row.role == "assistant":
        return not row.tool_calls
    return row.role == "tool" and row.tool_call_id is None


def _is_call(members: Mapping[str, Any]) -> bool:
    """Whether an object is the call of a tool, whose input is the tool's."""
    kind = members.get("type")
    return "toolUseId" in members or (isinstance(kind, str) and kind.endswith("tool_use"))


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


class _Pairs(list[tuple[str, Any]]):
    """An object of JSON text, with members of the same name and all."""


def _leaves(value: Any, name: str | None, *, kept: bool) -> Iterator[tuple[str, str | None, bool]]:
    """The strings of a value in the order of its text, each with its name and whether names keep it."""
    if isinstance(value, str):
        yield value, name, kept
    elif isinstance(value, _Pairs):
        call = _is_call(dict(value))
        for member, item in value:
            arguments = _is_arguments(member, item, call=call)
            yield from _leaves(item, member, kept=kept and not arguments)
    elif isinstance(value, list):
        for item in cast("Any", value):
            yield from _leaves(item, None, kept=kept)


def _is_arguments(name: str, value: Any, *, call: bool) -> bool:
    """Whether a member is what the model wrote for a tool, as a value and not as a string."""
    return not isinstance(value, str) and (name in _ARGUMENTS or (call and name == "input"))


def _literal(value: str) -> str:
    """A string of JSON, readable where UTF-8 can hold it."""
    literal = json.dumps(value, ensure_ascii=False)
    try:
        literal.encode()
    except UnicodeEncodeError:
        return json.dumps(value)
    return literal
