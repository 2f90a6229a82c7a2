"""Merging the host's own members into a body."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from turntape.errors import InvalidRequest
from turntape.requests import DELETE
from turntape.wire.outbound.surrogates import mended_text
from turntape.wire.raw_json import RawJson, plain, write_json

if TYPE_CHECKING:
    from turntape.wire.outbound.notes import Notes

__all__ = ["merge_extra"]


def merge_extra(body: dict[str, Any], extra: Mapping[str, Any], notes: Notes) -> None:
    """Merge members into a body: objects by key, everything else replaces, ``DELETE`` removes.

    Args:
        body: The body, which is changed.
        extra: The members, which are not.
        notes: Gets whether a lone surrogate was replaced.

    Raises:
        InvalidRequest: A path leads through a list, or a value has no JSON text.
    """
    try:
        _merge(body, extra, "extra", notes)
    except RecursionError:
        raise InvalidRequest("extra is nested too deeply") from None


def _merge(held: dict[str, Any], extra: Mapping[str, Any], path: str, notes: Notes) -> None:
    for name, value in extra.items():
        if not isinstance(cast("object", name), str):
            raise InvalidRequest(f"{path}: the name of a member is a string, not {name!r}")
        mended = mended_text(name)
        if mended is not None:
            notes.add("surrogate_replaced", None, f"half a surrogate pair in a name in {path}")
            name = mended  # noqa: PLW2901
        here = f"{path}.{name}"
        if value is DELETE:
            held.pop(name, None)
        elif isinstance(value, Mapping):
            members = cast("Mapping[str, Any]", value)
            inner = held.get(name)
            if isinstance(inner, RawJson):
                inner = json.loads(inner.text)
            if isinstance(inner, list):
                raise InvalidRequest(f"{here} is an object, and the body has a list there")
            is_object = isinstance(inner, dict)
            # A copy: what stands there may belong to the request.
            merged = dict(cast("dict[str, Any]", inner)) if is_object else {}
            _merge(merged, members, here, notes)
            # Removing what is not there makes no object.
            if merged or is_object or not members:
                held[name] = merged
        else:
            held[name] = _checked(value, here, notes)


def _checked(value: Any, path: str, notes: Notes) -> Any:
    """A value that JSON can hold, cut loose from the host's."""
    if value is None or isinstance(value, bool | int):
        return value
    try:
        text, replaced = write_json(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidRequest(f"{path} cannot be written as JSON: {error}") from None
    if replaced:
        notes.add("surrogate_replaced", None, f"half a surrogate pair in {path}")
    return plain(RawJson(text.decode()))
