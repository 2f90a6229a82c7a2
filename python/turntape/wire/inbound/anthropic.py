"""Anthropic Messages, read back."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast, get_args

from turntape.conversation import ToolResult
from turntape.events import StopReason
from turntape.media import Base64Source, Document, Image, UrlSource
from turntape.messages import ProviderBlock, RedactedThinkingBlock, Text, Thinking, ToolUse
from turntape.requests import Reasoning, ToolChoice
from turntape.wire.inbound.content import base64_of_text
from turntape.wire.inbound.raw import Members
from turntape.wire.inbound.reader import Marks

if TYPE_CHECKING:
    from turntape.conversation import ContentBlock, Message, ResultBlock, Role
    from turntape.media import MediaSource
    from turntape.requests import ModelRequest
    from turntape.wire.inbound.parts import RequestParts
    from turntape.wire.inbound.raw import Raw
    from turntape.wire.inbound.reader import Reader

__all__ = ["read_messages", "read_request"]

_CACHE = "cache_control"

# Members of a whole response that a host may have put into its history as it came.
_OF_A_RESPONSE = ("type", "usage", "stop_sequence")

_DISPLAYS = {"summarized": "auto", "omitted": "none"}

_CHOICES = {"auto": "auto", "none": "none", "any": "required"}


def read_messages(reader: Reader, history: Raw) -> list[Message]:
    """Read the list ``messages``."""
    return reader.each_message(history, partial(_messages, reader))


def _messages(reader: Reader, raw: Raw) -> list[Message]:
    members = Members(raw)
    role = members.need("role").string()
    if role not in {"user", "assistant", "system"}:
        raise raw.fail(f"the role is user, assistant or system, not {role!r}")
    content = members.need("content")
    more: dict[str, Any] = {}
    if role == "assistant":
        members.take(*_OF_A_RESPONSE)
        stop = members.string("stop_reason")
        more = {
            "model": members.string("model"),
            "id": members.string("id"),
            "stop_reason": stop if stop in get_args(StopReason) else None,
        }
    more["extra"] = members.left()

    def read(block: Raw) -> list[ContentBlock]:
        blocks = _block(reader, block)
        return [] if role == "assistant" and blocks == [Text("")] else blocks

    if content.is_string:
        text = content.string()
        blocks = [Text(text)] if text or role != "assistant" else []
        return [reader.message(cast("Role", role), blocks, **more)]
    return reader.marked_messages(cast("Role", role), content.elements(), read, _mark, **more)


def _mark(raw: Raw) -> str | None:
    """The time to live of the cache mark on a block or a tool; None where there is none."""
    mark = raw.members().get(_CACHE)
    if mark is None:
        return None
    return Members(mark).string("ttl") or "5m"


def _unmarked(raw: Raw) -> str:
    """The text of a block without its cache mark."""
    if _CACHE not in raw.members():
        return raw.text
    return raw.rest(_CACHE) or "{}"


def _block(reader: Reader, raw: Raw) -> list[ContentBlock]:
    members = Members(raw)
    kind = members.need("type").string()
    members.take(_CACHE)
    match kind:
        case "thinking":
            thinking = Thinking(
                members.need("thinking").string(), members.string("signature") or None
            )
            reader.unkept(kind, members)
            return [thinking]
        case "redacted_thinking":
            redacted = RedactedThinkingBlock(members.need("data").string())
            reader.unkept(kind, members)
            return [redacted]
        case "tool_use":
            return [
                ToolUse(
                    members.need("id").string(),
                    members.need("name").string(),
                    _arguments(members.take("input")),
                    extra=members.left(),
                )
            ]
        case "tool_result":
            return [_result(members)]
        case _:
            return [_plain_block(kind, raw, members)]


def _plain_block(kind: str, raw: Raw, members: Members) -> ResultBlock:
    """A block that results may hold as well."""
    if kind == "text":
        citations = members.take("citations")
        texts = [] if citations is None else [one.text for one in citations.elements()]
        return Text(members.need("text").string(), tuple(texts), extra=members.left())
    if kind in {"image", "document"}:
        source = _source(members.need("source"))
        if source is not None:
            return (Image if kind == "image" else Document)(source, members.left())
    return ProviderBlock(kind, _unmarked(raw))


def _source(raw: Raw) -> MediaSource | None:
    """The source of a medium; None for one that only this wire has, such as a file of its own."""
    members = Members(raw)
    kind = members.need("type").string()
    if kind == "base64":
        source: MediaSource = Base64Source(
            members.need("data").string(), members.need("media_type").string()
        )
    elif kind == "url":
        source = UrlSource(members.need("url").string(), members.string("media_type"))
    elif kind == "text":
        text = members.need("data").string()
        source = Base64Source(base64_of_text(text), members.string("media_type") or "text/plain")
    else:
        return None
    return None if members else source


def _arguments(raw: Raw | None) -> str:
    return "{}" if raw is None else raw.text


def _result(members: Members) -> ToolResult:
    content = members.take("content")
    answer: str | tuple[ResultBlock, ...]
    if content is None:
        answer = ""
    elif content.is_string:
        answer = content.string()
    else:
        answer = tuple(each_inner(content))
    failed = members.take("is_error")
    return ToolResult(
        members.need("tool_use_id").string(),
        answer,
        failed is not None and failed.boolean(),
        members.left(),
    )


def each_inner(content: Raw) -> list[ResultBlock]:
    """The blocks of a result."""
    blocks: list[ResultBlock] = []
    for raw in content.elements():
        members = Members(raw)
        kind = members.need("type").string()
        members.take(_CACHE)
        blocks.append(_plain_block(kind, raw, members))
    return blocks


def read_request(parts: RequestParts) -> ModelRequest:
    """Read a whole body."""
    reader, body = parts.reader, parts.body
    parts.take_model("model")
    stream = body.take("stream")
    parts.set("stream", stream is not None and stream.boolean())
    parts.sampling(
        body,
        max_tokens="max_tokens",
        temperature="temperature",
        top_p="top_p",
        stop="stop_sequences",
    )
    system_marks = _system(parts, body.take("system"))
    tool_marks = _tools(parts, body.take("tools"))
    _tool_choice(parts, body.take("tool_choice"))
    _thinking(parts, body.take("thinking"), body.take("output_config"))
    messages = read_messages(reader, body.need("messages"))
    return parts.build(messages, reader.cache_policy(system=system_marks, tools=tool_marks))


def _system(parts: RequestParts, raw: Raw | None) -> Marks:
    marks = Marks()
    if raw is None:
        return marks
    if raw.is_string:
        parts.system(raw.string())
        return marks
    texts: list[Text] = []
    for block in raw.elements():
        members = Members(block)
        kind = members.need("type").string()
        members.take(_CACHE)
        text = _plain_block(kind, block, members)
        if not isinstance(text, Text):
            raise block.fail(f"the system text holds text blocks, not {kind!r}")
        texts.append(text)
        _take_mark(block, marks)
    parts.system(texts)
    return marks


def _take_mark(raw: Raw, marks: Marks) -> None:
    marks.element()
    mark = _mark(raw)
    if mark is not None:
        marks.mark(mark)


def _tools(parts: RequestParts, raw: Raw | None) -> Marks:
    marks = Marks()
    for tool in [] if raw is None else raw.elements():
        _take_mark(tool, marks)
        plain = type(tool)(_unmarked(tool), tool)
        members = Members(plain)
        if (members.string("type") or "custom") != "custom":
            parts.raw_tool(plain)
            continue
        name, description = members.string("name"), members.string("description")
        schema, strict = members.take("input_schema"), members.take("strict")
        parts.function_tool(
            plain,
            name=name,
            description=description,
            schema=None if schema is None else schema.value(),
            strict=strict is not None and strict.boolean(),
            rest=members.left(),
        )
    return marks


def _tool_choice(parts: RequestParts, raw: Raw | None) -> None:
    if raw is None:
        return
    members = Members(raw)
    kind = members.need("type").string()
    alone = members.take("disable_parallel_tool_use")
    if alone is not None and alone.boolean():
        parts.set("parallel_tool_calls", value=False)
    if kind == "tool":
        parts.tool_choice(ToolChoice.tool(members.need("name").string()))
    elif kind in _CHOICES:
        parts.tool_choice(ToolChoice(_CHOICES[kind]))  # type: ignore[arg-type]
    else:
        parts.keep_whole(raw, "tool_choice")


def _thinking(parts: RequestParts, thinking: Raw | None, config: Raw | None) -> None:
    """Read how much to think: two members of the body say it together."""
    output = Members(config) if config is not None else None
    effort = None if output is None else output.take("effort")
    if thinking is None:
        # Building says an effort with adaptive thinking; this body leaves thinking to the model.
        if effort is not None and parts.effort(effort, "output_config", "effort"):
            parts.without("thinking")
    elif not _said_as_reasoning(parts, thinking, effort):
        parts.keep_whole(thinking, "thinking")
        parts.keep_whole(effort, "output_config", "effort")
    if output is not None:
        _format(parts, output.take("format"))
        parts.keep(output, "output_config")


def _said_as_reasoning(parts: RequestParts, thinking: Raw, effort: Raw | None) -> bool:
    """Set the reasoning, if a :class:`Reasoning` can say all of it."""
    members = Members(thinking)
    kind = members.need("type").string()
    display, budget = members.string("display"), members.take("budget_tokens")
    summary = None if display is None else _DISPLAYS.get(display)
    if members or (display is not None and summary is None):
        kind = ""
    if kind == "adaptive" and budget is None:
        if effort is not None:
            return parts.effort(effort, "output_config", "effort", summary=summary)
        parts.set("reasoning", Reasoning(summary=summary))
        return True
    if effort is None and kind == "enabled" and budget is not None:
        parts.budget(budget, "thinking", "budget_tokens", summary=summary)
        return True
    if effort is None and kind == "disabled" and budget is None and summary is None:
        parts.set("reasoning", Reasoning(effort="none"))
        return True
    return False


def _format(parts: RequestParts, raw: Raw | None) -> None:
    if raw is None:
        return
    members = Members(raw)
    if members.string("type") == "json_schema":
        parts.json_schema(members.take("schema"), members, raw, "output_config", "format")
    else:
        parts.keep_whole(raw, "output_config", "format")
