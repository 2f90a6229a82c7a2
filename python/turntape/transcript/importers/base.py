"""What importers share: what they give, and how a provider's messages become rows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeGuard

from turntape.conversation import ToolResult
from turntape.errors import InvalidRequest
from turntape.media import Audio, Document, Image, Video
from turntape.transcript.media import has_no_part
from turntape.transcript.rows import stored_beside
from turntape.transcript.stored import rows_of
from turntape.wire.inbound.read import from_provider_messages

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from turntape.conversation import Message
    from turntape.notes import ReplayNote
    from turntape.transcript.rows import TranscriptMessage
    from turntape.wire.dialect import Dialect

__all__ = [
    "ImportItem",
    "ImportLoss",
    "ImportLossCode",
    "ImportedRow",
    "Importer",
    "is_list",
    "is_object",
    "read_messages",
    "text_of",
    "with_metadata",
]

ImportLossCode: TypeAlias = Literal[
    "changed",
    "invalid_message",
    "left_out",
    "media_bytes",
    "not_a_message",
    "other_conversation",
    "unreadable_line",
    "unwritable",
]
"""What became of what an importer could not carry.

``unreadable_line``: no JSON object. ``not_a_message``: a record that no model ever saw. ``invalid_message``:
a message that is not of its provider's form. ``left_out``: a member beside a message. ``changed``: a
message was changed to fit. ``media_bytes``: the bytes of sound, film or a document, which no row may hold.
``other_conversation``: it belongs to another conversation. ``unwritable``: no line of a tape can hold it.
"""


@dataclass(frozen=True, slots=True)
class ImportedRow:
    """A row that an importer made.

    Attributes:
        line: The line that it comes from, or the first of several, counted from 1.
        row: The row.
        type: The constant ``row``.
    """

    type: Literal["row"] = field(default="row", kw_only=True, repr=False)
    line: int
    row: TranscriptMessage


@dataclass(frozen=True, slots=True)
class ImportLoss:
    """Something that an importer could not carry.

    Attributes:
        line: The line, counted from 1.
        code: What became of it.
        detail: The same for people. It names members and kinds, and quotes no text of the conversation.
        type: The constant ``loss``.
    """

    type: Literal["loss"] = field(default="loss", kw_only=True, repr=False)
    line: int
    code: ImportLossCode
    detail: str


ImportItem: TypeAlias = ImportedRow | ImportLoss
"""What an importer gives, told apart by ``type``."""


class Importer(Protocol):
    """Reads the lines of one file."""

    def take(self, line: int, text: str, value: dict[str, Any], /) -> Iterable[ImportItem]:
        """Read a line.

        Args:
            line: Its number.
            text: Its text, which is a JSON object.
            value: The object.
        """
        ...

    def finish(self) -> Iterable[ImportItem]:
        """Give what was waiting for further lines."""
        ...


def read_messages(
    line: int,
    history: str,
    dialect: Dialect,
    *,
    vendor: str | None = None,
    model: str | None = None,
) -> Iterator[ImportItem]:
    """The rows of a provider's messages, and what they could not carry.

    Args:
        line: The line that they come from.
        history: A JSON list of messages.
        dialect: The wire that they are of.
        vendor: Who made the model's turns.
        model: Which model did.
    """
    notes: list[ReplayNote] = []
    try:
        messages = from_provider_messages(history, dialect, vendor=vendor, model=model, notes=notes)
    except InvalidRequest as error:
        yield ImportLoss(line, "invalid_message", str(error))
        return
    for message in messages:
        for kind in _kinds_without_part(message):
            yield ImportLoss(line, "media_bytes", f"the bytes of a block of {kind}")
        for row in _rows_of(message):
            yield ImportedRow(line, row)
    for note in notes:
        yield ImportLoss(line, "changed", f"{note.code}: {note.detail}")


def _rows_of(message: Message) -> list[TranscriptMessage]:
    """The rows of a message. Where it came from is kept only where something in it is of that wire's own."""
    rows = rows_of(replace(message, dialect=None, vendor=None))
    return rows_of(message) if any(map(stored_beside, rows)) else rows


_MEDIA = (Audio, Document, Image, Video)


def _kinds_without_part(message: Message) -> Iterator[str]:
    for block in message.content:
        inner = block.content if isinstance(block, ToolResult) else (block,)
        if not isinstance(inner, str):
            yield from (
                each.type for each in inner if isinstance(each, _MEDIA) and has_no_part(each)
            )


def with_metadata(
    row: TranscriptMessage, name: str, metadata: Mapping[str, Any]
) -> TranscriptMessage:
    """A row with what its own file kept beside it."""
    if not metadata:
        return row
    return replace(row, extra_metadata={**(row.extra_metadata or {}), name: dict(metadata)})


def text_of(members: Mapping[str, Any], name: str) -> str | None:
    """A member that is a text; None where it is none."""
    value = members.get(name)
    return value if isinstance(value, str) else None


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether a value is an object of JSON."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Whether a value is a list of JSON."""
    return isinstance(value, list)
