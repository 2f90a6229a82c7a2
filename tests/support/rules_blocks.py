"""The rules of Anthropic's and Bedrock's bodies, whose messages are lists of blocks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tests.support.media_types import image_faults
from tests.support.said import Item, Turn, pairing_faults, turn_faults

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.support.body_rules import Target

__all__ = ["anthropic_faults", "bedrock_faults"]

_CACHE_MARKS = 4


# Anthropic -----------------------------------------------------------------------------------------


def anthropic_faults(body: Mapping[str, Any], target: Target) -> Iterator[str]:
    """Tell which rules a body of Anthropic's breaks."""
    turns = [
        _anthropic_turn(message, f"$.messages[{i}]") for i, message in enumerate(body["messages"])
    ]
    yield from turn_faults(turns, alternating=True, blank_text=False, prefill=target.prefill)
    yield from pairing_faults(turns)
    yield from _anthropic_system_faults(body, turns)
    yield from _final_text_faults(turns)
    yield from _name_faults(
        turns, id_pattern=r"[A-Za-z0-9_-]{1,64}", name_pattern=r"[A-Za-z0-9_-]{1,128}"
    )
    yield from _anthropic_tool_faults(body)
    yield from _anthropic_thinking_faults(body, turns)
    yield from _anthropic_cache_faults(body)
    for path, block in _anthropic_blocks(body):
        if block["type"] == "image" and block["source"]["type"] == "base64":
            yield from image_faults(block["source"]["data"], block["source"]["media_type"], path)


def _anthropic_turn(message: Mapping[str, Any], path: str) -> Turn:
    content = message["content"]
    if isinstance(content, str):
        return Turn(message["role"], path, [Item("text", path, text=content)])
    items = [_anthropic_item(block, f"{path}.content[{i}]") for i, block in enumerate(content)]
    return Turn(message["role"], path, items)


def _anthropic_item(block: Mapping[str, Any], path: str) -> Item:
    match block["type"]:
        case "text":
            return Item("text", path, text=block["text"])
        case "thinking" | "redacted_thinking":
            return Item("thinking", path)
        case "tool_use":
            return Item("call", path, id=block["id"], name=block["name"])
        case "tool_result":
            return Item("result", path, id=block["tool_use_id"])
        case "image" | "document":
            return Item("media", path)
        case _:
            return Item("other", path)


def _anthropic_blocks(body: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Give the blocks of the messages, those within results included, and where they stand."""
    for i, message in enumerate(body["messages"]):
        if isinstance(message["content"], str):
            continue
        for j, block in enumerate(message["content"]):
            path = f"$.messages[{i}].content[{j}]"
            yield path, block
            if block["type"] == "tool_result" and isinstance(block.get("content"), list):
                for k, inner in enumerate(block["content"]):
                    yield f"{path}.content[{k}]", inner


def _anthropic_system_faults(body: Mapping[str, Any], turns: list[Turn]) -> Iterator[str]:
    system = body.get("system", "-")
    texts = [system] if isinstance(system, str) else [block["text"] for block in system]
    if not texts or not all(text.strip() for text in texts):
        yield "$.system: the text is blank"
    for before, turn in zip([None, *turns], turns, strict=False):
        if turn.role == "system" and (before is None or before.role != "user"):
            yield f"{turn.path}: a system message stands after a message of the user only"
    for path, block in _anthropic_blocks(body):
        # Within a result too; the others are seen as items of their turn.
        if block["type"] == "text" and not block["text"].strip():
            yield f"{path}: the text is blank"


def _final_text_faults(turns: list[Turn]) -> Iterator[str]:
    last = turns[-1].items[-1] if turns and turns[-1].items else None
    is_prefill = last is not None and turns[-1].role == "assistant" and last.kind == "text"
    if is_prefill and last is not None and last.text != last.text.rstrip():
        yield f"{last.path}: the final text ends in white space"


def _name_faults(turns: list[Turn], *, id_pattern: str, name_pattern: str) -> Iterator[str]:
    for turn in turns:
        for item in turn.items:
            if item.kind in {"call", "result"} and not re.fullmatch(id_pattern, item.id):
                yield f"{item.path}: the id {item.id!r} is not of {id_pattern}"
            if item.kind == "call" and not re.fullmatch(name_pattern, item.name):
                yield f"{item.path}: the name {item.name!r} is not of {name_pattern}"


def _anthropic_tool_faults(body: Mapping[str, Any]) -> Iterator[str]:
    names = [tool.get("name", "") for tool in body.get("tools", ())]
    if len(set(names)) < len(names):
        yield "$.tools: two tools have one name"
    for place, tool in enumerate(body.get("tools", ())):
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,128}", tool.get("name", "-")):
            yield f"$.tools[{place}]: the name {tool['name']!r} is not allowed"
        if "input_schema" in tool and tool["input_schema"].get("type") != "object":
            yield f"$.tools[{place}].input_schema: it is of no object"
    if "tools" in body and not body["tools"]:
        yield "$.tools: there is none"
    if choice := body.get("tool_choice"):
        if not names:
            yield "$.tool_choice: there is no tool"
        if choice["type"] == "tool" and choice["name"] not in names:
            yield f"$.tool_choice: there is no tool {choice['name']!r}"


def _anthropic_thinking_faults(body: Mapping[str, Any], turns: list[Turn]) -> Iterator[str]:
    thinking = body.get("thinking", {})
    if body["max_tokens"] < 1:
        yield "$.max_tokens: at least 1"
    if thinking.get("type") != "enabled":
        return
    if not 1024 <= thinking["budget_tokens"] < body["max_tokens"]:
        yield "$.thinking.budget_tokens: at least 1024, and less than max_tokens"
    if body.get("tool_choice", {}).get("type") in {"any", "tool"}:
        yield "$.tool_choice: a call cannot be forced while the model thinks"
    # A round that is being answered: the model thought before it called, or it may not think now.
    if len(turns) > 1 and turns[-1].of_kind("result"):
        asked = next(turn for turn in reversed(turns) if turn.role == "assistant")
        if not asked.of_kind("thinking"):
            yield f"{asked.path}: the last round has no thinking, but thinking is switched on"


def _anthropic_cache_faults(body: Mapping[str, Any]) -> Iterator[str]:
    system = body.get("system", ())
    marked: list[tuple[str, Mapping[str, Any]]] = [
        *((f"$.tools[{i}]", tool) for i, tool in enumerate(body.get("tools", ()))),
        *(
            (f"$.system[{i}]", part)
            for i, part in enumerate(() if isinstance(system, str) else system)
        ),
        *_anthropic_blocks(body),
    ]
    marked = [(path, block) for path, block in marked if block.get("cache_control")]
    if len(marked) > _CACHE_MARKS:
        yield f"$: {len(marked)} cache marks"
    for path, block in marked:
        kind = block.get("type")
        if kind in {"thinking", "redacted_thinking"} or (
            kind == "text" and not block["text"].strip()
        ):
            yield f"{path}: a cache mark on {kind}"


# Bedrock -------------------------------------------------------------------------------------------


def bedrock_faults(body: Mapping[str, Any], target: Target) -> Iterator[str]:
    """Tell which rules a body of Bedrock's breaks."""
    turns = [
        _bedrock_turn(message, f"$.messages[{i}]") for i, message in enumerate(body["messages"])
    ]
    yield from turn_faults(turns, alternating=True, blank_text=False, prefill=target.prefill)
    yield from pairing_faults(turns)
    yield from _final_text_faults(turns)
    yield from _name_faults(
        turns, id_pattern=r"[A-Za-z0-9_.:-]{1,64}", name_pattern=r"[A-Za-z0-9_-]{1,64}"
    )
    yield from _bedrock_tool_faults(body, turns)
    yield from _bedrock_cache_faults(body)
    yield from _bedrock_media_faults(body)
    for i, part in enumerate(body.get("system", ())):
        if not part.get("text", "-").strip():
            yield f"$.system[{i}]: the text is blank"


_BEDROCK_KINDS: dict[str, Any] = {
    "text": "text",
    "reasoningContent": "thinking",
    "toolUse": "call",
    "toolResult": "result",
    "cachePoint": "cache",
    "image": "media",
    "document": "media",
    "audio": "media",
    "video": "media",
}


def _bedrock_turn(message: Mapping[str, Any], path: str) -> Turn:
    turn = Turn(message["role"], path)
    for place, block in enumerate(message["content"]):
        kind, value = next(iter(block.items()))
        text = value if isinstance(value, str) else ""
        members: dict[str, Any] = value if isinstance(value, dict) else {}
        said = _BEDROCK_KINDS.get(kind, "other")
        # The provider's own tools are called and answered within one turn of the model's.
        if kind == "toolUse" and members.get("type") == "server_tool_use":
            said = "other"
        if kind == "toolResult" and turn.role == "assistant":
            said = "other"
        item = Item(
            said,
            f"{path}.content[{place}]",
            id=members.get("toolUseId", ""),
            name=members.get("name", "") if kind == "toolUse" else "",
            text=text,
        )
        turn.items.append(item)
    return turn


def _bedrock_tool_faults(body: Mapping[str, Any], turns: list[Turn]) -> Iterator[str]:
    config = body.get("toolConfig", {})
    specs = [tool["toolSpec"] for tool in config.get("tools", ()) if "toolSpec" in tool]
    names = [spec["name"] for spec in specs]
    if len(set(names)) < len(names):
        yield "$.toolConfig.tools: two tools have one name"
    called = {call.name for turn in turns for call in turn.of_kind("call")}
    if undeclared := called - set(names):
        yield f"$.toolConfig.tools: {sorted(undeclared)} were called and are not declared"
    choice = config.get("toolChoice", {})
    if "tool" in choice and choice["tool"]["name"] not in names:
        yield f"$.toolConfig.toolChoice: there is no tool {choice['tool']['name']!r}"
    for spec in specs:
        if spec["inputSchema"]["json"].get("type") != "object":
            yield f"$.toolConfig.tools: the schema of {spec['name']!r} is of no object"


def _bedrock_cache_faults(body: Mapping[str, Any]) -> Iterator[str]:
    lists = [
        ("$.system", body.get("system", [])),
        ("$.toolConfig.tools", body.get("toolConfig", {}).get("tools", [])),
        *((f"$.messages[{i}]", message["content"]) for i, message in enumerate(body["messages"])),
    ]
    marks = 0
    for path, blocks in lists:
        for before, block in zip([{}, *blocks], blocks, strict=False):
            if "cachePoint" not in block:
                continue
            marks += 1
            if not before or before.keys() & {"cachePoint", "reasoningContent"}:
                yield f"{path}: a cache mark after {'nothing' if not before else min(before)}"
    if marks > _CACHE_MARKS:
        yield f"$: {marks} cache marks"


def _bedrock_media_faults(body: Mapping[str, Any]) -> Iterator[str]:
    for i, message in enumerate(body["messages"]):
        blocks = message["content"]
        has_document = any("document" in block for block in blocks)
        if has_document and not any("text" in block for block in blocks):
            yield f"$.messages[{i}]: a document needs a text beside it"
        for j, block in enumerate(blocks):
            path = f"$.messages[{i}].content[{j}]"
            inner = block.get("toolResult", {}).get("content", ())
            for each in [block, *inner]:
                if "image" in each and "bytes" in each["image"]["source"]:
                    image = each["image"]
                    yield from image_faults(
                        image["source"]["bytes"], f"image/{image['format']}", path
                    )
                if not each.get("text", "-").strip():
                    yield f"{path}: the text is blank"
                name = each.get("document", {}).get("name", "-")
                if not re.fullmatch(r"[A-Za-z0-9_ ()\[\]-]+", name) or "  " in name:
                    yield f"{path}: the document's name {name!r} is not allowed"
