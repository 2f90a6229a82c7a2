"""Holds JSON values to the types that the official clients declare, to the last member.

The clients' own checks take nearly anything: their ``TypedDict`` classes let unknown members pass, their
``Iterable`` fields are walked only when they are sent, and a union falls back to its loosest member. Here
every member has to be declared, every list is walked to its end, and a required member has to be there.
"""

from __future__ import annotations

import base64
import binascii
import types
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, cast, get_args, get_origin

import typing_extensions
from pydantic import BaseModel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["faults"]


_UNIONS = {Union, types.UnionType}
_QUALIFIERS: set[object] = {
    Annotated,
    typing_extensions.Required,
    typing_extensions.NotRequired,
}


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_base64(value: object) -> bool:
    """Whether a value is base64 in either alphabet, as Google's wire takes both."""
    if not isinstance(value, str):
        return False
    try:
        base64.b64decode(value.translate(str.maketrans("-_", "+/")), validate=True)
    except binascii.Error:
        return False
    return True


_PLAIN: dict[object, Callable[[object], bool]] = {
    Any: lambda _: True,
    object: lambda _: True,
    None: lambda value: value is None,
    type(None): lambda value: value is None,
    bool: lambda value: isinstance(value, bool),
    str: lambda value: isinstance(value, str),
    int: lambda value: _is_number(value) and isinstance(value, int),
    float: _is_number,
    bytes: _is_base64,
    datetime: lambda value: isinstance(value, str),
    dict: lambda value: isinstance(value, dict),
    list: lambda value: isinstance(value, list),
}
"""What JSON value a type without parts takes."""


@dataclass(frozen=True)
class Members:
    """What an object may hold.

    Attributes:
        types: The type of each declared member.
        required: Those that have to be there.
        more: The type of members that are not declared; None forbids them.
        tags: The strings that a member is limited to, for those that are.
    """

    types: Mapping[str, Any]
    required: frozenset[str]
    more: Any
    tags: Mapping[str, frozenset[object]]


def faults(value: object, expected: Any, path: str = "$") -> list[str]:  # noqa: PLR0911 (one a kind of type)
    """Tell where a JSON value is not of a type.

    Args:
        value: What ``json.loads`` gives.
        expected: The type: a ``TypedDict``, a ``Literal``, a union, a model of google-genai, …
        path: Where the value stands.

    Returns:
        A line for each fault, led by its path; for a union, those of the member that comes nearest.
    """
    origin = get_origin(expected)
    if origin in _QUALIFIERS:
        return faults(value, get_args(expected)[0], path)
    if origin is Literal:
        return _unless(_is_one_of(value, get_args(expected)), value, expected, path)
    if origin in _UNIONS:
        return _union_faults(value, expected, path)
    if origin is not None:
        check = _mapping_faults if issubclass(origin, Mapping) else _list_faults
        return check(value, get_args(expected)[-1], path)
    if (is_right := _PLAIN.get(expected)) is not None:
        return _unless(is_right(value), value, expected, path)
    if isinstance(expected, type) and issubclass(expected, Enum):
        allowed = {member.value for member in expected}
        return _unless(_is_one_of(value, allowed), value, sorted(allowed, key=str), path)
    if (members := _members(expected)) is not None:
        return _object_faults(value, members, path)
    return [f"{path}: nothing that JSON holds is of {expected}"]


def _unless(is_right: object, value: object, expected: object, path: str) -> list[str]:
    if is_right:
        return []
    shown = f"a {type(value).__name__}" if isinstance(value, (dict, list, int)) else repr(value)
    name = expected.__name__ if isinstance(expected, type) else str(expected)
    return [f"{path}: {shown[:60]} is not of {name[:200]}"]


def _is_one_of(value: object, allowed: Iterable[object]) -> bool:
    # 1 is no True.
    return any(type(value) is type(each) and value == each for each in allowed)


def _mapping_faults(value: object, expected: Any, path: str) -> list[str]:
    if not isinstance(value, dict):
        return _unless(is_right=False, value=value, expected=dict, path=path)
    members = cast("dict[str, object]", value)
    return [
        fault for name, of in members.items() for fault in faults(of, expected, f"{path}.{name}")
    ]


def _list_faults(value: object, expected: Any, path: str) -> list[str]:
    if not isinstance(value, list):
        return _unless(is_right=False, value=value, expected=list, path=path)
    entries = cast("list[object]", value)
    return [
        fault
        for place, entry in enumerate(entries)
        for fault in faults(entry, expected, f"{path}[{place}]")
    ]


def _object_faults(value: object, members: Members, path: str) -> list[str]:
    if not isinstance(value, dict):
        return _unless(is_right=False, value=value, expected=dict, path=path)
    found: list[str] = [
        f"{path}: {name} is missing" for name in sorted(members.required - value.keys())
    ]
    for name, of in cast("dict[str, object]", value).items():
        if name in members.types:
            found += faults(of, members.types[name], f"{path}.{name}")
        elif members.more is None:
            found.append(f"{path}.{name}: no such member")
        else:
            found += faults(of, members.more, f"{path}.{name}")
    return found


def _union_faults(value: object, expected: Any, path: str) -> list[str]:
    tries: list[tuple[bool, bool, int, list[str]]] = []
    for option in _options(expected):
        found = faults(value, option, path)
        if not found:
            return []
        # An object that says by its tag which one it wants to be is told what it lacks to be that one.
        of_another_kind = any(
            fault.startswith(f"{path}: ") and " is not of " in fault for fault in found
        )
        tries.append((not _has_tags_of(value, option), of_another_kind, len(found), found))
    return min(tries)[-1]


def _has_tags_of(value: object, option: Any) -> bool:
    members = _members(option)
    if members is None or not isinstance(value, dict):
        return False
    held = cast("dict[str, object]", value)
    return all(
        name in held and _is_one_of(held[name], tags)
        for name, tags in members.tags.items()
        if name in members.required
    )


@cache
def _options(expected: Any) -> tuple[Any, ...]:
    """The members of a union, those of unions within it included."""
    flat: list[Any] = []
    for option in get_args(expected):
        bare = option
        while get_origin(bare) is Annotated:
            bare = get_args(bare)[0]
        is_union = get_origin(bare) in _UNIONS
        flat += _options(bare) if is_union else [bare]
    return tuple(flat)


@cache
def _members(expected: Any) -> Members | None:
    """What an object of a type may hold; None where the type is none of objects."""
    if typing_extensions.is_typeddict(expected):
        return _members_of_typed_dict(expected)
    # Anthropic's and OpenAI's classes for what comes back also stand in the unions of what may be sent;
    # only Google's clients describe requests by models, and these forbid unknown members themselves.
    is_model = isinstance(expected, type) and issubclass(expected, BaseModel)
    if is_model and expected.model_config.get("extra") == "forbid":
        fields = expected.model_fields
        hints = {field.alias or name: field.annotation for name, field in fields.items()}
        return Members(hints, frozenset(), None, {})
    return None


def _members_of_typed_dict(expected: Any) -> Members:
    hints = typing_extensions.get_type_hints(expected, include_extras=True)
    # ``__required_keys__`` is wrong where annotations are strings: it cannot see `Required` in them.
    origins: dict[str, object] = {name: get_origin(hint) for name, hint in hints.items()}
    required = {name for name, origin in origins.items() if origin is typing_extensions.Required}
    required |= {
        name
        for name in expected.__required_keys__
        if origins[name] is not typing_extensions.NotRequired
    }
    config = getattr(expected, "__pydantic_config__", {})
    more = object if config.get("extra") == "allow" else getattr(expected, "__extra_items__", None)
    if more is getattr(typing_extensions, "NoExtraItems", None):
        more = None
    tags = {
        name: frozenset(allowed) for name, hint in hints.items() if (allowed := _literals(hint))
    }
    return Members(hints, frozenset(required), more, tags)


def _literals(hint: Any) -> tuple[object, ...]:
    while get_origin(hint) in {typing_extensions.Required, typing_extensions.NotRequired}:
        hint = get_args(hint)[0]
    return get_args(hint) if get_origin(hint) is Literal else ()
