"""Amazon Bedrock Converse, read back."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast

from turntape.conversation import ToolResult
from turntape.media import Audio, Base64Source, Document, Image, Video
from turntape.messages import ProviderBlock, RedactedThinkingBlock, Text, Thinking, ToolUse
from turntape.requests import ToolChoice
from turntape.wire.inbound.content import AUDIO_TYPES, base64_of_text
from turntape.wire.inbound.raw import Members, parse_inner
from turntape.wire.inbound.reader import Marks, each_block

if TYPE_CHECKING:
    from turntape.conversation import ContentBlock, Message, ResultBlock, Role
    from turntape.requests import ModelRequest
    from turntape.wire.inbound.parts import RequestParts
    from turntape.wire.inbound.raw import Raw
    from turntape.wire.inbound.reader import Reader

__all__ = ["read_messages", "read_request"]

# The formats whose MIME type is not ``kind/format``.
_TYPES = {
    "csv": "text/csv",
    "doc": "application/msword",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "html": "text/html",
    "md": "text/markdown",
    "pdf": "application/pdf",
    "txt": "text/plain",
    "xls": "application/vnd.ms-excel",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "flv": "video/x-flv",
    "mkv": "video/x-matroska",
    "mov": "video/quicktime",
    "mpg": "video/mpeg",
    "three_gp": "video/3gpp",
    "wmv": "video/x-ms-wmv",
}

_MEDIA: dict[str, type[Image | Audio | Video | Document]] = {
    "image": Image,
    "audio": Audio,
    "video": Video,
    "document": Document,
}


def read_messages(reader: Reader, history: Raw) -> list[Message]:
    """Read the list ``messages``."""
    return reader.each_message(history, partial(_messages, reader))


def _messages(reader: Reader, raw: Raw) -> list[Message]:
    members = Members(raw)
    role = members.need("role").string()
    if role not in {"user", "assistant", "system"}:
        raise raw.fail(f"the role is user, assistant or system, not {role!r}")

    def read(block: Raw) -> list[ContentBlock]:
        if _mark(block) is not None:
            return []
        blocks = _block(reader, block, role)
        return [] if role == "assistant" and blocks == [Text("")] else blocks

    elements = members.need("content").elements()
    extra = members.left()
    return reader.marked_messages(cast("Role", role), elements, read, _mark, extra=extra)


def _mark(raw: Raw) -> str | None:
    """The time to live of a cache mark, which is a block of its own; None for any other block."""
    point = raw.members().get("cachePoint")
    return None if point is None else Members(point).string("ttl") or "5m"


def _block(reader: Reader, raw: Raw, role: str) -> list[ContentBlock]:
    members = raw.members()
    if "toolUse" in members and len(members) == 1:
        call = Members(members["toolUse"])
        if call.take("type") is not None:
            return [ProviderBlock("toolUse", raw.text)]  # a tool that the provider runs
        given = call.take("input")
        return [
            ToolUse(
                call.need("toolUseId").string(),
                call.need("name").string(),
                "{}" if given is None else given.text,
                extra=call.left(),
            )
        ]
    if "toolResult" in members and len(members) == 1:
        result = Members(members["toolResult"])
        # In a turn of the model's it is the result of a tool that the provider ran.
        if result.take("type") is not None or role == "assistant":
            return [ProviderBlock("toolResult", raw.text)]
        return [_result(result)]
    if "reasoningContent" in members and len(members) == 1:
        return [_reasoning(reader, members["reasoningContent"], raw)]
    return [_plain_block(raw)]


def _plain_block(raw: Raw) -> ResultBlock:
    """A block that results may hold as well."""
    members = Members(raw)
    names = list(raw.members())
    if names == ["text"]:
        return Text(members.need("text").string())
    if names == ["citationsContent"]:
        return _cited(Members(members.need("citationsContent")), raw)
    if len(names) == 1 and names[0] in _MEDIA:
        held = Members(members.need(names[0]))
        source = _bytes(names[0], held)
        if source is not None:
            return _MEDIA[names[0]](source, held.left())
    if not names:
        raise raw.fail("the block is empty")
    return ProviderBlock(names[0], raw.text)


def _bytes(kind: str, members: Members) -> Base64Source | None:
    """The bytes of a medium; None for a source that only this wire has, such as a bucket."""
    source = Members(members.need("source"))
    form = members.need("format").string()
    data, text = source.string("bytes"), source.string("text")
    if source or (data is None) == (text is None):
        return None
    media_type = _TYPES.get(form, f"{kind}/{form}")
    if kind == "audio":
        media_type = AUDIO_TYPES.get(form, f"audio/{form}")
    return Base64Source(base64_of_text(text) if text is not None else data or "", media_type)


def _cited(members: Members, raw: Raw) -> ResultBlock:
    """A text with its citations."""
    content, citations = members.take("content"), members.take("citations")
    text = ""
    for piece in [] if content is None else content.elements():
        inner = Members(piece)
        text += inner.string("text") or ""
        if inner:
            return ProviderBlock("citationsContent", raw.text)
    if members:
        return ProviderBlock("citationsContent", raw.text)
    cited = () if citations is None else tuple(one.text for one in citations.elements())
    return Text(text, cited)


def _reasoning(reader: Reader, reasoning: Raw, raw: Raw) -> ContentBlock:
    members = Members(reasoning)
    redacted, shown = members.string("redactedContent"), members.take("reasoningText")
    if redacted is not None:
        return RedactedThinkingBlock(redacted)
    if shown is None:
        return ProviderBlock("reasoningContent", raw.text)
    held = Members(shown)
    thinking = Thinking(held.string("text") or "", held.string("signature") or None)
    reader.unkept("reasoningText", held)
    return thinking


def _result(members: Members) -> ToolResult:
    content, status = members.take("content"), members.string("status")
    elements = [] if content is None else content.elements()
    blocks = each_block(elements, lambda block: [_result_block(block)])
    answer: str | tuple[ResultBlock, ...] = tuple(blocks)
    if not blocks:
        answer = ""
    elif len(blocks) == 1 and isinstance(blocks[0], Text) and not blocks[0].citations:
        answer = blocks[0].text
    return ToolResult(members.need("toolUseId").string(), answer, status == "error", members.left())


def _result_block(raw: Raw) -> ResultBlock:
    value = raw.members().get("json")
    # What every other wire writes as a text of JSON stands here as JSON.
    return _plain_block(raw) if value is None else Text(value.text)


def read_request(parts: RequestParts) -> ModelRequest:
    """Read a whole body; the arguments of the client's ``converse_stream`` are one too."""
    reader, body = parts.reader, parts.body
    parts.take_model("modelId")
    config = body.take("inferenceConfig")
    if config is not None:
        inner = Members(config)
        parts.sampling(
            inner,
            max_tokens="maxTokens",
            temperature="temperature",
            top_p="topP",
            stop="stopSequences",
        )
        parts.keep(inner, "inferenceConfig")
    system_marks = _system(parts, body.take("system"))
    tool_marks = _tools(parts, body.take("toolConfig"))
    _output(parts, body.take("outputConfig"))
    _more_fields(parts, body.take("additionalModelRequestFields"))
    messages = read_messages(reader, body.need("messages"))
    return parts.build(messages, reader.cache_policy(system=system_marks, tools=tool_marks))


def _system(parts: RequestParts, raw: Raw | None) -> Marks:
    marks = Marks()
    if raw is None:
        return marks
    texts: list[Text] = []
    plain = True
    for block in raw.elements():
        members = Members(block)
        point, text = members.take("cachePoint"), members.take("text")
        guarded = members.take("guardContent")
        if point is not None:
            marks.mark(Members(point).string("ttl") or "5m")
            continue
        marks.element()
        if text is not None:
            texts.append(Text(text.string()))
        elif guarded is not None:
            held = guarded.members().get("text")
            texts += [] if held is None else [Text(Members(held).need("text").string())]
            plain = False
        else:
            raise block.expected("a block of text")
    parts.system(texts)
    if not plain:
        parts.keep_whole(raw, "system")
    return marks


def _tools(parts: RequestParts, raw: Raw | None) -> Marks:
    marks = Marks()
    if raw is None:
        return marks
    config = Members(raw)
    tools = config.take("tools")
    for tool in [] if tools is None else tools.elements():
        members = Members(tool)
        point, spec = members.take("cachePoint"), members.take("toolSpec")
        if point is not None:
            marks.mark(Members(point).string("ttl") or "5m")
            continue
        marks.element()
        if spec is not None:
            _tool(parts, tool, Members(spec))
        else:
            parts.raw_tool(tool)
    choice = config.take("toolChoice")
    if choice is not None:
        _tool_choice(parts, choice)
    parts.keep(config, "toolConfig")
    return marks


def _tool(parts: RequestParts, raw: Raw, spec: Members) -> None:
    name, description = spec.need("name").string(), spec.string("description")
    schema, strict = spec.take("inputSchema"), spec.take("strict")
    inner = None if schema is None else schema.members().get("json")
    parts.function_tool(
        raw,
        name=name,
        description=description,
        schema=None if inner is None else inner.value(),
        strict=strict is not None and strict.boolean(),
        rest=spec.left(),
    )


def _tool_choice(parts: RequestParts, raw: Raw) -> None:
    members = Members(raw)
    one = members.take("tool")
    if one is not None:
        parts.tool_choice(ToolChoice.tool(Members(one).need("name").string()))
    elif members.take("any") is not None:
        parts.tool_choice(ToolChoice("required"))
    elif members.take("auto") is not None:
        parts.tool_choice(ToolChoice("auto"))
    else:
        parts.keep_whole(raw, "toolConfig", "toolChoice")


def _output(parts: RequestParts, raw: Raw | None) -> None:
    if raw is None:
        return
    members = Members(raw)
    effort, form = members.take("effort"), members.take("textFormat")
    if effort is not None:
        parts.effort(effort, "outputConfig", "effort")
    if form is not None:
        inner = Members(form)
        structure = inner.take("structure")
        held = None if structure is None else structure.members().get("jsonSchema")
        schema = None if held is None else Members(held)
        text = None if schema is None else schema.string("schema")
        if inner.string("type") == "json_schema" and schema is not None and text is not None:
            parts.json_schema(parse_inner(form, text), schema, form, "outputConfig", "textFormat")
        else:
            parts.keep_whole(form, "outputConfig", "textFormat")
    parts.keep(members, "outputConfig")


def _more_fields(parts: RequestParts, raw: Raw | None) -> None:
    """Read the fields of the model's own: Claude's budget is said here."""
    if raw is None:
        return
    members = Members(raw)
    thinking = members.take("thinking", "reasoning_config")
    if thinking is not None:
        inner = Members(thinking) if thinking.is_object else None
        kind = None if inner is None else inner.string("type")
        budget = None if inner is None else inner.take("budget_tokens")
        if kind == "enabled" and budget is not None and not inner and "thinking" in raw.members():
            parts.budget(budget, "additionalModelRequestFields", "thinking", "budget_tokens")
        else:
            held = raw.members()
            for name in ("thinking", "reasoning_config"):
                parts.keep_whole(held.get(name), "additionalModelRequestFields", name)
    parts.keep(members, "additionalModelRequestFields")
