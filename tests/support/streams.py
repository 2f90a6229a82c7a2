"""Turns said on the wires: events, framed as each of them is."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, cast

from hypothesis import strategies as st
from tests.support.encoders import ENCODERS, WIRES, can_say
from tests.support.turns import Habits, turns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hypothesis.strategies import DrawFn
    from tests.support.encoders import Frame, Wire
    from tests.support.turns import Turn

Framing = Literal["sse", "array", "aws", "chunks"]
FRAMINGS: dict[Wire, tuple[Framing, ...]] = {
    "anthropic": ("sse", "chunks"),
    "openai-chat": ("sse",),
    "openai-responses": ("sse",),
    "gemini": ("sse", "array"),
    "bedrock-converse": ("aws",),
}


@dataclass
class Stream:
    """A written stream, with the byte offsets that tell what each prefix of it holds."""

    body: bytes = b""
    frames: tuple[Frame, ...] = ()
    framing: Framing = "sse"
    data_ends: list[int] = field(default_factory=list)
    block_ends: list[int] = field(default_factory=list)

    def end(self, *, flush: bool) -> int:
        """Return from which length on a prefix holds the end of the turn."""
        at = next(at for at, frame in enumerate(self.frames) if frame.ends)
        return (self.data_ends if flush else self.block_ends)[at]

    def usage_from(self) -> int | None:
        """Return from which length on a prefix holds a report of usage."""
        reports = [at for at, frame in enumerate(self.frames) if frame.reports_usage]
        return self.data_ends[reports[0]] if reports else None


_NOISE = (": keep-alive", ":", ": \u2028", "id: 7", "retry: 3000", "retry: soon", "x-unknown")


def _lay_out_sse(frames: Sequence[Frame], habits: Habits) -> Stream:
    """Write frames as server-sent events, with the noise that streams have."""
    end = habits.one_of("\n", "\r\n", "\r")
    noisy = habits.sometimes()
    space = habits.one_of(" ", "")
    stream = Stream(frames=tuple(frames))
    body = bytearray("\ufeff".encode() if habits.seldom() else b"")

    def line(text: str) -> None:
        body.extend((text + end).encode("utf-8", "surrogateescape"))

    for frame in frames:
        if noisy and habits.seldom():
            line(habits.one_of(*_NOISE))
            if habits.sometimes():
                line("")
        if frame.event is not None:
            line(f"event:{space}{frame.event}")
        for text in frame.data.split("\n"):
            line(f"data:{space}{text}")
        stream.data_ends.append(len(body) - len(end))
        # A lone CR already ends the block: what follows it may be the LF of the same line end.
        stream.block_ends.append(len(body) + 1)
        line("")
    stream.body = bytes(body)
    return stream


def aws_message(headers: dict[str, str], payload: bytes) -> bytes:
    """Write a message of the AWS event-stream framing."""
    head = b"".join(
        bytes([len(name)])
        + name.encode()
        + b"\7"
        + struct.pack(">H", len(value.encode()))
        + value.encode()
        for name, value in headers.items()
    )
    prelude = struct.pack(">II", 16 + len(head) + len(payload), len(head))
    message = prelude + struct.pack(">I", zlib.crc32(prelude)) + head + payload
    return message + struct.pack(">I", zlib.crc32(message))


def aws_event(kind: str, payload: bytes) -> bytes:
    headers = {":event-type": kind, ":content-type": "application/json", ":message-type": "event"}
    return aws_message(headers, payload)


def aws_chunk(payload: bytes) -> bytes:
    """Wrap an event of Anthropic's as Bedrock's InvokeModelWithResponseStream does."""
    wrapped = {"bytes": base64.b64encode(payload).decode(), "p": "abc"}
    return aws_event("chunk", json.dumps(wrapped).encode())


def lay_out(frames: Sequence[Frame], habits: Habits, framing: Framing) -> Stream:
    """Write frames in a framing."""
    if framing == "sse":
        return _lay_out_sse(frames, habits)
    stream = Stream(frames=tuple(frames), framing=framing)
    body = bytearray(habits.one_of(b"[", b"\n[ ") if framing == "array" else b"")
    for at, frame in enumerate(frames):
        data = frame.data.encode("utf-8", "surrogateescape")
        if framing == "array":
            body += habits.one_of(b",\r\n", b",", b" , ") if at else b""
            body += data
        else:
            body += aws_chunk(data) if framing == "chunks" else aws_event(frame.event or "", data)
        stream.data_ends.append(len(body))
    if framing == "array":
        body += habits.one_of(b"]", b"\n]\n")
    stream.block_ends = stream.data_ends
    stream.body = bytes(body)
    return stream


@st.composite
def streams(draw: DrawFn, turn: Turn, wire: Wire) -> Stream:
    """Say a turn on a wire, with habits made up for it."""
    habits = Habits(draw)
    return lay_out(ENCODERS[wire](turn, habits), habits, habits.one_of(*FRAMINGS[wire]))


@st.composite
def said(draw: DrawFn) -> tuple[Turn, Wire, Stream]:
    """Make up a turn and say it on one of the wires that can."""
    turn = draw(turns())
    able: list[Wire] = [wire for wire in WIRES if can_say(turn, wire)]
    wire = draw(st.sampled_from(able))
    return turn, wire, draw(streams(turn, wire))


def said_plainly(turn: Turn, wire: Wire) -> bytes:
    """Say a turn with the plainest habits that there are, in the first of the wire's framings."""
    habits = Habits(cast("DrawFn", lambda _: 0))
    return lay_out(ENCODERS[wire](turn, habits), habits, FRAMINGS[wire][0]).body
