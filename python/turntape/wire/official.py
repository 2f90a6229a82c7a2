"""turntape's framing inside the official ``openai`` and ``anthropic`` clients.

Both clients split a response into server-sent events with a decoder of their own, and take any object
that follows their ``SSEBytesDecoder`` protocol in its place. :class:`ClientDecoder` is one, and
:func:`use_turntape` puts it into a client:

.. code-block:: python

    client = use_turntape(openai.OpenAI())

This module imports neither client; it needs only the one that it is used with.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, cast

from turntape._native import SseDecoder
from turntape.errors import EventTooLarge

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from typing import Literal

    from anthropic._streaming import ServerSentEvent as AnthropicEvent
    from openai._streaming import ServerSentEvent as OpenAIEvent

    from turntape.events import DecodeWarning, SseEvent

__all__ = ["ClientDecoder", "anthropic_decoder", "openai_decoder", "use_turntape"]

Client = TypeVar("Client")
Event = TypeVar("Event")
Event_co = TypeVar("Event_co", covariant=True)


class EventClass(Protocol[Event_co]):
    """How a client's class of events is called."""

    def __call__(
        self,
        *,
        event: str | None,
        data: str | None,
        id: str | None,  # noqa: A002 (the clients' name for it)
        retry: int | None,
    ) -> Event_co:
        """Make an event."""
        ...


class ClientDecoder(Generic[Event]):
    """A client's ``SSEBytesDecoder`` that decodes with :class:`turntape.SseDecoder`.

    It reads one response at a time, as the client's own decoder does, and leaves the source open: the
    client's stream closes its response itself.

    Args:
        make_event: The client's class of events: ``ServerSentEvent`` of its module ``_streaming``.
        name_event: How an event is named whose wire gave no name, from its data; None leaves it without.
        eof: What happens to a last event without its blank line. The clients' own decoders discard it.
        max_event_bytes: How much data one event may have, in bytes; None for no limit.

    Raises:
        ValueError: An option has no such value.
    """

    def __init__(
        self,
        make_event: EventClass[Event],
        *,
        name_event: Callable[[str], str | None] | None = None,
        eof: Literal["flush", "discard"] = "flush",
        max_event_bytes: int | None = None,
    ) -> None:
        """Keep the options, and check them before the first response needs them."""
        self._make_event = make_event
        self._name_event = name_event
        self._eof: Literal["flush", "discard"] = eof
        self._max_event_bytes = max_event_bytes
        self._decoder = self._new_decoder()

    @property
    def warnings(self) -> tuple[DecodeWarning, ...]:
        """What was odd in the response that is being read, or was read last."""
        return self._decoder.warnings

    def iter_bytes(self, iterator: Iterator[bytes]) -> Iterator[Event]:
        """Decode a response while it comes.

        Args:
            iterator: The body in pieces of any size.

        Yields:
            The client's own events.

        Raises:
            EventTooLarge: An event is larger than allowed; every event before it has been given.
        """
        decoder = self._decoder = self._new_decoder()
        for chunk in iterator:
            events, error = _feed(decoder, chunk)
            for event in events:
                yield self._convert(event)
            if error is not None:
                raise error
        for event in decoder.finish():
            yield self._convert(event)

    async def aiter_bytes(self, iterator: AsyncIterator[bytes]) -> AsyncIterator[Event]:
        """Decode a response while it comes, asynchronously.

        Args:
            iterator: The body in pieces of any size.

        Yields:
            The client's own events.

        Raises:
            EventTooLarge: An event is larger than allowed; every event before it has been given.
        """
        decoder = self._decoder = self._new_decoder()
        async for chunk in iterator:
            events, error = _feed(decoder, chunk)
            for event in events:
                yield self._convert(event)
            if error is not None:
                raise error
        for event in decoder.finish():
            yield self._convert(event)

    def _new_decoder(self) -> SseDecoder:
        return SseDecoder(eof=self._eof, max_event_bytes=self._max_event_bytes)

    def _convert(self, event: SseEvent) -> Event:
        # The standard names an event without a name `message`; the clients expect None there.
        name = None if event.event == "message" else event.event
        if name is None and self._name_event is not None:
            name = self._name_event(event.data)
        return self._make_event(event=name, data=event.data, id=event.id, retry=event.retry)


def _feed(decoder: SseDecoder, chunk: bytes) -> tuple[list[SseEvent], EventTooLarge | None]:
    """Decode a chunk; return its events and, now instead of at the next call, the failure behind them."""
    events: list[SseEvent] = []
    try:
        events = decoder.feed(chunk)
        decoder.feed(b"")
    except EventTooLarge as error:
        return events, error
    return events, None


def openai_decoder(
    *, eof: Literal["flush", "discard"] = "flush", max_event_bytes: int | None = None
) -> ClientDecoder[OpenAIEvent]:
    """Make a decoder for one stream of the ``openai`` client.

    Args:
        eof: What happens to a last event without its blank line.
        max_event_bytes: How much data one event may have, in bytes.

    Raises:
        ImportError: ``openai`` is not installed, or its version takes no decoder.
    """
    make_event = cast("type[OpenAIEvent]", _event_class("openai"))
    return ClientDecoder(make_event, eof=eof, max_event_bytes=max_event_bytes)


def anthropic_decoder(
    *, eof: Literal["flush", "discard"] = "flush", max_event_bytes: int | None = None
) -> ClientDecoder[AnthropicEvent]:
    """Make a decoder for one stream of the ``anthropic`` client.

    The client passes over events without a name, and gateways that leave the name out, or send
    ``message``, are common enough: such an event gets the ``type`` of its payload as its name.

    Args:
        eof: What happens to a last event without its blank line.
        max_event_bytes: How much data one event may have, in bytes.

    Raises:
        ImportError: ``anthropic`` is not installed, or its version takes no decoder.
    """
    make_event = cast("type[AnthropicEvent]", _event_class("anthropic"))
    return ClientDecoder(
        make_event, name_event=_type_of_payload, eof=eof, max_event_bytes=max_event_bytes
    )


def use_turntape(
    client: Client,
    *,
    eof: Literal["flush", "discard"] = "flush",
    max_event_bytes: int | None = None,
) -> Client:
    """Have a client decode its streams with turntape.

    Only this client changes, and the copies that are made of it from now on by ``with_options`` and
    ``copy``; its class and other clients stay as they are.

    Args:
        client: An ``OpenAI``, ``AsyncOpenAI``, ``Anthropic`` or ``AsyncAnthropic``, or one of a subclass,
            such as those for Azure and Vertex.
        eof: What happens to a last event without its blank line. The clients' own decoders discard it, so
            that a cut stream looks like a short one; flushed, its half of a payload fails as JSON.
        max_event_bytes: How much data one event may have, in bytes.

    Returns:
        The same client.

    Raises:
        TypeError: This is no such client, or it decodes another wire than server-sent events, as the one
            for Bedrock does.
        ImportError: The client's version takes no decoder.
        ValueError: An option has no such value.
    """
    make_decoder = _DECODERS[_package_of(client)]
    # Says what is wrong with the client or the options now, not within the first response.
    make_decoder(eof=eof, max_event_bytes=max_event_bytes)
    attributes: dict[str, Any] = vars(client)
    attributes[_HOOK] = lambda: make_decoder(eof=eof, max_event_bytes=max_event_bytes)
    # A subclass would be inherited by copies without this, but the clients handle credentials in another
    # way for subclasses. `with_options` is an alias that does not go through `copy`.
    for name in ("copy", "with_options"):
        copy = getattr(client, name)
        if isinstance(copy, _Copy):
            copy = copy.copy
        attributes[name] = _Copy(copy, eof, max_event_bytes)
    return client


@dataclass(frozen=True, slots=True)
class _Copy:
    """A client's method that makes a copy, and has the copy use turntape too."""

    copy: Callable[..., Any]
    eof: Literal["flush", "discard"]
    max_event_bytes: int | None

    def __call__(self, *args: Any, **options: Any) -> Any:
        copied = self.copy(*args, **options)
        return use_turntape(copied, eof=self.eof, max_event_bytes=self.max_event_bytes)


# The method of a client that makes the decoder of each stream.
_HOOK = "_make_sse_decoder"
_DECODERS: dict[str, Callable[..., ClientDecoder[Any]]] = {
    "openai": openai_decoder,
    "anthropic": anthropic_decoder,
}


def _package_of(client: object) -> str:
    """Return the package that a client is from, if its streams are server-sent events."""
    cls = type(client)
    packages = [base.__module__.partition(".")[0] for base in cls.__mro__]
    package = next((package for package in packages if package in _DECODERS), None)
    if package is None:
        raise TypeError(
            f"{cls.__name__} is no client of openai or anthropic: pass an instance of one"
        )
    hook_owner = next((base for base in cls.__mro__ if _HOOK in vars(base)), None)
    if hook_owner is None:
        if any(base.__module__ == f"{package}._base_client" for base in cls.__mro__):
            raise _too_old(package)
        raise TypeError(f"{cls.__name__} is no client of {package}: pass an instance of one")
    if hook_owner.__module__ != f"{package}._base_client":
        raise TypeError(
            f"{cls.__name__} has a decoder of its own, for another wire than server-sent events"
        )
    return package


def _event_class(package: str) -> object:
    """Return a client's class of events."""
    # In both cases a dependency of the client's may be what is missing: that error says so itself.
    try:
        import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise ModuleNotFoundError(
            f"{package} is not installed: pip install 'turntape[{package}]'", name=package
        ) from error
    try:
        streaming = import_module(f"{package}._streaming")
    except ModuleNotFoundError as error:
        if error.name != f"{package}._streaming":
            raise
        raise _too_old(package) from error
    if not hasattr(streaming, "SSEBytesDecoder"):
        raise _too_old(package)
    return streaming.ServerSentEvent


def _too_old(package: str) -> ImportError:
    return ImportError(
        f"this version of {package} takes no decoder: pip install 'turntape[{package}]'",
        name=package,
    )


def _type_of_payload(data: str) -> str | None:
    """Return the ``type`` of a JSON object, None for what is none or has none."""
    try:
        payload = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(payload, dict):
        return None
    kind = cast("dict[str, object]", payload).get("type")
    return kind if isinstance(kind, str) else None
