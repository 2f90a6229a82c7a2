"""What the command line says about decoding, the options that commands share, and the decoding itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

import typer

import turntape
from turntape.cli.sources import Source, detect

__all__ = ["STREAM", "Choice", "DecodeOptions", "MaxEventBytes", "Strict"]

STREAM = "The stream"
"""The panel of the help with the options of a decoder."""

Choice: TypeAlias = Annotated[
    int,
    typer.Option(
        min=0,
        metavar="N",
        help="Which choice of a Chat response, counted from 0.",
        rich_help_panel=STREAM,
    ),
]
Strict: TypeAlias = Annotated[
    bool,
    typer.Option("--strict", help="Fail a stream at its first warning.", rich_help_panel=STREAM),
]
MaxEventBytes: TypeAlias = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Fail a stream with an event of more data.",
        show_default=False,
        rich_help_panel=STREAM,
    ),
]


@dataclass(frozen=True, slots=True)
class DecodeOptions:
    """The options of ``StreamDecoder``, and how a source is read.

    Attributes:
        dialect: The dialect of all streams; None to tell it from each.
        chunk: How many bytes are fed at a time; None for as many as are there.
    """

    dialect: turntape.Dialect | None
    choice: int
    eof: Literal["flush", "discard"]
    max_event_bytes: int | None
    strict: bool
    server_tools: tuple[str, ...]
    chunk: int | None

    def check(self) -> None:
        """Try the options on a stream of no bytes.

        Raises:
            OverflowError: A number is too large.
            ValueError: An option has no such value.
        """
        self.events(iter(()), turntape.Dialect.ANTHROPIC)

    def pieces(self, source: Source) -> tuple[turntape.Dialect, Iterator[bytes]]:
        """Read a source, and tell its dialect unless it was given.

        Raises:
            UnknownDialect: Nothing in the source told its dialect.
            ReadError: The source cannot be read.
        """
        pieces = source.pieces(self.chunk)
        return detect(pieces) if self.dialect is None else (self.dialect, pieces)

    def events(self, pieces: Iterator[bytes], dialect: turntape.Dialect) -> turntape.EventStream:
        """Decode the pieces as they come."""
        return turntape.iter_events(
            pieces,
            dialect,
            choice=self.choice,
            eof=self.eof,
            max_event_bytes=self.max_event_bytes,
            strict=self.strict,
            server_tools=self.server_tools,
        )
