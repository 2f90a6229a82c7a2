"""What becomes of each recorded stream: complete, or failed and warned of exactly as expected."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.corpus.differences import expected

from turntape import ProviderError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.corpus.streams import Stream

pytestmark = pytest.mark.corpus


def test_every_stream_is_complete_but_for_the_expected_failures(recorded: Sequence[Stream]) -> None:
    failures = {entry["stream"]: (entry["error"], entry["kind"]) for entry in expected()["failure"]}
    found: dict[str, tuple[str, str | None]] = {}
    for stream in recorded:
        error, message = stream.decoded.error, stream.decoded.message
        assert message.complete == (error is None), stream.name
        assert message.complete == (message.terminal is not None), stream.name
        if error is not None:
            kind = error.kind if isinstance(error, ProviderError) else None
            found[stream.name] = (type(error).__name__, kind)
            assert error.partial is message
            assert message.stop_reason == "unknown", stream.name
            assert 0 <= error.offset <= len(stream.body), stream.name
    names = {stream.name for stream in recorded}
    assert found == {name: failure for name, failure in failures.items() if name in names}


def test_only_the_expected_streams_are_warned_of(recorded: Sequence[Stream]) -> None:
    warnings = {
        (name, entry["code"]) for entry in expected()["warning"] for name in entry["streams"]
    }
    found = {
        (stream.name, warning.code)
        for stream in recorded
        for warning in stream.decoded.message.warnings
    }
    names = {stream.name for stream in recorded}
    assert found == {(name, code) for name, code in warnings if name in names}


def test_a_call_of_a_complete_turn_is_usable_unless_the_turn_was_cut(
    recorded: Sequence[Stream],
) -> None:
    for stream in recorded:
        message = stream.decoded.message
        for block in message.content:
            if block.type != "tool_use" or not message.complete:
                continue
            if block.invalid is None:
                assert isinstance(block.input, dict), stream.name
            else:
                assert message.stop_reason == "max_tokens", f"{block} of {stream.name}"
                assert not block.complete, f"{block} of {stream.name}"
