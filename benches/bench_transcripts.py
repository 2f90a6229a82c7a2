"""Transcripts: what each step costs a row, and that a long one costs no more a row than a short one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from turntape import (
    LosslessCodec,
    Message,
    NativeToolCall,
    Text,
    Thinking,
    ToolUse,
    TranscriptMessage,
    message_to_native_transcripts,
    native_transcript_to_messages,
    normalized,
    repair_native,
    transcript_to_message,
    validate_native,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from benches.conftest import Meter

    from turntape import HistoryItem

CODEC = LosslessCodec()


def plain_rows(count: int) -> list[TranscriptMessage]:
    """Rounds of a question, a call, its result and an answer."""
    rows: list[TranscriptMessage] = []
    for number in range(count // 4):
        call = NativeToolCall(f"call_{number}", "shell", '{"command":"ls -la","timeout":30}')
        rows += [
            TranscriptMessage.user("Which files are there?"),
            TranscriptMessage.assistant_with_calls("I will look.", [call]),
            TranscriptMessage.tool_result(call.id, "a.txt b.txt c.txt"),
            TranscriptMessage.assistant("There are three files."),
        ]
    return rows


def turns(count: int) -> list[HistoryItem]:
    """Signed turns with a call each, of which the fields of a row do not say all."""
    return [
        Message(
            "assistant",
            (
                Thinking("I have to look.", signature="c2lnbmVk"),
                Text("On it."),
                ToolUse(f"call_{number}", "shell", '{"command":"ls -la"}'),
            ),
            model="claude-heron-9",
            vendor="anthropic",
        )
        for number in range(count)
    ]


def validating(count: int) -> Callable[[], Any]:
    rows = plain_rows(count)
    assert validate_native(rows) == []
    return lambda: validate_native(rows)


def reading(count: int) -> Callable[[], Any]:
    rows = plain_rows(count)
    assert len(native_transcript_to_messages(rows)) == count
    return lambda: native_transcript_to_messages(rows)


def writing(count: int) -> Callable[[], Any]:
    rows = plain_rows(count)
    messages = [transcript_to_message(row) for row in rows]
    assert [row for each in messages for row in message_to_native_transcripts(each)] == rows
    return lambda: [message_to_native_transcripts(message) for message in messages]


def lifting(count: int) -> Callable[[], Any]:
    rows = plain_rows(count)
    packed = [TranscriptMessage(row.role, row.legacy_content()) for row in rows]
    assert [normalized(row) for row in packed] == rows
    return lambda: [normalized(row) for row in packed]


def repairing(count: int) -> Callable[[], Any]:
    rows = [row for at, row in enumerate(plain_rows(count)) if at % 8 != 2]
    repaired, _ = repair_native(rows, "synthesize")
    assert validate_native(repaired) == []
    return lambda: repair_native(rows, "synthesize")


def storing(count: int) -> Callable[[], Any]:
    history = turns(count)
    assert CODEC.decode_history(CODEC.reconcile([], [], history)) == history
    return lambda: CODEC.reconcile([], [], history)


def decoding(count: int) -> Callable[[], Any]:
    rows = CODEC.reconcile([], [], turns(count))
    return lambda: CODEC.decode_history(rows)


def editing(count: int) -> Callable[[], Any]:
    rows = plain_rows(count)
    history = CODEC.decode_history(rows)
    after = [*history]
    after[count // 2] = Message.user("No, stop.")
    written = CODEC.reconcile(rows, history, after)
    assert sum(one is not other for one, other in zip(written, rows, strict=True)) == 1
    return lambda: CODEC.reconcile(rows, history, after)


def reordering(count: int) -> Callable[[], Any]:
    rows = plain_rows(count)
    history = CODEC.decode_history(rows)
    # Every second one first: as much moves as can.
    after = history[::2] + history[1::2]
    assert {id(row) for row in CODEC.reconcile(rows, history, after)} == {id(row) for row in rows}
    return lambda: CODEC.reconcile(rows, history, after)


STEPS: dict[str, tuple[Callable[[int], Callable[[], Any]], list[int]]] = {
    "validate_native": (validating, [1_000, 10_000, 100_000]),
    "native_transcript_to_messages": (reading, [1_000, 10_000, 100_000]),
    "message_to_native_transcripts": (writing, [1_000, 10_000, 100_000]),
    "normalized": (lifting, [1_000, 10_000, 100_000]),
    "repair_native": (repairing, [1_000, 10_000, 100_000]),
    "signed turns to rows": (storing, [100, 1_000, 10_000]),
    "rows to signed turns": (decoding, [100, 1_000, 10_000]),
    "reconcile, one edited": (editing, [1_000, 10_000, 100_000]),
    "reconcile, half moved": (reordering, [1_000, 10_000, 100_000]),
}


@pytest.mark.parametrize("step", STEPS)
def test_a_step(meter: Meter, step: str) -> None:
    make, sizes = STEPS[step]
    meter.sweep(step, sizes, [make(size) for size in sizes])
