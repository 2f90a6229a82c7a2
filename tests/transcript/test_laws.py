"""The laws of transcripts, over generated rows and messages."""

from __future__ import annotations

import copy
import json
import pickle
from collections import Counter
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.rows import ROLES, ROWS, STRINGS, conversations, messages

import turntape
from turntape import (
    CustomRecord,
    ImagePart,
    LosslessCodec,
    Message,
    ProjectionError,
    TextPart,
    ToolResult,
    TranscriptMessage,
    UrlRef,
    is_synthetic,
    normalized,
    repair_native,
    transcript_to_message,
    validate_native,
)
from turntape.transcript.alignment import align

if TYPE_CHECKING:
    from turntape import HistoryItem, RepairPolicy

CODEC = LosslessCodec()
POLICIES: tuple[RepairPolicy, ...] = ("drop", "synthesize")


def through_json(row: TranscriptMessage) -> TranscriptMessage:
    return TranscriptMessage.from_dict(json.loads(json.dumps(row.to_dict())))


# Rows


@given(ROWS)
def test_a_row_is_an_ordinary_value(row):
    twin = TranscriptMessage(**{item.name: getattr(row, item.name) for item in fields(row)})
    assert (row, repr(row), hash(row)) == (twin, repr(twin), hash(twin))
    assert through_json(row) == row
    for other in (copy.copy(row), copy.deepcopy(row), pickle.loads(pickle.dumps(row))):  # noqa: S301
        assert other == row
    assert replace(row, content=row.content + "x") != row


@given(ROLES, STRINGS)
def test_the_byte_law_of_lifting(role, content):
    row = TranscriptMessage(role, content)
    lifted = normalized(row)
    assert lifted.legacy_content() == content
    assert normalized(lifted) is lifted
    assert row.content == content
    for kept in (copy.copy(lifted), copy.deepcopy(lifted), pickle.loads(pickle.dumps(lifted))):  # noqa: S301
        assert kept.legacy_content() == content
    # What is said by fields says the same when it is lifted again, whatever the string was.
    built = through_json(lifted)
    assert built == lifted
    if not lifted.parts or all(isinstance(part, TextPart | ImagePart) for part in lifted.parts):
        again = normalized(TranscriptMessage(role, built.legacy_content()))
        assert (again.content, again.tool_calls, again.tool_call_id, again.parts) == (
            lifted.content, lifted.tool_calls, lifted.tool_call_id, lifted.parts,
        )  # fmt: skip


@given(ROLES, STRINGS, st.sampled_from(["content", "id", "extra_metadata"]))
def test_an_edited_row_is_built_from_its_fields(role, content, name):
    lifted = normalized(TranscriptMessage(role, content))
    changes: dict[str, Any] = {"extra_metadata": {"a": 1}} if name[0] == "e" else {name: "gone"}
    edited = replace(lifted, **changes)
    assert edited.legacy_content() == through_json(edited).legacy_content()


# Projections


@given(ROWS)
def test_every_row_has_a_message(row):
    before = pickle.dumps(row)
    message = transcript_to_message(row)
    assert pickle.dumps(row) == before
    assert message.role in {"system", "user", "assistant"}
    assert message.content
    assert Message.from_dict(json.loads(json.dumps(message.to_dict()))) == message
    calls = [block for block in message.content if isinstance(block, turntape.ToolUse)]
    if row.role == "assistant":
        assert [call.arguments for call in calls] == [call.arguments for call in row.tool_calls]


@given(messages(inline=True) | st.builds(CustomRecord, st.just("note")))
def test_every_message_has_rows(item):
    native = turntape.message_to_native_transcripts(item)
    display = turntape.message_to_display_transcripts(item)
    if isinstance(item, CustomRecord):
        assert native == display == []
    else:
        check_rows(item, native, display)
    for rows, one in (
        (native, turntape.message_to_native_transcript),
        (display, turntape.message_to_display_transcript),
    ):
        if len(rows) > 1:
            with pytest.raises(ProjectionError, match=f"{len(rows)} rows"):
                one(item)
        else:
            assert one(item) == (rows[0] if rows else None)


def check_rows(
    item: Message, native: list[TranscriptMessage], display: list[TranscriptMessage]
) -> None:
    assert native
    assert [row.content for row in native] == [row.content for row in display]
    results = [block.tool_use_id for block in item.content if isinstance(block, ToolResult)]
    assert [row.tool_call_id for row in native if row.role == "tool"] == results
    assert [row.id for row in display if row.role == "tool"] == results
    assert all(not row.tool_calls and row.parts is None for row in display)
    for row in (*native, *display):
        assert through_json(row) == row
        assert "Qllocw" not in json.dumps(row.to_dict())
    calls = [block for block in item.content if isinstance(block, turntape.ToolUse)]
    if item.role == "assistant":
        written = [call for row in native for call in row.tool_calls]
        assert [(c.id, c.arguments) for c in written] == [(c.id, c.arguments) for c in calls]


# The codec


@given(st.lists(messages(), max_size=5))
def test_the_lossless_law(history):
    rows = CODEC.reconcile([], [], history)
    assert CODEC.decode_history(rows) == history
    assert CODEC.decode_history([through_json(row) for row in rows]) == history
    for message in history:
        one = CODEC.reconcile([], [], [message])
        if len(one) == 1:
            carries = "turntape" in (one[0].extra_metadata or {})
            [plain] = turntape.message_to_native_transcripts(message)
            assert carries is (transcript_to_message(plain) != message)


@given(st.lists(messages(inline=True), max_size=4))
def test_bytes_of_sound_film_and_documents_are_on_no_row(history):
    rows = CODEC.reconcile([], [], history)
    assert "Qllocw" not in json.dumps([row.to_dict() for row in rows])
    decoded = CODEC.decode_history(rows)
    assert len(decoded) == len(history)
    # What is left does not change any more, and what never changed keeps its rows.
    assert CODEC.decode_history(CODEC.reconcile([], [], decoded)) == decoded
    kept = CODEC.reconcile(rows, history, history)
    assert all(one is other for one, other in zip(kept, rows, strict=True))


@given(st.lists(ROWS, max_size=6), st.booleans())
def test_any_rows_are_decoded(rows, included):
    items = CODEC.decode_history(rows, include_interrupted=included)
    read = [row for row in rows if included or not row.interrupted]
    assert len(items) <= len(read)
    assert all(isinstance(item, Message) for item in items)
    assert CODEC.decode_history(CODEC.reconcile([], [], items)) == items
    kept = CODEC.reconcile(rows, items, items)
    assert len(kept) == len(rows)
    assert all(one is other for one, other in zip(kept, rows, strict=True))


HISTORIES = st.lists(messages(), max_size=5) | st.lists(
    st.sampled_from("abc").map(Message.user), max_size=7
)


@st.composite
def changed(
    draw: st.DrawFn,
) -> tuple[list[TranscriptMessage], list[HistoryItem], list[HistoryItem]]:
    """Rows, some of them edited or cut, their items, and what somebody made of those."""
    rows = CODEC.reconcile([], [], draw(HISTORIES))
    for place in draw(st.lists(st.integers(0, 9), max_size=2)):
        if place < len(rows):
            edits: list[dict[str, Any]] = [
                {"content": "[gone]"}, {"id": "r1"}, {"interrupted": True}, {"tool_calls": ()},
            ]  # fmt: skip
            rows[place] = replace(rows[place], **draw(st.sampled_from(edits)))
    for place in draw(st.lists(st.integers(0, 9), max_size=2)):
        rows[place : place + 1] = draw(st.sampled_from([[], [TranscriptMessage.user("b")]]))
    items = CODEC.decode_history(rows)
    after = list(items)
    for _ in range(draw(st.integers(0, 4))):
        place = draw(st.integers(0, len(after)))
        kind = draw(st.sampled_from(["insert", "delete", "edit", "move", "repeat", "record"]))
        change(draw, after, place, kind)
    return rows, items, after


def change(draw: st.DrawFn, items: list[HistoryItem], place: int, kind: str) -> None:
    """Change items at a place, or behind them."""
    here = items[place : place + 1]
    match kind:
        case "insert":
            items.insert(place, draw(messages()))
        case "record":
            items.insert(place, CustomRecord("note", {"n": 1}))
        case "repeat":
            items[place:place] = here
        case "delete":
            del items[place : place + 1]
        case "edit":
            items[place : place + 1] = [draw(messages())]
        case _:
            del items[place : place + 1]
            to = draw(st.integers(0, len(items)))
            items[to:to] = here


@given(changed())
def test_reconciled_rows_say_what_the_items_say(case):
    rows, items, after = case
    before = [(row, pickle.dumps(row)) for row in rows]
    written = CODEC.reconcile(rows, items, after)
    wanted = [item for item in after if isinstance(item, Message)]
    assert CODEC.decode_history(written) == wanted
    assert all(pickle.dumps(row) == dump for row, dump in before)
    # No row stands twice.
    assert max(Counter(map(id, written)).values(), default=1) == 1
    ours = {id(row) for row in rows}
    if len(rows) == len(items) and len(written) == len(wanted):
        # A row a message: as many keep theirs as there are equal ones on both sides.
        kept = sum(id(row) in ours for row in written)
        assert kept == (Counter(items) & Counter(wanted)).total()


@given(changed())
def test_items_that_stayed_keep_their_rows(case):
    rows, items, _ = case
    # Items are told apart by what they are, rows by which they are: mark each row.
    marked = [replace(row, request_id=f"q{place}") for place, row in enumerate(rows)]
    written = CODEC.reconcile(marked, items, items)
    assert all(one is other for one, other in zip(written, marked, strict=True))
    appended = CODEC.reconcile(marked, items, [*items, Message.assistant("a new one")])
    assert all(one is other for one, other in zip(appended, marked, strict=False))
    assert len(appended) == len(marked) + 1


# Validation and repair


@given(st.lists(ROWS, max_size=8) | conversations(), st.booleans())
def test_faults_name_rows_and_calls(rows, included):
    faults = validate_native(rows, include_interrupted=included)
    assert [fault.row for fault in faults] == sorted(fault.row for fault in faults)
    for fault in faults:
        row = rows[fault.row]
        assert included or not row.interrupted
        declared = {call.id for call in row.tool_calls}
        if fault.code in {"missing_result", "duplicate_call_id"}:
            assert fault.call_id in declared
        elif fault.code in {"orphan_result", "duplicate_result"}:
            assert row.tool_call_id == fault.call_id
        assert str(fault).startswith(f"row {fault.row}: ")
        assert turntape.SequenceFault.from_dict(fault.to_dict()) == fault
    if faults:
        with pytest.raises(turntape.SequenceError) as caught:
            turntape.native_transcript_to_messages(rows, include_interrupted=included)
        assert caught.value.faults == tuple(faults)
        assert pickle.loads(pickle.dumps(caught.value)).faults == tuple(faults)  # noqa: S301
    else:
        read = [row for row in rows if included or not row.interrupted]
        assert turntape.native_transcript_to_messages(rows, include_interrupted=included) == [
            transcript_to_message(row) for row in read
        ]


@pytest.mark.parametrize("policy", POLICIES)
@given(rows=st.lists(ROWS, max_size=8) | conversations(), included=st.booleans())
def test_repair(policy, rows, included):
    before = pickle.dumps(rows)
    faults = validate_native(rows, include_interrupted=included)
    repaired, notes = repair_native(rows, policy, include_interrupted=included)
    assert pickle.dumps(rows) == before
    assert not validate_native(repaired, include_interrupted=included)
    again, more = repair_native(repaired, policy, include_interrupted=included)
    assert not more
    assert all(one is other for one, other in zip(again, repaired, strict=True))
    assert bool(notes) is bool(faults)
    assert [note.row for note in notes] == sorted(note.row for note in notes)
    check_notes(rows, repaired, notes)


def check_notes(
    rows: list[TranscriptMessage],
    repaired: list[TranscriptMessage],
    notes: list[turntape.RepairNote],
) -> None:
    """Hold that each row is kept as it is, or a note says what became of it."""
    left = Counter(map(id, repaired))
    noted = {note.row for note in notes if note.code != "missing_result_inserted"}
    for place, row in enumerate(rows):
        assert id(row) in left or place in noted
    new = [row for row in repaired if id(row) not in set(map(id, rows))]
    codes = Counter(note.code for note in notes)
    made_up = [row for row in new if is_synthetic(row)]
    assert len(made_up) == codes["missing_result_inserted"]
    assert len(new) - len(made_up) == codes["opener_without_calls"]
    for row in new:
        if is_synthetic(row):
            assert row.tool_failure is not None
            assert row.content
        else:
            assert row.role == "assistant"
            assert not row.tool_calls
            assert any(row.content == each.content for each in rows)
    for note in notes:
        assert turntape.RepairNote.from_dict(note.to_dict()) == note
        if note.code == "late_result_moved":
            assert id(rows[note.row]) in left


@given(st.lists(messages(inline=True), max_size=3))
def test_display_rows_never_replay(history):
    rows = [row for item in history for row in turntape.message_to_display_transcripts(item)]
    tools = [place for place, row in enumerate(rows) if row.role == "tool"]
    assert [fault.row for fault in validate_native(rows)] == tools


# The parts it stands on


@given(st.text("abcd", max_size=9), st.text("abcd", max_size=9))
def test_alignment(before, after):
    found = align(before, after)
    places = [place for place in found if place is not None]
    assert len(places) == len(set(places))
    for item, place in zip(after, found, strict=True):
        assert place is None or before[place] == item
    left = Counter(before) - Counter(before[place] for place in places)
    missing = Counter(item for item, place in zip(after, found, strict=True) if place is None)
    assert not left & missing
    if before == after:
        assert found == list(range(len(before)))


@given(st.text("abcd", max_size=12), st.data())
def test_alignment_of_what_was_only_cut_down(before, data):
    kept = data.draw(st.lists(st.booleans(), min_size=len(before), max_size=len(before)))
    after = [item for item, stays in zip(before, kept, strict=True) if stays]
    places = align(before, after)
    assert None not in places
    assert places == sorted(places, key=lambda place: place or 0)


@given(st.text("\t\n\r :aADdTt,x", max_size=12))
def test_a_data_uri_is_seen_as_urls_are_read(url):
    read = url.lstrip("".join(map(chr, range(33)))).translate(dict.fromkeys(map(ord, "\t\n\r")))
    if read[:5].lower() == "data:":
        with pytest.raises(ValueError, match="data URI"):
            UrlRef(url)
    else:
        assert UrlRef(url).url == url
