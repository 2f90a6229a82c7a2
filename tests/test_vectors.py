"""The vectors: one right answer each, through every door of the Python API."""

# Whether a stream fails is part of what is checked, so errors are caught, not expected.
# ruff: noqa: PT017

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.outcome import (
    Outcome,
    as_dict,
    bare,
    check_sum,
    decode_chunks,
    decode_message_only,
    decode_whole,
    every,
    fault_of,
    partial_of,
)
from tests.support.vectors import Expectations, body_of, merge_deltas, parametrize, text_of

import turntape
from turntape import (
    Dialect,
    EventTooLarge,
    InvalidToolArguments,
    SseDecoder,
    SseEvent,
    StreamError,
    ToolUse,
    UnknownDialect,
    encode_sse,
)

if TYPE_CHECKING:
    from tests.support.vectors import Case

KINDS = {
    "ProviderError": "provider_error",
    "MalformedEvent": "malformed_event",
    "TruncatedStream": "truncated_stream",
    "EventTooLarge": "event_too_large",
    "StrictError": "strict_error",
}


def check(case: Case, outcome: Outcome) -> None:
    """Compare an outcome with what the case expects."""
    expected = case["expected"]
    expectations = Expectations()
    if "events" in expected:
        ignored = set(expected.get("ignore_events", ()))
        events = [event for event in as_dict(outcome.events) if event["type"] not in ignored]
        wanted = [event for event in expected["events"] if event["type"] not in ignored]
        if expected.get("more_extensions") or case.get("more_extensions"):
            events = [
                event
                for event in events
                if event["type"] != "extension" or event["index"] is not None or event in wanted
            ]
        if expected.get("merge_deltas"):
            events, wanted = merge_deltas(events), merge_deltas(wanted)
        for at, pair in enumerate(zip(wanted, events, strict=False)):
            assert expectations.agree(*pair), (at, *pair)
        assert len(events) == len(wanted)
    if "message" in expected:
        message = as_dict(outcome.message)
        assert expectations.agree(expected["message"], message), (expected["message"], message)
    codes = [warning.code for warning in outcome.warnings]
    assert codes.count("content_after_stop") <= 1
    if "warnings" in expected:
        assert sorted(set(codes)) == expected["warnings"]
    if expected.get("warnings_any"):
        assert codes
    check_fault(expected.get("error"), outcome, expectations)


def check_fault(expected: Any, outcome: Outcome, expectations: Expectations) -> None:
    fault = outcome.fault
    if expected is None:
        assert fault is None
        assert outcome.message.complete
        return
    assert fault is not None
    assert KINDS[fault.kind] in expected.get("kind_in", [expected.get("kind")])
    facts: dict[str, Any] = {"kind": KINDS[fault.kind], "message": fault.text}
    if fault.provider is not None:
        names = ("error_kind", "message", "status", "retryable", "before_content")
        facts |= dict(zip(names, fault.provider, strict=True))
    wanted = {name: value for name, value in expected.items() if name != "kind_in"}
    assert expectations.agree(wanted, facts), (wanted, facts)
    assert fault.offset >= 0
    assert outcome.message.stop_reason == "unknown"
    assert outcome.message.terminal is None


def check_stream(case: Case, dialect: str) -> Outcome:
    """Send a case through every way of decoding a body that is at hand."""
    body = body_of(case)
    dialect = case.get("dialect", dialect)
    options = case.get("options", {})
    whole = decode_whole(body, dialect, **options)
    check(case, whole)
    check_sum(whole)
    if "body" in case:
        assert decode_whole(text_of(case["body"]), dialect, **options) == whole
    for size in (len(body) + 1, 1, 7):
        assert decode_chunks(every(body, size), dialect, **options) == whole
    assert decode_message_only(body, dialect, **options) == replace(whole, events=())
    [result] = turntape.decode_many([body], dialect, **options)
    if isinstance(result, StreamError):
        assert (fault_of(result), result.partial) == (whole.fault, whole.message)
    else:
        assert (None, result) == (whole.fault, whole.message)
    check_iterator(body, dialect, options, whole)
    return whole


def check_iterator(body: bytes, dialect: str, options: Any, whole: Outcome) -> None:
    stream = turntape.iter_events(every(body, 11), dialect, **options)
    events = []
    try:
        for event in stream:
            events.append(event)
            assert bare(stream.snapshot()).id in {whole.message.id, None}
    except StreamError as error:
        assert not error.events
        assert Outcome(tuple(events), partial_of(error), fault_of(error)) == whole
    else:
        assert Outcome(tuple(events), stream.snapshot(), None) == whole


async def check_asynchronous_iterator(case: Case, dialect: str) -> None:
    body = body_of(case)
    dialect = case.get("dialect", dialect)
    options = case.get("options", {})

    async def chunks():
        for chunk in every(body, 13):
            yield chunk

    stream = turntape.aiter_events(chunks(), dialect, **options)
    events = []
    try:
        async for event in stream:
            events.append(event)  # noqa: PERF401 (those before a failure count)
    except StreamError as error:
        outcome = Outcome(tuple(events), partial_of(error), fault_of(error))
    else:
        outcome = Outcome(tuple(events), stream.snapshot(), None)
    assert outcome == decode_whole(body, dialect, **options)


@parametrize("chat_streams.json")
def test_chat_stream(case):
    check_stream(case, "openai-chat")


@parametrize("anthropic_streams.json")
def test_anthropic_stream(case):
    check_stream(case, "anthropic")


@parametrize("responses_streams.json")
def test_responses_stream(case):
    check_stream(case, "openai-responses")


@parametrize("gemini_streams.json")
def test_gemini_stream(case):
    check_stream(case, "gemini")


@parametrize("bedrock_streams.json")
def test_bedrock_stream(case):
    check_stream(case, "bedrock-converse")


@pytest.mark.anyio
@parametrize("chat_streams.json")
async def test_chat_stream_read_asynchronously(case):
    await check_asynchronous_iterator(case, "openai-chat")


@pytest.mark.anyio
@parametrize("anthropic_streams.json")
async def test_anthropic_stream_read_asynchronously(case):
    await check_asynchronous_iterator(case, "anthropic")


@pytest.mark.anyio
@parametrize("responses_streams.json")
async def test_responses_stream_read_asynchronously(case):
    await check_asynchronous_iterator(case, "openai-responses")


@pytest.mark.anyio
@parametrize("gemini_streams.json")
async def test_gemini_stream_read_asynchronously(case):
    await check_asynchronous_iterator(case, "gemini")


@pytest.mark.anyio
@parametrize("bedrock_streams.json")
async def test_bedrock_stream_read_asynchronously(case):
    await check_asynchronous_iterator(case, "bedrock-converse")


def chunks_of(case: Case) -> list[bytes]:
    chunks = []
    for chunk in case["chunks"]:
        if isinstance(chunk, str):
            chunks.append(bytes.fromhex(chunk))
        else:
            repeat = chunk["repeat"]
            chunks += every(bytes.fromhex(repeat["hex"]) * repeat["times"], repeat["chunk_bytes"])
    return chunks


def check_framing(case: Case, chunks: list[bytes]) -> None:
    expected = case["expected"]
    decoder = SseDecoder(eof=case["eof"], max_event_bytes=case.get("max_event_bytes"))
    events: list[SseEvent] = []
    too_large = False
    try:
        for chunk in chunks:
            events += decoder.feed(chunk)
        events += decoder.finish()
    except EventTooLarge as error:
        too_large = True
        assert error.partial is None
        with pytest.raises(EventTooLarge):
            decoder.finish()
    wanted: list[SseEvent] = []
    for event in expected["events"]:
        members: dict[str, Any] = {**event, "data": text_of(event["data"])}
        wanted.append(SseEvent(**members))
    assert events == wanted
    assert too_large == (expected.get("error") == "event_too_large")
    if "warnings" in expected:
        assert sorted({warning.code for warning in decoder.warnings}) == expected["warnings"]


@parametrize("sse_framing.json")
def test_framing(case):
    if case.get("op") == "encode":
        check_encoding(case)
        return
    chunks = chunks_of(case)
    body = b"".join(chunks)
    check_framing(case, chunks)
    check_framing(case, [body])
    # Single bytes of the largest bodies would say nothing new and take long.
    check_framing(case, every(body, 1 if len(body) < 1_000_000 else 997))
    check_framing(case, every(body, 7 if len(body) < 1_000_000 else 1009))


def check_encoding(case: Case) -> None:
    event = SseEvent(**case["event"])
    options = case.get("options", {})
    expected = case["expected"]
    if expected.get("error") == "value_error":
        with pytest.raises(ValueError, match=r"cannot be written|ignore"):
            encode_sse(event, **options)
        return
    text = encode_sse(event, **options)
    if "text" in expected:
        assert text == expected["text"]
    decoder = SseDecoder(eof="discard")
    assert as_dict(decoder.feed(text)) == expected["decodes_to"]
    assert not decoder.finish()
    assert not decoder.warnings


@parametrize("tool_arguments.json")
def test_tool_arguments(case):
    expected = case["expected"]
    text = text_of(case["arguments"])
    call = ToolUse("id", "name", text, complete=case["complete"])
    if "error" in expected:
        with pytest.raises(InvalidToolArguments) as caught:
            _ = call.input
        assert call.invalid is not None
        assert caught.value.reason == call.invalid
        assert caught.value.arguments == text
        assert call.invalid == expected.get("invalid", call.invalid)
    else:
        assert call.invalid is None
        value = call.input
        if "input_json" in expected:
            wanted = json.loads(expected["input_json"])
            assert value == wanted
            assert repr(value) == repr(wanted)
    if "partial_input" in expected:
        assert call.partial_input() == expected["partial_input"]


@parametrize("dialects.json")
def test_dialect(case):
    expected = case["expected"]
    match case["op"]:
        case "for_model":
            assert Dialect.for_model(case["model"]) == Dialect(expected["dialect"])
        case "endpoint_path":
            path = Dialect(case["dialect"]).endpoint_path(case["model"])
            assert path == expected["path"]
        case "detect_dialect":
            forms: list[bytes | str] = [body_of(case)]
            if "body" in case:
                forms.append(text_of(case["body"]))
            for data in forms:
                if expected.get("error") == "unknown_dialect":
                    with pytest.raises(UnknownDialect):
                        turntape.detect_dialect(data)
                else:
                    assert turntape.detect_dialect(data) is Dialect(expected["dialect"])
        case "parse_response":
            message = turntape.parse_response(text_of(case["body"]), case["dialect"])
            assert Expectations().agree(expected["message"], as_dict(message))
            assert sorted({warning.code for warning in message.warnings}) == expected["warnings"]
        case _:
            pytest.fail(f"no test of {case['op']}")
