r"""The providers' files of batch results.

>>> line = b'{"custom_id":"a","result":{"type":"expired"}}\n'
>>> [(custom_id, error)] = iter_batch_results(line, "anthropic")
>>> custom_id, error.kind, error.retryable
('a', 'expired', True)
"""

from __future__ import annotations

import json
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, cast

from turntape._native import parse_response
from turntape.errors import (
    BatchLineError,
    InvalidRequest,
    ProviderError,
    StreamError,
    TruncatedStream,
)
from turntape.messages import AssistantMessage
from turntape.wire.dialect import Dialect
from turntape.wire.inbound.raw import Raw, object_text, source_text

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, MutableSequence

__all__ = ["iter_batch_results"]

_Line: TypeAlias = "str | bytes | bytearray | memoryview"
_Outcome: TypeAlias = "AssistantMessage | ProviderError"

_BLANK = " \t\r\n"
_BYTE_ORDER_MARK = "\ufeff"
_FIRST_FAULT_STATUS = 400

# Google may report the code of gRPC as a number; elsewhere its wire calls the same fault by this name.
_GRPC_NAMES = (
    "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
    "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE",
    "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
)  # fmt: skip

# What became of requests that were never answered.
_UNANSWERED = {
    "canceled": "the batch was cancelled before this request was sent to the model",
    "expired": "the batch expired before this request was sent to the model",
}

# The same request may be sent once more: nobody has looked at it.
_EXPIRED = frozenset({"expired", "batch_expired"})


def iter_batch_results(
    lines: Iterable[_Line] | _Line,
    dialect: Dialect | str,
    *,
    choice: int = 0,
    strict: bool = False,
    server_tools: Collection[str] | None = None,
    name_map: Mapping[str, str] | None = None,
    vendor: str | None = None,
    faults: MutableSequence[BatchLineError] | None = None,
) -> Iterator[tuple[str, AssistantMessage | ProviderError]]:
    r"""Read a batch's results, line by line as they come.

    What a line looks like tells whose it is: Anthropic's Message Batches, OpenAI's Batch API (outputs and
    errors) and its imitators', Gemini's batch mode, Bedrock's batch inference. The dialect says how the
    responses in it are written.

    Args:
        lines: An open file, text or binary, or any other iterable of lines; or the whole of a file. Blank
            lines are passed over, and so is a byte order mark before the first.
        dialect: The dialect of the responses, as for ``parse_response``, like the options that follow.
        choice: Which choice or candidate of a response to take.
        strict: Whether the first warning fails a response.
        server_tools: Names of tools that the provider runs itself.
        name_map: From tool names on the wire to the host's names.
        vendor: The host's name for the provider, kept on the messages.
        faults: Gets the lines that hold no result, in place of an exception for each.

    Returns:
        An iterator of the request's own id (``custom_id``, ``key`` or ``recordId``) and its outcome: the
        message, or the provider's fault, not raised. The order is that of the file, which need not be
        that of the requests.

    Raises:
        BatchLineError: A line holds no result: it is no JSON object, names no request, or its response
            is no whole turn. Only while iterating, and the iterator is still good: its next item is that
            of the next line.
        TypeError: A line is neither text nor bytes.
        ValueError: The dialect is no dialect, or an option has no such value.

    >>> lines = [
    ...     '{"custom_id": "a", "response": {"status_code": 200, "body": {"choices": [{"message": {"content":'
    ...     ' "Hi"}, "finish_reason": "stop"}]}}, "error": null}',
    ...     '{"custom_id": "b", "response": null, "error": {"code": "batch_expired", "message": "Too late"}}',
    ... ]
    >>> for custom_id, result in iter_batch_results(lines, "openai-chat"):
    ...     print(custom_id, getattr(result, "content", result))
    a (Text(text='Hi', citations=(), signature=None, extra=None),)
    b [batch_expired] Too late
    """
    dialect = Dialect(dialect)
    parse = partial(
        parse_response,
        dialect=dialect,
        choice=choice,
        strict=strict,
        server_tools=server_tools,
        name_map=name_map,
        vendor=vendor,
    )
    # Options that are not good fail now, not with the first line.
    with suppress(TruncatedStream):
        parse(b"")
    return _Results(_lines_of(lines), _LineReader(parse, dialect, vendor), faults)


def _lines_of(lines: Iterable[_Line] | _Line) -> Iterator[_Line]:
    if isinstance(lines, str):
        return iter(lines.split("\n"))
    if isinstance(lines, bytes | bytearray | memoryview):
        return iter(bytes(lines).split(b"\n"))
    return iter(lines)


class _Results:
    """Goes from line to line; an exception does not end it, unlike a generator."""

    def __init__(
        self,
        lines: Iterator[_Line],
        reader: _LineReader,
        faults: MutableSequence[BatchLineError] | None,
    ) -> None:
        self._lines = lines
        self._reader = reader
        self._faults = faults
        self._number = 0

    def __iter__(self) -> _Results:
        return self

    def __next__(self) -> tuple[str, _Outcome]:
        for line in self._lines:
            self._number += 1
            try:
                if text := self._text(line):
                    return self._reader.read(text)
                continue
            except (InvalidRequest, StreamError) as error:
                fault = self._fault(error)
            if self._faults is None:
                raise fault
            self._faults.append(fault)
        raise StopIteration

    def _text(self, line: _Line) -> str:
        """The line without what is blank around it."""
        # A caller's list may hold anything.
        given = cast("object", line)
        if isinstance(given, bytes | bytearray | memoryview):
            try:
                given = bytes(cast("bytes", given)).decode()
            except UnicodeDecodeError as error:
                self._reader.custom_id = None
                raise InvalidRequest(f"it is not UTF-8: byte {error.start}") from None
        if not isinstance(given, str):
            raise TypeError(
                f"line {self._number} is neither text nor bytes but {type(given).__name__}"
            )
        if self._number == 1:
            given = given.removeprefix(_BYTE_ORDER_MARK)
        return given.strip(_BLANK)

    def _fault(self, error: InvalidRequest | StreamError) -> BatchLineError:
        custom_id = self._reader.custom_id
        what = "it" if custom_id is None else f"the result of {custom_id!r}"
        why = f"{what} is no whole turn: {error}" if isinstance(error, StreamError) else str(error)
        fault = BatchLineError(
            f"line {self._number}: {why}", line=self._number, custom_id=custom_id
        )
        fault.__cause__ = error.with_traceback(None)
        return fault


class _LineReader:
    """Reads one line at a time.

    Attributes:
        custom_id: Whose result the last line was, None where it did not say.
    """

    def __init__(
        self, parse: Callable[[str], AssistantMessage], dialect: Dialect, vendor: str | None
    ) -> None:
        self._parse = parse
        self._nothing = AssistantMessage(dialect=dialect, vendor=vendor)
        self.custom_id: str | None = None

    def read(self, text: str) -> tuple[str, _Outcome]:
        """Read a line.

        Raises:
            InvalidRequest: It has not the shape of a result.
            StreamError: The response in it is no whole turn.
        """
        self.custom_id = None
        members = Raw(source_text(text)).members()
        custom_id = self.custom_id = _custom_id(members)
        if "result" in members:
            return custom_id, self._anthropic(members["result"])
        # An error that is there but empty says that there was none.
        if "error" in members and members["error"].text not in {"{}", '""'}:
            return custom_id, self._fault(members["error"])
        if "modelOutput" in members:
            return custom_id, self._turn(members["modelOutput"].text)
        if "response" in members:
            return custom_id, self._response(members["response"])
        raise InvalidRequest("it holds neither a result, a response nor an error")

    def _anthropic(self, result: Raw) -> _Outcome:
        members = result.members()
        if "type" not in members:
            raise result.fail("'type' is missing")
        kind = members["type"].string()
        if kind == "succeeded" and "message" in members:
            return self._turn(members["message"].text)
        if kind == "errored" and "error" in members:
            return self._fault(members["error"])
        if kind in _UNANSWERED:
            return ProviderError(
                _UNANSWERED[kind],
                kind=kind,
                retryable=kind in _EXPIRED,
                partial=self._nothing,
                raw=result.text,
            )
        raise result.fail(f"a result of type {kind!r} has not what belongs to it, or is not known")

    def _response(self, response: Raw) -> _Outcome:
        members = response.members()
        if "status_code" not in members:
            return self._turn(response.text)
        status = members["status_code"].integer()
        if status >= _FIRST_FAULT_STATUS:
            body = members.get("body")
            return self._fault(response if body is None else body, status, silent=body is None)
        if "body" not in members:
            raise response.fail("'body' is missing")
        return self._turn(members["body"].text)

    def _turn(self, body: str) -> _Outcome:
        try:
            return self._parse(body)
        except ProviderError as error:
            return error.with_traceback(None)

    def _fault(
        self, said: Raw, status: int | None = None, *, silent: bool = False
    ) -> ProviderError:
        """Read what a provider says of a fault, as the decoder reads it that comes alone."""
        fault, text = self._read_fault("{}" if silent else _error_object(said), status)
        if fault is None and status is not None:
            # The status alone is a fault.
            words = f"the response has the status {status}, and says no more"
            fault, text = self._read_fault(object_text([("message", json.dumps(words))]), status)
        if fault is None:
            raise said.fail("it is no error")
        fault.raw = said.text
        if fault.message == text:
            # It has no words, and the decoder took the document as it stands.
            fault.message = said.text
            fault.args = (said.text,)
        fault.retryable = fault.retryable or fault.kind in _EXPIRED
        return fault

    def _read_fault(self, error: str, status: int | None) -> tuple[ProviderError | None, str]:
        """The fault that an error is, if it is one, and the document in which it was read."""
        document = {"error": error}
        if status is not None:
            document["status_code"] = str(status)
        text = object_text(document.items())
        try:
            self._parse(text)
        except ProviderError as fault:
            return fault.with_traceback(None), text
        except StreamError:
            pass
        return None, text


def _custom_id(members: Mapping[str, Raw]) -> str:
    for name in ("custom_id", "key", "recordId"):
        if name in members:
            return members[name].string()
    metadata = members.get("metadata")
    if metadata is not None and "key" in (inner := metadata.members()):
        return inner["key"].string()
    raise InvalidRequest("it names no request: it has neither custom_id, key nor recordId")


def _error_object(said: Raw) -> str:
    """The innermost error, spelled as the decoder knows it."""
    if said.is_string:
        return said.text
    if not said.is_object:
        return object_text([("message", json.dumps(said.text))])
    members = said.members()
    if "error" in members:
        return _error_object(members["error"])
    pairs = [(literal, value) for _, literal, value in said.pairs()]
    for name, own in (("errorCode", "code"), ("errorMessage", "message")):
        if name in members:
            pairs.append((own, members[name].text))
    code = members.get("code")
    if code is not None and code.text.isdigit() and "status" not in members:
        number = int(code.text[:4])
        if 0 < number < len(_GRPC_NAMES):
            pairs.append(("status", f'"{_GRPC_NAMES[number]}"'))
    return object_text(pairs)
