"""The official clients, replaying recorded bodies without a network."""

from __future__ import annotations

import io
import json
import warnings
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast

import anthropic
import httpx2
import openai
from anthropic.lib.bedrock import AnthropicBedrock
from openai.lib.streaming.chat import ChatCompletionStreamState
from tests.corpus.streams import AWS, JSON_ARRAY

from turntape import Dialect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.corpus.streams import Stream


class Replay(httpx2.BaseTransport):
    """Answers every request with the body that was put in."""

    def __init__(self) -> None:
        self.body = b""
        self.media_type = ""

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer, as the provider would."""
        headers = {"content-type": self.media_type}
        return httpx2.Response(200, headers=headers, content=self.body, request=request)


REPLAY = Replay()


class Rejected(Exception):  # noqa: N818 (an answer to a question, not a fault)
    """The official client does not accept a stream.

    Attributes:
        error: The class of the exception that it raises.
    """

    def __init__(self, cause: Exception) -> None:
        super().__init__(f"{type(cause).__name__}: {cause}")
        self.error = type(cause).__name__


def missing_client(stream: Stream) -> str | None:
    """Name the package that must be installed before a stream can be compared; None if it is."""
    if stream.framing == AWS or stream.dialect is Dialect.BEDROCK_CONVERSE:
        package, module = "botocore", "botocore"
    elif stream.dialect is Dialect.GEMINI:
        package, module = "google-genai", "google.genai"
    else:
        return None
    try:
        return None if find_spec(module) else package
    except ModuleNotFoundError:
        return package


@cache
def final_of(stream: Stream) -> dict[str, Any] | Rejected:
    """Give the final object that the official client makes of a stream.

    Google's and Amazon's clients assemble nothing: of them it is what they make of each event.
    """
    REPLAY.body = sse_of_array(stream.body) if stream.framing == JSON_ARRAY else stream.body
    REPLAY.media_type = "text/event-stream"
    final: Callable[[], dict[str, Any]]
    match stream.dialect:
        case Dialect.ANTHROPIC if stream.framing == AWS:
            REPLAY.media_type = "application/vnd.amazon.eventstream"
            final = invoke_final
        case Dialect.ANTHROPIC:
            final = anthropic_final
        case Dialect.OPENAI_CHAT:
            final = chat_final
        case Dialect.OPENAI_RESPONSES:
            final = responses_final
        case Dialect.GEMINI:
            final = gemini_final
        case Dialect.BEDROCK_CONVERSE:
            final = converse_final
    try:
        with warnings.catch_warnings():
            # Members that the clients do not know make pydantic warn when they are written out.
            warnings.simplefilter("ignore", UserWarning)
            return final()
    except Exception as error:  # noqa: BLE001 (the clients fail in many ways: assertions, index errors, ...)
        return Rejected(error)


def sse_of_array(body: bytes) -> bytes:
    """Frame the elements of a JSON array as events: Google's client reads nothing else."""
    return b"".join(b"data: %b\n\n" % json.dumps(element).encode() for element in json.loads(body))


@cache
def http_client() -> httpx2.Client:
    """Give the client that replays, made at first use."""
    return httpx2.Client(transport=REPLAY)


@cache
def anthropic_client() -> anthropic.Anthropic:
    """Give the client, made at first use."""
    return anthropic.Anthropic(api_key="none", http_client=http_client(), max_retries=0)


@cache
def bedrock_client() -> AnthropicBedrock:
    """Give Anthropic's client for Bedrock, made at first use."""
    return AnthropicBedrock(
        api_key="none", aws_region="eu-west-1", http_client=http_client(), max_retries=0
    )


@cache
def openai_client() -> openai.OpenAI:
    """Give the client, made at first use."""
    return openai.OpenAI(api_key="none", http_client=http_client(), max_retries=0)


@cache
def gemini_client() -> Any:
    """Give Google's client, made at first use."""
    from google import genai

    options = genai.types.HttpOptions(httpx_client=http_client())
    return genai.Client(api_key="none", http_options=options)


@cache
def converse_client() -> Any:
    """Give Amazon's client, made at first use; what it would send is answered from the transport."""
    import botocore.session
    from botocore.awsrequest import AWSResponse
    from botocore.config import Config

    class Raw(io.BytesIO):
        """What urllib3 hands out: a body that is read in pieces."""

        def stream(self) -> Iterator[bytes]:
            yield from iter(lambda: self.read(1024), b"")

    def answer(**_request: object) -> Any:
        return AWSResponse("https://bedrock.example", 200, {}, Raw(REPLAY.body))

    client = botocore.session.Session().create_client(
        "bedrock-runtime",
        region_name="eu-west-1",
        aws_access_key_id="none",
        aws_secret_access_key="none",
        config=Config(retries={"total_max_attempts": 1}),
    )
    client.meta.events.register("before-send", answer)
    return client


def anthropic_final() -> dict[str, Any]:
    """Let Anthropic's client assemble the body that is in the transport."""
    messages = anthropic_client().beta.messages
    with messages.stream(model="any", messages=[], max_tokens=1) as stream:
        return stream.get_final_message().to_dict(mode="json")


def invoke_final() -> dict[str, Any]:
    """Let Anthropic's client for Bedrock assemble the body that is in the transport."""
    # Its methods are those of another class, which its type does not know.
    messages: Any = bedrock_client().beta.messages
    with messages.stream(model="any", messages=[], max_tokens=1) as stream:
        final: dict[str, Any] = stream.get_final_message().to_dict(mode="json")
        return final


def chat_final() -> dict[str, Any]:
    """Let OpenAI's client assemble the body that is in the transport."""
    state: ChatCompletionStreamState[None] = ChatCompletionStreamState()
    completions = openai_client().chat.completions
    for chunk in completions.create(model="any", messages=[], stream=True):
        state.handle_chunk(chunk)
    return state.current_completion_snapshot.to_dict(mode="json")


def responses_final() -> dict[str, Any]:
    """Let OpenAI's client assemble the body that is in the transport.

    Its helper gives a final response only of a completed one: of others it is the terminal event's.
    """
    final: dict[str, Any] | None = None
    with openai_client().responses.stream(model="any", input="") as stream:
        for event in stream:
            if event.type in {"response.completed", "response.incomplete"}:
                final = cast("Any", event).response.to_dict(mode="json")
    if final is None:
        message = "no terminal event came"
        raise ValueError(message)
    return final


def gemini_final() -> dict[str, Any]:
    """Let Google's client read the body that is in the transport, chunk by chunk."""
    chunks = gemini_client().models.generate_content_stream(model="any", contents="any")
    return {
        "chunks": [
            chunk.model_dump(mode="json", by_alias=True, exclude_none=True) for chunk in chunks
        ]
    }


def converse_final() -> dict[str, Any]:
    """Let Amazon's client read the body that is in the transport, event by event."""
    return {"events": list(converse_client().converse_stream(modelId="any", messages=[])["stream"])}
