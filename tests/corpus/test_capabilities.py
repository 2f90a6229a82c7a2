"""What recorded requests asked for, and got an answer to, is nothing that the table says is refused.

The other way round proves nothing: a vendor may pass over what it does not know. So only the makers' own
wires are looked at, whose services refuse what they do not take.
"""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import pytest
from tests.corpus.streams import WIRES, NoCorpusError, manifest, root

from turntape import CAPABILITIES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from turntape import Capabilities, Dialect

pytestmark = pytest.mark.corpus

FOLDERS = ("anthropic", "openai-chat", "openai-responses", "gemini", "bedrock")

# Accepted, and yet not what is meant by it: OpenAI answers such a history anew.
PASSED_OVER = {("gpt-5.6-terra", "prefill")}


def requests() -> Iterator[tuple[str, Dialect, dict[str, Any]]]:
    """Give model, dialect and body of each request with a good answer."""
    for row in manifest():
        folder = row["file"].partition("/")[0]
        dialect = WIRES.get(row["wire"])
        if folder not in FOLDERS or dialect is None or row["http_status"] not in {"", "200"}:
            continue
        file = root() / PurePath(row["file"]).with_suffix(".request.json")
        if file.is_file() and isinstance(body := json.loads(file.read_text("utf-8")), dict):
            yield body.get("model") or row["vendor/model"].partition("/")[2], dialect, body


def asked(body: dict[str, Any], row: Capabilities) -> Iterator[tuple[str, bool]]:
    """Give what a body asks for, and whether the table says that it is taken."""
    settings = body.get("generationConfig") or body.get("inferenceConfig") or {}
    said = {**body, **settings}
    top_p = said.get("top_p", said.get("topP"))
    if said.get("temperature") not in {None, 1}:
        yield "temperature", row.temperature
        yield "temperature and top_p", top_p is None or row.temperature_with_top_p
    if top_p is not None:
        yield "top_p", row.top_p
    yield "stop", row.stop or not (said.get("stop") or said.get("stop_sequences"))
    yield "tools", row.tools or not body.get("tools")
    if "parallel_tool_calls" in body:
        yield "parallel_tool_calls", row.parallel_tool_calls
    choice = body.get("tool_choice")
    kind = choice.get("type") if isinstance(choice, dict) else choice
    kind = {"any": "required", "function": "tool"}.get(str(kind), kind)
    yield (
        f"tool choice {kind}",
        kind not in {"auto", "none", "required", "tool"} or (kind in row.tool_choices),
    )
    messages = body.get("messages") or [{}]
    yield "prefill", row.prefill or messages[-1].get("role") != "assistant"
    yield from asked_of_thinking(body, settings, row)


def asked_of_thinking(
    body: dict[str, Any], settings: dict[str, Any], row: Capabilities
) -> Iterator[tuple[str, bool]]:
    """The same about thinking."""
    match (body.get("thinking") or {}).get("type"):
        case "enabled":
            yield "budget", "budget" in row.thinking
        case "adaptive":
            yield "adaptive", "adaptive" in row.thinking
        case "disabled":
            yield "disabled", row.thinking_off == "disabled"
        case _:
            pass
    thinking = settings.get("thinkingConfig") or {}
    if "thinkingBudget" in thinking:
        yield "budget", "budget" in row.thinking
    effort = (
        body.get("reasoning_effort")
        or (body.get("reasoning") or {}).get("effort")
        or (body.get("output_config") or {}).get("effort")
        or (thinking.get("thinkingLevel") or "").lower()
    )
    if effort:
        yield f"effort {effort}", effort in row.efforts
        if effort != "none" and body.get("tools"):
            yield "effort with tools", row.effort_with_tools


def test_nothing_that_was_accepted_counts_as_refused():
    try:
        recorded = list(requests())
    except NoCorpusError as error:
        pytest.skip(str(error))
    refused: set[tuple[str, str]] = set()
    count = 0
    for model, dialect, body in recorded:
        row = CAPABILITIES.of(model, dialect)
        for what, is_taken in asked(body, row):
            count += 1
            if not is_taken:
                refused.add((model, what))
    assert count > 1000
    assert refused == PASSED_OVER
