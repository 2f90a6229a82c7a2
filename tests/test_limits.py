"""Hostile and very large input: it ends, and memory is bounded by the output and one event.

No test here measures time. Each input is one that work growing with its square would not get through
within the time that any test has.
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import tracemalloc

import pytest
from tests.support.outcome import every
from tests.support.samples import (
    ANTHROPIC,
    CHAT,
    CUT,
    call,
    chunk,
    delta,
    message,
    start,
    stop,
)

import turntape
from turntape import (
    InvalidToolArguments,
    MalformedEvent,
    ProviderBlock,
    ProviderError,
    SseDecoder,
    StreamDecoder,
    StreamError,
    ToolUse,
)

MANY = 100_000


def test_brackets():
    for text in ("[" * MANY, '{"a":' * MANY, "[" * MANY + "]" * MANY, '{"a":[' * MANY):
        with pytest.raises(StreamError):
            turntape.decode(f"data: {text}\n\n", "openai-chat")
        tool = ToolUse("id", "name", text)
        assert tool.invalid in {"too_deep", "malformed"}
        assert tool.partial_input() is not None
        with pytest.raises(InvalidToolArguments):
            _ = tool.input


def test_the_depth_of_a_payload_is_limited():
    def body(depth: int) -> str:
        nested = "[" * depth + "]" * depth
        return f'data: {{"a":{nested},"choices":[{{"delta":{{}},"finish_reason":"stop"}}]}}\n\n'

    assert turntape.decode_message(body(511), "openai-chat").complete
    with pytest.raises(MalformedEvent, match="deep"):
        turntape.decode(body(512), "openai-chat")


def test_data_lines():
    lines = "data: [\n" + "data: 1,\n" * MANY + "data: 1]\n\n"
    [event] = SseDecoder().feed(lines)
    assert event.data.count("\n") == MANY + 1
    decoder = SseDecoder()
    for piece in every(lines.encode(), 5):
        decoder.feed(piece)
    assert decoder.finish() == []


def test_a_long_line_in_single_bytes():
    decoder = StreamDecoder("openai-chat", max_event_bytes=1 << 22)
    text = "x" * (1 << 20)
    events = []
    for byte in every(chunk({"content": text}).encode(), 1):
        events += decoder.feed(byte)
    assert events[-1] == turntape.TextDelta(0, text)


def test_a_line_of_many_megabytes():
    text = "y" * (8 << 20)
    body = chunk({"content": text}).encode()
    decoder = StreamDecoder("openai-chat")
    events = []
    for piece in every(body, 1024):
        events += decoder.feed(piece)
    assert events[-1] == turntape.TextDelta(0, text)


def test_open_blocks():
    body = message("message_start", message={"id": "m"})
    body += "".join(start(at, "text", text="a") for at in range(MANY))
    body += "".join(delta(at, "text_delta", text="b") for at in range(0, MANY, 100))
    body += "".join(stop(at) for at in range(MANY - 1, MANY // 2, -1)) + message("message_stop")
    decoded = turntape.decode_message(body, "anthropic")
    assert len(decoded.content) == MANY


def test_a_block_opened_again_and_again():
    body = (
        message("message_start", message={"id": "m"})
        + start(0, "tool_use", id="a", name="b") * MANY
    )
    decoded = turntape.decode_message(body + message("message_stop"), "anthropic")
    assert len(decoded.content) == MANY


def test_calls_in_one_chunk():
    calls = [{"index": at, "id": f"c{at}", "function": {"name": "f"}} for at in range(MANY)]
    more = [{"index": at, "function": {"arguments": "{}"}} for at in range(MANY)]
    body = chunk({"tool_calls": calls}) + chunk({"tool_calls": more}) + chunk(None, "tool_calls")
    decoded = turntape.decode_message(body, "openai-chat")
    assert [block.arguments for block in decoded.content if isinstance(block, ToolUse)] == [
        "{}"
    ] * MANY


@pytest.mark.parametrize("place", ["nameless", "by id", "same id", "no index"])
def test_calls_in_every_disguise(place):
    def fragment(at: int) -> object:
        return {
            "nameless": {"index": 0, "function": {"arguments": "1"}},
            "by id": {"id": f"c{at}", "function": {"name": "f", "arguments": "1"}},
            "same id": {"index": at, "id": "c", "function": {"name": "f"}},
            "no index": {"function": {"name": f"f{at}", "arguments": ""}},
        }[place]

    count = MANY // 2
    body = chunk(call("", id="c0", name="f")) + chunk(
        {"tool_calls": [fragment(at) for at in range(count)]}
    )
    body += "".join(chunk({"tool_calls": [fragment(at)]}) for at in range(count // 5))
    assert turntape.decode_message(body + chunk(None, "stop"), "openai-chat").complete


def test_names_in_pieces():
    body = chunk(call("", id="c")) + "".join(
        chunk(call("", name=f"{at % 10}")) for at in range(MANY // 4)
    )
    [tool] = turntape.decode_message(body + chunk(None, "stop"), "openai-chat").content
    assert isinstance(tool, ToolUse)


def test_members_of_an_extension_block():
    body = message("message_start", message={"id": "m"}) + start(0, "odd_block")
    body += "".join(delta(0, "odd_delta", **{f"m{at}": "v"}) for at in range(MANY))
    body += "".join(delta(0, "odd_delta", same="v") for _ in range(MANY // 10))
    [block] = turntape.decode_message(body + message("message_stop"), "anthropic").content
    assert isinstance(block, ProviderBlock)
    assert len(json.loads(block.json)) == MANY + 2


def test_members_of_one_delta_of_an_extension_block():
    members = {f"m{at}": "v" for at in range(MANY)}
    body = message("message_start", message={"id": "m"}) + start(0, "odd_block", **members)
    body += delta(0, "odd_delta", **members) + message("message_stop")
    [block] = turntape.decode_message(body, "anthropic").content
    assert isinstance(block, ProviderBlock)
    assert json.loads(block.json)["m7"] == "vv"


@pytest.mark.parametrize("known", ["none", "calls", "other"])
def test_entries_that_sign(known):
    entries = [{"type": "reasoning.encrypted", "data": "d", "id": f"c{at}"} for at in range(MANY)]
    if known == "none":
        entries = [{key: entry[key] for key in ("type", "data")} for entry in entries]
    body = chunk({"reasoning_details": entries})
    if known == "calls":
        calls = [{"index": at, "id": f"c{at}", "function": {"name": "f"}} for at in range(MANY)]
        body += chunk({"tool_calls": calls})
    elif known == "other":
        body += "".join(chunk(call("", id="x", name="f")) for _ in range(MANY // 10))
    decoded = turntape.decode_message(body + chunk(None, "stop"), "openai-chat")
    signed = [block for block in decoded.content if getattr(block, "signature", None)]
    assert len(signed) == MANY


def test_warnings():
    body = "data: ping\n\n" * MANY + 'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n'
    assert len(turntape.decode_message(body, "openai-chat").warnings) == MANY


def test_lines_outside_of_the_stream():
    body = "junk\n" * MANY + "\n" + "junk\n\n" * MANY + "error: junk\n" * MANY
    with pytest.raises(StreamError, match="junk"):
        turntape.decode(body, "openai-chat")


def test_escapes():
    body = chunk({"content": "\U0001f40d" * MANY}, "stop")
    [text] = turntape.decode_message(body, "openai-chat").content
    assert isinstance(text, turntape.Text)
    assert len(text.text) == MANY
    halves = "".join(chunk({"content": "?"}).replace("?", "\\ud83d") for _ in range(MANY // 10))
    assert turntape.decode_message(halves + chunk(None, "stop"), "openai-chat").complete


def test_numbers():
    digits = "9" * MANY
    assert ToolUse("i", "n", f'{{"a":{digits}}}').input["a"] == int("9" * 4000) * 10 ** (
        MANY - 4000
    ) + (10 ** (MANY - 4000) - 1)
    usage = f'data: {{"choices":[{{"delta":{{}},"finish_reason":"stop"}}],"usage":{{"prompt_tokens":{digits}}}}}\n\n'
    decoded = turntape.decode_message(usage, "openai-chat")
    assert decoded.usage is None or decoded.usage.input_tokens == 0


def test_detection_looks_at_much():
    body = "data: ping\n\n" * MANY + chunk({"content": "Hi"})
    assert turntape.detect_dialect(body) == "openai-chat"
    with pytest.raises(turntape.UnknownDialect):
        turntape.detect_dialect("data: {\n\n" * MANY)


def test_a_whole_error_body():
    body = json.dumps({"error": {"message": "m" * MANY}})
    with pytest.raises(ProviderError):
        turntape.decode(body, "openai-chat")


MEMORY = """
import resource, turntape
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
decoder = turntape.StreamDecoder("openai-chat")
other = b'data: {"choices":[{"index":1,"delta":{"content":"' + b"x" * 900 + b'"}}]}\\n\\n'
piece = (b": " + b"k" * 900 + b"\\n" + other) * 1000
decoder.feed(b'data: {"choices":[{"delta":{"content":"Hi"}}]}\\n\\n')
decoder.feed(piece)
before = peak()
for _ in range(60):
    assert decoder.feed(piece) == []
comment = b": " + b"k" * (1 << 20)
for _ in range(40):
    decoder.feed(comment)
decoder.feed(b"\\n\\n" + b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\\n\\n')
decoder.finish()
print((peak() - before) // 1024, decoder.snapshot().complete)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems count memory in other ways")
def test_a_long_stream_is_not_kept():
    run = subprocess.run(
        [sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True, timeout=120
    )
    growth, complete = run.stdout.split()
    assert complete == "True"
    # More than 100 MiB went through; growth is in MiB.
    assert int(growth) < 16


def decode_everything() -> None:
    for body, wire in ((CHAT, "openai-chat"), (ANTHROPIC, "anthropic"), (CUT, "openai-chat")):
        decoder = StreamDecoder(wire)
        try:
            for piece in every(body.encode(), 40):
                decoder.feed(piece)
            decoder.finish()
        except StreamError:
            decoder.snapshot()
        try:
            turntape.assemble(turntape.decode(body, wire))
        except StreamError as error:
            assert error.partial is not None  # noqa: PT017 (it may raise or not)
        turntape.decode_many([body, body], wire, threads=2)
        SseDecoder().feed(body)


def test_nothing_leaks():
    decode_everything()
    objects = [
        turntape.TextDelta,
        turntape.MessageStart,
        turntape.ToolUse,
        turntape.Dialect.ANTHROPIC,
    ]
    counts = [sys.getrefcount(item) for item in objects]
    tracemalloc.start()
    try:
        for _ in range(20):
            decode_everything()
        gc.collect()
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(200):
            decode_everything()
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # One leaked object a round would be some ten thousand bytes.
    assert after - before < 8_000
    grown = [sys.getrefcount(item) - count for item, count in zip(objects, counts, strict=True)]
    assert max(grown) < 50


def test_a_cycle_through_an_event_is_collected():
    class Holder:
        events: list[turntape.StreamEvent]

    gc.collect()
    holder = Holder()
    holder.events = turntape.decode(CHAT, "openai-chat")
    assert all(gc.is_tracked(event) for event in holder.events)
    assert gc.get_referents(holder.events[0])
