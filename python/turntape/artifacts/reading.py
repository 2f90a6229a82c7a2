"""Reading an artifact by ranges, cut between characters."""

from __future__ import annotations

import codecs
import os
from dataclasses import dataclass, field
from typing import Literal

__all__ = ["ArtifactChunk", "read_chunk", "read_range"]

# A character of UTF-8 is at most so long, and so many bytes of it may lie before an offset.
_LONGEST_CHARACTER = 4


@dataclass(frozen=True, slots=True)
class ArtifactChunk:
    """Part of an artifact. It is what the model asked for, so it is never offloaded itself.

    Attributes:
        text: The text; bytes that are no UTF-8 show as U+FFFD.
        next_offset: Where to read on, in bytes from the file's start; ``total_bytes`` or more at the end.
        total_bytes: How large the file is.
        exempt: The constant true: this text must not be offloaded.
    """

    text: str
    next_offset: int
    total_bytes: int
    exempt: Literal[True] = field(default=True, init=False, repr=False)

    @property
    def at_end(self) -> bool:
        """Whether nothing follows."""
        return self.next_offset >= self.total_bytes


def read_chunk(fd: int, offset: int, limit: int) -> ArtifactChunk:
    """Read a range of an open file, and at least one character of it.

    Args:
        fd: The file.
        offset: The first byte. In the midst of a character, reading begins at the next one.
        limit: How many bytes at most, unless the first character alone is longer.

    Raises:
        OSError: The system refused.
    """
    total = os.fstat(fd).st_size
    if offset >= total:
        return ArtifactChunk("", offset, total)
    start = _next_border(fd, offset)
    data = read_range(fd, start, max(limit, 1))
    end_of_file = start + len(data) >= total
    text, left = _decode(data, final=end_of_file)
    if not text and left:
        return _one_character(read_range(fd, start, _LONGEST_CHARACTER), start, total)
    return ArtifactChunk(text, start + len(data) - left, total)


def _one_character(data: bytes, start: int, total: int) -> ArtifactChunk:
    for width in range(1, len(data) + 1):
        text, left = _decode(data[:width], final=start + width >= total)
        if text:
            return ArtifactChunk(text, start + width - left, total)
    return ArtifactChunk("", total, total)  # it was cut off meanwhile


def _decode(data: bytes, *, final: bool) -> tuple[str, int]:
    """Decode, and tell how many bytes at the end belong to a character that goes on."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    text = decoder.decode(data, final)
    return text, len(decoder.getstate()[0])


def _next_border(fd: int, offset: int) -> int:
    """Find the first byte from an offset on that is not within a character."""
    before = min(offset, _LONGEST_CHARACTER - 1)
    around = read_range(fd, offset - before, before + _LONGEST_CHARACTER - 1)
    for lead in range(before):
        for end in range(before + 1, lead + _LONGEST_CHARACTER + 1):
            try:
                character = around[lead:end].decode()
            except UnicodeDecodeError:
                continue
            if len(character) == 1:
                return offset - before + end
    return offset


def read_range(fd: int, offset: int, size: int) -> bytes:
    """Read so many bytes of an open file, or as many as there are.

    Raises:
        OSError: The system refused.
    """
    parts: list[bytes] = []
    os.lseek(fd, offset, os.SEEK_SET)
    while size > 0 and (part := os.read(fd, size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
