"""Real clients, asked for one turn: what each of them makes of what it is sent."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import turntape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

KEY = "not a key"
QUESTION = "What does the keeper say?"
TOOLS: dict[str, Any] = {
    "look_up": {"type": "object", "properties": {"place": {"type": "string"}}},
    "ring": {"type": "object", "properties": {"bells": {"type": "integer"}}},
}
# No client waits longer: it bounds a test that would hang.
PATIENCE = 30


@dataclass(frozen=True)
class Heard:
    """A turn as a client has it.

    Attributes:
        text: The text, all of it.
        reasoning: The reasoning that is shown, all of it.
        calls: Of each call the name and the arguments.
        ids: The ids of the calls.
        usage: Prompt tokens, those from a cache included, and generated ones.
        cached: Prompt tokens from a cache.
    """

    text: str
    reasoning: str
    calls: tuple[tuple[str, Any], ...]
    ids: tuple[str | None, ...]
    usage: tuple[int, int]
    cached: int


def heard_by_turntape(message: turntape.AssistantMessage) -> Heard:
    assert message.complete
    usage = message.usage or turntape.Usage()
    calls = [block for block in message.content if isinstance(block, turntape.ToolUse)]
    return Heard(
        "".join(block.text for block in message.content if isinstance(block, turntape.Text)),
        "".join(block.text for block in message.content if isinstance(block, turntape.Thinking)),
        tuple((call.name, call.input) for call in calls),
        tuple(call.id for call in calls),
        (
            usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens,
            usage.output_tokens,
        ),
        usage.cache_read_tokens,
    )


# The official clients ------------------------------------------------------------------------------


def openai_chat(base_url: str, *, stream: bool) -> Heard:
    import openai

    ask: dict[str, Any] = {
        "model": "gpt-demo",
        "messages": [{"role": "user", "content": QUESTION}],
        "tools": [
            {"type": "function", "function": {"name": name, "parameters": schema}}
            for name, schema in TOOLS.items()
        ],
    }
    with openai.OpenAI(base_url=base_url, api_key=KEY, max_retries=0, timeout=PATIENCE) as client:
        if not stream:
            return _of_chat(client.chat.completions.create(**ask))
        ask["stream_options"] = {"include_usage": True}
        with client.chat.completions.stream(**ask) as events:
            for _ in events:
                pass
            return _of_chat(events.get_final_completion())


def _of_chat(completion: Any) -> Heard:
    """What a completion says: OpenAI's own, or LiteLLM's, which has the same members."""
    [choice] = completion.choices
    message, usage = choice.message, completion.usage
    calls = message.tool_calls or ()
    details = usage.prompt_tokens_details
    return Heard(
        message.content or "",
        getattr(message, "reasoning_content", None) or "",
        tuple((call.function.name, json.loads(call.function.arguments or "{}")) for call in calls),
        tuple(call.id for call in calls),
        (usage.prompt_tokens, usage.completion_tokens),
        (details and details.cached_tokens) or 0,
    )


def openai_responses(base_url: str, *, stream: bool) -> Heard:
    import openai

    ask: dict[str, Any] = {
        "model": "gpt-demo",
        "input": QUESTION,
        "tools": [
            {"type": "function", "name": name, "parameters": schema, "strict": False}
            for name, schema in TOOLS.items()
        ],
    }
    with openai.OpenAI(base_url=base_url, api_key=KEY, max_retries=0, timeout=PATIENCE) as client:
        if not stream:
            return _of_response(client.responses.create(**ask))
        with client.responses.stream(**ask) as events:
            for _ in events:
                pass
            return _of_response(events.get_final_response())


def _of_response(response: Any) -> Heard:
    reasoning = ""
    for item in response.output:
        if item.type == "reasoning":
            reasoning += "".join(part.text for part in [*item.summary, *(item.content or ())])
    calls = [item for item in response.output if item.type == "function_call"]
    usage = response.usage
    return Heard(
        response.output_text,
        reasoning,
        tuple((call.name, json.loads(call.arguments or "{}")) for call in calls),
        tuple(call.call_id for call in calls),
        (usage.input_tokens, usage.output_tokens),
        usage.input_tokens_details.cached_tokens,
    )


def anthropic(base_url: str, *, stream: bool) -> Heard:
    import anthropic

    ask: dict[str, Any] = {
        "model": "claude-demo",
        "max_tokens": 1024,
        "messages": [{"role": "user", "content": QUESTION}],
        "tools": [{"name": name, "input_schema": schema} for name, schema in TOOLS.items()],
    }
    client = anthropic.Anthropic(base_url=base_url, api_key=KEY, max_retries=0, timeout=PATIENCE)
    with client:
        if not stream:
            return _of_anthropic(client.messages.create(**ask))
        with client.messages.stream(**ask) as events:
            for _ in events:
                pass
            return _of_anthropic(events.get_final_message())


def _of_anthropic(message: Any) -> Heard:
    usage = message.usage
    cached = usage.cache_read_input_tokens or 0
    calls = [block for block in message.content if block.type == "tool_use"]
    return Heard(
        "".join(block.text for block in message.content if block.type == "text"),
        "".join(block.thinking for block in message.content if block.type == "thinking"),
        tuple((call.name, call.input) for call in calls),
        tuple(call.id for call in calls),
        (
            usage.input_tokens + cached + (usage.cache_creation_input_tokens or 0),
            usage.output_tokens,
        ),
        cached,
    )


def google_genai(base_url: str, *, stream: bool) -> Heard:
    from google import genai
    from google.genai import types

    options = types.HttpOptions(base_url=base_url, timeout=PATIENCE * 1000)
    client = genai.Client(api_key=KEY, http_options=options)
    declarations = [
        types.FunctionDeclaration(name=name, parameters_json_schema=schema)
        for name, schema in TOOLS.items()
    ]
    config = types.GenerateContentConfig(
        tools=[types.Tool(function_declarations=declarations)],
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    ask: dict[str, Any] = {"model": "gemini-demo", "contents": QUESTION, "config": config}
    try:
        if stream:
            return _of_gemini(client.models.generate_content_stream(**ask))
        return _of_gemini([client.models.generate_content(**ask)])
    finally:
        client.close()


def _of_gemini(responses: Iterable[Any]) -> Heard:
    parts: list[Any] = []
    usage: Any = None
    for response in responses:
        usage = response.usage_metadata or usage
        for candidate in response.candidates or ():
            parts += (candidate.content and candidate.content.parts) or ()
    calls = [part.function_call for part in parts if part.function_call]
    return Heard(
        "".join(part.text for part in parts if part.text and not part.thought),
        "".join(part.text for part in parts if part.text and part.thought),
        tuple((call.name, call.args or {}) for call in calls),
        tuple(call.id for call in calls),
        (
            usage.prompt_token_count,
            (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0),
        ),
        usage.cached_content_token_count or 0,
    )


# Those of others -----------------------------------------------------------------------------------


def _litellm(model: str) -> Callable[..., Heard]:
    def ask(base_url: str, *, stream: bool) -> Heard:
        # Its types are only partly known.
        litellm: Any = import_module("litellm")
        litellm.suppress_debug_info = True
        messages = [{"role": "user", "content": QUESTION}]
        options: dict[str, Any] = {
            "model": model,
            "api_base": base_url,
            "api_key": KEY,
            "timeout": PATIENCE,
            "max_retries": 0,
            "tools": [
                {"type": "function", "function": {"name": name, "parameters": schema}}
                for name, schema in TOOLS.items()
            ],
        }
        if not stream:
            return _of_chat(litellm.completion(messages=messages, **options))
        options["stream_options"] = {"include_usage": True}
        chunks = list(litellm.completion(messages=messages, stream=True, **options))
        return _of_chat(litellm.stream_chunk_builder(chunks, messages=messages))

    return ask


def _pydantic_ai(kind: str) -> Callable[..., Heard]:
    def ask(base_url: str, *, stream: bool) -> Heard:
        import httpx2
        from pydantic_ai.direct import model_request, model_request_stream
        from pydantic_ai.messages import ModelRequest
        from pydantic_ai.models import ModelRequestParameters
        from pydantic_ai.tools import ToolDefinition

        tools = [
            ToolDefinition(name=name, parameters_json_schema=schema)
            for name, schema in TOOLS.items()
        ]
        parameters = ModelRequestParameters(function_tools=tools)
        messages: Any = [ModelRequest.user_text_prompt(QUESTION)]

        async def request() -> Any:
            # A client of its own, because the one that it keeps belongs to the event loop before.
            async with httpx2.AsyncClient(trust_env=False, timeout=PATIENCE) as http_client:
                model = _pydantic_ai_model(kind, base_url, http_client)
                if not stream:
                    return await model_request(model, messages, model_request_parameters=parameters)
                async with model_request_stream(
                    model, messages, model_request_parameters=parameters
                ) as events:
                    async for _ in events:
                        pass
                    return events.get()

        return _of_pydantic_ai(asyncio.run(request()))

    return ask


def _pydantic_ai_model(kind: str, base_url: str, http_client: Any) -> Any:
    match kind:
        case "anthropic":
            from pydantic_ai.models.anthropic import AnthropicModel
            from pydantic_ai.providers.anthropic import AnthropicProvider

            anthropic = AnthropicProvider(base_url=base_url, api_key=KEY, http_client=http_client)
            return AnthropicModel("claude-demo", provider=anthropic)
        case "google":
            from pydantic_ai.models.google import GoogleModel
            from pydantic_ai.providers.google import GoogleProvider

            google = GoogleProvider(base_url=base_url, api_key=KEY, http_client=http_client)
            return GoogleModel("gemini-demo", provider=google)
        case _:
            from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
            from pydantic_ai.providers.openai import OpenAIProvider

            openai = OpenAIProvider(base_url=base_url, api_key=KEY, http_client=http_client)
            cls = OpenAIChatModel if kind == "openai-chat" else OpenAIResponsesModel
            return cls("gpt-demo", provider=openai)


def _of_pydantic_ai(response: Any) -> Heard:
    def text(kind: str) -> str:
        return "".join(part.content for part in response.parts if part.part_kind == kind)

    calls = [part for part in response.parts if part.part_kind == "tool-call"]
    usage = response.usage
    return Heard(
        text("text"),
        text("thinking"),
        tuple((call.tool_name, call.args_as_dict()) for call in calls),
        tuple(call.tool_call_id for call in calls),
        (usage.input_tokens, usage.output_tokens),
        usage.cache_read_tokens,
    )


@dataclass(frozen=True)
class Client:
    """A client of a wire.

    Attributes:
        module: What has to be installed for it.
        dialect: How it wants to be answered.
        base: For whom its base URL is made, as ``ReplayServer.base_url_for`` names them.
        ask: Asks at a base URL, streaming or not.
    """

    module: str
    dialect: turntape.Dialect
    base: str
    ask: Callable[..., Heard]

    @property
    def is_official(self) -> bool:
        """Whether the provider itself makes it."""
        return self.module in {"anthropic", "google.genai", "openai"}


_ANTHROPIC = turntape.Dialect.ANTHROPIC
_CHAT = turntape.Dialect.OPENAI_CHAT
_RESPONSES = turntape.Dialect.OPENAI_RESPONSES
_GEMINI = turntape.Dialect.GEMINI

CLIENTS: dict[str, Client] = {
    "anthropic": Client("anthropic", _ANTHROPIC, "anthropic", anthropic),
    "openai, Chat": Client("openai", _CHAT, "openai", openai_chat),
    "openai, Responses": Client("openai", _RESPONSES, "openai", openai_responses),
    "google-genai": Client("google.genai", _GEMINI, "google-genai", google_genai),
    "LiteLLM, Anthropic": Client(
        "litellm", _ANTHROPIC, "anthropic", _litellm("anthropic/claude-demo")
    ),
    "LiteLLM, Chat": Client("litellm", _CHAT, "openai", _litellm("openai/gpt-demo")),
    "LiteLLM, Responses": Client(
        "litellm", _RESPONSES, "openai", _litellm("openai/responses/gpt-demo")
    ),
    "LiteLLM, Gemini": Client("litellm", _GEMINI, "google-genai", _litellm("gemini/gemini-demo")),
    "pydantic-ai, Anthropic": Client(
        "pydantic_ai", _ANTHROPIC, "anthropic", _pydantic_ai("anthropic")
    ),
    "pydantic-ai, Chat": Client("pydantic_ai", _CHAT, "openai", _pydantic_ai("openai-chat")),
    "pydantic-ai, Responses": Client(
        "pydantic_ai", _RESPONSES, "openai", _pydantic_ai("openai-responses")
    ),
    "pydantic-ai, Gemini": Client("pydantic_ai", _GEMINI, "google-genai", _pydantic_ai("google")),
}
