"""What is written for Responses and Gemini is what their official clients declare, and assemble."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from pydantic import BaseModel, TypeAdapter
from tests.support.encoded import expected, form
from tests.support.event_turns import event_turns

from turntape import (
    Dialect,
    MessageStart,
    ProviderError,
    SseDecoder,
    StreamEncoder,
    TextDelta,
    assemble,
    decode_message,
    encode,
    format_response,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from turntape import StreamEvent

FOREIGN = Dialect.BEDROCK_CONVERSE
# Each example is validated to the last member, which takes a while.
few = settings(max_examples=40)


@pytest.fixture(scope="module")
def openai():
    return pytest.importorskip("openai")


@pytest.fixture(scope="module")
def peers(openai):
    """The official clients over a transport that answers with a body."""
    pytest.importorskip("google.genai")
    from tests.corpus import peers

    return peers


@pytest.fixture(scope="module")
def genai():
    return pytest.importorskip("google.genai")


def payloads(body: bytes) -> list[Any]:
    return [json.loads(event.data) for event in SseDecoder().feed(body)]


def undeclared(value: object, path: str = "$") -> Iterator[str]:
    """Name the members that a validated object holds and its class does not declare."""
    if isinstance(value, BaseModel):
        for name in value.model_extra or {}:
            yield f"{path}.{name}"
        for name in type(value).model_fields:
            yield from undeclared(getattr(value, name), f"{path}.{name}")
    elif isinstance(value, list):
        for place, entry in enumerate(value):
            yield from undeclared(entry, f"{path}[{place}]")


class TestResponses:
    @few
    @given(events=event_turns())
    def test_every_event_is_one_that_is_declared(self, openai, events):
        adapter = TypeAdapter(openai.types.responses.ResponseStreamEvent)
        said = payloads(encode(events, "openai-responses", source=FOREIGN))
        for number, payload in enumerate(said):
            assert payload["sequence_number"] == number
            event = adapter.validate_python(payload, strict=True)
            assert event.type == payload["type"]
            # What a model declares as optional and unset is left to it.
            assert not list(undeclared(event)), payload

    @few
    @given(events=event_turns())
    def test_the_helper_assembles_the_turn(self, peers, events):
        body = encode(events, "openai-responses", source=FOREIGN)
        peers.REPLAY.body, peers.REPLAY.media_type = body, "text/event-stream"
        final = peers.responses_final()
        wanted = expected(events, Dialect.OPENAI_RESPONSES)
        assert list(blocks_of_output(final["output"])) == wanted.content
        usage = final["usage"]
        if wanted.usage is None:
            assert usage is None
        else:
            assert usage["total_tokens"] == wanted.usage.total_tokens
            assert usage["output_tokens"] == wanted.usage.output_tokens
        # The response that is not streamed is the one at the stream's end.
        assert decode_message(body, "openai-responses").id == final["id"]

    @few
    @given(events=event_turns())
    def test_a_body_is_a_response(self, openai, events):
        body = format_response(assemble(events), "openai-responses", source=FOREIGN)
        response = openai.types.responses.Response.model_validate(json.loads(body), strict=True)
        assert not list(undeclared(response))

    def test_a_failure_is_raised_by_the_client(self, openai, peers, spoken):
        encoder = StreamEncoder("openai-responses", source=FOREIGN)
        body = b"".join(map(encoder.feed, spoken)) + encoder.fail(FAILURE)
        peers.REPLAY.body, peers.REPLAY.media_type = body, "text/event-stream"
        with pytest.raises(openai.APIError, match="Busy"):
            peers.responses_final()
        kinds = [payload["type"] for payload in payloads(body)]
        assert kinds[-2:] == ["error", "response.failed"]
        last = payloads(body)[-1]["response"]
        assert (last["status"], last["error"]["code"]) == ("failed", "overloaded_error")


class TestGemini:
    @few
    @given(events=event_turns())
    def test_every_payload_is_one_that_is_declared(self, genai, events):
        for payload in payloads(encode(events, "gemini", source=FOREIGN)):
            genai.types.GenerateContentResponse.model_validate(payload)

    @few
    @given(events=event_turns())
    def test_the_client_reads_the_turn(self, peers, events):
        body = encode(events, "gemini", source=FOREIGN)
        peers.REPLAY.body, peers.REPLAY.media_type = body, "text/event-stream"
        chunks = peers.gemini_final()["chunks"]
        wanted = expected(events, Dialect.GEMINI)
        assert form(decode_message(body, "gemini")) == wanted.content
        parts = [part for chunk in chunks for part in parts_of(chunk)]
        text = "".join(part["text"] for part in parts if "text" in part and not part.get("thought"))
        thinking = "".join(part.get("text", "") for part in parts if part.get("thought"))
        calls = [part["functionCall"] for part in parts if "functionCall" in part]
        assert text == joined_of(wanted.content, "text")
        assert thinking == joined_of(wanted.content, "thinking")
        assert [(call["id"], call["name"], call.get("args", {})) for call in calls] == [
            (piece[1], piece[2], json.loads(piece[3] or "{}"))
            for piece in wanted.content
            if piece[0] == "tool_use"
        ]
        usage = chunks[-1].get("usageMetadata")
        assert (usage and usage["totalTokenCount"]) == (wanted.usage and wanted.usage.total_tokens)

    @few
    @given(events=event_turns())
    def test_a_body_is_a_response(self, genai, events):
        body = format_response(assemble(events), "gemini", source=FOREIGN)
        genai.types.GenerateContentResponse.model_validate(json.loads(body))

    def test_a_failure_is_raised_by_the_client(self, genai, peers, spoken):
        encoder = StreamEncoder("gemini", source=FOREIGN)
        body = b"".join(map(encoder.feed, spoken)) + encoder.fail(FAILURE)
        peers.REPLAY.body, peers.REPLAY.media_type = body, "text/event-stream"
        with pytest.raises(genai.errors.ServerError) as caught:
            peers.gemini_final()
        assert (caught.value.code, caught.value.message) == (503, "Busy")


FAILURE = ProviderError("Busy", kind="overloaded_error", retryable=True)


@pytest.fixture
def spoken() -> Sequence[StreamEvent]:
    """A turn that has begun."""
    return [MessageStart("r1", "m"), TextDelta(0, "Hel")]


def blocks_of_output(output: list[dict[str, Any]]) -> Iterator[tuple[str, ...]]:
    """Give the items of an output in the blind form."""
    for item in output:
        match item["type"]:
            case "message":
                for part in item["content"]:
                    yield "text", part["text"]
            case "reasoning":
                yield "thinking", "".join(part["text"] for part in item["summary"])
            case _:
                yield "tool_use", item["call_id"], item["name"], item["arguments"]


def parts_of(chunk: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for candidate in chunk.get("candidates") or []:
        yield from candidate["content"].get("parts") or []


def joined_of(content: Sequence[tuple[str, ...]], kind: str) -> str:
    return "".join(piece[-1] for piece in content if piece[0] == kind)
