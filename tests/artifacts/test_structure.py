"""Redaction by fields: messages, rows, JSON. What only its maker can read, ids and names stay."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from turntape import (
    AssistantMessage,
    Audio,
    AudioPart,
    Base64Source,
    CustomRecord,
    Image,
    ImagePart,
    Message,
    NativeToolCall,
    PathRef,
    PathSource,
    ProviderBlock,
    Redacted,
    RedactedThinkingBlock,
    RedactionRule,
    SecretRedactor,
    Text,
    TextPart,
    Thinking,
    ToolFailure,
    ToolResult,
    ToolUse,
    TranscriptMessage,
    UrlRef,
    UrlSource,
    normalized,
    redact_json,
    redact_message,
    redact_row,
)

KEY = "hbr_ab12cd34ef56"
GONE = "[REDACTED:harbour]"
REDACTOR = SecretRedactor(
    [
        RedactionRule("harbour", r"\bhbr_[a-z0-9]{12}\b"),
        RedactionRule("pin", r"""(?i)pin["']?\s*[:=]\s*["']?([0-9]{4})"""),
    ]
)
DATA_URI = "data:image/png;base64,hbr+" + "QUJD" * 10


def test_a_message_of_every_block():
    blocks = (
        Text(
            f"a {KEY}", citations=(f'{{"cited_text":"{KEY}","signature":"{KEY}"}}',), signature=KEY
        ),
        Thinking(f"b {KEY}", signature=KEY),
        RedactedThinkingBlock(KEY),
        ToolUse(
            KEY, KEY, f'{{"data": "{KEY}", "n": 1.0}}', signature=KEY, extra=f'{{"id":"{KEY}"}}'
        ),
        ProviderBlock(KEY, f'{{"type":"server_tool_use","id":"{KEY}","input":{{"name":"{KEY}"}}}}'),
    )
    gone = (
        Text(
            f"a {GONE}",
            citations=(f'{{"cited_text":"{GONE}","signature":"{KEY}"}}',),
            signature=KEY,
        ),
        Thinking(f"b {GONE}", signature=KEY),
        RedactedThinkingBlock(KEY),
        ToolUse(
            KEY, KEY, f'{{"data": "{GONE}", "n": 1.0}}', signature=KEY, extra=f'{{"id":"{KEY}"}}'
        ),
        ProviderBlock(
            KEY, f'{{"type":"server_tool_use","id":"{KEY}","input":{{"name":"{GONE}"}}}}'
        ),
    )
    turn = AssistantMessage(id=KEY, model="m", content=blocks, complete=True)
    assert redact_message(turn, REDACTOR) == replace(turn, content=gone)
    message = Message("assistant", blocks, id=KEY, extra=f'{{"phase":"{KEY}"}}')
    expected = Message("assistant", gone, id=KEY, extra=f'{{"phase":"{GONE}"}}')
    assert redact_message(message, REDACTOR) == expected


def test_results_and_media():
    source = Base64Source(KEY, "image/png")
    message = Message.user(
        [
            ToolResult(KEY, f"pin: 1234 {KEY}"),
            ToolResult("c2", (Text(KEY), Image(source), Image(UrlSource(DATA_URI)))),
            Image(UrlSource(f"https://a.example/?k={KEY}"), extra=f'{{"detail":"{KEY}"}}'),
            Audio(PathSource(f"/{KEY}.wav", "audio/wav")),
        ]
    )
    assert redact_message(message, REDACTOR).content == (
        ToolResult(KEY, f"pin: [REDACTED:pin] {GONE}"),
        ToolResult("c2", (Text(GONE), Image(source), Image(UrlSource(DATA_URI)))),
        Image(UrlSource(f"https://a.example/?k={GONE}"), extra=f'{{"detail":"{GONE}"}}'),
        Audio(PathSource(f"/{KEY}.wav", "audio/wav")),
    )


def test_a_record_of_the_host():
    record = CustomRecord("note", {"a": [KEY, {"pin": "1234"}]}, display=f"see {KEY}")
    expected = CustomRecord("note", {"a": [GONE, {"pin": "[REDACTED:pin]"}]}, display=f"see {GONE}")
    assert redact_message(record, REDACTOR) == expected


def test_a_message_without_secrets_is_handed_back_itself():
    for item in (
        Message.user([Text("a"), ToolResult("c", "b"), Image(UrlSource(DATA_URI))]),
        AssistantMessage(content=(Text("a"), ToolUse("c", "n", '{"a": 1}'))),
        CustomRecord("a", {"b": [1]}),
    ):
        assert redact_message(item, REDACTOR) is item
    row = TranscriptMessage("user", "a", extra_metadata={"a": 1}, parts=(TextPart("a"),))
    assert redact_row(row, REDACTOR) is row


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (f'{{"a":"{KEY}"}}', f'{{"a":"{GONE}"}}'),
        # Spelt with escapes, and behind one: JSON sees what a text does not.
        ('{"a":"hbr\\u005fab12cd34ef56"}', f'{{"a":"{GONE}"}}'),
        (f'{{"a":"x\\n{KEY}\\n\\"y\\""}}', f'{{"a":"x\\n{GONE}\\n\\"y\\""}}'),
        # The name counts, and everything else stays byte for byte.
        ('{ "pin" : "1234", "n": 1.50e3 }', '{ "pin" : "[REDACTED:pin]", "n": 1.50e3 }'),
        ('{"\\u0070in":"12\\u00334"}', '{"\\u0070in":"[REDACTED:pin]"}'),
        # A number would leave no JSON behind.
        ('{"pin": 1234}', '{"redacted":true}'),
        # The tool's own members, whatever they are called.
        (f'{{"id":"{KEY}","data":["{KEY}"]}}', f'{{"id":"{GONE}","data":["{GONE}"]}}'),
        # No JSON: cut, or never any.
        (f'{{"a":"{KEY}", "b', f'{{"a":"{GONE}", "b'),
        (f"--key {KEY}", f"--key {GONE}"),
        ("", ""),
        # JSON in JSON.
        (
            json.dumps({"body": json.dumps({"k": f"\n{KEY}"})}),
            json.dumps({"body": json.dumps({"k": f"\n{GONE}"})}),
        ),
        ("[" * 5000 + f'"{KEY}"' + "]" * 5000, "[" * 5000 + f'"{GONE}"' + "]" * 5000),
    ],
)
def test_arguments_stay_json(arguments, expected):
    message = Message.assistant([ToolUse("c1", "t", arguments)])
    (block,) = redact_message(message, REDACTOR).content
    assert isinstance(block, ToolUse)
    assert block.arguments == expected


def test_a_row_of_every_field():
    row = TranscriptMessage(
        "assistant",
        f"a {KEY}",
        id=KEY,
        tool_calls=(
            NativeToolCall(
                KEY, KEY, f'{{"a":"{KEY}"}}', {"google": {"thought_signature": KEY, "x": KEY}}
            ),
        ),
        tool_call_id=KEY,
        parts=(
            TextPart(KEY),
            ImagePart(f"http://a/{KEY}"),
            ImagePart(DATA_URI),
            AudioPart(UrlRef(f"http://a/{KEY}"), "audio/wav"),
            AudioPart(PathRef(KEY), "audio/wav"),
        ),
        extra_metadata={
            "reasoning_content": KEY,
            "turntape": {"v": 1, "message": {"signature": KEY, "text": KEY}},
        },
        request_id=KEY,
        tool_failure=ToolFailure(KEY),
        model=KEY,
        extra={"note": KEY, "name": KEY},
    )
    assert redact_row(row, REDACTOR) == replace(
        row,
        content=f"a {GONE}",
        tool_calls=(
            NativeToolCall(
                KEY, KEY, f'{{"a":"{GONE}"}}', {"google": {"thought_signature": KEY, "x": GONE}}
            ),
        ),
        parts=(
            TextPart(GONE),
            ImagePart(f"http://a/{GONE}"),
            ImagePart(DATA_URI),
            AudioPart(UrlRef(f"http://a/{GONE}"), "audio/wav"),
            AudioPart(PathRef(KEY), "audio/wav"),
        ),
        extra_metadata={
            "reasoning_content": GONE,
            "turntape": {"v": 1, "message": {"signature": KEY, "text": GONE}},
        },
        tool_failure=ToolFailure(GONE),
        extra={"note": GONE, "name": KEY},
    )


def test_a_row_forgets_what_it_was_read_from_where_that_holds_a_secret():
    from turntape.transcript.rows import legacy_memory, line_memory, remember

    clean = f'{{"content":"ok","tool_call_id":"{KEY}"}}'
    row = remember(TranscriptMessage.tool_result(KEY, "ok"), legacy=clean, line=clean.encode())
    assert redact_row(row, REDACTOR) is row
    for memory in (
        '{"content":"ok","tool_call_id":"c","more":"hbr_\\u0061b12cd34ef56"}',
        f"x {KEY}",
    ):
        for row in (
            remember(TranscriptMessage.tool_result("c", "ok"), legacy=memory),
            remember(TranscriptMessage.tool_result("c", "ok"), line=memory.encode()),
        ):
            redacted = redact_row(row, REDACTOR)
            assert redacted == row
            assert legacy_memory(redacted) is line_memory(redacted) is None


def test_the_envelope_of_a_turn_in_a_content():
    envelope = json.dumps(
        {"content": KEY, "tool_calls": [{"arguments": f'{{"id":"{KEY}"}}', "id": KEY, "name": KEY}]}
    )
    expected = json.dumps(
        {
            "content": GONE,
            "tool_calls": [{"arguments": f'{{"id":"{GONE}"}}', "id": KEY, "name": KEY}],
        }
    )
    assert redact_row(TranscriptMessage.assistant(envelope), REDACTOR).content == expected
    # JSON that is no envelope is what somebody said.
    row = TranscriptMessage.user(json.dumps({"id": KEY}))
    assert redact_row(row, REDACTOR).content == json.dumps({"id": GONE})


@pytest.mark.parametrize(
    "row",
    [
        TranscriptMessage.user(f'{{"tool_call_id":"c1","content":"a","data":"{KEY}"}}'),
        TranscriptMessage.user(f'{{"tool_call_id":"{KEY}","content":"a"}}'),
        TranscriptMessage.tool_result("c1", f'{{"tool_call_id":"{KEY}","content":"a"}}'),
        TranscriptMessage.tool(f'{{"tool_call_id":"c1","content":"a","data":"{KEY}"}}'),
    ],
)
def test_what_only_looks_like_an_envelope_keeps_nothing(row):
    assert KEY not in redact_row(row, REDACTOR).content
    assert KEY not in redact_row(normalized(row), REDACTOR).legacy_content().replace(
        f'_id":"{KEY}"', ""
    )


@pytest.mark.parametrize(
    "text",
    [
        f"data: {KEY};base64,",
        f"data:a/{KEY};base64,QUJD",
        f"data:;base64,{KEY}",
        f"data:;x={KEY};base64,",
    ],
)
def test_what_only_looks_like_a_data_uri_is_searched(text):
    assert KEY not in redact_row(TranscriptMessage.user(text), REDACTOR).content
    assert (
        KEY
        not in redact_row(TranscriptMessage.user_with_parts([ImagePart(text)]), REDACTOR)
        .parts[0]
        .url
    )


def test_calls_in_the_words_of_the_providers():
    for value, expected in [
        (
            {"type": "tool_use", "id": KEY, "name": KEY, "input": {"data": KEY, "name": KEY}},
            {"type": "tool_use", "id": KEY, "name": KEY, "input": {"data": GONE, "name": GONE}},
        ),
        (
            {"toolUse": {"toolUseId": KEY, "name": KEY, "input": {"id": KEY}}},
            {"toolUse": {"toolUseId": KEY, "name": KEY, "input": {"id": GONE}}},
        ),
        (
            {"functionCall": {"name": KEY, "args": {"name": KEY}}, "thoughtSignature": KEY},
            {"functionCall": {"name": KEY, "args": {"name": GONE}}, "thoughtSignature": KEY},
        ),
        # A list of items keeps what items keep, and what is no string is walked wherever it stands.
        (
            {"input": [{"id": KEY}], "data": [{"text": KEY}]},
            {"input": [{"id": KEY}], "data": [{"text": GONE}]},
        ),
    ]:
        assert redact_json(value, REDACTOR) == expected
    assert redact_json((KEY, 1), REDACTOR) == (GONE, 1)


class Loud:
    """A redactor of the host's, which knows no JSON."""

    def redact(self, text: str) -> Redacted:
        return Redacted(text.replace('secret"', "<gone>").replace("secret", "<gone>"), changed=True)


def test_a_redactor_that_breaks_json():
    assert redact_json({"a": "secret"}, Loud()) == {"a": "<gone>"}
    message = redact_message(Message.assistant([ToolUse("c", "t", '{"a": "secret"}')]), Loud())
    assert message.content[0] == ToolUse("c", "t", '{"redacted":true}')


class Refusing:
    def redact(self, text: str) -> Redacted:
        raise ConnectionError("the vault is closed")


def test_a_redactor_that_raises_is_heard():
    with pytest.raises(ConnectionError, match="the vault is closed"):
        redact_json(["a"], Refusing())
