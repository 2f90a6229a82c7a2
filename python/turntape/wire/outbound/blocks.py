"""Wires on which the roles alternate and a message is a list of blocks: Anthropic, Bedrock, Gemini."""

from __future__ import annotations

from abc import abstractmethod
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar

from turntape.errors import InvalidRequest
from turntape.replay.mapping import FORMS_OF_IDS, FORMS_OF_NAMES, Distinct
from turntape.replay.pairing import Placed
from turntape.wire.outbound.caching import AUTOMATIC_MARKS, plan_marks
from turntape.wire.outbound.names import Names
from turntape.wire.outbound.notes import Notes
from turntape.wire.outbound.parts import MEDIA_TYPES, Call, WireMessage
from turntape.wire.outbound.plain import PlainRun, Spelling
from turntape.wire.outbound.writer import Writer
from turntape.wire.raw_json import RawJson, write_json

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Set as AbstractSet

    from turntape.conversation import ToolResult
    from turntape.messages import Text
    from turntape.replay.pairing import History
    from turntape.requests import CachePolicy
    from turntape.wire.outbound.caching import Marks
    from turntape.wire.outbound.parts import Part, Written
    from turntape.wire.outbound.target import Origin

__all__ = ["AlternatingWriter"]


_NONE: frozenset[int] = frozenset()

_part_of = itemgetter(1)


def _is_markable(written: Written) -> bool:
    """Whether a part may carry a cache mark: not thinking, and not what goes out as it stands."""
    return not written[2] and isinstance(written[1], dict)


class AlternatingWriter(Writer):
    """Writes a history for a wire on which the roles alternate."""

    assistant_role: ClassVar[str] = "assistant"
    content_name: ClassVar[str] = "content"
    has_system_messages: ClassVar[bool] = False
    sorts_results: ClassVar[bool] = False
    writes_runs: ClassVar[bool] = False

    spelling: ClassVar[Spelling | None] = None

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.messages: list[WireMessage] = []
        # Of each tool that was called, the place of its first call.
        self.called: dict[str, int] = {}
        self._is_system_moved = False
        # Media of the result being written that may not stand in it, and those of the whole message.
        self._moved: list[Part] = []
        self._after_results: list[Part] = []
        # The parts of the message being written that are thinking, by identity.
        self._thinking_parts: set[int] = set()

    def write(self, history: History, stop: int) -> None:
        if not self.writes_runs or history.mended is not None or self.without_thinking:
            super().write(history, stop)
            return
        spelling = self._spelled()
        messages, places = history.messages, history.places
        at, size = 0, len(messages)
        while at < size:
            run = spelling.write(self, history, at, stop) if at < stop else None
            if run is not None:
                self._put_run(run)
                at += len(run.messages)
            self.write_message(Placed(places[at], messages[at], messages[at].content))
            at += 1

    def _put_run(self, run: PlainRun) -> None:
        self.messages.append(run)
        self.trace.append(run)
        self._is_system_moved = False
        self._calls = {}
        if run.role == "assistant":
            calls = (block for block in run.messages[-1].content if block.type == "tool_use")
            for order, block in enumerate(calls):
                self._calls[block.id] = [Call(block, block.id, block.name, order, {})]

    def _spelled(self) -> Spelling:
        """How plain messages are spelled, found out once."""
        kind = type(self)
        if kind.spelling is None:
            notes = Notes()
            names = Names(FORMS_OF_NAMES[self.target.dialect], (), notes)
            ids = Distinct(FORMS_OF_IDS[self.target.dialect])
            kind.spelling = Spelling(kind(self.target, notes, ids, names, _NONE))
        return kind.spelling

    def frame(self, role: str) -> tuple[bytes, bytes]:
        """What goes before and behind the blocks of a message."""
        message = WireMessage(role, 0)
        message.parts.append((0, RawJson("0"), False))
        before, _, behind = write_json(self._body_message(message, _NONE, None))[0].partition(b"0")
        return before, behind

    def leaves_room(self, policy: CachePolicy) -> bool:
        """Whether all messages that a cache mark may be wanted at were written one by one."""
        if not policy.automatic:
            return True
        behind = 0
        for place, message in enumerate(self.messages, 1):
            if isinstance(message, PlainRun):
                behind = place
        if not behind:
            return True
        markable = self._markable_places()
        users = (message for message in self.messages[behind:] if message.role == "user")
        return sum(message.index in markable for message in users) >= AUTOMATIC_MARKS

    @abstractmethod
    def marked(self, part: Part, ttl: str | None) -> list[Part]:
        """A part with a cache mark."""

    def write_assistant(self, placed: Placed, parts: list[Part], origin: Origin) -> None:
        index, message, messages = placed.index, placed.message, self.messages
        if not messages:
            self._open(index)
        last = messages[-1]
        if last.role == "assistant":
            last = self._after_assistant(last, index)
        if last.role != "assistant":
            last = WireMessage("assistant", index)
            messages.append(last)
        thinking, trace, said = self._thinking_parts, self.trace, last.parts
        for part in parts:
            written = (index, part, id(part) in thinking)
            trace.append(written)
            said.append(written)
        if thinking:
            self._thinking_parts = set()
        last.index = index
        last.is_paused = message.stop_reason == "pause_turn"
        if message.extra is not None:
            last.add_extra(self.message_extra(message, index, origin))

    def thinking_written(self, part: Part) -> Part:
        """Remember that a part is thinking."""
        self._thinking_parts.add(id(part))
        return part

    def _open(self, index: int) -> None:
        """Begin a history that begins with the model."""
        if not self.target.repairs:
            raise InvalidRequest(
                "the history starts with a turn of the model's, and this wire wants the user first; "
                "repair='repair' puts a short message before it",
                index=index,
            )
        self._say(self.target.texts.opening, index)
        self.notes.add("placeholder_text", index, "a short message of the user's goes before it")

    def _after_assistant(self, last: WireMessage, index: int) -> WireMessage:
        """What follows a turn of the model's directly after another.

        Where the model takes no prefill, a request that ended with the first one was closed by a message
        of the user's: it stays, so that what was sent stays the same.
        """
        if self.target.repairs and not self._may_end(last):
            self._close(index)
            return self.messages[-1]
        self.notes.add("messages_merged", index, "joined to the turn of the model's before it")
        return last

    def write_user(
        self, placed: Placed, results: list[tuple[Call, Part]], parts: list[Part], origin: Origin
    ) -> None:
        index, trace = placed.index, self.trace
        last = self._user_message(index, merges=bool(parts))
        for call, part in results:
            answer = (index, part, False)
            trace.append(answer)
            last.results.append(answer)
            last.calls.append(call)
        if self._after_results:
            parts = self._after_results + parts
            self._after_results = []
        for part in parts:
            written = (index, part, False)
            trace.append(written)
            last.parts.append(written)
        if not results and not parts and not placed.message.content:
            self.notes.add("empty_text_dropped", index, "the message is empty")
        last.index = index
        if placed.message.extra is not None:
            last.add_extra(self.message_extra(placed.message, index, origin))
        self._is_system_moved = False

    def _user_message(self, index: int, *, merges: bool) -> WireMessage:
        last = self.messages[-1] if self.messages else None
        if last is not None and last.role == "user":
            if merges and not last.is_empty and not self._is_system_moved:
                self.notes.add(
                    "messages_merged", index, "joined to the message of the user's before it"
                )
            return last
        if last is not None and last.role == "system":
            # Behind a system message only the model may speak.
            answer = WireMessage("assistant", index)
            answer.parts.append((index, self.plain_text(self.target.texts.no_content), False))
            self.messages.append(answer)
            self.notes.add(
                "placeholder_text", index, "a turn of the model's goes behind the system message"
            )
        last = WireMessage("user", index)
        self.messages.append(last)
        return last

    def write_system(self, placed: Placed, texts: list[str]) -> None:
        index = placed.index
        last = self.messages[-1] if self.messages else None
        if self.has_system_messages and self.target.capabilities.system_in_conversation and last:
            follows = last.role == "user" and not last.is_empty and not self._is_system_moved
            if follows or last.role == "system":
                if last.role != "system":
                    last = WireMessage("system", index)
                    self.messages.append(last)
                for text in texts:
                    part = self.plain_text(text)
                    self.trace.append((index, part, False))
                    last.parts.append((index, part, False))
                return
        self.notes.add(
            "system_moved", index, "its text goes in front of the next message of the user's"
        )
        last = self._user_message(index, merges=False)
        part = self.plain_text(self.moved_system(texts))
        self.trace.append((index, part, False))
        last.parts.append((index, part, False))
        self._is_system_moved = True

    def _say(self, text: str, index: int) -> None:
        """Put a message of the user's in that is in no history."""
        message = WireMessage("user", index)
        message.parts.append((index, self.plain_text(text), False))
        self.messages.append(message)

    def _close(self, index: int) -> None:
        self._say(self.target.texts.closing, index)
        self.notes.add("prefill_closed", index, "a short message of the user's goes after it")

    def _may_end(self, last: WireMessage) -> bool:
        return last.is_paused or self.target.capabilities.prefill

    def result_parts(
        self, call: Call, result: ToolResult, placed: Placed, place: int, origin: Origin
    ) -> list[Part]:
        """The blocks of a result, each as this wire says it; empty where nothing is left of them."""
        index = placed.index
        if isinstance(result.content, str):
            text = self.said(result.content, index)
            return [self.plain_text(text)] if text else []
        parts: list[Part] = []
        self._moved = []
        for block in result.content:
            part = self._result_block(block, placed, place, origin)
            if part is not None:
                parts.append(part)
        if self._moved:
            lead = self.target.texts.media_lead.replace("{id}", call.id or call.name)
            self._after_results += [self.plain_text(lead), *self._moved]
            if not parts:
                parts.append(self.plain_text(self.target.texts.media_moved))
        return parts

    def _result_block(self, block: Any, placed: Placed, place: int, origin: Origin) -> Part | None:
        """A block of a result; None where nothing is left of it there."""
        index = placed.index
        if block.type == "text":
            text = self.said(block.text, index)
            if not text:
                self.notes.add("empty_text_dropped", index, "an empty text of a result is left out")
                return None
            return self.result_text(block, text, placed, origin)
        if block.type == "provider_block":
            return self.provider_part(block, placed, origin)
        if block.type in MEDIA_TYPES:
            return self.result_medium(block, placed, origin)
        raise InvalidRequest(f"a result holds no {block.type!r}", index=index, block=place)

    def result_text(self, block: Text, text: str, placed: Placed, origin: Origin) -> Part:
        """A text in a result."""
        return self.plain_text(text)

    def result_medium(self, block: Any, placed: Placed, origin: Origin) -> Part | None:
        """A medium in a result, or the text that stands in for it; None for one that goes after it."""
        medium = self.checked_medium(block, placed.index)
        if medium is None:
            return self.plain_text(self.placeholder(block))
        part = self.media_part(medium, block, self.media_extra(block, placed.index, origin))
        if block.type in self.result_media and self.target.capabilities.media_in_results:
            return part
        self.notes.add("media_moved", placed.index, f"the {block.type} of a result goes after it")
        self._moved.append(part)
        return None

    # The end ----------------------------------------------------------------------------------------

    def finish(self) -> None:
        """Bring the last message into a form that may stand last.

        Raises:
            InvalidRequest: It may not.
        """
        last = self.messages[-1] if self.messages else None
        if last is None or last.role != "assistant":
            return
        if not self._may_end(last):
            if not self.target.repairs:
                raise InvalidRequest(
                    f"the history ends with a turn of the model's, and {self.target.model} takes no prefill; "
                    "repair='repair' closes it with a short message of the user's",
                    index=last.index,
                )
            self._close(last.index)
            return
        self._trim(last)
        if last.is_empty:
            self.messages.pop()

    def _trim(self, last: WireMessage) -> None:
        """Take the white space from the end of a prefill; the part itself stays as it is."""
        while last.parts:
            index, part, is_thinking = last.parts[-1]
            text = part.get("text") if isinstance(part, dict) else None
            if not isinstance(text, str) or not isinstance(part, dict) or is_thinking:
                return
            trimmed = text.rstrip()
            if trimmed == text:
                return
            self.notes.add(
                "empty_text_dropped", index, "white space at the end of the prefill is left out"
            )
            last.parts.pop()
            if not self.is_empty(trimmed):
                last.parts.append((index, part | {"text": trimmed}, False))
                return

    def _markable_places(self) -> frozenset[int]:
        """The places in the history that something came from which may carry a cache mark."""
        return frozenset(
            written[0]
            for message in self.messages
            for written in message.content()
            if _is_markable(written)
        )

    @property
    def is_round_unsigned(self) -> bool:
        """Whether the history ends with results of calls before which there is no signed thinking."""
        if not self.messages or not self.messages[-1].results:
            return False
        return not any(message.has_thinking for message in self.messages[-2:-1])

    def plan_marks(self, policy: CachePolicy, *, has_tools: bool, has_system: bool) -> Marks:
        """Where the cache marks stand; see :func:`turntape.wire.outbound.caching.plan_marks`."""
        takes = self.target.capabilities
        return plan_marks(
            policy,
            has_tools=has_tools,
            has_system=has_system,
            user_places=[message.index for message in self.messages if message.role == "user"],
            markable=self._markable_places() if policy.messages or policy.automatic else _NONE,
            limit=takes.cache_marks,
            ttls=takes.cache_ttls,
            notes=self.notes,
        )

    def body_messages(self, marks: Marks | None) -> list[Any]:
        """The messages as the body has them."""
        if marks is None or not marks.messages:
            return [self._body_message(message, _NONE, None) for message in self.messages]
        wanted = self._marked_messages(marks.messages)
        return [
            self._body_message(message, wanted.get(number, _NONE), marks.ttl)
            for number, message in enumerate(self.messages)
        ]

    def _marked_messages(self, places: Iterable[int]) -> dict[int, set[int]]:
        """Which places of the history are marked in which message.

        A place may have parts in two of them, where a repair moved or made a result: the last is marked,
        because a mark is up to there.
        """
        found: dict[int, int] = {}
        for number, message in enumerate(self.messages):
            for written in message.content():
                if _is_markable(written):
                    found[written[0]] = number
        wanted: dict[int, set[int]] = {}
        for place in places:
            wanted.setdefault(found[place], set()).add(place)
        return wanted

    def _body_message(self, message: WireMessage, wanted: AbstractSet[int], ttl: str | None) -> Any:
        if isinstance(message, PlainRun):
            return message.items
        role = self.assistant_role if message.role == "assistant" else message.role
        if self.sorts_results and len(message.results) > 1:
            pairs = sorted(
                zip(message.calls, message.results, strict=True), key=lambda pair: pair[0].order
            )
            message.calls = [call for call, _ in pairs]
            message.results = [written for _, written in pairs]
        content = message.content()
        if not content:
            self.notes.add(
                "placeholder_text", message.index, "nothing is left of a message that is needed"
            )
            parts: list[Part] = [self.plain_text(self.target.texts.no_content)]
        elif wanted:
            parts = self._with_marks(content, wanted, ttl)
        else:
            parts = list(map(_part_of, content))
        body = {"role": role, self.content_name: parts}
        return body if message.extra is None else body | message.extra

    def _with_marks(
        self, content: list[Written], wanted: AbstractSet[int], ttl: str | None
    ) -> list[Part]:
        """The parts, with a mark behind the last one of each place that may carry it."""
        at = {
            written[0]: number
            for number, written in enumerate(content)
            if written[0] in wanted and _is_markable(written)
        }
        marked = set(at.values())
        parts: list[Part] = []
        for number, (_, part, _) in enumerate(content):
            parts.extend(self.marked(part, ttl) if number in marked else [part])
        return parts
