"""Amazon Bedrock Converse, written."""

from __future__ import annotations

import binascii
from typing import TYPE_CHECKING, Any, Final, cast

from turntape.wire.outbound.blocks import AlternatingWriter
from turntape.wire.outbound.media import WireMedia
from turntape.wire.outbound.raw import members_of, raw_object
from turntape.wire.outbound.signatures import bare_signature
from turntape.wire.outbound.thinking import UNSIGNED_ROUND, budget_for, claude_thinking_off
from turntape.wire.raw_json import RawJson

if TYPE_CHECKING:
    from turntape.conversation import ToolResult
    from turntape.media import MediaBlock
    from turntape.messages import RedactedThinkingBlock, Text, Thinking
    from turntape.replay.pairing import Placed
    from turntape.wire.outbound.caching import Marks
    from turntape.wire.outbound.media import Medium
    from turntape.wire.outbound.parameters import Parameters, Tool
    from turntape.wire.outbound.parts import Call, Part
    from turntape.wire.outbound.target import Origin

__all__ = ["BedrockWriter"]

_FORMATS: Final = {
    "image/png": "png",
    "image/jpeg": "jpeg",
    "image/gif": "gif",
    "image/webp": "webp",
    "application/pdf": "pdf",
    "text/csv": "csv",
    "application/msword": "doc",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.ms-excel": "xls",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "text/html": "html",
    "text/plain": "txt",
    "text/markdown": "md",
    "video/x-matroska": "mkv",
    "video/quicktime": "mov",
    "video/mp4": "mp4",
    "video/webm": "webm",
    "video/x-flv": "flv",
    "video/mpeg": "mpeg",
    "video/x-ms-wmv": "wmv",
    "video/3gpp": "three_gp",
    "audio/mpeg": "mp3",
    "audio/opus": "opus",
    "audio/wav": "wav",
    "audio/aac": "aac",
    "audio/flac": "flac",
    "audio/mp4": "mp4",
    "audio/ogg": "ogg",
    "audio/webm": "webm",
}

_OFF: Final = {"type": "disabled"}

_DECLARED_SCHEMA: Final = RawJson('{"type":"object"}')


def _types(kind: str) -> frozenset[str]:
    if kind == "document":
        return frozenset(name for name in _FORMATS if name.startswith(("application/", "text/")))
    return frozenset(name for name in _FORMATS if name.startswith(f"{kind}/"))


class BedrockWriter(AlternatingWriter):
    """Writes a history for Converse."""

    is_blank_empty = True
    has_citations = True
    writes_runs = True
    media = WireMedia(
        {kind: _types(kind) for kind in ("image", "document", "audio", "video")}, frozenset()
    )
    result_media = frozenset({"image", "document", "video"})

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._documents = 0

    def plain_text(self, text: str) -> Part:
        return {"text": text}

    def text_part(self, block: Text, text: str, placed: Placed, origin: Origin) -> Part:
        if not (origin.is_own_wire and block.citations):
            return {"text": text}
        citations = [
            raw_object(citation, "a citation", placed.index, self.notes)
            for citation in block.citations
        ]
        return {"citationsContent": {"content": [{"text": text}], "citations": citations}}

    def signed_part(self, block: Thinking, placed: Placed, origin: Origin) -> Part | None:
        signature = bare_signature(block.signature or "")
        if signature is None:
            return None
        text = self.clean(block.text, placed.index)
        signature = self.clean(signature, placed.index)
        thinking = {"reasoningText": {"text": text, "signature": signature}}
        return self.thinking_written({"reasoningContent": thinking})

    def redacted_part(self, block: RedactedThinkingBlock, placed: Placed) -> Part | None:
        try:
            binascii.a2b_base64(block.data, strict_mode=True)
        except ValueError:
            # Another wire's, which is no base64: nothing that a blob could hold.
            return None
        return self.thinking_written({"reasoningContent": {"redactedContent": block.data}})

    def call_part(self, call: Call, placed: Placed, origin: Origin) -> Part:
        self.called.setdefault(call.name, placed.index)
        use = {
            "toolUseId": call.id,
            "name": call.name,
            "input": self.arguments_object(call.block, placed.index),
            **call.extra,
        }
        return {"toolUse": use}

    def media_part(self, medium: Medium, block: MediaBlock, extra: dict[str, Any]) -> Part:
        media: dict[str, Any] = {"format": _FORMATS[medium.media_type or ""]}
        if medium.kind == "document":
            # Converse wants a name for each, and none twice.
            self._documents += 1
            media["name"] = f"document-{self._documents}"
        media["source"] = {"bytes": medium.data}
        return {medium.kind: media | extra}

    def result_part(
        self, call: Call, result: ToolResult, placed: Placed, place: int, origin: Origin
    ) -> Part:
        parts = self.result_parts(call, result, placed, place, origin)
        if not parts:
            text = self.target.texts.no_content
            self.notes.add("placeholder_text", placed.index, "a result that says nothing")
            parts = [self.plain_text(text)]
        answer: dict[str, Any] = {"toolUseId": call.id, "content": parts}
        if result.is_error:
            answer["status"] = "error"
        if result.extra is not None and origin.is_own_wire:
            answer |= self.extra_of(result.extra, f"the result of {call.block.id!r}", placed.index)
        return {"toolResult": answer}

    def marked(self, part: Part, ttl: str | None) -> list[Part]:
        return [part, cache_point(ttl)]

    def body(
        self, parameters: Parameters, system: list[str], tools: list[Tool | RawJson]
    ) -> dict[str, Any]:
        request, target = parameters.request, parameters.target
        limit = parameters.max_tokens()
        body: dict[str, Any] = {}
        more, effort = _thinking(parameters, limit, self)
        said = more.get("thinking")
        is_thinking = target.capabilities.thinks_by_default if said is None else said != _OFF
        temperature, top_p = parameters.sampling(is_thinking=is_thinking)
        inference = {
            "maxTokens": limit,
            "temperature": temperature,
            "topP": top_p,
            "stopSequences": parameters.stop_words() or None,
        }
        inference = {name: value for name, value in inference.items() if value is not None}
        if inference:
            body["inferenceConfig"] = inference
        if more:
            body["additionalModelRequestFields"] = more
        output: dict[str, Any] = {} if effort is None else {"effort": effort}
        if (form := parameters.schema()) is not None:
            name, description, schema = form
            named = {"name": name, "description": description, "schema": schema.text}
            named = {member: value for member, value in named.items() if value is not None}
            output["textFormat"] = {"type": "json_schema", "structure": {"jsonSchema": named}}
        parameters.wants_json_object(can_say=False)
        if output:
            body["outputConfig"] = output
        if request.cache.key is not None:
            parameters.notes.add("cache_control_dropped", None, "this wire has no key of the cache")
        marks = self.plan_marks(request.cache, has_tools=bool(tools), has_system=bool(system))
        asked = said is not None and said != _OFF
        choice = _tool_choice(parameters, tools, is_thinking=asked)
        config = _tool_config(parameters, tools, self, marks, choice)
        if config:
            body["toolConfig"] = config
        if system:
            blocks: list[dict[str, Any]] = [{"text": text} for text in system]
            if marks.system:
                blocks.append(cache_point(marks.ttl))
            body["system"] = blocks
        body["messages"] = self.body_messages(marks)
        return body


def cache_point(ttl: str | None) -> dict[str, Any]:
    """A cache mark, which is a block of its own."""
    return {"cachePoint": {"type": "default"} if ttl is None else {"type": "default", "ttl": ttl}}


def _tool_config(
    parameters: Parameters,
    tools: list[Tool | RawJson],
    writer: BedrockWriter,
    marks: Marks,
    choice: dict[str, Any] | None,
) -> dict[str, Any]:
    written: list[Any] = []
    names: set[str | None] = set()
    for tool in tools:
        if isinstance(tool, RawJson):
            written.append(tool)
            names.add(_name_in(tool))
            continue
        names.add(tool.name)
        written.append({"toolSpec": _spec(tool.name, tool.description, tool.schema, tool.strict)})
    if marks.tools:
        written.append(cache_point(marks.ttl))
    for name, index in writer.called.items():
        if name not in names:
            parameters.notes.add("tools_declared", index, f"{name!r} was called and is declared")
            written.append({"toolSpec": _spec(name, "", _DECLARED_SCHEMA, strict=False)})
    if parameters.parallel(tools) is False:
        parameters.drop("parallel_tool_calls", "this wire cannot say it")
    if not written:
        return {}
    return {"tools": written} if choice is None else {"tools": written, "toolChoice": choice}


def _name_in(tool: RawJson) -> str | None:
    """The name of a tool that goes out as it stands; None where it has none."""
    inner: Any = next(iter(members_of(tool.text).values()), None)
    name = cast("dict[str, Any]", inner).get("name") if isinstance(inner, dict) else None
    return name if isinstance(name, str) else None


def _spec(name: str, description: str, schema: RawJson, strict: bool) -> dict[str, Any]:  # noqa: FBT001
    spec: dict[str, Any] = {"name": name}
    if description:
        spec["description"] = description
    spec["inputSchema"] = {"json": schema}
    if strict:
        spec["strict"] = True
    return spec


def _tool_choice(
    parameters: Parameters, tools: list[Tool | RawJson], *, is_thinking: bool
) -> dict[str, Any] | None:
    kind = parameters.tool_choice(tools, is_thinking=is_thinking)
    if kind == "none":
        parameters.drop("tool_choice", "this wire cannot say that no tool may be called")
        return None
    requested = parameters.request.tool_choice
    if kind is None or requested is None:
        return None
    if kind == "tool":
        return {"tool": {"name": requested.name}}
    return {"any" if kind == "required" else "auto": {}}


def _thinking(
    parameters: Parameters, limit: int | None, writer: BedrockWriter
) -> tuple[dict[str, Any], str | None]:
    """The members that the model itself takes, and the effort."""
    reasoning = parameters.request.reasoning
    if reasoning is None:
        return {}, None
    takes = parameters.target.capabilities
    is_claude = takes.maker == "anthropic"
    if reasoning.summary is not None:
        parameters.drop("reasoning.summary", "this wire cannot say it")
    if parameters.is_off:
        off = claude_thinking_off(parameters) if is_claude else None
        if off is None and not is_claude:
            parameters.drop("reasoning", "this wire cannot say that the model is not to think")
        return ({} if off is None else {"thinking": off}), None
    is_said_by_effort = reasoning.effort is not None and bool(takes.efforts)
    if is_said_by_effort or "budget" not in takes.thinking:
        effort = parameters.effort()
        # An effort alone does not make a model think that does so only where it is told to.
        tells = effort is not None and "adaptive" in takes.thinking and not takes.thinks_by_default
        return ({"thinking": {"type": "adaptive"}} if tells else {}), effort
    budget = budget_for(parameters, limit=limit)
    if budget is None:
        return {}, None
    if is_claude and writer.is_round_unsigned:
        parameters.notes.add("reasoning_disabled", None, UNSIGNED_ROUND)
        return {}, None
    return {"thinking": {"type": "enabled", "budget_tokens": budget}}, None
