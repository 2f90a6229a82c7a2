"""Recorded requests, read and built again: the same for their own wire, valid for the others."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tests.corpus.request_differences import KINDS
from tests.corpus.request_report import differences_table
from tests.corpus.request_trips import Refused, Trip, abroad, home
from tests.corpus.requests import recorded_requests
from tests.corpus.streams import NoCorpusError
from tests.support.body_rules import Target, rule_faults
from tests.support.client_types import type_faults

from turntape import Dialect, InvalidRequest, PairingError, UnsupportedContent

pytest.importorskip("google.genai")

PAGE = Path(__file__).parents[2] / "docs" / "request-differences.md"

# The requests that cannot be sent as they are, by the end of their names.
REFUSED = {
    # Made to show what the API says to a call without its result.
    "tools-call-with-tool-result": PairingError,
    # The recording's second half: it ends with the answer.
    "lingua__chat-completions-response-streaming": InvalidRequest,
}


@pytest.fixture(scope="module")
def requests():
    try:
        return [request for request in recorded_requests() if request.dialect is not None]
    except NoCorpusError as error:
        pytest.skip(str(error))


@pytest.mark.corpus
def test_the_own_wire_gets_the_same_request(requests):
    used: set[str] = set()
    refused = []
    for request in requests:
        trip = home(request)
        if isinstance(trip, Refused):
            refused.append(request.name)
            assert any(
                part in request.name and isinstance(trip.error, error)
                for part, error in REFUSED.items()
            ), (request.name, trip.error)
        else:
            assert isinstance(trip, Trip)
            assert trip.is_explained, (request.name, trip.expected, trip.built)
            used.update(trip.kinds)
    assert len(refused) <= 2
    assert used == {kind.name for kind in KINDS}, "a kind that no longer occurs"


@pytest.mark.corpus
@pytest.mark.parametrize("dialect", list(Dialect))
def test_the_other_wires_get_a_valid_request(requests, dialect):
    built = 0
    for request in requests:
        if request.dialect is dialect:
            continue
        answer = abroad(request, dialect)
        if isinstance(answer, Refused):
            # A provider's own tool, a name that this wire has no way to say.
            assert isinstance(answer.error, (UnsupportedContent, InvalidRequest)), request.name
        else:
            assert answer == [], (request.name, answer)
            built += 1
    assert built > 300


# What the checks demand of what is built, though the providers took these requests without it.
OWN_DEMANDS = (
    "content is null where there is no text",
    "nothing is to be kept",
    "the encrypted content is asked for",
    "strict is not written",
    "a call's item id without its reasoning item",
    "reasoning without its encrypted content",
    "reasoning that nothing of its turn follows",
    "an output or an error",
    "there is none",
    "the text is empty",
    "the text is blank",
    "speaks twice",
    "stand in the path",
)
# One vendor makes longer ids of calls than OpenAI takes, and one request was made to see what the API says to
# a call without its result.
BEYOND = {
    "is not of .{1,40}": 1,
    "has no result right after it": 1,
    "has no call right before it": 1,
}


@pytest.mark.corpus
def test_the_rules_are_no_stricter_than_the_providers(requests):
    """What providers took breaks no rule, but for what building demands of itself."""
    checked = 0
    broken: Counter[str] = Counter()
    for request in requests:
        # Bodies that the types refuse are another matter, and requests that failed prove nothing.
        is_text = isinstance(request.body.get("input"), str)
        is_error = request.name.startswith("errors/")
        if is_text or is_error or type_faults(request.dialect, request.body):
            continue
        checked += 1
        faults = rule_faults(request.dialect, request.body, Target(prefill=True))
        unexplained = [f for f in faults if not any(demand in f for demand in OWN_DEMANDS)]
        for part in BEYOND:
            broken[part] += any(part in fault for fault in unexplained)
        rest = [f for f in unexplained if not any(part in f for part in BEYOND)]
        assert not rest, (request.name, rest)
    assert checked > 500
    assert broken == Counter(BEYOND)


def test_every_kind_has_a_reason():
    names = [kind.name for kind in KINDS]
    assert len(set(names)) == len(names) > 40
    for kind in KINDS:
        assert kind.why.endswith("."), kind.name


@pytest.mark.skipif(not PAGE.is_file(), reason="the documentation is not here")
def test_the_documentation_lists_every_kind():
    assert differences_table() in PAGE.read_text(encoding="utf-8")
