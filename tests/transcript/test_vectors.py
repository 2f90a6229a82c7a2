"""The vectors of transcripts: one right answer each."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.vectors import cases, parametrize

import turntape
from turntape import (
    Audio,
    AudioPart,
    Base64Source,
    CustomRecord,
    Document,
    LosslessCodec,
    Message,
    ProjectionError,
    SequenceError,
    TranscriptMessage,
    Video,
    is_synthetic,
)
from turntape.transcript.rows import legacy_memory

if TYPE_CHECKING:
    from tests.support.vectors import Case

    from turntape import ContentBlock, HistoryItem

FILE = "transcripts.json"
CODEC = LosslessCodec()
DEFAULTS: dict[str, Any] = {
    "tool_calls": [], "tool_call_id": None, "parts": None, "extra_metadata": None, "id": None,
    "request_id": None, "interrupted": False, "signature": None, "is_error": False, "citations": [],
    "media_type": None, "extra_content": None, "arguments": "",
}  # fmt: skip


def row_of(form: Case) -> TranscriptMessage:
    return TranscriptMessage.from_dict(form)


def message_of(form: Case) -> Message:
    """Read a message, and hold that its calls are as invalid as the case says."""
    content = [dict(block) for block in form["content"]]
    flags = [(block.pop("invalid", False), block["type"]) for block in content]
    message = Message.from_dict({**form, "content": content})
    for (invalid, kind), block in zip(flags, message.content, strict=True):
        if kind == "tool_use":
            assert_invalid(block, invalid)
    return message


def assert_invalid(block: Any, expected: object) -> None:
    if isinstance(expected, str):
        assert block.invalid == expected
    else:
        assert (block.invalid is not None) is bool(expected)


def item_of(form: Case) -> HistoryItem:
    if "custom_record" in form:
        return CustomRecord(**form["custom_record"])
    return message_of(form)


def assert_agrees(expected: Any, actual: Any, path: str = "") -> None:
    """Compare the members that an expectation has with a dict form, which leaves out defaults."""
    if isinstance(expected, dict):
        assert isinstance(actual, dict), path
        for name, value in expected.items():
            got = actual[name] if name in actual else DEFAULTS.get(name)
            assert_agrees(value, got, f"{path}.{name}")
    elif isinstance(expected, list):
        assert isinstance(actual, list), path
        assert len(actual) == len(expected), path
        for place, (one, other) in enumerate(zip(expected, actual, strict=True)):
            assert_agrees(one, other, f"{path}[{place}]")
    else:
        assert type(expected) is type(actual), path
        assert expected == actual, path


def assert_row(expected: Case, row: TranscriptMessage) -> None:
    # Through JSON: a row is made to be written.
    form = json.loads(json.dumps(row.to_dict()))
    assert TranscriptMessage.from_dict(form) == row
    wanted = dict(expected)
    if wanted.pop("synthetic", False):
        assert is_synthetic(row)
    else:
        assert not is_synthetic(row)
    if wanted.get("content") == {"any_text": True}:
        del wanted["content"]
        assert row.content
    # What an expectation does not name is not compared, but no row says more than it was given.
    assert_agrees(wanted, form)
    assert_agrees({"tool_calls": wanted.get("tool_calls", [])}, form)
    assert_agrees({"parts": wanted.get("parts")}, form)


def assert_message(expected: Case, message: HistoryItem) -> None:
    assert isinstance(message, Message)
    content = [dict(block) for block in expected["content"]]
    for block, form in zip(message.content, content, strict=True):
        invalid = form.pop("invalid", False)
        if isinstance(block, turntape.ToolUse):
            assert_invalid(block, invalid)
    assert_agrees({**expected, "content": content}, message.to_dict())


def assert_rows(expected: list[Case], rows: list[TranscriptMessage]) -> None:
    assert len(rows) == len(expected)
    for one, row in zip(expected, rows, strict=True):
        assert_row(one, row)


def assert_messages(expected: list[Case], messages: list[Any]) -> None:
    assert len(messages) == len(expected)
    for one, message in zip(expected, messages, strict=True):
        assert_message(one, message)


def faults(rows: list[TranscriptMessage]) -> list[Case]:
    return [
        {"code": each.code, "row": each.row, "call_id": each.call_id}
        for each in turntape.validate_native(rows)
    ]


def rows_in(case: Case) -> list[TranscriptMessage]:
    return [row_of(form) for form in case["input"]["rows"]]


def test_every_operation_is_run():
    ran = {mark.args[1][0].values[0]["op"] for mark in ALL if mark.args[1]}
    assert ran == {case["op"] for case in cases(FILE)}
    assert sum(len(mark.args[1]) for mark in ALL) == len(cases(FILE))


ROW_TO_MESSAGE = parametrize(FILE, "transcript_to_message")
NATIVE = parametrize(FILE, "message_to_native_transcript")
NATIVES = parametrize(FILE, "message_to_native_transcripts")
DISPLAY = parametrize(FILE, "message_to_display_transcript")
DISPLAYS = parametrize(FILE, "message_to_display_transcripts")
THINKING = parametrize(FILE, "reasoning_content_block")
REASONING = parametrize(FILE, "reasoning_from_content")
MEDIA = parametrize(FILE, "media_from_part")
PART = parametrize(FILE, "part_from_media")
LIFT = parametrize(FILE, "normalized")
LEGACY = parametrize(FILE, "legacy_content")
EDIT = parametrize(FILE, "lift_then_edit")
EQUAL = parametrize(FILE, "rows_equal")
PARTS = parametrize(FILE, "user_with_parts")
VALIDATE = parametrize(FILE, "validate_native")
TO_MESSAGES = parametrize(FILE, "native_transcript_to_messages")
REPAIR = parametrize(FILE, "repair_native")
DECODE = parametrize(FILE, "decode_history")
RECONCILE = parametrize(FILE, "lossless_reconcile")
ROUNDTRIP = parametrize(FILE, "lossless_roundtrip")
LOSSLESS_EDIT = parametrize(FILE, "lossless_edit")
ALL = [
    ROW_TO_MESSAGE, NATIVE, NATIVES, DISPLAY, DISPLAYS, THINKING, REASONING, MEDIA, PART, LIFT, LEGACY,
    EDIT, EQUAL, PARTS, VALIDATE, TO_MESSAGES, REPAIR, DECODE, RECONCILE, ROUNDTRIP, LOSSLESS_EDIT,
]  # fmt: skip


@ROW_TO_MESSAGE
def test_row_to_message(case: Case) -> None:
    row = row_of(case["input"]["row"])
    before = row.to_dict()
    assert_message(case["expected"]["message"], turntape.transcript_to_message(row))
    assert row.to_dict() == before


@NATIVE
def test_message_to_native_row(case: Case) -> None:
    item, expected = item_of(case["input"]["message"]), case["expected"]
    if "error" in expected:
        with pytest.raises(ProjectionError):
            turntape.message_to_native_transcript(item)
        return
    row = turntape.message_to_native_transcript(item)
    assert turntape.message_to_native_transcripts(item) == ([] if row is None else [row])
    if expected["row"] is None:
        assert row is None
    else:
        assert row is not None
        assert_row(expected["row"], row)


@NATIVES
def test_message_to_native_rows(case: Case) -> None:
    item = item_of(case["input"]["message"])
    assert_rows(case["expected"]["rows"], turntape.message_to_native_transcripts(item))


@DISPLAY
def test_message_to_display_row(case: Case) -> None:
    item, expected = item_of(case["input"]["message"]), case["expected"]
    row = turntape.message_to_display_transcript(item)
    assert turntape.message_to_display_transcripts(item) == ([] if row is None else [row])
    if expected["row"] is None:
        assert row is None
    else:
        assert row is not None
        assert_row(expected["row"], row)
        assert row.tool_call_id is None


@DISPLAYS
def test_message_to_display_rows(case: Case) -> None:
    item = item_of(case["input"]["message"])
    rows = turntape.message_to_display_transcripts(item)
    assert_rows(case["expected"]["rows"], rows)
    assert turntape.validate_native(rows)


@THINKING
def test_reasoning_content_block(case: Case) -> None:
    block = turntape.reasoning_content_block(case["input"]["text"])
    expected = case["expected"]["block"]
    if expected is None:
        assert block is None
    else:
        assert block is not None
        assert_agrees(expected, block.to_dict())


@REASONING
def test_reasoning_from_content(case: Case) -> None:
    blocks = Message.from_dict({"role": "assistant", "content": case["input"]["blocks"]}).content
    assert turntape.reasoning_from_content(blocks) == case["expected"]["text"]


@MEDIA
def test_media_from_part(case: Case) -> None:
    part = AudioPart.from_dict(case["input"])
    media = turntape.media_from_part(part)
    assert isinstance(media, Audio)
    assert_agrees(case["expected"]["source"], media.source.to_dict())
    assert turntape.part_from_media(media) == part


@PART
def test_part_from_media(case: Case) -> None:
    kinds: dict[str, type[Audio | Video | Document]] = {
        "audio": Audio,
        "video": Video,
        "document": Document,
    }
    block: ContentBlock = kinds[case["input"]["kind"]].from_dict(
        {"source": case["input"]["source"]}
    )
    assert isinstance(block, Audio | Video | Document)
    part = turntape.part_from_media(block)
    if case["expected"]["part"] is None:
        assert part is None
        assert isinstance(block.source, Base64Source)
    else:
        assert isinstance(part, turntape.AudioPart | turntape.VideoPart | turntape.DocumentPart)
        assert_agrees(case["expected"]["part"], part.to_dict())


@LIFT
def test_lifting(case: Case) -> None:
    row, expected = row_of(case["input"]["row"]), case["expected"]
    lifted = turntape.normalized(row)
    assert_row(expected["row"], lifted)
    assert lifted.legacy_content() == expected["legacy_content"]
    assert (lifted is not row) is expected["typed"]
    assert (legacy_memory(lifted) is not None) is expected["typed"]
    assert turntape.normalized(lifted) is lifted


@LEGACY
def test_legacy_content(case: Case) -> None:
    row, expected = row_of(case["input"]["row"]), case["expected"]["legacy_content"]
    assert row.legacy_content() == expected
    again = turntape.normalized(TranscriptMessage(row.role, expected))
    assert again.legacy_content() == expected


@EDIT
def test_editing_a_lifted_row(case: Case) -> None:
    row = replace(turntape.normalized(row_of(case["input"]["row"])), **case["input"]["changes"])
    legacy = row.legacy_content()
    assert legacy == case["expected"]["legacy_content"]
    for text in case["expected"]["absent"]:
        assert text not in legacy
        assert text not in repr(row)


@EQUAL
def test_equality(case: Case) -> None:
    lifted = turntape.normalized(row_of(case["input"]["lifted"]))
    typed = row_of(case["input"]["typed"])
    assert (lifted == typed) is case["expected"]["equal"]
    assert hash(lifted) == hash(typed)
    assert repr(lifted) == repr(typed)


@PARTS
def test_user_with_parts(case: Case) -> None:
    form = {"role": "user", "content": "", "parts": case["input"]["parts"]}
    row = TranscriptMessage.user_with_parts(row_of(form).parts or ())
    assert_row(case["expected"]["row"], row)


@VALIDATE
def test_validation(case: Case) -> None:
    found, expected = faults(rows_in(case)), case["expected"]
    if expected.get("faults_any"):
        assert found
    else:
        assert found == expected["faults"]


@TO_MESSAGES
def test_native_transcript_to_messages(case: Case) -> None:
    rows, expected = rows_in(case), case["expected"]
    options = {name: case["input"][name] for name in case["input"] if name != "rows"}
    if "error" in expected:
        with pytest.raises(SequenceError) as caught:
            turntape.native_transcript_to_messages(rows, **options)
        found = [
            {"code": each.code, "row": each.row, "call_id": each.call_id}
            for each in caught.value.faults
        ]
        assert found == expected["faults"]
        return
    assert_messages(expected["messages"], turntape.native_transcript_to_messages(rows, **options))


@REPAIR
def test_repair(case: Case) -> None:
    rows, expected = rows_in(case), case["expected"]
    policy = case["input"]["policy"]
    repaired, notes = turntape.repair_native(rows, policy)
    assert_rows(expected["rows"], repaired)
    assert sorted({note.row for note in notes}) == expected["noted_rows"]
    again, more = turntape.repair_native(repaired, policy)
    assert expected["idempotent"] is True
    assert all(one is other for one, other in zip(again, repaired, strict=True))
    assert not more


@DECODE
def test_decode_history(case: Case) -> None:
    options = {name: case["input"][name] for name in case["input"] if name != "rows"}
    assert_messages(case["expected"]["messages"], CODEC.decode_history(rows_in(case), **options))


@RECONCILE
def test_reconcile(case: Case) -> None:
    rows = rows_in(case)
    items = CODEC.decode_history(rows)
    change = case["input"]["next"]
    after = [items[place] for place in change["keep"]]
    after += [message_of(form) for form in change.get("append", [])]
    written = CODEC.reconcile(rows, items, after)
    assert_rows(case["expected"]["rows"], written)
    kept = [rows[place] for place in change["keep"]]
    assert all(one is other for one, other in zip(written, kept, strict=False))


@ROUNDTRIP
def test_lossless_roundtrip(case: Case) -> None:
    messages = [message_of(form) for form in case["input"]["messages"]]
    rows = CODEC.reconcile([], [], messages)
    assert case["expected"]["equal"] is True
    assert CODEC.decode_history(rows) == messages
    if "rows" in case["expected"]:
        assert_rows(case["expected"]["rows"], rows)
    through_json = [row_of(json.loads(json.dumps(row.to_dict()))) for row in rows]
    assert CODEC.decode_history(through_json) == messages


@LOSSLESS_EDIT
def test_lossless_edit(case: Case) -> None:
    messages = [message_of(form) for form in case["input"]["messages"]]
    rows = CODEC.reconcile([], [], messages)
    for place, changes in case["input"]["changes"].items():
        rows[int(place)] = replace(rows[int(place)], **changes)
    history = CODEC.decode_history(rows)
    assert_messages(case["expected"]["messages"], history)
    for text in case["expected"]["absent"]:
        assert text not in repr(history)
