"""The vectors of redaction: one right output each, in one piece, in streams, in JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support.vectors import parametrize, text_of

from turntape import Redacted, RedactionRuleError, SecretRedactor, StreamRedactor, redact_json

if TYPE_CHECKING:
    from tests.support.vectors import Case


@parametrize("artifacts.json", "redact")
def test_redact(case: Case) -> None:
    given, expected = case["input"], case["expected"]
    if "error" in expected:
        with pytest.raises(RedactionRuleError) as caught:
            SecretRedactor.from_toml(given["rules_toml"])
        for words in expected["message_contains"]:
            assert words in str(caught.value)
        return
    text = text_of(given["text"])
    redacted = SecretRedactor.from_toml(given["rules_toml"]).redact(text)
    texts = expected.get("text_one_of") or [text_of(expected["text"])]
    assert redacted.text in texts
    assert redacted.changed is expected["changed"]
    assert redacted == Redacted(redacted.text, redacted.text != text)


@parametrize("artifacts.json", "redact_json")
def test_redact_json(case: Case) -> None:
    given = case["input"]
    redactor = SecretRedactor.from_toml(given["rules_toml"])
    assert redact_json(given["value"], redactor) == case["expected"]["value"]


@parametrize("artifacts.json", "stream_redact")
def test_stream_redact(case: Case) -> None:
    given = case["input"]
    redactor = SecretRedactor.from_toml(given["rules_toml"])
    text, expected = text_of(given["text"]), text_of(case["expected"]["text"])
    for size in given["chunk_sizes"]:
        stream = StreamRedactor(redactor)
        pieces = [stream.feed(text[at : at + size]) for at in range(0, len(text), size)]
        assert "".join(pieces) + stream.finish() == expected
    data = text.encode()
    for size in (1, 3, 4096):
        stream = redactor.stream()
        pieces = [stream.feed(data[at : at + size]) for at in range(0, len(data), size)]
        assert "".join(pieces) + stream.finish() == expected
