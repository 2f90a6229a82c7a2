"""The libraries that turntape is compared with, each as a function from a body to text and arguments.

All of them read the body from memory, through the transport that their HTTP client brings for tests:
no socket, no server. Each raises ImportError where its library is missing.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    import httpx2
    from benches.inputs import DialectName

Answer: TypeAlias = tuple[str, str]
"""The text and the argument text of a body."""

Peer: TypeAlias = Callable[[], Answer]

_MESSAGES: Any = [{"role": "user", "content": "Hello"}]
_CHAT_MODEL, _ANTHROPIC_MODEL = "gpt-5.2", "claude-sonnet-5"


_HEADERS = {"content-type": "text/event-stream"}


def _reads(body: bytes) -> Iterator[bytes]:
    from benches.inputs import READ_SIZE

    return (body[at : at + READ_SIZE] for at in range(0, len(body), READ_SIZE))


def _client(body: bytes) -> httpx2.Client:
    """An HTTP client that gets this body, in 8 KiB reads, whatever it asks for."""
    import httpx2

    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers=_HEADERS, content=_reads(body), request=request)

    return httpx2.Client(transport=httpx2.MockTransport(answer))


def _async_client(body: bytes) -> httpx2.AsyncClient:
    """The same for clients that wait."""
    import httpx2

    async def reads() -> AsyncIterator[bytes]:
        for read in _reads(body):
            yield read

    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers=_HEADERS, content=reads(), request=request)

    return httpx2.AsyncClient(transport=httpx2.MockTransport(answer))


def official_framing(body: bytes, dialect: DialectName) -> Callable[[], int]:
    """The event framing of the official clients; gives the number of events."""
    package = "openai" if dialect == "openai-chat" else "anthropic"
    streaming = import_module(f"{package}._streaming")
    reads = [body[at : at + 8192] for at in range(0, len(body), 8192)]

    def run() -> int:
        return sum(1 for _ in streaming.SSEDecoder().iter_bytes(iter(reads)))

    return run


def httpx_sse(body: bytes) -> Callable[[], int]:
    """httpx-sse over a response of httpx; gives the number of events."""
    import httpx
    from httpx_sse import EventSource

    def run() -> int:
        response = httpx.Response(200, headers=_HEADERS, content=body)
        return sum(1 for _ in EventSource(response).iter_sse())

    return run


def httpx_sse_orjson(body: bytes, dialect: DialectName) -> Peer:
    """httpx-sse and orjson, and the few lines that a program of its own would add."""
    import httpx
    import orjson
    from httpx_sse import EventSource

    add = _add_chat if dialect == "openai-chat" else _add_anthropic

    def run() -> Answer:
        text: list[str] = []
        arguments: list[str] = []
        response = httpx.Response(200, headers=_HEADERS, content=body)
        for event in EventSource(response).iter_sse():
            if event.data != "[DONE]":
                add(orjson.loads(event.data), text, arguments)
        return "".join(text), "".join(arguments)

    return run


def _add_chat(payload: Any, text: list[str], arguments: list[str]) -> None:
    for choice in payload["choices"]:
        delta = choice["delta"]
        text.append(delta.get("content") or "")
        arguments += [call["function"]["arguments"] for call in delta.get("tool_calls", ())]


def _add_anthropic(payload: Any, text: list[str], arguments: list[str]) -> None:
    if payload["type"] == "content_block_delta":
        delta = payload["delta"]
        text.append(delta.get("text", ""))
        arguments.append(delta.get("partial_json", ""))


def _openai_events(body: bytes) -> Peer:
    """The typed chunks of the official client."""
    from openai import OpenAI

    client = OpenAI(api_key="none", http_client=_client(body), max_retries=0)

    def run() -> Answer:
        text: list[str] = []
        arguments: list[str] = []
        for chunk in client.chat.completions.create(
            model=_CHAT_MODEL, messages=_MESSAGES, stream=True
        ):
            for choice in chunk.choices:
                text.append(choice.delta.content or "")
                arguments += [
                    call.function.arguments or ""
                    for call in choice.delta.tool_calls or ()
                    if call.function is not None
                ]
        return "".join(text), "".join(arguments)

    return run


def _openai_accumulated(body: bytes) -> Peer:
    """The accumulating helper of the official client, fed with its own chunks."""
    from openai import OpenAI
    from openai.lib.streaming.chat import ChatCompletionStreamState

    client = OpenAI(api_key="none", http_client=_client(body), max_retries=0)

    def run() -> Answer:
        state: Any = ChatCompletionStreamState()
        for chunk in client.chat.completions.create(
            model=_CHAT_MODEL, messages=_MESSAGES, stream=True
        ):
            state.handle_chunk(chunk)
        message = state.get_final_completion().choices[0].message
        arguments = (call.function.arguments for call in message.tool_calls or ())
        return message.content or "", "".join(arguments)

    return run


def _anthropic_events(body: bytes) -> Peer:
    """The typed events of the official client."""
    from anthropic import Anthropic

    client = Anthropic(api_key="none", http_client=_client(body), max_retries=0)

    def run() -> Answer:
        text: list[str] = []
        arguments: list[str] = []
        for event in client.messages.create(
            model=_ANTHROPIC_MODEL, messages=_MESSAGES, max_tokens=1024, stream=True
        ):
            if event.type == "content_block_delta":
                if event.delta.type == "text_delta":
                    text.append(event.delta.text)
                elif event.delta.type == "input_json_delta":
                    arguments.append(event.delta.partial_json)
        return "".join(text), "".join(arguments)

    return run


def _anthropic_accumulated(body: bytes) -> Peer:
    """The accumulating helper of the official client."""
    from anthropic import Anthropic

    client = Anthropic(api_key="none", http_client=_client(body), max_retries=0)

    def run() -> Answer:
        with client.messages.stream(
            model=_ANTHROPIC_MODEL, messages=_MESSAGES, max_tokens=1024
        ) as stream:
            message = stream.get_final_message()
        return _anthropic_answer(message)

    return run


def _anthropic_answer(message: Any) -> Answer:
    """This helper keeps parsed arguments, not their text."""
    import json

    text = "".join(block.text for block in message.content if block.type == "text")
    calls = (block.input for block in message.content if block.type == "tool_use")
    return text, "".join(map(json.dumps, calls))


def official(body: bytes, dialect: DialectName, what: Literal["events", "accumulated"]) -> Peer:
    """The client of the dialect's own provider."""
    if dialect == "openai-chat":
        return (_openai_events if what == "events" else _openai_accumulated)(body)
    return (_anthropic_events if what == "events" else _anthropic_accumulated)(body)


def langchain(body: bytes, dialect: DialectName) -> Peer:
    """LangChain's chat model, its message chunks added up."""
    if dialect == "openai-chat":
        from openai import OpenAI

        chat_openai: Any = import_module("langchain_openai").ChatOpenAI

        client = OpenAI(api_key="none", http_client=_client(body), max_retries=0)
        model = chat_openai(model=_CHAT_MODEL, api_key="none", client=client.chat.completions)
    else:
        from anthropic import Anthropic

        chat_anthropic: Any = import_module("langchain_anthropic").ChatAnthropic
        model = chat_anthropic(model=_ANTHROPIC_MODEL, api_key="none", max_tokens=1024)
        # A cached property: it takes no HTTP client as an argument.
        model.__dict__["_client"] = Anthropic(
            api_key="none", http_client=_client(body), max_retries=0
        )

    def run() -> Answer:
        whole = None
        for chunk in model.stream("Hello"):
            whole = chunk if whole is None else whole + chunk
        assert whole is not None
        calls = (call["args"] or "" for call in whole.tool_call_chunks)
        return whole.text, "".join(calls)

    return run


def litellm(body: bytes, dialect: DialectName) -> Peer:
    """LiteLLM's chunks, and its function that builds the answer of them."""
    # Read when the package is imported: else it fetches its list of models and their prices.
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    library: Any = import_module("litellm")
    library.suppress_debug_info = True
    client: Any
    if dialect == "openai-chat":
        from openai import OpenAI

        model = f"openai/{_CHAT_MODEL}"
        client = OpenAI(api_key="none", http_client=_client(body), max_retries=0)
    else:
        import httpx

        model = f"anthropic/{_ANTHROPIC_MODEL}"

        def answer(request: httpx.Request) -> httpx.Response:
            return httpx.Response(200, headers=_HEADERS, content=body, request=request)

        handler: Any = import_module("litellm.llms.custom_httpx.http_handler").HTTPHandler
        client = handler(client=httpx.Client(transport=httpx.MockTransport(answer)))

    def run() -> Answer:
        chunks = list(
            library.completion(
                model=model, messages=_MESSAGES, stream=True, client=client, api_key="none"
            )
        )
        message = library.stream_chunk_builder(chunks).choices[0].message
        arguments = (call.function.arguments for call in message.tool_calls or ())
        return message.content or "", "".join(arguments)

    return run


def pydantic_ai(body: bytes, dialect: DialectName) -> Peer:
    """pydantic-ai's streamed response without an agent: its events, and the response of them."""
    direct: Any = import_module("pydantic_ai.direct")
    messages: Any = import_module("pydantic_ai.messages")
    model: Any
    if dialect == "openai-chat":
        from openai import AsyncOpenAI

        openai = AsyncOpenAI(api_key="none", http_client=_async_client(body), max_retries=0)
        provider = import_module("pydantic_ai.providers.openai").OpenAIProvider(
            openai_client=openai
        )
        chat_model: Any = import_module("pydantic_ai.models.openai").OpenAIChatModel
        model = chat_model(_CHAT_MODEL, provider=provider)
    else:
        from anthropic import AsyncAnthropic

        anthropic = AsyncAnthropic(api_key="none", http_client=_async_client(body), max_retries=0)
        provider = import_module("pydantic_ai.providers.anthropic").AnthropicProvider(
            anthropic_client=anthropic
        )
        model = import_module("pydantic_ai.models.anthropic").AnthropicModel(
            _ANTHROPIC_MODEL, provider=provider
        )
    history = [messages.ModelRequest.user_text_prompt("Hello")]

    async def stream() -> Answer:
        async with direct.model_request_stream(model, history) as events:
            async for _ in events:
                pass
            parts = events.get().parts
        text = "".join(part.content for part in parts if part.part_kind == "text")
        calls = (part.args_as_json_str() for part in parts if part.part_kind == "tool-call")
        return text, "".join(calls)

    # A loop of its own costs no more than one event.
    return lambda: asyncio.run(stream())
