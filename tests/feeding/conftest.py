"""A loopback server that answers exactly as a test tells it to, and the clients that read from it."""

from __future__ import annotations

import threading
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, cast

import pytest

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Sequence

# No test waits this long: it bounds one that would hang.
PATIENCE = 30


@dataclass(eq=False)
class Reply:
    """What the server answers to one URL, and what it saw.

    Attributes:
        pieces: The body, sent piece by piece; an Event in it is waited for.
        ending: ``whole`` ends the body properly, ``dropped`` closes the connection within it, ``open``
            sends nothing more and waits until the client closes the connection.
        framing: Whether the body is sent in chunks, or ends where the connection does.
        headers: More headers.
        client_gone: Set once an open connection was closed by the client.
    """

    pieces: Sequence[bytes | threading.Event]
    ending: Literal["whole", "dropped", "open"] = "whole"
    framing: Literal["chunked", "close"] = "chunked"
    headers: dict[str, str] = field(default_factory=dict[str, str])
    client_gone: threading.Event = field(default_factory=threading.Event)

    def saw_client_go(self) -> bool:
        return self.client_gone.wait(PATIENCE)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = PATIENCE
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", "0")))
        # The clients of providers add a path of their own behind the URL that they are given.
        number = int(self.path.split("/")[1])
        try:
            self.answer(cast("Server", self.server).replies[number])
        except ConnectionError:
            # The client went away early, as several tests have it do.
            self.close_connection = True

    do_POST = do_GET  # noqa: N815 (the base looks for this name)

    def answer(self, reply: Reply) -> None:
        chunked = reply.framing == "chunked"
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        if chunked:
            self.send_header("transfer-encoding", "chunked")
        else:
            self.send_header("connection", "close")
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        for piece in reply.pieces:
            if isinstance(piece, threading.Event):
                assert piece.wait(PATIENCE)
            elif chunked:
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            else:
                self.wfile.write(piece)
        if reply.ending == "open":
            try:
                if not self.connection.recv(1):
                    reply.client_gone.set()
            except ConnectionError:
                reply.client_gone.set()
        if reply.ending == "whole" and chunked:
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the base's name)
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.replies: list[Reply] = []

    def url(self, reply: Reply) -> str:
        self.replies.append(reply)
        return f"http://127.0.0.1:{self.server_port}/{len(self.replies) - 1}"


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@dataclass
class Opened:
    """A response that was opened.

    Attributes:
        chunks: Its body.
        is_closed: Whether the client thinks that it is closed.
        failure: What the client raises when the connection drops.
    """

    chunks: Any
    is_closed: Callable[[], bool]
    failure: type[Exception]


@contextmanager
def open_httpx2(url: str) -> Generator[Opened]:
    httpx2 = pytest.importorskip("httpx2")
    with (
        httpx2.Client(trust_env=False, timeout=PATIENCE) as client,
        client.stream("GET", url) as response,
    ):
        yield Opened(
            response.iter_bytes(), lambda: bool(response.is_closed), httpx2.RemoteProtocolError
        )


@contextmanager
def open_requests(url: str) -> Generator[Opened]:
    requests = pytest.importorskip("requests")
    with requests.Session() as session:
        session.trust_env = False
        with session.get(url, stream=True, timeout=PATIENCE) as response:
            yield Opened(
                response.iter_content(chunk_size=None),
                lambda: bool(response.raw.closed),
                requests.exceptions.ChunkedEncodingError,
            )


@asynccontextmanager
async def open_httpx2_async(url: str) -> AsyncGenerator[Opened]:
    httpx2 = pytest.importorskip("httpx2")
    async with (
        httpx2.AsyncClient(trust_env=False, timeout=PATIENCE) as client,
        client.stream("GET", url) as response,
    ):
        yield Opened(
            response.aiter_bytes(), lambda: bool(response.is_closed), httpx2.RemoteProtocolError
        )


@asynccontextmanager
async def open_aiohttp(url: str) -> AsyncGenerator[Opened]:
    aiohttp = pytest.importorskip("aiohttp")
    async with aiohttp.ClientSession() as session, session.get(url) as response:
        yield Opened(
            response.content.iter_any(),
            lambda: response.connection is None,
            aiohttp.ClientPayloadError,
        )


@pytest.fixture(params=[open_httpx2, open_requests], ids=["httpx2", "requests"])
def open_response(request: pytest.FixtureRequest):
    return request.param


@pytest.fixture(params=[open_httpx2_async, open_aiohttp], ids=["httpx2", "aiohttp"])
def open_response_async(request: pytest.FixtureRequest):
    return request.param


# Bodies --------------------------------------------------------------------------------------------

CHAT = """\
data: {"id":"r1","model":"m","choices":[{"index":0,"delta":{"content":"Grüße, "}}]}

: keep-alive

data: {"choices":[{"index":0,"delta":{"content":"京都 🦀"}}]}

data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}}

data: [DONE]

""".replace("\n", "\r\n").encode()
CHAT_START = CHAT[: CHAT.index(b": keep-alive")]

ANTHROPIC = (
    'event: message_start\ndata: {"type":"message_start","message":{"id":"m1","type":"message",'
    '"role":"assistant","model":"m","content":[],"usage":{"input_tokens":5,"output_tokens":1}}}\n\n'
    'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":'
    '{"type":"text","text":""}}\n\n'
    'event: ping\ndata: {"type":"ping"}\n\n'
    'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":'
    '{"type":"text_delta","text":"Grüße 🦀"}}\n\n'
    'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n'
    'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn",'
    '"stop_sequence":null},"usage":{"output_tokens":4}}\n\n'
    'event: message_stop\ndata: {"type":"message_stop"}\n\n'
).encode()

BODIES = {"openai-chat": CHAT, "anthropic": ANTHROPIC}


def cut_after(body: bytes, test: Callable[[int], bool]) -> list[bytes]:
    """Cut a body behind every byte that passes a test."""
    cuts = [0, *(place + 1 for place, byte in enumerate(body) if test(byte)), len(body)]
    pieces = (body[start:end] for start, end in pairwise(cuts))
    return [piece for piece in pieces if piece]


CUTS: dict[str, Callable[[bytes], list[bytes]]] = {
    "whole": lambda body: [body],
    "single bytes": lambda body: cut_after(body, lambda _: True),
    "within line ends": lambda body: cut_after(body, lambda byte: byte in b"\r\n"),
    "within characters": lambda body: cut_after(body, lambda byte: byte > 0x7F),
}


@pytest.fixture(params=list(BODIES))
def dialect(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def body(dialect: str) -> bytes:
    return BODIES[dialect]


@pytest.fixture(params=list(CUTS))
def pieces(request: pytest.FixtureRequest, body: bytes) -> list[bytes]:
    return CUTS[request.param](body)


@pytest.fixture
def chat() -> bytes:
    return CHAT


@pytest.fixture
def anthropic_body() -> bytes:
    return ANTHROPIC


@pytest.fixture
def chat_start() -> bytes:
    """What comes before the first pause of ``chat``: enough for two events."""
    return CHAT_START


@pytest.fixture
def reply() -> type[Reply]:
    """The class of the server's answers: tests cannot import it from here."""
    return Reply
