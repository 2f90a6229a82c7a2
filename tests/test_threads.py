"""Threads and processes: decoders in parallel, one decoder in two hands, forks, batches."""

# Whether a stream fails is part of what is checked, so errors are caught, not expected.
# ruff: noqa: PT017

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.outcome import decode_chunks, decode_whole, every, fault_of
from tests.support.samples import ANTHROPIC, CHAT, CUT, ODD, REFUSED, chunk

import turntape
from turntape import SseDecoder, StreamDecoder, StreamError

if TYPE_CHECKING:
    from collections.abc import Callable

    from turntape import AssistantMessage

THREADS = 8


def in_threads(work: Callable[[int], object]) -> list[object]:
    """Run the work in threads that start together."""
    barrier = threading.Barrier(THREADS)

    def run(at: int) -> object:
        barrier.wait()
        return work(at)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(run, range(THREADS)))


def test_each_thread_with_a_decoder_of_its_own():
    bodies = [(CHAT, "openai-chat"), (ANTHROPIC, "anthropic"), (CUT, "openai-chat")]
    expected = [decode_whole(body, wire) for body, wire in bodies]

    def work(at: int) -> bool:
        for turn in range(40):
            body, wire = bodies[(at + turn) % 3]
            outcome = decode_chunks(every(body.encode(), 1 + (at * turn) % 90), wire)
            assert outcome == expected[(at + turn) % 3]
        return True

    assert all(in_threads(work))


def test_one_decoder_in_two_threads_raises_and_stays_whole():
    """A long piece is read with the interpreter released: others then find the decoder taken."""
    other = chunk({"content": "x" * 900}).replace('"index": 0', '"index": 1')
    piece = other.encode() * 30_000
    decoder = StreamDecoder("openai-chat")
    decoder.feed(chunk({"content": "before "}))
    refused = threading.Event()
    done = threading.Event()
    others: list[BaseException] = []

    def disturb() -> None:
        while not done.is_set():
            try:
                decoder.snapshot()
                _ = decoder.usage, decoder.warnings, decoder.is_terminal
            except RuntimeError as error:
                assert "thread" in str(error)
                refused.set()
            except BaseException as error:  # noqa: BLE001 (reported below)
                others.append(error)
                return

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        for _ in range(1000):
            try:
                decoder.feed(piece)
            except RuntimeError:
                # The other one held it at this moment.
                refused.set()
            if refused.is_set():
                break
    finally:
        done.set()
        thread.join()
    assert not others
    assert refused.is_set()
    decoder.feed(chunk({"content": "after"}, "stop"))
    decoder.finish()
    assert decoder.snapshot().content == (turntape.Text("before after"),)


def test_many_threads_feeding_one_decoder_never_corrupt_it():
    decoder = SseDecoder()
    event = b"data: x\n\n"
    read: list[str] = []

    def work(at: int) -> int:
        fed = 0
        for _ in range(300):
            try:
                events = decoder.feed(event)
            except RuntimeError:
                continue
            fed += 1
            read.extend(event.data for event in events)
        return fed

    fed = in_threads(work)
    assert decoder.finish() == []
    assert read == ["x"] * sum(int(str(count)) for count in fed)


def outcomes(results: list[AssistantMessage | StreamError]) -> list[object]:
    return [
        (fault_of(result), result.partial) if isinstance(result, StreamError) else result
        for result in results
    ]


BODIES = [CHAT, CUT, ODD, REFUSED, "", CHAT * 2, "data: {]\n\n"]


@pytest.mark.parametrize("threads", [1, 2, 8, 1000])
def test_many_bodies_in_order_with_their_errors(threads):
    bodies = [body.encode() for body in BODIES * 30]
    results = turntape.decode_many(bodies, "openai-chat", threads=threads, vendor="v")
    expected: list[object] = []
    for body in bodies:
        try:
            expected.append(turntape.decode_message(body, "openai-chat", vendor="v"))
        except StreamError as error:
            assert not error.events
            expected.append((fault_of(error), error.partial))
    assert outcomes(results) == expected
    kinds = [type(result).__name__ for result in results[: len(BODIES)]]
    assert kinds == [
        "AssistantMessage", "TruncatedStream", "AssistantMessage", "ProviderError",
        "TruncatedStream", "AssistantMessage", "MalformedEvent",
    ]  # fmt: skip


def test_many_bodies_of_every_type_from_any_iterable():
    forms: list[Any] = [CHAT, CHAT.encode(), bytearray(CHAT.encode()), memoryview(CHAT.encode())]
    expected = [turntape.decode_message(CHAT, "openai-chat")] * 4
    assert turntape.decode_many(iter(forms), "openai-chat", threads=3) == expected
    assert turntape.decode_many((form for form in forms), "openai-chat") == expected
    assert turntape.decode_many([], "openai-chat", threads=4) == []


@pytest.mark.parametrize("threads", [0, -1])
def test_no_threads_are_too_few(threads):
    with pytest.raises(ValueError, match=r"."):
        turntape.decode_many([CHAT], "openai-chat", threads=threads)


def test_many_bodies_that_are_none():
    with pytest.raises(TypeError):
        turntape.decode_many(None, "openai-chat")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="NoneType"):
        turntape.decode_many([CHAT, None], "openai-chat")  # type: ignore[list-item]


def test_many_bodies_of_a_source_that_fails():
    def bodies():
        yield CHAT
        message = "source"
        raise OSError(message)

    with pytest.raises(OSError, match="source"):
        turntape.decode_many(bodies(), "openai-chat")


def test_batches_in_threads():
    bodies = [CHAT.encode()] * 50
    expected = turntape.decode_many(bodies, "openai-chat")

    def work(_: int) -> bool:
        return turntape.decode_many(bodies, "openai-chat", threads=2) == expected

    assert all(in_threads(work))


def test_others_run_while_a_batch_does():
    """The interpreter is released: a thread that only counts gets on meanwhile."""
    body = CHAT.encode() * 5_000
    counted = 0
    done = threading.Event()

    def count() -> None:
        nonlocal counted
        while not done.is_set():
            counted += 1

    thread = threading.Thread(target=count)
    thread.start()
    try:
        before = counted
        turntape.decode_many([body] * 4, "openai-chat")
        assert counted > before
    finally:
        done.set()
        thread.join()


FORK = """
import os, sys, turntape
body = sys.stdin.buffer.read()
expected = turntape.decode_many([body] * 8, "openai-chat", threads=4)
half = turntape.StreamDecoder("openai-chat")
half.feed(body[:100])
for _ in range(3):
    child = os.fork()
    if not child:
        half.feed(body[100:])
        half.finish()
        same = turntape.decode_many([body] * 8, "openai-chat", threads=4) == expected
        os._exit(0 if same and half.snapshot() == expected[0] else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
half.feed(body[100:])
half.finish()
assert half.snapshot() == expected[0]
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_fork_goes_on_decoding():
    subprocess.run([sys.executable, "-c", FORK], input=CHAT.encode(), check=True, timeout=60)


# Everything at once ------------------------------------------------------------------------------


def everything(at: int) -> list[object]:
    """Call what decodes in each of its ways; the results, in a form that can be compared."""
    bodies = [body.encode() for body in BODIES * 4]
    tables = turntape.decode_to_arrow(bodies, "openai-chat", threads=1 + at % 3)
    tape = turntape.rows_to_arrow([turntape.TranscriptMessage.user("Which way?")])
    for table in (tables.events, tables.messages, tape):
        assert table.__arrow_c_stream__() is not None
    envelope = turntape.encode_assistant_envelope(
        "on it", [turntape.NativeToolCall("c", "n", "{}")]
    )
    decoder = SseDecoder()
    return [
        [decode_whole(body, "openai-chat") for body in bodies],
        [decode_chunks(every(body, 7), "openai-chat") for body in bodies],
        outcomes(turntape.decode_many(bodies, "openai-chat", threads=1 + at % 4)),
        (tables.events.num_rows, tables.events.nbytes, tables.messages.num_rows),
        decode_whole(ANTHROPIC, "anthropic"),
        turntape.assemble(turntape.decode(ANTHROPIC, "anthropic")),
        turntape.detect_dialect(ANTHROPIC),
        decoder.feed(CHAT) + decoder.finish(),
        turntape.parse_assistant_envelope(envelope),
        turntape.split_image_parts("see [OH_IMAGE:a.png] and go"),
        turntape.SecretRedactor().redact("nothing to hide").text,
        turntape.build_info(),
    ]


def test_everything_at_once():
    """No result depends on what other threads do, and no exception of one reaches another."""
    expected = everything(0)

    def work(at: int) -> bool:
        for turn in range(4):
            assert everything(at + turn) == expected
            with pytest.raises(TypeError):
                turntape.decode_many([CHAT, None], "openai-chat", threads=2)  # type: ignore[list-item]
            with pytest.raises(turntape.ProviderError):
                turntape.decode(REFUSED, "openai-chat")
        return True

    assert all(in_threads(work))


def test_the_first_use_in_many_threads_at_once():
    """What is looked up once, such as classes, is looked up by several threads: in a fresh process."""
    code = (
        "import sys, threading, turntape\n"
        "body = sys.stdin.buffer.read()\n"
        "barrier = threading.Barrier(8)\n"
        "found = []\n"
        "def work():\n"
        "    barrier.wait()\n"
        "    found.append(turntape.decode_many([body] * 4, 'openai-chat', threads=2))\n"
        "threads = [threading.Thread(target=work) for _ in range(8)]\n"
        "for thread in threads: thread.start()\n"
        "for thread in threads: thread.join()\n"
        "assert len(found) == 8 and all(each == found[0] for each in found), found\n"
    )
    subprocess.run([sys.executable, "-c", code], input=CHAT.encode(), check=True, timeout=60)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_batch_beside_a_thread_that_computes(threads):
    """Whoever waits for the interpreter too long makes its objects at the end: the same ones."""
    whole = CHAT.removesuffix("data: [DONE]\n\n")
    bodies = [whole * (200 + at % 3) + str(at) for at in range(60)]
    expected = turntape.decode_many(bodies, "openai-chat")
    done = threading.Event()

    def compute() -> None:
        while not done.is_set():
            sum(range(100))

    thread = threading.Thread(target=compute)
    thread.start()
    try:
        for _ in range(3):
            found = turntape.decode_many(bodies, "openai-chat", threads=threads)
            assert outcomes(found) == outcomes(expected)
    finally:
        done.set()
        thread.join()


INTERRUPTED = """
import _thread, sys, threading, turntape
function, threads = getattr(turntape, sys.argv[1]), int(sys.argv[2])
turn = sys.stdin.buffer.read()
body = b": ping\\n\\n" * 100_000 + turn
started = threading.Event()

def bodies():
    # By far more than can be decoded while a test waits.
    for _ in range(1_000_000):
        yield body
    started.set()

def interrupt():
    started.wait()
    # The signal is pending from now on, whether the call has begun or not.
    _thread.interrupt_main()

threading.Thread(target=interrupt).start()
try:
    function(bodies(), "openai-chat", threads=threads)
except KeyboardInterrupt:
    assert turntape.decode_many([turn], "openai-chat")[0].complete
    print("interrupted")
"""


@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("function", ["decode_many", "decode_to_arrow"])
def test_a_batch_is_interrupted(function, threads):
    ended = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, function, threads],
        input=CHAT.encode(),
        capture_output=True,
        check=True,
        timeout=120,
    )
    assert ended.stdout.split() == [b"interrupted"]
