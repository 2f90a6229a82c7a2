"""Faults in the providers' own shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from turntape._native import error_document

if TYPE_CHECKING:
    from turntape.errors import ProviderError
    from turntape.wire.dialect import Dialect

__all__ = ["format_error"]


def format_error(error: ProviderError, dialect: Dialect | str) -> tuple[int, bytes]:
    """Write a fault as the body of a response, in the shape in which a provider reports its own.

    Decoding the body as that dialect gives a ``ProviderError`` of the same kind and message. The status
    stands in it only where it does on the wire, in Gemini's; elsewhere it is the response's alone. A
    server that has a fault of its own to report makes the error from a message, ``kind`` and ``status``.

    Args:
        error: The fault; its kind, message and status count. A kind of no characters or of digits alone
            is written as ``error``, because no decoder would take it for a name.
        dialect: Whose shape it is to have.

    Returns:
        The HTTP status, which is the error's or, where it has none, the one that goes with its kind (500
        where none does), and the JSON body.

    Raises:
        OverflowError: The error's status is no 16-bit number.
        UnicodeEncodeError: The kind or the message holds a lone surrogate.
        ValueError: The dialect is no dialect.

    >>> from turntape import ProviderError
    >>> format_error(ProviderError("Overloaded", kind="overloaded_error"), "anthropic")
    (529, b'{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}')
    """
    return error_document(dialect, error.kind, error.message, error.status)
