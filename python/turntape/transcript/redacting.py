"""Redacting a row, field by field, before it is written."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from turntape.transcript.lifting import normalized
from turntape.transcript.rows import legacy_memory

if TYPE_CHECKING:
    from turntape.artifacts.redaction import ArtifactRedactor
    from turntape.transcript.rows import TranscriptMessage

__all__ = ["redacted_row"]
