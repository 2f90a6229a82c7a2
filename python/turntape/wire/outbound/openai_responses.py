"""OpenAI Responses, written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, cast

from turntape.wire.outbound.flat import (
    FlatWriter,
    cache_members,
    json_schema_form,
    sampling_members,
    system_role,
    tool_members,
)
from turntape.wire.outbound.media import WireMedia
from turntape.wire.outbound.raw import raw_object
from turntape.wire.outbound.signatures import encrypted_item
from turntape.wire.raw_json import RawJson

if TYPE_CHECKING:
    from turntape.conversation import ToolResult
    from turntape.media import MediaBlock
    from turntape.messages import Text, Thinking
    from turntape.replay.pairing import Placed
    from turntape.wire.outbound.media import Medium
    from turntape.wire.outbound.parameters import Parameters, Tool
    from turntape.wire.outbound.parts import Call, Part
    from turntape.wire.outbound.target import Origin

__all__ = ["ResponsesWriter"]

_INCLUDED: Final = ("reasoning.encrypted_content",)

_CUSTOM: Final = "custom_tool_call"

# With which letters the ids of an item begin; others are refused.
_PREFIXES: Final = {"function_call": "fc_", _CUSTOM: "ctc_"}

_TEXT_TYPES: Final = frozenset({"output_text", "input_text"})


class ResponsesWriter(FlatWriter):
    """Writes a history as the items of Responses."""

    text_type = "input_text"
    has_citations = True
    media = WireMedia({"image": None, "document": None}, frozenset({"image", "document"}))

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._made_up = 0
        # Whether an item of reasoning went out in the turn being written.
        self._is_reasoned = False

    # Blocks -----------------------------------------------------------------------------------------

    def text_part(self, block: Text, text: str, placed: Placed, origin: Origin) -> Part:
        if placed.message.role != "assistant":
            part: dict[str, Any] = {"type": "input_text", "text": text}
            if block.extra is not None and origin.is_own_wire:
                part |= self.extra_of(block.extra, "a text", placed.index)
            return part
        annotations: list[RawJson] = []
        extra: dict[str, Any] = {}
        if origin.is_own_wire:
            annotations = [
                raw_object(citation, "a citation", placed.index, self.notes)
                for citation in block.citations
            ]
            if block.extra is not None:
                extra = self.extra_of(block.extra, "a text", placed.index)
        # Taken apart again when the item is made of its parts.
        return {
            "type": "output_text",
            "text": text,
            "annotations": annotations,
            _ITEM: extra,
        }

    def signed_part(self, block: Thinking, placed: Placed, origin: Origin) -> Part | None:
        found = encrypted_item(block.signature or "")
        if found is None:
            return None
        content, item_id = found
        text = self.clean(block.text, placed.index)
        self._is_reasoned = True
        return {
            "type": "reasoning",
            "id": item_id or self._made_up_id("rs"),
            "summary": [{"type": "summary_text", "text": text}] if text else [],
            "encrypted_content": content,
        }

    def call_part(self, call: Call, placed: Placed, origin: Origin) -> Part:
        kind = "custom_tool_call" if call.extra.get("type") == _CUSTOM else "function_call"
        item: dict[str, Any] = {"type": kind, "call_id": call.id, "name": call.name}
        if kind == _CUSTOM:
            item["input"] = self.clean(call.block.arguments, placed.index)
        else:
            item["arguments"] = self.arguments_text(call.block, placed.index)
        for name, value in call.extra.items():
            if name == "id":
                if self._is_reasoned and _is_id(value, _PREFIXES[kind]):
                    item["id"] = value
            elif name not in item:
                item[name] = value
        return item

    def media_part(self, medium: Medium, block: MediaBlock, extra: dict[str, Any]) -> Part:
        if medium.kind == "image":
            return {"type": "input_image", "detail": "auto", "image_url": medium.data_uri, **extra}
        part: dict[str, Any] = {"type": "input_file"}
        if medium.url is not None:
            part["file_url"] = medium.url
        else:
            part["filename"] = medium.filename
            part["file_data"] = medium.data_uri
        return part | extra

    def may_stand_in_result(self, part: Part) -> bool:
        return True

    def result_part(
        self, call: Call, result: ToolResult, placed: Placed, place: int, origin: Origin
    ) -> Part:
        is_custom = call.extra.get("type") == _CUSTOM
        kind = "custom_tool_call_output" if is_custom else "function_call_output"
        output = self.answer(call, result, placed, place, origin)
        item: dict[str, Any] = {"type": kind, "call_id": call.id, "output": output}
        # The client's type of a custom tool's output has no namespace.
        for name in ("caller",) if is_custom else ("caller", "namespace"):
            if name in call.extra:
                item[name] = call.extra[name]
        if result.extra is not None and origin.is_own_wire:
            item |= self.extra_of(result.extra, f"the result of {call.block.id!r}", placed.index)
        return item

    # Items ------------------------------------------------------------------------------------------

    def write_assistant(self, placed: Placed, parts: list[Part], origin: Origin) -> None:
        index = placed.index
        texts: list[dict[str, Any]] = []
        for part in parts:
            if isinstance(part, dict) and part["type"] == "output_text":
                if texts and part[_ITEM].get("id") is not None:
                    self._put_texts(index, texts)
                    texts = []
                texts.append(part)
                continue
            self._put_texts(index, texts)
            texts = []
            is_thinking = isinstance(part, dict) and part["type"] == "reasoning"
            self.put(index, part, is_thinking=is_thinking)
        self._put_texts(index, texts)
        self._is_reasoned = False
        self.is_open = True
        self.is_paused = placed.message.stop_reason == "pause_turn"
        self.last_index = index

    def _put_texts(self, index: int, texts: list[dict[str, Any]]) -> None:
        """Write texts that follow each other as one item."""
        if not texts:
            return
        extra = texts[0][_ITEM]
        item_id = extra.get("id")
        item = {
            "type": "message",
            "id": item_id if _is_id(item_id, "msg_") else self._made_up_id("msg"),
            "role": "assistant",
            "status": "completed",
            "content": [
                {name: value for name, value in text.items() if name != _ITEM} for text in texts
            ],
        }
        item |= {name: value for name, value in extra.items() if name != "id"}
        self.put(index, item)

    def _made_up_id(self, prefix: str) -> str:
        """An id for an item that has none, which the client's types want."""
        self._made_up += 1
        return f"{prefix}_{self._made_up:024d}"

    def write_user(
        self, placed: Placed, results: list[tuple[Call, Part]], parts: list[Part], origin: Origin
    ) -> None:
        index = placed.index
        for _, item in results:
            self.put(index, item)
        message: list[Part] = []
        for part in parts:
            # The host's answers to items that are no calls are items too.
            if isinstance(part, RawJson) and not _is_content(part):
                self.put(index, part)
            else:
                message.append(part)
        if message:
            self.put(
                index,
                self.user_message(message) | self.message_extra(placed.message, index, origin),
            )
        elif not results and not placed.message.content:
            self.notes.add("empty_text_dropped", index, "the message is empty and is left out")
        if results or parts:
            self.is_open = False

    def write_system(self, placed: Placed, texts: list[str]) -> None:
        index = placed.index
        self.is_open = False
        takes = self.target.capabilities.system_in_conversation
        if takes and self.target.habits.system_in_conversation:
            item = self._message(system_role(self), [self.plain_text(text) for text in texts])
            origin = self.target.origin(placed.message)
            self.put(index, item | self.message_extra(placed.message, index, origin))
            return
        self.notes.add(
            "system_moved", index, "its text goes in front of the next message of the user's"
        )
        self.put(index, self.user_message([self.plain_text(self.moved_system(texts))]))

    def user_message(self, parts: list[Part]) -> dict[str, Any]:
        return self._message("user", parts)

    @staticmethod
    def _message(role: str, parts: list[Part]) -> dict[str, Any]:
        return {"type": "message", "role": role, "content": parts}

    def trim(self) -> None:
        if not isinstance(self.written[-1], dict) or self.written[-1]["type"] != "message":
            return
        last = cast("dict[str, Any]", self.written[-1])
        text = last["content"][-1]
        trimmed = text["text"].rstrip()
        if trimmed == text["text"]:
            return
        self.notes.add(
            "empty_text_dropped",
            self.last_index,
            "white space at the end of the prefill is left out",
        )
        content = [*last["content"][:-1], *([text | {"text": trimmed}] if trimmed else [])]
        if content:
            self.written[-1] = last | {"content": content}
        else:
            self.written.pop()

    def body(
        self, parameters: Parameters, system: list[str], tools: list[Tool | RawJson]
    ) -> dict[str, Any]:
        request, target = parameters.request, parameters.target
        body: dict[str, Any] = {"model": target.model}
        if (limit := parameters.max_tokens()) is not None:
            body["max_output_tokens"] = limit
        body |= {"stream": request.stream, "store": False, "include": list(_INCLUDED)}
        reasoning = _reasoning(parameters)
        said = reasoning.get("effort")
        is_thinking = target.capabilities.thinks_by_default if said is None else said != "none"
        body |= sampling_members(parameters, is_thinking=is_thinking)
        if request.stop:
            parameters.drop("stop", "this wire has no stop words")
        if reasoning:
            body["reasoning"] = reasoning
        if (form := json_schema_form(parameters)) is not None:
            body["text"] = {"format": {"type": "json_schema", **form}}
        elif parameters.wants_json_object():
            body["text"] = {"format": {"type": "json_object"}}
        body |= cache_members(parameters)
        body |= tool_members(parameters, tools, lambda name: {"type": "function", "name": name})
        if tools:
            body["tools"] = [_tool(tool) for tool in tools]
        if system:
            body["instructions"] = "\n\n".join(system)
        body["input"] = self.written
        return body


_ITEM: Final = "\0item"
"""Where a text part carries what belongs to its item, until the item is made."""


def _is_id(value: Any, prefix: str) -> bool:
    return isinstance(value, str) and value.startswith(prefix) and len(value) <= 64  # noqa: PLR2004


def _is_content(part: RawJson) -> bool:
    """Whether a block of the provider's own stands in a message, not beside it."""
    kind = json.loads(part.text).get("type")
    return isinstance(kind, str) and kind.startswith("input_")


def _tool(tool: Tool | RawJson) -> Any:
    if isinstance(tool, RawJson):
        return tool
    written: dict[str, Any] = {"type": "function", "name": tool.name}
    if tool.description:
        written["description"] = tool.description
    return written | {"parameters": tool.schema, "strict": tool.strict}


def _reasoning(parameters: Parameters) -> dict[str, Any]:
    reasoning = parameters.request.reasoning
    if reasoning is None:
        return {}
    takes = parameters.target.capabilities
    if not takes.thinking:
        if reasoning.effort != "none":
            parameters.drop("reasoning", "the model does not think")
        return {}
    written: dict[str, Any] = {}
    if parameters.is_off and "none" not in takes.efforts:
        if parameters.thinks_anyway:
            parameters.drop("reasoning", "the model's thinking cannot be switched off")
    elif (effort := parameters.effort()) is not None:
        written["effort"] = effort
    if reasoning.summary is not None and reasoning.summary != "none":
        written["summary"] = parameters.clean(reasoning.summary, "the summary")
    return written
