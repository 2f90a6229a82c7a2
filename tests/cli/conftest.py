"""Running the command line inside this process, and the streams that it is shown."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest
from typer.testing import CliRunner

from turntape.cli.app import app

if TYPE_CHECKING:
    from collections.abc import Mapping

# What colours the output, or makes rich take a pipe for a terminal.
_ENVIRONMENT = dict.fromkeys(
    ("FORCE_COLOR", "NO_COLOR", "COLUMNS", "TTY_COMPATIBLE", "TTY_INTERACTIVE")
)


@dataclass(frozen=True)
class Ended:
    status: int
    stdout: str
    stderr: str
    stdout_bytes: bytes


class Run(Protocol):
    def __call__(
        self, *arguments: str | Path, stdin: bytes = b"", env: Mapping[str, str] | None = None
    ) -> Ended: ...


@pytest.fixture
def run() -> Run:
    """Run the command; an exception that is no exit fails the test."""

    def run(
        *arguments: str | Path, stdin: bytes = b"", env: Mapping[str, str] | None = None
    ) -> Ended:
        result = CliRunner().invoke(
            app,
            [str(argument) for argument in arguments],
            input=stdin,
            env={**_ENVIRONMENT, **(env or {})},
            catch_exceptions=False,
        )
        return Ended(result.exit_code, result.stdout, result.stderr, result.stdout_bytes)

    return run


@pytest.fixture(scope="session")
def streams() -> Path:
    return Path(__file__).parents[2] / "examples" / "streams"


@pytest.fixture(scope="session")
def hostile() -> bytes:
    """Whatever a terminal would obey, in every place of a Chat stream that reaches the output."""
    evil = r"\u001b]0;owned\u0007\u001b[2J\u009b31m\u202egnp\r\u2028\u0000\u007f"
    raw = b"\x1b[31m\x9b\x07"
    return (
        b"data: noise " + raw + b"\n\n"
        b'data: {"id":"i%s","model":"m%s","choices":[{"delta":{"reasoning":"r%s"}}]}\n\n'
        b'data: {"choices":[{"delta":{"content":"t%s"},"logprobs":{"l%s":1}}]}\n\n'
        b'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c%s","function":'
        b'{"name":"n%s","arguments":"{\\"a%s"}}]}}]}\n\n'
        b'data: {"error":{"code":"k%s","message":"e%s"}}\n\n'
    ).replace(b"%s", evil.encode())


_STYLE = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture(scope="session")
def unsafe():
    """The characters of an output that a terminal would obey, colours set aside."""

    def unsafe(text: str) -> set[str]:
        return {
            character
            for character in _STYLE.sub("", text)
            if character != "\n" and (not character.isprintable() or "\x7f" <= character <= "\x9f")
        }

    return unsafe
