"""What was built is read back, and building it again changes nothing: laws, over generated histories."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support import raw_json
from tests.support.building import MESSAGES, built_for, long_integers
from tests.support.histories import broken_histories, histories
from tests.support.model_requests import MODELS, model_requests

from turntape import Dialect, build_request, from_request

if TYPE_CHECKING:
    from turntape import BuiltRequest

pytest.importorskip("google.genai")

PAIRING = {
    "missing_result_inserted",
    "orphan_result_dropped",
    "duplicate_result_dropped",
    "late_result_moved",
}
models = st.fixed_dictionaries(
    {dialect: st.sampled_from(names) for dialect, names in MODELS.items()}
)


def again(built: BuiltRequest, dialect: Dialect, model: str) -> BuiltRequest:
    """Read what was built and build it again, as it is."""
    return build_request(from_request(built.to_json(), dialect, model=model), dialect)


def values(built: BuiltRequest) -> Any:
    """Give what the receiver reads; of parameters the order is open."""
    with long_integers():
        return json.loads(built.to_json())


def conversation(built: BuiltRequest, dialect: Dialect) -> list[str]:
    """Give the messages as their bytes."""
    members = raw_json.members(built.to_json().decode())
    return raw_json.entries(members[MESSAGES[dialect]])


@settings(max_examples=40)
@given(model_requests(histories(), stable=True), models)
def test_reading_and_building_is_identity(request_, model_of):
    for dialect in Dialect:
        built = built_for(request_, dialect, model_of[dialect])
        twice = again(built, dialect, model_of[dialect])
        assert conversation(twice, dialect) == conversation(built, dialect), dialect
        assert values(twice) == values(built), dialect


@settings(max_examples=40)
@given(model_requests(broken_histories(), stable=True), models)
def test_repair_is_idempotent(request_, model_of):
    """What was repaired is whole: built again it needs no repair, and stays as it is from then on."""
    for dialect in Dialect:
        model = model_of[dialect]
        repaired = built_for(request_, dialect, model, repair="repair")
        twice = again(repaired, dialect, model)
        assert not PAIRING & {note.code for note in twice.notes}, dialect
        thrice = again(twice, dialect, model)
        assert conversation(thrice, dialect) == conversation(twice, dialect), dialect
        assert values(thrice) == values(twice), dialect
