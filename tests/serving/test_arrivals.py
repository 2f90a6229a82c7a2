"""Requests as they are written down: whole, and without credentials."""

from __future__ import annotations

import base64
import json
import sys

import pytest

from turntape import Dialect, InvalidRequest
from turntape.serving.arrivals import (
    REDACTED,
    RecordedRequest,
    RequestFile,
    without_credentials,
    without_keys,
)


def recorded(body=b"{}", **more):
    return RecordedRequest("POST", "/v1/messages", {"accept": "*/*"}, body, 200, **more)


@pytest.mark.parametrize(
    "name",
    [
        "Authorization",
        "proxy-authorization",
        "x-api-key",
        "api-key",
        "x-goog-api-key",
        "Cookie",
        "x-amz-security-token",
        "x-auth",
        "openai-client-secret",
    ],
)
def test_no_credential_of_a_header_is_kept(name):
    assert without_credentials([(name, "sk-1")]) == {name.lower(): REDACTED}


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("alt=sse&key=AIza", f"alt=sse&key={REDACTED}"),
        ("k%65y=AIza", f"k%65y={REDACTED}"),
        ("access_token=a&x=1", f"access_token={REDACTED}&x=1"),
        ("api-version=2026", "api-version=2026"),
        ("key", "key"),
        ("", ""),
    ],
)
def test_no_credential_of_a_query_is_kept(query, kept):
    assert without_keys(query) == kept


def test_a_line_holds_the_body_as_it_was_sent():
    body = b'{"n": 1.0,\r\n "big": 123456789012345678901234567890, "t": "a\\nb"}\n'
    line = recorded(body, turn="t", dialect=Dialect.ANTHROPIC, stream=True).to_line()
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert b'"body":{"n": 1.0,   "big": 123456789012345678901234567890' in line
    value = json.loads(line)
    assert (value["turn"], value["dialect"], value["stream"]) == ("t", "anthropic", True)
    assert value["body"]["t"] == "a\nb"
    assert value["time"].endswith("Z")


@pytest.mark.parametrize("body", [b"\xff\x00", b"{", b"[" * 100_000])
def test_a_body_that_is_no_json_stands_as_base64(body):
    value = json.loads(recorded(body).to_line())
    assert base64.b64decode(value["body_base64"]) == body
    assert "body" not in value


def test_the_request_that_was_sent():
    body = b'{"model":"m","max_tokens":3,"messages":[{"role":"user","content":"Hello?"}]}'
    request = recorded(body, dialect=Dialect.ANTHROPIC).request
    assert (request.model, request.max_tokens) == ("m", 3)
    assert recorded(body).json()["max_tokens"] == 3
    with pytest.raises(InvalidRequest, match="no provider has the path"):
        _ = recorded(body).request


def test_a_file_is_its_owners_alone_and_keeps_what_is_in_it(tmp_path):
    path = tmp_path / "requests.jsonl"
    for _ in range(2):
        file = RequestFile(path)
        file.write(recorded())
        assert path.read_bytes().endswith(b"\n")
        file.close()
    assert len(path.read_bytes().splitlines()) == 2
    if sys.platform != "win32":
        assert path.stat().st_mode & 0o077 == 0
