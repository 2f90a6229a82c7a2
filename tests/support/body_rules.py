"""The third check of a request's body: what its API demands and no type says.

Written from the providers' documents and from the specification, and knowing nothing of how bodies are
built: ids and names, who speaks first and last and when, pairing and order of calls and results, text that
is not blank, where cache marks stand, JSON that every parser reads alike.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.support.rules_blocks import anthropic_faults, bedrock_faults
from tests.support.rules_gemini import gemini_faults
from tests.support.rules_openai import chat_faults, responses_faults

from turntape import Dialect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["Target", "json_faults", "rule_faults"]


@dataclass(frozen=True)
class Target:
    """Who gets a body.

    Attributes:
        vendor: The vendor, where it has habits of its own.
        prefill: Whether the assistant may speak last: the model takes it, or its turn was paused.
        checks_signatures: Whether the model demands signatures on calls (Gemini 3).
    """

    vendor: str | None = None
    prefill: bool = False
    checks_signatures: bool = False


_RULES: dict[Dialect, Callable[[Mapping[str, Any], Target], Iterator[str]]] = {
    Dialect.ANTHROPIC: anthropic_faults,
    Dialect.OPENAI_CHAT: chat_faults,
    Dialect.OPENAI_RESPONSES: responses_faults,
    Dialect.GEMINI: gemini_faults,
    Dialect.BEDROCK_CONVERSE: bedrock_faults,
}


def rule_faults(
    dialect: Dialect | str, body: Mapping[str, Any], target: Target | None = None
) -> list[str]:
    """Tell which rules a body breaks; it has to be of its client's type.

    Args:
        dialect: The body's dialect.
        body: The body, as ``json.loads`` gives it.
        target: Who gets it.
    """
    return list(_RULES[Dialect(dialect)](body, target or Target()))


class _Pairs(list[tuple[str, Any]]):
    """The members of an object, repeated ones included."""


# Members whose value is the model's own JSON text: it may repeat a name, and keeps its spacing.
_RAW = {"input", "args"}


def json_faults(data: bytes, body: Mapping[str, Any]) -> list[str]:
    """Tell what is wrong with a body's bytes.

    Args:
        data: What is sent.
        body: The same as Python values.
    """
    try:
        text = data.decode()
        pairs = json.loads(text, object_pairs_hook=_Pairs, parse_constant=_refuse)
        value = json.loads(text)
    except ValueError as error:
        return [f"$: {error}"]
    found = list(_pairs_faults(pairs, "$"))
    if value != body:
        found.append("$: the bytes and the values are not the same")
    return found


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _pairs_faults(value: object, path: str, *, raw: bool = False) -> Iterator[str]:
    match value:
        case str():
            if any("\ud800" <= character <= "\udfff" for character in value):
                yield f"{path}: half a surrogate pair"
        case _Pairs():
            names = [name for name, _ in value]
            if not raw and len(set(names)) < len(names):
                yield f"{path}: a member stands there twice"
            for name, of in value:
                yield from _pairs_faults(name, path)
                yield from _pairs_faults(of, f"{path}.{name}", raw=raw or name in _RAW)
        case list():
            for place, entry in enumerate(value):
                # An object without members is an empty list of pairs; a list keeps its kind.
                yield from _pairs_faults(entry, f"{path}[{place}]", raw=raw)
        case _:
            pass
