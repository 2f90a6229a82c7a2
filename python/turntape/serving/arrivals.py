"""Requests as they arrived, without credentials."""

from __future__ import annotations

import base64
import json
import os
import re
import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_plus

from turntape._native import split_json, write_json
from turntape.errors import InvalidRequest
from turntape.wire.inbound.read import from_request
from turntape.wire.raw_json import RawJson

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import BinaryIO

    from turntape.notes import ReplayNote
    from turntape.requests import ModelRequest
    from turntape.wire.dialect import Dialect

__all__ = ["REDACTED", "RecordedRequest", "RequestFile", "without_credentials", "without_keys"]

REDACTED = "[redacted]"
"""What stands where a credential stood."""

_SECRET = re.compile(r"auth|cookie|key|secret|token|credential|password|signature", re.IGNORECASE)


def without_credentials(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Take the values of headers away that are or may be credentials.

    >>> without_credentials([("X-Api-Key", "sk-1"), ("accept", "*/*")])
    {'x-api-key': '[redacted]', 'accept': '*/*'}
    """
    return {name.lower(): REDACTED if _SECRET.search(name) else value for name, value in headers}


def without_keys(query: str) -> str:
    """Take the values of query parameters away that are or may be credentials.

    >>> without_keys("alt=sse&key=AIza")
    'alt=sse&key=[redacted]'
    """
    parts: list[str] = []
    for part in query.split("&"):
        name, is_there, _ = part.partition("=")
        secret = is_there and _SECRET.search(unquote_plus(name))
        parts.append(f"{name}={REDACTED}" if secret else part)
    return "&".join(parts)


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """A request that a replay server was sent, and what it got.

    Attributes:
        method: The HTTP method.
        path: The path with its query; keys in it are redacted.
        headers: The headers, their names in small letters; credentials in them are redacted.
        body: The body as it arrived.
        status: The status that it was answered with.
        turn: The name of the turn that it got; None where it got none.
        dialect: The dialect of the path; None where no provider has that path.
        stream: Whether a stream was asked for; None where that could not be told.
        error: Why it got no turn; None where it got one.
        notes: What of the turn the dialect cannot say.
        model: The model that the path names, for Gemini.
        time: When it had arrived, in UTC.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes = field(repr=False)
    status: int
    turn: str | None = None
    dialect: Dialect | None = None
    stream: bool | None = None
    error: str | None = None
    notes: tuple[ReplayNote, ...] = ()
    model: str | None = None
    time: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def request(self) -> ModelRequest:
        """The request, as :func:`turntape.from_request` reads it.

        Raises:
            InvalidRequest: It cannot be read, or the path is no provider's.
        """
        if self.dialect is None:
            raise InvalidRequest(f"no provider has the path {self.path}")
        return from_request(self.body, self.dialect, model=self.model)

    def json(self) -> Any:
        """The body as Python values.

        Raises:
            ValueError: It is no JSON.
        """
        return json.loads(self.body)

    def to_line(self) -> bytes:
        """The request as a line of JSON.

        A body that is JSON stands in it as it was sent, but for line ends; any other stands in it as
        base64, under ``body_base64``.
        """
        name, body = _body_member(self.body)
        value = {
            "time": self.time.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "method": self.method,
            "path": self.path,
            "headers": dict(self.headers),
            name: body,
            "dialect": None if self.dialect is None else self.dialect.value,
            "stream": self.stream,
            "turn": self.turn,
            "status": self.status,
            "error": self.error,
            "notes": [note.to_dict() for note in self.notes],
        }
        line, _ = write_json(value)
        return line + b"\n"


def _body_member(body: bytes) -> tuple[str, RawJson | str | None]:
    if not body:
        return "body", None
    try:
        text = body.decode()
        split_json(text)
    except ValueError:
        return "body_base64", base64.b64encode(body).decode()
    return "body", RawJson(text.strip().replace("\r", " ").replace("\n", " "))


class RequestFile:
    """A file of requests, a line each, which only its owner may read. Several threads may write.

    Args:
        path: The file; what is in it stays.

    Raises:
        OSError: It cannot be written.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Open the file."""
        self._lock = threading.Lock()
        self._file: BinaryIO = open(  # noqa: SIM115 (closed by `close`)
            Path(path), "ab", opener=lambda name, flags: os.open(name, flags, 0o600)
        )

    def write(self, request: RecordedRequest) -> None:
        """Put a request into the file. It is there when this returns."""
        line = request.to_line()
        with self._lock:
            self._file.write(line)
            self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()
