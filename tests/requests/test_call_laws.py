"""Ids, names and arguments of calls: laws, over generated histories."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.building import body_of, built_for
from tests.support.histories import histories
from tests.support.history_parts import NAMES
from tests.support.model_requests import plain_request
from tests.support.read_bodies import answers_of, calls_of, uses_of

from turntape import Dialect, Message, ToolResult, ToolUse

pytest.importorskip("google.genai")

A, C, R, G, B = Dialect

few = settings(max_examples=50)


class TestIds:
    @few
    @given(histories(), st.sampled_from([A, C, R, B]))
    def test_map_is_what_was_sent(self, history, dialect):
        built = built_for(plain_request(history, dialect), dialect)
        uses = uses_of(history)
        sent = [call["id"] for call in calls_of(dialect, body_of(built))]
        assert len(sent) == len(uses)
        assert len(set(sent)) == len(sent)
        taken: Counter[str] = Counter()
        for use, id_ in zip(uses, sent, strict=True):
            assert built.id_map[use.id][taken[use.id]] == id_
            taken[use.id] += 1
        assert {id_: len(ids) for id_, ids in built.id_map.items()} == dict(taken)

    @few
    @given(histories(), st.sampled_from([A, C, R, B]))
    def test_valid_ids_are_untouched(self, history, dialect):
        pattern = {
            A: r"[A-Za-z0-9_-]{1,64}",
            C: r"[!-~]{1,40}",
            R: r"[!-~]{1,64}",
            B: r"[A-Za-z0-9_.:-]{1,64}",
        }[dialect]
        built = built_for(plain_request(history, dialect), dialect)
        for use in uses_of(history):
            if re.fullmatch(pattern, use.id):
                assert built.id_map[use.id][0] == use.id
        changed = any(id_ != sent for id_, ids in built.id_map.items() for sent in ids)
        assert changed == any(note.code == "id_mapped" for note in built.notes)

    @few
    @given(
        st.lists(
            st.one_of(st.text(max_size=70), st.text("ab.:_", max_size=3)),
            min_size=1,
            max_size=6,
        ),
        st.sampled_from([A, C, R, B]),
        st.sampled_from(["auto", "mistral"]),
        st.randoms(use_true_random=False),
    )
    def test_results_stay_with_their_calls(self, ids, dialect, vendor, random):
        """Each call says in its arguments what its result says, in whatever order the results come."""
        calls = [ToolUse(id_, "dim", json.dumps({"n": n})) for n, id_ in enumerate(ids)]
        results = [ToolResult(id_, f"answer {n}") for n, id_ in enumerate(ids)]
        if len(set(ids)) == len(ids):
            random.shuffle(results)
        history = [Message.user("q"), Message.assistant(calls), Message.user(results)]
        vendor = vendor if dialect is C else "auto"
        built = built_for(plain_request([*history, *history[1:]], dialect), dialect, vendor=vendor)
        body = body_of(built)
        answers = answers_of(dialect, body)
        sent = calls_of(dialect, body)
        assert len(sent) == 2 * len(ids)
        assert len(answers) == len(sent)
        for call in sent:
            given_: Any = call.get("arguments", call.get("input"))
            arguments: Any = json.loads(given_) if isinstance(given_, str) else given_
            assert answers[call["id"]] == f"answer {arguments['n']}"

    @few
    @given(st.lists(st.sampled_from(NAMES), min_size=1, max_size=6), st.sampled_from(list(Dialect)))
    def test_names_are_mapped_one_to_one(self, names, dialect):
        calls = [ToolUse(f"c{n}", name, "{}") for n, name in enumerate(names)]
        results = [ToolResult(f"c{n}", "r") for n in range(len(names))]
        history = [Message.user("q"), Message.assistant(calls), Message.user(results)]
        built = built_for(plain_request(history, dialect), dialect)
        sent = [call["name"] for call in calls_of(dialect, body_of(built))]
        pairs = set(zip(names, sent, strict=True))
        assert len(pairs) == len(set(names)) == len(set(sent))
        undone = [built.name_map.get(name, name) for name in sent]
        assert undone == names


def is_object(text: str) -> bool:
    try:
        value = json.loads(text, parse_int=str, parse_constant=lambda _: 1 / 0)
    except (ValueError, ZeroDivisionError, RecursionError):
        return False
    # What is nested deeper than arguments may be counts as none.
    return isinstance(value, dict) and levels_of(value) <= 128


def levels_of(value: Any) -> int:
    if isinstance(value, dict):
        value = list(value.values())
    return 1 + max(map(levels_of, value), default=0) if isinstance(value, list) else 0


def has_halves(text: str) -> bool:
    return re.search(r"[\ud800-\udfff]|\\u[dD][89a-fA-F]", text) is not None


class TestArguments:
    @few
    @given(histories(), st.sampled_from([A, G, B]))
    def test_objects_are_embedded_byte_for_byte(self, history, dialect):
        built = built_for(plain_request(history, dialect), dialect)
        data = built.to_json()
        at = 0
        for use in uses_of(history):
            # The calls are in order, so each is looked for behind the one before it.
            if is_object(use.arguments) and not has_halves(use.arguments):
                text = use.arguments.strip(" \n\r\t").encode()
                assert data.find(text, at) >= 0
                at = data.find(text, at) + len(text)
        replaced = any(
            not is_object(use.arguments) and use.arguments.strip() for use in uses_of(history)
        )
        assert replaced == any(note.code == "arguments_replaced" for note in built.notes)

    @few
    @given(histories(), st.sampled_from([C, R]))
    def test_strings_are_the_text_itself(self, history, dialect):
        built = built_for(plain_request(history, dialect), dialect)
        sent = [call["arguments"] for call in calls_of(dialect, body_of(built))]
        for use, text in zip(uses_of(history), sent, strict=True):
            if not use.arguments.strip():
                assert text == "{}"
            elif not has_halves(use.arguments):
                assert text == use.arguments
