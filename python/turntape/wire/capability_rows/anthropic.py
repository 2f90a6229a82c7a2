"""What Anthropic's models take."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from turntape.wire.capabilities import Capabilities
from turntape.wire.capability_rows.base import AS_OF, MORE, OFFICE_TYPES, TO_HIGH, TO_MAX


def _claude(kinds: str, version: str) -> str:
    """The names of a version: the kind stands before the number, in some places behind it."""
    version = version.replace(".", r"\.")
    return rf"claude-(?:(?:{kinds})-{version}|{version}-(?:{kinds})){MORE}"


_NEWEST = Capabilities(
    family="claude",
    maker="anthropic",
    models=r"claude(?:-.*)?",
    as_of=AS_OF,
    source="Claude Platform Docs: Thinking; Effort; Preserved thinking; Migrating to API 2026-10-21",
    # A block that another Claude cannot read is dropped by the service, without an error.
    signatures="claude",
    temperature=False,
    top_p=False,
    thinking=("adaptive",),
    thinks_by_default=True,
    thinking_off="disabled",
    efforts=TO_MAX,
    binds_thinking=True,
    document_types=OFFICE_TYPES,
    json_object=False,
)

_FABLE_5_1 = replace(
    _NEWEST,
    family="claude-fable-5.1",
    models=_claude("fable|mythos", "5.[12]"),
    released="2026-08",
    thinking_off=None,
    tool_choices=("auto", "none"),
)
_OPUS_5_5 = replace(
    _FABLE_5_1,
    family="claude-opus-5.5",
    models=_claude("opus", "5.5"),
    released="2026-09-22",
)
_SONNET_5_5 = replace(
    _FABLE_5_1,
    family="claude-sonnet-5.5",
    models=_claude("sonnet", "5.5"),
    released="2026-09-28",
    thinking_off="between_tools",
)
_HAIKU_5_5 = replace(
    _NEWEST,
    family="claude-haiku-5.5",
    models=_claude("haiku", "5.5"),
    released="2026-10",
)
_CLAUDE_5 = replace(
    _NEWEST,
    family="claude-5",
    models=_claude("opus|sonnet", "5"),
    released="2026-06",
    binds_thinking=False,
)
_FABLE_5 = replace(
    _CLAUDE_5,
    family="claude-fable-5",
    models=_claude("fable|mythos", "5"),
    thinking_off=None,
)
_OPUS_4_8 = replace(
    _CLAUDE_5,
    family="claude-opus-4.8",
    models=_claude("opus", "4.8"),
    released="2026-05-28",
    thinks_by_default=False,
    tool_choices_while_thinking=("auto", "none"),
)
_OPUS_4_7 = replace(
    _OPUS_4_8,
    family="claude-opus-4.7",
    models=_claude("opus", "4.7"),
    released="2026-04",
    system_in_conversation=False,
)
_MYTHOS_PREVIEW = replace(
    _OPUS_4_7,
    family="claude-mythos-preview",
    models=r"claude-mythos-preview",
    thinks_by_default=True,
    thinking_off=None,
    efforts=(*TO_HIGH, "max"),
)
_CLAUDE_4_6 = replace(
    _OPUS_4_7,
    family="claude-4.6",
    models=_claude("opus|sonnet", "4.6"),
    released="2026-02-05",
    temperature=True,
    top_p=True,
    temperature_with_top_p=False,
    sampling_while_thinking=False,
    thinking=("adaptive", "budget"),
    budget_range=(1024, 128_000),
    efforts=(*TO_HIGH, "max"),
)
_CLAUDE_4_5 = replace(
    _CLAUDE_4_6,
    family="claude-4.5",
    models=_claude("sonnet|haiku", "4.5"),
    released="2025-09-29",
    thinking=("budget",),
    efforts=(),
    prefill=True,
)
_OPUS_4_5 = replace(
    _CLAUDE_4_5,
    family="claude-opus-4.5",
    models=_claude("opus", "4.5"),
    released="2025-11-24",
    efforts=TO_HIGH,
)
_CLAUDE_4 = replace(
    _CLAUDE_4_5,
    family="claude-4",
    models=_claude("opus|sonnet", "4(?:.[01])?"),
    released="2025-05-22",
    json_schema=False,
    strict_tools=False,
)
_CLAUDE_3_7 = replace(
    _CLAUDE_4,
    family="claude-3.7",
    models=_claude("sonnet", "3.7"),
    released="2025-02-24",
    temperature_with_top_p=True,
)
_CLAUDE_3 = replace(
    _CLAUDE_3_7,
    family="claude-3",
    models=_claude("opus|sonnet|haiku", "3(?:.5)?"),
    released="2024-03-04",
    sampling_while_thinking=True,
    thinking=(),
    thinking_off=None,
    budget_range=None,
)
_CLAUDE_2 = replace(
    _CLAUDE_3,
    family="claude-2",
    models=r"claude-(?:v?[12](?:\.\d)?|instant.*)",
    released="2023-07-11",
    tools=False,
    image_types=(),
    document_types=(),
    media_in_results=False,
    cache_marks=0,
)

ROWS: Final = (
    _FABLE_5_1,
    _OPUS_5_5,
    _SONNET_5_5,
    _HAIKU_5_5,
    _CLAUDE_5,
    _FABLE_5,
    _OPUS_4_8,
    _OPUS_4_7,
    _MYTHOS_PREVIEW,
    _CLAUDE_4_6,
    _CLAUDE_4_5,
    _OPUS_4_5,
    _CLAUDE_4,
    _CLAUDE_3_7,
    _CLAUDE_3,
    _CLAUDE_2,
    _NEWEST,
)
"""One a family."""
