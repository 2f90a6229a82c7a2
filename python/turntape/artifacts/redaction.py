"""What must be scrubbed before anything of a text reaches a file, a pointer or an abstract."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

__all__ = ["ArtifactRedactor", "NoRedaction", "Redacted"]


@dataclass(frozen=True, slots=True)
class Redacted:
    """What a redactor gives back.

    Attributes:
        text: The text to go on with.
        changed: Whether the redactor says that it changed something: a hint, nothing stands on it.
    """

    text: str = field(repr=False)
    changed: bool


class ArtifactRedactor(Protocol):
    """Takes secrets out of a text."""

    def redact(self, text: str, /) -> Redacted:
        """Give the text without its secrets; raising refuses the write."""
        ...


class NoRedaction:
    """A redactor that changes nothing, for a host that has decided so.

    >>> NoRedaction().redact("as it is").changed
    False
    """

    def redact(self, text: str, /) -> Redacted:
        """Give the text as it is."""
        return Redacted(text, changed=False)
