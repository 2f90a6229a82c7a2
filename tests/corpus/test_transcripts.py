"""Every recorded turn on the tape: stored as rows, read back by another process, the same turn."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import turntape
from turntape import LosslessCodec, Message, ToolResult, ToolUse, TranscriptMessage

if TYPE_CHECKING:
    from pathlib import Path

    from tests.corpus.streams import Stream

    from turntape import HistoryItem

pytestmark = pytest.mark.corpus

CODEC = LosslessCodec()

# What another program does that knows the rows' JSON and nothing else.
READ = """
import json, sys
from turntape import LosslessCodec, TranscriptMessage
with open(sys.argv[1], encoding="utf-8") as lines:
    for line in lines:
        rows = [TranscriptMessage.from_dict(row) for row in json.loads(line)]
        history = LosslessCodec().decode_history(rows)
        print(json.dumps([item.to_dict() for item in history]))
"""


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
        for history in histories:
            rows = CODEC.reconcile([], [], history)
            for row in rows:
                assert TranscriptMessage.from_dict(row.to_dict()) == row
            lines.write(json.dumps([row.to_dict() for row in rows]) + "\n")
    run = subprocess.run(
        [sys.executable, "-c", READ, str(tape)],
        capture_output=True, text=True, check=True, timeout=240,
    )  # fmt: skip
    read = [
        [Message.from_dict(form) for form in json.loads(line)] for line in run.stdout.splitlines()
    ]
    assert len(read) == len(histories)
    for stream, before, after in zip(recorded, histories, read, strict=True):
        assert after == before, stream.name


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
