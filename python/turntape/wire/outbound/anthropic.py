"""Anthropic Messages, written."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any, Final

from turntape.errors import InvalidRequest, UnsupportedContent
from turntape.wire.outbound.blocks import AlternatingWriter
from turntape.wire.outbound.media import WireMedia
from turntape.wire.outbound.raw import members_of, raw_object
from turntape.wire.outbound.signatures import bare_signature
from turntape.wire.outbound.thinking import UNSIGNED_ROUND, budget_for, claude_thinking_off
from turntape.wire.raw_json import RawJson

if TYPE_CHECKING:
    from turntape.conversation import ToolResult
    from turntape.media import MediaBlock
    from turntape.messages import ProviderBlock, RedactedThinkingBlock, Text, Thinking
    from turntape.replay.pairing import Placed
    from turntape.wire.outbound.caching import Marks
    from turntape.wire.outbound.media import Medium
    from turntape.wire.outbound.parameters import Parameters, Tool
    from turntape.wire.outbound.parts import Call, Part
    from turntape.wire.outbound.target import Origin

__all__ = [
    "BINDING_BETA",
    "DEFAULT_API_VERSION",
    "AnthropicWriter",
    "ask_to_drop_blocks",
]

DEFAULT_API_VERSION: Final = "2026-10-21"
"""The version of the API that is asked for where the host names none."""

FORMER_API_VERSION: Final = "2023-06-01"
"""The version that still takes ``temperature``, ``top_p`` and citations in what the user says."""

BINDING_BETA: Final = "thinking-binding-controls-2026-08-01"
"""The beta that lets the body say what happens to thinking whose prefix has changed."""


class AnthropicWriter(AlternatingWriter):
    """Writes a history for Anthropic Messages."""

    is_blank_empty = True
    has_citations = True
    has_system_messages = True
    writes_runs = True
    media = WireMedia(
        {
            "image": frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"}),
            "document": frozenset({"application/pdf", "text/plain"}),
        },
        frozenset({"image", "document"}),
    )
    result_media = frozenset({"image", "document"})

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        # The calls of server tools so far: a result without its call is refused.
        self._server_calls: set[Any] = set()
        # Of the turn being written: its place, and the calls of which it holds the results.
        self._answered: tuple[int, set[Any]] = (-1, set())

    def plain_text(self, text: str) -> Part:
        return {"type": "text", "text": text}

    def text_part(self, block: Text, text: str, placed: Placed, origin: Origin) -> Part:
        part: dict[str, Any] = {"type": "text", "text": text}
        if origin.is_own_wire:
            if block.citations and self._takes_citations(placed):
                part["citations"] = [
                    raw_object(citation, "a citation", placed.index, self.notes)
                    for citation in block.citations
                ]
            if block.extra is not None:
                part |= self.extra_of(block.extra, "a text", placed.index)
        return part

    def result_text(self, block: Text, text: str, placed: Placed, origin: Origin) -> Part:
        part: dict[str, Any] = {"type": "text", "text": text}
        if origin.is_own_wire and block.citations and self._takes_citations(placed):
            part["citations"] = [
                raw_object(citation, "a citation", placed.index, self.notes)
                for citation in block.citations
            ]
        return part

    def _takes_citations(self, placed: Placed) -> bool:
        """Whether texts of a message may carry citations; noted where they may not.

        Since 2026-10-21 the API refuses them in what the user says.
        """
        takes = placed.message.role == "assistant" or self.target.api_version == FORMER_API_VERSION
        if not takes:
            self.notes.add(
                "content_unsupported", placed.index, "the citations of a text are left out"
            )
        return takes

    def signed_part(self, block: Thinking, placed: Placed, origin: Origin) -> Part | None:
        signature = bare_signature(block.signature or "")
        if signature is None:
            return None
        return self.thinking_written(
            {
                "type": "thinking",
                "thinking": self.clean(block.text, placed.index),
                "signature": self.clean(signature, placed.index),
            }
        )

    def redacted_part(self, block: RedactedThinkingBlock, placed: Placed) -> Part | None:
        data = self.clean(block.data, placed.index)
        return self.thinking_written({"type": "redacted_thinking", "data": data})

    def provider_part(self, block: ProviderBlock, placed: Placed, origin: Origin) -> Part | None:
        part = super().provider_part(block, placed, origin)
        if not isinstance(part, RawJson):
            return None
        members = members_of(part.text)
        used, answered = members.get("id"), members.get("tool_use_id")
        if block.kind.endswith("tool_use"):
            self._server_calls.add(used)
            alone = not self._has_answer(placed, used)
        else:
            alone = answered is not None and answered not in self._server_calls
        if alone:
            self.notes.add(
                "content_unsupported", placed.index, f"{block.kind!r} is left out: half of a pair"
            )
            return None
        return part

    def _has_answer(self, placed: Placed, call_id: Any) -> bool:
        """Whether a server tool's result is there, or may still come.

        A turn that was paused goes on in the next one; of a turn that was read back, nobody knows.
        """
        if placed.message.stop_reason in {None, "pause_turn"}:
            return True
        if self._answered[0] != placed.index:
            blocks = (block for block in placed.content if block.type == "provider_block")
            answers = {members_of(block.json).get("tool_use_id") for block in blocks}
            self._answered = (placed.index, answers)
        return call_id in self._answered[1]

    def call_part(self, call: Call, placed: Placed, origin: Origin) -> Part:
        part: dict[str, Any] = {
            "type": "tool_use",
            "id": call.id,
            "name": call.name,
            "input": self.arguments_object(call.block, placed.index),
        }
        return part | call.extra if call.extra else part

    def media_part(self, medium: Medium, block: MediaBlock, extra: dict[str, Any]) -> Part:
        source: dict[str, Any]
        if medium.url is not None:
            source = {"type": "url", "url": medium.url}
        elif medium.media_type == "text/plain":
            source = {"type": "text", "media_type": "text/plain", "data": _text_of(medium)}
        else:
            source = {"type": "base64", "media_type": medium.media_type, "data": medium.data}
        return {"type": medium.kind, "source": source, **extra}

    def result_part(
        self, call: Call, result: ToolResult, placed: Placed, place: int, origin: Origin
    ) -> Part:
        part: dict[str, Any] = {"type": "tool_result", "tool_use_id": call.id}
        if isinstance(result.content, str):
            if text := self.said(result.content, placed.index):
                part["content"] = text
        elif parts := self.result_parts(call, result, placed, place, origin):
            part["content"] = parts
        if result.is_error:
            part["is_error"] = True
        if result.extra is not None and origin.is_own_wire:
            part |= self.extra_of(result.extra, f"the result of {call.block.id!r}", placed.index)
        return part

    def marked(self, part: Part, ttl: str | None) -> list[Part]:
        return [marked(part, ttl)]

    def body(
        self, parameters: Parameters, system: list[str], tools: list[Tool | RawJson]
    ) -> dict[str, Any]:
        request, target = parameters.request, parameters.target
        # With 0 the prompt is put into the cache, and nothing is answered.
        limit = parameters.max_tokens(least=0)
        if limit is None:
            raise InvalidRequest("this wire wants max_tokens")
        body: dict[str, Any] = {
            "model": target.model,
            "max_tokens": limit,
            "stream": request.stream,
        }
        thinking, effort = _thinking(parameters, limit, self)
        kind = None if thinking is None else thinking["type"]
        is_thinking = kind in {"adaptive", "enabled"} or (
            kind is None and target.capabilities.thinks_by_default
        )
        body |= _sampling(parameters, is_thinking=is_thinking)
        if words := parameters.stop_words():
            body["stop_sequences"] = words
        if thinking is not None:
            body["thinking"] = thinking
        output: dict[str, Any] = {} if effort is None else {"effort": effort}
        if (form := parameters.schema()) is not None:
            output["format"] = {"type": "json_schema", "schema": form[2]}
        parameters.wants_json_object(can_say=False)
        if output:
            body["output_config"] = output
        asked = kind in {"adaptive", "enabled"}
        if (choice := _tool_choice(parameters, tools, is_thinking=asked)) is not None:
            body["tool_choice"] = choice
        if request.cache.key is not None:
            parameters.notes.add("cache_control_dropped", None, "this wire has no key of the cache")
        marks = self.plan_marks(request.cache, has_tools=bool(tools), has_system=bool(system))
        if tools:
            body["tools"] = _tools(tools, marks)
        if system:
            body["system"] = _system(system, marks, is_list=isinstance(request.system, tuple))
        body["messages"] = self.body_messages(marks)
        return body


def _text_of(medium: Medium) -> str:
    try:
        return base64.b64decode(medium.data or "").decode()
    except UnicodeDecodeError:
        raise UnsupportedContent("a plain text is UTF-8, and this document is not") from None


def marked(part: Any, ttl: str | None) -> dict[str, Any]:
    """A block or a tool with a cache mark."""
    mark = {"type": "ephemeral"} if ttl is None else {"type": "ephemeral", "ttl": ttl}
    return {**part, "cache_control": mark}


def _system(texts: list[str], marks: Marks, *, is_list: bool) -> str | list[dict[str, Any]]:
    if len(texts) == 1 and not marks.system and not is_list:
        return texts[0]
    blocks: list[dict[str, Any]] = [{"type": "text", "text": text} for text in texts]
    if marks.system:
        blocks[-1] = marked(blocks[-1], marks.ttl)
    return blocks


def _tools(tools: list[Tool | RawJson], marks: Marks) -> list[Any]:
    written: list[Any] = []
    for tool in tools:
        if isinstance(tool, RawJson):
            written.append(tool)
            continue
        member: dict[str, Any] = {"name": tool.name}
        if tool.description:
            member["description"] = tool.description
        member["input_schema"] = tool.schema
        if tool.strict:
            member["strict"] = True
        written.append(member)
    if marks.tools:
        last = written[-1]
        written[-1] = marked(
            json.loads(last.text) if isinstance(last, RawJson) else last, marks.ttl
        )
    return written


def _sampling(parameters: Parameters, *, is_thinking: bool) -> dict[str, Any]:
    request = parameters.request
    if parameters.target.api_version != FORMER_API_VERSION:
        for name in ("temperature", "top_p"):
            if parameters.number(name, getattr(request, name)) is not None:
                parameters.drop(
                    name, f"only version {FORMER_API_VERSION} of the API takes it (api_version=)"
                )
        return {}
    temperature, top_p = parameters.sampling(is_thinking=is_thinking)
    sampling = {"temperature": temperature, "top_p": top_p}
    return {name: value for name, value in sampling.items() if value is not None}


def _tool_choice(
    parameters: Parameters, tools: list[Tool | RawJson], *, is_thinking: bool
) -> dict[str, Any] | None:
    kind = parameters.tool_choice(tools, is_thinking=is_thinking)
    alone = parameters.parallel(tools) is False
    if kind is None and not alone:
        return None
    choice: dict[str, Any] = {"type": "any" if kind == "required" else kind or "auto"}
    requested = parameters.request.tool_choice
    if kind == "tool" and requested is not None:
        choice["name"] = requested.name
    # Where no tool may be called, nothing has to be said of several.
    if alone and kind != "none":
        choice["disable_parallel_tool_use"] = True
    return choice


def _thinking(
    parameters: Parameters, limit: int, writer: AnthropicWriter
) -> tuple[dict[str, Any] | None, str | None]:
    """What is said of thinking, and the effort."""
    reasoning = parameters.request.reasoning
    if reasoning is None:
        return None, None
    takes = parameters.target.capabilities.thinking
    if parameters.is_off:
        return claude_thinking_off(parameters), None
    if not takes:
        parameters.drop("reasoning", "the model does not think")
        return None, None
    shown: dict[str, Any] = {}
    if reasoning.summary is not None:
        shown["display"] = "omitted" if reasoning.summary == "none" else "summarized"
    if "adaptive" in takes and (reasoning.budget_tokens is None or "budget" not in takes):
        return {"type": "adaptive", **shown}, parameters.effort()
    return _by_budget(parameters, limit, shown, writer)


def _by_budget(
    parameters: Parameters, limit: int, shown: dict[str, Any], writer: AnthropicWriter
) -> tuple[dict[str, Any] | None, str | None]:
    """The same for a model that wants a budget."""
    reasoning = parameters.request.reasoning
    if reasoning is None or (reasoning.effort is None and reasoning.budget_tokens is None):
        parameters.drop("reasoning.summary", "the model shows its thinking where a budget is given")
        return None, None
    takes_effort = reasoning.effort is not None and parameters.target.capabilities.efforts
    effort = parameters.effort() if takes_effort else None
    budget = budget_for(parameters, limit=limit)
    if budget is None:
        return None, effort
    if writer.is_round_unsigned:
        parameters.notes.add("reasoning_disabled", None, UNSIGNED_ROUND)
        return {"type": "disabled"}, effort
    return {"type": "enabled", "budget_tokens": budget, **shown}, effort


def ask_to_drop_blocks(body: dict[str, Any], *, thinks_by_default: bool) -> bool:
    """Ask the API to drop thinking whose prefix has changed, where the body can say so.

    Args:
        body: The body, which is changed.
        thinks_by_default: Whether the model thinks where nothing is said: to say so changes nothing else.

    Returns:
        Whether it could: only where the model thinks.
    """
    thinking = body.get("thinking", {"type": "adaptive"} if thinks_by_default else None)
    if not isinstance(thinking, dict) or thinking["type"] not in {"adaptive", "enabled"}:
        return False
    body["thinking"] = {**thinking, "block_binding": {"prefix_mismatch_behavior": "drop_block"}}
    return True
