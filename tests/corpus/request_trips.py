"""What becomes of the recorded requests: read, built again for their own wire, and for the other four."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from tests.corpus import request_differences_openai as _listed
from tests.corpus.request_differences import Pair, kinds_between
from tests.support.building import faults_of
from tests.support.model_requests import MODELS

from turntape import Dialect, TurntapeError, build_request, from_request

if TYPE_CHECKING:
    from tests.corpus.requests import Recorded

    from turntape import ModelRequest

__all__ = ["Refused", "Trip", "abroad", "home"]

assert _listed.__doc__, "its kinds are listed by importing it"

# What the recordings were sent to: sampling parameters were taken then.
_API_VERSION = "2023-06-01"


@dataclass(frozen=True)
class Refused:
    """A request that cannot be built, and why."""

    error: TurntapeError


@dataclass(frozen=True)
class Trip:
    """A request that was built again for its own wire.

    Attributes:
        kinds: The kinds of difference; none where the bodies are the same.
        is_explained: Whether these are all.
        expected: What the kinds make of the recorded body.
        built: What was built.
    """

    kinds: tuple[str, ...]
    is_explained: bool
    expected: object
    built: object


@cache
def home(recorded: Recorded) -> Trip | Refused:
    """Read a request and build it for its own wire.

    Raises:
        InvalidRequest: It cannot be read.
    """
    assert recorded.dialect is not None
    request = _read(recorded)
    # Only Chat Completions is spoken by vendors with habits of their own.
    is_chat = recorded.dialect is Dialect.OPENAI_CHAT
    try:
        built = build_request(
            request,
            recorded.dialect,
            vendor=recorded.vendor if is_chat else "auto",
            api_version=_API_VERSION,
        )
    except TurntapeError as error:
        return Refused(error)
    sent = json.loads(built.to_json())
    if sent == recorded.body:
        return Trip((), is_explained=True, expected=sent, built=sent)
    kinds, expected = kinds_between(Pair(recorded, built))
    return Trip(tuple(kinds), is_explained=expected == sent, expected=expected, built=sent)


def abroad(recorded: Recorded, dialect: Dialect) -> list[str] | Refused:
    """Read a request, build it for another wire and check what comes out.

    Returns:
        What is wrong with it, which should be nothing; or why it was refused.
    """
    request = _read(recorded, target=dialect)
    request = replace(request, max_tokens=request.max_tokens or 4096)
    try:
        built = build_request(replace(request, model=MODELS[dialect][0]), dialect, repair="repair")
    except TurntapeError as error:
        return Refused(error)
    return faults_of(built, request, dialect)


def _read(recorded: Recorded, target: Dialect | None = None) -> ModelRequest:
    assert recorded.dialect is not None
    return from_request(
        recorded.data,
        recorded.dialect,
        model=recorded.model,
        vendor=recorded.vendor,
        target=target,
    )
