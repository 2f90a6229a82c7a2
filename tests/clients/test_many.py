"""Many clients at once: each gets its own turn, whole."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.encoders import WIRES
from tests.support.heard import QUESTION
from tests.support.streams import said_plainly
from tests.support.turns import Call, Say, Turn

import turntape

if TYPE_CHECKING:
    from tests.support.encoders import Wire

    from turntape.testing import ReplayServer

CLIENTS = 200
SECONDS = 200
SPOKEN = [wire for wire in WIRES if wire != "bedrock-converse"]


def turn_of(number: int) -> Turn:
    """A turn that no other client gets, of a length of its own."""
    text = f"Answer {number}: " + "bell " * (number % 17 * 20)
    arguments = f'{{"bells": {number}}}'

    def units(said: str) -> tuple[int, ...]:
        return tuple(map(ord, said))

    pieces = tuple(units(text[at : at + 7]) for at in range(0, len(text), 7))
    call = Call(f"call_n{number}", "ring", arguments, (units(arguments[:4]), units(arguments[4:])))
    return Turn((Say("text", text, pieces), call), "tool_use", (number, 0, 5))


def asked(dialect: turntape.Dialect, number: int) -> tuple[str, bytes]:
    """The path and the body of a request for that turn."""
    built = turntape.build_request(
        turntape.ModelRequest(
            "demo",
            (turntape.Message("user", (turntape.Text(f"{QUESTION} <{number}>"),)),),
            max_tokens=64,
            stream=True,
        ),
        dialect,
    )
    return dialect.endpoint_path("demo"), built.to_json()


@pytest.mark.anyio
@pytest.mark.timeout(SECONDS + 30)
async def test_two_hundred_clients_at_once(server: ReplayServer):
    httpx2 = pytest.importorskip("httpx2")
    server.clear()
    expected: list[turntape.AssistantMessage] = []
    for number in range(CLIENTS):
        # Every provider's turns, each asked for in another's dialect.
        source: Wire = WIRES[number % len(WIRES)]
        body = said_plainly(turn_of(number), source)
        expected.append(turntape.decode_message(body, source))
        server.add(body, dialect=source, when=f"<{number}>")
    everyone_is_there = asyncio.Barrier(CLIENTS)

    async def ask(client: Any, number: int) -> turntape.AssistantMessage:
        others = [wire for wire in SPOKEN if wire != WIRES[number % len(WIRES)]]
        dialect = turntape.Dialect(others[number % len(others)])
        path, content = asked(dialect, number)
        headers = {"content-type": "application/json"}
        # Nobody reads on before all have been answered.
        async with client.stream(
            "POST", server.url + path, content=content, headers=headers
        ) as got:
            assert got.status_code == 200
            await everyone_is_there.wait()
            events = [event async for event in turntape.aiter_events(got.aiter_bytes(), dialect)]
        return turntape.assemble(events)

    limits = httpx2.Limits(max_connections=CLIENTS)
    async with (
        asyncio.timeout(SECONDS),
        httpx2.AsyncClient(trust_env=False, timeout=SECONDS, limits=limits) as client,
        asyncio.TaskGroup() as group,
    ):
        tasks = [group.create_task(ask(client, number)) for number in range(CLIENTS)]
    for task, wanted in zip(tasks, expected, strict=True):
        message = task.result()
        assert message.complete
        assert message.stop_reason == "tool_use"
        assert message.usage == wanted.usage
        [text, call] = message.content
        assert isinstance(text, turntape.Text)
        assert isinstance(call, turntape.ToolUse)
        assert text.text == next(b.text for b in wanted.content if isinstance(b, turntape.Text))
        assert (call.name, call.input) == ("ring", {"bells": wanted.content[-1].input["bells"]})  # type: ignore[union-attr]
    assert len(server.requests) == CLIENTS
    assert server.unserved == []
