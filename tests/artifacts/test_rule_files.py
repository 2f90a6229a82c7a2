"""Rule files in the form of gitleaks: what is read, what is left aside, what is refused."""

from __future__ import annotations

import pickle

import pytest

import turntape
from turntape import Allowlist, RedactionRule, RedactionRuleError, SecretRedactor

FILE = """
title = "rules of a pier"
minVersion = "v8.25.0"

[[rules]]
id = "pier"
description = "Keys of the pier"
regex = '''pier_([a-z0-9]{8})'''
path = '''\\.env$'''
SecretGroup = 1
entropy = 1
keywords = ["PIER_"]
tags = ["key"]
[rules.allowlist]
stopwords = ["harbour"]
[[rules.allowlists]]
condition = "&&"
regexTarget = "Match"
regexes = ['''^pier_a''']
stopwords = ["b"]
commits = ["0a1b"]

[[rules]]
id = "files-only"
path = '''\\.pem$'''

[allowlist]
paths = ['''go\\.sum''']
[[allowlists]]
targetRules = ["pier"]
regexes = ['''^zzzz''']
"""


def test_what_a_file_says():
    redactor = SecretRedactor.from_toml(FILE)
    assert redactor.rules == (
        RedactionRule(
            "pier",
            "pier_([a-z0-9]{8})",
            "Keys of the pier",
            1,
            1.0,
            ("PIER_",),
            (
                Allowlist(stopwords=("harbour",)),
                Allowlist(
                    regexes=("^pier_a",),
                    stopwords=("b",),
                    regex_target="match",
                    condition="AND",
                    commits=("0a1b",),
                ),
            ),
        ),
        RedactionRule("files-only", ""),
    )
    assert redactor.allowlists == (
        Allowlist(paths=(r"go\.sum",)),
        Allowlist(regexes=("^zzzz",), target_rules=("pier",)),
    )
    assert repr(redactor) == "<SecretRedactor of 1 rules>"
    # A list of paths allows no text; neither does one that asks for a commit as well.
    assert (
        redactor.redact("pier_abcdefgh pier_zzzz1234").text == "pier_[REDACTED:pier] pier_zzzz1234"
    )


def test_a_file_on_disk(tmp_path):
    path = tmp_path / "rules.toml"
    path.write_text(FILE, encoding="utf-8")
    assert SecretRedactor.from_file(path).rules == SecretRedactor.from_toml(FILE).rules
    with pytest.raises(FileNotFoundError):
        SecretRedactor.from_file(tmp_path / "none.toml")


RULE = '[[rules]]\nid = "a"\nregex = "x"\n'


@pytest.mark.parametrize(
    ("toml", "rule", "says"),
    [
        ("[[rules", "", "no TOML"),
        ("[extend]\npath = 'x'\n", "", r"\[extend\]"),
        (RULE + "[[rules.required]]\nid = 'b'\n", "a", "required"),
        ("[[rules]]\nregex = 'x'\n", "number 1", "no id"),
        (RULE + "entropy = 'high'\n", "a", "entropy"),
        (RULE + "entropy = -1\n", "a", "entropy"),
        (RULE + "secretGroup = 1\n", "a", "group 1"),
        (RULE + "secretGroup = 0.5\n", "a", "whole number"),
        (RULE + "keywords = 'x'\n", "a", "list of strings"),
        (RULE + "keywords = [1]\n", "a", "list of strings"),
        (RULE + "allowlists = [1]\n", "a", "list of tables"),
        (RULE + "allowlists = 1\n", "a", "list of tables"),
        (RULE + "[[rules.allowlists]]\ncondition = 'XOR'\n", "a", "condition"),
        (RULE + "[[rules.allowlists]]\nregexTarget = 'file'\n", "a", "regexTarget"),
        (RULE + "[[rules.allowlists]]\nregexes = ['(']\n", "a", "allowlist"),
        (RULE + "[[allowlists]]\nregexes = ['(']\n", "", "allowlist"),
        (
            RULE + "[[allowlists]]\ntargetRules = ['b']\nregexes = ['x']\n",
            "b",
            "which there is not",
        ),
        ("[[rules]]\nid = 'b'\nregex = '(?<!a)x'\n", "b", "look-around"),
        ("[[rules]]\nid = 'b'\nregex = '([ab]{1000}){1000}'\n", "b", "larger than"),
        ("[[rules]]\nid = 'a\"b'\nregex = 'x'\n", 'a"b', "quote"),
        ("rules = 3\n", "", "list of tables"),
        ("[[rules]]\nid = 3\n", "number 1", "id is a string"),
    ],
)
def test_what_is_refused(toml, rule, says):
    with pytest.raises(RedactionRuleError, match=says) as caught:
        SecretRedactor.from_toml(toml)
    assert caught.value.rule == rule
    if rule:
        assert rule in str(caught.value) or rule in str(caught.value).replace('\\"', '"')
    again = pickle.loads(pickle.dumps(caught.value))  # noqa: S301 (its own)
    assert (str(again), again.rule) == (str(caught.value), rule)


def test_an_allowlist_of_paths_alone_allows_nothing():
    for allow in (
        Allowlist(paths=(".*",)),
        Allowlist(commits=(".*",), condition="AND"),
        Allowlist(paths=(".*",), regexes=(".",), condition="AND"),
        Allowlist(),
    ):
        redactor = SecretRedactor([RedactionRule("k", "key1")], allowlists=[allow])
        assert redactor.redact("key1").text == "[REDACTED:k]"
        redactor = SecretRedactor([RedactionRule("k", "key1", allowlists=(allow,))])
        assert redactor.redact("key1").text == "[REDACTED:k]"


def test_no_rules():
    assert SecretRedactor([]).redact("anything") == turntape.Redacted("anything", changed=False)
    assert SecretRedactor.from_toml("").stream().feed("x" * 200_000)
