"""Importers: what they carry, and that they say what they do not."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from io import BytesIO
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turntape import (
    IMPORT_FORMATS,
    ImagePart,
    ImportedRow,
    ImportItem,
    ImportLoss,
    LosslessCodec,
    Message,
    Thinking,
    ToolUse,
    Usage,
    from_provider_messages,
    import_transcript,
    validate_native,
)

if TYPE_CHECKING:
    from turntape import TranscriptMessage


def lines(*values: object) -> bytes:
    return b"".join(
        value + b"\n" if isinstance(value, bytes) else json.dumps(value).encode() + b"\n"
        for value in values
    )


def imported(format_: str, *values: object) -> tuple[list[TranscriptMessage], list[ImportLoss]]:
    items = list(import_transcript(BytesIO(lines(*values)), format_))
    rows = [item.row for item in items if isinstance(item, ImportedRow)]
    return rows, [item for item in items if isinstance(item, ImportLoss)]


def codes(losses: list[ImportLoss]) -> list[tuple[int, str]]:
    return [(loss.line, loss.code) for loss in losses]


# All formats -------------------------------------------------------------------------------------


def test_the_formats():
    assert list(IMPORT_FORMATS) == ["anthropic", "claude-code", "codex", "openai-chat"]
    for name, each in IMPORT_FORMATS.items():
        assert each.name == name
        assert list(import_transcript(BytesIO(b""), f"{name}@{each.version}")) == []


@pytest.mark.parametrize("name", ["", "codex@1999-01", "chat", "codex@"])
def test_a_format_that_is_none(name):
    with pytest.raises(ValueError, match="is no format that can be imported: anthropic@"):
        import_transcript(BytesIO(b""), name)


@pytest.mark.parametrize("name", IMPORT_FORMATS)
def test_lines_that_cannot_be_read_are_named(name):
    rows, losses = imported(
        name,
        b"{",
        b"",
        b" \t\r",
        b"[1]",
        b"\xff",
        b"7",
        b"[" * 100_000,
        b'{"n":' + b"1" * 9999 + b"}",
    )
    assert rows == []
    assert codes(losses) == [(line, "unreadable_line") for line in (1, 4, 5, 6, 7, 8)]
    [*_, long] = import_transcript(BytesIO(b"x" * 99), name, max_line_bytes=9)
    assert isinstance(long, ImportLoss)
    assert long.code == "unreadable_line"


@pytest.mark.parametrize("name", IMPORT_FORMATS)
@given(
    content=st.lists(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=5),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.sampled_from(
                        [
                            "type",
                            "role",
                            "content",
                            "message",
                            "payload",
                            "id",
                            "name",
                            "messages",
                            "text",
                        ]
                    )
                    | st.text(max_size=3),
                    inner
                    | st.sampled_from(
                        [
                            "user",
                            "assistant",
                            "tool",
                            "message",
                            "response_item",
                            "text",
                            "function_call",
                        ]
                    ),
                    max_size=5,
                )
            ),
            max_leaves=12,
        ),
        max_size=4,
    )
)
def test_no_input_is_a_traceback(name: str, content: list[Any]):
    items = list(import_transcript(BytesIO(lines(*content)), name))
    named = {item.line for item in items}
    # Every line comes to something, or belongs to a turn that began before.
    assert named <= set(range(1, len(content) + 1))
    if content:
        assert items


def test_a_byte_order_mark_is_no_part_of_the_first_line():
    rows, losses = imported("openai-chat", b'\xef\xbb\xbf{"role":"user","content":"q"}')
    assert [row.content for row in rows] == ["q"]
    assert losses == []


def test_what_no_line_can_hold_is_named():
    rows, losses = imported("openai-chat", b'{"role":"user","content":"\\ud800"}')
    assert rows == [] or losses == []
    assert len(rows) + len(losses) == 1


# OpenAI Chat and Anthropic -----------------------------------------------------------------------

CALL = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": '{ "a":1.10}'}}


def test_chat_messages_a_line_each():
    rows, losses = imported(
        "openai-chat",
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "ok"},
        {"role": "assistant", "content": "Done."},
        {"mood": 1},
        {"role": "jester"},
    )
    assert [(row.role, row.content) for row in rows] == [
        ("system", "Be brief."),
        ("user", "q"),
        ("assistant", ""),
        ("tool", "ok"),
        ("assistant", "Done."),
    ]
    assert rows[2].tool_calls[0].arguments == '{ "a":1.10}'
    assert validate_native(rows) == []
    assert codes(losses) == [(6, "not_a_message"), (7, "invalid_message")]


def test_chat_conversations_a_line_each():
    conversation = {"messages": [{"role": "user", "content": "q"}], "model": "m", "tools": []}
    rows, losses = imported("openai-chat", conversation, conversation, {"messages": "none"})
    assert len(rows) == 2
    assert codes(losses) == [
        (1, "left_out"),
        (2, "other_conversation"),
        (2, "left_out"),
        (3, "other_conversation"),
        (3, "invalid_message"),
    ]


def test_an_anthropic_request_with_its_system_and_a_document():
    rows, losses = imported(
        "anthropic",
        {
            "model": "claude-heron-9",
            "max_tokens": 9,
            "system": [{"type": "text", "text": "Be brief."}],
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "q"},
                        {
                            "type": "document",
                            "source": {
                                "type": "base64",
                                "media_type": "application/pdf",
                                "data": "QQ==",
                            },
                        },
                    ],
                },
                {
                    "role": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
                        {"type": "text", "text": "a"},
                    ],
                },
            ],
        },
    )
    assert [(row.role, row.content) for row in rows] == [
        ("system", "Be brief."),
        ("user", "q"),
        ("assistant", "a"),
    ]
    assert Counter(codes(losses)) == {(1, "media_bytes"): 1, (1, "left_out"): 1}
    turn = LosslessCodec().decode_history(rows)[2]
    assert isinstance(turn, Message)
    assert turn.content[0] == Thinking("Hm.", signature="c2ln")


def test_messages_come_as_their_own_reader_gives_them():
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "c1", "name": "f", "input": {"x": 1}}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "r"}]},
    ]
    rows, losses = imported("anthropic", *messages)
    assert losses == []
    read = from_provider_messages(json.dumps(messages), "anthropic")
    # The wire is kept where something in the message is its own.
    assert LosslessCodec().decode_history(rows) == [
        *read[:2],
        replace(read[2], dialect=None),
    ]


# Claude Code -------------------------------------------------------------------------------------


def record(kind: str, content: Any, **more: Any) -> dict[str, Any]:
    message = {"role": kind, "content": content}
    if kind == "assistant":
        message |= {
            "id": more.pop("message_id", "m1"),
            "model": "claude-heron-9",
            "type": "message",
        }
        message |= {"stop_reason": None, "stop_sequence": None}
        message |= more.pop("message", {})
    return {
        "type": kind,
        "uuid": f"{kind}-1",
        "timestamp": "2026-01-01T00:00:00Z",
        "sessionId": "s",
        "isSidechain": False,
        "message": message,
        **more,
    }


USE = {"type": "tool_use", "id": "c1", "name": "ls", "input": {"a": 1}}
RESULT = {"type": "tool_result", "tool_use_id": "c1", "content": "ok"}


def test_the_lines_of_one_turn_come_together():
    rows, losses = imported(
        "claude-code",
        {"type": "summary", "summary": "x"},
        record("user", "q", cwd="/srv"),
        record("assistant", [{"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}]),
        record("assistant", [{"type": "text", "text": "a"}]),
        record(
            "assistant",
            [USE, {**USE, "id": "c2"}],
            requestId="r9",
            message={
                "stop_reason": "tool_use",
                "usage": {
                    "input_tokens": 3,
                    "output_tokens": 4,
                    "cache_creation_input_tokens": 5,
                    "cache_read_input_tokens": 6,
                    "cache_creation": {"ephemeral_1h_input_tokens": 2},
                    "service_tier": "standard",
                },
            },
        ),
        record("user", [{**RESULT, "tool_use_id": "c2"}], toolUseResult={"x": [1.5]}),
        record("user", [{**RESULT, "is_error": True}]),
        record("assistant", [{"type": "text", "text": "b"}], message_id="m2"),
    )
    assert codes(losses) == [(1, "not_a_message")]
    assert [(row.role, row.content) for row in rows] == [
        ("user", "q"),
        ("assistant", "a"),
        ("tool", "ok"),
        ("tool", "ok"),
        ("assistant", "b"),
    ]
    user, turn, result, failed, _ = rows
    assert (user.id, user.created_at) == ("user-1", "2026-01-01T00:00:00Z")
    assert user.extra_metadata is not None
    assert user.extra_metadata["claude_code"]["cwd"] == "/srv"
    assert [call.id for call in turn.tool_calls] == ["c1", "c2"]
    assert turn.tool_calls[0].arguments == '{"a": 1}'
    assert turn.usage == Usage(3, 4, 6, 5, 2)
    assert (turn.model, turn.stop_reason) == ("claude-heron-9", "tool_use")
    assert turn.extra_metadata is not None
    assert turn.extra_metadata["claude_code"]["usage"]["service_tier"] == "standard"
    assert result.extra_metadata is not None
    assert result.extra_metadata["claude_code"]["toolUseResult"] == {"x": [1.5]}
    assert failed.tool_failure is not None
    assert validate_native(rows) == []
    message = LosslessCodec().decode_history(rows)[1]
    assert isinstance(message, Message)
    # The signature outlives what the row was given beside it.
    assert message.content[0] == Thinking("Hm.", signature="c2ln")
    assert isinstance(message.content[2], ToolUse)


def test_subagents_are_another_conversation():
    main, side = record("user", "main"), record("user", "side", isSidechain=True)
    rows, losses = imported("claude-code", main, side, main)
    assert [row.content for row in rows] == ["main", "main"]
    assert codes(losses) == [(2, "other_conversation")]
    # In a subagent's own file they are the conversation.
    rows, losses = imported("claude-code", side, side)
    assert [row.content for row in rows] == ["side", "side"]
    assert losses == []


def test_what_no_model_said_is_shown_and_not_replayed():
    rows, _ = imported(
        "claude-code",
        record("user", "q"),
        record(
            "assistant", [{"type": "text", "text": "API Error"}], message={"model": "<synthetic>"}
        ),
        record(
            "assistant",
            [{"type": "text", "text": "half"}],
            message_id="m2",
            isAbortedMidStream=True,
        ),
    )
    assert [row.interrupted for row in rows] == [False, True, True]


def test_odd_records_of_claude_code():
    rows, losses = imported(
        "claude-code",
        {"type": "user"},
        {"type": "user", "message": "error"},
        {"type": "assistant", "message": {"role": "assistant", "content": ["wow"]}},
        {"silly": 1},
        record("assistant", "a text", message={"usage": {"input_tokens": "many"}}),
        record(
            "user",
            [
                {
                    "type": "image",
                    "source": {"type": "base64", "media_type": "image/png", "data": "QQ=="},
                }
            ],
        ),
    )
    assert codes(losses) == [
        (1, "invalid_message"),
        (2, "invalid_message"),
        (4, "not_a_message"),
        (3, "invalid_message"),
    ]
    assert [row.content for row in rows] == ["a text", ""]
    assert rows[0].usage is None
    assert rows[1].parts == (ImagePart("data:image/png;base64,QQ=="),)


# Codex -------------------------------------------------------------------------------------------


def item(payload: dict[str, Any], kind: str = "response_item") -> dict[str, Any]:
    return {"timestamp": "2026-01-01T00:00:00Z", "type": kind, "payload": payload}


def said(role: str, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return item({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})


def test_a_rollout():
    count = {
        "type": "token_count",
        "info": {
            "last_token_usage": {
                "input_tokens": 10,
                "cached_input_tokens": 4,
                "output_tokens": 3,
                "reasoning_output_tokens": 2,
            }
        },
    }
    rows, losses = imported(
        "codex",
        item({"id": "s"}, "session_meta"),
        item({"model": "gpt-9"}, "turn_context"),
        said("developer", "Be brief."),
        said("user", "q"),
        item({"type": "user_message", "message": "q"}, "event_msg"),
        item({"type": "reasoning", "id": "rs1", "summary": [], "encrypted_content": "RU5D"}),
        said("assistant", "On it."),
        item(
            {
                "type": "function_call",
                "call_id": "c1",
                "name": "ls",
                "arguments": '{ "a":1.0}',
                "phase": "x",
            }
        ),
        item({"type": "custom_tool_call", "call_id": "c2", "name": "patch", "input": "*** Begin"}),
        item(count, "event_msg"),
        item({"type": "function_call_output", "call_id": "c1", "output": "ok"}),
        item({"type": "custom_tool_call_output", "call_id": "c2", "output": "done"}),
        item({"type": "ghost_snapshot"}),
        said("assistant", "Done."),
    )
    assert [(row.role, row.content) for row in rows] == [
        ("system", "Be brief."),
        ("user", "q"),
        ("assistant", "On it."),
        ("tool", "ok"),
        ("tool", "done"),
        ("assistant", "Done."),
    ]
    assert codes(losses) == [
        (1, "not_a_message"),
        (2, "not_a_message"),
        (5, "not_a_message"),
        (8, "left_out"),
        (13, "not_a_message"),
    ]
    turn = rows[2]
    assert turn.tool_calls[0].arguments == '{ "a":1.0}'
    assert turn.usage == Usage(6, 3, 4, 0, 0, 2)
    assert (turn.model, turn.created_at) == ("gpt-9", "2026-01-01T00:00:00Z")
    assert rows[5].usage is None
    assert validate_native(rows) == []
    message = LosslessCodec().decode_history(rows)[2]
    assert isinstance(message, Message)
    assert "RU5D" in repr(message)


def test_the_first_rollouts_wrote_items_alone():
    rows, losses = imported(
        "codex",
        {"id": "s", "timestamp": "t", "instructions": None},
        said("user", "q")["payload"],
        {"type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "ok"},
        {"record_type": "state"},
    )
    assert [row.role for row in rows] == ["user", "assistant", "tool"]
    assert codes(losses) == [(1, "not_a_message"), (5, "not_a_message")]


def test_one_bad_item_does_not_take_its_turn_along():
    rows, losses = imported(
        "codex",
        said("assistant", "a"),
        item({"type": "function_call", "name": "ls"}),
        item({"type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{}"}),
    )
    assert [(row.content, len(row.tool_calls)) for row in rows] == [("a", 0), ("", 1)]
    assert codes(losses) == [(2, "invalid_message")]


def test_items_are_told_apart_by_their_type():
    found = {
        type(each)
        for each in import_transcript(
            BytesIO(lines({"role": "user", "content": "q"}, 7)), "anthropic"
        )
    }
    assert found == {ImportedRow, ImportLoss}
    assert ImportItem == ImportedRow | ImportLoss
