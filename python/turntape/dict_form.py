"""The dict form of the value classes: what JSON can hold, stable, and strict on the way back.

One rule for all of them. Members stand in the order of the fields, ``type`` first where a class has one;
a field that holds its default is left out, so that a form stays small and stays the same when a class
gets another field. Tuples become lists, enumerations their value. On the way back everything is checked
against the fields' types, and an unknown member is an error: nothing that was written is lost silently.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from turntape.errors import MessageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self, TypeAlias, TypeGuard

    Reader: TypeAlias = Callable[[Any, str], Any]

__all__ = ["DictForm", "read_value", "write_value"]

_Value = TypeVar("_Value")


_PLAIN = frozenset({str, int, float, bool, type(None)})


class DictForm:
    """What gives a dataclass its ``to_dict`` and ``from_dict``."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """The value as a dict of what JSON can hold.

        Fields that hold their default are left out, ``type`` excepted. ``from_dict`` gives an equal value
        back.
        """
        form: dict[str, Any] = write_value(self)
        return form

    @classmethod
    def from_dict(cls, form: Mapping[str, Any], /) -> Self:
        """The value of a dict, as ``to_dict`` gives it or ``json.loads`` reads it.

        Args:
            form: The members. Lists and tuples are alike; what is left out has its default.

        Raises:
            MessageError: A member is missing, unknown or of another type; ``field`` says which.
        """
        return read_value(cls, form)


def write_value(value: Any) -> Any:
    """The form of any field's value; see ``DictForm.to_dict``."""
    cls = cast("Any", type(value))
    # Asking an abstract class costs more than all the rest: what is most frequent comes before.
    if cls in _PLAIN:
        return value
    if hasattr(cls, "__dataclass_fields__"):
        return _write_fields(value, cls)
    if isinstance(value, Enum):
        return value.value if isinstance(value, str) else {f"${value.value}": True}
    if value is None or isinstance(value, str | int | float):
        return value
    if _is_list(value):
        return [write_value(item) for item in value]
    if _is_mapping(value):
        return {name: write_value(item) for name, item in value.items()}
    raise TypeError(f"{cls!r} has no dict form")


def _write_fields(value: Any, cls: Any) -> dict[str, Any]:
    form: dict[str, Any] = {}
    for name, default in _defaults(cls):
        held = getattr(value, name)
        if name == "type" or default is MISSING or held != default:
            form[name] = write_value(held)
    return form


def read_value(cls: type[_Value], form: object, path: str = "") -> _Value:
    """The value of a class from its form; see ``DictForm.from_dict``."""
    if not _is_mapping(form):
        raise _error(path, f"a {cls.__name__} is an object, not {_kind(form)}")
    fit: Any = cls
    readers = _readers(fit)
    values: dict[str, Any] = {}
    for name, item in form.items():
        reader = readers.get(name)
        if reader is None:
            raise _error(_join(path, str(name)), f"{cls.__name__} has no such member")
        values[name] = reader(item, _join(path, name))
    for name, default in _defaults(fit):
        if default is MISSING and name not in values:
            raise _error(_join(path, name), f"{cls.__name__} needs it, and it is missing")
    try:
        return cls(**values)
    except MessageError:
        raise
    except (TypeError, ValueError) as error:
        raise _error(path, str(error)) from None


@cache
def _defaults(cls: Any) -> tuple[tuple[str, Any], ...]:
    """The fields' names and defaults, ``type`` first."""
    if not (isinstance(cls, type) and is_dataclass(cls)):
        raise TypeError(f"{cls!r} has no dict form")
    pairs: list[tuple[str, Any]] = []
    for item in fields(cls):
        factory = item.default_factory
        default = item.default if factory is MISSING else factory()
        pairs.append((item.name, default))
    return tuple(sorted(pairs, key=lambda pair: pair[0] != "type"))


@cache
def _readers(cls: Any) -> dict[str, Reader]:
    hints = get_type_hints(cls)
    return {name: _reader(hints[name]) for name, _ in _defaults(cls)}


def _reader(hint: Any) -> Reader:  # noqa: PLR0911 (one for each kind of type)
    """What reads a value of a type, chosen once for each field."""
    origin = get_origin(hint)
    if hint is Any:
        return lambda value, _path: value
    if origin in {Union, UnionType}:
        return _union_reader(get_args(hint))
    if origin is Literal:
        return _literal_reader(get_args(hint))
    if origin is tuple or (isinstance(origin, type) and issubclass(origin, Sequence)):
        return _tuple_reader(_reader(get_args(hint)[0]))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping_reader(get_args(hint)[1])
    if is_dataclass(hint):
        return lambda value, path: read_value(hint, value, path)  # type: ignore[arg-type]
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _literal_reader(tuple(member.value for member in hint), hint)
    return _plain_reader(hint)


def _plain_reader(expected: Any) -> Reader:
    accepted = (int, float) if expected is float else (expected,)

    def read(value: Any, path: str) -> Any:
        # True and False are integers to Python and to nobody who writes JSON.
        if isinstance(value, accepted) and (expected is bool or not isinstance(value, bool)):
            return value
        raise _error(path, f"{_named(expected)} is expected, not {_kind(value)}")

    return read


def _literal_reader(accepted: tuple[Any, ...], build: Callable[[Any], Any] | None = None) -> Reader:
    def read(value: Any, path: str) -> Any:
        if isinstance(value, str) and value in accepted:
            return value if build is None else build(value)
        listed = ", ".join(map(repr, accepted))
        shown = repr(value) if isinstance(value, str) else _kind(value)
        raise _error(path, f"one of {listed} is expected, not {shown}")

    return read


def _tuple_reader(read_item: Reader) -> Reader:
    def read(value: Any, path: str) -> Any:
        if not _is_list(value):
            raise _error(path, f"a list is expected, not {_kind(value)}")
        return tuple(read_item(item, f"{path}[{place}]") for place, item in enumerate(value))

    return read


def _union_reader(members: tuple[Any, ...]) -> Reader:
    """Choose by the kind of JSON value, and among classes by ``type``."""
    classes = [member for member in members if is_dataclass(member)]
    others = [member for member in members if member not in classes]
    nullable = type(None) in others
    read_class = _class_reader(classes) if classes else None
    readers = [_reader(member) for member in others if member is not type(None)]

    def read(value: Any, path: str) -> Any:
        if value is None and nullable:
            return None
        if read_class is not None and _is_mapping(value):
            return read_class(value, path)
        problems: list[MessageError] = []
        for reader in readers:
            try:
                return reader(value, path)
            except MessageError as error:
                problems.append(error)
        # A list that holds something wrong is explained by the reader of lists, not by that of texts.
        raise max(problems, key=lambda error: len(error.field), default=None) or _error(
            path, f"{_kind(value)} is not expected here"
        )

    return read


def _class_reader(classes: list[Any]) -> Reader:
    by_tag: dict[str, Any] = {}
    untagged: list[Any] = []
    for member in classes:
        tag = dict(_defaults(member)).get("type")
        if isinstance(tag, str):
            by_tag[tag] = member
        else:
            untagged.append(member)

    def read(value: Any, path: str) -> Any:
        tag = value.get("type")
        if isinstance(tag, str) and tag in by_tag:
            return read_value(by_tag[tag], value, path)
        if untagged and (tag is None or not by_tag):
            return read_value(untagged[0], value, path)
        listed = ", ".join(map(repr, by_tag))
        shown = f"it is missing: one of {listed}" if tag is None else f"{tag!r} is none of {listed}"
        raise _error(_join(path, "type"), shown)

    return read


def _mapping_reader(hint: Any) -> Reader:
    """What reads an object of free values, where the type allows with marks of what JSON cannot say."""
    marks = {
        f"${mark.value}": mark
        for member in get_args(hint)
        if isinstance(member, type) and issubclass(member, Enum)
        for mark in member
    }

    def restored(value: Any) -> Any:
        if _is_mapping(value):
            if len(value) == 1 and (name := next(iter(value))) in marks and value[name] is True:
                return marks[name]
            return {name: restored(item) for name, item in value.items()}
        return [restored(item) for item in value] if _is_list(value) else value

    def read(value: Any, path: str) -> Any:
        if not _is_mapping(value):
            raise _error(path, f"an object is expected, not {_kind(value)}")
        for name in value:
            if not isinstance(name, str):
                raise _error(path, f"a member's name is a string, not {_kind(name)}")
        return restored(value) if marks else value

    return read


def _is_mapping(value: object) -> TypeGuard[Mapping[Any, Any]]:
    return isinstance(value, Mapping)


def _is_list(value: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, list | tuple)


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _error(path: str, text: str) -> MessageError:
    return MessageError(f"{path}: {text}" if path else text, field=path)


def _named(expected: type) -> str:
    names: dict[type, str] = {
        str: "a string",
        int: "an integer",
        float: "a number",
        bool: "true or false",
    }
    return names.get(expected, expected.__name__)


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    kinds = {
        str: "a string",
        int: "an integer",
        float: "a number",
        list: "a list",
        dict: "an object",
    }
    kind: Any = type(value)
    return kinds.get(kind, str(kind.__name__))
