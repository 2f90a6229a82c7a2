"""What the benchmarks share: the fixture that measures and notes, and the table at the end."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import pytest
from benches import inputs, peer_table
from benches.bench_peers import PACKAGES
from benches.peer_table import Measured
from benches.ratio import LINEAR, Row, clock, in_turn, slope, table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benches.ratio import Target
    from pytest_benchmark.fixture import BenchmarkFixture

Answer = TypeVar("Answer")

ROWS = pytest.StashKey[list[Row]]()
PEERS = pytest.StashKey[list[Measured]]()
MISSING = pytest.StashKey[dict[str, None]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--peer-report",
        type=Path,
        metavar="FILE",
        help="put the table of peers between the marks of FILE, and draw docs/peers.svg",
    )


class Meter:
    """Measures calls, and notes rows of the final table."""

    def __init__(self, benchmark: BenchmarkFixture, stash: pytest.Stash) -> None:
        # Its module is only partly typed.
        self._benchmark: Any = benchmark
        self._stash = stash

    @property
    def timing(self) -> bool:
        """Whether this run measures at all, or only checks the answers."""
        return bool(self._benchmark.enabled)

    def note(self, what: str, value: float, target: Target, note: str = "") -> None:
        """Adds a row to the final table, and to the record of pytest-benchmark."""
        self._stash.setdefault(ROWS, []).append(Row(what, value, target, note))
        self._benchmark.extra_info[what] = value

    def peer(self, measured: Measured) -> None:
        """Adds a time to the table of peers, and to the record of pytest-benchmark."""
        self._stash.setdefault(PEERS, []).append(measured)
        what = f"{measured.name}, {measured.kind}, {measured.dialect}, ns/event"
        self._benchmark.extra_info[what] = measured.nanoseconds

    def missing(self, what: str) -> None:
        """Says below the table who could not be measured."""
        self._stash.setdefault(MISSING, {})[what] = None

    def once(self, call: Callable[[], Answer]) -> Answer:
        """Runs a call that measures by itself, once; its answer."""
        answer: Answer = self._benchmark.pedantic(call, rounds=1)
        return answer

    def record(self, call: Callable[[], Any], seconds: float) -> None:
        """Puts a call into the table of pytest-benchmark."""
        iterations = max(1, int(0.002 / seconds)) if seconds else 1
        rounds = max(3, min(50, int(0.5 / (seconds * iterations)))) if seconds else 1
        self._benchmark.pedantic(call, rounds=rounds, iterations=iterations, warmup_rounds=1)

    def sweep(
        self,
        what: str,
        sizes: Sequence[int],
        calls: Sequence[Callable[[], Any]],
        bound: Target = LINEAR,
    ) -> None:
        """Measures calls of growing size in turn, and notes the slope of the line through the logarithms."""
        if not self.timing:
            self.record(calls[0], 0)
            return
        times = in_turn(calls, budget=3)
        last = slope(sizes[-2:], times[-2:])
        span = f"{sizes[0]:,} to {sizes[-1]:,}: {times[0] * 1e6:,.1f} to {times[-1] * 1e6:,.1f} µs"
        self.note(f"slope: {what}", slope(sizes, times), bound, f"{span}; {last:.2f} at the end")
        self.record(calls[-1], times[-1])

    def compare(
        self,
        what: str,
        ours: Callable[[], Any],
        theirs: Callable[[], Any],
        target: Target,
        *,
        events: int = 0,
        measured: Literal["ours", "theirs"] = "ours",
        threads: bool = False,
    ) -> None:
        """Measures both in turn and notes how many times faster ours is.

        With `events`, the row tells the nanoseconds an event of both sides. `measured` is the side that
        goes into the table of pytest-benchmark. With `threads`, the clock on the wall counts.
        """
        if not self.timing:
            ours()
            theirs()
            self.record(ours, 0)
            return
        mine, other = in_turn([ours, theirs], now=time.perf_counter if threads else clock)
        per_event = ""
        if events:
            per_event = f"{mine / events * 1e9:,.0f} ns/event against {other / events * 1e9:,.0f}"
        self.note(what, other / mine, target, per_event)
        self.record(*((ours, mine) if measured == "ours" else (theirs, other)))


@pytest.fixture
def meter(benchmark: BenchmarkFixture, request: pytest.FixtureRequest) -> Meter:
    return Meter(benchmark, request.config.stash)


@pytest.fixture(scope="session", params=inputs.DIALECTS)
def stream(request: pytest.FixtureRequest) -> inputs.Stream:
    """The standard stream of each dialect."""
    return inputs.make(request.param)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    rows = config.stash.get(ROWS, None)
    if rows:
        terminalreporter.section("ratios, measured in turn")
        for line in table(rows):
            terminalreporter.write_line(line)
    measured = config.stash.get(PEERS, None)
    if measured:
        terminalreporter.section("beside the peers, measured in turn")
        for line in peer_table.lines(measured):
            terminalreporter.write_line(line)
        packages = PACKAGES
        terminalreporter.write_line(f"{peer_table.machine()}: {peer_table.versions(packages)}")
        page = config.getoption("--peer-report")
        if page is not None:
            peer_table.write(measured, packages, page, Path(__file__).parents[1] / "docs/peers.svg")
    for what in config.stash.get(MISSING, ()):
        terminalreporter.write_line(f"not measured, make bench-peers installs it: {what}")
