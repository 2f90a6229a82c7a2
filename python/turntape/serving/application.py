"""The application: a request comes in, a turn goes out."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Route

from turntape.serving.answers import Speaker, error_answer
from turntape.serving.arrivals import RecordedRequest, without_credentials, without_keys
from turntape.serving.endpoints import ENDPOINTS, read_asked
from turntape.serving.playback import AS_FAST_AS_POSSIBLE
from turntape.serving.refusals import Refusal, error_of, shape_for
from turntape.serving.response import TurnResponse

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request
    from starlette.responses import Response

    from turntape.serving.answers import Answer
    from turntape.serving.endpoints import Asked, Endpoint
    from turntape.serving.library import TurnLibrary
    from turntape.serving.playback import Playback
    from turntape.serving.turns import Turn
    from turntape.wire.dialect import Dialect

__all__ = ["MAX_BODY_BYTES", "TURN_HEADER", "Application"]

logger = logging.getLogger("turntape.serving")

TURN_HEADER = "x-turntape-turn"
"""By which a request names the turn that it wants, and an answer the one that it is. Names are written as
in a URL where they are no ASCII."""

MAX_BODY_BYTES = 32 * 1024 * 1024
"""The largest body of a request that is taken."""

BODY_SECONDS = 60.0
"""How long a client may take to send a body."""


@dataclass(slots=True)
class _Exchange:
    """A request while it is answered: what is known of it so far."""

    endpoint: Endpoint | None
    dialect: Dialect
    body: bytes = b""
    asked: Asked | None = None
    turn: Turn | None = None
    error: str | None = None


class Application:
    """An ASGI application that answers at the providers' paths with turns of a library.

    Attributes:
        asgi: The application itself.

    Args:
        library: The turns.
        playback: How they are played, where a turn does not say otherwise.
        record: Gets every request, with what it got, before it is answered.
        dialect: The only dialect whose paths are there; None for all.
        max_body_bytes: A larger body is refused.
    """

    def __init__(
        self,
        library: TurnLibrary,
        *,
        playback: Playback = AS_FAST_AS_POSSIBLE,
        record: Callable[[RecordedRequest], None] | None = None,
        dialect: Dialect | None = None,
        max_body_bytes: int = MAX_BODY_BYTES,
    ) -> None:
        """Make the application; it serves when it is run."""
        self.playback = playback
        self._library = library
        self._speaker = Speaker()
        self._record = record
        self._max_body_bytes = max_body_bytes
        self._sending: set[TurnResponse] = set()
        endpoints = (end for end in ENDPOINTS if dialect is None or end.dialect is dialect)
        self.asgi = Starlette(
            routes=[
                Route(end.path, partial(self._serve, endpoint=end), methods=["POST"])
                for end in endpoints
            ],
            exception_handlers={HTTPException: self._no_path, Exception: self._broken},
        )
        # No provider has its paths with a slash behind them too.
        self.asgi.router.redirect_slashes = False

    @property
    def sending(self) -> int:
        """How many answers are being sent."""
        return len(self._sending)

    def break_off(self) -> None:
        """Break off all answers that are being sent."""
        for response in list(self._sending):
            response.break_off()

    async def _serve(self, request: Request, endpoint: Endpoint) -> Response:
        exchange = _Exchange(endpoint, endpoint.dialect)
        try:
            exchange.body = await self._read(request)
            answer = self._answer(request, exchange)
        except Refusal as refusal:
            exchange.error = refusal.message
            answer = _refused(refusal.status, refusal.message, endpoint.dialect)
        except ClientDisconnect:
            exchange.error = "the client went away before its request was whole"
            answer = _refused(400, exchange.error, endpoint.dialect)
        return self._respond(request, exchange, answer)

    def _answer(self, request: Request, exchange: _Exchange) -> Answer:
        if exchange.endpoint is None:  # the path was found, so there is one
            raise Refusal(404, "there is no such path")
        model = request.path_params.get("model")
        exchange.asked = read_asked(
            exchange.endpoint, exchange.body, model, request.query_params.get("alt")
        )
        name = request.headers.get(TURN_HEADER)
        turn = self._library.choose(exchange.asked.request, name)
        exchange.turn = turn
        return self._speaker.answer(turn, exchange.asked, turn.playback or self.playback)

    async def _read(self, request: Request) -> bytes:
        _check_type(request)
        try:
            async with asyncio.timeout(BODY_SECONDS):
                return await self._read_body(request)
        except TimeoutError:
            raise Refusal(408, f"the body did not come within {BODY_SECONDS:.0f} seconds") from None

    async def _read_body(self, request: Request) -> bytes:
        limit = self._max_body_bytes
        pieces: list[bytes] = []
        size = 0
        async for piece in request.stream():
            size += len(piece)
            if size <= limit:
                pieces.append(piece)
            else:
                # Read on for a while, or the client could not read why it is refused.
                pieces.clear()
                if size > 2 * limit:
                    break
        if size > limit:
            raise Refusal(413, f"the body has more than {limit} bytes")
        return b"".join(pieces)

    async def _no_path(self, request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        dialect = shape_for(request.url.path, request.headers)
        exchange = _Exchange(None, dialect)
        if status == 405:  # noqa: PLR2004 (its meaning is said in the next line)
            exchange.error = f"the method {request.method} is not served here: POST is"
        else:
            exchange.error = f"no path {_path(request)} is served here"
        headers = tuple((error.headers or {}).items()) if isinstance(error, HTTPException) else ()
        answer = _refused(status, exchange.error, dialect, headers)
        return self._respond(request, exchange, answer)

    async def _broken(self, request: Request, error: Exception) -> Response:
        dialect = shape_for(request.url.path, request.headers)
        exchange = _Exchange(None, dialect, error=f"a fault of the server's: {error!r}")
        answer = _refused(500, "a fault of the replay server's: see its log", dialect)
        return self._respond(request, exchange, answer)

    def _respond(self, request: Request, exchange: _Exchange, answer: Answer) -> Response:
        headers = dict(answer.headers)
        if exchange.turn is not None:
            headers[TURN_HEADER] = quote(exchange.turn.name, safe="/:~ ")
        if exchange.asked is None:
            # What is left of the body is not worth reading.
            headers["connection"] = "close"
        asked, turn = exchange.asked, exchange.turn
        recorded = RecordedRequest(
            method=request.method,
            path=_path(request),
            headers=without_credentials(request.headers.items()),
            body=exchange.body,
            status=answer.status,
            turn=None if turn is None else turn.name,
            dialect=None if exchange.endpoint is None else exchange.endpoint.dialect,
            stream=None if asked is None else asked.form != "response",
            error=exchange.error,
            notes=answer.notes,
            model=request.path_params.get("model"),
        )
        _log(recorded, answer)
        if self._record is not None:
            self._record(recorded)
        playback = self.playback
        if turn is not None and turn.playback is not None:
            playback = turn.playback
        return TurnResponse(answer, playback, headers, self._sending)


def _refused(
    status: int, message: str, dialect: Dialect, headers: tuple[tuple[str, str], ...] = ()
) -> Answer:
    return error_answer(error_of(status, message, dialect), dialect, headers)


def _check_type(request: Request) -> None:
    given = request.headers.get("content-type", "application/json")
    kind = given.partition(";")[0].strip().lower()
    if kind != "application/json" and not kind.endswith("+json"):
        raise Refusal(415, f"the content-type of a request is application/json, not {given!r}")
    encoding = request.headers.get("content-encoding", "identity")
    if encoding.strip().lower() != "identity":
        raise Refusal(415, f"no content-encoding is taken, and this is {encoding!r}")


def _path(request: Request) -> str:
    """The path as it was sent, so that nothing in it moves the lines of a log."""
    path: bytes = request.scope.get("raw_path") or quote(request.url.path).encode()
    query: bytes = request.scope.get("query_string", b"")
    sent = path.decode("latin-1")
    return f"{sent}?{without_keys(query.decode('latin-1'))}" if query else sent


def _log(request: RecordedRequest, answer: Answer) -> None:
    if request.error is not None:
        logger.warning("%s %s: %d: %s", request.method, request.path, request.status, request.error)
        return
    how = "as recorded" if answer.exact else "re-encoded"
    ending = "" if answer.whole else ", breaks off"
    codes = sorted({note.code for note in answer.notes})
    notes = f", with notes: {', '.join(codes)}" if codes else ""
    logger.info(
        "%s %s: %d: turn %s %s%s%s",
        request.method,
        request.path,
        request.status,
        request.turn,
        how,
        ending,
        notes,
    )
