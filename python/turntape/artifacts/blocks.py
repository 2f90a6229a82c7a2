"""Offloading from results that are lists of blocks, with text and media in them."""

from __future__ import annotations

import base64
import binascii
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from turntape.artifacts.abstract import DEFAULT_ABSTRACT_BUDGET, should_offload, utf8_size
from turntape.artifacts.offload import OffloadOptions, note_failure, offload_text
from turntape.artifacts.paths import ArtifactKind
from turntape.artifacts.pointer import pointer_line
from turntape.errors import OffloadError, RedactionFailed
from turntape.media import Audio, Base64Source, Document, Image, PathSource, Video
from turntape.messages import Text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from turntape.artifacts.offload import OnError, OnRedactorError
    from turntape.artifacts.writer import ArtifactWriter, OffloadedArtifact, Prepared
    from turntape.conversation import ResultBlock, ToolResult
    from turntape.media import MediaBlock

__all__ = ["offload_structured_result", "offload_tool_result"]

_Run: TypeAlias = "list[ResultBlock]"

_EXTENSIONS = {
    "application/json": "json",
    "application/pdf": "pdf",
    "audio/mpeg": "mp3",
    "audio/ogg": "ogg",
    "audio/wav": "wav",
    "image/gif": "gif",
    "image/jpeg": "jpg",
    "image/png": "png",
    "image/webp": "webp",
    "text/csv": "csv",
    "text/plain": "txt",
    "video/mp4": "mp4",
    "video/webm": "webm",
}


def offload_structured_result(
    blocks: Iterable[ResultBlock],
    writer: ArtifactWriter,
    threshold: int,
    read_tool: str,
    *,
    media: bool = False,
    on_error: OnError | None = None,
    on_redactor_error: OnRedactorError = "original",
    kind: ArtifactKind | str = ArtifactKind.OUTPUT,
    abstract_budget: int = DEFAULT_ABSTRACT_BUDGET,
) -> tuple[tuple[ResultBlock, ...], tuple[OffloadedArtifact, ...]]:
    """Put what is too large in a result of blocks into files.

    Neighbouring texts are one text, joined without a separator. Where all of them together are too large,
    the largest go first, until what is left is within the threshold. Texts that carry citations, a
    signature or an ``extra`` are left alone, and so are blocks of a provider's own.

    Args:
        blocks: The result.
        writer: Where it is written.
        threshold: The largest result that stays, in bytes of UTF-8; 0 disables offloading.
        read_tool: The host's tool that reads artifacts.
        media: Whether media in base64 count, and go too: their bytes into a file, of which the block keeps
            the path and a line of text behind it the pointer. Read them back with
            :meth:`ArtifactWriter.read_bytes`.
        on_error: As of :func:`offload_oversized_result`.
        on_redactor_error: As of :func:`offload_oversized_result`. Media that it failed on stay.
        kind: In which folder the artifacts go.
        abstract_budget: How long an abstract is, in characters.

    Returns:
        The blocks, and the artifacts in the order of the blocks that point to them.

    Raises:
        ValueError: There is no such option.

    >>> from tempfile import TemporaryDirectory
    >>> from turntape import ArtifactWriter, Image, UrlSource
    >>> blocks = [Text("tide " * 5000), Image(UrlSource("https://tides.example/a.png"))]
    >>> with TemporaryDirectory() as root:
    ...     writer = ArtifactWriter(root, agent_id="scout", task_id="t1")
    ...     shorter, artifacts = offload_structured_result(blocks, writer, 8192, "read_artifact")
    >>> shorter[0].text.split(" bytes")[0], shorter[1] is blocks[1]
    ('[artifact] kind=output path=outputs/scout/t1-result.md', True)
    """
    options = OffloadOptions.of(
        writer, threshold, read_tool, on_error, on_redactor_error, kind, abstract_budget
    )
    runs = _runs(tuple(blocks))
    texts = {at: _text_of(run) for at, run in enumerate(runs) if _is_plain(run[0])}
    sizes = {at: utf8_size(text) for at, text in texts.items()}
    left = sum(sizes.values())
    encoded = sum(len(data) for run in runs if (data := _base64_of(run[0])) is not None)
    artifacts: dict[int, OffloadedArtifact] = {}
    if media and should_offload(left + encoded, threshold):
        for at, run in enumerate(runs):
            runs[at], artifact = _offload_medium(run, writer, options)
            if artifact is not None:
                artifacts[at] = artifact
    for at in sorted(sizes, key=lambda at: (-sizes[at], at)):
        if not should_offload(left, threshold):
            break
        text, artifact = offload_text(texts[at], writer, options)
        if text != texts[at]:
            runs[at] = [Text(text)]
        if artifact is not None:
            artifacts[at] = artifact
        left -= sizes[at]
    return (
        tuple(block for run in runs for block in run),
        tuple(artifacts[at] for at in sorted(artifacts)),
    )


def offload_tool_result(
    result: ToolResult,
    writer: ArtifactWriter,
    threshold: int,
    read_tool: str,
    *,
    media: bool = False,
    on_error: OnError | None = None,
    on_redactor_error: OnRedactorError = "original",
    kind: ArtifactKind | str = ArtifactKind.OUTPUT,
    abstract_budget: int = DEFAULT_ABSTRACT_BUDGET,
) -> tuple[ToolResult, tuple[OffloadedArtifact, ...]]:
    """Put what is too large in a tool's result into files, whether it is a text or blocks.

    The arguments are those of :func:`offload_structured_result`.

    Returns:
        The result as the conversation is to carry it, which is the same object where nothing went; and
        the artifacts.

    Raises:
        ValueError: There is no such option.

    >>> from tempfile import TemporaryDirectory
    >>> from turntape import ArtifactWriter, ToolResult
    >>> with TemporaryDirectory() as root:
    ...     writer = ArtifactWriter(root, agent_id="scout", task_id="t1")
    ...     result = ToolResult("c1", "low tide " * 5000)
    ...     shorter, artifacts = offload_tool_result(result, writer, 8192, "read_artifact")
    >>> len(result.content), len(shorter.content) < 1000, artifacts[0].stored_bytes
    (45000, True, 45000)
    """
    content = result.content
    blocks, artifacts = offload_structured_result(
        (Text(content),) if isinstance(content, str) else content,
        writer,
        threshold,
        read_tool,
        media=media,
        on_error=on_error,
        on_redactor_error=on_redactor_error,
        kind=kind,
        abstract_budget=abstract_budget,
    )
    if isinstance(content, str):
        text = _text_of(list(blocks))
        return (result if text == content else replace(result, content=text)), artifacts
    return (result if blocks == content else replace(result, content=blocks)), artifacts


def _runs(blocks: tuple[ResultBlock, ...]) -> list[_Run]:
    """Put neighbouring texts together; every other block stands alone."""
    runs: list[_Run] = []
    for block in blocks:
        if runs and _is_plain(block) and _is_plain(runs[-1][-1]):
            runs[-1].append(block)
        else:
            runs.append([block])
    return runs


def _is_plain(block: ResultBlock) -> bool:
    return (
        isinstance(block, Text)
        and not block.citations
        and block.signature is None
        and block.extra is None
    )


def _text_of(run: _Run) -> str:
    return "".join(block.text for block in run if isinstance(block, Text))


def _medium_of(block: ResultBlock) -> tuple[MediaBlock, Base64Source] | None:
    if not isinstance(block, Image | Audio | Video | Document):
        return None
    return (block, block.source) if isinstance(block.source, Base64Source) else None


def _base64_of(block: ResultBlock) -> str | None:
    found = _medium_of(block)
    return None if found is None else found[1].data


def _offload_medium(
    run: _Run, writer: ArtifactWriter, options: OffloadOptions
) -> tuple[_Run, OffloadedArtifact | None]:
    found = _medium_of(run[0])
    if found is None:
        return run, None
    block, source = found
    media_type = source.media_type.partition(";")[0].strip().lower()
    name = writer.default_name(_EXTENSIONS.get(media_type, "bin"))
    try:
        prepared = writer.prepare(base64.b64decode(source.data, validate=True))
        _check_whole(prepared)
        artifact = writer.store(prepared, options.kind, name)
    except binascii.Error:
        note_failure(OffloadError("a medium is no base64"))
        return run, None
    except Exception as error:  # noqa: BLE001 (a policy is the host's own code)
        note_failure(error)
        return run, None
    stored = replace(block, source=PathSource(artifact.relative_path, source.media_type))
    return [stored, Text(pointer_line(artifact))], artifact


def _check_whole(prepared: Prepared) -> None:
    # An image with a hole in it is none, and there is no redacted form of it to show.
    if prepared.redacted:
        raise RedactionFailed("a medium holds what the redactor would take out of it")
