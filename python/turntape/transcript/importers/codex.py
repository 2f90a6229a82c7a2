"""Rollouts of Codex, as its versions 0.40 to 0.146 write them.

A line is a record with a ``payload``. Those of the type ``response_item`` hold an item of OpenAI's Responses;
the first versions wrote the items alone. The others are events for the screen, and the tool's own notes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from turntape.events import Usage
from turntape.transcript.importers.base import (
    ImportedRow,
    ImportLoss,
    is_object,
    read_messages,
    text_of,
)
from turntape.transcript.members import member_texts
from turntape.wire.dialect import Dialect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from turntape.transcript.importers.base import ImportItem

__all__ = ["CodexRollout"]

_DIALECT = Dialect.OPENAI_RESPONSES
_MODEL_ITEMS = frozenset(
    {
        "code_interpreter_call", "custom_tool_call", "file_search_call", "function_call",
        "image_generation_call", "local_shell_call", "mcp_call", "reasoning", "tool_search_call",
        "web_search_call",
    }
)  # fmt: skip
_RESULT_ITEMS = frozenset(
    {"custom_tool_call_output", "function_call_output", "local_shell_call_output"}
)
# The tool's own between the items, which its requests do not hold.
_OWN_ITEMS = frozenset({"agent_message", "ghost_snapshot", "other"})
# What the tool notes on an item, and no request may hold.
_NOTED = ("internal_chat_message_metadata_passthrough", "metadata", "phase")


@dataclass(slots=True)
class _Run:
    """Items that make up one turn, or the results of one round."""

    kind: str
    created_at: str | None
    items: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    usage: Usage | None = None


class CodexRollout:
    """One session."""

    def __init__(self) -> None:
        """Begin a session."""
        self._run: _Run | None = None
        self._model: str | None = None

    def take(self, line: int, text: str, value: dict[str, Any], /) -> Iterator[ImportItem]:
        """Read a line; see ``Importer.take``."""
        payload = value.get("payload")
        kind = text_of(value, "type")
        if not is_object(payload):
            yield from self._bare(line, text, value)
        elif kind == "response_item":
            yield from self._item(line, member_texts(text)["payload"], payload, value)
        elif kind == "turn_context":
            model = text_of(payload, "model")
            if model is not None and model != self._model:
                yield from self._flush()
                self._model = model
            yield ImportLoss(
                line, "not_a_message", "a record of type turn_context: its model is kept"
            )
        elif kind == "event_msg":
            if payload.get("type") == "token_count" and self._count(payload):
                return
            named = text_of(payload, "type")
            yield ImportLoss(line, "not_a_message", f"an event of type {named}")
        else:
            yield ImportLoss(line, "not_a_message", f"a record of type {kind}")

    def finish(self) -> Iterator[ImportItem]:
        """Give the last run; see ``Importer.finish``."""
        yield from self._flush()

    def _bare(self, line: int, text: str, value: dict[str, Any]) -> Iterator[ImportItem]:
        """Read a line of the first versions."""
        kind = text_of(value, "type")
        if kind == "message" or kind in _MODEL_ITEMS | _RESULT_ITEMS:
            yield from self._item(line, text, value, value)
        elif kind is not None:
            yield ImportLoss(line, "not_a_message", f"a record of type {kind}")
        else:
            yield ImportLoss(line, "not_a_message", "a record without a type")

    def _item(
        self, line: int, text: str, item: dict[str, Any], record: dict[str, Any]
    ) -> Iterator[ImportItem]:
        kind = text_of(item, "type")
        if kind in _OWN_ITEMS:
            yield ImportLoss(line, "not_a_message", f"an item of type {kind}")
            return
        if kind == "message":
            side = "turn" if item.get("role") == "assistant" else "other"
        else:
            side = "results" if kind in _RESULT_ITEMS else "turn"
        run = self._run
        # What the user and the host say is a message each.
        if run is None or run.kind != side or side == "other":
            yield from self._flush()
            run = self._run = _Run(side, text_of(record, "timestamp"))
        texts = member_texts(text)
        for name in _NOTED:
            if texts.pop(name, "null") != "null":
                yield ImportLoss(line, "left_out", name)
        form = ",".join(f'"{name}":{each}' for name, each in texts.items() if each != "null")
        run.items.append((line, f"{{{form}}}"))

    def _count(self, payload: dict[str, Any]) -> bool:
        """Take the tokens of the run so far; False where there is no run or no count."""
        info = payload.get("info")
        last = info.get("last_token_usage") if is_object(info) else None
        if self._run is None or self._run.kind != "turn" or not is_object(last):
            return False
        names = (
            "input_tokens",
            "output_tokens",
            "cached_input_tokens",
            "cache_write_input_tokens",
            "reasoning_output_tokens",
        )
        counts = [last.get(name) or 0 for name in names]
        if not all(type(count) is int and 0 <= count < 2**64 for count in counts):
            return False
        read, written = counts[2], counts[3]
        self._run.usage = Usage(
            input_tokens=max(0, counts[0] - read - written),
            output_tokens=counts[1],
            cache_read_tokens=read,
            cache_write_tokens=written,
            reasoning_tokens=counts[4],
        )
        return True

    def _flush(self) -> Iterator[ImportItem]:
        run, self._run = self._run, None
        if run is None:
            return
        read = self._read(run.items[0][0], [item for _, item in run.items])
        if len(run.items) > 1 and not any(isinstance(item, ImportedRow) for item in read):
            # One bad item must not take the others with it.
            read = [each for line, item in run.items for each in self._read(line, [item])]
        usage = run.usage
        for item in read:
            if isinstance(item, ImportedRow):
                row = replace(item.row, created_at=run.created_at)
                if row.role == "assistant":
                    row, usage = replace(row, usage=usage, model=row.model or self._model), None
                yield replace(item, row=row)
            else:
                yield item

    def _read(self, line: int, items: list[str]) -> list[ImportItem]:
        history = f"[{','.join(items)}]"
        return list(read_messages(line, history, _DIALECT, vendor="openai", model=self._model))
