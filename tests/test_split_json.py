"""Taking one level of a JSON text apart."""

from __future__ import annotations

import json

import hypothesis.strategies as st
import pytest
from hypothesis import given

from turntape._native import split_elements, split_json, split_members


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("{}", ()),
        (" [ ] ", []),
        (
            '{"a" : 1.0,"b":{"c": [ ]} , "a":null}',
            (("a", "1.0"), ("b", '{"c": [ ]}'), ("a", "null")),
        ),
        (r'{"\u00e9\ud800":"\/"}', ((r"\u00e9\ud800", r'"\/"'),)),
        ("[1 , \t{}, [ 2 ]\n]", ["1", "{}", "[ 2 ]"]),
        (' "a]" ', '"a]"'),
        ("-1.50e3", "-1.50e3"),
        ("null", "null"),
    ],
)
def test_a_level(text, parts):
    assert split_json(text) == parts


@pytest.mark.parametrize(
    "text", ["", " ", "{", "[1,]", '{"a"}', "NaN", "01", '"\t"', "1 2", "{'a':1}"]
)
def test_what_is_no_json(text):
    with pytest.raises(ValueError, match=r"JSON"):
        split_json(text)


def test_the_depth_has_a_limit():
    assert split_json("[" * 512 + "]" * 512) == ["[" * 511 + "]" * 511]
    with pytest.raises(ValueError, match="too deep"):
        split_json("[" * 513 + "]" * 513)


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


@given(values, st.booleans(), st.sampled_from([None, 1]))
def test_the_parts_are_those_of_json(value, ascii_only, indent):
    parts = split_json(json.dumps(value, ensure_ascii=ascii_only, indent=indent))
    if isinstance(parts, tuple):
        assert {json.loads(f'"{name}"'): json.loads(text) for name, text in parts} == value
    elif isinstance(parts, list):
        assert [json.loads(text) for text in parts] == value
    else:
        assert json.loads(parts) == value


@given(st.text())
def test_any_text_is_split_or_refused_as_by_json(text):
    try:
        split_json(text)
    except ValueError:
        with pytest.raises(ValueError, match=r".*"):
            json.loads(text, parse_constant=int)
    else:
        json.loads(text)


names = st.sampled_from(["a", "b", "é", "c", 'q"', "\n", "\ud800"])
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=4)
    | st.sampled_from(["]", "}", '"\\']),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4),
    max_leaves=12,
)
pairs = st.lists(st.tuples(names, values), max_size=6)


@given(pairs, st.sampled_from([(",", ":"), (" , ", " : "), ("\n,", ":\t")]), st.booleans())
def test_the_members_of_an_object_are_its_pairs_by_name(members, separators, ascii_only):
    def dumps(value):
        text = json.dumps(value, separators=separators, ensure_ascii=ascii_only)
        return text.replace("\ud800", "\\ud800")

    comma, colon = separators
    text = "{" + comma.join(dumps(name) + colon + dumps(value) for name, value in members) + "}"
    split = split_json(text)
    assert isinstance(split, tuple)
    by_name = split_members(text)
    if by_name is None:
        is_escaped = any("\\" in name for name, _ in split)
        assert is_escaped or len({name for name, _ in split}) < len(split)
    else:
        assert list(by_name.items()) == [pair for pair in split if pair[1] != "null"]


@given(st.lists(values, max_size=5))
def test_the_elements_of_an_array(elements):
    text = json.dumps(elements)
    assert split_elements(text) == split_json(text)


def test_what_is_of_another_kind_has_neither():
    assert split_members("[1]") is None
    assert split_elements('{"a":1}') == []
    assert split_members("") is None
    assert split_elements("") == []
