"""Decoding while an HTTP client reads from a server on this machine."""

from __future__ import annotations

import asyncio
import gzip
import threading
import zlib
from functools import partial

import pytest

import turntape

ERROR_BODY = b'{"error":{"message":"Slow down.","type":"rate_limit_error","code":429}}'
ERROR_EVENT = b"data: " + ERROR_BODY + b"\n\n"


def compressed_live(pieces):
    """Compress pieces such that each can be read before the next one comes."""
    compressor = zlib.compressobj(wbits=31)
    for piece in pieces:
        yield compressor.compress(piece) + compressor.flush(zlib.Z_SYNC_FLUSH)
    yield compressor.flush()


def recorded(chunks, raised):
    """Hand chunks through, and note what is raised on the way."""
    try:
        yield from chunks
    except Exception as error:
        raised.append(error)
        raise


async def recorded_async(chunks, raised):
    try:
        async for chunk in chunks:
            yield chunk
    except Exception as error:
        raised.append(error)
        raise


def consume_badly(stream):
    with stream:
        for _ in stream:
            raise KeyError("consumer")


class TestSynchronous:
    def test_pieces_do_not_matter(self, server, reply, open_response, dialect, body, pieces):
        with open_response(server.url(reply(pieces))) as opened:
            stream = turntape.iter_events(opened.chunks, dialect)
            assert list(stream) == turntape.decode(body, dialect)
            assert stream.snapshot() == turntape.decode_message(body, dialect)
            assert opened.is_closed()

    def test_compressed(self, server, reply, open_response, dialect, body):
        packed = gzip.compress(body)
        answer = reply(
            [packed[:11], packed[11:90], packed[90:]], headers={"content-encoding": "gzip"}
        )
        with open_response(server.url(answer)) as opened:
            events = list(turntape.iter_events(opened.chunks, dialect))
        assert events == turntape.decode(body, dialect)

    @pytest.mark.parametrize("encoding", ["identity", "gzip"])
    def test_events_come_before_the_rest_is_sent(
        self, server, reply, open_response, chat, chat_start, encoding
    ):
        go_on = threading.Event()
        pieces = [chat_start, chat[len(chat_start) :]]
        if encoding == "gzip":
            pieces = list(compressed_live(pieces))
        answer = reply(
            [pieces[0], go_on, *pieces[1:]],
            headers={} if encoding == "identity" else {"content-encoding": encoding},
        )
        with open_response(server.url(answer)) as opened:
            stream = turntape.iter_events(opened.chunks, "openai-chat")
            assert [next(stream).type, next(stream).type] == ["message_start", "text_delta"]
            go_on.set()
            assert [event.type for event in stream][-1] == "message_stop"

    def test_body_that_ends_with_the_connection(self, server, reply, open_response, dialect, body):
        with open_response(server.url(reply([body[:50], body[50:]], framing="close"))) as opened:
            events = list(turntape.iter_events(opened.chunks, dialect))
        assert events == turntape.decode(body, dialect)

    def test_unchunked_body_that_requests_would_wait_for(self, server, reply, chat, chat_start):
        """The way that the documentation names for servers that do not chunk."""
        requests = pytest.importorskip("requests")
        go_on = threading.Event()
        pieces = list(compressed_live([chat_start, chat[len(chat_start) :]]))
        answer = reply(
            [pieces[0], go_on, *pieces[1:]],
            framing="close",
            headers={"content-encoding": "gzip"},
        )
        with requests.get(server.url(answer), stream=True, timeout=30) as response:
            read = partial(response.raw.read1, 65536, decode_content=True)
            stream = turntape.iter_events(iter(read, b""), "openai-chat")
            assert [next(stream).type, next(stream).type] == ["message_start", "text_delta"]
            go_on.set()
            assert [event.type for event in stream][-1] == "message_stop"

    def test_dropped_connection(self, server, reply, open_response, chat_start):
        raised: list[Exception] = []
        with open_response(server.url(reply([chat_start], ending="dropped"))) as opened:
            stream = turntape.iter_events(recorded(opened.chunks, raised), "openai-chat")
            with pytest.raises(opened.failure) as caught:
                list(stream)
            assert [caught.value] == raised
            assert opened.is_closed()
        partial = stream.snapshot()
        assert partial.content == (turntape.Text("Grüße, "),)
        assert not partial.complete
        assert list(stream) == []

    def test_connection_dropped_after_the_turn(self, server, reply, open_response, dialect, body):
        with open_response(server.url(reply([body], ending="dropped"))) as opened:
            events = list(turntape.iter_events(opened.chunks, dialect))
        assert events == turntape.decode(body, dialect)

    def test_body_cut_off_properly(self, server, reply, open_response, chat_start):
        with open_response(server.url(reply([chat_start]))) as opened:
            with pytest.raises(turntape.TruncatedStream) as caught:
                list(turntape.iter_events(opened.chunks, "openai-chat"))
            assert opened.is_closed()
        assert caught.value.partial is not None
        assert caught.value.partial.content == (turntape.Text("Grüße, "),)

    def test_error_body_with_status_200(self, server, reply, open_response, dialect):
        with (
            open_response(server.url(reply([ERROR_BODY]))) as opened,
            pytest.raises(turntape.ProviderError) as caught,
        ):
            list(turntape.iter_events(opened.chunks, dialect))
        assert (caught.value.kind, caught.value.status) == ("rate_limit_error", 429)
        assert caught.value.before_content

    def test_error_within_the_stream(self, server, reply, open_response, chat_start):
        # The server sends nothing more and closes nothing: the error must not wait for either.
        answer = reply([chat_start + ERROR_EVENT], ending="open")
        with open_response(server.url(answer)) as opened:
            stream = turntape.iter_events(opened.chunks, "openai-chat")
            assert [next(stream).type, next(stream).type] == ["message_start", "text_delta"]
            assert answer.saw_client_go()
            with pytest.raises(turntape.ProviderError, match="Slow down") as caught:
                next(stream)
        assert not caught.value.before_content

    def test_abandoned(self, server, reply, open_response, chat_start):
        answer = reply([chat_start], ending="open")
        with open_response(server.url(answer)) as opened:
            stream = turntape.iter_events(opened.chunks, "openai-chat")
            next(stream)
            del stream
            assert answer.saw_client_go()

    def test_left_by_break(self, server, reply, open_response, chat_start):
        answer = reply([chat_start], ending="open")
        with open_response(server.url(answer)) as opened:
            with turntape.iter_events(opened.chunks, "openai-chat") as stream:
                for event in stream:
                    if isinstance(event, turntape.TextDelta):
                        break
            assert answer.saw_client_go()
        assert stream.snapshot().content == (turntape.Text("Grüße, "),)

    def test_left_by_an_exception(self, server, reply, open_response, chat_start):
        answer = reply([chat_start], ending="open")
        with open_response(server.url(answer)) as opened:
            with pytest.raises(KeyError, match="consumer"):
                consume_badly(turntape.iter_events(opened.chunks, "openai-chat"))
            assert answer.saw_client_go()


@pytest.mark.anyio
class TestAsynchronous:
    async def test_pieces_do_not_matter(
        self, server, reply, open_response_async, dialect, body, pieces
    ):
        async with open_response_async(server.url(reply(pieces))) as opened:
            stream = turntape.aiter_events(opened.chunks, dialect)
            assert [event async for event in stream] == turntape.decode(body, dialect)
            assert stream.snapshot() == turntape.decode_message(body, dialect)
            assert opened.is_closed()

    async def test_compressed(self, server, reply, open_response_async, dialect, body):
        packed = gzip.compress(body)
        answer = reply(
            [packed[:11], packed[11:90], packed[90:]], headers={"content-encoding": "gzip"}
        )
        async with open_response_async(server.url(answer)) as opened:
            events = [event async for event in turntape.aiter_events(opened.chunks, dialect)]
        assert events == turntape.decode(body, dialect)

    async def test_events_come_before_the_rest_is_sent(
        self, server, reply, open_response_async, chat, chat_start
    ):
        go_on = threading.Event()
        answer = reply([chat_start, go_on, chat[len(chat_start) :]])
        async with open_response_async(server.url(answer)) as opened:
            stream = turntape.aiter_events(opened.chunks, "openai-chat")
            first, second = await anext(stream), await anext(stream)
            assert [first.type, second.type] == ["message_start", "text_delta"]
            go_on.set()
            assert [event.type async for event in stream][-1] == "message_stop"

    async def test_body_that_ends_with_the_connection(
        self, server, reply, open_response_async, dialect, body
    ):
        answer = reply([body[:50], body[50:]], framing="close")
        async with open_response_async(server.url(answer)) as opened:
            events = [event async for event in turntape.aiter_events(opened.chunks, dialect)]
        assert events == turntape.decode(body, dialect)

    async def test_dropped_connection(self, server, reply, open_response_async, chat_start):
        raised: list[Exception] = []
        answer = reply([chat_start], ending="dropped")
        async with open_response_async(server.url(answer)) as opened:
            stream = turntape.aiter_events(recorded_async(opened.chunks, raised), "openai-chat")
            with pytest.raises(opened.failure) as caught:
                [event async for event in stream]
            assert [caught.value] == raised
            # The iterator of aiohttp has nothing to close: leaving the response does that.
            assert opened.is_closed() or not hasattr(opened.chunks, "aclose")
        partial = stream.snapshot()
        assert partial.content == (turntape.Text("Grüße, "),)
        assert not partial.complete
        assert [event async for event in stream] == []

    async def test_connection_dropped_after_the_turn(
        self, server, reply, open_response_async, dialect, body
    ):
        async with open_response_async(server.url(reply([body], ending="dropped"))) as opened:
            events = [event async for event in turntape.aiter_events(opened.chunks, dialect)]
        assert events == turntape.decode(body, dialect)

    async def test_error_body_with_status_200(self, server, reply, open_response_async, dialect):
        async with open_response_async(server.url(reply([ERROR_BODY]))) as opened:
            with pytest.raises(turntape.ProviderError) as caught:
                [event async for event in turntape.aiter_events(opened.chunks, dialect)]
        assert (caught.value.kind, caught.value.status) == ("rate_limit_error", 429)

    async def test_error_within_the_stream(self, server, reply, open_response_async, chat_start):
        answer = reply([chat_start + ERROR_EVENT], ending="open")
        async with open_response_async(server.url(answer)) as opened:
            stream = turntape.aiter_events(opened.chunks, "openai-chat")
            first, second = await anext(stream), await anext(stream)
            assert [first.type, second.type] == ["message_start", "text_delta"]
            with pytest.raises(turntape.ProviderError, match="Slow down"):
                await anext(stream)
        assert await asyncio.to_thread(answer.saw_client_go)

    async def test_left_by_break(self, server, reply, open_response_async, chat_start):
        answer = reply([chat_start], ending="open")
        async with (
            open_response_async(server.url(answer)) as opened,
            turntape.aiter_events(opened.chunks, "openai-chat") as stream,
        ):
            async for event in stream:
                if isinstance(event, turntape.TextDelta):
                    break
        assert await asyncio.to_thread(answer.saw_client_go)
        assert stream.snapshot().content == (turntape.Text("Grüße, "),)

    async def test_left_by_an_exception(self, server, reply, open_response_async, chat_start):
        answer = reply([chat_start], ending="open")

        async def consume():
            async with open_response_async(server.url(answer)) as opened:
                async for _ in turntape.aiter_events(opened.chunks, "openai-chat"):
                    raise KeyError("consumer")

        with pytest.raises(KeyError, match="consumer"):
            await consume()
        assert await asyncio.to_thread(answer.saw_client_go)

    async def test_cancelled(self, server, reply, open_response_async, chat_start):
        answer = reply([chat_start], ending="open")
        started = asyncio.Event()
        kept: list[turntape.AsyncEventStream] = []

        async def consume():
            async with open_response_async(server.url(answer)) as opened:
                stream = turntape.aiter_events(opened.chunks, "openai-chat")
                kept.append(stream)
                async for event in stream:
                    if isinstance(event, turntape.TextDelta):
                        started.set()

        task = asyncio.create_task(consume())
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(answer.saw_client_go)
        assert kept[0].snapshot().content == (turntape.Text("Grüße, "),)

    async def test_abandoned(self, server, reply, open_response_async, chat_start):
        """A generator that owns its response passes on that nobody reads it any more."""
        answer = reply([chat_start], ending="open")

        async def chunks():
            async with open_response_async(server.url(answer)) as opened:
                async for chunk in opened.chunks:
                    yield chunk

        stream = turntape.aiter_events(chunks(), "openai-chat")
        await anext(stream)
        del stream
        assert await asyncio.to_thread(answer.saw_client_go)
