"""Sweeping a transcript: large results go, proofs hold, and nothing of the old text stays beside a row."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.support.artifacts import SECRET, Scrubbing

import turntape
from turntape import ImagePart, NativeToolCall, TextPart, TranscriptMessage

BODY = "low tide at six\n" * 1000


def call(call_id: str, name: str = "gauge_log", **more: object) -> NativeToolCall:
    return NativeToolCall(call_id, name, "{}", **more)


def asked(call_id: str, name: str = "gauge_log", **more: object) -> TranscriptMessage:
    return TranscriptMessage.assistant_with_calls("", [call(call_id, name, **more)])


def answered(call_id: str, text: str = BODY) -> TranscriptMessage:
    return TranscriptMessage.tool_result(call_id, text)


ROWS = [
    TranscriptMessage.user(BODY),
    asked("c1"),
    answered("c1"),
    asked("c2"),
    answered("c2", "small"),
    TranscriptMessage.assistant(BODY),
]


def changed(before: list[TranscriptMessage], after: list[TranscriptMessage]) -> list[int]:
    assert len(before) == len(after)
    return [at for at, pair in enumerate(zip(before, after, strict=True)) if pair[0] is not pair[1]]


def test_only_large_results_go(place):
    swept, artifacts = turntape.offload_transcript(ROWS, place.writer(), 8192)
    assert changed(ROWS, swept) == [2]
    (artifact,) = artifacts
    assert turntape.extract_artifact_paths(swept[2].content) == [artifact.relative_path]
    assert swept[2] == replace(ROWS[2], content=swept[2].content)
    assert place.files() == {artifact.relative_path: BODY.encode()}
    # Once more there is nothing left to do, whatever the threshold.
    for threshold in (8192, 100, 1):
        again, more = turntape.offload_transcript(swept[:4], place.writer(), threshold)
        assert (changed(swept[:4], again), more) == ([], [])


def test_disabled(place):
    swept, artifacts = turntape.offload_transcript(iter(ROWS), place.writer(), 0)
    assert (changed(ROWS, swept), artifacts) == ([], [])
    assert turntape.offload_transcript([], place.writer(), 8192) == ([], [])
    with pytest.raises(ValueError, match="no name of a tool"):
        turntape.offload_transcript([], place.writer(), 8192, "two words")


def test_what_was_read_stays(place):
    rows = [asked("c1", "peruse"), answered("c1"), asked("c2"), answered("c2")]
    swept, _ = turntape.offload_transcript(rows, place.writer(), 8192, "peruse")
    assert changed(rows, swept) == [3]
    swept, _ = turntape.offload_transcript(rows, place.writer(), 8192)
    assert changed(rows, swept) == [1, 3]


SIGNED = [
    TranscriptMessage(
        "assistant",
        "",
        tool_calls=(call("c2"),),
        extra_metadata={
            "turntape": {
                "v": 1,
                "message": {"content": [{"type": "thinking", "text": "hm", "signature": "c2ln"}]},
            }
        },
    ),
    TranscriptMessage(
        "assistant",
        "",
        tool_calls=(call("c2"),),
        extra_metadata={
            "turntape": {"message": {"content": [{"type": "redacted_thinking", "data": "x"}]}}
        },
    ),
    asked("c2", extra_content={"google": {"thought_signature": "c2ln"}}),
    TranscriptMessage(
        "assistant",
        "",
        tool_calls=(call("c2"),),
        extra_metadata={
            "turntape": {
                "message": {
                    "content": [
                        {
                            "type": "provider_block",
                            "kind": "reasoning",
                            "json": '{"type":"reasoning","encrypted_content":"x"}',
                        }
                    ]
                }
            }
        },
    ),
    TranscriptMessage.assistant(
        '{"content":"","tool_calls":[{"arguments":"{}","extra_content":{"thought_signature":"c2ln"},'
        '"id":"c2","name":"gauge_log"}]}'
    ),
]


@pytest.mark.parametrize("signed", SIGNED, ids=range(len(SIGNED)))
def test_what_was_sent_before_signed_thinking_stays(signed, place, caplog):
    rows = [asked("c1"), answered("c1"), signed, answered("c2"), answered("c2b")]
    swept, artifacts = turntape.offload_transcript(rows, place.writer(), 8192)
    assert changed(rows, swept) == [3, 4]
    assert len(artifacts) == 2
    (record,) = caplog.records
    assert record.getMessage().startswith("1 too large stay where they are")
    # A turn of the model behind them means that they were sent.
    rows.append(TranscriptMessage.assistant("done"))
    swept, artifacts = turntape.offload_transcript(rows, place.writer(), 8192)
    assert (changed(rows, swept), artifacts) == ([], [])
    swept, artifacts = turntape.offload_transcript(rows, place.writer(), 8192, force=True)
    assert changed(rows, swept) == [1, 3, 4]


def test_unsigned_thinking_binds_nothing(place):
    thought = replace(asked("c1"), extra_metadata={"reasoning_content": "hm"})
    rows = [thought, answered("c1"), TranscriptMessage.assistant("done")]
    swept, _ = turntape.offload_transcript(rows, place.writer(), 8192)
    assert changed(rows, swept) == [1]


def test_a_result_that_is_one_string(place):
    packed = turntape.encode_tool_envelope("c1", BODY)
    rows = [TranscriptMessage("tool", packed, id="r1")]
    swept, artifacts = turntape.offload_transcript(rows, place.writer(), 8192)
    assert swept[0].id == "r1"
    envelope = turntape.parse_canonical_tool_envelope(swept[0].content)
    assert envelope is not None
    assert envelope.tool_call_id == "c1"
    assert turntape.extract_artifact_paths(envelope.content) == [artifacts[0].relative_path]
    assert place.files() == {artifacts[0].relative_path: BODY.encode()}


def test_media_and_marks_keep_their_places(place):
    picture, other = ImagePart("a.png"), ImagePart("b.png")
    row = TranscriptMessage(
        "tool",
        BODY,
        tool_call_id="c1",
        parts=(picture, TextPart(BODY[:8000]), other, TextPart(BODY[8000:])),
        cache_breakpoints=(0, 1, 3),
    )
    (swept,), _ = turntape.offload_transcript([row], place.writer(), 8192)
    assert swept.parts == (picture, TextPart(swept.content), other)
    assert swept.cache_breakpoints == (0, 1, 2)
    assert place.files() == {"outputs/scout/t1-result.md": BODY.encode()}


def test_nothing_of_the_old_text_stays(place):
    text = f"{SECRET} {BODY}"
    stored = {"v": 1, "message": {"content": [{"type": "tool_result", "content": text}]}}
    row = replace(answered("c1", text), extra_metadata={"turntape": stored, "mine": 1})
    packed = TranscriptMessage("tool", turntape.encode_tool_envelope("c2", text))
    swept, _ = turntape.offload_transcript([row, packed], place.writer(redactor=Scrubbing()), 8192)
    assert swept[0].extra_metadata == {"mine": 1}
    for each in swept:
        assert SECRET not in repr(each)
        assert SECRET not in each.legacy_content()
    assert not any(SECRET.encode() in content for content in place.files().values())


def test_a_write_that_fails(place):
    place.root.write_text("a file", "utf-8")
    rows = [answered("c1", f"{SECRET} {BODY}")]
    swept, artifacts = turntape.offload_transcript(rows, place.writer(), 8192)
    assert (changed(rows, swept), artifacts) == ([], [])
    swept, artifacts = turntape.offload_transcript(rows, place.writer(redactor=Scrubbing()), 8192)
    assert (swept[0].content, artifacts) == (f"[gone] {BODY}", [])
