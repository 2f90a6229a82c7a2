"""Writing artifacts below one root, for one task of one agent, and reading them again."""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from turntape.artifacts.locate import artifact_steps, resolve_pointer
from turntape.artifacts.names import default_result_name
from turntape.artifacts.paths import (
    ArtifactKind,
    absolute,
    resolve_artifact_path,
    split_relative,
)
from turntape.artifacts.reading import read_chunk, read_range
from turntape.artifacts.store import Store, as_storage_failure
from turntape.errors import RedactionFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    from turntape.artifacts.policy import ArtifactPathPolicy
    from turntape.artifacts.reading import ArtifactChunk
    from turntape.artifacts.redaction import ArtifactRedactor

__all__ = ["ArtifactWriter", "OffloadedArtifact", "Prepared"]

_DEFAULT_LIMIT = 65536
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class OffloadedArtifact:
    """An artifact that was written.

    Attributes:
        kind: What it is for.
        relative_path: Its path as the conversation knows it.
        absolute_path: Where it lies.
        stored_bytes: How large the file is.
        original_bytes: How large the content was before it was redacted.
        redacted: Whether what was stored differs from what came.
    """

    kind: ArtifactKind
    relative_path: str
    absolute_path: Path
    stored_bytes: int
    original_bytes: int
    redacted: bool


@dataclass(frozen=True, slots=True)
class Prepared:
    """Content that the redactor has seen.

    Attributes:
        data: What is to be stored.
        original_bytes: How large it was before.
        redacted: Whether it differs from what came.
        as_text: The same as a text, where it came as one.
    """

    data: bytes = field(repr=False)
    original_bytes: int
    redacted: bool
    as_text: str | None = field(default=None, repr=False)

    @property
    def text(self) -> str:
        """What is to be stored, as a text; bytes that are no UTF-8 are U+FFFD."""
        return self.data.decode(errors="replace") if self.as_text is None else self.as_text


def _accept(_: OffloadedArtifact) -> None:
    """Find nothing to object to."""


class ArtifactWriter:
    """Writes artifacts below a root, and reads them.

    Nothing reaches the disk but through the policy and the redactor, and nothing outside the folders of
    artifacts is created, changed or read, whatever the names and whatever links others put there; the page
    on artifacts says against whom that holds. One writer may be used by several threads.

    Args:
        root: The artifact root; made at the first write where it is missing. It alone may be a link.
        render_root: What the paths in the conversation are relative to; the root if left out. An artifact
            that does not lie below is known by its absolute path.
        policy: What is off limits; nothing if left out. Containment holds all the same.
        redactor: What takes secrets out. Without one bytes are stored verbatim: a decision about security
            that is the host's.
        agent_id: Whose artifacts these are.
        task_id: For which task.
        check_owner: Whether the folders below the root must belong to this user, with nobody else allowed
            to write to them.

    Raises:
        InvalidName: The path of a root holds a NUL.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as root:
    ...     writer = ArtifactWriter(root, agent_id="scout", task_id="t1")
    ...     artifact = writer.write_default("Low tide at six.")
    ...     writer.read(artifact.relative_path).text
    'Low tide at six.'
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        *,
        render_root: str | os.PathLike[str] | None = None,
        policy: ArtifactPathPolicy | None = None,
        redactor: ArtifactRedactor | None = None,
        agent_id: str,
        task_id: str,
        check_owner: bool = True,
    ) -> None:
        """Touch nothing yet."""
        self._root = absolute(root)
        self._render_root = self._root
        self._render_steps: tuple[str, ...] | None = ()
        if render_root is not None:
            self._render_root = absolute(render_root)
            self._render_steps = _steps_between(self._render_root, self._root)
        self._policy = policy
        self._redactor = redactor
        self._agent_id = agent_id
        self._task_id = task_id
        self._store = Store(self._root, policy, check_owner=check_owner)
        self._written: list[str] = []

    def __repr__(self) -> str:
        """Show where it writes and for whom."""
        return (
            f"ArtifactWriter({str(self._root)!r}, agent_id={self._agent_id!r}, "
            f"task_id={self._task_id!r})"
        )

    @property
    def root(self) -> Path:
        """The artifact root, absolute and normal."""
        return self._root

    @property
    def redacts(self) -> bool:
        """Whether there is a redactor."""
        return self._redactor is not None

    @property
    def written(self) -> tuple[str, ...]:
        """The paths of what was written so far, as the conversation knows them, in that order."""
        return tuple(self._written)

    def write(
        self,
        kind: ArtifactKind | str,
        relative: str,
        content: str | bytes,
        *,
        overwrite: bool = False,
    ) -> OffloadedArtifact:
        """Write an artifact.

        Args:
            kind: In which folder the path begins.
            relative: The path below that folder. Where it is taken, the name gets a number.
            content: A text, whose lone surrogates become U+FFFD, or bytes. Bytes that are no UTF-8 are
                shown to the redactor as Latin-1, so that it sees every one.
            overwrite: Whether a file of that name is replaced instead.

        Raises:
            OffloadError: One of its kinds; nothing has the name then.
        """
        artifact, _ = self._write(kind, relative, content, overwrite=overwrite)
        return artifact

    def write_returning_stored(
        self,
        kind: ArtifactKind | str,
        relative: str,
        content: str | bytes,
        *,
        overwrite: bool = False,
    ) -> tuple[OffloadedArtifact, str]:
        """Write an artifact, and give the text that was stored too: the only one to be shown.

        The arguments and errors are those of :meth:`write`.
        """
        artifact, prepared = self._write(kind, relative, content, overwrite=overwrite)
        return artifact, prepared.text

    def write_default(
        self,
        content: str | bytes,
        *,
        kind: ArtifactKind | str = ArtifactKind.OUTPUT,
        extension: str = "md",
    ) -> OffloadedArtifact:
        """Write an artifact under the name that :func:`default_result_name` gives it.

        Args:
            content: As in :meth:`write`.
            kind: In which folder.
            extension: What the name ends in, without the dot.

        Raises:
            OffloadError: One of its kinds.
        """
        return self.write(kind, self.default_name(extension), content)

    def default_name(self, extension: str = "md") -> str:
        """Give the name of a result of this task."""
        return default_result_name(self._agent_id, self._task_id, extension=extension)

    def _write(
        self, kind: ArtifactKind | str, relative: str, content: str | bytes, *, overwrite: bool
    ) -> tuple[OffloadedArtifact, Prepared]:
        # The name is judged first: what cannot be stored need not be redacted.
        resolve_artifact_path(self._root, kind, relative, self._policy)
        prepared = self.prepare(content)
        return self.store(prepared, kind, relative, overwrite=overwrite), prepared

    def prepare(self, content: str | bytes) -> Prepared:
        """Let the redactor see a content; nothing is written.

        Raises:
            RedactionFailed: The redactor raised, or gave no text.
            TypeError: It is neither a text nor bytes.
        """
        if isinstance(content, str):
            return self._prepare_text(content)
        data = _bytes_of(content)
        if self._redactor is None:
            return Prepared(data, len(data), redacted=False)
        try:
            text, encoding = data.decode(), "utf-8"
        except UnicodeDecodeError:
            text, encoding = data.decode("latin-1"), "latin-1"
        scrubbed = self._redact(text)
        if scrubbed == text:
            return Prepared(data, len(data), redacted=False)
        try:
            stored = scrubbed.encode(encoding)
        except UnicodeEncodeError:
            stored = b""
        if not stored and scrubbed:
            raise RedactionFailed("the redactor put into bytes what cannot stand there")
        return Prepared(stored, len(data), redacted=True)

    def _prepare_text(self, text: str) -> Prepared:
        text, data = _storable(text)
        if self._redactor is None:
            return Prepared(data, len(data), redacted=False, as_text=text)
        scrubbed, stored = _storable(self._redact(text))
        return Prepared(stored, len(data), redacted=scrubbed != text, as_text=scrubbed)

    def _redact(self, text: str) -> str:
        if self._redactor is None:
            return text
        try:
            scrubbed = cast("object", self._redactor.redact(text).text)
        except Exception as error:  # noqa: BLE001 (the host's own code)
            fault = f"it raised {type(error).__name__}"
        else:
            if isinstance(scrubbed, str):
                return scrubbed
            fault = f"it gave {type(scrubbed).__name__} in place of a text"
        # Outside the handler, so that the host's error, which may quote the content, is not carried along.
        raise RedactionFailed(f"the redactor failed, and nothing was written: {fault}")

    def store(
        self,
        prepared: Prepared,
        kind: ArtifactKind | str,
        relative: str,
        *,
        overwrite: bool = False,
        accept: Callable[[OffloadedArtifact], None] = _accept,
    ) -> OffloadedArtifact:
        """Write content that is prepared.

        Args:
            prepared: The content.
            kind: As in :meth:`write`.
            relative: As in :meth:`write`.
            overwrite: As in :meth:`write`.
            accept: Is told of the artifact before it has its name, and raises to prevent it.

        Raises:
            OffloadError: One of its kinds.
        """
        kind = ArtifactKind(kind)
        artifact: OffloadedArtifact | None = None

        def about_to(steps: tuple[str, ...]) -> None:
            nonlocal artifact
            artifact = self._describe(kind, steps, prepared)
            accept(artifact)

        steps = self._store.put(
            (kind.folder, *split_relative(relative)),
            prepared.data,
            overwrite=overwrite,
            accept=about_to,
            asked=relative,
        )
        artifact = artifact or self._describe(kind, steps, prepared)
        self._written.append(artifact.relative_path)
        return artifact

    def _describe(
        self, kind: ArtifactKind, steps: tuple[str, ...], prepared: Prepared
    ) -> OffloadedArtifact:
        path = self._root.joinpath(*steps)
        return OffloadedArtifact(
            kind,
            self._rendered(path, steps),
            path,
            len(prepared.data),
            prepared.original_bytes,
            redacted=prepared.redacted,
        )

    def _rendered(self, path: Path, steps: tuple[str, ...]) -> str:
        if self._render_steps is None:
            return str(path)
        return "/".join((*self._render_steps, *steps))

    def read(self, path: str, offset: int = 0, limit: int = _DEFAULT_LIMIT) -> ArtifactChunk:
        """Read part of an artifact.

        Args:
            path: Its path as the conversation knows it.
            offset: Where to begin, in bytes.
            limit: How many bytes at most. No character is cut, and at least one is given.

        Returns:
            The text, and where to read on.

        Raises:
            OffloadError: The path leads elsewhere or is off limits, or what has it is no regular file.
            ValueError: The offset is negative, or the limit is not positive.
        """
        if offset < 0 or limit < 1:
            raise ValueError("an artifact is read from 0 or later on, and at least one byte of it")
        with self._open(path) as fd:
            return read_chunk(fd, offset, limit)

    def read_bytes(self, path: str) -> bytes:
        """Read a whole artifact as it was stored, such as an image that a request is to carry.

        Args:
            path: Its path as the conversation knows it.

        Raises:
            OffloadError: As :meth:`read`.
        """
        with self._open(path) as fd:
            return read_range(fd, 0, os.fstat(fd).st_size)

    @contextmanager
    def _open(self, path: str) -> Generator[int]:
        steps = artifact_steps(self._root, self._render_root, path)
        fd = self._store.open(steps, path)
        try:
            with as_storage_failure(path):
                yield fd
        finally:
            os.close(fd)

    def resolve_pointer(self, path: str) -> Path:
        """Give the place of an artifact, to show it to people; see :func:`resolve_pointer`."""
        return resolve_pointer(self._root, path, render_root=self._render_root, policy=self._policy)


def _steps_between(above: Path, below: Path) -> tuple[str, ...] | None:
    return below.relative_to(above).parts if below.is_relative_to(above) else None


def _bytes_of(content: object) -> bytes:
    if isinstance(content, bytes):
        return content
    if isinstance(content, bytearray):
        return bytes(content)
    raise TypeError(f"an artifact is a text or bytes, not {type(content).__name__}")


def _storable(text: str) -> tuple[str, bytes]:
    """Give a text as it can be stored, and its bytes."""
    try:
        return text, text.encode()
    except UnicodeEncodeError:
        text = _SURROGATE.sub("\ufffd", text)
        return text, text.encode()
