"""OpenAI Chat Completions and its imitators, read back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from turntape.conversation import ToolResult
from turntape.messages import ProviderBlock, Text, Thinking, ToolUse
from turntape.requests import ResponseFormat, ToolChoice
from turntape.wire.inbound.openai_parts import chat_part
from turntape.wire.inbound.raw import Members, Raw, object_text
from turntape.wire.inbound.reader import each_block
from turntape.wire.inbound.waiting import Waiting
from turntape.wire.synthetic import synthetic_id

if TYPE_CHECKING:
    from turntape.conversation import ContentBlock, Message, ResultBlock
    from turntape.requests import ModelRequest
    from turntape.wire.inbound.parts import RequestParts
    from turntape.wire.inbound.reader import Reader

__all__ = ["read_messages", "read_request"]

_REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_text")


def read_messages(reader: Reader, history: Raw) -> list[Message]:
    """Read the list ``messages``. The results of one round become one message."""
    history_reader = _History(reader)
    reader.each_message(history, history_reader.read)
    return history_reader.messages


class _History:
    """The messages so far, and what later ones refer back to."""

    __slots__ = ("_open_round", "_waiting", "messages", "reader")

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.messages: list[Message] = []
        self._waiting = Waiting()
        # Whether the last message holds results only, and takes the next one.
        self._open_round = False

    def read(self, raw: Raw) -> None:
        members = Members(raw)
        role = members.need("role").string()
        is_result = role in {"tool", "function"}
        match role:
            case "system" | "developer":
                self._add(self._system(members, role))
            case "user":
                content = _content(members.take("content"))
                self._add(self.reader.message("user", content, extra=members.left()))
            case "assistant":
                self._add(self._assistant(members))
            case "tool" | "function":
                self._result(members, role)
            case _:
                raise raw.fail(f"there is no role {role!r}")
        self._open_round = is_result

    def _add(self, message: Message) -> None:
        self.messages.append(message)

    def _system(self, members: Members, role: str) -> Message:
        blocks = _content(members.take("content"))
        pairs = members.left_pairs()
        if role == "developer":
            pairs.insert(0, ("role", '"developer"'))
        return self.reader.message("system", blocks, extra=object_text(pairs) if pairs else None)

    def _result(self, members: Members, role: str) -> None:
        content = members.take("content")
        if content is None or content.is_string:
            answer: str | tuple[ResultBlock, ...] = "" if content is None else content.string()
        else:
            answer = tuple(each_block(content.elements(), lambda part: [chat_part(part)]))
        # Calls of the old kind have no id, and the result names the tool; some imitators have neither.
        name = members.need("name").string() if role == "function" else None
        answered = self._waiting.answered(members.string("tool_call_id"), name)
        result = ToolResult(answered, answer, extra=members.left())
        if self._open_round:
            last = self.messages[-1]
            self.messages[-1] = replace(last, content=(*last.content, result))
        else:
            self._add(self.reader.message("user", [result]))

    def _assistant(self, members: Members) -> Message:
        turn = _Turn(self.reader)
        calls = members.take("tool_calls")
        read_calls = [] if calls is None else calls.elements()
        field = turn.reasoning(members, members.take("reasoning_details"), read_calls)
        refusal = members.string("refusal")
        turn.text(refusal or "")
        turn.content(members.take("content"))
        turn.legacy_call(members.take("function_call"))
        each_block(read_calls, turn.call)
        annotations = members.take("annotations")
        turn.citations([] if annotations is None else annotations.elements())
        self._waiting.clear()
        for block in turn.blocks:
            if isinstance(block, ToolUse):
                self._waiting.called(block.name, block.id)
        for image in turn.list_of(members, "images"):
            kind = Members(image).string("type") or "image"
            turn.blocks.append(ProviderBlock(kind, image.text))
        return self.reader.message(
            "assistant",
            turn.blocks,
            id=members.string("id"),
            model=members.string("model"),
            stop_reason="refusal" if turn.refused or refusal else None,
            reasoning_field=field,
            extra=members.left(),
        )


def _content(raw: Raw | None) -> list[ContentBlock]:
    """The content of a message that no model wrote."""
    if raw is None:
        return []
    if raw.is_string:
        return [Text(raw.string())]
    return each_block(raw.elements(), lambda part: [chat_part(part)])


class _Turn:
    """The blocks of a turn of the model's, in the order in which a decoded turn has them."""

    __slots__ = ("blocks", "reader", "refused", "signatures")

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.blocks: list[ContentBlock] = []
        self.refused = False
        self.signatures: dict[str, str] = {}

    @staticmethod
    def list_of(members: Members, name: str) -> list[Raw]:
        raw = members.take(name)
        return [] if raw is None else raw.elements()

    def text(self, text: str, **more: Any) -> None:
        if text or more.get("extra"):
            self.blocks.append(Text(text, **more))

    def reasoning(self, members: Members, details: Raw | None, calls: list[Raw]) -> str | None:
        """Read the reasoning under any of its names; give the name it came in."""
        field: str | None = None
        text = ""
        for name in _REASONING_FIELDS:
            said = members.take(name)
            if said is None:
                continue
            if not said.is_string:
                raise said.expected("a string")
            if not text:
                field, text = name, said.string()
        entries = [Members(entry) for entry in ([] if details is None else details.elements())]
        if not text and entries:
            pieces = [entry.string("text", "summary") for entry in entries]
            text = "".join(piece for piece in pieces if piece)
            field = "reasoning_details"
        ids = {Members(call).string("id") for call in calls}
        proofs: list[str] = []
        for entry in entries:
            held = entry.raw.members()
            if "signature" not in held and "data" not in held:
                continue
            owner = entry.string("id")
            if owner is not None and owner in ids and owner not in self.signatures:
                self.signatures[owner] = entry.raw.text
            else:
                proofs.append(entry.raw.text)
        if text or proofs:
            self.blocks.append(Thinking(text, proofs[0] if proofs else None))
            self.blocks += [Thinking("", proof) for proof in proofs[1:]]
        return field if text or proofs else None

    def content(self, raw: Raw | None) -> None:
        if raw is None:
            return
        if raw.is_string:
            self.text(raw.string())
            return
        self.blocks += each_block(raw.elements(), self._part)

    def _part(self, raw: Raw) -> list[ContentBlock]:
        members = Members(raw)
        kind = members.string("type") or "text"
        if kind in {"text", "output_text"}:
            text = members.need("text").string()
            extra = members.left()
            return [Text(text, extra=extra)] if text or extra else []
        if kind == "refusal":
            self.refused = True
            return [Text(members.need("refusal").string())]
        if kind in {"thinking", "reasoning"}:
            return [_thinking_part(members)]
        return [ProviderBlock(kind, raw.text)]

    def legacy_call(self, raw: Raw | None) -> None:
        if raw is None:
            return
        members = Members(raw)
        name = members.need("name").string()
        call_id = synthetic_id(name, len(self.blocks))
        self.blocks.append(ToolUse(call_id, name, _arguments(members.take("arguments"))))
        self.reader.unkept("function_call", members)

    def call(self, raw: Raw) -> tuple[()]:
        """Add a call; its place counts, where it has no id."""
        members = Members(raw)
        members.take("index")
        kind = members.string("type") or "function"
        custom = members.take("custom") if kind == "custom" else None
        inner = Members(members.need("function") if custom is None else custom)
        name = inner.need("name").string()
        call_id = members.string("id") or synthetic_id(name, len(self.blocks))
        arguments = _arguments(inner.take("arguments" if custom is None else "input"))
        pairs = members.left_pairs()
        if kind != "function":
            pairs.insert(0, ("type", f'"{kind}"'))
        self.reader.unkept(f"{kind} call", inner)
        extra = object_text(pairs) if pairs else None
        proof = self.signatures.get(call_id)
        self.blocks.append(ToolUse(call_id, name, arguments, proof, extra))
        return ()

    def citations(self, annotations: list[Raw]) -> None:
        """Give the annotations to the text, which they are about."""
        if not annotations:
            return
        texts = [place for place, block in enumerate(self.blocks) if isinstance(block, Text)]
        cited = tuple(annotation.text for annotation in annotations)
        if texts:
            block = cast("Text", self.blocks[texts[-1]])
            self.blocks[texts[-1]] = replace(block, citations=cited)
        else:
            self.blocks.append(Text("", cited))


def _thinking_part(members: Members) -> Thinking:
    """Mistral: a string or a list of text parts; Databricks: summaries, each with its proof."""
    source = members.take("thinking", "summary", "text")
    signature = members.string("signature")
    if source is None or source.is_string:
        return Thinking("" if source is None else source.string(), signature)
    text = ""
    for piece in source.elements():
        inner = Members(piece)
        text += inner.string("text") or ""
        signature = inner.string("signature") or signature
    return Thinking(text, signature)


def _arguments(raw: Raw | None) -> str:
    """Arguments as the model wrote them; some imitators give the object itself."""
    if raw is None:
        return ""
    return raw.string() if raw.is_string else raw.text


def read_request(parts: RequestParts) -> ModelRequest:
    """Read a whole body."""
    reader, body = parts.reader, parts.body
    parts.take_model("model")
    stream = body.take("stream")
    parts.set("stream", stream is not None and stream.boolean())
    _stream_options(parts, body.take("stream_options"), stream)
    older = body.take("max_tokens")
    parts.sampling(
        body,
        max_tokens="max_completion_tokens",
        temperature="temperature",
        top_p="top_p",
        stop="stop",
    )
    if older is not None:
        parts.set_default("max_tokens", older.integer())
    parallel = body.take("parallel_tool_calls")
    parts.set("parallel_tool_calls", None if parallel is None else parallel.boolean())
    effort = body.take("reasoning_effort")
    if effort is not None:
        parts.effort(effort, "reasoning_effort")
    _response_format(parts, body.take("response_format"))
    for tool in _Turn.list_of(body, "tools"):
        _tool(parts, tool)
    for function in _Turn.list_of(body, "functions"):
        wrapped = Raw(object_text([("type", '"function"'), ("function", function.text)]))
        _function(parts, wrapped, function, None)
    _tool_choice(parts, body.take("tool_choice"), "tool_choice")
    _tool_choice(parts, body.take("function_call"), "function_call")
    key = body.string("prompt_cache_key")
    messages = read_messages(reader, body.need("messages"))
    messages = parts.leading_system(messages)
    return parts.build(messages, reader.cache_policy(key=key))


def _stream_options(parts: RequestParts, options: Raw | None, stream: Raw | None) -> None:
    """Building asks for the usage of a stream; what else a body says of it is kept."""
    if options is None:
        return
    members = Members(options)
    usage = members.take("include_usage")
    if usage is not None and (usage.text != "true" or stream is None):
        parts.keep_whole(usage, "stream_options", "include_usage")
    parts.keep(members, "stream_options")


def _response_format(parts: RequestParts, raw: Raw | None) -> None:
    if raw is None:
        return
    members = Members(raw)
    kind = members.need("type").string()
    schema = members.take("json_schema")
    if kind == "json_schema" and schema is not None and not members:
        inner = Members(schema)
        parts.json_schema(inner.take("schema"), inner, raw, "response_format")
    elif kind in {"text", "json_object"} and schema is None and not members:
        parts.set("response_format", ResponseFormat(cast("Any", kind)))
    else:
        parts.keep_whole(raw, "response_format")


def _tool(parts: RequestParts, raw: Raw) -> None:
    members = Members(raw)
    if members.string("type") not in {None, "function"}:
        parts.raw_tool(raw)
        return
    _function(parts, raw, members.need("function"), members.left())


def _function(parts: RequestParts, raw: Raw, function: Raw, rest: str | None) -> None:
    members = Members(function)
    name, description = members.need("name").string(), members.string("description")
    schema, strict = members.take("parameters"), members.take("strict")
    parts.function_tool(
        raw,
        name=name,
        description=description,
        schema=None if schema is None else schema.value(),
        strict=strict is not None and strict.boolean(),
        rest=members.left() or rest,
    )


def _tool_choice(parts: RequestParts, raw: Raw | None, member: str) -> None:
    """Read ``tool_choice``, or ``function_call`` as it was before it."""
    if raw is None:
        return
    if raw.is_string:
        word = raw.string()
        if word in {"auto", "none", "required"}:
            parts.tool_choice(ToolChoice(cast("Any", word)))
            return
    elif raw.is_object:
        members = Members(raw)
        kind = members.string("type")
        named = members.take("function") if kind == "function" else None
        name = members.string("name") if named is None else Members(named).string("name")
        if name is not None and not members and kind in {None, "function"}:
            parts.tool_choice(ToolChoice.tool(name))
            return
    parts.keep_whole(raw, member)
