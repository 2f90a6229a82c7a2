"""Prints what becomes of the recorded streams, as Markdown.

Run ``python -m tests.corpus.report``; the tables belong into ``docs/differences.md``.
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING

from tests.corpus.differences import compare, expected, kinds
from tests.corpus.peers import Rejected
from tests.corpus.streams import NoCorpusError, by_folder

from turntape import ProviderError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tests.corpus.streams import Stream

    from turntape import StreamError

CLIENTS = {"anthropic": "Anthropic's", "openai": "OpenAI's", "both": "both"}


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Lay out a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(str(cell) for cell in line)} |\n" for line in lines)


def differences_table() -> str:
    """Lay out the known differences by kind, from what is listed."""
    return table(
        ("kind", "client", "streams", "in", "why turntape's answer is right"),
        (
            (
                _code(kind.name),
                CLIENTS[kind.client],
                len({name.partition("#")[0] for name in kind.streams}),
                ", ".join(sorted(kind.fields)),
                kind.why,
            )
            for kind in kinds()
        ),
    )


def failures_table() -> str:
    """Lay out the known failures, from what is listed."""
    return table(
        ("stream", "error", "kind", "why"),
        (
            (_code(e["stream"]), e["error"], _code(e["kind"]), e["why"])
            for e in expected()["failure"]
        ),
    )


def rejections_table() -> str:
    """Lay out what the official clients reject, from what is listed."""
    return table(
        ("client", "raises", "streams", "why, and what turntape does"),
        (
            (CLIENTS[entry["client"]], _code(entry["error"]), len(entry["streams"]), entry["why"])
            for entry in expected()["rejection"]
        ),
    )


def corpus_table() -> str:
    """Decode the corpus, ask the official clients, and lay out what came of it, folder by folder."""
    rows: list[list[object]] = []
    total: Counter[str] = Counter()
    for folder, streams in by_folder().items():
        counts = count(streams)
        total += counts
        rows.append(row(folder, counts))
    rows.append(row("**all**", total))
    head = (
        "folder",
        "files",
        "complete",
        "errors by kind",
        "warnings",
        "rejected",
        "same",
        "different",
    )
    return table(head, rows)


def count(streams: Iterable[Stream]) -> Counter[str]:
    """Count what became of streams."""
    counts: Counter[str] = Counter()
    for stream in streams:
        decoded = stream.decoded
        counts["files"] += 1
        if decoded.error is None:
            counts["complete"] += 1
        else:
            counts[f"error {name_of(decoded.error)}"] += 1
        counts.update(f"warning {warning.code}" for warning in decoded.message.warnings)
        answer = compare(stream)
        if isinstance(answer, Rejected):
            counts["rejected"] += 1
        elif any(each.fields for each in answer):
            counts["different"] += 1
        else:
            counts["same"] += 1
    return counts


def name_of(error: StreamError) -> str:
    """Name an error by its class and the provider's kind."""
    kind = f"({error.kind})" if isinstance(error, ProviderError) else ""
    return f"{type(error).__name__}{kind}"


def row(label: str, counts: Counter[str]) -> list[object]:
    """Lay out the counts of one folder."""

    def listed(what: str) -> str:
        found = sorted(name for name in counts if name.startswith(what))
        return ", ".join(f"{counts[name]} {_code(name.removeprefix(what))}" for name in found)

    plain = [counts["files"], counts["complete"]]
    peers = [counts["rejected"], counts["same"], counts["different"]]
    return [label, *plain, listed("error "), listed("warning "), *peers]


def _code(text: str) -> str:
    return f"`{text}`"


def main() -> int:
    """Print the tables."""
    try:
        corpus = corpus_table()
    except NoCorpusError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    tables = (corpus, failures_table(), differences_table(), rejections_table())
    sys.stdout.write("\n".join(tables))
    return 0


if __name__ == "__main__":
    sys.exit(main())
