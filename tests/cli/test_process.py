"""The command as a process of its own: pipes, signals, and what is not installed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.aws import aws_message

import turntape

COMMAND = [sys.executable, "-m", "turntape"]
FIRST = b'data: {"id":"r1","model":"m1","choices":[{"delta":{"content":"Hi"}}]}\n\n'
REST = (
    b'data: {"choices":[{"delta":{"content":" you"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
)

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and pipes differ there")


def environment(**more: str) -> dict[str, str]:
    colours = ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE")
    kept = {name: value for name, value in os.environ.items() if name not in colours}
    return {**kept, "PYTHONUTF8": "1", **more}


def start(*arguments: str | Path, **more: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        env=environment(**more),
    )


def finish(process: subprocess.Popen[bytes]) -> tuple[int, bytes, bytes]:
    stdout, stderr = process.communicate()
    return process.returncode, stdout, stderr


def send(process: subprocess.Popen[bytes], data: bytes) -> None:
    assert process.stdin is not None
    process.stdin.write(data)


def receive(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdout is not None
    return process.stdout.readline()


# Live --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", ["auto", "openai-chat"])
@pytest.mark.parametrize("form", ["events", "jsonl"])
def test_events_are_shown_while_the_pipe_is_open(form, dialect):
    with start("decode", "-", "-f", form, "-d", dialect) as process:
        # Less than an event, then its rest: nothing else is needed for the first two lines. Were they
        # held back until more came, this would wait for ever.
        send(process, FIRST[:40])
        send(process, FIRST[40:])
        assert b"message_start" in receive(process)
        assert b"Hi" in receive(process)
        assert process.poll() is None
        send(process, REST)
        assert b" you" in receive(process)
        status, stdout, stderr = finish(process)
    assert (status, stderr) == (0, b"")
    assert b"message_stop" in stdout


@pytest.mark.parametrize("dialect", ["auto", "bedrock-converse"])
def test_binary_frames_are_shown_while_the_pipe_is_open(dialect):
    first = aws_message("messageStart", b'{"role": "assistant"}')
    text = aws_message("contentBlockDelta", b'{"contentBlockIndex": 0, "delta": {"text": "Hi"}}')
    end = aws_message("messageStop", b'{"stopReason": "end_turn"}')
    with start("decode", "-", "-d", dialect) as process:
        # Cut within a prelude and within a payload.
        send(process, first[:7])
        send(process, first[7:] + text[:-9])
        assert b"message_start" in receive(process)
        send(process, text[-9:])
        assert b"Hi" in receive(process)
        assert process.poll() is None
        send(process, end)
        assert finish(process)[0] == 0


@pytest.mark.parametrize("dialect", ["auto", "gemini"])
def test_an_array_is_shown_while_the_pipe_is_open(dialect):
    with start("decode", "-", "-d", dialect) as process:
        send(process, b'[{"candidates": [{"content": {"parts": ')
        send(process, b'[{"text": "Hi"}]}}]}')
        assert b"message_start" in receive(process)
        assert b"Hi" in receive(process)
        assert process.poll() is None
        send(process, b',\r\n{"candidates": [{"finishReason": "STOP"}]}\n]\n')
        assert finish(process)[0] == 0


def test_a_failure_is_shown_while_the_pipe_is_open():
    with start("decode", "-") as process:
        send(process, FIRST + b'data: {"error":{"message":"broken"}}\n\n')
        assert process.stderr is not None
        # The writer has not closed its end, and never writes again.
        line = process.stderr.readline()
        assert line.startswith(b"turntape: standard input: ProviderError error at byte ")
        assert process.wait() == 1


def test_events_before_a_failure_come_before_it():
    with start("decode", "-") as process:
        send(process, FIRST + b'data: {"error":{"message":"broken"}}\n\n')
        status, stdout, stderr = finish(process)
    assert status == 1
    assert stdout.count(b"\n") == 2
    assert stderr.count(b"\n") == 1


def test_comments_before_the_first_event_do_not_hold_it_back():
    with start("decode", "-") as process:
        for _ in range(2_000):
            send(process, b": keep-alive\n\n")
        send(process, FIRST)
        assert b"message_start" in receive(process)
        send(process, REST)
        assert finish(process)[0] == 0


@posix
def test_a_named_pipe_is_live_too(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with start("decode", path) as process:
        with path.open("wb", buffering=0) as writer:
            writer.write(FIRST)
            assert b"message_start" in receive(process)
            writer.write(REST)
        assert finish(process)[0] == 0


# Quiet endings -----------------------------------------------------------------------------------


@posix
@pytest.mark.skipif(
    signal.getsignal(signal.SIGINT) == signal.SIG_IGN,
    reason="run in the background by a shell that has its jobs ignore interrupts",
)
def test_an_interrupt_ends_it_quietly():
    with start("decode", "-") as process:
        send(process, FIRST)
        receive(process)
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
        assert process.stderr is not None
        assert process.stderr.read() == b""


@posix
@pytest.mark.parametrize("more", [{}, {"FORCE_COLOR": "1"}], ids=["plain", "colours"])
@pytest.mark.parametrize("form", ["events", "message", "jsonl"])
def test_a_reader_that_has_gone_ends_it_quietly(form, more, tmp_path):
    # In every format more than a pipe holds.
    path = tmp_path / "long.sse"
    path.write_bytes(FIRST * 100_000 + REST)
    with start("decode", path, "-f", form, **more) as process:
        assert process.stdout is not None
        process.stdout.read(1)
        process.stdout.close()
        assert process.wait() == 141
        assert process.stderr is not None
        assert process.stderr.read() == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize(
    "arguments", [("--version",), ("decode", "-"), ("decode", "-", "--summary")]
)
def test_a_full_disk_is_one_line(arguments):
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(
            [*COMMAND, *arguments],
            input=FIRST + REST,
            stdout=full,
            stderr=subprocess.PIPE,
            env=environment(),
            check=False,
        )
    assert ended.returncode == 1
    assert ended.stderr.startswith(b"turntape: cannot write the output: ")
    assert ended.stderr.count(b"\n") == 1


@posix
@pytest.mark.parametrize("closed", ["0<&-", "1>&-", "2>&-"])
def test_closed_streams_give_no_traceback(closed, streams):
    line = f'"$0" -m turntape decode - "$1" {closed}'
    ended = subprocess.run(
        ["/bin/sh", "-c", line, sys.executable, streams / "truncated.sse"],
        input=FIRST + REST,
        capture_output=True,
        env=environment(),
        check=False,
    )
    assert ended.returncode == 1
    assert b"Traceback" not in ended.stdout + ended.stderr


def test_an_output_that_cannot_say_everything(streams):
    ended = subprocess.run(
        [*COMMAND, "decode", streams / "anthropic.sse", "-f", "message"],
        capture_output=True,
        env=environment(PYTHONUTF8="0", PYTHONIOENCODING="ascii"),
        check=False,
    )
    assert ended.returncode == 0
    assert rb"\u2013 one moment. \U0001f5fc" in ended.stdout


# How it is called --------------------------------------------------------------------------------


def test_the_script_is_the_module():
    script = shutil.which("turntape", path=Path(sys.executable).parent)
    if script is None:
        pytest.skip("the script is not installed beside this interpreter")
    ended = subprocess.run(
        [script, "--version"], capture_output=True, text=True, env=environment(), check=True
    )
    assert ended.stdout == f"turntape {turntape.__version__}\n"


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_without_the_extra_it_says_how_to_get_it(missing):
    # A module that is None in sys.modules is one that is not installed.
    code = f"import sys; sys.modules[{missing!r}] = None; from turntape.cli import main; main()"
    ended = subprocess.run(
        [sys.executable, "-c", code, "decode", "-"],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env=environment(),
        check=False,
    )
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert ended.stderr == (
        f"turntape: the command line needs typer and rich, and '{missing}' is not installed: "
        "pip install 'turntape[cli]'\n"
    )


def test_the_package_itself_does_not_need_the_extra():
    code = (
        "import sys, turntape; turntape.StreamDecoder('anthropic'); turntape.iter_events; "
        "sys.exit(any(name.partition('.')[0] in {'typer', 'rich'} for name in sys.modules))"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], env=environment(), check=False).returncode == 0
    )


def test_the_demonstration_runs(streams):
    demo = streams.parent / "demo.py"
    ended = subprocess.run(
        [sys.executable, demo], capture_output=True, text=True, env=environment(), check=False
    )
    assert ended.returncode == 0, ended.stderr
    for shown in ("tool_use_start       2  read_log", "tool call find_ferry", "make test"):
        assert shown in ended.stdout
    for shown in ("TruncatedStream", "overloaded_error"):
        assert shown in ended.stderr
