"""Sending an answer: at its pace, in its pieces, and broken off where it breaks off."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from starlette.responses import Response

from turntape.serving.playback import scheduled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import Message, Receive, Scope, Send

    from turntape.serving.answers import Answer
    from turntape.serving.playback import Playback

__all__ = ["TurnResponse"]


class TurnResponse(Response):
    """An answer on its way.

    An answer that breaks off as a lost connection returns without the end that ASGI asks for: the server
    then closes the connection without the end that HTTP asks for, which is what the client is to see.

    Args:
        answer: The answer.
        playback: How it is played.
        headers: Its headers, beside those that go with its form.
        sending: Holds this while it is being sent.
    """

    def __init__(
        self,
        answer: Answer,
        playback: Playback,
        headers: Mapping[str, str],
        sending: set[TurnResponse],
    ) -> None:
        """Prepare the headers."""
        streamed = answer.form != "response"
        # The length of a stream is not told, because no provider knows it.
        body = b"" if streamed or not answer.whole else b"".join(answer.pieces)
        super().__init__(body, answer.status, headers, answer.media_type)
        if streamed or not answer.whole:
            del self.headers["content-length"]
            self.headers["cache-control"] = "no-cache"
        self._answer = answer
        self._playback = playback
        self._sending = sending
        self._task: asyncio.Task[None] | None = None

    def break_off(self) -> None:
        """Send no more of it."""
        if self._task is not None:
            self._task.cancel()

    async def __call__(
        self,
        scope: Scope,  # noqa: ARG002 (ASGI's form)
        receive: Receive,
        send: Send,
    ) -> None:
        """Send it, until it ends or the client goes away."""
        start = {
            "type": "http.response.start",
            "status": self.status_code,
            "headers": self.raw_headers,
        }
        await send(start)
        if not self._playback.tempo and self._playback.chunk is None:
            # Nothing to wait for, and so nobody to watch.
            await self._send(send)
            return
        self._sending.add(self)
        self._task = asyncio.create_task(self._send(send))
        gone = asyncio.create_task(_disconnected(receive))
        try:
            await asyncio.wait({self._task, gone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._sending.discard(self)
            for task in (self._task, gone):
                task.cancel()
            sent, _ = await asyncio.gather(self._task, gone, return_exceptions=True)
        if isinstance(sent, Exception):
            raise sent

    async def _send(self, send: Send) -> None:
        for pause, piece in scheduled(self._answer.pieces, self._playback):
            # Without a pause the others have their turn all the same.
            await asyncio.sleep(pause)
            await send(_body(piece, more=True))
        if self._answer.whole or self._playback.ending == "clean":
            await send(_body(b"", more=False))


def _body(piece: bytes, *, more: bool) -> Message:
    return {"type": "http.response.body", "body": piece, "more_body": more}


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
