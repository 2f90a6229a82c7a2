"""Decode a response of aiohttp while it comes.

    python examples/with_aiohttp.py [URL]

The URL is that of a server that speaks Anthropic Messages; without one a server on this machine is
started.
"""

from __future__ import annotations

import asyncio
import sys

import aiohttp
from loopback_server import MESSAGES_PATH, server_or

import turntape


async def run(url: str) -> None:
    """Print the turn as it comes: text, then the call of a tool."""
    timeout = aiohttp.ClientTimeout(total=None, sock_read=10)
    async with (
        aiohttp.ClientSession(timeout=timeout) as session,
        session.post(url + MESSAGES_PATH, json={"stream": True}) as response,
    ):
        response.raise_for_status()
        # `iter_any` gives what has arrived. Iterating over `response.content` itself gives lines, and
        # fails on those that are longer than the session's buffer.
        stream = turntape.aiter_events(response.content.iter_any(), turntape.Dialect.ANTHROPIC)
        async for event in stream:
            match event:
                case turntape.TextDelta(text=text):
                    print(text, end="", flush=True)
                case turntape.ToolUseStart(name=name):
                    print(f"\n{name} ", end="")
                case turntape.InputJsonDelta(partial_json=part):
                    print(part, end="", flush=True)
                case turntape.MessageStop(stop_reason=reason):
                    print(f"\n{reason}")
                case _:
                    pass
    for block in stream.snapshot().content:
        if isinstance(block, turntape.ToolUse):
            print(f"call {block.name} with {block.input}")


def main() -> None:
    """Run against a server."""
    with server_or(sys.argv[1:]) as url:
        asyncio.run(run(url))


if __name__ == "__main__":
    main()
