"""What Google's models take."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from turntape.wire.capabilities import Capabilities
from turntape.wire.capability_rows.base import AS_OF, MORE, PDF, PLAIN, TO_HIGH, TO_XHIGH

GEMINI: Final = Capabilities(
    family="gemini",
    maker="google",
    models=r"gemini.*",
    as_of=AS_OF,
    source="Gemini API docs: Gemini thinking; Thought signatures; Latest model; types of the client",
    thinking=("level",),
    thinks_by_default=True,
    efforts=TO_HIGH,
    signature_placeholder="skip_thought_signature_validator",
    system_in_conversation=False,
    image_types=("image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"),
    document_types=(PDF, "text/plain", "text/html", "text/css", "text/csv", "text/markdown"),
    audio_types=(
        "audio/wav",
        "audio/mp3",
        "audio/mpeg",
        "audio/aiff",
        "audio/aac",
        "audio/ogg",
        "audio/flac",
    ),
    video_types=(
        "video/mp4",
        "video/mpeg",
        "video/mov",
        "video/quicktime",
        "video/avi",
        "video/x-flv",
        "video/mpg",
        "video/webm",
        "video/wmv",
        "video/3gpp",
    ),
    parallel_tool_calls=False,
    strict_tools=False,
    cache_marks=0,
)
"""The newest family, and what a model of no row takes on Gemini's wire."""

_GEMINI_4 = replace(
    GEMINI,
    family="gemini-4",
    models=rf"gemini-4(?:\.\d)?{MORE}",
    released="2026-10-13",
    temperature=False,
    top_p=False,
)
_NEON = replace(
    _GEMINI_4,
    family="gemini-4-neon",
    models=rf"gemini-4-(?:neon|hydrogen){MORE}",
    released="2026-11",
    signatures="gemini-4",
    efforts=TO_XHIGH,
)
# These make pictures, speech, music or movements.
_MEDIA = replace(
    GEMINI,
    family="gemini-media",
    models=(
        r"gemini-.*-(?:image|tts|transcribe)(?:-preview)?"
        r"|gemini-(?:nano-banana|omni|robotics).*|nano-banana.*|lyria.*"
    ),
    thinking=(),
    thinks_by_default=False,
    efforts=(),
    signature_placeholder=None,
    tools=False,
    json_schema=False,
    json_object=False,
)
_FLASH_3_5 = replace(
    GEMINI,
    family="gemini-3.5-flash",
    models=rf"gemini-3\.[5-9]-flash{MORE}|gemini-flash{MORE}",
    released="2026-05",
    signatures="gemini-3",
    efforts=("minimal", *TO_HIGH),
)
_FLASH_3 = replace(
    _FLASH_3_5,
    family="gemini-3-flash",
    models=rf"gemini-3(?:\.\d)?-flash{MORE}",
    released="2025-12-17",
    prefill=True,
)
_PRO_3_1 = replace(
    _FLASH_3,
    family="gemini-3.1-pro",
    models=rf"gemini-3\.\d-pro{MORE}|gemini-pro",
    released="2026-02-19",
    efforts=TO_HIGH,
)
_PRO_3 = replace(
    _PRO_3_1,
    family="gemini-3-pro",
    models=rf"gemini-3-pro{MORE}",
    released="2025-11-18",
    efforts=("low", "high"),
)
_FLASH_2_5 = replace(
    _PRO_3,
    family="gemini-2.5-flash",
    models=rf"gemini-2\.5-flash{MORE}",
    released="2025-06-17",
    signatures="gemini-2.5",
    thinking=("budget",),
    thinking_off="budget",
    efforts=(),
    budget_range=(1, 24576),
    signature_placeholder=None,
    media_in_results=False,
)
_FLASH_LITE_2_5 = replace(
    _FLASH_2_5,
    family="gemini-2.5-flash-lite",
    models=rf"gemini-2\.5-flash-lite{MORE}",
    released="2025-07-22",
    thinks_by_default=False,
    budget_range=(512, 24576),
)
_PRO_2_5 = replace(
    _FLASH_2_5,
    family="gemini-2.5-pro",
    models=rf"gemini-2\.5-(?:pro|computer-use){MORE}",
    thinking_off=None,
    budget_range=(128, 32768),
)
_GEMINI_2 = replace(
    _FLASH_2_5,
    family="gemini-2",
    models=r"gemini-(?:1\.[05]|2\.0)(?:-.*)?",
    released="2024-12-11",
    signatures="gemini-2",
    thinking=(),
    thinks_by_default=False,
    thinking_off=None,
    budget_range=None,
)
_GEMMA = replace(
    PLAIN,
    family="gemma",
    maker="google",
    models=r"gemma.*",
    released="2025-03-12",
    source="Gemini API docs: Gemma on the Gemini API",
    system_in_conversation=False,
    document_types=(),
    parallel_tool_calls=False,
    strict_tools=False,
    cache_marks=0,
)

ROWS: Final = (
    _MEDIA,
    _NEON,
    _GEMINI_4,
    _FLASH_3_5,
    _FLASH_3,
    _PRO_3_1,
    _PRO_3,
    _FLASH_LITE_2_5,
    _FLASH_2_5,
    _PRO_2_5,
    _GEMINI_2,
    _GEMMA,
    GEMINI,
)
"""One a family."""
