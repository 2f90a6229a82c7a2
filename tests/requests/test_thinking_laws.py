"""Thinking is sent as it was said and where it was said, to whom it is for, or not at all: laws."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.support.building import body_of, built_for
from tests.support.histories import histories
from tests.support.model_requests import plain_request
from tests.support.read_bodies import thoughts_of

from turntape import (
    Dialect,
    Message,
    RedactedThinkingBlock,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)

pytest.importorskip("google.genai")

A, C, R, G, B = Dialect

few = settings(max_examples=50)


class TestThinking:
    @few
    @given(
        st.lists(
            st.sampled_from(["thinking", "empty", "redacted", "call", "text"]),
            min_size=1,
            max_size=7,
        ),
        st.sampled_from([A, B]),
    )
    def test_every_block_stays_where_it_was(self, kinds, dialect):
        blocks: list[Any] = []
        expected: list[tuple[str, str]] = []
        for n, kind in enumerate(kinds):
            match kind:
                case "thinking":
                    blocks.append(Thinking(f"thought {n}", f"sig{n}"))
                    expected.append(("thinking", f"thought {n}sig{n}"))
                case "empty":
                    blocks.append(Thinking("", f"sig{n}"))
                    expected.append(("thinking", f"sig{n}"))
                case "redacted":
                    blocks.append(RedactedThinkingBlock(f"b3Bh{n:04}"))
                    expected.append(("redacted", f"b3Bh{n:04}"))
                case "call":
                    blocks.append(ToolUse(f"c{n}", "dim", "{}"))
                    expected.append(("call", f"c{n}"))
                case _:
                    blocks.append(Text(f"text {n}"))
                    expected.append(("text", f"text {n}"))
        results = [ToolResult(b.id, "r") for b in blocks if isinstance(b, ToolUse)]
        history = [
            Message.user("q"),
            Message.assistant(blocks, model="claude-opus-4-7"),
            Message.user([*results, Text("n")]),
        ]
        model = "claude-opus-4-7" if dialect is A else "us.anthropic.claude-opus-4-7-v1:0"
        built = built_for(plain_request(history, dialect), dialect, model)
        assert not [note for note in built.notes if note.code != "tools_declared"]
        assert thoughts_of(dialect, body_of(built)["messages"][1]) == expected

    @few
    @given(histories(), st.sampled_from(list(Dialect)))
    def test_foreign_thinking_never_goes_out(self, history, dialect):
        """What is signed for nobody that the target is does not go out, not as text either."""
        secret = "a secret plan"
        marked = [
            replace(
                item,
                content=(Thinking(secret, "Zm9yZWlnbg=="), *item.content),
                vendor="elsewhere",
                model="other-1",
            )
            if isinstance(item, Message) and item.role == "assistant"
            else item
            for item in history
        ]
        assume(marked != history)
        built = built_for(plain_request(marked, dialect), dialect)
        data = built.to_json()
        assert secret.encode() not in data
        assert b"Zm9yZWlnbg==" not in data
        assert any(note.code == "reasoning_dropped" for note in built.notes)
