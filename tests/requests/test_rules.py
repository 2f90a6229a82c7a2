"""The third check of bodies, held to bodies that break one rule each."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.support.body_rules import Target, json_faults, rule_faults
from tests.support.client_types import type_faults
from tests.support.good_bodies import DELETE, PIXEL, changed, good_body

from turntape import Dialect

A, C, R, G, B = Dialect

GIF = "R0lGODlhAQABAAAAADs="
MARK: dict[str, Any] = {"type": "ephemeral"}


def reversed_list(entries):
    return entries[::-1]


def without_first(entries):
    return entries[1:]


def without_last(entries):
    return entries[:-1]


def twice(entries):
    return [*entries, entries[-1]]


@pytest.mark.parametrize("dialect", list(Dialect))
def test_right_body_is_taken(dialect):
    assert rule_faults(dialect, good_body(dialect)) == []


@pytest.mark.parametrize(
    ("dialect", "path", "value", "fault"),
    [
        # Who speaks when.
        (A, "messages", without_first, "the assistant speaks first"),
        (A, "messages", without_last, "the assistant speaks last"),
        (A, "messages", twice, "the user speaks twice"),
        (A, "messages/0/content", [], "$.messages[0]: nothing is said"),
        (A, "messages/0/role", "system", "stands after a message of the user only"),
        (C, "messages/1/content", [], "$.messages[1]: nothing is said"),
        (R, "input/7/content", [], "$.input[7]: nothing is said"),
        (G, "contents", without_first, "the assistant speaks first"),
        (G, "contents", without_last, "the assistant speaks last"),
        (G, "contents/+", {"role": "user", "parts": [{"text": "x"}]}, "the user speaks twice"),
        (B, "messages", without_first, "the assistant speaks first"),
        (B, "messages", without_last, "the assistant speaks last"),
        (B, "messages/1/role", "user", "the user speaks twice"),
        # What is for whom.
        (A, "messages/2/content/2", {"type": "thinking", "thinking": "", "signature": "x"}, "is not for the user"),
        (A, "messages/1/content/2", {"type": "tool_result", "tool_use_id": "x"}, "is not for the assistant"),
        (R, "input/3/content/0", {"type": "input_image", "file_id": "f", "detail": "auto"}, "media is not for"),
        (G, "contents/0/parts/+", {"functionCall": {"name": "dim", "args": {}}}, "is not for the user"),
        # Pairing.
        (A, "messages/2/content", without_first, "'toolu_1' has no result right after it"),
        (A, "messages/2/content/1/tool_use_id", "toolu_1", "'toolu_1' has several results"),
        (A, "messages/2/content/1/tool_use_id", "toolu_9", "'toolu_9' has no call right before it"),
        (A, "messages/2/content", reversed_list, "the results are not first"),
        (A, "messages/1/content/4/id", "toolu_1", "is of 2 calls"),
        (C, "messages/4", DELETE, "'call_2' has no result right after it"),
        (C, "messages/4/tool_call_id", "call_1", "'call_1' has several results"),
        (C, "messages/2", DELETE, "'call_1' has no call right before it"),
        (C, "messages/4", {"role": "user", "content": "x"}, "'call_2' has no result right after it"),
        (R, "input/6", DELETE, "'call_2' has no result right after it"),
        (R, "input/5/call_id", "call_2", "'call_2' has several results"),
        (R, "input/4", DELETE, "'call_2' has no call right before it"),
        (R, "input", lambda items: [*items[:5], items[7], *items[5:7]], "has no result right after it"),
        (R, "input/6/type", "function_call_output", "the output is of another type than its call"),
        (G, "contents/2/parts", without_first, "were called and"),
        (G, "contents/2/parts", reversed_list, "were called and"),
        (G, "contents/2/parts/0/functionResponse/id", DELETE, "were called and"),
        (G, "contents/2/parts/0/functionResponse/id", "c2", "were called and"),
        (G, "contents/2/parts", lambda parts: [{"text": "x"}, *parts], "the results are not first"),
        (G, "contents/2/parts/0/functionResponse/response", {"result": 1}, "an output or an error"),
        (G, "contents/1/parts/2/functionCall/id", "c1", "is of 2 calls"),
        (B, "messages/2/content/0/toolResult/toolUseId", "t9", "'t9' has no call right before it"),
        (B, "messages/2/content", reversed_list, "the results are not first"),
        (B, "messages/1/content/2", DELETE, "'tooluse_1' has no call right before it"),
        # Ids and names.
        (A, "messages/1/content/3/id", "functions.dim:0", "is not of"),
        (A, "messages/1/content/3/id", "x" * 65, "is not of"),
        (A, "messages/1/content/3/name", "pier.dim", "is not of"),
        (A, "tools/0/name", "n" * 129, "is not allowed"),
        (C, "messages/2/tool_calls/0/id", "x" * 41, "is not of"),
        (C, "messages/2/tool_calls/0/id", "", "is not of"),
        (C, "messages/2/tool_calls/0/function/name", "n" * 65, "is not of"),
        (C, "tools/0/function/name", "pier.dim", "is not of"),
        (R, "input/2/call_id", "x" * 65, "has not 1 to 64 characters"),
        (R, "input/2/id", "call_1", "does not start with fc_"),
        (R, "input/3/id", "m1", "does not start with msg_"),
        (R, "input/1", DELETE, "a call's item id without its reasoning item"),
        (R, "input/2/name", "pier.dim", "is not of"),
        (G, "contents/1/parts/1/functionCall/name", "1dim", "is not of"),
        (G, "tools/0/functionDeclarations/0/name", "dim!", "is not of"),
        (B, "messages/1/content/2/toolUse/name", "pier.dim", "is not of"),
        (B, "messages/1/content/2/toolUse/toolUseId", "a b", "is not of"),
        # Text.
        (A, "messages/0/content/0/text", " \n", "the text is blank"),
        (A, "messages/2/content/1/content/0/text", "", "the text is blank"),
        (A, "system/0/text", "", "$.system: the text is blank"),
        (C, "messages/5/content", "", "the text is blank"),
        (C, "messages/1/content/0/text", "", "the text is blank"),
        (R, "input/3/content/0/text", "", "the text is blank"),
        (R, "instructions", "", "the text is empty"),
        (G, "contents/0/parts/0/text", "", "the text is blank"),
        (G, "systemInstruction/parts/0/text", "", "the text is empty"),
        (B, "messages/0/content/0/text", "\t", "the text is blank"),
        # Thinking.
        (A, "thinking/budget_tokens", 512, "at least 1024"),
        (A, "thinking/budget_tokens", 4096, "less than max_tokens"),
        (A, "messages/1/content", lambda blocks: blocks[2:], "the last round has no thinking"),
        (A, "tool_choice", {"type": "any"}, "a call cannot be forced"),
        (R, "input", lambda items: [items[1], *items], "reasoning that nothing of its turn follows"),
        (R, "input/1/encrypted_content", DELETE, "reasoning without its encrypted content"),
        (G, "generationConfig/thinkingConfig/thinkingBudget", 1, "a level or a budget"),
        # Cache marks.
        (A, "messages/1/content/0/cache_control", MARK, "a cache mark on thinking"),
        (A, "messages/1/content/1/cache_control", MARK, "a cache mark on redacted_thinking"),
        (A, "messages/0/content", lambda blocks: [{**block, "cache_control": MARK} for block in blocks * 2], "6 cache marks"),
        (B, "messages/1/content", lambda blocks: [blocks[0], {"cachePoint": {}}, *blocks[1:]], "after reasoningContent"),
        (B, "messages/0/content", lambda blocks: [{"cachePoint": {}}, *blocks], "a cache mark after nothing"),
        (B, "messages/0/content", lambda blocks: [*blocks, {"cachePoint": {}}], "a cache mark after cachePoint"),
        (B, "messages/2/content", lambda blocks: blocks + 3 * [blocks[2], {"cachePoint": {}}], "5 cache marks"),
        # Tools and parameters.
        (A, "tools", DELETE, "$.tool_choice: there is no tool"),
        (A, "tool_choice", {"type": "tool", "name": "snap"}, "there is no tool 'snap'"),
        (A, "tools", twice, "two tools have one name"),
        (A, "tools/0/input_schema", {"type": "string"}, "it is of no object"),
        (C, "tools", DELETE, "$.tool_choice: there is no tool"),
        (C, "stop", ["1", "2", "3", "4", "5"], "5 of at most 4"),
        (C, "stream", False, "the answer is no stream"),
        (C, "max_tokens", 3, "one limit has two names"),
        (C, "messages/2/tool_calls/0/function/arguments", " ", "blank arguments"),
        (C, "messages/2/content", DELETE, "content is null where there is no text"),
        (R, "store", DELETE, "nothing is to be kept"),
        (R, "include", [], "the encrypted content is asked for"),
        (R, "tools/0/strict", None, "strict is not written"),
        (R, "tool_choice", {"type": "function", "name": "snap"}, "there is no tool 'snap'"),
        (R, "input/2/arguments", "", "blank arguments"),
        (G, "model", "gemini", "stand in the path"),
        (G, "toolConfig/functionCallingConfig/allowedFunctionNames/0", "snap", "there is no tool"),
        (B, "toolConfig", DELETE, "were called and are not declared"),
        (B, "toolConfig/tools/0/toolSpec/name", "snap", "['dim'] were called"),
        (B, "toolConfig/toolChoice", {"tool": {"name": "snap"}}, "there is no tool 'snap'"),
        # Images.
        (A, "messages/0/content/1/source/data", GIF, "image/png is declared, but the bytes are image/gif"),
        (A, "messages/0/content/1/source/data", "", "the image is empty"),
        (C, "messages/1/content/1/image_url/url", f"data:image/gif;base64,{PIXEL}", "image/gif is declared"),
        (C, "messages/1/content/1/image_url/url", "", "the URL is empty"),
        (R, "input/0/content/1/image_url", "data:image/png;base64,", "the image is empty"),
        (G, "contents/0/parts/1/inlineData/mimeType", "image/webp", "image/webp is declared"),
        (B, "messages/0/content/1/image/format", "jpeg", "image/jpeg is declared"),
    ],
)  # fmt: skip
def test_broken_rule_is_told(dialect, path, value, fault):
    found = rule_faults(dialect, changed(dialect, path, value))
    assert any(fault in line for line in found), found


@pytest.mark.parametrize("dialect", [A, G, B])
def test_prefill_is_for_those_that_take_it(dialect):
    name = "contents" if dialect is G else "messages"
    content: Any = {
        A: {"role": "assistant", "content": [{"type": "text", "text": "So "}]},
        G: {"role": "model", "parts": [{"text": "So"}]},
        B: {"role": "assistant", "content": [{"text": "So "}]},
    }[dialect]
    body = changed(dialect, f"{name}/+", content)
    assert type_faults(dialect, body) == []
    assert len(rule_faults(dialect, body)) == (1 if dialect is G else 2)
    found = rule_faults(dialect, body, Target(prefill=True))
    assert ["white space" in line for line in found] == ([] if dialect is G else [True])


def test_mistral_takes_ids_of_nine_characters():
    found = rule_faults(C, good_body(C), Target(vendor="mistral"))
    assert len(found) == 4
    body = json.loads(json.dumps(good_body(C)).replace('"call_', '"callABCD'))
    assert rule_faults(C, body, Target(vendor="mistral")) == []


def test_signatures_of_gemini_where_they_are_checked():
    body = good_body(G)
    checked = Target(checks_signatures=True)
    assert rule_faults(G, body, checked) == []
    del body["contents"][1]["parts"][1]["thoughtSignature"]
    assert rule_faults(G, body) == []
    assert rule_faults(G, body, checked) == ["$.contents[1]: the first call has no signature"]
    body["contents"][2]["parts"].append({"text": "And now?"})
    assert rule_faults(G, body, checked) == []


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b'{"a":1}', None),
        (b'{"input":{"a":1,"a":1}}', None),
        (b'{"a":NaN}', "NaN is no JSON"),
        (b'{"a":-Infinity}', "-Infinity is no JSON"),
        (b'{"a":"\xff"}', "utf-8"),
        (b'{"a":"\\ud83d"}', "half a surrogate pair"),
        (b'{"input":{"\\ude00":1}}', "half a surrogate pair"),
        (b'{"a":1,"a":1}', "twice"),
        (b'{"a":1}x', "Extra data"),
        (b"", "Expecting value"),
    ],
)
def test_bytes(data, fault):
    try:
        body = json.loads(data)
    except ValueError:
        body = {}
    found = json_faults(data, body)
    assert (fault is None) == (found == [])
    assert fault is None or any(fault in line for line in found), found


def test_bytes_and_values_are_the_same():
    assert json_faults(b'{"a":1.5}', {"a": 1.5}) == []
    assert json_faults(b'{"a":1.5}', {"a": 1}) == ["$: the bytes and the values are not the same"]
