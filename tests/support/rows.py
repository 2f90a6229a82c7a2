"""Hypothesis: rows, messages, and sequences of them in which calls and results pair up, or do not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from turntape import (
    Audio,
    AudioPart,
    Base64Source,
    Dialect,
    Document,
    DocumentPart,
    Image,
    ImagePart,
    Message,
    NativeToolCall,
    PathRef,
    PathSource,
    ProviderBlock,
    RedactedThinkingBlock,
    Text,
    TextPart,
    Thinking,
    ToolFailure,
    ToolResult,
    ToolUse,
    TranscriptMessage,
    UrlRef,
    UrlSource,
    Usage,
    Video,
    VideoPart,
    encode_assistant_envelope,
    encode_tool_envelope,
)

if TYPE_CHECKING:
    from collections.abc import Callable

# Few of them, so that they meet.
IDS = st.sampled_from(["c1", "c2", "c3"])
PIECES = [
    "", " ", "\n", "tide", "[OH_IMAGE:", "]", "a.png", '"', "\\", "漢", "🦀", "\u2028", "\x00", "{", "}",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=5).map("".join)
ARGUMENTS = st.sampled_from(["", " \n", "{}", '{ "n":1.10}', '{"n":', "[1]", "null", "tide"])
URLS = st.sampled_from(["https://pics.example/a.png", "a.png", "", "data:image/gif;base64,R0lG"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 2**63) | st.sampled_from([0.5, 1.0, "tide", ""]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner),
    max_leaves=4,
)
CALLS = st.builds(
    NativeToolCall,
    IDS,
    st.sampled_from(["dim", "lock"]),
    ARGUMENTS,
    st.none() | JSON,
)
REFERENCES = st.builds(PathRef, TEXTS) | st.builds(UrlRef, st.just("https://tides.example/a"))
MIME_TYPES = st.sampled_from(["audio/ogg", "application/pdf", "application/octet-stream"])
PARTS: st.SearchStrategy[Any] = st.one_of(
    st.builds(TextPart, TEXTS),
    st.builds(ImagePart, URLS),
    st.builds(AudioPart, REFERENCES, MIME_TYPES),
    st.builds(VideoPart, REFERENCES, MIME_TYPES),
    st.builds(DocumentPart, REFERENCES, MIME_TYPES),
)
ROLES = st.sampled_from(
    ["user", "assistant", "tool", "system", "developer", "narrator", "", "TOOL"]
)

ENVELOPES = st.one_of(
    st.builds(
        encode_assistant_envelope,
        st.none() | TEXTS,
        st.lists(CALLS, max_size=2),
        st.none() | TEXTS,
    ),
    st.builds(encode_tool_envelope, IDS, TEXTS),
)
"""Packed strings, and some that are close to one."""
STRINGS = st.one_of(
    TEXTS,
    ENVELOPES,
    ENVELOPES.map(lambda text: json.dumps(json.loads(text), indent=1)),
    st.tuples(ENVELOPES, st.integers(0, 60)).map(lambda cut: cut[0][: cut[1]]),
)

STORED = st.fixed_dictionaries(
    {"v": st.sampled_from([1, 2, True, "1", None])},
    optional={
        "message": JSON,
        "incomplete": st.dictionaries(IDS, st.booleans(), max_size=2) | JSON,
        "row": st.integers(-1, 2),
        "rows": st.integers(0, 3),
        "blocks": st.lists(st.integers(-1, 3), max_size=3) | JSON,
    },
)
METADATA = st.none() | st.fixed_dictionaries(
    {}, optional={"reasoning_content": TEXTS | JSON, "trace": JSON, "turntape": STORED | JSON}
)

ROWS = st.builds(
    TranscriptMessage,
    ROLES,
    STRINGS,
    id=st.none() | IDS,
    tool_calls=st.lists(CALLS, max_size=3).map(tuple),
    tool_call_id=st.none() | IDS | st.just(""),
    parts=st.none() | st.lists(PARTS, max_size=3).map(tuple),
    extra_metadata=METADATA,
    cache_breakpoints=st.lists(st.integers(0, 3), max_size=2).map(tuple),
    request_id=st.none() | st.just("q-1"),
    interrupted=st.booleans(),
    tool_failure=st.none() | st.builds(ToolFailure, TEXTS),
    usage=st.none() | st.builds(Usage, st.integers(0, 9), st.integers(0, 9)),
    model=st.none() | st.sampled_from(["claude-heron-9", "tern"]),
    stop_reason=st.none() | st.sampled_from(["end_turn", "tool_use", "tired"]),
    created_at=st.none() | st.just("2026-03-01T00:00:00Z"),
    extra=st.just({}) | st.dictionaries(st.sampled_from("xyz"), JSON, max_size=2),
)
"""Any row, whether it makes sense or not."""


@st.composite
def conversations(draw: st.DrawFn) -> list[TranscriptMessage]:
    """Rows that could be a conversation, with some faults: rounds whose results are shuffled and lost."""
    rows: list[TranscriptMessage] = []
    for _ in range(draw(st.integers(0, 6))):
        kind = draw(st.sampled_from(["said", "round", "result"]))
        if kind == "said":
            role = draw(st.sampled_from(["user", "assistant", "system", "narrator"]))
            rows.append(TranscriptMessage(role, draw(TEXTS), interrupted=draw(st.booleans())))
        elif kind == "result":
            rows.append(TranscriptMessage("tool", "r", tool_call_id=draw(st.none() | IDS)))
        else:
            calls = draw(st.lists(CALLS, min_size=1, max_size=3))
            rows.append(TranscriptMessage.assistant_with_calls(draw(TEXTS), calls))
            ids = draw(st.permutations([call.id for call in calls]))
            kept = ids[: draw(st.integers(0, len(ids)))] if draw(st.booleans()) else ids
            rows += [TranscriptMessage.tool_result(call_id, draw(TEXTS)) for call_id in kept]
    return rows


def _sources(of: Callable[..., Any], *, base64: bool) -> st.SearchStrategy[Any]:
    sources: list[st.SearchStrategy[Any]] = [
        st.builds(UrlSource, st.just("https://tides.example/a"), st.none() | MIME_TYPES),
        st.builds(PathSource, TEXTS, st.none() | MIME_TYPES),
    ]
    if base64:
        sources.append(st.builds(Base64Source, st.sampled_from(["", "R0lG", "QUJD"]), MIME_TYPES))
    return st.builds(of, st.one_of(sources), st.none() | st.just('{"detail":"low"}'))


IMAGES = _sources(Image, base64=True) | st.builds(Image, st.builds(UrlSource, URLS))
OTHER_MEDIA: st.SearchStrategy[Any] = st.one_of(
    [_sources(each, base64=False) for each in (Audio, Video, Document)]
)
INLINE_MEDIA: st.SearchStrategy[Any] = st.one_of(
    [
        st.builds(of, st.builds(Base64Source, st.just("Qllocw=="), MIME_TYPES))
        for of in (Audio, Video, Document)
    ]
)
"""What no row can hold."""
MAYBE = st.none() | st.just("s1g")
SAID = st.builds(Text, TEXTS, st.lists(st.just('{"url":"u"}'), max_size=1).map(tuple), MAYBE)
PROVIDER_BLOCKS = st.builds(
    ProviderBlock,
    st.sampled_from(["reasoning_content", "server_tool_use"]),
    st.sampled_from(['"older"', '"', "[", '{"type":"x"}', '""']),
)
ASSISTANT_BLOCKS: st.SearchStrategy[Any] = st.one_of(
    SAID,
    st.builds(Thinking, TEXTS, MAYBE),
    st.builds(RedactedThinkingBlock, st.just("RU5D")),
    st.builds(
        ToolUse,
        IDS,
        st.sampled_from(["dim", "lock"]),
        ARGUMENTS,
        MAYBE,
        st.sampled_from([None, '{"extra_content":{"sig":"S"}}', '{"caller":1}', "{", "[]"]),
        st.booleans(),
    ),
    PROVIDER_BLOCKS,
    IMAGES,
)


def messages(*, inline: bool = False) -> st.SearchStrategy[Message]:
    """Messages of every kind.

    Args:
        inline: Whether there are sound, film and documents that carry their bytes.
    """
    media = IMAGES | OTHER_MEDIA | INLINE_MEDIA if inline else IMAGES | OTHER_MEDIA
    result_blocks: st.SearchStrategy[Any] = st.one_of(SAID, media, PROVIDER_BLOCKS)
    results = st.builds(
        ToolResult,
        IDS | st.just(""),
        TEXTS | st.lists(result_blocks, max_size=3).map(tuple),
        st.booleans(),
        st.none() | st.just('{"x":1}'),
    )
    blocks: st.SearchStrategy[Any] = st.one_of(SAID, media, results, ASSISTANT_BLOCKS)
    attributes: dict[str, st.SearchStrategy[Any]] = {
        "model": st.none() | st.just("claude-heron-9"),
        "dialect": st.none() | st.sampled_from(list(Dialect)),
        "vendor": st.none() | st.just("anthropic"),
        "id": st.none() | IDS,
        "stop_reason": st.none() | st.sampled_from(["end_turn", "tool_use"]),
        "reasoning_field": st.none() | st.just("reasoning"),
        "extra": st.none() | st.just('{"name":"x"}'),
    }
    plain = st.builds(
        Message,
        st.sampled_from(["user", "assistant", "system"]),
        TEXTS.map(lambda text: (Text(text),)),
    )
    odd = st.builds(
        Message,
        st.sampled_from(["user", "assistant", "system"]),
        st.lists(blocks, max_size=4).map(tuple),
        **attributes,
    )
    answers = st.builds(
        Message, st.just("user"), st.lists(results | SAID, min_size=1, max_size=3).map(tuple)
    )
    turns = st.builds(
        Message,
        st.just("assistant"),
        st.lists(ASSISTANT_BLOCKS | media, max_size=4).map(tuple),
        **attributes,
    )
    return st.one_of(plain, answers, turns, odd)
