"""Gemini, read back.

The wire's interface is written in camel case, and its clients also send snake case, which it takes
alike.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from turntape.conversation import ToolResult
from turntape.media import Base64Source, UrlSource
from turntape.messages import ProviderBlock, Text, Thinking, ToolUse
from turntape.requests import ResponseFormat, ToolChoice
from turntape.wire.inbound.content import media_block, standard_base64
from turntape.wire.inbound.gemini_schema import json_schema_of
from turntape.wire.inbound.raw import Members, Raw, object_text
from turntape.wire.inbound.reader import each_block
from turntape.wire.inbound.waiting import Waiting
from turntape.wire.synthetic import synthetic_id

if TYPE_CHECKING:
    from turntape.conversation import ContentBlock, Message, ResultBlock
    from turntape.media import MediaBlock
    from turntape.requests import ModelRequest
    from turntape.wire.inbound.parts import RequestParts
    from turntape.wire.inbound.reader import Reader

__all__ = ["read_messages", "read_request"]

_ROLES = {"user": "user", "function": "user", "tool": "user", "model": "assistant"}

_CHOICES = {"AUTO": "auto", "NONE": "none", "ANY": "required"}


def read_messages(reader: Reader, history: Raw) -> list[Message]:
    """Read the list ``contents``."""
    contents = _Contents(reader)
    reader.each_message(history, contents.read)
    return contents.messages


class _Contents:
    """The messages so far, and the calls that wait for their results."""

    __slots__ = ("messages", "reader", "waiting")

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.messages: list[Message] = []
        self.waiting = Waiting()

    def read(self, raw: Raw) -> None:
        members = Members(raw)
        named = members.string("role") or "user"
        role = _ROLES.get(named)
        if role is None:
            raise raw.fail(f"the role is user or model, not {named!r}")
        parts = members.take("parts")
        elements = [] if parts is None else parts.elements()
        if role == "assistant":
            self.waiting.clear()
            turn = _Turn(self)
            each_block(elements, turn.part)
            message = self.reader.message("assistant", turn.blocks, extra=members.left())
        else:
            blocks = each_block(elements, lambda part: [self._given(part)])
            message = self.reader.message("user", blocks, extra=members.left())
        self.messages.append(message)

    def _given(self, raw: Raw) -> ContentBlock:
        """A part that no model wrote."""
        members = Members(raw)
        answer = members.take("functionResponse", "function_response")
        if answer is not None:
            return self._result(Members(answer), members)
        text = members.take("text")
        if text is not None:
            signature = members.string("thoughtSignature", "thought_signature")
            return Text(text.string(), signature=signature, extra=members.left())
        medium = _medium(members)
        return medium or ProviderBlock(_kind(raw), raw.text)

    def _result(self, members: Members, part: Members) -> ToolResult:
        name, given_id = members.string("name"), members.string("id")
        call_id = self.waiting.answered(given_id, name)
        self.reader.unkept("functionResponse part", part)
        text, failed, response = _answer(members.take("response"))
        content: str | tuple[ResultBlock, ...] = text
        media = members.take("parts")
        if media is not None:
            blocks = each_block(media.elements(), _result_part)
            content = (*((Text(text),) if text else ()), *blocks)
        pairs = ([] if response is None else [("response", response)]) + members.left_pairs()
        return ToolResult(call_id, content, failed, object_text(pairs) if pairs else None)


def _answer(raw: Raw | None) -> tuple[str, bool, str | None]:
    """What a result says, whether it is an error, and its own text where that is not what building writes."""
    if raw is None:
        return "", False, None
    members = raw.members()
    if len(members) == 1:
        for name in ("output", "error"):
            if name in members:
                said = members[name]
                if said.is_string:
                    return said.string(), name == "error", None
                return said.text, name == "error", raw.text
    return raw.text, False, raw.text


def _result_part(raw: Raw) -> list[ResultBlock]:
    medium = _medium(Members(raw))
    return [cast("ResultBlock", medium or ProviderBlock(_kind(raw), raw.text))]


def _medium(members: Members) -> MediaBlock | None:
    """A part that holds a medium or names one; None for any other."""
    data = members.take("inlineData", "inline_data")
    named = members.take("fileData", "file_data")
    if data is not None:
        held = Members(data)
        kind = held.string("mimeType", "mime_type") or ""
        source = Base64Source(standard_base64(held.need("data").string()), kind)
        return media_block(source, _joined(held, members))
    if named is not None:
        held = Members(named)
        where = held.need("fileUri", "file_uri").string()
        return media_block(
            UrlSource(where, held.string("mimeType", "mime_type")), _joined(held, members)
        )
    return None


def _joined(inner: Members, outer: Members) -> str | None:
    pairs = inner.left_pairs() + outer.left_pairs()
    return object_text(pairs) if pairs else None


def _kind(raw: Raw) -> str:
    """What a part is, by its first member that says so."""
    for name in raw.members():
        if name not in {"thought", "thoughtSignature", "thought_signature"}:
            return name
    raise raw.fail("the part is empty")


class _Turn:
    """The blocks of a turn of the model's, as a decoded turn has them."""

    __slots__ = ("_contents", "blocks")

    def __init__(self, contents: _Contents) -> None:
        self._contents = contents
        self.blocks: list[ContentBlock] = []

    def part(self, raw: Raw) -> list[ContentBlock]:
        members = Members(raw)
        thought = members.take("thought")
        signature = members.string("thoughtSignature", "thought_signature") or None
        call = members.take("functionCall", "function_call")
        text = members.take("text")
        if call is not None:
            self._call(Members(call), signature, members)
        elif text is not None:
            is_thought = thought is not None and thought.boolean()
            self._text(text.string(), signature, members, is_thought=is_thought)
        elif members:
            self.blocks.append(ProviderBlock(_kind(raw), raw.text))
        elif signature is not None:
            self._sign(signature)
        return []

    def _call(self, call: Members, signature: str | None, part: Members) -> None:
        name = call.need("name").string()
        call_id = call.string("id") or synthetic_id(name, len(self.blocks))
        args = call.take("args")
        pairs = call.left_pairs() + part.left_pairs()
        extra = object_text(pairs) if pairs else None
        arguments = "" if args is None else args.text
        self._contents.waiting.called(name, call_id)
        self.blocks.append(ToolUse(call_id, name, arguments, signature, extra))

    def _text(self, text: str, signature: str | None, part: Members, *, is_thought: bool) -> None:
        if not text:
            if signature is not None:
                self._sign(signature)
        elif is_thought:
            self.blocks.append(Thinking(text, signature))
            self._contents.reader.unkept("thought", part)
        else:
            self.blocks.append(Text(text, signature=signature, extra=part.left()))

    def _sign(self, signature: str) -> None:
        """A signature on an empty part signs the text before it; without one it stands alone."""
        last = self.blocks[-1] if self.blocks else None
        if isinstance(last, Text) and last.signature is None:
            self.blocks[-1] = replace(last, signature=signature)
        else:
            self.blocks.append(Thinking("", signature))


def read_request(parts: RequestParts) -> ModelRequest:
    """Read a whole body."""
    reader, body = parts.reader, parts.body
    parts.take_model("model")
    _system(parts, body.take("systemInstruction", "system_instruction"))
    tools = body.take("tools")
    listed = [] if tools is None else tools.elements() if tools.is_list else [tools]
    for tool in listed:
        _tool(parts, tool)
    _tool_config(parts, body.take("toolConfig", "tool_config"))
    config = body.take("generationConfig", "generation_config")
    if config is not None:
        _generation(parts, Members(config))
    contents = body.take("contents")
    messages = [] if contents is None else read_messages(reader, _as_list(contents))
    return parts.build(messages, reader.cache_policy())


def _as_list(contents: Raw) -> Raw:
    """A single content may stand without its list."""
    return Raw(f"[{contents.text}]", contents) if contents.is_object else contents


def _system(parts: RequestParts, raw: Raw | None) -> None:
    if raw is None:
        return
    if raw.is_string:
        parts.system(raw.string())
        return
    members = Members(raw)
    members.take("role")
    held = members.take("parts")
    elements = [] if held is None else held.elements() if held.is_list else [held]
    texts: list[Text] = []
    plain = not members
    for element in elements:
        inner = Members(element)
        text = inner.take("text")
        if text is None:
            plain = False
        else:
            texts.append(Text(text.string(), extra=inner.left()))
    if not plain:
        parts.keep_whole(raw, "systemInstruction")
    one = len(texts) == 1 and texts[0].extra is None
    parts.system(texts[0].text if one else texts)


def _tool(parts: RequestParts, raw: Raw) -> None:
    members = Members(raw)
    declared = members.take("functionDeclarations", "function_declarations")
    for one in [] if declared is None else declared.elements():
        inner = Members(one)
        name, description = inner.need("name").string(), inner.string("description")
        own, schema = (
            inner.take("parameters"),
            inner.take("parametersJsonSchema", "parameters_json_schema"),
        )
        value = None if schema is None else schema.value()
        if schema is None and own is not None:
            value = json_schema_of(own.value())
        wrapped = Raw(object_text([("functionDeclarations", f"[{one.text}]")]))
        parts.function_tool(
            wrapped, name=name, description=description, schema=value, rest=inner.left()
        )
    if members:
        parts.raw_tool(Raw(members.left() or "{}"))


def _tool_config(parts: RequestParts, raw: Raw | None) -> None:
    if raw is None:
        return
    config = Members(raw)
    calling = config.take("functionCallingConfig", "function_calling_config")
    if calling is not None:
        members = Members(calling)
        mode = (members.string("mode") or "AUTO").upper()
        allowed = members.take("allowedFunctionNames", "allowed_function_names")
        names = [] if allowed is None else [name.string() for name in allowed.elements()]
        if members or mode not in _CHOICES or len(names) > 1 or (names and mode != "ANY"):
            parts.keep_whole(calling, "toolConfig", "functionCallingConfig")
        elif names:
            parts.tool_choice(ToolChoice.tool(names[0]))
        else:
            parts.tool_choice(ToolChoice(cast("Any", _CHOICES[mode])))
    parts.keep(config, "toolConfig")


def _generation(parts: RequestParts, config: Members) -> None:
    for name, alias in _SNAKE.items():
        config.rename(alias, name)
    parts.sampling(
        config,
        max_tokens="maxOutputTokens",
        temperature="temperature",
        top_p="topP",
        stop="stopSequences",
    )
    _thinking(parts, config.take("thinkingConfig"))
    kind, schema = config.take("responseMimeType"), config.take("responseJsonSchema")
    own = config.take("responseSchema")
    if kind is not None and kind.string() == "application/json":
        if schema is not None or own is not None:
            value = schema.value() if schema is not None else None
            if value is None and own is not None:
                value = json_schema_of(own.value())
            if isinstance(value, dict):
                held = cast("dict[str, Any]", value)
                parts.set("response_format", ResponseFormat("json_schema", schema=held))
        else:
            parts.set("response_format", ResponseFormat("json_object"))
    elif kind is not None and kind.string() == "text/plain":
        parts.set("response_format", ResponseFormat("text"))
    else:
        parts.keep_whole(kind, "generationConfig", "responseMimeType")
        parts.keep_whole(schema, "generationConfig", "responseJsonSchema")
        parts.keep_whole(own, "generationConfig", "responseSchema")
    parts.keep(config, "generationConfig")


def _thinking(parts: RequestParts, raw: Raw | None) -> None:
    if raw is None:
        return
    members = Members(raw)
    shown = members.take("includeThoughts", "include_thoughts")
    level = members.take("thinkingLevel", "thinking_level")
    budget = members.take("thinkingBudget", "thinking_budget")
    summary = "auto" if shown is not None and shown.boolean() else None
    path = ("generationConfig", "thinkingConfig")
    if level is not None:
        parts.effort(level, *path, "thinkingLevel", summary=summary)
        parts.keep_whole(budget, *path, "thinkingBudget")
    elif budget is not None:
        parts.budget(budget, *path, "thinkingBudget", summary=summary)
    parts.summary(summary)
    if shown is not None and summary is None:
        parts.keep_whole(shown, *path, "includeThoughts")
    parts.keep(members, *path)


_SNAKE = {
    "maxOutputTokens": "max_output_tokens",
    "topP": "top_p",
    "stopSequences": "stop_sequences",
    "thinkingConfig": "thinking_config",
    "responseMimeType": "response_mime_type",
    "responseJsonSchema": "response_json_schema",
    "responseSchema": "response_schema",
}
