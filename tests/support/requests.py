"""Bodies of requests: what a case expects of one, and whether one begins with another."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from turntape import DELETE, CustomRecord, Message, ModelRequest, decode_message
from turntape.replay.mapping import FORMS_OF_IDS, FORMS_OF_NAMES

if TYPE_CHECKING:
    from tests.support.vectors import Case

    from turntape import BuiltRequest

MODELS = {
    "anthropic": "claude-heron-9",
    "openai-chat": "quill-2",
    "openai-responses": "quill-r1",
    "gemini": "gemini-2.5-flash",
    "bedrock-converse": "amazon.tern-1",
}

OPTIONS = ("repair", "vendor", "api_version", "unsupported", "on_prefix_change")

# The member that holds the messages, what stands before them, and what tells them apart.
MESSAGES = {
    "anthropic": "messages",
    "openai-chat": "messages",
    "openai-responses": "input",
    "gemini": "contents",
    "bedrock-converse": "messages",
}
BEFORE = ("system", "tools", "instructions", "systemInstruction", "toolConfig")

_WHITESPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()


def resolved(value: Any) -> Any:
    """Load the members of a form that hold JSON text."""
    if isinstance(value, list):
        return [resolved(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value == {"$delete": True}:
        return DELETE
    return {
        name.removesuffix("_json"): json.loads(item) if name.endswith("_json") else resolved(item)
        for name, item in value.items()
    }


def message_of(form: dict[str, Any]) -> Message | CustomRecord:
    if "decode" in form:
        body = form["decode"]["body"].encode()
        return decode_message(body, form["decode"]["dialect"]).to_message()
    if "custom_record" in form:
        return CustomRecord(**form["custom_record"])
    return Message.from_dict(resolved(form))


def request_of(case: Case, dialect: str, messages: list[Any] | None = None) -> ModelRequest:
    """The request of a case, for one dialect, perhaps with another history."""
    form = {name: resolved(value) for name, value in case["request"].items() if name != "messages"}
    model = case.get("models", {}).get(dialect, MODELS[dialect])
    request = ModelRequest.from_dict({"model": model, "messages": [], **form})
    history = case["request"]["messages"] if messages is None else messages
    return replace(request, messages=[message_of(message) for message in history])


def options_of(case: Case) -> dict[str, Any]:
    return {name: case[name] for name in OPTIONS if name in case}


class BodyExpectations:
    """Compares a body with an expectation, whose made-up ids and names must agree within a case."""

    def __init__(self, dialect: str, body: Any, id_pattern: str | None = None) -> None:
        self.dialect = dialect
        self.strings = list(_strings(body))
        self.given: dict[tuple[str, str], str] = {}
        self.id_pattern = None if id_pattern is None else re.compile(id_pattern)

    def check(self, expected: Any, actual: Any, path: str = "") -> None:
        if isinstance(expected, dict):
            self._check_object(expected, actual, path)
        elif isinstance(expected, list):
            assert isinstance(actual, list), (path, expected, actual)
            assert len(actual) == len(expected), (path, expected, actual)
            for at, (want, have) in enumerate(zip(expected, actual, strict=True)):
                self.check(want, have, f"{path}[{at}]")
        else:
            assert type(expected) is type(actual), (path, expected, actual)
            assert expected == actual, path

    def _check_object(self, expected: dict[str, Any], actual: Any, path: str) -> None:
        if "$id" in expected or "$name" in expected:
            kind = "$id" if "$id" in expected else "$name"
            self._check_given(kind, str(expected[kind]), actual, path)
        elif "$text" in expected:
            assert isinstance(actual, str), path
            assert actual, path
        elif "$contains" in expected:
            assert isinstance(actual, str), path
            assert all(text in actual for text in expected["$contains"]), (path, actual)
        elif "$json" in expected:
            assert json.loads(actual) == expected["$json"], path
        elif "$ends_with" in expected:
            assert actual.endswith(expected["$ends_with"]), path
            assert len(actual) > expected["$longer_than"], path
        elif expected:
            assert isinstance(actual, dict), (path, actual)
            for name, value in expected.items():
                assert name in actual, f"{path}.{name} is missing in {actual}"
                self.check(value, actual[name], f"{path}.{name}")

    def _check_given(self, kind: str, key: str, actual: Any, path: str) -> None:
        assert isinstance(actual, str), path
        known = self.given.get((kind, key))
        if known is not None:
            assert actual == known, path
            return
        form = (FORMS_OF_IDS if kind == "$id" else FORMS_OF_NAMES)[self.dialect]
        if kind == "$id" and self.id_pattern is not None:
            assert self.id_pattern.fullmatch(actual), (path, actual)
        else:
            assert form.is_valid(actual), (path, actual)
        assert actual not in self.given.values(), path
        self.given[kind, key] = actual

    def finish(self, expected: Any) -> None:
        """What is made up is no string that the expectation names."""
        assert not set(self.given.values()) & set(_strings(expected))


def _strings(value: Any) -> Any:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def count_of(key: str, value: Any) -> int:
    """How often an object anywhere in a value has a member."""
    if isinstance(value, dict):
        return (key in value) + sum(count_of(key, item) for item in value.values())
    return sum(count_of(key, item) for item in value) if isinstance(value, list) else 0


def pointed(body: Any, pointer: str) -> bool:
    """Whether a JSON pointer leads anywhere."""
    for name in pointer.removeprefix("/").split("/"):
        if isinstance(body, list):
            if not name.isdigit() or int(name) >= len(body):
                return False
            body = body[int(name)]
        elif isinstance(body, dict) and name in body:
            body = body[name]
        else:
            return False
    return True


def raw_members(text: str) -> dict[str, str]:
    """The members of a compact JSON object, each as it is written."""
    members: dict[str, str] = {}
    at = 1
    while text[at] != "}":
        name, at = _DECODER.raw_decode(text, at + (text[at] == ","))
        _, end = _DECODER.raw_decode(text, at + 1)
        members[name] = text[at + 1 : end]
        at = end
    return members


def raw_elements(text: str) -> list[str]:
    """The elements of a compact JSON list, each as it is written."""
    elements: list[str] = []
    at = 1
    while text[at] != "]":
        start = at + (text[at] == ",")
        _, at = _DECODER.raw_decode(text, start)
        elements.append(text[start:at])
    return elements


def without_marks(value: Any) -> Any:
    """A value without cache marks."""
    if isinstance(value, list):
        return [
            without_marks(item)
            for item in value
            if not (isinstance(item, dict) and set(item) == {"cachePoint"})
        ]
    if not isinstance(value, dict):
        return value
    return {name: without_marks(item) for name, item in value.items() if name != "cache_control"}


def _unmarked(text: str) -> str:
    if "cache_control" not in text and "cachePoint" not in text:
        return text
    return json.dumps(without_marks(json.loads(text)))


def _system(text: str | None) -> list[str]:
    """The texts of a system member, whichever form it has: a mark makes a list of a string."""
    value = None if text is None else without_marks(json.loads(text))
    return [value] if isinstance(value, str) else [part["text"] for part in value or ()]


def assert_begins_with(longer: BuiltRequest, shorter: BuiltRequest) -> None:
    """The body of a longer history begins with that of the shorter, but for the latter's last message."""
    have, want = raw_members(longer.to_json().decode()), raw_members(shorter.to_json().decode())
    dialect = longer.dialect.value
    for name in BEFORE:
        if name == "system":
            assert _system(have.get(name)) == _system(want.get(name))
        elif name == "toolConfig" and dialect == "bedrock-converse":
            # The tools that a history calls are declared as it calls them.
            old = raw_elements(raw_members(want.get(name, '{"tools":[]}'))["tools"])
            new = raw_elements(raw_members(have.get(name, '{"tools":[]}'))["tools"])
            plain = [_unmarked(tool) for tool in new if "cachePoint" not in tool]
            before = [_unmarked(tool) for tool in old if "cachePoint" not in tool]
            assert plain[: len(before)] == before
        else:
            assert _unmarked(have.get(name, "")) == _unmarked(want.get(name, "")), name
    old = raw_elements(want[MESSAGES[dialect]])[:-1]
    new = raw_elements(have[MESSAGES[dialect]])[: len(old)]
    assert [_unmarked(message) for message in new] == [_unmarked(message) for message in old]
