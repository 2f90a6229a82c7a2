"""What is encoded is decoded as the same turn: over the vectors of all wires, into each that is spoken."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.support.encoded import is_json_object
from tests.support.encoding_table import TARGETS
from tests.support.vectors import STREAMS, body_of, cases

import turntape
from turntape import (
    Dialect,
    ProviderBlock,
    StreamError,
    Text,
    Thinking,
    ToolUse,
    assemble,
    decode,
    encode,
    format_response,
    parse_response,
)

# Turns that their own wire cannot say in a stream as they were, and why.
MADE_UP = "the wire demands an id, which was made up"
NOT_AS_BEFORE = {
    "no-message-start": MADE_UP,
    "missing-id-and-model": MADE_UP,
    "tool-synthetic-id-without-response-id": MADE_UP,
    "refusal-deltas": "whether text is a refusal is known at its end",
    "content-parts-thinking": "the reasoning goes into a member, which has a name",
}


def whole_turns():
    """Give each turn of the vectors that is complete, with its wire and the options to decode it."""
    for dialect, file in STREAMS.items():
        for case in cases(file):
            if "body" not in case and "body_hex" not in case:
                continue
            options = case.get("options") or {}
            try:
                events = decode(body_of(case), dialect, **options)
            except StreamError:
                continue
            served = {key: value for key, value in options.items() if key == "server_tools"}
            yield pytest.param(dialect, events, served, id=f"{dialect}-{case['name']}")


TURNS = list(whole_turns())
all_turns = pytest.mark.parametrize(("dialect", "events", "served"), TURNS)


def name_of(request):
    return request.node.callspec.id.removeprefix(str(request.node.funcargs["dialect"]) + "-")


def test_there_are_turns_of_every_wire():
    assert {param.values[0] for param in TURNS} == set(Dialect)
    assert len(TURNS) > 250


@all_turns
def test_a_turn_comes_back_from_its_own_wire(request, dialect, events, served):
    if dialect not in TARGETS:
        pytest.skip("this wire is read alone")
    notes: list[turntape.ReplayNote] = []
    body = encode(events, dialect, notes=notes)
    again = assemble(decode(body, dialect, **served))
    # What ended it is the wire's to say, and so is the word for it.
    before = replace(assemble(events), terminal=again.terminal, raw_reason=again.raw_reason)
    if before.usage is None:
        before = replace(before, usage=again.usage)
    if name_of(request) in NOT_AS_BEFORE:
        assert again != before, "this one is no exception any more"
    else:
        assert again == before, body.decode()


def told(content):
    """Give what blocks say that every wire can carry."""
    for block in content:
        match block:
            case Text():
                yield "text", block.text
            case Thinking():
                yield "thinking", block.text
            case ToolUse():
                yield "call", block.name
            case _:
                pass


def in_one_place(content):
    """Join what is told by its kind, calls aside."""
    pieces = list(told(content))
    speech = [
        "".join(text for kind, text in pieces if kind == wanted) for wanted in ("text", "thinking")
    ]
    return speech, [name for kind, name in pieces if kind == "call"]


def can_say(block, target):
    """Tell whether a wire has a call: Gemini none whose arguments are no object, or a very deep one."""
    text = block.arguments.strip() if isinstance(block, ToolUse) else ""
    is_flat = text.count("{") + text.count("[") < 500
    return target != Dialect.GEMINI or not text or (is_flat and is_json_object(text))


@all_turns
@pytest.mark.parametrize("target", TARGETS)
def test_every_wire_tells_the_turn(dialect, events, served, target):
    notes: list[turntape.ReplayNote] = []
    message = assemble(events)
    own = served if dialect == target else {}
    again = assemble(decode(encode(events, target, source=dialect, notes=notes), target, **own))
    assert again.complete
    kept = [block for block in message.content if can_say(block, target)]
    assert in_one_place(again.content) == in_one_place(kept)
    if not any(note.code == "reason_mapped" for note in notes):
        assert again.stop_reason == message.stop_reason
    if dialect != target:
        assert not any(isinstance(block, ProviderBlock) for block in again.content)


@all_turns
@pytest.mark.parametrize("target", TARGETS)
def test_every_wire_tells_the_turn_in_a_body(dialect, events, served, target):
    message = assemble(events, dialect=dialect)
    notes: list[turntape.ReplayNote] = []
    own = served if dialect == target else {}
    again = parse_response(format_response(message, target, notes=notes), target, **own)
    kept = [block for block in message.content if can_say(block, target)]
    assert in_one_place(again.content) == in_one_place(kept)
    if not any(note.code == "reason_mapped" for note in notes):
        assert again.stop_reason == message.stop_reason


@all_turns
@pytest.mark.parametrize("target", TARGETS)
def test_a_turn_without_its_stop_is_cut(dialect, events, served, target):
    del served
    body = encode(events[:-1], target, source=dialect)
    with pytest.raises(turntape.TruncatedStream) as caught:
        decode(body, target)
    partial = caught.value.partial
    assert partial is not None
    assert not partial.complete
