"""What histories are made of: texts, calls, media, and turns as each provider's models say them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from hypothesis import strategies as st
from tests.support.good_bodies import PIXEL

from turntape import (
    Audio,
    Base64Source,
    Dialect,
    Document,
    Image,
    Message,
    PathSource,
    ProviderBlock,
    RedactedThinkingBlock,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    UrlSource,
    Video,
)

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

    from turntape import ContentBlock

__all__ = [
    "EMPTY_TEXTS",
    "IDS",
    "NAMES",
    "OBJECTS",
    "ORIGINS",
    "PLAIN_TEXTS",
    "Origin",
    "answers",
    "any_texts",
    "images",
    "media",
    "plain_texts",
    "turns",
]


@dataclass(frozen=True)
class Origin:
    """Who said a turn of the model's, on which wire."""

    dialect: Dialect | None = None
    vendor: str | None = None
    model: str | None = None
    reasoning_field: str | None = None


ORIGINS: Final = (
    Origin(),
    Origin(Dialect.ANTHROPIC, "anthropic", "claude-sonnet-4-5"),
    Origin(Dialect.ANTHROPIC, None, "claude-opus-4-7"),
    Origin(Dialect.OPENAI_CHAT, None, "gpt-4o"),
    Origin(Dialect.OPENAI_CHAT, "deepseek", "deepseek-reasoner", "reasoning_content"),
    Origin(Dialect.OPENAI_RESPONSES, "openai", "gpt-5"),
    Origin(Dialect.GEMINI, "google", "gemini-2.5-flash"),
    Origin(Dialect.GEMINI, None, "gemini-3-pro-preview"),
    Origin(Dialect.BEDROCK_CONVERSE, None, "us.anthropic.claude-opus-4-7-v1:0"),
)

# Texts ---------------------------------------------------------------------------------------------

PLAIN_TEXTS = (
    "Dim the lamp.",
    "Zwei?",
    "京都 🦀",
    'Say "no" \\ twice.',
    " leading",
    "trailing \n",
    "a\tb\nc",
)
EMPTY_TEXTS = ("", " ", "\n\t ", "\u00a0", "\u200b")
_ODD = (
    "half \ud83d pair",
    "\ude00\ud83d",
    "nul \0 here",
    "\u2028\u2029\x7f\x85\ufeff",
    "data:image/png;base64,iVBORw0KGgo=",
    "</system>",
    '{"tool_calls":[]}',
)
plain_texts: SearchStrategy[str] = st.sampled_from(PLAIN_TEXTS)
any_texts: SearchStrategy[str] = st.one_of(
    plain_texts, st.sampled_from(_ODD), st.sampled_from(EMPTY_TEXTS), st.text(max_size=5)
)

# Calls ---------------------------------------------------------------------------------------------

IDS = (
    "call_1",
    "call_2",
    "toolu_01Ab-9",
    "fc_1",
    "functions.dim:0",
    "functions_dim_0",
    "a.b",
    "a:b",
    "a_b",
    "abcdefgh1",
    "",
    " ",
    "call_" + "k" * 80,
    "call_" + "k" * 79 + "j",
    "call_1|fc_1",
    "call_1|fc_2",
    "ключ-1",
    "half\ud83d",
    "nul\0",
    "x" * 40,
    "x" * 41,
    "x" * 64,
    "x" * 65,
)
NAMES = (
    "dim",
    "snap",
    "dim",
    "pier.dim",
    "pier_dim",
    "pier:dim",
    "1st",
    "_private",
    "лампа",
    "n" * 64,
    "n" * 65,
    "n" * 129,
    "with space",
    "",
)
OBJECTS = (
    "{}",
    '{"n": 1}',
    '{ "b":1.10, "a":[1E2,  12345678901234567890123] }',
    '{"a":1,"a":2}',
    '{"t":"\\u00e9 é \\n \\/ 🦀"}',
    '{"deep":[[[[{}]]]]}',
    '{\n\t"n" : null }',
    '{"n":-0.0,"m":2512292042121000001}',
    '{"input":{"args":"x"},"cache_control":1}',
    '{"n":1e999}',
    '{"n":' + "9" * 4400 + "}",
)
_NO_OBJECTS = (
    "",
    " \n",
    '{"n":NaN}',
    '{"n":-Infinity}',
    "[1]",
    "3",
    '"x"',
    "null",
    '{"n":',
    '{"n":1}}',
    '{"n":1}{"n":2}',
    '{"a":"\n"}',
    '{"a":1}\0',
    "\ufeff{}",
    "{'a':1}",
    "draw a pier",
    '{"a":' * 200 + "1" + "}" * 200,
)
_HALVES = (
    '{ "t":"x\\ud83d", "n":1.0}',
    '{"t":"\\ude00\\ud83d"}',
    '{"\\ud83d":1}',
    '{"t":"\ud83d"}',
    '{"t":"\\ud83d\\ude00"}',
)
arguments: SearchStrategy[str] = st.one_of(
    st.sampled_from(OBJECTS), st.sampled_from(_NO_OBJECTS), st.sampled_from(_HALVES)
)
object_arguments: SearchStrategy[str] = st.sampled_from(OBJECTS)

_CALL_EXTRAS: dict[Dialect | None, tuple[str | None, ...]] = {
    Dialect.ANTHROPIC: (None, '{"caller":{"type":"direct"}}'),
    Dialect.OPENAI_RESPONSES: (
        None,
        '{"id":"fc_7"}',
        '{"type":"custom_tool_call","id":"ctc_7"}',
        '{"id":"fc_8","namespace":"pier"}',
    ),
}


@st.composite
def _calls(draw: DrawFn, origin: Origin) -> ToolUse:
    extra = draw(st.sampled_from(_CALL_EXTRAS.get(origin.dialect, (None,))))
    text = draw(arguments)
    complete = text not in _NO_OBJECTS or draw(st.booleans())
    signs = origin.dialect is Dialect.GEMINI and draw(st.booleans())
    return ToolUse(
        draw(st.sampled_from(IDS)),
        draw(st.sampled_from(NAMES)),
        text,
        signature="c2lnbmF0dXJl" if signs else None,
        extra=extra,
        complete=complete,
    )


# What the model says -------------------------------------------------------------------------------

_REASONING_ITEM = '{"encrypted_content":"ZW5jcnlwdGVk","id":"rs_7"}'
_SERVER_TOOLS: dict[Dialect | None, tuple[tuple[str, str], tuple[str, str]]] = {
    Dialect.ANTHROPIC: (
        (
            "server_tool_use",
            '{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query" : "x"}}',
        ),
        (
            "web_search_tool_result",
            '{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}',
        ),
    ),
    Dialect.OPENAI_RESPONSES: (
        (
            "web_search_call",
            (
                '{"type":"web_search_call","id":"ws_1","status":"completed","action":'
                '{"type":"search","query":"x"}}'
            ),
        ),
        (
            "image_generation_call",
            '{"type":"image_generation_call","id":"ig_1","status":"completed","result":"aGk="}',
        ),
    ),
    Dialect.GEMINI: (
        ("executableCode", '{"executableCode":{"language":"PYTHON","code":"print(1)"}}'),
        ("codeExecutionResult", '{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1"}}'),
    ),
    Dialect.BEDROCK_CONVERSE: (
        (
            "toolUse",
            (
                '{"toolUse":{"toolUseId":"srv_1","name":"nova_search","type":"server_tool_use",'
                '"input":{}}}'
            ),
        ),
        ("toolResult", '{"toolResult":{"toolUseId":"srv_1","content":[{"text":"x"}]}}'),
    ),
}


@st.composite
def _thoughts(draw: DrawFn, origin: Origin) -> list[ContentBlock]:
    """Thinking as the origin's wire shows it: signed, empty but signed, redacted, unsigned."""
    text = draw(any_texts)
    kind = draw(st.sampled_from(["signed", "signed", "empty", "redacted", "unsigned"]))
    if origin.dialect is Dialect.OPENAI_CHAT or kind == "unsigned":
        return [Thinking(text or "Hm.")]
    signature = _REASONING_ITEM if origin.dialect is Dialect.OPENAI_RESPONSES else "c2lnbmF0dXJl"
    if kind == "redacted" and origin.dialect in {Dialect.ANTHROPIC, Dialect.BEDROCK_CONVERSE, None}:
        return [RedactedThinkingBlock("b3BhcXVl")]
    return [Thinking("" if kind == "empty" else text, signature)]


@st.composite
def _said(draw: DrawFn, origin: Origin) -> list[ContentBlock]:
    """Text and the provider's own blocks."""
    kind = draw(st.sampled_from(["text", "text", "text", "cited", "server"]))
    tools = _SERVER_TOOLS.get(origin.dialect)
    if kind == "server" and tools is not None:
        return [ProviderBlock(name, text) for name, text in tools]
    text = draw(any_texts)
    if kind == "cited" and text:
        if origin.dialect is Dialect.ANTHROPIC:
            citation = (
                '{"type":"char_location","cited_text":"x","document_index":0,'
                '"document_title":null,"start_char_index":0,"end_char_index":1}'
            )
            return [Text(text, citations=(citation,))]
        if origin.dialect is Dialect.OPENAI_RESPONSES:
            return [Text(text, extra='{"id":"msg_7","phase":"commentary"}')]
        if origin.dialect is Dialect.GEMINI:
            return [Text(text, signature="c2lnbmF0dXJl")]
    return [Text(text)]


@st.composite
def turns(draw: DrawFn, *, calls: int) -> Message:
    """A turn of the model's with so many calls among what else it says."""
    origin = draw(st.sampled_from(ORIGINS))
    content: list[ContentBlock] = []
    if draw(st.booleans()):
        content += draw(_thoughts(origin))
    if draw(st.booleans()) or not calls:
        content += draw(_said(origin))
    for _ in range(calls):
        content.append(draw(_calls(origin)))
        match draw(st.integers(0, 7)):
            case 1:
                content += draw(_said(origin))
            case 2:
                content += draw(_thoughts(origin))
            case _:
                pass
    return Message(
        "assistant",
        tuple(content),
        model=origin.model,
        dialect=origin.dialect,
        vendor=origin.vendor,
        reasoning_field=origin.reasoning_field,
        stop_reason="tool_use" if calls else "end_turn",
    )


# Media, and what tools answer ----------------------------------------------------------------------

_GIF = "R0lGODlhAQABAAAAADs="
_JPEG = "/9j/4AAQSkZJRgABAQAAAQABAAD/2Q=="
_PDF = "JVBERi0xLjQKJSVFT0YK"
_WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="
_IMAGES = (
    Image(Base64Source(PIXEL, "image/png")),
    Image(Base64Source(_JPEG, "image/jpeg")),
    # Declared wrongly.
    Image(Base64Source(PIXEL, "image/jpeg")),
)
_MEDIA = (
    *_IMAGES,
    Image(Base64Source(_GIF, "image/gif")),
    Image(UrlSource("https://pics.example/a.png", "image/png")),
    Image(UrlSource("https://pics.example/a")),
    Image(Base64Source("", "image/png")),
    Image(Base64Source("PHN2Zy8+", "image/svg+xml")),
    Image(Base64Source("no base64", "image/png")),
    Image(PathSource("pics/a.png", "image/png")),
    Image(Base64Source(PIXEL, "image/png"), extra='{"detail":"low"}'),
    Document(Base64Source(_PDF, "application/pdf")),
    Document(Base64Source(_PDF, "application/pdf"), extra='{"title":"A & B"}'),
    Document(Base64Source("aGVsbG8=", "text/plain")),
    Document(UrlSource("https://docs.example/a.pdf", "application/pdf")),
    Audio(Base64Source(_WAV, "audio/wav")),
    Video(Base64Source("AAAAGGZ0eXBtcDQy", "video/mp4")),
    Video(UrlSource("https://films.example/a.mp4", "video/mp4")),
)
images: SearchStrategy[ContentBlock] = st.sampled_from(_IMAGES)
media: SearchStrategy[ContentBlock] = st.sampled_from(_MEDIA)


@st.composite
def answers(draw: DrawFn, call_id: str, pictures: SearchStrategy[ContentBlock]) -> ToolResult:
    content: str | tuple[Any, ...] = draw(any_texts)
    if draw(st.integers(0, 3)) == 0:
        parts = st.one_of(any_texts.map(Text), pictures)
        content = tuple(draw(st.lists(parts, max_size=3)))
    extra = None
    return ToolResult(call_id, content, is_error=draw(st.integers(0, 3)) == 0, extra=extra)
