"""Gemini, written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, cast

from turntape.wire.outbound.blocks import AlternatingWriter
from turntape.wire.outbound.caching import refuse_marks
from turntape.wire.outbound.media import WireMedia
from turntape.wire.outbound.signatures import bare_signature
from turntape.wire.outbound.thinking import budget_for
from turntape.wire.raw_json import RawJson
from turntape.wire.synthetic import is_synthetic_id

if TYPE_CHECKING:
    from turntape.conversation import ToolResult
    from turntape.media import MediaBlock
    from turntape.messages import RedactedThinkingBlock, Text, Thinking, ToolUse
    from turntape.replay.pairing import Placed
    from turntape.wire.outbound.media import Medium
    from turntape.wire.outbound.parameters import Parameters, Tool
    from turntape.wire.outbound.parts import Call, Part, WireMessage
    from turntape.wire.outbound.target import Origin

__all__ = ["GeminiWriter"]

# Members of a part that stand beside what it holds, not in it.
_BESIDE: Final = frozenset({"mediaResolution", "videoMetadata", "partMetadata", "thought"})


class GeminiWriter(AlternatingWriter):
    """Writes a history for Gemini."""

    assistant_role = "model"
    content_name = "parts"
    sorts_results = True
    signs_texts = True
    signs_calls = True
    media = WireMedia(
        dict.fromkeys(("image", "document", "audio", "video")),
        frozenset({"image", "document", "audio", "video"}),
    )
    result_media = frozenset({"image", "document"})

    def plain_text(self, text: str) -> Part:
        return {"text": text}

    def keeps_empty(self, block: Text, origin: Origin) -> bool:
        return block.signature is not None and origin.is_own_wire and origin.is_signed_for

    def text_part(self, block: Text, text: str, placed: Placed, origin: Origin) -> Part:
        part: dict[str, Any] = {"text": text}
        if origin.is_own_wire:
            if block.signature is not None and origin.is_signed_for:
                part["thoughtSignature"] = self.clean(block.signature, placed.index)
            if block.extra is not None:
                part |= self.extra_of(block.extra, "a text", placed.index)
        return part

    def signed_part(self, block: Thinking, placed: Placed, origin: Origin) -> Part | None:
        signature = bare_signature(block.signature or "")
        if signature is None:
            return None
        part: dict[str, Any] = {"text": self.clean(block.text, placed.index)}
        if block.text:
            part["thought"] = True
        part["thoughtSignature"] = self.clean(signature, placed.index)
        return self.thinking_written(part)

    def redacted_part(self, block: RedactedThinkingBlock, placed: Placed) -> Part | None:
        return None

    def sent_id(self, block: ToolUse, placed: Placed, origin: Origin) -> str:
        # Only what Gemini gave goes back to it; it pairs the others by their order.
        if placed.message.dialect != self.target.dialect or is_synthetic_id(
            block.id, block.name, placed.message.id
        ):
            return ""
        return super().sent_id(block, placed, origin)

    def call_part(self, call: Call, placed: Placed, origin: Origin) -> Part:
        inner: dict[str, Any] = {}
        if call.id:
            inner["id"] = call.id
        inner["name"] = call.name
        inner["args"] = self.arguments_object(call.block, placed.index)
        part: dict[str, Any] = {"functionCall": inner}
        for name, value in call.extra.items():
            (part if name in _BESIDE else inner)[name] = value
        if call.block.signature is not None:
            signature = bare_signature(call.block.signature) if origin.is_signed_for else None
            if signature is None:
                self.drop_reasoning(placed.index, f"the signature of {call.block.id!r}")
            else:
                part["thoughtSignature"] = self.clean(signature, placed.index)
        return part

    def assistant_media(self, block: Any, placed: Placed, origin: Origin) -> Part | None:
        return self.medium(block, placed, origin)

    def media_part(self, medium: Medium, block: MediaBlock, extra: dict[str, Any]) -> Part:
        if medium.url is not None:
            held: dict[str, Any] = {"fileUri": medium.url}
            if medium.media_type is not None:
                held = {"mimeType": medium.media_type, **held}
            name = "fileData"
        else:
            held = {"mimeType": medium.media_type, "data": medium.data}
            name = "inlineData"
        part: dict[str, Any] = {name: held}
        for member, value in extra.items():
            (part if member in _BESIDE else held)[member] = value
        return part

    def result_part(
        self, call: Call, result: ToolResult, placed: Placed, place: int, origin: Origin
    ) -> Part:
        parts = self.result_parts(call, result, placed, place, origin)
        texts = [part["text"] for part in parts if isinstance(part, dict) and "text" in part]
        others = [part for part in parts if not (isinstance(part, dict) and "text" in part)]
        text = "\n".join(texts)
        answer: dict[str, Any] = {}
        if call.id:
            answer["id"] = call.id
        answer["name"] = call.name
        answer["response"] = {"error" if result.is_error else "output": text}
        if result.extra is not None and origin.is_own_wire:
            extra = self.extra_of(result.extra, f"the result of {call.block.id!r}", placed.index)
            response = extra.pop("response", None)
            answer |= extra
            if response is not None:
                answer["response"] = _own_response(response, text) or answer["response"]
        if others:
            answer["parts"] = others
        return {"functionResponse": answer}

    def marked(self, part: Part, ttl: str | None) -> list[Part]:
        return [part]

    def sign_calls(self, contents: list[dict[str, Any]]) -> None:
        """Put the documented placeholder where the model checks signatures and there is none.

        The model looks at what came after the last text of the user's, and there at the first call of
        each content.
        """
        placeholder = self.target.capabilities.signature_placeholder
        if placeholder is None:
            return
        for message, content in zip(reversed(self.messages), reversed(contents), strict=True):
            if message.role == "user" and (message.parts or not message.results):
                return
            if message.role == "assistant":
                self._sign(message, content, placeholder)

    def _sign(self, message: WireMessage, content: dict[str, Any], placeholder: str) -> None:
        for at, (index, part, _) in enumerate(message.parts):
            if isinstance(part, dict) and "functionCall" in part:
                if "thoughtSignature" not in part:
                    content["parts"][at] = {**part, "thoughtSignature": placeholder}
                    self.notes.add(
                        "signature_placeholder", index, "the first call of the turn is not signed"
                    )
                return

    def body(
        self, parameters: Parameters, system: list[str], tools: list[Tool | RawJson]
    ) -> dict[str, Any]:
        request = parameters.request
        body: dict[str, Any] = {}
        config = _generation_config(parameters)
        if config:
            body["generationConfig"] = config
        calling = _calling(parameters, tools)
        if parameters.parallel(tools) is False:
            parameters.drop("parallel_tool_calls", "this wire cannot say it")
        if calling is not None:
            body["toolConfig"] = {"functionCallingConfig": calling}
        if tools:
            body["tools"] = _tools(tools)
        if system:
            body["systemInstruction"] = {"parts": [{"text": text} for text in system]}
        refuse_marks(request.cache, parameters.notes)
        if request.cache.key is not None:
            parameters.notes.add("cache_control_dropped", None, "this wire has no key of the cache")
        contents = self.body_messages(None)
        self.sign_calls(contents)
        body["contents"] = contents
        return body


def _own_response(response: Any, text: str) -> Any:
    """The response as it came, if the result still says the same; None where the host changed it."""
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if said == response:
        return RawJson(text)
    members = cast("dict[str, Any]", response) if isinstance(response, dict) else {}
    if len(members) == 1:
        name, only = next(iter(members.items()))
        if only == said:
            return {name: RawJson(text)}
    return None


def _generation_config(parameters: Parameters) -> dict[str, Any]:
    thinking = _thinking(parameters)
    is_thinking = bool(thinking) or parameters.target.capabilities.thinks_by_default
    temperature, top_p = parameters.sampling(is_thinking=is_thinking)
    config: dict[str, Any] = {
        "maxOutputTokens": parameters.max_tokens(),
        "temperature": temperature,
        "topP": top_p,
        "stopSequences": parameters.stop_words(limit=5) or None,
        "thinkingConfig": thinking or None,
    }
    form = parameters.schema()
    if form is not None:
        config |= {"responseMimeType": "application/json", "responseJsonSchema": form[2]}
    elif parameters.wants_json_object():
        config["responseMimeType"] = "application/json"
    return {name: value for name, value in config.items() if value is not None}


def _thinking(parameters: Parameters) -> dict[str, Any]:
    reasoning = parameters.request.reasoning
    if reasoning is None:
        return {}
    takes = parameters.target.capabilities
    thinking: dict[str, Any] = {}
    if not takes.thinking:
        parameters.drop("reasoning", "the model does not think")
        return {}
    if reasoning.summary is not None:
        thinking["includeThoughts"] = reasoning.summary != "none"
    if reasoning.effort is None and reasoning.budget_tokens is None:
        return thinking
    if "budget" in takes.thinking:
        budget = budget_for(parameters, limit=None)
        if budget is not None:
            thinking["thinkingBudget"] = budget
        return thinking
    effort = parameters.effort()
    if effort is not None:
        thinking["thinkingLevel"] = effort.upper()
    return thinking


def _calling(parameters: Parameters, tools: list[Tool | RawJson]) -> dict[str, Any] | None:
    kind = parameters.tool_choice(tools, is_thinking=False)
    requested = parameters.request.tool_choice
    if kind is None or requested is None:
        return None
    if kind == "tool":
        return {"mode": "ANY", "allowedFunctionNames": [requested.name]}
    return {"mode": {"auto": "AUTO", "none": "NONE", "required": "ANY"}[kind]}


def _tools(tools: list[Tool | RawJson]) -> list[Any]:
    declarations: list[dict[str, Any]] = []
    written: list[Any] = []
    for tool in tools:
        if isinstance(tool, RawJson):
            written.append(tool)
            continue
        declaration: dict[str, Any] = {"name": tool.name}
        if tool.description:
            declaration["description"] = tool.description
        declaration["parametersJsonSchema"] = tool.schema
        declarations.append(declaration)
    if declarations:
        written.insert(0, {"functionDeclarations": declarations})
    return written
