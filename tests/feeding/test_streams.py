"""The iterators over any source of chunks: what they read, raise and close, and when."""

from __future__ import annotations

import asyncio
import gc
import io
import queue
import threading
import weakref

import pytest

import turntape

START = b'data: {"id":"r1","choices":[{"delta":{"content":"Hi"}}]}\n\n'
END = b"data: [DONE]\n\n"
BROKEN = b"data: {]\n\n"
EVENTS = turntape.decode(START + END, "openai-chat")


class Source:
    """Chunks that may end in an exception, with a ``close`` that counts and may raise."""

    def __init__(self, *chunks, raises=None, close_raises=None):
        self.chunks = list(chunks)
        self.raises = raises
        self.close_raises = close_raises
        self.closed = 0
        self.asked = 0

    def __iter__(self):
        return self

    def __next__(self):
        self.asked += 1
        if self.chunks:
            return self.chunks.pop(0)
        if self.raises is not None:
            raise self.raises
        raise StopIteration

    def close(self):
        self.closed += 1
        if self.close_raises is not None:
            raise self.close_raises


class AsyncSource(Source):
    """The same, asynchronous, with an ``aclose``."""

    def __aiter__(self):
        return self

    async def __anext__(self):
        await asyncio.sleep(0)
        try:
            return next(self)
        except StopIteration:
            raise StopAsyncIteration from None

    async def aclose(self):
        await asyncio.sleep(0)
        self.close()


class AsyncChunks:
    """An asynchronous source that is no generator itself."""

    def __init__(self, *chunks):
        self.chunks = list(chunks)
        self.closed = 0

    async def __aiter__(self):
        for chunk in self.chunks:
            yield chunk


class SynchronouslyClosed(AsyncChunks):
    """It is closed by a plain method."""

    def close(self):
        self.closed += 1


class ClosedByCoroutine(AsyncChunks):
    """Its ``close`` has to be awaited."""

    async def close(self):
        await asyncio.sleep(0)
        self.closed += 1


def read(stream):
    """Read a stream to its end or failure."""
    events = []
    try:
        events.extend(stream)
    except Exception as error:  # noqa: BLE001 (compared by the tests)
        return events, error
    return events, None


async def aread(stream):
    events = []
    try:
        async for event in stream:
            events.append(event)  # noqa: PERF401 (what came before an error counts)
    except Exception as error:  # noqa: BLE001 (compared by the tests)
        return events, error
    return events, None


def consume_badly(stream):
    with stream:
        for _ in stream:
            raise KeyError("consumer")


async def aconsume_badly(stream):
    async with stream:
        async for _ in stream:
            raise KeyError("consumer")


class TestSynchronous:
    @pytest.mark.parametrize(
        "source",
        [
            [START, END],
            (START.decode(), bytearray(END)),
            iter([memoryview(START), END]),
            (chunk for chunk in [START, b"", END]),
            io.BytesIO(START + END),
            io.StringIO((START + END).decode()),
            Source(START, END),
        ],
        ids=["list", "tuple", "iterator", "generator", "binary file", "text file", "object"],
    )
    def test_sources(self, source):
        stream = turntape.iter_events(source, "openai-chat")
        assert read(stream) == (EVENTS, None)
        assert read(stream) == ([], None)
        assert stream.snapshot().complete
        assert getattr(source, "closed", True)

    def test_nothing_to_iterate(self):
        with pytest.raises(TypeError):
            turntape.iter_events(5, "openai-chat")  # type: ignore[arg-type]

    def test_wrong_chunk(self):
        source = Source(START, 5)
        events, error = read(turntape.iter_events(source, "openai-chat"))
        assert events == EVENTS[:2]
        assert isinstance(error, TypeError)
        assert source.closed == 1

    def test_wrong_option_leaves_the_source_open(self):
        source = Source(START, END)
        with pytest.raises(ValueError, match="klingon"):
            turntape.iter_events(source, "klingon")
        assert source.closed == 0

    def test_closed_at_the_end_before_the_last_events_are_taken(self):
        source = Source(START)
        stream = turntape.iter_events(source, "openai-chat")
        next(stream)
        next(stream)
        assert source.closed == 0
        with pytest.raises(turntape.TruncatedStream):
            next(stream)
        assert source.closed == 1

    def test_iterable_and_iterator_are_closed(self):
        iterator = Source(START, END)

        class Response(Source):
            def __iter__(self):
                return iterator

        response = Response()
        assert read(turntape.iter_events(response, "openai-chat")) == (EVENTS, None)
        assert (iterator.closed, response.closed) == (1, 1)

    def test_both_are_closed_even_if_closing_the_first_fails(self):
        iterator = Source(START, END, close_raises=OSError("first"))

        class Response(Source):
            def __iter__(self):
                return iterator

        response = Response()
        events, error = read(turntape.iter_events(response, "openai-chat"))
        assert events == EVENTS
        assert str(error) == "first"
        assert response.closed == 1

    def test_source_raises(self):
        failure = OSError("gone")
        source = Source(START, raises=failure)
        stream = turntape.iter_events(source, "openai-chat")
        events, error = read(stream)
        assert events == EVENTS[:2]
        assert error is failure
        assert source.closed == 1
        assert stream.snapshot().content == (turntape.Text("Hi"),)
        assert not stream.snapshot().complete
        assert read(stream) == ([], None)

    def test_source_raises_after_the_turn(self):
        source = Source(START, END, raises=OSError("no proper end"))
        stream = turntape.iter_events(source, "openai-chat")
        assert read(stream) == (EVENTS, None)
        assert source.closed == 1
        assert stream.snapshot().complete

    def test_interrupt_is_never_taken_for_the_end(self):
        source = Source(START, END, raises=KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            list(turntape.iter_events(source, "openai-chat"))
        assert source.closed == 1

    def test_source_raises_and_closing_fails(self):
        failure = OSError("gone")
        source = Source(START, raises=failure, close_raises=ValueError("closing"))
        assert read(turntape.iter_events(source, "openai-chat")) == (EVENTS[:2], failure)

    def test_stream_fails(self):
        source = Source(START + BROKEN)
        stream = turntape.iter_events(source, "openai-chat")
        events, error = read(stream)
        assert events == EVENTS[:2]
        assert isinstance(error, turntape.MalformedEvent)
        assert error.events == ()
        assert error.partial == stream.snapshot()
        assert source.closed == 1
        assert read(stream) == ([], None)

    def test_failure_behind_events_does_not_wait_for_the_next_chunk(self):
        source = Source(START + BROKEN, raises=AssertionError("asked for another chunk"))
        stream = turntape.iter_events(source, "openai-chat")
        assert next(stream) == EVENTS[0]
        # Nothing more is read, so nothing needs the source while the events before the failure go out.
        assert (source.asked, source.closed) == (1, 1)
        assert next(stream) == EVENTS[1]
        with pytest.raises(turntape.MalformedEvent):
            next(stream)
        assert source.asked == 1

    def test_events_of_the_end_come_before_its_failure(self):
        call = b'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f"}}]}}]}'
        events, error = read(turntape.iter_events([call], "openai-chat"))
        assert [event.type for event in events] == ["message_start", "tool_use_start"]
        assert isinstance(error, turntape.TruncatedStream)
        assert error.events == ()

    def test_stream_fails_and_closing_fails(self):
        source = Source(START + BROKEN, close_raises=OSError("closing"))
        events, error = read(turntape.iter_events(source, "openai-chat"))
        assert events == EVENTS[:2]
        assert isinstance(error, turntape.MalformedEvent)

    def test_closing_fails_at_the_end(self):
        failure = OSError("closing")
        source = Source(START + END[:-1], close_raises=failure)
        stream = turntape.iter_events(source, "openai-chat")
        assert read(stream) == (EVENTS, failure)
        assert source.closed == 1
        assert stream.snapshot().complete
        stream.close()
        assert source.closed == 1

    def test_closing_fails_when_asked_to_close(self):
        source = Source(START, close_raises=OSError("closing"))
        stream = turntape.iter_events(source, "openai-chat")
        next(stream)
        with pytest.raises(OSError, match="closing"):
            stream.close()
        stream.close()
        assert source.closed == 1

    def test_close(self):
        source = Source(START, END)
        stream = turntape.iter_events(source, "openai-chat")
        next(stream)
        stream.close()
        stream.close()
        assert source.closed == 1
        assert read(stream) == ([], None)
        assert stream.snapshot().content == (turntape.Text("Hi"),)

    @pytest.mark.parametrize("count", [0, 1, 2])
    def test_abandoned(self, count):
        source = Source(START, END)
        stream = turntape.iter_events(source, "openai-chat")
        for _ in range(count):
            next(stream)
        del stream
        gc.collect()
        assert source.closed == 1

    def test_abandoned_generator_runs_its_cleanup(self):
        cleaned = []

        def chunks():
            try:
                yield START
                yield END
            finally:
                cleaned.append(True)

        stream = turntape.iter_events(chunks(), "openai-chat")
        next(stream)
        del stream
        gc.collect()
        assert cleaned

    def test_context_manager(self):
        source = Source(START, END)
        with turntape.iter_events(source, "openai-chat") as stream:
            assert iter(stream) is stream
            next(stream)
            assert source.closed == 0
        assert source.closed == 1
        assert source.asked == 1

    def test_exception_in_the_consumer(self):
        source = Source(START, END)
        with pytest.raises(KeyError, match="consumer"):
            consume_badly(turntape.iter_events(source, "openai-chat"))
        assert source.closed == 1

    def test_failed_stream_is_freed_without_the_garbage_collector(self):
        def run():
            stream = turntape.iter_events([START + BROKEN], "openai-chat")
            with pytest.raises(turntape.MalformedEvent):
                list(stream)
            return weakref.ref(stream)

        gc.collect()
        gc.disable()
        try:
            assert run()() is None
        finally:
            gc.enable()

    def test_another_thread(self):
        """A second thread gets an error, and the first one goes on undisturbed."""
        chunks: queue.Queue[bytes | None] = queue.Queue()
        waiting = threading.Event()

        def source():
            while True:
                waiting.set()
                chunk = chunks.get()
                if chunk is None:
                    return
                yield chunk

        stream = turntape.iter_events(source(), "openai-chat")
        events: list[turntape.StreamEvent] = []
        thread = threading.Thread(target=lambda: events.extend(stream))
        thread.start()
        assert waiting.wait(30)
        with pytest.raises(ValueError, match="already executing"):
            next(stream)
        with pytest.raises(ValueError, match="already executing"):
            stream.close()
        for chunk in (START, END, None):
            chunks.put(chunk)
        thread.join(30)
        assert events == EVENTS

    def test_options_reach_the_decoder(self):
        stream = turntape.iter_events(
            [START + END], "openai-chat", vendor="acme", max_event_bytes=1000
        )
        list(stream)
        assert stream.snapshot().vendor == "acme"
        with pytest.raises(turntape.EventTooLarge):
            list(turntape.iter_events([START + END], "openai-chat", max_event_bytes=10))


@pytest.mark.anyio
class TestAsynchronous:
    async def test_source(self):
        source = AsyncSource(START, END)
        stream = turntape.aiter_events(source, "openai-chat")
        assert await aread(stream) == (EVENTS, None)
        assert await aread(stream) == ([], None)
        assert source.closed == 1
        assert stream.snapshot().complete

    async def test_generator(self):
        cleaned = []

        async def chunks():
            try:
                for chunk in (START, b"", END):
                    yield chunk
            finally:
                cleaned.append(True)

        assert await aread(turntape.aiter_events(chunks(), "openai-chat")) == (EVENTS, None)
        assert cleaned

    @pytest.mark.parametrize("kind", [SynchronouslyClosed, ClosedByCoroutine])
    async def test_other_ways_to_be_closed(self, kind):
        source = kind(START, END)
        assert await aread(turntape.aiter_events(source, "openai-chat")) == (EVENTS, None)
        assert source.closed == 1

    async def test_nothing_to_iterate(self):
        with pytest.raises(TypeError):
            turntape.aiter_events([START], "openai-chat")  # type: ignore[arg-type]

    async def test_source_raises(self):
        failure = OSError("gone")
        source = AsyncSource(START, raises=failure)
        stream = turntape.aiter_events(source, "openai-chat")
        events, error = await aread(stream)
        assert events == EVENTS[:2]
        assert error is failure
        assert source.closed == 1
        assert not stream.snapshot().complete
        assert await aread(stream) == ([], None)

    async def test_source_raises_after_the_turn(self):
        source = AsyncSource(START, END, raises=OSError("no proper end"))
        assert await aread(turntape.aiter_events(source, "openai-chat")) == (EVENTS, None)
        assert source.closed == 1

    async def test_source_raises_and_closing_fails(self):
        failure = OSError("gone")
        source = AsyncSource(START, raises=failure, close_raises=ValueError("closing"))
        stream = turntape.aiter_events(source, "openai-chat")
        assert await aread(stream) == (EVENTS[:2], failure)

    async def test_stream_fails(self):
        source = AsyncSource(START + BROKEN, raises=AssertionError("asked for another chunk"))
        stream = turntape.aiter_events(source, "openai-chat")
        events, error = await aread(stream)
        assert events == EVENTS[:2]
        assert isinstance(error, turntape.MalformedEvent)
        assert error.partial == stream.snapshot()
        assert (source.asked, source.closed) == (1, 1)

    async def test_closing_fails_at_the_end(self):
        failure = OSError("closing")
        source = AsyncSource(START + END[:-1], close_raises=failure)
        stream = turntape.aiter_events(source, "openai-chat")
        assert await aread(stream) == (EVENTS, failure)
        await stream.aclose()
        assert source.closed == 1

    async def test_stream_fails_and_closing_fails(self):
        source = AsyncSource(START + BROKEN, close_raises=OSError("closing"))
        events, error = await aread(turntape.aiter_events(source, "openai-chat"))
        assert events == EVENTS[:2]
        assert isinstance(error, turntape.MalformedEvent)

    async def test_closing_fails_when_asked_to_close(self):
        source = AsyncSource(START, close_raises=OSError("closing"))
        stream = turntape.aiter_events(source, "openai-chat")
        await anext(stream)
        with pytest.raises(OSError, match="closing"):
            await stream.aclose()
        await stream.aclose()
        assert source.closed == 1

    async def test_close_twice(self):
        source = AsyncSource(START, END)
        stream = turntape.aiter_events(source, "openai-chat")
        await anext(stream)
        await stream.aclose()
        await stream.aclose()
        assert source.closed == 1
        assert await aread(stream) == ([], None)

    async def test_close_before_the_start(self):
        source = AsyncSource(START, END)
        stream = turntape.aiter_events(source, "openai-chat")
        await stream.aclose()
        assert (source.asked, source.closed) == (0, 1)
        assert await aread(stream) == ([], None)

    async def test_context_manager(self):
        source = AsyncSource(START, END)
        async with turntape.aiter_events(source, "openai-chat") as stream:
            assert aiter(stream) is stream
            await anext(stream)
            assert source.closed == 0
        assert (source.asked, source.closed) == (1, 1)

    async def test_exception_in_the_consumer(self):
        source = AsyncSource(START, END)
        with pytest.raises(KeyError, match="consumer"):
            await aconsume_badly(turntape.aiter_events(source, "openai-chat"))
        assert source.closed == 1

    async def test_abandoned(self):
        closed = asyncio.Event()

        class Noted(AsyncSource):
            def close(self):
                closed.set()

        stream = turntape.aiter_events(Noted(START, END), "openai-chat")
        await anext(stream)
        del stream
        gc.collect()
        async with asyncio.timeout(30):
            await closed.wait()

    async def test_never_started(self):
        """Nothing was read, nothing can be awaited: the source stays as it was, without a warning."""
        source = AsyncSource(START, END)
        stream = turntape.aiter_events(source, "openai-chat")
        del stream
        gc.collect()
        await asyncio.sleep(0)
        assert (source.asked, source.closed) == (0, 0)

    async def test_cancelled(self):
        entered = asyncio.Event()
        cleaned = []

        async def chunks():
            yield START
            try:
                entered.set()
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(0)
                cleaned.append(True)

        stream = turntape.aiter_events(chunks(), "openai-chat")
        task = asyncio.create_task(aread(stream))
        await entered.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert cleaned
        assert stream.snapshot().content == (turntape.Text("Hi"),)
        assert await aread(stream) == ([], None)

    async def test_cancelled_closes_what_is_no_generator(self):
        entered = asyncio.Event()

        class Waiting(AsyncSource):
            async def __anext__(self):
                entered.set()
                await asyncio.Event().wait()
                raise AssertionError

        source = Waiting()
        task = asyncio.create_task(aread(turntape.aiter_events(source, "openai-chat")))
        await entered.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert source.closed == 1

    async def test_another_task(self):
        """A second task gets an error, and the first one goes on undisturbed."""
        go_on = asyncio.Event()
        waiting = asyncio.Event()

        async def chunks():
            waiting.set()
            await go_on.wait()
            yield START
            yield END

        stream = turntape.aiter_events(chunks(), "openai-chat")
        task = asyncio.create_task(aread(stream))
        await waiting.wait()
        with pytest.raises(RuntimeError, match="already running"):
            await anext(stream)
        with pytest.raises(RuntimeError, match="already running"):
            await stream.aclose()
        go_on.set()
        assert await task == (EVENTS, None)

    async def test_failed_stream_is_freed_without_the_garbage_collector(self):
        async def run():
            stream = turntape.aiter_events(AsyncSource(START + BROKEN), "openai-chat")
            with pytest.raises(turntape.MalformedEvent):
                [event async for event in stream]
            return weakref.ref(stream)

        gc.collect()
        gc.disable()
        try:
            reference = await run()
            assert reference() is None
        finally:
            gc.enable()
