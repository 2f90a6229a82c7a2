"""JSON out: against Python's own writer, and what only this one does."""

from __future__ import annotations

import json
import sys
from collections import ChainMap, OrderedDict
from enum import IntEnum, StrEnum
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turntape.wire.raw_json import RawJson, decimal_text, plain, write_json

_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(2**80), 2**80)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.text('"\\\n\x00\x1f\x7f aé日😀', max_size=200)
)
VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text(), inner),
    max_leaves=30,
)


def _oracle(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


@given(VALUES)
def test_writes_what_json_dumps_writes(value):
    assert write_json(value) == (_oracle(value), 0)


@given(VALUES)
def test_plain_is_what_was_written(value):
    assert plain(value) == json.loads(write_json(value)[0])


@given(VALUES, VALUES)
def test_ready_made_text_stands_as_it_is(inner, outer):
    spaced = json.dumps(inner, indent=1)
    written, replaced = write_json({"a": [RawJson(spaced)], "b": outer})
    assert replaced == 0
    assert written == b'{"a":[' + spaced.encode() + b'],"b":' + _oracle(outer) + b"}"
    assert plain({"a": RawJson(spaced)}) == {"a": json.loads(spaced)}


@given(
    st.text(st.characters(), max_size=8).flatmap(
        lambda text: st.lists(st.sampled_from([text, "\ud83d", "\ude00", "a", "é"]), max_size=8)
    )
)
def test_lone_surrogates_become_the_replacement_character(parts):
    text = "".join(parts)
    # What JSON's own escapes say is the oracle: halves that belong together are a character.
    expected = json.loads(json.dumps(text)).encode("utf-16-le", "surrogatepass")
    expected = expected.decode("utf-16-le", "replace")
    written, replaced = write_json({text: text})
    assert json.loads(written) == {expected: expected}
    assert replaced == 2 * (expected.count("�") - text.count("�"))
    assert plain({text: [text]}) == {expected: [expected]}
    assert write_json(RawJson(f'"{"".join(parts)}"'))[1] == replaced // 2 or '"' in text


class Colour(StrEnum):
    RED = "red"


class Level(IntEnum):
    HIGH = 3


class Loud(float):
    def __repr__(self) -> str:
        return "loud"


class Shown(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "shown"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Colour.RED, b'"red"'),
        ({Colour.RED: Level.HIGH}, b'{"red":3}'),
        (Loud(1.5), b"1.5"),
        (Shown("kept"), b'"kept"'),
        (MappingProxyType({"a": 1}), b'{"a":1}'),
        (ChainMap({"a": 1}, {"b": 2}), b'{"b":2,"a":1}'),
        (OrderedDict(b=1, a=2), b'{"b":1,"a":2}'),
        ((1, (2,)), b"[1,[2]]"),
        (-0.0, b"-0.0"),
        (1e16, b"1e+16"),
        (5e-324, b"5e-324"),
        (2**63, b"9223372036854775808"),
        (-(2**63), b"-9223372036854775808"),
        ({}, b"{}"),
        ("", b'""'),
        ("\x00\x1f", b'"\\u0000\\u001f"'),
    ],
)
def test_kinds_of_values(value, expected):
    assert write_json(value) == (expected, 0)
    assert plain(value) == json.loads(expected)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (float("nan"), "the value: NaN"),
        ({"a": [1, {"b c": float("-inf")}]}, r'a\[1\]\["b c"\]: an infinity'),
        ({"a": {1: 2}}, r"a\[1\]: a key that is int, not str"),
        ([{None: 2}], r"\[0\]\[None\]: a key that is NoneType"),
        ({"a": {1, 2}}, "a: set, which JSON cannot say"),
        ([b"bytes"], r"\[0\]: bytes, which"),
        ([object()], r"\[0\]: object, which"),
    ],
)
def test_what_has_no_json_is_refused_with_its_path(value, message):
    with pytest.raises(ValueError, match="^" + message):
        write_json(value)


@pytest.mark.parametrize("kind", ["list", "dict", "tuple", "mapping"])
def test_at_most_512_containers_in_each_other(kind):
    def nested(depth: int) -> object:
        value: object = 1
        for _ in range(depth):
            wrap = {
                "list": [value],
                "dict": {"k": value},
                "tuple": (value,),
                "mapping": MappingProxyType({"k": value}),
            }
            value = wrap[kind]
        return value

    value = nested(512)
    assert json.loads(write_json(value)[0]) == plain(value)
    with pytest.raises(ValueError, match="more than 512 containers"):
        write_json(nested(513))


def test_a_container_that_holds_itself_is_refused():
    ring: list[object] = []
    ring.append({"again": ring})
    with pytest.raises(ValueError, match="more than 512 containers"):
        write_json(ring)


def test_a_mapping_that_fails_raises_its_own_error():
    class Broken(OrderedDict[str, int]):
        def keys(self):
            raise LookupError("no keys today")

    class Failing(ChainMap[str, int]):
        def __getitem__(self, key: str) -> int:
            raise LookupError("no value today")

    # A dict says what it holds by itself, whatever its class adds.
    assert write_json(Broken(a=1)) == (b'{"a":1}', 0)
    with pytest.raises(LookupError, match="no value today"):
        write_json(Failing({"a": 1}))


@given(st.integers(min_value=1, max_value=40_000), st.integers(0, 2**64), st.booleans())
def test_integers_of_any_size(bits, low, negative):
    value = (1 << bits) + low
    value = -value if negative else value
    text = write_json(value)[0].decode()
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        assert text == str(value) == decimal_text(value)
    finally:
        sys.set_int_max_str_digits(before)
    assert plain(RawJson(text)) == value


def test_a_dict_that_changes_meanwhile_is_an_error():
    body: dict[str, object] = {}

    class Meddling(ChainMap[str, int]):
        def __getitem__(self, key: str) -> int:
            body["late"] = 1
            return 1

    body.update(a=Meddling({"k": 1}), b=2)
    with pytest.raises(RuntimeError, match="changed while it was written"):
        write_json(body)
