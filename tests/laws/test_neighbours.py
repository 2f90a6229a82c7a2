"""What an event means does not depend on whether the one before it was of the same bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hypothesis import given
from hypothesis import strategies as st

from turntape import Dialect, StreamDecoder, StreamError

if TYPE_CHECKING:
    from turntape import StreamEvent


def _calls(fragment: str) -> str:
    return f'{{"id":"r","choices":[{{"index":0,"delta":{{"tool_calls":[{fragment}]}}}}]}}'


def _said(delta: str) -> str:
    return f'{{"id":"r","choices":[{{"index":0,"delta":{{{delta}}}}}]}}'


def _block(index: int, delta: str) -> str:
    return f'{{"type":"content_block_delta","index":{index},"delta":{{{delta}}}}}'


PAYLOADS: Final = {
    Dialect.OPENAI_CHAT: [
        _calls('{"index":0,"id":"a","function":{"name":"f","arguments":""}}'),
        _calls('{"index":0,"id":"b","function":{"name":"g","arguments":"{"}}'),
        _calls('{"index":1,"id":"c","function":{"name":"f"}}'),
        _calls('{"index":0,"function":{"arguments":"1"}}'),
        _calls('{"index":1,"function":{"arguments":"2"}}'),
        _calls('{"index":"0","function":{"arguments":"3"}}'),
        _calls('{"id":"a","function":{"arguments":"4"}}'),
        _said('"content":"x"'),
        _said('"reasoning":"y"'),
        _said('"reasoning_content":"z","reasoning":"y"'),
        '{"choices":[{"delta":{},"finish_reason":"stop"}]}',
    ],
    Dialect.ANTHROPIC: [
        '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
        '{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"f"}}',
        '{"type":"content_block_start","index":1,"content_block":{"type":"thinking","thinking":""}}',
        '{"type":"content_block_stop","index":0}',
        _block(0, '"type":"text_delta","text":"x"'),
        _block(0, '"type":"input_json_delta","partial_json":"1"'),
        _block(1, '"type":"thinking_delta","thinking":"y"'),
        _block(1, '"type":"signature_delta","signature":"c2ln"'),
    ],
    Dialect.OPENAI_RESPONSES: [
        '{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"a"}}',
        (
            '{"type":"response.output_item.added","output_index":0,'
            '"item":{"type":"function_call","id":"b","call_id":"b","name":"f"}}'
        ),
        '{"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"a"}}',
        '{"type":"response.output_text.delta","output_index":0,"item_id":"a","delta":"x"}',
        '{"type":"response.output_text.delta","item_id":"a","delta":"y"}',
        '{"type":"response.function_call_arguments.delta","output_index":0,"delta":"1"}',
        '{"type":"response.function_call_arguments.delta","item_id":"b","delta":"2"}',
        '{"type":"response.reasoning_text.delta","output_index":1,"content_index":0,"delta":"z"}',
    ],
    Dialect.GEMINI: [
        '{"candidates":[{"content":{"parts":[{"text":"x"}]}}],"usageMetadata":{"promptTokenCount":1}}',
        '{"candidates":[{"content":{"parts":[{"text":"y","thought":true}]}}]}',
        '{"candidates":[{"content":{"parts":[{"text":"z"}]},"finishReason":"STOP"}]}',
        '{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{}}}]}}]}',
        '{"candidates":[],"usageMetadata":{"promptTokenCount":99999999999999999999}}',
    ],
}


def read(dialect: Dialect, body: bytes) -> tuple[list[StreamEvent], str | None, list[str]]:
    """Give the events of a body, the kind of its failure and the codes of its warnings."""
    decoder = StreamDecoder(dialect)
    failure = None
    events: list[StreamEvent] = []
    try:
        events += decoder.feed(body)
        events += decoder.finish()
    except StreamError as error:
        failure = type(error).__name__
    return events, failure, [warning.code for warning in decoder.warnings]


@given(st.data())
def test_an_event_is_read_as_if_no_other_were_like_it(data):
    dialect = data.draw(st.sampled_from(sorted(PAYLOADS)))
    # A comment in an event keeps others from being compared with it, but not it from the ones before.
    event = st.tuples(st.sampled_from(PAYLOADS[dialect]), st.booleans())
    events = data.draw(st.lists(event, min_size=4, max_size=16))
    alone = "".join(f":\ndata: {payload}\n\n" for payload, _ in events)
    mixed = "".join(":\n" * marked + f"data: {payload}\n\n" for payload, marked in events)
    assert read(dialect, mixed.encode()) == read(dialect, alone.encode())


def test_a_comment_brings_back_no_event_that_has_come_to_mean_another_block():
    # The index is no number, so that the fragment belongs to the call that opened last.
    nameless = _calls('{"index":"0","function":{"arguments":"3"}}')
    payloads = [
        _calls('{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}'),
        nameless,
        _calls('{"index":1,"id":"b","function":{"name":"g","arguments":"{"}}'),
        _calls('{"index":0,"function":{"arguments":"1"}}'),
        nameless,
    ]
    parts = [f"data: {payload}\n\n" for payload in payloads]
    parts[3] = ":\n" + parts[3]
    decoder = StreamDecoder(Dialect.OPENAI_CHAT)
    decoder.feed("".join(parts))
    content = decoder.snapshot().content
    assert [block.arguments for block in content] == ["{31", "{3"]  # type: ignore[union-attr]
