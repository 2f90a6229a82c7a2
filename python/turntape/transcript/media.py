"""Media between messages and rows: references are copied, nothing is opened."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from turntape.media import (
    Audio,
    Base64Source,
    Document,
    Image,
    PathSource,
    UrlSource,
    Video,
)
from turntape.replay.markers import ImagePart
from turntape.transcript.rows import (
    AudioPart,
    DocumentPart,
    PathRef,
    UrlRef,
    VideoPart,
    is_inline,
)

if TYPE_CHECKING:
    from turntape.media import MediaBlock, MediaSource

    MediaPart: TypeAlias = ImagePart | AudioPart | VideoPart | DocumentPart

__all__ = ["has_no_part", "media_from_part", "part_from_media"]

_UNKNOWN_TYPE = "application/octet-stream"


def media_from_part(part: MediaPart, /) -> MediaBlock:
    """The block of a part that is not text.

    An image's URL is copied verbatim, data URIs and paths as well.

    >>> from turntape import AudioPart, PathRef
    >>> media_from_part(AudioPart(PathRef("gull.ogg"), "audio/ogg"))
    Audio(source=PathSource(path='gull.ogg', media_type='audio/ogg'), extra=None)
    """
    match part:
        case ImagePart(url=url):
            return Image(UrlSource(url))
        case AudioPart(source=source, mime_type=mime_type):
            return Audio(_source(source, mime_type))
        case VideoPart(source=source, mime_type=mime_type):
            return Video(_source(source, mime_type))
        case DocumentPart(source=source, mime_type=mime_type):
            return Document(_source(source, mime_type))


def part_from_media(block: MediaBlock, /) -> MediaPart | None:
    """The part of a block, None where a row cannot hold it: sound, film and documents that carry their bytes.

    An image in base64 becomes a data URI; a MIME type that is missing is ``application/octet-stream``.

    >>> from turntape import Base64Source, Image
    >>> part_from_media(Image(Base64Source("R0lGODlh", "image/gif")))
    ImagePart(url='data:image/gif;base64,R0lGODlh')
    """
    if isinstance(block, Image):
        return ImagePart(_image_url(block.source))
    reference = _reference(block.source)
    if reference is None:
        return None
    mime_type = block.source.media_type or _UNKNOWN_TYPE
    match block:
        case Audio():
            return AudioPart(reference, mime_type)
        case Video():
            return VideoPart(reference, mime_type)
        case Document():
            return DocumentPart(reference, mime_type)


def has_no_part(block: MediaBlock) -> bool:
    """Whether ``part_from_media`` gives nothing: the block carries bytes that no row may hold."""
    return not isinstance(block, Image) and _reference(block.source) is None


def data_prefix(media_type: str) -> str:
    """What the data URI of an image in base64 begins with."""
    return f"data:{media_type};base64,"


def _image_url(source: MediaSource) -> str:
    match source:
        case UrlSource(url=url):
            return url
        case PathSource(path=path):
            return path
        case Base64Source(data=data, media_type=media_type):
            return f"{data_prefix(media_type)}{data}"


def _source(reference: PathRef | UrlRef, mime_type: str) -> MediaSource:
    if isinstance(reference, PathRef):
        return PathSource(reference.path, mime_type)
    return UrlSource(reference.url, mime_type)


def _reference(source: MediaSource) -> PathRef | UrlRef | None:
    match source:
        case PathSource(path=path):
            return PathRef(path)
        case UrlSource(url=url) if not is_inline(url):
            return UrlRef(url)
        case _:
            return None
