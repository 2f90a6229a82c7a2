"""The official clients with turntape's framing inside, against a server on this machine."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

import turntape
from turntape.wire.official import ClientDecoder, use_turntape

if TYPE_CHECKING:
    from collections.abc import Callable

KEY = "not a key"
ASK: list[Any] = [{"role": "user", "content": "Hello?"}]


@pytest.fixture
def openai():
    return pytest.importorskip("openai")


@pytest.fixture
def anthropic():
    return pytest.importorskip("anthropic")


@pytest.fixture
def connect(server):
    """Make a client of a class that is pointed to the server's answer."""

    def connect(cls: Callable[..., Any], answer: Any) -> Any:
        return cls(base_url=server.url(answer), api_key=KEY, max_retries=0)

    return connect


def ask_chat(client):
    return client.chat.completions.create(model="m", messages=ASK, stream=True)


def ask_anthropic(client):
    return client.messages.create(model="m", messages=ASK, max_tokens=9, stream=True)


def text_of(chunks):
    return "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)


class TestOpenAI:
    def test_stream(self, openai, connect, reply, chat):
        client = connect(openai.OpenAI, reply([chat[:7], chat[7:100], chat[100:]]))
        assert use_turntape(client) is client
        with client, ask_chat(client) as stream:
            assert isinstance(stream._decoder, ClientDecoder)
            assert text_of(stream) == "Grüße, 京都 🦀"

    @pytest.mark.anyio
    async def test_asynchronous_stream(self, openai, connect, reply, chat):
        client = use_turntape(connect(openai.AsyncOpenAI, reply([chat[:7], chat[7:]])))
        async with client, await ask_chat(client) as stream:
            assert isinstance(stream._decoder, ClientDecoder)
            assert text_of([chunk async for chunk in stream]) == "Grüße, 京都 🦀"

    def test_stream_that_the_own_decoder_cannot_read(self, openai, connect, reply):
        """A byte order mark, a heartbeat after an id, bytes that are no UTF-8, no blank line at the end."""
        pieces = [
            b'\xef\xbb\xbfdata: {"id":"r","choices":[{"index":0,"delta":{"content":"a"}}]}\n\n',
            b'id: 1\ndata: {"id":"r","choices":[{"index":0,"delta":{"content":"\xff"}}]}\n\n',
            b": still here\n\n",
            b'data: {"id":"r","choices":[{"index":0,"delta":{"content":"b"}}]}\n',
        ]
        client = use_turntape(connect(openai.OpenAI, reply(pieces)))
        with client, ask_chat(client) as stream:
            assert text_of(stream) == "a\ufffdb"
            assert [warning.code for warning in stream._decoder.warnings] == [
                "invalid_utf8",
                "eof_flush",
            ]

    def test_cut_payload_does_not_look_like_the_end(self, openai, connect, reply, chat_start):
        client = use_turntape(connect(openai.OpenAI, reply([chat_start + b'data: {"choices'])))
        with client, ask_chat(client) as stream, pytest.raises(json.JSONDecodeError):
            list(stream)

    def test_error_within_the_stream(self, openai, connect, reply, chat_start):
        answer = reply([chat_start, b'data: {"error":{"message":"Slow down."}}\n\n'], ending="open")
        client = use_turntape(connect(openai.OpenAI, answer))
        with client, ask_chat(client) as stream, pytest.raises(openai.APIError, match="Slow down"):
            list(stream)
        assert answer.saw_client_go()

    def test_left_early(self, openai, connect, reply, chat_start):
        answer = reply([chat_start], ending="open")
        client = use_turntape(connect(openai.OpenAI, answer))
        with client:
            with ask_chat(client) as stream:
                next(stream)
            assert answer.saw_client_go()

    def test_dropped_connection(self, openai, connect, reply, chat_start):
        client = use_turntape(connect(openai.OpenAI, reply([chat_start], ending="dropped")))
        with client, ask_chat(client) as stream, pytest.raises(openai.APIConnectionError):
            list(stream)

    @pytest.mark.anyio
    async def test_cancelled(self, openai, connect, reply, chat_start):
        answer = reply([chat_start], ending="open")
        client = use_turntape(connect(openai.AsyncOpenAI, answer))
        started = asyncio.Event()

        async def consume():
            async with await ask_chat(client) as stream:
                async for _ in stream:
                    started.set()

        async with client:
            task = asyncio.create_task(consume())
            await started.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await asyncio.to_thread(answer.saw_client_go)


class TestAnthropic:
    def test_stream(self, anthropic, connect, reply, anthropic_body):
        client = connect(anthropic.Anthropic, reply([anthropic_body[:7], anthropic_body[7:]]))
        assert use_turntape(client) is client
        with client, ask_anthropic(client) as stream:
            assert isinstance(stream._decoder, ClientDecoder)
            kinds = [event.type for event in stream]
        assert kinds == [
            "message_start",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop",
        ]

    def test_message_helper(self, anthropic, connect, reply, anthropic_body):
        client = use_turntape(connect(anthropic.Anthropic, reply([anthropic_body])))
        with client, client.messages.stream(model="m", messages=ASK, max_tokens=9) as stream:
            assert stream.get_final_text() == "Grüße 🦀"

    @pytest.mark.anyio
    async def test_asynchronous_stream(self, anthropic, connect, reply, anthropic_body):
        client = use_turntape(connect(anthropic.AsyncAnthropic, reply([anthropic_body])))
        asked = client.messages.stream(model="m", messages=ASK, max_tokens=9)
        async with client, asked as stream:
            assert await stream.get_final_text() == "Grüße 🦀"

    def test_events_without_names(self, anthropic, connect, reply, anthropic_body):
        """The own decoder gives an empty stream here."""
        lines = anthropic_body.splitlines(keepends=True)
        body = b"".join(line for line in lines if not line.startswith(b"event:"))
        client = use_turntape(connect(anthropic.Anthropic, reply([body, b"data: [DONE]\n\n"])))
        with client, client.messages.stream(model="m", messages=ASK, max_tokens=9) as stream:
            assert stream.get_final_text() == "Grüße 🦀"

    def test_error_without_a_name(self, anthropic, connect, reply):
        body = b'data: {"type":"error","error":{"type":"overloaded_error","message":"Busy."}}\n\n'
        client = use_turntape(connect(anthropic.Anthropic, reply([body])))
        busy = pytest.raises(anthropic.APIStatusError, match="Busy")
        with client, ask_anthropic(client) as stream, busy:
            list(stream)


@pytest.fixture(params=["OpenAI", "AsyncOpenAI", "Anthropic", "AsyncAnthropic"])
def client_class(request: pytest.FixtureRequest) -> Callable[..., Any]:
    module = pytest.importorskip("openai" if "OpenAI" in request.param else "anthropic")
    cls: Callable[..., Any] = getattr(module, request.param)
    return cls


class TestInstalling:
    def test_only_this_client_changes(self, client_class):
        client, other = client_class(api_key=KEY), client_class(api_key=KEY)
        use_turntape(client)
        assert type(client) is type(other) is client_class
        assert isinstance(client._make_sse_decoder(), ClientDecoder)
        assert not isinstance(other._make_sse_decoder(), ClientDecoder)

    def test_each_stream_gets_its_own_decoder(self, client_class):
        client = use_turntape(client_class(api_key=KEY))
        assert client._make_sse_decoder() is not client._make_sse_decoder()

    @pytest.mark.parametrize("method", ["copy", "with_options"])
    def test_copies_use_it_too(self, client_class, method):
        client = use_turntape(client_class(api_key=KEY), eof="discard")
        copied = getattr(client, method)(timeout=3.0)
        again = getattr(copied, method)(timeout=4.0)
        assert (copied.timeout, again.timeout) == (3.0, 4.0)
        for each in (copied, again):
            decoder = each._make_sse_decoder()
            assert isinstance(decoder, ClientDecoder)
            assert list(decoder.iter_bytes(iter([b"data: cut"]))) == []

    def test_again_with_other_options(self, client_class):
        client = client_class(api_key=KEY)
        for _ in range(3):
            use_turntape(client, eof="discard")
        use_turntape(client, max_event_bytes=2)
        for each in (client, client.with_options(timeout=3.0)):
            with pytest.raises(turntape.EventTooLarge):
                list(each._make_sse_decoder().iter_bytes(iter([b"data: long\n\n"])))
            assert len(list(each._make_sse_decoder().iter_bytes(iter([b"data: 1"])))) == 1

    def test_wrong_option(self, client_class):
        client = client_class(api_key=KEY)
        with pytest.raises(ValueError, match="eof"):
            use_turntape(client, eof="keep")  # type: ignore[arg-type]
        assert not isinstance(client._make_sse_decoder(), ClientDecoder)

    def test_no_client(self, client_class):
        client = client_class(api_key=KEY)
        for wrong in (None, client_class, client.with_raw_response, object()):
            with pytest.raises(TypeError, match="is no client of"):
                use_turntape(wrong)

    def test_client_of_another_wire(self, client_class):
        class Bedrock(client_class):  # type: ignore[misc,valid-type]
            def _make_sse_decoder(self):
                return object()

        with pytest.raises(TypeError, match="Bedrock has a decoder of its own"):
            use_turntape(Bedrock(api_key=KEY))

    def test_subclass(self, client_class):
        class Gateway(client_class):  # type: ignore[misc,valid-type]
            pass

        client = use_turntape(Gateway(api_key=KEY))
        copied = client.with_options(timeout=3.0)
        assert isinstance(copied, Gateway)
        assert isinstance(copied._make_sse_decoder(), ClientDecoder)

    def test_version_without_the_hook(self, client_class, monkeypatch):
        package = client_class.__module__.partition(".")[0]
        monkeypatch.delattr(f"{package}._base_client.BaseClient._make_sse_decoder")
        with pytest.raises(ImportError, match=f"this version of {package} takes no decoder"):
            use_turntape(client_class(api_key=KEY))
