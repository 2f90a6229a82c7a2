"""The laws of redaction: the same as the rules one by one in Python's `re`, and the same for every cutting."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.support.plain_rules import PlainRedactor

from turntape import (
    Allowlist,
    RedactionRule,
    SecretRedactor,
    StreamRedactor,
    default_rules,
    redact_json,
)

PIECES = [
    "hbr_", "ab12cd34", "key", "KEY", " = ", "=", ":", ";", "\n", " ", "é", "漢", "🎉", "BEGIN ", "END", "-----",
    "ey", "a.b", "aaaa", "0000", "x" * 70, "://", "@", "pass", "'", '"', "\\n", "demo", "# fixture", "T",
]  # fmt: skip
TEXTS = st.lists(
    st.one_of(st.sampled_from(PIECES), st.text("ab01._=é漢 \n", max_size=12)), max_size=40
).map("".join)

REGEXES = [
    r"\bhbr_[a-z0-9]{4,12}\b",
    r"(?i)(?:key|pass)\s*[:=]\s*['\"]?([a-z0-9]{4,16})['\"]?",
    r"ey[a-zA-Z0-9]{2,}\.[a-z0-9]+",
    r"-----BEGIN [\s\S]+?-----END",
    r"(a+)(0+)|(b.{2})",
    r"[a-z]+://([^:@\s]+):?([^@\s]*)@",
    r"x{20,}",
    r"(?:^|[^a-z])([a-z]{4})(?:[^a-z]|$)",
    r"[^\w\s]{2}[\W]",
    r"(?s:T.{3})",
]
ALLOW = st.builds(
    Allowlist,
    regexes=st.lists(
        st.sampled_from([r"^a", r"0$", r"# fixture", r"[^\x00-\x7f]"]), max_size=2
    ).map(tuple),
    stopwords=st.lists(st.sampled_from(["demo", "AB", "x"]), max_size=2).map(tuple),
    regex_target=st.sampled_from(["secret", "match", "line"]),
    condition=st.sampled_from(["OR", "AND"]),
    paths=st.sampled_from([(), (), ("x",)]),
)
RULES = st.lists(
    st.builds(
        RedactionRule,
        id=st.sampled_from(["one", "two", "three"]),
        regex=st.sampled_from(REGEXES),
        # Between the entropies that short secrets have: equality is a matter of rounding.
        entropy=st.sampled_from([0.0, 0.0, 0.7, 1.83]),
        keywords=st.sampled_from([(), (), ("hbr_",), ("KEY", "t")]),
        allowlists=st.lists(ALLOW, max_size=2).map(tuple),
    ),
    min_size=1,
    max_size=4,
)


@given(RULES, TEXTS)
def test_the_same_as_python(rules, text):
    redactor, plain = SecretRedactor(rules), PlainRedactor(rules)
    assert [tuple(span) for span in redactor.find(text)] == plain.find(text)
    assert redactor.redact(text).text == plain.redact(text)
    assert redactor.redact(text).changed == bool(plain.find(text))


PACK = SecretRedactor()
PLAIN_PACK = PlainRedactor(default_rules())
WORDS = [word for rule in default_rules() for word in rule.keywords]


@given(
    st.lists(
        st.one_of(st.sampled_from(WORDS), st.text("aB0-_.:=/@ '\"\n", max_size=30)), max_size=30
    ).map("".join)
)
def test_the_pack_is_the_same_in_python(text):
    assert [tuple(span) for span in PACK.find(text)] == PLAIN_PACK.find(text)


@given(
    RULES,
    TEXTS,
    st.integers(64, 300),
    st.lists(st.integers(1, 40), min_size=1, max_size=5),
    st.booleans(),
)
def test_the_same_for_every_cutting(rules, text, max_match, sizes, as_bytes):
    redactor = SecretRedactor(rules)
    whole = redactor.stream(max_match=max_match)
    expected = whole.feed(text) + whole.finish()
    stream = StreamRedactor(redactor, max_match=max_match)
    data = text.encode() if as_bytes else text
    pieces: list[str] = []
    at = turn = 0
    while at < len(data):
        size = sizes[turn % len(sizes)]
        pieces.append(stream.feed(data[at : at + size]))
        at, turn = at + size, turn + 1
    assert "".join(pieces) + stream.finish() == expected
    if len(text.encode()) <= max_match:
        assert expected == redactor.redact(text).text


VALUES = st.recursive(
    st.one_of(TEXTS, st.integers(), st.booleans(), st.none(), st.text(max_size=5)),
    lambda each: st.one_of(
        st.lists(each, max_size=4),
        st.dictionaries(
            st.sampled_from(["a", "key", "data", "id", "arguments", "args"]), each, max_size=4
        ),
    ),
    max_leaves=12,
)


def leaves(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [leaf for item in items for leaf in leaves(item)]


@given(RULES, VALUES, st.booleans())
def test_arguments_stay_json(rules, value, escaped):
    """Arguments hold JSON afterwards, and no string of theirs that holds a secret is as it was."""
    redactor = SecretRedactor(rules)
    text = json.dumps([value], ensure_ascii=escaped)
    edited = redact_json({"arguments": text}, redactor)["arguments"]
    parsed = json.loads(edited)
    before, after = leaves([value]), leaves(parsed)
    # A secret that goes over several strings may take them all.
    if len(before) == len(after):
        for old, new in zip(before, after, strict=True):
            assert old != new or not redactor.redact(old).changed
    else:
        assert edited != text


@given(RULES, VALUES)
def test_what_holds_no_secret_is_handed_back_itself(rules, value):
    redactor = SecretRedactor(rules)
    redacted = redact_json(value, redactor)
    assert (redacted is value) == (redacted == value and type(redacted) is type(value))
