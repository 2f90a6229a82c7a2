"""Building a request, against what the official clients do to send one that is ready made."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from benches.bench_scaling import sweep
from benches.ratio import Target

import turntape
from turntape import Dialect, Message, ModelRequest, Text, ToolDef, ToolResult, ToolUse

if TYPE_CHECKING:
    from collections.abc import Callable

    from benches.conftest import Meter

BUILD = Target(3, 10)

ROUNDS = 9
"""Of four messages each: 36 in all."""

TOOLS = [
    ToolDef(
        name,
        f"The tool {name}, which works on the files of the project below the root.",
        {
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "Below the root."},
                "limit": {"type": "integer", "minimum": 1},
            },
            "required": ["path"],
            "additionalProperties": False,
        },
    )
    for name in ("read", "search", "run")
]

PROSE = "I will look for the entry point in the sources, and then run the tests once more. "


def history(rounds: int = ROUNDS) -> list[Message]:
    """Questions, calls, results and answers, as an agent has them: four messages a round."""
    messages: list[Message] = []
    for at in range(rounds):
        arguments = json.dumps({"path": f"src/part_{at}.py", "limit": 40 + at})
        calls = [ToolUse(f"toolu_{at:02}{n:020}", "read", arguments) for n in range(2)]
        messages += [
            Message.user(f"Question {at}: {PROSE}"),
            Message.assistant([Text(PROSE * 2), *calls], model="claude-sonnet-5"),
            Message.user([ToolResult(call.id, f"{call.id}: " + PROSE * 6) for call in calls]),
            Message.assistant(PROSE * 4, model="claude-sonnet-5"),
        ]
    return [*messages[:-1], Message.user("And now?")]


def request(model: str) -> ModelRequest:
    return ModelRequest(
        model, history(), system="Answer tersely.", tools=TOOLS, max_tokens=4096, stream=False
    )


def built(dialect: Dialect, model: str) -> tuple[ModelRequest, dict[str, Any]]:
    """A request, and its body as a host would hand it to the client, ready made."""
    asked = request(model)
    answer = turntape.build_request(asked, dialect)
    assert json.loads(answer.to_json()) == answer.body
    return asked, answer.body


def compare(meter: Meter, dialect: Dialect, model: str, theirs: Any) -> None:
    asked, body = built(dialect, model)
    assert json.loads(theirs(body)) == body
    meter.compare(
        f"build_request, 36 messages to bytes, {dialect.value}, against the client's transform + dumps",
        lambda: turntape.build_request(asked, dialect).to_json(),
        lambda: theirs(body),
        BUILD,
    )


def test_chat_against_the_official_client(meter: Meter) -> None:
    pytest.importorskip("openai")
    from openai._utils import maybe_transform
    from openai._utils._json import openapi_dumps
    from openai.types.chat import completion_create_params

    form = completion_create_params.CompletionCreateParamsNonStreaming
    compare(
        meter,
        Dialect.OPENAI_CHAT,
        "gpt-5.2",
        lambda body: openapi_dumps(maybe_transform(body, form)),
    )


def test_responses_against_the_official_client(meter: Meter) -> None:
    pytest.importorskip("openai")
    from openai._utils import maybe_transform
    from openai._utils._json import openapi_dumps
    from openai.types.responses import response_create_params

    form = response_create_params.ResponseCreateParamsNonStreaming
    compare(
        meter,
        Dialect.OPENAI_RESPONSES,
        "gpt-5.2",
        lambda body: openapi_dumps(maybe_transform(body, form)),
    )


def test_anthropic_against_the_official_client(meter: Meter) -> None:
    """Its present version only copies what it is given."""
    pytest.importorskip("anthropic")
    from anthropic._utils._json import openapi_dumps
    from anthropic._utils._prepare import prepare_request_data

    compare(
        meter,
        Dialect.ANTHROPIC,
        "claude-sonnet-5",
        lambda body: openapi_dumps(prepare_request_data(body, location="body")),
    )


@pytest.mark.parametrize("dialect", list(Dialect))
def test_growth_with_the_history(meter: Meter, dialect: Dialect) -> None:
    def make(rounds: int) -> tuple[Callable[[], Any], Callable[[Any], object]]:
        asked = ModelRequest("some-model", history(rounds), tools=TOOLS, max_tokens=4096)
        return (
            lambda: turntape.build_request(asked, dialect).to_json(),
            lambda data: data.count(b"Question ") == rounds,
        )

    sweep(meter, f"build_request, rounds of four messages, {dialect.value}", [9, 90, 900], make)
