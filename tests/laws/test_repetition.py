"""Streams whose events repeat: whole ones may be read quicker, but never otherwise than cut ones."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.outcome import cut, decode_chunks, decode_whole, every
from tests.support.samples import chunk, message, start

# A JSON string body; the surrogate halves may or may not find each other.
HOLES = st.sampled_from(
    [
        "",
        "a",
        "bc",
        "\\n",
        "\\ud83d",
        "\\udc0d",
        "\\ud83d\\udc0d",
        "\u00e9",
        "x\\ud83d",
        "\\udc0dy",
        '\\"',
    ]
)
LABELS = st.sampled_from(["", "p", "q", "\\ud83d", "\u00e9"])
DELTAS = {
    "openai-chat": [
        '{"content":"%"}',
        '{"content":"%","refusal":""}',
        '{"content":"","refusal":"%"}',
        '{"content":"s","content":"%"}',
        '{"content":"%","reasoning":""}',
        '{"reasoning":"%"}',
        '{"reasoning_content":"%","reasoning":"b"}',
        '{"reasoning":"%","reasoning_text":"c","content":""}',
        '{"reasoning":"%","reasoning_details":[{"text":"d"}]}',
        '{"reasoning":"%","reasoning_details":[{"signature":"d"}]}',
        '{"content":[{"type":"text","text":"%"}]}',
        '{"content":"%","annotations":[]}',
        '{"content":"%","audio":{"a":1}}',
        '{"tool_calls":[{"index":0,"function":{"arguments":"%"}}]}',
        '{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"%"}}]}',
        '{"tool_calls":[{"index":9},{"index":0,"function":{"arguments":"%"}}]}',
        '{"tool_calls":[{"index":0,"function":{"arguments":"%"}},{"index":9}]}',
        '{"tool_calls":[{"function":{"arguments":"%"}}]}',
        '{"content":"s","tool_calls":[{"index":0,"function":{"arguments":"%"}}]}',
        '{"function_call":{"name":"f","arguments":"%"}}',
        '{"content":"%","function_call":{"name":"f"}}',
    ],
    "anthropic": [
        '{"type":"text_delta","text":"%"}',
        '{"type":"text_delta","text":"%","citation":{}}',
        '{"type":"thinking_delta","thinking":"%"}',
        '{"type":"signature_delta","signature":"%"}',
        '{"type":"input_json_delta","partial_json":"%"}',
        '{"type":"citations_delta","text":"%"}',
        '{"type":"odd_delta","text":"%"}',
    ],
}
PAYLOADS = {
    "openai-chat": [
        '{"choices":[{"delta":$}]}',
        '{"choices":[{"index":0,"delta":$,"finish_reason":null}],"usage":null}',
        '{"id":"@","model":"@","choices":[{"delta":$}],"obfuscation":"@"}',
        '{"id":"@","id":"@","choices":[{"delta":$}]}',
        '{"choices":[{"delta":$,"logprobs":{}}]}',
        '{"choices":[{"delta":$},{"index":0,"delta":{"content":"z"}}]}',
        '{"choices":[{"delta":$},{"index":1,"delta":{"content":"z"}}]}',
        '{"choices":[{"delta":$}],"usage":{"prompt_tokens":1}}',
        '{"choices":[{"delta":$}],"citations":["c"]}',
        '{"choices":[{"delta":$}],"choices":[{"delta":$}]}',
        '{"choices":[{"delta":$}],"error":"@"}',
        '{"message":"@","choices":[{"delta":$}]}',
        ' {"choices":[{"delta":$}]}   ',
        '{"choices":[{"delta":$}]}}',
    ],
    "anthropic": [
        '{"type":"content_block_delta","index":0,"delta":$}',
        '{"type":"content_block_delta","index":1,"delta":$}',
        '{"type":"content_block_delta","index":2,"delta":$,"p":"@"}',
        '{"delta":$,"index":0,"type":"content_block_delta"}',
        '{"type":"content_block_delta","index":0,"delta":$,"error":"@"}',
        '{"type":"content_block_delta","index":9,"delta":$}',
    ],
}
FRAMINGS = [
    "data: *\n\n",
    "data:*\n\n",
    "data:\t *\n\n",
    "event: e\ndata: *\n\n",
    "event: e\ndata:*\n\n",
    "data: *\nevent: e\n\n",
    "event: error\nevent: e\ndata: *\n\n",
    "event: error\ndata: *\n\n",
    "data: *\r\n\r\n",
    "data: *\r\n\n",
    "data: *\r\r",
    "id: 1\ndata: *\n\n",
    "data: *\ndata:\n\n",
    "data:\ndata: *\n\n",
    ": c\ndata: *\n\n",
    "data: *\n\n: c\n\n",
    "data: *\n\nevent: error\n\n",
]
PROLOGUES = {
    "openai-chat": [
        "",
        chunk({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f"}}]}),
    ],
    "anthropic": [
        message("message_start", message={})
        + start(0, "text", text="")
        + start(1, "tool_use", id="i", name="n", input={"a": 1})
        + start(2, "thinking", thinking="")
    ],
}
EPILOGUES = {
    "openai-chat": ["", chunk(None, "stop"), chunk(None, "stop") + "data: [DONE]\n\n"],
    "anthropic": ["", message("message_stop")],
}


def check_repeated(wire: str, body: bytes, places: list[int], **options) -> None:
    expected = decode_chunks(every(body, 1), wire, **options)
    assert decode_whole(body, wire, **options) == expected
    assert decode_chunks(cut(body, places), wire, **options) == expected


@st.composite
def repeated(draw):
    wire = draw(st.sampled_from(sorted(DELTAS)))
    body = draw(st.sampled_from(PROLOGUES[wire]))
    for _ in range(draw(st.integers(1, 2))):
        framing = draw(st.sampled_from(FRAMINGS))
        payload = draw(st.sampled_from(PAYLOADS[wire]))
        event = framing.replace("*", payload.replace("$", draw(st.sampled_from(DELTAS[wire]))))
        for _ in range(draw(st.integers(1, 6))):
            hole = draw(HOLES)
            label = draw(LABELS)
            body += event.replace("%", hole).replace("@", label)
    return wire, (body + draw(st.sampled_from(EPILOGUES[wire]))).encode()


@given(
    repeated(),
    st.lists(st.integers(0, 5000), max_size=5),
    st.booleans(),
    st.none() | st.integers(20, 140),
)
def test_repeated_events(case, places, strict, limit):
    wire, body = case
    check_repeated(wire, body, places, strict=strict, max_event_bytes=limit)


SEQUENCE = ["a", "bc", "", "x\\ud83d", "c", "\\udc0dy", "a", "\\ud83d", "\\udc0d", "e", "e"]


@pytest.mark.parametrize("framing", FRAMINGS)
@pytest.mark.parametrize("wire", sorted(DELTAS))
def test_every_kind_of_repetition(wire, framing):
    for delta, payload in itertools.product(DELTAS[wire], PAYLOADS[wire]):
        event = framing.replace("*", payload.replace("$", delta))
        events = [
            event.replace("%", hole).replace("@", label)
            for hole, label in zip(SEQUENCE, itertools.cycle("pqq"), strict=False)
        ]
        body = "".join([PROLOGUES[wire][-1], *events, EPILOGUES[wire][-1]]).encode()
        variants: list[dict[str, Any]] = [{}, {"strict": True}]
        variants.append({"max_event_bytes": len(payload) + len(delta) + 3})
        for options in variants:
            # Pieces this small hold no whole event.
            expected = decode_chunks(every(body, 19), wire, **options)
            assert decode_whole(body, wire, **options) == expected, (event, options)


def texts(member: str, *bodies: str, rest: str = "") -> str:
    payloads = (f'{{"choices":[{{"delta":{{"{member}":"{body}"{rest}}}}}]}}' for body in bodies)
    return "".join(f"data: {payload}\n\n" for payload in payloads) + chunk(None, "stop")


@pytest.mark.parametrize(
    ("body", "options"),
    [
        pytest.param(
            texts("reasoning_content", "a", "c", "", rest=',"reasoning":"b"'), {}, id="other name"
        ),
        pytest.param(texts("content", "a", "b", "x\\ud83d", "c", "c"), {"strict": True}, id="half"),
        pytest.param(
            texts("content", "a", "b", "c" * 10).replace("}]}\n", "}]}" + " " * 20 + "\n"),
            {"max_event_bytes": 60},
            id="space counts",
        ),
        pytest.param(
            texts("content", "a", "b", "c\\udc00").replace("data: ", "data:  "), {}, id="offset"
        ),
        pytest.param(
            texts("content", "a", "b", "c\\udc00").replace("data: ", "event: e\ndata:"),
            {},
            id="offset behind a name",
        ),
        pytest.param(
            chunk({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f"}}]})
            + 3
            * chunk({"tool_calls": [{"index": 9}, {"index": 0, "function": {"arguments": "1"}}]})
            + chunk(None, "stop"),
            {},
            id="dropped fragment",
        ),
    ],
)
def test_what_once_differed(body, options):
    check_repeated("openai-chat", body.encode(), [], **options)


@pytest.mark.parametrize("name", [b"event: \xff\n", b"id: \xff\n", b"retry: \xff\n", b": \xff\n"])
def test_a_name_that_is_no_utf8(name):
    body = texts("content", "a", "b", "c").encode().replace(b"data: ", name + b"data: ")
    check_repeated("openai-chat", body, [])


def test_a_repeated_event_says_the_same_each_time():
    body = texts("content", *(json.dumps(f"{at} ")[1:-1] for at in range(500)))
    outcome = decode_whole(body, "openai-chat")
    said = "".join(event.text for event in outcome.events if event.type == "text_delta")
    assert said == "".join(f"{at} " for at in range(500))
