r"""Rows to the lines of a tape and back: two pure functions, without any file.

A line is an object of JSON in canonical form v1, but for the order of its own members, which is that of
``LINE_MEMBERS``. Of a row that was read and not edited the line is the one that it was read from, byte for
byte.

>>> line = encode_line(TranscriptMessage.tool_result("c1", "ok"))
>>> print(line.decode())
{"role":"tool","content":"ok","v":2,"shape":"tool_result","tool_call_id":"c1"}
>>> decode_line(line)
TranscriptMessage(role='tool', content='ok', id=None, tool_calls=(), tool_call_id='c1', ...)
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias, TypeGuard

from turntape._native import extra_content_text, read_lines, write_line
from turntape.dict_form import read_value, write_value
from turntape.errors import EnvelopeError
from turntape.events import Usage
from turntape.replay.envelopes import (
    NativeToolCall,
    parse_assistant_envelope,
    parse_canonical_assistant_envelope,
    parse_canonical_tool_envelope,
)
from turntape.replay.markers import ImagePart, TextPart, has_image_parts
from turntape.transcript.lifting import normalized
from turntape.transcript.members import UnknownMembers, member_texts
from turntape.transcript.reasoning import REASONING
from turntape.transcript.rows import (
    AudioPart,
    DocumentPart,
    ToolFailure,
    TranscriptMessage,
    VideoPart,
    legacy_memory,
    line_memory,
    remember,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from turntape.transcript.rows import TranscriptPart

__all__ = [
    "LINE_MEMBERS",
    "LINE_VERSION",
    "FaultCode",
    "OpaqueCode",
    "OpaqueText",
    "UnreadableText",
    "decode_by_rules",
    "decode_line",
    "encode_line",
]

LINE_VERSION = 2
"""The version of typed lines."""

LINE_MEMBERS = (
    "role",
    "content",
    "tool_calls",
    "parts",
    "v",
    "shape",
    "tool_call_id",
    "id",
    "request_id",
    "model",
    "created_at",
    "stop_reason",
    "usage",
    "interrupted",
    "tool_failure",
    "cache_breakpoints",
    "extra_metadata",
)
"""The members of a line in their order; those that this version does not know come last, as they were read.

Every one but ``role`` and ``content`` is left out where the row's field holds its default; ``v`` and
``shape`` where the row is plain.
"""

FaultCode: TypeAlias = Literal["not_utf8", "not_json", "foreign", "too_long"]
"""Why a line is no row: its bytes are no text, its text is no JSON, its JSON is no row, or nobody looked."""

OpaqueCode: TypeAlias = Literal["newer_version", "unknown_shape", "missing_field", "number"]
"""Why a line is kept as it is: a later turntape wrote it, or it holds a number of more digits than Python
reads.
"""


@dataclass(frozen=True, slots=True)
class UnreadableText:
    """What ``decode_line`` says of a line that is no row.

    Attributes:
        code: Why.
        detail: The same for people, without anything of the line's content.
    """

    code: FaultCode
    detail: str


@dataclass(frozen=True, slots=True)
class OpaqueText:
    """What ``decode_line`` says of a line that is to be kept untouched.

    Attributes:
        code: Why.
        detail: The same for people.
    """

    code: OpaqueCode
    detail: str


# Writing -----------------------------------------------------------------------------------------


def encode_line(row: TranscriptMessage) -> bytes:
    """Write a row as a line, without the line's end.

    A row that is one string, as in a flat history, becomes a typed line where its canonical form rebuilds
    that string; else the string is written as it is.

    Raises:
        EnvelopeError: A line cannot hold it: half of a surrogate pair, NaN, an integer outside -2**63 to
            2**64-1, nesting beyond 127 containers. ``field`` says where.
    """
    line = write_line(row)
    if line is not None:
        return line
    kept = line_memory(row)
    if kept is not None and _is_as_read(row, kept):
        return kept.encode() if isinstance(kept, str) else kept
    text = _write(_to_be_written(row))
    try:
        return text.encode()
    except UnicodeEncodeError:
        _refuse_surrogate(row)


def _is_as_read(row: TranscriptMessage, line: str | bytes) -> bool:
    """Whether a row still says what its line does: a dict in it can be changed in place."""
    changeable = (
        row.extra_metadata is not None
        or (row.extra and type(row.extra) is not UnknownMembers)
        or any(call.extra_content is not None for call in row.tool_calls)
    )
    return not changeable or decode_line(line) == row


def _to_be_written(row: TranscriptMessage) -> TranscriptMessage:
    """Choose between a row's fields and the string that it stands for."""
    legacy = legacy_memory(row)
    if legacy is not None:
        as_lifted = row.legacy_content() == legacy
        return _unlifted(row, legacy) if as_lifted and not _is_canonical(row.role, legacy) else row
    if row.tool_calls or row.parts is not None or row.tool_call_id is not None:
        return row
    return normalized(row) if _is_canonical(row.role, row.content) else row


def _unlifted(row: TranscriptMessage, legacy: str) -> TranscriptMessage:
    """Give a row back the string that it was lifted from."""
    metadata = row.extra_metadata
    if metadata is not None and row.role == "assistant":
        envelope = parse_assistant_envelope(legacy)
        if envelope is not None and envelope.reasoning_content is not None:
            kept = {name: value for name, value in metadata.items() if name != REASONING}
            metadata = kept or None
    return replace(
        row, content=legacy, tool_calls=(), tool_call_id=None, parts=None, extra_metadata=metadata
    )


def _is_canonical(role: str, text: str) -> bool:
    """Whether a string is rebuilt by the canonical form of what it lifts to."""
    match role:
        case "assistant":
            return text.startswith("{") and parse_canonical_assistant_envelope(text) is not None
        case "tool":
            return text.startswith("{") and parse_canonical_tool_envelope(text) is not None
        case "user":
            # Splitting at the markers and joining again gives every string back.
            return has_image_parts(text)
        case _:
            return False


def _write(row: TranscriptMessage) -> str:
    quote = encode_basestring
    pieces = ['{"role":', quote(row.role), ',"content":', quote(row.content)]
    shape = None
    if row.parts is not None:
        shape = "user_parts"
        pieces += (',"parts":[', ",".join(map(_part_text, row.parts)), "]")
    if row.tool_call_id is not None:
        shape = "tool_result"
    if row.tool_calls:
        shape = "assistant_calls"
        calls = ",".join(_call_text(call, at) for at, call in enumerate(row.tool_calls))
        pieces[4:4] = (',"tool_calls":[', calls, "]")
    if shape is not None:
        pieces.append(f',"v":{LINE_VERSION},"shape":"{shape}"')
    for name in ("tool_call_id", "id", "request_id", "model", "created_at", "stop_reason"):
        value = getattr(row, name)
        if value is not None:
            pieces += (',"', name, '":', quote(value))
    _write_rest(row, pieces)
    pieces.append("}")
    return "".join(pieces)


def _write_rest(row: TranscriptMessage, pieces: list[str]) -> None:
    """Write what most rows do not have."""
    if row.usage is not None:
        pieces += (',"usage":', _canonical(_usage_form(row.usage), "usage"))
    if row.interrupted:
        pieces.append(',"interrupted":true')
    if row.tool_failure is not None:
        pieces += (',"tool_failure":{"detail":', encode_basestring(row.tool_failure.detail), "}")
    if row.cache_breakpoints:
        pieces += (',"cache_breakpoints":[', ",".join(map(str, row.cache_breakpoints)), "]")
    if row.extra_metadata is not None:
        pieces += (',"extra_metadata":', _canonical(dict(row.extra_metadata), "extra_metadata"))
    if row.extra:
        taken = json.loads("".join((*pieces, "}")))
        texts = row.extra.texts if isinstance(row.extra, UnknownMembers) else None
        for name, value in row.extra.items():
            # Where the row's own field has been given a value since, that is what it says.
            if name not in taken:
                text = _canonical(value, f"extra.{name}") if texts is None else texts[name]
                pieces += (",", encode_basestring(name), ":", text)


def _call_text(call: NativeToolCall, index: int) -> str:
    quote = encode_basestring
    try:
        extra = extra_content_text(call)
    except EnvelopeError as error:
        _refuse(error, "tool_calls[0]", f"tool_calls[{index}]")
    more = "" if extra is None else f',"extra_content":{extra}'
    return (
        f'{{"id":{quote(call.id)},"name":{quote(call.name)},'
        f'"arguments":{quote(call.arguments)}{more}}}'
    )


def _part_text(part: TranscriptPart) -> str:
    quote = encode_basestring
    match part:
        case TextPart(text=text):
            return f'{{"type":"text","text":{quote(text)}}}'
        case ImagePart(url=url):
            return f'{{"type":"image","url":{quote(url)}}}'
        case AudioPart() | VideoPart() | DocumentPart():
            form = json.dumps(write_value(part.source), ensure_ascii=False, separators=(",", ":"))
            return f'{{"type":"{part.type}","source":{form},"mime_type":{quote(part.mime_type)}}}'


def _usage_form(usage: Usage) -> dict[str, Any]:
    form: dict[str, Any] = write_value(usage)
    # What it is, the member's name says.
    del form["type"]
    return form


def _canonical(value: Any, field: str) -> str:
    """Write any value in canonical form v1: an envelope's own writer does."""
    try:
        return extra_content_text(NativeToolCall("", "", "", value)) or "null"
    except EnvelopeError as error:
        _refuse(error, "tool_calls[0].extra_content", field)


def _refuse(error: EnvelopeError, prefix: str, field: str) -> NoReturn:
    where = error.field.replace(prefix, field, 1)
    message = str(error).replace(prefix, field, 1)
    raise EnvelopeError(message, field=where) from None


def _refuse_surrogate(row: TranscriptMessage) -> NoReturn:
    """Say which text holds half of a surrogate pair."""
    field = next(_surrogates("", row.to_dict()), "content")
    raise EnvelopeError(f"{field}: a text with a lone surrogate", field=field)


def _surrogates(path: str, form: object) -> Iterator[str]:
    """Find the texts that UTF-8 cannot say, in the dict form of a row."""
    if isinstance(form, str):
        if any("\ud800" <= character <= "\udfff" for character in form):
            yield path
    elif _is_object(form):
        for name, item in form.items():
            yield from _surrogates(f"{path}.{name}" if path else name, item)
    elif _is_list(form):
        for place, item in enumerate(form):
            yield from _surrogates(f"{path}[{place}]", item)


# Reading -----------------------------------------------------------------------------------------


def _no_constant(name: str) -> NoReturn:
    raise json.JSONDecodeError(f"{name} is not JSON", name, 0)


_DECODER = json.JSONDecoder(parse_constant=_no_constant)
# What a row is made of, beside role and content, in fields of the same name.
_TEXTS = ("id", "tool_call_id", "request_id", "model", "stop_reason", "created_at")
_OWN = frozenset(LINE_MEMBERS)
_SHAPES = {
    "assistant_calls": "tool_calls",
    "tool_result": "tool_call_id",
    "user_parts": "parts",
}


def decode_line(line: bytes | str) -> TranscriptMessage | OpaqueText | UnreadableText:
    """Read a line; its end must have been cut off.

    Args:
        line: The bytes between two line ends, or their text.

    Returns:
        The row, lifted where it is a legacy one, which remembers its line; or why there is none.
    """
    if isinstance(line, bytes):
        read = read_lines(line)
        if len(read) == 1 and isinstance(read[0], TranscriptMessage):
            return read[0]
    return decode_by_rules(line)


def decode_by_rules(  # noqa: PLR0911 (one for each thing that a line can be)
    line: bytes | str,
) -> TranscriptMessage | OpaqueText | UnreadableText:
    """Read a line as ``decode_line`` does, where the extension has left it to the rules already.

    Args:
        line: As of ``decode_line``.
    """
    try:
        text = line.decode() if isinstance(line, bytes) else line
        value: object = _DECODER.decode(text)
    except UnicodeDecodeError as error:
        return UnreadableText("not_utf8", f"byte {error.start} is not UTF-8")
    except json.JSONDecodeError as error:
        what = error.msg.removesuffix(" starting at")
        return UnreadableText("not_json", f"{what} at character {error.pos}")
    except RecursionError:
        return UnreadableText("not_json", "it is nested too deeply")
    except ValueError:
        # It is JSON, and a number in it is too long for Python's own limit.
        return OpaqueText("number", "a number has more digits than Python reads")
    if not _is_object(value):
        return UnreadableText("foreign", "it is JSON and no object")
    version = value.get("v")
    if _is_integer(version) and version >= LINE_VERSION:
        return _typed(value, version, text, line)
    return _plain(value, text, line)


def _plain(
    value: dict[str, Any], text: str, line: bytes | str
) -> TranscriptMessage | OpaqueText | UnreadableText:
    role, content = value.get("role"), value.get("content")
    if not (isinstance(role, str) and isinstance(content, str)):
        return UnreadableText("foreign", "it has no role or no content, which are strings")
    if "v" in value:
        return OpaqueText("newer_version", "its version is none that is known")
    lifted = normalized(_row(value, role, content, text))
    # Nobody else holds it.
    return remember(lifted, legacy=legacy_memory(lifted), line=line)


def _typed(
    value: dict[str, Any], version: int, text: str, line: bytes | str
) -> TranscriptMessage | OpaqueText:
    if version > LINE_VERSION:
        return OpaqueText("newer_version", f"it is of version {version}")
    needed = _SHAPES.get(str(value.get("shape")))
    if needed is None:
        return OpaqueText("unknown_shape", "its shape is unknown")
    role, content = value.get("role"), value.get("content")
    if not (isinstance(role, str) and isinstance(content, str)):
        return OpaqueText("missing_field", "it has no role or no content")
    row = _row(value, role, content, text)
    held: object = getattr(row, needed)
    if held is None or (needed == "tool_calls" and not row.tool_calls):
        return OpaqueText("missing_field", f"its shape needs {needed}")
    if not row.extra.keys().isdisjoint(_SHAPES.values()):
        return OpaqueText("missing_field", "its calls, parts or id are none that are known")
    return remember(row, line=line)


def _row(value: dict[str, Any], role: str, content: str, text: str) -> TranscriptMessage:
    """Make a row of an object; members of another form than the row's are kept as unknown ones."""
    fields: dict[str, Any] = {}
    unknown: list[str] = []
    for name, held in value.items():
        if name in {"role", "content", "v", "shape"}:
            # Without a version a shape is a member like any other.
            if name == "shape" and "v" not in value:
                unknown.append(name)
            continue
        if name not in _OWN:
            unknown.append(name)
        elif held is not None:
            try:
                fields[name] = (
                    held if name in _TEXTS and isinstance(held, str) else _READ[name](held)
                )
            except (KeyError, TypeError, ValueError):
                unknown.append(name)
    if unknown:
        texts = member_texts(text)
        fields["extra"] = UnknownMembers({name: texts[name] for name in unknown})
    return TranscriptMessage(role, content, **fields)


def _is_object(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _is_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def _is_integer(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _list(value: object) -> list[Any]:
    if _is_list(value):
        return value
    raise TypeError("no list")


def _read_calls(value: object) -> tuple[NativeToolCall, ...]:
    return tuple(map(_read_call, _list(value)))


def _read_call(value: object) -> NativeToolCall:
    if not _is_object(value) or not value.keys() <= {"id", "name", "arguments", "extra_content"}:
        raise TypeError("no call")
    words = value["id"], value["name"], value["arguments"]
    if not all(isinstance(word, str) for word in words):
        raise TypeError("no call")
    extra = value.get("extra_content")
    return NativeToolCall(*words, extra)


_PARTS: dict[str, type[Any]] = {
    "text": TextPart,
    "image": ImagePart,
    "audio": AudioPart,
    "video": VideoPart,
    "document": DocumentPart,
}


def _read_parts(value: object) -> tuple[TranscriptPart, ...]:
    return tuple(map(_read_part, _list(value)))


def _read_part(value: object) -> TranscriptPart:
    if not _is_object(value):
        raise TypeError("no part")
    part: TranscriptPart = read_value(_PARTS[value["type"]], value)
    return part


def _read_usage(value: object) -> Usage:
    usage = read_value(Usage, value)
    counts = (getattr(usage, name) for name in Usage.__slots__ if name != "type")
    if not all(0 <= count < 2**64 for count in counts):
        raise ValueError("no count")
    return usage


def _read_flag(value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise TypeError("no flag")


def _read_places(value: object) -> tuple[int, ...]:
    places = _list(value)
    if not all(map(_is_integer, places)):
        raise TypeError("no places")
    return tuple(places)


def _read_metadata(value: object) -> dict[str, Any]:
    if _is_object(value):
        return value
    raise TypeError("no object")


# What reads a member that is no text; one that raises has met another form than the row's.
_READ: dict[str, Callable[[Any], Any]] = {
    "tool_calls": _read_calls,
    "parts": _read_parts,
    "usage": _read_usage,
    "interrupted": _read_flag,
    "tool_failure": lambda value: read_value(ToolFailure, value),
    "cache_breakpoints": _read_places,
    "extra_metadata": _read_metadata,
}
