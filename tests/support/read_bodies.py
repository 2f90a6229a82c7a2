"""Reads from a body what a test wants to compare with the history that it was built from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support.building import messages_of

from turntape import Dialect, Message, ToolUse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from turntape import HistoryItem

__all__ = ["answers_of", "calls_of", "thoughts_of", "uses_of"]


def uses_of(history: Iterable[HistoryItem]) -> list[ToolUse]:
    """Give the calls of a history in order."""
    messages = [item for item in history if isinstance(item, Message)]
    return [b for message in messages for b in message.content if isinstance(b, ToolUse)]


def calls_of(dialect: Dialect, body: dict[str, Any]) -> list[dict[str, Any]]:
    """Give the calls of a body in order: each with ``id``, ``name`` and its arguments."""
    return [call for message in messages_of(dialect, body) for call in _calls(dialect, message)]


def _calls(dialect: Dialect, message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    match dialect:
        case Dialect.OPENAI_CHAT:
            for call in message.get("tool_calls", ()):
                yield {"id": call["id"], **call["function"]}
        case Dialect.OPENAI_RESPONSES:
            if message.get("type") in {"function_call", "custom_tool_call"}:
                yield {"arguments": message.get("input"), **message, "id": message["call_id"]}
        case Dialect.ANTHROPIC:
            yield from (block for block in message["content"] if block["type"] == "tool_use")
        case Dialect.GEMINI:
            yield from (p["functionCall"] for p in message["parts"] if "functionCall" in p)
        case Dialect.BEDROCK_CONVERSE:
            uses = [block["toolUse"] for block in message["content"] if "toolUse" in block]
            yield from ({"id": use["toolUseId"], **use} for use in uses if "type" not in use)


def answers_of(dialect: Dialect, body: dict[str, Any]) -> dict[str, str]:
    """Give the results of a body by id, whose content is one text; Gemini's have none."""
    return dict(
        answer for message in messages_of(dialect, body) for answer in _answers(dialect, message)
    )


def _answers(dialect: Dialect, message: dict[str, Any]) -> Iterator[tuple[str, str]]:
    match dialect:
        case Dialect.OPENAI_CHAT:
            if message["role"] == "tool":
                yield message["tool_call_id"], message["content"]
        case Dialect.OPENAI_RESPONSES:
            if message.get("type") == "function_call_output":
                yield message["call_id"], message["output"]
        case Dialect.ANTHROPIC:
            for block in message["content"]:
                if block["type"] == "tool_result":
                    yield block["tool_use_id"], block["content"]
        case _:
            for block in message["content"]:
                if result := block.get("toolResult"):
                    yield result["toolUseId"], result["content"][0]["text"]


def thoughts_of(dialect: Dialect, message: dict[str, Any]) -> list[tuple[str, str]]:
    """Give what a message of Anthropic's or Bedrock's holds, in order: kind, and what tells it apart."""
    read = _anthropic_thought if dialect is Dialect.ANTHROPIC else _bedrock_thought
    return [read(block) for block in message["content"]]


def _anthropic_thought(block: dict[str, Any]) -> tuple[str, str]:
    match block["type"]:
        case "text":
            return "text", block["text"]
        case "thinking":
            return "thinking", block["thinking"] + block["signature"]
        case "redacted_thinking":
            return "redacted", block["data"]
        case "tool_use":
            return "call", block["id"]
        case kind:
            return kind, ""


def _bedrock_thought(block: dict[str, Any]) -> tuple[str, str]:
    match block:
        case {"text": text}:
            return "text", text
        case {"toolUse": use}:
            return "call", use["toolUseId"]
        case {"reasoningContent": {"reasoningText": signed}}:
            return "thinking", signed["text"] + signed["signature"]
        case {"reasoningContent": {"redactedContent": data}}:
            return "redacted", data
        case _:
            return min(block), ""
