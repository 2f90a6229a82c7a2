"""How a recorded request and the one that is built from it may differ, and why.

Each kind of difference is a function that does to a recorded body exactly what building does to it, and
nothing else. A request is the same up to the kinds that change its recorded body: what comes out has to be
what was built, to the last value, so that a listed kind cannot hide another fault.
"""

from __future__ import annotations

import base64
import json
import re
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from turntape import Dialect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.corpus.requests import Recorded

    from turntape import BuiltRequest

__all__ = ["KINDS", "Kind", "Pair", "kind", "kinds_between"]

A, C, R, G, B = Dialect
Body = dict[str, Any]


@dataclass(frozen=True)
class Pair:
    """A recorded request and what is built from it."""

    recorded: Recorded
    built: BuiltRequest

    @property
    def dropped(self) -> set[str]:
        """The parameters that are noted as left out."""
        codes = {"parameter_dropped", "reasoning_disabled"}
        return {note.detail.split(" ")[0] for note in self.built.notes if note.code in codes}

    def is_noted(self, code: str) -> bool:
        """Tell whether there is such a note."""
        return any(note.code == code for note in self.built.notes)


@dataclass(frozen=True)
class Kind:
    """A kind of difference.

    Attributes:
        name: Its name.
        dialects: Where it occurs.
        why: What building does, and why that is right.
        apply: Does it to a body.
    """

    name: str
    dialects: tuple[Dialect, ...]
    why: str
    apply: Callable[[Body, Pair], object]


KINDS: list[Kind] = []
"""All kinds, in the order in which they are done."""


def kind(*dialects: Dialect) -> Callable[[Callable[[Body, Pair], object]], Any]:
    """List a function as a kind: its name is the kind's, its docstring says why."""

    def listed(function: Callable[[Body, Pair], object]) -> Callable[[Body, Pair], object]:
        why = " ".join((function.__doc__ or "").split())
        KINDS.append(Kind(function.__name__, dialects, why, function))
        return function

    return listed


def kinds_between(pair: Pair) -> tuple[list[str], Body]:
    """Do to a recorded body what the kinds do.

    Returns:
        The kinds that changed something, and what became of the body.
    """
    body = pair.recorded.body
    changing: list[str] = []
    for each in KINDS:
        if pair.recorded.dialect in each.dialects:
            before = deepcopy(body)
            each.apply(body, pair)
            if body != before:
                changing.append(each.name)
    return changing, body


def messages_of(body: Body) -> list[Body]:
    """Give the conversation, whatever the wire calls it."""
    for name in ("messages", "contents", "input"):
        if isinstance(body.get(name), list):
            messages: list[Body] = body[name]
            return messages
    return []


def parts_of(body: Body) -> Iterator[Body]:
    """Give all blocks or parts of the conversation."""
    for message in messages_of(body):
        for name in ("content", "parts", "output"):
            if isinstance(message.get(name), list):
                yield from (part for part in message[name] if isinstance(part, dict))


def functions_of(body: Body) -> Iterator[Body]:
    """Give what declares each tool of the host's, whatever the wire."""
    tools = body.get("tools") or (body.get("toolConfig") or {}).get("tools") or []
    for tool in tools:
        if "functionDeclarations" in tool:
            yield from tool["functionDeclarations"]
        else:
            yield tool.get("toolSpec") or tool.get("function") or tool


# Everywhere ----------------------------------------------------------------------------------------

_EMPTY = {
    "additionalModelRequestFields",
    "generationConfig",
    "inferenceConfig",
    "instructions",
    "previous_response_id",
    "safetySettings",
    "system",
    "systemInstruction",
    "toolConfig",
    "tools",
}
_EMPTY_IN_MESSAGES = {"annotations", "name", "refusal", "tool_calls"}


@kind(*Dialect)
def nothing_said(body: Body, pair: Pair) -> None:
    """A member that is null or empty says nothing and is left out: empty tools, system text,
    configuration, descriptions, a null name."""
    del pair
    for name in [n for n in body if n in _EMPTY and body[n] in (None, "", [], {})]:
        del body[name]
    for name in ("inferenceConfig", "generationConfig"):
        config = body.get(name, {})
        for member in [m for m in config if config[m] == []]:
            del config[member]
    for message in messages_of(body):
        for name in [n for n in message if n in _EMPTY_IN_MESSAGES and message[n] in (None, [])]:
            del message[name]
    for function in functions_of(body):
        if function.get("description", "-") in (None, ""):
            del function["description"]
    for tool in body.get("tools", ()):
        for name in [n for n in tool if tool[n] is None and n != "strict"]:
            del tool[name]


@kind(A, C, R)
def stream_written(body: Body, pair: Pair) -> None:
    """Whether the answer streams is always written."""
    del pair
    body.setdefault("stream", False)


@kind(A, C)
def model_in_the_path(body: Body, pair: Pair) -> None:
    """Bedrock's InvokeModel and Azure have the model in the path; the body names it too."""
    body.setdefault("model", pair.recorded.model)


@kind(G, B)
def model_in_the_body(body: Body, pair: Pair) -> None:
    """The model is named in the path, where the wire has it, and not in the body too."""
    del pair
    body.pop("model", None)
    body.pop("modelId", None)


@kind(A, C, R, G, B)
def parameter_not_taken(body: Body, pair: Pair) -> None:
    """The model or the vendor does not take the parameter; a note says so."""
    for name in pair.dropped & body.keys():
        del body[name]


@kind(A, B)
def neighbours_joined(body: Body, pair: Pair) -> None:
    """Roles alternate on this wire: two messages of one role are one, noted."""
    if not pair.is_noted("messages_merged"):
        return
    joined: list[Body] = []
    for message in body["messages"]:
        if joined and joined[-1]["role"] == message["role"]:
            joined[-1]["content"] = _blocks(joined[-1]["content"]) + _blocks(message["content"])
        else:
            joined.append(message)
    body["messages"] = joined


def _blocks(content: Any) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


@kind(A, B)
def blank_text(body: Body, pair: Pair) -> None:
    """Text of white space alone is refused here by now: it is left out, noted."""
    if pair.is_noted("empty_text_dropped"):
        for message in messages_of(body):
            content = message["content"]
            if isinstance(content, list):
                message["content"] = [b for b in content if b.get("text", "-").strip()]


# Anthropic -----------------------------------------------------------------------------------------


@kind(A)
def text_as_block(body: Body, pair: Pair) -> None:
    """A text alone is written as a list of one block, which is the same to the API."""
    del pair
    for message in body["messages"]:
        message["content"] = _blocks(message["content"])


@kind(A)
def default_cache_time(body: Body, pair: Pair) -> None:
    """Five minutes are what a cache mark without a time means."""
    del pair
    marked = [*body.get("system", ()), *body.get("tools", ()), *parts_of(body)]
    for block in marked:
        mark = block.get("cache_control") if isinstance(block, dict) else None
        if mark and mark.get("ttl") == "5m":
            del mark["ttl"]


@kind(A)
def one_mark_on_the_system_text(body: Body, pair: Pair) -> None:
    """A mark is up to there: one at the end of the system text covers all of it."""
    del pair
    system = body.get("system")
    if isinstance(system, list) and "cache_control" in system[-1]:
        for block in system[:-1]:
            block.pop("cache_control", None)


@kind(A)
def parallel_calls_are_the_default(body: Body, pair: Pair) -> None:
    """That several calls are welcome is the default and goes without saying."""
    del pair
    choice = body.get("tool_choice", {})
    if choice.get("disable_parallel_tool_use") is False:
        del choice["disable_parallel_tool_use"]


# Bedrock -------------------------------------------------------------------------------------------


@kind(B)
def document_text_as_bytes(body: Body, pair: Pair) -> None:
    """A document's text is sent as its bytes, as any other document."""
    del pair
    for part in parts_of(body):
        source = part.get("document", {}).get("source", {})
        if "text" in source:
            source["bytes"] = base64.b64encode(source.pop("text").encode()).decode()


@kind(B)
def result_as_text(body: Body, pair: Pair) -> None:
    """A result that is JSON is sent as its text, as it is to every other provider."""
    sent = iter(json.loads(pair.built.to_json())["messages"])
    for message, other in zip(body["messages"], sent, strict=False):
        for part, written in zip(message["content"], other["content"], strict=False):
            inner = part.get("toolResult", {}).get("content", [])
            texts = written.get("toolResult", {}).get("content", [])
            for content, text in zip(inner, texts, strict=False):
                # The text has to say the same; how it is spaced is open.
                if "json" in content and json.loads(text.get("text", "0")) == content["json"]:
                    del content["json"]
                    content["text"] = text["text"]


@kind(B)
def success_is_the_default(body: Body, pair: Pair) -> None:
    """A result that is no error is a success, which goes without saying."""
    del pair
    for part in parts_of(body):
        if part.get("toolResult", {}).get("status") == "success":
            del part["toolResult"]["status"]


@kind(B)
def schema_as_compact_text(body: Body, pair: Pair) -> None:
    """A schema that is sent as text is written without spaces."""
    del pair
    form = body.get("outputConfig", {}).get("textFormat", {}).get("structure", {})
    if schema := form.get("jsonSchema"):
        value = json.loads(schema["schema"])
        schema["schema"] = json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# Gemini --------------------------------------------------------------------------------------------

# What stands under these is the host's and the model's own.
_FREE = {
    "args",
    "response",
    "parameters",
    "parametersJsonSchema",
    "responseSchema",
    "responseJsonSchema",
}


@kind(G)
def other_spelling(body: Body, pair: Pair) -> None:
    """Google's wire takes names in two spellings; all are written in camel case."""
    del pair

    def spelled(value: Any) -> Any:
        if isinstance(value, list):
            return [spelled(entry) for entry in value]
        if not isinstance(value, dict):
            return value
        out: Body = {}
        for name, of in value.items():
            camel = re.sub(r"_([a-z])", lambda found: found[1].upper(), name)
            out[camel] = of if camel in _FREE else spelled(of)
        return out

    # A tool of the provider's own goes back as it stands.
    tools = body.get("tools")
    changed = spelled(body)
    if tools is not None:
        changed["tools"] = [
            changed["tools"][i] if "functionDeclarations" in changed["tools"][i] else tool
            for i, tool in enumerate(tools)
        ]
    body.clear()
    body.update(changed)


@kind(G)
def as_json_schema(body: Body, pair: Pair) -> None:
    """Google's older form of schemas, with its types in capitals, is written as JSON Schema."""
    del pair
    for function in functions_of(body):
        if "parameters" in function:
            function["parametersJsonSchema"] = _json_schema(function.pop("parameters"))
    config = body.get("generationConfig", {})
    if "responseSchema" in config:
        config["responseJsonSchema"] = _json_schema(config.pop("responseSchema"))


def _json_schema(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_json_schema(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    out: Body = {}
    for name, of in schema.items():
        match name:
            case "type" if isinstance(of, str):
                out[name] = of.lower()
            case "properties":
                out[name] = {member: _json_schema(inner) for member, inner in of.items()}
            case "items" | "anyOf" | "any_of":
                out["anyOf" if name == "any_of" else name] = _json_schema(of)
            case "property_ordering" | "propertyOrdering":
                # The members of an object have an order themselves.
                pass
            case _:
                out[name] = of
    if out.pop("nullable", False):
        out["type"] = [out["type"], "null"]
    return out


@kind(G)
def role_of_the_system_text(body: Body, pair: Pair) -> None:
    """The system text has no role; the API ignores the one that is given."""
    del pair
    if "systemInstruction" in body:
        body["systemInstruction"].pop("role", None)


@kind(G)
def no_thought(body: Body, pair: Pair) -> None:
    """That a call, a result or the system text is no thought goes without saying."""
    del pair
    system = body.get("systemInstruction", {})
    called = [part for part in parts_of(body) if part.keys() & {"functionCall", "functionResponse"}]
    for part in [*called, *system.get("parts", ())]:
        if part.get("thought") is False:
            del part["thought"]


@kind(G)
def signature_on_its_text(body: Body, pair: Pair) -> None:
    """A part that holds a signature alone signs the text before it, and is sent with it; one that holds
    nothing is not sent."""
    del pair
    for content in body["contents"]:
        parts: list[Body] = []
        for part in content["parts"]:
            is_bare = part.keys() <= {"thoughtSignature", "text"} and not part.get("text")
            if part == {"text": ""}:
                continue
            if is_bare and parts and parts[-1].keys() == {"text"}:
                parts[-1]["thoughtSignature"] = part["thoughtSignature"]
            else:
                parts.append(part)
        content["parts"] = parts


@kind(G)
def tools_of_the_host_first(body: Body, pair: Pair) -> None:
    """The tools of the host are one entry, and stand before those of the provider's own."""
    del pair
    if "tools" in body:
        own = [tool for tool in body["tools"] if "functionDeclarations" not in tool]
        declared = [tool for tool in body["tools"] if "functionDeclarations" in tool]
        body["tools"] = declared + own


@kind(G)
def thought_without_proof(body: Body, pair: Pair) -> None:
    """A thought without its signature is nothing that a later turn could go on from: left out, noted."""
    if pair.is_noted("reasoning_dropped"):
        for content in body["contents"]:
            content["parts"] = [
                part
                for part in content["parts"]
                if not part.get("thought") or part.get("thoughtSignature")
            ]
