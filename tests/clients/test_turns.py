"""Turns of one provider, served in another's dialect: every client has them as turntape does."""

from __future__ import annotations

from dataclasses import asdict, fields
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest
from tests.support.encoders import WIRES
from tests.support.heard import CLIENTS, QUESTION, Heard, heard_by_turntape
from tests.support.streams import said_plainly
from tests.support.turns import Call, Say, Turn

import turntape

if TYPE_CHECKING:
    from collections.abc import Iterable

    from turntape.testing import ReplayServer


def say(kind: str, text: str) -> Say:
    """Make a block that comes in three pieces."""
    units = [unit for character in text for unit in _units(character)]
    third = len(units) // 3
    pieces = (tuple(units[:third]), tuple(units[third : 2 * third]), tuple(units[2 * third :]))
    return Say(
        "text" if kind == "text" else "thinking", text, pieces, "c2ln" if kind != "text" else None
    )


def call(number: int, name: str, arguments: str) -> Call:
    units = tuple(unit for character in arguments for unit in _units(character))
    return Call(f"call_{number}", name, arguments, (units[:5], units[5:]))


def _units(character: str) -> Iterable[int]:
    data = character.encode("utf-16-le")
    return (int.from_bytes(data[at : at + 2], "little") for at in range(0, len(data), 2))


LOOK_UP = call(
    1, "look_up", '{"place": "Skerry \\u00d8", "deep": {"list": [1, null, "\U0001f6f0"]}}'
)
RING = call(2, "ring", '{"bells": 3}')
THOUGHT = say("thinking", "The lamp needs oil first.\nThen the bell.")
TEXT = say("text", "Grüße vom Leuchtturm 🗼: “oil”, then\nring — twice.")

TURNS: dict[str, Turn] = {
    "text": Turn((TEXT,), "end_turn", (7, 0, 12)),
    "tool": Turn((TEXT, LOOK_UP), "tool_use", (700, 250, 31)),
    "parallel tools": Turn((LOOK_UP, RING), "tool_use", (19, 6, 40)),
    "reasoning": Turn((THOUGHT, TEXT), "end_turn", (41, 0, 66)),
    "all of it": Turn((THOUGHT, TEXT, LOOK_UP, RING), "tool_use", (1024, 512, 99)),
}
"""What was said, with fresh prompt tokens, cached ones and generated ones."""

STREAMS = {"streamed": True, "whole": False}

# Where a client has something else than what it was sent: client, how it asked, field; and why.
DEVIATIONS: dict[tuple[str, str, str], str] = {}


@pytest.mark.parametrize("client_name", CLIENTS)
@pytest.mark.parametrize("form", STREAMS)
@pytest.mark.parametrize("turn_name", TURNS)
@pytest.mark.parametrize("source", WIRES)
def test_a_client_has_the_turn_of_another_provider(
    server: ReplayServer, client_name: str, form: str, turn_name: str, source: str
) -> None:
    client = CLIENTS[client_name]
    if source == client.dialect:
        pytest.skip("this is about other providers' turns")
    if find_spec(client.module.partition(".")[0]) is None:
        pytest.skip(f"{client.module} is not installed")
    pytest.importorskip(client.module)
    body = said_plainly(TURNS[turn_name], source)
    expected = asdict(heard_by_turntape(turntape.decode_message(body, source)))
    server.clear()
    server.add(body, dialect=source)
    heard = asdict(client.ask(server.base_url_for(client.base), stream=STREAMS[form]))
    [request] = server.requests
    assert request.request is not None
    assert QUESTION in str(request.request.messages)
    for name in (field.name for field in fields(Heard)):
        if (client_name, form, name) not in DEVIATIONS:
            assert heard[name] == expected[name], name
