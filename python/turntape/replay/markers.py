"""Image markers: images inside a plain text.

A marker is ``[OH_IMAGE:``, the image's URL, and the first ``]``.

>>> split_image_parts("see [OH_IMAGE:a.png] there")
[TextPart(text='see '), ImagePart(url='a.png'), TextPart(text=' there')]
>>> join_image_parts([TextPart("see "), ImagePart("a.png")])
'see [OH_IMAGE:a.png]'
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from turntape._native import count_image_parts, has_image_parts, split_image_parts
from turntape.errors import MarkerError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "IMAGE_MARKER_PREFIX",
    "ImagePart",
    "MarkerError",
    "TextPart",
    "count_image_parts",
    "has_image_parts",
    "join_image_parts",
    "split_image_parts",
]

IMAGE_MARKER_PREFIX = "[OH_IMAGE:"
"""What a marker begins with; case counts."""

_END = "]"


@dataclass(frozen=True, slots=True)
class TextPart:
    """Text of a message.

    Attributes:
        text: The text.
        type: The constant ``text``.
    """

    type: Literal["text"] = field(default="text", kw_only=True, repr=False)
    text: str


@dataclass(frozen=True, slots=True)
class ImagePart:
    """An image of a message.

    Attributes:
        url: A data URI, an http(s) URL or a path, verbatim; may be empty.
        type: The constant ``image``.
    """

    type: Literal["image"] = field(default="image", kw_only=True, repr=False)
    url: str


def join_image_parts(parts: Iterable[TextPart | ImagePart], *, check: bool = False) -> str:
    """Put parts together: the inverse of ``split_image_parts``, for every text.

    Args:
        parts: Text and image parts.
        check: Whether to refuse parts that would not come back the same.

    Raises:
        MarkerError: With ``check``: a payload holds ``]``; a text holds the prefix, unless it is the last
            part and nothing after the prefix ends it; a text is empty, or follows a text.
        TypeError: Something is no part.

    >>> join_image_parts([ImagePart("a]b")], check=True)
    Traceback (most recent call last):
    turntape.errors.MarkerError: part 0 would not come back the same: its payload holds ']'
    """
    listed = list(parts)
    # Joined here and not in the core: every kind of string is joined in its own form, surrogates and all,
    # and each payload is copied once.
    pieces: list[str] = []
    for part in listed:
        match part:
            case TextPart(text=text):
                pieces.append(text)
            case ImagePart(url=url):
                pieces += (IMAGE_MARKER_PREFIX, url, _END)
            case _:
                raise TypeError(f"{type(part).__name__} is neither a TextPart nor an ImagePart")
    joined = "".join(pieces)
    if check:
        _check(listed)
    return joined


def _check(parts: list[TextPart | ImagePart]) -> None:
    after_text = False
    for index, part in enumerate(parts):
        if isinstance(part, ImagePart):
            fault = "its payload holds ']'" if _END in part.url else None
        else:
            fault = _fault_of_text(part.text, after_text=after_text, last=index + 1 == len(parts))
        if fault is not None:
            raise MarkerError(f"part {index} would not come back the same: {fault}", index=index)
        after_text = isinstance(part, TextPart)


def _fault_of_text(text: str, *, after_text: bool, last: bool) -> str | None:
    if not text:
        return "an empty text vanishes"
    if after_text:
        return "it merges with the text before it"
    prefix = text.find(IMAGE_MARKER_PREFIX)
    if prefix >= 0 and (not last or text.find(_END, prefix) >= 0):
        return "its text would become an image"
    return None
