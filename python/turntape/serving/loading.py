"""Turns from files: recorded bodies of any dialect, tapes, and folders of them."""

from __future__ import annotations

import io
import logging
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from turntape.errors import TurntapeError, UnreadableRecording
from turntape.serving.folders import files_under
from turntape.serving.turns import message_of, turn_of
from turntape.transcript.codec import spans_of
from turntape.transcript.entries import TapeRow, read_tape
from turntape.transcript.lifting import normalized
from turntape.wire.inbound.detect import request_dialect
from turntape.wire.inbound.read import from_request

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator

    from turntape.conversation import HistoryItem
    from turntape.serving.turns import Turn
    from turntape.transcript.rows import TranscriptMessage
    from turntape.wire.dialect import Dialect

__all__ = ["REQUEST_SUFFIX", "load"]

logger = logging.getLogger("turntape.serving")

REQUEST_SUFFIX = ".request.json"
"""What the name of the file ends with that holds the request of a recording: ``ferry.request.json`` stands
beside ``ferry.sse``."""

_TAPE_SUFFIXES = {".jsonl", ".tape"}


def load(paths: Iterable[str | os.PathLike[str]], dialect: Dialect | None = None) -> Iterator[Turn]:
    """Load the turns of files and folders, in their order; a folder's in the order of its names.

    Hidden files and the requests of recordings are no turns. In a folder a file that is no recording is
    passed over, with a line in the log.

    Args:
        paths: Recorded bodies, streamed or not, tapes, and folders of them.
        dialect: The dialect of the bodies; None to tell it from each.

    Raises:
        UnreadableRecording: A file that was named is no recording, or cannot be read.
    """
    names: set[str] = set()
    for path in map(Path, paths):
        if path.is_dir():
            yield from _folder(path, dialect, names)
        else:
            yield from _file(path, path.name, dialect, names)


def _folder(folder: Path, dialect: Dialect | None, names: set[str]) -> Iterator[Turn]:
    for path in files_under(folder):
        if path.name.endswith(REQUEST_SUFFIX):
            continue
        try:
            yield from _file(path, path.relative_to(folder).as_posix(), dialect, names)
        except UnreadableRecording as error:
            logger.warning("passed over: %s", error)


def _file(path: Path, label: str, dialect: Dialect | None, names: set[str]) -> list[Turn]:
    """The turns of a file: all of them are made before the first is given."""
    body = _read(path)
    if path.suffix in _TAPE_SUFFIXES:
        return list(_tape(path, label, body, names))
    # Whatever is wrong with it, it is the file that people look for.
    turn = turn_of(str(path), body, dialect)
    turn = replace(turn, name=_free(_without_suffix(label), label, names))
    _log_damage(turn)
    asked = _request_beside(path, turn)
    return [turn if asked is None else replace(turn, asked=asked)]


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UnreadableRecording(
            f"{path}: cannot be read: {error.strerror or error}", path=str(path)
        ) from error


def _log_damage(turn: Turn) -> None:
    if turn.said.damage is not None:
        logger.warning("%s breaks off, and is served so: %s", turn.name, turn.said.damage)


def _request_beside(path: Path, turn: Turn) -> tuple[HistoryItem, ...] | None:
    """What the model was asked, where the request stands beside the recording."""
    beside = path.with_name(path.name.removesuffix(path.suffix) + REQUEST_SUFFIX)
    try:
        body = beside.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        logger.warning("%s: cannot be read: %s", beside, error.strerror or error)
        return None
    recording = turn.recording
    try:
        # The model's name does not matter here, and Gemini's bodies have none.
        dialect = recording.dialect if recording is not None else request_dialect(body)
        return tuple(from_request(body, dialect, model="unnamed").messages)
    except TurntapeError as error:
        logger.warning("%s: no request of this recording: %s", beside, error)
        return None


def _tape(path: Path, label: str, body: bytes, names: set[str]) -> Iterator[Turn]:
    """The turns of a tape: each that the model said, with what came before it."""
    rows: list[TranscriptMessage] = []
    lines: list[int] = []
    for entry in read_tape(io.BytesIO(body)):
        if isinstance(entry, TapeRow):
            rows.append(normalized(entry.row))
            lines.append(entry.line)
        else:
            logger.warning("%s, line %d: passed over: %s", path, entry.line, entry.detail)
    if not rows:
        raise UnreadableRecording(f"{path}: no row of a tape is in it", path=str(path))
    history: list[HistoryItem] = []
    for span in spans_of(rows, include_interrupted=True):
        message = span.item
        row = rows[span.start]
        if message.role == "assistant":
            name = _free(f"{label}:{lines[span.start]}", label, names)
            turn = turn_of(name, message_of(message, row.usage, complete=not row.interrupted))
            yield replace(turn, asked=tuple(history))
        if not row.interrupted:
            history.append(message)


def _without_suffix(label: str) -> str:
    head, slash, name = label.rpartition("/")
    return head + slash + (Path(name).stem or name)


def _free(name: str, label: str, names: set[str]) -> str:
    """A name that no other turn has."""
    number = 1
    free = name
    while free in names:
        free = label if number == 1 else f"{label}~{number}"
        number += 1
    names.add(free)
    return free
