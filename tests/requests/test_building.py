"""The rules of building that the vectors leave open, one by one."""

from __future__ import annotations

import base64
import copy
import gc
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.requests import MODELS, assert_begins_with

from turntape import (
    DELETE,
    AssistantMessage,
    Audio,
    Base64Source,
    CachePolicy,
    Dialect,
    Document,
    Image,
    InvalidRequest,
    Message,
    ModelRequest,
    PairingError,
    PathSource,
    ProviderBlock,
    RawTool,
    Reasoning,
    RedactedThinkingBlock,
    ReplayTexts,
    ResponseFormat,
    Text,
    Thinking,
    ToolChoice,
    ToolDef,
    ToolResult,
    ToolUse,
    UnsupportedContent,
    UrlSource,
    VendorHabits,
    build_request,
    decode_message,
)
from turntape.wire.outbound.writer import Writer

if TYPE_CHECKING:
    from turntape import (
        BuiltRequest,
    )

A, C, R, G, B = Dialect

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGOoBwAAgQCA05RTSgAAAABJRU5ErkJggg=="
PICTURE = Image(Base64Source(PNG, "image/png"))
PDF = base64.b64encode(b"%PDF-1.7\n").decode()
CLAUDE = "claude-opus-4-7"
TOOL = ToolDef("dim", "Dims a lamp.", {"type": "object"})


def build(dialect: Dialect, *messages: Message, **more: Any) -> BuiltRequest:
    """Build; the options of a request go to it, the rest to building."""
    fields = ModelRequest.__slots__
    asked: dict[str, Any] = {name: more.pop(name) for name in list(more) if name in fields}
    asked.setdefault("model", MODELS[dialect])
    asked.setdefault("max_tokens", 256)
    return build_request(
        ModelRequest(messages=messages or (Message.user("q"),), **asked), dialect, **more
    )


def round_of(*calls: ToolUse, **more: Any) -> list[Message]:
    results = [ToolResult(call.id, "r") for call in calls]
    return [Message.user("q"), Message("assistant", calls, **more), Message.user(results)]


def codes(built: BuiltRequest) -> list[str]:
    return [note.code for note in built.notes]


class TestErrorsNameThePlace:
    @pytest.mark.parametrize("dialect", list(Dialect))
    @pytest.mark.parametrize(
        ("message", "block"),
        [
            (Message.user([Text("q"), ToolUse("c", "dim", "{}")]), 1),
            (Message.user([Thinking("t", "s")]), 0),
            (Message("assistant", (Text("a"), ToolResult("c", "r"))), 1),
            (Message("system", (Text("a"), PICTURE)), 1),
            (Message.user([Text("q"), Image(PathSource("a.png"))]), 1),
            (Message.user([Image(Base64Source("not base64!", "image/png"))]), 0),
        ],
    )
    def test_a_block_that_cannot_stand_there(self, dialect, message, block):
        with pytest.raises(InvalidRequest) as caught:
            build(dialect, Message.user("q"), Message.assistant("a"), message, Message.user("n"))
        assert (caught.value.index, caught.value.block) == (2, block)
        assert str(caught.value).startswith(f"message 2, block {block}: ")

    def test_an_extra_that_is_no_object(self):
        odd = Message("user", (Text("q"),), dialect=C, extra="[1]")
        with pytest.raises(InvalidRequest, match="message 0: the extra of the message"):
            build(C, odd)
        odd = Message("user", (Text("q", extra="oops"),), dialect=C)
        with pytest.raises(InvalidRequest, match="message 0, block 0: the extra of a text"):
            build(C, odd)

    def test_all_faults_of_pairing_at_once(self):
        history = [
            Message.user("q"),
            Message.assistant([ToolUse("a", "dim"), ToolUse("b", "dim"), ToolUse("c", "dim")]),
            Message.user([ToolResult("a", "1"), ToolResult("a", "2"), ToolResult("x", "3")]),
            Message.user("hm"),
            Message.user([ToolResult("b", "late")]),
        ]
        with pytest.raises(PairingError) as caught:
            build(A, *history)
        found = [(fault.kind, fault.index, fault.block, fault.id) for fault in caught.value.faults]
        assert found == [
            ("missing", 1, 2, "c"),
            ("duplicate", 2, 1, "a"),
            ("orphan", 2, 2, "x"),
            ("late", 4, 0, "b"),
        ]
        assert all(fault.repair for fault in caught.value.faults)
        for text in ("message 1, block 2", "message 4, block 0", "'x'"):
            assert text in str(caught.value)

    @pytest.mark.parametrize("dialect", list(Dialect))
    def test_a_request_without_messages(self, dialect):
        with pytest.raises(InvalidRequest, match="nothing"):
            build_request(ModelRequest("m", [], max_tokens=5), dialect)

    @pytest.mark.parametrize(
        ("fields", "text"),
        [
            ({"temperature": float("nan")}, "temperature"),
            ({"max_tokens": 0}, "max_tokens"),
            ({"tools": [TOOL, TOOL]}, "two tools"),
            ({"tools": [TOOL], "tool_choice": ToolChoice.tool("other")}, "'other'"),
            ({"tools": [ToolDef("dim", "", {"default": float("inf")})]}, "dim"),
            ({"tools": [ToolDef("dim", "", {"default": object()})]}, "dim"),
            ({"cache": CachePolicy(messages=(3,))}, "cache"),
            ({"model": ""}, "model"),
            ({"extra": {"a": float("nan")}}, "extra.a"),
            ({"extra": {"a": {"b": object()}}}, "extra.a.b"),
        ],
    )
    def test_a_parameter_that_cannot_be_sent(self, fields, text):
        with pytest.raises(InvalidRequest, match=text):
            build(C, **fields)

    def test_an_item_that_is_no_message(self):
        history: list[Any] = [Message.user("q"), {"role": "user", "content": "r"}]
        with pytest.raises(InvalidRequest, match="message 1: dict is no message"):
            build(C, *history)

    def test_an_option_that_does_not_exist(self):
        with pytest.raises(ValueError, match="repair is one of"):
            build(C, repair="mend")

    def test_a_tool_of_another_dialect(self):
        with pytest.raises(UnsupportedContent, match="openai-responses"):
            build(A, tools=[RawTool(R, '{"type":"web_search"}')])


class TestBody:
    @pytest.mark.parametrize("dialect", list(Dialect))
    def test_body_is_what_the_bytes_say(self, dialect):
        arguments = '{ "b" : 1.10, "a":12345678901234567890123 }'
        built = build(dialect, *round_of(ToolUse("c1", "dim", arguments)))
        assert json.loads(built.to_json()) == built.body
        assert built.to_json() is built.to_json()

    def test_messages_stand_last_so_that_requests_share_their_beginning(self):
        short, longer = (
            build(A, tools=[TOOL]),
            build(A, Message.user("q"), Message.assistant("a"), Message.user("n"), tools=[TOOL]),
        )
        common = short.to_json()[: short.to_json().index(b'"messages"')]
        assert longer.to_json().startswith(common)

    def test_boto3_gets_bytes(self):
        history = [
            Message.user([Text("see"), PICTURE, Document(Base64Source(PDF, "application/pdf"))]),
            Message.assistant(
                [RedactedThinkingBlock("b3Bh"), ToolUse("c", "snap", '{"bytes":"b3Bh"}')],
                model=CLAUDE,
            ),
            Message.user([ToolResult("c", (PICTURE,))]),
        ]
        model = "us.anthropic.claude-opus-4-7-v1:0"
        built = build(B, *history, model=model)
        arguments = built.to_boto3()
        assert arguments["modelId"] == model
        first, second, third = (message["content"] for message in arguments["messages"])
        assert first[1]["image"]["source"]["bytes"] == base64.b64decode(PNG)
        assert first[2]["document"]["name"]
        assert first[2]["document"]["source"]["bytes"] == b"%PDF-1.7\n"
        assert second[0]["reasoningContent"]["redactedContent"] == b"opa"
        assert second[1]["toolUse"]["input"] == {"bytes": "b3Bh"}
        inner = third[0]["toolResult"]["content"][0]
        assert inner["image"]["source"]["bytes"] == base64.b64decode(PNG)
        assert built.body["messages"][0]["content"][1]["image"]["source"]["bytes"] == PNG

    def test_only_bedrock_is_for_boto3(self):
        with pytest.raises(TypeError, match="bedrock"):
            build(A).to_boto3()

    def test_repr_says_nothing_of_the_content(self):
        built = build(A, Message.user("secret"), temperature=0.5)
        assert "secret" not in repr(built)
        assert "parameter_dropped" in repr(built)

    def test_a_prompt_is_put_into_the_cache_alone(self):
        assert build(A, max_tokens=0).body["max_tokens"] == 0

    def test_equal_requests(self):
        assert build(A) == build(A)
        assert build(A) != build(A, Message.user("other"))
        assert build(A) != "something else"

    def test_gemini_and_bedrock_without_stream(self):
        assert build(G, model="tunedModels/a b").path.startswith("/v1beta/tunedModels/a%20b:")
        assert build(G, stream=False).path == "/v1beta/models/gemini-2.5-flash:generateContent"
        assert build(B, stream=False).path == "/model/amazon.tern-1/converse"
        assert build(G, model="models/gemini-2.5-pro").path.startswith(
            "/v1beta/models/gemini-2.5-pro:"
        )


class TestExtra:
    def test_merged_at_any_depth_and_removed(self):
        extra = {
            "stream_options": {"include_usage": DELETE},
            "max_completion_tokens": DELETE,
            "nowhere": DELETE,
            "metadata": {"run": {"id": "7", "old": DELETE}},
            "stream": {"now": "an object"},
        }
        body = build(C, extra=extra).body
        assert body["stream_options"] == {}
        assert "max_completion_tokens" not in body
        assert "nowhere" not in body
        assert body["metadata"] == {"run": {"id": "7"}}
        assert body["stream"] == {"now": "an object"}

    def test_merged_into_a_schema_without_changing_it(self):
        schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
        form = ResponseFormat.json_schema("tide", schema)
        extra = {
            "response_format": {"json_schema": {"schema": {"properties": {"n": {"minimum": 0}}}}}
        }
        before = copy.deepcopy(extra)
        body = build(C, response_format=form, extra=extra).body
        merged = body["response_format"]["json_schema"]["schema"]
        assert merged["properties"]["n"] == {"type": "integer", "minimum": 0}
        assert schema["properties"] == {"n": {"type": "integer"}}
        assert extra == before

    def test_nested_too_deeply(self):
        extra: dict[str, Any] = {}
        for _ in range(100_000):
            extra = {"a": extra}
        with pytest.raises(InvalidRequest, match="deeply"):
            build(C, extra=extra)

    def test_deleting_inside_a_list_is_no_json(self):
        with pytest.raises(InvalidRequest, match=r"extra\.a"):
            build(C, extra={"a": [DELETE]})


class TestSurrogates:
    @pytest.mark.parametrize("dialect", list(Dialect))
    def test_replaced_and_noted_wherever_they_are(self, dialect):
        half = "x\ud83d"
        history = [
            Message.system(half),
            Message.user(half),
            Message.assistant([Text(half), ToolUse(half, half, '{"a":"' + half + '"}')]),
            Message.user([ToolResult(half, half), Text("n")]),
        ]
        built = build(
            dialect,
            *history,
            system=half,
            stop=[half],
            tools=[ToolDef("dim", half, {"type": "object", "title": half})],
            extra={"metadata": {half: half}},
        )
        text = built.to_json().decode()
        assert "ud83d" not in text.lower()
        assert codes(built).count("surrogate_replaced") >= 6

    def test_replaced_in_signatures_too(self):
        blocks: list[Any] = [Thinking("t", "s\ud83d"), RedactedThinkingBlock("d\ud83d"), Text("a")]
        turn = Message.assistant(blocks, model=CLAUDE)
        built = build(A, Message.user("q"), turn, Message.user("n"))
        assert codes(built) == ["surrogate_replaced", "surrogate_replaced"]

    def test_a_whole_pair_is_joined(self):
        built = build(A, Message.user("\ud83d\ude00"))
        assert built.body["messages"][0]["content"][0]["text"] == "\U0001f600"


class TestTexts:
    def test_every_text_is_the_hosts_to_choose(self):
        texts = ReplayTexts(
            error_prefix="FEHLER: ",
            missing_result="nichts",
            system_open="<<",
            system_close=">>",
            opening="los",
            closing="weiter",
            media_lead="zu {id}",
        )
        history = [
            Message.assistant([ToolUse("c1", "dim")]),
            Message.assistant([ToolUse("c2", "dim")]),
            Message.user([ToolResult("c2", (Text("no"), PICTURE), is_error=True)]),
            Message.system("S"),
            Message.assistant("end"),
        ]
        claude = build(A, *history, model=CLAUDE, repair="repair", texts=texts).body["messages"]
        said = json.dumps(claude)
        for text in ("los", "nichts", "<<\\nS\\n>>", "weiter"):
            assert text in said
        chat = json.dumps(build(C, *history, repair="repair", texts=texts).body)
        assert "FEHLER: no" in chat
        assert "zu c2" in chat

    @pytest.mark.parametrize("text", ["", "  ", "x\ud83d"])
    def test_a_text_that_no_provider_would_take(self, text):
        with pytest.raises(ValueError, match="closing"):
            ReplayTexts(closing=text)


class TestSystem:
    def test_blocks_where_the_wire_takes_them_else_joined(self):
        system = (Text("One."), Text("Two."))
        assert build(A, system=system).body["system"] == [
            {"type": "text", "text": "One."},
            {"type": "text", "text": "Two."},
        ]
        assert build(B, system=system).body["system"] == [{"text": "One."}, {"text": "Two."}]
        assert build(R, system=system).body["instructions"] == "One.\n\nTwo."
        assert build(G, system=system).body["systemInstruction"]["parts"] == [
            {"text": "One."},
            {"text": "Two."},
        ]

    def test_the_role_that_the_model_wants(self):
        history = [Message.user("a"), Message.system("S"), Message.user("b")]
        messages = build(C, *history, system="s", model="gpt-5.2").body["messages"]
        assert [message["role"] for message in messages] == [
            "developer",
            "user",
            "developer",
            "user",
        ]
        messages = build(C, *history, system="s", vendor="groq").body["messages"]
        assert [message["role"] for message in messages] == ["system", "user", "system", "user"]

    def test_in_place_on_recent_claude_behind_the_user(self):
        history = [
            Message.user("a"),
            Message.system("S"),
            Message.assistant("b"),
            Message.user("c"),
        ]
        built = build(A, *history)
        roles = [message["role"] for message in built.body["messages"]]
        assert roles == ["user", "system", "assistant", "user"]
        assert not built.notes

    def test_only_the_model_may_speak_behind_it(self):
        history = [Message.user("a"), Message.system("S"), Message.user("b")]
        built = build(A, *history)
        roles = [message["role"] for message in built.body["messages"]]
        assert roles == ["user", "system", "assistant", "user"]
        assert codes(built) == ["placeholder_text"]
        assert_begins_with(built, build(A, *history[:2]))

    def test_moved_behind_the_model(self):
        history = [
            Message.user("a"),
            Message.assistant("b"),
            Message.system("S"),
            Message.user("c"),
        ]
        built = build(A, *history)
        assert codes(built) == ["system_moved"]
        assert [part["text"] for part in built.body["messages"][2]["content"]][1] == "c"


class TestEmptyMessages:
    @pytest.mark.parametrize("dialect", [A, B])
    def test_a_needed_message_says_that_it_is_empty(self, dialect):
        history = [
            Message.user("q"),
            Message.assistant("a"),
            Message.user(" "),
            Message.assistant("b"),
        ]
        built = build(dialect, *history, Message.user("n"))
        assert built.body["messages"][2]["content"][0]["text"] == "(no content)"
        assert "placeholder_text" in codes(built)

    def test_a_turn_of_which_nothing_is_left_is_left_out(self):
        history = [Message.user("q"), Message.assistant([Thinking("hm")]), Message.user("n")]
        for dialect in (A, G, B):
            built = build(dialect, *history)
            assert len(built.body["contents" if dialect is G else "messages"]) == 1
            assert codes(built) == ["reasoning_dropped", "messages_merged"]
        assert len(build(C, *history).body["messages"]) == 2

    def test_a_history_that_starts_with_the_model(self):
        history = [Message.assistant("a"), Message.user("n")]
        for dialect in (A, G, B):
            with pytest.raises(InvalidRequest, match="starts with"):
                build(dialect, *history)
            assert "placeholder_text" in codes(build(dialect, *history, repair="repair"))
        assert build(C, *history).body["messages"][0]["role"] == "assistant"


class TestThinking:
    def test_carried_never_and_always(self):
        turn = Message.assistant([Thinking("plan", "U0lH"), Text("ok")], model=CLAUDE)
        history = [Message.user("q"), turn, Message.user("n")]
        assert b"U0lH" in build(A, *history).to_json()
        assert b"U0lH" not in build(A, *history, carry_signatures="never").to_json()
        other = [Message.user("q"), replace(turn, model="quill-2"), Message.user("n")]
        assert b"U0lH" not in build(A, *other).to_json()
        assert b"U0lH" in build(A, *other, carry_signatures="always").to_json()

    def test_azure_signs_for_itself(self):
        proof = '{"encrypted_content":"RU5D","id":"rs_1"}'
        turn = Message(
            "assistant",
            (Thinking("", proof), Text("ok")),
            model="gpt-5.2",
            dialect=R,
            vendor="azure",
        )
        history = [Message.user("q"), turn, Message.user("n")]
        assert b"RU5D" in build(R, *history, model="gpt-5.2", vendor="azure").to_json()
        assert b"RU5D" not in build(R, *history, model="gpt-5.2").to_json()

    def test_what_was_read_back_goes_back_over_its_wire(self):
        turn = Message("assistant", (Thinking("plan", "U0lH"), Text("ok")), dialect=A)
        history = [Message.user("q"), turn, Message.user("n")]
        assert b"U0lH" in build(A, *history).to_json()
        assert b"U0lH" not in build(B, *history).to_json()

    def test_reasoning_behind_which_nothing_follows_goes_back_all_the_same(self):
        proof = '{"encrypted_content":"RU5D","id":"rs_1"}'
        turn = Message("assistant", (Thinking("", proof),), model="quill-r1", dialect=R)
        built = build(R, Message.user("q"), turn, Message.user("n"))
        assert [item["type"] for item in built.body["input"]] == ["message", "reasoning", "message"]
        assert not built.notes

    def test_item_ids_only_with_their_prefix_and_beside_reasoning(self):
        call = ToolUse("c1", "dim", "{}", extra='{"id":"fc_1"}')
        proof = '{"encrypted_content":"RU5D","id":"rs_1"}'
        alone = round_of(call, dialect=R)
        assert b"fc_1" not in build(R, *alone).to_json()
        beside = [alone[0], Message("assistant", (Thinking("", proof), call), dialect=R), alone[2]]
        assert b'"id":"fc_1"' in build(R, *beside).to_json()
        odd = replace(call, extra='{"id":"item-1"}')
        beside[1] = Message("assistant", (Thinking("", proof), odd), dialect=R)
        assert b"item-1" not in build(R, *beside).to_json()

    def test_signatures_of_calls_and_texts_elsewhere_are_noted(self):
        turn = Message(
            "assistant",
            (Text("a", ("{}",), "U0lH"), ToolUse("c1", "dim", "{}", "U0lH")),
            dialect=G,
            model="gemini-2.5-flash",
        )
        built = build(A, Message.user("q"), turn, Message.user([ToolResult("c1", "r")]))
        assert codes(built) == ["content_unsupported", "reasoning_dropped", "reasoning_dropped"]
        assert b"U0lH" not in built.to_json()
        own = build(G, Message.user("q"), turn, Message.user([ToolResult("c1", "r")])).body
        parts = own["contents"][1]["parts"]
        assert [part["thoughtSignature"] for part in parts] == ["U0lH", "U0lH"]


class TestPrefixChange:
    def history(self, first: str = "q") -> list[Message]:
        return [
            Message.user(first),
            Message.assistant([Thinking("one", "QQ=="), Text("a")], model=CLAUDE),
            Message.user("b"),
        ]

    def grown(self, first: str) -> list[Message]:
        turn = Message.assistant([Thinking("two", "Qg=="), Text("c")], model=CLAUDE)
        return [*self.history(first), turn, Message.user("d")]

    def test_what_was_dropped_stays_dropped_and_what_is_new_is_kept(self):
        before = build(A, *self.history(), model=CLAUDE)
        edited = build(A, *self.history("p"), model=CLAUDE, previous=before.prefix_digests)
        assert [(note.code, note.index) for note in edited.notes] == [
            ("prefix_changed", 0),
            ("reasoning_dropped", 1),
        ]
        after = build(A, *self.grown("p"), model=CLAUDE, previous=edited.prefix_digests)
        assert codes(after) == ["reasoning_dropped"]
        assert b"QQ==" not in after.to_json()
        assert b"Qg==" in after.to_json()
        assert_begins_with(after, edited)
        again = build(A, *self.grown("p"), model=CLAUDE, previous=after.prefix_digests)
        assert again.to_json() == after.to_json()

    def test_the_api_is_asked_where_the_body_can_say_it(self):
        before = build(A, *self.history(), model=CLAUDE).prefix_digests
        asked = build(
            A,
            *self.history("p"),
            model=CLAUDE,
            previous=before,
            on_prefix_change="drop_block",
            reasoning=Reasoning(effort="high"),
        )
        assert b"QQ==" in asked.to_json()
        binding = {"prefix_mismatch_behavior": "drop_block"}
        assert asked.body["thinking"]["block_binding"] == binding
        assert asked.headers["anthropic-beta"] == "thinking-binding-controls-2026-08-01"

    def test_else_it_is_left_out_here(self):
        before = build(A, *self.history(), model=CLAUDE).prefix_digests
        options = {"previous": before, "on_prefix_change": "drop_block"}
        built = build(A, *self.history("p"), model=CLAUDE, **options)
        assert b"QQ==" not in built.to_json()
        assert "anthropic-beta" not in built.headers

    def test_system_and_tools_are_part_of_the_prefix_and_marks_are_not(self):
        before = build(A, *self.history(), system="s", tools=[TOOL]).prefix_digests
        same = build(A, *self.history(), system="s", tools=[TOOL], cache=CachePolicy.auto())
        assert same.prefix_digests == before
        other = build(A, *self.history(), system="t", tools=[TOOL]).prefix_digests
        assert not set(other) & set(before)
        assert not set(build(A, *self.history(), system="s").prefix_digests) & set(before)

    def test_records_of_the_hosts_have_no_digest(self):
        from turntape import CustomRecord

        plain = build(A, *self.history()).prefix_digests
        mixed: list[Any] = [CustomRecord("note"), *self.history()]
        request = ModelRequest(MODELS[A], mixed, max_tokens=256)
        assert build_request(request, A).prefix_digests == plain


class TestMedia:
    def test_what_a_wire_has_no_place_for(self):
        sound = Message.user([Audio(Base64Source("SUQzBAAAAAAAAA==", "audio/mpeg"))])
        with pytest.raises(UnsupportedContent, match="audio"):
            build(A, sound)
        built = build(A, sound, repair="repair")
        assert codes(built) == ["image_placeholder"]
        part = build(C, sound).body["messages"][0]["content"][0]
        assert part["input_audio"]["format"] == "mp3"

    def test_a_document_has_a_name(self):
        document = Document(Base64Source(PDF, "application/pdf"))
        part = build(C, Message.user([document])).body["messages"][0]["content"][0]
        assert part["file"]["filename"] == "document.pdf"
        named = Message("user", (replace(document, extra='{"filename":"tides.pdf"}'),), dialect=C)
        part = build(C, named).body["messages"][0]["content"][0]
        assert part["file"]["filename"] == "tides.pdf"
        assert build(R, named).body["input"][0]["content"][0]["filename"] == "document.pdf"

    def test_plain_text_documents(self):
        text = base64.b64encode(b"Ebbe.").decode()
        document = Message.user([Document(Base64Source(text, "text/plain"))])
        source = build(A, document).body["messages"][0]["content"][0]["source"]
        assert source == {"type": "text", "media_type": "text/plain", "data": "Ebbe."}

    def test_a_url_of_a_document(self):
        document = Message.user([Document(UrlSource("https://tides.example/a.pdf"))])
        assert build(A, document).body["messages"][0]["content"][0]["source"]["type"] == "url"
        part = build(R, document).body["input"][0]["content"][0]
        assert part["file_url"] == "https://tides.example/a.pdf"
        with pytest.raises(UnsupportedContent, match="URL"):
            build(C, document)

    def test_where_a_model_takes_none_in_results_it_goes_behind_them(self):
        history = [
            Message.user("q"),
            Message.assistant([ToolUse("c1", "snap"), ToolUse("c2", "dim")]),
            Message.user([ToolResult("c1", (PICTURE,)), ToolResult("c2", "r"), Text("and?")]),
        ]
        built = build(G, *history)
        kinds = [next(iter(part)) for part in built.body["contents"][2]["parts"]]
        assert kinds == ["functionResponse", "functionResponse", "text", "inlineData", "text"]
        assert "media_moved" in codes(built)
        inside = build(G, *history, model="gemini-3-pro-preview").body["contents"][2]["parts"]
        assert "inlineData" in inside[0]["functionResponse"]["parts"][0]

    def test_usual_names_of_types(self):
        built = build(A, Message.user([Image(Base64Source("/9j/4AAQSkZJRg==", "image/jpg"))]))
        assert built.body["messages"][0]["content"][0]["source"]["media_type"] == "image/jpeg"
        assert codes(built) == ["media_type_corrected"]


class TestVendors:
    def test_a_row_of_the_hosts_own(self):
        row = VendorHabits(
            vendor="house",
            max_tokens_member="max_tokens",
            stream_usage=False,
            reasoning_back=True,
            reasoning_fields=("thoughts",),
            alternates=True,
        )
        turn = Message("assistant", (Thinking("hm"), Text("a")), reasoning_field="elsewhere")
        history = [Message.user("q"), Message.user("r"), turn, Message.user("n")]
        built = build(C, *history, vendor=row)
        assert built.body["max_tokens"] == 256
        assert "stream_options" not in built.body
        assert [message["role"] for message in built.body["messages"]] == [
            "user",
            "assistant",
            "user",
        ]
        assert built.body["messages"][1]["thoughts"] == "hm"
        assert codes(built) == ["messages_merged"]

    def test_neighbours_keep_the_reasoning_of_both(self):
        row = VendorHabits(vendor="house", reasoning_back=True, alternates=True)
        turns = [
            Message("assistant", (Thinking(f"thought {n}"), Text(f"text {n}"))) for n in range(2)
        ]
        built = build(C, Message.user("q"), *turns, Message.user("n"), vendor=row)
        turn = built.body["messages"][1]
        assert turn["reasoning_content"] == "thought 0\n\nthought 1"
        assert [part["text"] for part in turn["content"]] == ["text 0", "text 1"]

    def test_stop_words_beyond_the_limit(self):
        built = build(C, stop=list("abcde"))
        assert built.body["stop"] == list("abcd")
        assert codes(built) == ["parameter_dropped"]


class TestProviderBlocks:
    def turn(self, *blocks: Any, reason: str | None = "end_turn") -> Message:
        return Message("assistant", blocks, model=CLAUDE, dialect=A, stop_reason=reason)  # type: ignore[arg-type]

    USE = ProviderBlock(
        "server_tool_use", '{"type":"server_tool_use","id":"s1","name":"web_search","input":{}}'
    )
    ANSWER = ProviderBlock(
        "web_search_tool_result",
        '{"type":"web_search_tool_result","tool_use_id":"s1","content":[]}',
    )

    def test_half_of_a_pair_is_left_out(self):
        for half in (self.USE, self.ANSWER):
            built = build(A, Message.user("q"), self.turn(half, Text("a")), Message.user("n"))
            assert codes(built) == ["content_unsupported"]
            assert b"web_search" not in built.to_json()

    def test_a_pair_may_stand_in_two_turns(self):
        paused = self.turn(self.USE, reason="pause_turn")
        history = [Message.user("q"), paused, self.turn(self.ANSWER, Text("a")), Message.user("n")]
        built = build(A, *history)
        kinds = [part["type"] for part in built.body["messages"][1]["content"]]
        assert kinds == ["server_tool_use", "web_search_tool_result", "text"]
        assert codes(built) == ["messages_merged"]

    def test_a_block_that_is_no_json_is_refused(self):
        with pytest.raises(InvalidRequest, match="no JSON object"):
            build(A, Message.user("q"), self.turn(ProviderBlock("x", "{oops")), Message.user("n"))


class TestCache:
    def test_automatic_marks(self):
        history = [
            Message.user("1"),
            Message.assistant("a"),
            Message.user("2"),
            Message.assistant("b"),
        ]
        body = build(
            A, *history, Message.user("3"), system="s", tools=[TOOL], cache=CachePolicy.auto()
        ).body
        assert "cache_control" in body["tools"][-1]
        assert isinstance(body["system"], str)
        marked = [
            number
            for number, message in enumerate(body["messages"])
            if any("cache_control" in part for part in message["content"])
        ]
        assert marked == [2, 4]
        body = build(A, system="s", cache=CachePolicy.auto()).body
        assert "cache_control" in body["system"][0]

    def test_one_hour_on_bedrock(self):
        built = build(
            B,
            system="s",
            cache=CachePolicy(system=True, ttl="1h"),
            model="anthropic.claude-opus-4-7-v1:0",
        )
        assert built.body["system"][-1] == {"cachePoint": {"type": "default", "ttl": "1h"}}

    def test_a_mark_on_nothing_is_noted(self):
        history = [Message.user("q"), Message.assistant([Thinking("", "QQ==")], model=CLAUDE)]
        built = build(A, *history, Message.user("n"), cache=CachePolicy(messages=(1,)))
        assert codes(built) == ["cache_control_dropped"]
        assert b"cache_control" not in built.to_json()


class TestReasoningParameters:
    def test_a_budget_stays_below_the_limit(self):
        built = build(
            A, model="claude-sonnet-4-5", max_tokens=1500, reasoning=Reasoning(budget_tokens=9000)
        )
        assert built.body["thinking"]["budget_tokens"] == 1499
        assert codes(built) == ["effort_mapped"]
        built = build(
            A, model="claude-sonnet-4-5", max_tokens=800, reasoning=Reasoning(budget_tokens=9000)
        )
        assert "thinking" not in built.body
        assert codes(built) == ["parameter_dropped"]

    def test_a_budget_as_the_nearest_effort(self):
        built = build(C, model="gpt-5.2", reasoning=Reasoning(budget_tokens=2000))
        assert built.body["reasoning_effort"] == "low"
        assert codes(built) == ["effort_mapped"]

    def test_a_budget_on_claude_at_bedrock(self):
        built = build(
            B,
            model="us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            max_tokens=4096,
            reasoning=Reasoning(budget_tokens=2048),
        )
        thinking = {"type": "enabled", "budget_tokens": 2048}
        assert built.body["additionalModelRequestFields"] == {"thinking": thinking}

    def test_old_models_do_not_sample_while_they_think(self):
        built = build(
            A,
            model="claude-sonnet-4-5",
            api_version="2023-06-01",
            max_tokens=4096,
            temperature=0.5,
            reasoning=Reasoning(budget_tokens=2048),
        )
        assert "temperature" not in built.body
        assert codes(built) == ["parameter_dropped"]


class TestDecodedTurns:
    def test_synthetic_ids_are_kept_apart_over_turns(self):
        chunk = {
            "choices": [
                {
                    "index": 0,
                    "delta": {
                        "tool_calls": [{"index": 0, "function": {"name": "now", "arguments": "{}"}}]
                    },
                }
            ]
        }
        end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}
        body = (
            "".join(f"data: {json.dumps(event)}\n\n" for event in (chunk, end)) + "data: [DONE]\n\n"
        )
        turn = decode_message(body, C).to_message()
        call = turn.content[0]
        assert isinstance(call, ToolUse)
        answer = Message.tool_result(call.id, "12:00")
        for dialect in (A, C, R, B):
            built = build(dialect, Message.user("q"), turn, answer, turn, answer)
            sent = built.id_map[call.id]
            assert len(sent) == len(set(sent)) == 2
            assert sent[0] == call.id
        assert build(G, Message.user("q"), turn, answer).id_map == {}

    def test_a_cut_turn_is_sent_as_far_as_it_is_whole(self):
        cut = AssistantMessage(
            content=(Text("so far"), ToolUse("c", "dim", '{"n":', complete=False))
        )
        turn = cut.to_message(allow_incomplete=True)
        built = build(C, Message.user("q"), turn, Message.user("n"))
        assert built.body["messages"][1] == {"role": "assistant", "content": "so far"}


@pytest.mark.parametrize("dialect", list(Dialect))
def test_nothing_of_building_waits_for_the_collector_of_garbage(dialect):
    def writers() -> int:
        return sum(issubclass(type(one), Writer) for one in gc.get_objects())

    gc.collect()
    gc.disable()
    try:
        before = writers()
        build(dialect, Message.user("q"), Message.assistant("a"), Message.user("n"))
        assert writers() == before
    finally:
        gc.enable()
