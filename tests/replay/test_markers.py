"""Image markers: what they cost, and what strings they are found in."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc

import pytest

import turntape
from turntape import ImagePart, MarkerError, TextPart

URI = "data:image/png;base64," + "QUJD" * (5 << 20)


@pytest.mark.parametrize("more", ["", "漢"], ids=["ascii", "cjk"])
def test_a_data_uri_of_20_mib_costs_one_copy(more):
    text = f"see [OH_IMAGE:{URI}] there{more}"
    tracemalloc.start()
    try:
        parts = turntape.split_image_parts(text)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert parts == [TextPart("see "), ImagePart(URI), TextPart(f" there{more}")]
    assert peak < 1.01 * len(URI)


PEAK = """
import resource, turntape
uri = "data:image/png;base64," + "QUJD" * (5 << 20)
text = "see [OH_IMAGE:" + uri + "] there%s"
del uri
turntape.split_image_parts("x")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
parts = turntape.split_image_parts(text)
counted = turntape.count_image_parts(text), turntape.has_image_parts(text)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is measured in kibibytes only there")
@pytest.mark.parametrize("more", ["", "漢"], ids=["ascii", "cjk"])
def test_nothing_is_copied_outside_of_python_either(more):
    run = subprocess.run(
        [sys.executable, "-c", PEAK % more], capture_output=True, text=True, check=True, timeout=120
    )
    assert int(run.stdout) < 1.3 * 20 * 1024


def test_a_text_without_markers_is_handed_on_as_it_is():
    text = "x" * 1000
    (part,) = turntape.split_image_parts(text)
    assert isinstance(part, TextPart)
    assert part.text is text


class Loud(str):
    """A string that answers nonsense when it is asked."""

    __slots__ = ()

    def find(self, *_):
        raise AssertionError

    def isascii(self):
        raise AssertionError

    def __getitem__(self, _):
        raise AssertionError

    def __len__(self):
        raise AssertionError


@pytest.mark.parametrize("more", ["", "漢", "\ud83d"])
def test_strings_of_subclasses(more):
    text = Loud("a[OH_IMAGE:u]" + more)
    parts = turntape.split_image_parts(text)
    assert parts[:2] == [TextPart("a"), ImagePart("u")]
    assert turntape.count_image_parts(text) == 1
    assert turntape.has_image_parts(text)
    (part,) = turntape.split_image_parts(Loud("plain" + more))
    assert type(part.text) is str  # type: ignore[union-attr]


def test_what_is_no_part():
    for nonsense in ("text", None, ("image", "u")):
        with pytest.raises(TypeError, match="neither a TextPart nor an ImagePart"):
            turntape.join_image_parts([nonsense])  # type: ignore[list-item]
    with pytest.raises(TypeError):
        turntape.join_image_parts([TextPart(7)])  # type: ignore[arg-type]


def test_the_first_part_at_fault_is_named():
    with pytest.raises(MarkerError, match="part 2 would not come back") as caught:
        turntape.join_image_parts(
            [TextPart("a"), ImagePart("u"), TextPart(""), ImagePart("]")], check=True
        )
    assert caught.value.index == 2
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("more", ["", "漢"], ids=["ascii", "cjk"])
def test_hostile_texts_take_linear_time(more):
    for text in (
        "[" * 1_000_000,
        "[OH_IMAGE:" * 200_000,
        "[OH_IMAGE" * 200_000,
        "]" * 1_000_000,
        "[OH_IMAGE:]" * 100_000,
    ):
        parts = turntape.split_image_parts(text + more)
        assert turntape.join_image_parts(parts) == text + more
        assert turntape.count_image_parts(text + more) == sum(
            isinstance(p, ImagePart) for p in parts
        )
