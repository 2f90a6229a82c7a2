"""The names of artifacts: which ones are valid, and what an artifact is called if nobody names it."""

from __future__ import annotations

import os
import re
import secrets
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "default_result_name",
    "fault_of_step",
    "is_default_name",
    "is_temporary",
    "numbered",
    "sanitize_component",
    "temporary_name",
]

_LONGEST_COMPONENT = 80
_LONGEST_STEP = 255

_NOT_KEPT = re.compile(r"[^A-Za-z0-9_-]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")

# The names that Windows gives to devices, with any extension and in any folder; the digits may be
# superscripts.
_DEVICE = re.compile(
    r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[1-9\xb9\xb2\xb3]) *(?:\..*)?",
    re.IGNORECASE | re.ASCII | re.DOTALL,
)

# Names that no rule below can refuse: no device's has so many letters.
_ORDINARY = re.compile(r"[A-Za-z0-9_-]{5,200}(?:\.[A-Za-z0-9]{1,12})?", re.ASCII)

_TEMPORARY = re.compile(r"\.turntape-[0-9a-f]+\.tmp", re.IGNORECASE | re.ASCII)

_DEFAULT_FOLDER = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_DEFAULT_FILE = re.compile(
    r"[A-Za-z0-9_-]+-result(?:-(?:[2-9]|[1-9][0-9]+))?\.[a-z0-9]{1,12}", re.ASCII
)


def sanitize_component(value: str, /) -> str:
    """Make one step of a path from any text.

    Args:
        value: Such as the name of an agent.

    Returns:
        Its first 80 characters, with ``_`` for each that is no ASCII letter, digit, ``-`` or ``_``;
        ``unknown`` for an empty text. Different texts may give the same: see
        :func:`default_result_name`.

    >>> sanitize_component("../etc")
    '___etc'
    """
    return _NOT_KEPT.sub("_", value[:_LONGEST_COMPONENT]) or "unknown"


def default_result_name(agent_id: str, task_id: str, *, extension: str = "md") -> str:
    """Give the path of a result that nobody named, below the folder of its kind.

    No two pairs of different ids share one: where an id had to be changed, or is a name that Windows gives to
    a device, part of its digest follows.

    Args:
        agent_id: Who made the result.
        task_id: Which of the results it is.
        extension: What the name ends in, without the dot.

    >>> default_result_name("scout-1", "t_9")
    'scout-1/t_9-result.md'
    >>> default_result_name("scout-1", "t 9")
    'scout-1/t_9-8ccf821f-result.md'
    """
    return f"{_distinct(agent_id)}/{_distinct(task_id)}-result.{extension}"


def _distinct(value: str) -> str:
    component = sanitize_component(value)
    # An agent may be called like a device, as in "con", and its folder must not be.
    if component == value and fault_of_step(component) is None:
        return component
    return f"{component}-{sha256(value.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def is_default_name(steps: tuple[str, ...]) -> bool:
    """Whether the steps below the folder of a kind are such as :func:`default_result_name` makes."""
    match steps:
        case (folder, file):
            return bool(_DEFAULT_FOLDER.fullmatch(folder) and _DEFAULT_FILE.fullmatch(file))
        case _:
            return False


def fault_of_step(step: str) -> str | None:  # noqa: PLR0911 (one a rule)
    """Say why a step of a path cannot be stored on every platform; None where it can.

    >>> fault_of_step("nul.md")
    'Windows gives that name to a device'
    """
    if _ORDINARY.fullmatch(step):
        return None
    if "\\" in step or ":" in step:
        return "it has a backslash or a colon"
    if _CONTROL.search(step):
        return "it has a control character"
    if _SURROGATE.search(step):
        return "it has a lone surrogate"
    if step[-1:] in {".", " "}:
        return "it ends in a dot or a space"
    if _DEVICE.fullmatch(step):
        return "Windows gives that name to a device"
    if len(step.encode()) > _LONGEST_STEP:
        return f"it is longer than {_LONGEST_STEP} bytes"
    if is_temporary(step):
        return "turntape's own temporary files are called so"
    return None


def temporary_name() -> str:
    """Make up a name for a temporary file."""
    return f".turntape-{secrets.token_hex(8)}.tmp"


def is_temporary(name: str) -> bool:
    """Whether :func:`temporary_name` makes such names, on a file system that ignores case too."""
    return _TEMPORARY.fullmatch(name) is not None


def numbered(name: str, start: int = 2) -> Iterator[str]:
    """Give the names that follow where a name is taken, without end.

    Args:
        name: One step of a path.
        start: The first number.

    >>> names = numbered("report.md")
    >>> next(names), next(names)
    ('report-2.md', 'report-3.md')
    """
    stem, extension = os.path.splitext(name)  # noqa: PTH122 (of a name, which has no folder)
    number = start
    while True:
        end = f"-{number}{extension}"
        room = _LONGEST_STEP - len(end.encode())
        # A long name gives up its last whole characters for the number.
        yield stem.encode()[: max(room, 0)].decode(errors="ignore") + end
        number += 1
