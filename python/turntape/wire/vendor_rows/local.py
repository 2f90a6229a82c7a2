"""What runs on the host's own computers."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from turntape.wire.vendor_rows.base import IMITATOR, TEMPLATE_OFF
from turntape.wire.vendors import PLAIN

_LOCAL = replace(IMITATOR, reasoning_back=True, thinking_off=TEMPLATE_OFF)
_CONTINUE = '{"continue_final_message":true,"add_generation_prompt":false}'

ROWS: Final = (
    replace(
        _LOCAL,
        vendor="vllm",
        source="vLLM docs: OpenAI-Compatible Server; Reasoning Outputs",
        max_tokens_member="max_completion_tokens",
        reasoning_fields=("reasoning", "reasoning_content"),
        prefill=True,
        prefill_body=_CONTINUE,
    ),
    replace(
        _LOCAL,
        vendor="sglang",
        hosts=(":30000",),
        source="SGLang docs: OpenAI APIs - Completions",
        max_tokens_member="max_completion_tokens",
        prefill=True,
        prefill_body='{"continue_final_message":true}',
    ),
    replace(
        _LOCAL,
        vendor="llamacpp",
        aliases=("llama.cpp", "llama-cpp", "gpustack"),
        hosts=(":8080",),
        source="llama.cpp: server README",
        prefill=True,
    ),
    replace(
        _LOCAL,
        vendor="ollama",
        aliases=("ollama-cloud",),
        hosts=("ollama.com", ":11434"),
        source="Ollama docs: OpenAI compatibility",
        reasoning_fields=("reasoning",),
        # There the effort "none" does it.
        thinking_off=PLAIN.thinking_off,
        tool_choices=("auto",),
        parallel_tool_calls=False,
        image_url=False,
    ),
    replace(
        _LOCAL,
        vendor="lmstudio",
        aliases=("lm-studio",),
        hosts=(":1234",),
        source="LM Studio docs: OpenAI compatibility endpoints",
        reasoning_fields=("reasoning", "reasoning_content"),
        parallel_tool_calls=False,
        image_url=False,
    ),
    replace(
        _LOCAL,
        vendor="mistralrs",
        source="mistral.rs: HTTP server documentation",
    ),
)
"""One a server."""
