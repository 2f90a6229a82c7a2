"""Requests as bytes on a socket, and answers as they come, broken off or not."""

from __future__ import annotations

import contextlib
import json
import socket
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

ASKED: dict[str, dict[str, Any]] = {
    "anthropic": {
        "model": "m",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": "Hello?"}],
    },
    "openai-chat": {"model": "m", "messages": [{"role": "user", "content": "Hello?"}]},
    "openai-responses": {"model": "m", "input": "Hello?"},
    "gemini": {"contents": [{"role": "user", "parts": [{"text": "Hello?"}]}]},
}
"""The body of a small request in each dialect."""

PATHS = {
    ("anthropic", True): "/v1/messages",
    ("anthropic", False): "/v1/messages",
    ("openai-chat", True): "/v1/chat/completions",
    ("openai-chat", False): "/v1/chat/completions",
    ("openai-responses", True): "/v1/responses",
    ("openai-responses", False): "/v1/responses",
    ("gemini", True): "/v1beta/models/m:streamGenerateContent?alt=sse",
    ("gemini", False): "/v1beta/models/m:generateContent",
}
"""Where each dialect is asked for a stream, and for a response that is none."""


@dataclass
class Reply:
    """An answer.

    Attributes:
        whole: Whether HTTP says that it ended, rather than broke off.
        chunks: The pieces in which the body was sent.
    """

    status: int
    headers: dict[str, str]
    body: bytes
    whole: bool
    chunks: list[bytes] = field(default_factory=list)

    def json(self) -> Any:
        return json.loads(self.body)


@contextlib.contextmanager
def connected(url: str) -> Generator[socket.socket]:
    parts = urlsplit(url)
    assert parts.hostname is not None
    with socket.create_connection((parts.hostname, parts.port or 80), timeout=30) as connection:
        yield connection


def request_bytes(
    path: str, body: bytes, headers: Mapping[str, str] | None = None, method: str = "POST"
) -> bytes:
    lines = {
        "host": "127.0.0.1",
        "content-type": "application/json",
        "content-length": str(len(body)),
        **(headers or {}),
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + body


def send(
    url: str,
    path: str,
    body: bytes | dict[str, Any],
    headers: Mapping[str, str] | None = None,
    method: str = "POST",
) -> Reply:
    """Send a request and read its answer to the end."""
    data = json.dumps(body).encode() if isinstance(body, dict) else body
    with connected(url) as connection:
        connection.sendall(request_bytes(path, data, headers, method))
        return read_reply(connection)


def ask(
    url: str, dialect: str, *, stream: bool, headers: Mapping[str, str] | None = None, **more: Any
) -> Reply:
    """Ask for a turn in a dialect."""
    body = {**ASKED[dialect], **more}
    if stream and dialect != "gemini":
        body["stream"] = True
    return send(url, PATHS[dialect, stream], body, headers)


def read_reply(connection: socket.socket) -> Reply:
    with connection.makefile("rb") as file:
        status = int(file.readline().split()[1])
        headers: dict[str, str] = {}
        while line := file.readline().strip().decode("latin-1"):
            name, _, value = line.partition(": ")
            headers[name.lower()] = value
        if "content-length" in headers:
            size = int(headers["content-length"])
            body = file.read(size)
            return Reply(status, headers, body, len(body) == size, [body])
        chunks: list[bytes] = []
        while size_line := file.readline():
            size = int(size_line, 16)
            chunk = file.read(size)
            file.readline()
            if not size:
                return Reply(status, headers, b"".join(chunks), whole=True, chunks=chunks)
            chunks.append(chunk)
        return Reply(status, headers, b"".join(chunks), whole=False, chunks=chunks)
