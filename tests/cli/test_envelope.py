"""``turntape envelope check``: what it says of each row, what it mends, and how it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest

import turntape

CANONICAL = turntape.encode_assistant_envelope("on it", [turntape.NativeToolCall("c1", "ls", "{}")])
RESULT = turntape.encode_tool_envelope("c1", "é")


def row(content: object, role: str = "assistant", **more: Any) -> str:
    return json.dumps({"role": role, "content": content, **more})


def history(tmp_path: Path, *rows: str | bytes, end: str = "\n") -> Path:
    path = tmp_path / "history.jsonl"
    path.write_bytes(
        b"".join(r + end.encode() if isinstance(r, bytes) else (r + end).encode() for r in rows)
    )
    return path


def call(**more: Any) -> str:
    return json.dumps({"arguments": "{}", "id": "c1", "name": "ls", **more}, separators=(",", ":"))


def turn(*calls: str, content: str = '"on it"', more: str = "") -> str:
    return f'{{"content":{content}{more},"tool_calls":[{",".join(calls)}]}}'


GOOD = [
    row("list the files", "user"),
    row(CANONICAL),
    row(RESULT, "tool"),
    row("All done."),
    row('{"answer": 42}'),
    row('{"tool_calls": "of a user"}', "user"),
    row(
        None,
        tool_calls=[{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
    ),
    row([{"type": "text", "text": "hi"}], "tool", tool_call_id="c1"),
    row("plain", "tool", tool_call_id="c1"),
    CANONICAL,
    json.dumps(RESULT),
    "{}",
    "7",
    "",
    "  \t",
]


def test_a_history_without_faults(run, tmp_path):
    ended = run("envelope", "check", history(tmp_path, *GOOD))
    assert (ended.status, ended.stderr) == (0, "")
    assert ended.stdout == "13 rows, 4 envelopes: 4 canonical, 0 not\n"


@pytest.mark.parametrize(
    ("content", "fault", "mended"),
    [
        (turn(call(), content='"a b"').replace('":', '": ', 1), "whitespace at byte 11", True),
        (turn(call()) + "\n", "whitespace at byte 75", True),
        (turn('{"name":"ls","id":"c1","arguments":"{}"}'), "key_order", True),
        (turn(call(), content='"\\u00e9"'), "escape at byte 12", True),
        (turn(call(), content="null"), "null_content at byte 11", True),
        (turn(call(), content="7"), "null_content at byte 11", "content (a value that is no text)"),
        (turn(call(extra_content=None).replace("}", "}")), "null_extra", True),
        (turn(call(type="function")), "extra_member", "tool_calls[0].type (a member"),
        (
            turn(call(), more=',"reasoning_content":"r"'),
            "reasoning",
            "reasoning_content (reasoning)",
        ),
        (turn(call(), more=',"reasoning_content":null'), "extra_member", True),
        (turn(call(), more=',"content":"b"'), "duplicate_key", "content (an earlier value"),
        (turn(call(), more=',"content":"on it"'), "duplicate_key", True),
        (turn('{"arguments":"{}","extra_content":1e2,"id":"c1","name":"ls"}'), "number", True),
        (
            turn('{"arguments":"{}","extra_content":[1e16],"id":"c1","name":"ls"}'),
            "number",
            "no canonical form",
        ),
        (
            turn(
                '{"arguments":"{}","extra_content":{"k":0.30000000000000001},"id":"c1","name":"ls"}'
            ),
            "number",
            "tool_calls[0].extra_content.k (digits that no double holds)",
        ),
        (
            '{"content":"x","tool_calls":[]}',
            "not_an_envelope at byte 28",
            "no envelope can be read",
        ),
        (turn(call())[:-9], "not_json at byte 66, its end", "no envelope can be read"),
    ],
)
def test_a_row_at_fault(run, tmp_path, content, fault, mended):
    path = history(tmp_path, row("hi", "user"), row(content, mood="calm"))
    ended = run("envelope", "check", path)
    assert ended.status == 1
    first, summary, count = ended.stdout.splitlines()
    assert first.startswith(f"row 2: {fault}")
    assert summary == "2 rows, 1 envelopes: 0 canonical, 1 not"
    assert count.split() == ["1", fault.split()[0]]

    new = tmp_path / "new.jsonl"
    ended = run("envelope", "check", path, "--fix", new)
    if mended is True:
        assert ended.status == 0
        assert ended.stdout.splitlines()[0].endswith(": fixed")
        again = run("envelope", "check", new)
        assert (again.status, again.stdout) == (0, "2 rows, 1 envelopes: 1 canonical, 0 not\n")
        before, after = (json.loads(p.read_text("utf-8").splitlines()[1]) for p in (path, new))
        parsed = turntape.parse_assistant_envelope(before["content"])
        assert turntape.parse_canonical_assistant_envelope(after["content"]) == parsed
        assert {**after, "content": ""} == {**before, "content": ""}
    else:
        assert ended.status == 1
        assert "left as it is" in ended.stdout
        assert mended in ended.stdout
        assert new.read_bytes() == path.read_bytes()
    assert path.read_text("utf-8").splitlines()[0] == new.read_text("utf-8").splitlines()[0]


def test_what_needs_no_change_comes_out_byte_for_byte(run, tmp_path):
    spaced = (
        '{ "role":"assistant", "n":1e5, "content":'
        + json.dumps(turn(call(), content='"\\u00e9"'))
        + ' ,\t"z":[ ] }'
    )
    for end in ("\n", "\r\n"):
        path = history(
            tmp_path, *GOOD, spaced, b'{"content":"x" ,"tool_call_id":"c"}', b"\xff", end=end
        )
        path.write_bytes(path.read_bytes() + b'{"role":"user","content":"no end"}')
        new = tmp_path / f"new{len(end)}.jsonl"
        ended = run("envelope", "check", path, "--all", "--fix", new)
        assert ended.status == 1
        assert f"row {len(GOOD) + 3}: not_utf8 at byte 0: left as it is" in ended.stdout
        old_lines, new_lines = path.read_bytes().split(b"\n"), new.read_bytes().split(b"\n")
        changed = [
            at
            for at, pair in enumerate(zip(old_lines, new_lines, strict=True))
            if pair[0] != pair[1]
        ]
        assert changed == [len(GOOD), len(GOOD) + 1]
        literal = json.dumps(turn(call(), content='"é"'), ensure_ascii=False)
        start, _, stop = spaced.partition(json.dumps(turn(call(), content='"\\u00e9"')))
        cr = end[:-1].encode()
        assert new_lines[len(GOOD)] == (start + literal + stop).encode() + cr
        assert new_lines[len(GOOD) + 1] == b'{"content":"x","tool_call_id":"c"}' + cr


def test_every_row_is_named_on_request(run, tmp_path):
    ended = run("envelope", "check", history(tmp_path, *GOOD[:3]), "--all")
    assert ended.stdout.splitlines()[:3] == [
        "row 1: no envelope",
        "row 2: canonical",
        "row 3: canonical",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.jsonl"], "there is no such file"),
        (["."], "is a folder"),
        (["history.jsonl", "--fix", "history.jsonl"], "is there already"),
        (["history.jsonl", "--fix", "no/such/folder.jsonl"], "cannot be written"),
        (["history.jsonl", "--shine"], "No such option"),
    ],
)
def test_a_wrong_command_line(run, tmp_path, monkeypatch, arguments, message):
    history(tmp_path, row(CANONICAL))
    monkeypatch.chdir(tmp_path)
    ended = run("envelope", "check", *arguments)
    assert (ended.status, ended.stdout) == (2, "")
    assert message in ended.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["history.jsonl"]


def test_the_help_teaches(run):
    ended = run("envelope", "check", "--help")
    assert ended.status == 0
    for word in ("Examples", "--fix", "--all", "Exit status", "key_order", "duplicate_key"):
        assert word in ended.stdout
    assert run("envelope").status in {0, 2}
    assert "envelope" in run("--help").stdout


def test_nothing_that_a_terminal_obeys_comes_out(run, tmp_path, unsafe):
    evil = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202egnp\r\u2028\x00\x7f"
    key = json.dumps(evil)
    rows = [
        row(turn(call(), more=f",{key}:1")),
        row(turn(call()) + evil + evil),
        row(f'{{"tool_calls" {evil}'),
        evil,
    ]
    ended = run("envelope", "check", history(tmp_path, *rows), "--fix", tmp_path / "new.jsonl")
    assert ended.status == 1
    assert unsafe(ended.stdout + ended.stderr) == set()


# As a process --------------------------------------------------------------------------------------


def process(
    *arguments: str | Path, stdin: bytes = b"", **options: Any
) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "PYTHONUTF8": "1"}
    command = [sys.executable, "-m", "turntape", "envelope", "check", *arguments]
    return subprocess.run(
        command,
        input=stdin,
        capture_output=True,
        check=False,
        timeout=120,
        env=environment,
        **options,
    )


def test_standard_input_and_a_large_file(tmp_path):
    good, bad = row(CANONICAL) + "\n", row(turn(call()) + " ") + "\n"
    data = (good * 1000 + bad) * 100
    ended = process("-", stdin=data.encode())
    assert ended.returncode == 1
    assert ended.stderr == b""
    lines = ended.stdout.decode().splitlines()
    assert lines[-2] == "100,100 rows, 100,100 envelopes: 100,000 canonical, 100 not"
    assert lines[0].startswith("row 1,001: whitespace")
    path = history(tmp_path, data, end="")
    new = tmp_path / "new.jsonl"
    ended = process(path, "--fix", new)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert new.read_text("utf-8") == data.replace(bad, good)


def test_long_rows_without_an_end(tmp_path):
    text = turntape.encode_tool_envelope("c1", "x\n" * (4 << 20))
    ended = process("-", stdin=row(text, "tool").encode())
    assert (ended.returncode, ended.stdout) == (0, b"1 rows, 1 envelopes: 1 canonical, 0 not\n")
    ended = process("-", stdin=b"[" * 100_000)
    assert (ended.returncode, ended.stderr) == (1, b"")


def test_an_empty_input():
    ended = process("-")
    assert (ended.returncode, ended.stdout) == (0, b"0 rows, 0 envelopes: 0 canonical, 0 not\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no such device")
def test_an_output_that_cannot_be_written(tmp_path):
    path, new = history(tmp_path, row(turn(call()) + " ")), tmp_path / "new.jsonl"
    command = [sys.executable, "-m", "turntape", "envelope", "check", path, "--fix", new]
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, check=False, timeout=120
        )
    assert ended.returncode == 1
    assert b"cannot write the output" in ended.stderr
    ended = subprocess.run(
        [*command[:-1], "/dev/full"], capture_output=True, check=False, timeout=120
    )
    assert ended.returncode == 2


def test_every_code_is_in_the_help():
    from turntape.cli.envelope import CHECK_HELP

    for code in get_args(turntape.NonCanonicalCode):
        assert code in CHECK_HELP
