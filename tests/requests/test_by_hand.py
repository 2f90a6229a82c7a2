"""What using it by hand found: what providers refuse, and what a host gets wrong."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.requests import MODELS

from turntape import (
    DELETE,
    Base64Source,
    CustomRecord,
    Dialect,
    Document,
    Image,
    InvalidRequest,
    Message,
    ModelRequest,
    RawTool,
    Reasoning,
    Text,
    Thinking,
    ToolChoice,
    ToolDef,
    ToolResult,
    ToolUse,
    UnsupportedContent,
    Video,
    build_request,
)

if TYPE_CHECKING:
    from turntape import (
        BuiltRequest,
    )

A, C, R, G, B = Dialect

CITED = Text("x", citations=('{"type":"char_location","cited_text":"a"}',))
PDF = base64.b64encode(b"%PDF-1.7 and more").decode()
GIF = base64.b64encode(b"GIF89a and more").decode()
OGG = base64.b64encode(b"OggS and more").decode()
ASK = Message.user("q")
DIM = ToolDef("dim", "Dims a lamp.", {"type": "object"})


def build(dialect: Dialect, *messages: Any, model: Any = None, **more: Any) -> BuiltRequest:
    fields = ModelRequest.__slots__
    asked: dict[str, Any] = {name: more.pop(name) for name in list(more) if name in fields}
    asked.setdefault("max_tokens", 4000)
    model = MODELS[dialect] if model is None else model
    return build_request(ModelRequest(model, messages or (ASK,), **asked), dialect, **more)


def codes(built: BuiltRequest) -> list[str]:
    return [note.code for note in built.notes]


class TestCitationsOfTheUsers:
    """Since 2026-10-21 the Messages API refuses them; in the model's turns they stay."""

    said = Message("user", (CITED,), dialect=A)
    answered = (
        ASK,
        Message.assistant([ToolUse("c1", "dim", "{}")]),
        Message("user", (ToolResult("c1", (CITED,)),), dialect=A),
    )

    @pytest.mark.parametrize("history", [(said,), answered])
    def test_left_out_with_a_note(self, history):
        built = build(A, *history)
        assert codes(built) == ["content_unsupported"]
        assert b"citations" not in built.to_json()

    @pytest.mark.parametrize("history", [(said,), answered])
    def test_kept_in_the_version_that_takes_them(self, history):
        built = build(A, *history, api_version="2023-06-01")
        assert not built.notes
        assert b"cited_text" in built.to_json()

    def test_kept_in_the_turns_of_the_models(self):
        built = build(A, ASK, Message("assistant", (CITED,), dialect=A), ASK)
        assert not built.notes
        assert b"cited_text" in built.to_json()


class TestThinkingThatIsOff:
    @pytest.mark.parametrize("reasoning", [Reasoning(effort="none"), Reasoning(budget_tokens=0)])
    @pytest.mark.parametrize(
        ("dialect", "model", "pointer"),
        [
            (C, "gpt-5.2", ("temperature",)),
            (R, "gpt-5.2", ("temperature",)),
            (B, "anthropic.claude-sonnet-4-5-20250929-v1:0", ("inferenceConfig", "temperature")),
        ],
    )
    def test_leaves_the_temperature(self, dialect, model, pointer, reasoning):
        found: Any = build(dialect, model=model, reasoning=reasoning, temperature=0.5).body
        for name in pointer:
            found = found[name]
        assert found == 0.5

    @pytest.mark.parametrize("dialect", [C, R])
    def test_needs_no_word_where_a_model_thinks_only_when_told(self, dialect):
        model = "anthropic/claude-sonnet-4.5"
        options: dict[str, Any] = {"vendor": "openrouter", "unsupported": "error"}
        built = build(dialect, model=model, reasoning=Reasoning(effort="none"), **options)
        assert not built.notes
        with pytest.raises(InvalidRequest, match="switched off"):
            build(dialect, model="o3", reasoning=Reasoning(effort="none"), unsupported="error")

    def test_a_summary_alone_makes_no_model_think(self):
        body = build(R, model="gpt-5.2", reasoning=Reasoning(summary="auto"), temperature=0.5).body
        assert body["temperature"] == 0.5

    @pytest.mark.parametrize("dialect", [C, R])
    def test_an_effort_does(self, dialect):
        built = build(dialect, model="gpt-5.2", reasoning=Reasoning("low"), temperature=0.5)
        assert codes(built) == ["parameter_dropped"]


class TestEffortOnBedrock:
    def test_a_model_that_thinks_only_when_told_is_told(self):
        model = "anthropic.claude-opus-4-7"
        body = build(B, model=model, reasoning=Reasoning(effort="max")).body
        assert body["outputConfig"] == {"effort": "max"}
        assert body["additionalModelRequestFields"] == {"thinking": {"type": "adaptive"}}

    @pytest.mark.parametrize("model", ["anthropic.claude-sonnet-5", "amazon.nova-pro-v1:0"])
    def test_others_are_not(self, model):
        body = build(B, model=model, reasoning=Reasoning(effort="high")).body
        assert "additionalModelRequestFields" not in body


def test_a_tool_of_bedrocks_own_may_have_any_name():
    tool = RawTool(B, '{"systemTool":{"name":{"a":1}}}')
    assert build(B, tools=[tool]).body["toolConfig"]["tools"] == [
        {"systemTool": {"name": {"a": 1}}}
    ]


@pytest.mark.parametrize("dialect", list(Dialect))
def test_a_message_whose_results_moved_was_not_empty(dialect):
    history = [
        ASK,
        Message.assistant([ToolUse("c1", "dim", "{}")]),
        Message.user("meanwhile"),
        Message.tool_result("c1", "r"),
    ]
    built = build(dialect, *history, tools=[DIM], repair="repair")
    assert codes(built)[-1:] == ["late_result_moved"]
    assert "empty_text_dropped" not in codes(built)


class TestForcedCallsOnBedrock:
    """A Claude model that is told to think may not be forced to call, whoever serves it."""

    forced = ToolChoice("required")

    @pytest.mark.parametrize(
        ("model", "reasoning"),
        [
            ("anthropic.claude-sonnet-4-5-20250929-v1:0", Reasoning(budget_tokens=2048)),
            ("anthropic.claude-opus-4-7", Reasoning(effort="high")),
        ],
    )
    def test_left_out_while_it_thinks(self, model, reasoning):
        options: dict[str, Any] = {"model": model, "tools": [DIM], "tool_choice": self.forced}
        built = build(B, reasoning=reasoning, **options)
        assert codes(built) == ["parameter_dropped"]
        assert "toolChoice" not in built.body["toolConfig"]
        off = build(B, reasoning=Reasoning(effort="none"), **options)
        assert off.body["toolConfig"]["toolChoice"] == {"any": {}}


class TestDropBlock:
    """A model that thinks by default can be asked to drop blocks where nothing is said of thinking."""

    model = "claude-opus-5-5"
    turn = Message.assistant([Thinking("one", "QQ=="), Text("b")], model=model)

    def edited(self, **more: Any) -> BuiltRequest:
        before = build(A, ASK, self.turn, ASK, model=self.model).prefix_digests
        return build(
            A,
            Message.user("p"),
            self.turn,
            ASK,
            model=self.model,
            previous=before,
            on_prefix_change="drop_block",
            **more,
        )

    def test_asked_for_where_nothing_is_said(self):
        built = self.edited()
        binding = {"prefix_mismatch_behavior": "drop_block"}
        assert built.body["thinking"] == {"type": "adaptive", "block_binding": binding}
        assert built.headers["anthropic-beta"] == "thinking-binding-controls-2026-08-01"
        assert b"QQ==" in built.to_json()

    def test_left_out_here_where_thinking_is_to_be_off(self):
        built = self.edited(reasoning=Reasoning(effort="none"))
        assert "anthropic-beta" not in built.headers
        assert b"QQ==" not in built.to_json()


class TestDeletingWhatIsNotThere:
    @pytest.mark.parametrize("extra", [{"thinking": {"type": DELETE}}, {"a": {"b": {"c": DELETE}}}])
    def test_makes_nothing(self, extra):
        assert build(A, extra=extra).to_json() == build(A).to_json()

    def test_does_not_replace_a_text(self):
        assert build(A, system="s", extra={"system": {"a": DELETE}}).body["system"] == "s"

    def test_an_empty_object_is_still_merged(self):
        assert build(A, extra={"a": {}}).body["a"] == {}


class TestMediaOfAnotherKind:
    @pytest.mark.parametrize(
        "block",
        [
            Image(Base64Source(PDF, "image/png")),
            Document(Base64Source(GIF, "application/pdf")),
            Video(Base64Source(GIF, "video/mp4")),
        ],
    )
    def test_refused(self, block):
        with pytest.raises(UnsupportedContent, match="the bytes are"):
            build(G, Message.user([block]), model="gemini-3-pro-preview")

    def test_a_text_stands_in_under_repair(self):
        built = build(A, Message.user([Image(Base64Source(PDF, "image/png"))]), repair="repair")
        assert codes(built) == ["image_placeholder"]

    def test_a_text_may_begin_with_anything(self):
        assert not build(A, Message.user([Document(Base64Source(OGG, "text/plain"))])).notes


class TestWrongTypes:
    wrong: Any = None

    @pytest.mark.parametrize("dialect", list(Dialect))
    @pytest.mark.parametrize(
        "block",
        [Text(wrong), ToolUse("c1", "dim", {"n": 1}), ToolUse("c1", wrong), "text", {}],  # type: ignore[arg-type]
    )
    def test_a_block_is_named(self, dialect, block):
        history = (ASK, Message("assistant", (Text("a"), block)), ASK)
        with pytest.raises(InvalidRequest) as caught:
            build(dialect, *history, repair="repair")
        assert (caught.value.index, caught.value.block) == (1, 1)

    def test_a_record_may_hold_anything(self):
        assert not build(A, CustomRecord("note", object()), ASK).notes
        with pytest.raises(InvalidRequest, match="message 1, block 0"):
            build(A, CustomRecord("note", object()), Message.user([Text(self.wrong)]))

    @pytest.mark.parametrize("dialect", list(Dialect))
    @pytest.mark.parametrize(
        "options",
        [
            {"max_tokens": True},
            {"max_tokens": 7.5},
            {"max_tokens": "7"},
            {"temperature": "1"},
            {"top_p": True},
            {"system": 5},
            {"tools": [{"name": "dim"}]},
            {"model": 5},
        ],
    )
    def test_a_parameter_is_named(self, dialect, options):
        with pytest.raises(InvalidRequest) as caught:
            build(dialect, **options)
        assert next(iter(options)) in str(caught.value)

    def test_a_role_that_there_is_not(self):
        role: Any = "tool"
        with pytest.raises(ValueError, match="tool_result"):
            Message(role, (Text("x"),))
