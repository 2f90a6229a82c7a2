"""Bodies of responses that were not streamed: a body that holds no turn is none."""

from __future__ import annotations

import pytest

from turntape import Dialect, ProviderError, TruncatedStream, parse_response

# A body for each dialect, and some that are of none.
BODIES = {
    Dialect.ANTHROPIC: '{"type": "message", "content": [], "stop_reason": "end_turn"}',
    Dialect.OPENAI_CHAT: '{"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]}',
    Dialect.OPENAI_RESPONSES: '{"object": "response", "status": "completed", "output": []}',
    Dialect.GEMINI: '{"candidates": [{"content": {}, "finishReason": "STOP"}]}',
    Dialect.BEDROCK_CONVERSE: '{"output": {"message": {"content": []}}, "stopReason": "end_turn"}',
    "nothing": "{}",
    "a fault of another shape": '{"code": 400, "message": "too hot", "type": "Bad Request"}',
    "a state": '{"status": "completed"}',
}


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("dialect", Dialect)
def test_a_body_of_another_kind_holds_no_turn(dialect: Dialect, body: str) -> None:
    if body == dialect:
        assert parse_response(BODIES[body], dialect).complete
        return
    with pytest.raises(TruncatedStream) as raised:
        parse_response(BODIES[body], dialect)
    assert raised.value.raw == BODIES[body]
    assert raised.value.partial is not None
    assert not raised.value.partial.complete


@pytest.mark.parametrize("status", ["queued", "in_progress"])
def test_a_response_in_the_making_has_not_ended(status: str) -> None:
    with pytest.raises(TruncatedStream):
        parse_response(f'{{"object": "response", "status": "{status}"}}', "openai-responses")


@pytest.mark.parametrize("status", ["failed", "cancelled"])
def test_a_response_that_failed_is_an_error(status: str) -> None:
    with pytest.raises(ProviderError):
        parse_response(f'{{"object": "response", "status": "{status}"}}', "openai-responses")


def test_a_response_without_a_status_is_whole() -> None:
    body = '{"output": [{"type": "message", "content": [{"type": "output_text", "text": "Hi"}]}]}'
    message = parse_response(body, "openai-responses")
    assert [block.type for block in message.content] == ["text"]
    assert message.complete
