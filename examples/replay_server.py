"""Test a client without a provider: one recorded turn, asked for by three official clients.

The turn was recorded from Chat Completions. Each client calls its own provider's path, and the replay server
says the turn there in that provider's dialect. The last call meets a provider that fails.

    pip install 'turntape[serve]' anthropic openai google-genai
    python examples/replay_server.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anthropic
import openai
from google import genai

from turntape.testing import ReplayServer

RECORDED = Path(__file__).parent / "streams" / "openai-chat.sse"
QUESTION = "When does the ferry to Skerrow leave?"
KEY = "any will do"


def ask_openai(server: ReplayServer) -> None:
    """Stream from Chat Completions: the recorded bytes."""
    client = openai.OpenAI(base_url=server.base_url_for("openai"), api_key=KEY)
    pieces: list[str] = []
    with client.chat.completions.stream(
        model="gpt-demo", messages=[{"role": "user", "content": QUESTION}]
    ) as stream:
        pieces.extend(event.delta for event in stream if event.type == "content.delta")
        calls = stream.get_final_completion().choices[0].message.tool_calls or []
    print("openai      ", "".join(pieces), [call.function.name for call in calls])


def ask_anthropic(server: ReplayServer) -> None:
    """Stream from Anthropic Messages: the same turn in another dialect."""
    client = anthropic.Anthropic(base_url=server.base_url_for("anthropic"), api_key=KEY)
    with client.messages.stream(
        model="claude-demo", max_tokens=500, messages=[{"role": "user", "content": QUESTION}]
    ) as stream:
        message = stream.get_final_message()
    texts = [block.text for block in message.content if block.type == "text"]
    calls = [block.name for block in message.content if block.type == "tool_use"]
    print("anthropic   ", "".join(texts), calls)


def ask_google(server: ReplayServer) -> None:
    """Ask Gemini without a stream."""
    options = genai.types.HttpOptions(base_url=server.base_url_for("google-genai"))
    # Its types are partly unknown.
    client: Any = genai.Client(api_key=KEY, http_options=options)
    response = client.models.generate_content(model="gemini-demo", contents=QUESTION)
    parts = response.candidates[0].content.parts
    texts = [part.text for part in parts if part.text]
    calls = [part.function_call.name for part in parts if part.function_call]
    print("google-genai", "".join(texts), calls)


def fail_openai(server: ReplayServer) -> None:
    """Lose the connection in mid-stream."""
    client = openai.OpenAI(base_url=server.base_url_for("openai"), api_key=KEY, max_retries=0)
    chunks = client.chat.completions.create(
        model="gpt-demo", messages=[{"role": "user", "content": QUESTION}], stream=True
    )
    received = 0
    try:
        for _ in chunks:
            received += 1
    except openai.APIConnectionError:
        print("openai       lost the connection after", received, "chunks")


def main() -> None:
    """Serve the turn, and ask for it."""
    with ReplayServer() as server:
        for name in ("first", "second", "third"):
            server.add(RECORDED, name=name)
        server.add(RECORDED, name="cut", cut_at=5, tempo=10)
        ask_openai(server)
        ask_anthropic(server)
        ask_google(server)
        fail_openai(server)
        print("asked", [f"{request.dialect} {request.turn}" for request in server.requests])


if __name__ == "__main__":
    main()
