"""The vectors of tests/vectors, and how an expectation is compared with what came out."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from turntape import Dialect

FOLDER = Path(__file__).parent.parent / "vectors"

Case = dict[str, Any]

STREAMS = {
    Dialect.ANTHROPIC: "anthropic_streams.json",
    Dialect.OPENAI_CHAT: "chat_streams.json",
    Dialect.OPENAI_RESPONSES: "responses_streams.json",
    Dialect.GEMINI: "gemini_streams.json",
    Dialect.BEDROCK_CONVERSE: "bedrock_streams.json",
}
"""The files of streams, each of one wire."""


def cases(file: str) -> list[Case]:
    document: dict[str, list[Case]] = json.loads((FOLDER / file).read_text(encoding="utf-8"))
    return document["cases"]


def parametrize(file: str, *ops: str) -> pytest.MarkDecorator:
    """Make one test of each case, or of those whose operation is named."""
    chosen = [case for case in cases(file) if not ops or case["op"] in ops]
    params = [pytest.param(case, id=case["name"]) for case in chosen]
    return pytest.mark.parametrize("case", params)


def body_of(case: Case) -> bytes:
    """The body of a case, which is text or, for binary framings, hexadecimal."""
    if "body_hex" in case:
        return bytes.fromhex(case["body_hex"])
    return text_of(case["body"]).encode()


def text_of(value: Any) -> str:
    """Resolve the placeholder of a concatenation."""
    if isinstance(value, str):
        return value
    pieces = (
        part if isinstance(part, str) else part["repeat"] * part["times"] for part in value["parts"]
    )
    return "".join(pieces)


class Expectations:
    """Compares within one case, whose made-up ids must agree wherever they stand."""

    def __init__(self) -> None:
        self.made_up: dict[int, str] = {}

    def agree(self, expected: Any, actual: Any) -> bool:
        if isinstance(expected, dict):
            return self.agree_with_members(expected, actual)
        if isinstance(expected, list):
            return (
                isinstance(actual, list)
                and len(actual) == len(expected)
                and all(map(self.agree, expected, actual))
            )
        return type(expected) is type(actual) and bool(expected == actual)

    def agree_with_members(self, expected: dict[str, Any], actual: Any) -> bool:  # noqa: PLR0911 (one a placeholder)
        if "synthetic" in expected:
            return self.agree_with_made_up(expected["synthetic"], actual)
        if "contains" in expected:
            return isinstance(actual, str) and all(text in actual for text in expected["contains"])
        if "parts" in expected:
            return bool(actual == text_of(expected))
        if not isinstance(actual, dict):
            return False
        for name, value in expected.items():
            if name not in actual:
                return False
            # The order and the spacing of its members are open.
            if name == "extra" and isinstance(value, str):
                found = actual[name]
                if not isinstance(found, str) or json.loads(found) != json.loads(value):
                    return False
            elif not self.agree(value, actual[name]):
                return False
        return True

    def agree_with_made_up(self, number: int, actual: Any) -> bool:
        if not isinstance(actual, str) or not re.fullmatch(r"[A-Za-z0-9_-]{1,40}", actual):
            return False
        if self.made_up.setdefault(number, actual) != actual:
            return False
        return len(set(self.made_up.values())) == len(self.made_up)


_TEXT_OF_DELTA = {
    "text_delta": "text",
    "thinking_delta": "text",
    "signature_delta": "signature",
    "input_json_delta": "partial_json",
}


def merge_deltas(events: list[Case]) -> list[Case]:
    merged: list[Case] = []
    for event in events:
        member = _TEXT_OF_DELTA.get(event["type"])
        last = merged[-1] if merged else {}
        if member and (last.get("type"), last.get("index")) == (event["type"], event["index"]):
            merged[-1] = {**last, member: last[member] + event[member]}
        else:
            merged.append(event)
    return merged
