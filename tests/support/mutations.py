"""Streams that went wrong: valid ones, edited at random."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st
from tests.support.turns import Habits, lay_out, said

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn
    from tests.support.turns import Frame, Stream

# What is worth putting in: tokens of SSE, of JSON and of the two wires.
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
    written: Stream = lay_out(draw(_shuffled(stream.frames)), Habits(draw))
    return wire, draw(_edited(written.body))


@st.composite
def soup(draw: DrawFn) -> bytes:
    """Make a stream of nothing but tokens."""
    return b"".join(draw(st.lists(_TOKENS | st.binary(max_size=4), max_size=25)))
