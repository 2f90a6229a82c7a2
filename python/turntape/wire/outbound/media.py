"""Images, sound, films and documents: what they are, and whether a wire and a model take them."""

from __future__ import annotations

import binascii
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from turntape.errors import InvalidRequest, UnsupportedContent
from turntape.media import PathSource, UrlSource

if TYPE_CHECKING:
    from turntape.media import Audio, Document, Image, MediaBlock, Video
    from turntape.wire.capabilities import Capabilities

    Visible = Image | Audio | Video | Document

__all__ = ["Medium", "WireMedia", "checked", "sniffed"]


@dataclass(frozen=True, slots=True)
class WireMedia:
    """What a wire has a place for.

    Attributes:
        types: The media types of each kind of block that can go as bytes; None for any that the model
            takes; a kind that is missing cannot go at all.
        urls: The kinds of block that can go as a URL.
    """

    types: dict[str, frozenset[str] | None]
    urls: frozenset[str]


@dataclass(frozen=True, slots=True)
class Medium:
    """A medium that can go out.

    Attributes:
        kind: ``image``, ``audio``, ``video`` or ``document``.
        media_type: Its type: that of the bytes where they tell; None for a URL that was given without.
        data: The bytes in base64; None for a URL.
        url: The URL; None for bytes.
        correction: What was corrected in the declared type, in words; None where nothing was.
    """

    kind: str
    media_type: str | None
    data: str | None
    url: str | None
    correction: str | None = None

    @property
    def data_uri(self) -> str:
        """The bytes as a data URI, or the URL."""
        return self.url or f"data:{self.media_type};base64,{self.data}"

    @property
    def filename(self) -> str:
        """A name for the bytes, where a wire wants one and the host gave none."""
        return self.kind + _ENDINGS.get(self.media_type or "", ".bin")


# Not the system's own table: the same request is the same bytes everywhere.
_ENDINGS: Final = {
    "application/pdf": ".pdf",
    "text/plain": ".txt",
    "text/markdown": ".md",
    "text/csv": ".csv",
    "text/html": ".html",
    "application/msword": ".doc",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "application/vnd.ms-excel": ".xls",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx",
}

_ALIASES: Final = {
    "image/jpg": "image/jpeg",
    "image/pjpeg": "image/jpeg",
    "image/x-png": "image/png",
    "audio/x-wav": "audio/wav",
    "audio/wave": "audio/wav",
    "audio/vnd.wave": "audio/wav",
    "audio/mp3": "audio/mpeg",
    "audio/x-flac": "audio/flac",
    "application/x-pdf": "application/pdf",
}

# Enough for every signature below, in base64.
_HEAD: Final = 64

_SIGNATURES: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"BM", "image/bmp"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"fLaC", "audio/flac"),
    (b"OggS", "audio/ogg"),
    (b"ID3", "audio/mpeg"),
)
_RIFF: Final = {b"WEBP": "image/webp", b"WAVE": "audio/wav"}
_BRANDS: Final = {
    b"avif": "image/avif",
    b"avis": "image/avif",
    b"heic": "image/heic",
    b"heix": "image/heic",
    b"mif1": "image/heif",
}

# Two bytes are not enough to overrule what the host says.
_WEAK: Final = frozenset({"image/bmp"})


def sniffed(data: str) -> str | None:
    """The media type that the first bytes tell, of base64; None where they tell none.

    >>> sniffed("R0lGODlhAQABAAAAADs=")
    'image/gif'
    """
    try:
        head = binascii.a2b_base64(data[:_HEAD])
    except ValueError:
        return None
    for signature, media_type in _SIGNATURES:
        if head.startswith(signature):
            return media_type
    if head.startswith(b"RIFF"):
        return _RIFF.get(head[8:12])
    if head[4:8] == b"ftyp":
        return _BRANDS.get(head[8:12])
    return None


def checked(block: MediaBlock, wire: WireMedia, capabilities: Capabilities) -> Medium:
    """A medium as it can go out.

    Args:
        block: The block.
        wire: What the wire has a place for.
        capabilities: What the model takes.

    Raises:
        InvalidRequest: Its bytes are missing or are no base64, or are still in a file of the host's.
        UnsupportedContent: The wire or the model has no place for it.
    """
    source = block.source
    if isinstance(source, PathSource):
        raise InvalidRequest(
            f"the file {source.path!r} was not read: the host has to put its bytes or a URL in place of "
            "the path"
        )
    kind = block.type
    if kind not in wire.types:
        raise UnsupportedContent(f"this wire takes no {kind}")
    taken = _taken(kind, capabilities)
    if not taken:
        raise UnsupportedContent(f"the model takes no {kind}")
    declared = _plain(source.media_type)
    if isinstance(source, UrlSource):
        return _by_url(source, kind, declared, wire)
    if not source.data:
        raise InvalidRequest(f"the {kind} is empty")
    try:
        binascii.a2b_base64(source.data, strict_mode=True)
    except ValueError:
        raise InvalidRequest(f"the data of the {kind} is no base64") from None
    found = sniffed(source.data)
    _refuse_another_kind(found, kind, declared)
    media_type = declared
    if found is not None and found not in _WEAK and found != declared and _is_of(found, kind):
        media_type = found
    fits = wire.types[kind]
    if media_type not in taken or (fits is not None and media_type not in fits):
        shown = media_type if media_type == found else f"{media_type or 'no type'}, as declared"
        raise UnsupportedContent(f"{shown}, is no type of {kind} that is taken here")
    correction = None
    if media_type != (source.media_type or ""):
        correction = f"{source.media_type!r} is {media_type!r}"
    return Medium(kind, media_type, source.data, None, correction)


def _by_url(source: UrlSource, kind: str, declared: str, wire: WireMedia) -> Medium:
    if kind not in wire.urls:
        raise UnsupportedContent(f"this wire takes the bytes of {_an(kind)}, not its URL")
    if not source.url:
        raise InvalidRequest(f"the URL of the {kind} is empty")
    return Medium(kind, declared or None, None, source.url)


def _an(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def _taken(kind: str, capabilities: Capabilities) -> tuple[str, ...]:
    if kind == "image":
        return capabilities.image_types
    if kind == "document":
        return capabilities.document_types
    return capabilities.audio_types if kind == "audio" else capabilities.video_types


def _is_of(media_type: str, kind: str) -> bool:
    """Whether a type is one of a kind of block."""
    if kind == "document":
        return media_type == "application/pdf"
    return media_type.startswith(f"{kind}/")


def _refuse_another_kind(found: str | None, kind: str, declared: str) -> None:
    """Refuse what is plainly no medium of its kind, such as a PDF for an image.

    A text may begin with anything, and an Ogg file may be a film.
    """
    if found is None or found in _WEAK or _is_of(found, kind):
        return
    is_told = declared == "application/pdf" if kind == "document" else found != "audio/ogg"
    if is_told:
        raise UnsupportedContent(f"the bytes are {found}, and no {kind}")


def _plain(media_type: str | None) -> str:
    """A declared type without parameters, under its usual name."""
    plain = (media_type or "").partition(";")[0].strip().lower()
    return _ALIASES.get(plain, plain)
