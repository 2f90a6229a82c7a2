"""Writing for people: colours on a terminal, plain text elsewhere, and nothing that a terminal obeys."""

from __future__ import annotations

import re
from typing import TextIO

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.text import Text

__all__ = ["Output", "clean", "clip"]

# Characters that a terminal obeys or that change how others are shown: C0 and C1 controls, DEL, the
# marks that reorder text, line separators, and surrogates that no encoding can write.
_UNSAFE = r"\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff"
_UNSAFE_IN_LINE = re.compile(f"[\x00-\x1f{_UNSAFE}]")
_UNSAFE_IN_BLOCK = re.compile(f"[\x00-\x08\x0b-\x1f{_UNSAFE}]")

# Wide enough for the tables where no terminal tells its width.
_PLAIN_WIDTH = 120


def clean(text: str, *, lines: bool = False) -> str:
    r"""Write as escapes what a terminal would obey.

    Args:
        text: Any text, such as a stream's.
        lines: Whether line feeds and tabs may stay.

    >>> clean("\x1b[31mred\n")
    '\\x1b[31mred\\n'
    """
    unsafe = _UNSAFE_IN_BLOCK if lines else _UNSAFE_IN_LINE
    return unsafe.sub(lambda match: ascii(match[0])[1:-1], text)


def clip(text: str, limit: int) -> str:
    """Shorten a long text to its beginning, and say how long it is."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… ({len(text):,} characters)"


class Output:
    """One of the standard streams.

    Everything goes through this class's own writes, because rich ends the process by itself where a
    pipe breaks.

    Attributes:
        styled: Whether it is a terminal.
    """

    def __init__(self, stream: TextIO) -> None:
        """Write to ``stream``."""
        self._stream = stream
        self._console = Console(file=stream, highlight=False, markup=False, emoji=False)
        self.styled = self._console.is_terminal
        if not self.styled:
            self._console.width = _PLAIN_WIDTH

    def line(self, *pieces: str | tuple[str, str]) -> None:
        """Write one line of pieces, each a text or a text with its style. They must be clean."""
        if self.styled:
            with self._console.capture() as capture:
                self._console.print(Text.assemble(*pieces), soft_wrap=True)
            self._stream.write(capture.get())
        else:
            texts = (piece if isinstance(piece, str) else piece[0] for piece in pieces)
            self._stream.write("".join(texts) + "\n")

    def block(self, text: str, style: str = "") -> None:
        """Write a text of any number of lines, indented; on a terminal wrapped to its width."""
        text = clean(text, lines=True)
        if self.styled:
            self.show(Padding(Text(text, style=style), (0, 0, 0, 2)))
        else:
            self._stream.writelines(f"  {line}\n" if line else "\n" for line in text.split("\n"))

    def show(self, renderable: RenderableType) -> None:
        """Write a table or whatever else rich draws."""
        with self._console.capture() as capture:
            self._console.print(renderable)
        # Rich fills lines up to the width; on paper that is only noise.
        text = capture.get()
        if not self.styled:
            text = "\n".join(line.rstrip() for line in text.split("\n"))
        self._stream.write(text)

    def raw(self, text: str) -> None:
        """Write a text as it is; it must hold nothing that a terminal obeys."""
        self._stream.write(text)

    def flush(self) -> None:
        """Hand over what has been written."""
        self._stream.flush()
