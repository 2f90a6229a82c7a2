"""What the rows of several makers share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from turntape.wire.capabilities import Capabilities

if TYPE_CHECKING:
    from turntape.requests import Effort

AS_OF: Final = "2026-11-30"
"""When the rows were last checked."""

PLAIN: Final = Capabilities(family="", maker="", models="", as_of=AS_OF)

TO_HIGH: Final[tuple[Effort, ...]] = ("low", "medium", "high")
TO_XHIGH: Final[tuple[Effort, ...]] = (*TO_HIGH, "xhigh")
TO_MAX: Final[tuple[Effort, ...]] = (*TO_XHIGH, "max")

MORE: Final = r"(?:-[a-z][a-z0-9]*)*"
"""Whatever words follow a version: ``-fast``, ``-preview``, ``-thinking``."""

PDF: Final = "application/pdf"
OFFICE_TYPES: Final = (
    PDF,
    "text/plain",
    "text/csv",
    "text/html",
    "text/markdown",
    "application/msword",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "application/vnd.ms-excel",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
)
"""Documents that Anthropic and Bedrock read as text or as pages."""
BEDROCK_VIDEO_TYPES: Final = (
    "video/mp4",
    "video/quicktime",
    "video/x-matroska",
    "video/webm",
    "video/x-flv",
    "video/mpeg",
    "video/x-ms-wmv",
    "video/3gpp",
)
