"""The vectors of building: one history, the body that each dialect must get."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.requests import (
    BodyExpectations,
    assert_begins_with,
    count_of,
    options_of,
    pointed,
    request_of,
)
from tests.support.vectors import cases

from turntape import (
    InvalidRequest,
    PairingError,
    TurntapeError,
    UnsupportedContent,
    build_request,
)

if TYPE_CHECKING:
    from tests.support.vectors import Case

    from turntape import BuiltRequest

ERRORS: dict[str, type[TurntapeError]] = {
    "pairing_error": PairingError,
    "invalid_request": InvalidRequest,
    "unsupported_content": UnsupportedContent,
    "any": TurntapeError,
}

PAIRS = [
    pytest.param(case, dialect, id=f"{case['name']}-{dialect}")
    for case in cases("requests.json")
    for dialect in case["expected"]
]


def build(case: Case, dialect: str, messages: list[Any] | None = None) -> BuiltRequest:
    options = options_of(case)
    if "previous" in case and messages is None:
        before = build_request(request_of(case, dialect, case["previous"]), dialect, **options)
        options["previous"] = before.prefix_digests
    return build_request(request_of(case, dialect, messages), dialect, **options)


@pytest.mark.parametrize(("case", "dialect"), PAIRS)
def test_a_body_is_what_its_dialect_must_get(case: Case, dialect: str) -> None:
    expected = case["expected"][dialect]
    if "error" in expected:
        check_error(case, dialect, expected["error"])
        return
    if "grow" in case:
        check_growth(case, dialect)
        return
    check_built(build(case, dialect), expected, dialect)


def check_error(case: Case, dialect: str, expected: Case) -> None:
    with pytest.raises(ERRORS[expected["kind"]]) as caught:
        build(case, dialect)
    error = caught.value
    if "index" in expected:
        assert isinstance(error, PairingError)
        places = [(fault.index, fault.id) for fault in error.faults]
        assert (expected["index"], expected["id"]) in places
    assert expected.get("message_contains", "") in str(error)


def check_growth(case: Case, dialect: str) -> None:
    messages = case["request"]["messages"]
    grown = [build(case, dialect, messages[:length]) for length in case["grow"]]
    for shorter, longer in pairwise(grown):
        assert_begins_with(longer, shorter)


def check_built(built: BuiltRequest, expected: Case, dialect: str) -> None:
    body = built.body
    raw = built.to_json().decode()
    expectations = BodyExpectations(dialect, body, expected.get("id_pattern"))
    if "body" in expected:
        expectations.check(expected["body"], body)
    if "items" in expected:
        items = body["input"]
        if items and items[0].get("role") in {"system", "developer"}:
            items = items[1:]
        expectations.check(expected["items"], items)
    for name, uses in expected.get("ids", {}).items():
        expectations.check(uses, list(built.id_map[name]))
    expectations.finish([expected.get("body"), expected.get("items")])
    check_text(raw, body, expected)
    check_around(built, expected)


def check_text(raw: str, body: Any, expected: Case) -> None:
    """What stands in the body and what does not."""
    for pointer in expected.get("absent", ()):
        assert not pointed(body, pointer), pointer
    for text in expected.get("raw_contains", ()):
        assert text in raw
    for text in expected.get("raw_absent", ()):
        assert text not in raw
    for key, number in expected.get("count", {}).items():
        assert count_of(key, body) == number
    if "keys" in expected:
        assert sorted(body) == expected["keys"]


def check_around(built: BuiltRequest, expected: Case) -> None:
    """What goes along with the body."""
    if "path" in expected:
        assert built.path == expected["path"]
    for name, value in expected.get("headers", {}).items():
        assert built.headers[name] == value
    codes = sorted({note.code for note in built.notes})
    if "notes" in expected:
        assert codes == expected["notes"], built.notes
    for code in expected.get("notes_include", ()):
        assert code in codes
