"""The tables of models and vendors as the documentation shows them.

``python -m tests.support.tables`` writes them into ``docs/capabilities.md``; a test compares.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from turntape import CAPABILITIES, VENDORS
from turntape.wire.vendors import PLAIN

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from turntape import Capabilities, VendorHabits

PAGE = Path(__file__).parents[2] / "docs" / "capabilities.md"


def rendered(page: str) -> str:
    """Give the page with both tables as the data has them."""
    for name, lines in (("models", models()), ("vendors", vendors())):
        pattern = rf"(<!-- {name} -->\n).*?(\n<!-- end of {name} -->)"
        table = "\n".join(lines).replace("\\", r"\\")
        page, count = re.subn(pattern, rf"\g<1>\n{table}\n\g<2>", page, flags=re.DOTALL)
        assert count == 1, f"the page has no place for the table of {name}"
    return page


def models() -> list[str]:
    """Give the lines of the table of models."""
    return _checked(CAPABILITIES.rows) + _table(
        ("family", "maker", "came out", "thinking", "efforts", "thinking off", "refused"),
        (
            (
                _code(row.family),
                row.maker,
                row.released,
                _thinking(row),
                _span(row.efforts),
                _off(row),
                ", ".join(_refused(row)),
            )
            for row in CAPABILITIES.rows
        ),
    )


def vendors() -> list[str]:
    """Give the lines of the table of vendors."""
    return _checked(VENDORS) + _table(
        ("vendor", "the limit", "reasoning back as", "what else differs"),
        (
            (
                _code(row.vendor),
                _code(row.max_tokens_member),
                ", ".join(map(_code, row.reasoning_fields)) if row.reasoning_back else "",
                ", ".join(_differences(row)),
            )
            for row in VENDORS
        ),
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(line) + " |" for line in lines]


def _checked(rows: Iterable[Capabilities | VendorHabits]) -> list[str]:
    dates = sorted({row.as_of for row in rows})
    return [f"Checked on {', '.join(dates)}.", ""]


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def _span(words: Sequence[str]) -> str:
    return ", ".join(words)


def _thinking(row: Capabilities) -> str:
    ways = ", ".join(row.thinking)
    if row.budget_range is None:
        return ways
    least, most = row.budget_range
    return ways.replace("budget", f"budget of {least} to {most}")


def _off(row: Capabilities) -> str:
    if not row.thinking:
        return ""
    return {None: "cannot be", "effort": "effort none", "budget": "budget 0"}.get(
        row.thinking_off, _code(row.thinking_off or "")
    )


def _refused(row: Capabilities) -> list[str]:
    facts = {
        "temperature": row.temperature,
        "top_p": row.top_p,
        "sampling while thinking": row.sampling_while_thinking or not row.temperature,
        "temperature with top_p": row.temperature_with_top_p or not row.temperature,
        "stop words": row.stop,
        "prefill": row.prefill,
        "system in between": row.system_in_conversation,
        "tools": row.tools,
        "forced calls": "required" in row.tool_choices or not row.tools,
        "parallel off": row.parallel_tool_calls or not row.tools,
        "effort with tools": row.effort_with_tools,
        "schema": row.json_schema,
        "images": bool(row.image_types),
        "media in results": row.media_in_results,
        "edits before thinking": not row.binds_thinking,
        "calls without signature": row.signature_placeholder is None,
    }
    where = [f"on {_code(dialect.value)}:" for dialect in row.dialects]
    refused = [name for name, is_taken in facts.items() if not is_taken]
    return [" ".join((*where, refused[0])), *refused[1:]] if refused else where


def _differences(row: VendorHabits) -> list[str]:
    facts = {
        "no `stream_options`": row.stream_usage,
        "no `parallel_tool_calls`": row.parallel_tool_calls,
        "no `strict`": row.strict,
        "no `prompt_cache_key`": row.prompt_cache_key,
        "no schema": row.json_schema,
        "no `json_object`": row.json_object,
        "no image URLs": row.image_url,
        "no system message in between": row.system_in_conversation,
        "no effort": row.effort_member is not None,
    }
    found = [name for name, is_taken in facts.items() if not is_taken]
    if row.id_exact:
        found.insert(0, f"ids of exactly {row.id_length} letters and digits")
    if row.alternates:
        found.append("neighbours of one role merged")
    if row.developer_role:
        found.append("role `developer`")
    if row.effort_member == "reasoning":
        found.append("effort in `reasoning`")
    if row.thinking_off:
        found.append(f"thinking off by {_code(row.thinking_off)}")
    if row.tool_choices != PLAIN.tool_choices:
        found.append(f"tool choice {' or '.join(row.tool_choices)} only")
    if row.tool_choice_required != PLAIN.tool_choice_required:
        found.append(f"any tool is {_code(row.tool_choice_required)}")
    if row.max_stop != PLAIN.max_stop:
        found.append(f"stop words up to {row.max_stop}")
    if row.prefill:
        members = row.prefill_message or row.prefill_body
        found.append(f"prefill with {_code(members)}" if members else "prefill")
    return found


if __name__ == "__main__":
    PAGE.write_text(rendered(PAGE.read_text("utf-8")), "utf-8")
