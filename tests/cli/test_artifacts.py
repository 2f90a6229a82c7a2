"""``turntape offload`` and ``turntape artifacts``: what they print, what they write, and how they end."""

from __future__ import annotations

import json
import os
import re
import time

import pytest
import typer

import turntape
import turntape.transcript.lines
from turntape.cli.artifacts import parse_age
from turntape.cli.offload import parse_size

BODY = "Low tide at six, high tide at noon.\n" * 1000
# Made up, in the form of a key that the default rules know.
KEY = "AKIA" + "QYZ2W3X4V5U6T7S6"
PATH = "outputs/scout/tides-result.md"


@pytest.fixture
def root(tmp_path):
    return tmp_path / "run"


@pytest.fixture
def tides(tmp_path):
    path = tmp_path / "tides.txt"
    path.write_text(BODY, "utf-8")
    return path


def test_offloading_a_file(run, root, tides):
    ended = run("offload", "--root", root, "--agent", "scout", "--no-redact", tides)
    assert (ended.status, ended.stderr) == (0, "")
    lines = ended.stdout.split("\n")
    assert lines[0] == f"[artifact] kind=output path={PATH} bytes=36000"
    assert lines[1] == f'read_with: read_artifact {{"path":"{PATH}"}}'
    assert (root / PATH).read_text("utf-8") == BODY
    again = run("offload", "--root", root, "--agent", "scout", "--no-redact", tides)
    assert "tides-result-2.md" in again.stdout


def test_offloading_standard_input(run, root):
    arguments = ["--root", root, "--read-tool", "peruse", "--task", "t 1", "--kind", "scratch"]
    ended = run("offload", *arguments, "--no-redact", "-", stdin=BODY.encode())
    assert ended.status == 0
    assert "path=workspace/shell/t_1-" in ended.stdout
    assert "read_with: peruse" in ended.stdout


def test_secrets_are_taken_out(run, root):
    text = f"key {KEY}\n{BODY}"
    ended = run("offload", "--root", root, "-", stdin=text.encode())
    assert ended.status == 0
    assert "redaction was applied" in ended.stdout
    (file,) = (path for path in root.rglob("*") if path.is_file())
    for shown in (ended.stdout, ended.stderr, file.read_text("utf-8")):
        assert KEY not in shown


@pytest.mark.parametrize(
    ("text", "threshold", "why"),
    [
        ("small\n", "8192", "6 bytes are within the threshold of 8,192"),
        (BODY, "64K", "36,000 bytes are within the threshold of 65,536"),
        (BODY, "0", "a threshold of 0 offloads nothing"),
        ("fifteen bytes!!\n", "10", "its pointer would be no smaller"),
    ],
)
def test_a_text_that_stays(text, threshold, why, run, root):
    ended = run(
        "offload", "--root", root, "--threshold", threshold, "--no-redact", "-", stdin=text.encode()
    )
    assert (ended.status, ended.stdout) == (0, text)
    assert ended.stderr == f"turntape: the text stays: {why}\n"
    assert not root.exists()


def test_a_text_that_cannot_be_offloaded(run, root, tides):
    root.write_text("a file", "utf-8")
    ended = run("offload", "--root", root, "--no-redact", tides)
    assert (ended.status, ended.stdout) == (1, BODY)
    assert ended.stderr.startswith("turntape: a result was not offloaded: StorageFailed: ")
    assert len(ended.stderr.splitlines()) == 1


def test_bytes_that_are_no_text(run, root):
    ended = run("offload", "--root", root, "--no-redact", "-", stdin=b"\xff" + BODY.encode())
    assert ended.status == 0
    assert "no UTF-8 from byte 0 on" in ended.stderr
    (file,) = (path for path in root.rglob("*") if path.is_file())
    assert file.read_text("utf-8") == "\ufffd" + BODY


@pytest.mark.parametrize(
    "arguments",
    [
        ["missing.txt"],
        ["--threshold", "much", "-"],
        ["--threshold", "-1", "-"],
        ["--read-tool", "two words", "-"],
        ["--kind", "other", "-"],
        [],
    ],
)
def test_a_command_line_that_is_wrong(arguments, run, root):
    ended = run("offload", "--root", root, "--no-redact", *arguments, stdin=BODY.encode())
    assert ended.status == 2
    assert ended.stderr
    assert not root.exists()
    assert run("offload", "-").status == 2


HISTORY = (
    b'{"role":"user","content":"read it"}\n'
    b'{"role": "assistant", "content": "", "tool_calls": [{"id":"c1","name":"ls","arguments":"{}"}]}\n'
    b"not JSON \xff\r\n"
    b"\n"
    + turntape.transcript.lines.encode_line(turntape.TranscriptMessage.tool_result("c1", BODY))
    + b'\n{"role":"user","content":"torn'
)


def test_sweeping_a_transcript(run, root, tmp_path):
    history = tmp_path / "history.jsonl"
    history.write_bytes(HISTORY)
    arguments = ["offload", "--root", root, "--transcript", "--agent", "scout"]
    ended = run(*arguments, history)
    assert ended.status == 0
    before, after = HISTORY.split(b"\n"), ended.stdout_bytes.split(b"\n")
    changed = [at for at, pair in enumerate(zip(before, after, strict=True)) if pair[0] != pair[1]]
    assert changed == [4]
    path = "outputs/scout/history-result.md"
    content = json.loads(after[4])["content"]
    assert turntape.extract_artifact_paths(content) == [path]
    assert (root / path).read_text("utf-8") == BODY
    assert (
        "3 rows, 1 results offloaded, 36,000 bytes, 3 lines that are no rows kept" in ended.stderr
    )
    assert history.read_bytes() == HISTORY
    # From standard input, and once more: nothing is left to do.
    again = run(*arguments, "-", stdin=ended.stdout_bytes)
    assert again.stdout_bytes == ended.stdout_bytes
    assert "3 rows, 0 results offloaded" in again.stderr


def test_sweeping_in_place(run, root, tmp_path):
    history = tmp_path / "history.jsonl"
    history.write_bytes(HISTORY)
    arguments = ["offload", "--root", root, "--transcript", "--in-place", "--no-redact"]
    ended = run(*arguments, history)
    assert (ended.status, ended.stdout) == (0, "")
    rows = list(turntape.TranscriptStore(history).rows(strict=False))
    assert len(rows) == 3
    assert turntape.extract_artifact_paths(rows[2].content) == ["outputs/shell/history-result.md"]
    for wrong in (["-"], [tmp_path / "none"]):
        assert run(*arguments, *wrong).status == 2
    assert run("offload", "--root", root, "--force", history).status == 2


def test_sweeping_before_signed_thinking(run, root, tmp_path):
    proof = {"google": {"thought_signature": "c2ln"}}
    rows = [
        turntape.TranscriptMessage.tool_result("c1", BODY),
        turntape.TranscriptMessage.assistant_with_calls(
            "", [turntape.NativeToolCall("c2", "ls", "{}", proof)]
        ),
    ]
    history = tmp_path / "history.jsonl"
    with turntape.TranscriptStore(history) as store:
        store.append_many(rows)
    arguments = ["offload", "--root", root, "--transcript", "--no-redact", history]
    ended = run(*arguments)
    assert (ended.status, ended.stdout_bytes) == (0, history.read_bytes())
    assert "1 too large stay where they are" in ended.stderr
    ended = run(*arguments, "--force")
    assert "1 results offloaded" in ended.stderr


def test_a_listing(run, root, tides):
    run("offload", "--root", root, "--agent", "scout", "--no-redact", tides)
    writer = turntape.ArtifactWriter(root, agent_id="scout", task_id="t1")
    artifact = writer.write("scratch", "no\u202ete.txt", "low tide")
    os.utime(artifact.absolute_path, (0, 0))
    ended = run("artifacts", "ls", "--root", root)
    assert (ended.status, ended.stderr) == (0, "")
    first, second, total = ended.stdout.splitlines()
    assert re.fullmatch(rf" +36,000  20\d\d-\d\d-\d\d \d\d:\d\d:\d\dZ \* {PATH}", first)
    assert second == "            8  1970-01-01 00:00:00Z   workspace/no\\u202ete.txt"
    assert total == "       36,008  bytes in 2 artifacts"
    missing = run("artifacts", "ls", "--root", root / "none")
    assert missing.status == 1
    assert missing.stderr.startswith("turntape: StorageFailed: ")


def test_reading(run, root):
    writer = turntape.ArtifactWriter(root, agent_id="scout", task_id="tides")
    writer.write_default("tide é\n" * 3)
    ended = run("artifacts", "read", "--root", root, PATH)
    assert (ended.status, ended.stdout, ended.stderr) == (0, "tide é\n" * 3, "")
    ended = run("artifacts", "read", "--root", root, PATH, "--limit", "6")
    assert ended.stdout == "tide "
    assert ended.stderr == "turntape: 5 of 24 bytes; read on with --offset 5\n"
    ended = run("artifacts", "read", "--root", root, PATH, "--offset", "5", "--limit", "4", "--all")
    assert (ended.stdout, ended.stderr) == (("tide é\n" * 3)[5:], "")
    for path in ("../x", "/etc/hostname", "outputs/none.md", "outputs"):
        ended = run("artifacts", "read", "--root", root, path)
        assert (ended.status, ended.stdout) == (1, "")
        assert ended.stderr.startswith("turntape: ")
    for wrong in (["--offset", "-1"], ["--limit", "0"], ["--limit", "x"]):
        assert run("artifacts", "read", "--root", root, PATH, *wrong).status == 2


@pytest.fixture
def filled(root):
    now = time.time()
    for number in range(4):
        writer = turntape.ArtifactWriter(root, agent_id="scout", task_id=f"t{number}")
        artifact = writer.write_default("x" * 1024)
        age = now - 3600 * (4 - number)
        os.utime(artifact.absolute_path, (age, age))
    return [f"outputs/scout/t{number}-result.md" for number in range(4)]


def test_pruning(run, root, filled):
    ended = run("artifacts", "prune", "--root", root, "--max-bytes", "2K", "--dry-run")
    assert (ended.status, ended.stderr) == (0, "")
    assert ended.stdout.splitlines() == [
        f"        1,024  would go  {filled[0]}",
        f"        1,024  would go  {filled[1]}",
        "        2,048  bytes of 2 artifacts would go; 2,048 bytes of 2 artifacts stay",
    ]
    assert all((root / path).exists() for path in filled)
    ended = run("artifacts", "prune", "--root", root, "--max-age", "2.5h", "--keep", filled[0])
    assert ended.stdout.splitlines() == [
        f"        1,024  removed  {filled[1]}",
        "        1,024  bytes of 1 artifact removed; 3,072 bytes of 3 artifacts stay",
    ]
    assert [path for path in filled if (root / path).exists()] == [filled[0], *filled[2:]]


@pytest.mark.parametrize("form", ["text", "jsonl"])
def test_what_a_history_names_stays(form, run, root, filled, tmp_path):
    lines = [f"[artifact] kind=output path={path} bytes=1024" for path in filled[:2]]
    history = tmp_path / "history"
    if form == "text":
        history.write_text("\n".join(lines), "utf-8")
    else:
        rows = [{"role": "tool", "parts": [{"text": f"{line}\nread_with: x"}]} for line in lines]
        history.write_text("\n".join(json.dumps(row) for row in rows) + "\nnot JSON\n", "utf-8")
    ended = run("artifacts", "prune", "--root", root, "--max-bytes", "0", "--keep-from", history)
    assert ended.status == 0
    assert [path for path in filled if (root / path).exists()] == filled[:2]


def test_pruning_that_is_wrong(run, root, filled, tmp_path):
    for arguments in (
        [],
        ["--max-bytes", "many"],
        ["--max-age", "old"],
        ["--max-age", "-1"],
        # A history that cannot be read must not lose what it names.
        ["--max-bytes", "0", "--keep-from", tmp_path / "none"],
    ):
        ended = run("artifacts", "prune", "--root", root, *arguments)
        assert ended.status == 2, arguments
    assert all((root / path).exists() for path in filled)
    assert run("artifacts", "prune", "--root", root / "none", "--max-bytes", "0").status == 1


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["offload", "--help"], ["--root", "--threshold", "--no-redact", "Exit status", "8192"]),
        (["artifacts", "--help"], ["ls", "read", "prune"]),
        (["artifacts", "ls", "--help"], ["--root", "A star marks"]),
        (["artifacts", "read", "--help"], ["--offset", "--limit", "--all", "65536"]),
        (
            ["artifacts", "prune", "--help"],
            ["--max-bytes", "--max-age", "--keep-from", "--dry-run"],
        ),
        (["artifacts"], ["ls", "read", "prune"]),
    ],
)
def test_the_help(arguments, shown, run):
    ended = run(*arguments, env={"COLUMNS": "120"})
    text = ended.stdout + ended.stderr
    for part in shown:
        assert part in text
    assert "Traceback" not in text


@pytest.mark.parametrize(
    ("text", "size"),
    [("0", 0), ("8192", 8192), ("64K", 65536), ("64 kB", 65536), ("1MiB", 2**20), (" 2g ", 2**31)],
)
def test_sizes(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "K", "-1", "1.5K", "1T", "\u0661", "0x10"])
def test_what_is_no_size(text):
    with pytest.raises(typer.BadParameter):
        parse_size(text)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("90s", 90), ("30m", 1800), ("12h", 43200), ("7d", 604800), ("2w", 1209600), ("0.5h", 1800)],
)  # fmt: skip
def test_ages(text, seconds):
    assert parse_age(text).total_seconds() == seconds


@pytest.mark.parametrize("text", ["", "d", "-1d", "1y", "1e3", "9" * 30])
def test_what_is_no_age(text):
    with pytest.raises(typer.BadParameter):
        parse_age(text)


def test_what_a_terminal_would_obey(run, root, unsafe):
    writer = turntape.ArtifactWriter(root, agent_id="scout", task_id="t1")
    evil = "\x1b[31mred\x07\u202e"
    writer.write("output", "e\u202evil.md", evil * 10)
    terminal = {"FORCE_COLOR": "1", "TTY_COMPATIBLE": "1", "COLUMNS": "200"}
    for arguments in (["ls"], ["read", "outputs/e\u202evil.md"], ["read", "outputs/e\x1bvil.md"]):
        ended = run("artifacts", *arguments[:1], "--root", root, *arguments[1:], env=terminal)
        assert not unsafe(ended.stdout + ended.stderr), arguments
    # Into a pipe an artifact goes as it is.
    assert run("artifacts", "read", "--root", root, "outputs/e\u202evil.md").stdout == evil * 10
