"""Every recorded turn as an envelope."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.support.envelopes import oracle

import turntape
from turntape import AssistantMessage, NativeToolCall, Text, ToolUse

if TYPE_CHECKING:
    from tests.corpus.streams import Stream

pytestmark = pytest.mark.corpus


def check(envelope: str) -> None:
    """Hold an envelope against the oracle."""
    explained = turntape.explain_not_canonical(envelope)
    assert (explained is None) == oracle(envelope)
    strict = turntape.parse_canonical_assistant_envelope(envelope)
    assert (strict is None) == (explained is not None)
    if strict is not None:
        assert turntape.encode_assistant_envelope(strict.content, strict.tool_calls) == envelope


def test_recorded_turns(recorded: tuple[Stream, ...]) -> None:
    """The envelope of a turn is canonical, comes back as the turn, and has the bytes of json."""
    for stream in recorded:
        message = stream.decoded.message
        uses = [block for block in message.content if isinstance(block, ToolUse)]
        text = "".join(block.text for block in message.content if isinstance(block, Text))
        # Whatever came of a turn can be written, cut calls included.
        whatever = [NativeToolCall(use.id, use.name, use.arguments) for use in uses]
        for call in whatever or [NativeToolCall("", "", text)]:
            check(turntape.encode_assistant_envelope(text, [call]))
        assert turntape.parse_canonical_tool_envelope(
            turntape.encode_tool_envelope("", text)
        ) == turntape.ToolEnvelope("", text)
        if not message.complete or not uses or not all(use.complete for use in uses):
            continue
        envelope = message.to_envelope()
        check(envelope)
        again = AssistantMessage.from_envelope(envelope)
        assert again is not None
        assert again.to_envelope() == envelope
        calls = [NativeToolCall.from_tool_use(use) for use in uses]
        assert [call.arguments for call in calls] == [use.arguments for use in uses]
        written = json.dumps(
            json.loads(envelope), ensure_ascii=False, sort_keys=True, separators=(",", ":")
        )
        if turntape.explain_not_canonical(envelope) is None:
            assert written == envelope
        check(message.to_envelope(reasoning=True))
        check(json.dumps(json.loads(envelope)))
        for call in calls:
            # Arguments are JSON that models wrote: as an envelope's extra content, and as a result.
            if call.arguments:
                check(
                    '{"content":"","tool_calls":[{"arguments":"","extra_content":'
                    f'{call.arguments},"id":"","name":""}}]}}'
                )
                result = turntape.encode_tool_envelope(call.id, call.arguments)
                parsed = turntape.parse_canonical_tool_envelope(result)
                assert parsed == turntape.ToolEnvelope(call.id, call.arguments)
