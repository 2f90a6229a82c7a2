"""A server on this machine that answers like a provider: in small pieces, with pauses between them.

The other examples start it for themselves. To keep it running, for `curl -N` or an example that is
given its URL:

    python examples/loopback_server.py
"""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Generator

CHAT_PATH = "/v1/chat/completions"
MESSAGES_PATH = "/v1/messages"

# Pieces end anywhere: within a line end, a character, a JSON string.
PIECE_BYTES = 37
PAUSE_SECONDS = 0.01

WORDS = (
    "The ",
    "tide ",
    "in ",
    "Saint-Malo ",
    "rises ",
    "by ",
    "up ",
    "to ",
    "12 ",
    "mètres ",
    "🌊.",
)


def chat_body() -> bytes:
    """A turn as Chat Completions streams it."""
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas.extend({"content": word} for word in WORDS)
    call = {"index": 0, "id": "call_1", "type": "function"}
    function = {"name": "tide_table", "arguments": ""}
    deltas.append({"tool_calls": [{**call, "function": function}]})
    deltas.extend(
        {"tool_calls": [{"index": 0, "function": {"arguments": part}}]}
        for part in ('{"port": "Saint', '-Malo", "days"', ": 2}")
    )
    common = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": "tidal-1",
    }

    def chunk(delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
        return {**common, "choices": [choice]}

    usage = {"prompt_tokens": 21, "completion_tokens": 34, "total_tokens": 55}
    payloads: list[dict[str, Any]] = [
        *map(chunk, deltas),
        chunk({}, "tool_calls"),
        {**common, "choices": [], "usage": usage},
    ]
    lines = [json.dumps(payload, ensure_ascii=False) for payload in payloads]
    return "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"]).encode()


def messages_body() -> bytes:
    """The same turn as Anthropic Messages streams it."""
    message: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "tidal-1",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 21, "output_tokens": 1},
    }
    text: dict[str, Any] = {"type": "text", "text": ""}
    call: dict[str, Any] = {"type": "tool_use", "id": "toolu_1", "name": "tide_table", "input": {}}
    stop: dict[str, Any] = {"stop_reason": "tool_use", "stop_sequence": None}
    payloads: list[dict[str, Any]] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": text},
        {"type": "ping"},
        *(
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "text_delta", "text": word},
            }
            for word in WORDS
        ),
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": call},
        *(
            {
                "type": "content_block_delta",
                "index": 1,
                "delta": {"type": "input_json_delta", "partial_json": part},
            }
            for part in ('{"port": "Saint', '-Malo", "days"', ": 2}")
        ),
        {"type": "content_block_stop", "index": 1},
        {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 34}},
        {"type": "message_stop"},
    ]
    return "".join(
        f"event: {payload['type']}\ndata: {json.dumps(payload, ensure_ascii=False)}\n\n"
        for payload in payloads
    ).encode()


class Handler(BaseHTTPRequestHandler):
    """Answers every request with the stream of the path's dialect, in HTTP chunks."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Answer."""
        self.rfile.read(int(self.headers.get("content-length", "0")))
        body = messages_body() if self.path.endswith("/messages") else chat_body()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for start in range(0, len(body), PIECE_BYTES):
            piece = body[start : start + PIECE_BYTES]
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            time.sleep(PAUSE_SECONDS)
        self.wfile.write(b"0\r\n\r\n")

    def do_GET(self) -> None:
        """Answer in the same way, for a look with `curl`."""
        self.do_POST()

    # `typing.override` is not in Python 3.11 yet.
    def log_message(
        self,
        format: str,  # noqa: A002 (the base's name for it)
        *args: object,
    ) -> None:
        """Keep the output to the examples."""


@contextmanager
def loopback_server() -> Generator[str]:
    """Run the server; give its base URL, such as ``http://127.0.0.1:50123``."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def server_or(arguments: list[str]) -> Generator[str]:
    """Give the base URL that is the script's argument, else that of a server run meanwhile."""
    if arguments:
        yield arguments[0].rstrip("/")
    else:
        with loopback_server() as url:
            yield url


def main() -> None:
    """Run the server until it is interrupted."""
    with loopback_server() as url:
        print(f"curl -N {url}{CHAT_PATH}")
        print(f"curl -N {url}{MESSAGES_PATH}")
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            print()


if __name__ == "__main__":
    main()
