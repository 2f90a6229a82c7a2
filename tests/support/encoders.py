"""How each wire says a turn: the events of its stream, before they are framed."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from tests.support.turns import Call, Raw, Say, is_object, runs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.support.turns import Body, Habits, Turn

Wire = Literal["anthropic", "openai-chat", "openai-responses", "gemini", "bedrock-converse"]
HEADS: dict[Wire, dict[str, Any]] = {
    "anthropic": {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-heron",
    },
    "openai-chat": {"id": "chat-1", "model": "quill"},
    "openai-responses": {"id": "resp_1", "object": "response", "model": "quill-r1"},
    "gemini": {"modelVersion": "gemini-plover", "responseId": "resp_1"},
}
"""What each wire says of the response itself."""

WIRES: tuple[Wire, ...] = (
    "anthropic",
    "openai-chat",
    "openai-responses",
    "gemini",
    "bedrock-converse",
)


@dataclass(frozen=True)
class Frame:
    """One event of a stream before it is written: its payload and what the test has to know of it."""

    data: str
    event: str | None = None
    ends: bool = False
    reports_usage: bool = False


def _is_filled(text: str) -> bool:
    return is_object(text) and text != "{}"


def anthropic_usage(turn: Turn, *, output: bool) -> dict[str, Any]:
    assert turn.usage is not None
    fresh, cached, generated = turn.usage
    return {
        "input_tokens": fresh,
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": 0,
        "output_tokens": generated if output else 1,
    }


def anthropic_frames(turn: Turn, habits: Habits) -> list[Frame]:
    """Say a turn as Anthropic Messages does."""
    frames: list[Frame] = []
    names = habits.sometimes()

    def say(kind: str, *, ends: bool = False, reports: bool = False, **members: Any) -> None:
        payload = habits.write({"type": kind, **members})
        frames.append(Frame(payload, kind if names else None, ends, reports))

    message: dict[str, Any] = {**HEADS["anthropic"], "content": [], "stop_reason": None}
    message["stop_sequence"] = None
    late = turn.usage is not None and habits.sometimes()
    if turn.usage is not None and not late:
        message["usage"] = anthropic_usage(turn, output=False)
    say("message_start", reports="usage" in message, message=message)
    # The wire's own numbers may have gaps.
    number = habits.one_of(0, 3)
    for run in runs(turn.blocks):
        numbered = [(number + at, block) for at, block in enumerate(run)]
        number += len(run) + habits.one_of(0, 0, 2)
        waiting: list[list[tuple[int, dict[str, Any]]]] = []
        for at, block in numbered:
            start, deltas = _anthropic_block(block, habits)
            say("content_block_start", index=at, content_block=start)
            waiting.append([(at, delta) for delta in deltas])
            if not habits.seldom():
                _drain(waiting, say, habits)
                say("content_block_stop", index=at)
                waiting.clear()
                numbered = [pair for pair in numbered if pair[0] != at]
        _drain(waiting, say, habits)
        opened = [at for at, _ in numbered]
        for at in habits.one_of(opened, opened[::-1]):
            say("content_block_stop", index=at)
        if habits.seldom():
            say("ping")
    delta: dict[str, Any] = {"stop_reason": turn.reason, "stop_sequence": None}
    extra = {} if turn.usage is None else {"usage": anthropic_usage(turn, output=True)}
    say("message_delta", ends=True, reports=bool(extra), delta=delta, **extra)
    if not habits.seldom():
        say("message_stop")
    return frames


def _drain(
    waiting: list[list[tuple[int, dict[str, Any]]]], say: Callable[..., None], habits: Habits
) -> None:
    """Send what blocks wait to say, in turns."""
    while any(waiting):
        queue = habits.one_of(*(queue for queue in waiting if queue))
        at, delta = queue.pop(0)
        say("content_block_delta", index=at, delta=delta)


def _anthropic_block(
    block: Say | Call, habits: Habits
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Give the start of a block and its deltas."""
    deltas = list(habits.deltas(block.pieces))
    if isinstance(block, Call):
        start: dict[str, Any] = {
            "type": "tool_use",
            "id": block.id,
            "name": block.name,
            "input": {},
        }
        if _is_filled(block.arguments) and habits.seldom():
            return {**start, "input": Raw(block.arguments)}, []
        return start, [{"type": "input_json_delta", "partial_json": piece} for piece in deltas]
    start = {"type": block.kind, block.kind: ""}
    if habits.seldom():
        start[block.kind] = deltas.pop(0)
    pieces: list[dict[str, Any]] = [
        {"type": f"{block.kind}_delta", block.kind: piece} for piece in deltas
    ]
    if block.signature is not None:
        pieces.append({"type": "signature_delta", "signature": block.signature})
    return start, pieces


_CHAT_REASONS = {
    "end_turn": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "other": "odd",
}


def chat_frames(turn: Turn, habits: Habits) -> list[Frame]:  # noqa: C901 (one step a member of the wire)
    """Say a turn as Chat Completions and its imitators do."""
    frames: list[Frame] = []
    head: dict[str, Any] = {**HEADS["openai-chat"], "object": "chat.completion.chunk"}
    nulls = habits.sometimes()

    def say(
        delta: Any,
        reason: str | None = None,
        *,
        index: int = 0,
        reports: bool = False,
        **members: Any,
    ) -> None:
        choice: dict[str, Any] = {"index": index, "delta": delta}
        if reason is not None or nulls:
            choice["finish_reason"] = reason
        payload = habits.write({**head, "choices": [choice], **members})
        ends = reason is not None and index == 0
        frames.append(Frame(payload, None, ends, reports))

    say({"role": "assistant", "content": habits.one_of("", None)})
    thinking = habits.one_of("reasoning_content", "reasoning", "reasoning_text")
    number = 0
    for run in runs(turn.blocks):
        if habits.seldom():
            say({"content": "from another choice"}, index=1)
        if isinstance(run[0], Say):
            member = "content" if run[0].kind == "text" else thinking
            for piece in habits.deltas(run[0].pieces):
                say({member: piece})
            continue
        calls = [block for block in run if isinstance(block, Call)]
        for delta in _chat_calls(calls, number, habits):
            say(delta)
        number += len(calls)
    reason, usage = chat_end(turn)
    place = habits.one_of("beside the reason", "in the choice", "behind", "x_groq")
    beside: dict[str, Any] = usage if place == "beside the reason" else {}
    if place == "x_groq" and usage:
        beside = {"x_groq": usage}
    say({}, reason, reports=bool(beside), **beside)
    if usage and place in {"behind", "in the choice"}:
        late: dict[str, Any] = {**head, "choices": []}
        if place == "behind":
            late |= usage
        else:
            late["choices"] = [{"index": 0, "delta": {}, **usage}]
        frames.append(Frame(habits.write(late), reports_usage=True))
    if habits.sometimes():
        frames.append(Frame("[DONE]"))
    return frames


def chat_end(turn: Turn) -> tuple[str, dict[str, Any]]:
    """Give the finish reason of a completion, and the member that reports its usage."""
    reason = _CHAT_REASONS[turn.reason]
    if turn.usage is None:
        return reason, {}
    fresh, cached, generated = turn.usage
    usage = {
        "prompt_tokens": fresh + cached,
        "completion_tokens": generated,
        "total_tokens": fresh + cached + generated,
        "prompt_tokens_details": {"cached_tokens": cached},
    }
    return reason, {"usage": usage}


def _chat_calls(calls: list[Call], number: int, habits: Habits) -> Iterator[dict[str, Any]]:
    """Give the deltas of neighbouring calls, one after the other or interleaved."""
    indexed = habits.sometimes() or len(calls) > 1
    queues: list[list[dict[str, Any]]] = []
    for at, call in enumerate(calls, number):
        place = {"index": at} if indexed else {}
        start: dict[str, Any] = {**place, "id": call.id, "type": "function"}
        start["function"] = {"name": call.name, "arguments": ""}
        rest: list[Any] = list(habits.deltas(call.pieces))
        if _is_filled(call.arguments) and habits.seldom():
            rest = [Raw(call.arguments)]
        elif rest and habits.seldom():
            start["function"]["arguments"] = rest.pop(0)
        fragments = [start]
        for piece in rest:
            again = {"id": habits.one_of(call.id, "", None)} if habits.seldom() else {}
            fragments.append({**place, **again, "function": {"arguments": piece}})
        queues.append(fragments)
    if habits.sometimes():
        # All starts first, in one array, then the arguments in turns.
        yield {"tool_calls": [queue.pop(0) for queue in queues]}
        while any(queues):
            yield {"tool_calls": [habits.one_of(*(queue for queue in queues if queue)).pop(0)]}
        return
    for queue in queues:
        for fragment in queue:
            yield {"tool_calls": [fragment]}


_INCOMPLETE = {"max_tokens": "max_output_tokens", "other": "odd"}


class _Responses:
    """Says a turn as OpenAI Responses does."""

    def __init__(self, turn: Turn, habits: Habits) -> None:
        self.turn = turn
        self.habits = habits
        self.frames: list[Frame] = []
        self.names = habits.sometimes()
        self.numbered = habits.sometimes()
        # An item is known by its place or by its id.
        self.places = not habits.seldom()
        self.ids = habits.sometimes() or not self.places
        self.output: list[dict[str, Any]] = []

    def say(self, kind: str, *, ends: bool = False, reports: bool = False, **members: Any) -> None:
        kind = f"response.{kind}"
        payload: dict[str, Any] = {"type": kind}
        if self.numbered:
            payload["sequence_number"] = len(self.frames)
        payload |= members
        if kind.endswith(".delta") and self.numbered:
            payload["obfuscation"] = "xyz"[: len(self.frames) % 4]
        name = kind if self.names else None
        self.frames.append(Frame(self.habits.write(payload), name, ends, reports))

    def frames_of_all(self) -> list[Frame]:
        turn, habits = self.turn, self.habits
        head = HEADS["openai-responses"]
        self.say("created", response={**head, "status": "in_progress", "output": [], "usage": None})
        if habits.sometimes():
            self.say("in_progress", response={**head, "status": "in_progress"})
        at = 0
        while at < len(turn.blocks):
            size = habits.one_of(1, 1, 2, 3)
            self.group([(at + step, block) for step, block in enumerate(turn.blocks[at:][:size])])
            at += size
            if habits.seldom():
                self.frames.append(Frame('{"type":"keepalive"}'))
        ended = {**head, **responses_end(turn)}
        ended["output"] = self.output if habits.sometimes() else []
        kind = "incomplete" if turn.reason in _INCOMPLETE else "completed"
        self.say(kind, ends=True, reports=turn.usage is not None, response=ended)
        return self.frames

    def group(self, blocks: list[tuple[int, Say | Call]]) -> None:
        """Say neighbouring blocks in turns: all open in order, then their events come as they like."""
        waiting: list[list[Callable[[], None]]] = []
        for at, block in blocks:
            opening, rest = self.block(at, block)
            for step in opening:
                step()
            waiting.append(rest)
        while any(waiting):
            self.habits.one_of(*(queue for queue in waiting if queue)).pop(0)()

    def block(
        self, at: int, block: Say | Call
    ) -> tuple[list[Callable[[], None]], list[Callable[[], None]]]:
        """Give the events of a block: those up to its opening, and the others."""
        habits = self.habits
        item = responses_item(at, block)
        place: dict[str, Any] = {"output_index": at} if self.places else {}
        if self.ids:
            place["item_id"] = item["id"]
        if isinstance(block, Call):
            kind, member = _call_kind(at)
            name = f"{kind}_{member}"
            whole = {member: block.arguments}
            empty: dict[str, Any] = {member: ""}
        else:
            is_text = block.kind == "text"
            name = "output_text" if is_text else "reasoning_summary_text"
            place["content_index" if is_text else "summary_index"] = 0
            whole = {"text": block.text}
            empty = {"content": []} if is_text else {"summary": []}
        added = {name: value for name, value in item.items() if name != "encrypted_content"} | empty
        index = {"output_index": at} if self.places else {}

        def later(kind: str, **members: Any) -> Callable[[], None]:
            return lambda: self.say(kind, **members)

        deltas = list(habits.deltas(block.pieces))
        # The forms that say all of it make up for deltas that are missing.
        whole_item = block.kind == "thinking" or not habits.seldom()
        if whole_item and any(map(_opens, deltas[:-1])) and habits.seldom():
            del deltas[-1]
        events = [later(f"{name}.delta", **place, delta=delta) for delta in deltas]
        opening = [later("output_item.added", **index, item=added)]
        if block.kind != "call":
            first = next((at for at, delta in enumerate(deltas) if _opens(delta)), len(deltas)) + 1
            opening += events[:first]
            events = events[first:]
        if habits.sometimes():
            events.append(later(f"{name}.done", **place, **whole))
        if block.kind == "text" and habits.sometimes():
            events.append(later("content_part.done", **place, part=item["content"][0]))
        if whole_item:
            events.append(later("output_item.done", **index, item=item))
        self.output.append(item)
        return opening, events


def _opens(delta: str) -> bool:
    """Tell whether a delta opens its block: half a character does not yet."""
    return bool(delta) and not re.fullmatch(r"\\ud[89ab][0-9a-f]{2}", delta)


def _call_kind(at: int) -> tuple[str, str]:
    """Give the type of a call and the member that holds its arguments: every other one is custom."""
    return ("custom_tool_call", "input") if at % 2 else ("function_call", "arguments")


def responses_item(at: int, block: Say | Call) -> dict[str, Any]:
    """Give the whole item of a block."""
    if isinstance(block, Call):
        kind, member = _call_kind(at)
        item = {"id": f"fc_{at}", "type": kind, "call_id": block.id, "name": block.name}
        return {**item, member: block.arguments, "status": "completed"}
    if block.kind == "text":
        part = {"type": "output_text", "text": block.text, "annotations": []}
        return {"id": f"msg_{at}", "type": "message", "role": "assistant", "content": [part]}
    item = {"id": f"rs_{at}", "type": "reasoning"}
    whole: dict[str, Any] = {**item, "summary": [{"type": "summary_text", "text": block.text}]}
    if block.signature is not None:
        whole["encrypted_content"] = block.signature
    return whole


def responses_end(turn: Turn) -> dict[str, Any]:
    """Give what the end of a response says: status, reason, usage."""
    reason = _INCOMPLETE.get(turn.reason)
    usage = None
    if turn.usage is not None:
        fresh, cached, generated = turn.usage
        usage = {
            "input_tokens": fresh + cached,
            "input_tokens_details": {"cached_tokens": cached},
            "output_tokens": generated,
        }
    return {
        "status": "incomplete" if reason else "completed",
        "incomplete_details": {"reason": reason} if reason else None,
        "usage": usage,
    }


def responses_frames(turn: Turn, habits: Habits) -> list[Frame]:
    """Say a turn as OpenAI Responses does."""
    return _Responses(turn, habits).frames_of_all()


GEMINI_REASONS = {
    "end_turn": "STOP",
    "tool_use": "STOP",
    "max_tokens": "MAX_TOKENS",
    "other": "LANGUAGE",
}


def gemini_frames(turn: Turn, habits: Habits) -> list[Frame]:
    """Say a turn as Gemini does."""
    parts = [part for block in turn.blocks for part in _gemini_parts(block, habits)]
    chunks: list[list[Any]] = []
    while parts:
        size = habits.one_of(1, 1, 1, 2, 4)
        chunks.append(parts[:size])
        del parts[:size]
    if habits.sometimes():
        chunks.append(habits.one_of([], [{"text": ""}]))
    everywhere = habits.sometimes()
    frames: list[Frame] = []
    for at, chunk in enumerate(chunks):
        is_last = at + 1 == len(chunks)
        if habits.seldom():
            other = {"index": 1, "content": {"parts": [{"text": "from another candidate"}]}}
            frames.append(Frame(habits.write({"candidates": [other], **HEADS["gemini"]})))
        candidate: dict[str, Any] = {"content": {"parts": chunk, "role": "model"}}
        if habits.sometimes():
            candidate["index"] = 0
        if is_last:
            candidate["finishReason"] = GEMINI_REASONS[turn.reason]
        payload: dict[str, Any] = {"candidates": [candidate]}
        reports = turn.usage is not None and (everywhere or is_last)
        if reports:
            payload["usageMetadata"] = gemini_usage(turn, None if is_last else at)
        payload |= HEADS["gemini"]
        frames.append(Frame(habits.write(payload), None, is_last, reports))
    return frames


def gemini_usage(turn: Turn, so_far: int | None = None) -> dict[str, Any]:
    assert turn.usage is not None
    fresh, cached, generated = turn.usage
    usage = {"promptTokenCount": fresh + cached, "cachedContentTokenCount": cached}
    return {**usage, "candidatesTokenCount": generated if so_far is None else so_far}


def _gemini_parts(block: Say | Call, habits: Habits) -> Iterator[dict[str, Any]]:
    if isinstance(block, Say):
        thought = {"thought": True} if block.kind == "thinking" else {}
        parts: list[dict[str, Any]] = [
            {"text": delta, **thought} for delta in habits.deltas(block.pieces)
        ]
        if block.signature is not None:
            proof = {"thoughtSignature": block.signature}
            if habits.sometimes():
                parts[-1] |= proof
            else:
                parts.append({"text": "", **thought, **proof})
        yield from parts
        return
    call = {"name": block.name, "id": block.id}
    pieces = _partial_args(block.arguments)
    if pieces is not None and habits.sometimes():
        yield {"functionCall": {**call, "willContinue": True}}
        while pieces:
            size = habits.one_of(1, 2, 5)
            more = {"willContinue": True} if len(pieces) > size or habits.sometimes() else {}
            yield {"functionCall": {"partialArgs": pieces[:size], **more}}
            del pieces[:size]
            if not pieces and more:
                yield {"functionCall": {}}
        return
    yield {"functionCall": {**call, **({"args": Raw(block.arguments)} if block.arguments else {})}}


def _partial_args(text: str) -> list[dict[str, Any]] | None:
    """Give the pieces of compact arguments, where pieces can say them: they cannot say what is empty."""
    if not is_object(text) or text == "{}":
        return None
    value = json.loads(text)
    if json.dumps(value, ensure_ascii=False, separators=(",", ":")) != text:
        return None
    pieces = list(_leaves("$", value))
    return None if any("empty" in piece for piece in pieces) else pieces


def _leaves(path: str, value: Any) -> Iterator[dict[str, Any]]:
    piece: dict[str, Any] = {"jsonPath": path}
    match value:
        case {} if not value:
            yield {"empty": True}
        case dict():
            for name, member in value.items():
                yield from _leaves(path + _selector(name), member)
        case []:
            yield {"empty": True}
        case list():
            for at, element in enumerate(value):
                yield from _leaves(f"{path}[{at}]", element)
        case None:
            yield {**piece, "nullValue": "NULL_VALUE"}
        case bool():
            yield {**piece, "boolValue": value}
        case int():
            yield {**piece, "numberValue": value}
        case _:
            half = len(value) // 2
            yield {**piece, "stringValue": value[:half], "willContinue": True}
            yield {**piece, "stringValue": value[half:]}


def _selector(name: str) -> str:
    """Write a member's name as the normalised paths of RFC 9535 do, or the short way."""
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        return f".{name}"
    escaped = json.dumps(name, ensure_ascii=False)[1:-1].replace('\\"', '"').replace("'", "\\'")
    return f"['{escaped}']"


def bedrock_frames(turn: Turn, habits: Habits) -> list[Frame]:  # noqa: C901 (one step an event)
    """Say a turn as Bedrock's Converse does."""
    frames: list[Frame] = []
    padded = habits.sometimes()

    def say(kind: str, *, ends: bool = False, reports: bool = False, **members: Any) -> None:
        if padded:
            members["p"] = "abcdefghij"[: len(frames) % 10 + 1]
        frames.append(Frame(habits.write(members), kind, ends, reports))

    if habits.seldom():
        frames.append(Frame("{}", "initial-response"))
    say("messageStart", role="assistant")
    number = habits.one_of(0, 3)
    for run in runs(turn.blocks):
        waiting: list[list[tuple[int, dict[str, Any]]]] = []
        for at, block in enumerate(run, number):
            if isinstance(block, Call):
                tool = {"toolUseId": block.id, "name": block.name}
                say("contentBlockStart", contentBlockIndex=at, start={"toolUse": tool})
            waiting.append([(at, delta) for delta in _bedrock_deltas(block, habits)])
            if not habits.seldom():
                _drain(waiting, _converse(say), habits)
        _drain(waiting, _converse(say), habits)
        for at in range(number, number + len(run)):
            say("contentBlockStop", contentBlockIndex=at)
        number += len(run) + habits.one_of(0, 0, 2)
    say("messageStop", ends=True, stopReason=BEDROCK_REASONS[turn.reason])
    if turn.usage is not None:
        say("metadata", reports=True, usage=bedrock_usage(turn), metrics={"latencyMs": 7})
    elif habits.sometimes():
        say("metadata", metrics={"latencyMs": 7})
    return frames


BEDROCK_REASONS = {
    "end_turn": "end_turn",
    "tool_use": "tool_use",
    "max_tokens": "max_tokens",
    "other": "odd",
}


def _converse(say: Callable[..., None]) -> Callable[..., None]:
    return lambda _, *, index, delta: say("contentBlockDelta", contentBlockIndex=index, delta=delta)


def _bedrock_deltas(block: Say | Call, habits: Habits) -> list[dict[str, Any]]:
    deltas: list[Body] = list(habits.deltas(block.pieces))
    if isinstance(block, Call):
        return [{"toolUse": {"input": delta}} for delta in deltas]
    if block.kind == "text":
        return [{"text": delta} for delta in deltas]
    said: list[dict[str, Any]] = [{"reasoningContent": {"text": delta}} for delta in deltas]
    if block.signature is not None:
        said.append({"reasoningContent": {"signature": block.signature}})
    return said


def bedrock_usage(turn: Turn) -> dict[str, Any]:
    assert turn.usage is not None
    fresh, cached, generated = turn.usage
    return {"inputTokens": fresh, "cacheReadInputTokens": cached, "outputTokens": generated}


ENCODERS: dict[Wire, Callable[[Turn, Habits], list[Frame]]] = {
    "anthropic": anthropic_frames,
    "openai-chat": chat_frames,
    "openai-responses": responses_frames,
    "gemini": gemini_frames,
    "bedrock-converse": bedrock_frames,
}


def can_say(turn: Turn, wire: Wire) -> bool:
    """Tell whether a wire can say a turn: Gemini has no way to say arguments that are no JSON."""
    return wire != "gemini" or all(
        call.arguments == "" or is_object(call.arguments) for call in turn.calls
    )
