r"""Transcript rows: what is stored of a conversation, one value a row.

>>> row = TranscriptMessage.assistant_with_calls("on it", [NativeToolCall("c1", "ls", "{}")])
>>> row.role, row.content, row.tool_calls[0].name
('assistant', 'on it', 'ls')
>>> TranscriptMessage.user_with_parts([TextPart("see "), ImagePart("a.png")]).content
'see '
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, MISSING, dataclass, field, fields
from typing import Any, Literal, TypeAlias, cast

from turntape.dict_form import DictForm
from turntape.events import Usage
from turntape.replay.envelopes import NativeToolCall
from turntape.replay.markers import ImagePart, TextPart

__all__ = [
    "INCOMPLETE",
    "STORED",
    "STORED_VERSION",
    "AudioPart",
    "DocumentPart",
    "PathRef",
    "ToolFailure",
    "TranscriptMessage",
    "TranscriptPart",
    "UrlRef",
    "VideoPart",
    "incomplete_calls",
    "is_inline",
    "legacy_memory",
    "line_memory",
    "remember",
    "stored_beside",
]

STORED = "turntape"
"""Under which name a row's metadata keeps what this package stores beside the row's fields."""

INCOMPLETE = "incomplete"
"""Under which name the ids of calls that never came whole stand there, as the names of an object: what
redacts values leaves names alone."""

STORED_VERSION = 1
"""Which version of it this is; a row with another one is read by its fields."""

# What readers of URLs skip: control characters and spaces before the scheme, tabs and line ends inside it.
_INLINE = re.compile(r"[\x00-\x20]*d[\t\n\r]*a[\t\n\r]*t[\t\n\r]*a[\t\n\r]*:", re.IGNORECASE)


def is_inline(url: str) -> bool:
    """Whether a URL carries the bytes themselves, as data URIs do."""
    return _INLINE.match(url) is not None


@dataclass(frozen=True, slots=True)
class PathRef(DictForm):
    """A medium in a file of the host's.

    Attributes:
        path: The file, in the host's words. It is never opened here.
        type: The constant ``path``.
    """

    type: Literal["path"] = field(default="path", kw_only=True, repr=False)
    path: str


@dataclass(frozen=True, slots=True)
class UrlRef(DictForm):
    """A medium that somebody else keeps.

    Attributes:
        url: Where it is; never fetched here, and never a data URI: a row holds no bytes of sound, film or
            documents.
        type: The constant ``url``.

    Raises:
        ValueError: ``url`` is a data URI.
    """

    type: Literal["url"] = field(default="url", kw_only=True, repr=False)
    url: str

    def __post_init__(self) -> None:
        """Refuse inline bytes."""
        if is_inline(self.url):
            raise ValueError(
                "a row refers to sound, film and documents: a data URI carries the bytes"
            )


class _Referring(DictForm):
    """A part whose bytes are elsewhere."""

    __slots__ = ()

    def __post_init__(self) -> None:
        """Refuse anything but a reference."""
        source: object = getattr(self, "source", None)
        if not isinstance(source, PathRef | UrlRef):
            name = type(self).__name__
            raise TypeError(
                f"the source of {name} is a PathRef or a UrlRef, not {type(source).__name__}"
            )


@dataclass(frozen=True, slots=True)
class AudioPart(_Referring):
    """A sound of a row.

    Attributes:
        source: Where its bytes are.
        mime_type: Its MIME type; ``application/octet-stream`` where nobody said.
        type: The constant ``audio``.
    """

    type: Literal["audio"] = field(default="audio", kw_only=True, repr=False)
    source: PathRef | UrlRef
    mime_type: str


@dataclass(frozen=True, slots=True)
class VideoPart(_Referring):
    """A film of a row.

    Attributes:
        source: Where its bytes are.
        mime_type: As of :class:`AudioPart`.
        type: The constant ``video``.
    """

    type: Literal["video"] = field(default="video", kw_only=True, repr=False)
    source: PathRef | UrlRef
    mime_type: str


@dataclass(frozen=True, slots=True)
class DocumentPart(_Referring):
    """A document of a row.

    Attributes:
        source: Where its bytes are.
        mime_type: As of :class:`AudioPart`.
        type: The constant ``document``.
    """

    type: Literal["document"] = field(default="document", kw_only=True, repr=False)
    source: PathRef | UrlRef
    mime_type: str


TranscriptPart: TypeAlias = TextPart | ImagePart | AudioPart | VideoPart | DocumentPart
"""A part of a row, told apart by ``type``."""


@dataclass(frozen=True, slots=True)
class ToolFailure(DictForm):
    """That a tool failed, beside what it answered.

    Attributes:
        detail: Why, for people; may be empty.
    """

    detail: str = ""


# Slots by hand, as of `NativeToolCall`: what a row was read from is no field. It must neither be compared
# nor be shown nor get into `asdict`, and `dataclasses.replace`, which is how a row is edited, leaves it
# behind, because it calls the class with the fields.
@dataclass(frozen=True, init=False)
class TranscriptMessage(DictForm):
    """One row of a transcript.

    A row is edited with ``dataclasses.replace``. What it was read from (``legacy_content``) is forgotten
    then; copies and pickles, which are not edited, keep it. Two rows are equal if their fields are. The
    hash leaves out what may be a dict.

    Attributes:
        role: Who says it: ``system``, ``user``, ``assistant``, ``tool``, or a role of the host's own.
        content: What is said; always plain text, never an envelope once the row is ``normalized``.
        id: The row's identity, in the host's words.
        tool_calls: The calls of an assistant row.
        tool_call_id: For a tool's result, the id of the call that it answers.
        parts: The content in order, with its media; None for a row without parts, an empty tuple for a
            part list that is empty.
        extra_metadata: What the host keeps beside the row. ``reasoning_content`` and ``turntape`` in it
            have a meaning here.
        cache_breakpoints: The parts after which a prompt cache may end, by index.
        request_id: The request that the row came from.
        interrupted: Whether the turn was cut. Such a row is shown, and left out of replay.
        tool_failure: For a tool's result, that the tool failed.
        usage: The tokens of the turn.
        model: The model that answered.
        stop_reason: Why the turn stopped: a :data:`StopReason`, or what another program wrote.
        created_at: When, as RFC 3339 says it.
        extra: Members that this version does not know, as they were read.

    Raises:
        TypeError: ``role`` or ``content`` is no string, or a list stands for a tuple.

    >>> from dataclasses import replace
    >>> row = TranscriptMessage("user", "the key is 1234", id="r1")
    >>> replace(row, content="the key is [gone]").content
    'the key is [gone]'
    """

    __slots__ = (
        "_legacy",
        "_line",
        "cache_breakpoints",
        "content",
        "created_at",
        "extra",
        "extra_metadata",
        "id",
        "interrupted",
        "model",
        "parts",
        "request_id",
        "role",
        "stop_reason",
        "tool_call_id",
        "tool_calls",
        "tool_failure",
        "usage",
    )

    role: str
    content: str
    _: KW_ONLY
    id: str | None
    tool_calls: tuple[NativeToolCall, ...]
    tool_call_id: str | None
    parts: tuple[TranscriptPart, ...] | None
    extra_metadata: Mapping[str, Any] | None
    cache_breakpoints: tuple[int, ...]
    request_id: str | None
    interrupted: bool
    tool_failure: ToolFailure | None
    usage: Usage | None
    model: str | None
    stop_reason: str | None
    created_at: str | None
    extra: Mapping[str, Any]

    def __init__(
        self,
        role: str,
        content: str,
        *,
        id: str | None = None,  # noqa: A002 (what it is called on every tape)
        tool_calls: tuple[NativeToolCall, ...] = (),
        tool_call_id: str | None = None,
        parts: tuple[TranscriptPart, ...] | None = None,
        extra_metadata: Mapping[str, Any] | None = None,
        cache_breakpoints: tuple[int, ...] = (),
        request_id: str | None = None,
        interrupted: bool = False,
        tool_failure: ToolFailure | None = None,
        usage: Usage | None = None,
        model: str | None = None,
        stop_reason: str | None = None,
        created_at: str | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        """Make a row from its fields."""
        if not (isinstance(cast("object", role), str) and isinstance(cast("object", content), str)):
            raise TypeError("the role and the content of a row are strings")
        _tuple("tool_calls", tool_calls)
        _tuple("cache_breakpoints", cache_breakpoints)
        if parts is not None:
            _tuple("parts", parts)
        _set(self, "role", role)
        _set(self, "content", content)
        _set(self, "id", id)
        _set(self, "tool_calls", tool_calls)
        _set(self, "tool_call_id", tool_call_id)
        _set(self, "parts", parts)
        _set(self, "extra_metadata", extra_metadata)
        _set(self, "cache_breakpoints", cache_breakpoints)
        _set(self, "request_id", request_id)
        _set(self, "interrupted", interrupted)
        _set(self, "tool_failure", tool_failure)
        _set(self, "usage", usage)
        _set(self, "model", model)
        _set(self, "stop_reason", stop_reason)
        _set(self, "created_at", created_at)
        _set(self, "extra", {} if extra is None else extra)

    def __hash__(self) -> int:
        """Hash what cannot be a dict."""
        return hash((self.role, self.content, self.id, self.tool_calls, self.tool_call_id))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy with what the row was read from."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        return _row, (type(self), values, legacy_memory(self), line_memory(self))

    def legacy_content(self) -> str:
        """The row as the one string of a flat history.

        Of a row that ``normalized`` lifted from such a string, that very string. Of any other: an assistant
        envelope where there are calls, a tool envelope where there is a ``tool_call_id``, the text with
        image markers where there are parts, else the content. Sound, film and documents have no marker and
        are left out.

        Raises:
            EnvelopeError: An envelope cannot hold the row, such as one with half of a surrogate pair, or with a
                call that is not complete.

        >>> TranscriptMessage.tool_result("c1", "ok").legacy_content()
        '{"content":"ok","tool_call_id":"c1"}'
        """
        # What lifts and what packs stands to the right of the rows.
        from turntape.transcript.lifting import legacy_content  # noqa: PLC0415

        return legacy_content(self)

    @classmethod
    def system(cls, content: str) -> TranscriptMessage:
        """What the host says."""
        return cls("system", content)

    @classmethod
    def user(cls, content: str) -> TranscriptMessage:
        """What the user says, literally: markers in it stay text."""
        return cls("user", content)

    @classmethod
    def assistant(cls, content: str) -> TranscriptMessage:
        """What the model says."""
        return cls("assistant", content)

    @classmethod
    def tool(cls, content: str, *, id: str | None = None) -> TranscriptMessage:  # noqa: A002
        """What a tool says, as a flat history shows it: no call is named, and it cannot be replayed.

        Args:
            content: The text.
            id: The row's identity.
        """
        return cls("tool", content, id=id)

    @classmethod
    def assistant_with_calls(
        cls, content: str, tool_calls: Iterable[NativeToolCall]
    ) -> TranscriptMessage:
        """What the model says, and what it calls.

        Args:
            content: The text, may be empty.
            tool_calls: The calls in their order.
        """
        return cls("assistant", content, tool_calls=tuple(tool_calls))

    @classmethod
    def tool_result(
        cls, tool_call_id: str, content: str, *, failure: ToolFailure | None = None
    ) -> TranscriptMessage:
        """What a tool answered.

        Args:
            tool_call_id: The id of the call that it answers.
            content: The answer.
            failure: That the tool failed.
        """
        return cls("tool", content, tool_call_id=tool_call_id, tool_failure=failure)

    @classmethod
    def user_with_parts(cls, parts: Iterable[TranscriptPart]) -> TranscriptMessage:
        """What the user says and shows.

        Args:
            parts: Texts and media in their order. The content is the texts, joined; the parts are kept only
                if one is not a text.

        >>> TranscriptMessage.user_with_parts([TextPart("a"), TextPart("b")]).parts is None
        True
        """
        listed = tuple(parts)
        text = "".join(part.text for part in listed if isinstance(part, TextPart))
        shown = any(not isinstance(part, TextPart) for part in listed)
        return cls("user", text, parts=listed if shown else None)


_set = object.__setattr__
# Defaults in the class body would be in the way of the slots; whoever asks the fields learns of them here.
_FIELDS = TranscriptMessage.__dataclass_fields__
for _name, _default in cast("dict[str, Any]", TranscriptMessage.__init__.__kwdefaults__).items():
    _FIELDS[_name].default = _default
_FIELDS["extra"].default = MISSING
_FIELDS["extra"].default_factory = dict


def _tuple(name: str, value: object) -> None:
    if not isinstance(value, tuple):
        raise TypeError(f"{name} of a row is a tuple, not {type(value).__name__}")


def remember(
    row: TranscriptMessage, *, legacy: str | None = None, line: str | bytes | None = None
) -> TranscriptMessage:
    """Have a fresh row remember what it was read from; give it back.

    Only for those who have just made the row, and nobody else holds it.

    Args:
        row: The row.
        legacy: The string of a flat history that it was lifted from.
        line: The line of a tape that it was read from, without its end.
    """
    _set(row, "_legacy", legacy)
    _set(row, "_line", line)
    return row


def legacy_memory(row: TranscriptMessage) -> str | None:
    """The string that a row was lifted from, None where there is none.

    Whoever uses it makes sure that the row still says the same: a dict in the row can be changed in place.
    """
    # A row that was made without `__init__` has empty slots.
    return getattr(row, "_legacy", None)


def line_memory(row: TranscriptMessage) -> str | bytes | None:
    """The line that a row was read from, None where there is none; as of ``legacy_memory``."""
    return getattr(row, "_line", None)


def stored_beside(row: TranscriptMessage) -> Mapping[str, Any] | None:
    """What this package stored beside a row's fields, None where there is nothing that it can read."""
    if not row.extra_metadata:
        return None
    stored: object = row.extra_metadata.get(STORED)
    if not isinstance(stored, Mapping):
        return None
    members = cast("Mapping[str, Any]", stored)
    version = members.get("v")
    return members if type(version) is int and version == STORED_VERSION else None


def incomplete_calls(row: TranscriptMessage) -> frozenset[str]:
    """The ids of the calls of a row that never came whole."""
    ids: object = (stored_beside(row) or {}).get(INCOMPLETE)
    return frozenset(cast("Mapping[str, Any]", ids)) if isinstance(ids, Mapping) else frozenset()


def _row(
    cls: type[TranscriptMessage],
    values: dict[str, Any],
    legacy: str | None,
    line: str | bytes | None,
) -> TranscriptMessage:
    return remember(cls(**values), legacy=legacy, line=line)
