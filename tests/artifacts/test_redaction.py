"""`SecretRedactor` and `StreamRedactor`: strings of every kind, threads, limits, and what they never show."""

from __future__ import annotations

import copy
import logging
import pickle
import threading
import time
import traceback

import pytest

from turntape import (
    ArtifactRedactor,
    NoRedaction,
    Redacted,
    RedactionRule,
    SecretRedactor,
    SecretSpan,
    StreamRedactor,
)

SECRET = "hbr_ab12cd34ef56"
RULE = RedactionRule("harbour", r"\bhbr_[a-z0-9]{12}\b", keywords=("hbr_",))
BLOCK = RedactionRule("block", r"BEGIN-[\s\S]+?-END", keywords=("begin-",))
REDACTOR = SecretRedactor([RULE, BLOCK])


def run(stream: StreamRedactor, *pieces: str | bytes | bytearray | memoryview) -> str:
    return "".join([*map(stream.feed, pieces), stream.finish()])


def test_the_protocol():
    assert isinstance(REDACTOR, ArtifactRedactor)
    assert isinstance(NoRedaction(), ArtifactRedactor)
    text = f"as it is {SECRET}"
    assert NoRedaction().redact(text).text is text
    assert repr(NoRedaction()) == "NoRedaction()"


def test_a_text_without_secrets_is_handed_back_itself():
    text = "x" * 1000 + "漢"
    redacted = REDACTOR.redact(text)
    assert redacted.text is text
    assert not redacted.changed


@pytest.mark.parametrize("around", ["", "é", "漢字", "🎉", "\ud83d", "\udc00\ud800", "\0", "\n"])
def test_strings_of_every_kind(around):
    text = f"{around} {SECRET} {around}{SECRET}{around}"
    expected = f"{around} [REDACTED:harbour] {around}[REDACTED:harbour]{around}"
    assert REDACTOR.redact(text) == Redacted(expected, changed=True)
    spans = REDACTOR.find(text)
    assert [text[start:end] for start, end, _ in spans] == [SECRET, SECRET]
    assert spans[0] == SecretSpan(len(around) + 1, len(around) + 1 + len(SECRET), "harbour")
    # A stream has no place for half of a pair.
    whole = expected.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    streamed = run(REDACTOR.stream(), *text)
    assert streamed.replace("\ufffd", "") == whole.replace("\ufffd", "")


def test_half_of_a_pair_hides_nothing():
    text = "a BEGIN-12\ud80034-END b"
    assert REDACTOR.redact(text).text == "a [REDACTED:block] b"
    assert run(REDACTOR.stream(), text) == "a [REDACTED:block] b"


def test_bytes_that_are_no_utf8_hide_nothing():
    data = b"a \xff BEGIN-12\xc3\x28\xff34-END \xe6\xbc"
    expected = "a \ufffd [REDACTED:block] \ufffd"
    for size in range(1, 12):
        pieces = [data[at : at + size] for at in range(0, len(data), size)]
        assert run(REDACTOR.stream(), *pieces) == expected


def test_text_and_bytes_in_one_stream():
    head, tail = SECRET[:6], SECRET[6:]
    assert (
        run(REDACTOR.stream(), head, tail.encode(), " é".encode()[:2], "!")
        == "[REDACTED:harbour] \ufffd!"
    )
    assert (
        run(REDACTOR.stream(), bytearray(head.encode()), memoryview(tail.encode()))
        == "[REDACTED:harbour]"
    )
    with pytest.raises(TypeError):
        REDACTOR.stream().feed(7)  # type: ignore[arg-type]


def test_a_stream_ends_once():
    stream = REDACTOR.stream()
    assert run(stream, SECRET) == "[REDACTED:harbour]"
    with pytest.raises(ValueError, match="ended"):
        stream.feed("x")
    with pytest.raises(ValueError, match="ended"):
        stream.finish()


@pytest.mark.parametrize("size", [0, 63, -1, 1 << 62, 1 << 80])
def test_a_window_that_cannot_be(size):
    with pytest.raises(ValueError, match=r"max_match|range"):
        StreamRedactor([RULE], max_match=size)


def test_what_is_held_back_is_bounded():
    stream = StreamRedactor([RULE], max_match=1024)
    given = taken = 0
    for _ in range(1000):
        given += 100
        taken += len(stream.feed("plain text " * 9 + "x"))
        assert given - taken <= 1024 * 5 // 4 + 100
        assert given < 1280 or given - taken >= 1024
    assert taken + len(stream.finish()) == given


def test_an_open_marker_is_held_back_and_then_covered():
    stream = StreamRedactor([BLOCK], max_match=1024)
    given = "".join(stream.feed(piece) for piece in ["a ", "BEGIN-", *["0123456789"] * 500])
    # It outgrew the window: the placeholder is out, and nothing of the block.
    assert given == "a [REDACTED:block]"
    assert stream.feed("-END") + stream.feed(" b" * 2000) + stream.finish() == " b" * 2000


def test_a_keyword_counts_if_it_comes_before_or_within_the_window():
    rule = RedactionRule("code", "[A-Z]{4}-[0-9]{8}", keywords=("berth",))
    text = "PIER-12345678" + " " * 5000 + "berth" + " " * 5000 + "PIER-12345678"
    assert SecretRedactor([rule]).redact(text).text.count("[REDACTED:code]") == 2
    assert run(StreamRedactor([rule]), text).count("[REDACTED:code]") == 2
    late = run(StreamRedactor([rule], max_match=256), text)
    assert late.startswith("PIER-12345678 ")
    assert late.endswith(" [REDACTED:code]")


def test_copies():
    for redactor in (REDACTOR, SecretRedactor(), SecretRedactor([RULE], allowlists=())):
        for again in (pickle.loads(pickle.dumps(redactor)), copy.deepcopy(redactor)):  # noqa: S301
            assert again.rules == redactor.rules
            assert again.redact(SECRET) == redactor.redact(SECRET)


def test_the_secret_is_nowhere_but_in_the_text(caplog):
    caplog.set_level(logging.DEBUG)
    stream = REDACTOR.stream()
    stream.feed(f"{SECRET} BEGIN-")
    shown = [
        repr(REDACTOR),
        repr(stream),
        repr(stream._stream),
        str(stream),
        repr(REDACTOR._matcher),
    ]
    for call in (
        lambda: REDACTOR.redact([SECRET]),  # type: ignore[arg-type]
        lambda: REDACTOR.redact(SECRET.encode()),  # type: ignore[arg-type]
        lambda: stream.feed([SECRET]),  # type: ignore[arg-type]
        lambda: stream.feed({SECRET: 1}),  # type: ignore[arg-type]
    ):
        with pytest.raises(TypeError) as caught:
            call()
        # The message; the traceback would quote the source of this test.
        shown.append("".join(traceback.format_exception_only(caught.value)))
    redacted = REDACTOR.redact(f"\ud800{SECRET}")
    shown += [repr(redacted), *caplog.messages]
    for text in shown:
        assert "ab12" not in text


def test_one_redactor_serves_many_threads():
    text = ("words " * 50 + SECRET + "\n") * 400
    expected = text.replace(SECRET, "[REDACTED:harbour]")
    wrong: list[str] = []

    def work() -> None:
        for _ in range(10):
            if REDACTOR.redact(text).text != expected:
                wrong.append("redact")
            if run(REDACTOR.stream(max_match=256), text[:70_000], text[70_000:]) != expected:
                wrong.append("stream")

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_stream_belongs_to_one_thread_at_a_time():
    """Either a call is refused, or it had the stream for itself; nothing is lost or torn."""
    stream = StreamRedactor([RULE], max_match=1024)
    piece = "plain words " * 20_000
    refused = 0
    given: list[str] = []
    lock = threading.Lock()

    def work() -> None:
        nonlocal refused
        for _ in range(8):
            try:
                out = stream.feed(piece)
            except RuntimeError as error:
                assert "one thread at a time" in str(error)  # noqa: PT017 (in a thread)
                with lock:
                    refused += 1
            else:
                with lock:
                    given.append(out)
            time.sleep(0.001)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    total = sum(map(len, given)) + len(stream.finish())
    assert total == (32 - refused) * len(piece)
