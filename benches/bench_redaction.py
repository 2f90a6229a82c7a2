"""Redaction of 10 MiB of logs, against the same rules in Python's `re`."""

from __future__ import annotations

import random
from functools import partial
from typing import TYPE_CHECKING

import pytest
from benches.ratio import Target
from tests.support.plain_rules import PlainRedactor
from tests.support.secrets import examples

import turntape

if TYPE_CHECKING:
    from benches.conftest import Meter

PLAIN = Target(20, 50)
STREAM = Target()
SLOPE = Target(1.1, at_most=True, unit="")
SIZE = 10 << 20

# Lines without a keyword of any rule: the cost of looking for them.
PLAIN_LINES = (
    "{stamp} INFO  worker {n} finished job {hex32} in {n} ms, queue depth {n}",
    "{stamp} WARN  slow disk: {n} ms for {n} bytes on volume {hex8}",
)
# Lines as services write them, full of words that stand near secrets.
LINES = (
    "{stamp} INFO  api request id=req_{hex32} method=POST path=/v1/messages status=200 ms={n}",
    '{stamp} DEBUG db query="SELECT id, name FROM users WHERE token_hash = $1 LIMIT {n}" rows={n}',
    "{stamp} WARN  http retry url=https://storage.example.com:443/bucket/key-{n}/part?seq={n} attempt=2",
    '{{"ts":"{stamp}","level":"info","logger":"auth","msg":"password check passed","user_id":{n}}}',
    '  File "/srv/app/lib/python3.12/site-packages/httpcore/_async/connection.py", line {n}, in handle',
    "{stamp} INFO  build step {n}/900 compiling skia-sys v0.{n} (sk-surface, task-queue, gl-bindings)",
    "{stamp} TRACE cache set key=session:{hex32} ttl={n} bytes={n}",
    '{stamp} INFO  git commit {hex32}{hex8} "Ask the server for its secret only once"',
    '{{"event":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":"they said that the key"}}}}',
    "{stamp} ERROR authorization failed: bearer token expired for client {hex8} (asia-east1)",
)


def logs(size: int, lines_of: tuple[str, ...] = LINES, every: int = 65536) -> str:
    """Lines, with a secret after so many bytes; 0 for none."""
    source = random.Random(7)
    found = [example for each in examples().values() for example in each.found]
    lines: list[str] = []
    length = since = 0
    while length < size:
        line = source.choice(lines_of).format(
            stamp=f"2026-10-21T08:{source.randrange(60):02}:{source.randrange(60):02}.{source.randrange(1000):03}Z",
            hex32=f"{source.getrandbits(128):032x}",
            hex8=f"{source.getrandbits(32):08x}",
            n=source.randrange(10_000),
        )
        if every and since > every:
            line += f" {source.choice(found).text}"
            since = 0
        lines.append(line)
        length += len(line) + 1
        since += len(line) + 1
    return "\n".join(lines)


KINDS = {
    "a secret every 64 KiB": (LINES, 65536),
    "no secret": (LINES, 0),
    "no keyword either": (PLAIN_LINES, 0),
}


@pytest.mark.parametrize("kind", list(KINDS))
def test_logs(meter: Meter, kind: str) -> None:
    lines, every = KINDS[kind]
    text = logs(SIZE if meter.timing else 1 << 18, lines, every)
    ours = turntape.SecretRedactor()
    # What it does for each rule: nothing where no keyword is in a lower-cased copy that all rules share,
    # else one `finditer` over the text, which is all that Python offers for the same result.
    theirs = PlainRedactor(turntape.default_rules())
    assert ours.redact(text).text == theirs.redact(text)
    assert ours.redact(text).changed is bool(every)
    meter.compare(
        f"redaction, 10 MiB of logs, {kind}, {len(ours.rules)} rules, against re",
        lambda: ours.redact(text),
        lambda: theirs.redact(text),
        PLAIN,
    )


def test_a_stream_of_logs(meter: Meter) -> None:
    text = logs(SIZE if meter.timing else 1 << 18)
    redactor = turntape.SecretRedactor()
    chunks = [text[at : at + 8192] for at in range(0, len(text), 8192)]

    def stream() -> str:
        redacting = redactor.stream()
        return "".join([*map(redacting.feed, chunks), redacting.finish()])

    assert stream() == redactor.redact(text).text
    meter.compare(
        "redaction, a stream of 10 MiB of logs in 8 KiB pieces, against the whole in one call",
        stream,
        lambda: redactor.redact(text),
        STREAM,
    )


def test_growth(meter: Meter) -> None:
    redactor = turntape.SecretRedactor()
    sizes = [1 << shift for shift in (15, 17, 19, 22)]
    # With secrets near each other, so that the shortest text has as many for its length as the longest.
    texts = [logs(size, every=4096) for size in sizes]
    assert redactor.redact(texts[0]).changed
    meter.sweep(
        "redaction, size of the text",
        sizes,
        [partial(redactor.redact, text) for text in texts],
        SLOPE,
    )
