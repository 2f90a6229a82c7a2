"""Whole bodies: those of responses that were not streamed, errors, and what is no dialect of turntape's."""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.corpus.differences import OPAQUE, kinds, read_final
from tests.corpus.peers import Rejected, final_of, missing_client
from tests.corpus.streams import (
    BARE_EVENTS,
    NoCorpusError,
    dialect_of,
    manifest,
    read,
    root,
    streams,
)
from tests.corpus.turns import added_up, canonical, differing, of_message

from turntape import (
    Dialect,
    ProviderError,
    UnknownDialect,
    decode,
    detect_dialect,
    parse_response,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tests.corpus.streams import Stream
    from tests.corpus.turns import Turn

    from turntape import AssistantMessage

pytestmark = pytest.mark.corpus

OTHER_FILES = "MANIFEST-other.tsv"


@pytest.fixture
def corpus() -> Path:
    """Give the corpus's folder; without one the test is skipped."""
    try:
        return root()
    except NoCorpusError as error:
        pytest.skip(str(error))


# A response that was not streamed gives what its stream gives ----------------------------------


def test_the_response_at_the_end_is_the_streamed_message(recorded: Sequence[Stream]) -> None:
    for stream in recorded:
        whole = stream.decoded
        if stream.dialect is not Dialect.OPENAI_RESPONSES or whole.error is not None:
            continue
        final = final_response(stream.body)
        parsed = parse_response(final, stream.dialect)
        assert parsed.complete, stream.name
        # The others differ from their own deltas: so says the comparison with the client. Some leave
        # the output out at the end.
        if json.loads(final).get("output") and not permitted(stream.name) - {"others"}:
            blocks, streamed = told_of(parsed), told_of(whole.message)
            assert sorted(blocks) == sorted(streamed), stream.name


def final_response(body: bytes) -> str:
    """Cut the response out of the event that ends a stream, with its bytes as they are."""
    for line in body.decode().splitlines():
        payload = line.removeprefix("data:").strip()
        if payload.startswith("{") and '"response":' in payload:
            event = json.loads(payload)
            if event["type"] in {"response.completed", "response.incomplete"}:
                start = payload.index('"response":') + len('"response":')
                return payload[start:].lstrip()[: length_of_value(payload[start:].lstrip())]
    raise AssertionError("no response ends the stream")


def length_of_value(text: str) -> int:
    """Measure the JSON value that a text begins with."""
    return json.JSONDecoder().raw_decode(text)[1]


def told_of(message: AssistantMessage) -> list[str]:
    """Write down a message, each block and the rest, without how it came and without encrypted texts."""
    blocks = [OPAQUE.sub("", repr(block)) for block in message.content]
    return [*blocks, repr(replace(message, content=(), terminal=None, warnings=()))]


def permitted(name: str) -> set[str]:
    """Name the fields in which a stream differs from the official client's answer, by what is listed."""
    return {field for kind in kinds() if name in kind.streams for field in kind.fields}


def test_what_a_client_assembled_is_read_as_the_client_means_it(recorded: Sequence[Stream]) -> None:
    for stream in recorded:
        if missing := missing_client(stream):
            pytest.skip(f"needs {missing}")
        final = final_of(stream)
        if isinstance(final, Rejected) or stream.decoded.error is not None:
            continue
        theirs = read_final(stream, final)[0]
        message = parse_response(body_of(stream.dialect, final), stream.dialect)
        found = differing(in_one_form(of_message(message, stream.dialect)), in_one_form(theirs))
        assert found <= permitted(stream.name), f"{stream.name} differs in {found}: {message}"


def body_of(dialect: Dialect, final: dict[str, Any]) -> str:
    """Make a body as without a stream: the clients that assemble nothing give pieces of one."""
    match dialect:
        case Dialect.GEMINI:
            return json.dumps(joined_chunks(final["chunks"]))
        case Dialect.BEDROCK_CONVERSE:
            return json.dumps(converse_body(final["events"]))
        case _:
            return json.dumps(final)


def joined_chunks(chunks: list[dict[str, Any]]) -> dict[str, Any]:
    """Put the parts of Gemini's chunks into one response, the last of all other members around them."""
    whole: dict[str, Any] = {}
    candidate: dict[str, Any] = {}
    parts: list[dict[str, Any]] = []
    for chunk in chunks:
        whole |= chunk
        for each in chunk.get("candidates") or []:
            if not each.get("index"):
                candidate |= each
                parts += (each.get("content") or {}).get("parts") or []
    if candidate:
        whole["candidates"] = [{**candidate, "content": {"parts": parts}}]
    return whole


def converse_body(events: list[dict[str, Any]]) -> dict[str, Any]:
    """Write Converse's events as its response without a stream."""
    whole = added_up(events)
    content: list[dict[str, Any]] = []
    for block in whole.blocks:
        if call := block.get("toolUse"):
            content.append({"toolUse": {**call, "input": json.loads(call.get("input") or "{}")}})
        elif reasoning := block.get("reasoningContent"):
            redacted = [b64encode(data).decode() for data in reasoning.get("redacted", [])]
            content += [{"reasoningContent": {"redactedContent": data}} for data in redacted]
            if not redacted:
                content.append({"reasoningContent": {"reasoningText": reasoning}})
        elif citations := block.get("citations"):
            said = {"content": [{"text": block.get("text", "")}], "citations": citations}
            content.append({"citationsContent": said})
        else:
            content.append(block)
    message = {"role": "assistant", "content": content}
    return {"output": {"message": message}, "stopReason": whole.reason, "usage": whole.usage}


def in_one_form(turn: Turn) -> Turn:
    """Write arguments that are JSON in one form: the bodies here were written anew."""
    calls = tuple((call_id, name, json_or_text(text)) for call_id, name, text in turn.calls)
    return replace(turn, calls=calls)


def json_or_text(text: str) -> str:
    """Write a text in one form if it is JSON; blank is an empty object."""
    try:
        return canonical(json.loads(text or "{}"))
    except ValueError:
        return text


def test_recorded_responses_without_a_stream_are_read(corpus: Path) -> None:
    found = 0
    for stream in streams():
        name = f"{stream.name.rpartition('.')[0]}.nonstream.json"
        if not (corpus / name).is_file():
            continue
        found += 1
        body = read(name)
        message = parse_response(body, stream.dialect)
        assert message.complete, name
        assert message.warnings == (), name
        assert detect_dialect(body) is stream.dialect, name
        final = json.loads(body)
        if stream.dialect is Dialect.GEMINI:
            final = {"chunks": [final]}
        if stream.dialect is not Dialect.BEDROCK_CONVERSE:
            theirs = read_final(stream, final)[0]
            assert differing(of_message(message, stream.dialect), theirs) == set(), name
    assert found > 20


# Errors ----------------------------------------------------------------------------------------


def error_bodies() -> Iterator[tuple[str, dict[str, Any]]]:
    for row in manifest():
        if row["file"].startswith("errors/"):
            yield row["file"], json.loads(read(row["file"]))


@pytest.mark.parametrize("dialect", Dialect)
def test_a_recorded_error_is_one_in_any_dialect(corpus: Path, dialect: Dialect) -> None:
    for name, document in error_bodies():
        inner = document.get("error", document)
        message = inner if isinstance(inner, str) else inner["message"]
        if inner is document and "type" in document and document.get("object") != "error":
            # The type is not "error": this says of itself that it is something else.
            continue
        for read_it in (parse_response, decode):
            with pytest.raises(ProviderError) as raised:
                read_it(read(name), dialect)
            assert raised.value.message == message, name
            assert raised.value.before_content, name
            assert raised.value.partial is not None, name
            assert raised.value.partial.content == (), name


# Telling dialects ------------------------------------------------------------------------------


def dialect_of_error(document: dict[str, Any]) -> Dialect | None:
    """Tell whose error a body is by its shape, as far as that tells."""
    error = document.get("error")
    if not isinstance(error, dict):
        return None
    if document.get("type") == "error":
        return Dialect.ANTHROPIC
    return Dialect.GEMINI if "status" in error else Dialect.OPENAI_CHAT


def test_the_dialect_is_told_from_every_body_and_from_no_other(corpus: Path) -> None:
    for row in manifest():
        name = row["file"]
        expected = None if row["framing"] == BARE_EVENTS else dialect_of(row)
        if name.startswith("errors/"):
            expected = dialect_of_error(json.loads(read(name)))
        assert told(read(name)) is expected, name


def test_no_other_file_is_taken_for_a_response(corpus: Path) -> None:
    for row in manifest(OTHER_FILES):
        if (corpus / row["file"]).is_file():
            assert told(read(row["file"])) is None, row["file"]


def told(body: bytes) -> Dialect | None:
    try:
        return detect_dialect(body)
    except UnknownDialect:
        return None
