"""Histories made up by hypothesis: what a host may hand to the builder of requests.

Three kinds. ``histories`` are in order: every call is answered right after it, whatever else is odd about
ids, names, arguments, texts and thinking, so each target has to take them. ``broken_histories`` are those
with calls and results lost, doubled or misplaced, with nothing said and with the wrong one speaking first
or last: what a repair is for. ``wild_histories`` hold anything that the types allow.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from hypothesis import strategies as st
from tests.support.history_parts import (
    EMPTY_TEXTS,
    IDS,
    PLAIN_TEXTS,
    answers,
    any_texts,
    images,
    media,
    plain_texts,
    turns,
)

from turntape import CustomRecord, Message, Text, ToolResult, ToolUse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hypothesis.strategies import DrawFn, SearchStrategy

    from turntape import ContentBlock, HistoryItem, Role

__all__ = ["broken_histories", "histories", "wild_histories"]

History: TypeAlias = "list[HistoryItem]"

_ROLES: SearchStrategy[Role] = st.sampled_from(["user", "assistant", "system"])


@st.composite
def _asked(draw: DrawFn, pictures: SearchStrategy[ContentBlock]) -> list[ContentBlock]:
    parts = st.one_of(plain_texts.map(Text), any_texts.map(Text), pictures)
    return draw(st.lists(parts, min_size=1, max_size=3))


@st.composite
def _rounds(draw: DrawFn, pictures: SearchStrategy[ContentBlock]) -> History:
    """Calls, and their results: in one message or several, in any order, with text around them."""
    turn = draw(turns(calls=draw(st.integers(1, 3))))
    ids = [block.id for block in turn.content if isinstance(block, ToolUse)]
    given: list[ContentBlock] = [draw(answers(id_, pictures)) for id_ in ids]
    if len(set(ids)) == len(ids):
        given = draw(st.permutations(given))
    match draw(st.sampled_from(["one", "one", "several", "text before", "text after"])):
        case "several":
            return [turn, *(Message("user", (answer,)) for answer in given)]
        case "text before":
            return [turn, Message("user", (*draw(_asked(pictures)), *given))]
        case "text after":
            return [turn, Message("user", (*given, *draw(_asked(pictures))))]
        case _:
            return [turn, Message("user", tuple(given))]


@st.composite
def histories(
    draw: DrawFn, pictures: SearchStrategy[ContentBlock] = images, max_parts: int = 4
) -> History:
    """Make up a history in which every call is answered right after it, and the user has the last word.

    Args:
        draw: Hypothesis's.
        pictures: What media to put in; the default is those that every target takes.
        max_parts: At most how many rounds and exchanges.
    """
    history: History = []
    if draw(st.integers(0, 3)) == 0:
        history.append(Message.system(draw(any_texts)))
    history.append(Message.user([Text(draw(plain_texts)), *draw(_asked(pictures))]))
    for _ in range(draw(st.integers(0, max_parts))):
        match draw(st.sampled_from(["round", "round", "exchange", "user", "system", "record"])):
            case "round":
                history += draw(_rounds(pictures))
            case "exchange":
                history.append(draw(turns(calls=0)))
                # Were it left out for saying nothing, the model would have the last word.
                history.append(Message.user([Text(draw(plain_texts)), *draw(_asked(pictures))]))
            case "user":
                history.append(Message.user(draw(_asked(pictures))))
            case "system":
                # The user has said something before it, and will again.
                history.append(Message.system(draw(any_texts)))
                history.append(Message.user(draw(plain_texts)))
            case _:
                history.append(CustomRecord("ui.note", {"saved": True}, "Saved."))
    return history


# What is wrong with it -----------------------------------------------------------------------------

_FAULTS = (
    "lose",
    "lose",
    "double",
    "late",
    "orphan",
    "no start",
    "assistant last",
    "assistant",
    "empty",
    "blank",
    "system last",
    "text",
    "record",
)


@st.composite
def broken_histories(
    draw: DrawFn, pictures: SearchStrategy[ContentBlock] = images, max_parts: int = 4
) -> History:
    """Make up a history that needs a repair, or several."""
    history = draw(histories(pictures, max_parts))
    for fault in draw(st.lists(st.sampled_from(_FAULTS), min_size=1, max_size=3)):
        kind, _, _ = fault.partition(" ")
        if kind in {"lose", "double", "late"}:
            history = _with_other_results(draw, history, kind)
        elif kind == "no":
            history = history[1:]
        else:
            place = len(history) if fault.endswith("last") else draw(st.integers(0, len(history)))
            history = [*history[:place], draw(_intruders(kind)), *history[place:]]
    # Something is left to be said.
    return history if any(map(_says_something, history)) else [*history, Message.user("Go on.")]


def _says_something(item: HistoryItem) -> bool:
    if isinstance(item, CustomRecord) or item.role != "user":
        return False
    return any(isinstance(block, Text) and block.text in PLAIN_TEXTS for block in item.content)


def _with_other_results(draw: DrawFn, history: History, kind: str) -> History:
    answered = [i for i, item in enumerate(history) if _results(item)]
    if not answered:
        return history
    at = draw(st.sampled_from(answered))
    result = draw(st.sampled_from(_results(history[at])))
    rest = history if kind == "double" else _without(history, at, result)
    if kind == "lose":
        return rest
    place = draw(st.integers(at, len(rest)))
    return [*rest[:place], Message("user", (replace(result, content="again"),)), *rest[place:]]


@st.composite
def _intruders(draw: DrawFn, kind: str) -> HistoryItem:  # noqa: PLR0911 (one a kind)
    match kind:
        case "orphan":
            return Message.tool_result(draw(st.sampled_from(IDS)), "nobody asked")
        case "assistant":
            return draw(turns(calls=draw(st.integers(0, 2))))
        case "empty":
            return Message(draw(_ROLES), ())
        case "blank":
            return Message(draw(_ROLES), (Text(draw(st.sampled_from(EMPTY_TEXTS))),))
        case "system":
            return Message.system(draw(any_texts))
        case "record":
            return CustomRecord("ui.note")
        case _:
            return Message.user(draw(plain_texts))


def _results(item: HistoryItem) -> list[ToolResult]:
    if isinstance(item, CustomRecord):
        return []
    return [block for block in item.content if isinstance(block, ToolResult)]


def _without(history: History, at: int, result: ToolResult) -> History:
    item = history[at]
    assert isinstance(item, Message)
    content = list(item.content)
    content.remove(result)
    return [*history[:at], replace(item, content=tuple(content)), *history[at + 1 :]]


_HOSTILE = (
    "half \ud83d",
    "nul \0",
    "",
    " ",
    "{",
    "[1]",
    '{"n":NaN}',
    '{"a":"\\ud83d"}',
    "NaN",
    "{}x",
)
# What a type limits to a few words stays one of them, or the history could not be made at all.
_WORDS = {"type", "role", "dialect", "stop_reason"}


@st.composite
def wild_histories(draw: DrawFn) -> History:
    """Make up a history of anything that the types allow.

    Media that nobody takes, blocks on the wrong side, and where a text should be a name, an address or
    JSON, something that is none.
    """
    history = draw(broken_histories(media))
    for place, item in enumerate(history):
        if isinstance(item, Message):
            match draw(st.integers(0, 9)):
                case 0:
                    history[place] = replace(item, role=draw(_ROLES))
                case 1:
                    form = item.to_dict()
                    _scribble(draw, form)
                    history[place] = Message.from_dict(form)
                case _:
                    pass
    return history


def _scribble(draw: DrawFn, form: dict[str, Any]) -> None:
    """Put something hostile in the place of one text."""
    places = list(_texts(form))
    if places:
        holder, name = draw(st.sampled_from(places))
        holder[name] = draw(st.sampled_from(_HOSTILE))


def _texts(value: Any) -> Iterator[tuple[Any, Any]]:
    members = value.items() if isinstance(value, dict) else enumerate(value)
    for name, inner in members:
        if isinstance(inner, (dict, list)):
            yield from _texts(inner)
        elif isinstance(inner, str) and name not in _WORDS:
            yield value, name
