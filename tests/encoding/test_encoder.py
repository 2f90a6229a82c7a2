"""The encoders as objects: order, faults, options, notes."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING

import pytest

from turntape import (
    AssistantMessage,
    Citation,
    ContentBlockStop,
    Dialect,
    EncodeError,
    Extension,
    InputJsonDelta,
    MessageStart,
    MessageStop,
    ProviderError,
    RedactedThinking,
    SignatureDelta,
    StreamEncoder,
    Text,
    TextDelta,
    ThinkingDelta,
    ToolUse,
    ToolUseStart,
    TurntapeError,
    UnsayableDialect,
    Usage,
    decode,
    decode_message,
    encode,
    format_response,
)

if TYPE_CHECKING:
    from turntape import ReplayNote, StreamEvent

SPOKEN = ("anthropic", "openai-chat", "openai-responses", "gemini")
START = MessageStart("r1", "m")
SAID = TextDelta(0, "Hi")
CLOSED = ContentBlockStop(0)
STOP = MessageStop("end_turn", None, "message_stop")

every_wire = pytest.mark.parametrize("dialect", SPOKEN)


@every_wire
@pytest.mark.parametrize(
    ("before", "event", "words"),
    [
        ([START], START, "started already"),
        ([START, SAID, CLOSED, STOP], SAID, "has stopped"),
        ([START, STOP], STOP, "has stopped"),
        ([START, SAID], STOP, "block 0 is open"),
        ([START, SAID, CLOSED], SAID, "has had its stop"),
        ([START, SAID, CLOSED], CLOSED, "has had its stop"),
        ([START], CLOSED, "never opened"),
        ([START], InputJsonDelta(0, "{"), "never opened"),
        ([START], TextDelta(1, "x"), "in the order of their indices"),
        ([START, SAID], ThinkingDelta(0, "x"), "of another kind"),
        ([START, SAID], InputJsonDelta(0, "{"), "of another kind"),
        ([START, SAID], ToolUseStart(0, "c", "f"), "has opened before"),
        ([START], Citation(0, "{"), "is not JSON"),
        ([START], Extension(None, "logprobs", "nope"), "is not JSON"),
        ([START], ToolUseStart(0, "c", "f", "[]"), "no JSON object"),
    ],
)
def test_an_event_that_does_not_fit_is_refused(dialect, before, event, words):
    encoder, other = StreamEncoder(dialect), StreamEncoder(dialect)
    for earlier in before:
        encoder.feed(earlier)
        other.feed(earlier)
    with pytest.raises(EncodeError, match=words) as caught:
        encoder.feed(event)
    assert isinstance(caught.value, TurntapeError)
    assert isinstance(caught.value, ValueError)
    # As if it had not come.
    rest = [] if encoder.is_terminal else [event for event in (CLOSED, STOP) if SAID in before]
    if CLOSED in before:
        rest = [] if encoder.is_terminal else [STOP]
    assert [encoder.feed(event) for event in rest] == [other.feed(event) for event in rest]


@every_wire
@pytest.mark.parametrize("event", [None, "text", 1, {"type": "text_delta"}])
def test_what_is_no_event_is_refused(dialect, event):
    with pytest.raises(TypeError, match="expected a stream event"):
        StreamEncoder(dialect).feed(event)


@every_wire
def test_fields_of_another_type_are_refused(dialect):
    encoder = StreamEncoder(dialect)
    with pytest.raises(TypeError):
        encoder.feed(TextDelta(0, b"x"))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="out of range"):
        encoder.feed(TextDelta(-1, "x"))
    with pytest.raises(UnicodeEncodeError):
        encoder.feed(TextDelta(0, "\ud800"))


def test_a_dialect_that_is_read_alone():
    with pytest.raises(UnsayableDialect, match="read but not written"):
        StreamEncoder(Dialect.BEDROCK_CONVERSE)
    with pytest.raises(UnsayableDialect):
        encode([], "bedrock-converse")
    with pytest.raises(ValueError, match="no dialect"):
        StreamEncoder("klingon")


def test_an_unknown_reasoning_member_is_refused():
    with pytest.raises(EncodeError, match="no member that holds reasoning"):
        StreamEncoder("openai-chat", reasoning_field="thoughts")


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "reasoning_text"])
def test_reasoning_goes_into_the_member_that_was_asked_for(field):
    encoder = StreamEncoder("openai-chat", reasoning_field=field)
    encoder.feed(START)
    chunk = json.loads(encoder.feed(ThinkingDelta(0, "hm")).removeprefix(b"data: "))
    assert chunk["choices"][0]["delta"] == {field: "hm"}


@every_wire
def test_nothing_follows_the_end(dialect):
    encoder = StreamEncoder(dialect)
    encoder.finish()
    with pytest.raises(EncodeError, match="make a new encoder"):
        encoder.feed(START)
    with pytest.raises(EncodeError, match="make a new encoder"):
        encoder.fail("no")
    assert encoder.finish() == b""


@every_wire
@pytest.mark.parametrize("before", [[], [START], [START, SAID]])
def test_a_fault_reads_back(dialect, before):
    encoder = StreamEncoder(dialect)
    out = b"".join(map(encoder.feed, before))
    out += encoder.fail(ProviderError("Too much", kind="overloaded_error", status=529))
    with pytest.raises(ProviderError) as caught:
        decode(out, dialect)
    assert (caught.value.kind, caught.value.message) == ("overloaded_error", "Too much")
    assert caught.value.retryable
    assert caught.value.before_content == (SAID not in before)


@every_wire
@pytest.mark.parametrize("error", ["gone", ConnectionError("gone")])
def test_a_fault_that_nobody_named_is_the_servers(dialect, error):
    encoder = StreamEncoder(dialect)
    encoder.feed(START)
    with pytest.raises(ProviderError, match="gone") as caught:
        decode(encoder.fail(error), dialect)
    assert caught.value.retryable
    with pytest.raises(TypeError, match="an exception or a text"):
        StreamEncoder(dialect).fail(1)  # type: ignore[arg-type]


def test_chat_gives_the_usage_where_it_was_asked_for():
    events: list[StreamEvent] = [START, SAID, CLOSED, Usage(1, 2), STOP]
    assert b'"usage":{' in encode(events, "openai-chat")
    assert b'"usage"' not in encode(events, "openai-chat", include_usage=False)


@every_wire
def test_what_has_no_id_gets_the_one_that_was_given(dialect):
    events: list[StreamEvent] = [MessageStart(None, None), SAID, CLOSED, STOP]
    notes: list[ReplayNote] = []
    body = encode(events, dialect, response_id="given", model="some", created=7, notes=notes)
    assert decode(body, dialect)[0] == MessageStart("given", "some")
    assert "id_mapped" not in {note.code for note in notes}


OPAQUE: list[StreamEvent] = [
    START,
    RedactedThinking(0, "x"),
    CLOSED,
    ThinkingDelta(1, "hm"),
    SignatureDelta(1, "c2ln"),
    ContentBlockStop(1),
    TextDelta(2, "so"),
    Citation(2, '{"type":"page"}'),
    ContentBlockStop(2),
    STOP,
]


def test_what_only_its_own_wire_can_carry_is_noted_block_by_block():
    notes: list[ReplayNote] = []
    body = encode(OPAQUE, "anthropic", source="bedrock-converse", notes=notes)
    assert [(note.code, note.index) for note in notes] == [
        ("reasoning_dropped", 0),
        ("signature_dropped", 1),
        ("content_unsupported", 2),
        ("usage_reduced", None),
    ]
    assert [event for event in decode(body, "anthropic") if event.type.endswith("delta")] == [
        ThinkingDelta(0, "hm"),
        TextDelta(1, "so"),
    ]


def test_raw_json_stays_on_one_line():
    events: list[StreamEvent] = [
        START,
        TextDelta(0, "a"),
        Citation(0, '{\n "page":\r\n 1\n}'),
        CLOSED,
        STOP,
    ]
    for event in decode(encode(events, "anthropic"), "anthropic"):
        if isinstance(event, Citation):
            assert json.loads(event.json) == {"page": 1}
            break
    else:
        pytest.fail("the citation was lost")


def test_calls_that_mix_keep_their_pieces_apart():
    events: list[StreamEvent] = [
        START,
        ToolUseStart(0, "a", "f"),
        ToolUseStart(1, "b", "g"),
        InputJsonDelta(0, '{"x":'),
        InputJsonDelta(1, "{}"),
        InputJsonDelta(0, "1}"),
        CLOSED,
        ContentBlockStop(1),
        MessageStop("tool_use", None, "done"),
    ]
    for dialect in SPOKEN:
        content = decode_message(encode(events, dialect), dialect).content
        calls = [block.arguments for block in content if isinstance(block, ToolUse)]
        assert calls == ['{"x":1}', "{}"]


def test_a_text_that_goes_on_beside_a_call_waits_on_chat():
    encoder = StreamEncoder("openai-chat")
    events: list[StreamEvent] = [
        START,
        SAID,
        ToolUseStart(1, "c", "f"),
        TextDelta(0, "!"),
        InputJsonDelta(1, "{}"),
    ]
    said = [encoder.feed(event) for event in events]
    assert said[2] == said[4] == b""
    assert b'"tool_calls"' in encoder.feed(CLOSED)


@every_wire
def test_a_turn_that_is_not_complete_has_no_body(dialect):
    message = AssistantMessage("r1", "m", (Text("Hi"),))
    with pytest.raises(EncodeError, match="has not stopped"):
        format_response(message, dialect)


@every_wire
def test_bodies_are_json_and_the_same_every_time(dialect):
    message = AssistantMessage(None, None, (Text('"\n'),), "end_turn", complete=True)
    body = format_response(message, dialect)
    assert json.loads(body)
    assert format_response(message, dialect) == body


def test_encoders_of_several_threads_do_not_meet():
    events: list[StreamEvent] = [
        START,
        *(TextDelta(0, f"{number} ") for number in range(500)),
        CLOSED,
        STOP,
    ]
    wanted = encode(events, "anthropic")
    results: list[bytes] = []

    def work() -> None:
        encoder = StreamEncoder("anthropic")
        results.append(b"".join(map(encoder.feed, events)))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [wanted] * 4
