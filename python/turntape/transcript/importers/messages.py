"""JSON lines of OpenAI Chat and of Anthropic Messages: a message a line, or a conversation a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from turntape.transcript.importers.base import ImportLoss, is_list, read_messages, text_of
from turntape.transcript.members import member_texts
from turntape.wire.dialect import Dialect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from turntape.transcript.importers.base import ImportItem

__all__ = ["MessageLines"]


class MessageLines:
    """Lines that are messages, and lines that hold whole requests with a member ``messages``."""

    def __init__(self, dialect: Dialect) -> None:
        """Read messages of a dialect."""
        self._dialect = dialect
        self._any = False

    def take(self, line: int, text: str, value: dict[str, Any], /) -> Iterator[ImportItem]:
        """Read a line; see ``Importer.take``."""
        if "messages" in value:
            yield from self._conversation(line, text, value)
        elif "role" in value:
            self._any = True
            yield from read_messages(line, f"[{text}]", self._dialect)
        else:
            yield ImportLoss(line, "not_a_message", "it has neither a role nor messages")

    def finish(self) -> Iterator[ImportItem]:
        """Nothing waits; see ``Importer.finish``."""
        yield from ()

    def _conversation(self, line: int, text: str, value: dict[str, Any]) -> Iterator[ImportItem]:
        if self._any:
            detail = "another conversation begins here; its rows follow those before it"
            yield ImportLoss(line, "other_conversation", detail)
        self._any = True
        texts = member_texts(text)
        if self._dialect is Dialect.ANTHROPIC and value.get("system"):
            # There it stands beside the messages, as a text or as blocks.
            system = f'[{{"role":"system","content":{texts["system"]}}}]'
            yield from read_messages(line, system, self._dialect)
            del texts["system"]
        if is_list(value["messages"]):
            yield from read_messages(
                line,
                texts["messages"],
                self._dialect,
                model=text_of(value, "model"),
            )
        else:
            yield ImportLoss(line, "invalid_message", "its messages are no list")
        for name in sorted(texts.keys() - {"messages", "model"}):
            yield ImportLoss(line, "left_out", name)
