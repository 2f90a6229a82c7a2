"""A right body of each dialect, written by hand: system, tools, a round of two calls, an image, reasoning.

The checks of bodies have to take these, and have to refuse each change that a test makes to them.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Final

from turntape import Dialect

__all__ = ["DELETE", "PIXEL", "changed", "good_body"]

DELETE: Final = object()
"""As a new value: the member or entry is taken away."""

PIXEL: Final = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGOoBwAAgQCA05RTSgAAAABJRU5ErkJggg=="
)
"""A PNG of one pixel, in base64."""

_SCHEMA: dict[str, Any] = {"type": "object", "properties": {"n": {"type": "integer"}}}

_ANTHROPIC: dict[str, Any] = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 4096,
    "stream": True,
    "thinking": {"type": "enabled", "budget_tokens": 1024},
    "system": [{"type": "text", "text": "Be terse.", "cache_control": {"type": "ephemeral"}}],
    "tools": [{"name": "dim", "description": "Dims a lamp.", "input_schema": _SCHEMA}],
    "tool_choice": {"type": "auto", "disable_parallel_tool_use": True},
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Both lamps?"},
                {
                    "type": "image",
                    "source": {"type": "base64", "media_type": "image/png", "data": PIXEL},
                },
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Two calls.", "signature": "c2ln"},
                {"type": "redacted_thinking", "data": "b3BhcXVl"},
                {"type": "text", "text": "Dimming."},
                {"type": "tool_use", "id": "toolu_1", "name": "dim", "input": {"n": 1}},
                {"type": "tool_use", "id": "toolu_2", "name": "dim", "input": {"n": 2}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": "done"},
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_2",
                    "content": [{"type": "text", "text": "no such lamp"}],
                    "is_error": True,
                },
                {
                    "type": "text",
                    "text": "And now?",
                    "cache_control": {"type": "ephemeral", "ttl": "1h"},
                },
            ],
        },
    ],
}

_CHAT: dict[str, Any] = {
    "model": "gpt-4o",
    "stream": True,
    "stream_options": {"include_usage": True},
    "max_completion_tokens": 256,
    "stop": ["END"],
    "tools": [
        {
            "type": "function",
            "function": {"name": "dim", "description": "Dims a lamp.", "parameters": _SCHEMA},
        }
    ],
    "tool_choice": "auto",
    "messages": [
        {"role": "system", "content": "Be terse."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Both lamps?"},
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}},
            ],
        },
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "call_1",
                    "type": "function",
                    "function": {"name": "dim", "arguments": '{"n": 1}'},
                },
                {
                    "id": "call_2",
                    "type": "function",
                    "function": {"name": "dim", "arguments": '{"n": 2}'},
                },
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "done"},
        {"role": "tool", "tool_call_id": "call_2", "content": "no such lamp"},
        {"role": "user", "content": "And now?"},
    ],
}

_RESPONSES: dict[str, Any] = {
    "model": "gpt-5",
    "stream": True,
    "store": False,
    "include": ["reasoning.encrypted_content"],
    "instructions": "Be terse.",
    "tools": [
        {
            "type": "function",
            "name": "dim",
            "description": "Dims a lamp.",
            "parameters": _SCHEMA,
            "strict": False,
        }
    ],
    "input": [
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "Both lamps?"},
                {
                    "type": "input_image",
                    "detail": "auto",
                    "image_url": f"data:image/png;base64,{PIXEL}",
                },
            ],
        },
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "ZW5j"},
        {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "call_1",
            "name": "dim",
            "arguments": '{"n": 1}',
        },
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "One more.", "annotations": []}],
        },
        {"type": "custom_tool_call", "call_id": "call_2", "name": "draw", "input": "a pier"},
        {"type": "function_call_output", "call_id": "call_1", "output": "done"},
        {
            "type": "custom_tool_call_output",
            "call_id": "call_2",
            "output": [{"type": "input_text", "text": "drawn"}],
        },
        {"role": "user", "content": [{"type": "input_text", "text": "And now?"}]},
    ],
}

_GEMINI: dict[str, Any] = {
    "systemInstruction": {"parts": [{"text": "Be terse."}]},
    "tools": [
        {
            "functionDeclarations": [
                {"name": "dim", "description": "Dims.", "parametersJsonSchema": _SCHEMA}
            ]
        }
    ],
    "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["dim"]}},
    "generationConfig": {
        "maxOutputTokens": 256,
        "thinkingConfig": {"thinkingLevel": "LOW", "includeThoughts": True},
    },
    "contents": [
        {
            "role": "user",
            "parts": [
                {"text": "Both lamps?"},
                {"inlineData": {"mimeType": "image/png", "data": PIXEL}},
            ],
        },
        {
            "role": "model",
            "parts": [
                {"text": "Dimming."},
                {
                    "functionCall": {"name": "dim", "args": {"n": 1}, "id": "c1"},
                    "thoughtSignature": "c2ln",
                },
                {"functionCall": {"name": "dim", "args": {"n": 2}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": "dim", "id": "c1", "response": {"output": "done"}}},
                {"functionResponse": {"name": "dim", "response": {"error": "no such lamp"}}},
            ],
        },
    ],
}

_BEDROCK: dict[str, Any] = {
    "system": [{"text": "Be terse."}, {"cachePoint": {"type": "default"}}],
    "inferenceConfig": {"maxTokens": 256, "temperature": 0.5},
    "toolConfig": {
        "tools": [
            {
                "toolSpec": {
                    "name": "dim",
                    "description": "Dims a lamp.",
                    "inputSchema": {"json": _SCHEMA},
                }
            }
        ],
        "toolChoice": {"any": {}},
    },
    "messages": [
        {
            "role": "user",
            "content": [
                {"text": "Both lamps?"},
                {"image": {"format": "png", "source": {"bytes": PIXEL}}},
                {"cachePoint": {"type": "default"}},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {
                    "reasoningContent": {
                        "reasoningText": {"text": "Two calls.", "signature": "c2ln"}
                    }
                },
                {"text": "Dimming."},
                {"toolUse": {"toolUseId": "tooluse_1", "name": "dim", "input": {"n": 1}}},
                {"toolUse": {"toolUseId": "functions.dim:0", "name": "dim", "input": {"n": 2}}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"toolResult": {"toolUseId": "tooluse_1", "content": [{"text": "done"}]}},
                {
                    "toolResult": {
                        "toolUseId": "functions.dim:0",
                        "content": [{"text": "no such lamp"}],
                        "status": "error",
                    }
                },
                {"text": "And now?"},
            ],
        },
    ],
}

_BODIES: dict[Dialect, dict[str, Any]] = {
    Dialect.ANTHROPIC: _ANTHROPIC,
    Dialect.OPENAI_CHAT: _CHAT,
    Dialect.OPENAI_RESPONSES: _RESPONSES,
    Dialect.GEMINI: _GEMINI,
    Dialect.BEDROCK_CONVERSE: _BEDROCK,
}


def good_body(dialect: Dialect | str) -> dict[str, Any]:
    """Give a copy of a dialect's right body."""
    return deepcopy(_BODIES[Dialect(dialect)])


def changed(dialect: Dialect | str, path: str, value: Any) -> dict[str, Any]:
    """Give a dialect's right body with one place changed.

    Args:
        dialect: The dialect.
        path: The place, steps parted by slashes; digits are places of lists, ``+`` is behind the last one.
        value: What stands there instead; a function gets what stood there.
    """
    body = good_body(dialect)
    *steps, last = (int(step) if step.isdigit() else step for step in path.split("/"))
    holder: Any = body
    for step in steps:
        holder = holder[step]
    if value is DELETE:
        del holder[last]
    elif last == "+":
        holder.append(value)
    else:
        holder[last] = value(holder[last]) if callable(value) else value
    return body
