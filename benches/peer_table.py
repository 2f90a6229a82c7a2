"""The table of turntape and its peers, and its chart.

`make bench-peers` prints the table. `--peer-report FILE` also puts it between the two marks in that file,
and draws the chart beside the documentation.
"""

from __future__ import annotations

import os
import platform
import re
from dataclasses import dataclass
from importlib import import_module, metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benches.inputs import DialectName

Kind: TypeAlias = Literal["framing", "values", "events", "message"]

KINDS: dict[Kind, str] = {
    "framing": "server-sent events, no JSON",
    "values": "plain dictionaries",
    "events": "typed events",
    "message": "the whole message",
}
"""What a peer makes of a stream, from the least to the most."""

COLUMNS: tuple[DialectName, DialectName] = ("openai-chat", "anthropic")
NAMES = {"openai-chat": "Chat", "anthropic": "Anthropic"}

BEGIN, END = "<!-- peers: made by make bench-peers -->", "<!-- end of peers -->"


@dataclass(frozen=True)
class Measured:
    """One peer's time on one stream."""

    name: str
    does: str
    kind: Kind
    dialect: DialectName
    nanoseconds: float
    """An event."""

    @property
    def is_ours(self) -> bool:
        return self.name.startswith("turntape")


def _microseconds(nanoseconds: float) -> str:
    """Two or three digits that count."""
    value = nanoseconds / 1000
    digits = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 0.1 else 3
    return f"{value:,.{digits}f}"


def _ratio(value: float) -> str:
    return f"{value:,.0f}x" if value >= 9.95 else f"{value:.1f}x"


def lines(measured: Sequence[Measured]) -> list[str]:
    """The table, as lines of Markdown: each peer beside what turntape has for the same work."""
    found = {(each.name, each.kind, each.dialect): each for each in measured}
    ours = {(each.kind, each.dialect): each.nanoseconds for each in measured if each.is_ours}
    heads = ["makes", "who", "what is measured"]
    for dialect in COLUMNS:
        heads += [f"{NAMES[dialect]}, µs an event", "against turntape"]
    table = [heads, ["---"] * 3 + ["---:"] * 4]
    for kind, title in KINDS.items():
        whole = dict.fromkeys((each.name, each.does) for each in measured if each.kind == kind)
        for name, does in whole:
            cells = [title, f"**{name}**" if name.startswith("turntape") else name, does]
            for dialect in COLUMNS:
                each = found.get((name, kind, dialect))
                if each is None:
                    cells += ["", ""]
                    continue
                # There is nothing of ours that makes plain dictionaries: the message is put beside them.
                mine = ours.get((kind, dialect)) or ours.get(("message", dialect))
                ratio = "1" if each.is_ours else _ratio(each.nanoseconds / mine) if mine else ""
                cells += [_microseconds(each.nanoseconds), ratio]
            table.append(cells)
    return [f"| {' | '.join(cells)} |" for cells in table]


def machine() -> str:
    """What the figures were measured on, in a sentence."""
    processor = platform.processor() or platform.machine()
    try:
        names = re.findall(
            r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE
        )
        processor = names[0] if names else processor
    except OSError:
        pass
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{processor}, {os.cpu_count()} cores, {platform.system()}, {python}"


def versions(packages: Sequence[str]) -> str:
    """The versions of what was measured."""
    found: list[str] = []
    for package in ("turntape", *packages):
        try:
            found.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            continue
    return ", ".join(found)


def write(measured: Sequence[Measured], packages: Sequence[str], page: Path, chart: Path) -> None:
    """Put the table between the marks of a page, and draw the chart."""
    text = page.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        message = f"{page} has no {BEGIN} before {END}"
        raise ValueError(message)
    table = "\n".join(lines(measured))
    about = f"Measured by `make bench-peers` on {machine()}: {versions(packages)}."
    page.write_text(f"{before}{BEGIN}\n\n{table}\n\n{about}\n\n{END}{after}", encoding="utf-8")
    draw(measured, chart)


def draw(measured: Sequence[Measured], path: Path) -> None:
    """Draw one bar a peer and stream, on a logarithmic scale, as SVG."""
    # Only the environment of the peers has it.
    library: Any = import_module("matplotlib")
    figures: Any = import_module("matplotlib.figure")
    tickers: Any = import_module("matplotlib.ticker")
    order = list(KINDS)
    rows = dict.fromkeys((order.index(each.kind), each.name) for each in measured)
    # Bars count from below.
    names = sorted(rows, key=lambda row: row[0])[::-1]
    at = {name: place for place, name in enumerate(names)}
    # Texts stay texts, and the same table gives the same file.
    style = {"svg.fonttype": "none", "svg.hashsalt": "turntape", "font.size": 9}
    with library.rc_context(style):
        figure = figures.Figure(figsize=(8, 0.36 * len(names) + 1.2), layout="constrained")
        axes = figure.subplots()
        for shift, dialect, colours in (
            (0.19, COLUMNS[0], ("#0b7285", "#adb5bd")),
            (-0.19, COLUMNS[1], ("#e8590c", "#ced4da")),
        ):
            bars = [each for each in measured if each.dialect == dialect]
            places = [at[order.index(each.kind), each.name] + shift for each in bars]
            values = [each.nanoseconds / 1000 for each in bars]
            drawn = axes.barh(
                places,
                values,
                height=0.36,
                color=[colours[0] if each.is_ours else colours[1] for each in bars],
            )
            axes.bar_label(
                drawn,
                [f"{NAMES[dialect]} {_microseconds(each.nanoseconds)}" for each in bars],
                padding=3,
                fontsize=7,
            )
        axes.set_yticks(
            range(len(names)), [f"{name} · {KINDS[order[kind]]}" for kind, name in names]
        )
        axes.set_xscale("log")
        axes.set_xlim(right=max(each.nanoseconds for each in measured) / 1000 * 6)
        axes.xaxis.set_major_formatter(tickers.FormatStrFormatter("%g"))
        axes.set_xlabel("µs an event of the stream; a logarithmic scale; less is better")
        axes.spines[["top", "right"]].set_visible(False)
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})
