"""A longer request begins with the shorter one: the law that prompt caches and signed thinking live by."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support import raw_json
from tests.support.building import MESSAGES, PLACEHOLDER, built_for
from tests.support.histories import broken_histories, histories
from tests.support.model_requests import MODELS, model_requests, plain_request

from turntape import CachePolicy, Dialect, Message, Reasoning, Thinking, TurntapeError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from turntape import BuiltRequest, ModelRequest

pytest.importorskip("google.genai")

_PLACEHOLDER = f',"thoughtSignature":"{PLACEHOLDER}"'
_SYSTEM = {"system", "instructions", "systemInstruction"}
_TOOLS = {"tools", "toolConfig"}

models = st.fixed_dictionaries(
    {dialect: st.sampled_from(names) for dialect, names in MODELS.items()}
)


def stable_part(built: BuiltRequest, dialect: Dialect, *, tools: bool) -> tuple[Any, list[str]]:
    """Give what has to stay the same: system and tools, and each message as its bytes."""
    text = built.to_json().decode()
    members = raw_json.members(text)
    kept = _SYSTEM | (_TOOLS if tools else set())
    head = {name: value for name, value in members.items() if name in kept}
    messages = raw_json.entries(members[MESSAGES[dialect]])
    # Gemini's placeholder is one of the two things that a provider forces.
    return head, [message.replace(_PLACEHOLDER, "") for message in messages]


def growing(
    request: ModelRequest, dialect: Dialect, model: str, **options: Any
) -> Iterator[tuple[int, BuiltRequest]]:
    """Build a request from each beginning of its history that can be sent."""
    for size in range(1, len(request.messages) + 1):
        shorter = replace(request, messages=request.messages[:size])
        try:
            yield size, built_for(shorter, dialect, model, **options)
        except TurntapeError:
            continue


@settings(max_examples=30)
@given(model_requests(histories(max_parts=3), stable=True), models)
def test_longer_request_begins_with_the_shorter_one(request_, model_of):
    for dialect in Dialect:
        # What tools Bedrock has to declare without any given is the other thing that a provider forces.
        tools = dialect is not Dialect.BEDROCK_CONVERSE
        before = None
        for size, built in growing(request_, dialect, model_of[dialect]):
            head, messages = stable_part(built, dialect, tools=tools)
            if before is not None:
                assert head == before[0], (dialect, size)
                assert messages[: len(before[1]) - 1] == before[1][:-1], (dialect, size)
            before = head, messages
        assert before is not None


@settings(max_examples=30)
@given(model_requests(broken_histories(max_parts=3), stable=True), models)
def test_repaired_request_begins_with_the_shorter_one(request_, model_of):
    """Under repair too, but for results that come late: they join the round that they answer."""
    for dialect in Dialect:
        tools = dialect is not Dialect.BEDROCK_CONVERSE
        before = None
        for size, built in growing(request_, dialect, model_of[dialect], repair="repair"):
            head, messages = stable_part(built, dialect, tools=tools)
            answers = {note.code for note in built.notes}
            pending = answers & {"missing_result_inserted", "late_result_moved"}
            if before is not None:
                assert head == before[0], (dialect, size)
                assert messages[: len(before[1]) - 1] == before[1][:-1], (dialect, size)
            before = None if pending else (head, messages)


@settings(max_examples=30)
@given(model_requests(histories(max_parts=3), stable=True), models)
def test_digests_of_an_unchanged_beginning_are_the_same(request_, model_of):
    for dialect in Dialect:
        model = model_of[dialect]
        sizes = dict(growing(request_, dialect, model))
        for shorter, longer in zip(list(sizes)[:-1], list(sizes)[1:], strict=True):
            whole = replace(request_, messages=request_.messages[:longer])
            digests = sizes[shorter].prefix_digests
            again = built_for(whole, dialect, model, previous=digests)
            assert again.to_json() == sizes[longer].to_json()
            assert "prefix_changed" not in {note.code for note in again.notes}


@settings(max_examples=30)
@given(model_requests(histories(max_parts=3), stable=True), st.sampled_from(list(Dialect)))
def test_change_at_the_start_is_noticed(request_, dialect):
    before = built_for(request_, dialect).prefix_digests
    place = next(
        i
        for i, item in enumerate(request_.messages)
        if isinstance(item, Message) and item.role == "user"
    )
    messages = [*request_.messages]
    messages[place] = Message.user("Something else.")
    changed = replace(request_, messages=messages)
    for mode in ("drop_thinking", "drop_block", "keep"):
        built = built_for(changed, dialect, previous=before, on_prefix_change=mode)
        assert "prefix_changed" in {note.code for note in built.notes}


@settings(max_examples=40)
@given(histories(max_parts=3))
def test_thinking_behind_a_change_is_left_out(history):
    """Recent Claude models bind it to all that stands before it."""
    model = "claude-opus-4-7"
    signed = [
        replace(
            item, content=(Thinking("Hm.", "Ym91bmQ="), *item.content), model=model, vendor=None
        )
        if isinstance(item, Message) and item.role == "assistant"
        else item
        for item in history
    ]
    # Only a body that asks for thinking can ask to drop blocks of it.
    request = plain_request(signed, Dialect.ANTHROPIC)
    request = replace(request, reasoning=Reasoning(effort="high"))
    before = built_for(request, Dialect.ANTHROPIC, model)
    changed = replace(request, messages=[Message.user("Something else."), *signed[1:]])
    sent = {
        mode: built_for(
            changed,
            Dialect.ANTHROPIC,
            model,
            previous=before.prefix_digests,
            on_prefix_change=mode,
        )
        for mode in ("drop_thinking", "drop_block", "keep")
    }
    thoughts = {mode: built.to_json().count(b"Ym91bmQ=") for mode, built in sent.items()}
    turns = sum(isinstance(item, Message) and item.role == "assistant" for item in signed)
    assert thoughts == {"drop_thinking": 0, "drop_block": turns, "keep": turns}
    assert "anthropic-beta" in sent["drop_block"].headers
    dropped = [note for note in sent["drop_thinking"].notes if note.code == "reasoning_dropped"]
    assert len(dropped) >= turns


_MARK = re.compile(r',"cache_control":\{[^{}]*\}|,?\{"cachePoint":\{[^{}]*\}\}')


@settings(max_examples=20)
@given(model_requests(histories(max_parts=3)), st.sampled_from(list(Dialect)))
def test_marks_of_the_cache_change_nothing_else(request_, dialect):
    """Only marks differ from a request without a cache policy, and they are no part of a digest."""
    marked = built_for(request_, dialect)
    plain = built_for(replace(request_, cache=CachePolicy(key=request_.cache.key)), dialect)
    assert marked.prefix_digests == plain.prefix_digests
    head, messages = stable_part(marked, dialect, tools=False)
    plain_head, plain_messages = stable_part(plain, dialect, tools=False)
    assert [_MARK.sub("", message) for message in messages] == plain_messages
    if dialect is not Dialect.ANTHROPIC:
        assert {name: _MARK.sub("", value) for name, value in head.items()} == plain_head
