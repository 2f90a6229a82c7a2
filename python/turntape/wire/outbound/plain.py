"""Runs of plain messages, which the extension writes at one go.

A message is plain where no rule says anything about it but how its blocks are spelled. How they are spelled,
the rules say: each writes one block, and the extension puts other values in its place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from turntape._native import PlainForms, split_json, write_plain_run
from turntape.conversation import Message, ToolResult
from turntape.messages import Text, Thinking, ToolUse
from turntape.replay.pairing import Placed
from turntape.wire.outbound.parts import Call, WireMessage
from turntape.wire.outbound.target import Origin
from turntape.wire.raw_json import RawItems, RawJson, write_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from turntape.replay.pairing import History
    from turntape.wire.outbound.blocks import AlternatingWriter
    from turntape.wire.outbound.parts import Part

__all__ = ["PlainRun", "Spelling"]


class PlainRun(WireMessage):
    """Messages of the body that were written at one go, where a single one would stand.

    The next message has the other role, and what may still change stands behind it.

    Attributes:
        items: The messages, written.
        messages: The messages of the history that they are.
    """

    __slots__ = ("_ends", "_places", "_spelling", "items", "messages")

    def __init__(
        self,
        spelling: Spelling,
        messages: Sequence[Message],
        places: Sequence[int],
        written: tuple[bytes, Sequence[int]],
    ) -> None:
        """Take what was written.

        Args:
            spelling: How it is spelled.
            messages: The messages of the history.
            places: Their places.
            written: What was written of them, and where each ends in it.
        """
        super().__init__(messages[-1].role, places[-1])
        data, self._ends = written
        self._spelling = spelling
        self._places = places
        self.messages = messages
        self.items = RawItems(data)

    @property
    def is_empty(self) -> bool:
        """Never: there are messages in it."""
        return False

    @property
    def has_thinking(self) -> bool:
        """Whether thinking is in the last message."""
        return _thinks(self.messages[-1])

    def written(self) -> Iterator[tuple[int, RawJson | RawItems, bool]]:
        """The parts of each message, as in the trace of a writer; parts without thinking in one piece."""
        frame, start = self._spelling, 0
        for message, place, end in zip(self.messages, self._places, self._ends, strict=True):
            start += frame.before_user if message.role == "user" else frame.before_assistant
            parts = self.items.data[start : end - frame.behind]
            start = end + len(",")
            if not _thinks(message):
                yield place, RawItems(parts), False
                continue
            # Of a turn of the model's each block is a part.
            each = zip(message.content, split_json(f"[{parts.decode()}]"), strict=True)
            for block, part in each:
                yield place, RawJson(str(part)), block.type == "thinking"


def _thinks(message: Message) -> bool:
    return any(block.type == "thinking" for block in message.content)


class Spelling:
    """How a wire spells plain messages.

    Attributes:
        before_user: How long what goes before the blocks of a message of the user's is, in bytes.
        before_assistant: The same of the model's.
        behind: How long what goes behind them is.
    """

    __slots__ = ("_forms", "before_assistant", "before_user", "behind")

    def __init__(self, writer: AlternatingWriter) -> None:
        """Have a writer that is used for nothing else write one of each."""
        placed = Placed(0, Message("assistant", ()), ())
        origin = Origin(is_own_wire=False, is_signed_for=True, is_foreign=False)
        call = Call(ToolUse("first", "second", '{"third":3}'), "first", "second", 0, {})
        results = (ToolResult("first", "second"), ToolResult("first", "second", is_error=True))
        parts: list[Part | None] = [
            writer.text_part(Text("first"), "first", placed, origin),
            writer.call_part(call, placed, origin),
            *(writer.result_part(call, result, placed, 0, origin) for result in results),
            writer.signed_part(Thinking("first", "second"), placed, origin),
        ]
        before_user, behind = writer.frame("user")
        before_assistant, _ = writer.frame("assistant")
        self._forms = PlainForms(
            ('"first"', '"second"', '{"third":3}'),
            before_user,
            before_assistant,
            behind,
            *(write_json(part)[0] for part in parts),
        )
        self.before_user, self.before_assistant = len(before_user), len(before_assistant)
        self.behind = len(behind)

    def write(
        self, writer: AlternatingWriter, history: History, start: int, stop: int
    ) -> PlainRun | None:
        """Write a run of a history, if one begins there.

        Args:
            writer: The writer, which gets the ids and names of calls.
            history: The history.
            start: Which of its messages is next.
            stop: The first that may not be in a run.
        """
        messages, places = history.messages, history.places
        # A history begins with the user, and behind a system message only the model may speak.
        role = writer.messages[-1].role if writer.messages else "assistant"
        if role == "system":
            return None
        written = write_plain_run(
            self._forms,
            messages,
            places,
            start,
            stop,
            role,
            writer.ids.given,
            writer.id_map,
            writer.names.known,
            writer.called,
            writer.target.origins,
        )
        if written is None:
            return None
        end = start + len(written[1])
        return PlainRun(self, messages[start:end], places[start:end], written)
