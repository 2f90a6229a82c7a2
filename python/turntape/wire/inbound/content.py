"""Content that several wires have: media and where their bytes are."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING

from turntape.media import Audio, Base64Source, Document, Image, UrlSource, Video

if TYPE_CHECKING:
    from turntape.media import MediaBlock, MediaSource

__all__ = [
    "AUDIO_TYPES",
    "base64_of_text",
    "media_block",
    "media_type_of",
    "standard_base64",
    "url_or_data",
]

AUDIO_TYPES = {
    "mp3": "audio/mpeg",
    "wav": "audio/wav",
    "flac": "audio/flac",
    "opus": "audio/opus",
    "ogg": "audio/ogg",
    "aac": "audio/aac",
    "m4a": "audio/mp4",
    "mp4": "audio/mp4",
    "webm": "audio/webm",
    "pcm16": "audio/pcm",
}
"""The names of sound formats that are not written as MIME types, and what they are."""

_DATA_URI = re.compile(r"data:([^;,\s]+)((?:;[^;,\s]+=[^;,]*)*);base64,", re.IGNORECASE)

_KINDS: dict[str, type[Image | Audio | Video]] = {"image": Image, "audio": Audio, "video": Video}


def url_or_data(url: str, media_type: str | None = None) -> MediaSource:
    """The source that a URL stands for: a data URI in base64 carries its bytes itself."""
    match = _DATA_URI.match(url)
    if match is None:
        return UrlSource(url, media_type)
    return Base64Source(url[match.end() :], match[1] + match[2])


def media_type_of(source: MediaSource) -> str:
    """The declared MIME type without its parameters, in lower case; empty where none is."""
    return (source.media_type or "").partition(";")[0].strip().lower()


def media_block(source: MediaSource, extra: str | None = None) -> MediaBlock:
    """The medium that a source's MIME type tells; what is no image, sound or film is a document."""
    kind = _KINDS.get(media_type_of(source).partition("/")[0])
    return Document(source, extra) if kind is None else kind(source, extra)


def standard_base64(data: str) -> str:
    """The same bytes in the standard alphabet; some clients write the one for URLs."""
    return data.replace("-", "+").replace("_", "/")


def base64_of_text(text: str) -> str:
    """A plain text as the bytes of a document, in base64; half a surrogate pair becomes U+FFFD."""
    data = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
    return base64.b64encode(data).decode("ascii")
