"""The extension module: the Rust core behind the public names of :mod:`turntape`."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from os import PathLike
from typing import Any, Literal, Self, TypeAlias, final

from turntape.conversation import Message
from turntape.errors import StreamError
from turntape.events import DecodeWarning, SseEvent, StreamEvent, Usage
from turntape.messages import AssistantMessage
from turntape.notes import ReplayNote
from turntape.replay.envelopes import (
    AssistantEnvelope,
    NativeToolCall,
    NonCanonical,
    ToolEnvelope,
)
from turntape.replay.markers import ImagePart, TextPart
from turntape.transcript.rows import TranscriptMessage
from turntape.wire.columns import DecodedTables
from turntape.wire.dialect import Dialect

__all__ = [
    "ArrowTable",
    "PlainForms",
    "RowColumns",
    "SecretMatcher",
    "SecretStream",
    "SseDecoder",
    "StreamDecoder",
    "StreamEncoder",
    "TapeFile",
    "Transcoder",
    "__version__",
    "arrow_schema",
    "arrow_stream",
    "assemble",
    "build_facts",
    "calls_are_answered",
    "check_arguments",
    "complete_arguments",
    "count_image_parts",
    "decode",
    "decode_many",
    "decode_message",
    "decode_to_arrow",
    "detect_dialect",
    "encode",
    "encode_assistant_envelope",
    "encode_response",
    "encode_sse",
    "encode_tool_envelope",
    "error_document",
    "explain_not_canonical",
    "extra_content_text",
    "has_image_parts",
    "mend_envelope",
    "parse_assistant_envelope",
    "parse_canonical_assistant_envelope",
    "parse_canonical_tool_envelope",
    "parse_response",
    "parse_tool_envelope",
    "read_extra_content",
    "read_lines",
    "rounds_are_whole",
    "row_content",
    "split_elements",
    "split_image_parts",
    "split_json",
    "split_members",
    "sync_folder",
    "write_json",
    "write_line",
    "write_plain_run",
]

_Data: TypeAlias = bytes | bytearray | memoryview | str

_Allow: TypeAlias = tuple[list[str], list[str], str, bool]
_Rule: TypeAlias = tuple[str, str, int, float, list[str], list[_Allow]]

__version__: str

@final
class ArrowTable:
    """A table in memory, for whatever reads the Arrow PyCapsule interface, as often as it likes.

    It is handed to ``pyarrow.table``, ``polars.DataFrame``, and ``FROM`` of DuckDB, among others; they
    share its memory where they can.
    """

    @property
    def num_rows(self) -> int:
        """How many rows there are."""

    @property
    def nbytes(self) -> int:
        """How much memory the columns take, in bytes."""

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""

    def __len__(self, /) -> int: ...
    def __arrow_c_schema__(self) -> object:
        """The schema, as a capsule named ``arrow_schema``."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The batches, as a capsule named ``arrow_array_stream``.

        Args:
            requested_schema: Not looked at: whoever wants other types casts to them.
        """

@final
class SecretMatcher:
    """Compiled secret rules.

    Args:
        rules: Id, regex, group of the secret, entropy, keywords and allowlists of each.
        allowlists: What is for all rules, or for those of the ids beside it. An allowlist is its regexes,
            its stopwords, what the regexes look at, and whether both must agree.

    Raises:
        RedactionRuleError: A rule does not compile.
    """

    def __new__(
        cls, rules: list[_Rule], allowlists: list[tuple[_Allow, list[str]]], /
    ) -> SecretMatcher: ...
    def redact(self, text: str, /) -> str | None:
        """Replace the secrets of a text; None where there is none."""

    def find(self, text: str, /) -> list[tuple[int, int, str]]:
        """Find the secrets of a text: from and to which character, and the rule's id."""

    def __len__(self, /) -> int: ...

@final
class SecretStream:
    """Replaces the secrets of a text that comes in pieces.

    Args:
        matcher: The rules.
        max_match: How long a match may be that is promised to be found, in bytes.
    """

    def __new__(cls, matcher: SecretMatcher, /, *, max_match: int) -> SecretStream: ...
    def feed(self, piece: str, /) -> str:
        """Take the next piece; return what is decided."""

    def finish(self) -> str:
        """End the text; return the rest."""

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

@final
class StreamEncoder:
    r"""Says one turn as a provider's stream, event by event: the way back of StreamDecoder.

    One encoder belongs to one thread at a time; several may run in parallel.

    Args:
        dialect: The dialect to speak, as a Dialect or its string value.
        source: The dialect that the events came from; None if they are the target's own. What only that
            one can carry (signatures, redacted thinking, extensions, citations, further members of
            calls) is left out elsewhere, with a note.
        created: When the response was created, in seconds since 1970, for dialects that tell.
        include_usage: Whether Chat Completions gives the usage, as it does where the request asked for it.
        reasoning_field: The member that holds the reasoning on Chat Completions, unless the events tell:
            ``reasoning_content``, ``reasoning``, ``reasoning_text`` or ``reasoning_details``.
        response_id: The response's id where the events have none; None for one that is made up from the model and
            ``created``, with a note, where the dialect demands one.
        model: The model where the events name none.

    Raises:
        EncodeError: The reasoning goes into no member of that name.
        UnsayableDialect: The dialect is one that is read but not written.
        ValueError: The dialect or the source is no dialect, or a number is out of range.

    >>> from turntape import ContentBlockStop, MessageStart, MessageStop, TextDelta
    >>> encoder = StreamEncoder("openai-chat")
    >>> _ = encoder.feed(MessageStart("r1", "m"))
    >>> print(encoder.feed(TextDelta(0, "Hi")).decode(), end="")
    data: {"id":"r1","object":"chat.completion.chunk","created":0,"model":"m","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}
    <BLANKLINE>
    >>> encoder.feed(ContentBlockStop(0))
    b''
    >>> encoder.feed(MessageStop("end_turn", None, "done"))[-16:]
    b'\n\ndata: [DONE]\n\n'
    >>> encoder.finish(), encoder.is_terminal, encoder.notes
    (b'', True, ())
    """

    def __new__(
        cls,
        dialect: Dialect | str,
        *,
        source: Dialect | str | None = None,
        created: int = 0,
        include_usage: bool = True,
        reasoning_field: str = "reasoning_content",
        response_id: str | None = None,
        model: str | None = None,
    ) -> StreamEncoder: ...
    def feed(self, event: StreamEvent, /) -> bytes:
        """Take the next event; return what the wire says for it, which may be nothing yet.

        Where blocks of the events mix and the wire cannot mix them, what has to wait comes when the block
        before it closes.

        Raises:
            EncodeError: The event does not fit those before it, or its raw JSON is none. The encoder is
                as it was before.
            TypeError: It is no event.
            RuntimeError: Another thread is using this encoder.
        """

    def finish(self) -> bytes:
        """End the events; return what is left to say.

        A turn that has not stopped gets no end, so that the other side sees a stream that was cut.
        """

    def fail(self, error: BaseException | str, /) -> bytes:
        """End the stream with a fault, in the provider's own form within a stream.

        Args:
            error: What failed, for instance the StreamError that a decoder raised: its ``kind`` and
                ``status`` are said where it has them, else that the server failed; or the message alone.

        Raises:
            EncodeError: The turn has stopped, or the stream was ended before.
            TypeError: It is neither an exception nor a text.
        """

    @property
    def notes(self) -> tuple[ReplayNote, ...]:
        """What could not be said as it was so far; ``index`` is the block."""

    @property
    def is_terminal(self) -> bool:
        """Whether MessageStop was said."""

def encode(
    events: Iterable[StreamEvent],
    dialect: Dialect | str,
    *,
    source: Dialect | str | None = None,
    created: int = 0,
    include_usage: bool = True,
    reasoning_field: str = "reasoning_content",
    response_id: str | None = None,
    model: str | None = None,
    notes: list[ReplayNote] | None = None,
) -> bytes:
    r"""Say a turn as a provider's stream. The options are those of StreamEncoder.

    Args:
        events: The events in order; without a MessageStop the stream has no end.
        dialect: The dialect to speak.
        source: The dialect that the events came from; None if they are the target's own.
        created: When the response was created, in seconds since 1970.
        include_usage: Whether Chat Completions gives the usage.
        reasoning_field: The member that holds the reasoning on Chat Completions.
        response_id: The response's id where the events have none.
        model: The model where the events name none.
        notes: A list that gets a note on all that could not be said as it was.

    Raises:
        EncodeError: An event does not fit those before it, or its raw JSON is none.
        UnsayableDialect: The dialect is one that is read but not written.
        ValueError: The dialect or the source is no dialect, or a number is out of range.

    >>> from turntape import decode
    >>> body = b'data: {"id":"r1","model":"m","choices":[{"delta":{"content":"Hi"}}]}\n\ndata: [DONE]\n\n'
    >>> events = decode(body, "openai-chat")
    >>> decode(encode(events, "openai-chat"), "openai-chat") == events
    True
    >>> decode(encode(events, "anthropic", source="openai-chat"), "anthropic")[1]
    TextDelta(index=0, text='Hi')
    """

def encode_response(
    events: Iterable[StreamEvent],
    dialect: Dialect | str,
    *,
    source: Dialect | str | None = None,
    created: int = 0,
    include_usage: bool = True,
    reasoning_field: str = "reasoning_content",
    response_id: str | None = None,
    model: str | None = None,
    notes: list[ReplayNote] | None = None,
) -> bytes:
    """Say a turn as the body of a response that is not streamed: see ``format_response``.

    Raises:
        EncodeError: An event does not fit those before it, its raw JSON is none, or the turn does not
            stop.
        UnsayableDialect: The dialect is one that is read but not written.
    """

@final
class Transcoder:
    r"""Rewrites one response from one provider's stream to another's, in pieces of any size.

    A StreamDecoder and a StreamEncoder joined, without an object an event. What the target has to say
    for a piece comes with that piece.

    Args:
        source: The dialect of the response that comes in, as a Dialect or its string value.
        target: The dialect to speak.
        choice: As for StreamDecoder, like the next six.
        eof: What happens to a last event without its blank line.
        max_event_bytes: How much data one event may have, in bytes.
        strict: Whether the first warning fails the stream.
        server_tools: Names of tools that the provider runs itself.
        name_map: From tool names on the source's wire to those that the target is to say.
        vendor: The host's name for the provider, kept on ``snapshot``.
        created: As for StreamEncoder, like the rest.
        include_usage: Whether Chat Completions gives the usage.
        reasoning_field: The member that holds the reasoning on Chat Completions.
        response_id: The response's id where the source has none.
        model: The model where the source names none.

    Raises:
        EncodeError: The reasoning goes into no member of that name.
        UnsayableDialect: The target is one that is read but not written.
        ValueError: A dialect is none, or an option has no such value.

    >>> transcoder = Transcoder("openai-chat", "anthropic")
    >>> out = transcoder.feed(b'data: {"id":"r1","choices":[{"delta":{"content":"Hi"}}]}\n\n')
    >>> print(out.decode().splitlines()[-2])
    data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}
    >>> try:
    ...     transcoder.finish()
    ... except StreamError as error:
    ...     print(transcoder.fail(error).decode(), end="")
    event: error
    data: {"type":"error","error":{"type":"api_error","message":"the input ended after 1 events before the turn did: neither a finish reason nor [DONE] came"}}
    <BLANKLINE>
    """

    def __new__(
        cls,
        source: Dialect | str,
        target: Dialect | str,
        *,
        choice: int = 0,
        eof: Literal["flush", "discard"] = "flush",
        max_event_bytes: int | None = None,
        strict: bool = False,
        server_tools: Collection[str] | None = None,
        name_map: Mapping[str, str] | None = None,
        vendor: str | None = None,
        created: int = 0,
        include_usage: bool = True,
        reasoning_field: str = "reasoning_content",
        response_id: str | None = None,
        model: str | None = None,
    ) -> Transcoder: ...
    def feed(self, data: _Data, /) -> bytes:
        """Take the next piece of the source's body; return what the target says for it.

        Raises:
            StreamError: The source failed: at once if there was nothing to say before the failure in this
                piece, else at the next call. ``fail`` tells the target.
            EncodeError: The target has no way to take an event of the source, likewise.
            ValueError: After ``finish``.
            RuntimeError: Another thread is using this transcoder.
        """

    def finish(self) -> bytes:
        """End the input; return what is left to say.

        Raises:
            StreamError: The source failed, or ended before the turn did. What was left to say comes with
                ``fail`` or ``cut``.
            EncodeError: As for ``feed``.
        """

    def fail(self, error: BaseException | str, /) -> bytes:
        """End the target's stream with a fault, in the target's own form; see ``StreamEncoder.fail``.

        Raises:
            EncodeError: The turn has stopped, or the stream was ended before.
            TypeError: It is neither an exception nor a text.
        """

    def cut(self) -> bytes:
        """End the target's stream as one that broke off; return what is left to say.

        After ``finish`` or ``feed`` has raised, this is what the target gets that is to see a cut where the
        source had one. Doing so again says nothing more.
        """

    def snapshot(self) -> AssistantMessage:
        """Return what has come so far, at any time, as a message that is not complete until it is."""

    @property
    def usage(self) -> Usage | None:
        """The tokens that the source has reported so far."""

    @property
    def warnings(self) -> tuple[DecodeWarning, ...]:
        """What was odd in the source so far."""

    @property
    def notes(self) -> tuple[ReplayNote, ...]:
        """What could not be said as it was so far; ``index`` is the block."""

    @property
    def is_terminal(self) -> bool:
        """Whether the turn has stopped, and that was said."""

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
        threads: How many threads share the work, the caller's among them; the others end with the call.
        choice: As for StreamDecoder, like the rest.
        eof: What happens to a last event without its blank line.
        max_event_bytes: How much data one event may have, in bytes.
        strict: Whether the first warning fails a stream.
        server_tools: Names of tools that the provider runs itself.
        name_map: From tool names on the wire to the host's names.
        vendor: The host's name for the provider, kept on the messages.

    Returns:
        For each body its message, or the error that ``decode_message`` would raise.

    Raises:
        TypeError: A body is neither bytes nor text.
        ValueError: ``threads`` is below 1, the dialect is no dialect, or an option has no such value.
    """

def decode_to_arrow(
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
) -> DecodedTables:
    r"""Decode many whole bodies of one dialect into columns, the interpreter released meanwhile.

    No Python object is made an event or a message. A stream that failed is no exception: its events up to
    the failure and its message are rows as others are, and the column ``error`` of the messages tells why.

    Args:
        bodies: The bodies.
        dialect: Their dialect.
        threads: How many threads share the work, the caller's among them; the others end with the call.
        choice: As for StreamDecoder, like the rest.
        eof: What happens to a last event without its blank line.
        max_event_bytes: How much data one event may have, in bytes.
        strict: Whether the first warning fails a stream.
        server_tools: Names of tools that the provider runs itself.
        name_map: From tool names on the wire to the host's names.
        vendor: The host's name for the provider, a column of the messages.

    Returns:
        The events and the messages; the page on columns has their schemas.

    Raises:
        TypeError: A body is neither bytes nor text.
        ValueError: ``threads`` is below 1, the dialect is no dialect, or an option has no such value.

    >>> body = b'data: {"choices":[{"delta":{"content":"Hi."}}]}\n\ndata: [DONE]\n\n'
    >>> decode_to_arrow([body, body], "openai-chat").events.num_rows
    8
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

def error_document(
    dialect: Dialect | str, kind: str, message: str, status: int | None
) -> tuple[int, bytes]:
    """Write a fault as the provider's error document; also the HTTP status that goes with it."""

def check_arguments(text: str, /) -> tuple[str, str] | None:
    """Say why tool arguments cannot be used: a reason and a sentence, None where they can."""

def complete_arguments(text: str, /) -> str:
    """Return JSON text of what can be shown of unfinished tool arguments."""

def split_json(text: str, /) -> tuple[tuple[str, str], ...] | list[str] | str:
    """Take one level of a JSON text apart, and leave what is below as it is written.

    Returns:
        For an object its members in their order, as pairs of what stands between the quotes of the name
        and the text of the value; for an array the texts of its elements; for anything else its text.

    Raises:
        ValueError: The text is no JSON (RFC 8259), or nests deeper than 512 levels.
    """

def split_elements(text: str, /) -> list[str]:
    """The elements of an array, each as it is written.

    Args:
        text: A value of a text that was found to be JSON. Nobody looks again.
    """

def split_members(text: str, /) -> dict[str, str] | None:
    """The members of an object that are not null, by name, the value as it is written.

    Args:
        text: A value of a text that was found to be JSON. Nobody looks again.

    Returns:
        The members in their order; None for what is no object, and where a name is written with an escape or
        comes twice.
    """

def encode_assistant_envelope(
    text: str | None, tool_calls: Iterable[NativeToolCall], reasoning_content: str | None = None
) -> str:
    """Write the envelope of an assistant turn, in canonical form v1.

    Args:
        text: What the model said; None is written as null, which is not canonical.
        tool_calls: Its calls. None at all is written as an empty list, which no parser takes for an
            envelope.
        reasoning_content: Its reasoning, written only where it is given. With it the envelope is not
            canonical.

    Raises:
        EnvelopeError: A value cannot be written: its ``field`` says where it stands. Not written are lone
            surrogates, NaN, infinities, integers outside -2**63 to 2**64-1, more than 127 nested containers,
            keys that are not strings, and what is no JSON value.

    >>> from turntape import NativeToolCall
    >>> encode_assistant_envelope("on it", [NativeToolCall("c1", "ls", "{}")])
    '{"content":"on it","tool_calls":[{"arguments":"{}","id":"c1","name":"ls"}]}'
    """

def encode_tool_envelope(tool_call_id: str, content: str) -> str:
    """Write the envelope of a tool's result, in canonical form v1.

    Raises:
        EnvelopeError: A value is no string, or holds a lone surrogate.

    >>> encode_tool_envelope("c1", "ok")
    '{"content":"ok","tool_call_id":"c1"}'
    """

def parse_assistant_envelope(text: str, /) -> AssistantEnvelope | None:
    """Read the envelope of an assistant turn from history; None where the text is none.

    It is one if it is a JSON object with a non-empty array ``tool_calls`` of objects with the strings
    ``id``, ``name`` and ``arguments``. Other members do not matter; of members with one name the last one
    counts. The result carries no authority: nothing may run a call because a string parsed.

    >>> parse_assistant_envelope("All done.") is None
    True
    """

def parse_tool_envelope(text: str, /) -> ToolEnvelope | None:
    """Read the envelope of a tool's result from history; None where the text is none.

    It is one if it is a JSON object with a string ``tool_call_id``.

    >>> parse_tool_envelope('{"tool_call_id": "c1"}')
    ToolEnvelope(tool_call_id='c1', content='')
    """

def parse_canonical_assistant_envelope(text: str, /) -> AssistantEnvelope | None:
    """Read the envelope of an assistant turn if it is canonical; None otherwise.

    It is if writing it again gives the same bytes, it carries no reasoning, and holds no number with an
    exponent. That is decided in one pass over the text.

    >>> parse_canonical_assistant_envelope('{"content": "", "tool_calls": []}') is None
    True
    """

def parse_canonical_tool_envelope(text: str, /) -> ToolEnvelope | None:
    """Read the envelope of a tool's result if it is canonical; None otherwise.

    >>> parse_canonical_tool_envelope('{"content":"ok","tool_call_id":"c1"}')
    ToolEnvelope(tool_call_id='c1', content='ok')
    """

def explain_not_canonical(text: str, /) -> NonCanonical | None:
    """Say why a text is not a canonical envelope, and where; None where it is one, of either kind.

    >>> explain_not_canonical('{"content": "ok","tool_call_id":"c1"}')
    NonCanonical(code='whitespace', offset=11)
    """

def extra_content_text(call: NativeToolCall, /) -> str | None:
    """Write the extra content of a call in canonical form; None where it has none.

    Raises:
        EnvelopeError: It cannot be written.
    """

def read_extra_content(extra: str, /) -> tuple[Any, str | None] | None:
    """Read the ``extra_content`` of a ``ToolUse.extra``: the value, and its text if that is canonical.

    Raises:
        EnvelopeError: It is no JSON that an envelope can hold.
    """

def mend_envelope(text: str, /) -> tuple[str | None, list[tuple[str, str]]] | None:
    """Give an envelope's canonical form, if it has one, and the paths of what that loses, with what it is.

    None where the text is no envelope.
    """

def row_content(row: str, /) -> tuple[str, str, int, int] | None:
    """Find the content of a chat row: its role, what it says, and from and to which byte its literal stands.

    None where the row is no JSON object with the strings ``role`` and ``content``.
    """

def split_image_parts(text: str, /) -> list[TextPart | ImagePart]:
    """Cut a text into its text and image parts, left to right.

    Payloads are verbatim. Texts are never empty and never stand side by side. An unterminated marker and
    all after it is text. Joining the parts gives the same text again, whatever it is.

    >>> split_image_parts("see [OH_IMAGE:a.png] there")
    [TextPart(text='see '), ImagePart(url='a.png'), TextPart(text=' there')]
    """

def count_image_parts(text: str, /) -> int:
    """Count the images in a text, without cutting it.

    >>> count_image_parts("[OH_IMAGE:a.png][OH_IMAGE:b.png]")
    2
    """

def has_image_parts(text: str, /) -> bool:
    """Tell whether a text holds an image, without cutting it.

    >>> has_image_parts("[OH_IMAGE:no end")
    False
    """

@final
class RowColumns:
    """Columns that rows are added to until they make an Arrow record batch.

    Args:
        batch_rows: How many rows make a batch; with long texts it is fewer.
    """

    def __new__(cls, batch_rows: int, /) -> RowColumns: ...
    @property
    def full(self) -> bool:
        """Whether these rows are a batch, which the stream has to take before more are added."""
    def add_lines(self, block: bytes, start: int, line: int, /) -> tuple[int, int, int]:
        """Add lines of a block that are as a store writes them, up to another one or until full.

        Args:
            block: Lines of a tape, each ended by LF, the last one perhaps not.
            start: Where the first of these lines begins.
            line: Its number.

        Returns:
            The number of the first line that was not added, where it begins and where it ends; where none
            is left, the block's length for both.
        """
    def add_row(self, row: tuple[Any, ...], /) -> None:
        """Add a row by its fields.

        Args:
            row: The line's number; the texts, None for null; of each call its four texts; of each part its
                five texts, or None; the cache breakpoints; whether it was cut; the six counters, or None.

        Raises:
            UnicodeEncodeError: A text holds half of a surrogate pair.
            OverflowError: An integer is out of range.
            TypeError: Something is of another type.
        """

@final
class TapeFile:
    """The files under a ``TranscriptStore``: one that lines are appended to, and the lock beside it.

    Used by one thread at a time. Both files are opened when they are needed.

    Args:
        path: The file.
        lock_path: The lock file.
    """

    def __new__(cls, path: str | PathLike[str], lock_path: str | PathLike[str]) -> TapeFile: ...
    def acquire(self, timeout: float | None = None, /) -> bool:
        """Take the lock; return whether it was got in so many seconds. None waits for ever."""
    def release(self) -> None:
        """Give the lock back."""
    def append(self, line: bytes, timeout: float | None = None, /) -> tuple[int, int] | None:
        """Append a line by one write, with the lock taken for it, and given back in any case.

        Returns:
            How long the file was and where the line begins; None where the lock was not got in time.
        """
    def append_row(self, row: TranscriptMessage, known: int, longest: int, /) -> int | None:
        """Append a row's line and LF by one write, if the lock is free.

        Args:
            row: The row, written as ``write_line`` does.
            known: Up to where the caller knows the file.
            longest: How many bytes the line may have, without its LF.

        Returns:
            Where the file now ends, if it ended at ``known``, else ``known``; None where nothing was written,
            because somebody has the lock, the line is too long, or it takes the whole of the rules to write.
        """
    def sync(self) -> None:
        """Wait until the disk has what was appended."""
    def open(self) -> None:
        """Open the file if it is not, or if the path leads elsewhere by now; the lock must be held."""
    def forget(self) -> None:
        """Close the file, so that the next append opens what the path leads to then."""
    def close(self) -> None:
        """Close both files and give the lock back."""
    def abandon(self) -> None:
        """Close both files in a forked process, where the lock is still the parent's."""
    @property
    def identity(self) -> tuple[int, int] | None:
        """Device and inode of the open file; None where it is closed or the system does not say."""
    @property
    def torn(self) -> bool:
        """Whether a failed write left a part of its line behind."""

def rounds_are_whole(rows: list[TranscriptMessage], include_interrupted: bool) -> bool:
    """Whether every call of these rows is answered once, right after it.

    False does not say that something is at fault: a row may be unusual, or a round very long.
    """

def build_facts() -> dict[str, Any]:
    """How the extension was built, by the names of ``BuildInfo``."""

def calls_are_answered(messages: list[Message]) -> bool:
    """Whether every call of these messages is answered once, right after it.

    False does not say that something is at fault: a message may be unusual, or a turn have very many calls.
    """

@final
class PlainForms:
    """How the messages and blocks of a wire are spelled.

    Args:
        values: The JSON texts that stand for what changes: the first for a text and an id, the second for a
            tool's name, a signature and the text of a result, the third for arguments.
        user: What goes before the blocks of a message of the user's.
        assistant: The same of the model's.
        close: What goes behind them.
        text: A text, with the first value in it.
        call: A call, with all three.
        result: A result, with the first two.
        failure: The same of a call that failed.
        thinking: Thinking, with the first two.

    Raises:
        ValueError: A form lacks a value.
    """

    def __new__(
        cls,
        values: tuple[str, str, str],
        user: bytes,
        assistant: bytes,
        close: bytes,
        text: bytes,
        call: bytes,
        result: bytes,
        failure: bytes,
        thinking: bytes,
    ) -> Self: ...

def write_plain_run(
    forms: PlainForms,
    messages: list[Message],
    places: list[int],
    start: int,
    stop: int,
    role: str,
    given: set[str],
    sent_ids: dict[str, list[str]],
    sent_names: Mapping[str, str],
    called: dict[str, int],
    origins: Mapping[Any, Any],
    /,
) -> tuple[bytes, list[int]] | None:
    """Write the plain messages from a place on, as far as there are any.

    Args:
        forms: How they are spelled.
        messages: The history.
        places: The place of each of them, as ``called`` has it.
        start: The first message.
        stop: Where to stop at the latest.
        role: Who said the message before.
        given: The ids that were given; gets those of the calls that are written.
        sent_ids: Of each id, the ids that were sent for it; gets the same.
        sent_names: How names are sent that came before; any other name is not plain.
        called: Gets where each tool was called first.
        origins: What a vendor, a model and a wire mean here.

    Returns:
        The messages with commas between them, and where each ends; None where there are too few of them.
        One more message behind them is plain, of the other role and not in them.
    """

def arrow_schema() -> object:
    """The schema of the batches that ``RowColumns`` makes, in a capsule."""

def arrow_stream(columns: RowColumns, filling: Iterator[object], /) -> object:
    """A stream of batches, in a capsule.

    Args:
        columns: What the batches are made of.
        filling: Fills the columns; it gives something whenever they are full, and ends with the rest in
            them.
    """

def read_lines(block: bytes, /) -> list[TranscriptMessage | tuple[int, int]]:
    """Take the lines of a block apart, and make rows of those that are as a store writes them.

    Args:
        block: Lines of a tape, each ended by LF, the last one perhaps not.

    Returns:
        For each line the row, which remembers its line; or where the line stands in the block, from and
        to, where it is no row or one that takes the whole of the rules to read.
    """

def write_line(row: TranscriptMessage, /) -> bytes | None:
    """Write a row as a line of a tape, without the line's end.

    Returns:
        The line; None where it takes the whole of the rules to write, or an error.
    """

def sync_folder(path: str | PathLike[str], /) -> None:
    """Wait until the disk knows what the folder of a file holds."""

def write_json(value: Any, /) -> tuple[bytes, int]:
    r"""Write a value as compact JSON in UTF-8.

    Args:
        value: ``None``, ``bool``, ``int`` of any size, finite ``float``, ``str``, ``list``, ``tuple``, any
            mapping with ``str`` keys, instances of their subclasses, and ``turntape.wire.raw_json.RawJson``
            anywhere in it. Members keep their order; floats are written as Python shows them.

    Returns:
        The JSON, and how many lone surrogates became U+FFFD.

    Raises:
        ValueError: Something in it has no JSON text, or more than 512 containers are in each other, as in a
            container that holds itself; the message begins with the path to it.

    >>> from turntape._native import write_json
    >>> write_json({"n": 2**70, "t": "naïve\ud800", "list": (1.5, None)})
    (b'{"n":1180591620717411303424,"t":"na\xc3\xafve\xef\xbf\xbd","list":[1.5,null]}', 1)
    >>> write_json({"a": [{"b": float("nan")}]})
    Traceback (most recent call last):
    ValueError: a[0].b: NaN, which JSON cannot say
    """
