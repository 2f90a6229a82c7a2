"""Media in messages: images, sound, film and documents, and where their bytes are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from turntape.dict_form import DictForm

__all__ = [
    "Audio",
    "Base64Source",
    "Document",
    "Image",
    "MediaBlock",
    "MediaSource",
    "PathSource",
    "UrlSource",
    "Video",
]


@dataclass(frozen=True, slots=True)
class UrlSource(DictForm):
    """Bytes that the provider fetches itself.

    Attributes:
        url: Where they are. It is handed on and never opened here.
        media_type: Their MIME type, where it is known; some providers want it.
        type: The constant ``url``.
    """

    type: Literal["url"] = field(default="url", kw_only=True, repr=False)
    url: str
    media_type: str | None = None


@dataclass(frozen=True, slots=True)
class Base64Source(DictForm):
    """Bytes that the message carries.

    Attributes:
        data: The bytes in base64 (RFC 4648, section 4).
        media_type: Their MIME type, as declared.
        type: The constant ``base64``.
    """

    type: Literal["base64"] = field(default="base64", kw_only=True, repr=False)
    data: str = field(repr=False)
    media_type: str


@dataclass(frozen=True, slots=True)
class PathSource(DictForm):
    """Bytes in a file of the host's, which has to resolve it before a request is built.

    Attributes:
        path: The file, in the host's words. It is never opened here.
        media_type: Their MIME type, where it is known.
        type: The constant ``path``.
    """

    type: Literal["path"] = field(default="path", kw_only=True, repr=False)
    path: str
    media_type: str | None = None


MediaSource: TypeAlias = UrlSource | Base64Source | PathSource
"""Where the bytes of a medium are, told apart by ``type``."""


@dataclass(frozen=True, slots=True)
class Image(DictForm):
    """An image.

    Attributes:
        source: Where its bytes are.
        extra: A raw JSON object of what the wire's part carries beside them (OpenAI: ``detail``), which
            goes back to its own wire only.
        type: The constant ``image``.
    """

    type: Literal["image"] = field(default="image", kw_only=True, repr=False)
    source: MediaSource
    extra: str | None = None


@dataclass(frozen=True, slots=True)
class Audio(DictForm):
    """A sound.

    Attributes:
        source: Where its bytes are.
        extra: As of :class:`Image`.
        type: The constant ``audio``.
    """

    type: Literal["audio"] = field(default="audio", kw_only=True, repr=False)
    source: MediaSource
    extra: str | None = None


@dataclass(frozen=True, slots=True)
class Video(DictForm):
    """A film.

    Attributes:
        source: Where its bytes are.
        extra: As of :class:`Image`.
        type: The constant ``video``.
    """

    type: Literal["video"] = field(default="video", kw_only=True, repr=False)
    source: MediaSource
    extra: str | None = None


@dataclass(frozen=True, slots=True)
class Document(DictForm):
    """A document, such as a PDF.

    Attributes:
        source: Where its bytes are.
        extra: As of :class:`Image` (a title, a file name, whether it may be cited).
        type: The constant ``document``.
    """

    type: Literal["document"] = field(default="document", kw_only=True, repr=False)
    source: MediaSource
    extra: str | None = None


MediaBlock: TypeAlias = Image | Audio | Video | Document
"""Any medium, told apart by ``type``."""
