"""The errors. Everything that turntape raises on purpose is a :class:`TurntapeError`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from turntape.events import DecodeWarning, StreamEvent
    from turntape.messages import AssistantMessage, InvalidReason
    from turntape.replay.pairing import PairingFault
    from turntape.transcript.validation import SequenceFault

__all__ = [
    "AbsolutePath",
    "BatchLineError",
    "EmptyName",
    "EncodeError",
    "EnvelopeError",
    "EventTooLarge",
    "IncompleteTurn",
    "InternalRoot",
    "InternalState",
    "InvalidName",
    "InvalidRequest",
    "InvalidToolArguments",
    "MalformedEvent",
    "MarkerError",
    "MessageError",
    "OffloadError",
    "PairingError",
    "PathEscape",
    "ProjectionError",
    "ProviderError",
    "RedactionFailed",
    "RedactionRuleError",
    "SequenceError",
    "StorageFailed",
    "StoreBroken",
    "StoreChanged",
    "StoreError",
    "StoreLocked",
    "StoreWriteError",
    "StreamError",
    "StrictError",
    "SymlinkEscape",
    "TranscriptError",
    "TruncatedStream",
    "TurntapeError",
    "UnknownDialect",
    "UnsafeDirectory",
    "UnsafeFile",
    "UnsayableDialect",
    "UnsupportedContent",
]


class TurntapeError(Exception):
    """The base of all errors of this package."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle with all attributes: the constructors take keywords."""
        return _rebuild, (type(self), self.args, dict(self.__dict__))


def _rebuild(
    cls: type[TurntapeError], args: tuple[Any, ...], state: dict[str, Any]
) -> TurntapeError:
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class UnknownDialect(TurntapeError):
    """Nothing in a body tells which dialect it is in."""


class EncodeError(TurntapeError, ValueError):
    """What an encoder was given cannot be said: an event out of order, JSON that is none, no end.

    The encoder is as it was before the event that it refused.
    """


class UnsayableDialect(EncodeError):
    """The dialect is one that is read but not written."""


class InvalidToolArguments(TurntapeError):
    """The arguments of a tool call cannot be used.

    Attributes:
        reason: Why, as in ``ToolUse.invalid``.
        arguments: The argument text.
    """

    reason: InvalidReason
    arguments: str

    def __init__(self, message: str, *, reason: InvalidReason, arguments: str) -> None:
        """Make the error from one sentence for people and what it is about."""
        super().__init__(message)
        self.reason = reason
        self.arguments = arguments


class EnvelopeError(TurntapeError, ValueError):
    """A value that no envelope can hold; nothing of it was changed to make it fit.

    Attributes:
        field: Where it stands, as a path such as ``tool_calls[0].extra_content.score``.
    """

    field: str

    def __init__(self, message: str, *, field: str) -> None:
        """Make the error from one sentence for people and the path."""
        super().__init__(message)
        self.field = field


class MarkerError(TurntapeError, ValueError):
    """Parts that would not come back the same from the text that they are joined to.

    Attributes:
        index: Which part is the first at fault, counted from 0.
    """

    index: int

    def __init__(self, message: str, *, index: int) -> None:
        """Make the error from one sentence for people and the part's place."""
        super().__init__(message)
        self.index = index


class MessageError(TurntapeError, ValueError):
    """A dict that is not the form of a message, a block or a request.

    Attributes:
        field: Where the fault stands, as a path such as ``content[0].text``; empty for the whole.
    """

    field: str

    def __init__(self, message: str, *, field: str) -> None:
        """Make the error from one sentence for people and the path."""
        super().__init__(message)
        self.field = field


class IncompleteTurn(TurntapeError, ValueError):
    """A turn that the wire did not end was to become a message of a history."""


class TranscriptError(TurntapeError, ValueError):
    """A line of a transcript that is no row.

    Attributes:
        line: Its number, counted from 1.
        start: Where it begins, in bytes from the start of the file.
        end: Where it ends, its line end not counted.
    """

    line: int
    start: int
    end: int

    def __init__(self, message: str, *, line: int, start: int, end: int) -> None:
        """Make the error from one sentence for people and the line's place."""
        super().__init__(message)
        self.line = line
        self.start = start
        self.end = end


class StoreError(TurntapeError):
    """Something about a tape's file. None of its texts quotes what the tape holds.

    Attributes:
        path: The tape.
    """

    path: str

    def __init__(self, message: str, *, path: str) -> None:
        """Make the error from one sentence for people and the tape's path."""
        super().__init__(message)
        self.path = path


class StoreLocked(StoreError):
    """Another writer had the tape all the time that was allowed for waiting. Nothing was written."""


class StoreWriteError(StoreError):
    """The system refused, and the tape is as it was before. Its cause is the system's error.

    Attributes:
        errno: The system's number, where there is one.
    """

    errno: int | None

    def __init__(self, message: str, *, path: str, errno: int | None) -> None:
        """Make the error from one sentence for people and what the system said."""
        super().__init__(message, path=path)
        self.errno = errno


class StoreBroken(StoreError):
    """What this store last wrote may not be on the disk, or not whole: it writes no more.

    Read the tape, and go on with a new store.
    """


class StoreChanged(StoreError):
    """Other writers changed the tape since this store read it: a rewrite would lose what they wrote.

    Read again, and rewrite that.
    """


class InvalidRequest(TurntapeError, ValueError):
    """A request that no provider would take as it is, or a history that cannot be read.

    Attributes:
        index: The message at fault, counted from 0 in what was given; None where it is none of them.
        block: The block at fault, counted from 0 in that message; None where it is the message.
    """

    index: int | None
    block: int | None

    def __init__(self, message: str, *, index: int | None = None, block: int | None = None) -> None:
        """Make the error from one sentence for people and the place, which is put before it."""
        super().__init__(f"{_place(index, block)}{message}")
        self.index = index
        self.block = block


class UnsupportedContent(InvalidRequest):
    """Content that the wire or the model has no place for, such as a URL where only bytes can go."""


class PairingError(InvalidRequest):
    """Calls and results of a history do not pair: every call is answered, right after it, once.

    Attributes:
        faults: All of them, in the order of the history.
    """

    faults: tuple[PairingFault, ...]

    def __init__(self, faults: Sequence[PairingFault]) -> None:
        """Make the error from the faults, of which it is to have at least one."""
        listed = "; ".join(map(str, faults))
        super().__init__(
            f"calls and results do not pair ({listed}); repair='repair' mends this",
            index=faults[0].index,
            block=faults[0].block,
        )
        self.faults = tuple(faults)

    def __str__(self) -> str:
        """All faults, each with its own place."""
        return str(self.args[0]).removeprefix(_place(self.index, self.block))


def _place(index: int | None, block: int | None) -> str:
    if index is None:
        return ""
    return f"message {index}: " if block is None else f"message {index}, block {block}: "


class ProjectionError(TurntapeError, ValueError):
    """A message that was to become one row has several."""


class SequenceError(TurntapeError, ValueError):
    """Rows whose calls and results do not pair up.

    Attributes:
        faults: All of them, in the order of the rows.
    """

    faults: tuple[SequenceFault, ...]

    def __init__(self, message: str, *, faults: tuple[SequenceFault, ...]) -> None:
        """Make the error from one sentence for people and the faults."""
        super().__init__(message)
        self.faults = faults


class RedactionRuleError(TurntapeError, ValueError):
    """A secret rule that cannot be used: it does not compile, or it asks for what cannot be done.

    Attributes:
        rule: The rule's id; empty where the fault is the file's.
    """

    rule: str

    def __init__(self, message: str, *, rule: str) -> None:
        """Make the error from one sentence for people and the rule's id."""
        super().__init__(message)
        self.rule = rule


class StreamError(TurntapeError):
    """A stream that did not give a whole turn. None of it depends on how the stream was cut.

    Attributes:
        partial: What had come, with ``complete=False``; None from ``SseDecoder``, which makes no message.
        offset: Where the event at fault begins, in bytes from the start of the stream; for a stream that
            ended too early, its length.
        raw: The payload at fault, where there is one.
        events: The events that were decoded and not handed over yet: all of them from ``decode``, those
            of the last call from ``finish``.
    """

    partial: AssistantMessage | None
    offset: int
    raw: str | None
    events: Sequence[StreamEvent]

    def __init__(
        self,
        message: str,
        *,
        partial: AssistantMessage | None = None,
        offset: int = 0,
        raw: str | None = None,
        events: Sequence[StreamEvent] = (),
    ) -> None:
        """Make the error from one sentence for people and what was decoded before it."""
        super().__init__(message)
        self.partial = partial
        self.offset = offset
        self.raw = raw
        self.events = events


class ProviderError(StreamError):
    """The provider reported a fault, in the stream or as the whole body.

    Attributes:
        kind: The provider's name for it, such as ``overloaded_error``; ``error`` where it gave none.
        message: The provider's words.
        status: The HTTP status that the wire named, 400 to 599; None where it named none.
        retryable: Whether trying again may help: an overload, a rate limit, a time-out, a fault of the
            server; not a quota that is used up.
        before_content: Whether no block had opened, so that a retry repeats nothing to the user.
    """

    kind: str
    message: str
    status: int | None
    retryable: bool
    before_content: bool

    def __init__(
        self,
        message: str,
        *,
        kind: str,
        status: int | None = None,
        retryable: bool = False,
        before_content: bool = True,
        partial: AssistantMessage | None = None,
        offset: int = 0,
        raw: str | None = None,
        events: Sequence[StreamEvent] = (),
    ) -> None:
        """Make the error from the provider's words and what was decoded before it."""
        super().__init__(message, partial=partial, offset=offset, raw=raw, events=events)
        self.kind = kind
        self.message = message
        self.status = status
        self.retryable = retryable
        self.before_content = before_content

    def __str__(self) -> str:
        """Name the kind and the status before the provider's words."""
        status = "" if self.status is None else f" {self.status}"
        return f"[{self.kind}{status}] {self.message}"


class MalformedEvent(StreamError):
    """A payload that starts like JSON and is none, before the end of the turn."""


class TruncatedStream(StreamError):
    """The input ended before the turn did. Try again."""


class EventTooLarge(StreamError):
    """An event has more data than ``max_event_bytes`` allows."""


class StrictError(StreamError):
    """A warning came, and ``strict=True`` tolerates none.

    Attributes:
        warning: The warning.
    """

    warning: DecodeWarning

    def __init__(
        self,
        message: str,
        *,
        warning: DecodeWarning,
        partial: AssistantMessage | None = None,
        offset: int = 0,
        raw: str | None = None,
        events: Sequence[StreamEvent] = (),
    ) -> None:
        """Make the error from one sentence for people and the warning."""
        super().__init__(message, partial=partial, offset=offset, raw=raw, events=events)
        self.warning = warning


class BatchLineError(TurntapeError, ValueError):
    """A line of a batch's results that holds no result. Its cause says why; no text quotes the line.

    Attributes:
        line: The line's number, counted from 1.
        custom_id: The request that it is about, None where it does not say.
    """

    line: int
    custom_id: str | None

    def __init__(self, message: str, *, line: int, custom_id: str | None) -> None:
        """Make the error from one sentence for people and the line's place."""
        super().__init__(message)
        self.line = line
        self.custom_id = custom_id


class OffloadError(TurntapeError):
    """An artifact could not be named, written or read. Soft: the text is still where it was.

    Neither the message nor what it was raised from holds any of the content.

    Attributes:
        path: The path as it was asked for; None where it is about none.
    """

    path: str | None

    def __init__(self, message: str, *, path: str | None = None) -> None:
        """Make the error from one sentence for people and the path."""
        super().__init__(message)
        self.path = path


class EmptyName(OffloadError):
    """A path of nothing but blanks."""


class PathEscape(OffloadError):
    """A path with a ``..`` in it, or one that leads out of its folder."""


class AbsolutePath(OffloadError):
    """A path that begins at a root, a drive or a network share."""


class InvalidName(OffloadError):
    """A path with a step that some platform cannot store or takes for something else."""


class InternalState(OffloadError):
    """The policy calls this location the host's own."""


class InternalRoot(OffloadError):
    """The path lies in the tree that the policy keeps for the host."""


class SymlinkEscape(OffloadError):
    """A link stands where a folder or the file should, or something was swapped meanwhile."""


class UnsafeDirectory(OffloadError):
    """A step on the way is no folder, belongs to another user, or others may write to it."""


class UnsafeFile(OffloadError):
    """What has the name is no regular file, has other names as well, or belongs to another user."""


class RedactionFailed(OffloadError):
    """The redactor raised, or gave back something else than it should; nothing was written."""


class StorageFailed(OffloadError):
    """The system refused: no such file, no space, no permission.

    Attributes:
        errno: The system's number for it, None where it gave none.
    """

    errno: int | None

    def __init__(self, message: str, *, path: str | None = None, errno: int | None = None) -> None:
        """Make the error from one sentence for people, the path and the number."""
        super().__init__(message, path=path)
        self.errno = errno
