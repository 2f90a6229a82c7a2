"""Strict mode: the first warning of the lenient run is the error of the strict one, and nothing else."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from tests.support.mutations import broken
from tests.support.outcome import check_sum, decode_whole
from tests.support.turns import said


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
    assert strict.fault is not None
    assert strict.fault.kind == "StrictError"
    assert strict.fault.warning == lenient.warnings[0]
    assert strict.fault.offset == lenient.warnings[0].offset
    assert strict.message.warnings == lenient.warnings[:1]
    check_sum(strict)
    check_prefix(strict, lenient)


def check_prefix(strict, lenient) -> None:
    """What came before the warning came in the lenient run as well."""
    # What waited goes out before the failure: a half surrogate as U+FFFD, a call's start.
    common = [
        event for event, other in zip(strict.events, lenient.events, strict=False) if event == other
    ]
    late = strict.events[len(common) :]
    assert strict.events[: len(common)] == lenient.events[: len(common)]
    assert all(
        event.type
        in {
            "tool_use_start",
            "text_delta",
            "thinking_delta",
            "input_json_delta",
            "signature_delta",
            "extension",
        }
        for event in late
    )
    assert replace(strict.message, content=()).id == lenient.message.id or not strict.events


@given(said())
def test_whole_turns(case):
    _, wire, stream = case
    check_strict(stream.body, wire)


@given(broken())
def test_broken_streams(case):
    check_strict(case[1], case[0])
