"""Measuring two things in turn, and the table of what came out.

Absolute times on a machine that does other work too say little. A ratio of two things that took turns
in one process says much: whatever slows the machine down slows both.
"""

from __future__ import annotations

import gc
import math
import time
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

Call: TypeAlias = "Callable[[], Any]"
Clock: TypeAlias = "Callable[[], float]"

SAMPLE_SECONDS = 0.002
"""How long one sample of a quick call is: many clock ticks, and caches as warm as in a loop."""

# The processor's time, not the wall's: it stands still while other processes have the core. Where it
# is too coarse, the wall's.
_PROCESS_CLOCK = time.get_clock_info("process_time").resolution < 1e-6
clock = time.process_time if _PROCESS_CLOCK else time.perf_counter

BUDGET_SECONDS = 2.5
"""About how long one measurement takes."""

LEAST_ROUNDS, MOST_ROUNDS = 5, 401


@dataclass(frozen=True)
class Target:
    """What a measured value must reach, and what is aimed for."""

    must: float | None = None
    aim: float | None = None
    at_most: bool = False
    """Whether smaller is better."""
    unit: str = "x"

    def show(self, value: float | None) -> str:
        if value is None:
            return ""
        digits = f"{value:,.0f}" if value >= 100 else f"{value:.2f}".rstrip("0").rstrip(".")
        bound = "at most " if self.at_most else ""
        return f"{bound}{digits}{self.unit}"

    def verdict(self, value: float) -> str:
        def reached(bound: float) -> bool:
            return value <= bound if self.at_most else value >= bound

        if self.must is not None and not reached(self.must):
            return "NO"
        if self.aim is not None:
            return "yes, aim met" if reached(self.aim) else "yes"
        return "yes" if self.must is not None else ""


LINEAR = Target(1.15, at_most=True, unit="")
"""Of the slope of a sweep, with room for caches that get too small along the way."""


@dataclass(frozen=True)
class Row:
    """One line of the final table."""

    what: str
    value: float
    target: Target
    note: str = ""


def _calibrate(call: Call, now: Clock) -> tuple[int, float]:
    """How many calls make up a sample, and about how long one call takes."""
    call()
    start = now()
    call()
    once = max(now() - start, 1e-9)
    return max(1, math.ceil(SAMPLE_SECONDS / once)), once


@contextmanager
def quiet() -> Generator[None]:
    """Without the garbage collector, whose pauses would fall on either side by chance."""
    enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def in_turn(
    calls: Sequence[Call], budget: float = BUDGET_SECONDS, now: Clock = clock
) -> list[float]:
    """The median seconds of each call, measured in turn: every round takes a sample of each."""
    with quiet():
        calibrated = [_calibrate(call, now) for call in calls]
        round_seconds = sum(max(SAMPLE_SECONDS, once) for _, once in calibrated)
        rounds = min(MOST_ROUNDS, max(LEAST_ROUNDS, int(budget / round_seconds)))
        samples: list[list[float]] = [[] for _ in calls]
        order = list(range(len(calls)))
        for _ in range(rounds):
            # Forth and back, so that nobody always goes first.
            order.reverse()
            for at in order:
                call, (inner, _) = calls[at], calibrated[at]
                start = now()
                for _ in range(inner):
                    call()
                samples[at].append((now() - start) / inner)
        return [median(times) for times in samples]


def slope(sizes: Sequence[float], times: Sequence[float]) -> float:
    """The exponent of growth: the slope of the line through the logarithms. 1 is linear, 2 quadratic."""
    points = [
        (math.log(size), math.log(seconds)) for size, seconds in zip(sizes, times, strict=True)
    ]
    middle_x = sum(x for x, _ in points) / len(points)
    middle_y = sum(y for _, y in points) / len(points)
    spread = sum((x - middle_x) ** 2 for x, _ in points)
    return sum((x - middle_x) * (y - middle_y) for x, y in points) / spread


def table(rows: Sequence[Row]) -> list[str]:
    """The final table, as lines of Markdown."""
    heads = ("what", "measured", "must reach", "the aim", "met?", "note")
    cells = [
        (
            row.what,
            row.target.show(row.value).removeprefix("at most "),
            row.target.show(row.target.must),
            row.target.show(row.target.aim),
            row.target.verdict(row.value),
            row.note,
        )
        for row in rows
    ]
    widths = [max(len(line[at]) for line in [heads, *cells]) for at in range(len(heads))]

    def line(values: Sequence[str]) -> str:
        padded = (value.ljust(width) for value, width in zip(values, widths, strict=True))
        return f"| {' | '.join(padded)} |"

    return [line(heads), line(["-" * width for width in widths]), *(line(row) for row in cells)]
