"""Feeding a decoder from any source of chunks, synchronous or asynchronous."""

from __future__ import annotations

import inspect
from collections import deque
from contextlib import AsyncExitStack, ExitStack, suppress
from typing import TYPE_CHECKING, Self

from turntape._native import StreamDecoder
from turntape.errors import StreamError

if TYPE_CHECKING:
    from collections.abc import (
        AsyncGenerator,
        AsyncIterable,
        AsyncIterator,
        Awaitable,
        Callable,
        Collection,
        Generator,
        Iterable,
        Iterator,
        Mapping,
    )
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
        self.failure: Exception | None = None
        self.done = False

    def take(self, chunk: Chunk) -> None:
        try:
            self.ready.extend(self.decoder.feed(chunk))
            # A failure behind these events waits for the next call: ask for it now, not after the next
            # chunk, which may never come.
            self.decoder.feed(b"")
        except StreamError as error:
            self.fail(error)

    def end(self) -> None:
        self.done = True
        try:
            self.ready.extend(self.decoder.finish())
        except StreamError as error:
            self.fail(error)

    def fail(self, error: StreamError) -> None:
        self.done = True
        self.ready.extend(error.events)
        error.events = ()
        self.failure = error

    def is_end(self, error: Exception) -> bool:
        """Whether what reading raised ends the stream instead of failing it."""
        # A turn that is over is not undone by a connection that is not closed properly.
        return isinstance(error, (StopIteration, StopAsyncIteration)) or self.decoder.is_terminal

    def closing_failed(self, error: Exception) -> None:
        self.failure = self.failure or error

    def raise_failure(self) -> None:
        """Raise the failure if there is one."""
        failure, self.failure = self.failure, None
        try:
            if failure is not None:
                raise failure
        finally:
            # Its traceback refers to this frame: without this the two would keep each other alive.
            del failure


# The readers below are generators because those are closed when nobody refers to them any more: by the
# interpreter at once, or, asynchronous ones, by the event loop. They must not refer to their stream.


def _read(feed: _Feed, chunks: Iterator[Chunk], closing: ExitStack) -> Generator[None]:
    """Feed the decoder; stop wherever events are ready, before the last stop with the source closed."""
    try:
        while not feed.done:
            try:
                chunk = next(chunks)
            except Exception as error:
                if not feed.is_end(error):
                    raise
                feed.end()
            else:
                feed.take(chunk)
                if feed.ready and not feed.done:
                    yield
    except GeneratorExit:
        closing.close()
        raise
    except BaseException:
        # The failure on its way says more than one of closing.
        with suppress(Exception):
            closing.close()
        raise
    try:
        closing.close()
    except Exception as error:  # noqa: BLE001 (raised when the events are out)
        feed.closing_failed(error)
    if feed.ready:
        yield
    feed.raise_failure()


async def _aread(
    feed: _Feed, chunks: AsyncIterator[Chunk], closing: AsyncExitStack
) -> AsyncGenerator[None]:
    """Do what ``_read`` does, asynchronously."""
    try:
        while not feed.done:
            try:
                chunk = await anext(chunks)
            except Exception as error:
                if not feed.is_end(error):
                    raise
                feed.end()
            else:
                feed.take(chunk)
                if feed.ready and not feed.done:
                    yield
    except GeneratorExit:
        await closing.aclose()
        raise
    except BaseException:
        # As in `_read`. A cancelled task can still wait here: it is cancelled once.
        with suppress(Exception):
            await closing.aclose()
        raise
    try:
        await closing.aclose()
    except Exception as error:  # noqa: BLE001 (raised when the events are out)
        feed.closing_failed(error)
    if feed.ready:
        yield
    feed.raise_failure()


async def _close(close: Callable[[], Awaitable[object] | object]) -> None:
    result = close()
    if inspect.isawaitable(result):
        await result


class EventStream:
    """The events of one response, as its chunks come. Made by :func:`iter_events`.

    It closes its source when it ends, fails or is abandoned; as a context manager it does so at once.
    What the source raises comes out unchanged, unless the turn had ended by then: that is no failure.

    One thread at a time may read or close it; another one gets a ValueError, as from a generator.

    Attributes:
        decoder: The decoder that it feeds; ``decoder.snapshot()`` is the message so far.
    """

    decoder: StreamDecoder

    def __init__(self, chunks: Iterable[Chunk], decoder: StreamDecoder) -> None:
        """Feed ``decoder`` from ``chunks``."""
        self.decoder = decoder
        iterator = iter(chunks)
        self._closing = ExitStack()
        # Last in, first out: an iterator before what it reads from.
        for source in (chunks, iterator) if iterator is not chunks else (chunks,):
            close = getattr(source, "close", None)
            if close is not None:
                self._closing.callback(close)
        self._feed = _Feed(decoder)
        self._reader = _read(self._feed, iterator, self._closing)

    def __iter__(self) -> Self:
        """Return itself: the stream can be read once."""
        return self

    def __next__(self) -> StreamEvent:
        """Return the next event.

        Raises:
            StreamError: The stream failed; every event before the failure has been returned.
        """
        ready = self._feed.ready
        while not ready:
            next(self._reader)
        return ready.popleft()

    def snapshot(self) -> AssistantMessage:
        """Return the message so far: what the decoder has been fed, not only what was iterated."""
        return self.decoder.snapshot()

    def close(self) -> None:
        """Stop reading and close the source. Events that wait are dropped."""
        # In this order: where another thread is reading, the first line raises and nothing has changed.
        self._reader.close()
        self._feed.ready.clear()
        # A reader that never started has closed nothing.
        self._closing.close()

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
        if hasattr(self, "_reader"):
            self.close()


class AsyncEventStream:
    """The events of one response, as its chunks come. Made by :func:`aiter_events`.

    It closes its source when it ends, fails or, as an asynchronous context manager, is left. Where it is
    abandoned the event loop closes the source a little later, as it does for asynchronous generators; a
    stream of which nothing was read leaves its source as it was.
    What the source raises comes out unchanged, unless the turn had ended by then: that is no failure.

    One task at a time may read or close it; another one gets a RuntimeError, as from a generator. To stop
    a task that waits for the next event, cancel the task.

    Attributes:
        decoder: The decoder that it feeds; ``decoder.snapshot()`` is the message so far.
    """

    decoder: StreamDecoder

    def __init__(self, chunks: AsyncIterable[Chunk], decoder: StreamDecoder) -> None:
        """Feed ``decoder`` from ``chunks``."""
        self.decoder = decoder
        iterator = aiter(chunks)
        self._closing = AsyncExitStack()
        # Last in, first out: an iterator before what it reads from.
        for source in (chunks, iterator) if iterator is not chunks else (chunks,):
            # What has both, as HTTP clients' responses may, wants the asynchronous one.
            close = getattr(source, "aclose", None) or getattr(source, "close", None)
            if close is not None:
                self._closing.push_async_callback(_close, close)
        self._feed = _Feed(decoder)
        self._reader = _aread(self._feed, iterator, self._closing)

    def __aiter__(self) -> Self:
        """Return itself: the stream can be read once."""
        return self

    async def __anext__(self) -> StreamEvent:
        """Return the next event.

        Raises:
            StreamError: The stream failed; every event before the failure has been returned.
        """
        ready = self._feed.ready
        while not ready:
            await anext(self._reader)
        return ready.popleft()

    def snapshot(self) -> AssistantMessage:
        """Return the message so far: what the decoder has been fed, not only what was iterated."""
        return self.decoder.snapshot()

    async def aclose(self) -> None:
        """Stop reading and close the source. Events that wait are dropped."""
        # In this order: where another task is reading, the first line raises and nothing has changed.
        await self._reader.aclose()
        self._feed.ready.clear()
        # A reader that never started has closed nothing.
        await self._closing.aclose()

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


def iter_events(
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
            httpx2, ``response.iter_content(None)`` of requests where the server chunks its response, an
            open binary file. The content encoding must be undone.
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


def aiter_events(
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
