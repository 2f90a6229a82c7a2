"""What each wire can say of a turn: one table, which the documentation shows and the tests hold encoders to.

``python -m tests.support.encoding_table`` writes it into ``docs/encoding.md``; a test compares.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from turntape import Dialect, StopReason

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PAGE = Path(__file__).parents[2] / "docs" / "encoding.md"

TARGETS: tuple[Dialect, ...] = (
    Dialect.ANTHROPIC,
    Dialect.OPENAI_CHAT,
    Dialect.OPENAI_RESPONSES,
    Dialect.GEMINI,
)
"""The wires that turntape speaks."""

How: TypeAlias = Literal["kept", "own", "out", "merged", "reduced", "string", "made up"]


@dataclass(frozen=True)
class Cell:
    """How a wire says a kind of thing.

    Attributes:
        how: ``kept``; ``own``: kept where the turn came from this wire, else left out; ``out``: left out;
            ``merged``: two such blocks read as one; ``reduced``: counted into something else; ``string``:
            in a stream kept, in a body a string, which no tool takes; ``made up``: the wire demands it.
        note: The code of the note that tells of it, where something is lost.
        remark: The same for people.
    """

    how: How
    note: str | None = None
    remark: str = ""

    def __str__(self) -> str:
        """Write the cell as the page shows it."""
        words = {
            "kept": "kept",
            "own": "own turns only, else left out",
            "out": "left out",
            "merged": "joined",
            "reduced": "counted as input",
            "string": "kept in a stream, in a body a string where they are no JSON",
            "made up": "zeros",
        }[self.how]
        remark = f" ({self.remark})" if self.remark else ""
        note = f": `{self.note}`" if self.note else ""
        return words + remark + note


KEPT = Cell("kept")
UNSUPPORTED = Cell("own", "content_unsupported")
OUT = Cell("out", "content_unsupported")

CONTENT: dict[str, tuple[Cell, Cell, Cell, Cell]] = {
    "text": (KEPT, KEPT, KEPT, KEPT),
    "neighbouring texts": (
        KEPT,
        Cell("merged", "blocks_merged"),
        KEPT,
        Cell("merged", "blocks_merged"),
    ),
    "thinking": (
        KEPT,
        Cell("kept", remark="`reasoning_content`"),
        Cell("kept", remark="a summary"),
        Cell("kept", remark="`thought` parts"),
    ),
    "neighbouring thinking": (
        KEPT,
        Cell("merged", "blocks_merged"),
        KEPT,
        Cell("merged", "blocks_merged"),
    ),
    "redacted thinking": (
        Cell("own", "reasoning_dropped"),
        Cell("out", "reasoning_dropped"),
        Cell("out", "reasoning_dropped"),
        Cell("out", "reasoning_dropped"),
    ),
    "signatures": (
        Cell("own", "signature_dropped"),
        Cell("own", "signature_dropped"),
        Cell("own", "signature_dropped"),
        Cell("own", "signature_dropped"),
    ),
    "calls": (KEPT, KEPT, KEPT, KEPT),
    "arguments that are no JSON object": (
        Cell("string", "arguments_replaced"),
        KEPT,
        KEPT,
        Cell("out", "content_unsupported", "the whole call"),
    ),
    "white space around arguments": (
        KEPT,
        KEPT,
        KEPT,
        Cell("out", remark="it means nothing"),
    ),
    "extra members of calls": (UNSUPPORTED, UNSUPPORTED, UNSUPPORTED, OUT),
    "citations": (UNSUPPORTED, UNSUPPORTED, UNSUPPORTED, OUT),
    "the provider's own blocks": (UNSUPPORTED, UNSUPPORTED, UNSUPPORTED, UNSUPPORTED),
    "facts beside the content": (UNSUPPORTED, UNSUPPORTED, UNSUPPORTED, UNSUPPORTED),
    "tokens written to a cache": (
        KEPT,
        KEPT,
        Cell("reduced", "usage_reduced"),
        Cell("reduced", "usage_reduced"),
    ),
    "those kept for an hour": (
        KEPT,
        Cell("out", "usage_reduced"),
        Cell("out", "usage_reduced"),
        Cell("out", "usage_reduced"),
    ),
    "a turn without token counts": (Cell("made up", "usage_reduced"), KEPT, KEPT, KEPT),
}
"""Each kind of thing, and how the wires of :data:`TARGETS` say it."""

STOPS: dict[StopReason, tuple[StopReason, StopReason, StopReason, StopReason]] = {
    "end_turn": ("end_turn", "end_turn", "end_turn", "end_turn"),
    "tool_use": ("tool_use", "tool_use", "tool_use", "tool_use"),
    "max_tokens": ("max_tokens", "max_tokens", "max_tokens", "max_tokens"),
    "stop_sequence": ("stop_sequence", "end_turn", "end_turn", "end_turn"),
    "refusal": ("refusal", "content_filter", "content_filter", "content_filter"),
    "content_filter": ("refusal", "content_filter", "content_filter", "content_filter"),
    "pause_turn": ("pause_turn", "end_turn", "other", "other"),
    "context_window": ("context_window", "max_tokens", "max_tokens", "max_tokens"),
    "other": ("other", "other", "other", "other"),
    "unknown": ("unknown", "unknown", "end_turn", "end_turn"),
}
"""Each stop reason, and which one the wires of :data:`TARGETS` are understood to give for it."""


def cell(thing: str, target: Dialect) -> Cell:
    """Give how a wire says a kind of thing."""
    return CONTENT[thing][TARGETS.index(target)]


def said_stop(reason: StopReason, target: Dialect) -> StopReason:
    """Give the stop reason that a wire is understood to give."""
    return STOPS[reason][TARGETS.index(target)]


def rendered(page: str) -> str:
    """Give the page with both tables as they stand here."""
    for name, lines in (("content", _content()), ("stops", _stops())):
        pattern = rf"(<!-- {name} -->\n).*?(\n<!-- end of {name} -->)"
        table = "\n".join(lines)
        page, count = re.subn(pattern, rf"\g<1>\n{table}\n\g<2>", page, flags=re.DOTALL)
        assert count == 1, f"the page has no place for the table of {name}"
    return page


def _content() -> list[str]:
    return _table("what", ((thing, *map(str, cells)) for thing, cells in CONTENT.items()))


def _stops() -> list[str]:
    assert list(STOPS) == list(get_args(StopReason))
    return _table("reason", (_stop(reason, said) for reason, said in STOPS.items()))


def _stop(reason: StopReason, said: Sequence[StopReason]) -> list[str]:
    return [f"`{reason}`", *("kept" if word == reason else f"`{word}`" for word in said)]


def _table(what: str, rows: Iterable[Sequence[str]]) -> list[str]:
    head = [what, *(f"`{target}`" for target in TARGETS)]
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(line) + " |" for line in lines]


if __name__ == "__main__":
    PAGE.write_text(rendered(PAGE.read_text("utf-8")), "utf-8")
