"""The rules of Gemini's bodies."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from tests.support.media_types import image_faults
from tests.support.said import Item, Turn, turn_faults

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.support.body_rules import Target

__all__ = ["gemini_faults"]

_NAME = r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}"
_DATA = ("text", "inlineData", "fileData", "functionCall", "functionResponse")
"""What a part may be; one part is one of them."""


def gemini_faults(body: Mapping[str, Any], target: Target) -> Iterator[str]:
    """Tell which rules a body of Gemini's breaks."""
    contents: list[dict[str, Any]] = body["contents"]
    turns = [_turn(content, f"$.contents[{i}]") for i, content in enumerate(contents)]
    yield from turn_faults(turns, alternating=True, blank_text=True, prefill=target.prefill)
    yield from _call_faults(contents)
    if target.checks_signatures:
        yield from _signature_faults(contents)
    yield from _part_faults(contents)
    yield from _parameter_faults(body)


def _turn(content: Mapping[str, Any], path: str) -> Turn:
    turn = Turn("assistant" if content["role"] == "model" else content["role"], path)
    for place, part in enumerate(content["parts"]):
        at = f"{path}.parts[{place}]"
        if "functionCall" in part:
            item = Item("call", at, name=part["functionCall"]["name"])
        elif "functionResponse" in part:
            item = Item("result", at, name=part["functionResponse"]["name"])
        elif part.get("thought"):
            item = Item("thinking", at)
        elif "text" in part:
            # An empty text may carry the signature of what came before it.
            is_carrier = not part["text"] and "thoughtSignature" in part
            item = Item("other" if is_carrier else "text", at, text=part["text"])
        elif part.keys() & {"inlineData", "fileData"}:
            item = Item("media" if turn.role == "user" else "other", at)
        else:
            item = Item("other", at)
        turn.items.append(item)
    return turn


def _call_faults(contents: list[dict[str, Any]]) -> Iterator[str]:
    """Hold each round to its order: one response a call, by place, name, and the id where there is one."""
    waiting: list[dict[str, Any]] = []
    ids: Counter[str] = Counter()
    for place, content in enumerate(contents):
        path = f"$.contents[{place}]"
        parts: list[dict[str, Any]] = content["parts"]
        answers = [part["functionResponse"] for part in parts if "functionResponse" in part]
        asked = [(call["name"], call.get("id")) for call in waiting]
        answered = [(answer["name"], answer.get("id")) for answer in answers]
        if asked != answered:
            yield f"{path}: {asked} were called and {answered} answer"
        if any("functionResponse" not in part for part in parts[: len(answers)]):
            yield f"{path}: the results are not first"
        for answer in answers:
            if len(answer["response"].keys() & {"output", "error"}) != 1:
                yield f"{path}: a response has an output or an error"
        waiting = [part["functionCall"] for part in parts if "functionCall" in part]
        ids.update(call["id"] for call in waiting if "id" in call)
        for call in waiting:
            if not re.fullmatch(_NAME, call["name"]):
                yield f"{path}: the name {call['name']!r} is not of {_NAME}"
            if call.get("id") == "":
                yield f"{path}: the id is empty"
    if waiting:
        yield f"$.contents[{len(contents) - 1}]: the calls are not answered"
    yield from (f"$: the id {id_!r} is of {times} calls" for id_, times in ids.items() if times > 1)


def _signature_faults(contents: list[dict[str, Any]]) -> Iterator[str]:
    """Hold the first call of each content after the last text of the user to its signature."""
    last_text = -1
    for place, content in enumerate(contents):
        if content["role"] == "user" and any("functionResponse" not in p for p in content["parts"]):
            last_text = place
    for place, content in enumerate(contents[last_text + 1 :], last_text + 1):
        first = next((part for part in content["parts"] if "functionCall" in part), None)
        if first is not None and not first.get("thoughtSignature"):
            yield f"$.contents[{place}]: the first call has no signature"


def _part_faults(contents: list[dict[str, Any]]) -> Iterator[str]:
    for i, content in enumerate(contents):
        for j, part in enumerate(content["parts"]):
            path = f"$.contents[{i}].parts[{j}]"
            if sum(name in part for name in _DATA) > 1:
                yield f"{path}: a part is one thing"
            inner = part.get("functionResponse", {}).get("parts", ())
            for each in [part, *inner]:
                blob = each.get("inlineData")
                if blob and blob["mimeType"].startswith("image/"):
                    yield from image_faults(blob["data"], blob["mimeType"], path)
                if "fileData" in each and not each["fileData"].get("fileUri"):
                    yield f"{path}: the URL is empty"


def _parameter_faults(body: Mapping[str, Any]) -> Iterator[str]:
    if "model" in body or "stream" in body:
        yield "$: model and stream stand in the path"
    names = [
        declared["name"]
        for tool in body.get("tools", ())
        for declared in tool.get("functionDeclarations", ())
    ]
    if len(set(names)) < len(names):
        yield "$.tools: two tools have one name"
    yield from (
        f"$.tools: the name {n!r} is not of {_NAME}" for n in names if not re.fullmatch(_NAME, n)
    )
    calling = body.get("toolConfig", {}).get("functionCallingConfig", {})
    if unknown := set(calling.get("allowedFunctionNames", ())) - set(names):
        yield f"$.toolConfig: there is no tool {sorted(unknown)}"
    if calling.get("allowedFunctionNames") and calling.get("mode") not in {"ANY", "VALIDATED"}:
        yield "$.toolConfig: allowed names are for the mode ANY"
    if "systemInstruction" in body:
        texts = [part.get("text") for part in body["systemInstruction"]["parts"]]
        if not texts or not all(texts):
            yield "$.systemInstruction: the text is empty"
    thinking = body.get("generationConfig", {}).get("thinkingConfig", {})
    if {"thinkingLevel", "thinkingBudget"} <= thinking.keys():
        yield "$.generationConfig.thinkingConfig: a level or a budget"
