"""Prints what becomes of the recorded requests, as Markdown.

Run ``python -m tests.corpus.request_report``; the tables belong into ``docs/request-differences.md``.
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING

from tests.corpus.report import table
from tests.corpus.request_differences import KINDS
from tests.corpus.request_trips import Refused, abroad, home
from tests.corpus.requests import recorded_requests, requests_by_folder
from tests.corpus.streams import NoCorpusError

from turntape import Dialect

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.corpus.requests import Recorded


def differences_table() -> str:
    """Lay out the kinds of differences."""
    names = {dialect: dialect.value for dialect in Dialect}
    return table(
        ("kind", "wires", "what building does, and why"),
        (
            (
                f"`{kind.name}`",
                "all" if len(kind.dialects) == len(names) else ", ".join(kind.dialects),
                kind.why,
            )
            for kind in KINDS
        ),
    )


def home_table() -> str:
    """Lay out what became of the requests, folder by folder."""
    rows: list[list[object]] = []
    total: Counter[str] = Counter()
    for folder, requests in requests_by_folder().items():
        counts = count(requests)
        total += counts
        rows.append(row(folder, counts))
    rows.append(row("**all**", total))
    head = ("folder", "requests", "read", "same", "same but for listed differences", "refused")
    return table(head, rows)


def count(requests: Iterable[Recorded]) -> Counter[str]:
    """Count what became of requests."""
    counts: Counter[str] = Counter()
    for request in requests:
        counts["requests"] += 1
        if request.dialect is None:
            counts["refused: of another wire"] += 1
            continue
        trip = home(request)
        counts["read"] += 1
        if isinstance(trip, Refused):
            counts[f"refused: `{type(trip.error).__name__}`"] += 1
        elif not trip.is_explained:
            counts["not explained"] += 1
        else:
            counts["listed" if trip.kinds else "same"] += 1
    return counts


def row(label: str, counts: Counter[str]) -> list[object]:
    """Lay out the counts of one folder."""
    why = [
        f"{number} {name.removeprefix('refused: ')}"
        for name, number in sorted(counts.items())
        if name.startswith(("refused", "not explained"))
    ]
    plain = [counts[name] for name in ("requests", "read", "same", "listed")]
    return [label, *plain, ", ".join(why)]


def kinds_table() -> str:
    """Lay out how often each kind of difference occurs."""
    counts: Counter[str] = Counter()
    for request in recorded_requests():
        trip = None if request.dialect is None else home(request)
        if trip is not None and not isinstance(trip, Refused):
            counts.update(trip.kinds)
    return table(("kind", "requests"), ((f"`{name}`", n) for name, n in counts.most_common()))


def abroad_table() -> str:
    """Lay out what became of the requests on the other four wires."""
    rows: list[list[object]] = []
    for spoken in Dialect:
        counts: dict[Dialect, Counter[str]] = {dialect: Counter() for dialect in Dialect}
        for request in recorded_requests():
            if request.dialect is not spoken:
                continue
            for dialect in Dialect:
                if dialect is not spoken:
                    answer = abroad(request, dialect)
                    what = type(answer.error).__name__ if isinstance(answer, Refused) else "valid"
                    counts[dialect][what if what != "valid" or not answer else "**invalid**"] += 1
        rows.append([f"from `{spoken}`", *(cell(counts[dialect]) for dialect in Dialect)])
    return table(("", *(f"to `{dialect}`" for dialect in Dialect)), rows)


def cell(counts: Counter[str]) -> str:
    """Lay out one cell."""
    names = sorted(counts, key=lambda name: (name != "valid", name))
    return ", ".join(f"{counts[name]} {name}" for name in names)


def main() -> int:
    """Print the tables."""
    try:
        tables = (home_table(), kinds_table(), abroad_table(), differences_table())
    except NoCorpusError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write("\n".join(tables))
    return 0


if __name__ == "__main__":
    sys.exit(main())
