"""The two ways in: a history alone, and a whole request."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from turntape.wire.dialect import Dialect
from turntape.wire.inbound.parts import RequestParts
from turntape.wire.inbound.raw import Members, Raw, source_text
from turntape.wire.inbound.reader import Reader

if TYPE_CHECKING:
    from collections.abc import MutableSequence
    from typing import Protocol

    from turntape.conversation import Message
    from turntape.notes import ReplayNote
    from turntape.requests import ModelRequest

    class _Wire(Protocol):
        """What the module of a wire has."""

        def read_messages(self, reader: Reader, history: Raw, /) -> list[Message]: ...

        def read_request(self, parts: RequestParts, /) -> ModelRequest: ...


__all__ = ["from_provider_messages", "from_request", "read_history", "read_request"]

_MODULES = {
    Dialect.ANTHROPIC: ("anthropic", "messages"),
    Dialect.OPENAI_CHAT: ("openai_chat", "messages"),
    Dialect.OPENAI_RESPONSES: ("openai_responses", "input"),
    Dialect.GEMINI: ("gemini", "contents"),
    Dialect.BEDROCK_CONVERSE: ("bedrock", "messages"),
}


def _wire(name: str) -> _Wire:
    module: Any = import_module(f"turntape.wire.inbound.{name}")
    return cast("_Wire", module)


def from_provider_messages(
    history: Any,
    dialect: Dialect | str,
    *,
    vendor: str | None = None,
    model: str | None = None,
    notes: MutableSequence[ReplayNote] | None = None,
) -> list[Message]:
    """Read a history that a host keeps in a provider's own form.

    Args:
        history: The list that stands in the request's body: ``messages`` (Anthropic, Chat, Bedrock),
            ``input`` (Responses) or ``contents`` (Gemini). JSON text or UTF-8 bytes of it, or Python
            values: what JSON can hold, bytes, and the objects of the official clients. From text the
            arguments of calls keep their bytes.
        dialect: The wire.
        vendor: Who made the model's turns, and so who accepts their signatures; None where ``model`` tells.
        model: Which model made them. Without either, a later request cannot know whose signatures they
            carry.
        notes: Gets a note for whatever could not be kept. Cache marks are a request's, and are left out:
            :func:`from_request` reads them.

    Returns:
        The messages. On Chat and Responses the results of one round become one message, and on Responses
        so do the items of one turn.

    Raises:
        InvalidRequest: Something in it cannot be read; ``index`` and ``block`` say where.

    >>> from_provider_messages([{"role": "user", "content": "Hi."}], "openai-chat")[0].content[0].text
    'Hi.'
    """
    reader = Reader(Dialect(dialect), vendor, model, notes)
    return read_history(reader, history)


def from_request(
    body: Any,
    dialect: Dialect | str,
    *,
    vendor: str | None = None,
    model: str | None = None,
    target: Dialect | str | None = None,
    notes: MutableSequence[ReplayNote] | None = None,
) -> ModelRequest:
    """Read the whole body of a request.

    What a :class:`ModelRequest` has no place for stands in its ``extra``, so that building for the same
    wire gives it back. Cache marks become the :class:`CachePolicy`.

    Args:
        body: The body: JSON text or UTF-8 bytes, or Python values, as of :func:`from_provider_messages`.
        dialect: The wire.
        vendor: Who made the model's turns in it.
        model: The model's id where the body does not name it (Gemini and Bedrock have it in the path), or
            another one than it names. The turns in the history count as made by the one it names.
        target: The wire that the request is meant for, if it is another: what only the body's own knows is
            then left out, each with a note. Tools of the provider's own stay, and building refuses them.
        notes: Gets a note for whatever could not be kept.

    Raises:
        InvalidRequest: Something in it cannot be read; ``index`` and ``block`` say where.

    >>> body = {"model": "m", "messages": [{"role": "user", "content": "Hi."}], "seed": 7}
    >>> request = from_request(body, "openai-chat")
    >>> request.model, request.stream, request.extra
    ('m', False, {'seed': 7})
    """
    reader = Reader(Dialect(dialect), vendor, notes=notes)
    return read_request(reader, body, model, None if target is None else Dialect(target))


def read_history(reader: Reader, history: Any) -> list[Message]:
    """Read a history with a reader that the caller asks more of afterwards."""
    module, name = _MODULES[reader.dialect]
    return _wire(module).read_messages(reader, Raw(source_text(history), key=name))


def read_request(
    reader: Reader, body: Any, model: str | None, target: Dialect | None
) -> ModelRequest:
    """Read a body with a reader that the caller asks more of afterwards."""
    reader.keeps_marks = True
    parts = RequestParts(reader, Members(Raw(source_text(body))), target, model)
    return _wire(_MODULES[reader.dialect][0]).read_request(parts)
