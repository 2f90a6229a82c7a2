"""Writing a body as JSON, against what a host would write with `json` and `orjson`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from benches.ratio import Target

from turntape.wire.raw_json import RawJson, write_json

if TYPE_CHECKING:
    from benches.conftest import Meter

AGAINST_JSON = Target(3)
AGAINST_ORJSON = Target()

ARGUMENTS = '{"command": "grep -rn \'fn main\' src | head -20", "cwd": "/srv/app", "timeout": 30}'
RESULT = "src/main.rs:12:fn main() -> Result<(), Error> {\nsrc/bin/tool.rs:3:fn main() {\n" * 12


def body(*, raw: bool) -> dict[str, Any]:
    """Give a body of 36 messages: twelve rounds of a question, a call and its result."""
    messages: list[dict[str, Any]] = []
    for at in range(12):
        arguments = RawJson(ARGUMENTS) if raw else json.loads(ARGUMENTS)
        text = {"type": "text", "text": f"And where does number {at} begin, as far as you see?"}
        call = {"type": "tool_use", "id": f"toolu_{at:024}", "name": "shell", "input": arguments}
        result = {"type": "tool_result", "tool_use_id": call["id"], "content": RESULT}
        messages += [
            {"role": "user", "content": [text]},
            {"role": "assistant", "content": [{"type": "text", "text": "I will look."}, call]},
            {"role": "user", "content": [result]},
        ]
    return {"model": "m", "max_tokens": 4096, "stream": True, "messages": messages}


def dumps(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def test_against_json(meter: Meter) -> None:
    ready, parsed = body(raw=True), body(raw=False)
    assert json.loads(write_json(ready)[0]) == json.loads(dumps(parsed))
    meter.compare(
        "write_json, 36 messages, against json.dumps",
        lambda: write_json(ready),
        lambda: dumps(parsed),
        AGAINST_JSON,
    )


def test_against_orjson(meter: Meter) -> None:
    orjson = pytest.importorskip("orjson", reason="orjson is what the writer is measured against")
    value = body(raw=False)
    assert write_json(value) == (orjson.dumps(value), 0)
    meter.compare(
        "write_json, 36 messages, against orjson.dumps",
        lambda: write_json(value),
        lambda: orjson.dumps(value),
        AGAINST_ORJSON,
    )
