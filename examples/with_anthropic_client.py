"""Have the official anthropic client decode with turntape.

    python examples/with_anthropic_client.py [URL]

The URL is that of a server that speaks Anthropic Messages; without one a server on this machine is
started.
"""

from __future__ import annotations

import asyncio
import sys

import anthropic
from loopback_server import server_or

from turntape.wire.official import use_turntape


async def run(url: str) -> None:
    """Print the text as it comes, then the message that the client made of it."""
    async with anthropic.AsyncAnthropic(
        base_url=url, api_key="none", max_retries=0, timeout=10
    ) as client:
        # From here on the client splits its streams with turntape; all else is as before.
        use_turntape(client)
        async with client.messages.stream(
            model="tidal-1",
            max_tokens=100,
            messages=[{"role": "user", "content": "How high is the tide?"}],
        ) as stream:
            async for text in stream.text_stream:
                print(text, end="", flush=True)
            message = await stream.get_final_message()
    print()
    for block in message.content:
        if block.type == "tool_use":
            print(f"call {block.name} with {block.input}")


def main() -> None:
    """Run against a server."""
    with server_or(sys.argv[1:]) as url:
        asyncio.run(run(url))


if __name__ == "__main__":
    main()
