"""Every recorded turn on the tape: stored as rows, read back by another process, the same turn."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import turntape
from turntape import LosslessCodec, Message, ToolResult, ToolUse, TranscriptMessage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.corpus.streams import Stream

    from turntape import HistoryItem

pytestmark = pytest.mark.corpus

CODEC = LosslessCodec()

# What another program does that knows the rows' JSON and nothing else.
READ = """
import json, sys
from tests.corpus.test_transcripts import CODEC, sent
from turntape import TranscriptMessage
with open(sys.argv[1], encoding="utf-8") as lines:
    for line in lines:
        dialect, rows = json.loads(line)
        history = CODEC.decode_history([TranscriptMessage.from_dict(row) for row in rows])
        print(json.dumps([[item.to_dict() for item in history], sent(history, dialect)]))
"""


def sent(history: Sequence[HistoryItem], dialect: str) -> str:
    """The bytes of the request that goes on with a history at the provider of its turn, or why none can."""
    turn = history[1]
    assert isinstance(turn, Message)
    request = turntape.ModelRequest(turn.model or "claude-heron-9", history, max_tokens=1000)
    try:
        built = turntape.build_request(
            request, dialect, vendor=turn.vendor or "auto", repair="repair"
        )
    except turntape.TurntapeError as error:
        return f"{type(error).__name__}: {error}"
    return built.to_json().decode()


def history_of(stream: Stream) -> list[HistoryItem]:
    """The turn of a stream in a conversation, its calls answered."""
    turn = stream.decoded.message.to_message(allow_incomplete=True)
    calls = [block for block in turn.content if isinstance(block, ToolUse)]
    answers = [
        ToolResult(call.id, call.arguments, is_error=bool(at)) for at, call in enumerate(calls)
    ]
    return [Message.user("go on"), turn, *([Message.user(answers)] if answers else [])]


def test_recorded_turns_survive_the_tape(recorded: tuple[Stream, ...], tmp_path: Path) -> None:
    histories = [history_of(stream) for stream in recorded]
    tape = tmp_path / "tape.jsonl"
    with tape.open("w", encoding="utf-8") as lines:
        for stream, history in zip(recorded, histories, strict=True):
            rows = CODEC.reconcile([], [], history)
            for row in rows:
                assert TranscriptMessage.from_dict(row.to_dict()) == row
            lines.write(json.dumps([stream.dialect, [row.to_dict() for row in rows]]) + "\n")
    run = subprocess.run(
        [sys.executable, "-c", READ, str(tape)],
        cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False, timeout=240,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    read = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(read) == len(histories)
    built = 0
    for stream, before, (forms, body) in zip(recorded, histories, read, strict=True):
        assert [Message.from_dict(form) for form in forms] == before, stream.name
        assert body == sent(before, stream.dialect), stream.name
        built += body.startswith("{")
    assert built > 0.9 * len(histories)


def test_recorded_turns_are_rows_of_a_sequence(recorded: tuple[Stream, ...]) -> None:
    """The plain rows of a turn pair up, keep its texts, calls and thoughts, and say them when shown."""
    for stream in recorded:
        history = history_of(stream)
        rows = CODEC.reconcile([], [], history)
        calls = [call for row in rows for call in row.tool_calls]
        ids = [call.id for call in calls]
        faults = turntape.validate_native(rows)
        if len(set(ids)) == len(ids) and all(ids):
            assert not faults, stream.name
        [turn] = [row for row in rows if row.role == "assistant"]
        assert isinstance(history[1], Message)
        kept = history[1].content
        uses = [block for block in stream.decoded.message.content if isinstance(block, ToolUse)]
        assert [call.arguments for call in calls] == [use.arguments for use in uses if use in kept]
        # A call that was cut is one still, also where nothing but the row's fields is left.
        plain = turntape.transcript_to_message(
            turntape.message_to_native_transcripts(history[1])[0]
        )
        read = [block.complete for block in plain.content if isinstance(block, ToolUse)]
        assert read == [use.complete for use in uses if use in kept]
        assert turntape.message_to_display_transcripts(history[1])[0].content == turn.content
        repaired, _ = turntape.repair_native(rows[:2], "synthesize")
        assert not turntape.validate_native(repaired)
        reread = CODEC.reconcile(rows, history, history)
        assert all(one is other for one, other in zip(reread, rows, strict=True))
