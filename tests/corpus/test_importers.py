"""Importers over recorded sessions: what becomes a row, what is named, and that nothing breaks them."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from turntape import (
    IMPORT_FORMATS,
    ImportLoss,
    LosslessCodec,
    Message,
    import_transcript,
    validate_native,
)
from turntape.transcript.lines import decode_line, encode_line

if TYPE_CHECKING:
    from turntape import ImportedRow
    from turntape.transcript.importers.base import ImportLossCode

pytestmark = pytest.mark.corpus


def folder() -> Path:
    corpus = os.environ.get("TURNTAPE_CORPUS")
    if not corpus:
        pytest.skip("TURNTAPE_CORPUS names no folder of recorded streams")
    return Path(corpus) / "transcripts"


def imported(path: Path, format_: str) -> tuple[list[ImportedRow], Counter[ImportLossCode]]:
    """Import a file, and check what holds of every import."""
    rows: list[ImportedRow] = []
    losses: Counter[ImportLossCode] = Counter()
    with path.open("rb") as file:
        for item in import_transcript(file, format_):
            if isinstance(item, ImportLoss):
                losses[item.code] += 1
            else:
                rows.append(item)
                assert decode_line(encode_line(item.row)) == item.row
    assert all(
        isinstance(each, Message) for each in LosslessCodec().decode_history([r.row for r in rows])
    )
    return rows, losses


def test_real_sessions_of_claude_code():
    """Nothing but the tool's own records and its subagents is left behind, and they can be replayed."""
    for name in ("ccviewer__*.jsonl", "sniffly__*.jsonl"):
        for path in sorted(folder().glob(f"claude-code/{name}")):
            rows, losses = imported(path, "claude-code")
            assert losses.keys() <= {"not_a_message", "other_conversation"}, path.name
            faults = validate_native([each.row for each in rows])
            # A session may end while a tool runs.
            assert {fault.code for fault in faults} <= {"missing_result"}, path.name


@pytest.mark.parametrize("name", IMPORT_FORMATS)
def test_every_file_of_any_kind_comes_to_rows_and_losses(name):
    files = sorted(each for each in folder().rglob("*.json*") if each.is_file())
    assert files
    for path in files:
        rows, losses = imported(path, name)
        assert rows or losses or not path.read_bytes().strip(), path.name
