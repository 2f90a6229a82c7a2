"""What OpenAI's models take."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from turntape.wire.capabilities import Capabilities
from turntape.wire.capability_rows.base import AS_OF, MORE, TO_HIGH, TO_MAX, TO_XHIGH
from turntape.wire.dialect import Dialect

_SOURCE = "OpenAI API docs: Reasoning models; Using GPT-6; model pages; types of the client"

_NEWEST = Capabilities(
    family="gpt",
    maker="openai",
    models=r"(?:gpt-|o\d).*",
    as_of=AS_OF,
    source=_SOURCE,
    sampling_while_thinking=False,
    stop=False,
    thinking=("effort",),
    thinks_by_default=True,
    efforts=TO_MAX,
    developer_role=True,
)
_GPT_6 = replace(
    _NEWEST,
    family="gpt-6",
    models=rf"gpt-6(?:\.\d)?{MORE}",
    released="2026-09-03",
)
_GPT_6_SOL = replace(
    _GPT_6,
    family="gpt-6-sol",
    models=rf"gpt-6-(?:sol|luna){MORE}",
    released="2026-09-22",
    signatures="gpt-6",
    thinking_off="effort",
    efforts=("none", *TO_MAX),
)
_GPT_5_6 = replace(
    _GPT_6_SOL,
    family="gpt-5.6",
    models=rf"gpt-5\.6{MORE}",
    released="2026-07-09",
    signatures="gpt-5",
)
_GPT_5_5 = replace(
    _GPT_5_6,
    family="gpt-5.5",
    models=rf"gpt-5\.5{MORE}",
    released="2026-04-23",
    efforts=("none", *TO_XHIGH),
)
_GPT_5_4 = replace(
    _GPT_5_5,
    family="gpt-5.4",
    models=rf"gpt-5\.4{MORE}",
    released="2026-03-05",
    thinks_by_default=False,
)
_GPT_5_2 = replace(
    _GPT_5_4,
    family="gpt-5.2",
    models=rf"gpt-5\.[23]{MORE}",
    released="2025-12-11",
)
_GPT_5_1 = replace(
    _GPT_5_2,
    family="gpt-5.1",
    models=rf"gpt-5\.1{MORE}",
    released="2025-11-13",
    efforts=("none", *TO_HIGH),
)
_GPT_5 = replace(
    _NEWEST,
    family="gpt-5",
    models=rf"gpt-5{MORE}",
    released="2025-08-07",
    signatures="gpt-5",
    temperature=False,
    top_p=False,
    efforts=("minimal", *TO_HIGH),
)
_GPT_5_PRO = replace(
    _GPT_5,
    family="gpt-5-pro",
    models=r"gpt-5-pro",
    released="2025-10-06",
    efforts=("high",),
)
_GPT_5_2_PRO = replace(
    _GPT_5_PRO,
    family="gpt-5.2-pro",
    models=r"gpt-5\.\d-pro",
    released="2025-12-11",
    efforts=("medium", "high", "xhigh"),
)
_CODEX = replace(
    _GPT_5,
    family="gpt-5-codex",
    models=r"gpt-5(?:\.1)?-codex(?:-mini)?|codex-mini",
    released="2025-09-15",
    efforts=TO_HIGH,
)
_CODEX_MAX = replace(
    _CODEX,
    family="gpt-5.1-codex-max",
    models=rf"gpt-5\.(?:1-codex-max|[23]-codex){MORE}",
    released="2025-11-19",
    efforts=TO_XHIGH,
)
_GPT_5_CHAT = replace(
    _GPT_5,
    family="gpt-5-chat",
    models=r"gpt-5-chat",
    temperature=True,
    top_p=True,
    sampling_while_thinking=True,
    thinking=(),
    thinks_by_default=False,
    efforts=(),
)
_GPT_5_1_CHAT = replace(
    _GPT_5,
    family="gpt-5.1-chat",
    models=r"gpt-5\.\d-chat",
    released="2025-11-13",
    efforts=("medium",),
)
_O = replace(
    _GPT_5,
    family="o",
    models=rf"o[134]{MORE}",
    released="2024-12-17",
    signatures="o",
    efforts=TO_HIGH,
    parallel_tool_calls=False,
)
_O3_MINI = replace(_O, family="o3-mini", models=r"o3-mini", released="2025-01-31", image_types=())
_DEEP_RESEARCH = replace(
    _O,
    family="deep-research",
    models=r"o\d(?:-mini)?-deep-research",
    released="2025-06-26",
    efforts=("medium",),
)
_O1_PREVIEW = replace(
    _O,
    family="o1-preview",
    models=r"o1-(?:preview|mini)",
    released="2024-09-12",
    developer_role=False,
    thinking=(),
    efforts=(),
    tools=False,
    json_schema=False,
    json_object=False,
    image_types=(),
    document_types=(),
)
_GPT_4O = Capabilities(
    family="gpt-4o",
    maker="openai",
    models=rf"(?:chat)?gpt-4(?:o|\.[15]){MORE}|computer-use-preview",
    released="2024-05-13",
    as_of=AS_OF,
    source=_SOURCE,
)
_GPT_AUDIO = replace(
    _GPT_4O,
    family="gpt-audio",
    models=r"gpt-audio.*|gpt-4o(?:-mini)?-audio.*",
    released="2024-10-01",
    image_types=(),
    document_types=(),
    audio_types=("audio/wav", "audio/mpeg"),
    json_schema=False,
)
_GPT_4O_SEARCH = replace(
    _GPT_4O,
    family="gpt-4o-search",
    models=r"gpt-4o(?:-mini)?-search.*",
    released="2025-03-11",
    temperature=False,
    top_p=False,
    tools=False,
)
_GPT_4_TURBO = replace(
    _GPT_4O,
    family="gpt-4-turbo",
    models=r"gpt-4-(?:turbo|1106|0125|vision).*",
    released="2023-11-06",
    json_schema=False,
    strict_tools=False,
    document_types=(),
)
_GPT_4 = replace(
    _GPT_4_TURBO,
    family="gpt-4",
    models=r"gpt-4(?:-\d+k?)*|gpt-3\.?5.*",
    released="2023-03-14",
    image_types=(),
)
_GPT_OSS = Capabilities(
    family="gpt-oss",
    maker="openai",
    models=r"gpt-oss.*",
    released="2025-08-05",
    as_of=AS_OF,
    source="OpenAI: gpt-oss model card; Harmony response format",
    thinking=("effort",),
    thinks_by_default=True,
    efforts=TO_HIGH,
    image_types=(),
    document_types=(),
)


def _on_chat(row: Capabilities) -> tuple[Capabilities, Capabilities]:
    """The same row for Chat, which refuses an effort together with tools, and for the other wires."""
    return replace(row, dialects=(Dialect.OPENAI_CHAT,), effort_with_tools=False), row


ROWS: Final = (
    _GPT_OSS,
    *_on_chat(_GPT_6_SOL),
    *_on_chat(_GPT_6),
    _GPT_5_2_PRO,
    *_on_chat(_GPT_5_6),
    *_on_chat(_GPT_5_5),
    *_on_chat(_GPT_5_4),
    _CODEX,
    _CODEX_MAX,
    _GPT_5_1_CHAT,
    _GPT_5_2,
    _GPT_5_1,
    _GPT_5_PRO,
    _GPT_5_CHAT,
    _GPT_5,
    _DEEP_RESEARCH,
    _O1_PREVIEW,
    _O3_MINI,
    _O,
    _GPT_AUDIO,
    _GPT_4O_SEARCH,
    _GPT_4O,
    _GPT_4_TURBO,
    _GPT_4,
    *_on_chat(_NEWEST),
)
"""One a family, or two where Chat differs."""
