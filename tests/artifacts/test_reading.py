"""Reading by ranges: no character is cut, nothing is lost, and every loop ends."""

from __future__ import annotations

import os

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import turntape
from turntape import EmptyName, InvalidName, OffloadError, PathEscape, StorageFailed
from turntape.artifacts.reading import read_chunk

CHARACTERS = st.sampled_from(["a", "\n", "é", "漢", "\U0001f980", "\ufffd", "\0"])
BROKEN = st.lists(
    st.sampled_from([b"a", b"\x80", b"\xc3", b"\xe6\xbc", b"\xf0\x9f\xa6", b"\xff", "漢".encode(), b"\xed\xa0\x80"]),
    max_size=12,
).map(b"".join)  # fmt: skip


def file_of(folder, data: bytes) -> int:
    path = folder / "file"
    path.write_bytes(data)
    return os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))


@given(st.lists(CHARACTERS, max_size=40).map("".join).map(str.encode) | BROKEN, st.integers(1, 12))
@example(b"\xf0\x9f\xa6", 1)
@example(b"\xe6\xbc\xe6\xbc\xa2", 1)
def test_the_chunks_make_up_the_text(tmp_path_factory, data, limit):
    fd = file_of(tmp_path_factory.getbasetemp(), data)
    try:
        parts, offset = [], 0
        while True:
            chunk = read_chunk(fd, offset, limit)
            assert chunk.total_bytes == len(data)
            parts.append(chunk.text)
            if chunk.at_end:
                break
            assert chunk.next_offset > offset
            assert chunk.text
            assert chunk.next_offset - offset <= max(limit, 4)
            offset = chunk.next_offset
        assert "".join(parts) == data.decode(errors="replace")
        assert chunk.next_offset == len(data)
    finally:
        os.close(fd)


@given(
    st.lists(CHARACTERS, min_size=1, max_size=20).map("".join),
    st.integers(0, 80),
    st.integers(1, 9),
)
def test_any_offset_begins_at_a_character(tmp_path_factory, text, offset, limit):
    data = text.encode()
    fd = file_of(tmp_path_factory.getbasetemp(), data)
    try:
        chunk = read_chunk(fd, offset, limit)
    finally:
        os.close(fd)
    start = offset
    while start < len(data) and data[start] & 0xC0 == 0x80:
        start += 1
    assert data[start:].decode().startswith(chunk.text)
    assert chunk.next_offset == max(
        start + len(chunk.text.encode()), min(offset, chunk.next_offset)
    )
    assert bool(chunk.text) == (start < len(data))


def test_past_the_end(place):
    writer = place.writer()
    artifact = writer.write_default("low tide")
    for offset in (8, 9, 10**12):
        chunk = writer.read(artifact.relative_path, offset)
        assert (chunk.text, chunk.at_end, chunk.total_bytes) == ("", True, 8)
    for offset, limit in ((-1, 1), (0, 0), (0, -5)):
        with pytest.raises(ValueError, match="read from 0"):
            writer.read(artifact.relative_path, offset, limit)
    empty = writer.write("output", "empty.md", "")
    assert writer.read(empty.relative_path).at_end
    assert writer.read_bytes(artifact.relative_path) == b"low tide"


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("", EmptyName),
        (" \n", EmptyName),
        ("..", PathEscape),
        ("../outside/victim.md", PathEscape),
        ("outputs/../../outside/victim.md", PathEscape),
        ("outputs/../secret.txt", PathEscape),
        ("outputs\\..\\..\\outside\\victim.md", PathEscape),
        ("outputs/..\\x", PathEscape),
        ("/etc/hostname", PathEscape),
        ("//etc/hostname", PathEscape),
        ("secret.txt", PathEscape),
        ("outputs", PathEscape),
        ("outputs/", PathEscape),
        (".", InvalidName),
        ("OUTPUTS/x.md", PathEscape),
        ("outputs/x\0.md", InvalidName),
        ("outputs/nul", InvalidName),
        ("outputs/x.md:stream", InvalidName),
        ("outputs/.turntape-00.tmp", InvalidName),
        ("outputs/none.md", StorageFailed),
        ("outputs/x.md/y.md", OffloadError),
        ("/proc/self/environ", PathEscape),
        ("/proc/self/root/etc/hostname", PathEscape),
    ],
)
def test_what_is_not_read(path, error, place):
    place.writer().write("output", "x.md", "low tide")
    (place.root / "secret.txt").write_text("of the host", "utf-8")
    (place.root / "outputs" / ".turntape-00.tmp").write_text("half a fi", "utf-8")
    with pytest.raises(error):
        place.writer().read(path)
    if error is not StorageFailed and path != "outputs/x.md/y.md":
        with pytest.raises(error):
            turntape.resolve_pointer(place.root, path)
    with pytest.raises(OffloadError):
        place.writer().read_bytes(path)


def test_an_absolute_path_below_the_root(place):
    artifact = place.writer().write("output", "x.md", "low tide")
    assert place.writer().read(str(artifact.absolute_path)).text == "low tide"
    assert place.writer().read("./outputs//x.md").text == "low tide"
