"""The first check of a request's body: the types that the official clients declare for it.

For each dialect the type that its client gives to the arguments of its call, with unknown members forbidden
through the whole tree. Where the API is known to take more than the type says, the exception stands here,
with its reason, and nowhere else.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

from tests.support import shapes, typed

from turntape import Dialect

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["type_faults", "with_bytes"]

# Arguments of the clients' calls that are sent as headers, so that a body never holds them.
_HEADERS = ("betas", "user_profile_id", "workspace_id", "extra_headers")

# Names under which vendors that speak Chat Completions take reasoning back, which OpenAI's types lack.
REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_details", "reasoning_text")


def type_faults(
    dialect: Dialect | str,
    body: Mapping[str, Any],
    *,
    vendor: str | None = None,
    headers: Mapping[str, str] | None = None,
    arguments: Mapping[str, Any] | None = None,
) -> list[str]:
    """Tell where a body is not of its client's type.

    Args:
        dialect: The body's dialect.
        body: The body, as ``json.loads`` gives it.
        vendor: Who gets it, where it speaks Chat Completions with words of its own.
        headers: What is sent beside it; Anthropic's betas have types of their own.
        arguments: For Bedrock, what goes to the client, with bytes for blobs.

    Returns:
        A line for each fault, led by its path.
    """
    match Dialect(dialect):
        case Dialect.ANTHROPIC:
            return _anthropic_faults(body, headers or {})
        case Dialect.OPENAI_CHAT:
            return _chat_faults(body, vendor)
        case Dialect.OPENAI_RESPONSES:
            return _responses_faults(body)
        case Dialect.GEMINI:
            return _gemini_faults(body)
        case Dialect.BEDROCK_CONVERSE:
            return _bedrock_faults(body, arguments)


def _anthropic_faults(body: Mapping[str, Any], headers: Mapping[str, str]) -> list[str]:
    from anthropic.types import message_create_params as plain
    from anthropic.types.beta import message_create_params as beta

    is_beta = any(name.lower() == "anthropic-beta" for name in headers)
    module: Any = beta if is_beta else plain
    expected = (
        module.MessageCreateParamsStreaming
        if body.get("stream")
        else module.MessageCreateParamsNonStreaming
    )
    return _no_headers(body) + typed.faults(body, expected)


# Members of their own that vendors of Chat Completions take, by their documents.
_TEMPLATE = ("chat_template_kwargs",)
_VENDORS_OWN: dict[str, tuple[str, ...]] = {
    "alibaba": ("enable_thinking",),
    "cline": ("reasoning",),
    "deepseek": ("thinking",),
    "llamacpp": _TEMPLATE,
    "lmstudio": _TEMPLATE,
    "mistralrs": _TEMPLATE,
    "moonshot": ("thinking",),
    "nvidia": _TEMPLATE,
    "openrouter": ("reasoning",),
    "sglang": (*_TEMPLATE, "continue_final_message"),
    "snowflake": ("reasoning",),
    "vercel-ai-gateway": ("reasoning",),
    "vllm": (*_TEMPLATE, "continue_final_message", "add_generation_prompt"),
    "volcengine": ("thinking",),
    "zai": ("thinking",),
}
# On a final assistant message, which the model goes on with.
_PREFILL_MEMBERS = {
    "alibaba": "partial",
    "deepseek": "prefix",
    "mistral": "prefix",
    "moonshot": "partial",
}


def _chat_faults(body: Mapping[str, Any], vendor: str | None) -> list[str]:
    from openai.types.chat import completion_create_params as chat

    own = _VENDORS_OWN.get(vendor or "", ())
    bare = {name: value for name, value in body.items() if name not in own}
    if vendor == "mistral" and body.get("tool_choice") == "any":
        bare["tool_choice"] = "required"
    more = {*REASONING_FIELDS, _PREFILL_MEMBERS.get(vendor or "")}
    bare["messages"] = [_without(message, more) for message in body.get("messages", ())]
    expected = (
        chat.CompletionCreateParamsStreaming
        if body.get("stream")
        else chat.CompletionCreateParamsNonStreaming
    )
    return _no_headers(body) + typed.faults(bare, expected)


def _without(message: Any, names: set[str | None]) -> Any:
    if not isinstance(message, dict) or message.get("role") != "assistant":
        return message
    return {name: value for name, value in message.items() if name not in names}


def _responses_faults(body: Mapping[str, Any]) -> list[str]:
    from openai.types.responses import response_create_params as responses

    expected = (
        responses.ResponseCreateParamsStreaming
        if body.get("stream")
        else responses.ResponseCreateParamsNonStreaming
    )
    return _no_headers(body) + typed.faults(body, expected)


def _no_headers(body: Mapping[str, Any]) -> list[str]:
    return [f"$.{name}: this is sent as a header" for name in _HEADERS if name in body]


def _gemini_faults(body: Mapping[str, Any]) -> list[str]:
    from google.genai import types

    # Google's client has types for the parts of a body and none for the whole.
    parts: dict[str, Any] = {
        "contents": list[types.Content],
        "systemInstruction": types.Content,
        "tools": list[types.Tool],
        "toolConfig": types.ToolConfig,
        "safetySettings": list[types.SafetySetting],
        "generationConfig": types.GenerationConfig,
        "cachedContent": str,
    }
    found = [] if "contents" in body else ["$: contents is missing"]
    for name, value in body.items():
        at = f"$.{name}"
        known = parts.get(name)
        found += [f"{at}: no such member"] if known is None else typed.faults(value, known, at)
    return found


def _bedrock_faults(body: Mapping[str, Any], arguments: Mapping[str, Any] | None) -> list[str]:
    from botocore.validate import ParamValidator

    given = dict(arguments) if arguments is not None else with_bytes(body)
    given.setdefault("modelId", "m")
    shape = shapes.operation("ConverseStream").input_shape
    report = ParamValidator().validate(given, shape)
    own = [report.generate_report()] if report.has_errors() else []
    return own + shapes.faults(given, shape)


def with_bytes(body: Mapping[str, Any]) -> dict[str, Any]:
    """Give a body of Bedrock's as its client takes it: blobs as bytes, found by the shapes."""
    import base64

    def convert(value: Any, shape: Any) -> Any:
        if getattr(shape, "is_document_type", False):
            return value
        if shape.type_name == "blob" and isinstance(value, str):
            return base64.b64decode(value, validate=True)
        if shape.type_name == "list" and isinstance(value, list):
            return [convert(entry, shape.member) for entry in value]
        if shape.type_name == "structure" and isinstance(value, dict):
            return {
                name: convert(of, shape.members[name]) if name in shape.members else of
                for name, of in value.items()
            }
        return value

    converted: dict[str, Any] = convert(
        deepcopy(dict(body)), shapes.operation("ConverseStream").input_shape
    )
    return converted
