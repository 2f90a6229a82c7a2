"""Feeding a decoder from any source of chunks, synchronous or asynchronous."""

from __future__ import annotations

import inspect
from collections import deque
from typing import TYPE_CHECKING, Self

from turntape._native import StreamDecoder
from turntape.errors import StreamError

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, Collection, Iterable, Mapping
    from types import TracebackType
    from typing import Literal, TypeAlias

    from turntape.events import StreamEvent
    from turntape.messages import AssistantMessage
    from turntape.wire.dialect import Dialect

    Chunk: TypeAlias = bytes | bytearray | memoryview | str

__all__ = ["AsyncEventStream", "EventStream", "aiter_events", "iter_events"]


class _Feed:
    """What both iterators share: a decoder, the events that wait, and the failure behind them."""

    def __init__(self, decoder: StreamDecoder) -> None:
        self.decoder = decoder
        self.ready: deque[StreamEvent] = deque()
        self.failure: StreamError | None = None
        self.ended = False

    def take(self, chunk: Chunk) -> None:
        try:
            self.ready.extend(self.decoder.feed(chunk))
            # A failure behind these events waits for the next call: ask for it now, not after the next
            # chunk, which may never come.
            self.decoder.feed(b"")
        except StreamError as error:
            self.fail(error)

    def end(self) -> None:
        self.ended = True
        try:
            self.ready.extend(self.decoder.finish())
        except StreamError as error:
            self.fail(error)

    def fail(self, error: StreamError) -> None:
        self.ready.extend(error.events)
        error.events = ()
        self.failure = error

    def done(self) -> bool:
        return self.ended or self.failure is not None


class EventStream:
    """The events of one response, as its chunks come. Made by :func:`iter_events`.

    It closes its source when it ends, fails or is abandoned; as a context manager it does so at once.

    Attributes:
        decoder: The decoder that it feeds; ``decoder.snapshot()`` is the message so far.
    """

    decoder: StreamDecoder

    def __init__(self, chunks: Iterable[Chunk], decoder: StreamDecoder) -> None:
        """Feed ``decoder`` from ``chunks``."""
        self.decoder = decoder
        self._feed = _Feed(decoder)
        self._source = chunks
        self._chunks = iter(chunks)
        self._closed = False

    def __iter__(self) -> Self:
        """Return itself: the stream can be read once."""
        return self

    def __next__(self) -> StreamEvent:
        """Return the next event.

        Raises:
            StreamError: The stream failed; every event before the failure has been returned.
        """
        feed = self._feed
        try:
            while not feed.ready:
                if self._closed:
                    raise StopIteration
                if feed.failure is not None:
                    raise feed.failure
                if feed.ended:
                    raise StopIteration
                for chunk in self._chunks:
                    feed.take(chunk)
                    break
                else:
                    feed.end()
                if feed.done():
                    self.close_source()
            return feed.ready.popleft()
        except BaseException:
            self.close()
            raise

    def snapshot(self) -> AssistantMessage:
        """Return the message so far: what the decoder has been fed, not only what was iterated."""
        return self.decoder.snapshot()

    def close(self) -> None:
        """Stop reading and close the source. Events that wait are dropped."""
        self._closed = True
        self._feed.ready.clear()
        self.close_source()

    def close_source(self) -> None:
        """Close the source of chunks; what was decoded stays."""
        sources, self._chunks, self._source = (self._chunks, self._source), iter(()), ()
        for source in sources:
            close = getattr(source, "close", None)
            if close is not None:
                close()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self,
        exception_type: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the source."""
        self.close()

    def __del__(self) -> None:
        """Close the source of a stream that was abandoned."""
        # A constructor that failed leaves nothing to close.
        if hasattr(self, "_closed"):
            self.close()


class AsyncEventStream:
    """The events of one response, as its chunks come. Made by :func:`aiter_events`.

    It closes its source when it ends, fails or, as an asynchronous context manager, is left; an
    abandoned one leaves that to the source's own finaliser, as nothing can be awaited there.

    Attributes:
        decoder: The decoder that it feeds; ``decoder.snapshot()`` is the message so far.
    """

    decoder: StreamDecoder

    def __init__(self, chunks: AsyncIterable[Chunk], decoder: StreamDecoder) -> None:
        """Feed ``decoder`` from ``chunks``."""
        self.decoder = decoder
        self._feed = _Feed(decoder)
        self._source: AsyncIterable[Chunk] | None = chunks
        self._chunks = aiter(chunks)
        self._closed = False

    def __aiter__(self) -> Self:
        """Return itself: the stream can be read once."""
        return self

    async def __anext__(self) -> StreamEvent:
        """Return the next event.

        Raises:
            StreamError: The stream failed; every event before the failure has been returned.
        """
        feed = self._feed
        try:
            while not feed.ready:
                if self._closed:
                    raise StopAsyncIteration
                if feed.failure is not None:
                    raise feed.failure
                if feed.ended:
                    raise StopAsyncIteration
                try:
                    chunk = await anext(self._chunks)
                except StopAsyncIteration:
                    feed.end()
                else:
                    feed.take(chunk)
                if feed.done():
                    await self.close_source()
            return feed.ready.popleft()
        except BaseException:
            await self.aclose()
            raise

    def snapshot(self) -> AssistantMessage:
        """Return the message so far: what the decoder has been fed, not only what was iterated."""
        return self.decoder.snapshot()

    async def aclose(self) -> None:
        """Stop reading and close the source. Events that wait are dropped."""
        self._closed = True
        self._feed.ready.clear()
        await self.close_source()

    async def close_source(self) -> None:
        """Close the source of chunks; what was decoded stays."""
        source, self._source = self._source, None
        if source is None:
            return
        for closable in (self._chunks, source):
            close = getattr(closable, "aclose", None) or getattr(closable, "close", None)
            if close is not None:
                result = close()
                if inspect.isawaitable(result):
                    await result

    async def __aenter__(self) -> Self:
        """Return itself."""
        return self

    async def __aexit__(
        self,
        exception_type: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the source."""
        await self.aclose()


def iter_events(  # noqa: PLR0913 (the decoder's own options)
    chunks: Iterable[Chunk],
    dialect: Dialect | str,
    *,
    choice: int = 0,
    eof: Literal["flush", "discard"] = "flush",
    max_event_bytes: int | None = None,
    strict: bool = False,
    server_tools: Collection[str] = (),
    name_map: Mapping[str, str] | None = None,
    vendor: str | None = None,
) -> EventStream:
    """Decode a response while it comes.

    Args:
        chunks: The body in pieces of any size, as HTTP clients give it: ``response.iter_bytes()`` of
            httpx2, ``response.iter_content(None)`` of requests, an open binary file. The content
            encoding must be undone.
        dialect: The dialect of the response.
        choice: As for ``StreamDecoder``, like the rest.
        eof: What happens to a last event without its blank line.
        max_event_bytes: How much data one event may have, in bytes.
        strict: Whether the first warning fails the stream.
        server_tools: Names of tools that the provider runs itself.
        name_map: From tool names on the wire to the host's names.
        vendor: The host's name for the provider, kept on the message.

    Returns:
        An iterator of events. It raises StreamError after the last event before a failure.
    """
    decoder = StreamDecoder(
        dialect,
        choice=choice,
        eof=eof,
        max_event_bytes=max_event_bytes,
        strict=strict,
        server_tools=server_tools,
        name_map=name_map,
        vendor=vendor,
    )
    return EventStream(chunks, decoder)


def aiter_events(  # noqa: PLR0913 (the decoder's own options)
    chunks: AsyncIterable[Chunk],
    dialect: Dialect | str,
    *,
    choice: int = 0,
    eof: Literal["flush", "discard"] = "flush",
    max_event_bytes: int | None = None,
    strict: bool = False,
    server_tools: Collection[str] = (),
    name_map: Mapping[str, str] | None = None,
    vendor: str | None = None,
) -> AsyncEventStream:
    """Decode a response while it comes, asynchronously.

    Args:
        chunks: The body in pieces of any size: ``response.aiter_bytes()`` of httpx2,
            ``response.content.iter_any()`` of aiohttp.
        dialect: The dialect of the response.
        choice: As for ``StreamDecoder``, like the rest.
        eof: What happens to a last event without its blank line.
        max_event_bytes: How much data one event may have, in bytes.
        strict: Whether the first warning fails the stream.
        server_tools: Names of tools that the provider runs itself.
        name_map: From tool names on the wire to the host's names.
        vendor: The host's name for the provider, kept on the message.

    Returns:
        An asynchronous iterator of events. It raises StreamError after the last event before a failure.
    """
    decoder = StreamDecoder(
        dialect,
        choice=choice,
        eof=eof,
        max_event_bytes=max_event_bytes,
        strict=strict,
        server_tools=server_tools,
        name_map=name_map,
        vendor=vendor,
    )
    return AsyncEventStream(chunks, decoder)
