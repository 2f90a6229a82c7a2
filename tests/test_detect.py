"""Telling the dialect from a body: what tells, and what only looks as if it did."""

from __future__ import annotations

import json

import pytest

from turntape import Dialect, UnknownDialect, detect_dialect


def events(*payloads: object) -> bytes:
    return b"".join(b"data: %b\n\n" % json.dumps(payload).encode() for payload in payloads)


@pytest.mark.parametrize(
    ("body", "dialect"),
    [
        pytest.param(
            events({"type": "ping"}, {"type": "message_start", "message": {"id": "m"}}),
            Dialect.ANTHROPIC,
            id="a ping before the message",
        ),
        pytest.param(
            events({"type": "ping"}, {"type": "response.created", "response": {"id": "r"}}),
            Dialect.OPENAI_RESPONSES,
            id="a ping before a response",
        ),
        pytest.param(
            json.dumps({"type": "message", "role": "assistant", "content": []}).encode(),
            Dialect.ANTHROPIC,
            id="a message that was not streamed",
        ),
        pytest.param(
            events({"type": "error", "code": "server_error", "message": "no", "param": None}),
            Dialect.OPENAI_RESPONSES,
            id="an error beside its type",
        ),
        pytest.param(
            events({"type": "error", "code": None, "message": "no", "sequence_number": 2}),
            Dialect.OPENAI_RESPONSES,
            id="an error without a code",
        ),
        pytest.param(
            events({"type": "error", "sequence_number": 2, "error": {"type": "server_error"}}),
            Dialect.OPENAI_RESPONSES,
            id="a numbered error",
        ),
        pytest.param(
            events({"type": "error", "error": {"type": "server_error", "param": "input"}}),
            Dialect.OPENAI_RESPONSES,
            id="an error that names a parameter",
        ),
        pytest.param(
            events({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}),
            Dialect.ANTHROPIC,
            id="an error in Anthropic's shape",
        ),
        pytest.param(
            b'[{"error": {"code": 404, "message": "no", "status": "NOT_FOUND"}}]',
            Dialect.GEMINI,
            id="an error in an array",
        ),
    ],
)
def test_the_first_payload_that_tells_decides(body: bytes, dialect: Dialect) -> None:
    assert detect_dialect(body) is dialect


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            events({"type": "completion", "completion": " Hi", "stop": None}, {"type": "ping"}),
            id="Anthropic's old completions",
        ),
        pytest.param(
            events(
                {"object": "text_completion", "choices": [{"index": 0, "text": "Hi"}]},
                {"object": "text_completion", "choices": [{"delta": {}, "finish_reason": "stop"}]},
            ),
            id="OpenAI's old completions, ended as if they were chat",
        ),
        pytest.param(
            b'{"type": "message", "id": "3f", "message": {"role": "user"}}\n',
            id="a row of a transcript",
        ),
        pytest.param(events({"type": "ping"}), id="a ping alone"),
        pytest.param(events({"message": "Signature expired"}), id="a message of any service"),
        pytest.param(
            events({"id": "x", "event": "text-generation", "delta": {"message": "Hi"}}),
            id="another provider's events",
        ),
        pytest.param(
            events({"jsonrpc": "2.0", "id": 1, "error": {"code": -32600, "message": "no"}}),
            id="JSON-RPC",
        ),
    ],
)
def test_what_does_not_tell_is_no_dialect(body: bytes) -> None:
    with pytest.raises(UnknownDialect):
        detect_dialect(body)
