"""What is asked of a model: the history, the tools, and how to answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, Literal, TypeAlias

# At run time too: pydantic and the dict form resolve the annotations in this module.
from turntape.conversation import HistoryItem
from turntape.dict_form import DictForm
from turntape.messages import Text
from turntape.wire.dialect import Dialect

__all__ = [
    "DELETE",
    "CachePolicy",
    "Delete",
    "Effort",
    "ModelRequest",
    "RawTool",
    "Reasoning",
    "ResponseFormat",
    "ToolChoice",
    "ToolDef",
]

Effort: TypeAlias = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
"""How hard a model is to think, weakest first. What a model lacks goes to the nearest lower one."""


class Delete(Enum):
    """The type of :data:`DELETE`."""

    DELETE = "delete"


DELETE: Final = Delete.DELETE
"""As a value in ``ModelRequest.extra``: the member is removed from the body."""


@dataclass(frozen=True, slots=True)
class ToolDef(DictForm):
    """A tool of the host's.

    Attributes:
        name: Its name. Providers take letters, digits, ``_`` and ``-``; most at most 64 characters.
        description: What it does, for the model.
        input_schema: The JSON Schema of its arguments, sent as it is.
        strict: Whether the provider is to hold the model to the schema, where it can.
    """

    name: str
    description: str
    input_schema: Mapping[str, Any]
    strict: bool = False


@dataclass(frozen=True, slots=True)
class RawTool(DictForm):
    """A tool of one provider's own, such as its web search, sent as it stands.

    Attributes:
        dialect: The dialect that knows it. In another, building the request is ``UnsupportedContent``.
        json: The element of the body's ``tools``, as a raw JSON object.
        type: The constant ``raw_tool``.
    """

    type: Literal["raw_tool"] = field(default="raw_tool", kw_only=True, repr=False)
    dialect: Dialect
    json: str


@dataclass(frozen=True, slots=True)
class ToolChoice(DictForm):
    """Whether the model may, must or must not call a tool.

    Attributes:
        type: ``auto``, ``none``, ``required`` (any tool), or ``tool`` (the one named).
        name: The tool, with ``tool`` only.
    """

    type: Literal["auto", "none", "required", "tool"]
    name: str | None = None

    def __post_init__(self) -> None:
        """Hold the name to the type."""
        if (self.type == "tool") != (self.name is not None):
            raise ValueError("a tool choice has a name if its type is 'tool', and only then")

    @classmethod
    def tool(cls, name: str) -> ToolChoice:
        """The tool that must be called."""
        return cls("tool", name)


@dataclass(frozen=True, slots=True)
class Reasoning(DictForm):
    """How much the model is to think, and whether to show it.

    Attributes:
        effort: How hard; not together with ``budget_tokens``.
        budget_tokens: At most how many tokens of thinking.
        summary: Whether a summary of the thinking is shown, in the provider's words (``auto``,
            ``concise``, ``detailed``; ``none`` hides it where that can be said).
    """

    effort: Effort | None = None
    budget_tokens: int | None = None
    summary: str | None = None

    def __post_init__(self) -> None:
        """Refuse two measures for one thing."""
        if self.effort is not None and self.budget_tokens is not None:
            raise ValueError("reasoning has an effort or a budget, not both")
        if self.budget_tokens is not None and self.budget_tokens < 0:
            raise ValueError("a budget of tokens is not negative")


@dataclass(frozen=True, slots=True)
class ResponseFormat(DictForm):
    """What form the answer has.

    Attributes:
        type: ``text``, ``json_object`` (any), or ``json_schema``.
        name: The schema's name, with ``json_schema`` only.
        schema: The JSON Schema, with ``json_schema`` only.
        description: What the schema is for, where the provider takes it.
        strict: Whether the provider is to hold the model to the schema; None leaves it to the provider.
    """

    type: Literal["text", "json_object", "json_schema"]
    name: str | None = None
    schema: Mapping[str, Any] | None = None
    description: str | None = None
    strict: bool | None = None

    def __post_init__(self) -> None:
        """Hold the schema to the type."""
        if (self.type == "json_schema") != (self.schema is not None):
            raise ValueError("a format has a schema if its type is 'json_schema', and only then")

    @classmethod
    def json_schema(
        cls, name: str, schema: Mapping[str, Any], *, strict: bool | None = None
    ) -> ResponseFormat:
        """An answer that a JSON Schema describes."""
        return cls("json_schema", name, schema, strict=strict)


@dataclass(frozen=True, slots=True)
class CachePolicy(DictForm):
    """Up to where the provider is asked to keep the prompt in its cache.

    Attributes:
        system: Up to the end of the system text.
        tools: Up to the end of the tools.
        messages: Up to the end of each of these messages, by their place in ``ModelRequest.messages``.
        ttl: How long, where that can be said.
        key: What routes requests of one conversation to one cache (OpenAI's ``prompt_cache_key``).
        automatic: The tools, or without tools the system text, and the last two messages of the user;
            beside what else is asked for.
    """

    system: bool = False
    tools: bool = False
    messages: tuple[int, ...] = ()
    ttl: Literal["5m", "1h"] = "5m"
    key: str | None = None
    automatic: bool = False

    @classmethod
    def auto(cls, *, ttl: Literal["5m", "1h"] = "5m", key: str | None = None) -> CachePolicy:
        """What suits a growing conversation: tools or system, and the last two messages of the user."""
        return cls(ttl=ttl, key=key, automatic=True)


@dataclass(frozen=True, slots=True)
class ModelRequest(DictForm):
    """A request to a model, whoever serves it.

    Attributes:
        model: The model's id, in the words of the provider that gets the request.
        messages: The history. Records of the host's own are skipped.
        system: What the host says before everything; system messages that lead the history are appended.
        tools: The tools.
        tool_choice: Whether one must be called; None leaves it to the provider.
        parallel_tool_calls: Whether several calls in one turn are welcome; None leaves it to the provider.
        max_tokens: At most how many tokens of answer.
        temperature: How random the answer is, in the provider's measure.
        top_p: From which part of the probability it is drawn, 0 to 1.
        stop: What ends the answer when the model writes it.
        reasoning: How much to think.
        response_format: What form the answer has.
        cache: What to cache.
        stream: Whether the answer is to come as a stream.
        extra: Members that are merged into the body last: objects by key, everything else replaces, and
            :data:`DELETE` removes.
    """

    model: str
    messages: Sequence[HistoryItem]
    system: str | tuple[Text, ...] | None = None
    tools: Sequence[ToolDef | RawTool] = ()
    tool_choice: ToolChoice | None = None
    parallel_tool_calls: bool | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    stop: Sequence[str] = ()
    reasoning: Reasoning | None = None
    response_format: ResponseFormat | None = None
    cache: CachePolicy = CachePolicy()
    stream: bool = True
    extra: Mapping[str, Any | Delete] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        """Take the lists as they are now: a request does not change with the host's history."""
        if isinstance(self.stop, str):
            raise TypeError("stop is a list of texts, not one text")
        for name in ("messages", "tools", "stop"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
