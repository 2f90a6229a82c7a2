"""What the lossless codec stores beside the fields of a row, and when it counts.

``extra_metadata["turntape"]`` is ``{"v": 1, …}`` with, where the fields do not say all:

- ``incomplete``: the ids of calls that never came whole (``projections`` writes and reads it as well).
- ``message``: the message's dict form, with the blocks that this row shows. The data of images in base64 is
  left out of it: it stands in the row's parts.
- ``row``, ``rows``, ``blocks``: of a message that has several rows, which of how many this one is (from 0),
  and the places of its blocks in the message.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeGuard

from turntape.conversation import Message, ToolResult
from turntape.errors import MessageError
from turntape.media import Audio, Document, Image, Video
from turntape.replay.markers import ImagePart
from turntape.transcript.media import data_prefix, has_no_part
from turntape.transcript.projections import (
    message_to_native_transcripts,
    rest_has_a_row,
    transcript_to_message,
)
from turntape.transcript.reasoning import REASONING
from turntape.transcript.rows import INCOMPLETE, STORED, STORED_VERSION, stored_beside

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from turntape.conversation import ContentBlock, ResultBlock
    from turntape.transcript.rows import TranscriptMessage

__all__ = ["Place", "joined", "place_of", "read_row", "rows_of"]

_MEDIA = (Image, Audio, Video, Document)


def rows_of(message: Message) -> list[TranscriptMessage]:
    """The rows of a message, with what their fields do not say stored beside them.

    Sound, film and documents that carry their bytes are left out: no row may hold them.
    """
    kept = _without_bytes(message)
    rows = message_to_native_transcripts(kept)
    if len(rows) == 1:
        if not kept.content and message.content:
            # Nothing is left of it. That it once was empty is not worth keeping.
            return rows
        return [_with_stored(rows[0], kept)]
    blocks = _blocks_by_row(kept, len(rows))
    total = len(rows)
    return [
        _with_stored(
            row,
            replace(kept, content=tuple(kept.content[place] for place in places)),
            {"row": number, "rows": total, "blocks": places},
        )
        for number, (row, places) in enumerate(zip(rows, blocks, strict=True))
    ]


def read_row(row: TranscriptMessage) -> Message:
    """The message of a row: the stored one while the row's fields still say what it says, else theirs."""
    stored = stored_beside(row)
    form = None if stored is None else stored.get("message")
    if _is_mapping(form):
        message = _restored(form, row)
        if message is not None:
            projected = message_to_native_transcripts(message)
            if len(projected) == 1 and _say_the_same(row, projected[0]):
                return message
    return transcript_to_message(row)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a row stands in a message of several rows.

    Attributes:
        row: Which row it is, counted from 0.
        rows: Of how many.
        blocks: The places of its blocks in the message.
    """

    row: int
    rows: int
    blocks: Sequence[int]


def place_of(row: TranscriptMessage) -> Place | None:
    """The place of a row, None where it has a message of its own or what is stored makes no sense."""
    stored = stored_beside(row)
    if stored is None:
        return None
    number, rows, blocks = stored.get("row"), stored.get("rows"), stored.get("blocks")
    if not (_is_count(number) and _is_count(rows) and rows > 1):
        return None
    if not (_is_list(blocks) and all(map(_is_count, blocks))):
        return None
    return Place(number, rows, blocks)


def joined(messages: Sequence[Message], places: Sequence[Place]) -> Message | None:
    """The message of several rows, from what each of them says.

    Returns:
        The message, None where the blocks do not fit together: some row was edited too far.
    """
    first = messages[0]
    by_place: dict[int, ContentBlock] = {}
    total = 0
    for message, place in zip(messages, places, strict=True):
        if message.role != first.role or len(message.content) != len(place.blocks):
            return None
        by_place.update(zip(place.blocks, message.content, strict=True))
        total += len(place.blocks)
    if by_place.keys() != set(range(total)):
        return None
    return replace(first, content=tuple(by_place[place] for place in range(total)))


def _with_stored(
    row: TranscriptMessage, message: Message, place: dict[str, Any] | None = None
) -> TranscriptMessage:
    stored = {"v": STORED_VERSION, **(stored_beside(row) or {}), **(place or {})}
    if transcript_to_message(row) != message:
        stored["message"] = _form(message)
    elif place is None:
        return row
    return replace(row, extra_metadata={**(row.extra_metadata or {}), STORED: stored})


def _blocks_by_row(message: Message, rows: int) -> list[list[int]]:
    """For each row of a message, the places of its blocks. What shows in no row goes with the last."""
    results = [
        place for place, block in enumerate(message.content) if isinstance(block, ToolResult)
    ]
    others = [
        place for place, block in enumerate(message.content) if not isinstance(block, ToolResult)
    ]
    blocks = [[place] for place in results]
    if rest_has_a_row(message):
        blocks.append(others)
    else:
        blocks[-1] = sorted(blocks[-1] + others)
    assert len(blocks) == rows  # noqa: S101 (the projection and this function say the same)
    return blocks


def _say_the_same(row: TranscriptMessage, projected: TranscriptMessage) -> bool:
    """Whether a row's fields are those of a projection, as far as a message decides them."""
    ours, theirs = row.extra_metadata or {}, projected.extra_metadata or {}
    return (
        row.role == projected.role
        and row.content == projected.content
        and row.tool_calls == projected.tool_calls
        and row.tool_call_id == projected.tool_call_id
        and row.parts == projected.parts
        and ours.get(REASONING) == theirs.get(REASONING)
        and (row.tool_failure is None) == (projected.tool_failure is None)
        and (stored_beside(row) or {}).get(INCOMPLETE)
        == (stored_beside(projected) or {}).get(INCOMPLETE)
        and row.model == projected.model
        and row.stop_reason == projected.stop_reason
    )


def _without_bytes(message: Message) -> Message:
    """The message without sound, film and documents that carry their bytes; the very one if it has none."""
    if not any(_carries_bytes(block) for block in message.content):
        return message
    kept: list[ContentBlock] = []
    for block in message.content:
        if isinstance(block, ToolResult):
            content = block.content
            if not isinstance(content, str):
                content = tuple(inner for inner in content if not _carries_bytes(inner))
            kept.append(replace(block, content=content))
        elif not _carries_bytes(block):
            kept.append(block)
    return replace(message, content=tuple(kept))


def _carries_bytes(block: ContentBlock | ResultBlock) -> bool:
    if isinstance(block, ToolResult):
        return not isinstance(block.content, str) and any(map(_carries_bytes, block.content))
    return isinstance(block, _MEDIA) and has_no_part(block)


def _form(message: Message) -> dict[str, Any]:
    """The dict form of a message without the data of its images in base64."""
    form = message.to_dict()
    for block in _images(form["content"]):
        source = block["source"]
        if source["type"] == "base64":
            source["data"] = ""
    return form


def _images(blocks: Iterable[Any]) -> Iterator[Any]:
    for block in blocks:
        if block["type"] == "image":
            yield block
        elif block["type"] == "tool_result" and not isinstance(block["content"], str):
            yield from _images(block["content"])


def _restored(form: Mapping[str, Any], row: TranscriptMessage) -> Message | None:
    """The message of a form, with the images' data from the row's parts; None where it is no form."""
    urls = [part.url for part in row.parts or () if isinstance(part, ImagePart)]
    if urls:
        content = form.get("content")
        if _is_list(content):
            form = {**form, "content": _with_data(content, iter(urls))}
    try:
        return Message.from_dict(form)
    except MessageError:
        return None


def _with_data(blocks: Sequence[Any], urls: Iterator[str], *, inside: bool = False) -> list[Any]:
    """Blocks in dict form, each image in base64 with the data of the next part.

    Nothing has to be right here: the message that comes out is compared with the row.
    """
    filled: list[Any] = []
    for block in blocks:
        filled.append(block)
        if not _is_mapping(block):
            continue
        content, source = block.get("content"), block.get("source")
        if block.get("type") == "tool_result" and _is_list(content):
            if not inside:
                filled[-1] = {**block, "content": _with_data(content, urls, inside=True)}
        elif block.get("type") == "image":
            url = next(urls, "")
            if _is_mapping(source) and source.get("type") == "base64":
                prefix = data_prefix(str(source.get("media_type")))
                filled[-1] = {**block, "source": {**source, "data": url[len(prefix) :]}}
    return filled


def _is_mapping(value: object) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(value, Mapping)


def _is_list(value: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, list | tuple)


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
