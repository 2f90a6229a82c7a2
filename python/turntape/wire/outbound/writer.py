"""What writing a history has in common, whatever the wire."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from turntape._native import check_arguments
from turntape.errors import InvalidRequest, UnsupportedContent
from turntape.media import PathSource
from turntape.wire.outbound.media import WireMedia, checked
from turntape.wire.outbound.parts import MEDIA_TYPES, Call
from turntape.wire.outbound.raw import EMPTY_OBJECT, extra_members, raw_object
from turntape.wire.outbound.surrogates import mended_json, mended_text
from turntape.wire.raw_json import RawJson

if TYPE_CHECKING:
    from turntape.conversation import Message, ToolResult
    from turntape.media import MediaBlock
    from turntape.messages import ProviderBlock, RedactedThinkingBlock, Text, Thinking, ToolUse
    from turntape.replay.mapping import Distinct
    from turntape.replay.pairing import History, Placed
    from turntape.wire.outbound.media import Medium
    from turntape.wire.outbound.names import Names
    from turntape.wire.outbound.notes import Notes
    from turntape.wire.outbound.parameters import Parameters, Tool
    from turntape.wire.outbound.parts import Part, Written
    from turntape.wire.outbound.plain import PlainRun
    from turntape.wire.outbound.target import Origin, Target

__all__ = ["Writer"]

_NO_EXTRA: dict[str, Any] = {}


class _Refused(dict[str, Any]):
    """What writes the blocks of one role; a block of another role is an error."""

    def __init__(self, where: str, writers: dict[str, Any]) -> None:
        super().__init__(writers)
        self._where = where

    def __missing__(self, kind: str) -> Any:
        raise InvalidRequest(f"{kind!r} stands {self._where}, not here")


class Writer(ABC):
    """Writes the messages of a history, one after the other, never looking ahead.

    Attributes:
        trace: What was written, in order: the place in the history, the part, and whether it is thinking.
            Cache marks and what only the end of a history asks for are not in it, so that it tells
            whether a prefix is the same.
        id_map: Of each id, the ids that were sent for its uses, in order.
        is_blank_empty: Whether text of white space alone is refused like empty text.
        has_citations: Whether texts can carry citations.
        signs_texts: Whether texts can carry signatures.
        signs_calls: Whether calls can.
        media: What the wire has a place for in messages of the user.
        result_media: The kinds of media that may stand in results.
    """

    is_blank_empty: ClassVar[bool] = False
    has_citations: ClassVar[bool] = False
    signs_texts: ClassVar[bool] = False
    signs_calls: ClassVar[bool] = False
    media: ClassVar[WireMedia] = WireMedia({}, frozenset())
    result_media: ClassVar[frozenset[str]] = frozenset()

    _of_user: ClassVar[dict[str, Any]]
    _of_assistant: ClassVar[dict[str, Any]]

    def __init__(
        self,
        target: Target,
        notes: Notes,
        ids: Distinct,
        names: Names,
        without_thinking: frozenset[int],
    ) -> None:
        self.target = target
        self._origins = target.origins
        self.notes = notes
        self.ids = ids
        self.names = names
        self.without_thinking = without_thinking
        self.trace: list[Written | PlainRun] = []
        self.id_map: dict[str, list[str]] = {}
        self._calls: dict[str, list[Call]] = {}
        self._order = 0

    def __init_subclass__(cls) -> None:
        """Find what writes a block of each type, by who says it.

        The class holds it: methods bound to a writer would keep it, and all it wrote, until garbage is
        collected.
        """
        super().__init_subclass__()
        said: dict[str, Any] = {"text": cls._text, "provider_block": cls.provider_part}
        cls._of_user = _Refused(
            "in a turn of the model's", said | dict.fromkeys(MEDIA_TYPES, cls.medium)
        )
        cls._of_assistant = _Refused(
            "in a message of the user's",
            said
            | dict.fromkeys(MEDIA_TYPES, cls.assistant_media)
            | {
                "tool_use": cls._call,
                "thinking": cls._thinking,
                "redacted_thinking": cls._redacted,
            },
        )

    # What each wire says in its own way -------------------------------------------------------------

    @abstractmethod
    def text_part(self, block: Text, text: str, placed: Placed, origin: Origin) -> Part:
        """A text."""

    @abstractmethod
    def signed_part(self, block: Thinking, placed: Placed, origin: Origin) -> Part | None:
        """Signed thinking that counts here; None where this wire cannot say it."""

    @abstractmethod
    def redacted_part(self, block: RedactedThinkingBlock, placed: Placed) -> Part | None:
        """Redacted thinking that counts here; None where this wire cannot say it."""

    @abstractmethod
    def call_part(self, call: Call, placed: Placed, origin: Origin) -> Part:
        """A call."""

    @abstractmethod
    def media_part(self, medium: Medium, block: MediaBlock, extra: dict[str, Any]) -> Part:
        """A medium in a message of the user."""

    @abstractmethod
    def result_part(
        self, call: Call, result: ToolResult, placed: Placed, place: int, origin: Origin
    ) -> Part:
        """A result."""

    @abstractmethod
    def write_assistant(self, placed: Placed, parts: list[Part], origin: Origin) -> None:
        """A message of the model's, of which something is left."""

    @abstractmethod
    def write_user(
        self, placed: Placed, results: list[tuple[Call, Part]], parts: list[Part], origin: Origin
    ) -> None:
        """A message of the user's, of which perhaps nothing is left."""

    @abstractmethod
    def write_system(self, placed: Placed, texts: list[str]) -> None:
        """A system message between the others."""

    @abstractmethod
    def body(
        self, parameters: Parameters, system: list[str], tools: list[Tool | RawJson]
    ) -> dict[str, Any]:
        """The body, with the history that was written.

        Args:
            parameters: The parameters.
            system: The system texts.
            tools: The tools.

        Raises:
            InvalidRequest: What the wire wants is missing, or something is refused.
        """

    # The walk ---------------------------------------------------------------------------------------

    def write(self, history: History, stop: int) -> None:
        """Write a history in which calls and results pair.

        Args:
            history: The history.
            stop: The first message that a cache mark may be wanted at, counted as the history has them.

        Raises:
            InvalidRequest: Something cannot be sent.
        """
        for placed in history:
            self.write_message(placed)

    def write_message(self, placed: Placed) -> None:
        """Write the next message."""
        role = placed.message.role
        if role == "assistant":
            self._assistant(placed)
        elif role == "user":
            self._user(placed)
        else:
            self._system(placed)

    def _assistant(self, placed: Placed) -> None:
        message, index = placed.message, placed.index
        origin = self._origins[message.vendor, message.model, message.dialect]
        self._calls = {}
        self._order = 0
        parts: list[Part] = []
        write = self._of_assistant
        for place, block in enumerate(placed.content):
            try:
                part = write[block.type](self, block, placed, origin)
            except InvalidRequest as error:
                raise _at(error, index, place) from None
            if part is not None:
                parts.append(part)
        if parts:
            self.write_assistant(placed, parts, origin)
        elif not placed.content:
            self.notes.add("empty_text_dropped", index, "the message is empty and is left out")

    def _user(self, placed: Placed) -> None:
        message, index = placed.message, placed.index
        origin = self._origins[message.vendor, message.model, message.dialect]
        results: list[tuple[Call, Part]] = []
        parts: list[Part] = []
        write = self._of_user
        for place, block in enumerate(placed.content):
            try:
                if block.type == "tool_result":
                    call = self._calls[block.tool_use_id].pop(0)
                    results.append((call, self.result_part(call, block, placed, place, origin)))
                    continue
                part = write[block.type](self, block, placed, origin)
            except InvalidRequest as error:
                raise _at(error, index, place) from None
            if part is not None:
                parts.append(part)
        self.write_user(placed, results, parts, origin)

    def _system(self, placed: Placed) -> None:
        texts: list[str] = []
        for place, block in enumerate(placed.content):
            if block.type != "text":
                error = InvalidRequest(f"a system message holds texts, not {block.type!r}")
                raise _at(error, placed.index, place)
            text = self.said(block.text, placed.index)
            if text:
                texts.append(text)
            else:
                self._left_out(placed.index)
        if texts:
            self.write_system(placed, texts)

    # Blocks -----------------------------------------------------------------------------------------

    def _text(self, block: Text, placed: Placed, origin: Origin) -> Part | None:
        text = block.text
        if not text.isascii():
            text = self.clean(text, placed.index)
        if (not text or (self.is_blank_empty and text.isspace())) and not self.keeps_empty(
            block, origin
        ):
            self._left_out(placed.index)
            return None
        if block.citations or block.signature is not None:
            self._note_unsaid(block, placed, origin)
        return self.text_part(block, text, placed, origin)

    def _note_unsaid(self, block: Text, placed: Placed, origin: Origin) -> None:
        """Note what a text carries that goes back to its own wire alone."""
        if block.citations and not (origin.is_own_wire and self.has_citations):
            self.notes.add(
                "content_unsupported", placed.index, "the citations of a text are left out"
            )
        signed_here = self.signs_texts and origin.is_own_wire and origin.is_signed_for
        if block.signature is not None and not signed_here:
            self.drop_reasoning(placed.index, "the signature of a text means nothing here")

    def keeps_empty(self, block: Text, origin: Origin) -> bool:
        """Whether an empty text goes out because of what it carries."""
        return False

    def _call(self, block: ToolUse, placed: Placed, origin: Origin) -> Part:
        index = placed.index
        sent_id = self.sent_id(block, placed, origin)
        extra = _NO_EXTRA
        if block.extra is not None and origin.is_own_wire:
            extra = extra_members(block.extra, f"the call {block.id!r}", index, self.notes)
        name = self.names.sent(block.name, index)
        call = Call(block, sent_id, name, self._order, extra)
        self._order += 1
        waiting = self._calls.get(block.id)
        if waiting is None:
            self._calls[block.id] = [call]
        else:
            waiting.append(call)
        if block.signature is not None and not self.signs_calls:
            self.drop_reasoning(index, f"the signature of {block.id!r} means nothing here")
        return self.call_part(call, placed, origin)

    def sent_id(self, block: ToolUse, placed: Placed, origin: Origin) -> str:
        """The id of a call as it is sent, noted where it is another."""
        sent = self.ids.take(block.id)
        earlier = self.id_map.get(block.id)
        if earlier is None:
            self.id_map[block.id] = [sent]
        else:
            earlier.append(sent)
        if sent != block.id:
            self.notes.add("id_mapped", placed.index, f"{block.id!r} is sent as {sent!r}")
        return sent

    def _thinking(self, block: Thinking, placed: Placed, origin: Origin) -> Part | None:
        if placed.index in self.without_thinking:
            self.drop_reasoning(placed.index, "what stands before it has changed")
            return None
        if block.signature is None:
            return self.unsigned_part(block, placed, origin)
        if not origin.is_signed_for:
            self.drop_reasoning(placed.index, "its signature means nothing here")
            return None
        part = self.signed_part(block, placed, origin)
        if part is None:
            self.drop_reasoning(placed.index, "its signature cannot be sent on this wire")
            return None
        return part

    def unsigned_part(self, block: Thinking, placed: Placed, origin: Origin) -> Part | None:
        """Thinking without a signature, which most wires do not want back."""
        self.drop_reasoning(placed.index, "it is not signed")
        return None

    def _redacted(
        self, block: RedactedThinkingBlock, placed: Placed, origin: Origin
    ) -> Part | None:
        if placed.index in self.without_thinking:
            self.drop_reasoning(placed.index, "what stands before it has changed")
            return None
        part = self.redacted_part(block, placed) if origin.is_signed_for else None
        if part is None:
            self.drop_reasoning(placed.index, "what is redacted means nothing here")
            return None
        return part

    def drop_reasoning(self, index: int, why: str) -> None:
        """Note that thinking is left out."""
        self.notes.add("reasoning_dropped", index, f"thinking is left out: {why}")

    def provider_part(self, block: ProviderBlock, placed: Placed, origin: Origin) -> Part | None:
        """A block of the provider's own: as it stands to where it came from, left out elsewhere."""
        if not origin.is_own_wire:
            self.notes.add(
                "content_unsupported", placed.index, f"{block.kind!r} is left out: another wire's"
            )
            return None
        return raw_object(block.json, f"the block {block.kind!r}", placed.index, self.notes)

    def assistant_media(self, block: Any, placed: Placed, origin: Origin) -> Part | None:
        """A medium in a turn of the model's, which most wires have no place for."""
        self.notes.add(
            "content_unsupported", placed.index, f"{block.type!r} of the model's is left out"
        )
        return None

    def medium(self, block: MediaBlock, placed: Placed, origin: Origin) -> Part | None:
        """A medium, or the text that stands in for it under repair.

        Raises:
            InvalidRequest: It cannot be sent.
        """
        medium = self.checked_medium(block, placed.index)
        if medium is None:
            return self.plain_text(self.placeholder(block))
        return self.media_part(medium, block, self.media_extra(block, placed.index, origin))

    def media_extra(self, block: MediaBlock, index: int, origin: Origin) -> dict[str, Any]:
        """What the wire's part carries beside a medium."""
        if block.extra is None or not origin.is_own_wire:
            return _NO_EXTRA
        return extra_members(block.extra, f"the {block.type}", index, self.notes)

    def checked_medium(
        self, block: MediaBlock, index: int, *, kinds: frozenset[str] | None = None
    ) -> Medium | None:
        """A medium that can be sent; None for one that cannot, under repair, noted.

        Args:
            block: The medium.
            index: Its message.
            kinds: The only kinds that may stand there; None for all of the wire's.

        Raises:
            InvalidRequest: It cannot be sent.
        """
        try:
            if kinds is not None and block.type not in kinds:
                raise UnsupportedContent(f"a result takes no {block.type} here")
            medium = checked(block, self.media, self.target.capabilities)
        except InvalidRequest as error:
            if not self.target.repairs or isinstance(block.source, PathSource):
                raise
            self.notes.add("image_placeholder", index, f"a text stands in: {error}")
            return None
        if medium.url is not None:
            medium = replace(medium, url=self.clean(medium.url, index))
        if medium.correction is not None:
            self.notes.add("media_type_corrected", index, medium.correction)
        return medium

    def placeholder(self, block: MediaBlock) -> str:
        """The text that stands in for a medium."""
        return self.target.texts.media_placeholder.replace("{kind}", block.type)

    @abstractmethod
    def plain_text(self, text: str) -> Part:
        """A text that building puts in itself."""

    # Text and arguments -----------------------------------------------------------------------------

    def clean(self, text: str, index: int) -> str:
        """A text that UTF-8 can hold."""
        if text.isascii():
            return text
        mended = mended_text(text)
        if mended is None:
            return text
        self.notes.add("surrogate_replaced", index, "half a surrogate pair in a text")
        return mended

    def said(self, text: str, index: int) -> str:
        """The same, empty where it says nothing, as this wire sees it."""
        if not text.isascii():
            text = self.clean(text, index)
        return "" if self.is_blank_empty and text.isspace() else text

    def is_empty(self, text: str) -> bool:
        """Whether a text says nothing, as this wire sees it."""
        return not text or (self.is_blank_empty and text.isspace())

    def _left_out(self, index: int) -> None:
        self.notes.add("empty_text_dropped", index, "a text that says nothing is left out")

    def arguments_text(self, block: ToolUse, index: int) -> str:
        """Arguments for a wire that takes a string: as the model wrote them, ``{}`` for blank ones."""
        text = block.arguments
        if not text or text.isspace():
            return "{}"
        mended = mended_json(text)
        if mended is not None:
            self.notes.add(
                "surrogate_replaced",
                index,
                f"half a surrogate pair in the arguments of {block.id!r}",
            )
            return mended
        return text

    def arguments_object(self, block: ToolUse, index: int) -> RawJson:
        """Arguments for a wire that takes an object: the same JSON text, ``{}`` where they are none."""
        text = block.arguments
        if text == "{}":
            return EMPTY_OBJECT
        # Escapes and letters beyond ASCII are looked at, blank texts and the rest are not.
        if "\\u" in text or not text.isascii() or not text or text.isspace():
            text = self.arguments_text(block, index)
        fault = check_arguments(text)
        if fault is not None:
            self.notes.add(
                "arguments_replaced",
                index,
                f"the arguments of {block.id!r} are sent as {{}}: {fault[1]}",
            )
            return EMPTY_OBJECT
        return RawJson(text)

    def moved_system(self, texts: list[str]) -> str:
        """The text of a system message that may not stay where it is, between its marker lines."""
        said = self.target.texts
        return "\n".join((said.system_open, "\n\n".join(texts), said.system_close))

    def extra_of(self, extra: str, what: str, index: int) -> dict[str, Any]:
        """The members of an ``extra``, which go back to the wire that they came from."""
        return extra_members(extra, what, index, self.notes)

    def message_extra(self, message: Message, index: int, origin: Origin) -> dict[str, Any]:
        """What the wire's message carries beside role and content."""
        if message.extra is None or not origin.is_own_wire:
            return _NO_EXTRA
        try:
            return extra_members(message.extra, "the message", index, self.notes)
        except InvalidRequest as error:
            raise InvalidRequest(str(error), index=index) from None


def _at(error: InvalidRequest, index: int, place: int) -> InvalidRequest:
    """The error with its place, which what found it did not know."""
    if error.index is not None:
        return error
    return type(error)(str(error), index=index, block=place)
