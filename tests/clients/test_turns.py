"""Turns of one provider, served in another's dialect: every client has them as turntape does."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support.encoders import WIRES
from tests.support.heard import CLIENTS, QUESTION, heard_by_turntape
from tests.support.streams import said_plainly
from tests.support.turns import Call, Say, Turn

import turntape

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.support.encoders import Wire
    from tests.support.heard import Client

    from turntape.testing import ReplayServer


# What other people's code warns of when it is imported, or leaves open, is not what these tests are about.
pytestmark = pytest.mark.filterwarnings("ignore")


def say(kind: str, text: str) -> Say:
    """Make a block that comes in three pieces."""
    units = [unit for character in text for unit in _units(character)]
    third = len(units) // 3
    pieces = (tuple(units[:third]), tuple(units[third : 2 * third]), tuple(units[2 * third :]))
    return Say(
        "text" if kind == "text" else "thinking", text, pieces, "c2ln" if kind != "text" else None
    )


def call(call_id: str, name: str, arguments: str) -> Call:
    units = tuple(unit for character in arguments for unit in _units(character))
    return Call(call_id, name, arguments, (units[:5], units[5:]))


def _units(character: str) -> Iterable[int]:
    data = character.encode("utf-16-le")
    return (int.from_bytes(data[at : at + 2], "little") for at in range(0, len(data), 2))


def calls(*ids: str) -> tuple[Call, ...]:
    look_up = '{"place": "Skerry \\u00d8", "deep": {"list": [1, null, "\U0001f6f0"]}}'
    made = (call(ids[0], "look_up", look_up), call(ids[-1], "ring", '{"bells": 3}'))
    return made[: len(ids)]


THOUGHT = say("thinking", "The lamp needs oil first.\nThen the bell.")
TEXT = say("text", "Grüße vom Leuchtturm 🗼: “oil”, then\nring — twice.")

TURNS: dict[str, Turn] = {
    "text": Turn((TEXT,), "end_turn", (7, 0, 12)),
    "tool": Turn((TEXT, *calls("call_lamp")), "tool_use", (700, 250, 31)),
    "parallel tools": Turn(calls("call_lamp", "call_bell"), "tool_use", (19, 6, 40)),
    "reasoning": Turn((THOUGHT, TEXT), "end_turn", (41, 0, 66)),
    "all of it": Turn((THOUGHT, TEXT, *calls("call_a", "call_b")), "tool_use", (1024, 512, 99)),
    "numbered calls": Turn(calls("call_0", "call_1"), "tool_use", (19, 6, 40)),
}
"""What was said, with fresh prompt tokens, cached ones and generated ones."""

FORMS = {"streamed": True, "whole": False}

# Where a client has something else than it was sent: client, turn and field; and why.
DEVIATIONS: dict[tuple[str, str, str], str] = {
    ("LiteLLM, Responses", "numbered calls", "ids"): (
        "LiteLLM gives the id of the item as that of the call where the call's is `call_` and a number, "
        "because one host numbers its calls anew in every response"
    ),
}


def from_others(client: Client, turn_name: str) -> list[Wire]:
    """The providers that a turn comes from: all others for an official client, one in turn for the rest."""
    others: list[Wire] = [wire for wire in WIRES if wire != client.dialect]
    if client.is_official:
        return others
    return [others[list(TURNS).index(turn_name) % len(others)]]


CASES = [
    pytest.param(client_name, turn_name, source, id=f"{client_name}-{turn_name}-{source}")
    for client_name, client in CLIENTS.items()
    for turn_name in TURNS
    for source in from_others(client, turn_name)
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("client_name", "turn_name", "source"), CASES)
def test_a_client_has_the_turn_of_another_provider(
    server: ReplayServer, form: str, client_name: str, turn_name: str, source: Wire
) -> None:
    client = CLIENTS[client_name]
    pytest.importorskip(client.module)
    body = said_plainly(TURNS[turn_name], source)
    expected = asdict(heard_by_turntape(turntape.decode_message(body, source)))
    server.clear()
    server.add(body, dialect=source)
    heard = asdict(client.ask(server.base_url_for(client.base), stream=FORMS[form]))
    [request] = server.requests
    assert request.request is not None
    assert QUESTION in str(request.request.messages)
    differing = {name for name in expected if heard[name] != expected[name]}
    assert differing == {
        field for name, turn, field in DEVIATIONS if (name, turn) == (client_name, turn_name)
    }, (heard, expected)


def client_table() -> str:
    """The table of the documentation: clients against turns, and a line for each deviation."""
    reasons = list(dict.fromkeys(DEVIATIONS.values()))
    lines = [
        f"| client | {' | '.join(TURNS)} |",
        f"| --- |{' --- |' * len(TURNS)}",
    ]
    for client_name in CLIENTS:
        cells = []
        for turn_name in TURNS:
            notes = [
                f"not the {field} [{reasons.index(reason) + 1}]"
                for (name, turn, field), reason in DEVIATIONS.items()
                if (name, turn) == (client_name, turn_name)
            ]
            cells.append(", ".join(notes) or "yes")
        lines.append(f"| {client_name} | {' | '.join(cells)} |")
    notes = [f"{number}. {reason}." for number, reason in enumerate(reasons, 1)]
    return "\n".join([*lines, "", *notes])


def test_the_documentation_has_the_table():
    page = Path(__file__).parents[2] / "docs" / "encoding.md"
    if not page.is_file():
        pytest.skip("docs/ is not here: these are the tests of an installed package")
    assert client_table() in page.read_text("utf-8"), client_table()
