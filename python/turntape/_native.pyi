"""The extension module: the Rust core behind the public names of :mod:`turntape`."""

from collections.abc import Collection, Iterable, Mapping
from typing import Literal, TypeAlias, final

from turntape.errors import StreamError
from turntape.events import DecodeWarning, SseEvent, StreamEvent, Usage
from turntape.messages import AssistantMessage
from turntape.wire.dialect import Dialect

__all__ = [
    "SseDecoder",
    "StreamDecoder",
    "__version__",
    "assemble",
    "check_arguments",
    "complete_arguments",
    "decode",
    "decode_many",
    "decode_message",
    "detect_dialect",
    "encode_sse",
    "parse_response",
]

_Data: TypeAlias = bytes | bytearray | memoryview | str

__version__: str

@final
class SseDecoder:
    r"""Server-sent-event framing over bytes (WHATWG HTML, section 9.2), fed in pieces of any size.

    Linear time whatever the pieces; keeps at most the bytes of one unfinished event.

    Args:
        eof: What happens at the end of input to an event without its blank line: ``flush`` dispatches
            it, ``discard`` drops it; each with a warning.
        max_event_bytes: How much data one event may have, in bytes of its data values and the line ends
            between them; None for no limit.

    >>> decoder = SseDecoder()
    >>> decoder.feed(b"event: tick\ndata: 1\n\nda")
    [SseEvent(event='tick', data='1', id=None, retry=None)]
    >>> decoder.feed(b"ta: 2\r\n\r\n")
    [SseEvent(event='message', data='2', id=None, retry=None)]
    >>> decoder.finish()
    []
    """

    def __new__(
        cls, *, eof: Literal["flush", "discard"] = "flush", max_event_bytes: int | None = None
    ) -> SseDecoder: ...
    def feed(self, data: _Data, /) -> list[SseEvent]:
        """Take the next piece; return the events that it completes.

        Raises:
            EventTooLarge: An event is larger than allowed: at once if no event came before it in this
                piece, else at the next call.
            ValueError: After ``finish``.
            RuntimeError: Another thread is using this decoder.
        """

    def finish(self) -> list[SseEvent]:
        """End the input; return the last event if there is one.

        Raises:
            EventTooLarge: As for ``feed``.
        """

    @property
    def warnings(self) -> tuple[DecodeWarning, ...]:
        """What was odd so far."""

@final
class StreamDecoder:
    r"""Decodes one response, in pieces of any size: the cuts never change what comes out.

    One decoder belongs to one thread at a time; several may run in parallel.

    Args:
        dialect: The dialect of the response, as a Dialect or its string value.
        choice: Which choice of a Chat response to take, counted from 0.
        eof: What happens to a last event without its blank line: ``flush`` takes it, ``discard`` drops
            it; each with a warning where it matters.
        max_event_bytes: How much data one event may have, in bytes; None for no limit.
        strict: Whether the first warning fails the stream.
        server_tools: Names of tools that the provider runs itself although the wire shows them as calls:
            each becomes a ProviderBlock.
        name_map: From tool names on the wire to the host's names.
        vendor: The host's name for the provider, kept on the message.

    Raises:
        ValueError: The dialect is no dialect, or an option has no such value.

    >>> decoder = StreamDecoder("openai-chat")
    >>> decoder.feed(b'data: {"id":"r1","choices":[{"delta":{"content":"Hi"}}]}\n\n')
    [MessageStart(id='r1', model=None), TextDelta(index=0, text='Hi')]
    >>> decoder.feed(b'data: [DONE]\n\n')
    [ContentBlockStop(index=0), MessageStop(stop_reason='unknown', raw_reason=None, terminal='done')]
    >>> decoder.finish(), decoder.is_terminal
    ([], True)
    """

    def __new__(
        cls,
        dialect: Dialect | str,
        *,
        choice: int = 0,
        eof: Literal["flush", "discard"] = "flush",
        max_event_bytes: int | None = None,
        strict: bool = False,
        server_tools: Collection[str] | None = None,
        name_map: Mapping[str, str] | None = None,
        vendor: str | None = None,
    ) -> StreamDecoder: ...
    def feed(self, data: _Data, /) -> list[StreamEvent]:
        """Take the next piece of the body; return the events that it completes.

        A ``str`` is the text of the stream; lone surrogates in it count as invalid UTF-8.

        Raises:
            StreamError: The stream failed: at once if no event came before the failure in this piece,
                else at the next call. Every later call raises it again.
            ValueError: After ``finish``.
            RuntimeError: Another thread is using this decoder.
        """

    def finish(self) -> list[StreamEvent]:
        """End the input; return the last events.

        Raises:
            StreamError: The stream failed, or ended before the turn did; its ``events`` are the last
                ones.
        """

    def snapshot(self) -> AssistantMessage:
        """Return what has come so far, at any time, as a message that is not complete until it is."""

    @property
    def usage(self) -> Usage | None:
        """The tokens that the wire has reported so far."""

    @property
    def warnings(self) -> tuple[DecodeWarning, ...]:
        """What was odd so far."""

    @property
    def is_terminal(self) -> bool:
        """Whether MessageStop was given."""

def encode_sse(event: SseEvent, /, *, ascii_line_separators: bool = False) -> str:
    r"""Write one server-sent event, its blank line included.

    Args:
        event: The event. CR, LF and CRLF in its data all start a new data line, so data comes back with
            LF. The name ``message`` is left out.
        ascii_line_separators: Write U+2028 and U+2029 as JSON escapes, for clients that take them for
            line ends. Only right for data that is JSON.

    Raises:
        ValueError: The name or the id holds a line end, the id holds NUL.

    >>> from turntape import SseEvent
    >>> encode_sse(SseEvent("tick", "1"))
    'event: tick\ndata: 1\n\n'
    """

def decode(
    body: _Data,
    dialect: Dialect | str,
    *,
    choice: int = 0,
    eof: Literal["flush", "discard"] = "flush",
    max_event_bytes: int | None = None,
    strict: bool = False,
    server_tools: Collection[str] | None = None,
    name_map: Mapping[str, str] | None = None,
    vendor: str | None = None,
) -> list[StreamEvent]:
    """Decode a whole body into its events. The options are those of StreamDecoder.

    Raises:
        StreamError: The body holds no whole turn; the events before the failure are its ``events``.
    """

def decode_message(
    body: _Data,
    dialect: Dialect | str,
    *,
    choice: int = 0,
    eof: Literal["flush", "discard"] = "flush",
    max_event_bytes: int | None = None,
    strict: bool = False,
    server_tools: Collection[str] | None = None,
    name_map: Mapping[str, str] | None = None,
    vendor: str | None = None,
) -> AssistantMessage:
    """Decode a whole body into its message, without making events: the path for replays.

    Raises:
        StreamError: The body holds no whole turn; what there is of it is the error's ``partial``.
    """

def decode_many(
    bodies: Iterable[_Data],
    dialect: Dialect | str,
    *,
    threads: int = 1,
    choice: int = 0,
    eof: Literal["flush", "discard"] = "flush",
    max_event_bytes: int | None = None,
    strict: bool = False,
    server_tools: Collection[str] | None = None,
    name_map: Mapping[str, str] | None = None,
    vendor: str | None = None,
) -> list[AssistantMessage | StreamError]:
    """Decode many whole bodies of one dialect, the interpreter released meanwhile.

    Args:
        bodies: The bodies.
        dialect: Their dialect.
        threads: How many threads share the work; they end with the call.
        choice: As for StreamDecoder, like the rest.
        eof: What happens to a last event without its blank line.
        max_event_bytes: How much data one event may have, in bytes.
        strict: Whether the first warning fails a stream.
        server_tools: Names of tools that the provider runs itself.
        name_map: From tool names on the wire to the host's names.
        vendor: The host's name for the provider, kept on the messages.

    Returns:
        For each body its message, or the error that ``decode_message`` would raise.
    """

def parse_response(
    body: _Data,
    dialect: Dialect | str,
    *,
    choice: int = 0,
    strict: bool = False,
    server_tools: Collection[str] | None = None,
    name_map: Mapping[str, str] | None = None,
    vendor: str | None = None,
) -> AssistantMessage:
    """Read the whole body of a response that was not streamed.

    Args:
        body: The body, one JSON object.
        dialect: The dialect of the provider.
        choice: Which choice of a Chat response, or which candidate of a Gemini response, to take.
        strict: Whether the first warning fails the body.
        server_tools: Names of tools that the provider runs itself.
        name_map: From tool names on the wire to the host's names.
        vendor: The host's name for the provider, kept on the message.

    Returns:
        The message that the provider's stream of the same turn would have given.

    Raises:
        ProviderError: The body is an error document.
        MalformedEvent: The body is no JSON object.
        TruncatedStream: The body is cut short, or holds no turn that has ended.
    """

def assemble(
    events: Iterable[StreamEvent],
    *,
    dialect: Dialect | str | None = None,
    vendor: str | None = None,
) -> AssistantMessage:
    """Add events up to the message that they tell of, whole or as far as it came.

    The same as the decoder's own message, but for what events do not carry: its warnings and, unless
    they are given here, dialect and vendor.

    Raises:
        TypeError: Something is no event.
        ValueError: An event names a block that it cannot belong to.
    """

def detect_dialect(body: _Data, /) -> Dialect:
    """Tell the dialect of a recorded body from the body alone.

    Raises:
        UnknownDialect: No payload tells.
    """

def check_arguments(text: str, /) -> tuple[str, str] | None:
    """Say why tool arguments cannot be used: a reason and a sentence, None where they can."""

def complete_arguments(text: str, /) -> str:
    """Return JSON text of what can be shown of unfinished tool arguments."""
