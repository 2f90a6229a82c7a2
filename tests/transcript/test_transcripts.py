"""What transcripts promise, a test a promise."""

from __future__ import annotations

import ast
import copy
import dataclasses
import json
import pickle
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import pytest

import turntape
from turntape import (
    Audio,
    AudioPart,
    Base64Source,
    CustomRecord,
    Document,
    Image,
    ImagePart,
    LosslessCodec,
    Message,
    MessageError,
    NativeToolCall,
    PathRef,
    PathSource,
    ProviderBlock,
    Redacted,
    RedactedThinkingBlock,
    Text,
    TextPart,
    Thinking,
    ToolFailure,
    ToolResult,
    ToolUse,
    TranscriptMessage,
    UrlRef,
    UrlSource,
    Video,
    message_to_display_transcripts,
    message_to_native_transcript,
    message_to_native_transcripts,
    normalized,
    repair_native,
    transcript_to_message,
    validate_native,
)
from turntape.transcript.rows import line_memory, remember

if TYPE_CHECKING:
    from turntape import HistoryItem

CODEC = LosslessCodec()
KEY = "tok-LOWTIDE"


def call(call_id: str, arguments: str = "{}") -> NativeToolCall:
    return NativeToolCall(call_id, "dim", arguments)


def stored_in(row: TranscriptMessage) -> Any:
    return (row.extra_metadata or {}).get("turntape")


# The nine of that name


def test_native_correlation():
    history = [
        Message.user("q"),
        Message.assistant([Text("on it"), ToolUse("c2", "dim", "{}"), ToolUse("c1", "dim", "{}")]),
        Message.user([ToolResult("c1", "one"), ToolResult("c2", "two", is_error=True)]),
        Message.assistant("done"),
    ]
    rows = [row for item in history for row in message_to_native_transcripts(item)]
    assert [call.id for call in rows[1].tool_calls] == ["c2", "c1"]
    assert [row.tool_call_id for row in rows] == [None, None, "c1", "c2", None]
    assert [row.tool_failure is not None for row in rows[2:4]] == [False, True]
    assert validate_native(rows) == []
    messages = turntape.native_transcript_to_messages(rows)
    assert [block.tool_use_id for block in results(messages)] == ["c1", "c2"]
    assert [block.is_error for block in results(messages)] == [False, True]
    # The same history as it is shown has no ids to go by, and is refused.
    shown = [row for item in history for row in message_to_display_transcripts(item)]
    assert [row.id for row in shown] == [None, None, "c1", "c2", None]
    with pytest.raises(
        turntape.SequenceError, match=r"row 2: the row names no call \(and 1 more\)"
    ):
        turntape.native_transcript_to_messages(shown)


def results(messages: list[Message]) -> list[ToolResult]:
    return [block for each in messages for block in each.content if isinstance(block, ToolResult)]


@pytest.mark.parametrize(
    ("arguments", "invalid"),
    [
        ('{"n":', "malformed"),
        ("{'n': 1}", "malformed"),
        ("[1]", "not_an_object"),
        ('"{}"', "not_an_object"),
        ("[" * 200 + "]" * 200, "too_deep"),
        ("", None),
        (" \n", None),
        ('{ "n":1.10, "n":2}', None),
    ],
)
def test_malformed_arguments(arguments, invalid):
    row = TranscriptMessage.assistant_with_calls("on it", [call("c1", arguments)])
    message = transcript_to_message(row)
    use = message.content[1]
    assert isinstance(use, ToolUse)
    assert (use.arguments, use.invalid) == (arguments, invalid)
    back = message_to_native_transcript(message)
    assert back == row
    assert back is not None
    assert back.tool_calls[0].arguments == arguments
    assert CODEC.decode_history(CODEC.reconcile([], [], [message])) == [message]


@pytest.mark.parametrize("arguments", ["", "{}", '{"n":'])
def test_a_cut_call_is_never_taken_for_a_whole_one(arguments):
    cut = Message.assistant([Text("on it"), ToolUse("c1", "dim", arguments, complete=False)])
    for rows in (message_to_native_transcripts(cut), CODEC.reconcile([], [], [cut])):
        assert stored_in(rows[0]) == {"v": 1, "incomplete": {"c1": True}}
        edited = replace(rows[0], content="[gone]")
        with pytest.raises(turntape.EnvelopeError, match="'c1' is not complete"):
            rows[0].legacy_content()
        for row in (rows[0], edited):
            use = transcript_to_message(row).content[1]
            assert isinstance(use, ToolUse)
            assert use.invalid == "not_complete"
        assert CODEC.decode_history(rows) == [cut]


def test_ordered_media():
    parts = (
        TextPart("first "),
        ImagePart("https://pics.example/a.png"),
        AudioPart(PathRef("gull.ogg"), "audio/ogg"),
        TextPart("then "),
        turntape.VideoPart(UrlRef("https://tides.example/v.mp4"), "video/mp4"),
        turntape.DocumentPart(PathRef("charts.pdf"), "application/pdf"),
        ImagePart("data:image/gif;base64,R0lGODlh"),
    )
    row = TranscriptMessage.user_with_parts(parts)
    assert row.content == "first then "
    message = transcript_to_message(row)
    assert [type(block) for block in message.content] == [
        Text, Image, Audio, Text, Video, Document, Image,
    ]  # fmt: skip
    assert message.content[2] == Audio(PathSource("gull.ogg", "audio/ogg"))
    assert message_to_native_transcript(message) == row
    # Of a result the texts are its content, and the media its parts.
    answer = ToolResult("c1", (Text("low "), Image(UrlSource("a.png")), Text("tide")))
    [result] = message_to_native_transcripts(Message.user([answer]))
    assert (result.content, result.parts) == ("low tide", (ImagePart("a.png"),))
    [block] = transcript_to_message(result).content
    assert isinstance(block, ToolResult)
    assert block.content == (Text("low tide"), Image(UrlSource("a.png")))
    assert CODEC.decode_history(CODEC.reconcile([], [], [Message.user([answer])])) == [
        Message.user([answer])
    ]


def test_ephemeral_provider_bytes():
    inline: list[Any] = [
        Audio(Base64Source("QlVPWQ==", "audio/wav")),
        Video(Base64Source("QlVPWQ==", "video/mp4")),
        Document(Base64Source("QlVPWQ==", "application/pdf")),
        Document(UrlSource("data:application/pdf;base64,QlVPWQ==", "application/pdf")),
        Audio(UrlSource(" DATA:audio/wav;base64,QlVPWQ==")),
    ]
    message = Message.user([Text("hear"), *inline, ToolResult("c1", (Text("see"), *inline))])
    for rows in (
        message_to_native_transcripts(message),
        message_to_display_transcripts(message),
        CODEC.reconcile([], [], [message]),
    ):
        assert [row.content for row in rows] == ["see", "hear"]
        assert all(row.parts is None for row in rows)
        assert "QlVPWQ" not in json.dumps([row.to_dict() for row in rows])
    kept = Message.user([Text("hear"), ToolResult("c1", (Text("see"),))])
    assert CODEC.decode_history(CODEC.reconcile([], [], [message])) == [kept]
    assert all(turntape.part_from_media(block) is None for block in inline)
    # Where nothing else was said, an empty text is left.
    alone = CODEC.reconcile([], [], [Message.user(inline)])
    assert alone == [TranscriptMessage.user("")]
    assert CODEC.decode_history(alone) == [Message.user("")]
    # A row cannot be talked into them either.
    with pytest.raises(ValueError, match="data URI"):
        UrlRef("data:audio/wav;base64,QlVPWQ==")
    with pytest.raises(TypeError, match="PathRef or a UrlRef, not Base64Source"):
        AudioPart(Base64Source("QlVPWQ==", "audio/wav"), "audio/wav")  # type: ignore[arg-type]
    form = {"type": "audio", "source": {"type": "url", "url": "data:,x"}, "mime_type": "audio/wav"}
    with pytest.raises(MessageError, match=r"parts\[0\]\.source: .* data URI"):
        TranscriptMessage.from_dict({"role": "user", "content": "", "parts": [form]})
    # Of an image they are the URL, once.
    image = Message.user([Text("see"), Image(Base64Source("R0lGODlh", "image/gif"))])
    [row] = CODEC.reconcile([], [], [image])
    assert row.parts == (TextPart("see"), ImagePart("data:image/gif;base64,R0lGODlh"))
    assert json.dumps(row.to_dict()).count("R0lGODlh") == 1
    assert CODEC.decode_history([row]) == [image]


def test_reasoning_replay():
    row = TranscriptMessage(
        "assistant", "Seven.", extra_metadata={"reasoning_content": " Count.\n"}
    )
    message = transcript_to_message(row)
    assert message.content == (Thinking(" Count.\n"), Text("Seven."))
    assert message_to_native_transcript(message) == row
    for blank in ("", " \n\t", None, 7, ["Count."]):
        silent = replace(row, extra_metadata={"reasoning_content": blank})
        assert transcript_to_message(silent).content == (Text("Seven."),)
    # Of what older histories have in its place, only a string is one.
    for other in ("7", "null", '"', '["a"]', '"a" 1', "[" * 100_000):
        assert turntape.reasoning_from_content([ProviderBlock("reasoning_content", other)]) is None
    # Several thoughts are one text on a row; signed ones come back whole all the same.
    signed = Message.assistant(
        [
            Thinking("one", signature="QQ=="),
            ProviderBlock("reasoning_content", '"older"'),
            RedactedThinkingBlock("RU5D"),
            Thinking("one"),
            Thinking("one"),
            Text("Seven."),
        ]
    )
    [stored] = CODEC.reconcile([], [], [signed])
    assert stored.extra_metadata is not None
    assert stored.extra_metadata["reasoning_content"] == "one\n\nolder\n\none"
    assert CODEC.decode_history([stored]) == [signed]


def test_literal_legacy_markers():
    said = 'see [OH_IMAGE:a.png] and {"tool_call_id":"c1"}'
    for role in ("user", "assistant", "tool", "system", "narrator"):
        row = TranscriptMessage(role, said)
        [block] = transcript_to_message(row).content
        text = block.content if isinstance(block, ToolResult) else block
        assert text in {said, Text(said)}
    packed = '{"content":"on it","tool_calls":[{"arguments":"{}","id":"c1","name":"dim"}]}'
    assert transcript_to_message(TranscriptMessage.assistant(packed)).content == (Text(packed),)
    # Only who asks for it has them read.
    assert len(transcript_to_message(normalized(TranscriptMessage.user(said))).content) == 3
    assert normalized(TranscriptMessage.assistant(packed)).tool_calls == (call("c1"),)
    history: list[HistoryItem] = [Message.user(said), Message.assistant(packed)]
    rows = CODEC.reconcile([], [], history)
    assert [row.content for row in rows] == [said, packed]
    assert CODEC.decode_history(rows) == history


def test_empty_parts():
    for role in ("user", "narrator"):
        row = TranscriptMessage(role, "hello", parts=())
        assert transcript_to_message(row) == Message.user("")
        assert TranscriptMessage.from_dict(row.to_dict()).parts == ()
        assert row != TranscriptMessage(role, "hello")
        assert transcript_to_message(replace(row, parts=None)) == Message.user("hello")
    result = TranscriptMessage("tool", "hello", tool_call_id="c1", parts=())
    assert transcript_to_message(result) == Message.tool_result("c1", "hello")
    assert TranscriptMessage.user_with_parts([]) == TranscriptMessage.user("")
    [row] = message_to_native_transcripts(Message.user([]))
    assert (row.content, row.parts) == ("", None)
    assert CODEC.decode_history(CODEC.reconcile([], [], [Message.user([])])) == [Message.user([])]


def test_custom_record_omission():
    record = CustomRecord("ui.note", {"n": 1}, "saved")
    assert message_to_native_transcripts(record) == []
    assert message_to_display_transcripts(record) == []
    assert message_to_native_transcript(record) is None
    assert turntape.message_to_display_transcript(record) is None
    history: list[HistoryItem] = [record, Message.user("q"), record, Message.assistant("a"), record]
    rows = CODEC.reconcile([], [], history)
    assert [row.content for row in rows] == ["q", "a"]
    # Records among the items do not shift them against the rows.
    marked = [replace(row, id=f"r{place}") for place, row in enumerate(rows)]
    written = CODEC.reconcile(marked, history, [record, *history, Message.user("more")])
    assert [row.id for row in written] == ["r0", "r1", None]
    assert written[0] is marked[0]


@pytest.mark.parametrize("role", ["developer", "narrator", "function", "Assistant", "", "tool "])
def test_unknown_inbound_roles(role):
    row = TranscriptMessage(
        role,
        "Meanwhile...",
        id="c1",
        tool_calls=(call("c1"),),
        extra_metadata={"reasoning_content": "Hm."},
    )
    assert transcript_to_message(row) == Message.user("Meanwhile...")
    assert validate_native([row]) == []
    parted = replace(row, parts=(ImagePart("a.png"), TextPart("x")))
    assert transcript_to_message(parted).content == (Image(UrlSource("a.png")), Text("x"))
    # Read as the user's, and on the tape what it was.
    history = CODEC.decode_history([row])
    assert CODEC.reconcile([row], history, history)[0] is row
    assert row.role == role


# What a row remembers


ENVELOPE = (
    '{ "content":"key tok-LOWTIDE","reasoning_content":"tok-LOWTIDE",'
    '"tool_calls":[{"arguments":"{}","extra_content":{"s":["tok-LOWTIDE"]},"id":"c1","name":"dim"}]}'
)


def test_what_is_changed_in_place_is_not_remembered():
    row = normalized(TranscriptMessage.assistant(ENVELOPE))
    assert row.legacy_content() == ENVELOPE
    other = copy.deepcopy(row)
    assert isinstance(row.extra_metadata, dict)
    row.extra_metadata["reasoning_content"] = "[gone]"
    assert row.legacy_content().count(KEY) == 2
    assert isinstance(other.extra_metadata, dict)
    other.tool_calls[0].extra_content["s"][0] = "[gone]"
    assert other.legacy_content().count(KEY) == 2


def test_a_lifted_row_is_still_what_its_line_says():
    row = remember(TranscriptMessage.assistant(ENVELOPE), line=b"a line")
    lifted = normalized(row)
    assert lifted is not row
    assert line_memory(lifted) == line_memory(copy.deepcopy(lifted)) == b"a line"
    assert line_memory(replace(lifted, id="r1")) is None


def test_an_edit_forgets_and_a_copy_does_not():
    row = normalized(TranscriptMessage.assistant(ENVELOPE))
    for kept in (copy.copy(row), copy.deepcopy(row), pickle.loads(pickle.dumps(row))):  # noqa: S301 (our own)
        assert kept.legacy_content() == ENVELOPE
    edited = replace(
        row,
        content="key [gone]",
        extra_metadata=None,
        tool_calls=(call("c1"),),
    )
    for value in (edited, copy.copy(edited), pickle.loads(pickle.dumps(edited))):  # noqa: S301 (our own)
        assert KEY not in value.legacy_content()
    assert KEY.encode() not in pickle.dumps(edited)
    assert KEY not in repr(edited)
    assert "_legacy" not in dataclasses.asdict(row)
    assert ENVELOPE not in json.dumps(row.to_dict())
    assert ENVELOPE not in repr(row)
    for name in TranscriptMessage.__slots__:
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(row, name, None)


def test_rows_are_made_of_what_they_say():
    with pytest.raises(TypeError, match="strings"):
        TranscriptMessage("user", None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="tool_calls of a row is a tuple, not list"):
        TranscriptMessage("assistant", "", tool_calls=[call("c1")])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="parts of a row is a tuple, not list"):
        TranscriptMessage("user", "", parts=[])  # type: ignore[arg-type]
    row = TranscriptMessage("user", "q")
    match row:
        case TranscriptMessage("user", content):
            assert content == "q"
        case _:
            pytest.fail("a row matches by role and content")
    with pytest.raises(MessageError, match="mood: TranscriptMessage has no such member"):
        TranscriptMessage.from_dict({"role": "user", "content": "q", "mood": 1})
    one, other = TranscriptMessage("user", "q"), TranscriptMessage("user", "q")
    assert one.extra is not other.extra


def test_pydantic_reads_and_writes_rows():
    pydantic = pytest.importorskip("pydantic")
    adapter = pydantic.TypeAdapter(TranscriptMessage)
    row = TranscriptMessage(
        "user",
        "x",
        parts=(TextPart("x"), AudioPart(PathRef("p"), "audio/ogg")),
        tool_failure=ToolFailure("late"),
        extra={"mood": [1]},
        usage=turntape.Usage(3, 4),
    )
    read = adapter.validate_json(adapter.dump_json(row))
    assert read == row
    # It was made without its constructor.
    assert normalized(read) is read
    assert pickle.loads(pickle.dumps(read)) == row  # noqa: S301 (our own)
    assert read.legacy_content() == "x"


def test_the_legacy_string_of_what_no_string_can_hold():
    parts = (TextPart("a "), ImagePart("u"), AudioPart(PathRef("p"), "audio/ogg"), TextPart("b"))
    assert TranscriptMessage.user_with_parts(parts).legacy_content() == "a [OH_IMAGE:u]b"
    reasoned = TranscriptMessage(
        "assistant", "a", tool_calls=(call("c1"),), extra_metadata={"reasoning_content": "Hm."}
    )
    assert normalized(TranscriptMessage.assistant(reasoned.legacy_content())) == reasoned
    with pytest.raises(turntape.EnvelopeError):
        TranscriptMessage.tool_result("c1", "\ud83d").legacy_content()


# The codec


def long_history(turns: int) -> list[HistoryItem]:
    history: list[HistoryItem] = []
    for number in range(turns):
        history += [
            Message.user("go on"),
            Message(
                "assistant",
                (Thinking("Hm.", signature="c2ln"), Text("ok"), ToolUse(f"c{number}", "dim", "{}")),
                model="claude-heron-9",
            ),
            Message.user([ToolResult(f"c{number}", "done"), Text("and?")]),
            Message.assistant("fine"),
        ]
    return history


@pytest.mark.parametrize("offset", range(4))
def test_one_turn_in_the_middle_of_a_thousand_is_edited(offset):
    history = long_history(250)
    rows = [
        replace(row, id=f"r{place}") for place, row in enumerate(CODEC.reconcile([], [], history))
    ]
    assert CODEC.decode_history(rows) == history
    at = 500 + offset
    after = [*history[:at], Message.user("no, stop"), *history[at + 1 :]]
    written = CODEC.reconcile(rows, history, after)
    before_it = len(CODEC.reconcile([], [], history[:at]))
    behind_it = len(rows) - before_it - len(CODEC.reconcile([], [], [history[at]]))
    assert all(one is other for one, other in zip(written[:before_it], rows, strict=False))
    assert all(
        one is other for one, other in zip(written[-behind_it:], rows[-behind_it:], strict=True)
    )
    assert [row.content for row in written[before_it:-behind_it]] == ["no, stop"]
    assert CODEC.decode_history(written) == after


def ids_after(
    rows: list[TranscriptMessage], after: list[HistoryItem], **options: bool
) -> list[str | None]:
    items = CODEC.decode_history(rows, **options)
    return [row.id for row in CODEC.reconcile(rows, items, after)]


def test_equal_messages_are_told_apart_by_their_neighbours():
    said = ["q", "ok", "go on", "ok", "go on", "ok", "end"]
    rows = [TranscriptMessage("user", text, id=f"r{at}") for at, text in enumerate(said)]
    items = CODEC.decode_history(rows)
    cases: list[tuple[list[int | str], list[str | None]]] = [
        ([0, 1, 4, 5, 6], ["r0", "r1", "r2", "r3", "r6"]),
        ([3, 4, 5, 6], ["r3", "r4", "r5", "r6"]),
        ([0, 1, 2, "new", 4, 5, 6], ["r0", "r1", "r2", None, "r4", "r5", "r6"]),
        ([6, 0, 1], ["r6", "r0", "r1"]),
        ([0, 1, 1, 1, 1], ["r0", "r1", "r3", "r5", None]),
    ]
    for places, wanted in cases:
        after = [
            items[place] if isinstance(place, int) else Message.user(place) for place in places
        ]
        assert ids_after(rows, after) == wanted, places


def test_a_message_of_several_rows_keeps_or_loses_all_of_them():
    answers = Message.user([ToolResult("c1", "one"), ToolResult("c2", "two"), Text("and?")])
    history = [Message.user("q"), answers, Message.assistant("a")]
    rows = [
        replace(row, id=f"r{place}") for place, row in enumerate(CODEC.reconcile([], [], history))
    ]
    assert [row.role for row in rows] == ["user", "tool", "tool", "user", "assistant"]
    assert ids_after(rows, [Message.user("new"), *history]) == [None, "r0", "r1", "r2", "r3", "r4"]
    assert ids_after(rows, [history[0], history[2]]) == ["r0", "r4"]
    assert ids_after(rows, [history[2], answers]) == ["r4", "r1", "r2", "r3"]
    assert ids_after(rows, [history[0], Message.tool_result("c1", "one")]) == ["r0", None]
    # One of them edited: the message is still one, and says what the row says now.
    rows[2] = replace(rows[2], content="[gone]")
    [_, edited, _] = CODEC.decode_history(rows)
    assert isinstance(edited, Message)
    assert edited.content == (ToolResult("c1", "one"), ToolResult("c2", "[gone]"), Text("and?"))
    # One of them gone: what is left are messages of their own.
    del rows[2]
    assert CODEC.decode_history(rows) == [
        history[0], Message.tool_result("c1", "one"), Message.user("and?"), history[2],
    ]  # fmt: skip


def test_an_edit_that_blocks_do_not_fit_any_more():
    answers = Message.user([ToolResult("c1", "one"), Text("and "), Text("now?")])
    result, rest = CODEC.reconcile([], [], [answers])
    assert CODEC.decode_history([result, rest]) == [answers]
    assert CODEC.decode_history([result, replace(rest, content="[gone]")]) == [
        Message.tool_result("c1", "one"), Message.user("[gone]"),
    ]  # fmt: skip
    called = Message("assistant", (ToolResult("c1", "one"), Text("done")))
    result, rest = CODEC.reconcile([], [], [called])
    assert CODEC.decode_history([result, rest]) == [called]
    assert CODEC.decode_history([replace(result, content="[gone]"), rest]) == [
        Message.tool_result("c1", "[gone]"), Message.assistant("done"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "places",
    [
        [(0, 2, [0]), (1, 2, [0])],
        [(0, 2, [0]), (1, 2, [2])],
        [(0, 2, [1]), (1, 2, [2])],
        [(0, 2, [0]), (1, 3, [1])],
        [(0, 2, [0]), (0, 2, [1])],
        [(1, 2, [0]), (1, 2, [1])],
        [(0, 3, [0]), (1, 3, [1])],
        [(0, 2, []), (1, 2, [1])],
        [(0, 2, [0]), (2, 2, [1])],
    ],
)
def test_rows_that_are_not_those_of_one_message(places):
    rows = [
        TranscriptMessage(
            "user",
            "said",
            extra_metadata={"turntape": {"v": 1, "row": row, "rows": of, "blocks": blocks}},
        )
        for row, of, blocks in places
    ]
    assert CODEC.decode_history(rows) == [Message.user("said")] * 2


def test_rows_of_a_message_that_fell_apart_do_not_grow_together_again():
    answers = Message.user([ToolResult("c1", "one"), ToolResult("c2", "two")])
    first, second = CODEC.reconcile([], [], [answers])
    rows = [first, TranscriptMessage.user("between"), second]
    items = CODEC.decode_history(rows)
    assert len(items) == 3
    written = CODEC.reconcile(rows, items, [items[0], items[2]])
    assert CODEC.decode_history(written) == [items[0], items[2]]


def test_rows_of_cut_turns_stay_behind_their_item():
    rows = [
        TranscriptMessage("assistant", "cut", id="head", interrupted=True),
        TranscriptMessage("user", "q", id="r1"),
        TranscriptMessage("assistant", "Half a", id="cut", interrupted=True),
        TranscriptMessage("user", "again", id="r3"),
        TranscriptMessage("assistant", "Whole.", id="r4"),
    ]
    items = CODEC.decode_history(rows)
    assert len(items) == 3
    q, again, whole = items
    assert ids_after(rows, [q, again, whole, Message.user("more")]) == [
        "head", "r1", "cut", "r3", "r4", None,
    ]  # fmt: skip
    assert ids_after(rows, [Message.user("edited"), again]) == ["head", None, "cut", "r3"]
    assert ids_after(rows, [again, whole]) == ["head", "r3", "r4"]
    # Asked for, they are items like any other.
    shown = CODEC.decode_history(rows, include_interrupted=True)
    assert len(shown) == 5
    assert ids_after(rows, [shown[1], shown[4]], include_interrupted=True) == ["r1", "r4"]


def test_items_that_are_not_those_of_the_rows():
    rows = [TranscriptMessage("user", text, id=text) for text in ("a", "b", "c")]
    written = CODEC.reconcile(rows, [], [Message.user("c"), Message.user("d")])
    assert [row.id for row in written] == ["c", None]


SIGNED = Message(
    "assistant",
    (Thinking("Count.", signature="U0lHPT0="), Text(f"key {KEY}"), ToolUse("c1", "dim", "{}")),
    model="claude-heron-9",
    vendor="anthropic",
    id="m1",
)


@pytest.mark.parametrize(
    "changes",
    [
        {"content": "key [gone]"},
        {"role": "user"},
        {"tool_calls": ()},
        {"tool_calls": (call("c2"),)},
        {"tool_calls": (call("c1", "{ }"),)},
        {"tool_calls": (NativeToolCall("c1", "dim", "{}", {"a": 1}),)},
        {"tool_call_id": "c1"},
        {"parts": (ImagePart("a.png"),)},
        {"tool_failure": ToolFailure()},
        {"model": "tern"},
        {"stop_reason": "end_turn"},
        {"reasoning": "[gone]"},
    ],
)
def test_an_edited_row_speaks_for_itself(changes):
    [row] = CODEC.reconcile([], [], [SIGNED])
    if "reasoning" in changes:
        metadata = {**(row.extra_metadata or {}), "reasoning_content": changes["reasoning"]}
        changes = {"extra_metadata": metadata}
    edited = replace(row, **changes)
    [message] = CODEC.decode_history([edited])
    assert message == transcript_to_message(edited)
    assert "U0lHPT0=" not in repr(message)


class Redactor:
    """Takes the made-up key out, and whatever else it is given."""

    def redact(self, text: str, /) -> Redacted:
        clean = text.replace(KEY, "[gone]").replace("c1", "[gone]")
        return Redacted(clean, changed=clean != text)


def test_a_redacted_turn_is_one_still():
    """Both halves of a row are redacted alike, so that what is stored beside it counts still."""
    turn = Message(
        "assistant",
        (
            Thinking(f"They said {KEY}.", signature="U0lHPT0="),
            Thinking("Hm.", signature="Qg=="),
            RedactedThinkingBlock("RU5D"),
            Text(f"key {KEY}"),
            ToolUse("c1", "dim", f'{{"key":"{KEY}"}}', "R1NJRw==", complete=False),
        ),
        model="claude-heron-9",
    )
    [row] = CODEC.reconcile([], [], [turn])
    redacted = turntape.redact_row(row, Redactor())
    assert KEY not in json.dumps(redacted.to_dict())
    assert CODEC.decode_history([redacted]) == [
        replace(
            turn,
            content=(
                # Nothing is redacted in a signature, though it no longer vouches for this text.
                Thinking("They said [gone].", signature="U0lHPT0="),
                Thinking("Hm.", signature="Qg=="),
                RedactedThinkingBlock("RU5D"),
                Text("key [gone]"),
                ToolUse("c1", "dim", '{"key":"[gone]"}', "R1NJRw==", complete=False),
            ),
        )
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {"id": "r1"},
        {"usage": turntape.Usage(1, 2)},
        {"created_at": "2026-03-01T00:00:00Z"},
        {"trace": 7},
    ],
)
def test_what_is_beside_the_message_is_no_edit(changes):
    [row] = CODEC.reconcile([], [], [SIGNED])
    if "trace" in changes:
        changes = {"extra_metadata": {**(row.extra_metadata or {}), **changes}}
    assert CODEC.decode_history([replace(row, **changes)]) == [SIGNED]


@pytest.mark.parametrize(
    "stored",
    [
        None, 7, "message", [], {}, {"v": 1}, {"v": 2, "message": SIGNED.to_dict()},
        {"v": True, "message": SIGNED.to_dict()}, {"message": SIGNED.to_dict()},
        {"v": 1, "message": None}, {"v": 1, "message": {"role": "assistant"}},
        {"v": 1, "message": {"role": "user", "content": 7}},
        {"v": 1, "message": {**SIGNED.to_dict(), "mood": 1}},
        {"v": 1, "message": Message.user("another").to_dict()},
        {"v": 1, "row": 0, "rows": 2, "blocks": [0]}, {"v": 1, "row": 0, "rows": 10**9, "blocks": []},
        {"v": 1, "row": 0, "rows": 1, "blocks": [0]}, {"v": 1, "row": True, "rows": 2, "blocks": [0]},
        {"v": 1, "row": 0, "rows": 2, "blocks": "0"}, {"v": 1, "row": 0, "rows": 2, "blocks": [0.5]},
    ],
)  # fmt: skip
def test_what_is_stored_and_makes_no_sense_is_passed_over(stored):
    row = TranscriptMessage("assistant", "said", extra_metadata={"turntape": stored})
    assert CODEC.decode_history([row, row]) == [Message.assistant("said")] * 2


def test_plain_messages_carry_nothing():
    history: list[HistoryItem] = [
        Message.system("s"),
        Message.user("q"),
        Message("assistant", (Text("a"),), model="tern", stop_reason="tool_use"),
        Message.tool_result("c1", "r", is_error=True),
        Message.user([Text("see"), Image(UrlSource("a.png"))]),
    ]
    rows = CODEC.reconcile([], [], history)
    assert [row.extra_metadata for row in rows] == [None] * 5
    assert CODEC.decode_history(rows) == history


# Validation and repair


def codes(rows: list[TranscriptMessage], **options: bool) -> list[tuple[str, int, str | None]]:
    faults = validate_native(rows, **options)
    return [(fault.code, fault.row, fault.call_id) for fault in faults]


def test_faults_stand_in_the_order_of_their_rows():
    rows = [
        TranscriptMessage.assistant_with_calls("", [call("c1"), call("c2"), call("c2")]),
        TranscriptMessage.tool_result("cX", "r"),
        TranscriptMessage.tool_result("c1", "r"),
    ]
    assert codes(rows) == [
        ("duplicate_call_id", 0, "c2"), ("missing_result", 0, "c2"), ("orphan_result", 1, "cX"),
    ]  # fmt: skip


def test_an_id_counts_within_its_round():
    opener = TranscriptMessage.assistant_with_calls("", [call("c1")])
    result, said = TranscriptMessage.tool_result("c1", "r"), TranscriptMessage.user("q")
    assert codes([opener, result, said, opener, result]) == []
    assert codes([opener, result, opener, result]) == []
    assert codes([opener, result, result]) == [("duplicate_result", 2, "c1")]
    assert codes([opener, result, said, result]) == [("orphan_result", 3, "c1")]


def test_rows_of_cut_turns_are_not_validated():
    cut = TranscriptMessage("assistant", "", tool_calls=(call("c1"),), interrupted=True)
    rows = [TranscriptMessage.user("q"), cut, TranscriptMessage.user("again")]
    assert codes(rows) == []
    assert codes(rows, include_interrupted=True) == [("interrupted_round", 2, "c1")]


def test_what_a_dropped_opener_said_has_nothing_of_its_calls():
    [opener] = CODEC.reconcile([], [], [SIGNED])
    assert stored_in(opener)
    repaired, notes = repair_native([opener], "drop")
    assert [note.code for note in notes] == ["opener_without_calls"]
    assert (
        notes[0].detail == "the calls are dropped and what was said is kept: no result answers 'c1'"
    )
    [said] = CODEC.decode_history(repaired)
    assert said == Message(
        "assistant", (Thinking("Count."), Text(f"key {KEY}")), model="claude-heron-9"
    )
    assert stored_in(repaired[0]) is None


def test_rows_of_cut_turns_are_no_concern_of_a_repair():
    cut = TranscriptMessage("assistant", "", tool_calls=(call("c9"),), interrupted=True)
    rows = [
        TranscriptMessage.assistant_with_calls("", [call("c1"), call("c2")]),
        cut,
        TranscriptMessage.tool_result("c1", "one"),
        cut,
    ]
    repaired, _ = repair_native(rows, "synthesize")
    assert repaired[:3] == rows[:3]
    assert (repaired[3].tool_call_id, repaired[4]) == ("c2", cut)
    kept, _ = repair_native(rows, "drop")
    assert kept == [cut, cut]
    everything, notes = repair_native(rows, "drop", include_interrupted=True)
    assert everything == []
    assert len(notes) == 4


def test_a_late_result_goes_to_the_last_round_that_waits_for_it():
    first = TranscriptMessage.assistant_with_calls("one", [call("c1")])
    second = TranscriptMessage.assistant_with_calls("two", [call("c1")])
    late = TranscriptMessage.tool_result("c1", "late")
    rows = [first, TranscriptMessage.user("x"), second, TranscriptMessage.user("y"), late, late]
    repaired, notes = repair_native(rows, "synthesize")
    assert repaired[3] is second
    assert repaired[4] is late
    assert [note.code for note in notes] == [
        "missing_result_inserted", "late_result_moved", "orphan_result_dropped",
    ]  # fmt: skip
    assert turntape.is_synthetic(repaired[1])


def test_a_late_result_goes_to_no_round_that_is_dropped():
    first = TranscriptMessage.assistant_with_calls("one", [call("c1")])
    unfit = TranscriptMessage.assistant_with_calls("two", [call("c1"), call("c1")])
    late, said = TranscriptMessage.tool_result("c1", "late"), TranscriptMessage.user("x")
    repaired, _ = repair_native([first, said, unfit, said, late], "synthesize")
    assert repaired == [first, late, said, TranscriptMessage.assistant("two"), said]


def test_calls_that_cannot_be_answered():
    twice = TranscriptMessage.assistant_with_calls("", [call("c1"), call("c1")])
    nameless = TranscriptMessage.assistant_with_calls("said", [call("")])
    rows = [twice, TranscriptMessage.tool_result("c1", "r"), nameless]
    assert [str(fault) for fault in validate_native(rows)] == [
        "row 0: the row declares the call 'c1' more than once", "row 2: the row names no call",
    ]  # fmt: skip
    for policy in get_args(turntape.RepairPolicy):
        repaired, notes = repair_native(rows, policy)
        assert repaired == [TranscriptMessage.assistant("said")]
        assert {note.row for note in notes} == {0, 1, 2}
    with pytest.raises(ValueError, match="'drop' or 'synthesize', not 'guess'"):
        repair_native([], "guess")  # type: ignore[arg-type]


# Who imports whom


LIFTING_AND_CODEC = {"lifting", "codec", "stored", "alignment"}


@pytest.mark.parametrize("name", ["projections", "reasoning", "media", "rows"])
def test_the_projections_import_neither_the_lifting_nor_the_codec(name):
    script = f"import sys, turntape.transcript.{name}; print(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    loaded = {each.rpartition(".")[2] for each in run.stdout.split() if "transcript." in each}
    assert name in loaded
    assert not loaded & LIFTING_AND_CODEC
    # Nor do they in any function; only the rows reach for what packs them into a string.
    spec = find_spec(f"turntape.transcript.{name}")
    assert spec is not None
    assert spec.origin is not None
    tree = ast.parse(Path(spec.origin).read_text("utf-8"))
    imported = {
        node.module.rpartition(".")[2]
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module
    }
    assert imported & LIFTING_AND_CODEC == ({"lifting"} if name == "rows" else set())
