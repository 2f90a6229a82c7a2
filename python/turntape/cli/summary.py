"""Many streams at once: what became of each, counted in a table."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

import turntape
from turntape.cli.explain import kind_of, summarise
from turntape.cli.options import DecodeOptions
from turntape.cli.output import Output, clean
from turntape.cli.sources import STANDARD_INPUT, ReadError, open_source
from turntape.serving.folders import files_under

__all__ = ["summarise_streams"]


@dataclass(slots=True)
class _Tally:
    """What became of the streams of one dialect, or of all."""

    files: int = 0
    complete: int = 0
    events: int = 0
    warnings: int = 0
    size: int = 0
    seconds: float = 0.0

    def add(self, other: _Tally) -> None:
        self.files += other.files
        self.complete += other.complete
        self.events += other.events
        self.warnings += other.warnings
        self.size += other.size
        self.seconds += other.seconds


@dataclass(slots=True)
class _Report:
    """What became of all of them.

    Attributes:
        dialects: The streams that were decoded.
        errors: How many streams failed, by the kind of their error.
        failed: The streams that failed, each with what happened.
        reasons: How many files were skipped, by the reason.
        skipped: The files that were skipped, each with the reason.
        amiss: Whether one of those was named by the user or is a stream all the same.
    """

    dialects: dict[turntape.Dialect, _Tally] = field(default_factory=dict[turntape.Dialect, _Tally])
    errors: Counter[str] = field(default_factory=Counter[str])
    failed: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    reasons: Counter[str] = field(default_factory=Counter[str])
    skipped: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    amiss: bool = False

    def skip(self, name: str, reason: str, *, amiss: bool) -> None:
        self.reasons[reason] += 1
        self.skipped.append((name, reason))
        self.amiss |= amiss

    def total(self) -> _Tally:
        total = _Tally()
        for tally in self.dialects.values():
            total.add(tally)
        return total


def summarise_streams(
    names: Iterable[str], options: DecodeOptions, output: Output, remarks: Output
) -> bool:
    """Decode all files, those in folders included, and show what became of them.

    Returns:
        Whether every stream is complete, and there was at least one.
    """
    report = _Report()
    work = list(_files(names))
    # A terminal alone shows progress; it goes where the table does not.
    progress = Progress(
        TextColumn("decoding"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        disable=not remarks.styled,
        transient=True,
    )
    with progress:
        for name, named_by_user in progress.track(work):
            _take(report, name, options, named_by_user=named_by_user)
    _show(report, output)
    total = report.total()
    return 0 < total.files == total.complete and not report.amiss


def _files(names: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Give every file once or more often as named, and whether the user named it itself."""
    for name in names:
        path = Path(name)
        if name != STANDARD_INPUT and path.is_dir():
            for found in files_under(path):
                yield str(found), False
        else:
            yield name, True


def _take(report: _Report, name: str, options: DecodeOptions, *, named_by_user: bool) -> None:
    """Decode one file into the report."""
    try:
        with open_source(name) as source:
            dialect, pieces = options.pieces(source)
            tally = _Tally(files=1)
            stream = options.events(_measured(pieces, tally), dialect)
            # From here on it counts as a stream, whatever becomes of it.
            _decode(report, name, stream, tally)
            report.dialects.setdefault(dialect, _Tally()).add(tally)
    except turntape.UnknownDialect as error:
        report.skip(name, str(error), amiss=named_by_user)
    except ReadError as error:
        report.skip(name, f"it cannot be read: {error}", amiss=True)


def _decode(report: _Report, name: str, stream: turntape.EventStream, tally: _Tally) -> None:
    started = time.perf_counter()
    try:
        for _ in stream:
            tally.events += 1
        tally.complete += 1
    except turntape.StreamError as error:
        report.errors[kind_of(error)] += 1
        report.failed.append((name, summarise(error)))
    finally:
        tally.seconds += time.perf_counter() - started
        tally.warnings += len(stream.decoder.warnings)


def _measured(pieces: Iterator[bytes], tally: _Tally) -> Iterator[bytes]:
    """Count the bytes, and leave the time of reading them out."""
    while True:
        started = time.perf_counter()
        piece = next(pieces, None)
        tally.seconds -= time.perf_counter() - started
        if piece is None:
            return
        tally.size += len(piece)
        yield piece


def _show(report: _Report, output: Output) -> None:
    """Name what failed and what was skipped, then the tables: the end of a long output stays in view."""
    for name, reason in report.failed:
        output.line(("failed ", "bold red"), f"{clean(name)}: {reason}")
    for name, reason in report.skipped:
        output.line(("skipped ", "yellow"), f"{clean(name)}: {clean(reason)}")
    if report.failed or report.skipped:
        output.line()
    output.show(_streams_table(report))
    if report.errors:
        output.show(_counts_table("error", "streams", report.errors))
    if report.reasons:
        output.show(_counts_table("skipped", "files", report.reasons))


def _streams_table(report: _Report) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_footer=len(report.dialects) != 1)
    total = report.total()
    table.add_column("dialect", footer="all")
    rows = [_cells(tally) for tally in report.dialects.values()]
    headings = ("files", "complete", "failed", "warnings", "events", "bytes", "bytes/s")
    for heading, footer in zip(headings, _cells(total), strict=True):
        table.add_column(heading, footer=footer, justify="right")
    for dialect, cells in zip(report.dialects, rows, strict=True):
        table.add_row(dialect.value, *cells)
    return table


def _cells(tally: _Tally) -> tuple[str, ...]:
    rate = _rate(tally.size / tally.seconds) if tally.seconds > 0 else "-"
    counts = (
        tally.files,
        tally.complete,
        tally.files - tally.complete,
        tally.warnings,
        tally.events,
        tally.size,
    )
    return (*(f"{count:,}" for count in counts), rate)


def _rate(bytes_per_second: float) -> str:
    for unit, factor in (("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3)):
        if bytes_per_second >= factor:
            return f"{bytes_per_second / factor:.1f} {unit}"
    return f"{bytes_per_second:.0f} B/s"


def _counts_table(subject: str, counted: str, counts: Counter[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(subject)
    table.add_column(counted, justify="right")
    for name, count in counts.most_common():
        table.add_row(Text(clean(name)), f"{count:,}")
    return table
