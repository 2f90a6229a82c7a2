"""The same answers as the official clients, but for the differences that ``expected.toml`` explains."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.corpus.differences import CHECKS, OUTCOME, compare, expected, kinds
from tests.corpus.peers import Rejected
from tests.corpus.report import differences_table, failures_table, rejections_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.corpus.differences import Comparison
    from tests.corpus.streams import Stream

PAGE = Path(__file__).parents[2] / "docs" / "differences.md"


@pytest.mark.corpus
def test_answers_differ_only_where_it_is_known_why(recorded: Sequence[Stream]) -> None:
    rejections = {
        name: entry["error"] for entry in expected()["rejection"] for name in entry["streams"]
    }
    for stream in recorded:
        answer = compare(stream)
        if isinstance(answer, Rejected):
            assert rejections.get(stream.name) == answer.error, f"{stream.name}: {answer}"
            # A message, or a StreamError with what came before: `decoded` raises anything else.
            assert stream.decoded.message.content, stream.name
        else:
            assert stream.name not in rejections, f"{stream.name} is no longer rejected"
            for comparison in answer:
                check(comparison)


def check(comparison: Comparison) -> None:
    """Hold that the differences of a stream are those that are listed, and are what is claimed."""
    name = comparison.name
    left = set(comparison.fields)
    for kind in kinds():
        if name in kind.streams:
            assert kind.fields & comparison.fields, f"{name} no longer differs by {kind.name}"
            claim = CHECKS[kind.name](comparison.ours, comparison.theirs)
            assert claim, f"{name} differs, but not as {kind.name} claims: {comparison}"
            left -= kind.fields
    assert not left, f"{name} differs in {left}: {comparison}"


def test_each_kind_of_difference_is_checked_and_has_a_reason() -> None:
    listed = kinds()
    assert {kind.name for kind in listed} == set(CHECKS)
    for kind in listed:
        assert kind.why.endswith("."), kind.name
        assert kind.fields, kind.name
        assert OUTCOME not in kind.fields or len(kind.fields) == 1, kind.name
        assert len(set(kind.streams)) == len(kind.streams) > 0, kind.name
        for name in kind.streams:
            assert re.fullmatch(r"[\w/.-]+-[0-9a-f]{6}\.sse(#\d+)?", name), name


@pytest.mark.skipif(not PAGE.is_file(), reason="the documentation is not here")
def test_the_documentation_has_the_table_of_differences() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert differences_table() in page
    assert rejections_table() in page
    assert failures_table() in page
