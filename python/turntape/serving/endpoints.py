"""The providers' own paths, and what a request to one of them asks for."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from turntape.errors import TurntapeError
from turntape.serving.refusals import Refusal
from turntape.wire.dialect import Dialect
from turntape.wire.inbound.read import from_request

if TYPE_CHECKING:
    from turntape.requests import ModelRequest

__all__ = ["ENDPOINTS", "AnswerForm", "Asked", "Endpoint", "read_asked"]

AnswerForm: TypeAlias = Literal["sse", "array", "response"]
"""How an answer is framed: the forms of a recording, but for the binary one."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A path of a provider's.

    Attributes:
        path: The path, with the model as ``{model}`` where it stands there.
        dialect: What is spoken there.
        streams: Whether its answers are streams; None where the request says.
    """

    path: str
    dialect: Dialect
    streams: bool | None = None


# What clients call with the base URLs that their makers give, with and without the version in them.
_PATHS = {
    Dialect.ANTHROPIC: ("/v1/messages", "/messages"),
    Dialect.OPENAI_CHAT: (
        "/v1/chat/completions",
        "/chat/completions",
        "/openai/v1/chat/completions",
        "/openai/deployments/{model}/chat/completions",
    ),
    Dialect.OPENAI_RESPONSES: (
        "/v1/responses",
        "/responses",
        "/openai/v1/responses",
        "/openai/responses",
    ),
}

_GEMINI_MODELS = (
    "/v1beta/models/{model:path}",
    "/v1/models/{model:path}",
    "/v1alpha/models/{model:path}",
    "/models/{model:path}",
    "/{version}/publishers/google/models/{model:path}",
    "/{version}/projects/{project}/locations/{location}/publishers/google/models/{model:path}",
)

ENDPOINTS = (
    *(Endpoint(path, dialect) for dialect, paths in _PATHS.items() for path in paths),
    *(
        Endpoint(f"{path}:{method}", Dialect.GEMINI, streams)
        for path in _GEMINI_MODELS
        for method, streams in (("streamGenerateContent", True), ("generateContent", False))
    ),
)
"""All paths that are served, by ``POST``."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request asks for.

    Attributes:
        dialect: The dialect to speak.
        form: How to frame it.
        request: The request.
        usage: Whether a stream is to tell the usage, where the dialect has that asked.
    """

    dialect: Dialect
    form: AnswerForm
    request: ModelRequest
    usage: bool


def read_asked(endpoint: Endpoint, body: bytes, model: str | None, alt: str | None) -> Asked:
    """Read what a request asks for.

    Args:
        endpoint: The path that was called.
        body: The body.
        model: The model in the path.
        alt: The query parameter of that name, by which Gemini's streams are server-sent events.

    Raises:
        Refusal: The body is none that the provider would take.
    """
    try:
        request = from_request(body, endpoint.dialect, model=model)
    except (TurntapeError, ValueError, TypeError) as error:
        raise Refusal(400, str(error)) from error
    streams = request.stream if endpoint.streams is None else endpoint.streams
    form: AnswerForm = "response"
    if streams:
        form = "array" if endpoint.dialect is Dialect.GEMINI and alt != "sse" else "sse"
    usage = endpoint.dialect is not Dialect.OPENAI_CHAT or _asks_for_usage(body)
    return Asked(endpoint.dialect, form, request, usage)


def _asks_for_usage(body: bytes) -> bool:
    if b"include_usage" not in body:
        return False
    # Python refuses to make integers of very long ones, and none is looked at here.
    options: Any = json.loads(body, parse_int=str).get("stream_options")
    return isinstance(options, dict) and cast("Any", options).get("include_usage") is True
