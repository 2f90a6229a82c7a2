"""The first check of bodies, held to bodies that are wrong on purpose."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.client_types import type_faults, with_bytes
from tests.support.good_bodies import DELETE, PIXEL, changed, good_body

from turntape import Dialect

pytest.importorskip("google.genai")


@pytest.mark.parametrize("dialect", list(Dialect))
def test_right_body_is_taken(dialect):
    assert type_faults(dialect, good_body(dialect)) == []


A, C, R, G, B = Dialect


@pytest.mark.parametrize(
    ("dialect", "path", "value", "fault"),
    [
        # Unknown members, at the top and as deep as it goes.
        (A, "frobnicate", 1, "$.frobnicate: no such member"),
        (A, "messages/1/content/0/cache_control", {"type": "ephemeral"}, "cache_control: no such"),
        (A, "messages/1/content/3/arguments", "{}", "content[3].arguments: no such member"),
        (A, "messages/2/content/1/content/0/kind", "x", "content[0].kind: no such member"),
        (A, "betas", ["x"], "$.betas: this is sent as a header"),
        (C, "messages/3/name", "dim", "messages[3].name: no such member"),
        (C, "messages/2/tool_calls/0/function/strict", True, "function.strict: no such member"),
        (C, "messages/1/content/1/image_url/size", 1, "image_url.size: no such member"),
        (C, "cache_control", {}, "$.cache_control: no such member"),
        (R, "stream_options", {"include_usage": True}, "include_usage: no such member"),
        (R, "input/5/is_error", True, "input[5].is_error: no such member"),
        (R, "input/1/signature", "x", "input[1].signature: no such member"),
        (G, "contents/1/parts/1/thought_signature", "c2ln", "thought_signature: no such member"),
        (G, "contents/2/parts/0/functionResponse/status", "ok", "status: no such member"),
        (G, "generationConfig/max_output_tokens", 1, "max_output_tokens: no such member"),
        (G, "stream", True, "$.stream: no such member"),
        (B, "messages/1/content/2/toolUse/signature", "x", "toolUse.signature: no such member"),
        (B, "inferenceConfig/topK", 1, "inferenceConfig.topK: no such member"),
        (B, "toolConfig/tools/0/toolSpec/extra", 1, "toolSpec.extra: no such member"),
        # Members that have to be there.
        (A, "max_tokens", DELETE, "max_tokens is missing"),
        (A, "messages/1/content/0/signature", DELETE, "signature is missing"),
        (A, "messages/1/content/3/input", DELETE, "input is missing"),
        (C, "messages/2/tool_calls/0/type", DELETE, "type is missing"),
        (C, "messages/3/tool_call_id", DELETE, "tool_call_id is missing"),
        (R, "tools/0/strict", DELETE, "strict is missing"),
        (R, "input/2/call_id", DELETE, "call_id is missing"),
        (R, "input/3/content/0/annotations", DELETE, "annotations is missing"),
        (G, "contents", DELETE, "contents is missing"),
        (B, "messages/1/content/2/toolUse/input", DELETE, "input is missing"),
        (B, "messages/0/content/1/image/format", DELETE, "format is missing"),
        # Words of an enumeration.
        (A, "messages/0/role", "tool", "role"),
        (A, "messages/0/content/1/source/media_type", "image/svg+xml", "media_type"),
        (A, "tool_choice/type", "required", "tool_choice"),
        (C, "messages/4/role", "function_result", "role"),
        (C, "tool_choice", "any", "tool_choice"),
        (C, "reasoning_effort", "extreme", "reasoning_effort"),
        (R, "input/3/status", "done", "status"),
        (R, "include/0", "reasoning", "include[0]"),
        (G, "generationConfig/thinkingConfig/thinkingLevel", "ULTRA", "thinkingLevel"),
        (G, "toolConfig/functionCallingConfig/mode", "REQUIRED", "mode"),
        (B, "messages/2/content/1/toolResult/status", "failed", "status"),
        (B, "messages/0/content/1/image/format", "bmp", "format"),
        # Kinds of values, and what a list holds after its first entry.
        (A, "stream", 1, "stream"),
        (A, "max_tokens", "4096", "max_tokens"),
        (A, "messages/1/content/4/input", "{}", "content[4].input"),
        (C, "messages/2/tool_calls/1/function/arguments", {"n": 2}, "function.arguments"),
        (C, "stop", [1], "stop"),
        (R, "input/2/arguments", {}, "input[2].arguments"),
        (R, "max_output_tokens", True, "max_output_tokens"),
        (G, "contents/0/parts/1/inlineData/data", "no base64!", "inlineData.data"),
        (G, "contents/1/parts/1/functionCall/args", "{}", "functionCall.args"),
        (G, "contents/1/parts/1/thoughtSignature", "not*base64", "thoughtSignature"),
        (B, "messages/1/content/2/toolUse/toolUseId", "no such id!", "toolUseId"),
        (B, "messages/1/content/2/text", "both", "one member is to be set"),
        (B, "inferenceConfig/temperature", 2, "temperature"),
        (B, "toolConfig/tools", [], "toolConfig.tools"),
        (B, "toolConfig/tools/0/toolSpec/description", "", "description"),
        (B, "system/0/text", "", "text"),
    ],
)
def test_wrong_body_is_refused(dialect, path, value, fault):
    found = type_faults(dialect, changed(dialect, path, value))
    assert any(fault in line for line in found), found


@pytest.mark.parametrize("dialect", [A, C, R])
def test_body_that_does_not_stream_has_a_type_of_its_own(dialect):
    body = good_body(dialect)
    del body["stream"]
    body.pop("stream_options", None)
    assert type_faults(dialect, body) == []
    assert type_faults(dialect, {**body, "stream": False}) == []
    assert type_faults(dialect, {**body, "stream": 0}) != []


def test_beta_members_are_taken_with_the_header_alone():
    body: Any = good_body(A)
    body["context_management"] = {"edits": [{"type": "clear_tool_uses_20250919"}]}
    assert type_faults(A, body) == ["$.context_management: no such member"]
    assert type_faults(A, body, headers={"anthropic-beta": "context-management-2025-06-27"}) == []
    body["context_management"]["edits"][0]["bogus"] = 1
    found = type_faults(A, body, headers={"anthropic-beta": "context-management-2025-06-27"})
    assert any("bogus" in line for line in found)


def test_bytes_of_bedrock_are_checked_as_its_client_gets_them():
    arguments: Any = {"modelId": "m", **with_bytes(good_body(B))}
    assert type_faults(B, {}, arguments=arguments) == []
    arguments["messages"][0]["content"][1]["image"]["source"]["bytes"] = PIXEL
    found = type_faults(B, {}, arguments=arguments)
    assert any("str is no blob" in line for line in found)
