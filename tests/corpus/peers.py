"""The official clients, replaying recorded bodies without a network."""

from __future__ import annotations

import warnings
from functools import cache
from typing import TYPE_CHECKING, Any

import anthropic
import httpx2
import openai
from openai.lib.streaming.chat import ChatCompletionStreamState

from turntape import Dialect

if TYPE_CHECKING:
    from tests.corpus.streams import Stream


class Replay(httpx2.BaseTransport):
    """Answers every request with the body that was put in."""

    def __init__(self) -> None:
        self.body = b""

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer, as the provider would."""
        headers = {"content-type": "text/event-stream"}
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


@cache
def final_of(stream: Stream) -> dict[str, Any] | Rejected:
    """Give the final object that the official client makes of a stream."""
    REPLAY.body = stream.body
    final = anthropic_final if stream.dialect is Dialect.ANTHROPIC else chat_final
    try:
        with warnings.catch_warnings():
            # Members that the clients do not know make pydantic warn when they are written out.
            warnings.simplefilter("ignore", UserWarning)
            return final()
    except Exception as error:  # noqa: BLE001 (the clients fail in many ways: assertions, index errors, ...)
        return Rejected(error)


@cache
def anthropic_client() -> anthropic.Anthropic:
    """Give the client, made at first use."""
    return anthropic.Anthropic(
        api_key="none", http_client=httpx2.Client(transport=REPLAY), max_retries=0
    )


@cache
def openai_client() -> openai.OpenAI:
    """Give the client, made at first use."""
    return openai.OpenAI(api_key="none", http_client=httpx2.Client(transport=REPLAY), max_retries=0)


def anthropic_final() -> dict[str, Any]:
    """Let Anthropic's client assemble the body that is in the transport."""
    messages = anthropic_client().beta.messages
    with messages.stream(model="any", messages=[], max_tokens=1) as stream:
        return stream.get_final_message().to_dict(mode="json")


def chat_final() -> dict[str, Any]:
    """Let OpenAI's client assemble the body that is in the transport."""
    state: ChatCompletionStreamState[None] = ChatCompletionStreamState()
    completions = openai_client().chat.completions
    for chunk in completions.create(model="any", messages=[], stream=True):
        state.handle_chunk(chunk)
    return state.current_completion_snapshot.to_dict(mode="json")
