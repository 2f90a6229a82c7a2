r"""The native dialect: a flat chat history, in which envelopes carry what a text cannot.

>>> history = [
...     Chat("user", "list the files"),
...     AssistantToolCalls("on it", (NativeToolCall("c1", "shell", '{"command":"ls"}'),)),
...     ToolResults((ToolEnvelope("c1", "a.txt"),)),
... ]
>>> for message in NativeDialect.to_provider_messages(history):
...     print(message.role, message.content)
user list the files
assistant {"content":"on it","tool_calls":[{"arguments":"{\"command\":\"ls\"}","id":"c1","name":"shell"}]}
tool {"content":"a.txt","tool_call_id":"c1"}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from turntape._native import encode_assistant_envelope, encode_tool_envelope
from turntape.errors import EnvelopeError
from turntape.messages import ToolUse
from turntape.replay.envelopes import NativeToolCall, ToolEnvelope  # noqa: TC001 (pydantic reads it)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = [
    "AssistantToolCalls",
    "Chat",
    "DropReason",
    "DroppedEntry",
    "HistoryEntry",
    "NativeDialect",
    "NativeResponse",
    "PairedHistory",
    "ToolResults",
    "TypedMessage",
    "pair_tool_cycles",
]


@dataclass(frozen=True, slots=True)
class Chat:
    """A message of a flat history.

    Attributes:
        role: Who says it: ``system``, ``user``, ``assistant``, ``tool``, or a role of the host's own.
        content: What is said; of packed messages the envelope.
    """

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class AssistantToolCalls:
    """An assistant turn that made tool calls: it opens a cycle, which the very next results close.

    Attributes:
        text: What the model said, None where it said nothing.
        tool_calls: Its calls, in their order.
        reasoning_content: Its reasoning, for providers that want it back. An envelope with it is not
            canonical.
    """

    text: str | None
    tool_calls: tuple[NativeToolCall, ...]
    reasoning_content: str | None = None


@dataclass(frozen=True, slots=True)
class ToolResults:
    """The results of one round of tool calls, in any order.

    Attributes:
        entries: One for each call.
    """

    entries: tuple[ToolEnvelope, ...]


HistoryEntry: TypeAlias = Chat | AssistantToolCalls | ToolResults
"""An entry of a native history."""

DropReason: TypeAlias = Literal[
    "not_answered", "not_exactly_answered", "opener_dropped", "no_opener"
]
"""Why an entry was dropped.

``not_answered``: calls, and the next entry is no results. ``not_exactly_answered``: calls, and the next
results answer not each of them exactly once. ``opener_dropped``: the results of such calls. ``no_opener``:
results that no calls stand before.
"""


@dataclass(frozen=True, slots=True)
class DroppedEntry:
    """An entry that ``pair_tool_cycles`` left out.

    Attributes:
        index: Its place in the history, counted from 0.
        reason: Why.
        detail: The same for people, with the ids that are at fault.
    """

    index: int
    reason: DropReason
    detail: str


@dataclass(frozen=True, slots=True)
class PairedHistory:
    """A history in which every call is answered exactly once, right after it.

    Attributes:
        entries: What stays, unchanged.
        dropped: What was left out, in the order of the history.
    """

    entries: tuple[HistoryEntry, ...]
    dropped: tuple[DroppedEntry, ...]


@dataclass(frozen=True, slots=True)
class TypedMessage:
    """A message with its calls in fields.

    Attributes:
        role: Who says it.
        content: What is said, None for calls without a text.
        tool_calls: The calls of an assistant turn.
        tool_call_id: For a tool's result, the id of the call that it answers.
        reasoning_content: The reasoning of an assistant turn.
    """

    role: str
    content: str | None
    tool_calls: tuple[NativeToolCall, ...] = ()
    tool_call_id: str | None = None
    reasoning_content: str | None = None


@dataclass(frozen=True, slots=True)
class NativeResponse:
    """What a model answered.

    Attributes:
        text: What it said, None where it said nothing.
        tool_calls: Its calls. One whose arguments are no JSON object says so in ``invalid`` and keeps the
            raw text in ``arguments``.
    """

    text: str | None
    tool_calls: tuple[ToolUse, ...]


def pair_tool_cycles(history: Iterable[HistoryEntry]) -> PairedHistory:
    """Leave out what no provider takes: calls that are not exactly answered, results without calls.

    Calls stay if the very next entry is results, and these answer each call exactly once, in any order.
    Otherwise they go together with those results. Results that follow no calls go too. Nothing is
    repaired, and what stays is unchanged.

    Raises:
        TypeError: Something is no entry.

    >>> pair_tool_cycles([ToolResults((ToolEnvelope("c9", "late"),)), Chat("user", "hi")]).dropped
    (DroppedEntry(index=0, reason='no_opener', detail="results of 'c9' that no calls stand before"),)
    """
    entries = list(history)
    kept: list[HistoryEntry] = []
    dropped: list[DroppedEntry] = []
    index = 0
    while index < len(entries):
        entry = entries[index]
        match entry:
            case Chat():
                kept.append(entry)
            case ToolResults():
                ids = ", ".join(repr(result.tool_call_id) for result in entry.entries)
                detail = f"results of {ids or 'nothing'} that no calls stand before"
                dropped.append(DroppedEntry(index, "no_opener", detail))
            case AssistantToolCalls():
                following = entries[index + 1] if index + 1 < len(entries) else None
                if not isinstance(following, ToolResults):
                    what = "the end" if following is None else "another entry"
                    detail = f"calls of {_names(entry)}, then {what}, and no results"
                    dropped.append(DroppedEntry(index, "not_answered", detail))
                elif fault := _fault_of_answers(entry, following):
                    dropped += (
                        DroppedEntry(index, "not_exactly_answered", fault),
                        DroppedEntry(
                            index + 1, "opener_dropped", f"results of dropped calls: {fault}"
                        ),
                    )
                    index += 1
                else:
                    kept += (entry, following)
                    index += 1
            case _:
                raise TypeError(f"{type(entry).__name__} is no entry of a native history")
        index += 1
    return PairedHistory(tuple(kept), tuple(dropped))


def _names(opener: AssistantToolCalls) -> str:
    return ", ".join(repr(call.id) for call in opener.tool_calls) or "nothing"


def _fault_of_answers(opener: AssistantToolCalls, results: ToolResults) -> str:
    """Say why results do not answer each call exactly once; nothing where they do."""
    called = [call.id for call in opener.tool_calls]
    answered = [result.tool_call_id for result in results.entries]
    faults = {
        "called twice": _repeated(called),
        "answered twice": _repeated(answered),
        "not answered": _without(called, answered),
        "answered and not called": _without(answered, called),
    }
    return "; ".join(f"{what}: {', '.join(map(repr, ids))}" for what, ids in faults.items() if ids)


def _repeated(ids: Sequence[str]) -> list[str]:
    seen: set[str] = set()
    twice: dict[str, None] = {}
    for name in ids:
        if name in seen:
            twice[name] = None
        seen.add(name)
    return list(twice)


def _without(ids: Sequence[str], others: Sequence[str]) -> list[str]:
    known = set(others)
    return list(dict.fromkeys(name for name in ids if name not in known))


class NativeDialect:
    """A native history, as the messages that a provider takes, and back from what it answers.

    The dialect has no state; its functions need no instance.
    """

    __slots__ = ()

    @staticmethod
    def to_provider_messages(history: Iterable[HistoryEntry]) -> list[Chat]:
        """Turn a history into messages of a role and a content each.

        Calls become an assistant message whose content is the assistant envelope; results one ``tool``
        message each, a tool envelope. What ``pair_tool_cycles`` leaves out is left out; call that for the
        report.

        Raises:
            EnvelopeError: A value cannot be written.
            TypeError: Something is no entry.
        """
        messages: list[Chat] = []
        for entry in pair_tool_cycles(history).entries:
            match entry:
                case Chat():
                    messages.append(entry)
                case AssistantToolCalls(text, calls, reasoning):
                    packed = encode_assistant_envelope(text, calls, reasoning)
                    messages.append(Chat("assistant", packed))
                case ToolResults(results):
                    messages.extend(
                        Chat("tool", encode_tool_envelope(result.tool_call_id, result.content))
                        for result in results
                    )
        return messages

    @staticmethod
    def to_typed_messages(history: Iterable[HistoryEntry]) -> list[TypedMessage]:
        """Turn a history into the same messages with their parts in fields instead of packed strings.

        Raises:
            TypeError: Something is no entry.
        """
        messages: list[TypedMessage] = []
        for entry in pair_tool_cycles(history).entries:
            match entry:
                case Chat(role, content):
                    messages.append(TypedMessage(role, content))
                case AssistantToolCalls(text, calls, reasoning):
                    messages.append(
                        TypedMessage("assistant", text, tuple(calls), reasoning_content=reasoning)
                    )
                case ToolResults(results):
                    messages.extend(
                        TypedMessage("tool", result.content, tool_call_id=result.tool_call_id)
                        for result in results
                    )
        return messages

    @staticmethod
    def parse_response(
        text: str | None,
        tool_calls: Iterable[NativeToolCall | ToolUse | Mapping[str, Any]] | None = None,
    ) -> NativeResponse:
        """Read a model's answer from its structured calls; the text is never searched for any.

        Args:
            text: What it said.
            tool_calls: Its calls: objects of this package, or mappings with ``id``, ``name``,
                ``arguments`` and perhaps ``extra_content``, or as Chat Completions nests them, in
                ``function``.

        Raises:
            EnvelopeError: A call lacks one of these, or it is no text.
            TypeError: Something is no call.

        >>> response = NativeDialect.parse_response(None, [{"id": "c1", "name": "f", "arguments": "[1]"}])
        >>> response.tool_calls[0].arguments, response.tool_calls[0].invalid
        ('[1]', 'not_an_object')
        """
        calls = tuple(_read_call(call, index) for index, call in enumerate(tool_calls or ()))
        return NativeResponse(text, calls)


def _read_call(call: object, index: int) -> ToolUse:
    match call:
        case ToolUse():
            return call
        case NativeToolCall():
            return call.to_tool_use()
        case Mapping():
            given = cast("Mapping[str, Any]", call)
            inner = given.get("function")
            function = cast("Mapping[str, Any]", inner) if isinstance(inner, Mapping) else given
            name, arguments = (_text(function, name, index) for name in ("name", "arguments"))
            made = NativeToolCall(
                _text(given, "id", index), name, arguments, given.get("extra_content")
            )
            return made.to_tool_use()
        case _:
            raise TypeError(f"{type(call).__name__} is no tool call")


def _text(members: Mapping[str, Any], name: str, index: int) -> str:
    value = members.get(name)
    if not isinstance(value, str):
        path = f"tool_calls[{index}].{name}"
        raise EnvelopeError(f"{path}: {type(value).__name__}, not str", field=path)
    return value
