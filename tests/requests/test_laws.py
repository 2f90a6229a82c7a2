"""What holds of every request that is built, whatever the history: laws, over generated ones."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from typing import Any, get_args

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.support.body_rules import Target, rule_faults
from tests.support.building import body_of, built_for, faults_of
from tests.support.client_types import type_faults
from tests.support.histories import broken_histories, histories, wild_histories
from tests.support.model_requests import MODELS, model_requests, plain_request

from turntape import (
    BuiltRequest,
    Dialect,
    InvalidRequest,
    Message,
    ModelRequest,
    PairingError,
    ToolResult,
    ToolUse,
    TurntapeError,
    UnsupportedContent,
)
from turntape.wire.vendor_rows import VENDORS

pytest.importorskip("google.genai")

A, C, R, G, B = Dialect

# Every example is built for all dialects.
few = settings(max_examples=50)
models = st.fixed_dictionaries(
    {dialect: st.sampled_from(names) for dialect, names in MODELS.items()}
)


def named_models() -> dict[Dialect, list[str]]:
    """Give the models that the types of the official clients name."""
    from anthropic.types.model_param import ModelParam
    from openai.types.shared.chat_model import ChatModel

    claude = [str(name) for name in get_args(get_args(ModelParam)[0])]
    gpt = [str(name) for name in get_args(ChatModel)]
    assert len(claude) > 10
    assert len(gpt) > 50
    on_bedrock = [f"us.anthropic.{name}-v1:0" for name in claude]
    return {A: claude, B: on_bedrock, C: gpt, R: gpt}


def attempt(
    request: ModelRequest, dialect: Dialect, model: str | None = None, **options: Any
) -> BuiltRequest | TurntapeError:
    """Build a request, or give the error that refuses it; any other exception is a bug."""
    try:
        return built_for(request, dialect, model, **options)
    except TurntapeError as error:
        return error


class TestValidBodies:
    """Types, rules and bytes, for each dialect."""

    @few
    @given(model_requests(histories()), models)
    def test_history_in_order(self, request_, model_of):
        for dialect in Dialect:
            built = self.build(request_, dialect, model_of[dialect], "strict")
            faults = faults_of(built, request_, dialect, model_of[dialect])
            assert not faults, (dialect, model_of[dialect], faults, body_of(built))

    @few
    @given(model_requests(broken_histories()), models)
    def test_broken_history_is_repaired(self, request_, model_of):
        for dialect in Dialect:
            built = self.build(request_, dialect, model_of[dialect], "repair")
            faults = faults_of(built, request_, dialect, model_of[dialect])
            assert not faults, (dialect, model_of[dialect], faults, body_of(built))

    @few
    @given(model_requests(broken_histories()), models)
    def test_broken_history_is_valid_or_refused(self, request_, model_of):
        for dialect in Dialect:
            model = model_of[dialect]
            built = attempt(request_, dialect, model)
            if isinstance(built, PairingError):
                size = len(request_.messages)
                assert built.faults
                assert all(0 <= fault.index < size for fault in built.faults)
            elif not isinstance(built, InvalidRequest):
                assert isinstance(built, BuiltRequest)
                faults = faults_of(built, request_, dialect, model)
                assert not faults, (dialect, model, faults, body_of(built))

    @few
    @given(model_requests(wild_histories()), models, st.sampled_from(["strict", "repair"]))
    def test_anything_is_valid_or_refused(self, request_, model_of, repair):
        for dialect in Dialect:
            model = model_of[dialect]
            built = attempt(request_, dialect, model, repair=repair)
            if isinstance(built, TurntapeError):
                assert str(built)
                assert isinstance(built, (PairingError, InvalidRequest, UnsupportedContent))
                assert repair == "strict" or not isinstance(built, PairingError)
            else:
                faults = faults_of(built, request_, dialect, model)
                assert not faults, (dialect, model, faults, body_of(built))

    # Each example is built for some 240 models: none is made smaller, which would take minutes.
    @settings(max_examples=5, phases=[Phase.explicit, Phase.reuse, Phase.generate])
    @given(model_requests(broken_histories(max_parts=2)))
    def test_every_model_that_a_client_names_gets_what_it_takes(self, request_):
        """Whether each takes a prefill the table says; here it may."""
        for dialect, names in named_models().items():
            for name in names:
                built = built_for(request_, dialect, name, repair="repair")
                body = body_of(built)
                faults = type_faults(dialect, body, headers=built.headers)
                faults = faults or rule_faults(dialect, body, Target(prefill=True))
                assert not faults, (name, faults, body)

    @settings(max_examples=25)
    @given(model_requests(broken_histories()))
    def test_every_vendor_gets_what_it_takes(self, request_):
        for row in VENDORS:
            built = built_for(request_, C, vendor=row.vendor, repair="repair")
            faults = faults_of(built, request_, C, vendor=row.vendor)
            assert not faults, (row.vendor, faults, body_of(built))

    @staticmethod
    def build(request: ModelRequest, dialect: Dialect, model: str, repair: str) -> BuiltRequest:
        return built_for(request, dialect, model, repair=repair)


class TestRefused:
    @pytest.mark.parametrize("dialect", list(Dialect))
    @given(data=st.data())
    @settings(max_examples=30)
    def test_what_is_dropped_can_be_refused(self, dialect, data):
        request = data.draw(model_requests(histories()))
        built = built_for(request, dialect)
        dropped = [note for note in built.notes if note.code == "parameter_dropped"]
        if dropped:
            with pytest.raises(InvalidRequest):
                built_for(request, dialect, unsupported="error")
        else:
            again = built_for(request, dialect, unsupported="error")
            assert again.to_json() == built.to_json()

    @few
    @given(broken_histories())
    def test_strict_refuses_what_repair_pairs(self, history):
        """A repair of pairing is noted, and exactly then strict refuses."""
        codes = {
            "missing_result_inserted",
            "orphan_result_dropped",
            "duplicate_result_dropped",
            "late_result_moved",
        }
        for dialect in Dialect:
            request = plain_request(history, dialect)
            noted = {note.code for note in built_for(request, dialect, repair="repair").notes}
            match attempt(request, dialect):
                case PairingError():
                    assert noted & codes, dialect
                case BuiltRequest():
                    assert not noted & codes, dialect
                case error:
                    assert isinstance(error, InvalidRequest)
                    assert noted, dialect


class TestRepair:
    @few
    @given(histories())
    def test_nothing_is_repaired_that_is_whole(self, history):
        for dialect in Dialect:
            request = plain_request(history, dialect)
            strict = built_for(request, dialect)
            repaired = built_for(request, dialect, repair="repair")
            assert repaired.to_json() == strict.to_json()
            assert repaired.notes == strict.notes


class TestDeterminism:
    @few
    @given(model_requests(broken_histories()))
    def test_same_input_same_bytes(self, request_):
        copied = ModelRequest.from_dict(copy.deepcopy(request_.to_dict()))
        for dialect in Dialect:
            one = built_for(request_, dialect, repair="repair")
            two = built_for(copied, dialect, repair="repair")
            assert one.to_json() == one.to_json() == two.to_json()
            assert (one.path, one.headers) == (two.path, two.headers)
            assert (one.notes, one.id_map, one.name_map) == (two.notes, two.id_map, two.name_map)
            assert one.prefix_digests == two.prefix_digests

    def test_same_bytes_in_every_process(self):
        """Nothing depends on the order of a set."""
        calls = [ToolUse(f"a.{n}", f"dim.{n}", "{}") for n in range(40)]
        results = [ToolResult(f"a.{n}", "r") for n in range(40)]
        history = [Message.user("q"), Message.assistant(calls), Message.user(results)]
        request = json.dumps(plain_request(history, A).to_dict())
        program = (
            "import sys, json, turntape\n"
            "request = turntape.ModelRequest.from_dict(json.loads(sys.stdin.read()))\n"
            "for dialect in turntape.Dialect:\n"
            "    sys.stdout.buffer.write(turntape.build_request(request, dialect).to_json())\n"
        )
        outputs = {
            subprocess.run(
                [sys.executable, "-c", program],
                input=request.encode(),
                capture_output=True,
                check=True,
                env={**os.environ, "PYTHONHASHSEED": seed},
            ).stdout
            for seed in ("1", "2", "3")
        }
        assert len(outputs) == 1

    @few
    @given(model_requests(broken_histories()))
    def test_input_is_not_changed(self, request_):
        before = copy.deepcopy(request_)
        for dialect in Dialect:
            built = built_for(request_, dialect, repair="repair")
            data = built.to_json()
            scribble(built.body)
            assert built.to_json() == data
        assert request_ == before


def scribble(value: Any) -> None:
    """Write into every list and object."""
    if isinstance(value, dict):
        for inner in value.values():
            scribble(inner)
        value["scribble"] = True
    elif isinstance(value, list):
        for inner in value:
            scribble(inner)
        value.append("scribble")
