"""Halves of surrogate pairs, which no UTF-8 can hold: U+FFFD stands in for those that are alone."""

from __future__ import annotations

import re

__all__ = ["mended_json", "mended_text"]

# Every escape is looked at, so that an escaped backslash is not taken for the beginning of one.
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


def mended_text(text: str) -> str | None:
    """The text without lone halves; None where it has none, which is the usual case."""
    if text.isascii():
        return None
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return None


def mended_json(text: str) -> str | None:
    r"""JSON text without lone halves, written as they are or as escapes; None where it has none.

    >>> mended_json(r'{"a":"\ud83d"}')
    '{"a":"\\ufffd"}'
    >>> mended_json(r'{"a":"\ud83d\ude00 \\ud83d"}') is None
    True
    """
    mended = text
    if "\\u" in text:
        mended = _ESCAPE.sub(lambda found: "\\ufffd" if found[1] else found[0], text)
    mended = mended_text(mended) or mended
    return None if mended == text else mended
