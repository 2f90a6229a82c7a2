"""The streams that the benchmarks decode: made from a fixed seed, in the shape of real ones.

Each comes with its truth, so that every benchmark can check its answer before it is timed.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import string
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DialectName: TypeAlias = Literal[
    "anthropic", "openai-chat", "openai-responses", "gemini", "bedrock-converse"
]

DIALECTS: tuple[DialectName, ...] = (
    "openai-chat",
    "anthropic",
    "openai-responses",
    "gemini",
    "bedrock-converse",
)

READ_SIZE = 8 * 1024
"""What one read from a socket gives."""

TEXT_DELTAS = 800
ARGUMENT_FRAGMENTS = 25

_WORDS = (
    *("the", "of", "and", "to", "in", "is", "that", "it", "for", "as", "with", "was", "on", "be"),
    *("by", "this", "are", "from", "at", "or", "an", "have", "not", "which", "you", "can", "will"),
    *("one", "all", "more", "if", "there", "when", "out", "so", "what", "about", "into", "than"),
    *("only", "some", "time", "could", "these", "two", "other", "then", "its", "also", "after"),
    *("stream", "decoder", "function", "returns", "value", "request", "response", "performance"),
)
_RARE_WORDS = ("naïve", "café", "Zürich", "—", "“quoted”", "日本語", "→", "é", "🙂", "50 €")
_ENDS = (",", ".", ":", ";", ".\n", ".\n\n", "\n- ", '"', ' "', "`", "\t", "\\")


@dataclass(frozen=True)
class Stream:
    """A body and what it says."""

    dialect: DialectName
    body: bytes
    text: str
    arguments: str

    @property
    def payloads(self) -> list[bytes]:
        """The bare JSON payloads, as a decoder without any framing would get them."""
        if self.dialect == "bedrock-converse":
            return [_payload(frame) for frame in self.frames]
        prefix = b"data: "
        lines = [line for line in self.body.split(b"\n") if line.startswith(prefix)]
        return [line[len(prefix) :] for line in lines if line != b"data: [DONE]"]

    @property
    def frames(self) -> list[bytes]:
        """The body cut after each blank line or AWS message: one event a chunk."""
        if self.dialect == "bedrock-converse":
            return _aws_frames(self.body)
        return [frame + b"\n\n" for frame in self.body.split(b"\n\n") if frame]

    def reads(self, size: int = READ_SIZE) -> list[bytes]:
        """The body as a socket hands it out."""
        return [self.body[at : at + size] for at in range(0, len(self.body), size)]


def _aws_frames(body: bytes) -> list[bytes]:
    frames: list[bytes] = []
    at = 0
    while at < len(body):
        (length,) = struct.unpack_from(">I", body, at)
        frames.append(body[at : at + length])
        at += length
    return frames


def _payload(frame: bytes) -> bytes:
    (headers,) = struct.unpack_from(">I", frame, 4)
    return frame[12 + headers : -4]


def text_pieces(count: int, seed: int = 1) -> list[str]:
    """Pieces of text as models stream them: mostly a word with its space, one in eight with an escape
    in JSON, one in thirty not ASCII.
    """
    source = random.Random(seed)
    pieces: list[str] = []
    for _ in range(count):
        draw = source.random()
        if draw < 0.03:
            pieces.append(" " + source.choice(_RARE_WORDS))
        elif draw < 0.20:
            pieces.append(source.choice(_ENDS))
        else:
            pieces.append(" " + source.choice(_WORDS))
    return pieces


def argument_pieces(count: int, seed: int = 2) -> list[str]:
    """The text of one call's arguments, a JSON object, in `count` pieces."""
    source = random.Random(seed)
    words = [source.choice(_WORDS) for _ in range(2 * count + 8)]
    lines = "\n".join(" ".join(words[at : at + 6]) for at in range(0, len(words), 6))
    text = json.dumps({"path": "src/main.py", "line": 12, "content": lines, "dry_run": False})
    # Pieces of unlike sizes, none of them empty.
    cuts = sorted(source.sample(range(1, len(text)), count - 1))
    return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def chat(
    texts: list[str] | None = None, calls: list[list[str]] | None = None, seed: int = 3
) -> Stream:
    """A Chat Completions stream, about 330 bytes an event: OpenAI's own members, with obfuscation."""
    texts = text_pieces(TEXT_DELTAS) if texts is None else texts
    calls = [argument_pieces(ARGUMENT_FRAGMENTS)] if calls is None else calls
    return Stream(
        "openai-chat",
        "".join(chat_frames(texts, calls, seed)).encode(),
        "".join(texts),
        "".join(piece for call in calls for piece in call),
    )


def chat_frames(texts: list[str], calls: list[list[str]], seed: int) -> Iterator[str]:
    """The frames of :func:`chat`, one by one."""
    source = random.Random(seed)
    head = (
        'data: {"id":"chatcmpl-CxT4bq9RkZL1mVd7sYwE2uHn8PfJa","object":"chat.completion.chunk",'
        '"created":1764500000,"model":"gpt-5.2-2026-04-14","service_tier":"default",'
        '"system_fingerprint":"fp_9a1c4e77b0","choices":['
    )
    letters = string.ascii_letters + string.digits

    def chunk(delta: object, reason: str | None = None, usage: object = None) -> str:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        choices = "" if usage else _compact(choice)
        noise = "".join(source.choices(letters, k=source.randrange(1, 17)))
        return f'{head}{choices}],"usage":{_compact(usage)},"obfuscation":"{noise}"}}\n\n'

    yield chunk({"role": "assistant", "content": "", "refusal": None})
    for text in texts:
        yield chunk({"content": text})
    for at, pieces in enumerate(calls):
        function = {"name": "write_file", "arguments": ""}
        call = {"index": at, "id": f"call_{at:024}", "type": "function", "function": function}
        yield chunk({"tool_calls": [call]})
        for piece in pieces:
            yield chunk({"tool_calls": [{"index": at, "function": {"arguments": piece}}]})
    yield chunk({}, "tool_calls" if calls else "stop")
    yield chunk(
        None,
        usage={
            "prompt_tokens": 2006,
            "completion_tokens": 831,
            "total_tokens": 2837,
            "prompt_tokens_details": {"cached_tokens": 1920, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
        },
    )
    yield "data: [DONE]\n\n"


def anthropic(texts: list[str] | None = None, calls: list[list[str]] | None = None) -> Stream:
    """An Anthropic Messages stream, about 120 bytes an event, with `event:` lines and a ping."""
    texts = text_pieces(TEXT_DELTAS) if texts is None else texts
    calls = [argument_pieces(ARGUMENT_FRAGMENTS)] if calls is None else calls
    return Stream(
        "anthropic",
        "".join(anthropic_frames(texts, calls)).encode(),
        "".join(texts),
        "".join(piece for call in calls for piece in call),
    )


def anthropic_frames(texts: list[str], calls: list[list[str]]) -> Iterator[str]:
    """The frames of :func:`anthropic`, one by one."""

    def event(kind: str, **members: object) -> str:
        return f"event: {kind}\ndata: {_compact({'type': kind, **members})}\n\n"

    yield event(
        "message_start",
        message={
            "id": "msg_01XFDUDYJgAACzvnptvVoYEL",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-5",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {
                "input_tokens": 86,
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 1920,
                "output_tokens": 1,
                "service_tier": "standard",
            },
        },
    )
    index = 0
    if texts:
        yield event("content_block_start", index=0, content_block={"type": "text", "text": ""})
        yield event("ping")
        for text in texts:
            yield event("content_block_delta", index=0, delta={"type": "text_delta", "text": text})
        yield event("content_block_stop", index=0)
        index = 1
    for at, pieces in enumerate(calls, start=index):
        nothing: dict[str, str] = {}
        block = {
            "type": "tool_use",
            "id": f"toolu_{at:024}",
            "name": "write_file",
            "input": nothing,
        }
        yield event("content_block_start", index=at, content_block=block)
        for piece in pieces:
            delta = {"type": "input_json_delta", "partial_json": piece}
            yield event("content_block_delta", index=at, delta=delta)
        yield event("content_block_stop", index=at)
    yield event(
        "message_delta",
        delta={"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None},
        usage={"output_tokens": 831},
    )
    yield event("message_stop")


def responses(texts: list[str] | None = None, calls: list[list[str]] | None = None) -> Stream:
    """A Responses stream, about 320 bytes an event, done forms and the whole output at the end."""
    texts = text_pieces(TEXT_DELTAS) if texts is None else texts
    calls = [argument_pieces(ARGUMENT_FRAGMENTS)] if calls is None else calls
    return Stream(
        "openai-responses",
        "".join(responses_frames(texts, calls)).encode(),
        "".join(texts),
        "".join(piece for call in calls for piece in call),
    )


def responses_frames(texts: list[str], calls: list[list[str]], seed: int = 4) -> Iterator[str]:
    """The frames of :func:`responses`, one by one."""
    source = random.Random(seed)
    letters = string.ascii_letters + string.digits
    number = itertools.count()

    def event(kind: str, **members: object) -> str:
        payload = {"type": f"response.{kind}", "sequence_number": next(number), **members}
        return f"event: response.{kind}\ndata: {_compact(payload)}\n\n"

    def noise() -> str:
        return "".join(source.choices(letters, k=source.randrange(1, 17)))

    nothing: list[object] = []
    head = {"id": f"resp_{'0a1b2c3d' * 6}", "object": "response", "created_at": 1764500000}
    started = {**head, "status": "in_progress", "model": "gpt-5.2-2026-04-14"}
    yield event("created", response={**started, "output": nothing, "usage": None})
    yield event("in_progress", response={**started, "output": nothing, "usage": None})
    output: list[object] = []
    if texts:
        item_id = f"msg_{'4e5f6a7b' * 6}"
        place = {"item_id": item_id, "output_index": 0, "content_index": 0}
        item = {"id": item_id, "type": "message", "role": "assistant"}
        opened = {**item, "status": "in_progress", "content": nothing}
        yield event("output_item.added", output_index=0, item=opened)
        part = {"type": "output_text", "annotations": nothing, "logprobs": nothing, "text": ""}
        yield event("content_part.added", **place, part=part)
        for text in texts:
            extra = {"logprobs": nothing, "obfuscation": noise()}
            yield event("output_text.delta", **place, delta=text, **extra)
        whole = "".join(texts)
        yield event("output_text.done", **place, text=whole, logprobs=nothing)
        yield event("content_part.done", **place, part={**part, "text": whole})
        done = {**item, "status": "completed", "content": [{**part, "text": whole}]}
        output.append(done)
        yield event("output_item.done", output_index=0, item=done)
    for at, pieces in enumerate(calls, start=len(output)):
        item_id = f"fc_{at:048}"
        call = {"id": item_id, "type": "function_call", "call_id": f"call_{at:024}"}
        call |= {"name": "write_file", "arguments": "", "status": "in_progress"}
        yield event("output_item.added", output_index=at, item=call)
        place = {"item_id": item_id, "output_index": at}
        for piece in pieces:
            yield event("function_call_arguments.delta", **place, delta=piece, obfuscation=noise())
        arguments = "".join(pieces)
        yield event("function_call_arguments.done", **place, arguments=arguments)
        done = {**call, "status": "completed", "arguments": arguments}
        output.append(done)
        yield event("output_item.done", output_index=at, item=done)
    usage = {
        "input_tokens": 2006,
        "input_tokens_details": {"cached_tokens": 1920},
        "output_tokens": 831,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 2837,
    }
    ended = {**started, "status": "completed", "output": output, "usage": usage}
    yield event("completed", response=ended)


def gemini(texts: list[str] | None = None, calls: list[list[str]] | None = None) -> Stream:
    """A Gemini stream, about 400 bytes an event: usage, version and id in every chunk, whole calls."""
    texts = text_pieces(TEXT_DELTAS) if texts is None else texts
    calls = [argument_pieces(ARGUMENT_FRAGMENTS)] if calls is None else calls
    return Stream(
        "gemini",
        "".join(gemini_frames(texts, calls)).encode(),
        "".join(texts),
        "".join(piece for call in calls for piece in call),
    )


def gemini_frames(texts: list[str], calls: list[list[str]]) -> Iterator[str]:
    """The frames of :func:`gemini`, one by one."""

    def chunk(part: str, tokens: int, reason: str = "") -> str:
        return (
            f'data: {{"candidates": [{{"content": {{"parts": [{part}],"role": "model"}},{reason}'
            f'"index": 0}}],"usageMetadata": {{"promptTokenCount": 2006,'
            f'"candidatesTokenCount": {tokens},"totalTokenCount": {2006 + tokens},'
            '"cachedContentTokenCount": 1920,"promptTokensDetails": [{"modality": "TEXT",'
            '"tokenCount": 2006}],"cacheTokensDetails": [{"modality": "TEXT","tokenCount": 1920}],'
            '"thoughtsTokenCount": 0},"modelVersion": "gemini-3-pro-preview",'
            '"responseId": "qVwtaZ6SH7uKz7IPxtSE-Q4"}\n\n'
        )

    for at, text in enumerate(texts, start=1):
        yield chunk(f'{{"text": {json.dumps(text, ensure_ascii=False)}}}', min(at, 830))
    for pieces in calls:
        yield chunk(
            f'{{"functionCall": {{"name": "write_file","args": {"".join(pieces)}}}}}',
            831,
        )
    yield chunk('{"text": ""}', 831, '"finishReason": "STOP",')


def bedrock(texts: list[str] | None = None, calls: list[list[str]] | None = None) -> Stream:
    """A Converse stream, about 190 bytes an event, padded as the service pads it."""
    texts = text_pieces(TEXT_DELTAS) if texts is None else texts
    calls = [argument_pieces(ARGUMENT_FRAGMENTS)] if calls is None else calls
    return Stream(
        "bedrock-converse",
        b"".join(bedrock_frames(texts, calls)),
        "".join(texts),
        "".join(piece for call in calls for piece in call),
    )


def bedrock_frames(texts: list[str], calls: list[list[str]], seed: int = 5) -> Iterator[bytes]:
    """The frames of :func:`bedrock`, one by one."""
    source = random.Random(seed)
    letters = string.ascii_letters + string.digits

    def event(kind: str, **members: object) -> bytes:
        padding = letters[: source.randrange(1, len(letters))]
        headers = (
            (":event-type", kind),
            (":content-type", "application/json"),
            (":message-type", "event"),
        )
        head = b"".join(
            bytes([len(name)])
            + name.encode()
            + b"\7"
            + struct.pack(">H", len(value))
            + value.encode()
            for name, value in headers
        )
        payload = _compact({**members, "p": padding}).encode()
        prelude = struct.pack(">II", 16 + len(head) + len(payload), len(head))
        message = prelude + struct.pack(">I", zlib.crc32(prelude)) + head + payload
        return message + struct.pack(">I", zlib.crc32(message))

    yield event("messageStart", role="assistant")
    if texts:
        for text in texts:
            yield event("contentBlockDelta", contentBlockIndex=0, delta={"text": text})
        yield event("contentBlockStop", contentBlockIndex=0)
    for at, pieces in enumerate(calls, start=1):
        tool = {"toolUseId": f"tooluse_{at:022}", "name": "write_file"}
        yield event("contentBlockStart", contentBlockIndex=at, start={"toolUse": tool})
        for piece in pieces:
            delta = {"toolUse": {"input": piece}}
            yield event("contentBlockDelta", contentBlockIndex=at, delta=delta)
        yield event("contentBlockStop", contentBlockIndex=at)
    yield event("messageStop", stopReason="tool_use" if calls else "end_turn")
    usage = {
        "inputTokens": 86,
        "outputTokens": 831,
        "totalTokens": 2837,
        "cacheReadInputTokens": 1920,
        "cacheWriteInputTokens": 0,
    }
    yield event("metadata", usage=usage, metrics={"latencyMs": 9120})


MAKERS: dict[DialectName, Callable[[list[str] | None, list[list[str]] | None], Stream]] = {
    "openai-chat": chat,
    "anthropic": anthropic,
    "openai-responses": responses,
    "gemini": gemini,
    "bedrock-converse": bedrock,
}


def make(dialect: DialectName) -> Stream:
    """The standard stream of a dialect."""
    return MAKERS[dialect](None, None)


def recorded(dialect: DialectName, count: int = 8) -> list[bytes]:
    """The largest recorded streams of a dialect, where TURNTAPE_CORPUS names a folder of them.

    Empty without it. Each is one response: recordings of several in one file are left out.
    """
    root = os.environ.get("TURNTAPE_CORPUS")
    if not root:
        return []
    files = sorted((Path(root) / dialect).rglob("*.sse"), key=lambda path: path.name)
    bodies = [path.read_bytes() for path in files]
    whole = [
        body
        for body in bodies
        if body.count(b"data: [DONE]") <= 1 and body.count(b"event: message_start") <= 1
    ]
    return sorted(whole, key=len, reverse=True)[:count]
