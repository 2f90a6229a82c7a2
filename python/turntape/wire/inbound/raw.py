"""A JSON text that is walked level by level, so that what is handed on stays as it is written."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from turntape._native import split_elements, split_json, split_members
from turntape.errors import InvalidRequest
from turntape.wire.json_text import load_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Members", "Raw", "object_text", "parse_inner", "source_text"]

_SURROGATE = re.compile("[\ud800-\udfff]")

_KINDS = {
    "{": "an object",
    "[": "a list",
    '"': "a string",
    "t": "true",
    "f": "false",
    "n": "null",
}


class Raw:
    """One JSON value, as it stands in the text that it came in.

    A member that is ``null`` counts as one that is not there, as it does on every wire. Of two members of
    one name the last one counts.

    Attributes:
        text: The value's text, without white space around it.
    """

    __slots__ = ("_key", "_members", "_parent", "text")

    def __init__(self, text: str, parent: Raw | None = None, key: str | int | None = None) -> None:
        """Take a value of a text that is JSON.

        Args:
            text: The value.
            parent: What it stands in.
            key: Its name or its place there; None where it stands in a string.
        """
        self.text = text
        self._parent = parent
        self._key = key
        self._members: dict[str, Raw] | None = None

    @property
    def path(self) -> str:
        """Where the value stands, such as ``messages[2].content``."""
        above = "" if self._parent is None else self._parent.path
        key = self._key
        if key is None:
            return above
        if isinstance(key, int):
            return f"{above}[{key}]"
        return f"{above}.{key}" if above else key

    @property
    def kind(self) -> str:
        """What the value is, in words."""
        return _KINDS.get(self.text[:1], "a number")

    @property
    def is_object(self) -> bool:
        """Whether this is an object."""
        return self.text.startswith("{")

    @property
    def is_list(self) -> bool:
        """Whether this is a list."""
        return self.text.startswith("[")

    @property
    def is_string(self) -> bool:
        """Whether this is a string."""
        return self.text.startswith('"')

    def fail(self, problem: str) -> InvalidRequest:
        """The error that says what is wrong with this value, for the caller to raise."""
        path = self.path
        return InvalidRequest(f"{path}: {problem}" if path else problem)

    def expected(self, what: str) -> InvalidRequest:
        """The error that says what should stand here."""
        return self.fail(f"{what} is expected, not {self.kind}")

    def pairs(self) -> Iterator[tuple[str, str, str]]:
        """The members of an object that are not null: name, the name's literal body, the value's text.

        Raises:
            InvalidRequest: This is no object.
        """
        last: dict[str, tuple[str, str]] = {}
        for literal, value in self.all_pairs():
            name = cast("str", json.loads(f'"{literal}"')) if "\\" in literal else literal
            last[name] = (literal, value)
        for name, (literal, value) in last.items():
            if value != "null":
                yield name, literal, value

    def all_pairs(self) -> list[tuple[str, str]]:
        """Every member of an object as it is written: what stands between its name's quotes, its value's text.

        Raises:
            InvalidRequest: This is no object.
        """
        if not self.is_object:
            raise self.expected("an object")
        return list(cast("tuple[tuple[str, str], ...]", split_json(self.text)))

    def members(self) -> Mapping[str, Raw]:
        """The members of an object that are not null.

        Raises:
            InvalidRequest: This is no object.
        """
        if self._members is None:
            # Quicker than to look at each pair, where no name is written with escapes and none comes twice.
            texts = split_members(self.text)
            if texts is None:
                texts = {name: value for name, _, value in self.pairs()}
            self._members = {name: Raw(text, self, name) for name, text in texts.items()}
        return self._members

    def elements(self) -> list[Raw]:
        """The elements of a list.

        Raises:
            InvalidRequest: This is no list.
        """
        if not self.is_list:
            raise self.expected("a list")
        texts = split_elements(self.text)
        return [Raw(text, self, place) for place, text in enumerate(texts)]

    def string(self) -> str:
        """The string.

        Raises:
            InvalidRequest: This is none.
        """
        if not self.is_string:
            raise self.expected("a string")
        # Most strings have no escape, and nothing has to be parsed then.
        return self.text[1:-1] if "\\" not in self.text else cast("str", json.loads(self.text))

    def number(self) -> int | float:
        """The number.

        Raises:
            InvalidRequest: This is none.
        """
        value = self.value()
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.expected("a number")
        return value

    def integer(self) -> int:
        """The number, if it is a whole one; ``16.0`` is 16.

        Raises:
            InvalidRequest: This is none.
        """
        value = self.number()
        if isinstance(value, float):
            if not value.is_integer():
                raise self.fail(f"a whole number is expected, not {self.text[:40]}")
            return int(value)
        return value

    def boolean(self) -> bool:
        """True or false.

        Raises:
            InvalidRequest: This is neither.
        """
        if self.text not in {"true", "false"}:
            raise self.expected("true or false")
        return self.text == "true"

    def value(self) -> Any:
        """The value as Python has it.

        Raises:
            InvalidRequest: A number in it is beyond what a float can hold.
        """
        try:
            return load_json(self.text)
        except ValueError as error:
            raise self.fail(str(error)) from None

    def rest(self, *known: str) -> str | None:
        """The members that are not known, as a compact raw object; None where there are none."""
        left = {literal: value for name, literal, value in self.pairs() if name not in known}
        return object_text(left.items()) if left else None


class Members:
    """The members of an object, taken one by one, so that nothing is passed over."""

    __slots__ = ("_left", "raw")

    def __init__(self, raw: Raw) -> None:
        """Take the members of an object.

        Raises:
            InvalidRequest: It is none.
        """
        self.raw = raw
        self._left = dict(raw.members())

    def take(self, *names: str) -> Raw | None:
        """The first member of these names that is there; all of them count as taken."""
        found: Raw | None = None
        for name in names:
            value = self._left.pop(name, None)
            found = found or value
        return found

    def need(self, *names: str) -> Raw:
        """The same for a member that must be there.

        Raises:
            InvalidRequest: It is not.
        """
        found = self.take(*names)
        if found is None:
            raise self.raw.fail(f"{names[0]!r} is missing")
        return found

    def string(self, *names: str) -> str | None:
        """The same for a string; None where it is not there."""
        found = self.take(*names)
        return None if found is None else found.string()

    def rename(self, name: str, own: str) -> None:
        """Let a member of another spelling count as the own one, unless that is there."""
        held = self._left.pop(name, None)
        if held is not None:
            self._left.setdefault(own, held)

    def take_empty(self, *names: str) -> None:
        """Take members that say nothing: an empty list, object or string."""
        for name in names:
            held = self._left.get(name)
            if held is not None and held.text in {"[]", "{}", '""'}:
                del self._left[name]

    def left(self) -> str | None:
        """What was not taken, as a compact raw object; None where everything was."""
        return object_text(self.left_pairs()) if self._left else None

    def left_pairs(self) -> list[tuple[str, str]]:
        """What was not taken: names as they stand between quotes, and the texts of the values."""
        return [(_literal(name), raw.text) for name, raw in self._left.items()]

    def names(self) -> str:
        """The names of what was not taken, for people."""
        return ", ".join(map(repr, self._left))

    def left_values(self) -> dict[str, Any]:
        """What was not taken, as Python values."""
        return {name: raw.value() for name, raw in self._left.items()}

    def __bool__(self) -> bool:
        """Whether anything is left."""
        return bool(self._left)


def object_text(pairs: Iterable[tuple[str, str]]) -> str:
    """A compact object of pairs: a name as it stands between its quotes, and the text of its value."""
    return "{" + ",".join(f'"{literal}":{value}' for literal, value in pairs) + "}"


def _literal(name: str) -> str:
    return _escaped(json.dumps(name, ensure_ascii=False)[1:-1])


def parse_inner(raw: Raw, text: str) -> Raw:
    """JSON that stands in a string of ``raw``.

    Raises:
        InvalidRequest: It is none.
    """
    text = _escaped(text)
    try:
        split_json(text)
    except ValueError as error:
        raise raw.fail(f"a string in it is not the JSON that it should be: {error}") from None
    return Raw(text.strip(" \t\n\r"), raw)


def source_text(source: object) -> str:
    """The JSON text of what a caller hands in.

    Args:
        source: JSON text, or Python values: what JSON can hold, bytes (in base64, as the wires have them),
            and the objects of the official clients.

    Raises:
        InvalidRequest: It is neither.
    """
    data = _bytes(source)
    if data is not None:
        try:
            source = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise InvalidRequest(f"the text is not UTF-8: byte {error.start}") from None
    text = source if isinstance(source, str) else _dumped(source)
    text = _escaped(text)
    try:
        split_json(text)
    except ValueError as error:
        raise InvalidRequest(f"the text is not JSON: {error}") from None
    return text.strip(" \t\n\r")


def _bytes(value: object) -> bytes | None:
    if isinstance(value, bytes):
        return value
    if isinstance(value, bytearray | memoryview):
        return bytes(cast("bytearray", value))
    return None


def _dumped(source: object) -> str:
    try:
        return json.dumps(
            source,
            ensure_ascii=False,
            allow_nan=False,
            separators=(",", ":"),
            default=_jsonable,
        )
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidRequest(f"no JSON can hold this: {error}") from None
    except RecursionError:
        raise InvalidRequest("no JSON can hold this: it nests too deep") from None


def _jsonable(value: object) -> object:
    """What ``json`` does not know, as what it knows."""
    data = _bytes(value)
    if data is not None:
        return base64.b64encode(data).decode("ascii")
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        # The official clients' objects: the names of the wire, and no member that nobody gave.
        return cast("Mapping[str, Any]", dump(mode="json", by_alias=True, exclude_none=True))
    if isinstance(value, Mapping):
        return dict(cast("Mapping[object, object]", value))
    if isinstance(value, Sequence):
        return list(cast("Sequence[object]", value))
    raise TypeError(f"{type(value).__name__} is no JSON value")


def _escaped(text: str) -> str:
    """Write halves of surrogate pairs, which no UTF-8 can hold, as escapes; they stand in strings."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        pass
    else:
        return text
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
