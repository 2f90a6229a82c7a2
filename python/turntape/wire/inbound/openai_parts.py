"""Content parts of OpenAI's two wires, which write the same media with other members."""

from __future__ import annotations

from typing import TYPE_CHECKING

from turntape.media import Audio, Base64Source, Document, Image, Video
from turntape.messages import ProviderBlock, Text
from turntape.wire.inbound.content import AUDIO_TYPES, url_or_data
from turntape.wire.inbound.raw import Members, object_text

if TYPE_CHECKING:
    from turntape.conversation import ResultBlock
    from turntape.media import MediaSource
    from turntape.wire.inbound.raw import Raw

__all__ = ["chat_part", "responses_part", "sound"]


_URLS: dict[str, type[Image | Audio | Video]] = {
    "image_url": Image,
    "audio_url": Audio,
    "video_url": Video,
}


def chat_part(raw: Raw) -> ResultBlock:
    """A part of a Chat message's content, but for those that only the model writes."""
    members = Members(raw)
    kind = members.string("type") or "text"
    if kind == "text":
        return Text(members.need("text").string(), extra=members.left())
    if kind in _URLS:
        where = members.need(kind)
        if where.is_string:  # some imitators take the URL itself
            source, inner = url_or_data(where.string()), None
        else:
            held = Members(where)
            source, inner = url_or_data(held.need("url").string()), held
        return _URLS[kind](source, _joined(inner, members))
    if kind == "input_audio":
        held = Members(members.need("input_audio"))
        return Audio(sound(held), _joined(held, members))
    if kind == "file":
        held = Members(members.need("file"))
        data = held.string("file_data")
        if data is not None and held.take("file_id") is None:
            return Document(_file_source(data), _joined(held, members))
    return ProviderBlock(kind, raw.text)


def responses_part(raw: Raw) -> ResultBlock:
    """A part of a Responses item's content or output."""
    members = Members(raw)
    kind = members.need("type").string()
    if kind in {"input_text", "output_text", "text", "summary_text"}:
        notes = members.take("annotations")
        citations = () if notes is None else tuple(one.text for one in notes.elements())
        members.take_empty("logprobs")
        return Text(members.need("text").string(), citations, extra=members.left())
    if kind == "refusal":
        return Text(members.need("refusal").string(), extra=members.left())
    if kind == "input_audio":
        held = Members(members.need("input_audio"))
        return Audio(sound(held), _joined(held, members))
    # A file of the provider's own has an id and no bytes.
    if "file_id" not in raw.members():
        url = members.string(*_WHERE.get(kind, ()))
        if kind == "input_image" and url is not None:
            return Image(url_or_data(url), members.left())
        if kind == "input_file" and url is not None:
            return Document(_file_source(url), members.left())
    return ProviderBlock(kind, raw.text)


_WHERE = {"input_image": ("image_url",), "input_file": ("file_url", "file_data")}


def sound(members: Members) -> Base64Source:
    """The bytes of a sound and their format, which is a bare name here."""
    name = members.need("format").string()
    return Base64Source(members.need("data").string(), AUDIO_TYPES.get(name, f"audio/{name}"))


def _file_source(data: str) -> MediaSource:
    source = url_or_data(data)
    if isinstance(source, Base64Source) or ":" in data:
        return source
    return Base64Source(data, "application/pdf")


def _joined(inner: Members | None, outer: Members) -> str | None:
    """What a part carries beside its medium, from inside and outside of the member that holds it."""
    pairs: list[tuple[str, str]] = []
    if inner is not None:
        pairs += inner.left_pairs()
    pairs += outer.left_pairs()
    return object_text(pairs) if pairs else None
