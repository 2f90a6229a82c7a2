"""``StreamDecoder``: what it takes, what it gives, and when it raises."""

from __future__ import annotations

import array
import json
from typing import Any

import pytest
from tests.support.outcome import check_sum, decode_whole, every
from tests.support.samples import (
    ANTHROPIC,
    CHAT,
    CUT,
    DONE,
    ODD,
    REFUSED,
    call,
    chunk,
    message,
    start,
    stop,
)

import turntape
from turntape import (
    AssistantMessage,
    ContentBlockStop,
    Dialect,
    EventTooLarge,
    Extension,
    MalformedEvent,
    MessageStart,
    MessageStop,
    ProviderBlock,
    ProviderError,
    SseDecoder,
    StreamDecoder,
    StreamError,
    StrictError,
    Text,
    TextDelta,
    ToolUse,
    ToolUseStart,
    TruncatedStream,
    Usage,
)

DATA = b"data: 1\n\n"
FORMS: list[Any] = [
    DATA,
    bytearray(DATA),
    memoryview(DATA),
    memoryview(bytes(b for byte in DATA for b in (byte, 0)))[::2],
    memoryview(DATA[::-1])[::-1],
    memoryview(DATA).cast("B", (3, 3)),
    DATA.decode(),
]


@pytest.mark.parametrize("data", FORMS, ids=lambda data: type(data).__name__)
def test_what_can_be_fed(data):
    [event] = SseDecoder().feed(data)
    assert event.data == "1"
    decoder = StreamDecoder("openai-chat")
    assert decoder.feed(data) == []
    assert [warning.code for warning in decoder.warnings] == ["not_json"]
    with pytest.raises(TruncatedStream):
        turntape.decode(data, "openai-chat")
    with pytest.raises(TruncatedStream):
        turntape.decode_message(data, "openai-chat")
    [error] = turntape.decode_many([data], "openai-chat")
    assert isinstance(error, TruncatedStream)
    with pytest.raises(turntape.UnknownDialect):
        turntape.detect_dialect(data)


WRONG: list[Any] = [None, 5, 1.5, [1], ["data"], {"data": 1}, object()]


@pytest.mark.parametrize("data", WRONG, ids=lambda data: type(data).__name__)
def test_what_cannot_be_fed(data):
    name = type(data).__name__
    for take in (
        SseDecoder().feed,
        StreamDecoder("anthropic").feed,
        lambda data: turntape.decode(data, "anthropic"),
        lambda data: turntape.decode_message(data, "anthropic"),
        lambda data: turntape.decode_many([data], "anthropic"),
        turntape.detect_dialect,
    ):
        with pytest.raises(TypeError, match=name):
            take(data)


@pytest.mark.parametrize(
    "data", [memoryview(DATA[:8]).cast("b"), memoryview(array.array("i", [1, 2]))]
)
def test_a_view_of_something_else_than_bytes(data):
    # Its bytes, as every writer of files takes it, or a refusal that says what is wrong with it.
    try:
        SseDecoder().feed(data)
    except TypeError as error:
        assert "format" in str(error) or "contiguous" in str(error)  # noqa: PT017 (either is right)


def test_a_buffer_may_change_after_it_was_fed():
    buffer = bytearray(b"data: a")
    decoder = SseDecoder()
    decoder.feed(buffer)
    buffer[:] = b"XXXXXXX"
    [event] = decoder.feed("\n\n")
    assert event.data == "a"
    # No view of it is held either.
    buffer.clear()


def test_lone_surrogates_in_a_text_are_invalid_utf8():
    decoder = SseDecoder()
    [event] = decoder.feed("data: a\ud83db\n\n")
    assert event.data == "a\ufffd\ufffd\ufffdb"
    assert [warning.code for warning in decoder.warnings] == ["invalid_utf8"]
    body = chunk({"content": "é?"}, "stop").replace("\\u00e9?", "é\udc0d")
    decoded = turntape.decode_message(body, "openai-chat")
    assert decoded.content == (Text("é\ufffd\ufffd\ufffd"),)
    assert [warning.code for warning in decoded.warnings] == ["invalid_utf8"]


def test_pieces_of_every_type_may_be_mixed():
    pieces = every(CHAT.encode(), 5)
    makers: list[Any] = [bytes, bytearray, memoryview, bytes.decode]
    decoder = StreamDecoder("openai-chat")
    events = []
    for at, piece in enumerate(pieces):
        events += decoder.feed(makers[at % 4](piece))
    assert events + decoder.finish() == turntape.decode(CHAT, "openai-chat")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"eof": "drop"}, ValueError),
        ({"eof": None}, TypeError),
        ({"choice": -1}, ValueError),
        ({"choice": 2**64}, ValueError),
        ({"choice": "0"}, TypeError),
        ({"max_event_bytes": -1}, ValueError),
        ({"max_event_bytes": 1.5}, TypeError),
        ({"strict": "yes"}, TypeError),
        ({"server_tools": "search"}, TypeError),
        ({"server_tools": [1]}, TypeError),
        ({"server_tools": 1}, TypeError),
        ({"name_map": {"a": 1}}, TypeError),
        ({"name_map": ["a"]}, TypeError),
        ({"vendor": 1}, TypeError),
        ({"colour": "red"}, TypeError),
    ],
)
def test_an_option_without_such_a_value(options, error):
    for take in (
        lambda **options: StreamDecoder("openai-chat", **options),
        lambda **options: turntape.decode("", "openai-chat", **options),
        lambda **options: turntape.decode_message("", "openai-chat", **options),
        lambda **options: turntape.decode_many([], "openai-chat", **options),
        lambda **options: turntape.iter_events([], "openai-chat", **options),
        lambda **options: turntape.aiter_events(nothing(), "openai-chat", **options),
    ):
        with pytest.raises(error):
            take(**options)


async def nothing():
    yield b""


@pytest.mark.parametrize("options", [{"eof": "drop"}, {"max_event_bytes": -1}])
def test_an_option_of_framing_without_such_a_value(options):
    with pytest.raises(ValueError, match=r"."):
        SseDecoder(**options)


def test_options_are_keywords():
    with pytest.raises(TypeError):
        StreamDecoder("openai-chat", 1)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        SseDecoder("flush")  # type: ignore[call-arg]


@pytest.mark.parametrize("dialect", ["latin", "", "ANTHROPIC", "openai_chat"])
def test_no_such_dialect(dialect):
    with pytest.raises(ValueError, match="openai-chat"):
        StreamDecoder(dialect)
    with pytest.raises(ValueError, match="openai-chat"):
        turntape.decode("", dialect)


@pytest.mark.parametrize("dialect", [None, 1, b"anthropic"])
def test_what_is_no_dialect(dialect):
    with pytest.raises(TypeError, match="ialect"):
        StreamDecoder(dialect)


def test_a_dialect_is_a_text():
    assert StreamDecoder(Dialect.ANTHROPIC).snapshot().dialect is Dialect.ANTHROPIC
    assert StreamDecoder("anthropic").snapshot().dialect is Dialect.ANTHROPIC


def test_nothing_is_fed_after_the_end():
    for decoder in (StreamDecoder("openai-chat"), SseDecoder()):
        decoder.feed(CHAT)
        decoder.finish()
        assert decoder.finish() == []
        with pytest.raises(ValueError, match="finish"):
            decoder.feed(b"")


def test_finish_raises_again():
    decoder = StreamDecoder("openai-chat")
    decoder.feed(CUT)
    with pytest.raises(TruncatedStream) as first:
        decoder.finish()
    with pytest.raises(TruncatedStream) as second:
        decoder.finish()
    assert first.value.partial == second.value.partial
    assert first.value.offset == second.value.offset == len(CUT)
    assert second.value.events == []
    with pytest.raises(ValueError, match="finish"):
        decoder.feed(b"")


BROKEN = 'data: {"a" 1}\n\n'


def test_events_before_a_fault_come_first():
    decoder = StreamDecoder("openai-chat")
    events = decoder.feed(chunk({"content": "Hi"}) + BROKEN + chunk({"content": "later"}))
    assert events == [MessageStart("chat-1", "quill"), TextDelta(0, "Hi")]
    for _ in range(3):
        with pytest.raises(MalformedEvent) as caught:
            decoder.feed(DONE)
        assert caught.value.events == []
        assert caught.value.raw == '{"a" 1}'
        assert caught.value.offset == len(chunk({"content": "Hi"}))
        assert caught.value.partial == decoder.snapshot()
    with pytest.raises(MalformedEvent):
        decoder.finish()
    assert not decoder.is_terminal


def test_a_fault_with_nothing_before_it_is_raised_at_once():
    decoder = StreamDecoder("openai-chat")
    decoder.feed(chunk({"content": "Hi"}))
    with pytest.raises(MalformedEvent):
        decoder.feed(BROKEN)
    with pytest.raises(MalformedEvent):
        decoder.feed(b"")


def test_a_fault_is_not_lost_if_finish_comes_next():
    decoder = StreamDecoder("openai-chat")
    assert decoder.feed(chunk({"content": "Hi"}) + REFUSED)
    with pytest.raises(ProviderError) as caught:
        decoder.finish()
    assert caught.value.kind == "rate_limit_error"
    assert (caught.value.status, caught.value.retryable) == (429, True)
    assert not caught.value.before_content
    assert str(caught.value) == "[rate_limit_error 429] Slow down."


def test_decode_hands_over_the_events():
    with pytest.raises(TruncatedStream) as caught:
        turntape.decode(CUT, "openai-chat")
    error = caught.value
    assert [type(event) for event in error.events][:2] == [MessageStart, TextDelta]
    assert isinstance(error.events, list)
    assert error.partial is not None
    text, tool = error.partial.content
    assert text == Text("It rai")
    assert isinstance(tool, ToolUse)
    assert not tool.complete
    assert tool.partial_input() == {"city": "Os"}


@pytest.mark.parametrize(("wire", "body"), [("openai-chat", CHAT), ("anthropic", ANTHROPIC)])
def test_a_snapshot_at_any_time(wire, body):
    decoder = StreamDecoder(wire, vendor="v")
    assert decoder.snapshot() == AssistantMessage(dialect=Dialect(wire), vendor="v")
    events = []
    for piece in every(body.encode(), 3):
        events += decoder.feed(piece)
        snapshot = decoder.snapshot()
        assert snapshot == decoder.snapshot()
        assembled = turntape.assemble(events)
        assert snapshot.content == assembled.content
        assert snapshot.complete == decoder.is_terminal
    decoder.finish()
    assert decoder.is_terminal
    assert decoder.snapshot() == turntape.decode_message(body, wire, vendor="v")


def test_usage_as_it_comes():
    decoder = StreamDecoder("anthropic")
    assert StreamDecoder("anthropic").usage is None
    decoder.feed(message("message_start", message={"id": "m", "usage": {"input_tokens": 9}}))
    assert decoder.usage == Usage(9)
    assert decoder.snapshot().usage == Usage(9)
    decoder.feed(message("message_delta", delta={}, usage={"output_tokens": 4}))
    assert decoder.usage == Usage(9, 4)


def test_terminal_is_when_the_stop_was_given():
    decoder = StreamDecoder("openai-chat")
    decoder.feed(chunk({"content": "Hi"}, "stop"))
    assert not decoder.is_terminal
    assert isinstance(decoder.feed(DONE)[-1], MessageStop)
    assert decoder.is_terminal


def test_attributes_cannot_be_set():
    decoder = StreamDecoder("openai-chat")
    for name in ("usage", "warnings", "is_terminal", "other"):
        with pytest.raises(AttributeError):
            setattr(decoder, name, None)


def test_names_are_mapped_back():
    events = turntape.decode(CHAT, "openai-chat", name_map={"weather": "get weather!"})
    [name] = [event.name for event in events if isinstance(event, ToolUseStart)]
    assert name == "get weather!"


def test_server_tools_become_extension_blocks():
    options: list[Any] = [["weather"], ("weather",), {"weather"}, {"weather": 1}, iter(["weather"])]
    for names in options:
        decoded = turntape.decode_message(CHAT, "openai-chat", server_tools=names)
        assert decoded.stop_reason == "end_turn"
        block = decoded.content[-1]
        assert isinstance(block, ProviderBlock)
        assert block.json == (
            '{"id":"call_1","type":"function",'
            '"function":{"name":"weather","arguments":"{\\"city\\": \\"Oslo\\"}"}}'
        )


def test_a_served_call_before_text():
    body = (
        chunk(call("{}", id="a", name="search"))
        + chunk({"content": "Found."})
        + chunk({"tool_calls": [{"index": 1, "id": "b", "function": {"name": "weather"}}]})
        + chunk(None, "stop")
    )
    outcome = decode_whole(body, "openai-chat", server_tools=["search"])
    check_sum(outcome)
    # Blocks count in the order in which they open, and the served call opens when it goes out.
    assert [type(block) for block in outcome.message.content] == [Text, ToolUse, ProviderBlock]
    assert [event.index for event in outcome.events if isinstance(event, Extension)] == [2]


def test_the_vendor_stays_on_the_message():
    assert turntape.decode_message(CHAT, "openai-chat", vendor="quills").vendor == "quills"
    assert turntape.decode_message(CHAT, "openai-chat").vendor is None
    with pytest.raises(StreamError) as caught:
        turntape.decode(CUT, "openai-chat", vendor="quills")
    assert caught.value.partial is not None
    assert caught.value.partial.vendor == "quills"


def test_another_choice():
    body = chunk({"content": "zero"}) + chunk({"content": "one"}).replace(
        '"index": 0', '"index": 1'
    )
    body += chunk(None, "stop") + chunk(None, "stop").replace('"index": 0', '"index": 1')
    assert turntape.decode_message(body, "openai-chat", choice=1).content == (Text("one"),)
    with pytest.raises(TruncatedStream, match="choice 2"):
        turntape.decode(body, "openai-chat", choice=2)


def test_the_limit_counts_data_alone():
    decoder = StreamDecoder("openai-chat", max_event_bytes=10)
    decoder.feed(":" + "x" * 100 + "\nevent: " + "y" * 100 + "\n")
    decoder.feed("data: " + "1" * 10)
    with pytest.raises(EventTooLarge):
        decoder.feed("1")
    with pytest.raises(EventTooLarge):
        decoder.finish()


def test_strict_raises_the_first_warning():
    with pytest.raises(StrictError) as caught:
        turntape.decode(ODD, "openai-chat", strict=True)
    assert caught.value.warning.code == "not_json"
    assert caught.value.warning.offset == caught.value.offset
    assert caught.value.partial is not None
    assert caught.value.partial.warnings == (caught.value.warning,)
    assert [type(event) for event in caught.value.events] == [
        MessageStart, TextDelta, ContentBlockStop,
    ]  # fmt: skip


def test_strict_after_the_stop():
    body = message("message_stop") + start(0, "text", text="late") + stop(0)
    outcome = decode_whole(body, "anthropic", strict=True)
    # After the stop the turn stands; should a warning fail it all the same, it is not complete.
    assert outcome.fault is None or not outcome.message.complete


def end_of(decoder: StreamDecoder, piece: str) -> None:
    decoder.feed(piece)
    decoder.finish()


def test_strict_at_the_stop():
    body = message("message_start", message={"id": "m"})
    for end in (
        message("message_delta", delta={"stop_reason": "end_turn"}),
        message("message_delta", delta={"stop_reason": "tool_use"}) + message("message_stop"),
    ):
        decoder = StreamDecoder("anthropic", strict=True)
        decoder.feed(body)
        with pytest.raises(StrictError) as caught:
            end_of(decoder, end)
        assert caught.value.events == []
        assert not decoder.is_terminal
        assert not decoder.snapshot().complete


def test_a_large_event_after_the_stop():
    body = message("message_stop") + message("ping", text="x" * 300)
    outcome = decode_whole(body, "anthropic", max_event_bytes=200)
    assert outcome.fault is None
    assert outcome.message.complete


def test_a_form_feed_is_no_white_space_of_json():
    assert ToolUse("i", "n", "\f{}").partial_input() == {}
    assert ToolUse("i", "n", "\f1").partial_input() == {}
    assert ToolUse("i", "n", "\f{}").invalid == "malformed"


def test_a_block_that_begins_with_half_a_character():
    half, rest = (json.dumps(text) for text in ("\ud83d", "\udc0d"))
    body = (
        message("message_start", message={"id": "m"})
        + start(0, "text", text="?").replace('"?"', half)
        + start(1, "tool_use", id="toolu_1", name="weather", input={})
        + message(
            "content_block_delta", index=0, delta={"type": "text_delta", "text": "?"}
        ).replace('"?"', rest)
        + stop(0)
        + stop(1)
        + message("message_stop")
    )
    outcome = decode_whole(body, "anthropic")
    check_sum(outcome)
    assert {type(block) for block in outcome.message.content} == {Text, ToolUse}


def test_repr_names_the_class():
    assert "StreamDecoder" in repr(StreamDecoder("openai-chat"))
    assert "SseDecoder" in repr(SseDecoder())


@pytest.mark.parametrize(
    "text",
    [
        '{"$serde_json::private::Number":"1"}',
        '{"$serde_json::private::RawValue":"[1]"}',
        '{"$serde_json::private::RawValue":{"$serde_json::private::Number":"1e5"}}',
    ],
)
def test_members_with_a_library_s_private_names_are_data(text):
    # Some JSON libraries give such a member a meaning of its own; here it has none, wherever it stands.
    body = chunk(call(text, id="call_1", name="weather"), "tool_calls") + DONE
    tool = turntape.decode_message(body, "openai-chat").content[0]
    assert isinstance(tool, ToolUse)
    assert tool.arguments == text
    assert list(tool.input)[0].startswith("$serde_json")  # noqa: RUF015 (the order matters)
    raw = f'data: {{"choices":[{{"delta":{{"audio":{text}}},"logprobs":{text},"finish_reason":"stop"}}]}}\n\n'
    extensions = [e for e in turntape.decode(raw, "openai-chat") if isinstance(e, Extension)]
    assert [extension.json for extension in extensions] == [text, text]
    odd = f"data: {text}\n\n" + raw
    assert turntape.decode_message(odd, "openai-chat").complete
    with pytest.raises(ProviderError) as caught:
        turntape.decode(f'data: {{"error":{text}}}\n\n', "anthropic")
    assert caught.value.raw == f'{{"error":{text}}}'
    usage = f'data: {{"choices":[],"usage":{{"prompt_tokens":{text}}}}}\n\n'
    decoded = turntape.decode_message(raw + usage, "openai-chat")
    assert decoded.usage is None or decoded.usage.input_tokens == 0
    started = message("message_start", message={}).replace("{}", f'{{"id":"m","container":{text}}}')
    events = turntape.decode(started + message("message_stop"), "anthropic")
    assert Extension(None, "container", text) in events
    assert turntape.assemble([Extension(0, "k", text)]).content == (ProviderBlock("k", text),)
