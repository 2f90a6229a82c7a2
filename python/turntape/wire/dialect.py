"""The dialects: how providers speak."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Dialect"]


class Dialect(StrEnum):
    """A provider's way of speaking, which imitators share."""

    ANTHROPIC = "anthropic"
    """Anthropic Messages, ``POST /v1/messages``."""
    OPENAI_CHAT = "openai-chat"
    """OpenAI Chat Completions, ``POST /v1/chat/completions``, spoken by most other vendors too."""
    OPENAI_RESPONSES = "openai-responses"
    """OpenAI Responses, ``POST /v1/responses``."""
    GEMINI = "gemini"
    """Gemini, ``streamGenerateContent``."""
    BEDROCK_CONVERSE = "bedrock-converse"
    """Amazon Bedrock, ``ConverseStream``."""

    @classmethod
    def for_model(cls, model: str) -> Dialect:
        """Guess the dialect from a model's id.

        Args:
            model: The id, as a request names it.

        Returns:
            Anthropic for an id that starts with ``claude`` or contains ``anthropic``, in any case; OpenAI
            Chat Completions for every other.

        >>> Dialect.for_model("claude-sonnet-5")
        <Dialect.ANTHROPIC: 'anthropic'>
        >>> Dialect.for_model("gpt-5.2")
        <Dialect.OPENAI_CHAT: 'openai-chat'>
        """
        folded = model.lower()
        if folded.startswith("claude") or "anthropic" in folded:
            return cls.ANTHROPIC
        return cls.OPENAI_CHAT

    def endpoint_path(self, model: str = "{model}") -> str:
        """The path of a streaming request in this dialect, below the provider's base URL.

        Args:
            model: The model's id, which Gemini and Bedrock carry in the path. It is put in as it is.

        >>> Dialect.ANTHROPIC.endpoint_path()
        '/v1/messages'
        >>> Dialect.GEMINI.endpoint_path("gemini-3-pro")
        '/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse'
        """
        return _ENDPOINT_PATHS[self].replace("{model}", model)


_ENDPOINT_PATHS = {
    Dialect.ANTHROPIC: "/v1/messages",
    Dialect.OPENAI_CHAT: "/v1/chat/completions",
    Dialect.OPENAI_RESPONSES: "/v1/responses",
    Dialect.GEMINI: "/v1beta/models/{model}:streamGenerateContent?alt=sse",
    Dialect.BEDROCK_CONVERSE: "/model/{model}/converse-stream",
}
