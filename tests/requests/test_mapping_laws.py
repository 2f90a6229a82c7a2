"""Laws of ids, names and repairs, over inputs made to collide."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.building import built_for
from tests.support.histories import broken_histories
from tests.support.model_requests import plain_request

from turntape import Dialect, InvalidRequest, Message
from turntape.replay.mapping import FORMS_OF_IDS, FORMS_OF_NAMES, Distinct, ids_of_length
from turntape.replay.pairing import pair, repaired

if TYPE_CHECKING:
    from turntape.replay.mapping import Form

FORMS = [*FORMS_OF_IDS.values(), *FORMS_OF_NAMES.values(), ids_of_length(9, exact=True)]

PAIRING = {
    "missing_result_inserted",
    "orphan_result_dropped",
    "duplicate_result_dropped",
    "late_result_moved",
}


@st.composite
def colliding(draw: st.DrawFn) -> tuple[Form, list[str]]:
    """Texts for a form, among them what mapping earlier ones gives: nothing is harder to keep apart."""
    form = draw(st.sampled_from(FORMS))
    texts: list[str] = []
    is_derived: st.SearchStrategy[Any] = st.booleans()
    plain = st.one_of(
        st.text("ab.:_ é", max_size=4), st.text(max_size=90), st.text("k", min_size=60)
    )
    for _ in range(draw(st.integers(1, 12))):
        if texts and draw(is_derived):
            source = texts[draw(st.integers(0, len(texts) - 1))]
            texts.append(form.hashed(source, draw(st.integers(0, 2))))
        else:
            texts.append(draw(plain))
    return form, texts


@given(st.sampled_from(FORMS), st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,130}", fullmatch=True))
def test_identifiers_are_kept_where_the_pattern_of_the_form_takes_them(form, text):
    assert (Distinct(form).take(text) == text) == form.is_valid(text)


@given(colliding())
def test_uses_are_valid_and_distinct_and_never_depend_on_what_follows(drawn):
    form, texts = drawn
    distinct = Distinct(form)
    sent = [distinct.take(text) for text in texts]
    assert len(set(sent)) == len(sent)
    assert all(form.is_valid(one) for one in sent)
    for length in range(len(texts)):
        again = Distinct(form)
        assert [again.take(text) for text in texts[:length]] == sent[:length]
    seen: set[str] = set()
    for text, one in zip(texts, sent, strict=True):
        # What is valid stays, unless it was given to something before it.
        if form.is_valid(text) and text not in seen:
            assert one == text
        seen.add(one)


@given(colliding())
def test_what_is_reserved_is_never_given(drawn):
    form, texts = drawn
    reserved = tuple({form.hashed(text, 0) for text in texts})
    distinct = Distinct(form, reserved)
    assert not {distinct.take(text) for text in texts} & set(reserved)


def test_many_uses_of_one_id_take_linear_time():
    distinct = Distinct(FORMS_OF_IDS["anthropic"])
    assert len({distinct.take("c1") for _ in range(20_000)}) == 20_000


@given(broken_histories())
def test_repairing_what_was_repaired_changes_nothing(history):
    messages = [item for item in history if isinstance(item, Message)]
    once = repaired(messages)
    assert repaired(once) == once
    assert pair(enumerate(once))[1] == []


@settings(max_examples=60)
@pytest.mark.parametrize("dialect", list(Dialect))
@given(history=broken_histories())
def test_a_repaired_history_is_built_the_same(history, dialect):
    """What building mends on its way is what the mended history says, without a word on pairing."""
    messages: list[Any] = [item for item in history if isinstance(item, Message)]
    request = plain_request(messages, dialect)
    try:
        mended = built_for(request, dialect, repair="repair")
    except InvalidRequest:
        return
    again = built_for(replace(request, messages=repaired(messages)), dialect, repair="repair")
    assert again.to_json() == mended.to_json()
    assert not PAIRING & {note.code for note in again.notes}
