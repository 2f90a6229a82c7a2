"""The schemas of Gemini's own form, which is OpenAPI's, as JSON Schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["json_schema_of"]

_SCHEMAS = ("items", "additionalProperties", "not")
_LISTS = ("anyOf", "allOf", "oneOf", "prefixItems")
_MAPS = ("properties", "defs", "$defs")
# Counts, which the wire writes as strings.
_COUNTS = (
    "maxItems",
    "minItems",
    "maxLength",
    "minLength",
    "maxProperties",
    "minProperties",
)
_RENAMED = {
    "any_of": "anyOf",
    "max_items": "maxItems",
    "min_items": "minItems",
    "max_length": "maxLength",
    "min_length": "minLength",
}
# What orders the answer and means nothing to JSON Schema, and what other members say.
_DROPPED = ("propertyOrdering", "property_ordering", "nullable")


def json_schema_of(schema: Any) -> Any:
    """Write a schema of Gemini's form as JSON Schema; what is JSON Schema already stays the same.

    >>> json_schema_of({"type": "STRING", "nullable": True})
    {'type': ['string', 'null']}
    """
    if not isinstance(schema, dict):
        return schema
    given = cast("dict[str, Any]", schema)
    written: dict[str, Any] = {}
    for name, value in given.items():
        if name == "type" and isinstance(value, str):
            kind = value.lower()
            written[name] = [kind, "null"] if given.get("nullable") is True else kind
        elif name == "example":
            written["examples"] = [value]
        elif name not in _DROPPED and (name, value) != ("format", "enum"):
            own = _RENAMED.get(name, name)
            written[own] = _member(own, value)
    return written


def _member(name: str, value: Any) -> Any:
    if name in _SCHEMAS:
        return json_schema_of(value)
    if name in _LISTS and isinstance(value, list):
        return [json_schema_of(item) for item in cast("Sequence[Any]", value)]
    if name in _MAPS and isinstance(value, dict):
        inner = cast("dict[str, Any]", value)
        return {key: json_schema_of(item) for key, item in inner.items()}
    if name in _COUNTS and isinstance(value, str) and value.isdecimal():
        return int(value)
    return value
