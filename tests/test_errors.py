"""The exceptions: their family, their attributes, and that they survive pickling."""

from __future__ import annotations

import copy
import pickle
import traceback
from typing import Any

import pytest
from tests.support.outcome import fault_of
from tests.support.samples import CUT, ODD, REFUSED, chunk

import turntape
from turntape import (
    EventTooLarge,
    InvalidToolArguments,
    MalformedEvent,
    ProviderError,
    StreamError,
    StrictError,
    ToolUse,
    TruncatedStream,
    TurntapeError,
    UnknownDialect,
)

BODIES: dict[type[StreamError], tuple[str, dict[str, Any]]] = {
    ProviderError: (chunk({"content": "Hi"}) + REFUSED, {}),
    MalformedEvent: (chunk({"content": "Hi"}) + "data: {]\n\n", {}),
    TruncatedStream: (CUT, {}),
    EventTooLarge: (
        chunk({"content": "Hi"}) + chunk({"content": "x" * 200}),
        {"max_event_bytes": 150},
    ),
    StrictError: (ODD, {"strict": True}),
}


def raised(kind: type[StreamError]) -> StreamError:
    body, options = BODIES[kind]
    with pytest.raises(StreamError) as caught:
        turntape.decode(body, "openai-chat", vendor="v", **options)
    assert type(caught.value) is kind
    return caught.value


@pytest.mark.parametrize("kind", BODIES, ids=lambda kind: kind.__name__)
def test_a_stream_error_survives_pickling_and_copying(kind):
    error = raised(kind)
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):  # noqa: S301 (our own)
        assert type(twin) is kind
        assert twin.args == error.args
        assert str(twin) == str(error)
        assert (twin.partial, twin.events) == (error.partial, error.events)
        assert fault_of(twin) == fault_of(error)
        assert vars(twin) == vars(error)


@pytest.mark.parametrize("kind", BODIES, ids=lambda kind: kind.__name__)
def test_a_stream_error_carries_what_came(kind):
    error = raised(kind)
    assert isinstance(error, TurntapeError)
    assert error.events
    assert error.partial is not None
    assert not error.partial.complete
    assert error.partial.content
    assert error.partial.vendor == "v"
    assert isinstance(error.offset, int)
    assert str(error)
    assert str(error) in traceback.format_exception_only(error)[0]
    if kind in {ProviderError, MalformedEvent}:
        assert error.raw
        body = BODIES[kind][0]
        assert body[error.offset :].startswith(f"data: {error.raw}\n")


def test_errors_can_be_made_by_hand():
    assert ProviderError("no", kind="k").before_content
    assert str(ProviderError("no", kind="k")) == "[k] no"
    assert str(ProviderError("no", kind="k", status=500)) == "[k 500] no"
    error = StreamError("m")
    assert (error.partial, error.offset, error.raw, error.events) == (None, 0, None, ())
    warning = turntape.DecodeWarning("not_json", "d", 3)
    assert StrictError("m", warning=warning).warning == warning


def test_tool_arguments_that_cannot_be_used():
    with pytest.raises(InvalidToolArguments, match="weather") as caught:
        _ = ToolUse("id", "weather", "{").input
    twin = pickle.loads(pickle.dumps(caught.value))  # noqa: S301 (our own)
    assert (twin.reason, twin.arguments) == ("malformed", "{")
    assert isinstance(twin, TurntapeError)
    assert not isinstance(twin, StreamError)


@pytest.mark.parametrize("kind", [TurntapeError, UnknownDialect])
def test_the_other_errors(kind):
    error = kind("words")
    twin = pickle.loads(pickle.dumps(error))  # noqa: S301 (our own)
    assert type(twin) is kind
    assert str(twin) == "words"
    assert issubclass(kind, TurntapeError)


def test_an_error_raised_twice_is_two_objects():
    decoder = turntape.StreamDecoder("openai-chat")
    decoder.feed(CUT)
    errors = []
    for _ in range(2):
        with pytest.raises(TruncatedStream) as caught:
            decoder.finish()
        errors.append(caught.value)
    assert errors[0] is not errors[1]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("", "empty"),
        (": ping\n\n", "comments"),
        ("<html>Bad gateway</html>", "Bad gateway"),
        ("data: [DONE]\n\n", "DONE"),
    ],
)
def test_a_body_without_a_turn_says_what_came(body, words):
    with pytest.raises(TruncatedStream, match=words) as caught:
        turntape.decode(body, "openai-chat")
    assert caught.value.offset == len(body)
    assert caught.value.events == []
    assert caught.value.partial == turntape.StreamDecoder("openai-chat").snapshot()
