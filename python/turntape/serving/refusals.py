"""Requests that get no turn: HTTP errors in the shape of the provider whose path was called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from turntape.errors import ProviderError
from turntape.wire.dialect import Dialect

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Refusal", "error_of", "kind_of", "shape_for"]

# What each calls its errors; of the statuses that are not here, what it calls the rest below 500 and above.
_ANTHROPIC = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}
_OPENAI = {
    401: "authentication_error",
    403: "permission_error",
    429: "rate_limit_exceeded",
    503: "service_unavailable_error",
    529: "service_unavailable_error",
}
_GEMINI = {
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    408: "DEADLINE_EXCEEDED",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
    529: "UNAVAILABLE",
}
_KINDS = {
    Dialect.ANTHROPIC: (_ANTHROPIC, "invalid_request_error", "api_error"),
    Dialect.GEMINI: (_GEMINI, "INVALID_ARGUMENT", "INTERNAL"),
}
_OTHER_KINDS = (_OPENAI, "invalid_request_error", "server_error")

_FIRST_OF_SERVERS = 500


class Refusal(Exception):  # noqa: N818 (it says what happens to the request)
    """Why a request gets no turn.

    Attributes:
        status: The HTTP status.
        message: The reason, for people.
    """

    def __init__(self, status: int, message: str) -> None:
        """Say why."""
        super().__init__(message)
        self.status = status
        self.message = message


def kind_of(status: int, dialect: Dialect) -> str:
    """What a provider calls an error of this status.

    >>> kind_of(529, Dialect.ANTHROPIC), kind_of(502, Dialect.OPENAI_CHAT), kind_of(404, Dialect.GEMINI)
    ('overloaded_error', 'server_error', 'NOT_FOUND')
    """
    kinds, of_clients, of_servers = _KINDS.get(dialect, _OTHER_KINDS)
    return kinds.get(status, of_clients if status < _FIRST_OF_SERVERS else of_servers)


def error_of(status: int, message: str, dialect: Dialect, kind: str | None = None) -> ProviderError:
    """An error as a provider reports it."""
    return ProviderError(message, kind=kind or kind_of(status, dialect), status=status)


def shape_for(path: str, headers: Mapping[str, str]) -> Dialect:
    """Whose errors a client expects that called a path, known or not.

    >>> shape_for("/v1beta/models/m:countTokens", {}).value
    'gemini'
    """
    if "anthropic-version" in headers or "/messages" in path:
        return Dialect.ANTHROPIC
    if "x-goog-api-key" in headers or "/v1beta" in path or "enerateContent" in path:
        return Dialect.GEMINI
    if "/responses" in path:
        return Dialect.OPENAI_RESPONSES
    return Dialect.OPENAI_CHAT
