"""``format_error``: a fault in the shape of each provider, which its decoder reads as the same fault."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turntape import Dialect, ProviderError, decode, format_error, parse_response

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
KINDS = st.one_of(
    st.sampled_from(
        [
            "overloaded_error",
            "rate_limit_exceeded",
            "NOT_FOUND",
            "ThrottlingException",
            "error",
            "_error",
        ]
    ),
    TEXT.filter(lambda kind: kind != "" and not (kind.isascii() and kind.isdigit())),
)
STATUSES = st.none() | st.integers(400, 599)


@given(dialect=st.sampled_from(Dialect), kind=KINDS, message=TEXT, status=STATUSES)
def test_what_is_written_is_read_as_the_same_fault(dialect, kind, message, status):
    fault = ProviderError(message, kind=kind, status=status)
    code, body = format_error(fault, dialect)
    assert 400 <= code <= 599
    assert status in {None, code}
    for read in (parse_response, decode):
        with pytest.raises(ProviderError) as raised:
            read(body, dialect)
        assert (raised.value.kind, raised.value.message) == (kind, message)
        # The other wires say it in the status line alone.
        assert raised.value.status == (code if dialect is Dialect.GEMINI else None)


@pytest.mark.parametrize(
    ("dialect", "status", "body"),
    [
        (
            "anthropic",
            529,
            {"type": "error", "error": {"type": "overloaded_error", "message": "Full"}},
        ),
        (
            "openai-chat",
            503,
            {"error": {"message": "Full", "type": "overloaded_error", "param": None, "code": None}},
        ),
        ("gemini", 503, {"error": {"code": 503, "message": "Full", "status": "overloaded_error"}}),
        ("bedrock-converse", 503, {"message": "Full", "code": "overloaded_error"}),
    ],
)
def test_each_provider_has_its_own_shape(dialect, status, body):
    found, data = format_error(ProviderError("Full", kind="overloaded_error"), dialect)
    assert (found, json.loads(data)) == (status, body)


@pytest.mark.parametrize(
    ("told", "kind"),
    [
        (429, "rate_limit_error"),
        # Without a status, or with one that is none of a fault, no type is made up.
        (None, "RESOURCE_EXHAUSTED"),
        (200, "RESOURCE_EXHAUSTED"),
        (0, "RESOURCE_EXHAUSTED"),
    ],
)
def test_what_is_no_type_of_openai_s_is_the_code(told, kind):
    fault = ProviderError("Slow down", kind="RESOURCE_EXHAUSTED", status=told)
    status, body = format_error(fault, "openai-responses")
    assert status == 429
    assert json.loads(body)["error"] == {
        "message": "Slow down",
        "type": kind,
        "param": None,
        "code": "RESOURCE_EXHAUSTED",
    }
    with pytest.raises(ProviderError) as raised:
        decode(body, "openai-responses")
    assert raised.value.retryable


@pytest.mark.parametrize("kind", ["", "500"])
@pytest.mark.parametrize("dialect", Dialect)
def test_what_no_decoder_takes_for_a_name_is_not_said_as_one(kind, dialect):
    with pytest.raises(ProviderError) as raised:
        decode(format_error(ProviderError("m", kind=kind), dialect)[1], dialect)
    assert raised.value.kind == "error"


def test_what_cannot_be_written_is_refused():
    with pytest.raises(ValueError, match="no dialect"):
        format_error(ProviderError("m", kind="k"), "klingon")
    with pytest.raises(UnicodeEncodeError):
        format_error(ProviderError("\ud800", kind="k"), "gemini")
    with pytest.raises(OverflowError):
        format_error(ProviderError("m", kind="k", status=2**20), "gemini")
