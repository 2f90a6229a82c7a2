"""The one input that a command is given by name."""

from __future__ import annotations

from pathlib import Path

from turntape.cli.complaints import refuse
from turntape.cli.output import Output, clean
from turntape.cli.sources import STANDARD_INPUT

__all__ = ["name_input"]


def name_input(remarks: Output, file: str, what: str) -> str:
    """Name the input for people.

    Args:
        remarks: Where to complain.
        file: A path, or ``-``.
        what: What the file is to hold, such as "one request".

    Raises:
        typer.Exit: There is no such file.
    """
    if file == STANDARD_INPUT:
        return "standard input"
    path = Path(file)
    try:
        is_folder, is_there = path.is_dir(), path.exists()
    except OSError as error:
        refuse(remarks, f"{clean(file)}: cannot be read: {error.strerror or error}")
    if not is_there:
        refuse(remarks, f"{clean(file)}: there is no such file")
    if is_folder:
        refuse(remarks, f"{clean(file)} is a folder: name the file of {what}")
    return clean(file)
