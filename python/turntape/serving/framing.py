r"""The events of a recorded body, as the bytes that say them, and Gemini's two ways to frame them.

>>> [*pieces_of(b": hi\n\ndata: 1\n\ndata: 2\n\n", "sse")]
[b': hi\n\ndata: 1\n\n', b'data: 2\n\n']
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Literal, TypeAlias

from turntape._native import SseDecoder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Form", "count_events", "form_of", "pieces_of", "to_array", "to_sse"]

Form: TypeAlias = Literal["sse", "array", "event-stream", "response"]
"""How a body is framed: server-sent events, a JSON array that grows (Gemini), the binary event stream of
AWS, or one JSON object, which is a response that was not streamed."""

# Lines end with CRLF, LF or CR, and none of the groups gives back the CR of a CRLF for another end.
_BLANK_LINE = re.compile(rb"(?>\r\n|\n|\r)(?>\r\n|\n|\r)+")
_HAS_DATA = re.compile(rb"(?:^(?:\xef\xbb\xbf)?|[\r\n])data")

_WHITE = " \t\r\n"
_BETWEEN = " \t\r\n,"


def form_of(body: bytes) -> Form:
    """Tell how a body is framed, from its first byte that is no white space.

    >>> form_of(b'[{"candidates":[]}]'), form_of(b"event: ping")
    ('array', 'sse')
    """
    # The binary stream begins with the length of its first message, which is never so long.
    if body[:1] == b"\0":
        return "event-stream"
    start = body[:64].lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if start == b"{":
        return "response"
    return "array" if start == b"[" else "sse"


def pieces_of(body: bytes, form: Form) -> Iterator[bytes]:
    """Cut a body so that each piece but the last ends with an event; joined they are the body.

    What holds no data, such as a comment, goes with the event after it. A response that was not streamed,
    and a binary stream, are one piece.

    Args:
        body: The body, whole or not.
        form: How it is framed.
    """
    if form == "sse":
        yield from _sse_pieces(body)
    elif form == "array":
        yield from _array_pieces(body)
    elif body:
        yield body


def count_events(pieces: Iterable[bytes], form: Form) -> int:
    """Count the pieces that hold an event: the end of an array is none, nor is a comment at the end."""
    if form == "array":
        return sum(b"{" in piece for piece in pieces)
    return sum(_HAS_DATA.search(piece) is not None for piece in pieces)


def _sse_pieces(body: bytes) -> Iterator[bytes]:
    start = 0
    for match in _BLANK_LINE.finditer(body):
        # The line end before it shows where its first line begins: there is no ``^`` in mid-stream.
        if _HAS_DATA.search(body, max(start - 1, 0), match.start()):
            yield body[start : match.end()]
            start = match.end()
    if start < len(body):
        yield body[start:]


def _array_pieces(body: bytes) -> Iterator[bytes]:
    text = body.decode("utf-8", "surrogateescape")
    start = 0
    for end in _element_ends(text):
        yield text[start:end].encode("utf-8", "surrogateescape")
        start = end
    if start < len(text):
        yield text[start:].encode("utf-8", "surrogateescape")


def _element_ends(text: str) -> Iterator[int]:
    """Where each whole element of an array ends, up to the first that is not whole."""
    decode = json.JSONDecoder().raw_decode
    at = _skip(text, 0, "\ufeff" + _WHITE)
    if text[at : at + 1] != "[":
        return
    at = _skip(text, at + 1, _BETWEEN)
    while text[at : at + 1] == "{":
        try:
            _, at = decode(text, at)
        except (ValueError, RecursionError):
            return
        yield at
        at = _skip(text, at, _BETWEEN)


def _skip(text: str, at: int, skipped: str) -> int:
    while at < len(text) and text[at] in skipped:
        at += 1
    return at


def to_sse(body: bytes) -> bytes:
    r"""Frame the elements of an array as server-sent events, as far as they are whole.

    >>> to_sse(b'[{"a":\n1},{"b')
    b'data: {"a": 1}\r\n\r\n'
    """
    framed: list[bytes] = []
    for piece in _array_pieces(body):
        start, end = piece.find(b"{"), piece.rfind(b"}") + 1
        element = piece[start:end]
        try:
            json.loads(element)
        except (ValueError, RecursionError):
            continue
        # In JSON a line end stands only between tokens.
        framed.append(b"data: %b\r\n\r\n" % element.replace(b"\r", b" ").replace(b"\n", b" "))
    return b"".join(framed)


def to_array(body: bytes, *, closed: bool) -> bytes:
    r"""Frame the payloads of server-sent events as a JSON array.

    Keep-alives, whose data is no JSON object, have no place in it.

    Args:
        body: The stream.
        closed: Whether the array ends.

    >>> to_array(b"data: {}\n\ndata: ping\n\ndata: {}\n\n", closed=False)
    b'[{},\r\n{}'
    """
    decoder = SseDecoder()
    events = [*decoder.feed(body), *decoder.finish()]
    payloads = (event.data for event in events if event.data.lstrip(_WHITE).startswith("{"))
    joined = ",\r\n".join(payloads).encode()
    return b"[" + joined + (b"]" if closed else b"")
