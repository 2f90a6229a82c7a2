"""The kinds of differences of OpenAI's two wires; see ``request_differences``."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from tests.corpus.request_differences import functions_of, kind, parts_of

from turntape import Dialect

if TYPE_CHECKING:
    from tests.corpus.request_differences import Body, Pair

A, C, R, G, B = Dialect

_CALLS = {"function_call", "custom_tool_call"}
_REASONING = ("reasoning_content", "reasoning", "reasoning_text")


# Chat ----------------------------------------------------------------------------------------------


@kind(C)
def name_of_the_limit(body: Body, pair: Pair) -> None:
    """The limit on the answer has two names; the one that the vendor documents is written."""
    names = {"max_tokens", "max_completion_tokens"}
    (sent,) = names & pair.built.body.keys() or {"max_tokens"}
    (other,) = names - {sent}
    if other in body and sent not in body:
        body[sent] = body.pop(other)


@kind(C)
def usage_asked_for(body: Body, pair: Pair) -> None:
    """Usage is asked for wherever an answer streams and the vendor takes the option."""
    if body["stream"] and "stream_options" in pair.built.body:
        body.setdefault("stream_options", {}).setdefault("include_usage", True)


@kind(C)
def one_text_alone(body: Body, pair: Pair) -> None:
    """A list of one plain text is written as the text, which every vendor takes."""
    del pair
    for message in body["messages"]:
        match message.get("content"):
            case [{"type": "text", "text": text, **more}] if not more:
                message["content"] = text
            case _:
                pass


@kind(C)
def null_without_text(body: Body, pair: Pair) -> None:
    """The content of an assistant message with calls alone is null."""
    del pair
    for message in body["messages"]:
        if message["role"] == "assistant" and not message.get("content"):
            message["content"] = None


@kind(C)
def not_strict_is_the_default(body: Body, pair: Pair) -> None:
    """That a tool is not strict is the default and goes without saying."""
    del pair
    for function in functions_of(body):
        if function.get("strict") is False:
            del function["strict"]


@kind(C)
def system_as_developer(body: Body, pair: Pair) -> None:
    """Models that want the role ``developer`` get it."""
    roles = {message["role"] for message in pair.built.body["messages"]}
    for message in body["messages"]:
        if message["role"] == "system" and "developer" in roles:
            message["role"] = "developer"


@kind(C)
def id_not_taken(body: Body, pair: Pair) -> None:
    """An id is too long or missing: another is sent, the same for call and result, noted."""
    is_missing = any("id" not in c for m in body["messages"] for c in m.get("tool_calls") or ())
    if is_missing:
        _fill_ids(body, pair)
    elif pair.is_noted("id_mapped"):
        _map_ids(body, pair)


def _fill_ids(body: Body, pair: Pair) -> None:
    """Give the calls of a round the ids that were made up, and their results in the same order."""
    for message, sent in zip(body["messages"], pair.built.body["messages"], strict=True):
        for call, other in zip(
            message.get("tool_calls") or (), sent.get("tool_calls", ()), strict=True
        ):
            call["id"] = other["id"]
        if message["role"] == "tool":
            message["tool_call_id"] = sent["tool_call_id"]


def _map_ids(body: Body, pair: Pair) -> None:
    sent = {id_: iter(ids) for id_, ids in pair.built.id_map.items()}
    current: dict[str, str] = {}
    for message in body["messages"]:
        for call in message.get("tool_calls") or ():
            own = call.get("id", "")
            call["id"] = current[own] = next(sent[own])
        if message["role"] == "tool":
            own = message.get("tool_call_id", "")
            message["tool_call_id"] = current[own]


@kind(C)
def place_of_a_call(body: Body, pair: Pair) -> None:
    """The index of a call belongs to streams; its place in the list says it here."""
    del pair
    for message in body["messages"]:
        for call in message.get("tool_calls") or ():
            call.pop("index", None)


@kind(C)
def reasoning_said_once(body: Body, pair: Pair) -> None:
    """Reasoning that stands under two names goes back under the one that the vendor documents."""
    sent = {name for message in pair.built.body["messages"] for name in message}
    for message in body["messages"]:
        held = [name for name in _REASONING if name in message]
        kept = [name for name in held if name in sent]
        if len(held) > 1 and len({message[name] for name in held}) == 1 and len(kept) == 1:
            for name in set(held) - set(kept):
                del message[name]


@kind(C)
def details_without_a_proof(body: Body, pair: Pair) -> None:
    """Of an entry of ``reasoning_details`` that proves nothing its text goes back."""
    del pair
    for message in body["messages"]:
        entries = message.get("reasoning_details") or []
        if entries and not any(e.get("signature") or e.get("data") for e in entries):
            text = "".join(entry.get("text") or entry.get("summary") or "" for entry in entries)
            message["reasoning_details"] = [{"type": "reasoning.text", "text": text}]


@kind(C)
def extra_of_the_system_message(body: Body, pair: Pair) -> None:
    """What a leading system message carries beside its text is left out, noted."""
    if pair.is_noted("content_unsupported") and body["messages"][0]["role"] == "system":
        first = body["messages"][0]
        for name in first.keys() - {"role", "content"}:
            del first[name]
        if isinstance(first["content"], list):
            first["content"] = "".join(part["text"] for part in first["content"])


@kind(C)
def nothing_said_by_the_model(body: Body, pair: Pair) -> None:
    """A message of the model's without text and calls is left out, noted; what a gateway made of
    another wire's reasoning in it, under a name that Chat does not have, is nothing that it takes."""
    if pair.is_noted("empty_text_dropped"):
        known = {"role", "content", "reasoning", "reasoning_signature"}
        body["messages"] = [
            message
            for message in body["messages"]
            if message["role"] != "assistant"
            or message.get("content")
            or message.get("reasoning")
            or not message.keys() <= known
        ]


@kind(C)
def stop_as_a_list(body: Body, pair: Pair) -> None:
    """One stop word is written as a list of one."""
    del pair
    if isinstance(body.get("stop"), str):
        body["stop"] = [body["stop"]]


# Responses -----------------------------------------------------------------------------------------


@kind(R)
def nothing_is_stored(body: Body, pair: Pair) -> None:
    """Where nothing is said, nothing is to be stored by the provider: the host has the history."""
    del pair
    body.setdefault("store", False)


@kind(R)
def encrypted_reasoning(body: Body, pair: Pair) -> None:
    """Encrypted reasoning is asked for, so that it can be sent back."""
    del pair
    if body.get("include") == []:
        # The host wants nothing.
        return
    include = body.setdefault("include", [])
    if "reasoning.encrypted_content" not in include:
        body["include"] = ["reasoning.encrypted_content", *include]


@kind(R)
def strict_is_written(body: Body, pair: Pair) -> None:
    """Whether a tool is strict is always written; left out, the provider would take it for strict."""
    del pair
    for tool in body.get("tools", ()):
        if tool["type"] == "function" and tool.get("strict") is None:
            tool["strict"] = False


@kind(R)
def input_as_items(body: Body, pair: Pair) -> None:
    """A text alone is written as a message of the user's."""
    del pair
    if isinstance(body["input"], str):
        body["input"] = [{"role": "user", "content": body["input"]}]


@kind(R)
def text_as_part(body: Body, pair: Pair) -> None:
    """A message is written as an item of that type, its text as a part."""
    del pair
    for item in body["input"]:
        if "role" not in item:
            continue
        item.setdefault("type", "message")
        if isinstance(item["content"], str):
            written = "output_text" if item["role"] == "assistant" else "input_text"
            item["content"] = [{"type": written, "text": item["content"]}]


@kind(R)
def system_as_instructions(body: Body, pair: Pair) -> None:
    """Leading system messages are instructions, joined by a blank line."""
    del pair
    texts = [body["instructions"]] if body.get("instructions") else []
    items = body["input"]
    while items and items[0].get("role") in {"system", "developer"}:
        texts += [part["text"] for part in items.pop(0)["content"]]
    if texts:
        body["instructions"] = "\n\n".join(texts)


@kind(R)
def whole_items(body: Body, pair: Pair) -> None:
    """Items of the model's are written with all that their type demands: an id of the right form,
    a status, annotations; an image with its detail."""
    ids = iter(_made_up(pair))
    for item in body["input"]:
        if item.get("role") == "assistant":
            item.setdefault("status", "completed")
            for part in item["content"]:
                part.setdefault("annotations", [])
        if (
            item.get("role") == "assistant" or item.get("type") == "reasoning"
        ) and "id" not in item:
            item["id"] = next(ids, None)
    for part in parts_of(body):
        if part.get("type") == "input_image":
            part.setdefault("detail", "auto")


def _made_up(pair: Pair) -> list[str]:
    """The ids that were made up, in order: those that the recorded body does not hold."""
    sent = json.loads(pair.built.to_json())["input"]
    recorded = pair.recorded.data.decode()
    return [
        item["id"]
        for item in sent
        if re.fullmatch(r"(msg|rs)_\w{1,60}", item.get("id", "")) and item["id"] not in recorded
    ]


@kind(R)
def what_only_answers_have(body: Body, pair: Pair) -> None:
    """Status, log probabilities and the empty content of reasoning are of answers: the request goes
    without them."""
    del pair
    for item in body["input"]:
        if item.get("type") in {*_CALLS, "function_call_output", "reasoning"}:
            item.pop("status", None)
        if item.get("type") == "reasoning" and item.get("content") == []:
            del item["content"]
    for part in parts_of(body):
        part.pop("logprobs", None)


@kind(R)
def reasoning_without_proof(body: Body, pair: Pair) -> None:
    """Reasoning without its encrypted content is not sent, noted: the provider has not stored it."""
    if pair.is_noted("reasoning_dropped"):
        body["input"] = [
            item
            for item in body["input"]
            if item.get("type") != "reasoning" or item.get("encrypted_content")
        ]


@kind(R)
def id_beside_its_reasoning(body: Body, pair: Pair) -> None:
    """A call's item id goes back beside its reasoning item only."""
    del pair
    beside = False
    for item in body["input"]:
        by_model = item.get("role", "assistant") == "assistant" and "output" not in item
        beside = by_model and (beside or item.get("type") == "reasoning")
        if item.get("type") in _CALLS and not beside:
            item.pop("id", None)
        if "output" in item:
            item.pop("id", None)


@kind(R)
def namespace_of_the_call(body: Body, pair: Pair) -> None:
    """A result has the namespace and the caller of its call."""
    del pair
    calls = {i["call_id"]: i for i in body["input"] if "call_id" in i and "output" not in i}
    for item in body["input"]:
        if "output" in item and item.get("call_id") in calls:
            for name in ("caller", "namespace"):
                if name in calls[item["call_id"]]:
                    item.setdefault(name, calls[item["call_id"]][name])
