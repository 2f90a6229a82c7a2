"""Builds requests in the tests, and holds what comes out to all checks that need no client and no server."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, get_args

from tests.support.body_rules import Target, json_faults, rule_faults
from tests.support.client_types import type_faults
from tests.support.model_requests import MODELS

from turntape import Dialect, Message, ReplayNoteCode, build_request

if TYPE_CHECKING:
    from collections.abc import Generator

    from turntape import BuiltRequest, HistoryItem, ModelRequest

__all__ = [
    "MESSAGES",
    "PLACEHOLDER",
    "body_of",
    "built_for",
    "faults_of",
    "long_integers",
    "messages_of",
]

PLACEHOLDER: Final = "skip_thought_signature_validator"
"""What Gemini documents for a call that another model made."""

MESSAGES: Final = {
    Dialect.ANTHROPIC: "messages",
    Dialect.OPENAI_CHAT: "messages",
    Dialect.OPENAI_RESPONSES: "input",
    Dialect.GEMINI: "contents",
    Dialect.BEDROCK_CONVERSE: "messages",
}
"""Under which member a body holds the conversation."""


@contextmanager
def long_integers() -> Generator[None]:
    """Let Python read integers of any length, which it refuses by default."""
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        yield
    finally:
        sys.set_int_max_str_digits(before)


def built_for(
    request: ModelRequest, dialect: Dialect, model: str | None = None, **options: Any
) -> BuiltRequest:
    """Build a request for one of a dialect's models."""
    return build_request(replace(request, model=model or MODELS[dialect][0]), dialect, **options)


def body_of(built: BuiltRequest) -> dict[str, Any]:
    """Give the body as the receiver reads it."""
    with long_integers():
        body: dict[str, Any] = json.loads(built.to_json())
    return body


def messages_of(dialect: Dialect, body: dict[str, Any]) -> list[dict[str, Any]]:
    """Give the conversation of a body: its messages, contents or items."""
    messages: list[dict[str, Any]] = body[MESSAGES[dialect]]
    return messages


def faults_of(
    built: BuiltRequest,
    request: ModelRequest,
    dialect: Dialect,
    model: str | None = None,
    vendor: str | None = None,
) -> list[str]:
    """Tell all that is wrong with a body, by types, rules and bytes, and with its notes.

    Args:
        built: What was built.
        request: What it was built from.
        dialect: For which dialect.
        model: For which model.
        vendor: For which vendor, if the model does not tell.
    """
    model = model or MODELS[dialect][0]
    body = body_of(built)
    is_bedrock = dialect is Dialect.BEDROCK_CONVERSE
    arguments = built.to_boto3() if is_bedrock else None
    vendor = vendor or next((name for name in ("mistral", "deepseek") if name in model), None)
    found = type_faults(dialect, body, vendor=vendor, headers=built.headers, arguments=arguments)
    if not found:
        target = Target(
            vendor=vendor,
            prefill=_may_end_with_assistant(request.messages, model),
            checks_signatures="gemini-3" in model,
        )
        found += rule_faults(dialect, body, target)
    with long_integers():
        found += json_faults(built.to_json(), built.body)
    found += _note_faults(built, len(request.messages))
    found += [f"{name}: a credential" for name in built.headers if "auth" in name or "key" in name]
    if not built.path.startswith("/") or not built.path.isascii() or " " in built.path:
        found.append(f"{built.path!r} is no path")
    return found


def _may_end_with_assistant(history: tuple[HistoryItem, ...] | Any, model: str) -> bool:
    if "sonnet-4-5" in model or model.startswith(("amazon.", "gemini")):
        return True
    messages = [item for item in history if isinstance(item, Message)]
    return bool(messages) and messages[-1].stop_reason == "pause_turn"


def _note_faults(built: BuiltRequest, size: int) -> list[str]:
    codes = set(get_args(ReplayNoteCode))
    return [
        f"{note}: a note names its kind and its message, and says something"
        for note in built.notes
        if note.code not in codes
        or not note.detail
        or not (note.index is None or 0 <= note.index < size)
    ]
