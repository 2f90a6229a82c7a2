"""Sweeping a transcript: results that are too large go into files, where no proof stands on them."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeGuard

from turntape.artifacts.abstract import DEFAULT_ABSTRACT_BUDGET, should_offload, utf8_size
from turntape.artifacts.offload import OffloadOptions, offload_text
from turntape.artifacts.paths import ArtifactKind
from turntape.replay.markers import TextPart
from turntape.transcript.lifting import legacy_content, normalized

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from turntape.artifacts.offload import OnError, OnRedactorError
    from turntape.artifacts.writer import ArtifactWriter, OffloadedArtifact
    from turntape.transcript.rows import TranscriptMessage, TranscriptPart

__all__ = ["DEFAULT_READ_TOOL", "offload_transcript"]

DEFAULT_READ_TOOL = "read_artifact"
"""What the tool that reads artifacts is called where the host does not say."""

_LOGGER = logging.getLogger("turntape.artifacts")

# Under this name a row keeps the message that it was made of, and the old text with it.
_STORED = "turntape"

# The members under which the wires and the message model keep a provider's proofs.
_PROOFS = frozenset(
    {"signature", "thought_signature", "thoughtSignature", "encrypted_content", "reasoning_opaque"}
)
_REDACTED_THINKING = "redacted_thinking"


def offload_transcript(
    rows: Iterable[TranscriptMessage],
    writer: ArtifactWriter,
    threshold: int,
    read_tool: str = DEFAULT_READ_TOOL,
    *,
    force: bool = False,
    on_error: OnError | None = None,
    on_redactor_error: OnRedactorError = "original",
    kind: ArtifactKind | str = ArtifactKind.OUTPUT,
    abstract_budget: int = DEFAULT_ABSTRACT_BUDGET,
) -> tuple[list[TranscriptMessage], list[OffloadedArtifact]]:
    r"""Put the results in a transcript that are too large into files.

    Only rows of tools are touched. Media stay, and so do the answers of ``read_tool``, which were asked for.
    A result that is packed into one string, as in a flat history, is packed anew.

    Some models bind their signed thinking to everything before it: an edit there makes the provider refuse
    or drop it. So where a transcript holds signed thinking, only rows that were never sent are touched:
    those behind the last turn of the model. One log record tells how many others are too large.

    Args:
        rows: The transcript.
        writer: Where the artifacts are written.
        threshold: The largest result that stays, in bytes of UTF-8; 0 disables offloading.
        read_tool: The host's tool that reads artifacts.
        force: Whether rows that were sent go too, whatever thinking follows them.
        on_error: As of :func:`offload_oversized_result`.
        on_redactor_error: As of :func:`offload_oversized_result`.
        kind: In which folder the artifacts go.
        abstract_budget: How long an abstract is, in characters.

    Returns:
        The rows, of which those that nothing changed are the very same, and the artifacts in their order.

    Raises:
        ValueError: There is no such option.

    >>> from tempfile import TemporaryDirectory
    >>> from turntape import ArtifactWriter, NativeToolCall, TranscriptMessage
    >>> rows = [
    ...     TranscriptMessage.assistant_with_calls("", [NativeToolCall("c1", "gauge_log", "{}")]),
    ...     TranscriptMessage.tool_result("c1", "low tide at six\n" * 1000),
    ... ]
    >>> with TemporaryDirectory() as root:
    ...     writer = ArtifactWriter(root, agent_id="scout", task_id="t1")
    ...     swept, artifacts = offload_transcript(rows, writer, 8192)
    >>> swept[0] is rows[0], swept[1].content.split(" bytes")[0]
    (True, '[artifact] kind=output path=outputs/scout/t1-result.md')
    """
    options = OffloadOptions.of(
        writer, threshold, read_tool, on_error, on_redactor_error, kind, abstract_budget
    )
    swept = list(rows)
    lifted = [normalized(row) for row in swept]
    begin = 0 if force else _first_free(lifted)
    answers = _answers_of(lifted, read_tool)
    artifacts: list[OffloadedArtifact] = []
    held_back = 0
    for at, row in enumerate(lifted):
        text = _result_of(row)
        if text is None or at in answers or not should_offload(utf8_size(text), threshold):
            continue
        if at < begin:
            held_back += 1
            continue
        shorter, artifact = offload_text(text, writer, options)
        if shorter != text:
            swept[at] = _edited(swept[at], row, shorter)
        if artifact is not None:
            artifacts.append(artifact)
    if held_back:
        _LOGGER.warning(
            "%d too large stay where they are, because signed thinking follows them; force moves them",
            held_back,
            extra={"artifact_held_back": held_back},
        )
    return swept, artifacts


def _first_free(rows: Sequence[TranscriptMessage]) -> int:
    """Find the first row that may be edited: behind the last turn of the model, if thinking is signed."""
    if not any(_is_signed(row) for row in rows):
        return 0
    return max(at + 1 for at, row in enumerate(rows) if row.role == "assistant")


def _is_signed(row: TranscriptMessage) -> bool:
    """Whether a row of the model carries any proof of a provider's."""
    if row.role != "assistant":
        return False
    beside = (row.extra_metadata, row.extra, *(call.extra_content for call in row.tool_calls))
    return any(map(_has_proof, beside))


def _has_proof(value: object) -> bool:
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if _is_mapping(each):
            if each.get("type") == _REDACTED_THINKING:
                return True
            if any(each.get(name) for name in _PROOFS):
                return True
            waiting += each.values()
        elif _is_list(each):
            waiting += each
        elif isinstance(each, str) and any(f'"{name}"' in each for name in _PROOFS):
            # Raw JSON, such as a block of a provider's own or what stands beside a call.
            return True
    return False


def _is_mapping(value: object) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(value, Mapping)


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, list | tuple)


def _answers_of(rows: Sequence[TranscriptMessage], read_tool: str) -> set[int]:
    """Find the rows that answer a call of the tool that reads artifacts."""
    names: dict[str, str] = {}
    answers: set[int] = set()
    for at, row in enumerate(rows):
        for call in row.tool_calls:
            names[call.id] = call.name
        if row.tool_call_id is not None and names.get(row.tool_call_id) == read_tool:
            answers.add(at)
    return answers


def _result_of(row: TranscriptMessage) -> str | None:
    if row.role != "tool":
        return None
    if row.parts is None:
        return row.content
    return "".join(part.text for part in row.parts if isinstance(part, TextPart))


def _edited(row: TranscriptMessage, lifted: TranscriptMessage, text: str) -> TranscriptMessage:
    """Put another text into a row, and let nothing of the old one stay beside it."""
    metadata = lifted.extra_metadata
    if metadata is not None and _STORED in metadata:
        metadata = {name: value for name, value in metadata.items() if name != _STORED} or None
    edited = replace(lifted, content=text, extra_metadata=metadata)
    if lifted.parts is not None:
        parts, moved = _with_text(lifted.parts, text)
        marks = tuple(
            dict.fromkeys(moved[mark] for mark in lifted.cache_breakpoints if mark in moved)
        )
        edited = replace(edited, parts=parts, cache_breakpoints=marks)
    if lifted is row:
        return edited
    # It was one string, and is one again.
    return replace(row, content=legacy_content(edited), extra_metadata=metadata)


def _with_text(
    parts: Sequence[TranscriptPart], text: str
) -> tuple[tuple[TranscriptPart, ...], dict[int, int]]:
    """Put one text in the place of all, and tell where each part has gone: behind what is left before it."""
    left: list[TranscriptPart] = []
    moved: dict[int, int] = {}
    placed = False
    for at, part in enumerate(parts):
        if not isinstance(part, TextPart):
            left.append(part)
        elif not placed:
            left.append(TextPart(text))
            placed = True
        moved[at] = len(left) - 1
    return tuple(left), moved
