"""Envelopes: values that cannot be written, hostile texts, and what the classes are as values."""

from __future__ import annotations

import copy
import enum
import json
import pickle
import sys
import threading
import time
from collections import OrderedDict, defaultdict
from dataclasses import FrozenInstanceError, asdict, fields, replace
from decimal import Decimal
from types import MappingProxyType
from typing import Any, cast

import pytest

import turntape
from turntape import EnvelopeError, NativeToolCall

HEAD = '{"content":"","tool_calls":[{"arguments":"","extra_content":'
TAIL = ',"id":"","name":""}]}'

MAGIC = ['{"$serde_json::private::Number":"1"}', '{"$serde_json::private::RawValue":"1"}']


def encode_extra(extra: Any) -> str:
    return turntape.encode_assistant_envelope("", [NativeToolCall("", "", "", extra)])


# What cannot be written ----------------------------------------------------------------------------


class Word(str):
    __slots__ = ()


class Rival(str):
    """A string that is no other one's equal, whatever it says."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


cycle: list[Any] = []
cycle.append(cycle)
looped: dict[str, Any] = {}
looped["a"] = [looped]


def nested(depth: int, *, kind: str = "list") -> Any:
    value: Any = [] if kind == "list" else {}
    for _ in range(depth - 1):
        value = {"list": [value], "tuple": (value,), "dict": {"k": value}}[kind]
    return value


@pytest.mark.parametrize(
    ("extra", "path", "what"),
    [
        (float("nan"), "", "NaN"),
        ({"t": float("-inf")}, ".t", "infinity"),
        ([{"t": [float("inf")]}], "[0].t[0]", "infinity"),
        (2**64, "", "integer"),
        (-(2**63) - 1, "", "integer"),
        ([10**5000], "[0]", "integer"),
        ("\ud83d", "", "lone surrogate at character 0"),
        ({"a": {"b c": "x\udc00"}}, '.a["b c"]', "lone surrogate at character 1"),
        ({"\ud83d": 1}, "[", "lone surrogate"),
        ({1: 2}, "[1]", "int, not str"),
        ({"a": {None: 2}}, ".a[None]", "NoneType, not str"),
        ({True: 2}, "[True]", "bool, not str"),
        ({b"k": 2}, "[b'k']", "bytes, not str"),
        ({1, 2}, "", "set"),
        ({"a": b"x"}, ".a", "bytes"),
        (Decimal(1), "", "Decimal"),
        (object(), "", "object"),
        (MappingProxyType({}), "", "mappingproxy"),
        (iter(()), "", "tuple_iterator"),
        (1j, "", "complex"),
        (nested(125), "[0]", "127 nested"),
        (nested(125, kind="tuple"), "[0]", "127 nested"),
        (nested(125, kind="dict"), ".k.k", "127 nested"),
        (nested(100_000), "[0]", "127 nested"),
        (cycle, "[0]", "127 nested"),
        (looped, ".a[0].a", "127 nested"),
        ({Rival("k"): 1, Rival("k"): 2}, ".k", "twice"),
    ],
)
def test_an_extra_content_that_cannot_be_written(extra, path, what):
    with pytest.raises(EnvelopeError) as caught:
        encode_extra(extra)
    assert caught.value.field.startswith(f"tool_calls[0].extra_content{path}")
    assert what in str(caught.value)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, turntape.TurntapeError)
    again = pickle.loads(pickle.dumps(caught.value))  # noqa: S301 (it was pickled here)
    assert (str(again), again.field) == (str(caught.value), caught.value.field)


BAD = "x\ud83d"
NONE, NUMBER, BYTES, DICT, WORD = cast("tuple[Any, ...]", (None, 7, b"x", {"id": "c1"}, "ab"))


@pytest.mark.parametrize(
    ("encode", "field"),
    [
        (lambda: turntape.encode_assistant_envelope(BAD, []), "text"),
        (lambda: turntape.encode_assistant_envelope(BYTES, []), "text"),
        (lambda: turntape.encode_assistant_envelope("", [], BAD), "reasoning_content"),
        (lambda: turntape.encode_assistant_envelope("", [], NUMBER), "reasoning_content"),
        (lambda: turntape.encode_assistant_envelope("", [DICT]), "tool_calls[0]"),
        (lambda: turntape.encode_assistant_envelope("", WORD), "tool_calls[0]"),
        (
            lambda: turntape.encode_assistant_envelope(
                "", [NativeToolCall("", "", ""), NativeToolCall(BAD, "", "")]
            ),
            "tool_calls[1].id",
        ),
        (
            lambda: turntape.encode_assistant_envelope("", [NativeToolCall("", NONE, "")]),
            "tool_calls[0].name",
        ),
        (
            lambda: turntape.encode_assistant_envelope("", [NativeToolCall("", "", DICT)]),
            "tool_calls[0].arguments",
        ),
        (lambda: turntape.encode_tool_envelope(BAD, ""), "tool_call_id"),
        (lambda: turntape.encode_tool_envelope("", BAD), "content"),
        (lambda: turntape.encode_tool_envelope("", NONE), "content"),
        (lambda: turntape.encode_tool_envelope(NUMBER, ""), "tool_call_id"),
    ],
)
def test_the_field_at_fault_is_named(encode, field):
    with pytest.raises(EnvelopeError) as caught:
        encode()
    assert caught.value.field == field
    assert str(caught.value).startswith(f"{field}: ")


def test_calls_that_are_no_collection():
    with pytest.raises(TypeError):
        turntape.encode_assistant_envelope("", NUMBER)

    def failing():
        yield NativeToolCall("", "", "")
        raise RuntimeError("the source broke")

    with pytest.raises(RuntimeError, match="the source broke"):
        turntape.encode_assistant_envelope("", failing())


def test_kinds_of_the_json_types():
    class Level(enum.IntEnum):
        HIGH = 3

    class Half(float):
        __slots__ = ()

    extra = {
        "tuple": (1, 2),
        "bool": True,
        "int": Level.HIGH,
        "float": Half(0.5),
        "str": Word("w"),
        Word("key"): defaultdict(int, {"d": 1}),
        "ordered": OrderedDict([("b", 1), ("a", 2)]),
    }
    written = encode_extra(extra)
    assert (
        '{"bool":true,"float":0.5,"int":3,"key":{"d":1},"ordered":{"a":2,"b":1},"str":"w","tuple":[1,2]}'
        in written
    )
    assert (
        turntape.encode_tool_envelope(Word("i"), Word("é")) == '{"content":"é","tool_call_id":"i"}'
    )
    assert turntape.parse_tool_envelope(Word('{"tool_call_id":"i"}')) == turntape.ToolEnvelope(
        "i", ""
    )


def test_depth_at_the_limit():
    for kind in ("list", "tuple", "dict"):
        written = encode_extra(nested(124, kind=kind))
        parsed = turntape.parse_canonical_assistant_envelope(written)
        assert parsed is not None
        assert turntape.encode_assistant_envelope("", parsed.tool_calls) == written
    deeper = HEAD + "[" * 125 + "]" * 125 + TAIL
    assert turntape.parse_assistant_envelope(deeper) is None
    explained = turntape.explain_not_canonical(deeper)
    assert explained == turntape.NonCanonical("not_json", len(HEAD) + 124)


# Hostile texts -------------------------------------------------------------------------------------

LARGE = 4 << 20

HOSTILE = {
    "brackets": "[" * 100_000,
    "brackets-closed": "[" * 100_000 + "]" * 100_000,
    "brackets-inside": HEAD + "[" * 100_000,
    "braces-inside": HEAD + '{"a":' * 100_000,
    "open-string": '{"content":"' + "x" * LARGE,
    "backslashes": '{"content":"' + "\\" * LARGE,
    "escapes": '{"content":"' + '\\"' * (LARGE // 2) + '","tool_call_id":1}',
    "surrogates": '{"content":"' + "\\ud83d" * 100_000 + '","tool_call_id":""}',
    "digits": '{"content":' + "9" * LARGE + ',"tool_call_id":""}',
    "members": "{" + '"a":1,' * 100_000 + '"tool_call_id":""}',
    "same-calls": '{"tool_calls":[],' * 1000 + "}",
    "spaces": " " * LARGE,
    "nul": "\0" * LARGE,
    "lone": "\ud83d" * 100_000,
    "lone-behind": '{"content":"","tool_call_id":""}\ud83d',
}


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in HOSTILE.items()])
def test_hostile_texts_are_none_and_take_no_time(text):
    start = time.process_time()
    assert turntape.parse_canonical_assistant_envelope(text) is None
    assert turntape.parse_canonical_tool_envelope(text) is None
    explained = turntape.explain_not_canonical(text)
    assert explained is not None
    turntape.parse_assistant_envelope(text)
    turntape.parse_tool_envelope(text)
    assert time.process_time() - start < 10


def test_sixty_four_mebibytes():
    large = "x" * (64 << 20)
    written = turntape.encode_tool_envelope("c1", large)
    assert len(written) == len(large) + 34
    parsed = turntape.parse_canonical_tool_envelope(written)
    assert parsed is not None
    assert parsed.content == large
    assert turntape.explain_not_canonical(written) is None


def test_lone_surrogates_are_no_json():
    for text in (
        '{"content":"\ud83d","tool_call_id":"c"}',
        '{"content":"\\ud83d","tool_call_id":"c"}',
        '{"content":"","tool_call_id":"c","x":"\\udc00"}',
    ):
        assert turntape.parse_tool_envelope(text) is None
        assert turntape.parse_canonical_tool_envelope(text) is None
    at = turntape.explain_not_canonical('{"content":"é\ud83d","tool_call_id":"c"}')
    assert at == turntape.NonCanonical("not_json", 14)
    assert turntape.explain_not_canonical('[1 2, "\ud83d"]') == turntape.NonCanonical("not_json", 3)


def test_no_text_is_a_type_error():
    for function in (
        turntape.parse_assistant_envelope,
        turntape.parse_tool_envelope,
        turntape.parse_canonical_assistant_envelope,
        turntape.parse_canonical_tool_envelope,
        turntape.explain_not_canonical,
        turntape.split_image_parts,
        turntape.count_image_parts,
        turntape.has_image_parts,
    ):
        for nonsense in (None, b"{}", 7, ["{}"]):
            with pytest.raises(TypeError):
                function(nonsense)  # type: ignore[arg-type]


# The names that serde_json keeps for itself --------------------------------------------------------


@pytest.mark.parametrize("magic", MAGIC)
def test_no_name_is_magic(magic):
    value = json.loads(magic)
    written = encode_extra(value)
    assert f'"extra_content":{magic},' in written
    for parse in (turntape.parse_assistant_envelope, turntape.parse_canonical_assistant_envelope):
        parsed = parse(written)
        assert parsed is not None
        assert parsed.tool_calls[0].extra_content == value
    assert turntape.explain_not_canonical(written) is None
    assert turntape.parse_assistant_envelope(magic) is None
    assert turntape.parse_tool_envelope(magic) is None
    assert turntape.explain_not_canonical(magic) == turntape.NonCanonical("not_an_envelope", 0)
    whole = turntape.encode_tool_envelope("c1", magic)
    assert turntape.parse_canonical_tool_envelope(whole) == turntape.ToolEnvelope("c1", magic)
    call = NativeToolCall("c1", "n", magic, value)
    written = turntape.encode_assistant_envelope(magic, [call])
    parsed = turntape.parse_canonical_assistant_envelope(written)
    assert parsed == turntape.AssistantEnvelope(magic, (call,))
    message = turntape.AssistantMessage.from_envelope(written)
    assert message is not None
    assert message.to_envelope() == written
    assert turntape.NativeDialect.parse_response(None, [call]).tool_calls[0].input == value


# What the classes are ------------------------------------------------------------------------------


def test_a_call_is_a_value():
    extra = {"google": {"thought_signature": "s"}}
    call = NativeToolCall("c1", "n", "{}", extra)
    written = turntape.encode_assistant_envelope("", [call])
    parsed = turntape.parse_canonical_assistant_envelope(written)
    assert parsed is not None
    (made,) = parsed.tool_calls
    assert made == call
    assert hash(made) == hash(call)
    assert made != replace(call, extra_content={"google": {}})
    assert repr(made) == (
        "NativeToolCall(id='c1', name='n', arguments='{}', "
        "extra_content={'google': {'thought_signature': 's'}})"
    )
    assert asdict(made) == {"id": "c1", "name": "n", "arguments": "{}", "extra_content": extra}
    assert [field.name for field in fields(NativeToolCall)] == list(NativeToolCall.__match_args__)
    assert fields(NativeToolCall)[3].default is None
    assert not hasattr(made, "__dict__")
    with pytest.raises(FrozenInstanceError):
        made.id = "c2"  # type: ignore[misc]
    match made:
        case NativeToolCall("c1", name, extra_content={"google": _}):
            assert name == "n"
        case _:
            pytest.fail("no match")
    assert NativeToolCall("c1", "n", "{}") == NativeToolCall("c1", "n", "{}", None)


def copies(value: Any) -> list[Any]:
    return [
        copy.copy(value),
        copy.deepcopy(value),
        *(
            pickle.loads(pickle.dumps(value, protocol))  # noqa: S301 (it was pickled here)
            for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
        ),
    ]


def test_pickles_and_copies():
    written = encode_extra({"b": [1, 2.5], "a": "é"})
    parsed = turntape.parse_canonical_assistant_envelope(written)
    assert parsed is not None
    for again in copies(parsed):
        assert again == parsed
        assert turntape.encode_assistant_envelope("", again.tool_calls) == written
    for value in (
        turntape.ToolEnvelope("c", "x"),
        turntape.NonCanonical("number", 3),
        turntape.TextPart("t"),
        turntape.ImagePart("u"),
        turntape.Chat("user", "hi"),
        turntape.AssistantToolCalls("t", (NativeToolCall("c", "n", ""),)),
        turntape.ToolResults((turntape.ToolEnvelope("c", "x"),)),
        turntape.DroppedEntry(0, "no_opener", "d"),
    ):
        for again in copies(value):
            assert again == value
            assert hash(again) == hash(value)
            assert repr(again) == repr(value)


def test_what_rust_makes_is_what_calling_the_class_makes():
    parsed = turntape.parse_assistant_envelope(
        '{"content":"x","reasoning_content":"r","tool_calls":[{"id":"c","name":"n","arguments":"{}"}]}'
    )
    made = turntape.AssistantEnvelope("x", (NativeToolCall("c", "n", "{}"),), "r")
    assert parsed == made
    assert hash(parsed) == hash(made)
    assert repr(parsed) == repr(made)
    assert type(parsed) is type(made)
    (part,) = turntape.split_image_parts("text")
    assert (part, repr(part), hash(part), part.type) == (
        turntape.TextPart("text"), "TextPart(text='text')", hash(turntape.TextPart("text")), "text",
    )  # fmt: skip
    (image,) = turntape.split_image_parts("[OH_IMAGE:u]")
    assert (image, repr(image), image.type) == (
        turntape.ImagePart("u"),
        "ImagePart(url='u')",
        "image",
    )
    assert turntape.explain_not_canonical("") == turntape.NonCanonical("not_json", 0)


def test_other_libraries_know_the_classes():
    call = NativeToolCall("c", "n", "{}", {"a": [1]})
    pydantic = pytest.importorskip("pydantic", reason="pydantic is asked where it is there")
    adapter = pydantic.TypeAdapter(turntape.AssistantEnvelope)
    envelope = turntape.AssistantEnvelope("x", (call, NativeToolCall("d", "m", "")))
    dumped = adapter.dump_python(envelope)
    assert dumped["tool_calls"][0] == {
        "id": "c",
        "name": "n",
        "arguments": "{}",
        "extra_content": {"a": [1]},
    }
    assert adapter.validate_python(dumped) == envelope
    del dumped["tool_calls"][1]["extra_content"]
    assert adapter.validate_python(dumped) == envelope
    orjson = pytest.importorskip("orjson", reason="orjson is asked where it is there")
    assert orjson.loads(orjson.dumps(call)) == asdict(call)


def test_the_exact_text_is_kept_until_the_value_changes():
    written = encode_extra({"scores": [0.1, 100.0, -0.0], "n": 18446744073709551615})
    parsed = turntape.parse_canonical_assistant_envelope(written)
    assert parsed is not None
    (call,) = parsed.tool_calls
    assert turntape.encode_assistant_envelope("", [call]) == written
    # A dict can be changed in place; what is written is always what it says now.
    for key, value in (
        ("scores", [0.1, 100, -0.0]),
        ("scores", [0.1, 100.0, 0.0]),
        ("n", True),
        ("m", None),
    ):
        changed = copy.deepcopy(call)
        changed.extra_content[key] = value
        again = turntape.encode_assistant_envelope("", [changed])
        assert again == encode_extra(changed.extra_content)
        assert again != written
    del call.extra_content["n"]
    assert turntape.encode_assistant_envelope("", [call]) == encode_extra(call.extra_content)
    assert turntape.encode_assistant_envelope(
        "", [replace(call, extra_content=None)]
    ) == encode_extra(None)


def test_a_kept_text_that_is_not_canonical_is_not_written():
    call = NativeToolCall("", "", "", {"a": 1})
    rebuild, state = call.__reduce__()
    for kept in ('{"a": 1}', '{"a":1}]', "", '{"a":1e0}', "\ud83d"):
        forged = rebuild(*state[:-1], kept)
        assert turntape.encode_assistant_envelope("", [forged]) == encode_extra({"a": 1})


# Threads -------------------------------------------------------------------------------------------


def test_a_large_text_leaves_other_threads_the_interpreter():
    """Counting goes on while a large envelope is read, if the interpreter is released meanwhile."""
    text = turntape.encode_tool_envelope("c1", '"' * (32 << 20))
    sys.setswitchinterval(60)
    try:
        counted, stop = [0], threading.Event()

        def count() -> None:
            while not stop.is_set():
                counted[0] += 1
                time.sleep(0)

        thread = threading.Thread(target=count)
        thread.start()
        before = counted[0]
        for _ in range(3):
            assert turntape.explain_not_canonical(text) is None
        during = counted[0] - before
        stop.set()
        thread.join()
    finally:
        sys.setswitchinterval(0.005)
    assert during > 0


def test_many_threads_share_texts():
    written = encode_extra({"k": ["é\n" * 200]})
    failures: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(300):
                parsed = turntape.parse_canonical_assistant_envelope(written)
                assert parsed is not None
                assert turntape.encode_assistant_envelope("", parsed.tool_calls) == written
        except BaseException as error:  # noqa: BLE001 (raised again below)
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
