"""Reading and building undo each other: what was built, read, and built again is the same.

The conversation is the same bytes. Elsewhere in a body the members may stand in another order, where a
wire says what a request has no field for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.building import MESSAGES
from tests.support.histories import broken_histories, histories, wild_histories
from tests.support.model_requests import MODELS, for_model, model_requests
from tests.support.requests import options_of, request_of
from tests.support.vectors import cases

import turntape
from turntape import Dialect, ModelRequest, TurntapeError, build_request
from turntape.wire.inbound.raw import Raw

if TYPE_CHECKING:
    from tests.support.vectors import Case

    from turntape import BuiltRequest, ReplayNote

models = st.fixed_dictionaries(
    {dialect: st.sampled_from(names) for dialect, names in MODELS.items()}
)
few = settings(max_examples=40)


def read_again(built: BuiltRequest, dialect: Dialect, model: str, **options: Any) -> BuiltRequest:
    notes: list[ReplayNote] = []
    request = turntape.from_request(built.to_json(), dialect, model=model, notes=notes)
    # What reading could not keep, it says: marks inside the tools, or inside a turn of the model's.
    assert {note.code for note in notes} <= {"cache_control_dropped"}
    return build_request(request, dialect, **options) if not notes else built


def same(built: BuiltRequest, again: BuiltRequest, dialect: Dialect) -> None:
    assert again.body == built.body, dialect
    assert conversation(again, dialect) == conversation(built, dialect), dialect


def conversation(built: BuiltRequest, dialect: Dialect) -> str:
    """The text of the messages in a body."""
    return Raw(built.to_json().decode()).members()[MESSAGES[dialect]].text


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize(
    "case", [pytest.param(case, id=case["name"]) for case in cases("requests.json")]
)
def test_bodies_of_the_vectors(case: Case, dialect: Dialect):
    options = {
        name: value for name, value in options_of(case).items() if name != "on_prefix_change"
    }
    request = request_of(case, dialect.value)
    try:
        built = build_request(request, dialect, **options)
    except TurntapeError:
        return  # that it is refused is held elsewhere
    if case["name"] == "paused-turn-is-sent-last":
        # Nothing in a body says that its last turn was paused.
        options["repair"] = "repair"
        if dialect is Dialect.ANTHROPIC:
            return
    again = read_again(built, dialect, request.model, **options)
    same(built, again, dialect)


def holds(request: ModelRequest, model_of: dict[Dialect, str], **options: Any) -> None:
    for dialect in Dialect:
        model = model_of[dialect]
        try:
            built = build_request(for_model(request, model), dialect, **options)
        except TurntapeError:
            continue
        if options:
            # What repair leaves may lead with a system message, which the next request has in its place.
            built = read_again(built, dialect, model, **options)
        again = read_again(built, dialect, model, **options)
        same(built, again, dialect)


@few
@given(model_requests(histories()), models)
def test_any_body_that_was_built(request_, model_of):
    holds(request_, model_of)


@few
@given(model_requests(broken_histories()), models)
def test_any_body_that_was_repaired(request_, model_of):
    holds(request_, model_of, repair="repair")


@few
@given(model_requests(wild_histories()), models)
def test_any_body_of_a_wild_history(request_, model_of):
    holds(request_, model_of, repair="repair")


@few
@given(histories(), models)
def test_a_history_alone(history, model_of):
    for dialect in Dialect:
        model = model_of[dialect]
        try:
            built = build_request(ModelRequest(model, history, max_tokens=4096), dialect)
        except TurntapeError:
            continue
        text = conversation(built, dialect)
        read = turntape.from_provider_messages(text, dialect, model=model)
        again = build_request(ModelRequest(model, read, max_tokens=4096), dialect)
        assert conversation(again, dialect) == text, dialect
