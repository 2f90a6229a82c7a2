"""``turntape decode`` inside this process: formats, options, status, and input of every bad kind."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from dataclasses import asdict
from typing import TYPE_CHECKING, get_args

import pytest
from tests.support.aws import aws_message

import turntape
from turntape.cli import decode as command
from turntape.cli.explain import advise

if TYPE_CHECKING:
    from pathlib import Path

CHAT = (
    b'data: {"id":"r1","model":"m1","choices":[{"delta":{"content":"Hi."}}]}\n\n'
    b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n'
    b"data: [DONE]\n\n"
)
COMPLETE = (
    "anthropic.sse",
    "bedrock.eventstream",
    "gemini.json",
    "imitator.sse",
    "openai-chat.sse",
    "openai-responses.sse",
)
FAILED = ("overloaded.sse", "truncated.sse")


def plain(text: str) -> str:
    """Undo what rich draws around a help text."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    return " ".join(re.sub(r"[╭╮╰╯│─]", " ", text).split())


# Help and version --------------------------------------------------------------------------------


def test_the_version_is_the_packages(run):
    ended = run("--version")
    assert (ended.status, ended.stdout) == (0, f"turntape {turntape.__version__}\n")


def test_the_build_is_the_extensions(run):
    ended = run("--build-info")
    lines = dict(line.split(": ", 1) for line in ended.stdout.splitlines())
    info = turntape.build_info()
    assert (ended.status, list(lines)) == (0, list(type(info).__dataclass_fields__))
    assert lines["version"] == turntape.__version__
    assert lines["pgo"] == str(info.pgo).lower()
    assert lines["target_features"].split() == list(info.target_features)


def test_the_help_teaches(run):
    text = plain(run("decode", "--help", env={"COLUMNS": "100"}).stdout)
    for taught in (
        "Examples",
        "curl -sN ... | turntape decode -",
        "turntape decode --summary recordings/",
        "Exit status",
        "0 every turn is complete",
        "1 a stream failed",
        "2 the command line is wrong",
    ):
        assert taught in text
    for option in (
        "--dialect",
        "--format",
        "--summary",
        "--chunk",
        "--choice",
        "--eof",
        "--strict",
        "--max-event-bytes",
        "--server-tool",
    ):
        assert option in text


@pytest.mark.parametrize("arguments", [(), ("decode",)])
def test_no_arguments_show_the_help_and_are_a_usage_error(run, arguments):
    ended = run(*arguments)
    assert ended.status == 2
    assert "Usage: turntape" in plain(ended.stdout + ended.stderr)


def test_the_dialects_offered_are_those_that_there_are():
    assert get_args(command._DialectName) == ("auto", *(d.value for d in turntape.Dialect))


# Formats -----------------------------------------------------------------------------------------


def test_the_message_of_a_whole_turn(run, streams):
    ended = run("decode", streams / "openai-chat.sse", "--format", "message")
    assert ended.status == 0
    assert ended.stderr == ""
    assert ended.stdout == (
        "text\n"
        "  Let me look up the ferry to Skerrow for you.\n"
        "tool call find_ferry  call_7Qm2ferry\n"
        '  {"from": "Port Ellan", "to": "Skerrow", "passengers": 2, "bikes": true}\n'
        "\n"
        "dialect openai-chat\n"
        "message gpt-demo-1 chatcmpl-ferry01\n"
        "usage   54 input, 37 output, 64 read from the cache\n"
        "stop    tool_use  (the wire said tool_calls and ended with done)\n"
        "turn    complete\n"
    )


def test_the_message_of_a_cut_turn_says_so_and_what_to_do(run, streams):
    path = streams / "truncated.sse"
    ended = run("decode", path, "-f", "message")
    assert ended.status == 1
    assert "tool call book_table  call_9table  cut: do not run it\n" in ended.stdout
    assert "turn    not complete\n" in ended.stdout
    assert "warning eof_flush at byte 2,200: " in ended.stdout
    assert ended.stderr.startswith(f"turntape: {path}: TruncatedStream at byte 2,200: ")
    assert "What to do: send the request again" in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_every_kind_of_block_is_shown(run):
    body = (
        b'data: {"type":"message_start","message":{"id":"a","model":"m","content":[]}}\n\n'
        b'data: {"type":"content_block_start","index":0,"content_block":'
        b'{"type":"redacted_thinking","data":"SECRET"}}\n\n'
        b'data: {"type":"content_block_stop","index":0}\n\n'
        b'data: {"type":"content_block_start","index":1,"content_block":'
        b'{"type":"server_thing","id":"s"}}\n\n'
        b'data: {"type":"content_block_stop","index":1}\n\n'
        b'data: {"type":"content_block_start","index":2,"content_block":'
        b'{"type":"text","text":"one\\ntwo"}}\n\n'
        b'data: {"type":"content_block_delta","index":2,"delta":{"type":"citations_delta",'
        b'"citation":{"cited":"x"}}}\n\n'
        b'data: {"type":"content_block_stop","index":2}\n\n'
        b'data: {"type":"content_block_start","index":3,"content_block":'
        b'{"type":"tool_use","id":"t","name":"f","input":{}}}\n\n'
        b'data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta",'
        b'"partial_json":"[1]"}}\n\n'
        b'data: {"type":"content_block_stop","index":3}\n\n'
        b'data: {"type":"message_delta","delta":{"stop_reason":"tool_use"}}\n\n'
        b'data: {"type":"message_stop"}\n\n'
    )
    ended = run("decode", "-", "-f", "message", stdin=body)
    assert ended.status == 0
    assert "redacted thinking\n  data SECRET\n" in ended.stdout
    assert "provider block server_thing\n  json {" in ended.stdout
    assert 'text\n  one\n  two\n  citation {"cited":"x"}\n' in ended.stdout
    assert "tool call f  t  its arguments are no JSON object\n  [1]\n" in ended.stdout


def test_events_are_a_line_each(run, streams):
    ended = run("decode", streams / "anthropic.sse")
    body = (streams / "anthropic.sse").read_bytes()
    events = turntape.decode(body, "anthropic")
    lines = ended.stdout.splitlines()
    assert [line.split()[0] for line in lines] == [event.type for event in events]
    assert "text_delta           1  '. 🗼'" in lines
    assert "tool_use_start       2  read_log  id=toolu_demo_01" in lines
    assert """input_json_delta     2  '"2026-0'""" in lines
    assert lines[-1].startswith("message_stop            tool_use")


@pytest.mark.parametrize("name", COMPLETE)
def test_jsonl_is_the_events_with_their_type_first(run, streams, name):
    body = (streams / name).read_bytes()
    events = turntape.decode(body, turntape.detect_dialect(body))
    ended = run("decode", streams / name, "--format", "jsonl")
    assert (ended.status, ended.stderr) == (0, "")
    objects = [json.loads(line) for line in ended.stdout.splitlines()]
    assert objects == [asdict(event) for event in events]
    assert {next(iter(each)) for each in objects} == {"type"}


def test_jsonl_keeps_events_and_errors_apart(run, streams):
    ended = run("decode", streams / "overloaded.sse", "-f", "jsonl")
    assert ended.status == 1
    assert [json.loads(line)["type"] for line in ended.stdout.splitlines()] == [
        "message_start",
        "text_delta",
        "text_delta",
    ]
    assert "ProviderError overloaded_error at byte 639: Overloaded" in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_opaque_text_is_shortened_but_not_in_jsonl(run):
    signature = "S" * 500
    body = (
        b'data: {"type":"message_start","message":{"id":"a","content":[]}}\n\n'
        b'data: {"type":"content_block_start","index":0,"content_block":'
        b'{"type":"thinking","thinking":"t","signature":"%s"}}\n\n'
        b'data: {"type":"content_block_stop","index":0}\n\n'
        b'data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}\n\n'
        b'data: {"type":"message_stop"}\n\n'
    ) % signature.encode()
    for form in ("events", "message"):
        shown = run("decode", "-", "-f", form, stdin=body).stdout
        assert "S" * 61 not in shown
        assert "… (500 characters)" in shown
    assert signature in run("decode", "-", "-f", "jsonl", stdin=body).stdout


def test_several_files_are_told_apart(run, streams):
    paths = [streams / name for name in (*COMPLETE, *FAILED)]
    ended = run("decode", *paths, "-f", "message")
    assert ended.status == 1
    headers = [line for line in ended.stdout.splitlines() if line.startswith("== ")]
    assert headers == [f"== {path}" for path in paths]
    assert ended.stdout.count("turn    complete") == len(COMPLETE)
    assert ended.stderr.count("\n") == 2


# Options -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["events", "message", "jsonl"])
@pytest.mark.parametrize("name", [*COMPLETE, *FAILED])
def test_the_cuts_do_not_matter(run, streams, name, form):
    whole = run("decode", streams / name, "-f", form)
    for chunk in ("1", "7", "1400", "99999999999999999999"):
        assert run("decode", streams / name, "-f", form, "--chunk", chunk) == whole


def test_a_named_dialect_is_not_guessed(run, streams):
    ended = run("decode", streams / "openai-chat.sse", "--dialect", "anthropic")
    assert ended.status == 1
    assert "TruncatedStream" in ended.stderr


@pytest.mark.parametrize(
    ("name", "dialect"),
    [
        ("bedrock.eventstream", "bedrock-converse"),
        ("gemini.json", "gemini"),
        ("openai-responses.sse", "openai-responses"),
    ],
)
@pytest.mark.parametrize("form", ["events", "message", "jsonl"])
def test_every_wire_comes_from_files_and_from_standard_input(run, streams, name, dialect, form):
    path = streams / name
    named = run("decode", path, "-f", form, "-d", dialect)
    assert (named.status, named.stderr) == (0, "")
    assert run("decode", path, "-f", form) == named
    assert run("decode", "-", "-f", form, stdin=path.read_bytes()) == named


def test_an_invoked_claude_is_told_by_what_its_frames_wrap(run):
    events = [
        {"type": "message_start", "message": {"id": "m", "model": "claude", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi."}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        {"type": "message_stop"},
    ]
    chunks = [{"bytes": b64encode(json.dumps(event).encode()).decode()} for event in events]
    body = b"".join(aws_message("chunk", json.dumps(chunk).encode()) for chunk in chunks)
    ended = run("decode", "-", "-f", "message", stdin=body)
    assert (ended.status, ended.stderr) == (0, "")
    assert ended.stdout.startswith("text\n  Hi.\n\ndialect anthropic\n")


def test_an_exception_in_binary_frames_says_what_to_do(run):
    refusal = b'{"message": "Too many requests"}'
    body = aws_message("messageStart", b'{"role": "assistant"}')
    ended = run(
        "decode", "-", stdin=body + aws_message("throttlingException", refusal, "exception")
    )
    assert ended.status == 1
    assert ended.stdout == "message_start\n"
    assert "ProviderError throttlingException" in ended.stderr
    assert "Too many requests" in ended.stderr


def test_a_damaged_frame_is_one_clear_line(run, streams):
    body = bytearray((streams / "bedrock.eventstream").read_bytes())
    body[len(body) // 2] ^= 1
    ended = run("decode", "-", stdin=bytes(body))
    assert ended.status == 1
    assert "MalformedEvent" in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_a_choice_can_be_picked(run):
    body = (
        b'data: {"choices":[{"index":0,"delta":{"content":"a"}},{"index":1,"delta":{"content":"b"}}]}'
        b"\n\ndata: [DONE]\n\n"
    )
    assert "'b'" in run("decode", "-", "--choice", "1", stdin=body).stdout
    absent = run("decode", "-", "--choice", "2", stdin=body)
    assert absent.status == 1
    assert "choice 2 never appeared" in absent.stderr


def test_the_end_of_input_can_discard(run):
    body = CHAT.removesuffix(b"\n") + b""
    unfinished = body.replace(b"data: [DONE]\n", b'data: {"choices":[{"delta":{"content":"x"}}]}')
    cut = unfinished.replace(b',"finish_reason":"stop"', b"")
    flushed = run("decode", "-", "-f", "events", stdin=cut)
    discarded = run("decode", "-", "-f", "events", "--eof", "discard", stdin=cut)
    assert "'x'" in flushed.stdout
    assert "warning eof_flush" in flushed.stderr
    assert "'x'" not in discarded.stdout
    assert "warning eof_discard" in discarded.stderr


def test_strict_fails_at_a_warning(run):
    body = b"data: keep-alive\n\n" + CHAT
    lax = run("decode", "-", "--dialect", "openai-chat", stdin=body)
    assert lax.status == 0
    assert "warning not_json at byte 0: " in lax.stderr
    strict = run("decode", "-", "--dialect", "openai-chat", "--strict", stdin=body)
    assert strict.status == 1
    assert "StrictError not_json at byte 0: " in strict.stderr
    assert "leave out --strict" in strict.stderr


def test_a_limit_fails_a_large_event(run):
    ended = run("decode", "-", "--max-event-bytes", "20", stdin=CHAT)
    assert ended.status == 1
    assert "EventTooLarge at byte 0: " in ended.stderr
    assert "raise --max-event-bytes" in ended.stderr


def test_server_tools_become_provider_blocks(run, streams):
    ended = run(
        "decode",
        streams / "openai-chat.sse",
        "-f",
        "message",
        "--server-tool",
        "other",
        "--server-tool",
        "find_ferry",
    )
    assert ended.status == 0
    assert "tool call" not in ended.stdout
    assert "provider block" in ended.stdout


def test_many_warnings_are_cut_short(run):
    body = b"data: x\n\n" * 50 + CHAT
    ended = run("decode", "-", "-d", "openai-chat", "-f", "message", stdin=body)
    assert ended.stdout.count("warning not_json") == 20
    assert "and 30 more warnings" in ended.stdout


# Bad input ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ("--dialect", "klingon"),
        ("--format", "xml"),
        ("--chunk", "0"),
        ("--chunk", "many"),
        ("--choice", "-1"),
        ("--choice", "99999999999999999999999999"),
        ("--max-event-bytes", "0"),
        ("--max-event-bytes", "99999999999999999999999999"),
        ("--eof", "maybe"),
        ("--unheard-of",),
        ("--summary", "--format", "jsonl"),
    ],
)
def test_a_wrong_command_line_is_status_2_and_decodes_nothing(run, arguments):
    ended = run("decode", "-", *arguments, stdin=CHAT)
    assert ended.status == 2
    assert ended.stdout == ""
    assert ended.stderr


def test_a_missing_file_is_said_before_anything_is_decoded(run, streams, tmp_path):
    ended = run("decode", streams / "anthropic.sse", tmp_path / "absent.sse")
    assert ended.status == 2
    assert ended.stdout == ""
    assert ended.stderr == f"turntape: {tmp_path / 'absent.sse'}: there is no such file\n"


def test_a_folder_needs_the_summary(run, tmp_path):
    ended = run("decode", tmp_path)
    assert ended.status == 2
    assert ended.stderr == (
        f"turntape: {tmp_path} is a folder: add --summary to decode what is in it\n"
    )


@pytest.mark.parametrize("name", ["x" * 5000, "nul\0in it"])
def test_a_name_that_can_be_no_file(run, name):
    ended = run("decode", name)
    assert ended.status == 2
    assert ended.stderr.count("\n") == 1


def test_an_empty_file(run, tmp_path):
    path = tmp_path / "empty.sse"
    path.touch()
    ended = run("decode", path)
    assert ended.status == 1
    assert ended.stderr.startswith(f"turntape: {path}: UnknownDialect: the input is empty. ")
    named = run("decode", path, "-d", "anthropic")
    assert named.status == 1
    assert "TruncatedStream at byte 0: the body is empty" in named.stderr


JUNK = {
    "binary": bytes(range(256)) * 20,
    "zeros": b"\0" * 5000,
    "html": b"<!doctype html><title>502</title>\n" * 3,
    "comments": b": hello\n\n" * 1000,
    "a long line": b"data: " + b"x" * 300_000,
    "deep": b"data: " + b"[" * 100_000 + b"\n\n",
    "half a character": "data: é".encode()[:-1],
    "an array": b'["not", "a", "stream"]',
}


@pytest.mark.parametrize("form", ["events", "message", "jsonl"])
@pytest.mark.parametrize("dialect", ["auto", *turntape.Dialect])
@pytest.mark.parametrize("body", JUNK.values(), ids=JUNK.keys())
def test_junk_is_one_clear_line(run, body, dialect, form, unsafe):
    ended = run("decode", "-", "-d", dialect, "-f", form, stdin=body)
    assert ended.status == 1
    errors = [line for line in ended.stderr.splitlines() if line.startswith("turntape: ")]
    assert len(errors) == 1
    assert errors[0].startswith("turntape: standard input: ")
    assert ". What to do: " in errors[0]
    assert len(errors[0]) < 700
    assert unsafe(ended.stdout + ended.stderr) == set()


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        ('{"error":{"type":"overloaded_error","message":"m"}}', "wait a little and send"),
        ('{"error":{"message":"m","code":401}}', "check the key"),
        ('{"error":{"message":"m","code":402}}', "check the account"),
        ('{"error":{"message":"m","code":422}}', "correct the request"),
        ('{"error":{"message":"m"}}', "read what the provider says"),
    ],
)
def test_a_providers_error_says_what_to_do(run, error, advice):
    ended = run("decode", "-", stdin=f"data: {error}\n\n".encode())
    assert ended.status == 1
    assert "ProviderError" in ended.stderr
    assert f"What to do: {advice}" in ended.stderr


def test_every_error_has_advice():
    def all_below(base: type[turntape.TurntapeError]) -> set[type[turntape.TurntapeError]]:
        return {base}.union(*(all_below(each) for each in base.__subclasses__()))

    generic = advise(turntape.TurntapeError("x"))
    # What a decoder raises; it raises no StreamError itself.
    decoding = all_below(turntape.StreamError) - {turntape.StreamError} | {turntape.UnknownDialect}
    assert len(decoding) > 5
    for kind in decoding:
        if not kind.__module__.startswith("turntape."):
            continue
        error = kind.__new__(kind)
        error.__dict__.update(retryable=False, status=None, raw=None)
        assert advise(error) != generic, kind


# What a terminal would obey ----------------------------------------------------------------------


@pytest.mark.parametrize("env", [{}, {"FORCE_COLOR": "1"}], ids=["plain", "colours"])
@pytest.mark.parametrize("form", ["events", "message", "jsonl"])
def test_nothing_in_a_stream_reaches_the_terminal_raw(run, hostile, unsafe, form, env):
    ended = run("decode", "-", "-d", "openai-chat", "-f", form, stdin=hostile, env=env)
    assert ended.status == 1
    assert "owned" in ended.stdout
    assert "owned" in ended.stderr
    assert unsafe(ended.stdout) == set()
    assert unsafe(ended.stderr) == set()


@pytest.mark.parametrize("env", [{}, {"FORCE_COLOR": "1"}], ids=["plain", "colours"])
def test_nothing_in_a_summary_reaches_the_terminal_raw(run, hostile, unsafe, tmp_path: Path, env):
    (tmp_path / "evil\x1b[31m\n.sse").write_bytes(hostile)
    (tmp_path / "evil\x1b[32m.txt").write_bytes(b"\x1b[31m")
    ended = run("decode", "--summary", tmp_path, env=env)
    assert ended.status == 1
    assert "evil\\x1b[31m\\n.sse" in ended.stdout
    assert unsafe(ended.stdout) == set()


def test_a_terminal_gets_colours_and_the_same_words(run, streams):
    path = streams / "openai-chat.sse"
    for form in ("events", "message"):
        coloured = run("decode", path, "-f", form, env={"FORCE_COLOR": "1", "COLUMNS": "200"})
        assert "\x1b[" in coloured.stdout
        stripped = re.sub(r"\x1b\[[0-9;]*m", "", coloured.stdout)
        words = [line.rstrip() for line in stripped.splitlines()]
        assert words == run("decode", path, "-f", form).stdout.splitlines()


def test_markup_in_a_stream_is_text(run):
    body = CHAT.replace(b"Hi.", b"[bold]Hi[/bold] [/] :smile: https://x.example")
    for env in ({}, {"FORCE_COLOR": "1", "COLUMNS": "200"}):
        ended = run("decode", "-", "-f", "message", stdin=body, env=env)
        assert "[bold]Hi[/bold] [/] :smile: https://x.example" in ended.stdout
