"""The recorded streams that the environment variable ``TURNTAPE_CORPUS`` names, and their decoding.

Nothing of the recordings is in this repository: only their file names, and facts about them.
"""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from turntape import Dialect, StreamError, decode, decode_message

if TYPE_CHECKING:
    from turntape import AssistantMessage, StreamEvent

VARIABLE = "TURNTAPE_CORPUS"
MANIFEST = "MANIFEST.tsv"

# The dialects whose streams are checked: the name of each in the manifest is its value.
DIALECTS = (Dialect.ANTHROPIC, Dialect.OPENAI_CHAT)


class NoCorpusError(Exception):
    """The environment names no folder of recordings; the message says what to do."""


@dataclass(frozen=True)
class Stream:
    """One recorded body.

    Attributes:
        name: Its file, from the corpus's folder.
        dialect: Its dialect, as the manifest has it.
    """

    name: str
    dialect: Dialect

    @property
    def folder(self) -> str:
        """Where it lies: one folder a vendor."""
        return self.name.rpartition("/")[0]

    @property
    def body(self) -> bytes:
        """Its bytes."""
        return _read(self.name)

    @property
    def decoded(self) -> Decoded:
        """What turntape makes of the whole body."""
        return _decoded(self)


@dataclass(frozen=True)
class Decoded:
    """What turntape makes of a whole body: the message, or the error and what came before it.

    Attributes:
        events: All events.
        message: The message, of a failed stream the partial one.
        error: Why the stream failed.
    """

    events: tuple[StreamEvent, ...]
    message: AssistantMessage
    error: StreamError | None


def root() -> Path:
    """Give the corpus's folder.

    Raises:
        NoCorpusError: There is none.
    """
    named = os.environ.get(VARIABLE)
    if not named:
        raise NoCorpusError(f"no recorded streams to check: {VARIABLE} is not set")
    folder = Path(named)
    if not (folder / MANIFEST).is_file():
        raise NoCorpusError(
            f"no recorded streams to check: {VARIABLE} names no folder with {MANIFEST}"
        )
    return folder


@cache
def streams() -> tuple[Stream, ...]:
    """Give all streams of the corpus in the dialects that are checked, in the manifest's order."""
    with (root() / MANIFEST).open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        return tuple(
            Stream(row["file"], Dialect(row["wire"]))
            for row in rows
            if row["wire"] in DIALECTS and row["framing"] == "sse"
        )


def by_folder() -> dict[str, list[Stream]]:
    """Give the streams, folder by folder."""
    folders: dict[str, list[Stream]] = {}
    for stream in streams():
        folders.setdefault(stream.folder, []).append(stream)
    return dict(sorted(folders.items()))


def message_of(body: bytes | str, dialect: Dialect) -> tuple[AssistantMessage, StreamError | None]:
    """Decode a body to its message, or to what came of it and why it failed."""
    try:
        return decode_message(body, dialect), None
    except StreamError as error:
        partial = error.partial
        failure = error
    assert partial is not None, f"no partial message: {failure}"
    return partial, failure


def facts_of(error: StreamError | None) -> dict[str, object] | None:
    """Give everything that an error tells, but for the events that it hands over."""
    if error is None:
        return None
    attributes = {name: value for name, value in vars(error).items() if name != "events"}
    return {"class": type(error), "text": str(error), **attributes}


# The bodies are 11 MB together, and each test asks for the same ones again.
@cache
def _read(name: str) -> bytes:
    return (root() / name).read_bytes()


@cache
def _decoded(stream: Stream) -> Decoded:
    message, failure = message_of(stream.body, stream.dialect)
    error: StreamError | None = None
    try:
        events = tuple(decode(stream.body, stream.dialect))
    except StreamError as raised:
        error, events = raised, tuple(raised.events)
    assert facts_of(error) == facts_of(failure), f"decode and decode_message differ: {stream.name}"
    return Decoded(events, message, failure)
