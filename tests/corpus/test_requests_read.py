"""Every recorded request can be read back: whole, and its history alone."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from tests.corpus.requests import recorded_requests
from tests.corpus.streams import NoCorpusError
from tests.support.building import MESSAGES

import turntape
from turntape import Dialect, Message, ModelRequest
from turntape.wire.inbound.detect import request_dialect

if TYPE_CHECKING:
    from tests.corpus.requests import Recorded

pytestmark = pytest.mark.corpus


@pytest.fixture(scope="module")
def requests() -> list[Recorded]:
    """Those of the wires that turntape speaks."""
    try:
        return [request for request in recorded_requests() if request.dialect is not None]
    except NoCorpusError as error:
        pytest.skip(str(error))


def test_every_request_can_be_read(requests):
    faults: list[str] = []
    for recorded in requests:
        try:
            request = turntape.from_request(recorded.data, recorded.dialect, model=recorded.model)
        except turntape.InvalidRequest as error:
            faults.append(f"{recorded.name}: {error}")
            continue
        assert request.messages, recorded.name
        assert ModelRequest.from_dict(request.to_dict()) == request, recorded.name
    assert not faults


def test_every_history_can_be_read(requests):
    for recorded in requests:
        history = recorded.body[MESSAGES[recorded.dialect]]
        if not isinstance(history, list):
            continue  # Responses takes a text in its place
        messages = turntape.from_provider_messages(history, recorded.dialect)
        assert all(isinstance(message, Message) for message in messages), recorded.name


def test_the_dialect_is_told_rightly_or_not_at_all(requests):
    told: Counter[Dialect] = Counter()
    for recorded in requests:
        try:
            dialect = request_dialect(recorded.data)
        except turntape.UnknownDialect:
            continue
        assert dialect == recorded.dialect, recorded.name
        told[dialect] += 1
    assert set(told) == set(Dialect)
