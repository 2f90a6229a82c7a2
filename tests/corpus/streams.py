"""The recorded streams that the environment variable ``TURNTAPE_CORPUS`` names, and their decoding.

Nothing of the recordings is in this repository: only their file names, and facts about them.
"""

from __future__ import annotations

import csv
import json
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.aws import aws_message

from turntape import Dialect, StreamError, decode, decode_message

if TYPE_CHECKING:
    from turntape import AssistantMessage, StreamEvent

VARIABLE = "TURNTAPE_CORPUS"
MANIFEST = "MANIFEST.tsv"

SSE = "sse"
JSON_ARRAY = "json-array"
AWS = "aws-eventstream"
# Converse events written down one JSON object a line, without their framing.
BARE_EVENTS = "ndjson"

# The wires whose streams are checked, by their names in the manifest.
WIRES: dict[str, Dialect] = {
    **{dialect.value: dialect for dialect in Dialect},
    "bedrock-invoke": Dialect.ANTHROPIC,
}

# Where one folder holds bodies of several kinds: what is put behind its name.
KINDS = {
    (Dialect.ANTHROPIC, AWS): " (InvokeModel)",
    (Dialect.BEDROCK_CONVERSE, AWS): " (Converse)",
    (Dialect.BEDROCK_CONVERSE, BARE_EVENTS): " (Converse)",
    (Dialect.GEMINI, JSON_ARRAY): " (JSON array)",
}


class NoCorpusError(Exception):
    """The environment names no folder of recordings; the message says what to do."""


@dataclass(frozen=True)
class Stream:
    """One recorded body.

    Attributes:
        name: Its file, from the corpus's folder.
        dialect: Its dialect, as the manifest has it.
        framing: Its framing, as the manifest has it.
    """

    name: str
    dialect: Dialect
    framing: str

    @property
    def folder(self) -> str:
        """Where it lies, one folder a vendor, and of what kind it is where that does not tell."""
        return self.name.rpartition("/")[0] + KINDS.get((self.dialect, self.framing), "")

    @property
    def body(self) -> bytes:
        """Its bytes; events that were written down without their framing are framed."""
        return _framed(self.name) if self.framing == BARE_EVENTS else read(self.name)

    @property
    def is_text(self) -> bool:
        """Whether it is text, and no binary framing."""
        return self.framing in {SSE, JSON_ARRAY}

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
def manifest(name: str = MANIFEST) -> tuple[dict[str, str], ...]:
    """Give the rows of a manifest."""
    with (root() / name).open(encoding="utf-8", newline="") as lines:
        return tuple(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def dialect_of(row: dict[str, str]) -> Dialect | None:
    """Give the dialect of a stream as the manifest has it; None of what turntape does not decode."""
    # Models of all vendors are behind InvokeModel; the events of Anthropic's are a dialect.
    if row["wire"] == "bedrock-invoke" and "inner:message_start" not in row["features"].split(","):
        return None
    return WIRES.get(row["wire"])


@cache
def streams() -> tuple[Stream, ...]:
    """Give all streams of the corpus in turntape's dialects, in the manifest's order."""
    return tuple(
        Stream(row["file"], dialect, row["framing"])
        for row in manifest()
        if (dialect := dialect_of(row)) is not None
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


# The bodies are 17 MB together, and each test asks for the same ones again.
@cache
def read(name: str) -> bytes:
    """Read a file of the corpus."""
    return (root() / name).read_bytes()


@cache
def _framed(name: str) -> bytes:
    events = [json.loads(line) for line in read(name).splitlines()]
    return b"".join(
        aws_message(kind, json.dumps(payload).encode())
        for event in events
        for kind, payload in event.items()
    )


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
