"""Writes the bundled streams whose framing no editor writes: run it to make them anew.

``bedrock.eventstream`` is a ConverseStream body in AWS's binary framing, ``gemini.json`` a body of Gemini
without ``alt=sse``, ``openai-responses.sse`` a Responses body, all with invented content.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from zlib import crc32

STREAMS = Path(__file__).parent / "streams"


def aws_message(kind: str, payload: object) -> bytes:
    """Frame an event: lengths and their checksum, headers, payload, and the checksum of it all."""
    headers = b"".join(
        struct.pack("!B", len(name)) + name + struct.pack("!BH", 7, len(value)) + value
        for name, value in (
            (b":event-type", kind.encode()),
            (b":content-type", b"application/json"),
            (b":message-type", b"event"),
        )
    )
    data = compact(payload)
    lengths = struct.pack("!II", 16 + len(headers) + len(data), len(headers))
    message = lengths + struct.pack("!I", crc32(lengths)) + headers + data
    return message + struct.pack("!I", crc32(message))


def compact(value: object) -> bytes:
    """Write JSON as providers do."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def pieces(text: str, size: int) -> list[str]:
    """Cut a text, as models do, without regard for its words."""
    return [text[start : start + size] for start in range(0, len(text), size)]


def bedrock() -> bytes:
    """A turn with reasoning, a text and a call; the usage comes after the stop."""

    def delta(index: int, value: object) -> bytes:
        return aws_message("contentBlockDelta", {"contentBlockIndex": index, "delta": value})

    def stop(index: int) -> bytes:
        return aws_message("contentBlockStop", {"contentBlockIndex": index})

    call = {"toolUse": {"toolUseId": "tooluse_demo_tide", "name": "read_tide_table"}}
    arguments = '{"harbour": "Ostwick", "days": 2}'
    return b"".join(
        [
            aws_message("messageStart", {"role": "assistant"}),
            *(
                delta(0, {"reasoningContent": {"text": piece}})
                for piece in pieces("The tide decides when we can leave.", 12)
            ),
            delta(0, {"reasoningContent": {"signature": "c2lnbmF0dXJlLW9mLWEtZGVtbw=="}}),
            stop(0),
            *(delta(1, {"text": piece}) for piece in pieces("Let me look at the tides. 🌊", 9)),
            stop(1),
            aws_message("contentBlockStart", {"contentBlockIndex": 2, "start": call}),
            *(delta(2, {"toolUse": {"input": piece}}) for piece in pieces(arguments, 10)),
            stop(2),
            aws_message("messageStop", {"stopReason": "tool_use"}),
            aws_message(
                "metadata",
                {
                    "usage": {"inputTokens": 212, "outputTokens": 61, "totalTokens": 273},
                    "metrics": {"latencyMs": 840},
                },
            ),
        ]
    )


def gemini() -> bytes:
    """A thought, a text and a call with its signature, as one JSON array."""

    def chunk(*parts: object, **more: object) -> object:
        candidate = {"content": {"parts": parts, "role": "model"}, "index": 0, **more}
        usage = {"promptTokenCount": 48, "candidatesTokenCount": 17, "thoughtsTokenCount": 9}
        return {
            "candidates": [candidate],
            "usageMetadata": usage,
            "modelVersion": "gemini-demo-1",
            "responseId": "demo-observatory",
        }

    call = {"name": "point_telescope", "args": {"target": "M31", "minutes": 20}}
    chunks = [
        chunk({"text": "Clear skies until two.", "thought": True}),
        chunk({"text": "The Andromeda galaxy stands "}),
        chunk({"text": "high tonight."}),
        chunk({"functionCall": call, "thoughtSignature": "ZGVtby1zaWduYXR1cmU="}),
        chunk({"text": ""}, finishReason="STOP"),
    ]
    return b"[" + b",\r\n".join(compact(each) for each in chunks) + b"]"


def responses() -> bytes:
    """Two items: a message with a citation, and a call."""
    response = {"id": "resp_demo_bakery", "object": "response", "model": "gpt-demo-2"}
    message = {"id": "msg_demo_1", "type": "message", "role": "assistant"}
    part = {"item_id": "msg_demo_1", "output_index": 0, "content_index": 0}
    text = "Rye bread needs a sourdough starter."
    note = {"type": "url_citation", "url": "https://bread.example/rye", "title": "Rye"}
    said = {"type": "output_text", "text": text, "annotations": [note]}
    call = {"id": "fc_demo_1", "type": "function_call", "call_id": "call_demo_1"}
    arguments = '{"flour":"rye","grams":500}'
    done_message = {**message, "status": "completed", "content": [said]}
    done_call = {**call, "name": "weigh_flour", "arguments": arguments, "status": "completed"}
    usage = {
        "input_tokens": 90,
        "input_tokens_details": {"cached_tokens": 64},
        "output_tokens": 33,
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    events: list[dict[str, object]] = [
        {"type": "response.created", "response": {**response, "status": "in_progress"}},
        {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": {**message, "content": []},
        },
        *(
            {"type": "response.output_text.delta", **part, "delta": piece}
            for piece in pieces(text, 11)
        ),
        {"type": "response.output_text.annotation.added", **part, "annotation": note},
        {"type": "response.output_text.done", **part, "text": text},
        {"type": "response.output_item.done", "output_index": 0, "item": done_message},
        {
            "type": "response.output_item.added",
            "output_index": 1,
            "item": {**call, "name": "weigh_flour", "arguments": ""},
        },
        *(
            {
                "type": "response.function_call_arguments.delta",
                "item_id": "fc_demo_1",
                "output_index": 1,
                "delta": piece,
            }
            for piece in pieces(arguments, 8)
        ),
        {"type": "response.output_item.done", "output_index": 1, "item": done_call},
        {
            "type": "response.completed",
            "response": {
                **response,
                "status": "completed",
                "output": [done_message, done_call],
                "usage": usage,
            },
        },
    ]
    return b"".join(
        b"event: %b\ndata: %b\n\n" % (str(event["type"]).encode(), compact(event))
        for event in events
    )


BODIES = {
    "bedrock.eventstream": bedrock,
    "gemini.json": gemini,
    "openai-responses.sse": responses,
}


def main() -> None:
    """Write the streams."""
    for name, body in BODIES.items():
        (STREAMS / name).write_bytes(body())


if __name__ == "__main__":
    main()
