"""Requests that get no turn: HTTP errors in the shape of the provider whose path was called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from turntape.errors import ProviderError
from turntape.wire.dialect import Dialect

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Refusal", "error_of", "kind_of", "shape_for"]

_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    405: "invalid_request_error",
    408: "timeout_error",
    413: "request_too_large",
    415: "invalid_request_error",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
    529: "overloaded_error",
}


class Refusal(Exception):
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


def kind_of(status: int) -> str:
    """What providers call an error of this status.

    >>> kind_of(529), kind_of(418), kind_of(502)
    ('overloaded_error', 'invalid_request_error', 'api_error')
    """
    first_of_servers = 500
    default = "api_error" if status >= first_of_servers else "invalid_request_error"
    return _KINDS.get(status, default)


def error_of(status: int, message: str, kind: str | None = None) -> ProviderError:
    """An error as a provider reports it."""
    return ProviderError(message, kind=kind or kind_of(status), status=status)


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
