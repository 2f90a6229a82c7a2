"""The differences from the official clients: which there are, and which are known and why.

``expected.toml`` lists every known difference by its kind. A kind is a claim about what the difference
consists in; the functions here check the claim, so that a listed stream cannot hide another fault.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.corpus.peers import Rejected, final_of
from tests.corpus.turns import differing, of_anthropic, of_chat, of_message

from turntape import Dialect, decode_message

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.corpus.streams import Stream
    from tests.corpus.turns import Turn

EXPECTED = Path(__file__).with_name("expected.toml")

# The official client gives an answer where turntape raises: this stands in for the fields' names.
OUTCOME = "outcome"


@dataclass(frozen=True)
class Comparison:
    """One choice of a stream in both answers.

    Attributes:
        name: The stream's file; ``#`` and the choice's number follow for every choice but the first.
        fields: In what the answers differ.
        ours: turntape's turn; of a failed stream, what came before.
        theirs: The official client's.
    """

    name: str
    fields: frozenset[str]
    ours: Turn
    theirs: Turn


@dataclass(frozen=True)
class Kind:
    """A kind of difference that is permitted.

    Attributes:
        name: Its name, that of the function that checks it.
        client: Whose client differs.
        fields: In what, at least one of them.
        why: Why turntape's answer is right.
        streams: Where: names as in ``Comparison``.
    """

    name: str
    client: str
    fields: frozenset[str]
    why: str
    streams: tuple[str, ...]


def compare(stream: Stream) -> list[Comparison] | Rejected:
    """Compare turntape's answer with the official client's, choice by choice."""
    final = final_of(stream)
    if isinstance(final, Rejected):
        return final
    if stream.dialect is Dialect.ANTHROPIC:
        theirs = {0: of_anthropic(final)}
    else:
        theirs = {choice["index"]: of_chat(final, choice) for choice in final["choices"]}
    comparisons: list[Comparison] = []
    for index, turn in theirs.items():
        name = f"{stream.name}#{index}" if index else stream.name
        failed = stream.decoded.error is not None
        message = (
            decode_message(stream.body, stream.dialect, choice=index)
            if index
            else stream.decoded.message
        )
        ours = of_message(message, stream.dialect)
        found = frozenset({OUTCOME} if failed else differing(ours, turn))
        comparisons.append(Comparison(name, found, ours, turn))
    return comparisons


@cache
def expected() -> dict[str, Any]:
    """Give what is known of the corpus."""
    return tomllib.loads(EXPECTED.read_text(encoding="utf-8"))


def kinds() -> list[Kind]:
    """Give the kinds of differences that are permitted."""
    return [
        Kind(
            name=entry["kind"],
            client=entry["client"],
            fields=frozenset(entry["fields"]),
            why=" ".join(entry["why"].split()),
            streams=tuple(entry["streams"]),
        )
        for entry in expected()["difference"]
    ]


# Each kind, as a check of what it claims ------------------------------------------------------


def late_label(ours: Turn, theirs: Turn) -> bool:
    """The client keeps the empty id and model of the first chunk."""
    return theirs.id is None and theirs.model is None and bool(ours.id and ours.model)


def usage_not_last(ours: Turn, theirs: Turn) -> bool:
    """The client's usage is that of the last chunk, which has none."""
    return theirs.usage is None and ours.usage is not None


def reasoning_beside_output(ours: Turn, theirs: Turn) -> bool:
    """The wire counts reasoning beside the completion."""
    if theirs.usage is None:
        return False
    output = theirs.usage.output_tokens + theirs.usage.reasoning_tokens
    return ours.usage == replace(theirs.usage, output_tokens=output)


def cache_beside_input(ours: Turn, theirs: Turn) -> bool:
    """The wire counts cached tokens beside the prompt: taking them away would leave less than nothing."""
    if theirs.usage is None or theirs.usage.input_tokens >= 0:
        return False
    prompt = theirs.usage.input_tokens + theirs.usage.cache_read_tokens
    return ours.usage == replace(theirs.usage, input_tokens=prompt)


def repeated_label(ours: Turn, theirs: Turn) -> bool:
    """The client strings together the id and the name that every fragment of a call repeats."""

    def repeats(text: str, piece: str) -> bool:
        return text == piece * (len(text) // len(piece))

    return len(ours.calls) == len(theirs.calls) and all(
        repeats(long_id, short_id) and repeats(long_name, short_name) and arguments == same
        for (short_id, short_name, arguments), (long_id, long_name, same) in zip(
            ours.calls, theirs.calls, strict=True
        )
    )


def refusal_text(ours: Turn, theirs: Turn) -> bool:
    """The model refused, and the wire says ``stop``."""
    return (ours.stop_reason, theirs.stop_reason) == ("refusal", "end_turn")


def plain_end_with_calls(ours: Turn, theirs: Turn) -> bool:
    """The turn holds calls, and the wire says ``stop``."""
    return (ours.stop_reason, theirs.stop_reason) == ("tool_use", "end_turn") and bool(ours.calls)


def no_reason_with_calls(ours: Turn, theirs: Turn) -> bool:
    """The turn holds calls and was ended by ``[DONE]`` without a finish reason."""
    return (ours.stop_reason, theirs.stop_reason) == ("tool_use", "unknown") and bool(ours.calls)


def content_parts(ours: Turn, theirs: Turn) -> bool:
    """Content comes as a list of parts, of which the client keeps what is no part."""
    return not theirs.thinking and bool(ours.thinking) and ours.text.endswith(theirs.text)


def cut_arguments(ours: Turn, theirs: Turn) -> bool:
    """The arguments of a call end in the middle, and the client gives what can be made of them."""
    return [call[:2] for call in ours.calls] == [call[:2] for call in theirs.calls]


def fallback_model(ours: Turn, theirs: Turn) -> bool:
    """Another model took over within the turn, and the client names the last one."""
    return bool(ours.model and theirs.model)


def several_responses(ours: Turn, theirs: Turn) -> bool:
    """The recording holds several responses one after the other, which the client adds up to one."""
    first = zip(ours.calls, theirs.calls, strict=False)
    return (
        holds(theirs.text, ours.text)
        and holds(theirs.thinking, ours.thinking)
        and all(holds(long, short) for pair in first for short, long in zip(*pair, strict=True))
        and len(ours.others) <= len(theirs.others)
    )


def holds(long: str, short: str) -> bool:
    """Tell whether a text is another one with a piece put in somewhere."""
    start = 0
    while start < min(len(long), len(short)) and long[start] == short[start]:
        start += 1
    return long.endswith(short[start:])


def spliced_response(ours: Turn, theirs: Turn) -> bool:
    """A second response begins while the first is open, and the client adds them up to one."""
    return ours.raw_reason is None and theirs.raw_reason is not None


def error_field(ours: Turn, theirs: Turn) -> bool:
    """The provider's error stands in a field that the client ignores; its answer has no end."""
    return theirs.raw_reason is None and ours.text == theirs.text


CHECKS: dict[str, Callable[[Turn, Turn], bool]] = {
    check.__name__: check
    for check in (
        late_label,
        usage_not_last,
        reasoning_beside_output,
        cache_beside_input,
        repeated_label,
        refusal_text,
        plain_end_with_calls,
        no_reason_with_calls,
        content_parts,
        cut_arguments,
        fallback_model,
        several_responses,
        spliced_response,
        error_field,
    )
}
