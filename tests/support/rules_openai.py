"""The rules of OpenAI's bodies: Chat Completions, with vendors' habits, and Responses."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tests.support.media_types import image_faults
from tests.support.said import Item, Turn, pairing_faults, turn_faults

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.support.body_rules import Target

__all__ = ["chat_faults", "responses_faults"]

_NAME = r"[A-Za-z0-9_-]{1,64}"
_STOPS = {"deepseek": 16}
_FEW_STOPS = 4
_ID_CHARACTERS = 64


# Chat ----------------------------------------------------------------------------------------------


def chat_faults(body: Mapping[str, Any], target: Target) -> Iterator[str]:
    """Tell which rules a body of Chat Completions breaks."""
    messages: list[dict[str, Any]] = body["messages"]
    turns = _chat_turns(messages)
    yield from turn_faults(turns, alternating=False, blank_text=True, prefill=True)
    yield from pairing_faults(turns)
    id_pattern = r"[A-Za-z0-9]{9}" if target.vendor == "mistral" else r".{1,40}"
    for turn in turns:
        for item in turn.items:
            if item.kind in {"call", "result"} and not re.fullmatch(id_pattern, item.id, re.DOTALL):
                yield f"{item.path}: the id {item.id!r} is not of {id_pattern}"
            if item.kind == "call" and not re.fullmatch(_NAME, item.name):
                yield f"{item.path}: the name {item.name!r} is not of {_NAME}"
    for place, message in enumerate(messages):
        yield from _chat_message_faults(message, f"$.messages[{place}]")
    yield from _chat_parameter_faults(body, _STOPS.get(target.vendor or "", _FEW_STOPS))


def _chat_turns(messages: list[dict[str, Any]]) -> list[Turn]:
    turns: list[Turn] = []
    for place, message in enumerate(messages):
        path = f"$.messages[{place}]"
        if message["role"] == "tool":
            # The results of one round are contiguous messages.
            if not turns or turns[-1].role != "tool":
                turns.append(Turn("tool", path))
            turns[-1].items.append(Item("result", path, id=message["tool_call_id"]))
            continue
        role = "system" if message["role"] == "developer" else message["role"]
        turn = Turn(role, path, _chat_content(message.get("content"), f"{path}.content"))
        if message.get("refusal"):
            turn.items.append(Item("other", f"{path}.refusal"))
        for i, call in enumerate(message.get("tool_calls") or ()):
            function = call.get("function") or call["custom"]
            at = f"{path}.tool_calls[{i}]"
            turn.items.append(Item("call", at, id=call["id"], name=function["name"]))
        turns.append(turn)
    return turns


def _chat_content(content: Any, path: str) -> list[Item]:
    if content is None:
        return []
    if isinstance(content, str):
        return [Item("text", path, text=content)]
    return [
        Item(
            "text" if part["type"] == "text" else "media", f"{path}[{i}]", text=part.get("text", "")
        )
        for i, part in enumerate(content)
    ]


def _chat_message_faults(message: Mapping[str, Any], path: str) -> Iterator[str]:
    content = message.get("content")
    if message["role"] == "assistant":
        if "content" not in message:
            yield f"{path}: content is null where there is no text"
        if "tool_calls" in message and not message["tool_calls"]:
            yield f"{path}.tool_calls: the member is left out where there is no call"
        for call in message.get("tool_calls") or ():
            arguments = call.get("function", {}).get("arguments", "{}")
            if not arguments.strip():
                yield f"{path}.tool_calls: blank arguments"
    elif content is None or content == []:
        yield f"{path}: there is no content"
    for i, part in enumerate(content if isinstance(content, list) else ()):
        if part["type"] == "image_url":
            yield from data_url_faults(part["image_url"]["url"], f"{path}.content[{i}]")


def data_url_faults(url: str, path: str) -> Iterator[str]:
    """Tell what is wrong with a URL that may carry an image's bytes."""
    if not url:
        yield f"{path}: the URL is empty"
    if url.startswith("data:"):
        declared, comma, data = url.removeprefix("data:").partition(";base64,")
        if not comma:
            yield f"{path}: no base64 in the data URL"
        yield from image_faults(data, declared, path)


def _chat_parameter_faults(body: Mapping[str, Any], stops: int) -> Iterator[str]:
    stop = body.get("stop") or []
    if isinstance(stop, list) and len(stop) > stops:
        yield f"$.stop: {len(stop)} of at most {stops}"
    if "stream_options" in body and not body.get("stream"):
        yield "$.stream_options: the answer is no stream"
    if {"max_tokens", "max_completion_tokens"} <= body.keys():
        yield "$.max_tokens: one limit has two names"
    functions = [tool["function"] for tool in body.get("tools", ()) if "function" in tool]
    yield from _tool_faults(body, [function["name"] for function in functions])
    choice = body.get("tool_choice")
    if isinstance(choice, dict) and choice.get("type") == "function":
        named = choice["function"]["name"]
        if named not in [function["name"] for function in functions]:
            yield f"$.tool_choice: there is no tool {named!r}"
    schema = (body.get("response_format") or {}).get("json_schema")
    if schema and not re.fullmatch(_NAME, schema["name"]):
        yield f"$.response_format: the name {schema['name']!r} is not of {_NAME}"


def _tool_faults(body: Mapping[str, Any], names: list[str]) -> Iterator[str]:
    if "tools" in body and not body["tools"]:
        yield "$.tools: there is none"
    if len(set(names)) < len(names):
        yield "$.tools: two tools have one name"
    yield from (
        f"$.tools: the name {n!r} is not of {_NAME}" for n in names if not re.fullmatch(_NAME, n)
    )
    for parameter in ("tool_choice", "parallel_tool_calls"):
        if parameter in body and not body.get("tools"):
            yield f"$.{parameter}: there is no tool"


# Responses -----------------------------------------------------------------------------------------

_ITEM_IDS = {
    "message": "msg_",
    "reasoning": "rs_",
    "function_call": "fc_",
    "custom_tool_call": "ctc_",
}


def responses_faults(body: Mapping[str, Any], target: Target) -> Iterator[str]:
    """Tell which rules a body of Responses breaks."""
    del target
    items: list[dict[str, Any]] = body["input"]
    turns = _responses_turns(items)
    yield from turn_faults(turns, alternating=False, blank_text=True, prefill=True)
    yield from pairing_faults(turns)
    for turn in turns:
        for item in turn.items:
            if item.kind in {"call", "result"} and not 1 <= len(item.id) <= 64:
                yield f"{item.path}: the id {item.id!r} has not 1 to 64 characters"
            if item.kind == "call" and not re.fullmatch(_NAME, item.name):
                yield f"{item.path}: the name {item.name!r} is not of {_NAME}"
    yield from _responses_item_faults(items)
    yield from _responses_parameter_faults(body)


def _responses_turns(items: list[dict[str, Any]]) -> list[Turn]:
    """Group the items: all that the model said until somebody else speaks, the results of a round."""
    turns: list[Turn] = []
    for place, entry in enumerate(items):
        path = f"$.input[{place}]"
        role, said = _responses_said(entry, path)
        alone = role in {"user", "system"}
        if alone or not turns or turns[-1].role != role:
            turns.append(Turn(role, path))
        turns[-1].items.extend(said)
    return turns


def _responses_said(entry: Mapping[str, Any], path: str) -> tuple[str, list[Item]]:
    kind = entry.get("type", "message")
    if kind == "message":
        role = "system" if entry["role"] == "developer" else entry["role"]
        content = entry["content"]
        if isinstance(content, str):
            return role, [Item("text", path, text=content)]
        return role, [
            _responses_part(part, f"{path}.content[{i}]") for i, part in enumerate(content)
        ]
    if kind == "reasoning":
        return "assistant", [Item("thinking", path)]
    if kind.endswith("_call_output") and "call_id" in entry:
        return "tool", [Item("result", path, id=entry["call_id"])]
    if kind in {"function_call", "custom_tool_call"}:
        return "assistant", [Item("call", path, id=entry["call_id"], name=entry["name"])]
    return "assistant", [Item("other", path)]


def _responses_part(part: Mapping[str, Any], path: str) -> Item:
    match part["type"]:
        case "input_text" | "output_text":
            return Item("text", path, text=part["text"])
        case "refusal":
            return Item("other", path)
        case _:
            return Item("media", path)


def _responses_item_faults(items: list[dict[str, Any]]) -> Iterator[str]:
    kinds = {
        item["call_id"]: item["type"]
        for item in items
        if "output" not in item and "call_id" in item
    }
    beside_reasoning = False
    for place, item in enumerate(items):
        path = f"$.input[{place}]"
        kind = item.get("type", "message")
        beside_reasoning = _is_by_model(item) and (beside_reasoning or kind == "reasoning")
        is_call = kind in {"function_call", "custom_tool_call"}
        if is_call and "id" in item and not beside_reasoning:
            yield f"{path}: a call's item id without its reasoning item"
        if kind == "reasoning" and not _goes_on(items[place + 1 :]):
            yield f"{path}: reasoning that nothing of its turn follows"
        if "output" in item and kinds.get(item.get("call_id", ""), kind[:-7]) + "_output" != kind:
            yield f"{path}: the output is of another type than its call"
        yield from _one_item_faults(item, kind, path)


def _is_by_model(item: Mapping[str, Any]) -> bool:
    return item.get("role", "assistant") == "assistant" and "output" not in item


def _goes_on(items: list[dict[str, Any]]) -> bool:
    """Whether the model says more in these than reasoning, before somebody else speaks."""
    said = next((item for item in items if item.get("type") != "reasoning"), None)
    return said is not None and _is_by_model(said)


def _one_item_faults(item: Mapping[str, Any], kind: str, path: str) -> Iterator[str]:
    if kind == "reasoning" and not item.get("encrypted_content"):
        yield f"{path}: reasoning without its encrypted content"
    if kind == "function_call" and not item["arguments"].strip():
        yield f"{path}: blank arguments"
    if (prefix := _ITEM_IDS.get(kind)) and not item.get("id", prefix).startswith(prefix):
        yield f"{path}: the item id {item['id']!r} does not start with {prefix}"
    if not 1 <= len(item.get("id", "-")) <= _ID_CHARACTERS:
        yield f"{path}: the item id has not 1 to {_ID_CHARACTERS} characters"
    for part in _parts(item):
        if isinstance(part, dict) and part["type"] == "input_image" and part.get("image_url"):
            yield from data_url_faults(part["image_url"], path)


def _parts(item: Mapping[str, Any]) -> list[Any]:
    for name in ("content", "output"):
        if isinstance(item.get(name), list):
            parts: list[Any] = item[name]
            return parts
    return []


def _responses_parameter_faults(body: Mapping[str, Any]) -> Iterator[str]:
    if body.get("store") is not False:
        yield "$.store: nothing is to be kept"
    if "reasoning.encrypted_content" not in body.get("include", ()):
        yield "$.include: the encrypted content is asked for"
    if "instructions" in body and not body["instructions"]:
        yield "$.instructions: the text is empty"
    functions = [tool for tool in body.get("tools", ()) if tool["type"] == "function"]
    yield from _tool_faults(body, [function["name"] for function in functions])
    for place, tool in enumerate(body.get("tools", ())):
        if tool["type"] == "function" and not isinstance(tool.get("strict"), bool):
            yield f"$.tools[{place}]: strict is not written"
    choice = body.get("tool_choice")
    named = choice.get("name") if isinstance(choice, dict) else None
    if named is not None and named not in [function["name"] for function in functions]:
        yield f"$.tool_choice: there is no tool {named!r}"
