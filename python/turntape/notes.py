"""What was changed on the way from a history to a request, or from a turn to a response."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from turntape.dict_form import DictForm

__all__ = ["ReplayNote", "ReplayNoteCode"]

ReplayNoteCode: TypeAlias = Literal[
    "arguments_replaced",
    "blocks_merged",
    "cache_control_dropped",
    "content_unsupported",
    "duplicate_result_dropped",
    "effort_mapped",
    "empty_text_dropped",
    "error_prefix_added",
    "id_mapped",
    "image_placeholder",
    "incomplete_dropped",
    "late_result_moved",
    "media_moved",
    "media_type_corrected",
    "messages_merged",
    "missing_result_inserted",
    "name_mapped",
    "orphan_result_dropped",
    "parameter_dropped",
    "placeholder_text",
    "prefill_closed",
    "prefix_changed",
    "reason_mapped",
    "reasoning_disabled",
    "reasoning_dropped",
    "signature_dropped",
    "signature_placeholder",
    "surrogate_replaced",
    "system_moved",
    "tools_declared",
    "usage_reduced",
]
"""The kinds of change; ``docs/requests.md`` has a line on each."""


@dataclass(frozen=True, slots=True)
class ReplayNote(DictForm):
    """One thing that was changed, dropped or made up.

    Attributes:
        code: What kind of change.
        index: The message that it was made in, counted from 0 in the history that was given, or, where a
            turn is encoded, the block; None where it concerns the request or the turn as a whole.
        detail: The same for people. It quotes ids, names and parameters, never content.
    """

    code: ReplayNoteCode
    index: int | None
    detail: str
