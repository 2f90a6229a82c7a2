"""Send what one provider said to all the others.

    python examples/replay_to_another_provider.py

A turn of Claude's with a call, decoded from a recorded stream, is answered by its tool and becomes the
history of a request to each provider. Nothing is sent: the bodies are printed, and what was changed.
"""

from __future__ import annotations

from pathlib import Path

import turntape
from turntape import Message, ModelRequest, ToolDef, ToolResult, ToolUse

STREAM = Path(__file__).parent / "streams" / "anthropic.sse"

MODELS = {
    "anthropic": "claude-sonnet-5",
    "openai-chat": "gpt-5.2",
    "openai-responses": "gpt-5.2",
    "gemini": "gemini-3-pro-preview",
    "bedrock-converse": "us.anthropic.claude-opus-4-7-v1:0",
}


def history() -> list[Message]:
    """The question, the recorded turn, and the answers of its tools."""
    turn = turntape.decode_message(STREAM.read_bytes(), "anthropic").to_message()
    calls = [block for block in turn.content if isinstance(block, ToolUse)]
    answers = [ToolResult(call.id, "Next ferry at 14:05.") for call in calls]
    return [Message.user("When does the ferry leave?"), turn, Message.user(answers)]


def main() -> None:
    """Print the body for each provider, shortened, and the notes."""
    messages = history()
    names = {
        block.name for message in messages for block in message.content if block.type == "tool_use"
    }
    tools = [ToolDef(name, "Looks up.", {"type": "object"}) for name in sorted(names)]
    for dialect, model in MODELS.items():
        request = ModelRequest(model, messages, tools=tools, max_tokens=1000)
        built = turntape.build_request(request, dialect)
        print(f"POST {built.path}")
        print(built.to_json().decode()[:160], "...")
        for note in built.notes:
            where = "" if note.index is None else f", message {note.index}"
            print(f"  {note.code}{where}: {note.detail}")
        print()


if __name__ == "__main__":
    main()
