"""What a turn is answered with: its own bytes where they are what was asked for, else said anew."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from turntape._native import StreamDecoder, StreamEncoder, decode, encode_response
from turntape.errors import ProviderError, StreamError, TurntapeError
from turntape.serving.framing import count_events, pieces_of, to_array, to_sse
from turntape.serving.refusals import Refusal, error_of
from turntape.wire.faults import format_error

if TYPE_CHECKING:
    from turntape.notes import ReplayNote
    from turntape.serving.endpoints import AnswerForm, Asked
    from turntape.serving.playback import CutAt, Playback
    from turntape.serving.turns import Recording, Said, Turn
    from turntape.wire.dialect import Dialect

__all__ = ["Answer", "Speaker", "error_answer"]

# For how many answers the bytes are kept.
_REMEMBERED = 256

_MEDIA_TYPES: dict[AnswerForm, str] = {
    "sse": "text/event-stream; charset=utf-8",
    "array": "application/json; charset=utf-8",
    "response": "application/json",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What is sent.

    Attributes:
        pieces: The body, each piece but the last ending with an event.
        form: How it is framed.
        status: The HTTP status.
        whole: Whether it ends as it should, and does not break off.
        exact: Whether it is what was recorded, byte for byte.
        notes: What could not be said.
        headers: Headers of its own.
    """

    pieces: tuple[bytes, ...]
    form: AnswerForm
    status: int = 200
    whole: bool = True
    exact: bool = False
    notes: tuple[ReplayNote, ...] = ()
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def media_type(self) -> str:
        """Its ``content-type``."""
        return _MEDIA_TYPES[self.form]


def error_answer(
    error: ProviderError, dialect: Dialect, headers: tuple[tuple[str, str], ...] = ()
) -> Answer:
    """Answer with an HTTP error in the provider's shape."""
    status, body = format_error(error, dialect)
    return Answer((body,), "response", status, headers=headers)


class Speaker:
    """Says turns as they are asked for, and remembers what it said last: many clients ask for the same."""

    def __init__(self) -> None:
        """Remember nothing yet."""
        self._said = lru_cache(maxsize=_REMEMBERED)(_said)

    def answer(self, turn: Turn, asked: Asked, playback: Playback) -> Answer:
        """Say a turn as it was asked for.

        Args:
            turn: The turn.
            asked: What was asked for.
            playback: Where it breaks off, if it does.

        Raises:
            Refusal: It cannot be said so.
        """
        dialect, failure = asked.dialect, turn.failure
        if failure is not None:
            error = error_of(failure.status, failure.message, dialect, failure.kind)
            return error_answer(error, dialect, failure.headers)
        injected = error_of(playback.error_status, playback.error_message, dialect)
        if playback.error_at == 0:
            return error_answer(injected, dialect)
        # Turns that name no model are said by the one that was asked.
        model = None if turn.model else asked.request.model
        answer = self._said(turn, dialect, asked.form, usage=asked.usage, model=model)
        if playback.error_at is not None:
            answer = _with_error(answer, dialect, playback.error_at, injected)
        if playback.cut_at is not None:
            answer = _cut(answer, playback.cut_at)
        return answer


def _said(
    turn: Turn, dialect: Dialect, form: AnswerForm, *, usage: bool, model: str | None
) -> Answer:
    said, recording = turn.said, turn.recording
    if recording is not None and recording.dialect is dialect:
        answer = _recorded(recording, said, form)
        if answer is not None:
            return answer
    failure = said.failure
    if failure is not None and (not said.events or form == "response"):
        return error_answer(failure, dialect)
    try:
        if form == "response":
            return _response(said, dialect, model)
        return _stream(said, dialect, form, usage=usage, model=model)
    except (TurntapeError, ValueError) as error:  # no bytes say a lone surrogate
        text = f"the turn {turn.name!r} cannot be said as {dialect.value}: {error}"
        raise Refusal(422, text) from error


def _recorded(recording: Recording, said: Said, form: AnswerForm) -> Answer | None:
    """The recording's own bytes, at most framed otherwise; None where they say something else."""
    # A stream that told of an error ended; one that broke off did not.
    whole = said.complete or said.failure is not None
    if recording.form == "response":
        if said.failure is not None:
            status, _ = format_error(said.failure, recording.dialect)
            return Answer((recording.body,), "response", status, exact=True)
        if form == "response":
            return Answer((recording.body,), "response", exact=True)
        return None
    if recording.form == form:
        pieces = tuple(pieces_of(recording.body, form))
        return Answer(pieces, form, whole=whole, exact=True)
    body = _framed_anew(recording, said, form, closed=whole)
    return None if body is None else Answer(tuple(pieces_of(body, form)), form, whole=whole)


def _framed_anew(
    recording: Recording, said: Said, form: AnswerForm, *, closed: bool
) -> bytes | None:
    """Gemini's events as an array or the other way round, where that says the same."""
    if (recording.form, form) == ("array", "sse"):
        return to_sse(recording.body)
    if (recording.form, form) == ("sse", "array"):
        body = to_array(recording.body, closed=closed)
        # A provider may report a fault beside its payloads, where an array has none.
        if said.failure is None or _fails(body, recording.dialect):
            return body
    return None


def _fails(body: bytes, dialect: Dialect) -> bool:
    try:
        decode(body, dialect)
    except ProviderError:
        return True
    except StreamError:
        return False
    return False


def _response(said: Said, dialect: Dialect, model: str | None) -> Answer:
    if not said.complete:
        # No body can be written of a turn that did not end: the answer breaks off where it begins.
        return Answer((b"{",), "response", whole=False)
    notes: list[ReplayNote] = []
    body = encode_response(said.events, dialect, source=said.source, model=model, notes=notes)
    return Answer((body,), "response", notes=tuple(notes))


def _stream(
    said: Said, dialect: Dialect, form: AnswerForm, *, usage: bool, model: str | None
) -> Answer:
    encoder = StreamEncoder(dialect, source=said.source, include_usage=usage, model=model)
    spoken = [encoder.feed(event) for event in said.events]
    spoken.append(encoder.finish() if said.failure is None else encoder.fail(said.failure))
    body = b"".join(spoken)
    whole = said.complete or said.failure is not None
    if form == "array":
        body = to_array(body, closed=whole)
    return Answer(tuple(pieces_of(body, form)), form, whole=whole, notes=tuple(encoder.notes))


def _cut(answer: Answer, cut: CutAt) -> Answer:
    if cut.unit == "bytes":
        body = b"".join(answer.pieces)
        if len(body) < cut.count:
            return answer
        pieces = tuple(pieces_of(body[: cut.count], answer.form))
    elif count_events(answer.pieces, answer.form) < cut.count:
        return answer
    else:
        pieces = answer.pieces[: cut.count]
    return replace(answer, pieces=pieces, whole=False)


def _with_error(answer: Answer, dialect: Dialect, after: int, error: ProviderError) -> Answer:
    """Put an error in the place of what comes after so many events."""
    if count_events(answer.pieces, answer.form) <= after:
        return answer
    before = answer.pieces[:after]
    # The encoder has to know what was said, because some wires say it again where they fail.
    encoder = StreamEncoder(dialect)
    decoder = StreamDecoder(dialect)
    try:
        for piece in before:
            for event in decoder.feed(piece):
                encoder.feed(event)
    except StreamError:
        pass
    failed = encoder.fail(error)
    if answer.form == "array":
        failed = b"," + to_array(failed, closed=True).removeprefix(b"[")
    return replace(answer, pieces=(*before, failed), whole=True, exact=False)
