"""Holds values to the shapes of botocore's service models, to the last member.

Botocore's own check knows neither the words of an enumeration, nor patterns, nor upper limits; the model
that it comes with does.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, TypeAlias, cast

__all__ = ["faults", "operation"]

# The client has no types.
Shape: TypeAlias = Any


@cache
def operation(name: str) -> Any:
    """Give the model of an operation of Bedrock's run time, such as ``ConverseStream``."""
    import botocore.session

    session = botocore.session.Session()
    service: Any = session.get_service_model("bedrock-runtime")
    return service.operation_model(name)


def faults(value: object, shape: Shape, path: str = "$") -> list[str]:
    """Tell where a value, as botocore takes it, is not of a shape.

    Args:
        value: The value; blobs are bytes.
        shape: The shape.
        path: Where the value stands.

    Returns:
        A line for each fault, led by its path.
    """
    if getattr(shape, "is_document_type", False):
        return _document_faults(value, path)
    match shape.type_name:
        case "structure":
            return _structure_faults(value, shape, path)
        case "list":
            return _list_faults(value, shape, path)
        case "map":
            return _map_faults(value, shape, path)
        case kind:
            return _scalar_faults(value, shape, kind, path)


def _list_faults(value: object, shape: Shape, path: str) -> list[str]:
    if not isinstance(value, list):
        return [f"{path}: {type(value).__name__} is no list"]
    entries = cast("list[object]", value)
    found = _limit_faults(len(entries), shape, path)
    for place, entry in enumerate(entries):
        found += faults(entry, shape.member, f"{path}[{place}]")
    return found


def _map_faults(value: object, shape: Shape, path: str) -> list[str]:
    if not isinstance(value, dict):
        return [f"{path}: {type(value).__name__} is no map"]
    members = cast("dict[str, object]", value)
    found = _limit_faults(len(members), shape, path)
    for name, of in members.items():
        found += faults(of, shape.value, f"{path}.{name}")
    return found


_SCALARS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "blob": (bytes,),
    "boolean": (bool,),
    "integer": (int,),
    "long": (int,),
    "float": (int, float),
    "double": (int, float),
}


def _scalar_faults(value: Any, shape: Shape, kind: str, path: str) -> list[str]:
    allowed = _SCALARS[kind]
    if type(value) not in allowed:
        return [f"{path}: {type(value).__name__} is no {kind}"]
    size: float = len(value) if kind in {"string", "blob"} else value
    found = _limit_faults(size, shape, path)
    words: list[str] = shape.metadata.get("enum", [])
    if words and value not in words:
        found.append(f"{path}: {value!r} is none of {', '.join(words)}")
    pattern: str = shape.metadata.get("pattern", "")
    if pattern and not re.fullmatch(pattern, str(value)):
        found.append(f"{path}: {value!r} does not match {pattern[:60]}")
    return found


def _limit_faults(size: float, shape: Shape, path: str) -> list[str]:
    least = shape.metadata.get("min", size)
    most = shape.metadata.get("max", size)
    return [] if least <= size <= most else [f"{path}: {size} is not within {least} to {most}"]


def _structure_faults(value: object, shape: Shape, path: str) -> list[str]:
    if not isinstance(value, dict):
        return [f"{path}: {type(value).__name__} is no structure"]
    members = cast("dict[str, object]", value)
    found = [
        f"{path}: {name} is missing"
        for name in shape.metadata.get("required", ())
        if name not in members
    ]
    if shape.metadata.get("union") and len(members) != 1:
        found.append(f"{path}: one member is to be set, not {sorted(members)}")
    for name, of in members.items():
        known = shape.members.get(name)
        at = f"{path}.{name}"
        found += [f"{at}: no such member"] if known is None else faults(of, known, at)
    return found


def _document_faults(value: object, path: str) -> list[str]:
    """Hold a document to what JSON has."""
    match value:
        case None | str() | bool() | int() | float():
            return []
        case list():
            entries = cast("list[object]", value)
            return [f for i, e in enumerate(entries) for f in _document_faults(e, f"{path}[{i}]")]
        case dict():
            members = cast("dict[object, object]", value)
            found = [
                f"{path}: {name!r} is no name" for name in members if not isinstance(name, str)
            ]
            return found + [
                f for name, of in members.items() for f in _document_faults(of, f"{path}.{name}")
            ]
        case _:
            return [f"{path}: {type(value).__name__} is no part of a document"]
