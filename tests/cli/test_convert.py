"""``turntape convert``: what it writes, what it says, and how it ends."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, get_args

import pytest

import turntape
from turntape.cli import convert as module
from turntape.wire.inbound.detect import request_dialect

if TYPE_CHECKING:
    from pathlib import Path

CLAUDE = "claude-heron-9"

ANTHROPIC: dict[str, Any] = {
    "model": CLAUDE,
    "max_tokens": 300,
    "system": "Answer tersely.",
    "metadata": {"user_id": "u7"},
    "messages": [
        {"role": "user", "content": "Light in the den?"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
                {"type": "tool_use", "id": "t1", "name": "dim", "input": {"n": 3}},
            ],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "3"}]},
    ],
    "tools": [{"name": "dim", "input_schema": {"type": "object"}}],
}

UNANSWERED: dict[str, Any] = {
    "model": "quill-2",
    "messages": [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "a"},
        {
            "role": "assistant",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "dim", "arguments": "{}"}}
            ],
        },
        {"role": "user", "content": "b"},
    ],
}


def file(tmp_path: Path, content: Any) -> Path:
    path = tmp_path / "request.json"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


def test_a_request_for_another_provider(run, tmp_path):
    path = file(tmp_path, ANTHROPIC)
    ended = run("convert", "--from", "anthropic", "--to", "openai-chat", "-m", "quill-2", path)
    assert ended.status == 0
    assert json.loads(ended.stdout) == {
        "model": "quill-2",
        "max_completion_tokens": 300,
        "stream": False,
        "tools": [
            {"type": "function", "function": {"name": "dim", "parameters": {"type": "object"}}}
        ],
        "messages": [
            {"role": "system", "content": "Answer tersely."},
            {"role": "user", "content": "Light in the den?"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "t1",
                        "type": "function",
                        "function": {"name": "dim", "arguments": '{"n": 3}'},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "t1", "content": "3"},
        ],
    }
    assert ended.stdout.count("\n") == 1
    assert ended.stderr.splitlines() == [
        "parameter_dropped: 'metadata' means nothing to openai-chat",
        "reasoning_dropped at message 1: thinking is left out: its signature means nothing here",
    ]


def test_the_same_provider_gets_its_canonical_form(run, tmp_path):
    ended = run("convert", "--to", "anthropic", file(tmp_path, ANTHROPIC))
    assert (ended.status, ended.stderr) == (0, "")
    body = json.loads(ended.stdout)
    assert body["metadata"] == {"user_id": "u7"}
    assert body["messages"][1] == ANTHROPIC["messages"][1]


def test_the_version_of_the_api(run, tmp_path):
    body = {**ANTHROPIC, "model": "claude-sonnet-4-5", "temperature": 0.5}
    body = {name: value for name, value in body.items() if name != "thinking"}
    newest = run("convert", "--to", "anthropic", file(tmp_path, body))
    assert "temperature" not in json.loads(newest.stdout)
    assert "parameter_dropped: temperature is left out" in newest.stderr
    former = run(
        "convert", "--to", "anthropic", "--api-version", "2023-06-01", file(tmp_path, body)
    )
    assert json.loads(former.stdout)["temperature"] == 0.5
    assert former.stderr == ""


def test_the_bytes_of_arguments_stay(run, tmp_path):
    text = json.dumps(ANTHROPIC).replace('{"n": 3}', '{ "b":1.10, "a" : 10000000000000000000001 }')
    for option in ((), ("--pretty",)):
        ended = run("convert", "--to", "anthropic", *option, file(tmp_path, text))
        assert "1.10" in ended.stdout
        assert "10000000000000000000001" in ended.stdout
    ended = run("convert", "--to", "anthropic", file(tmp_path, text))
    assert '{ "b":1.10, "a" : 10000000000000000000001 }' in ended.stdout


def test_pretty(run, tmp_path):
    plain = run("convert", "--to", "anthropic", file(tmp_path, ANTHROPIC))
    pretty = run("convert", "--to", "anthropic", "-p", file(tmp_path, ANTHROPIC))
    assert json.loads(pretty.stdout) == json.loads(plain.stdout)
    assert pretty.stdout.startswith('{\n  "model": "claude-heron-9",\n')
    assert '\n      "role": "user",\n' in pretty.stdout


def test_standard_input_and_a_new_file(run, tmp_path):
    out = tmp_path / "new.json"
    ended = run(
        "convert", "--to", "gemini", "-m", "gemini-2.5-flash", "-o", out, "-",
        stdin=json.dumps(ANTHROPIC).encode(),
    )  # fmt: skip
    assert (ended.status, ended.stdout) == (0, "")
    contents = json.loads(out.read_text("utf-8"))["contents"]
    assert contents[1] == {
        "role": "model",
        "parts": [{"functionCall": {"name": "dim", "args": {"n": 3}}}],
    }


def test_signatures_of_one_maker_are_not_taken_for_anothers(run, tmp_path):
    parts = [{"text": "hm", "thought": True, "thoughtSignature": "c2ln"}, {"text": "a"}]
    contents = [
        {"role": "user", "parts": [{"text": "q"}]},
        {"role": "model", "parts": parts},
        {"role": "user", "parts": [{"text": "r"}]},
    ]
    for content in ({"contents": contents}, contents):
        path = file(tmp_path, content)
        ended = run("convert", "--to", "anthropic", "-m", CLAUDE, "--max-tokens", "9", path)
        assert ended.status == 0
        assert "c2ln" not in ended.stdout
        assert "reasoning_dropped at message 1" in ended.stderr
        ended = run("convert", "--to", "gemini", "-m", "gemini-2.5-flash", path)
        assert "c2ln" in ended.stdout


def test_a_history_alone(run, tmp_path):
    history = [{"role": "user", "content": [{"text": "a"}]}]
    path = file(tmp_path, history)
    ended = run("convert", "--to", "openai-chat", path)
    assert ended.status == 1
    assert "What to do: name the model that is to get it: --model." in ended.stderr
    ended = run("convert", "--to", "anthropic", "-m", CLAUDE, "--max-tokens", "9", path)
    assert ended.status == 0
    assert json.loads(ended.stdout) == {
        "model": CLAUDE,
        "max_tokens": 9,
        "stream": True,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "a"}]}],
    }


def test_what_does_not_pair_names_the_message_of_the_file(run, tmp_path):
    path = file(tmp_path, UNANSWERED)
    ended = run("convert", "--from", "openai-chat", "--to", "openai-chat", path)
    assert (ended.status, ended.stdout) == (1, "")
    first, second = ended.stderr.splitlines()
    assert first.startswith("fault at message 2: missing of 'c1'; --repair would insert")
    assert second.endswith("calls and results do not pair. What to do: let it be mended: --repair.")

    ended = run("convert", "--from", "openai-chat", "--to", "openai-chat", "--repair", path)
    assert ended.status == 0
    assert "missing_result_inserted at message 2: " in ended.stderr
    roles = [message["role"] for message in json.loads(ended.stdout)["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "user"]


def test_parameters_that_are_not_taken(run, tmp_path):
    path = file(tmp_path, {**ANTHROPIC, "stop_sequences": ["END"]})
    arguments = ("convert", "--to", "openai-responses", "-m", "quill-r1", path)
    ended = run(*arguments)
    assert ended.status == 0
    assert "parameter_dropped: stop is left out" in ended.stderr
    ended = run(*arguments, "--unsupported", "error")
    assert (ended.status, ended.stdout) == (1, "")
    assert "InvalidRequest: stop cannot be sent" in ended.stderr


def test_who_is_to_get_it(run, tmp_path):
    history = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b", "reasoning_content": "c"},
        {"role": "user", "content": "d"},
    ]
    path = file(tmp_path, {"model": "quill-2", "messages": history})
    arguments = ("convert", "--to", "openai-chat", path)
    assert "reasoning_content" not in run(*arguments).stdout
    assert "reasoning_content" in run(*arguments, "--vendor", "deepseek").stdout


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            {"model": "m", "messages": [{"role": "user", "content": "a"}]},
            "What to do: say whose it is",
        ),
        ({**ANTHROPIC, "seed": 1}, "the request has members of anthropic and openai-chat"),
        ("{", "InvalidRequest: the text is not JSON"),
        (b"\xff", "InvalidRequest: the text is not UTF-8"),
        ("7", "UnknownDialect: a request is a JSON object"),
        (
            {"contents": [{"role": "robot"}]},
            "What to do: name the model that is to get it: --model",
        ),
    ],
)
def test_what_cannot_be_read(run, tmp_path, content, said):
    ended = run("convert", "--to", "openai-chat", file(tmp_path, content))
    assert (ended.status, ended.stdout) == (1, "")
    assert said in ended.stderr


def test_faults_name_their_place(run, tmp_path):
    path = file(tmp_path, {"contents": [{"role": "user"}, {"role": "robot"}]})
    ended = run("convert", "--to", "openai-chat", "-m", "quill-2", path)
    assert ended.status == 1
    assert "contents[1]: the role is user or model, not 'robot'" in ended.stderr


def test_a_tool_of_the_providers_own(run, tmp_path):
    server = {"type": "web_search_20250305", "name": "web_search"}
    path = file(tmp_path, {**ANTHROPIC, "tools": [*ANTHROPIC["tools"], server]})
    ended = run("convert", "--to", "openai-chat", "-m", "quill-2", path)
    assert (ended.status, ended.stdout) == (1, "")
    assert "UnsupportedContent: a tool of anthropic means nothing to openai-chat" in ended.stderr


def test_a_limit_that_is_missing(run, tmp_path):
    path = file(tmp_path, {"contents": [{"role": "user", "parts": [{"text": "a"}]}]})
    ended = run("convert", "--to", "anthropic", "-m", CLAUDE, path)
    assert ended.status == 1
    assert "What to do: give a limit: --max-tokens." in ended.stderr
    assert run("convert", "--to", "anthropic", "-m", CLAUDE, "--max-tokens", "9", path).status == 0


def test_the_wrong_command_line(run, tmp_path):
    path = file(tmp_path, ANTHROPIC)
    for arguments in (
        (path,),
        ("--to", "klingon", path),
        ("--to", "gemini", tmp_path),
        ("--to", "gemini", tmp_path / "nowhere.json"),
        ("--to", "anthropic", "--max-tokens", "0", path),
    ):
        ended = run("convert", *arguments)
        assert (ended.status, ended.stdout) == (2, ""), arguments


def test_an_output_that_cannot_be_written(run, tmp_path):
    ended = run(
        "convert", "--to", "anthropic", "-o", tmp_path / "no" / "x", file(tmp_path, ANTHROPIC)
    )
    assert ended.status == 1
    assert "cannot be written" in ended.stderr


def test_nothing_reaches_a_terminal_that_it_would_obey(run, tmp_path, unsafe):
    evil = "\x1b]0;owned\x07\x9b31m\u202e"
    body = {**ANTHROPIC, evil: 1, "messages": [{"role": evil, "content": "a"}]}
    ended = run("convert", "--from", "anthropic", "--to", "gemini", file(tmp_path, body))
    assert ended.status == 1
    assert unsafe(ended.stderr) == set()
    fine = {**ANTHROPIC, evil: 1}
    ended = run(
        "convert", "--from", "anthropic", "--to", "openai-chat", "-m", "q", file(tmp_path, fine)
    )
    assert ended.status == 0
    assert unsafe(ended.stderr) == set()


def test_the_dialects_are_all_there():
    assert set(get_args(module._DialectName)) == {dialect.value for dialect in turntape.Dialect}


@pytest.mark.parametrize(
    ("source", "dialect"),
    [
        (ANTHROPIC, "anthropic"),
        (ANTHROPIC["messages"], "anthropic"),
        (UNANSWERED, "openai-chat"),
        ({"model": "m", "input": "a"}, "openai-responses"),
        ([{"type": "function_call", "name": "f"}], "openai-responses"),
        ([{"role": "user", "content": [{"type": "input_text", "text": "a"}]}], "openai-responses"),
        ({"contents": []}, "gemini"),
        ([{"role": "user", "parts": []}], "gemini"),
        ({"messages": [{"role": "user", "content": [{"text": "a"}]}]}, "bedrock-converse"),
        ({"modelId": "m", "messages": []}, "bedrock-converse"),
        ({"messages": [], "system": "s"}, "anthropic"),
        ({"messages": [], "stream_options": {}}, "openai-chat"),
        ({"messages": [], "tools": [{"type": "function", "function": {}}]}, "openai-chat"),
        ({"messages": [], "system": [{"text": "s"}], "inferenceConfig": {}}, "bedrock-converse"),
    ],
)
def test_requests_that_tell_their_dialect(source, dialect):
    assert request_dialect(source) == dialect


@pytest.mark.parametrize(
    "source",
    [
        {},
        [],
        {"messages": 7},
        {"messages": [7, None, {"role": 7, "content": {"type": "image"}}]},
        {
            "model": "claude-heron-9",
            "max_tokens": 5,
            "messages": [{"role": "user", "content": "a"}],
        },
        {"messages": [{"role": "developer", "content": "a"}]},
    ],
)
def test_requests_that_do_not(source):
    with pytest.raises(turntape.UnknownDialect):
        request_dialect(source)
