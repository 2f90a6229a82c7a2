"""How a command ends: quietly where nobody reads any more or the user interrupts it."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from collections.abc import Generator

import typer

__all__ = ["guarded", "report_output_error"]

# What a shell reports for a program that SIGINT or SIGPIPE ended.
_INTERRUPTED = 130
_BROKEN_PIPE = 141


@contextlib.contextmanager
def guarded() -> Generator[None]:
    """Run a command's body: output that fails and Ctrl-C end it with a status, not a traceback.

    The body handles errors of reading itself, so that an ``OSError`` here is one of writing.

    Raises:
        typer.Exit: The output failed, or the user interrupted the command.
    """
    try:
        yield
        sys.stdout.flush()
    except KeyboardInterrupt:
        raise typer.Exit(_INTERRUPTED) from None
    except OSError as error:
        raise typer.Exit(report_output_error(error)) from None


def report_output_error(error: OSError) -> int:
    """Say why the output failed, or nothing where its reader has gone.

    Returns:
        The exit status.
    """
    # What is still buffered must not fail a second time when the interpreter ends.
    _discard(sys.stdout)
    if error.errno in {errno.EPIPE, errno.EINVAL}:  # a closed pipe is EINVAL on Windows
        _discard(sys.stderr)
        return _BROKEN_PIPE
    print(f"turntape: cannot write the output: {error.strerror or error}", file=sys.stderr)
    return 1


def _discard(stream: object) -> None:
    if isinstance(stream, io.TextIOWrapper):
        # A stream that a test put there has no descriptor, and nothing to flush to.
        with contextlib.suppress(OSError), open(os.devnull, "wb") as nowhere:  # noqa: PTH123
            os.dup2(nowhere.fileno(), stream.fileno())
