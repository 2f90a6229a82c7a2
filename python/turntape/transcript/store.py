"""The tape: a file of JSON lines that survives a crash."""

from __future__ import annotations

import os
import threading
import warnings
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, NoReturn, TypeVar

from turntape._native import sync_folder
from turntape.artifacts.structure import redact_row
from turntape.errors import (
    EnvelopeError,
    StoreBroken,
    StoreChanged,
    StoreError,
    StoreWriteError,
)
from turntape.transcript.entries import (
    MAX_LINE_BYTES,
    TapeFault,
    TapeOpaque,
    TapeRow,
    read_runs,
    read_tape,
)
from turntape.transcript.files import TapeFiles
from turntape.transcript.lines import encode_line
from turntape.transcript.locking import reset_after_fork
from turntape.transcript.network import NetworkFileSystemWarning, network_file_system
from turntape.transcript.report import report_on
from turntape.transcript.rewriting import Replacement
from turntape.transcript.rows import TranscriptMessage
from turntape.transcript.syncing import Unsynced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import TracebackType
    from typing import Self

    from turntape._native import RowColumns, TapeFile
    from turntape.artifacts.redaction import ArtifactRedactor
    from turntape.transcript.arrow import ArrowRows
    from turntape.transcript.entries import TapeEntry
    from turntape.transcript.report import TapeReport
    from turntape.transcript.rewriting import RewriteReport
    from turntape.transcript.syncing import FsyncPolicy

__all__ = ["TranscriptStore"]

# Rust's standard library shows device and inode on Unix alone.
_INODES_ARE_TOLD = os.name == "posix"


_Read = TypeVar("_Read")


class TranscriptStore(TapeFiles):
    """An append-only file of rows, a line each, that several processes may write.

    A row is on the tape when ``append`` returns. A process that is killed loses at most the row that it was
    appending; a power cut at most what came after the last fsync, and both may leave a torn line, which
    readers report and pass over. Readers never wait long: the lock is held while a line is written.

    The folder and the file are made when the first row is appended, for their owner alone. Beside it stands
    the lock file, ``PATH.lock``, which is never removed. A store may be used by many threads, and after a
    fork in both processes.

    Attributes:
        path: The tape, absolute, with links resolved.

    Args:
        path: The tape.
        redactor: Takes secrets out of every row before it is written, as ``redact_row`` does: out of the
            content, the parts, the argument texts of calls and the strings of the metadata, never out of
            signatures, opaque data, ids or names. With None rows are written verbatim.
        fsync: ``always``: before ``append`` returns. ``batch``: at most once in ``batch_rows`` rows or
            ``batch_seconds`` seconds, looked at when a row is appended, and at ``flush`` and ``close``.
            ``never``: left to the system, but for ``flush``.
        timeout: How many seconds are waited for other writers; None for ever.
        batch_rows: How many rows one fsync may stand for.
        batch_seconds: How old a row may become, in seconds, before the next append brings it to the disk.
        max_line_bytes: A longer line is reported and passed over when the tape is read; a row that would
            take one is refused.

    Raises:
        ValueError: An argument has a value that cannot be.

    >>> from tempfile import TemporaryDirectory
    >>> from turntape import TranscriptMessage
    >>> with TemporaryDirectory() as folder, TranscriptStore(f"{folder}/tape.jsonl") as store:
    ...     store.append(TranscriptMessage.user("Which way to the harbour?"))
    ...     [row.content for row in store.rows()]
    ['Which way to the harbour?']
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        redactor: ArtifactRedactor | None = None,
        fsync: FsyncPolicy = "batch",
        timeout: float | None = 30.0,
        batch_rows: int = 64,
        batch_seconds: float = 1.0,
        max_line_bytes: int = MAX_LINE_BYTES,
    ) -> None:
        """Name the tape; nothing is opened or made yet."""
        super().__init__(path, timeout)
        if max_line_bytes < 1:
            raise ValueError("max_line_bytes is at least 1")
        self._unsynced = Unsynced(fsync, batch_rows, batch_seconds)
        self._redactor = redactor
        self._max_line_bytes = max_line_bytes
        self._broken: str | None = None
        self._closed = False
        # Whether something has to be looked at before the next append: a flag, so that most need no more.
        self._unready = True
        # Up to where this store knows the tape: device and inode, and bytes.
        self._known_identity: tuple[int, int] | None
        self._known_identity, self._known_end = self._look()
        kind = network_file_system(self.path)
        if kind is not None:
            text = (
                f"{self.path} is on a network file system ({kind}), where neither locks nor appends can "
                "be relied on: let one process write at a time"
            )
            warnings.warn(text, NetworkFileSystemWarning, stacklevel=2)
        reset_after_fork(self)

    def __repr__(self) -> str:
        """Name the tape."""
        return f"TranscriptStore({self.path!r})"

    def __enter__(self) -> Self:
        """Use the store; it is closed at the end."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the store."""
        self.close()

    @property
    def broken(self) -> bool:
        """Whether a failure has left it unknown what is on the tape; the store then writes no more."""
        return self._broken is not None

    # Appending -----------------------------------------------------------------------------------

    def append(self, row: TranscriptMessage, /) -> None:
        """Put a row on the tape. It is there when this returns.

        Args:
            row: The row. One that holds a packed string of a flat history is written in fields where they
                rebuild that string byte for byte, else as it is.

        Raises:
            EnvelopeError: No line can hold the row.
            StoreLocked: Others held the tape for too long.
            StoreWriteError: The system refused; the tape is as it was.
            StoreBroken: What was written could be neither finished nor undone, or the disk refused it.
            StoreError: The store is closed, or being rewritten by this thread.
        """
        if self._redactor is not None:
            row = redact_row(row, self._redactor)
        lock = self._turn.lock
        # Most rows are encoded and written in one step of the extension. Whatever is in its way, the long
        # way deals with it. To name the argument would take as long again as to get the lock.
        try:
            got = lock.acquire(False)  # noqa: FBT003
            if got and not self._unready and self._known_identity is not None and _INODES_ARE_TOLD:
                end = self._file.append_row(row, self._known_end, self._max_line_bytes)
                if end is not None:
                    self._known_end = end
                    unsynced = self._unsynced
                    if not unsynced.counts:
                        unsynced.rows = 1
                    elif unsynced.add(1):
                        self._sync()
                    return
        except OSError as error:
            self._fail(error)
        finally:
            # As of `_append`.
            try:  # noqa: SIM105
                lock.release()
            except RuntimeError:
                pass
        self._append(self._encoded(row) + b"\n", 1)

    def append_many(self, rows: Iterable[TranscriptMessage], /) -> None:
        """Put several rows on the tape by one write: all of them, or none if it fails.

        Args:
            rows: The rows; all are redacted and encoded before the first is written.

        Raises:
            EnvelopeError: No line can hold one of the rows.
            StoreError: As of ``append``.
        """
        lines = [self._line(row) for row in rows]
        if lines:
            self._append(b"\n".join((*lines, b"")), len(lines))

    def flush(self) -> None:
        """Wait until the disk has every row that this store appended, whatever the policy.

        Raises:
            StoreBroken: The disk refused.
        """
        self._check()
        with self._turn.lock:
            self._check()
            self._sync()

    def close(self) -> None:
        """Bring to the disk what the policy asks for, and close the files. Doing so again does nothing.

        Raises:
            StoreBroken: The disk refused.
        """
        if self._closed:
            return
        if self._rewriter == threading.get_ident():
            text = f"{self.path}: this thread is rewriting the tape"
            raise StoreError(text, path=self.path)
        with self._turn.lock:
            self._closed = self._unready = True
            try:
                if self._unsynced.policy == "batch" and self._broken is None:
                    self._sync()
            finally:
                self._file.close()

    def _line(self, row: TranscriptMessage) -> bytes:
        if self._redactor is not None:
            row = redact_row(row, self._redactor)
        return self._encoded(row)

    def _encoded(self, row: TranscriptMessage) -> bytes:
        line = encode_line(row)
        if len(line) > self._max_line_bytes:
            # No reader would give it back, and the next rewrite would put it aside.
            text = f"row: its line has {len(line)} bytes, and no reader takes more than {self._max_line_bytes}"
            raise EnvelopeError(text, field="row")
        return line

    def _append(self, lines: bytes, count: int) -> None:
        if self._unready:
            self._get_ready()
        lock = self._turn.lock
        try:
            timeout = self._timeout if lock.acquire(blocking=False) else self._wait()
            if self._unready:
                # Another thread has closed or broken the store meanwhile, or has rewritten the tape.
                self._check()
            if not _INODES_ARE_TOLD and not self._look_at_path(timeout):
                self._say_locked()
            placed = self._file.append(lines, timeout)
            if placed is None:
                self._say_locked()
            before, start = placed
            # Follow the tape with what this store itself has added to it.
            if before == self._known_end:
                self._known_end = start + len(lines)
                if self._known_identity is None:
                    self._known_identity = self._file.identity or self._look()[0]
            if self._unsynced.add(count):
                self._sync()
        except OSError as error:
            self._fail(error)
        finally:
            # Not asked whether it was got: an interrupt may come between getting a lock and noting that.
            # Nothing is called before it is given back, because another interrupt may come there.
            try:  # noqa: SIM105
                lock.release()
            except RuntimeError:
                pass

    def _get_ready(self) -> None:
        """Make what is missing, once; refuse what cannot be."""
        self._check()
        try:
            self._make_folder()
        except OSError as error:
            self._fail(error)
        # The thread that rewrites the tape has to be told from the others.
        self._unready = self._rewriter is not None

    def _sync(self) -> None:
        if not self._unsynced.rows:
            return
        try:
            _sync(self._file)
        except OSError as error:
            # The system may have thrown the data away: another fsync would succeed and say nothing.
            self._break(f"an fsync failed: {error.strerror or error}", error)
        self._unsynced.rows = 0

    def _fail(self, error: OSError) -> NoReturn:
        why = error.strerror or str(error)
        if self._file.torn:
            self._break(f"a failed write could not be undone: {why}", error)
        raise StoreWriteError(
            f"{self.path}: nothing was written: {why}", path=self.path, errno=error.errno
        ) from error

    def _break(self, why: str, error: OSError) -> NoReturn:
        self._broken = why
        self._unready = True
        raise StoreBroken(f"{self.path}: {why}", path=self.path) from error

    def _check(self) -> None:
        if self._closed:
            raise StoreError(f"{self.path}: the store is closed", path=self.path)
        if self._broken is not None:
            text = f"{self.path}: the store writes no more, because {self._broken}"
            raise StoreBroken(text, path=self.path)
        if self._rewriter == threading.get_ident():
            text = f"{self.path}: this thread is rewriting the tape: what it appends would be lost"
            raise StoreError(text, path=self.path)

    # Reading -------------------------------------------------------------------------------------

    def read(self) -> Iterator[TapeEntry]:
        """Read the tape as a stream, in the memory of one line: rows, opaque lines, and faults.

        It gives what was there when its first entry was asked for; a row that is appended meanwhile is
        neither given nor seen as torn. A tape that is not there is empty.

        Raises:
            OSError: The file cannot be read.
            StoreLocked: Others held the tape for too long.
        """
        yield from self._reading(read_tape)

    def _reading(self, read: Callable[..., Iterator[_Read]]) -> Iterator[_Read]:
        """Read what is on the tape now, and remember up to where that was."""
        opened = self._open_whole()
        if opened is None:
            return
        file, identity, length = opened
        with file:
            yield from read(file, limit=length, max_line_bytes=self._max_line_bytes)
        # This store may have appended or rewritten meanwhile, and then knows better.
        newer = identity != self._known_identity or length > self._known_end
        if newer and self._look()[0] == identity:
            self._known_identity, self._known_end = identity, length

    def rows(self, *, strict: bool = True) -> Iterator[TranscriptMessage]:
        """Read the rows alone.

        Args:
            strict: Whether a line that is no row is an error; otherwise it is passed over. Opaque lines
                are passed over in any case.

        Raises:
            TranscriptError: A line is torn or foreign.
            OSError: As of ``read``.
        """
        return chain.from_iterable(self._runs(strict=strict))

    def _runs(self, *, strict: bool) -> Iterator[list[TranscriptMessage]]:
        for read in self._reading(read_runs):
            if isinstance(read, list):
                yield read
            elif strict and isinstance(read, TapeFault):
                raise read.to_error()

    def to_arrow(self, *, strict: bool = True, batch_rows: int = 8192) -> ArrowRows:
        """Give the rows as Arrow record batches, for whatever reads the Arrow PyCapsule interface.

        Nothing is read before a stream is asked for its first batch; each stream reads the tape anew, as
        ``read`` does, in the memory of one batch, and closes it when it is let go. Lines as a store writes
        them become no Python objects. What cannot be read ends the stream with an error of the reader's.

        Args:
            strict: Whether a line that is no row, or a row that Arrow cannot hold, is an error; otherwise
                it is passed over. Opaque lines are passed over in any case.
            batch_rows: How many rows a batch has at most; it has fewer where they are long.

        Raises:
            ValueError: ``batch_rows`` is below 1.
        """
        # Most who open a tape never ask for this.
        from turntape.transcript.arrow import ArrowRows, fill_from_tape  # noqa: PLC0415

        def begin(columns: RowColumns) -> Iterator[None]:
            return self._reading(partial(fill_from_tape, columns=columns, strict=strict))

        return ArrowRows(begin, batch_rows)

    def verify(self) -> TapeReport:
        """Read all of the tape, and list what is wrong with it.

        Raises:
            OSError: As of ``read``.
        """
        return report_on(self.read())

    # Rewriting -----------------------------------------------------------------------------------

    def rewrite(self, rows: Iterable[TapeEntry | TranscriptMessage], /) -> RewriteReport:
        """Replace the whole tape: it has the old rows or the new ones, never a part of them.

        Rows that were read and not edited keep their bytes. Lines that are no rows, and opaque lines that
        are not given, go to ``PATH.rejected``. Other writers wait; they find the new file by themselves.

        Args:
            rows: What the tape is to hold, as rows or as entries of ``read``. ``rewrite(read())`` misses
                nothing, because the reading begins when nobody else can write.

        Raises:
            EnvelopeError: No line can hold one of the rows.
            StoreChanged: Others wrote since this store last read the tape to its end.
            StoreLocked: Others held the tape for too long.
            StoreWriteError: The system refused; the tape is as it was.
            StoreBroken: The new tape is in place, and the disk would not confirm that.
        """
        return self._rewrite(rows, whole=False)

    def compact(self) -> RewriteReport:
        """Rewrite the tape without its torn and foreign lines, which go to ``PATH.rejected``.

        Raises:
            StoreError: As of ``rewrite``.
        """
        return self._rewrite(self.read(), whole=True)

    def _rewrite(
        self, rows: Iterable[TapeEntry | TranscriptMessage], *, whole: bool
    ) -> RewriteReport:
        self._check()
        try:
            with self._both_locks():
                self._check()
                self._rewriter = threading.get_ident()
                self._unready = True
                try:
                    return self._replace(rows, whole=whole)
                finally:
                    self._rewriter = None
        except OSError as error:
            self._fail(error)

    def _replace(
        self, rows: Iterable[TapeEntry | TranscriptMessage], *, whole: bool
    ) -> RewriteReport:
        with Replacement(self.path, self.rejected_path, self._max_line_bytes) as new:
            for item in rows:
                if isinstance(item, TranscriptMessage):
                    new.add(self._line(item))
                elif isinstance(item, TapeRow):
                    new.add(self._line(item.row))
                elif isinstance(item, TapeOpaque):
                    new.keep(item)
                else:
                    new.reject(item)
            # Asked only now: rows that are being read are read under this very lock.
            if self._look() != (self._known_identity, self._known_end):
                text = f"{self.path}: others wrote to it since this store read it: read again"
                raise StoreChanged(text, path=self.path)
            if not whole:
                new.reject_the_rest()
            self._file.forget()
            self._opened_identity = None
            report = new.put_in_place()
        self._unsynced.rows = 0
        self._known_identity, self._known_end = self._look()
        try:
            sync_folder(self.path)
        except OSError as error:
            self._break(f"the folder could not be synced: {error.strerror or error}", error)
        return report

    def forked(self) -> None:
        """In a forked process, which calls this by itself: leave the parent's files and locks alone."""
        self._open_files()
        self._rewriter = None
        self._unready = True
        self._unsynced.rows = 0


def _sync(file: TapeFile) -> None:
    file.sync()
