"""What a command says on standard error when it cannot do what it was asked."""

from __future__ import annotations

from typing import NoReturn

import typer

from turntape.cli.output import Output

__all__ = ["complain", "refuse"]

_USAGE = 2


def complain(remarks: Output, message: str, advice: str = "") -> None:
    """Say in one line what is wrong and what to do. The texts must be clean."""
    remarks.line(
        ("turntape: ", "bold red"), message, (f". What to do: {advice}." if advice else "", "bold")
    )
    remarks.flush()


def refuse(remarks: Output, message: str) -> NoReturn:
    """End with a usage error.

    Raises:
        typer.Exit: Always.
    """
    complain(remarks, message)
    raise typer.Exit(_USAGE)
