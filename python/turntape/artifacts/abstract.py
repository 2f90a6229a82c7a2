"""Whether a result is too large for the conversation, and the part of it that is kept there."""

from __future__ import annotations

__all__ = [
    "DEFAULT_ABSTRACT_BUDGET",
    "DEFAULT_OFFLOAD_THRESHOLD_BYTES",
    "build_abstract",
    "effective_offload_threshold",
    "should_offload",
    "utf8_size",
]

DEFAULT_OFFLOAD_THRESHOLD_BYTES = 8192
"""The largest result that stays in the conversation, in bytes of UTF-8."""

DEFAULT_ABSTRACT_BUDGET = 600
"""How long an abstract is, in characters, the dots at its end not counted."""


def utf8_size(text: str) -> int:
    """How many bytes a text takes as it would be stored, where a lone surrogate takes three."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def should_offload(n_bytes: int, threshold: int) -> bool:
    """Whether a result of so many bytes is too large.

    Args:
        n_bytes: Its size in UTF-8.
        threshold: The largest size that stays; 0 disables offloading.

    >>> should_offload(8193, DEFAULT_OFFLOAD_THRESHOLD_BYTES), should_offload(10**9, 0)
    (True, False)
    """
    return 0 < threshold < n_bytes


def effective_offload_threshold(default: int, max_result_chars: int | None) -> int:
    """Give the threshold for a tool that has a limit of its own.

    Args:
        default: The threshold of all tools.
        max_result_chars: How much the tool may give; None or 0 for no such limit.

    Returns:
        The smaller of the two.

    >>> effective_offload_threshold(8192, 4000)
    4000
    """
    if max_result_chars is None or max_result_chars <= 0:
        return default
    return min(default, max_result_chars)


def build_abstract(text: str, budget: int = DEFAULT_ABSTRACT_BUDGET) -> str:
    """Take the beginning of a text.

    Args:
        text: The text, which must have been redacted.
        budget: How many characters of it at most.

    Returns:
        The text without white space at its ends, if that fits; else its first characters, up to the last
        line end, or else the last space, if one stands in their second half, and ``...``.

    >>> build_abstract("one two three four five", 12)
    'one two...'
    """
    text = text.strip()
    if len(text) <= budget:
        return text
    if budget <= 0:
        return ""
    head = text[:budget]
    half = utf8_size(head) // 2
    for mark in "\n", " ":
        at = head.rfind(mark)
        if at >= 0 and utf8_size(head[:at]) >= half:
            head = head[:at]
            break
    return f"{head.rstrip()}..."
