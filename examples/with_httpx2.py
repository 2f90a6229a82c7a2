"""Decode a response of httpx2 while it comes, synchronously and asynchronously.

    python examples/with_httpx2.py [URL]

The URL is that of a server that speaks both dialects; without one a server on this machine is started.
"""

from __future__ import annotations

import asyncio
import sys

import httpx2
from loopback_server import CHAT_PATH, MESSAGES_PATH, server_or

import turntape

TIMEOUT = httpx2.Timeout(10)


def synchronous(url: str) -> None:
    """Print the text as it comes, then the whole turn."""
    with (
        httpx2.Client(timeout=TIMEOUT) as client,
        client.stream("POST", url + CHAT_PATH, json={"stream": True}) as response,
    ):
        response.raise_for_status()
        stream = turntape.iter_events(response.iter_bytes(), turntape.Dialect.OPENAI_CHAT)
        for event in stream:
            if isinstance(event, turntape.TextDelta):
                print(event.text, end="", flush=True)
    message = stream.snapshot()
    print(f"\n{message.stop_reason}, {message.usage}")


async def asynchronous(url: str) -> None:
    """Print every event."""
    async with (
        httpx2.AsyncClient(timeout=TIMEOUT) as client,
        client.stream("POST", url + MESSAGES_PATH, json={"stream": True}) as response,
    ):
        response.raise_for_status()
        async for event in turntape.aiter_events(
            response.aiter_bytes(), turntape.Dialect.ANTHROPIC
        ):
            print(event)


def main() -> None:
    """Run both against one server."""
    with server_or(sys.argv[1:]) as url:
        synchronous(url)
        asyncio.run(asynchronous(url))


if __name__ == "__main__":
    main()
