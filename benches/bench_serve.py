"""The replay server: requests per second over connections that are kept, and what it adds to its framework.

The ratio is to a Starlette application on the same server that sends the same bytes and looks at nothing. The
rates are those of this process, in which the clients run too.
"""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING

import pytest
from benches import inputs
from benches.ratio import Target
from tests.support.http import ASKED, PATHS, connected, request_bytes

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator

    from benches.conftest import Meter

pytest.importorskip("uvicorn")
pytest.importorskip("starlette")

from starlette.applications import Starlette
from starlette.requests import Request  # noqa: TC002 (the framework looks at the annotation)
from starlette.responses import StreamingResponse
from starlette.routing import Route

from turntape.serving.application import Application
from turntape.serving.library import TurnLibrary
from turntape.serving.server import ServerThread
from turntape.serving.turns import turn_of

RATE = Target(unit="/s")
END = b"0\r\n\r\n"
CLIENTS = 50
SECONDS = 3.0

TURNS: dict[str, tuple[inputs.DialectName, inputs.DialectName]] = {
    "recorded Chat, as recorded": ("openai-chat", "openai-chat"),
    "recorded Chat as Anthropic": ("openai-chat", "anthropic"),
    "recorded Chat as Responses": ("openai-chat", "openai-responses"),
    "recorded Anthropic as Gemini": ("anthropic", "gemini"),
}


def exchange(connection: socket.socket, request: bytes) -> int:
    """Sends a request and reads its stream to the end; how many bytes came."""
    connection.sendall(request)
    size = 0
    while True:
        piece = connection.recv(1 << 20)
        assert piece
        size += len(piece)
        if piece.endswith(END):
            return size


def asked(dialect: str) -> bytes:
    stream = {} if dialect == "gemini" else {"stream": True}
    return request_bytes(PATHS[dialect, True], json.dumps({**ASKED[dialect], **stream}).encode())


@pytest.fixture(scope="module")
def served() -> Iterator[Callable[[inputs.DialectName], str]]:
    """The URL of a server that serves the standard stream of a dialect again and again."""
    threads: dict[str, ServerThread] = {}

    def served(dialect: inputs.DialectName) -> str:
        if dialect not in threads:
            turn = turn_of("turn", inputs.make(dialect).body)
            threads[dialect] = ServerThread(Application(TurnLibrary([turn], loop=True)))
        return threads[dialect].url

    yield served
    for thread in threads.values():
        thread.stop()


class Bare:
    """The framework alone: a path, and a body that is sent as a stream."""

    def __init__(self, body: bytes) -> None:
        async def answer(request: Request) -> StreamingResponse:
            await request.body()
            return StreamingResponse(iter([body]), media_type="text/event-stream")

        self.asgi = Starlette(routes=[Route(PATHS["openai-chat", True], answer, methods=["POST"])])

    def break_off(self) -> None:
        """Nothing is ever under way when it is stopped."""


@pytest.mark.parametrize("what", TURNS)
def test_requests_per_second(
    meter: Meter, served: Callable[[inputs.DialectName], str], what: str
) -> None:
    recorded, spoken = TURNS[what]
    url, request = served(recorded), asked(spoken)

    def rate() -> float:
        return asyncio.run(_load(url, request, CLIENTS, SECONDS if meter.timing else 0.01))

    with connected(url) as connection:
        size = exchange(connection, request)
    note = f"{CLIENTS} connections, {size:,} bytes each"
    meter.note(f"served: {what}", meter.once(rate), RATE, note)


def test_beside_the_framework_alone(
    meter: Meter, served: Callable[[inputs.DialectName], str]
) -> None:
    body = inputs.make("openai-chat").body
    request = asked("openai-chat")
    bare = ServerThread(Bare(body))
    try:
        with connected(served("openai-chat")) as ours, connected(bare.url) as theirs:
            meter.compare(
                "served: the replay server beside bare Starlette",
                lambda: exchange(ours, request),
                lambda: exchange(theirs, request),
                Target(),
            )
    finally:
        bare.stop()


async def _load(url: str, request: bytes, clients: int, seconds: float) -> float:
    """Requests per second of so many clients, each on a connection of its own."""
    host, _, port = url.removeprefix("http://").rpartition(":")
    end = time.perf_counter() + seconds

    async def client() -> int:
        reader, writer = await asyncio.open_connection(host, int(port), limit=1 << 24)
        count = 0
        while time.perf_counter() < end or not count:
            writer.write(request)
            await reader.readuntil(b"\r\n" + END)
            count += 1
        writer.close()
        await writer.wait_closed()
        return count

    start = time.perf_counter()
    counts = await asyncio.gather(*(client() for _ in range(clients)))
    return sum(counts) / (time.perf_counter() - start)
