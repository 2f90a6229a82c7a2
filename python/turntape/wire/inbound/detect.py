"""Telling the wire of a request from its body alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from turntape.errors import UnknownDialect
from turntape.wire.dialect import Dialect
from turntape.wire.inbound.raw import Raw, source_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["request_dialect"]

# Members of a body that holds ``messages`` and that one wire alone has. What two have tells nothing.
_MEMBERS = {
    Dialect.ANTHROPIC: {
        "anthropic_version",
        "container",
        "context_management",
        "mcp_servers",
        "output_config",
        "stop_sequences",
        "system",
    },
    Dialect.OPENAI_CHAT: {
        "frequency_penalty",
        "function_call",
        "functions",
        "logit_bias",
        "logprobs",
        "max_completion_tokens",
        "n",
        "parallel_tool_calls",
        "presence_penalty",
        "prediction",
        "reasoning_effort",
        "response_format",
        "seed",
        "stop",
        "store",
        "stream_options",
        "top_logprobs",
        "user",
        "verbosity",
    },
    Dialect.BEDROCK_CONVERSE: {
        "additionalModelRequestFields",
        "guardrailConfig",
        "inferenceConfig",
        "modelId",
        "outputConfig",
        "toolConfig",
    },
}

# Members of a message.
_OF_A_MESSAGE = {
    "tool_calls": Dialect.OPENAI_CHAT,
    "tool_call_id": Dialect.OPENAI_CHAT,
    "function_call": Dialect.OPENAI_CHAT,
    "reasoning_content": Dialect.OPENAI_CHAT,
    "refusal": Dialect.OPENAI_CHAT,
}

# Types of the blocks in a message's content.
_TYPES = {
    "document": Dialect.ANTHROPIC,
    "image": Dialect.ANTHROPIC,
    "redacted_thinking": Dialect.ANTHROPIC,
    "server_tool_use": Dialect.ANTHROPIC,
    "tool_result": Dialect.ANTHROPIC,
    "tool_use": Dialect.ANTHROPIC,
    "image_url": Dialect.OPENAI_CHAT,
    "input_audio": Dialect.OPENAI_CHAT,
    "file": Dialect.OPENAI_CHAT,
}

# Members of a block that has no type.
_UNTYPED = {"document", "image", "reasoningContent", "text", "toolResult", "toolUse", "cachePoint"}

# Types of items that only a list of Responses items has.
_ITEMS = ("function_call", "function_call_output", "message", "reasoning", "item_reference")


def request_dialect(source: Any) -> Dialect:
    """Tell the wire of a request, or of a history alone, where something in it tells.

    Many small bodies are right on two wires; nothing is guessed from the model's name.

    Args:
        source: As for ``from_request``, or the list for ``from_provider_messages``.

    Raises:
        InvalidRequest: It is no JSON.
        UnknownDialect: Nothing in it tells, or it speaks for two.

    >>> request_dialect({"model": "m", "contents": []})
    <Dialect.GEMINI: 'gemini'>
    """
    raw = Raw(source_text(source))
    if not (raw.is_object or raw.is_list):
        raise UnknownDialect("a request is a JSON object, and this is none")
    found = set(_of_list(raw) if raw.is_list else _of_body(raw))
    if len(found) == 1:
        return found.pop()
    if found:
        named = " and ".join(sorted(dialect.value for dialect in found))
        raise UnknownDialect(f"the request has members of {named}")
    raise UnknownDialect("nothing in the request tells its dialect")


def _of_body(raw: Raw) -> Iterator[Dialect]:
    members = raw.members()
    if "contents" in members:
        yield Dialect.GEMINI
    if "input" in members and "messages" not in members:
        yield Dialect.OPENAI_RESPONSES
    if "messages" not in members:
        return
    for dialect, names in _MEMBERS.items():
        # Bedrock has the system text in a list of blocks without a type.
        if any(name in members and _says(name, members[name]) for name in names):
            yield dialect
    tools = members.get("tools")
    for tool in _elements(tools):
        if "function" in tool:
            yield Dialect.OPENAI_CHAT
        elif "input_schema" in tool:
            yield Dialect.ANTHROPIC
    yield from _of_list(members["messages"])


def _says(name: str, value: Raw) -> bool:
    """Whether a member of this name is what one wire alone has."""
    if name == "system" and value.is_list:
        return any("type" in block for block in _elements(value))
    return True


def _of_list(raw: Raw) -> Iterator[Dialect]:
    for message in _elements(raw):
        if "parts" in message:
            yield Dialect.GEMINI
        role = message.get("role")
        if role is None:
            kind = message.get("type")
            if kind is not None and kind.is_string and kind.string() in _ITEMS:
                yield Dialect.OPENAI_RESPONSES
        elif role.is_string and role.string() in {"tool", "function"}:
            yield Dialect.OPENAI_CHAT
        for name, dialect in _OF_A_MESSAGE.items():
            if name in message:
                yield dialect
        for block in _elements(message.get("content")):
            yield from _of_block(block)


def _of_block(block: Mapping[str, Raw]) -> Iterator[Dialect]:
    kind = block.get("type")
    if kind is None:
        if len(block) == 1 and not block.keys().isdisjoint(_UNTYPED):
            yield Dialect.BEDROCK_CONVERSE
    elif kind.is_string:
        word = kind.string()
        if word in {"input_text", "output_text", "input_image", "input_file"}:
            yield Dialect.OPENAI_RESPONSES
        elif word in _TYPES:
            yield _TYPES[word]


def _elements(raw: Raw | None) -> list[Mapping[str, Raw]]:
    """The members of the objects in a list; nothing where it is none."""
    if raw is None or not raw.is_list:
        return []
    return [element.members() for element in raw.elements() if element.is_object]
