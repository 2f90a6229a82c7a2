"""Hostile and very large input on the wires of Responses, Gemini and Bedrock.

As in ``test_limits``, no test measures time: work that grows with its square would not end in time.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.outcome import every
from tests.support.streams import aws_event

import turntape
from turntape import Text, ToolUse

if TYPE_CHECKING:
    from collections.abc import Iterable

MANY = 50_000


def responses(*events: tuple[str, dict[str, Any]]) -> bytes:
    ended = ("completed", {"response": {"status": "completed"}})
    payloads = (json.dumps({"type": f"response.{kind}", **rest}) for kind, rest in (*events, ended))
    return "".join(f"data: {payload}\n\n" for payload in payloads).encode()


def delta(item: int, text: str, part: int = 0) -> tuple[str, dict[str, Any]]:
    place = {"output_index": item, "content_index": part}
    return "output_text.delta", {**place, "delta": text}


def done(item: int, parts: int) -> tuple[str, dict[str, Any]]:
    content = [{"type": "output_text", "text": "x"}] * parts
    rest = {"output_index": item, "item": {"type": "message", "content": content}}
    return "output_item.done", rest


def candidate(*parts: Any, **members: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"parts": list(parts)}, **members}]}


def gemini(chunks: Iterable[dict[str, Any]]) -> bytes:
    end = candidate(finishReason="STOP")
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in (*chunks, end)).encode()


def arguments(paths: Iterable[str]) -> bytes:
    call = {"functionCall": {"name": "f", "willContinue": True}}
    pieces = ([{"jsonPath": path, "stringValue": "x"}] for path in paths)
    more = (candidate({"functionCall": {"partialArgs": p, "willContinue": True}}) for p in pieces)
    return gemini([candidate(call), *more])


def converse(*deltas: tuple[int, dict[str, Any]]) -> bytes:
    frames = (
        aws_event(
            "contentBlockDelta", json.dumps({"contentBlockIndex": at, "delta": said}).encode()
        )
        for at, said in deltas
    )
    return b"".join(frames) + aws_event("messageStop", b'{"stopReason":"end_turn"}')


def blocks_of(body: bytes, dialect: str) -> int:
    whole = turntape.decode_message(body, dialect)
    assert whole.complete
    decoder = turntape.StreamDecoder(dialect)
    for piece in every(body, 4093):
        decoder.feed(piece)
    decoder.finish()
    assert decoder.snapshot() == whole
    return len(whole.content)


def test_items():
    assert blocks_of(responses(*(delta(at, "x") for at in range(MANY))), "openai-responses") == MANY


def test_items_that_wait_for_half_a_character():
    events = [delta(at, half) for half in ("a\ud83d", "\udc0d") for at in range(MANY // 4)]
    body = responses(*events)
    assert blocks_of(body, "openai-responses") == MANY // 4
    assert turntape.decode_message(body, "openai-responses").content[0] == Text("a\U0001f40d")


def test_parts_of_one_item():
    body = responses(*(delta(0, "x", at) for at in range(MANY)), done(0, MANY))
    assert blocks_of(body, "openai-responses") == MANY


def test_many_parts_and_then_many_items():
    body = responses(done(0, MANY), *(done(at, 1) for at in range(1, MANY)))
    assert blocks_of(body, "openai-responses") == 2 * MANY - 1


def test_parts_of_a_summary():
    place = {"output_index": 0, "delta": "x", "text": "x"}
    kinds = ("reasoning_summary_text.delta", "reasoning_summary_text.done")
    events = [(kind, {**place, "summary_index": at}) for kind in kinds for at in range(MANY)]
    assert blocks_of(responses(*events), "openai-responses") == 1


def test_an_output_that_comes_whole():
    item = {"type": "message", "content": [{"type": "output_text", "text": "xy"}]}
    output = [{**item, "id": f"m{at}"} for at in range(MANY)]
    ended = ("completed", {"response": {"status": "completed", "output": output}})
    assert blocks_of(responses(ended), "openai-responses") == MANY
    events = [delta(at, "x") for at in range(MANY)]
    assert blocks_of(responses(*events, ended), "openai-responses") == MANY


@pytest.mark.parametrize(
    "path", ["$.a%d", "$.a[%d]", "$.a[-%d]", "$['%d']", "$.a.b", "$.a[4%09d]", "$.a%d.b.c.d.e"]
)
def test_paths_of_arguments(path):
    paths = [path % at if "%" in path else path for at in range(MANY)]
    assert blocks_of(arguments(paths), "gemini") == 1


def test_paths_that_contradict():
    body = arguments(["$.a.b", "$.a[0]"] * (MANY // 2))
    [call] = turntape.decode_message(body, "gemini").content
    assert isinstance(call, ToolUse)
    assert call.arguments == '{"a":["x"]}'


@pytest.mark.parametrize("step", [".a", "[0]", "['a']", "[", "."])
def test_a_deep_path(step):
    assert blocks_of(arguments(["$" + step * MANY] * 3), "gemini") == 1


def test_a_gap_in_an_array():
    body = arguments(["$.a[4000000000]", "$.a[1]", "$.a[99999999999999999999]"])
    [call] = turntape.decode_message(body, "gemini").content
    assert isinstance(call, ToolUse)
    assert len(call.arguments) < 100


@pytest.mark.parametrize(
    "parts",
    [
        [{"text": "x"}, {"text": "y", "thought": True}],
        [{"functionCall": {"name": "f", "args": {}}}],
        [{"inlineData": {"data": "eA=="}}, {"thoughtSignature": "s"}],
    ],
    ids=["speech", "calls", "others"],
)
def test_parts_of_one_chunk(parts):
    assert blocks_of(gemini([candidate(*parts * MANY)]), "gemini") >= MANY


def test_elements():
    chunk = json.dumps(candidate({"text": "x"}))
    end = json.dumps(candidate(finishReason="STOP"))
    body = f"[{f'{chunk},' * MANY}{'1,[],' * MANY}{end}]".encode()
    decoder = turntape.StreamDecoder("gemini")
    for piece in every(body, 61):
        decoder.feed(piece)
    decoder.finish()
    assert decoder.snapshot().content == (Text("x" * MANY),)


def test_blocks_open_at_once():
    body = converse(*((at, {"text": "x"}) for at in range(MANY)))
    assert blocks_of(body, "bedrock-converse") == MANY


def test_blocks_at_one_number():
    body = converse(*[(0, {"reasoningContent": {"redactedContent": "eA=="}})] * MANY)
    assert blocks_of(body, "bedrock-converse") == MANY


LONG = '[{\\"' * (1 << 19) + "x" * (1 << 22)


@pytest.mark.parametrize("size", [61, 4096])
@pytest.mark.parametrize("form", ["array", "message"])
def test_a_payload_of_many_megabytes(form, size):
    if form == "array":
        dialect = "gemini"
        payload = candidate({"text": LONG}, finishReason="STOP")
        body = b"[" + json.dumps(payload).encode() + b"]"
    else:
        dialect = "bedrock-converse"
        body = converse((0, {"text": LONG}))
    decoder = turntape.StreamDecoder(dialect)
    for piece in every(body, size):
        decoder.feed(piece)
    decoder.finish()
    assert decoder.snapshot().content == (Text(LONG),)


MEMORY = """
import resource, turntape
event = (
    'data: {"type":"response.output_text.delta","output_index":0,"item_id":"%s","delta":""}\\n\\n'
)
decoder = turntape.StreamDecoder("openai-responses")
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
decoder.feed(event % "x")
before = peak()
for at in range(100_000):
    decoder.feed(event % (f"{at:08}" * 50))
print((peak() - before) // 1024)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems count memory in other ways")
def test_ids_that_rotate_are_not_kept():
    run = subprocess.run(
        [sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True, timeout=120
    )
    # 40 MB of ids went through.
    assert int(run.stdout) < 8
