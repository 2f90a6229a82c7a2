"""Have the official openai client decode with turntape.

    python examples/with_openai_client.py [URL]

The URL is that of a server that speaks Chat Completions; without one a server on this machine is
started.
"""

from __future__ import annotations

import sys

import openai
from loopback_server import server_or

from turntape.wire.official import use_turntape


def main() -> None:
    """Print the text as it comes."""
    with (
        server_or(sys.argv[1:]) as url,
        openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0, timeout=10) as client,
    ):
        # From here on the client splits its streams with turntape; all else is as before.
        use_turntape(client)
        with client.chat.completions.create(
            model="tidal-1",
            messages=[{"role": "user", "content": "How high is the tide?"}],
            stream=True,
        ) as stream:
            for chunk in stream:
                for choice in chunk.choices:
                    print(choice.delta.content or "", end="", flush=True)
                    for call in choice.delta.tool_calls or ():
                        if call.function is not None:
                            if call.function.name:
                                print(f"\n{call.function.name} ", end="")
                            print(call.function.arguments or "", end="", flush=True)
        print()


if __name__ == "__main__":
    main()
