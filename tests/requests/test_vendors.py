"""The table of vendors: how a row is found, and what it says."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turntape import VENDORS, Dialect, VendorHabits
from turntape.wire.vendors import PLAIN, members, vendor_habits

CHAT = Dialect.OPENAI_CHAT


def found(vendor: str = "auto", model: str = "m", base_url: str | None = None) -> VendorHabits:
    return vendor_habits(vendor, model, base_url, CHAT)


# Finding ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", VENDORS, ids=lambda row: row.vendor)
def test_a_vendor_is_found_by_each_of_its_names_and_hosts(row):
    for name in (row.vendor, *row.aliases):
        assert found(name) is row
        assert found(name.upper()) is row
    for host in row.hosts:
        if host.startswith(":"):
            url = f"http://localhost{host}/v1"
        elif host.startswith((".", "-")):
            url = f"https://somewhere{host}/v1"
        else:
            url = f"https://{host}/v1"
        assert found(base_url=url) is row
        assert found(base_url=url.partition("//")[2]) is row


@pytest.mark.parametrize(
    ("url", "vendor"),
    [
        ("https://api.mistral.ai/v1", "mistral"),
        ("https://API.MISTRAL.AI:443/v1/", "mistral"),
        ("https://my-resource.openai.azure.com/openai/v1", "azure"),
        ("https://us-east5-aiplatform.googleapis.com/v1/projects/p", "google"),
        ("https://generativelanguage.googleapis.com/v1beta/openai", "google"),
        ("https://bedrock-runtime.us-west-2.amazonaws.com/openai/v1", "amazon"),
        ("https://bedrock-mantle.us-east-2.api.aws/v1", "amazon"),
        ("https://adb-123.1.azuredatabricks.net/serving-endpoints", "databricks"),
        ("https://myorg-myaccount.snowflakecomputing.com/api/v2", "snowflake"),
        ("http://127.0.0.1:11434/v1", "ollama"),
        ("http://[::1]:1234/v1", "lmstudio"),
        ("http://0.0.0.0:8080", "llamacpp"),
        # A port tells nothing of a service elsewhere, and a name inside a name is another name.
        ("https://gateway.example:8080/v1", ""),
        ("https://api.mistral.ai.example/v1", ""),
        ("https://notapi.x.ai.example", ""),
        ("https://evil-openrouter.ai/v1", ""),
        ("http://localhost:9999/v1", ""),
        ("not a url", ""),
        ("http://[broken", ""),
        ("http://host:port", ""),
    ],
)
def test_a_base_url_tells_the_vendor(url, vendor):
    # It counts before the model, which many vendors serve.
    assert found(model="mistral-large-latest", base_url=url).vendor == vendor


@pytest.mark.parametrize(
    ("model", "vendor"),
    [
        ("gpt-5.2", "openai"),
        ("o3", "openai"),
        ("o4-mini-2025-04-16", "openai"),
        ("ft:gpt-4o-mini:org::x", "openai"),
        ("gpt-oss-120b", ""),
        ("mistral-small-latest", "mistral"),
        ("open-mistral-nemo", "mistral"),
        ("deepseek-chat", "deepseek"),
        ("grok-4-fast", "xai"),
        ("kimi-k3", "moonshot"),
        ("glm-4.7", "zai"),
        ("qwen3-max", "alibaba"),
        ("sonar", "perplexity"),
        ("gemini-2.5-flash", "google"),
        ("claude-opus-4-7", "anthropic"),
        # Names as gateways and servers spell them tell who made a model, not who serves it.
        ("mistralai/mistral-large", ""),
        ("deepseek-ai/DeepSeek-R1", ""),
        ("qwen3:4b", ""),
        ("llama-3.3-70b-versatile", ""),
        ("quill-2", ""),
        ("", ""),
    ],
)
def test_without_a_url_a_model_may_tell_the_vendor(model, vendor):
    assert found(model=model).vendor == vendor


def test_unknown_vendors_get_the_plain_form_under_their_name():
    assert found() is PLAIN
    assert found("acme") == replace(PLAIN, vendor="acme")
    assert found("acme", "mistral-large-latest", "https://api.mistral.ai").vendor == "acme"


@pytest.mark.parametrize("dialect", [Dialect.ANTHROPIC, Dialect.GEMINI, Dialect.BEDROCK_CONVERSE])
def test_habits_are_of_openais_wires(dialect):
    assert vendor_habits("mistral", "m", None, dialect) == replace(PLAIN, vendor="mistral")
    assert vendor_habits("mistral", "m", None, Dialect.OPENAI_RESPONSES).vendor == "mistral"


def test_a_row_of_the_hosts_own_is_taken_as_it_is():
    mine = VendorHabits(vendor="house", id_length=12)
    for dialect in Dialect:
        assert vendor_habits(mine, "gpt-5", "https://api.openai.com", dialect) is mine


@given(st.text(), st.text(), st.none() | st.text())
def test_nothing_that_is_asked_fails(vendor, model, base_url):
    for dialect in Dialect:
        assert isinstance(vendor_habits(vendor, model, base_url, dialect), VendorHabits)


# The rows -----------------------------------------------------------------------------------------


def test_names_and_hosts_are_no_ones_twice():
    names = [name for row in VENDORS for name in (row.vendor, *row.aliases)]
    hosts = [host for row in VENDORS for host in row.hosts]
    assert len(names) == len(set(names))
    assert len(hosts) == len(set(hosts))
    assert all(name == name.lower() for name in (*names, *hosts))
    assert "auto" not in names


@pytest.mark.parametrize("row", VENDORS, ids=lambda row: row.vendor)
def test_a_row_says_where_it_comes_from_and_agrees_with_itself(row):
    assert row.source
    assert date.fromisoformat(row.as_of) <= date(2026, 12, 31)
    re.compile(row.models)
    assert not row.id_exact or row.id_length <= 40
    assert row.tool_choices
    if row.prefill_message or row.prefill_body:
        assert row.prefill
    assert not row.reasoning_back or row.reasoning_fields
    for text in (row.thinking_off, row.prefill_message, row.prefill_body):
        assert bool(members(text)) == bool(text)


@pytest.mark.parametrize(
    ("vendor", "expected"),
    [
        ("openai", {"max_tokens_member": "max_completion_tokens", "developer_role": True}),
        ("mistral", {"id_length": 9, "id_exact": True, "tool_choice_required": "any"}),
        ("mistral", {"max_tokens_member": "max_tokens", "stream_usage": False}),
        ("deepseek", {"reasoning_back": True, "reasoning_fields": ("reasoning_content",)}),
        ("openrouter", {"effort_member": "reasoning", "reasoning_back": True}),
        ("perplexity", {"alternates": True, "system_in_conversation": False}),
        ("zai", {"tool_choices": ("auto",), "json_schema": False}),
        ("ollama", {"image_url": False, "parallel_tool_calls": False}),
    ],
)
def test_what_is_known_of_a_vendor(vendor, expected):
    row = found(vendor)
    assert {name: getattr(row, name) for name in expected} == expected


def test_the_plain_form_is_openais_present_one():
    openai = found("openai")
    told: dict[str, Any] = {"vendor": "", "hosts": (), "models": "", "as_of": "", "source": ""}
    assert replace(openai, developer_role=False, **told) == PLAIN


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"models": "("}, "v: models is no regular expression"),
        ({"thinking_off": "{"}, "v: thinking_off is no JSON object"),
        ({"prefill_message": "[]"}, "v: prefill_message is no JSON object"),
        ({"prefill_body": "1"}, "v: prefill_body is no JSON object"),
    ],
)
def test_a_wrong_row_is_refused_when_it_is_made(wrong: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=re.escape(message)):
        replace(VendorHabits(vendor="v"), **wrong)
