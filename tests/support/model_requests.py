"""Requests made up by hypothesis, for each dialect with the models that it serves."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from hypothesis import strategies as st
from tests.support.history_parts import any_texts

from turntape import (
    CachePolicy,
    Dialect,
    ModelRequest,
    Reasoning,
    ResponseFormat,
    Text,
    ToolChoice,
    ToolDef,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hypothesis.strategies import DrawFn, SearchStrategy

    from turntape import Effort, HistoryItem

__all__ = ["MODELS", "for_model", "model_requests", "plain_request"]

MODELS: Final[dict[Dialect, tuple[str, ...]]] = {
    Dialect.ANTHROPIC: ("claude-heron-9", "claude-sonnet-4-5", "claude-opus-4-7"),
    Dialect.OPENAI_CHAT: (
        "quill-2",
        "gpt-4o",
        "gpt-5",
        "deepseek-reasoner",
        "mistral-large-latest",
    ),
    Dialect.OPENAI_RESPONSES: ("quill-r1", "gpt-5", "gpt-4o"),
    Dialect.GEMINI: ("gemini-2.5-flash", "gemini-3-pro-preview"),
    Dialect.BEDROCK_CONVERSE: (
        "amazon.tern-1",
        "us.anthropic.claude-opus-4-7-v1:0",
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    ),
}
"""Models of each dialect, some of them invented; the first is the plainest."""

_SCHEMA: dict[str, Any] = {"type": "object", "properties": {"n": {"type": "integer"}}}
_TOOLS = (
    ToolDef("dim", "Dims a lamp.", _SCHEMA),
    ToolDef("snap", "", {"type": "object"}, strict=True),
    ToolDef("_private", "Ünï🦀", {"type": "object", "properties": {}}),
)
_FORMATS = (
    None,
    None,
    None,
    ResponseFormat("text"),
    ResponseFormat("json_object"),
    ResponseFormat.json_schema(
        "tide",
        {
            "type": "object",
            "properties": {"ebb": {"type": "number"}},
            "required": ["ebb"],
            "additionalProperties": False,
        },
    ),
)


def plain_request(messages: Sequence[HistoryItem], dialect: Dialect) -> ModelRequest:
    """Ask a dialect's plainest model to go on with a history, and nothing more."""
    return ModelRequest(MODELS[dialect][0], messages, max_tokens=4096)


def _or_none(strategy: SearchStrategy[Any]) -> SearchStrategy[Any]:
    return st.one_of(st.none(), strategy)


@st.composite
def _reasonings(draw: DrawFn) -> Reasoning | None:
    summary = draw(st.sampled_from([None, "auto", "none", "detailed"]))
    match draw(st.sampled_from(["no", "no", "effort", "budget", "summary"])):
        case "effort":
            efforts: list[Effort] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"]
            return Reasoning(effort=draw(st.sampled_from(efforts)), summary=summary)
        case "budget":
            tokens = draw(st.sampled_from([0, 512, 1024, 2048, 100_000]))
            return Reasoning(budget_tokens=tokens, summary=summary)
        case "summary":
            return Reasoning(summary=summary)
        case _:
            return None


@st.composite
def _policies(draw: DrawFn, size: int) -> CachePolicy:
    places = st.integers(0, max(size - 1, 0))
    return CachePolicy(
        system=draw(st.booleans()),
        tools=draw(st.booleans()),
        messages=tuple(draw(st.lists(places, max_size=4))) if size else (),
        ttl=draw(st.sampled_from(["5m", "1h"])),
        key=draw(st.sampled_from([None, "den-7"])),
        automatic=draw(st.booleans()),
    )


@st.composite
def model_requests(
    draw: DrawFn, messages: SearchStrategy[list[HistoryItem]], *, stable: bool = False
) -> ModelRequest:
    """Make up a request; its model is the empty string, to be set for each dialect.

    Args:
        draw: Hypothesis's.
        messages: The histories.
        stable: Whether to leave out what marks places of the history.
    """
    history = draw(messages)
    tools = draw(st.sampled_from([(), _TOOLS[:1], _TOOLS]))
    choices = [None, ToolChoice("auto"), ToolChoice("none"), ToolChoice("required")]
    if tools:
        choices.append(ToolChoice.tool(tools[0].name))
    return ModelRequest(
        "",
        history,
        system=draw(st.one_of(st.none(), any_texts, st.tuples(any_texts.map(Text)))),
        tools=tools,
        tool_choice=draw(st.sampled_from(choices)),
        parallel_tool_calls=draw(st.sampled_from([None, None, True, False])),
        max_tokens=draw(st.sampled_from([16, 4096, 200_000])),
        temperature=draw(_or_none(st.sampled_from([0, 0.5, 1]))),
        top_p=draw(_or_none(st.sampled_from([0.25, 1.0]))),
        stop=draw(st.sampled_from([(), (), ("END",), ("1", "2", "3", "4", "5")])),
        reasoning=draw(_reasonings()),
        response_format=draw(st.sampled_from(_FORMATS)),
        cache=CachePolicy() if stable else draw(_policies(len(history))),
        stream=draw(st.booleans()),
    )


def for_model(request: ModelRequest, model: str) -> ModelRequest:
    """Give a request for a model."""
    return replace(request, model=model)
