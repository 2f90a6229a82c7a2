"""Streams that went wrong: valid ones, edited at random."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import strategies as st
from tests.support.streams import aws_chunk, aws_event, aws_message, lay_out, said
from tests.support.turns import Habits

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn
    from tests.support.encoders import Frame

# What is worth putting in: tokens of SSE, of JSON and of the wires.
_TOKENS = st.sampled_from(
    [
        b"\n", b"\r", b"\n\n", b"\r\n\r\n", b":", b" ", b"data:", b"data: ", b"data: [DONE]\n\n",
        b"event: error\n", b"error: ", b'error: {"error":{"message":"m"}}\n', b"id: 1\n", b"retry: 1\n",
        b"\xef\xbb\xbf", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\0", b'"', b"\\", b"\\ud83d", b"\\udc0d",
        b"{", b"}", b"[", b"]", b",", b"null", b"1e9", b"-", b"true",
        b'{"error":{"message":"no","code":429}}\n\n', b'"error":{"type":"overloaded_error"},',
        b'data: {"type":"message_stop"}\n\n', b'data: {"type":"error","error":{}}\n\n',
        b'"index":0', b'"index":1', b'"finish_reason":"stop"', b'"usage":{"prompt_tokens":1}',
        b'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{"}}]}}]}\n\n',
        b'data: {"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"f"}}]}}]}\n\n',
        b'data: {"choices":[{"delta":{"tool_calls":[{"index":1},{"function":{"name":"f"}}]}}]}\n\n',
        b'data: {"choices":[{"delta":{"function_call":{"name":"f","arguments":"{}"}}}]}\n\n',
        b'data: {"choices":[{"delta":{"images":[{"type":"image_url"}],"annotations":[{"a":1}]}}]}\n\n',
        b'data: {"choices":[{"delta":{"reasoning_details":[{"signature":"s"},{"id":"a","data":"d"}]}}]}\n\n',
        b'data: {"choices":[{"delta":{"content":[{"type":"text","text":"t"},{"type":"x"}]}}]}\n\n',
        b'data: {"choices":[{"delta":{"content":"a\\ud83d","refusal":"no"},"logprobs":{}}]}\n\n',
        b'data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}]}\n\n',
        b'data: {"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use"}}\n\n',
        b'data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\\ud83d"}}\n\n',
        b'data: {"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{}}}\n\n',
        b'data: {"type":"content_block_delta","index":0,"delta":{"type":"odd_delta","a":"b"}}\n\n',
        b'data: {"type":"content_block_start","index":7,"content_block":{"type":"redacted_thinking","data":"d"}}\n\n',
        b'data: {"type":"content_block_start","index":5,"content_block":{"type":"text","text":"\\ud83d"}}\n\n',
        b'data: {"type":"content_block_stop","index":0}\n\n', b'data: {"type":"odd_event"}\n\n',
        b'data: {"type":"message_start","message":{"id":"other"}}\n\n',
        b'data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}\n\n',
        b'data: {"type":"response.output_text.delta","output_index":0,"delta":"a\\ud83d"}\n\n',
        b'data: {"type":"response.output_text.done","output_index":0,"text":"ab"}\n\n',
        b'data: {"type":"response.reasoning_text.delta","output_index":0,"delta":"r"}\n\n',
        b'data: {"type":"response.function_call_arguments.delta","output_index":1,"delta":"{"}\n\n',
        b'data: {"type":"response.output_item.done","output_index":1,"item":{"type":"reasoning","encrypted_content":"e"}}\n\n',
        b'data: {"type":"response.completed","response":{"output":[{"type":"message","content":[{"text":"z"}]}]}}\n\n',
        b'"output_index":0', b'"output_index":1', b'"type":"function_call"', b'"type":"message"',
        b'data: {"candidates":[{"content":{"parts":[{"text":"a\\ud83d"},{"text":"t","thought":true}]}}]}\n\n',
        b'data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","willContinue":true}}]}}]}\n\n',
        b'data: {"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1}}\n\n',
        b'"thought":true,', b'"willContinue":true,', b'"finishReason":"STOP",', b'"candidates":[]',
        b'"contentBlockIndex":0', b'"contentBlockIndex":1', b'"stopReason":"end_turn"',
        b'{"text":"t"}', b'{"toolUse":{"input":"{"}}', b'{"reasoningContent":{"redactedContent":"eA=="}}',
    ]
)  # fmt: skip


@st.composite
def _shuffled(draw: DrawFn, frames: tuple[Frame, ...]) -> list[Frame]:
    """Leave out, repeat and exchange whole events."""
    order = list(range(len(frames)))
    for _ in range(draw(st.integers(0, 4))):
        if not order:
            break
        at = draw(st.integers(0, len(order) - 1))
        match draw(st.sampled_from(["drop", "repeat", "swap"])):
            case "drop":
                del order[at]
            case "repeat":
                order.insert(draw(st.integers(0, len(order))), order[at])
            case _:
                other = draw(st.integers(0, len(order) - 1))
                order[at], order[other] = order[other], order[at]
    return [frames[at] for at in order]


@st.composite
def _edited(draw: DrawFn, body: bytes) -> bytes:
    """Change bytes: put tokens in, take pieces out, overwrite, repeat, cut off."""
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(body)))
        to = min(len(body), at + draw(st.integers(0, 40)))
        match draw(st.sampled_from(["put", "put", "take", "overwrite", "repeat", "cut"])):
            case "put":
                body = body[:at] + draw(_TOKENS) + body[at:]
            case "take":
                body = body[:at] + body[to:]
            case "overwrite":
                body = body[:at] + draw(st.binary(max_size=3)) + body[at + 1 :]
            case "repeat":
                body = body[:to] + body[at:]
            case _:
                body = body[:at]
    return body


@st.composite
def broken(draw: DrawFn) -> tuple[str, bytes]:
    """Make up a turn, say it on a wire, and break the stream."""
    _, wire, stream = draw(said())
    frames = draw(_shuffled(stream.frames))
    if frames and stream.framing != "sse":
        # Bytes changed in a framing with checksums are hardly read: here its payloads are what is broken.
        at = draw(st.integers(0, len(frames) - 1))
        data = draw(_edited(frames[at].data.encode()))
        frames[at] = replace(frames[at], data=data.decode("utf-8", "surrogateescape"))
    body = lay_out(frames, Habits(draw), stream.framing).body
    if stream.framing == "sse" or draw(st.integers(0, 3)) == 0:
        body = draw(_edited(body))
    return wire, body


@st.composite
def soup(draw: DrawFn) -> bytes:
    """Make a stream of nothing but tokens."""
    return b"".join(draw(st.lists(_TOKENS | st.binary(max_size=4), max_size=25)))


_CONVERSE = (
    ("messageStart", b'{"role":"assistant"}'),
    (
        "contentBlockStart",
        b'{"contentBlockIndex":0,"start":{"toolUse":{"toolUseId":"i","name":"f_g"}}}',
    ),
    ("contentBlockStart", b'{"contentBlockIndex":1,"start":{"image":{"format":"png"}}}'),
    ("contentBlockDelta", b'{"contentBlockIndex":0,"delta":{"text":"a"},"p":"x"}'),
    ("contentBlockDelta", b'{"contentBlockIndex":0,"delta":{"text":"b\\ud83d"},"p":"xy"}'),
    ("contentBlockDelta", b'{"contentBlockIndex":0,"delta":{"toolUse":{"input":"{}"}}}'),
    (
        "contentBlockDelta",
        b'{"contentBlockIndex":1,"delta":{"reasoningContent":{"signature":"s"}}}',
    ),
    ("contentBlockDelta", b'{"contentBlockIndex":1,"delta":{"citation":{"title":"t"}}}'),
    ("odd", b'{"contentBlockIndex":0,"delta":{"text":"a"},"p":"x"}'),
    ("contentBlockStop", b'{"contentBlockIndex":0}'),
    ("messageStop", b'{"stopReason":"tool_use"}'),
    ("metadata", b'{"usage":{"inputTokens":1},"trace":{"a":1}}'),
    ("modelStreamErrorException", b'{"message":"m"}'),
    ("contentBlockDelta", b"{"),
)
_MESSAGES = st.sampled_from(
    [
        *(aws_event(kind, payload) for kind, payload in _CONVERSE),
        *(aws_chunk(payload) for payload in (b'{"type":"message_stop"}', b"{", b"odd")),
        aws_message({":exception-type": "throttlingException", ":message-type": "exception"}, b"{}"),
        aws_message({":error-code": "500", ":error-message": "m", ":message-type": "error"}, b""),
        aws_message({}, b'{"error":{"message":"m"}}'),
    ]
)  # fmt: skip


@st.composite
def message_soup(draw: DrawFn) -> bytes:
    """Make a stream of nothing but AWS messages, some with a byte wrong."""
    return draw(_flipped(b"".join(draw(st.lists(_MESSAGES, max_size=12)))))


@st.composite
def _flipped(draw: DrawFn, body: bytes) -> bytes:
    if not body or draw(st.integers(0, 3)):
        return body
    at = draw(st.integers(0, len(body) - 1))
    return body[:at] + bytes([body[at] ^ draw(st.integers(1, 255))]) + body[at + 1 :]
