"""How each wire says a turn that is not streamed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st
from tests.support.encoders import (
    BEDROCK_REASONS,
    GEMINI_REASONS,
    HEADS,
    anthropic_usage,
    bedrock_usage,
    can_say,
    chat_end,
    gemini_usage,
    responses_end,
    responses_item,
)
from tests.support.turns import Call, Habits, Raw, is_object

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn
    from tests.support.encoders import Wire
    from tests.support.turns import Say, Turn


def can_hold(turn: Turn, wire: Wire) -> bool:
    """Tell whether a body of the wire can hold a turn."""
    if wire == "openai-chat":
        # One place each for reasoning, text and calls.
        kinds = [block.kind for block in turn.blocks]
        order = ["thinking", "text", "call"]
        ranks = [order.index(kind) for kind in kinds]
        return ranks == sorted(ranks)
    if wire == "openai-responses":
        return True
    if wire == "gemini":
        return can_say(turn, wire)
    # Where arguments are JSON, the empty object stands for none.
    return all(is_object(call.arguments) and call.arguments != "{}" for call in turn.calls)


def _anthropic(turn: Turn, habits: Habits) -> dict[str, Any]:
    def block(said: Say | Call) -> dict[str, Any]:
        if isinstance(said, Call):
            call = {"type": "tool_use", "id": said.id, "name": said.name}
            return {**call, "input": Raw(said.arguments)}
        proof = {"signature": said.signature} if said.signature is not None else {}
        return {"type": said.kind, said.kind: said.text, **proof}

    body = {**HEADS["anthropic"], "content": [block(said) for said in turn.blocks]}
    body |= {"stop_reason": turn.reason, "stop_sequence": None}
    if turn.usage is not None:
        body["usage"] = anthropic_usage(turn, output=True)
    elif habits.sometimes():
        body["usage"] = None
    return body


def _chat(turn: Turn, habits: Habits) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": None}
    calls = []
    for block in turn.blocks:
        if isinstance(block, Call):
            function = {"name": block.name, "arguments": block.arguments}
            calls.append({"id": block.id, "type": "function", "function": function})
        elif block.kind == "text":
            message["content"] = block.text
        else:
            message[habits.one_of("reasoning_content", "reasoning")] = block.text
    if calls:
        message["tool_calls"] = calls
    reason, usage = chat_end(turn)
    choice = {"index": 0, "message": message, "finish_reason": reason}
    other = {"index": 1, "message": {"content": "from another choice"}, "finish_reason": "stop"}
    choices = habits.one_of([choice], [choice, other])
    return {**HEADS["openai-chat"], "object": "chat.completion", "choices": choices, **usage}


def _responses(turn: Turn, _: Habits) -> dict[str, Any]:
    output = [responses_item(at, block) for at, block in enumerate(turn.blocks)]
    return {**HEADS["openai-responses"], **responses_end(turn), "output": output}


def _gemini(turn: Turn, _: Habits) -> dict[str, Any]:
    def part(block: Say | Call) -> dict[str, Any]:
        if isinstance(block, Call):
            args = {"args": Raw(block.arguments)} if block.arguments else {}
            return {"functionCall": {"name": block.name, "id": block.id, **args}}
        thought = {"thought": True} if block.kind == "thinking" else {}
        proof = {"thoughtSignature": block.signature} if block.signature is not None else {}
        return {"text": block.text, **thought, **proof}

    content = {"parts": [part(block) for block in turn.blocks], "role": "model"}
    candidate = {"content": content, "finishReason": GEMINI_REASONS[turn.reason]}
    usage = {} if turn.usage is None else {"usageMetadata": gemini_usage(turn)}
    return {"candidates": [candidate], **usage, **HEADS["gemini"]}


def _bedrock(turn: Turn, _: Habits) -> dict[str, Any]:
    def block(said: Say | Call) -> dict[str, Any]:
        if isinstance(said, Call):
            call = {"toolUseId": said.id, "name": said.name, "input": Raw(said.arguments)}
            return {"toolUse": call}
        if said.kind == "text":
            return {"text": said.text}
        proof = {"signature": said.signature} if said.signature is not None else {}
        return {"reasoningContent": {"reasoningText": {"text": said.text, **proof}}}

    message = {"role": "assistant", "content": [block(said) for said in turn.blocks]}
    usage = {} if turn.usage is None else {"usage": bedrock_usage(turn)}
    return {"output": {"message": message}, "stopReason": BEDROCK_REASONS[turn.reason], **usage}


_ENCODERS = {
    "anthropic": _anthropic,
    "openai-chat": _chat,
    "openai-responses": _responses,
    "gemini": _gemini,
    "bedrock-converse": _bedrock,
}


@st.composite
def bodies(draw: DrawFn, turn: Turn, wire: Wire) -> str:
    """Say a turn in one body, with habits made up for it."""
    habits = Habits(draw)
    return habits.write(_ENCODERS[wire](turn, habits))
