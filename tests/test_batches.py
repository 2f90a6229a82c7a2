"""``iter_batch_results``: every provider's file of batch results."""

from __future__ import annotations

import io
import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.bodies import bodies, can_hold
from tests.support.encoders import WIRES
from tests.support.turns import turns

import turntape
from turntape import (
    AssistantMessage,
    BatchLineError,
    ProviderError,
    TruncatedStream,
    iter_batch_results,
    parse_response,
)

ANTHROPIC = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [{"type": "text", "text": "Hi"}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 3, "output_tokens": 1},
}
CHAT = {
    "id": "c1",
    "object": "chat.completion",
    "choices": [{"index": 0, "message": {"content": "Hi"}, "finish_reason": "stop"}],
}
RESPONSES = {
    "id": "r1",
    "object": "response",
    "status": "completed",
    "output": [{"type": "message", "content": [{"type": "output_text", "text": "Hi"}]}],
}
GEMINI = {"candidates": [{"content": {"parts": [{"text": "Hi"}]}, "finishReason": "STOP"}]}
CONVERSE = {"output": {"message": {"content": [{"text": "Hi"}]}}, "stopReason": "end_turn"}

# Each way in which a provider writes a response: dialect, line, response.
MESSAGES: list[tuple[str, Any, Any]] = [
    (
        "anthropic",
        {"custom_id": "a", "result": {"type": "succeeded", "message": ANTHROPIC}},
        ANTHROPIC,
    ),
    (
        "openai-chat",
        {
            "id": "batch_req_1",
            "custom_id": "a",
            "response": {"status_code": 200, "request_id": "q", "body": CHAT},
            "error": None,
        },
        CHAT,
    ),
    # Imitators leave out members, or write that there was no error in words of their own.
    (
        "openai-chat",
        {"custom_id": "a", "response": {"status_code": 200, "body": CHAT}, "error": {}},
        CHAT,
    ),
    (
        "openai-responses",
        {"custom_id": "a", "response": {"status_code": 200, "body": RESPONSES}, "error": ""},
        RESPONSES,
    ),
    ("gemini", {"key": "a", "response": GEMINI}, GEMINI),
    ("gemini", {"metadata": {"key": "a"}, "response": GEMINI}, GEMINI),
    ("gemini", {"key": "a", "request": {"contents": []}, "status": "", "response": GEMINI}, GEMINI),
    ("bedrock-converse", {"recordId": "a", "modelInput": {}, "modelOutput": CONVERSE}, CONVERSE),
    ("anthropic", {"recordId": "a", "modelInput": {}, "modelOutput": ANTHROPIC}, ANTHROPIC),
]


@pytest.mark.parametrize(("dialect", "line", "response"), MESSAGES)
def test_a_response_is_read_as_it_is_alone(dialect, line, response):
    [(custom_id, message)] = iter_batch_results([json.dumps(line)], dialect, vendor="v")
    assert custom_id == "a"
    assert message == parse_response(json.dumps(response), dialect, vendor="v")
    assert isinstance(message, AssistantMessage)
    assert message.complete
    assert message.content == (turntape.Text("Hi"),)


# Bodies that say nothing of the fault that their status is.
WORDLESS: tuple[dict[str, Any], ...] = (
    {"body": ""},
    {"body": {}},
    {"body": None},
    {},
    {"body": {"error": ""}},
)

# Each way in which a provider says that there is none: dialect, line, kind, message, status, retryable.
FAULTS: list[tuple[str, Any, tuple[Any, ...]]] = [
    (
        "anthropic",
        {"result": {"type": "errored", "error": {
            "type": "error", "error": {"type": "overloaded_error", "message": "Full"}, "request_id": "q",
        }}},
        ("overloaded_error", "Full", None, True),
    ),
    (
        "anthropic",
        {"result": {"type": "errored", "error": {"type": "invalid_request_error", "message": "No"}}},
        ("invalid_request_error", "No", None, False),
    ),
    (
        "anthropic",
        {"result": {"type": "expired"}},
        ("expired", "the batch expired before this request was sent to the model", None, True),
    ),
    (
        "anthropic",
        {"result": {"type": "canceled"}},
        ("canceled", "the batch was cancelled before this request was sent to the model", None, False),
    ),
    (
        "openai-chat",
        {"response": {"status_code": 429, "body": {"error": {
            "message": "Slow", "type": "requests", "param": None, "code": "rate_limit_exceeded",
        }}}, "error": None},
        ("rate_limit_exceeded", "Slow", 429, True),
    ),
    (
        "openai-responses",
        {"response": {"status_code": 429, "body": {"error": {
            "message": "Pay", "type": "insufficient_quota", "code": "insufficient_quota",
        }}}},
        ("insufficient_quota", "Pay", 429, False),
    ),
    (
        "openai-chat",
        {"response": {"status_code": 502, "body": "<html>"}},
        ("error", "<html>", 502, True),
    ),
    ("openai-chat", {"response": {"status_code": 400, "body": 7}}, ("error", "7", 400, False)),
    *(
        (
            "openai-responses",
            {"response": {"status_code": 503, **body}, "error": None},
            ("error", "the response has the status 503, and says no more", 503, True),
        )
        for body in WORDLESS
    ),
    (
        "openai-chat",
        {"response": None, "error": {"code": "batch_expired", "message": "Late"}},
        ("batch_expired", "Late", None, True),
    ),
    (
        "openai-chat",
        {"response": {"status_code": 200, "body": {"error": {"message": "Odd", "type": "server_error"}}}},
        ("server_error", "Odd", None, True),
    ),
    ("gemini", {"error": {"code": 8, "message": "Full"}}, ("RESOURCE_EXHAUSTED", "Full", None, True)),
    ("gemini", {"error": {"code": 3, "message": "Bad"}}, ("INVALID_ARGUMENT", "Bad", None, False)),
    (
        "gemini",
        {"error": {"code": 503, "message": "Busy", "status": "UNAVAILABLE"}},
        ("UNAVAILABLE", "Busy", 503, True),
    ),
    ("gemini", {"error": {"code": 99, "message": "?"}}, ("error", "?", None, False)),
    ("gemini", {"error": {"code": 14}}, ("UNAVAILABLE", '{"code": 14}', None, True)),
    ("gemini", {"error": "no more"}, ("error", "no more", None, False)),
    (
        "bedrock-converse",
        {"modelInput": {}, "error": {"errorCode": 400, "errorMessage": "bad request"}},
        ("error", "bad request", 400, False),
    ),
]  # fmt: skip
_IDS = {"gemini": "key", "bedrock-converse": "recordId"}


@pytest.mark.parametrize(("dialect", "line", "expected"), FAULTS)
def test_a_fault_is_handed_over(dialect, line, expected):
    text = json.dumps({_IDS.get(dialect, "custom_id"): "a", **line})
    [(custom_id, fault)] = iter_batch_results([text], dialect)
    assert custom_id == "a"
    assert isinstance(fault, ProviderError)
    assert (fault.kind, fault.message, fault.status, fault.retryable) == expected
    assert fault.before_content
    assert fault.partial == AssistantMessage(dialect=turntape.Dialect(dialect))
    # What the line says of it, and nothing that was put there for reading it.
    assert fault.raw is not None
    assert json.loads(fault.raw) in (
        line.get("error"),
        line.get("result"),
        line.get("result", {}).get("error"),
        line.get("response"),
        (line.get("response") or {}).get("body"),
    )
    assert fault.__traceback__ is None


GOOD = json.dumps({"custom_id": "good", "result": {"type": "succeeded", "message": ANTHROPIC}})
BAD: list[tuple[Any, str | None, str]] = [
    ("{", None, "not JSON"),
    ("[]", None, "an object is expected"),
    ("7", None, "an object is expected"),
    ("{} {}", None, "not JSON"),
    (b"\xff", None, "not UTF-8"),
    ("{}", None, "names no request"),
    ('{"custom_id": 7, "result": {}}', None, "custom_id: a string is expected"),
    ('{"metadata": {}, "response": {}}', None, "names no request"),
    ('{"metadata": "a", "response": {}}', None, "metadata: an object is expected"),
    ('{"custom_id": "a"}', "a", "neither a result"),
    ('{"custom_id": "a", "result": null, "response": null}', "a", "neither a result"),
    ('{"custom_id": "a", "result": "succeeded"}', "a", "result: an object is expected"),
    ('{"custom_id": "a", "result": {}}', "a", "'type' is missing"),
    ('{"custom_id": "a", "result": {"type": "succeeded"}}', "a", "not what belongs to it"),
    ('{"custom_id": "a", "result": {"type": "melted"}}', "a", "or is not known"),
    ('{"custom_id": "a", "response": {"status_code": 200}}', "a", "'body' is missing"),
    ('{"custom_id": "a", "response": {"status_code": "x"}}', "a", "a number is expected"),
    ('{"custom_id": "a", "response": {"body": {}, "status_code": 200}}', "a", "no whole turn"),
    ('{"key": "a", "response": {}}', "a", "no whole turn"),
    ('{"recordId": "a", "modelOutput": "x"}', "a", "no whole turn"),
    (
        json.dumps({"custom_id": "a", "result": {"type": "succeeded", "message": CHAT}}),
        "a",
        "no whole",
    ),
]


@pytest.mark.parametrize(("line", "custom_id", "text"), BAD)
def test_a_line_that_holds_no_result_is_told_and_the_rest_is_not_lost(line, custom_id, text):
    results = iter_batch_results(["", GOOD, line, "\r\n", GOOD], "anthropic")
    assert next(results)[0] == "good"
    with pytest.raises(BatchLineError, match=text) as raised:
        next(results)
    assert (raised.value.line, raised.value.custom_id) == (3, custom_id)
    assert isinstance(raised.value, ValueError)
    assert raised.value.__cause__ is not None
    assert [name for name, _ in results] == ["good"]
    with pytest.raises(StopIteration):
        next(results)
    faults: list[BatchLineError] = []
    again = iter_batch_results([line, GOOD, line], "anthropic", faults=faults)
    assert [name for name, _ in again] == ["good"]
    assert [(fault.line, fault.custom_id) for fault in faults] == [(1, custom_id), (3, custom_id)]


def test_a_cut_file_keeps_what_is_whole():
    file = f"{GOOD}\n{GOOD}\n"[:-20]
    faults: list[BatchLineError] = []
    assert len(list(iter_batch_results(file, "anthropic", faults=faults))) == 1
    [fault] = faults
    again = pickle.loads(pickle.dumps(fault))  # noqa: S301 (its own)
    assert (str(again), again.line, again.custom_id) == (str(fault), 2, None)
    assert "Hi" not in str(fault)


def test_a_response_that_has_not_ended_names_its_cause():
    line = json.dumps(
        {"custom_id": "a", "response": {"status_code": 200, "body": {**CHAT, "choices": []}}}
    )
    with pytest.raises(BatchLineError) as raised:
        next(iter_batch_results([line], "openai-chat"))
    assert isinstance(raised.value.__cause__, TruncatedStream)


@pytest.mark.parametrize(
    "lines",
    [
        f"\ufeff{GOOD}\n\n{GOOD}",
        f"{GOOD}\r\n{GOOD}\r\n".encode(),
        bytearray(f"\ufeff{GOOD}\n{GOOD}\n".encode()),
        memoryview(f"{GOOD}\n{GOOD}\n".encode()),
        [memoryview(GOOD.encode()), bytearray(GOOD.encode())],
        (GOOD + "\n" for _ in range(2)),
        io.BytesIO(f"{GOOD}\n{GOOD}\n".encode()),
        io.StringIO(f"{GOOD}\n{GOOD}"),
    ],
    ids=[
        "str",
        "bytes",
        "bytearray",
        "memoryview",
        "list",
        "generator",
        "binary file",
        "text file",
    ],
)
def test_lines_come_in_many_ways(lines):
    assert [name for name, _ in iter_batch_results(lines, "anthropic")] == ["good", "good"]


def test_characters_that_some_take_for_line_ends_are_data():
    message = {**ANTHROPIC, "content": [{"type": "text", "text": "a\u2028b\u0085c"}]}
    line = {"custom_id": "a", "result": {"type": "succeeded", "message": message}}
    [(_, result)] = iter_batch_results(json.dumps(line, ensure_ascii=False), "anthropic")
    assert isinstance(result, AssistantMessage)
    assert result.content == (turntape.Text("a\u2028b\u0085c"),)


def test_lines_are_read_as_they_come():
    taken: list[int] = []

    def lines():
        for number in range(3):
            taken.append(number)
            yield GOOD

    results = iter_batch_results(lines(), "anthropic")
    assert taken == []
    next(results)
    assert taken == [0]


def test_mistakes_of_the_caller_are_told_at_once():
    with pytest.raises(ValueError, match="klingon"):
        iter_batch_results([], "klingon")
    with pytest.raises((ValueError, OverflowError)):
        iter_batch_results([], "openai-chat", choice=-1)
    with pytest.raises(TypeError, match="line 1 is neither text nor bytes but dict"):
        next(iter_batch_results([{}], "anthropic"))  # type: ignore[list-item]


def test_the_options_are_those_of_a_response():
    two = [
        {"index": at, "message": {"content": text}, "finish_reason": "stop"}
        for at, text in enumerate(["one", "two"])
    ]
    line = {"custom_id": "a", "response": {"status_code": 200, "body": {**CHAT, "choices": two}}}
    [(_, result)] = iter_batch_results([json.dumps(line)], "openai-chat", choice=1)
    assert isinstance(result, AssistantMessage)
    assert result.content == (turntape.Text("two"),)


def wrapped(wire: str, number: int, body: str) -> str:
    """Write a response as a line of its provider's file."""
    match wire:
        case "anthropic":
            return f'{{"custom_id":"{number}","result":{{"message":{body},"type":"succeeded"}}}}'
        case "gemini":
            return f'{{"response":{body},"key":"{number}"}}'
        case "bedrock-converse":
            return (
                f'{{"modelInput":{{"modelOutput":1}},"modelOutput":{body},"recordId":"{number}"}}'
            )
        case _:
            return f'{{"custom_id":"{number}","response":{{"status_code":200,"body":{body}}},"error":null}}'


@given(data=st.data(), said=st.lists(turns(), min_size=1, max_size=4), wire=st.sampled_from(WIRES))
def test_whatever_stands_between_every_response_comes_out(data, said, wire):
    noise = st.lists(
        st.sampled_from(["", " \t", "\r", "{", "null", '{"custom_id":"lost"}', "\ufffd"]),
        max_size=2,
    )
    lines: list[str] = []
    expected: list[tuple[str, AssistantMessage]] = []
    for number, turn in enumerate(said):
        lines += data.draw(noise)
        if can_hold(turn, wire):
            body = data.draw(bodies(turn, wire)).replace("\n", " ")
            lines.append(wrapped(wire, number, body))
            expected.append((str(number), parse_response(body, wire)))
    lines += data.draw(noise)
    bad = [
        number
        for number, line in enumerate(lines, 1)
        if line in {"{", "null", "\ufffd"} or "lost" in line
    ]
    for source in (lines, "\n".join(lines), "\n".join(lines).encode()):
        faults: list[BatchLineError] = []
        assert list(iter_batch_results(source, wire, faults=faults)) == expected
        assert [fault.line for fault in faults] == bad


@given(
    text=st.recursive(
        st.none()
        | st.booleans()
        | st.integers(0, 600)
        | st.sampled_from(["succeeded", "errored", "a"]),
        lambda inner: (
            st.lists(inner, max_size=2)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "custom_id",
                        "key",
                        "recordId",
                        "metadata",
                        "result",
                        "type",
                        "message",
                        "error",
                        "response",
                        "status_code",
                        "body",
                        "modelOutput",
                        "errorCode",
                        "errorMessage",
                        "code",
                        "status",
                    ]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    ).map(json.dumps),
    wire=st.sampled_from(WIRES),
)
def test_no_line_gives_anything_else_than_a_result_or_a_fault(text, wire):
    faults: list[BatchLineError] = []
    results = list(iter_batch_results([text], wire, faults=faults))
    assert len(results) + len(faults) == 1
    for custom_id, result in results:
        assert isinstance(custom_id, str)
        assert isinstance(result, AssistantMessage | ProviderError)
