"""Decoding into columns, against decoding into objects."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from benches.ratio import Target

import turntape

if TYPE_CHECKING:
    from benches import inputs
    from benches.conftest import Meter

BODIES = 100


def check(tables: turntape.DecodedTables, stream: inputs.Stream, bodies: int) -> None:
    """The tables say what the stream's maker put in."""
    pyarrow = pytest.importorskip("pyarrow")
    compute = pytest.importorskip("pyarrow.compute")
    events = pyarrow.table(tables.events)
    assert events.num_rows == bodies * len(turntape.decode(stream.body, stream.dialect))
    first = events.filter(compute.equal(events["body"], bodies - 1))
    for kind, said in (("text_delta", stream.text), ("input_json_delta", stream.arguments)):
        texts = first.filter(compute.equal(first["type"], kind))["text"]
        assert "".join(texts.to_pylist()) == said
    messages = pyarrow.table(tables.messages).to_pylist()
    assert len(messages) == bodies
    for message in messages:
        text, call = message["content"]
        assert (text["text"], call["arguments"]) == (stream.text, stream.arguments)
        assert message["usage"]["output_tokens"] == 831


def test_columns_against_objects(meter: Meter, stream: inputs.Stream) -> None:
    """Events and messages of many bodies, as two tables or as lists of events and messages."""
    bodies = [stream.body] * BODIES
    tables = turntape.decode_to_arrow(bodies, stream.dialect)
    check(tables, stream, BODIES)

    def objects() -> object:
        events = [turntape.decode(body, stream.dialect) for body in bodies]
        return events, turntape.decode_many(bodies, stream.dialect)

    meter.compare(
        f"decode_to_arrow, {stream.dialect}, against decode and decode_many",
        lambda: turntape.decode_to_arrow(bodies, stream.dialect),
        objects,
        Target(),
        events=tables.events.num_rows,
    )


def test_columns_against_messages(meter: Meter, stream: inputs.Stream) -> None:
    """What the events cost on top of the messages."""
    bodies = [stream.body] * BODIES
    meter.compare(
        f"decode_to_arrow, {stream.dialect}, against decode_many",
        lambda: turntape.decode_to_arrow(bodies, stream.dialect),
        lambda: turntape.decode_many(bodies, stream.dialect),
        Target(),
        events=BODIES * len(turntape.decode(stream.body, stream.dialect)),
    )


def test_columns_by_two_threads(meter: Meter, stream: inputs.Stream) -> None:
    """Two threads against one: nothing of it needs the interpreter."""
    bodies = [stream.body] * 4 * BODIES
    check(turntape.decode_to_arrow(bodies, stream.dialect, threads=2), stream, len(bodies))
    cores = os.cpu_count() or 1
    meter.compare(
        f"decode_to_arrow, {stream.dialect}, 2 threads against 1",
        lambda: turntape.decode_to_arrow(bodies, stream.dialect, threads=2),
        lambda: turntape.decode_to_arrow(bodies, stream.dialect, threads=1),
        Target(1.7, 1.9) if cores > 1 else Target(),
        threads=True,
    )
