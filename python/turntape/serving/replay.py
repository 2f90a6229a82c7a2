"""A replay server in this process, for tests."""

from __future__ import annotations

import os
import re
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from turntape.serving.application import MAX_BODY_BYTES, Application
from turntape.serving.library import TurnLibrary
from turntape.serving.loading import load
from turntape.serving.matching import latest
from turntape.serving.playback import CutAt, Playback
from turntape.serving.server import LOOPBACK, ServerThread
from turntape.serving.turns import Failure, failing_turn, turn_of
from turntape.wire.dialect import Dialect

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType
    from typing import Self

    from turntape.requests import ModelRequest
    from turntape.serving.arrivals import RecordedRequest
    from turntape.serving.library import Choice
    from turntape.serving.playback import Ending
    from turntape.serving.turns import Content

__all__ = ["Client", "ReplayServer"]

Client: TypeAlias = Literal["anthropic", "openai", "google-genai"]
"""Clients whose base URL is known."""

# What each wants as its base URL beyond the server's own.
_BASE_PATHS: dict[str, str] = {
    Dialect.ANTHROPIC: "",
    Dialect.OPENAI_CHAT: "/v1",
    Dialect.OPENAI_RESPONSES: "/v1",
    Dialect.GEMINI: "",
    "openai": "/v1",
    "google-genai": "",
}


# A name that is a token, and a value of visible characters of Latin-1, in which headers are sent.
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"|[!-~\xa1-\xff](?:[\t -~\xa1-\xff]*[!-~\xa1-\xff])?")

# How a body ends is for the server to say.
_FRAMING = frozenset({"connection", "content-length", "transfer-encoding"})


class ReplayServer:
    """A server on this machine that answers as a provider does, with turns that it is given.

    It serves from when it is made, or entered, until it is closed. Every method may be called from any
    thread, at any time.

    Attributes:
        url: Where it listens, without a path.
        playback: How turns are played that do not say otherwise.

    Args:
        paths: Recorded bodies, tapes and folders of them, as ``turntape serve`` takes them.
        choice: ``order`` gives the turns out one after the other, ``content`` by what was asked.
        loop: Whether the first turn comes again after the last.
        tempo: How fast turns are played: 1 is a pace that is typical of providers, 0 without any pause.
        chunk: How many bytes are sent at a time; None for what the pace asks for.
        ending: How an answer ends that breaks off: as a ``lost`` connection, or ``clean``.
        dialect: The only dialect whose paths are there; None for all.
        max_body_bytes: A larger request is refused.
        host: Where it listens; it is not meant for other machines.
        port: The port; 0 for any that is free.

    Raises:
        UnreadableRecording: A file is no recorded turn.
        OSError: It cannot listen there.

    >>> import json, urllib.request
    >>> with ReplayServer() as server:
    ...     server.add("It leaves at noon.", name="ferry")
    ...     body = {"model": "m", "messages": [{"role": "user", "content": "When?"}]}
    ...     request = urllib.request.Request(
    ...         f"{server.base_url_for('openai')}/chat/completions",
    ...         json.dumps(body).encode(),
    ...         {"content-type": "application/json"},
    ...     )
    ...     with urllib.request.urlopen(request) as response:
    ...         json.load(response)["choices"][0]["message"]["content"]
    ...     server.requests[0].request.messages[0].content[0].text
    'It leaves at noon.'
    'When?'
    """

    def __init__(
        self,
        *paths: str | os.PathLike[str],
        choice: Choice = "order",
        loop: bool = False,
        tempo: float = 0.0,
        chunk: int | None = None,
        ending: Ending = "lost",
        dialect: Dialect | str | None = None,
        max_body_bytes: int = MAX_BODY_BYTES,
        host: str = LOOPBACK,
        port: int = 0,
    ) -> None:
        """Load the turns and start to serve."""
        self.playback = Playback(tempo=tempo, chunk=chunk, ending=ending)
        self._library = TurnLibrary(load(paths), choice=choice, loop=loop)
        self._requests: list[RecordedRequest] = []
        self._lock = threading.Lock()
        self._made = 0
        self._application = Application(
            self._library,
            playback=self.playback,
            record=self._record,
            dialect=None if dialect is None else Dialect(dialect),
            max_body_bytes=max_body_bytes,
        )
        self._thread = ServerThread(self._application, host, port)
        self.url = self._thread.url

    def __enter__(self) -> Self:
        """Use the server; it is closed at the end."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the server."""
        self.close()

    def __repr__(self) -> str:
        """Name where it listens."""
        return f"ReplayServer({self.url!r})"

    def close(self) -> None:
        """Stop; answers that are being sent break off. Doing so again does nothing."""
        self._thread.stop()

    def base_url_for(self, client: Client | Dialect | str) -> str:
        """The base URL that a client wants.

        Args:
            client: ``anthropic``, ``openai`` or ``google-genai`` for the official clients, or a dialect for
                any client of it.

        Raises:
            ValueError: It is none of them.

        >>> with ReplayServer() as server:
        ...     server.base_url_for("openai") == f"{server.url}/v1"
        True
        """
        path = _BASE_PATHS.get(client)
        if path is None:
            known = ", ".join(_BASE_PATHS)
            raise ValueError(f"no client is called {client!r}: {known} are known")
        return self.url + path

    # What it serves ------------------------------------------------------------------------------

    def add(
        self,
        content: Content | os.PathLike[str],
        *,
        name: str | None = None,
        dialect: Dialect | str | None = None,
        when: str | Callable[[ModelRequest], bool] | None = None,
        tempo: float | None = None,
        chunk: int | None = None,
        cut_at: int | str | None = None,
        error_at: int | None = None,
        error_status: int = 529,
        error_message: str = "Overloaded",
        ending: Ending | None = None,
    ) -> None:
        """Add a turn behind the others.

        Args:
            content: A path (a recorded body, a tape or a folder: all turns in it), the bytes of a recorded
                body, a text that the model says, blocks, a message, or events.
            name: By which a request can ask for it; made up where it is None. With a path only the turn
                of a file takes it.
            dialect: The dialect of a body that does not tell by itself, or of events and blocks that came
                from a wire.
            when: Which requests it answers: those in which the user or a tool last said this text, or those
                for which this gives true. Such a turn is served as often as it is asked for, before the
                others, and is not in their order.
            tempo: How fast it is played, other than the others are.
            chunk: How many bytes of it are sent at a time.
            cut_at: After how many events it breaks off, or bytes: ``"500b"``.
            error_at: After how many events an error takes the place of the rest; 0 for an HTTP error.
            error_status: The status of that error.
            error_message: Its words.
            ending: How it ends where it breaks off.

        Raises:
            UnreadableRecording: It is no recorded turn.
            ValueError: The name is taken, or an option has no such value.
        """
        playback = Playback(
            tempo=self.playback.tempo if tempo is None else tempo,
            chunk=self.playback.chunk if chunk is None else chunk,
            cut_at=None if cut_at is None else CutAt.parse(cut_at),
            error_at=error_at,
            error_status=error_status,
            error_message=error_message,
            ending=ending or self.playback.ending,
        )
        known = None if dialect is None else Dialect(dialect)
        if isinstance(content, os.PathLike):
            turns = list(load([content], known))
            if name is not None and len(turns) != 1:
                raise ValueError(f"{content} holds {len(turns)} turns: one name is for one")
        else:
            turns = [turn_of(name or self._free_name(), content, known)]
        for turn in turns:
            self._library.add(
                replace(turn, name=name or turn.name, condition=_condition(when), playback=playback)
            )

    def fail(
        self,
        status: int,
        message: str = "The replay server was told to fail.",
        *,
        kind: str | None = None,
        headers: Mapping[str, str] | None = None,
        when: str | Callable[[ModelRequest], bool] | None = None,
        name: str | None = None,
    ) -> None:
        """Add an HTTP error behind the turns, in the shape of the provider that is asked.

        Args:
            status: The status, 400 to 599.
            message: The words.
            kind: The provider's name for it; None for the one that goes with the status.
            headers: More headers, such as ``retry-after``.
            when: As of ``add``.
            name: As of ``add``.

        Raises:
            ValueError: The status is none of an error, or a header cannot be sent.
        """
        if not 400 <= status <= 599:  # noqa: PLR2004 (the statuses that are errors)
            raise ValueError("the status of an error is 400 to 599")
        sent = tuple((headers or {}).items())
        for header, value in sent:
            _check_header(header, value)
        failure = Failure(status, message, kind, sent)
        turn = failing_turn(name or self._free_name(), failure)
        self._library.add(replace(turn, condition=_condition(when)))

    def clear(self) -> None:
        """Forget all turns and all requests."""
        self._library.clear()
        with self._lock:
            self._requests.clear()

    # What came in --------------------------------------------------------------------------------

    @property
    def requests(self) -> list[RecordedRequest]:
        """The requests so far, in the order in which they were answered."""
        with self._lock:
            return list(self._requests)

    @property
    def unserved(self) -> list[str]:
        """The names of the turns that nobody got yet."""
        return self._library.unserved()

    @property
    def sending(self) -> int:
        """How many answers are being sent just now, of those that take their time."""
        return self._application.sending

    def _record(self, request: RecordedRequest) -> None:
        with self._lock:
            self._requests.append(request)

    def _free_name(self) -> str:
        taken = {turn.name for turn in self._library.turns()}
        with self._lock:
            while True:
                self._made += 1
                name = f"turn-{self._made}"
                if name not in taken:
                    return name


def _check_header(name: object, value: object) -> None:
    if (
        not isinstance(name, str)
        or not isinstance(value, str)
        or _HEADER_NAME.fullmatch(name) is None
        or _HEADER_VALUE.fullmatch(value) is None
        or name.lower() in _FRAMING
    ):
        raise ValueError(f"{name!r}: {value!r} is no header that can be sent")


def _condition(
    when: str | Callable[[ModelRequest], bool] | None,
) -> Callable[[ModelRequest], bool] | None:
    if not isinstance(when, str):
        return when
    return lambda request: any(when in part for key in latest(request.messages) for part in key[1:])
