"""Moving an oversized result out of the conversation; a turn never fails by it."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from turntape.artifacts.abstract import (
    DEFAULT_ABSTRACT_BUDGET,
    build_abstract,
    should_offload,
    utf8_size,
)
from turntape.artifacts.paths import ArtifactKind
from turntape.artifacts.pointer import check_tool, render_artifact_pointer
from turntape.artifacts.reading import ArtifactChunk
from turntape.errors import OffloadError, RedactionFailed

if TYPE_CHECKING:
    from turntape.artifacts.writer import ArtifactWriter, OffloadedArtifact

__all__ = [
    "NotSmallerError",
    "OffloadOptions",
    "OnError",
    "OnRedactorError",
    "note_failure",
    "offload_oversized_result",
    "offload_text",
]

OnError: TypeAlias = Literal["original", "redacted"]
"""Which text stands for one that could not be offloaded."""

OnRedactorError: TypeAlias = Literal["original", "withhold"]
"""What stands for a text that the redactor failed on."""

_LOGGER = logging.getLogger("turntape.artifacts")

_WITHHELD = "[this result was withheld: it could not be checked for secrets]"


class NotSmallerError(OffloadError):
    """The pointer would be no smaller than the text."""


@dataclass(frozen=True, slots=True)
class OffloadOptions:
    """How texts are offloaded.

    Attributes:
        threshold: The largest text that stays, in bytes of UTF-8; 0 disables offloading.
        read_tool: The host's tool that reads artifacts.
        on_error: What to give back if a text could not be offloaded.
        on_redactor_error: The same, if the redactor failed.
        kind: In which folder the artifacts go.
        budget: How long an abstract is, in characters.
    """

    threshold: int
    read_tool: str
    on_error: OnError
    on_redactor_error: OnRedactorError = "original"
    kind: ArtifactKind = ArtifactKind.OUTPUT
    budget: int = DEFAULT_ABSTRACT_BUDGET

    @staticmethod
    def of(
        writer: ArtifactWriter,
        threshold: int,
        read_tool: str,
        on_error: OnError | None,
        on_redactor_error: OnRedactorError,
        kind: ArtifactKind | str,
        budget: int,
    ) -> OffloadOptions:
        """Check options, and fill in what the writer decides.

        Raises:
            ValueError: There is no such option, or the tool's name is no single word.
        """
        check_tool(read_tool)
        if on_error is None:
            on_error = "redacted" if writer.redacts else "original"
        if on_error not in {"original", "redacted"}:
            raise ValueError(f"on_error is 'original' or 'redacted', not {on_error!r}")
        if on_redactor_error not in {"original", "withhold"}:
            raise ValueError(
                f"on_redactor_error is 'original' or 'withhold', not {on_redactor_error!r}"
            )
        return OffloadOptions(
            threshold, read_tool, on_error, on_redactor_error, ArtifactKind(kind), budget
        )


def offload_oversized_result(
    text: str | ArtifactChunk,
    writer: ArtifactWriter,
    threshold: int,
    read_tool: str,
    *,
    on_error: OnError | None = None,
    on_redactor_error: OnRedactorError = "original",
    kind: ArtifactKind | str = ArtifactKind.OUTPUT,
    abstract_budget: int = DEFAULT_ABSTRACT_BUDGET,
) -> tuple[str, OffloadedArtifact | None]:
    r"""Put a result that is too large into a file, and give what stands for it in the conversation.

    It never raises over what happens to the text or the file: one log record of the logger
    ``turntape.artifacts`` tells, without any content, and the turn goes on.

    Args:
        text: What a tool gave. What :meth:`ArtifactWriter.read` gave comes back as it is: offloading it
            again would lead nowhere.
        writer: Where it is written.
        threshold: The largest text that stays, in bytes of UTF-8; 0 disables offloading. A text within
            it comes back as it came.
        read_tool: The host's tool that reads artifacts.
        on_error: What to give if the text could not be offloaded, or the pointer would be no smaller:
            ``original``, as it came (the default without a redactor), or ``redacted`` (the default with
            one).
        on_redactor_error: What to give if the redactor itself failed: ``original``, so that no content is
            lost, or ``withhold``, one line that says so.
        kind: In which folder the artifact goes.
        abstract_budget: How long the abstract is, in characters.

    Returns:
        The pointer and the artifact; or a text and None.

    Raises:
        ValueError: There is no such option.

    >>> from tempfile import TemporaryDirectory
    >>> from turntape import ArtifactWriter
    >>> with TemporaryDirectory() as root:
    ...     writer = ArtifactWriter(root, agent_id="scout", task_id="t1")
    ...     pointer, artifact = offload_oversized_result("tide " * 5000, writer, 8192, "read_artifact")
    >>> artifact.relative_path, pointer.split("\n")[0]
    ('outputs/scout/t1-result.md', '[artifact] kind=output path=outputs/scout/t1-result.md bytes=25000')
    """
    options = OffloadOptions.of(
        writer, threshold, read_tool, on_error, on_redactor_error, kind, abstract_budget
    )
    if isinstance(text, ArtifactChunk):
        return text.text, None
    if not should_offload(utf8_size(text), threshold):
        return text, None
    return offload_text(text, writer, options)


def offload_text(
    text: str, writer: ArtifactWriter, options: OffloadOptions
) -> tuple[str, OffloadedArtifact | None]:
    """Offload a text of any size; what cannot be offloaded comes back as the options say."""
    try:
        prepared = writer.prepare(text)
    except RedactionFailed as error:
        _LOGGER.error("a result was not offloaded: %s", error)  # noqa: TRY400 (a traceback shows content)
        return (text if options.on_redactor_error == "original" else _WITHHELD), None
    instead = prepared.text if options.on_error == "redacted" and prepared.redacted else text
    abstract = build_abstract(prepared.text, options.budget)
    size = utf8_size(instead)
    pointer = ""

    def accept(artifact: OffloadedArtifact) -> None:
        nonlocal pointer
        pointer = render_artifact_pointer(artifact, abstract, options.read_tool)
        if utf8_size(pointer) >= size:
            raise NotSmallerError("the pointer is no smaller than the text")

    try:
        artifact = writer.store(prepared, options.kind, writer.default_name(), accept=accept)
    except NotSmallerError:
        pass
    except Exception as error:  # noqa: BLE001 (a policy is the host's own code)
        note_failure(error)
    else:
        # Of the last name that was tried, which is the one that it got.
        return pointer, artifact
    return instead, None


def note_failure(error: Exception) -> None:
    """Write one record into the log. Only the words of turntape's own errors are known to be free of content."""
    words = f": {error}" if isinstance(error, OffloadError) else ""
    _LOGGER.warning("a result was not offloaded: %s%s", type(error).__name__, words)
