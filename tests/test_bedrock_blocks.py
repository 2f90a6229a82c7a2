"""Bedrock's own blocks: what their deltas say joins their starts, so that they can be sent back."""

from __future__ import annotations

import json

from tests.support.aws import aws_message

from turntape import ProviderBlock, assemble, decode, decode_message


def body(start: object, *deltas: object) -> bytes:
    payloads = [
        ("contentBlockStart", {"contentBlockIndex": 0, "start": start}),
        *(("contentBlockDelta", {"contentBlockIndex": 0, "delta": delta}) for delta in deltas),
        ("contentBlockStop", {"contentBlockIndex": 0}),
        ("messageStop", {"stopReason": "end_turn"}),
    ]
    return b"".join(
        aws_message(kind, json.dumps(payload, separators=(",", ":")).encode())
        for kind, payload in payloads
    )


def block(start: object, *deltas: object) -> str:
    stream = body(start, *deltas)
    message = decode_message(stream, "bedrock-converse")
    assert assemble(decode(stream, "bedrock-converse")).content == message.content
    (found,) = message.content
    assert isinstance(found, ProviderBlock)
    return found.json


def test_a_tool_result_keeps_its_start_and_collects_its_content():
    start = {"toolResult": {"toolUseId": "t1", "type": "web_result", "status": "success"}}
    first = {"toolResult": [{"text": "a"}, {"json": {"n": 1}}]}
    assert block(start, first, {"toolResult": [{"text": "b"}]}) == (
        '{"toolResult":{"toolUseId":"t1","type":"web_result","status":"success",'
        '"content":[{"text":"a"},{"json":{"n":1}},{"text":"b"}]}}'
    )


def test_a_tool_result_without_content_is_its_start():
    start = {"toolResult": {"toolUseId": "t1"}}
    assert block(start) == '{"toolResult":{"toolUseId":"t1"}}'
    assert block(start, {"toolResult": []}) == '{"toolResult":{"toolUseId":"t1","content":[]}}'


def test_an_image_keeps_its_format():
    start = {"image": {"format": "png"}}
    delta = {"image": {"source": {"bytes": "iVBO"}}}
    assert block(start, delta) == '{"image":{"format":"png","source":{"bytes":"iVBO"}}}'
    assert block({"image": {}}, delta) == '{"image":{"source":{"bytes":"iVBO"}}}'
