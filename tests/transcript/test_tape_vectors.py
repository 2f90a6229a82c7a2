"""The vectors of the tape: reading, appending, compacting, redaction."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.vectors import parametrize

from turntape import (
    NativeToolCall,
    Redacted,
    TapeFault,
    TapeOpaque,
    TapeRow,
    TranscriptMessage,
    TranscriptStore,
)

if TYPE_CHECKING:
    from tests.support.vectors import Case

FILE = "transcripts_jsonl.json"


@dataclass(frozen=True)
class Replacing:
    """Replaces one text by another, or raises."""

    rule: dict[str, Any]

    def redact(self, text: str, /) -> Redacted:
        if self.rule.get("raises"):
            raise RuntimeError("the redactor is out of order")
        old, new = self.rule["replace"]
        return Redacted(text.replace(old, new), changed=old in text)


def bytes_of(case: Case, name: str) -> bytes | None:
    if f"{name}_hex" in case:
        return bytes.fromhex(case[f"{name}_hex"])
    return case[name].encode() if name in case else None


def row_of(form: dict[str, Any]) -> TranscriptMessage:
    values = dict(form)
    calls = tuple(NativeToolCall(**call) for call in values.pop("tool_calls", ()))
    return TranscriptMessage(**values, tool_calls=calls)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tape.jsonl"


def check_entries(store: TranscriptStore, rows: list[Case], faults: list[Case]) -> None:
    kept: list[dict[str, Any]] = []
    found: list[dict[str, Any]] = []
    for entry in store.read():
        match entry:
            case TapeRow():
                kept.append({"line": entry.line, **entry.row.to_dict()})
            case TapeOpaque():
                kept.append({"line": entry.line, "opaque": True})
            case TapeFault():
                place = [entry.start, entry.end]
                found.append({"line": entry.line, "bytes": place, "torn_tail": entry.torn_tail})
    assert found == faults
    assert len(kept) == len(rows)
    for actual, expected in zip(kept, rows, strict=True):
        assert {name: actual.get(name) for name in expected} == expected
    assert [fault.line for fault in store.verify().faults] == [each["line"] for each in faults]


@parametrize(FILE, "read")
def test_read(case, path):
    content = bytes_of(case, "file")
    assert content is not None
    path.write_bytes(content)
    expected = case["expected"]
    with TranscriptStore(path) as store:
        check_entries(store, expected["rows"], expected["faults"])
        if expected.get("rewrite_identical"):
            store.rewrite(list(store.read()))
            assert path.read_bytes() == content
            store.compact()
            assert path.read_bytes() == content


@parametrize(FILE, "append")
def test_append(case, path):
    before = bytes_of(case, "file")
    if before is not None:
        path.write_bytes(before)
    redactor = Replacing(case["redactor"]) if "redactor" in case else None
    expected = case["expected"]
    with TranscriptStore(path, redactor=redactor) as store:
        if expected.get("refused"):
            with pytest.raises(RuntimeError):
                store.append(row_of(case["row"]))
            assert (path.read_bytes() if path.exists() else None) == before
            return
        store.append(row_of(case["row"]))
        head = bytes_of(expected, "before") or before or b""
        written = path.read_bytes()
        assert written.startswith(head)
        line = written[len(head) :].decode()
        assert line.endswith("\n")
        assert line.count("\n") == 1
        value = json.loads(line)
        assert {name: value.get(name) for name in expected["line_has"]} == expected["line_has"]
        assert not set(expected["line_lacks"]) & value.keys()
        assert all(text in line for text in expected.get("text_has", ()))
        assert not any(text in line for text in expected.get("text_lacks", ()))
        if "rows_after" in expected:
            check_entries(store, expected["rows_after"], expected["faults_after"])


@parametrize(FILE, "compact")
def test_compact(case, path):
    content = bytes_of(case, "file")
    assert content is not None
    path.write_bytes(content)
    with TranscriptStore(path) as store:
        report = store.compact()
        assert path.read_text() == case["expected"]["file"]
        assert report.rejected > 0
        rejected = Path(store.rejected_path).read_text()
        assert all(text in rejected for text in case["expected"]["rejected_contains"])


def test_every_operation_is_tested():
    from tests.support.vectors import cases

    assert {case["op"] for case in cases(FILE)} == {"read", "append", "compact"}
