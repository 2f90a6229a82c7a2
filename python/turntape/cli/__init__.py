"""The command line, ``turntape`` and ``python -m turntape``: one module a command.

It needs the extra ``cli`` (typer and rich); nothing else in the package does.
"""

from __future__ import annotations

import os
import sys
from typing import NoReturn

__all__ = ["main"]

_MISSING_EXTRA = (
    "turntape: the command line needs typer and rich, and '{name}' is not installed: "
    "pip install 'turntape[cli]'"
)


def main() -> NoReturn:
    """Run the command line with the arguments of the process, and exit."""
    # A process may be started with its streams closed; what is written to them then goes nowhere.
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 (stays open)
    try:
        from turntape.cli.app import run  # noqa: PLC0415 (what it needs may be missing)
    except ModuleNotFoundError as error:
        missing = (error.name or "turntape").partition(".")[0]
        if missing == "turntape":
            raise
        print(_MISSING_EXTRA.format(name=missing), file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(run())
