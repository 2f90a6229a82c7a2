"""Reading the histories that hosts keep in a provider's own form, against the parser that they would use."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from benches.bench_requests import history, request
from benches.bench_scaling import sweep
from benches.ratio import Target

import turntape
from turntape import Dialect

if TYPE_CHECKING:
    from collections.abc import Callable

    from benches.conftest import Meter

# Said for comparison: no bound is set.
NAMED = Target()

MEMBERS = {
    Dialect.ANTHROPIC: ("claude-sonnet-5", "messages"),
    Dialect.OPENAI_CHAT: ("gpt-5.2", "messages"),
    Dialect.OPENAI_RESPONSES: ("gpt-5.2", "input"),
    Dialect.GEMINI: ("gemini-2.5-pro", "contents"),
    Dialect.BEDROCK_CONVERSE: ("claude-sonnet-5", "messages"),
}

ROUNDS = 8
"""Of 36 messages each."""


def kept(dialect: Dialect, rounds: int) -> str:
    """A history as a provider gets it, as JSON text."""
    model, member = MEMBERS[dialect]
    asked = replace(request(model), messages=history() * rounds, system=None)
    body = turntape.build_request(asked, dialect).body
    return json.dumps(body[member], ensure_ascii=False)


@pytest.mark.parametrize("dialect", list(Dialect))
def test_reading_a_history(meter: Meter, dialect: Dialect) -> None:
    text = kept(dialect, ROUNDS)
    messages = turntape.from_provider_messages(text, dialect)
    calls = [block for each in messages for block in each.content if block.type == "tool_use"]
    assert sum(call.input["limit"] for call in calls) == 2 * ROUNDS * sum(range(40, 49))
    meter.compare(
        f"from_provider_messages, {len(messages)} messages, {dialect.value}, against json.loads",
        lambda: turntape.from_provider_messages(text, dialect),
        lambda: json.loads(text),
        NAMED,
        events=len(messages),
    )


@pytest.mark.parametrize("dialect", list(Dialect))
def test_growth_with_the_history(meter: Meter, dialect: Dialect) -> None:
    def make(rounds: int) -> tuple[Callable[[], Any], Callable[[Any], object]]:
        text = kept(dialect, rounds)
        return (
            lambda: turntape.from_provider_messages(text, dialect),
            lambda messages: len(messages) >= 34 * rounds,
        )

    sweep(
        meter,
        f"from_provider_messages, histories of 36 messages, {dialect.value}",
        [1, 4, 32],
        make,
    )
