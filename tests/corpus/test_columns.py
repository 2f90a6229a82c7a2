"""Recorded streams as Arrow tables: read by others, they say what the objects say."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import pytest
from tests.support.columns import READERS, outcomes
from tests.support.outcome import decode_whole

from turntape import decode_to_arrow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.corpus.streams import Stream

    from turntape import Dialect

pytestmark = pytest.mark.corpus


def test_columns_say_what_the_objects_say(recorded: Sequence[Stream]) -> None:
    by_dialect: defaultdict[Dialect, list[Stream]] = defaultdict(list)
    for stream in recorded:
        by_dialect[stream.dialect].append(stream)
    for dialect, streams in by_dialect.items():
        bodies = [stream.body for stream in streams]
        expected = [decode_whole(body, dialect) for body in bodies]
        tables = decode_to_arrow(bodies, dialect, threads=2)
        for read in READERS:
            found = outcomes(tables, read)
            for stream, mine, theirs in zip(streams, expected, found, strict=True):
                assert theirs == mine, stream.name
