"""Decode a response of requests while it comes.

    python examples/with_requests.py [URL]

The URL is that of a server that speaks Chat Completions; without one a server on this machine is
started.
"""

from __future__ import annotations

import sys

import requests
from loopback_server import CHAT_PATH, server_or

import turntape


def run(url: str) -> None:
    """Print the text as it comes, then the calls of tools."""
    with requests.post(url + CHAT_PATH, json={"stream": True}, stream=True, timeout=10) as response:
        response.raise_for_status()
        stream = turntape.iter_events(
            response.iter_content(chunk_size=None), turntape.Dialect.OPENAI_CHAT
        )
        try:
            for event in stream:
                if isinstance(event, turntape.TextDelta):
                    print(event.text, end="", flush=True)
        except turntape.StreamError as error:
            # What had come is not lost: it is on the error, and `stream.snapshot()` gives it too.
            sys.exit(f"\nfailed after {error.offset} bytes: {error}\n{error.partial}")
    print()
    for block in stream.snapshot().content:
        if isinstance(block, turntape.ToolUse):
            print(f"call {block.name} with {block.input}")


def main() -> None:
    """Run against a server."""
    with server_or(sys.argv[1:]) as url:
        run(url)


if __name__ == "__main__":
    main()
