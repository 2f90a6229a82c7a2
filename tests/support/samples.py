"""Small streams that hold one of everything."""

from __future__ import annotations

import json
from typing import Any


def chunk(delta: Any = None, reason: str | None = None, **members: Any) -> str:
    """Write one chunk of a Chat stream."""
    choice = {"index": 0, "delta": delta or {}, "finish_reason": reason}
    payload = {"id": "chat-1", "model": "quill", "choices": [choice], **members}
    return f"data: {json.dumps(payload)}\n\n"


def call(arguments: str, **members: Any) -> dict[str, Any]:
    """Write a delta with a fragment of one tool call."""
    function = {"arguments": arguments}
    if "name" in members:
        function["name"] = members.pop("name")
    return {"tool_calls": [{"index": 0, **members, "function": function}]}


def message(kind: str, **members: Any) -> str:
    """Write one event of an Anthropic stream."""
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **members})}\n\n"


def start(index: int, kind: str, **members: Any) -> str:
    return message("content_block_start", index=index, content_block={"type": kind, **members})


def delta(index: int, kind: str, **members: Any) -> str:
    return message("content_block_delta", index=index, delta={"type": kind, **members})


def stop(index: int) -> str:
    return message("content_block_stop", index=index)


DONE = "data: [DONE]\n\n"

CHAT = (
    chunk({"role": "assistant", "reasoning_content": "Let me see."})
    + chunk({"content": "It rains "})
    + chunk({"content": "in Oslo."})
    + chunk(call("", id="call_1", name="weather"))
    + chunk(call('{"city": '))
    + chunk(call('"Oslo"}'))
    + chunk(None, "tool_calls")
    + chunk(None, usage={"prompt_tokens": 20, "completion_tokens": 9, "total_tokens": 29})
    + DONE
)
"""Thinking, text, a call, usage."""

ANTHROPIC = (
    message(
        "message_start", message={"id": "msg_1", "model": "heron", "usage": {"input_tokens": 9}}
    )
    + start(0, "thinking", thinking="")
    + delta(0, "thinking_delta", thinking="Hm.")
    + delta(0, "signature_delta", signature="c2ln")
    + stop(0)
    + start(1, "redacted_thinking", data="b3BhcXVl")
    + stop(1)
    + start(2, "text", text="")
    + delta(2, "citations_delta", citation={"title": "Atlas"})
    + delta(2, "text_delta", text="It rains.")
    + stop(2)
    + start(3, "server_tool_use", id="srv_1", name="search", input={})
    + delta(3, "input_json_delta", partial_json='{"q": 1}')
    + stop(3)
    + start(4, "tool_use", id="toolu_1", name="weather", input={}, caller={"type": "direct"})
    + delta(4, "input_json_delta", partial_json='{"city": "Oslo"}')
    + stop(4)
    + message("message_delta", delta={"stop_reason": "tool_use"}, usage={"output_tokens": 30})
    + message("message_stop")
)
"""Every event and every block that there is."""

CUT = chunk({"content": "It rai"}) + chunk(call('{"city": "Os', id="call_1", name="weather"))
"""Ends in the middle of a call."""

REFUSED = 'data: {"error": {"message": "Slow down.", "type": "rate_limit_error", "code": 429}}\n\n'
"""A provider's error."""

ODD = chunk({"content": "Hi"}, "tool_calls") + "data: keep-alive\n\n" + DONE
"""Whole, with two warnings."""
