"""What rows of several vendors share."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from turntape.wire.vendors import PLAIN

AS_OF: Final = "2026-11-30"
"""When the rows were last checked."""

OPENAI: Final = replace(PLAIN, as_of=AS_OF, developer_role=True)
"""Who serves OpenAI's own models."""

IMITATOR: Final = replace(
    PLAIN, as_of=AS_OF, max_tokens_member="max_tokens", strict=False, prompt_cache_key=False
)
"""What most imitators have in common: the older name of the limit, and none of the newer members."""

THINKING_DISABLED: Final = '{"thinking":{"type":"disabled"}}'
TEMPLATE_OFF: Final = '{"chat_template_kwargs":{"enable_thinking":false}}'
"""How templates of open weights are told, through vLLM, SGLang and llama.cpp."""
