"""The server under the application: its socket, its thread, and its end."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import signal
import socket
import threading
from typing import TYPE_CHECKING, Any, Protocol

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    from collections.abc import Generator

    from starlette.types import ASGIApp

__all__ = ["LOOPBACK", "Server", "ServerThread", "is_loopback", "listen"]

LOOPBACK = "127.0.0.1"
"""The host unless another one is asked for."""

# Answers that break off are no faults of the application, which is all that uvicorn can take them for.
_BROKEN_OFF = "ASGI callable returned without completing response."

_http_logger = logging.getLogger("turntape.serving.http")
_http_logger.addFilter(lambda record: record.msg != _BROKEN_OFF)


class Served(Protocol):
    """What a server serves."""

    @property
    def asgi(self) -> ASGIApp:
        """The application."""
        ...

    def break_off(self) -> None:
        """Break off all answers that are being sent."""
        ...


class _Protocol(H11Protocol):
    """HTTP, with a log of its own."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.logger = _http_logger
        self.access_log = False


def is_loopback(host: str) -> bool:
    """Tell whether only this machine reaches a host.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def listen(host: str, port: int) -> socket.socket:
    """Bind a socket.

    Args:
        host: A name or an address.
        port: The port; 0 for any that is free.

    Raises:
        OSError: It cannot be bound.
    """
    family, kind, protocol, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP
    )[0]
    # With the protocol said: asyncio looks at it before it has small pieces sent without a delay.
    bound = socket.socket(family, kind, protocol)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen(_BACKLOG)
    except OSError:
        bound.close()
        raise
    return bound


# Hundreds of clients that come at once wait here until they are taken.
_BACKLOG = 2048


class Server(uvicorn.Server):
    """Serves an application on one socket, until it is told to stop.

    Args:
        application: The application.
        bound: The socket.
        grace: How many seconds answers that are being sent have when it stops.
    """

    def __init__(self, application: Served, bound: socket.socket, *, grace: float) -> None:
        """Prepare the server."""
        # Twice the time, for clients that do not even read what was sent.
        config = uvicorn.Config(
            application.asgi,
            http=_Protocol,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            backlog=_BACKLOG,
            timeout_graceful_shutdown=int(grace) + 1,
        )
        super().__init__(config)
        self._application = application
        self._bound = bound
        self._grace = grace
        self._stopping: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self.ready = threading.Event()

    @property
    def url(self) -> str:
        """Where it listens."""
        host, port = self._bound.getsockname()[:2]
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    def stop(self) -> None:
        """Ask it to stop, from any thread."""
        self.should_exit = True
        if self._loop is not None and self._stopping is not None:
            with contextlib.suppress(RuntimeError):  # it has stopped by itself
                self._loop.call_soon_threadsafe(self._stopping.set)

    def run_until_stopped(self) -> None:
        """Serve. In the main thread SIGINT and SIGTERM stop it; a second one does so at once."""
        asyncio.run(self.serve(sockets=[self._bound]))

    async def main_loop(self) -> None:
        """Wait for the end, and do meanwhile what the base does ten times a second."""
        self._loop = asyncio.get_running_loop()
        self._stopping = asyncio.Event()
        self.ready.set()
        ticks = 0
        while not await self.on_tick(ticks):
            ticks += 1
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), 0.1)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let answers end that are being sent, for the time that they are given."""
        loop = asyncio.get_running_loop()
        loop.call_later(self._grace, self._break_off)
        await super().shutdown(sockets)

    def _break_off(self) -> None:
        """End all answers, also those that were made and that nobody reads."""
        self._application.break_off()
        for connection in list(self.server_state.connections):
            transport: asyncio.Transport | None = getattr(connection, "transport", None)
            if transport is not None:
                transport.abort()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        """Stop at a signal, and count that as an end, not as a death."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {
            number: signal.signal(number, self._take_signal)
            for number in (signal.SIGINT, signal.SIGTERM)
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _take_signal(self, _number: int, _frame: object) -> None:
        if self.should_exit:
            self.force_exit = True
            self._break_off()
        self.stop()


class ServerThread:
    """A server that runs in a thread of its own.

    Args:
        application: The application.
        host: Where it listens.
        port: The port; 0 for any that is free.

    Raises:
        OSError: The socket cannot be bound.
    """

    def __init__(self, application: Served, host: str = LOOPBACK, port: int = 0) -> None:
        """Start it; it serves when this returns."""
        self._server = Server(application, listen(host, port), grace=0)
        self._failure: BaseException | None = None
        self.url = self._server.url
        self._thread = threading.Thread(target=self._run, name="turntape-replay", daemon=True)
        self._thread.start()
        self._server.ready.wait()
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        try:
            self._server.run_until_stopped()
        except BaseException as error:
            self._failure = error
            raise
        finally:
            # Whoever waits for it must not wait for ever.
            self._server.ready.set()

    def stop(self) -> None:
        """Stop it, and wait until it has; answers that are being sent break off."""
        self._server.stop()
        self._thread.join()
