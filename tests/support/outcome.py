"""Everything that decoding a body gave, in a form that two ways of decoding can be compared by."""

# Whether a stream fails is part of what is checked, so errors are caught, not expected.
# ruff: noqa: PT017

from __future__ import annotations

import itertools
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import turntape
from turntape import (
    InputJsonDelta,
    ProviderError,
    StreamDecoder,
    StreamError,
    StrictError,
    TextDelta,
    ThinkingDelta,
    Usage,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from turntape import (
        AssistantMessage,
        DecodeWarning,
        StreamEvent,
    )


@dataclass(frozen=True)
class Fault:
    """The public facts of a StreamError, but its partial message and its events."""

    kind: str
    text: str
    offset: int
    raw: str | None
    provider: tuple[str, str, int | None, bool, bool] | None
    warning: DecodeWarning | None


@dataclass(frozen=True)
class Outcome:
    """What came out of a body: the message is the partial one where it failed."""

    events: tuple[StreamEvent, ...]
    message: AssistantMessage
    fault: Fault | None

    @property
    def warnings(self) -> tuple[DecodeWarning, ...]:
        return self.message.warnings


def fault_of(error: StreamError) -> Fault:
    provider = None
    if isinstance(error, ProviderError):
        provider = (
            error.kind,
            error.message,
            error.status,
            error.retryable,
            error.before_content,
        )
    warning = error.warning if isinstance(error, StrictError) else None
    return Fault(type(error).__name__, str(error), error.offset, error.raw, provider, warning)


def partial_of(error: StreamError) -> AssistantMessage:
    assert error.partial is not None
    assert not error.partial.complete
    return error.partial


def decode_whole(body: bytes | str, dialect: str, **options: Any) -> Outcome:
    """Decode in one call."""
    try:
        events = turntape.decode(body, dialect, **options)
    except StreamError as error:
        return Outcome(tuple(error.events), partial_of(error), fault_of(error))
    message = turntape.decode_message(body, dialect, **options)
    return Outcome(tuple(events), message, None)


def decode_chunks(chunks: Iterable[bytes], dialect: str, **options: Any) -> Outcome:
    """Feed a decoder piece by piece, as a host would."""
    decoder = StreamDecoder(dialect, **options)
    events: list[StreamEvent] = []
    try:
        for chunk in chunks:
            events += decoder.feed(chunk)
        events += decoder.finish()
    except StreamError as error:
        events += error.events
        assert decoder.snapshot() == error.partial
        return Outcome(tuple(events), partial_of(error), fault_of(error))
    assert decoder.is_terminal
    return Outcome(tuple(events), decoder.snapshot(), None)


def decode_message_only(body: bytes, dialect: str, **options: Any) -> Outcome:
    """Decode on the path that makes no events."""
    try:
        message = turntape.decode_message(body, dialect, **options)
    except StreamError as error:
        assert not error.events
        return Outcome((), partial_of(error), fault_of(error))
    return Outcome((), message, None)


def cut(body: bytes, places: Iterable[int]) -> list[bytes]:
    """Cut a body at these places, each taken modulo its length."""
    length = len(body) + 1
    borders = sorted({0, len(body), *(place % length for place in places)})
    return [body[start:end] for start, end in itertools.pairwise(borders)]


def every(body: bytes, size: int) -> list[bytes]:
    """Cut a body into pieces of one size."""
    return [body[start : start + size] for start in range(0, len(body), size)]


def bare(message: AssistantMessage, *, usage: bool = True) -> AssistantMessage:
    """Take off a message what its events do not carry."""
    kept = message.usage if usage else None
    return replace(message, dialect=None, vendor=None, warnings=(), usage=kept)


def check_sum(outcome: Outcome) -> None:
    """Hold the sum law: the events alone add up to the message."""
    summed = turntape.assemble(outcome.events)
    # Usage is an event only right before the stop; before that only the decoder knows it.
    whole = outcome.message.complete
    assert summed == bare(outcome.message, usage=whole)
    usages = [event for event in outcome.events if isinstance(event, Usage)]
    assert usages == ([outcome.message.usage] if whole and outcome.message.usage else [])
    check_order(outcome.events, complete=whole)


def check_order(events: Sequence[StreamEvent], *, complete: bool) -> None:
    """Hold what the vocabulary promises of every sequence, whole or not."""
    kinds = [event.type for event in events]
    assert kinds.count("message_start") <= 1
    assert kinds.count("usage") <= 1
    assert kinds.count("message_stop") == int(complete)
    if complete:
        assert kinds[0] == "message_start"
        assert kinds[-1] == "message_stop"
        assert "usage" not in kinds or kinds[-2] == "usage"
    opened = 0
    closed: set[int] = set()
    for event in events:
        index = getattr(event, "index", None)
        if isinstance(event, TextDelta | ThinkingDelta):
            assert event.text
        if isinstance(event, InputJsonDelta):
            assert event.partial_json
        if index is None:
            continue
        assert index not in closed
        assert 0 <= index <= opened
        if index == opened:
            assert event.type not in {"content_block_stop", "input_json_delta"}
            opened += 1
        if event.type == "content_block_stop":
            closed.add(index)
    assert not complete or len(closed) == opened


def as_dict(value: Any) -> Any:
    """Turn events, blocks and messages into the dicts of the vectors."""
    if isinstance(value, tuple | list):
        return [as_dict(item) for item in value]
    if hasattr(value, "__dataclass_fields__"):
        return {item.name: as_dict(getattr(value, item.name)) for item in fields(value)}
    return value
