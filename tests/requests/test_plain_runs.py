"""Runs of plain messages are what the rules write, byte for byte: the law of the quick way."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.building import built_for
from tests.support.histories import broken_histories, histories, wild_histories
from tests.support.model_requests import MODELS, model_requests

from turntape import (
    Base64Source,
    CachePolicy,
    CustomRecord,
    Dialect,
    Image,
    Message,
    ModelRequest,
    ProviderBlock,
    RedactedThinkingBlock,
    Text,
    Thinking,
    ToolDef,
    ToolResult,
    ToolUse,
    TurntapeError,
)
from turntape._native import calls_are_answered
from turntape.replay.pairing import pair
from turntape.wire.outbound.anthropic import AnthropicWriter
from turntape.wire.outbound.bedrock import BedrockWriter
from turntape.wire.outbound.plain import PlainRun

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from hypothesis.strategies import DrawFn

    from turntape import BuiltRequest, ContentBlock, HistoryItem

A, B = Dialect.ANTHROPIC, Dialect.BEDROCK_CONVERSE
DIALECTS = (A, B)
MODEL = "claude-sonnet-4-5"
TOOLS = [ToolDef(name, "", {"type": "object"}) for name in ("dim", "snap")]


def asked(history: list[HistoryItem]) -> ModelRequest:
    return ModelRequest(MODEL, history, max_tokens=4096)


@contextmanager
def rules_alone() -> Generator[None]:
    """Have the rules write and pair everything."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(AnthropicWriter, "writes_runs", False)
        patch.setattr(BedrockWriter, "writes_runs", False)
        patch.setattr("turntape.wire.outbound.build.calls_are_answered", lambda _: False)
        yield


def outcome(build: Callable[[], BuiltRequest]) -> tuple[Any, ...]:
    """Give all that a request is, or why there is none."""
    try:
        built = build()
    except TurntapeError as error:
        return type(error), str(error), vars(error)
    sent = (built.to_json(), built.body, built.prefix_digests)
    return (*sent, built.notes, built.id_map, built.name_map, built.headers)


def check(request: ModelRequest, dialect: Dialect, model: str, **options: Any) -> tuple[Any, ...]:
    """Hold a request to the one that the rules write."""
    quick = outcome(lambda: built_for(request, dialect, model, **options))
    with rules_alone():
        assert outcome(lambda: built_for(request, dialect, model, **options)) == quick
    return quick


# Histories of which most is plain ----------------------------------------------------------------

said = (
    st.sampled_from(
        [
            "Good.",
            "a\nb\t\0",
            'so "it" is\\',
            "naïve 🦀",
            "",
            " \n",
            "\x1c",
            "\xa0x",
            "\ud83d half",
            "é" * 90,
        ]
    ).map(Text)
    | st.just(Text("cited", ('{"a":1}',)))
    | st.just(Text("more", extra='{"b":2}'))
)
plain_said = st.sampled_from(["Good.", "naïve 🦀", "x" * 200, 'so "it" is\\']).map(Text)
arguments = st.sampled_from(
    [
        "{}",
        '{"n" : 1.0}',
        '{"a":"\\u00e9"}',
        '{"a":"\\ud83d"}',
        '{"é":[1,{"b":null}]}',
        "",
        "[1]",
        "{",
        ' {"a":1}\n',
    ]
)
thoughts = st.builds(
    Thinking,
    st.sampled_from(["", "Hm.", "é"]),
    st.sampled_from([None, "c2lnbmVk", "U0lH", '{"signature":"U0lH"}']),
) | st.builds(RedactedThinkingBlock, st.sampled_from(["cmVk", "no base64"]))
odd: st.SearchStrategy[ContentBlock] = st.sampled_from(
    [
        Image(Base64Source("iVBORw0KGgo=", "image/png")),
        ProviderBlock("search_result", '{"type":"search_result","title":"t"}'),
    ]
)


class Maker:
    """Makes rounds as an agent has them, here and there with what is not plain."""

    def __init__(self, draw: DrawFn) -> None:
        self.draw = draw
        self.usual = draw(st.integers(3, 30))
        self.number = 0

    def rarely(self) -> bool:
        return self.draw(st.integers(0, self.usual)) == 0

    def text(self) -> Text:
        return self.draw(said if self.rarely() else plain_said)

    def question(self) -> list[HistoryItem]:
        before: list[HistoryItem] = []
        if self.rarely():
            before.append(CustomRecord("mark"))
        if self.rarely():
            before.append(Message.system(self.draw(plain_said).text))
        blocks: list[ContentBlock] = [self.text()]
        if self.rarely():
            blocks.append(self.draw(odd))
        extra = '{"c":3}' if self.rarely() else None
        return [*before, Message("user", tuple(blocks), extra=extra)]

    def call(self) -> ToolUse:
        self.number += 1
        name = self.draw(st.sampled_from(["dim", "snap", "dim", "other", "bad name"]))
        call_id = f"call_{0 if self.rarely() else self.number}"
        text = self.draw(arguments) if self.rarely() else '{"path": "a"}'
        extra = '{"caller":{}}' if self.rarely() else None
        return ToolUse("bad " * self.rarely() + call_id, name, text, extra=extra)

    def turn(self, calls: list[ToolUse]) -> Message:
        before: list[ContentBlock] = []
        if self.draw(st.booleans()):
            before.append(self.draw(thoughts))
        if self.draw(st.booleans()):
            before.append(self.text())
        model = self.draw(st.sampled_from([MODEL, MODEL, None, "gpt-5"]))
        return Message.assistant([*before, *calls], model=model)

    def results(self, calls: list[ToolUse]) -> Message:
        blocks: list[ContentBlock] = [
            ToolResult(
                call.id,
                self.draw(st.sampled_from(["", " "])) if self.rarely() else "It is so.",
                is_error=self.rarely(),
                extra='{"d":4}' if self.rarely() else None,
            )
            for call in self.draw(st.permutations(calls))
        ]
        if self.rarely():
            blocks.append(self.text())
        if self.rarely():
            # No order that a wire wants, but one that a host may have.
            blocks.insert(0, self.text())
        if self.rarely():
            blocks.pop()
        return Message.user(blocks)


@st.composite
def mostly_plain(draw: DrawFn) -> list[HistoryItem]:
    maker = Maker(draw)
    history: list[HistoryItem] = []
    for _ in range(draw(st.integers(1, 8))):
        history += maker.question()
        for _ in range(draw(st.integers(0, 3))):
            calls = [maker.call() for _ in range(draw(st.integers(1, 3)))]
            history += [maker.turn(calls), maker.results(calls)]
        if draw(st.booleans()):
            history.append(Message.assistant([maker.text()], model=MODEL))
    return history


caches = st.sampled_from([CachePolicy(), CachePolicy.auto()]) | st.builds(
    CachePolicy, messages=st.lists(st.integers(0, 7), max_size=3, unique=True).map(tuple)
)


@given(mostly_plain(), caches, st.sampled_from(["strict", "repair"]), st.booleans())
def test_plain_runs_are_what_the_rules_write(history, cache, repair, declared):
    places = tuple(place for place in cache.messages if place < len(history))
    request = replace(
        asked(history),
        tools=TOOLS if declared else [],
        cache=replace(cache, messages=places),
    )
    for dialect in DIALECTS:
        check(request, dialect, MODELS[dialect][-1], repair=repair)


@given(mostly_plain(), st.data())
def test_comparing_with_the_last_request_is_the_same(history, data):
    request = replace(asked(history), tools=TOOLS, max_tokens=9)
    edited = [*history]
    place = data.draw(st.integers(0, len(history) - 1))
    edited[place] = Message.user("Something else.")
    for dialect in DIALECTS:
        model = MODELS[dialect][-1]
        before = outcome(lambda: built_for(request, dialect, model, repair="repair"))  # noqa: B023
        if not isinstance(before[0], bytes):
            continue
        for changed in (request, replace(request, messages=edited)):
            options = {"repair": "repair", "previous": before[2]}
            first = check(changed, dialect, model, **options)
            if isinstance(first[0], bytes):
                check(changed, dialect, model, repair="repair", previous=first[2])


@given(
    model_requests(histories() | broken_histories() | wild_histories()),
    st.sampled_from(["strict", "repair"]),
)
def test_any_history_is_what_the_rules_write(request_, repair):
    for dialect in DIALECTS:
        check(request_, dialect, MODELS[dialect][-1], repair=repair)


@given(mostly_plain())
def test_histories_that_pair_are_those_without_faults(history):
    messages = [item for item in history if isinstance(item, Message)]
    _, faults = pair(enumerate(messages))
    assert calls_are_answered(messages) == (not faults)


def runs_of(history: list[HistoryItem], dialect: Dialect, **more: Any) -> list[int]:
    """Give how many messages each run has that is written of a history."""
    runs: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        original = PlainRun.__init__

        def counted(self: PlainRun, *arguments: Any) -> None:
            original(self, *arguments)
            runs.append(len(self.messages))

        patch.setattr(PlainRun, "__init__", counted)
        request = replace(asked(history), **{"tools": TOOLS, **more})
        built_for(request, dialect, MODELS[dialect][-1])
    return runs


def rounds(count: int) -> list[HistoryItem]:
    history: list[HistoryItem] = [Message.user("Go.")]
    for number in range(count):
        call = ToolUse(f"c{number}", "dim", '{"n": 1}')
        thought = Thinking("Hm.", "c2ln")
        history += [
            Message.assistant([thought, Text("Yes."), call], model=MODEL),
            Message.tool_result(call.id, "Done.", is_error=number % 3 == 1),
        ]
    return history


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_plain_history_is_one_run_but_for_its_last_message(dialect):
    assert runs_of(rounds(9), dialect) == [18]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_is_not_plain_ends_a_run_and_another_begins_behind_it(dialect):
    history = rounds(9)
    image = Image(Base64Source("iVBORw0KGgo=", "image/png"))
    history[8] = Message.user([ToolResult("c3", "Done."), image])
    assert runs_of(history, dialect) == [7, 9]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_cache_mark_stands_in_a_run(dialect):
    assert runs_of(rounds(9), dialect, cache=CachePolicy.auto()) == [15]
    assert runs_of(rounds(9), dialect, cache=CachePolicy(messages=(10,))) == [9]


def test_a_tool_that_is_not_declared_is_left_to_the_rules_once():
    history = rounds(9)
    assert runs_of(history, A, tools=[]) == [15]


@pytest.mark.parametrize(("calls", "runs"), [(64, [10]), (65, [4, 3])])
def test_a_turn_of_very_many_calls_is_left_to_the_rules(calls, runs):
    """Each result of a run is looked for among the calls that wait: that must not take quadratic time."""
    turn = [ToolUse(f"many{number}", "dim", "{}") for number in range(calls)]
    results = [ToolResult(call.id, "Done.") for call in reversed(turn)]
    history = [*rounds(2), Message.assistant(turn, model=MODEL), Message.user(results)]
    history += [Message.assistant([Text("Yes.")], model=MODEL), Message.user("Go on.")] * 2
    for dialect in DIALECTS:
        assert runs_of(history, dialect) == runs
        check(replace(asked(history), tools=TOOLS), dialect, MODELS[dialect][-1])
