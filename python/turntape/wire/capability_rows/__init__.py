"""The rows of the capability table: one a model family, one module a maker.

A row names only what differs from its maker's newest family or from the row that it is made from. The
last row of a maker matches every name that is left: models that came out after this version was made are
taken to be like the newest family that it knows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from turntape.wire.capabilities import CapabilityTable
from turntape.wire.capability_rows import anthropic, google, openai, others
from turntape.wire.capability_rows.base import (
    BEDROCK_VIDEO_TYPES,
    OFFICE_TYPES,
    PLAIN,
    TO_MAX,
)
from turntape.wire.dialect import Dialect

__all__ = ["CAPABILITIES", "DEFAULTS"]

_OPENAI_LIKE = replace(
    PLAIN, thinking=("effort",), thinking_off="effort", efforts=("none", "minimal", *TO_MAX)
)

# Nothing is held back that the wire itself can say.
DEFAULTS: Final = {
    Dialect.ANTHROPIC: replace(
        PLAIN,
        thinking=("adaptive", "budget"),
        thinking_off="disabled",
        efforts=TO_MAX,
        budget_range=(1024, 128_000),
        system_in_conversation=False,
        document_types=OFFICE_TYPES,
    ),
    Dialect.OPENAI_CHAT: replace(_OPENAI_LIKE, audio_types=("audio/wav", "audio/mpeg")),
    Dialect.OPENAI_RESPONSES: _OPENAI_LIKE,
    Dialect.GEMINI: replace(
        google.GEMINI, family="", maker="", models="", signatures="", signature_placeholder=None
    ),
    Dialect.BEDROCK_CONVERSE: replace(
        PLAIN,
        thinking=("effort",),
        efforts=TO_MAX,
        document_types=OFFICE_TYPES,
        video_types=BEDROCK_VIDEO_TYPES,
    ),
}
"""What a model of no row takes, by dialect."""

CAPABILITIES: Final = CapabilityTable(
    (*anthropic.ROWS, *openai.ROWS, *google.ROWS, *others.ROWS), DEFAULTS
)
"""The table of the models that this version knows."""
