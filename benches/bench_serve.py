"""The replay server: requests per second over connections that are kept, and what it adds to its framework.

The rates are of the command as a process of its own, its log included; the clients run here. The ratio is to a
Starlette application on the same server that sends the same bytes and looks at nothing.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
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

STREAMS = Path(__file__).parents[1] / "examples" / "streams"

TURNS = {
    "a recorded turn, as recorded": ("openai-chat.sse", "openai-chat"),
    "the same as Anthropic": ("openai-chat.sse", "anthropic"),
    "the same as Responses": ("openai-chat.sse", "openai-responses"),
    "the same as Gemini": ("openai-chat.sse", "gemini"),
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
def served() -> Iterator[Callable[[str], str]]:
    """The URL of the command that serves a recording again and again."""
    urls: dict[str, str] = {}
    with ExitStack() as stack:

        def served(name: str) -> str:
            if name not in urls:
                command = [sys.executable, "-m", "turntape", "serve", str(STREAMS / name)]
                process = stack.enter_context(
                    subprocess.Popen(  # noqa: S603 (this interpreter, on this package)
                        [*command, "--loop", "--tempo", "0", "--port", "0"],
                        stdout=subprocess.PIPE,
                        stderr=subprocess.DEVNULL,
                        encoding="utf-8",
                    )
                )
                stack.callback(process.terminate)
                assert process.stdout is not None
                urls[name] = process.stdout.readline().strip()
            return urls[name]

        yield served


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
def test_requests_per_second(meter: Meter, served: Callable[[str], str], what: str) -> None:
    recorded, spoken = TURNS[what]
    url, request = served(recorded), asked(spoken)

    def rate() -> float:
        return asyncio.run(_load(url, request, CLIENTS, SECONDS if meter.timing else 0.01))

    with connected(url) as connection:
        size = exchange(connection, request)
    note = f"{CLIENTS} connections, {size:,} bytes an answer"
    meter.note(f"served: {what}", meter.once(rate), RATE, note)


def test_beside_the_framework_alone(meter: Meter) -> None:
    body = (STREAMS / "openai-chat.sse").read_bytes()
    request = asked("openai-chat")
    library = TurnLibrary([turn_of("turn", body)], loop=True)
    replay, bare = ServerThread(Application(library)), ServerThread(Bare(body))
    try:
        with connected(replay.url) as ours, connected(bare.url) as theirs:
            meter.compare(
                "served: the replay server beside bare Starlette",
                lambda: exchange(ours, request),
                lambda: exchange(theirs, request),
                Target(),
            )
    finally:
        replay.stop()
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
