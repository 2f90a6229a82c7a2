"""What an image's bytes say of its type."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["image_faults", "image_type"]


def image_type(data: bytes) -> str | None:
    """Give the MIME type that bytes are of by their first few, None where they are no known image."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data[:6] in {b"GIF87a", b"GIF89a"}:
        return "image/gif"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return None


def image_faults(text: str, declared: str, path: str) -> Iterator[str]:
    """Tell what is wrong with an image.

    Args:
        text: Its bytes in base64.
        declared: Its MIME type, as the body has it.
        path: Where it stands.
    """
    try:
        data = base64.b64decode(text, validate=True)
    except binascii.Error:
        yield f"{path}: no base64"
        return
    if not data:
        yield f"{path}: the image is empty"
    elif image_type(data) != declared:
        yield f"{path}: {declared} is declared, but the bytes are {image_type(data)}"
