"""A turn in terms that turntape's message and those of the official clients can be compared in."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from turntape import (
    Dialect,
    ProviderBlock,
    RedactedThinkingBlock,
    Text,
    Thinking,
    ToolUse,
    Usage,
)

if TYPE_CHECKING:
    from turntape import (
        AssistantMessage,
    )

# What a wire's stop reasons mean, written down once more: the plain meaning, of the reason alone.
STOP_REASONS: dict[Dialect, dict[str | None, str]] = {
    Dialect.ANTHROPIC: {
        "end_turn": "end_turn",
        "tool_use": "tool_use",
        "max_tokens": "max_tokens",
        "stop_sequence": "stop_sequence",
        "refusal": "refusal",
        "pause_turn": "pause_turn",
    },
    Dialect.OPENAI_CHAT: {
        "stop": "end_turn",
        "eos": "end_turn",  # Together
        "tool_calls": "tool_use",
        "function_call": "tool_use",
        "length": "max_tokens",
        "content_filter": "content_filter",
        None: "unknown",
    },
}


@dataclass(frozen=True)
class Turn:
    """A turn, or one choice of it.

    Attributes:
        id: The response's id.
        model: The model.
        text: All text, refusals included.
        thinking: All reasoning.
        calls: Id, name and arguments of each tool call: Chat's arguments as text, Anthropic's, which its
            client gives parsed, as JSON in one form.
        others: Anthropic only, in order: the kind of each block with its signature, its citations, or,
            for the provider's own blocks, the block.
        raw_reason: The stop reason in the wire's words.
        stop_reason: The stop reason in turntape's.
        usage: The tokens.
    """

    id: str | None
    model: str | None
    text: str
    thinking: str
    calls: tuple[tuple[str, str, str], ...]
    others: tuple[tuple[str, str], ...]
    raw_reason: str | None
    stop_reason: str
    usage: Usage | None


def differing(ours: Turn, theirs: Turn) -> set[str]:
    """Name the fields in which two turns differ."""
    names = (field.name for field in fields(Turn))
    return {name for name in names if getattr(ours, name) != getattr(theirs, name)}


def of_message(message: AssistantMessage, dialect: Dialect) -> Turn:
    """Take a turn from turntape's message."""
    calls: list[tuple[str, str, str]] = []
    others: list[tuple[str, str]] = []
    for block in message.content:
        match block:
            case Text():
                others.append(("text", canonical([json.loads(text) for text in block.citations])))
            case Thinking():
                others.append(("thinking", block.signature or ""))
            case RedactedThinkingBlock():
                others.append(("redacted_thinking", block.data))
            case ToolUse():
                others.append(("tool_use", block.id))
                chat = dialect is Dialect.OPENAI_CHAT
                arguments = (
                    block.arguments if chat or block.invalid is not None else canonical(block.input)
                )
                calls.append((block.id, block.name, arguments))
            case ProviderBlock():
                others.append((block.kind, canonical(json.loads(block.json))))
    return Turn(
        id=message.id,
        model=message.model,
        text="".join(block.text for block in message.content if isinstance(block, Text)),
        thinking="".join(block.text for block in message.content if isinstance(block, Thinking)),
        calls=tuple(calls),
        others=tuple(others) if dialect is Dialect.ANTHROPIC else (),
        raw_reason=message.raw_reason,
        stop_reason=message.stop_reason,
        usage=message.usage,
    )


def of_anthropic(final: dict[str, Any]) -> Turn:
    """Take a turn from the message that Anthropic's client assembled."""
    text, thinking = "", ""
    calls: list[tuple[str, str, str]] = []
    others: list[tuple[str, str]] = []
    for block in final["content"]:
        kind = block["type"]
        # A block that never got content does not exist in turntape.
        match kind:
            case "text":
                text += block["text"]
                if block["text"] or block.get("citations"):
                    others.append((kind, canonical(block.get("citations") or [])))
            case "thinking":
                thinking += block["thinking"]
                if block["thinking"] or block.get("signature"):
                    others.append((kind, block.get("signature") or ""))
            case "redacted_thinking":
                others.append((kind, block["data"]))
            case "tool_use":
                others.append((kind, block["id"]))
                calls.append((block["id"], block["name"], canonical(block["input"])))
            case _:
                others.append((kind, canonical(block)))
    usage = final["usage"]
    return Turn(
        id=final["id"],
        model=final["model"],
        text=text,
        thinking=thinking,
        calls=tuple(calls),
        others=tuple(others),
        raw_reason=final["stop_reason"],
        stop_reason=STOP_REASONS[Dialect.ANTHROPIC][final["stop_reason"]],
        usage=Usage(
            input_tokens=usage.get("input_tokens") or 0,
            output_tokens=usage.get("output_tokens") or 0,
            cache_read_tokens=usage.get("cache_read_input_tokens") or 0,
            cache_write_tokens=usage.get("cache_creation_input_tokens") or 0,
            cache_write_1h_tokens=counter(usage, "cache_creation", "ephemeral_1h_input_tokens"),
            reasoning_tokens=counter(usage, "output_tokens_details", "thinking_tokens"),
        ),
    )


def of_chat(final: dict[str, Any], choice: dict[str, Any]) -> Turn:
    """Take a turn from one choice of the completion that OpenAI's client assembled."""
    message: dict[str, Any] = choice["message"]
    # Reasoning is no member that the client knows, but it adds up all strings alike.
    details: list[dict[str, Any]] = message.get("reasoning_details") or []
    thinking = (
        message.get("reasoning_content")
        or message.get("reasoning")
        or "".join(entry.get("text") or "" for entry in details)
    )
    usage: dict[str, Any] | None = final.get("usage")
    return Turn(
        id=final.get("id") or None,  # turntape gives None for an empty one
        model=final.get("model") or None,
        text=(message.get("content") or "") + (message.get("refusal") or ""),
        thinking=thinking,
        calls=tuple(
            (call["id"], call["function"]["name"], call["function"].get("arguments") or "")
            for call in message.get("tool_calls") or []
        ),
        others=(),
        raw_reason=choice.get("finish_reason"),
        stop_reason=STOP_REASONS[Dialect.OPENAI_CHAT][choice.get("finish_reason")],
        usage=None if usage is None else chat_usage(usage),
    )


def chat_usage(usage: dict[str, Any]) -> Usage:
    """Read a usage object as OpenAI documents it.

    Tokens written to a cache, which OpenAI does not report, as the vendors that do name them.
    """
    cached = counter(usage, "prompt_tokens_details", "cached_tokens")
    written = counter(usage, "prompt_tokens_details", "cache_write_tokens")
    written = written or usage.get("cache_creation_input_tokens") or 0
    return Usage(
        input_tokens=(usage["prompt_tokens"] or 0) - cached - written,
        output_tokens=usage["completion_tokens"] or 0,
        cache_read_tokens=cached,
        cache_write_tokens=written,
        reasoning_tokens=counter(usage, "completion_tokens_details", "reasoning_tokens"),
    )


def counter(usage: dict[str, Any], group: str, name: str) -> int:
    """Give a counter that may be missing or null, in a group that may be."""
    return (usage.get(group) or {}).get(name) or 0


def canonical(value: object) -> str:
    """Write JSON in one form, without the nulls of objects: the clients add their own."""
    return json.dumps(without_nulls(value), sort_keys=True, ensure_ascii=False)


def without_nulls(value: object) -> object:
    """Leave out the members that are null, at every depth."""
    if isinstance(value, dict):
        return {str(k): without_nulls(v) for k, v in value.items() if v is not None}
    if isinstance(value, list):
        return [without_nulls(entry) for entry in value]
    return value
