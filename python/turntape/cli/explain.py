"""Errors and warnings in one line each: what happened, and what to do."""

from __future__ import annotations

import turntape
from turntape.cli.output import clean, clip

__all__ = ["advise", "kind_of", "summarise"]

_LONGEST_MESSAGE = 300

_KEY_STATUSES = frozenset({401, 403})
_REQUEST_STATUSES = frozenset({400, 404, 413, 422})
_PAYMENT_STATUS = 402


def kind_of(error: turntape.TurntapeError) -> str:
    """Name the kind of an error, as a table counts it: its class, and a provider's own name for it."""
    name = type(error).__name__
    if isinstance(error, turntape.ProviderError):
        status = "" if error.status is None else f" {error.status}"
        return f"{name} {clean(clip(error.kind, 60))}{status}"
    if isinstance(error, turntape.StrictError):
        return f"{name} {error.warning.code}"
    return name


def summarise(error: turntape.TurntapeError) -> str:
    """Say in one line what happened and where."""
    if isinstance(error, turntape.ProviderError):
        message = error.message
    elif isinstance(error, turntape.StrictError):
        message = error.warning.detail
    else:
        message = str(error)
    place = f" at byte {error.offset:,}" if isinstance(error, turntape.StreamError) else ""
    return f"{kind_of(error)}{place}: {clean(clip(message, _LONGEST_MESSAGE))}"


def advise(error: turntape.TurntapeError) -> str:
    """Say in one line what to do."""
    match error:
        case turntape.ProviderError():
            return _advise_provider(error)
        case turntape.TruncatedStream(raw=str(raw)) if not raw.lstrip().startswith(("{", "[")):
            advice = "see what answered instead of the provider, or broke in; then send the request again"
        case turntape.TruncatedStream():
            advice = "send the request again, and run no call of this part that is marked as cut"
        case turntape.MalformedEvent():
            advice = "look at the stream at that byte: something on its way damaged it"
        case turntape.EventTooLarge():
            advice = "raise --max-event-bytes, or leave it out for no limit"
        case turntape.StrictError():
            advice = "leave out --strict to take the turn with a warning"
        case turntape.UnknownDialect():
            advice = f"if it is a recorded stream, name its dialect: --dialect {turntape.Dialect.ANTHROPIC}"
        case _:
            advice = "look at the documentation of this error"
    return advice


def _advise_provider(error: turntape.ProviderError) -> str:
    if error.retryable:
        if error.before_content:
            return "wait a little and send the request again; no content had come yet"
        return "wait a little, drop this part and send the request again"
    if error.status in _KEY_STATUSES:
        return "check the key and what it may use; trying again does not help"
    if error.status == _PAYMENT_STATUS:
        return "check the account and its quota; trying again does not help"
    if error.status in _REQUEST_STATUSES:
        return "correct the request; trying again with the same one does not help"
    return "read what the provider says; trying again with the same request is unlikely to help"
