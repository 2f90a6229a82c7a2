"""OpenAI Chat Completions, written, as OpenAI and its imitators want it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

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
from turntape.wire.raw_json import RawJson
from turntape.wire.vendors import members

if TYPE_CHECKING:
    from turntape.conversation import ToolResult
    from turntape.media import MediaBlock
    from turntape.messages import ProviderBlock, Text, Thinking
    from turntape.replay.pairing import Placed
    from turntape.wire.outbound.media import Medium
    from turntape.wire.outbound.parameters import Parameters, Tool
    from turntape.wire.outbound.parts import Call, Part
    from turntape.wire.outbound.target import Origin

__all__ = ["ChatWriter"]

# Members of a part that stand beside its medium, not in the object that holds it.
_BESIDE: Final = frozenset({"prompt_cache_breakpoint", "cache_control"})

_SOUNDS: Final = {"audio/wav": "wav", "audio/mpeg": "mp3"}


class ChatWriter(FlatWriter):
    """Writes a history for Chat Completions."""

    # An entry of ``reasoning_details`` may be a call's.
    signs_calls = True
    media = WireMedia(
        {"image": None, "document": None, "audio": frozenset(_SOUNDS)}, frozenset({"image"})
    )

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._calls_written: list[Part] = []
        self._reasoning: list[tuple[str, bool]] = []
        self._proofs: list[RawJson] = []

    # Blocks -----------------------------------------------------------------------------------------

    def text_part(self, block: Text, text: str, placed: Placed, origin: Origin) -> Part:
        part: dict[str, Any] = {"type": "text", "text": text}
        if block.extra is not None and origin.is_own_wire:
            part |= self.extra_of(block.extra, "a text", placed.index)
        return part

    def signed_part(self, block: Thinking, placed: Placed, origin: Origin) -> Part | None:
        signature = block.signature or ""
        if not (origin.is_own_wire and signature.startswith("{")):
            return None
        self._proofs.append(raw_object(signature, "a signature", placed.index, self.notes))
        if self.target.habits.reasoning_back and block.text:
            self._reasoning.append((self.clean(block.text, placed.index), True))
        return _NOTHING

    def unsigned_part(self, block: Thinking, placed: Placed, origin: Origin) -> Part | None:
        if not self.target.habits.reasoning_back:
            self.drop_reasoning(placed.index, "it is not signed")
            return None
        if origin.is_foreign:
            self.drop_reasoning(placed.index, "another vendor's means nothing here")
            return None
        self._reasoning.append((self.clean(block.text, placed.index), False))
        return _NOTHING

    def call_part(self, call: Call, placed: Placed, origin: Origin) -> Part:
        if call.extra.get("type") == "custom":
            arguments = self.clean(call.block.arguments, placed.index)
            inner = {"name": call.name, "input": arguments}
            part: dict[str, Any] = {"id": call.id, "type": "custom", "custom": inner}
        else:
            inner = {"name": call.name, "arguments": self.arguments_text(call.block, placed.index)}
            part = {"id": call.id, "type": "function", "function": inner}
        if call.extra:
            part |= call.extra
        if call.block.signature is not None:
            self._sign(call, placed, origin)
        self._calls_written.append(part)
        return _NOTHING

    def _sign(self, call: Call, placed: Placed, origin: Origin) -> None:
        signature = call.block.signature or ""
        if origin.is_own_wire and origin.is_signed_for and signature.startswith("{"):
            self._proofs.append(raw_object(signature, "a signature", placed.index, self.notes))
        else:
            self.drop_reasoning(placed.index, f"the signature of {call.block.id!r}")

    def provider_part(self, block: ProviderBlock, placed: Placed, origin: Origin) -> Part | None:
        part = super().provider_part(block, placed, origin)
        # A call that the provider ran itself has no result that could be sent along.
        if isinstance(part, RawJson) and "function" in json.loads(part.text):
            self.notes.add(
                "content_unsupported", placed.index, f"the call {block.kind!r} is left out"
            )
            return None
        return part

    def media_part(self, medium: Medium, block: MediaBlock, extra: dict[str, Any]) -> Part:
        inner: dict[str, Any]
        if medium.kind == "image":
            kind, inner = "image_url", {"url": medium.data_uri}
        elif medium.kind == "audio":
            kind = "input_audio"
            inner = {"data": medium.data, "format": _SOUNDS[medium.media_type or ""]}
        else:
            kind = "file"
            inner = {"filename": medium.filename, "file_data": medium.data_uri}
        part: dict[str, Any] = {"type": kind, kind: inner}
        for name, value in extra.items():
            (part if name in _BESIDE else inner)[name] = value
        return part

    def result_part(
        self, call: Call, result: ToolResult, placed: Placed, place: int, origin: Origin
    ) -> Part:
        content = self.answer(call, result, placed, place, origin)
        message: dict[str, Any] = {"role": "tool", "tool_call_id": call.id, "content": content}
        if result.extra is not None and origin.is_own_wire:
            message |= self.extra_of(result.extra, f"the result of {call.block.id!r}", placed.index)
        return message

    # Messages ---------------------------------------------------------------------------------------

    def write_assistant(self, placed: Placed, parts: list[Part], origin: Origin) -> None:
        index = placed.index
        self.flush_moved()
        content = [part for part in parts if part is not _NOTHING]
        calls, reasoning, proofs = self._calls_written, self._reasoning, self._proofs
        self._calls_written, self._reasoning, self._proofs = [], [], []
        extra = self.message_extra(placed.message, index, origin)
        if not (content or calls or proofs or extra):
            # A message has a text or calls: reasoning alone is none.
            self.drop_reasoning(index, "nothing else is in the message")
            return
        message: dict[str, Any] = {"role": "assistant", "content": _content(content)}
        field = self._reasoning_field(placed)
        if reasoning and field == "reasoning_details":
            # A list of typed entries; one that is a proof holds its text itself.
            entries: list[Any] = [
                {"type": "reasoning.text", "text": text}
                for text, is_proved in reasoning
                if not is_proved
            ]
            message["reasoning_details"] = [*entries, *proofs]
            proofs = []
        elif reasoning:
            message[field] = "\n\n".join(text for text, _ in reasoning)
        if proofs:
            message["reasoning_details"] = proofs
        if calls:
            message["tool_calls"] = calls
        message |= extra
        self.put(index, message)
        self.is_open = True
        self.is_paused = placed.message.stop_reason == "pause_turn"
        self.last_index = index

    def _reasoning_field(self, placed: Placed) -> str:
        fields = self.target.habits.reasoning_fields
        came_in = placed.message.reasoning_field
        return came_in if came_in in fields else fields[0]

    def write_user(
        self, placed: Placed, results: list[tuple[Call, Part]], parts: list[Part], origin: Origin
    ) -> None:
        index = placed.index
        for _, message in results:
            self.put(index, message)
        if parts:
            self.flush_moved()
            message = self.user_message(parts)
            message |= self.message_extra(placed.message, index, origin)
            self.put(index, message)
        elif not results and not placed.message.content:
            self.notes.add("empty_text_dropped", index, "the message is empty and is left out")
        if results or parts:
            self.is_open = False

    def write_system(self, placed: Placed, texts: list[str]) -> None:
        index = placed.index
        self.flush_moved()
        takes = self.target.capabilities.system_in_conversation
        self.is_open = False
        if takes and self.target.habits.system_in_conversation:
            content = _content([self.plain_text(text) for text in texts])
            message: dict[str, Any] = {"role": system_role(self), "content": content}
            origin = self.target.origin(placed.message)
            self.put(index, message | self.message_extra(placed.message, index, origin))
            return
        self.notes.add(
            "system_moved", index, "its text goes in front of the next message of the user's"
        )
        self.put(index, self.user_message([self.plain_text(self.moved_system(texts))]))

    def user_message(self, parts: list[Part]) -> dict[str, Any]:
        return {"role": "user", "content": _content(parts)}

    def trim(self) -> None:
        last = self.written[-1]
        content = last["content"]
        if not isinstance(content, str):
            return
        trimmed = content.rstrip()
        if trimmed != content:
            self.notes.add(
                "empty_text_dropped",
                self.last_index,
                "white space at the end of the prefill is left out",
            )
            if trimmed or last.keys() - {"role", "content"}:
                self.written[-1] = last | {"content": trimmed or None}
                return
            # Nothing is left of it: the message before it is the last one.
            self.written.pop()
            self.is_open = bool(self.written) and self.written[-1].get("role") == "assistant"
            if self.is_open:
                self.trim()

    def body_messages(self, system: list[str]) -> list[Any]:
        """The messages of the body."""
        messages = self.written
        if self.target.habits.alternates:
            messages = self._alternating(messages)
        if self.is_open and self.may_end and self.target.habits.prefill_message:
            messages = [*messages[:-1], messages[-1] | members(self.target.habits.prefill_message)]
        if system:
            messages = [{"role": system_role(self), "content": "\n\n".join(system)}, *messages]
        return messages

    def _alternating(self, messages: list[Any]) -> list[Any]:
        """Join neighbours of one role."""
        joined: list[Any] = []
        for message in messages:
            last = joined[-1] if joined else None
            if last is None or last["role"] != message["role"] or last["role"] == "tool":
                joined.append(message)
                continue
            joined[-1] = _joined(last, message)
            self.notes.add("messages_merged", None, f"two messages of the {last['role']} are one")
        return joined

    def body(
        self, parameters: Parameters, system: list[str], tools: list[Tool | RawJson]
    ) -> dict[str, Any]:
        request, target = parameters.request, parameters.target
        habits = target.habits
        body: dict[str, Any] = {"model": target.model}
        if (limit := parameters.max_tokens()) is not None:
            body[habits.max_tokens_member] = limit
        body["stream"] = request.stream
        if request.stream and habits.stream_usage:
            body["stream_options"] = {"include_usage": True}
        reasoning = _reasoning(parameters, has_tools=bool(tools))
        is_thinking = not parameters.is_off if reasoning else target.capabilities.thinks_by_default
        body |= sampling_members(parameters, is_thinking=is_thinking)
        if words := parameters.stop_words(limit=habits.max_stop):
            body["stop"] = words
        body |= reasoning
        if (form := json_schema_form(parameters)) is not None:
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        elif parameters.wants_json_object():
            body["response_format"] = {"type": "json_object"}
        body |= cache_members(parameters)
        body |= tool_members(
            parameters, tools, lambda name: {"type": "function", "function": {"name": name}}
        )
        if tools:
            body["tools"] = [_tool(tool) for tool in tools]
        if self.is_open and self.may_end:
            body |= members(habits.prefill_body)
        body["messages"] = self.body_messages(system)
        return body


_NOTHING: Part = RawJson("")
"""What stands for a block that is no part of the content; never written."""


def _content(parts: list[Part]) -> str | list[Part] | None:
    """The content of a message: a text where it is one."""
    if not parts:
        return None
    first = parts[0]
    if len(parts) == 1 and isinstance(first, dict) and set(first) == {"type", "text"}:
        return str(first["text"])
    return parts


def _parts_of(content: Any) -> list[Part]:
    if content is None:
        return []
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _joined(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Two messages of one role as one: texts and lists of both, in their order."""
    joined = first | second
    for name in first.keys() & second.keys() - {"role", "content"}:
        ours, theirs = first[name], second[name]
        if isinstance(ours, str) and isinstance(theirs, str):
            joined[name] = f"{ours}\n\n{theirs}"
        elif isinstance(ours, list) and isinstance(theirs, list):
            joined[name] = [*ours, *theirs]
    joined["content"] = _content(_parts_of(first["content"]) + _parts_of(second["content"]))
    return joined


def _tool(tool: Tool | RawJson) -> Any:
    if isinstance(tool, RawJson):
        return tool
    function: dict[str, Any] = {"name": tool.name}
    if tool.description:
        function["description"] = tool.description
    function["parameters"] = tool.schema
    if tool.strict:
        function["strict"] = True
    return {"type": "function", "function": function}


def _reasoning(parameters: Parameters, *, has_tools: bool) -> dict[str, Any]:
    """The members that ask for thinking."""
    reasoning = parameters.request.reasoning
    if reasoning is None:
        return {}
    takes, habits = parameters.target.capabilities, parameters.target.habits
    if reasoning.summary is not None:
        parameters.drop("reasoning.summary", "this wire cannot say it")
    if reasoning.effort is None and reasoning.budget_tokens is None:
        return {}
    is_off = parameters.is_off
    if is_off and habits.thinking_off:
        return members(habits.thinking_off)
    if is_off and "none" not in takes.efforts:
        if parameters.thinks_anyway:
            parameters.drop("reasoning", "the model's thinking cannot be switched off")
        return {}
    effort: str | None = None
    if habits.effort_member is None:
        parameters.drop("reasoning", "the vendor takes no effort")
    elif has_tools and not is_off and not takes.effort_with_tools:
        parameters.drop("reasoning", "the model takes no effort together with tools")
    else:
        effort = parameters.effort()
    if effort is None or habits.effort_member is None:
        return {}
    said: Any = {"effort": effort} if habits.effort_member == "reasoning" else effort
    return {habits.effort_member: said}
