"""A request that is ready to be sent."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, cast

from turntape.wire.dialect import Dialect
from turntape.wire.raw_json import plain, write_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from turntape.notes import ReplayNote
    from turntape.wire.outbound.prefix import Prefix

__all__ = ["BuiltRequest"]


class BuiltRequest:
    """A request as one provider gets it. It is made by :func:`turntape.build_request` and never changes.

    Attributes:
        dialect: The wire.
        model: The model's id.
        path: The path below the provider's base URL.
        headers: What the wire's format needs, names in lower case; never a credential.
        notes: Everything that was changed, dropped or made up: what concerns the whole request first,
            then message by message.
        id_map: For each id of a call in the history the ids that were sent for its uses, in order.
        name_map: From the tool names that were sent to those of the host, where they differ: what
            ``decode(..., name_map=)`` undoes.
    """

    __slots__ = (
        "_body",
        "_digests",
        "_json",
        "_prefix",
        "_tree",
        "dialect",
        "headers",
        "id_map",
        "model",
        "name_map",
        "notes",
        "path",
    )

    dialect: Dialect
    model: str
    path: str
    headers: Mapping[str, str]
    notes: tuple[ReplayNote, ...]
    id_map: Mapping[str, tuple[str, ...]]
    name_map: Mapping[str, str]

    def __init__(
        self,
        tree: dict[str, Any],
        prefix: Prefix,
        *,
        dialect: Dialect,
        model: str,
        path: str,
        headers: Mapping[str, str],
        notes: tuple[ReplayNote, ...],
        id_map: Mapping[str, tuple[str, ...]],
        name_map: Mapping[str, str],
    ) -> None:
        self._tree = tree
        self._prefix = prefix
        self._json: bytes | None = None
        self._body: dict[str, Any] | None = None
        self._digests: tuple[str, ...] | None = None
        self.dialect = dialect
        self.model = model
        self.path = path
        self.headers = headers
        self.notes = notes
        self.id_map = id_map
        self.name_map = name_map

    def to_json(self) -> bytes:
        """The body as compact UTF-8 JSON.

        The arguments of past calls stand in it as the model wrote them, byte for byte.
        """
        if self._json is None:
            self._json, _ = write_json(self._tree)
        return self._json

    @property
    def body(self) -> dict[str, Any]:
        """The body as Python values: what reading :meth:`to_json` gives."""
        if self._body is None:
            self._body = cast("dict[str, Any]", plain(self._tree))
        return self._body

    @property
    def prefix_digests(self) -> tuple[str, ...]:
        """One digest for each message of the history: of it, and of everything that goes before it.

        Given as ``previous=`` with the next request, they tell whether a message was edited.
        """
        if self._digests is None:
            self._digests = self._prefix.digests()
        return self._digests

    def to_boto3(self) -> dict[str, Any]:
        """The arguments of boto3's ``converse`` or ``converse_stream``, media as bytes.

        Raises:
            TypeError: The request is not for Bedrock.
        """
        if self.dialect is not Dialect.BEDROCK_CONVERSE:
            raise TypeError(f"boto3 speaks bedrock-converse, not {self.dialect.value}")
        arguments = cast("dict[str, Any]", plain(self._tree))
        for message in arguments.get("messages", ()):
            for block in message["content"]:
                _with_bytes(block)
        return {"modelId": self.model, **arguments}

    def __eq__(self, other: object) -> bool:
        """Whether the same would be sent, with the same notes."""
        if not isinstance(other, BuiltRequest):
            return NotImplemented
        ours = (self.dialect, self.path, dict(self.headers), self.notes, self.to_json())
        return ours == (
            other.dialect,
            other.path,
            dict(other.headers),
            other.notes,
            other.to_json(),
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Say where it goes and what was changed, never what is in it."""
        codes = ", ".join(sorted({note.code for note in self.notes}))
        return f"BuiltRequest({self.dialect.value!r}, {self.path!r}, notes: {codes or 'none'})"


def _with_bytes(block: dict[str, Any]) -> None:
    """Put bytes where Bedrock's client encodes them itself."""
    for kind in ("image", "document", "audio", "video"):
        source = block.get(kind, {}).get("source", {})
        if "bytes" in source:
            source["bytes"] = base64.b64decode(source["bytes"])
    reasoning = block.get("reasoningContent", {})
    if "redactedContent" in reasoning:
        reasoning["redactedContent"] = base64.b64decode(reasoning["redactedContent"])
    for inner in block.get("toolResult", {}).get("content", ()):
        _with_bytes(inner)
