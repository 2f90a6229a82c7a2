"""``turntape decode --summary``: what is counted, what is named, and the status."""

from __future__ import annotations

import os
import shutil
import sys

import pytest

COMPLETE = ("anthropic.sse", "imitator.sse", "openai-chat.sse")


def rows(text: str) -> dict[str, list[str]]:
    """The cells of the tables, by their first."""
    cells = [line.split() for line in text.splitlines() if line.startswith(" ")]
    return {line[0]: line[1:] for line in cells if line}


def test_the_bundled_streams(run, streams):
    ended = run("decode", "--summary", streams)
    assert ended.status == 1
    assert ended.stderr == ""
    table = rows(ended.stdout)
    # files, complete, failed, warnings, events
    assert table["anthropic"][:5] == ["2", "1", "1", "0", "26"]
    assert table["openai-chat"][:5] == ["3", "2", "1", "1", "47"]
    size = sum(path.stat().st_size for path in streams.glob("*.sse"))
    assert table["all"][:6] == ["5", "3", "2", "1", "73", f"{size:,}"]
    assert table["ProviderError"] == ["overloaded_error", "1"]
    assert table["TruncatedStream"] == ["1"]
    truncated = streams / "truncated.sse"
    assert f"failed {truncated}: TruncatedStream at byte 2,200: " in ended.stdout


def test_the_cuts_do_not_matter(run, streams):
    def counts(*arguments: str) -> list[list[str]]:
        table = rows(run("decode", "--summary", streams, *arguments).stdout)
        return [table[row][:6] for row in ("anthropic", "openai-chat", "all")]

    assert counts("--chunk", "1") == counts("--chunk", "7") == counts()


def test_all_complete_is_status_0(run, streams):
    ended = run("decode", "--summary", *(streams / name for name in COMPLETE))
    assert ended.status == 0
    assert "failed " not in ended.stdout.partition("dialect")[0]


def test_standard_input_is_one_of_the_streams(run, streams):
    ended = run("decode", "-s", "-", stdin=(streams / "anthropic.sse").read_bytes())
    assert ended.status == 0
    assert rows(ended.stdout)["anthropic"][:2] == ["1", "1"]


def test_folders_are_searched_all_the_way_down(run, streams, tmp_path):
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    shutil.copy(streams / "anthropic.sse", deep / "one.bin")
    shutil.copy(streams / "imitator.sse", tmp_path / "two")
    (tmp_path / ".hidden").mkdir()
    shutil.copy(streams / "truncated.sse", tmp_path / ".hidden")
    shutil.copy(streams / "truncated.sse", tmp_path / ".truncated.sse")
    ended = run("decode", "--summary", tmp_path)
    assert ended.status == 0
    assert rows(ended.stdout)["all"][:2] == ["2", "2"]


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_loop_of_links_ends(run, streams, tmp_path):
    shutil.copy(streams / "anthropic.sse", tmp_path)
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "nowhere").symlink_to(tmp_path / "absent")
    ended = run("decode", "--summary", tmp_path)
    assert ended.status == 0
    assert rows(ended.stdout)["anthropic"][:2] == ["1", "1"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_named_pipe_in_a_folder_is_not_waited_for(run, streams, tmp_path):
    shutil.copy(streams / "anthropic.sse", tmp_path)
    os.mkfifo(tmp_path / "pipe")
    assert run("decode", "--summary", tmp_path).status == 0


def test_what_is_no_stream_is_named_and_changes_no_status(run, streams, tmp_path):
    shutil.copy(streams / "anthropic.sse", tmp_path)
    (tmp_path / "README.md").write_text("# Recordings\n")
    (tmp_path / "empty").touch()
    ended = run("decode", "--summary", tmp_path)
    assert ended.status == 0
    readme, empty = tmp_path / "README.md", tmp_path / "empty"
    assert f"skipped {readme}: nothing in the body tells its dialect\n" in ended.stdout
    assert f"skipped {empty}: the input is empty\n" in ended.stdout
    assert rows(ended.stdout)["nothing"][-1] == "1"


def test_what_the_user_named_has_to_be_a_stream(run, streams, tmp_path):
    (tmp_path / "README.md").write_text("# Recordings\n")
    ended = run("decode", "--summary", streams / "anthropic.sse", tmp_path / "README.md")
    assert ended.status == 1


def test_nothing_at_all_is_no_success(run, tmp_path):
    assert run("decode", "--summary", tmp_path).status == 1


def test_a_file_that_cannot_be_read_is_no_success(run, streams, tmp_path):
    shutil.copy(streams / "anthropic.sse", tmp_path)
    secret = tmp_path / "secret.sse"
    shutil.copy(streams / "anthropic.sse", secret)
    secret.chmod(0)
    if os.access(secret, os.R_OK):
        pytest.skip("this user may read everything")
    ended = run("decode", "--summary", tmp_path)
    assert ended.status == 1
    assert f"skipped {secret}: it cannot be read: " in ended.stdout
    alone = run("decode", secret)
    assert alone.status == 1
    assert alone.stderr.startswith(f"turntape: {secret}: cannot be read: ")
    assert alone.stderr.count("\n") == 1


def test_the_options_of_the_decoder_count(run, streams):
    ended = run("decode", "--summary", "--strict", streams / "truncated.sse")
    assert rows(ended.stdout)["StrictError"] == ["eof_flush", "1"]
    ended = run("decode", "--summary", "--max-event-bytes", "10", streams / "anthropic.sse")
    assert rows(ended.stdout)["EventTooLarge"] == ["1"]


def test_a_terminal_gets_progress_on_standard_error_alone(run, streams):
    ended = run("decode", "--summary", streams, env={"FORCE_COLOR": "1"})
    assert "decoding" in ended.stderr
    assert "decoding" not in ended.stdout
