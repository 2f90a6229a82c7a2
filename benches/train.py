"""The work that a profile-guided build is trained on: that of the benchmarks, in brief.

`python -m benches.train`, from the root of the repository, with nothing installed but turntape. What is
weighed here is what counts most in use: whole streams, streams as they come, then what is kept of them.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benches import inputs

import turntape

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 40

_PROSE = "I will look for the entry point in the sources, and then run the tests once more. "
_JAPANESE = "ソースの中から入口を探します。"
_ARGUMENTS = json.dumps({"command": "grep -rn 'fn main' src | head -20", "timeout": 30, "env": {}})
_LOG = "2026-03-01T10:00:07Z INFO api request=42 status=200 took=17ms path=/v1/tides/harbour\n"
_SECRET = "2026-03-01T10:00:08Z WARN api retry with token=ghp_" + "a1B2c3D4e5F6" * 3 + "\n"


def streams() -> None:
    """Streams of every dialect, whole, in reads, in events, cut short, and many at once."""
    for dialect in inputs.DIALECTS:
        stream = inputs.make(dialect)
        reads, frames = stream.reads(), stream.frames
        for _ in range(ROUNDS):
            turntape.decode(stream.body, dialect)
            turntape.decode_message(stream.body, dialect)
            for pieces in (reads, frames):
                decoder = turntape.StreamDecoder(dialect)
                for piece in pieces:
                    decoder.feed(piece)
                decoder.finish()
                decoder.snapshot()
        cut = stream.body[: len(stream.body) * 2 // 3]
        bodies = [
            stream.body,
            cut,
            *frames[:2],
            b'{"error":{"message":"busy","code":529}}',
        ] * ROUNDS
        turntape.decode_many(bodies, dialect, threads=2)
        turntape.decode_to_arrow(bodies, dialect)
        turntape.assemble(turntape.decode(stream.body, dialect))
        turntape.detect_dialect(stream.body)
        if dialect != "bedrock-converse":
            sse = turntape.SseDecoder()
            for read in reads:
                sse.feed(read)


def wires() -> None:
    """Each stream said in every dialect that is spoken, from its events and from its bytes."""
    for source in inputs.DIALECTS:
        stream = inputs.make(source)
        events = turntape.decode(stream.body, source)
        reads = stream.reads()
        for target in turntape.Dialect:
            if target == turntape.Dialect.BEDROCK_CONVERSE:
                continue
            for _ in range(ROUNDS // 4):
                turntape.encode(events, target, source=source)
                encoder = turntape.StreamEncoder(target, source=source)
                for event in events:
                    encoder.feed(event)
                encoder.finish()
                transcoder = turntape.Transcoder(source, target)
                for read in reads:
                    transcoder.feed(read)
                transcoder.finish()


def calls() -> tuple[turntape.NativeToolCall, ...]:
    """Two calls of one turn."""
    return tuple(turntape.NativeToolCall(f"call_{at:024}", "shell", _ARGUMENTS) for at in range(2))


def envelopes() -> None:
    """Envelopes of turns, and image markers in text."""
    texts = ("", _PROSE, _PROSE * 100, _JAPANESE, _JAPANESE * 100, 'def f():\n\treturn "x"\n' * 200)
    for _ in range(ROUNDS * 10):
        for text in texts:
            envelope = turntape.encode_assistant_envelope(text, calls())
            turntape.parse_canonical_assistant_envelope(envelope)
            turntape.parse_assistant_envelope(envelope)
            result = turntape.encode_tool_envelope("call_1", text)
            turntape.parse_canonical_tool_envelope(result)
            turntape.parse_tool_envelope(result)
            turntape.explain_not_canonical(f" {result}")
        marked = _PROSE + turntape.IMAGE_MARKER_PREFIX + "harbour.png]" + _JAPANESE
        for text in (marked, marked * 20, _PROSE * 200):
            turntape.split_image_parts(text)
            turntape.count_image_parts(text)


def history(turns: int) -> list[turntape.TranscriptMessage]:
    """Rows of so many rounds of a conversation with tools."""
    rows = []
    for at in range(turns):
        call = turntape.NativeToolCall(f"call_{at}", "shell", _ARGUMENTS)
        rows += [
            turntape.TranscriptMessage.user(f"{_PROSE}{_JAPANESE}"),
            turntape.TranscriptMessage.assistant_with_calls(_PROSE, [call]),
            turntape.TranscriptMessage.tool_result(call.id, 'src/main.rs:1:\t"main"\n' * 20),
            turntape.TranscriptMessage.assistant(_PROSE * 3),
        ]
    return rows


def tapes(folder: Path) -> None:
    """Rows written, read, validated, and sent."""
    rows = history(ROUNDS * 20)
    with turntape.TranscriptStore(folder / "tape.jsonl", fsync="never") as store:
        for row in rows[:400]:
            store.append(row)
        store.append_many(rows)
        for _ in range(ROUNDS // 2):
            turntape.validate_native(list(store.rows()))
    messages = turntape.native_transcript_to_messages(rows[:37])
    request = turntape.ModelRequest("gpt-5", tuple(messages), max_tokens=1000)
    for _ in range(ROUNDS):
        for dialect in turntape.Dialect:
            turntape.build_request(request, dialect).to_json()


def redaction() -> None:
    """Logs with a secret now and then."""
    redactor = turntape.SecretRedactor()
    text = (_LOG * 700 + _SECRET) * 16
    for _ in range(3):
        redactor.redact(text)
    for row in history(ROUNDS):
        turntape.redact_row(row, redactor)


def main() -> None:
    """Do all of it once."""
    with tempfile.TemporaryDirectory() as folder:
        works: list[Callable[[], Any]] = [
            streams,
            wires,
            envelopes,
            lambda: tapes(Path(folder)),
            redaction,
        ]
        for work in works:
            work()


if __name__ == "__main__":
    main()
