"""Hands the recorded streams to the tests, one vendor's folder at a time."""

from __future__ import annotations

import pytest
from tests.corpus.streams import NoCorpusError, by_folder


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that takes ``recorded`` for every folder of streams; skip it without a corpus."""
    if "recorded" not in metafunc.fixturenames:
        return
    try:
        folders = by_folder()
    except NoCorpusError as error:
        skip = pytest.mark.skip(reason=str(error))
        metafunc.parametrize("recorded", [pytest.param((), marks=skip, id="no-corpus")])
    else:
        metafunc.parametrize("recorded", [pytest.param(tuple(v), id=k) for k, v in folders.items()])
