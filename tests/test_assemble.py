"""``assemble``: events, from wherever they come, add up to a message."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support.outcome import bare
from tests.support.samples import ANTHROPIC, CHAT

import turntape
from turntape import (
    AssistantMessage,
    ContentBlockStop,
    Dialect,
    Extension,
    InputJsonDelta,
    MessageStart,
    MessageStop,
    ProviderBlock,
    Text,
    TextDelta,
    ThinkingDelta,
    ToolUse,
    ToolUseStart,
    Usage,
    assemble,
)

if TYPE_CHECKING:
    from turntape import (
        StreamEvent,
    )


@pytest.mark.parametrize(("body", "wire"), [(CHAT, "openai-chat"), (ANTHROPIC, "anthropic")])
def test_events_add_up_to_the_decoder_s_message(body, wire):
    events = turntape.decode(body, wire)
    message = turntape.decode_message(body, wire, vendor="v")
    assert assemble(events) == bare(message)
    assert assemble(iter(events), dialect=wire, vendor="v") == message
    assert assemble(tuple(events), dialect=Dialect(wire), vendor="v") == message


def test_nothing_adds_up_to_nothing():
    assert assemble([]) == AssistantMessage()


def test_events_made_by_hand():
    message = assemble(
        [
            MessageStart("m", None),
            TextDelta(0, "a"),
            TextDelta(0, "b"),
            ContentBlockStop(0),
            ToolUseStart(1, "id", "name"),
            InputJsonDelta(1, "{}"),
            ContentBlockStop(1),
            Usage(1, 2),
            MessageStop("tool_use", "tool_calls", "done"),
        ]
    )
    assert message == AssistantMessage(
        "m", None, (Text("ab"), ToolUse("id", "name", "{}")), "tool_use", "tool_calls", "done",
        Usage(1, 2), complete=True,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "stopped", "reason", "complete"),
    [
        ("{}", True, "tool_use", True),
        ("{}", False, "tool_use", False),
        ("", True, "tool_use", True),
        ("", True, "max_tokens", False),
        ('{"a"', True, "tool_use", False),
        ('{"a": 1}', True, "max_tokens", True),
        ("[1]", True, "max_tokens", False),
        ("[1]", True, "tool_use", True),
        ("x", True, "tool_use", True),
        ("x", True, "other", False),
        ("{} ", True, "refusal", True),
        ("12", True, "end_turn", True),
        ("-", True, "end_turn", False),
    ],
)
def test_when_a_call_is_complete(arguments, stopped, reason, complete):
    events: list[StreamEvent] = [ToolUseStart(0, "id", "name")]
    events += [InputJsonDelta(0, arguments)] if arguments else []
    events += [ContentBlockStop(0)] if stopped else []
    [block] = assemble([*events, MessageStop(reason, None, "done")]).content
    assert isinstance(block, ToolUse)
    assert block.complete is complete


@pytest.mark.parametrize(
    "events",
    [
        [TextDelta(1, "a")],
        [ContentBlockStop(0)],
        [InputJsonDelta(0, "{}")],
        [TextDelta(0, "a"), ThinkingDelta(0, "b")],
        [TextDelta(0, "a"), ContentBlockStop(0), TextDelta(0, "b")],
        [TextDelta(0, "a"), ContentBlockStop(0), ContentBlockStop(0)],
        [TextDelta(0, "a"), InputJsonDelta(0, "{}")],
        [ToolUseStart(0, "i", "n"), ToolUseStart(0, "i", "n")],
        [TextDelta(0, "a"), Extension(0, "k", "{}")],
    ],
)
def test_an_event_that_fits_no_block(events):
    with pytest.raises(ValueError, match="block"):
        assemble(events)


@pytest.mark.parametrize(
    "event", [None, 1, "text_delta", {"type": "text_delta"}, object(), Text("a")]
)
def test_what_is_no_event(event):
    with pytest.raises(TypeError, match=type(event).__name__):
        assemble([event])


def test_what_no_event_may_hold():
    with pytest.raises(ValueError, match="whim"):
        assemble([MessageStop("whim", None, "done")])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="whim"):
        assemble([MessageStop("end_turn", None, "whim")])  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        assemble([TextDelta(0, 1)])  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        assemble(5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="dialect"):
        assemble([], dialect="latin")


def test_an_extension_block_with_its_deltas():
    [block] = assemble(
        [
            Extension(0, "server_tool_use", '{"type":"server_tool_use","input":{},"n":"a","m":1}'),
            Extension(
                0, "input_json_delta", '{"type":"input_json_delta","partial_json":"{\\"q\\""}'
            ),
            Extension(0, "input_json_delta", '{"type":"input_json_delta","partial_json":":1}"}'),
            Extension(0, "odd_delta", '{"type":"odd_delta","n":"b","m":[2],"new":"c"}'),
            Extension(0, "odd_delta", '{"type":"odd_delta","n":"d","new":"e"}'),
            ContentBlockStop(0),
        ]
    ).content
    assert block == ProviderBlock(
        "server_tool_use",
        '{"type":"server_tool_use","input":{"q":1},"n":"abd","m":[2],"new":"ce"}',
    )
