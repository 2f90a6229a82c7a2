"""Every recording of the corpus: served as it is, and said in every dialect without being finished or refused."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support.http import ASKED

import turntape
from turntape import Dialect, ModelRequest
from turntape.serving.answers import Speaker
from turntape.serving.endpoints import Asked
from turntape.serving.loading import load
from turntape.serving.playback import AS_FAST_AS_POSSIBLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from turntape.serving.endpoints import AnswerForm
    from turntape.serving.turns import Turn

CORPUS = os.environ.get("TURNTAPE_CORPUS")
FOLDERS = (
    "anthropic",
    "openai-chat",
    "openai-compatible",
    "openai-responses",
    "gemini",
    "bedrock",
    "errors",
)

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(CORPUS is None, reason="TURNTAPE_CORPUS names no folder of recordings"),
]


def asked(dialect: str, form: AnswerForm) -> Asked:
    return Asked(Dialect(dialect), form, ModelRequest("m", ()), usage=True)


def recorded(folder: str) -> Iterator[Turn]:
    yield from load([Path(CORPUS or "", folder)])


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_recording_is_served_as_it_is(folder):
    speaker = Speaker()
    count = 0
    for turn in recorded(folder):
        recording = turn.recording
        if recording is None or recording.form == "event-stream":
            continue
        answer = speaker.answer(turn, asked(recording.dialect, recording.form), AS_FAST_AS_POSSIBLE)
        assert b"".join(answer.pieces) == recording.body, turn.name
        assert answer.exact
        assert answer.whole == (turn.said.complete or turn.said.failure is not None)
        count += 1
    assert count > 0 or folder == "bedrock"


@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize("dialect", ASKED)
def test_a_recording_is_said_in_every_dialect(folder, dialect):
    speaker = Speaker()
    form: AnswerForm
    for turn in recorded(folder):
        said = turn.said
        for form in ("sse", "response"):
            answer = speaker.answer(turn, asked(dialect, form), AS_FAST_AS_POSSIBLE)
            if answer.exact:
                continue
            body = b"".join(answer.pieces)
            assert answer.whole == (said.complete or said.failure is not None), turn.name
            if not answer.whole:
                with pytest.raises(turntape.TruncatedStream):
                    turntape.decode(body, dialect)
            elif said.failure is not None:
                with pytest.raises(turntape.ProviderError):
                    turntape.parse_response(body, dialect) if (
                        answer.form == "response"
                    ) else turntape.decode(body, dialect)
            elif form == "sse":
                assert turntape.decode_message(body, dialect).complete, turn.name
            else:
                assert turntape.parse_response(body, dialect).complete, turn.name
