"""The table of models: against the types of the official clients, and by its own rules."""

from __future__ import annotations

import gzip
import json
import pickle
import re
from copy import deepcopy
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turntape import CAPABILITIES, Capabilities, CapabilityTable, Dialect, Effort, model_name
from turntape.wire.capabilities import EFFORT_BUDGETS, EFFORTS

if TYPE_CHECKING:
    from collections.abc import Iterator

ROWS = CAPABILITIES.rows

# What the newest family of a maker stands in for: names that tell neither version nor kind.
NO_VERSION = {
    "gpt-daybreak-blue-latest",
    "gpt-daybreak-red-latest",
    "gpt-rosalind-research",
    "gemini-pro-latest",
}


def literals(hint: object) -> Iterator[str]:
    """Every string that a type names."""
    for part in get_args(hint):
        if isinstance(part, str):
            yield part
        else:
            yield from literals(part)


def of(model: str, dialect: Dialect = Dialect.OPENAI_RESPONSES) -> Capabilities:
    return CAPABILITIES.of(model, dialect)


# Against the clients ------------------------------------------------------------------------------


def anthropic_models() -> list[str]:
    from anthropic.types import model_param

    return sorted(literals(model_param.ModelParam))


def openai_models() -> list[str]:
    from openai.types.shared import all_models, chat_model

    return sorted({*literals(all_models.AllModels), *literals(chat_model.ChatModel)})


def google_models() -> list[str]:
    try:
        from google.genai._gaos.types.interactions import model
    except ImportError:
        return []
    return sorted(literals(model.Model))


@pytest.mark.parametrize("model", anthropic_models())
def test_every_model_of_anthropics_client_has_a_row_of_its_family(model):
    row = of(model, Dialect.ANTHROPIC)
    assert (row.maker, row.signature_group) == ("anthropic", "claude")
    assert row.family != "claude"


@pytest.mark.parametrize("model", openai_models())
def test_every_model_of_openais_client_has_a_row_of_its_family(model):
    for dialect in (Dialect.OPENAI_CHAT, Dialect.OPENAI_RESPONSES):
        row = of(model, dialect)
        assert row.maker == "openai"
        assert (row.family == "gpt") == (model in NO_VERSION)


@pytest.mark.parametrize("model", google_models() or [None])
def test_every_model_of_googles_client_has_a_row_of_its_family(model):
    if model is None:
        pytest.skip("google-genai is not installed, or keeps its models elsewhere")
    row = of(model, Dialect.GEMINI)
    assert row.maker == "google"
    assert row.family != "gemini"


def test_efforts_are_those_of_the_clients():
    from anthropic.types import output_config_param
    from openai.types.shared import reasoning_effort

    hints = output_config_param.OutputConfigParam.__annotations__["effort"]
    claude = re.findall(r"'(\w+)'|\"(\w+)\"", getattr(hints, "__forward_arg__", str(hints)))
    claude_efforts = {first or second for first, second in claude}
    assert set(literals(reasoning_effort.ReasoningEffort)) == set(EFFORTS) == set(get_args(Effort))
    by_maker: dict[str, set[str]] = {}
    for row in ROWS:
        by_maker.setdefault(row.maker, set()).update(row.efforts)
    # Each word of a client is taken by some model, and no model takes another.
    assert by_maker["anthropic"] == claude_efforts == {"low", "medium", "high", "xhigh", "max"}
    assert by_maker["openai"] == set(EFFORTS)


def test_thinking_levels_are_those_of_googles_client():
    types = pytest.importorskip("google.genai.types")
    levels = {level.value.lower() for level in types.ThinkingLevel} - {"thinking_level_unspecified"}
    rows = [row for row in ROWS if "level" in row.thinking]
    assert {effort for row in rows for effort in row.efforts} == levels


def test_thinking_is_switched_off_by_words_of_anthropics_client():
    from anthropic.types import thinking_config_param

    kinds = {
        re.findall(r"\['?\"?(\w+)", str(part.__annotations__["type"]))[-1]
        for part in get_args(thinking_config_param.ThinkingConfigParam)
    }
    assert kinds == {"enabled", "disabled", "adaptive", "between_tools"}
    ways = {row.thinking_off for row in ROWS if row.maker == "anthropic"} - {None}
    assert ways == kinds - {"enabled", "adaptive"}


def test_models_that_anthropics_client_warns_of_think_adaptively():
    data = pytest.importorskip("anthropic._data")
    for model in data.MODELS_TO_WARN_WITH_THINKING_ENABLED:
        assert of(model, Dialect.ANTHROPIC).thinking[0] == "adaptive"


def bedrock_shapes() -> dict[str, Any]:
    botocore = pytest.importorskip("botocore")
    folder = Path(botocore.__file__).parent / "data" / "bedrock-runtime"
    raw = next(folder.glob("*/service-2.json*")).read_bytes()
    shapes: dict[str, Any] = json.loads(gzip.decompress(raw) if raw[:1] == b"\x1f" else raw)[
        "shapes"
    ]
    return shapes


def test_what_bedrocks_client_can_say():
    shapes = bedrock_shapes()
    assert {"1h", "5m"} == set(shapes["CacheTTL"]["enum"])
    assert all(set(row.cache_ttls) <= {"5m", "1h"} for row in ROWS)
    documented = shapes["OutputConfig"]["members"]["effort"]["documentation"]
    efforts = set(re.findall(r"<code>(\w+)</code>", documented))
    assert set(of("anything", Dialect.BEDROCK_CONVERSE).efforts) == efforts


# Its own rules ------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.family)
def test_a_row_says_where_it_comes_from(row):
    assert row.family
    assert row.maker
    assert row.source
    assert date.fromisoformat(row.as_of) <= date(2026, 12, 31)
    assert re.fullmatch(r"|\d{4}-\d\d(-\d\d)?", row.released)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.family)
def test_a_row_agrees_with_itself(row):
    assert bool(row.budget_range) == ("budget" in row.thinking)
    assert (row.thinking_off == "effort") == ("none" in row.efforts)
    assert not row.efforts or row.thinking
    if row.thinking_off is not None:
        assert row.thinking
    assert set(row.tool_choices_while_thinking) <= {"auto", "none", "required", "tool"}
    for types in (row.image_types, row.document_types, row.audio_types, row.video_types):
        assert all(re.fullmatch(r"[a-z]+/[a-z0-9.+-]+", kind) for kind in types)


def test_no_family_has_two_rows_for_one_dialect():
    names = [(row.family, row.dialects) for row in ROWS]
    assert len(names) == len(set(names))


def test_no_row_is_hidden_by_one_before_it():
    """Of each row, some name that it is written for reaches it."""
    reached = {
        CAPABILITIES.of(name, dialect)
        for dialect in Dialect
        for name in [
            *anthropic_models(), *openai_models(), *google_models(), *OTHER_NAMES,
        ]
    }  # fmt: skip
    hidden = [row.family for row in ROWS if row not in reached]
    assert hidden == []


OTHER_NAMES = [
    "claude-9",
    "claude-2.1",
    "claude-3-haiku-20240307",
    "claude-3-7-sonnet",
    "claude-sonnet-4-20250514",
    "gpt-oss-20b",
    "gpt-7",
    "gpt-5.2-codex",
    "gemini-9",
    "gemini-2.5-flash-lite",
    "gemini-2.0-flash",
    "gemini-3-pro-preview",
    "gemma-3-4b-it",
    "deepseek-chat",
    "grok-4.3",
    "grok-3-mini",
    "grok-4-fast",
    "mistral-large-latest",
    "kimi-k3",
    "kimi-k2-0905",
    "glm-5.2",
    "MiniMax-M2",
    "qwen3-max",
    "llama-3.3-70b",
    "nova-micro-v1",
    "nova-pro-v1",
    "command-r",
    "jamba-mini",
    "sonar-pro",
    "granite-4",
    "llama-3.1-nemotron-ultra",
    "palmyra-x5",
    "phi-4",
]


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("us.anthropic.claude-opus-4-7-v1:0", "claude-opus-4.7"),
        ("us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4.5"),
        ("global.anthropic.claude-haiku-4-5-20251001-v1:0", "claude-haiku-4.5"),
        ("anthropic.claude-3-5-sonnet-20241022-v2:0:200k", "claude-3.5-sonnet"),
        ("anthropic.claude-3-5-sonnet-20240620-v1%3A0", "claude-3.5-sonnet"),
        ("us.anthropic.claude-opus-4-6-v1", "claude-opus-4.6"),
        ("anthropic.claude-v2:1", "claude-v2"),
        (
            (
                "arn:aws:bedrock:us-east-1:123456789012:inference-profile/"
                "us.anthropic.claude-3-7-sonnet-20250219-v1:0"
            ),
            "claude-3.7-sonnet",
        ),
        ("arn:aws:bedrock:eu-west-1::foundation-model/amazon.nova-pro-v1:0", "nova-pro-v1"),
        ("claude-sonnet-4-5@20250929", "claude-sonnet-4.5"),
        ("claude-opus-4@default", "claude-opus-4"),
        ("projects/p/locations/l/publishers/google/models/gemini-2.5-pro", "gemini-2.5-pro"),
        ("models/gemini-2.5-flash-preview-09-2025", "gemini-2.5-flash-preview"),
        ("anthropic/claude-sonnet-4.5:thinking", "claude-sonnet-4.5"),
        ("anthropic/claude-4.6-sonnet-20260217", "claude-4.6-sonnet"),
        ("databricks-claude-3-7-sonnet", "claude-3.7-sonnet"),
        ("openai.gpt-oss-120b-1:0", "gpt-oss-120b"),
        ("ft:gpt-4o-mini-2024-07-18:org::abc", "gpt-4o-mini"),
        ("gpt-5-2025-08-07", "gpt-5"),
        ("gpt-5.2_2025-12-11", "gpt-5.2"),
        ("gpt-4-1106-preview", "gpt-4-1106-preview"),
        ("accounts/fireworks/models/llama-v3p1-70b-instruct", "llama-v3.1-70b-instruct"),
        ("@cf/meta/llama-3.3-70b-instruct-fp8-fast", "llama-3.3-70b-instruct-fp8-fast"),
        ("qwen3:4b", "qwen3"),
        ("  GPT-4o ", "gpt-4o"),
        ("", ""),
        ("/", "/"),
        ("us.", "us."),
    ],
)
def test_plain_names(model, name):
    assert model_name(model) == name


@given(st.text())
def test_any_text_has_a_plain_name_and_a_row(text):
    assert model_name(text) == model_name(text)
    for dialect in Dialect:
        assert isinstance(CAPABILITIES.of(text, dialect), Capabilities)
    CAPABILITIES.maker_of(text)


@pytest.mark.parametrize(
    ("model", "maker"),
    [
        ("amazon.tern-1", "amazon"),
        ("us.anthropic.heron-v1:0", "anthropic"),
        ("x-ai/unheard-of", "xai"),
        ("mistralai/unheard-of:free", "mistral"),
        ("acme/claude-opus-9", "anthropic"),
        ("acme/unheard-of", None),
        ("quill-2", None),
        ("gpt", None),
        ("chatgpt-4o-latest", "openai"),
        ("grok-4-1-fast-reasoning", "xai"),
        ("moonshotai/Kimi-K2-Instruct-0905:groq", "moonshot"),
        ("zai-org/GLM-5.2", "zai"),
        ("deepseek.r1-v1:0", "deepseek"),
        ("meta.llama3-1-70b-instruct-v1:0", "meta"),
    ],
)
def test_who_made_a_model(model, maker):
    assert CAPABILITIES.maker_of(model) == maker


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("claude-opus-4-7", {"prefill": False, "thinking": ("adaptive",), "temperature": False}),
        ("claude-sonnet-4-5", {"prefill": True, "thinking": ("budget",), "temperature": True}),
        ("claude-sonnet-4-5", {"system_in_conversation": False, "efforts": ()}),
        ("claude-opus-5-5", {"thinking_off": None, "tool_choices": ("auto", "none")}),
        ("claude-sonnet-5-5", {"thinking_off": "between_tools", "binds_thinking": True}),
        ("claude-heron-9", {"family": "claude", "prefill": False}),
        ("gpt-5.2", {"efforts": ("none", "low", "medium", "high", "xhigh")}),
        ("gpt-5-mini", {"temperature": False, "developer_role": True, "stop": False}),
        ("gpt-4o", {"temperature": True, "developer_role": False, "efforts": ()}),
        ("o3", {"parallel_tool_calls": False, "efforts": ("low", "medium", "high")}),
        ("gemini-3-pro-preview", {"signature_placeholder": "skip_thought_signature_validator"}),
        ("gemini-3-pro-preview", {"efforts": ("low", "high"), "prefill": True}),
        ("gemini-3.8-flash", {"prefill": False}),
        ("gemini-2.5-flash", {"thinking": ("budget",), "signature_placeholder": None}),
        ("gemini-4-carbon", {"efforts": ("low", "medium", "high"), "temperature": False}),
    ],
)
def test_what_is_known_of_a_model(model, expected):
    row = of(model)
    assert {name: getattr(row, name) for name in expected} == expected


def test_gemini_takes_no_gif():
    gemini = [row for row in ROWS if row.maker == "google" and row.family != "gemma"]
    assert all("image/webp" in row.image_types for row in gemini)
    assert all("image/gif" not in row.image_types for row in gemini)


def test_an_effort_with_tools_depends_on_the_wire():
    assert not of("gpt-5.4", Dialect.OPENAI_CHAT).effort_with_tools
    assert of("gpt-5.4", Dialect.OPENAI_RESPONSES).effort_with_tools
    assert of("gpt-5.1", Dialect.OPENAI_CHAT).effort_with_tools


@pytest.mark.parametrize("dialect", Dialect)
def test_of_an_unknown_model_nothing_is_held_back(dialect):
    row = of("quill-2", dialect)
    assert (row.family, row.maker) == ("", "")
    assert row.temperature
    assert row.stop
    assert row.tools
    assert row.json_schema
    assert row.image_types
    assert row.efforts


# Efforts and budgets ------------------------------------------------------------------------------


@given(st.sampled_from(ROWS), st.sampled_from(EFFORTS))
def test_the_nearest_effort_is_the_same_or_the_next_weaker_one(row, effort):
    nearest = row.nearest_effort(effort)
    if not row.efforts:
        assert nearest is None
        return
    assert nearest in row.efforts
    weaker = [taken for taken in row.efforts if EFFORTS.index(taken) <= EFFORTS.index(effort)]
    assert nearest == (weaker[-1] if weaker else row.efforts[0])


@given(st.sampled_from([row for row in ROWS if row.budget_range]), st.sampled_from(EFFORTS))
def test_the_budget_of_an_effort_is_in_range(row, effort):
    budget = row.budget_of_effort(effort)
    assert budget is not None
    if effort == "none" and row.thinking_off == "budget":
        assert budget == 0
    else:
        least, most = row.budget_range
        assert least <= budget <= most
        assert row.budget_of_effort(effort, below=budget + 1) == budget
        below = row.budget_of_effort(effort, below=budget)
        assert below is None or least <= below < budget
        assert row.budget_of_effort(effort, below=least) is None


@given(st.sampled_from([row for row in ROWS if row.efforts]), st.integers(1, 1_000_000))
def test_a_bigger_budget_is_no_weaker_effort(row, tokens):
    effort = row.effort_of_budget(tokens)
    assert effort in row.efforts
    bigger = row.effort_of_budget(tokens * 2)
    assert EFFORTS.index(bigger) >= EFFORTS.index(effort)


def test_efforts_and_budgets_name_each_other():
    row = of("gpt-6-sol")
    for effort, budget in EFFORT_BUDGETS.items():
        if effort in row.efforts:
            assert row.effort_of_budget(budget) == effort
    assert row.effort_of_budget(0) == "none"
    assert of("gpt-6-astra").effort_of_budget(0) == "low"
    assert of("gpt-4o").effort_of_budget(5000) is None
    assert of("gpt-4o").budget_of_effort("high") is None


# The host's own rows ------------------------------------------------------------------------------


def test_rows_of_the_host_come_first_and_change_no_table():
    mine = replace(of("claude-opus-4-7"), family="mine", prefill=True)
    table = CAPABILITIES.extended([mine])
    assert table.of("claude-opus-4-7", Dialect.ANTHROPIC) is mine
    assert table.of("claude-opus-4-8", Dialect.ANTHROPIC).family == "claude-opus-4.8"
    assert of("claude-opus-4-7").family == "claude-opus-4.7"
    assert table.rows == (mine, *ROWS)
    assert table.of("quill-2", Dialect.GEMINI) == of("quill-2", Dialect.GEMINI)


def test_a_row_may_count_on_one_wire_only():
    row = Capabilities(family="f", maker="m", models="x", dialects=(Dialect.GEMINI,), prefill=True)
    table = CapabilityTable([row])
    assert table.of("x", Dialect.GEMINI).prefill
    assert not table.of("x", Dialect.ANTHROPIC).prefill


def test_a_table_can_be_copied_and_sent_to_another_process():
    mine = Capabilities(family="f", maker="m", models="x")
    table = CAPABILITIES.extended([mine])
    for copied in (pickle.loads(pickle.dumps(table)), deepcopy(table)):  # noqa: S301 (our own)
        assert copied.rows == table.rows
        assert copied.of("quill-2", Dialect.GEMINI) == table.of("quill-2", Dialect.GEMINI)
    assert repr(table) == f"CapabilityTable({len(ROWS) + 1} rows)"


def test_a_table_without_defaults_has_those_of_a_row():
    assert CapabilityTable([]).of("x", Dialect.GEMINI) == Capabilities(
        family="", maker="", models=""
    )


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"models": "("}, "f: models is no regular expression"),
        ({"efforts": ("high", "low")}, "f: efforts stand in the order"),
        ({"efforts": ("low", "loud")}, "f: efforts stand in the order"),
        ({"budget_range": (2, 1)}, "f: budget_range"),
        ({"budget_range": (0, 1)}, "f: budget_range"),
    ],
)
def test_a_wrong_row_is_refused_when_it_is_made(wrong: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=re.escape(message)):
        replace(Capabilities(family="f", maker="m", models="x"), **wrong)
