"""A turn in terms that turntape's message and those of the official clients can be compared in."""

from __future__ import annotations

import base64
import json
import re
from copy import deepcopy
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
    Dialect.OPENAI_RESPONSES: {
        "completed": "end_turn",
        "max_output_tokens": "max_tokens",
        "content_filter": "content_filter",
    },
    Dialect.GEMINI: {
        "STOP": "end_turn",
        "MAX_TOKENS": "max_tokens",
        "SAFETY": "content_filter",
        "RECITATION": "content_filter",
        "OTHER": "other",
        "NO_IMAGE": "other",
        "UNEXPECTED_TOOL_CALL": "other",
        "FAKE_ENUM": "other",
        None: "unknown",
    },
    Dialect.BEDROCK_CONVERSE: {
        "end_turn": "end_turn",
        "tool_use": "tool_use",
        "max_tokens": "max_tokens",
        "stop_sequence": "stop_sequence",
        "guardrail_intervened": "content_filter",
    },
}

# Items of a Responses output that the host executes though they are no function calls.
HOST_ITEMS = {
    "shell_call",
    "local_shell_call",
    "apply_patch_call",
    "computer_call",
    "mcp_approval_request",
}


@dataclass(frozen=True)
class Turn:
    """A turn, or one choice of it.

    Attributes:
        id: The response's id.
        model: The model.
        text: All text, refusals included.
        thinking: All reasoning.
        calls: Id, name and arguments of each tool call. Arguments that the client gives as text are
            compared as text, those of Anthropic and Gemini, which it gives parsed, as JSON in one form.
        others: All but Chat, in order: the kind of each block with its signature, its citations, or,
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
    is_parsed = dialect in {Dialect.ANTHROPIC, Dialect.GEMINI}
    for index, block in enumerate(message.content):
        match block:
            case Text():
                facts = [json.loads(text) for text in block.citations]
                facts += [block.signature] if block.signature else []
                facts += [json.loads(block.extra)] if block.extra else []
                others.append(("text", canonical(facts)))
            case Thinking():
                others.append(("thinking", (block.signature or "")))
            case RedactedThinkingBlock():
                others.append(("redacted_thinking", block.data))
            case ToolUse():
                # Gemini need not give calls ids; turntape makes them up.
                made_up = rf"call_({re.escape(message.id or '')}|[0-9a-f]{{16}})_{index}"
                is_made_up = dialect is Dialect.GEMINI and re.fullmatch(made_up, block.id)
                call_id = "" if is_made_up else block.id
                others.append(("tool_use", call_id + (block.signature or "") + extra_of(block)))
                parse = is_parsed and block.invalid is None
                arguments = canonical(block.input) if parse else block.arguments
                calls.append((call_id, block.name, arguments))
            case ProviderBlock():
                others.append((block.kind, canonical(json.loads(block.json))))
    return Turn(
        id=message.id,
        model=message.model,
        text="".join(block.text for block in message.content if isinstance(block, Text)),
        thinking="".join(block.text for block in message.content if isinstance(block, Thinking)),
        calls=tuple(calls),
        others=() if dialect is Dialect.OPENAI_CHAT else tuple(in_one_alphabet(others, dialect)),
        raw_reason=message.raw_reason,
        stop_reason=message.stop_reason,
        usage=message.usage,
    )


def in_one_alphabet(others: list[tuple[str, str]], dialect: Dialect) -> list[tuple[str, str]]:
    """Write Gemini's base64 in the alphabet of URLs, as its client does."""
    if dialect is not Dialect.GEMINI:
        return others
    alphabet = {ord("+"): "-", ord("/"): "_"}
    return [(kind, facts.translate(alphabet)) for kind, facts in others]


def extra_of(call: ToolUse) -> str:
    """Give what a call holds besides its id, name and arguments, in one form."""
    return canonical(json.loads(call.extra)) if call.extra else ""


def extra_but(call: dict[str, Any], known: set[str]) -> str:
    """Give what the client's call holds besides the known members."""
    extra = {name: value for name, value in call.items() if name not in known and value is not None}
    return canonical(extra) if extra else ""


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
                extra = extra_but(block, {"type", "id", "name", "input"})
                others.append((kind, block["id"] + extra))
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


def of_responses(final: dict[str, Any]) -> Turn:
    """Take a turn from the response that OpenAI's client assembled."""
    output: list[dict[str, Any]] = final["output"]
    items = ResponsesItems()
    for item in output:
        items.add(item)
    ran_by_provider = {item.get("call_id") for item in output if item["type"].endswith("_output")}
    to_execute = any(
        item["type"] in HOST_ITEMS and item.get("call_id") not in ran_by_provider for item in output
    )
    incomplete = (final.get("incomplete_details") or {}).get("reason")
    reason = incomplete or final.get("status", "completed")
    stop_reason = STOP_REASONS[Dialect.OPENAI_RESPONSES][reason]
    if items.refused:
        stop_reason = "refusal"
    elif stop_reason == "end_turn" and (items.calls or to_execute):
        stop_reason = "tool_use"
    usage: dict[str, Any] | None = final.get("usage")
    return Turn(
        id=final["id"],
        model=final["model"],
        text=items.text,
        thinking=items.thinking,
        calls=tuple(items.calls),
        others=tuple(items.others),
        raw_reason=reason,
        stop_reason=stop_reason,
        usage=None if usage is None else responses_usage(usage),
    )


class ResponsesItems:
    """The items of a Responses output, one after the other."""

    def __init__(self) -> None:
        self.text = ""
        self.thinking = ""
        self.refused = False
        self.calls: list[tuple[str, str, str]] = []
        self.others: list[tuple[str, str]] = []

    def add(self, item: dict[str, Any]) -> None:
        """Add an item."""
        match item["type"]:
            case "message":
                self.message(item)
            case "reasoning":
                self.reasoning(item)
            case "function_call" | "custom_tool_call" as kind:
                is_plain = kind == "function_call"
                arguments = item["arguments" if is_plain else "input"]
                self.calls.append((item["call_id"], item["name"], arguments))
                known = {"call_id", "name", "arguments", "input", "status", "parsed_arguments"}
                extra = extra_but(item, known | {"type"} if is_plain else known)
                self.others.append(("tool_use", item["call_id"] + extra))
            case kind:
                self.others.append((kind, canonical(item)))

    def message(self, item: dict[str, Any]) -> None:
        """Add a message: its facts belong to its first part, and a part without text is none."""
        facts = without_nulls({"id": item.get("id"), "phase": item.get("phase")})
        for part in item["content"]:
            self.refused |= part["type"] == "refusal"
            if said := part.get("text") or part.get("refusal"):
                self.text += said
                extra = [facts] if facts else []
                self.others.append(("text", canonical([*(part.get("annotations") or []), *extra])))
                facts = {}

    def reasoning(self, item: dict[str, Any]) -> None:
        """Add reasoning: its summary and its text, and what is encrypted as its signature."""
        parts = [part["text"] for part in item.get("summary") or []]
        parts += [part["text"] for part in item.get("content") or []]
        said = "\n\n".join(part for part in parts if part)
        self.thinking += said
        encrypted = item.get("encrypted_content")
        signed = {"encrypted_content": encrypted, "id": item.get("id")} if encrypted else None
        if said or signed:
            self.others.append(("thinking", compact(signed) if signed else ""))


def responses_usage(usage: dict[str, Any]) -> Usage:
    """Read a usage object of Responses as OpenAI documents it."""
    cached = counter(usage, "input_tokens_details", "cached_tokens")
    return Usage(
        input_tokens=usage["input_tokens"] - cached,
        output_tokens=usage["output_tokens"],
        cache_read_tokens=cached,
        reasoning_tokens=counter(usage, "output_tokens_details", "reasoning_tokens"),
    )


def of_gemini(final: dict[str, Any]) -> Turn:
    """Take a turn from the chunks that Google's client read, of which it makes no message."""
    joined = Joined()
    reason: str | None = None
    blocked: str | None = None
    usage: dict[str, Any] | None = None
    for chunk in final["chunks"]:
        usage = chunk.get("usageMetadata") or usage
        blocked = (chunk.get("promptFeedback") or {}).get("blockReason") or blocked
        for candidate in chunk.get("candidates") or []:
            if candidate.get("index"):
                continue
            reason = candidate.get("finishReason") or reason
            for part in (candidate.get("content") or {}).get("parts") or []:
                joined.gemini_part(part)
    first: dict[str, Any] = final["chunks"][0]
    stop_reason = "refusal" if blocked and not reason else STOP_REASONS[Dialect.GEMINI][reason]
    if joined.calls and stop_reason == "end_turn":
        stop_reason = "tool_use"
    return Turn(
        id=first.get("responseId"),
        model=first.get("modelVersion"),
        text=joined.text,
        thinking=joined.thinking,
        calls=tuple(joined.calls),
        others=tuple(in_one_alphabet(joined.facts(), Dialect.GEMINI)),
        raw_reason=reason or blocked,
        stop_reason=stop_reason,
        usage=None if usage is None else gemini_usage(usage),
    )


def gemini_usage(usage: dict[str, Any]) -> Usage:
    """Read a usage object as Google documents it."""
    cached = usage.get("cachedContentTokenCount", 0)
    thoughts = usage.get("thoughtsTokenCount", 0)
    prompt = usage.get("promptTokenCount", 0) + usage.get("toolUsePromptTokenCount", 0)
    return Usage(
        input_tokens=prompt - cached,
        output_tokens=usage.get("candidatesTokenCount", 0) + thoughts,
        cache_read_tokens=cached,
        reasoning_tokens=thoughts,
    )


class Joined:
    """Parts of Gemini's chunks, one after the other: neighbours of one kind are one block."""

    def __init__(self) -> None:
        self.text = ""
        self.thinking = ""
        self.calls: list[tuple[str, str, str]] = []
        self.others: list[tuple[str, list[str]]] = []

    def gemini_part(self, part: dict[str, Any]) -> None:
        """Add a part."""
        signature = part.get("thoughtSignature") or ""
        if (call := part.get("functionCall")) is not None:
            self.call(call, signature)
        elif part.get("text") or (
            signature and not set(part) - {"text", "thought", "thoughtSignature"}
        ):
            self.say(part, signature)
        elif kinds := set(part) - {"text", "thought", "thoughtSignature"}:
            self.others.append((min(kinds), [canonical(part)]))

    def call(self, call: dict[str, Any], signature: str) -> None:
        """Add a call, or what a nameless one adds to the latest."""
        if "name" in call:
            # A call without arguments has none at all.
            self.calls.append(
                (call.get("id") or "", call["name"], canonical(call.get("args") or {}))
            )
            self.others.append(("tool_use", [(call.get("id") or "") + signature]))
        for piece in call.get("partialArgs") or []:
            call_id, name, arguments = self.calls[-1]
            self.calls[-1] = (call_id, name, canonical(with_piece(json.loads(arguments), piece)))

    def facts(self) -> list[tuple[str, str]]:
        """Give what is said of each block besides its text."""
        return [
            (kind, canonical(facts) if kind == "text" else "".join(facts))
            for kind, facts in self.others
        ]

    def say(self, part: dict[str, Any], signature: str) -> None:
        """Add text or thinking; an empty part with a signature signs the text before it, if any."""
        said = part.get("text") or ""
        latest = self.others[-1][0] if self.others else None
        is_text = bool(said) or latest == "text"
        kind = "thinking" if part.get("thought") or not is_text else "text"
        if kind == "text":
            self.text += said
        else:
            self.thinking += said
        if latest != kind:
            self.others.append((kind, []))
        if signature:
            self.others[-1][1].append(signature)


def with_piece(arguments: dict[str, Any], piece: dict[str, Any]) -> dict[str, Any]:
    """Put a piece of streamed arguments at its JSON path; strings of one path are strung together."""
    steps = re.findall(r"\w+", piece["jsonPath"])
    holder: Any = arguments
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        key = int(step) if isinstance(holder, list) else step
        if isinstance(holder, list):
            holder.extend([None] * (int(step) + 1 - len(holder)))
        if following is not None:
            empty: Any = [] if following.isdigit() else {}
            old = holder[key] if isinstance(holder, list) else holder.get(key)
            holder[key] = empty if old is None else old
            holder = holder[key]
        elif "stringValue" in piece:
            old = holder[key] if isinstance(holder, list) else holder.get(key)
            holder[key] = (old or "") + piece["stringValue"]
        else:
            holder[key] = piece.get("numberValue", piece.get("boolValue"))
    return arguments


@dataclass(frozen=True)
class ConverseEvents:
    """Converse's events added up.

    Attributes:
        blocks: The blocks, each the members of its start and of its deltas.
        reason: The stop reason.
        usage: The usage object.
    """

    blocks: list[dict[str, Any]]
    reason: str | None
    usage: dict[str, Any] | None


def added_up(events: list[dict[str, Any]]) -> ConverseEvents:
    """Add up the events that Amazon's client read, of which it makes no message."""
    blocks: dict[int, dict[str, Any]] = {}
    reason: str | None = None
    usage: dict[str, Any] | None = None
    for event in events:
        for kind, payload in event.items():
            match kind:
                case "contentBlockStart":
                    blocks[payload["contentBlockIndex"]] = deepcopy(payload["start"])
                case "contentBlockDelta":
                    block = blocks.setdefault(payload["contentBlockIndex"], {})
                    add_converse(block, payload["delta"])
                case "messageStop":
                    reason = payload["stopReason"]
                case "metadata":
                    usage = payload["usage"]
                case _:
                    pass
    return ConverseEvents(list(blocks.values()), reason, usage)


def of_converse(final: dict[str, Any]) -> Turn:
    """Take a turn from the events that Amazon's client read."""
    whole = added_up(final["events"])
    text, thinking = "", ""
    calls: list[tuple[str, str, str]] = []
    others: list[tuple[str, str]] = []
    for block in whole.blocks:
        if call := block.get("toolUse"):
            is_server = call.get("type") == "server_tool_use"
            if is_server:
                call["input"] = json.loads(call["input"])
                others.append(("toolUse", canonical(block)))
            else:
                calls.append((call["toolUseId"], call["name"], call.get("input", "")))
                others.append(("tool_use", call["toolUseId"]))
        elif reasoning := block.get("reasoningContent"):
            thinking += reasoning.get("text", "")
            data = [base64.b64encode(data).decode() for data in reasoning.get("redacted", [])]
            others += [("redacted_thinking", each) for each in data]
            if not data:
                others.append(("thinking", reasoning.get("signature", "")))
        elif block.get("text") or block.get("citations"):
            text += block.get("text", "")
            others.append(("text", canonical(block.get("citations", []))))
        elif not block.keys() <= {"text"}:
            others.append((min(block), canonical(block)))
    stop_reason = STOP_REASONS[Dialect.BEDROCK_CONVERSE][whole.reason]
    return Turn(
        id=None,
        model=None,
        text=text,
        thinking=thinking,
        calls=tuple(calls),
        others=tuple(others),
        raw_reason=whole.reason,
        stop_reason=stop_reason,
        usage=None if whole.usage is None else converse_usage(whole.usage),
    )


def add_converse(block: dict[str, Any], delta: dict[str, Any]) -> None:
    """Add a delta to what came of a block: strings are strung together, the rest is collected."""
    for name, value in delta.items():
        match value:
            case str():
                block[name] = block.get(name, "") + value
            case bytes():
                block.setdefault("redacted", []).append(value)
            case list():
                block.setdefault(name, {}).setdefault("content", []).extend(value)
            case _ if name == "citation":
                block.setdefault("citations", []).append(value)
            case _:
                add_converse(block.setdefault(name, {}), value)


def converse_usage(usage: dict[str, Any]) -> Usage:
    """Read a usage object as Amazon documents it."""
    return Usage(
        input_tokens=usage["inputTokens"],
        output_tokens=usage["outputTokens"],
        cache_read_tokens=usage.get("cacheReadInputTokens", 0),
        cache_write_tokens=usage.get("cacheWriteInputTokens", 0),
    )


def counter(usage: dict[str, Any], group: str, name: str) -> int:
    """Give a counter that may be missing or null, in a group that may be."""
    return (usage.get(group) or {}).get(name) or 0


def canonical(value: object) -> str:
    """Write JSON in one form, without the nulls of objects: the clients add their own."""
    return json.dumps(without_nulls(value), sort_keys=True, ensure_ascii=False)


def compact(value: object) -> str:
    """Write JSON as turntape does where it makes an object."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def without_nulls(value: object) -> object:
    """Leave out the members that are null, at every depth."""
    if isinstance(value, dict):
        return {str(k): without_nulls(v) for k, v in value.items() if v is not None}
    if isinstance(value, list):
        return [without_nulls(entry) for entry in value]
    return value
