"""``turntape transcode``: the new stream, when it comes, and how it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, get_args

import pytest
from tests.support.outcome import bare

import turntape
from turntape.cli import transcode as module

if TYPE_CHECKING:
    from pathlib import Path

COMPLETE = {
    "anthropic.sse": "anthropic",
    "openai-chat.sse": "openai-chat",
    "openai-responses.sse": "openai-responses",
    "gemini.json": "gemini",
    "bedrock.eventstream": "bedrock-converse",
}
TARGETS = ("anthropic", "openai-chat", "openai-responses", "gemini")


def transcoded(body: bytes, source: str, target: str) -> bytes:
    transcoder = turntape.Transcoder(source, target)
    return transcoder.feed(body) + transcoder.finish()


def text_of(error: turntape.StreamError) -> str:
    assert error.partial is not None
    return "".join(b.text for b in error.partial.content if isinstance(b, turntape.Text))


def test_the_dialects_are_those_of_the_package():
    assert get_args(module._SourceName) == ("auto", *(d.value for d in turntape.Dialect))
    for target in turntape.Dialect:
        if target in get_args(module._TargetName):
            turntape.Transcoder("anthropic", target)
        else:
            with pytest.raises(turntape.UnsayableDialect):
                turntape.Transcoder("anthropic", target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", COMPLETE)
def test_every_stream_is_rewritten_to_every_wire(run, streams, name, target):
    body = (streams / name).read_bytes()
    expected = transcoded(body, COMPLETE[name], target)
    assert turntape.decode_message(expected, target).complete
    for ended in (
        run("transcode", "--to", target, streams / name),
        run("transcode", "-t", target, "--from", COMPLETE[name], "-", stdin=body),
        run("transcode", "-t", target, stdin=body),
    ):
        assert ended.status == 0
        assert ended.stdout_bytes == expected
    notes = turntape.Transcoder(COMPLETE[name], target)
    notes.feed(body)
    notes.finish()
    lines = ended.stderr.splitlines()
    assert [line.split()[0].rstrip(":") for line in lines[: len(notes.notes)]] == [
        note.code for note in notes.notes
    ]


def test_a_stream_to_its_own_dialect_is_the_same_turn(run, streams):
    body = (streams / "anthropic.sse").read_bytes()
    ended = run("transcode", "--to", "anthropic", streams / "anthropic.sse")
    assert (ended.status, ended.stderr) == (0, "")
    again = turntape.decode_message(ended.stdout_bytes, "anthropic")
    assert bare(again) == bare(turntape.decode_message(body, "anthropic"))


def test_what_cannot_be_said_is_told(run, streams):
    ended = run("transcode", "--to", "openai-chat", streams / "anthropic.sse")
    assert ended.status == 0
    assert "signature_dropped at block 0: " in ended.stderr


@pytest.mark.parametrize("target", TARGETS)
def test_a_cut_stream_stays_one(run, streams, target):
    ended = run("transcode", "--to", target, streams / "truncated.sse")
    assert ended.status == 1
    assert "TruncatedStream" in ended.stderr
    with pytest.raises(turntape.TruncatedStream) as raised:
        turntape.decode(ended.stdout_bytes, target)
    with pytest.raises(turntape.TruncatedStream) as given:
        turntape.decode((streams / "truncated.sse").read_bytes(), "openai-chat")
    assert text_of(raised.value) == text_of(given.value) != ""


@pytest.mark.parametrize("target", TARGETS)
def test_a_fault_of_the_provider_is_said_as_the_new_one_says_it(run, streams, target):
    ended = run("transcode", "--to", target, streams / "overloaded.sse")
    assert ended.status == 1
    assert "ProviderError overloaded_error" in ended.stderr
    with pytest.raises(turntape.ProviderError) as raised:
        turntape.decode(ended.stdout_bytes, target)
    assert (raised.value.kind, raised.value.message) == ("overloaded_error", "Overloaded")
    assert text_of(raised.value) == "The three bridges of Lindmark were"


def test_a_fault_before_anything_came(run):
    body = b'{"error":{"message":"No such model","type":"invalid_request_error","code":null}}'
    ended = run("transcode", "--to", "anthropic", "--from", "openai-chat", stdin=body)
    assert ended.status == 1
    with pytest.raises(turntape.ProviderError, match="No such model"):
        turntape.decode(ended.stdout_bytes, "anthropic")


def test_a_damaged_stream_is_cut_there(run, streams):
    body = (streams / "anthropic.sse").read_bytes()
    events = body.split(b"\n\n")
    damaged = b"\n\n".join([*events[:5], b"data: {]", *events[5:]])
    ended = run("transcode", "--to", "openai-chat", stdin=damaged)
    assert ended.status == 1
    assert "MalformedEvent" in ended.stderr
    with pytest.raises(turntape.TruncatedStream):
        turntape.decode(ended.stdout_bytes, "openai-chat")


def test_what_is_odd_is_told(run, streams):
    body = b"data: noise\n\n" + (streams / "openai-chat.sse").read_bytes()
    ended = run("transcode", "--to", "anthropic", stdin=body)
    assert ended.status == 0
    assert "warning not_json at byte 0: " in ended.stderr
    strict = run("transcode", "--to", "anthropic", "--strict", stdin=body)
    assert strict.status == 1
    assert "StrictError not_json" in strict.stderr


def test_the_options_of_the_stream(run, streams):
    two = (
        b'data: {"choices":[{"index":0,"delta":{"content":"zero"}},{"index":1,"delta":{"content":"one"}}]}\n\n'
        b'data: {"choices":[{"index":0,"finish_reason":"stop"},{"index":1,"finish_reason":"stop"}]}\n\n'
        b"data: [DONE]\n\n"
    )
    ended = run("transcode", "--to", "gemini", "--choice", "1", stdin=two)
    message = turntape.decode_message(ended.stdout_bytes, "gemini")
    assert message.content == (turntape.Text("one"),)
    small = run("transcode", "--to", "gemini", "--max-event-bytes", "20", stdin=two)
    assert small.status == 1
    assert "EventTooLarge" in small.stderr
    with_usage = run("transcode", "--to", "openai-chat", streams / "anthropic.sse")
    without = run("transcode", "--to", "openai-chat", "--no-usage", streams / "anthropic.sse")
    [a, b] = (
        turntape.decode_message(ended.stdout_bytes, "openai-chat")
        for ended in (with_usage, without)
    )
    assert a.usage is not None
    assert b == replace(a, usage=None)


@pytest.mark.parametrize(
    ("arguments", "stdin", "status", "text"),
    [
        (["--to", "bedrock-converse"], b"", 2, "Invalid value"),
        (["--to", "klingon"], b"", 2, "Invalid value"),
        ([], b"", 2, "Usage"),
        (["--to", "gemini", "nowhere.sse"], b"", 2, "no such file"),
        (["--to", "gemini", "."], b"", 2, "is a folder"),
        (["--to", "gemini", "--choice", "99999999999999999999"], b"", 2, "a value that cannot be"),
        (["--to", "gemini"], b"", 1, "the input is empty"),
        (["--to", "gemini"], b"hello\n", 1, "UnknownDialect"),
    ],
)
def test_what_cannot_be_done(run, arguments, stdin, status, text):
    ended = run("transcode", *arguments, stdin=stdin)
    assert ended.status == status
    assert text in ended.stdout + ended.stderr
    if arguments:
        assert ended.stdout_bytes == b""


# As a process of its own ---------------------------------------------------------------------------


def start(*arguments: str | Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "turntape", "transcode", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        env={**os.environ, "PYTHONUTF8": "1", "NO_COLOR": "1"},
    )


@pytest.mark.parametrize("source", ["auto", "anthropic"])
@pytest.mark.parametrize("target", TARGETS)
def test_events_go_out_while_the_pipe_is_open(streams, source, target):
    body = (streams / "anthropic.sse").read_bytes()
    # The end of the first event of a text, and of the one after it.
    first = body.index(b"\n\n", body.index(b"text_delta")) + 2
    second = body.index(b"\n\n", first) + 2
    with start("--to", target, "--from", source) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        expected = turntape.Transcoder("anthropic", target)
        for piece in (body[: first - 9], body[first - 9 : first], body[first:second]):
            process.stdin.write(piece)
            said = expected.feed(piece)
            # Were any of it held back, this would wait for ever: the input is still open.
            got = b""
            while len(got) < len(said):
                got += process.stdout.read(len(said) - len(got))
            assert got == said
        assert said
        assert process.poll() is None
        rest, stderr = process.communicate(body[second:])
        assert rest == expected.feed(body[second:]) + expected.finish()
        assert process.returncode == 0, stderr


def test_a_failure_goes_out_while_the_pipe_is_open():
    with start("--to", "anthropic") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(
            b'data: {"id":"r","choices":[{"delta":{"content":"Hi"}}]}\n\n'
            b'data: {"error":{"message":"broken"}}\n\n'
        )
        # The writer has not closed its end, and never writes again.
        assert process.wait() == 1
        with pytest.raises(turntape.ProviderError, match="broken"):
            turntape.decode(process.stdout.read(), "anthropic")


@pytest.mark.skipif(sys.platform == "win32", reason="signals and pipes differ there")
def test_nobody_reads_any_more(streams):
    body = (streams / "anthropic.sse").read_bytes()
    with start("--to", "gemini", "--from", "anthropic") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.close()
        process.stdin.write(body)
        process.stdin.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
        assert process.wait() == 141


@pytest.mark.skipif(sys.platform == "win32", reason="signals and pipes differ there")
def test_an_interrupted_command_has_written_what_had_come(streams):
    body = (streams / "anthropic.sse").read_bytes()
    head = body[: body.index(b"\n\n", body.index(b"text_delta")) + 2]
    said = turntape.Transcoder("anthropic", "openai-chat").feed(head)
    with start("--to", "openai-chat", "--from", "anthropic") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(head)
        got = b""
        while len(got) < len(said):
            got += process.stdout.read(len(said) - len(got))
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
        assert got + process.stdout.read() == said
