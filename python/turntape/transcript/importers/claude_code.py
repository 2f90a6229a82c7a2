"""Session logs of Claude Code, as its versions 1.0 to 2.1 write them.

A line is a record. Those of the types ``user`` and ``assistant`` hold a message of Anthropic's form; a turn of
the model's has a line for each of its blocks, which come together again here. The others are the tool's
own, and no model ever saw them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from turntape.events import Usage
from turntape.transcript.importers.base import (
    ImportedRow,
    ImportLoss,
    is_list,
    is_object,
    read_messages,
    text_of,
    with_metadata,
)
from turntape.transcript.members import member_texts
from turntape.wire.dialect import Dialect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from turntape.transcript.importers.base import ImportItem

__all__ = ["ClaudeCodeLog"]

_NAME = "claude_code"
# What has a field of its own in a row.
_MAPPED = frozenset({"message", "requestId", "timestamp", "type", "uuid"})
# What the tool writes where it got no answer.
_NO_MODEL = "<synthetic>"


@dataclass(slots=True)
class _Turn:
    """Lines of one message of the model's."""

    line: int
    id: str
    record: dict[str, Any]
    members: dict[str, str]
    message: dict[str, Any]
    blocks: list[str]


class ClaudeCodeLog:
    """One session; what subagents said in it is another conversation, unless the file is a subagent's."""

    def __init__(self) -> None:
        """Begin a session."""
        self._turn: _Turn | None = None
        self._sidechain: bool | None = None

    def take(self, line: int, text: str, value: dict[str, Any], /) -> Iterator[ImportItem]:
        """Read a line; see ``Importer.take``."""
        kind, message = text_of(value, "type"), value.get("message")
        if kind not in {"user", "assistant"}:
            shown = (
                f"a record of type {kind}" if isinstance(kind, str) else "a record without a type"
            )
            yield ImportLoss(line, "not_a_message", shown)
            return
        if not is_object(message):
            yield ImportLoss(line, "invalid_message", f"a record of type {kind} without a message")
            return
        sidechain = value.get("isSidechain") is True
        if self._sidechain is None:
            self._sidechain = sidechain
        if sidechain != self._sidechain:
            yield ImportLoss(line, "other_conversation", "a subagent's message")
            return
        members = member_texts(member_texts(text)["message"])
        if kind == "assistant" and is_list(message.get("content")):
            yield from self._block(line, value, message, members)
            return
        yield from self._flush()
        yield from self._rows(line, value, message, members, [members.get("content", "null")])

    def finish(self) -> Iterator[ImportItem]:
        """Give the last turn; see ``Importer.finish``."""
        yield from self._flush()

    def _block(
        self, line: int, record: dict[str, Any], message: dict[str, Any], members: dict[str, str]
    ) -> Iterator[ImportItem]:
        """Take a line of a turn, which goes on as long as its id comes again."""
        identity = text_of(message, "id") or ""
        turn = self._turn
        content = members["content"].strip()[1:-1].strip()
        blocks = [content] if content else []
        if turn is not None and identity and identity == turn.id:
            turn.blocks += blocks
            # The last line has the final usage and stop reason.
            turn.members, turn.message = members, message
            return
        yield from self._flush()
        self._turn = _Turn(line, identity, record, members, message, blocks)

    def _flush(self) -> Iterator[ImportItem]:
        turn, self._turn = self._turn, None
        if turn is not None:
            content = [f"[{','.join(turn.blocks)}]"]
            yield from self._rows(turn.line, turn.record, turn.message, turn.members, content)

    def _rows(
        self,
        line: int,
        record: dict[str, Any],
        message: dict[str, Any],
        members: dict[str, str],
        content: list[str],
    ) -> Iterator[ImportItem]:
        """The rows of a message, with what the record says beside it."""
        texts = {**members, "content": "".join(content)}
        # Null is how the tool writes that there is none yet.
        form = ",".join(f'"{name}":{text}' for name, text in texts.items() if text != "null")
        model = text_of(message, "model")
        read = read_messages(
            line,
            f"[{{{form}}}]",
            Dialect.ANTHROPIC,
            vendor=None if model == _NO_MODEL else "anthropic",
            model=model,
        )
        metadata = {name: value for name, value in record.items() if name not in _MAPPED}
        usage = message.get("usage")
        if is_object(usage):
            metadata["usage"] = usage
        cut = model == _NO_MODEL or record.get("isAbortedMidStream") is True
        first = True
        for item in read:
            if isinstance(item, ImportedRow):
                row = replace(
                    item.row,
                    id=text_of(record, "uuid"),
                    created_at=text_of(record, "timestamp"),
                    request_id=text_of(record, "requestId"),
                    interrupted=item.row.interrupted or cut,
                    usage=_usage(usage) if first and is_object(usage) else item.row.usage,
                )
                # Said once, beside the first row of several.
                yield replace(item, row=with_metadata(row, _NAME, metadata if first else {}))
                first = False
            else:
                yield item


def _usage(form: dict[str, Any]) -> Usage | None:
    """The tokens of a turn; None where a count is none."""
    written = form.get("cache_creation")
    hour = written.get("ephemeral_1h_input_tokens") if is_object(written) else 0
    counts = [
        form.get(name) or 0
        for name in (
            "input_tokens",
            "output_tokens",
            "cache_read_input_tokens",
            "cache_creation_input_tokens",
        )
    ]
    counts.append(hour or 0)
    if not all(type(count) is int and 0 <= count < 2**64 for count in counts):
        return None
    return Usage(*counts)
