"""``turntape check``, ``repair``, ``import`` and ``show``: what they say, write and end with."""

from __future__ import annotations

import json
import re
import stat
from typing import TYPE_CHECKING, get_args

import pytest

import turntape
from turntape import (
    DocumentPart,
    ImagePart,
    NativeToolCall,
    PathRef,
    TextPart,
    ToolFailure,
    TranscriptMessage,
    TranscriptStore,
    Usage,
    is_synthetic,
)
from turntape.cli import importing

if TYPE_CHECKING:
    from pathlib import Path

CALLS = TranscriptMessage.assistant_with_calls(
    "On it.", [NativeToolCall("c1", "ls", '{"a":1}'), NativeToolCall("c2", "cat", "{}")]
)
ONE, TWO = TranscriptMessage.tool_result("c1", "a.txt"), TranscriptMessage.tool_result("c2", "text")
GOOD = [
    TranscriptMessage.user("list the files"),
    CALLS,
    TWO,
    ONE,
    TranscriptMessage.assistant("Done."),
]
BROKEN = (
    b'{"v":3,"first":1}\n'
    b'{"role":"user","content":"q","odd": 1.50}\n'
    b"<<<<<<< HEAD\n"
    b'{"role":"assistant","content":"","tool_calls":[{"id":"c1","name":"ls","arguments":"{}"}],'
    b'"v":2,"shape":"assistant_calls"}\n'
    b'{"v":3,"second":2}\n'
    b'{"role":"user","content":"r"}\n'
    b'{"role":"tool","content":"late","v":2,"shape":"tool_result","tool_call_id":"c1"}\n'
    b'{"v":3,"third":3}\n'
    b'{"role":"user","con'
)


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    return tmp_path / "tape.jsonl"


def write(path: Path, rows: list[TranscriptMessage]) -> Path:
    with TranscriptStore(path) as store:
        store.append_many(rows)
    return path


# Help --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["check", "repair", "import", "show"])
def test_the_help_teaches(run, command):
    text = " ".join(re.sub(r"[╭╮╰╯│─]", " ", run(command, "--help").stdout).split())
    for taught in ("Examples", f"turntape {command}", "Exit status", "130 interrupted with Ctrl-C"):
        assert taught in text
    ended = run(command)
    assert ended.status == 2
    assert f"Usage: turntape {command}" in ended.stdout + ended.stderr


@pytest.mark.parametrize("command", ["check", "show", "repair", "import"])
def test_a_file_that_is_none_is_a_usage_error(run, tmp_path, command):
    more = {
        "repair": ("-o", tmp_path / "new"),
        "import": ("-f", "codex", "-o", tmp_path / "new"),
    }.get(command, ())
    for name, words in ((tmp_path / "none", "no such file"), (tmp_path, "is a folder")):
        ended = run(command, name, *more)
        assert ended.status == 2
        assert words in ended.stderr
        assert ended.stdout == ""
    assert not (tmp_path / "new").exists()


# Check -------------------------------------------------------------------------------------------


def test_a_tape_with_nothing_wrong(run, tape):
    ended = run("check", write(tape, GOOD))
    assert (ended.status, ended.stderr) == (0, "")
    assert ended.stdout == "5 rows: every line is a row, calls and results pair up\n"
    assert run("check", "-", stdin=tape.read_bytes()) == ended


def test_faults_are_named_by_line(run, tape):
    tape.write_bytes(BROKEN)
    ended = run("check", tape)
    assert ended.status == 1
    assert ended.stdout == (
        "line 3: not_json at bytes 60 to 72: Expecting value at character 0\n"
        "line 9: torn_tail at bytes 343 to 362: Unterminated string at character 15\n"
        "line 6: interrupted_round the row comes while the call 'c1' waits for its result\n"
        "line 7: orphan_result no call 'c1' waits for this result\n"
        "4 rows, 3 lines of newer versions: 2 lines are no rows, 2 faults of calls and results\n"
    )


def test_several_tapes_are_told_apart(run, tmp_path):
    good, bad = write(tmp_path / "good", GOOD), tmp_path / "bad"
    bad.write_bytes(b"x\n")
    ended = run("check", good, bad)
    assert ended.status == 1
    starts = [line.split(": ")[0] for line in ended.stdout.splitlines()]
    assert starts == [str(good), str(bad), str(bad)]


def test_what_a_tape_holds_reaches_no_terminal(run, hostile, unsafe, tape):
    row = TranscriptMessage.tool_result("\x1b]0;owned\x07\u202e", "x")
    write(tape, [row])
    with tape.open("ab") as file:
        file.write(hostile)
    ended = run("check", tape)
    assert ended.status == 1
    assert not unsafe(ended.stdout)


# Repair ------------------------------------------------------------------------------------------


def test_a_repaired_tape_has_nothing_wrong_with_it(run, tape, tmp_path):
    tape.write_bytes(BROKEN)
    new = tmp_path / "new.jsonl"
    ended = run("repair", tape, "-o", new)
    assert (ended.status, ended.stderr) == (0, "")
    assert ended.stdout.endswith("4 rows read, 4 written, 1 repairs, 2 lines left out\n")
    assert "line 3: left out not_json" in ended.stdout
    lines = BROKEN.splitlines(keepends=True)
    # The late result stands with its call; everything that was kept has its bytes.
    assert new.read_bytes().splitlines(keepends=True) == [
        lines[0],
        lines[1],
        lines[3],
        lines[4],
        lines[6],
        lines[5],
        lines[7],
    ]
    assert stat.S_IMODE(new.stat().st_mode) & 0o077 == 0
    assert run("check", new).status == 0
    assert tape.read_bytes() == BROKEN


def test_what_is_missing_is_made_up_or_dropped(run, tape, tmp_path):
    write(tape, [CALLS, ONE])
    assert run("repair", tape, "-o", tmp_path / "a").status == 0
    with TranscriptStore(tmp_path / "a") as store:
        rows = list(store.rows())
    assert [is_synthetic(row) for row in rows] == [False, False, True]
    dropped = run("repair", tape, "-o", tmp_path / "b", "--policy", "drop")
    assert dropped.status == 0
    assert (tmp_path / "b").read_bytes() == b'{"role":"assistant","content":"On it."}\n'
    for new in ("a", "b"):
        assert run("check", tmp_path / new).status == 0


def test_a_file_that_is_there_stays(run, tape, tmp_path):
    write(tape, GOOD)
    (tmp_path / "new").write_text("mine")
    for arguments in (("repair", tape), ("import", tape, "-f", "openai-chat")):
        ended = run(*arguments, "-o", tmp_path / "new")
        assert ended.status == 2
        assert "is there already: --output writes a new file" in ended.stderr
    assert (tmp_path / "new").read_text() == "mine"
    ended = run("repair", tape, "-o", tmp_path / "none" / "new")
    assert ended.status == 2
    assert "cannot be written" in ended.stderr


# Import ------------------------------------------------------------------------------------------


def test_the_formats_offered_are_those_that_there_are():
    assert get_args(importing._FormatName) == tuple(turntape.IMPORT_FORMATS)


CHAT = (
    b'{"role":"user","content":"q"}\n'
    b'{"mood":"good"}\n'
    b'{"mood":"bad"}\n'
    b"{\n"
    b'{"role":"assistant","content":"a"}\n'
)


def test_an_import_says_what_it_could_not_carry(run, tape, tmp_path):
    (tmp_path / "chat").write_bytes(CHAT)
    ended = run("import", "-f", "openai-chat", tmp_path / "chat", "-o", tape)
    assert (ended.status, ended.stdout) == (0, "")
    assert ended.stderr == (
        "2 times not_a_message it has neither a role nor messages (line 2, 3)\n"
        "1 times unreadable_line it is no JSON: "
        "Expecting property name enclosed in double quotes (line 4)\n"
        "2 rows, 3 losses\n"
    )
    assert tape.read_bytes() == (
        b'{"role":"user","content":"q"}\n{"role":"assistant","content":"a"}\n'
    )
    assert stat.S_IMODE(tape.stat().st_mode) & 0o077 == 0
    every = run("import", "-f", "openai-chat", "-", "-o", tmp_path / "b", "--all", stdin=CHAT)
    assert every.stderr.splitlines()[:2] == [
        "line 2: not_a_message it has neither a role nor messages",
        "line 3: not_a_message it has neither a role nor messages",
    ]


def test_a_file_without_a_message_makes_no_tape(run, tape):
    ended = run(
        "import", "-f", "codex", "-", "-o", tape, stdin=b'{"type":"session_meta","payload":{}}\n'
    )
    assert ended.status == 1
    assert "no message is in it: rollouts of Codex" in ended.stderr
    assert not tape.exists()


# Show --------------------------------------------------------------------------------------------


def test_a_tape_is_shown_for_people(run, tape):
    rows = [
        TranscriptMessage.user_with_parts(
            [
                TextPart("look "),
                ImagePart("data:image/png;base64," + "QUJD" * 100),
                ImagePart("https://pics.example/a.png"),
                DocumentPart(PathRef("d/plan.pdf"), "application/pdf"),
            ]
        ),
        TranscriptMessage(
            "assistant",
            "On it.",
            tool_calls=CALLS.tool_calls,
            model="claude-heron-9",
            stop_reason="tool_use",
            usage=Usage(input_tokens=12, output_tokens=3, reasoning_tokens=1),
            extra_metadata={"reasoning_content": "Let me see."},
        ),
        TranscriptMessage.tool_result("c2", "gone", failure=ToolFailure("no such file")),
        TranscriptMessage.tool_result("c9", "?"),
        TranscriptMessage("assistant", "Half a th", interrupted=True, usage=Usage(output_tokens=4)),
    ]
    write(tape, rows)
    sizes = [len(line) for line in tape.read_bytes().splitlines()]
    ended = run("show", tape)
    assert (ended.status, ended.stderr) == (0, "")
    assert ended.stdout == (
        f"line 1  user  {sizes[0]} bytes\n"
        "  look \n"
        "  image data:image/png;base64, 300 bytes\n"
        "  image https://pics.example/a.png\n"
        "  document d/plan.pdf  application/pdf\n"
        "\n"
        f"line 2  assistant  claude-heron-9, {sizes[1]} bytes, stop tool_use, 12 input, 3 output, "
        "1 of it reasoning\n"
        "thinking\n"
        "  Let me see.\n"
        "  On it.\n"
        "call ls  c1\n"
        '  {"a":1}\n'
        "call cat  c2\n"
        "  {}\n"
        "\n"
        f"line 3  tool  answers cat  c2  {sizes[2]} bytes\n"
        "  gone\n"
        "the tool failed: no such file\n"
        "\n"
        f"line 4  tool  answers no call  c9  {sizes[3]} bytes\n"
        "  ?\n"
        "\n"
        "no result for ls  c1\n"
        "\n"
        f"line 5  assistant  cut short  {sizes[4]} bytes, 0 input, 4 output\n"
        "  Half a th\n"
        "\n"
        "5 rows: 12 input, 7 output, 1 of it reasoning\n"
    )


def test_what_is_no_row_is_shown_as_such(run, tape):
    tape.write_bytes(BROKEN)
    ended = run("show", tape)
    assert ended.status == 0
    assert "line 1  a line of a newer version: it is of version 3, 17 bytes\n" in ended.stdout
    assert "line 3  no row: Expecting value at character 0, 12 bytes\n" in ended.stdout
    assert "line 9  a torn line: " in ended.stdout
    assert ended.stdout.endswith("4 rows, 5 other lines: no tokens counted\n")


def test_long_texts_are_shortened(run, tape):
    write(tape, [TranscriptMessage.user("x" * 5000)])
    assert "… (5,000 characters)" in run("show", tape).stdout
    assert "x" * 5000 in run("show", tape, "--full").stdout


def test_what_a_tape_shows_is_clean(run, unsafe, tape):
    evil = "\x1b]0;owned\x07\x1b[2J\u202e\u2028\x00\x7f\x9b"
    row = TranscriptMessage(
        f"role{evil}",
        evil,
        id=evil,
        tool_calls=(NativeToolCall(evil, evil, evil),),
        parts=(TextPart(evil), ImagePart(evil), DocumentPart(PathRef(evil), evil)),
        extra_metadata={"reasoning_content": evil},
        tool_failure=ToolFailure(evil),
        model=evil,
        created_at=evil,
        stop_reason=evil,
    )
    write(tape, [row, TranscriptMessage.tool_result(evil, evil)])
    for arguments in (("show", tape), ("show", tape, "--full"), ("check", tape)):
        assert not unsafe(run(*arguments).stdout)
    new = tape.with_suffix(".new")
    ended = run("import", "-f", "codex", tape, "-o", new)
    assert not unsafe(ended.stdout + ended.stderr)
    bad = json.dumps({"type": evil}).encode() + b"\n"
    for name in turntape.IMPORT_FORMATS:
        ended = run("import", "-f", name, "-", "-o", new, "--all", stdin=bad)
        assert not unsafe(ended.stdout + ended.stderr)
