"""The default pack: each rule finds its examples, and only them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.support.plain_rules import PlainRedactor
from tests.support.secrets import examples

import turntape
from turntape import SecretRedactor, StreamRedactor, default_rules

EXAMPLES = examples()
RULES = {rule.id: rule for rule in default_rules()}
PACK = SecretRedactor()
FOUND = [(id_, example) for id_, each in EXAMPLES.items() for example in each.found]
LEFT = [(id_, text) for id_, each in EXAMPLES.items() for text in each.left]


def test_every_rule_has_examples_of_both_kinds():
    assert set(EXAMPLES) == set(RULES)
    assert len(RULES) == len(default_rules())
    without = {id_ for id_, each in EXAMPLES.items() if not (each.found and each.left)}
    # Nothing looks like it.
    assert without <= {"age-key"}


@pytest.mark.parametrize(("id_", "example"), FOUND, ids=[id_ for id_, _ in FOUND])
def test_what_a_rule_finds(id_, example):
    alone = SecretRedactor([RULES[id_]])
    assert alone.redact(example.text).text == f"{example.before}[REDACTED:{id_}]{example.after}"
    # With the others, another rule may come first; nothing of the secret stays all the same.
    redacted = PACK.redact(example.text)
    assert redacted.changed
    assert example.secret not in redacted.text
    for at in range(0, len(example.secret) - 12, 4):
        assert example.secret[at : at + 12] not in redacted.text


@pytest.mark.parametrize(("id_", "text"), LEFT, ids=[id_ for id_, _ in LEFT])
def test_what_a_rule_leaves_alone(id_, text):
    assert SecretRedactor([RULES[id_]]).redact(text).text == text


@pytest.mark.parametrize(("id_", "example"), FOUND, ids=[id_ for id_, _ in FOUND])
def test_redacting_again_changes_nothing(id_, example):
    once = PACK.redact(example.text).text
    assert PACK.redact(once) == turntape.Redacted(once, changed=False)


@pytest.mark.parametrize(("id_", "example"), FOUND, ids=[id_ for id_, _ in FOUND])
def test_python_finds_the_same(id_, example):
    around = f"{example.text}\n{example.text} {example.text}"
    plain = PlainRedactor(default_rules())
    assert [tuple(span) for span in PACK.find(around)] == plain.find(around)


@pytest.mark.parametrize("max_match", [64, 700, 65536])
def test_a_stream_of_all_examples(max_match):
    # With their keywords in front, a small window sees them as well.
    keywords = " ".join(word for rule in default_rules() for word in rule.keywords) + "\n"
    text = keywords + "\n\n".join(example.text for _, example in FOUND) + "\n"
    stream = StreamRedactor(max_match=max_match)
    pieces = [stream.feed(text[at : at + 50]) for at in range(0, len(text), 50)]
    redacted = "".join((*pieces, stream.finish()))
    if max_match == 65536:
        assert redacted == PACK.redact(text).text
    for id_, example in FOUND:
        assert example.secret not in redacted, id_


def test_nothing_in_ordinary_texts():
    root = Path(__file__).parents[2]
    pages = [*root.glob("docs/*.md"), *root.glob("tests/*.py"), *root.glob("tests/vectors/c*.json")]
    assert len(pages) > 5
    # This one shows what is found.
    pages = [page for page in pages if page.name != "redaction.md"]
    for page in pages:
        found = PACK.find(page.read_text("utf-8"))
        assert [span.rule for span in found] == [], page


def test_ids_are_plain_and_keywords_are_lower_case():
    for rule in default_rules():
        assert re.fullmatch(r"[a-z0-9-]+", rule.id)
        assert rule.description
        assert rule.keywords
        assert all(word == word.lower() for word in rule.keywords), rule.id
