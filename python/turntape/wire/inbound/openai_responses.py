"""OpenAI Responses, read back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from turntape.conversation import ToolResult
from turntape.messages import ProviderBlock, Text, Thinking, ToolUse
from turntape.requests import ResponseFormat, ToolChoice
from turntape.wire.inbound.openai_parts import responses_part
from turntape.wire.inbound.raw import Members, Raw, object_text
from turntape.wire.inbound.reader import each_block

if TYPE_CHECKING:
    from turntape.conversation import ContentBlock, Message, ResultBlock, Role
    from turntape.requests import ModelRequest
    from turntape.wire.inbound.parts import RequestParts
    from turntape.wire.inbound.reader import Reader

__all__ = ["read_messages", "read_request"]

_CALLS = {"function_call": "arguments", "custom_tool_call": "input"}
_RESULTS = {"function_call_output", "custom_tool_call_output"}

# Items of the host's own that are no plain result.
_OF_THE_HOST = {
    "additional_tools",
    "apply_patch_call_output",
    "compaction_trigger",
    "computer_call_output",
    "configuration_update",
    "local_shell_call_output",
    "mcp_approval_response",
    "shell_call_output",
}


def read_messages(reader: Reader, history: Raw) -> list[Message]:
    """Read the list ``input``.

    The wire is flat: the items of one turn of the model's become one message, and so do the results of
    one round.
    """
    items = _Items(reader)
    reader.each_message(history, items.read)
    return items.messages


class _Items:
    """The messages so far, and whether the last one takes the next item."""

    __slots__ = ("_kind", "messages", "reader")

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.messages: list[Message] = []
        # What the last message is made of: ``turn``, ``easy`` (a turn that ends in a text without an id),
        # ``results``, or nothing that goes on.
        self._kind = ""

    def read(self, raw: Raw) -> None:
        members = Members(raw)
        kind = members.string("type")
        if kind is None:
            kind = "message" if "role" in raw.members() else "item_reference"
        if kind == "message":
            self._message(members)
        elif kind == "reasoning":
            self._said(_reasoning(self.reader, members))
        elif kind in _CALLS:
            self._said([_call(kind, members)])
        elif kind in _RESULTS:
            self._heard([_result(members)])
        elif kind in _OF_THE_HOST or (
            kind == "tool_search_output" and members.string("execution") == "client"
        ):
            self._heard([ProviderBlock(kind, raw.text)])
        else:
            self._said([ProviderBlock(kind, raw.text)])

    def _said(self, blocks: list[ContentBlock], kind: str = "turn", **more: Any) -> None:
        """Add to the turn of the model's."""
        if self._kind in {"turn", "easy"}:
            last = self.messages[-1]
            self.messages[-1] = replace(last, content=(*last.content, *blocks), **more)
        else:
            self.messages.append(self.reader.message("assistant", blocks, **more))
        self._kind = kind

    def _heard(self, blocks: list[ContentBlock]) -> None:
        """Add to the results of a round."""
        if self._kind == "results":
            last = self.messages[-1]
            self.messages[-1] = replace(last, content=(*last.content, *blocks))
        else:
            self.messages.append(self.reader.message("user", blocks))
        self._kind = "results"

    def _message(self, members: Members) -> None:
        role = members.need("role").string()
        content = members.need("content")
        blocks: list[ContentBlock]
        refused = False
        if content.is_string:
            blocks = [Text(content.string())]
        else:
            parts = content.elements()
            blocks = each_block(parts, lambda part: [responses_part(part)])
            refused = any(part.members().get("refusal") is not None for part in parts)
        match role:
            case "assistant":
                self._turn_text(members, blocks, refused=refused)
            case "user" | "system" | "developer":
                pairs = members.left_pairs()
                if role == "developer":
                    pairs.insert(0, ("role", '"developer"'))
                own: Role = "user" if role == "user" else "system"
                extra = object_text(pairs) if pairs else None
                self.messages.append(self.reader.message(own, blocks, extra=extra))
                self._kind = ""
            case _:
                raise members.raw.fail(f"there is no role {role!r}")

    def _turn_text(self, members: Members, blocks: list[ContentBlock], *, refused: bool) -> None:
        """Add a message item of the model's: what it carries stands on its first text, as when decoded."""
        blocks = [block for block in blocks if block != Text("")]
        status = members.take("status")
        pairs = [
            (name, value.text)
            for name in ("id", "phase")
            if (value := members.take(name)) is not None
        ]
        if status is not None and status.text not in {'"completed"', '"in_progress"'}:
            pairs.append(("status", status.text))
        pairs += members.left_pairs()
        if pairs and blocks and isinstance(blocks[0], Text):
            first = blocks[0]
            inner = [] if first.extra is None else _pairs(first.extra)
            blocks[0] = replace(first, extra=object_text([*pairs, *inner]))
        if not pairs and self._kind == "easy":
            # Two such items in a row are two messages, because nothing else tells them apart.
            self._kind = ""
        more = {"stop_reason": "refusal"} if refused else {}
        self._said(blocks, "turn" if pairs else "easy", **more)


def _pairs(extra: str) -> list[tuple[str, str]]:
    return [(literal, value) for _, literal, value in Raw(extra).pairs()]


def _reasoning(reader: Reader, members: Members) -> list[ContentBlock]:
    """Read a reasoning item: its parts joined by a blank line, its proof as a decoded turn has it."""
    texts: list[str] = []
    for name in ("summary", "content"):
        held = members.take(name)
        for part in [] if held is None else held.elements():
            text = Members(part).string("text")
            texts += [text] if text else []
    encrypted, item_id = members.take("encrypted_content"), members.take("id")
    members.take("status")
    reader.unkept("reasoning item", members)
    signature: str | None = None
    if encrypted is not None and encrypted.string():
        pairs = [("encrypted_content", encrypted.text)]
        pairs += [] if item_id is None else [("id", item_id.text)]
        signature = object_text(pairs)
    return [Thinking("\n\n".join(texts), signature)]


def _call(kind: str, members: Members) -> ToolUse:
    call_id, name = members.need("call_id").string(), members.need("name").string()
    arguments = members.take(_CALLS[kind])
    members.take("status")
    pairs = members.left_pairs()
    if kind != "function_call":
        pairs.insert(0, ("type", f'"{kind}"'))
    text = ""
    if arguments is not None:
        text = arguments.string() if arguments.is_string else arguments.text
    return ToolUse(call_id, name, text, extra=object_text(pairs) if pairs else None)


def _result(members: Members) -> ToolResult:
    output = members.take("output")
    answer: str | tuple[ResultBlock, ...] = ""
    if output is not None:
        if output.is_string:
            answer = output.string()
        else:
            answer = tuple(each_block(output.elements(), lambda part: [responses_part(part)]))
    call_id = members.need("call_id").string()
    members.take("status")
    return ToolResult(call_id, answer, extra=members.left())


def read_request(parts: RequestParts) -> ModelRequest:
    """Read a whole body."""
    reader, body = parts.reader, parts.body
    parts.take_model("model")
    stream = body.take("stream")
    parts.set("stream", stream is not None and stream.boolean())
    parts.sampling(body, max_tokens="max_output_tokens", temperature="temperature", top_p="top_p")
    parallel = body.take("parallel_tool_calls")
    parts.set("parallel_tool_calls", None if parallel is None else parallel.boolean())
    _reasoning_of_request(parts, body.take("reasoning"))
    _text_format(parts, body.take("text"))
    _storing(parts)
    tools = body.take("tools")
    for tool in [] if tools is None else tools.elements():
        _tool(parts, tool)
    _tool_choice(parts, body.take("tool_choice"))
    key = body.string("prompt_cache_key")
    parts.system(body.string("instructions"))
    given = body.take("input")
    if given is None:
        messages: list[Message] = []
    elif given.is_string:
        messages = [reader.message("user", [Text(given.string())])]
    else:
        messages = read_messages(reader, given)
    return parts.build(messages, reader.cache_policy(key=key))


def _storing(parts: RequestParts) -> None:
    """Building keeps nothing at the provider and asks for the proofs; what else a body says is kept."""
    store = parts.body.take("store")
    if store is not None and store.text != "false":
        parts.keep_whole(store, "store")
    include = parts.body.take("include")
    if include is not None and include.value() != ["reasoning.encrypted_content"]:
        parts.keep_whole(include, "include")


def _reasoning_of_request(parts: RequestParts, raw: Raw | None) -> None:
    if raw is None:
        return
    members = Members(raw)
    summary, effort = members.string("summary"), members.take("effort")
    if effort is not None:
        parts.effort(effort, "reasoning", "effort", summary=summary)
    parts.summary(summary)
    parts.keep(members, "reasoning")


def _text_format(parts: RequestParts, raw: Raw | None) -> None:
    if raw is None:
        return
    members = Members(raw)
    form = members.take("format")
    if form is not None:
        inner = Members(form)
        kind = inner.need("type").string()
        if kind == "json_schema":
            parts.json_schema(inner.take("schema"), inner, form, "text", "format")
        elif kind in {"text", "json_object"} and not inner:
            parts.set("response_format", ResponseFormat(cast("Any", kind)))
        else:
            parts.keep_whole(form, "text", "format")
    parts.keep(members, "text")


def _tool(parts: RequestParts, raw: Raw) -> None:
    members = Members(raw)
    if members.string("type") != "function":
        parts.raw_tool(raw)
        return
    schema, strict = members.take("parameters"), members.take("strict")
    parts.function_tool(
        raw,
        name=members.need("name").string(),
        description=members.string("description"),
        schema=None if schema is None else schema.value(),
        strict=strict is not None and strict.boolean(),
        rest=members.left(),
    )


def _tool_choice(parts: RequestParts, raw: Raw | None) -> None:
    if raw is None:
        return
    if raw.is_string and (word := raw.string()) in {"auto", "none", "required"}:
        parts.tool_choice(ToolChoice(cast("Any", word)))
        return
    if raw.is_object:
        members = Members(raw)
        kind, name = members.string("type"), members.string("name")
        if kind == "function" and name is not None and not members:
            parts.tool_choice(ToolChoice.tool(name))
            return
    parts.keep_whole(raw, "tool_choice")
