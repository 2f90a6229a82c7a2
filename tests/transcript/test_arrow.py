"""A tape as Arrow record batches: read by others, it says what its rows say."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.transcript.test_fast_lines import ROWS, TEXTS

from turntape import (
    AudioPart,
    DocumentPart,
    EnvelopeError,
    ImagePart,
    NativeToolCall,
    PathRef,
    TextPart,
    ToolFailure,
    TranscriptMessage,
    TranscriptStore,
    UrlRef,
    Usage,
    VideoPart,
    encode_assistant_envelope,
    rows_to_arrow,
)
from turntape._native import arrow_stream
from turntape.transcript.lines import encode_line

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from turntape import (
        ArrowRows,
    )

TEXT_FIELDS = (
    "role",
    "content",
    "id",
    "tool_call_id",
    "request_id",
    "model",
    "stop_reason",
    "created_at",
)
COUNTERS = tuple(name for name in Usage.__slots__ if name != "type")

FULL = TranscriptMessage(
    "assistant",
    'All "of it"\n水',
    id="r1",
    tool_calls=(
        NativeToolCall("c1", "ls", "{}"),
        NativeToolCall("c2", "cat", '{"file":"é"}', {"google": {"thought_signature": "s"}}),
    ),
    tool_call_id="c0",
    parts=(
        TextPart("see"),
        ImagePart("a.png"),
        AudioPart(PathRef("gull.ogg"), "audio/ogg"),
        VideoPart(UrlRef("https://tides.example/ebb.mp4"), "video/mp4"),
        DocumentPart(PathRef("tides.pdf"), "application/pdf"),
    ),
    extra_metadata={"b": 1, "a": [1.5, None]},
    cache_breakpoints=(0, 2),
    request_id="q1",
    interrupted=True,
    tool_failure=ToolFailure("no such file"),
    usage=Usage(input_tokens=2**64 - 1, reasoning_tokens=3),
    model="heron-9",
    stop_reason="tool_use",
    created_at="2026-01-02T03:04:05Z",
    extra={"zeta": [1, 2]},
)
MIXED = [
    TranscriptMessage.user("Which files are there?"),
    TranscriptMessage.assistant_with_calls("I will look.", [NativeToolCall("c1", "ls", "{}")]),
    TranscriptMessage.tool_result("c1", "a.txt\nb.txt"),
    FULL,
    TranscriptMessage("user", "", parts=()),
    TranscriptMessage("system", "", extra_metadata={}),
]
PARTS = st.one_of(
    st.builds(TextPart, TEXTS),
    st.builds(ImagePart, TEXTS),
    st.builds(AudioPart, st.builds(PathRef, TEXTS), TEXTS),
)


# What a row is in Arrow, said by hand ------------------------------------------------------------


def as_json(text: str | None) -> Any:
    return None if text is None else json.loads(text)


def part_of(part: Any) -> dict[str, Any]:
    source = getattr(part, "source", None)
    return {
        "type": part.type,
        "text": getattr(part, "text", None),
        "url": getattr(source, "url", None) if source else getattr(part, "url", None),
        "path": getattr(source, "path", None),
        "mime_type": getattr(part, "mime_type", None),
    }


def said(line: int, row: TranscriptMessage) -> dict[str, Any]:
    return {
        "line": line,
        **{name: getattr(row, name) for name in TEXT_FIELDS},
        "tool_calls": [
            {
                "id": call.id,
                "name": call.name,
                "arguments": call.arguments,
                "extra_content": call.extra_content,
            }
            for call in row.tool_calls
        ],
        "parts": None if row.parts is None else [part_of(part) for part in row.parts],
        "extra_metadata": row.extra_metadata,
        "cache_breakpoints": list(row.cache_breakpoints),
        "interrupted": row.interrupted,
        "tool_failure": None if row.tool_failure is None else row.tool_failure.detail,
        "usage": None
        if row.usage is None
        else {name: getattr(row.usage, name) for name in COUNTERS},
        "extra": dict(row.extra) or None,
    }


def parsed(found: dict[str, Any]) -> dict[str, Any]:
    """What a reader found, with its texts of JSON read."""
    calls = [
        {**call, "extra_content": as_json(call["extra_content"])} for call in found["tool_calls"]
    ]
    metadata, extra = as_json(found["extra_metadata"]), as_json(found["extra"])
    return {**found, "tool_calls": calls, "extra_metadata": metadata, "extra": extra}


def by_pyarrow(rows: ArrowRows) -> list[dict[str, Any]]:
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table(rows)
    table.validate(full=True)
    found: list[dict[str, Any]] = table.to_pylist()
    return found


def by_polars(rows: ArrowRows) -> list[dict[str, Any]]:
    polars = pytest.importorskip("polars")
    found: list[dict[str, Any]] = polars.DataFrame(rows).to_dicts()
    return found


def by_duckdb(rows: ArrowRows) -> list[dict[str, Any]]:
    duckdb = pytest.importorskip("duckdb")
    found = duckdb.connect().execute("SELECT * FROM rows ORDER BY line")
    names = [column[0] for column in found.description]
    return [dict(zip(names, values, strict=True)) for values in found.fetchall()]


READERS: list[Callable[[ArrowRows], list[dict[str, Any]]]] = [by_pyarrow, by_polars, by_duckdb]
readers = pytest.mark.parametrize("read", READERS)


def tape(path: Path, *lines: bytes) -> TranscriptStore:
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return TranscriptStore(path)


# -------------------------------------------------------------------------------------------------


@readers
def test_a_tape_says_what_its_rows_say(read, tmp_path):
    with TranscriptStore(tmp_path / "tape.jsonl") as store:
        store.append_many(MIXED)
    found = [parsed(each) for each in read(store.to_arrow())]
    assert found == [said(line, row) for line, row in enumerate(store.rows(), 1)]
    assert found == [said(line, row) for line, row in enumerate(MIXED, 1)]


@readers
def test_rows_say_what_they_say(read):
    found = [parsed(each) for each in read(rows_to_arrow(MIXED))]
    assert found == [said(line, row) for line, row in enumerate(MIXED, 1)]


@readers
@pytest.mark.parametrize("batch_rows", [1, 2, 5, 8192])
def test_batches_cut_nothing(read, batch_rows, tmp_path):
    with TranscriptStore(tmp_path / "tape.jsonl") as store:
        store.append_many(MIXED * 3)
    found = read(store.to_arrow(batch_rows=batch_rows))
    assert [each["line"] for each in found] == list(range(1, 19))
    assert [each["content"] for each in found] == [row.content for row in MIXED * 3]


@readers
def test_a_tape_without_rows_has_columns(read, tmp_path):
    assert read(TranscriptStore(tmp_path / "none.jsonl").to_arrow()) == []
    assert read(rows_to_arrow([])) == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(
    st.lists(ROWS, max_size=5),
    st.none() | st.lists(PARTS, max_size=3).map(tuple),
    st.integers(1, 4),
)
def test_any_tape_says_what_its_rows_say(tmp_path, rows, parts, batch_rows):
    pytest.importorskip("pyarrow")
    lines = []
    for row in [*rows, TranscriptMessage("user", "", parts=parts)]:
        try:
            lines.append(encode_line(row))
        except EnvelopeError:
            continue
    store = tape(tmp_path / "tape.jsonl", *lines)
    expected = [said(line, row) for line, row in enumerate(store.rows(), 1)]
    assert [parsed(each) for each in by_pyarrow(store.to_arrow(batch_rows=batch_rows))] == expected
    again = rows_to_arrow(list(store.rows()), batch_rows=batch_rows)
    assert [parsed(each) for each in by_pyarrow(again)] == expected


def test_the_schema(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    rows = TranscriptStore(tmp_path / "none.jsonl").to_arrow()
    schema = pyarrow.schema(rows)
    assert schema == pyarrow.table(rows).schema
    fields = list(TranscriptMessage.__dataclass_fields__)
    assert schema.names == ["line", *fields]
    required = {
        "line",
        "role",
        "content",
        "tool_calls",
        "cache_breakpoints",
        "interrupted",
    }
    assert {field.name for field in schema if not field.nullable} == required
    assert str(schema.field("content").type) == "large_string"
    assert str(schema.field("usage").type.field("input_tokens").type) == "uint64"


def test_values_are_in_canonical_form_however_the_line_is_spelt(tmp_path):
    pytest.importorskip("pyarrow")
    store = tape(
        tmp_path / "tape.jsonl",
        b'{"role":"system","content":"","extra_metadata":{"b":1.50,"a":"\\u0041"}}',
        b'{"role":"system","content":"","extra_metadata":{"a":"A","b":1.5}}',
        b'{"role":"system","content":"","extra_metadata":{"n":123456789012345678901234567890}}',
        b'{"role":"system","content":"","extra_metadata":{"half":"\\ud800"}}',
        b'{"role":"system","content":"","zeta" : [1, 2.50],"x":{}}',
    )
    found = by_pyarrow(store.to_arrow())
    assert [each["extra_metadata"] for each in found] == [
        '{"a":"A","b":1.5}',
        '{"a":"A","b":1.5}',
        '{"n":123456789012345678901234567890}',
        '{"half":"\\ud800"}',
        None,
    ]
    assert found[4]["extra"] == '{"zeta":[1, 2.50],"x":{}}'


def test_legacy_lines_are_lifted_and_opaque_and_blank_ones_passed_over(tmp_path):
    pytest.importorskip("pyarrow")
    envelope = encode_assistant_envelope("on it", [NativeToolCall("c1", "ls", "{}")])
    store = tape(
        tmp_path / "tape.jsonl",
        json.dumps({"role": "assistant", "content": envelope}).encode(),
        b"",
        b'{"role":"user","content":"x","v":99}',
        b'{"role":"user","content":"see [OH_IMAGE:a.png]"}',
        b" ",
        b'{"role":"user","content":"\\u0041"}',
    )
    found = [parsed(each) for each in by_pyarrow(store.to_arrow())]
    rows = list(store.rows())
    assert found == [said(line, row) for line, row in zip([1, 4, 6], rows, strict=True)]
    assert found[0]["tool_calls"][0]["name"] == "ls"


@pytest.mark.parametrize("read", READERS)
def test_a_line_that_is_no_row_is_the_readers_error(read, tmp_path):
    good = encode_line(MIXED[0])
    store = tape(tmp_path / "tape.jsonl", good, good, b'{"role":"us', good)
    with pytest.raises(Exception, match=r"TranscriptError: line 3, bytes 102 to 113"):
        read(store.to_arrow(batch_rows=1))
    found = read(store.to_arrow(strict=False))
    assert [each["line"] for each in found] == [1, 2, 4]


def test_the_rows_before_an_error_come_first(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    good = encode_line(MIXED[0])
    store = tape(tmp_path / "tape.jsonl", good, good, b"torn", good)
    reader = pyarrow.RecordBatchReader.from_stream(store.to_arrow())
    assert reader.read_next_batch().num_rows == 2
    with pytest.raises(pyarrow.ArrowInvalid, match="line 3"):
        reader.read_next_batch()
    with pytest.raises(StopIteration):
        reader.read_next_batch()


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (TranscriptMessage("user", "\ud800"), "half of a surrogate pair"),
        (TranscriptMessage("user", "", cache_breakpoints=(2**63,)), "int"),
        (TranscriptMessage("user", "", usage=Usage(-1)), "int"),
        (TranscriptMessage("user", "", extra_metadata={"a": float("nan")}), "JSON"),
        (TranscriptMessage("user", "", extra_metadata={"a": {1}}), "JSON"),
    ],
)
def test_a_row_that_arrow_cannot_hold(row, why):
    pytest.importorskip("pyarrow")
    rows = [MIXED[0], row, MIXED[0]]
    with pytest.raises(Exception, match=f"EnvelopeError: line 2: .*{why}"):
        by_pyarrow(rows_to_arrow(rows))
    assert [each["line"] for each in by_pyarrow(rows_to_arrow(rows, strict=False))] == [1, 3]


def test_a_small_limit_on_lines(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "tape.jsonl"
    tape(path, encode_line(MIXED[0]), encode_line(FULL), encode_line(MIXED[1]))
    store = TranscriptStore(path, max_line_bytes=200)
    with pytest.raises(Exception, match="line 2"):
        by_pyarrow(store.to_arrow())
    assert [each["line"] for each in by_pyarrow(store.to_arrow(strict=False))] == [1, 3]


@pytest.mark.parametrize("most", [200, 1 << 28])
@pytest.mark.parametrize("batch_rows", [1, 2, 3, 4])
def test_batches_are_full_whoever_reads_the_lines(batch_rows, most, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    quick, slow = b'{"role":"user","content":"x"}', b'{"role":"user", "content":"x"}'
    store = tape(tmp_path / "tape.jsonl", quick, slow, slow, quick, quick, b"", slow, quick, slow)
    limited = TranscriptStore(store.path, max_line_bytes=most)
    stream = pyarrow.RecordBatchReader.from_stream(limited.to_arrow(batch_rows=batch_rows))
    sizes = [batch.num_rows for batch in stream]
    whole, rest = divmod(8, batch_rows)
    assert sizes == [batch_rows] * whole + [rest] * (rest > 0)


def test_long_texts_make_short_batches(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    row = TranscriptMessage.user("tide " * 2_000_000)
    with TranscriptStore(tmp_path / "tape.jsonl", fsync="never") as store:
        store.append_many([row] * 8)
    sizes = [batch.num_rows for batch in pyarrow.RecordBatchReader.from_stream(store.to_arrow())]
    assert sizes == [4, 4]


def test_nothing_is_read_before_it_is_asked_for(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    given_rows = []

    def endless():
        while True:
            given_rows.append(1)
            yield MIXED[0]

    reader = pyarrow.RecordBatchReader.from_stream(rows_to_arrow(endless(), batch_rows=10))
    assert not given_rows
    reader.read_next_batch()
    assert len(given_rows) == 10
    store = TranscriptStore(tmp_path / "tape.jsonl")
    rows = store.to_arrow()
    stream = pyarrow.RecordBatchReader.from_stream(rows)
    store.append(MIXED[0])
    store.close()
    assert stream.read_all().num_rows == rows_of(rows) == 1


def rows_of(rows: ArrowRows) -> int:
    """How many rows another stream of the same finds."""
    return len(by_pyarrow(rows))


def test_a_stream_that_is_let_go_ends_the_reading():
    pyarrow = pytest.importorskip("pyarrow")
    ended = []

    def watched():
        try:
            while True:
                yield MIXED[0]
        finally:
            ended.append(True)

    reader = pyarrow.RecordBatchReader.from_stream(rows_to_arrow(watched(), batch_rows=1))
    reader.read_next_batch()
    assert not ended
    reader.close()
    del reader
    assert ended
    unread = rows_to_arrow(watched()).__arrow_c_stream__()
    del unread


def test_a_capsule_is_consumed_once():
    pyarrow = pytest.importorskip("pyarrow")
    capsule = rows_to_arrow(MIXED).__arrow_c_stream__(None)
    import_capsule = pyarrow.RecordBatchReader._import_from_c_capsule
    assert import_capsule(capsule).read_all().num_rows == len(MIXED)
    with pytest.raises(pyarrow.ArrowInvalid):
        import_capsule(capsule)


def test_batches_may_be_pulled_by_another_thread(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    with TranscriptStore(tmp_path / "tape.jsonl") as store:
        store.append_many(MIXED * 10)
    reader = pyarrow.RecordBatchReader.from_stream(store.to_arrow(batch_rows=7))
    counts = []
    thread = threading.Thread(target=lambda: counts.append(reader.read_all().num_rows))
    thread.start()
    thread.join(30)
    assert counts == [60]


def test_duckdb_queries_a_tape(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    with TranscriptStore(tmp_path / "tape.jsonl") as store:
        store.append_many(MIXED * 100)
    rows = store.to_arrow(batch_rows=50)
    assert rows is not None
    query = (
        "SELECT call.name, count(*) FROM (SELECT unnest(tool_calls) AS call FROM rows) GROUP BY 1"
    )
    assert sorted(duckdb.connect().execute(query).fetchall()) == [("cat", 100), ("ls", 200)]


@pytest.mark.parametrize("batch_rows", [0, -1])
def test_a_batch_has_a_row_at_least(batch_rows, tmp_path):
    with pytest.raises(ValueError, match="batch_rows"):
        rows_to_arrow([], batch_rows=batch_rows)
    with pytest.raises(ValueError, match="batch_rows"):
        TranscriptStore(tmp_path / "tape.jsonl").to_arrow(batch_rows=batch_rows)


def test_a_stream_needs_its_own_columns():
    with pytest.raises(TypeError):
        arrow_stream(object(), iter(()))  # type: ignore[arg-type]


def test_no_reader_of_arrow_is_imported():
    script = (
        "import sys, turntape\n"
        "rows = turntape.rows_to_arrow([turntape.TranscriptMessage.user('x')])\n"
        "rows.__arrow_c_schema__(), rows.__arrow_c_stream__()\n"
        "turntape.TranscriptStore('none.jsonl').to_arrow().__arrow_c_stream__()\n"
        "assert not {'pyarrow', 'polars', 'duckdb', 'numpy'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
