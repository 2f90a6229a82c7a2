"""turntape's framing behind the official clients' protocol, beside what their own decoders do."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import pytest

import turntape
from turntape.wire import official

PACKAGES = ["openai", "anthropic"]

# Name: pieces, and what the standard makes of them (name, data, id, retry); a name that was not given is None.
CASES: dict[str, tuple[list[bytes], list[tuple[str | None, str, str | None, int | None]]]] = {
    "plain": ([b"event: a\ndata: 1\n\n"], [("a", "1", None, None)]),
    "byte order mark": (
        [b"\xef\xbb", b"\xbfevent: a\ndata: 1\n\ndata: 2\n\n"],
        [("a", "1", None, None), (None, "2", None, None)],
    ),
    "line separators in data": (
        ["data: a\u2028b\u2029c\u0085d\n\n".encode()],
        [(None, "a\u2028b\u2029c\u0085d", None, None)],
    ),
    "vertical tab and form feed": (
        [b"data: a\x0b", b"b\x0cc\x1cd\n\n"],
        [(None, "a\x0bb\x0cc\x1cd", None, None)],
    ),
    "invalid UTF-8": (
        [b"data: a\xff\xe2\x82", b"b\n\ndata: 2\n\n"],
        [(None, "a\ufffd\ufffdb", None, None), (None, "2", None, None)],
    ),
    "cut character": ([b"data: \xe2", b"\x82\xac\n\n"], [(None, "\u20ac", None, None)]),
    "lone CR": (
        [b"event: a\rdata: 1\r\rdata: 2\r", b"\r"],
        [("a", "1", None, None), (None, "2", None, None)],
    ),
    "cut CRLF": (
        [b"data: 1\r", b"\n\r", b"\ndata: 2\r\n\r\n"],
        [(None, "1", None, None), (None, "2", None, None)],
    ),
    "mixed line ends": (
        [b"data: 1\n\r\ndata: 2\r\n\ndata: 3\r\r\n"],
        [(None, "1", None, None), (None, "2", None, None), (None, "3", None, None)],
    ),
    "heartbeat after an id": (
        [b"id: 1\ndata: 1\n\n: still here\n\ndata: 2\n\n"],
        [(None, "1", "1", None), (None, "2", "1", None)],
    ),
    "name without data": ([b"event: ping\n\ndata: 1\n\n"], [(None, "1", None, None)]),
    "retry alone": ([b"retry: 100\n\ndata: 1\n\n"], [(None, "1", None, None)]),
    "retry that is no number": (
        [b"retry: +5\ndata: 1\n\nretry: 1_0\ndata: 2\n\n"],
        [(None, "1", None, None), (None, "2", None, None)],
    ),
    "no blank line at the end": (
        [b"data: 1\n\ndata: 2"],
        [(None, "1", None, None), (None, "2", None, None)],
    ),
    "id with NUL": (
        [b"id: 1\ndata: 1\n\nid: a\0b\ndata: 2\n\n"],
        [(None, "1", "1", None), (None, "2", "1", None)],
    ),
}

# Where the clients' own decoders are known to answer otherwise. One that is mended stays welcome.
KNOWN_DIFFERENCES = {
    "byte order mark",  # the first field is lost
    "invalid UTF-8",  # UnicodeDecodeError, and with it the rest of the stream
    "heartbeat after an id",  # an empty event, which the openai client then fails to parse
    "name without data",  # likewise
    "retry alone",  # likewise
    "retry that is no number",  # `int` takes more than digits
    "no blank line at the end",  # the last event is lost, as the standard has it for browsers
}


def plain(events):
    return [(event.event, event.data, event.id, event.retry) for event in events]


@pytest.fixture(params=PACKAGES)
def package(request: pytest.FixtureRequest) -> str:
    pytest.importorskip(request.param)
    return str(request.param)


@pytest.fixture
def decoder(package: str) -> official.ClientDecoder[Any]:
    return official.openai_decoder() if package == "openai" else official.anthropic_decoder()


@pytest.mark.parametrize("case", CASES)
def test_case(package, decoder, case):
    pieces, expected = CASES[case]
    events = list(decoder.iter_bytes(iter(pieces)))
    assert plain(events) == expected
    assert {type(event) for event in events} == {
        import_module(f"{package}._streaming").ServerSentEvent
    }


@pytest.mark.parametrize("case", CASES)
def test_cuts_do_not_matter(decoder, case):
    pieces, expected = CASES[case]
    body = b"".join(pieces)
    assert plain(decoder.iter_bytes(iter([body]))) == expected
    assert plain(decoder.iter_bytes(body[i : i + 1] for i in range(len(body)))) == expected


@pytest.mark.anyio
@pytest.mark.parametrize("case", CASES)
async def test_case_asynchronously(decoder, case):
    pieces, expected = CASES[case]

    async def chunks():
        for piece in pieces:
            yield piece

    assert plain([event async for event in decoder.aiter_bytes(chunks())]) == expected


@pytest.mark.parametrize("case", CASES)
def test_own_decoder(package, case, record_property):
    """What the client's own decoder makes of it: the same, but for the known differences."""
    pieces, expected = CASES[case]
    own = import_module(f"{package}._streaming").SSEDecoder()
    try:
        events: Any = plain(own.iter_bytes(iter(pieces)))
    except Exception as error:  # noqa: BLE001 (what it raises is its answer)
        events = repr(error)
    record_property("own_decoder", repr(events))
    assert events == expected or case in KNOWN_DIFFERENCES


def test_protocol(package, decoder):
    assert isinstance(decoder, import_module(f"{package}._streaming").SSEBytesDecoder)


def test_discard(package):
    make = official.openai_decoder if package == "openai" else official.anthropic_decoder
    decoder = make(eof="discard")
    assert plain(decoder.iter_bytes(iter([b"data: 1\n\ndata: 2"]))) == [(None, "1", None, None)]
    assert [warning.code for warning in decoder.warnings] == ["eof_discard"]


def test_warnings_are_those_of_the_last_response(decoder):
    list(decoder.iter_bytes(iter([b"data: \xff\n\n"])))
    assert [warning.code for warning in decoder.warnings] == ["invalid_utf8"]
    list(decoder.iter_bytes(iter([b"data: 1\n\n"])))
    assert decoder.warnings == ()


def test_next_response_starts_afresh(decoder):
    list(decoder.iter_bytes(iter([b"id: 1\ndata: 1\n\ndata: cut"])))
    assert plain(decoder.iter_bytes(iter([b"data: 2\n\n"]))) == [(None, "2", None, None)]


def too_large():
    yield b"data: 1\n\ndata: " + b"x" * 100
    raise AssertionError("asked for another chunk")


def test_too_large(package):
    make: Any = official.openai_decoder if package == "openai" else official.anthropic_decoder
    events = make(max_event_bytes=10).iter_bytes(too_large())
    assert next(events).data == "1"
    with pytest.raises(turntape.EventTooLarge):
        next(events)


@pytest.mark.anyio
async def test_too_large_asynchronously(package):
    make: Any = official.openai_decoder if package == "openai" else official.anthropic_decoder

    async def chunks():
        for chunk in too_large():
            yield chunk

    events = make(max_event_bytes=10).aiter_bytes(chunks())
    assert (await anext(events)).data == "1"
    with pytest.raises(turntape.EventTooLarge):
        await anext(events)


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ('{"type":"ping"}', "ping"),
        ('{"type":5}', None),
        ('{"kind":"ping"}', None),
        ("[]", None),
        ("[DONE]", None),
        ("[" * 100_000, None),
    ],
    ids=["type", "type is no string", "no type", "array", "no JSON", "deep"],
)
@pytest.mark.parametrize("field", ["", "event: message\n"], ids=["no name", "message"])
def test_anthropic_names_an_event_by_its_payload(field, data, name):
    pytest.importorskip("anthropic")
    [event] = official.anthropic_decoder().iter_bytes(iter([f"{field}data: {data}\n\n".encode()]))
    assert (event.event, event.data) == (name, data)


def test_given_name_stays():
    pytest.importorskip("anthropic")
    body = b'event: other\ndata: {"type":"ping"}\n\n'
    [event] = official.anthropic_decoder().iter_bytes(iter([body]))
    assert event.event == "other"


@pytest.mark.parametrize("package", PACKAGES)
class TestMissing:
    @pytest.fixture
    def make(self, package):
        return official.openai_decoder if package == "openai" else official.anthropic_decoder

    def test_not_installed(self, package, make, monkeypatch):
        for module in [name for name in sys.modules if name.partition(".")[0] == package]:
            monkeypatch.delitem(sys.modules, module)
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(ModuleNotFoundError, match=rf"pip install 'turntape\[{package}\]'"):
            make()

    def test_no_such_module(self, package, make, monkeypatch):
        pytest.importorskip(package)
        monkeypatch.setitem(sys.modules, f"{package}._streaming", None)
        with pytest.raises(ImportError, match=f"this version of {package} takes no decoder"):
            make()

    def test_no_protocol(self, package, make, monkeypatch):
        pytest.importorskip(package)
        monkeypatch.delattr(f"{package}._streaming.SSEBytesDecoder")
        with pytest.raises(ImportError, match=f"this version of {package} takes no decoder"):
            make()

    def test_broken_installation_says_what_is_missing(self, package, make, monkeypatch):
        def fail(_name):
            raise ModuleNotFoundError("No module named 'httpx2'", name="httpx2")

        monkeypatch.setattr(official, "import_module", fail)
        with pytest.raises(ModuleNotFoundError, match="httpx2"):
            make()


def test_importing_the_adapter_imports_no_client():
    import subprocess

    code = (
        "import sys, turntape.wire.official\n"
        "sys.exit(bool({'openai', 'anthropic', 'httpx2'} & set(sys.modules)))\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
