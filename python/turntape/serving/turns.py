"""A turn that can be served: what was recorded of it, and what it says."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias, cast, get_args

from turntape._native import assemble, decode, detect_dialect, parse_response
from turntape.conversation import Message
from turntape.errors import ProviderError, StreamError, UnknownDialect, UnreadableRecording
from turntape.events import MessageStart, MessageStop, StreamEvent
from turntape.messages import AssistantBlock, AssistantMessage, Text, ToolUse
from turntape.serving.framing import form_of
from turntape.serving.pieces import in_pieces
from turntape.turns import turn_events
from turntape.wire.dialect import Dialect

if TYPE_CHECKING:
    from collections.abc import Callable

    from turntape.conversation import HistoryItem
    from turntape.events import Usage
    from turntape.requests import ModelRequest
    from turntape.serving.framing import Form
    from turntape.serving.playback import Playback

__all__ = [
    "Content",
    "Failure",
    "Recording",
    "Said",
    "Turn",
    "failing_turn",
    "message_of",
    "turn_of",
]

Content: TypeAlias = (
    bytes
    | bytearray
    | str
    | AssistantMessage
    | Message
    | Sequence[AssistantBlock]
    | Sequence[StreamEvent]
)
"""What a turn can be made of: a recorded body, a text that the model says, a message, blocks or events."""

_BLOCKS = get_args(AssistantBlock)
_EVENTS = get_args(StreamEvent)


@dataclass(frozen=True, slots=True)
class Said:
    """What a turn says, whatever the wire.

    Attributes:
        events: Its events, as far as they came.
        failure: What the provider reported; None where it reported nothing.
        damage: Why the recording ends where it does, where it neither ended nor failed.
        source: The dialect that the events came in; None where they came from none.
    """

    events: tuple[StreamEvent, ...]
    failure: ProviderError | None
    damage: StreamError | None
    source: Dialect | None

    @property
    def complete(self) -> bool:
        """Whether the turn ended."""
        return bool(self.events) and isinstance(self.events[-1], MessageStop)

    def message(self) -> AssistantMessage:
        """The events as a message."""
        return assemble(self.events, dialect=self.source)


@dataclass(frozen=True, slots=True)
class Recording:
    """A body as it was recorded.

    Attributes:
        body: Its bytes.
        dialect: The dialect that it is in.
        form: How it is framed.
    """

    body: bytes = field(repr=False)
    dialect: Dialect
    form: Form


@dataclass(frozen=True, slots=True)
class Failure:
    """An answer that is an HTTP error.

    Attributes:
        status: Its status.
        message: The words.
        kind: The provider's name for it; None for the one that goes with the status.
        headers: More headers, such as ``retry-after``.
    """

    status: int
    message: str
    kind: str | None = None
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Turn:
    """A turn that can be served.

    Attributes:
        name: By which a request can ask for it.
        said: What it says; nothing where it is a failure.
        recording: Its bytes; None where it was stored as a message.
        failure: The HTTP error that it is; None where it is none.
        asked: What the model was asked, the whole history; None where nobody knows.
        condition: Which requests it answers; None where it is given out in its turn.
        playback: How it is played; None as all are.
    """

    name: str
    said: Said
    recording: Recording | None = None
    failure: Failure | None = None
    asked: tuple[HistoryItem, ...] | None = None
    condition: Callable[[ModelRequest], bool] | None = None
    playback: Playback | None = None

    @property
    def model(self) -> str | None:
        """The model that it names."""
        first = self.said.events[0] if self.said.events else None
        return first.model if isinstance(first, MessageStart) else None


def failing_turn(name: str, failure: Failure) -> Turn:
    """Make a turn that is an HTTP error."""
    return Turn(name, Said((), None, None, None), failure=failure)


def turn_of(name: str, content: Content, dialect: Dialect | str | None = None) -> Turn:
    """Make a turn.

    Args:
        name: Its name.
        content: What it is made of. Bytes are the body of a response, streamed or not.
        dialect: The dialect of a body, where the body itself does not tell; for events and blocks the
            dialect that they came in, so that what is that wire's own is said there.

    Raises:
        UnreadableRecording: The body is none that could be served.
        TypeError: It is nothing of that, or a message that no model says.
    """
    known = None if dialect is None else Dialect(dialect)
    if isinstance(content, bytes | bytearray):
        return _recorded(name, bytes(content), known)
    if isinstance(content, str):
        return Turn(name, _said_by(_message((Text(content),), known)))
    if isinstance(content, AssistantMessage):
        return Turn(name, _said_by(content))
    if isinstance(content, Message):
        if content.role != "assistant":
            raise TypeError(f"a turn is a message of the model's, and not of role {content.role!r}")
        foreign = [block.type for block in content.content if not isinstance(block, _BLOCKS)]
        if foreign:
            raise TypeError(f"a turn is what a model says, and none says {', '.join(foreign)}")
        return Turn(name, _said_by(message_of(content)))
    # A caller may give anything.
    given = cast("object", content)
    items: tuple[object, ...] = tuple(content) if isinstance(given, Iterable) else (given,)
    if items and all(isinstance(item, _EVENTS) for item in items):
        return Turn(name, Said(cast("tuple[StreamEvent, ...]", items), None, None, known))
    if all(isinstance(item, _BLOCKS) for item in items):
        return Turn(name, _said_by(_message(cast("tuple[AssistantBlock, ...]", items), known)))
    raise TypeError(
        "a turn is a body, a text, a message, blocks of one, or events, and not a mixture"
    )


def message_of(
    message: Message, usage: Usage | None = None, *, complete: bool = True
) -> AssistantMessage:
    """Make the turn that a message of a history was.

    Args:
        message: The message.
        usage: Its tokens.
        complete: Whether the turn ended.
    """
    blocks = tuple(
        block
        for block in message.content
        if isinstance(block, _BLOCKS)
        # Rows always have a text, and an empty one was never said.
        and not (isinstance(block, Text) and block == Text(""))
    )
    made = _message(cast("tuple[AssistantBlock, ...]", blocks), message.dialect)
    return replace(
        made,
        id=message.id,
        model=message.model,
        stop_reason=(message.stop_reason or made.stop_reason) if complete else "unknown",
        terminal=made.terminal if complete else None,
        complete=complete,
        usage=usage,
        reasoning_field=message.reasoning_field,
        vendor=message.vendor,
    )


def _message(blocks: tuple[AssistantBlock, ...], dialect: Dialect | None) -> AssistantMessage:
    calls = any(isinstance(block, ToolUse) for block in blocks)
    return AssistantMessage(
        content=blocks,
        stop_reason="tool_use" if calls else "end_turn",
        terminal="message_stop",
        complete=True,
        dialect=dialect,
    )


def _said_by(message: AssistantMessage) -> Said:
    return Said(tuple(in_pieces(turn_events(message))), None, None, message.dialect)


def _recorded(name: str, body: bytes, dialect: Dialect | None) -> Turn:
    form = form_of(body)
    try:
        source = detect_dialect(body) if dialect is None else dialect
    except StreamError as error:
        raise _unreadable(name, str(error)) from error
    except UnknownDialect as error:
        raise _unreadable(name, f"{error}; say which it is, if it is one") from error
    recording = Recording(body, source, form)
    try:
        if form == "response":
            said = replace(_said_by(parse_response(body, source)), source=source)
        else:
            said = Said(tuple(decode(body, source)), None, None, source)
    except ProviderError as error:
        said = Said(tuple(error.events), error, None, source)
    except StreamError as error:
        if form == "response":
            raise _unreadable(name, str(error)) from error
        said = Said(tuple(error.events), None, error, source)
    if not said.events and said.failure is None and dialect is None:
        raise _unreadable(name, f"nothing of a turn is in it: {said.damage}")
    return Turn(name, said, recording)


def _unreadable(name: str, why: str) -> UnreadableRecording:
    return UnreadableRecording(f"{name}: no recorded turn: {why}", path=name)
