"""Strict mode: the first warning of the lenient run is the error of the strict one, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from tests.support.mutations import broken
from tests.support.outcome import check_sum, decode_whole
from tests.support.samples import call, chunk
from tests.support.turns import said

if TYPE_CHECKING:
    from tests.support.outcome import Outcome


def check_strict(body: bytes, wire: str) -> None:
    lenient = decode_whole(body, wire)
    strict = decode_whole(body, wire, strict=True)
    if not lenient.warnings:
        assert strict == lenient
        return
    if lenient.fault is not None:
        # A warning may belong to the failure itself.
        assert strict.fault is not None
        return
    if strict.fault is None:
        # What comes after the stop cannot fail the turn any more.
        assert strict == lenient
        before = decode_whole(body[: lenient.warnings[0].offset], wire)
        assert before.message.complete
        return
    assert strict.fault.kind == "StrictError"
    assert strict.fault.warning == lenient.warnings[0]
    assert strict.fault.offset == lenient.warnings[0].offset
    assert strict.message.warnings == lenient.warnings[:1]
    check_sum(strict)
    check_kept(strict, body, wire)


def check_kept(strict: Outcome, body: bytes, wire: str) -> None:
    """A strict failure keeps what any failure in its place would keep: nothing less, nothing more."""
    assert strict.fault is not None
    other = decode_whole(body[: strict.fault.offset] + b"\ndata: {]\n\n", wire)
    # Where the turn had ended, a malformed payload would not fail it.
    if other.fault is not None and other.fault.kind == "MalformedEvent":
        assert strict.events == other.events
        assert strict.message.content == other.message.content


@given(said())
def test_whole_turns(case):
    _, wire, stream = case
    check_strict(stream.body, wire)


@given(broken())
def test_broken_streams(case):
    check_strict(case[1], case[0])


STARTED = chunk(call("", id="call_1", name="weather"))
HALF = chunk({"content": "?"}).replace("?", "x\\ud83d")


@pytest.mark.parametrize("body", [STARTED + "data: ping\n\n", HALF + chunk({"content": "c"})])
def test_a_strict_failure_keeps_what_any_failure_keeps(body):
    outcome = decode_whole(body, "openai-chat", strict=True)
    check_kept(outcome, body.encode(), "openai-chat")
    check_sum(outcome)
    assert outcome.events[-1].type in {"tool_use_start", "text_delta"}
