"""The recorded requests of the corpus: the bodies that led to its streams, and where they went."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import unquote, urlsplit

from tests.corpus.streams import WIRES, manifest, read, root

from turntape import Dialect

__all__ = ["Recorded", "recorded_requests", "requests_by_folder"]

SUFFIX = ".request.json"

_PATHS = (
    (r".*/messages", Dialect.ANTHROPIC),
    (r".*/chat/completions", Dialect.OPENAI_CHAT),
    (r".*/responses", Dialect.OPENAI_RESPONSES),
    (r".*/models/(?P<model>[^/]+):streamGenerateContent", Dialect.GEMINI),
    (r".*/model/(?P<model>[^/]+)/converse-stream", Dialect.BEDROCK_CONVERSE),
    # Cut off in some rows of the manifest.
    (r".*/model/(?P<model>[^/]+)/invoke-with-resp.*", Dialect.ANTHROPIC),
)


@dataclass(frozen=True)
class Recorded:
    """One recorded request.

    Attributes:
        name: Its file, from the corpus's folder.
        dialect: Its dialect; None of a wire that turntape does not speak.
        model: The model that was asked.
        vendor: Who was asked, in the manifest's words.
    """

    name: str
    dialect: Dialect | None
    model: str
    vendor: str

    @property
    def folder(self) -> str:
        """Where it lies, one folder a vendor; bodies of Anthropic's through InvokeModel apart."""
        folder = self.name.rpartition("/")[0]
        if folder == "bedrock":
            return f"{folder} ({'Converse' if self.dialect is Dialect.BEDROCK_CONVERSE else 'InvokeModel'})"
        return folder

    @property
    def data(self) -> bytes:
        """Its bytes."""
        return read(self.name)

    @property
    def body(self) -> dict[str, Any]:
        """The body as values."""
        body: dict[str, Any] = json.loads(self.data)
        return body


@cache
def recorded_requests() -> tuple[Recorded, ...]:
    """Give all recorded requests, by name."""
    rows = {row["file"].rpartition(".")[0]: row for row in manifest()}
    names = sorted(str(path.relative_to(root())) for path in root().rglob(f"*{SUFFIX}"))
    return tuple(_recorded(name, rows[name.removesuffix(SUFFIX)]) for name in names)


def _recorded(name: str, row: dict[str, str]) -> Recorded:
    vendor, _, model = row["vendor/model"].partition("/")
    dialect = WIRES.get(row["wire"])
    # HTTP errors have no wire in the manifest: the path tells what was asked.
    is_error = name.startswith("errors/")
    for pattern, spoken in _PATHS:
        if found := re.fullmatch(pattern, urlsplit(row["url"]).path.rstrip("/")):
            dialect = spoken if is_error else dialect
            model = found.groupdict().get("model") or model
    body = json.loads(read(name))
    if dialect is Dialect.ANTHROPIC and "messages" not in body:
        dialect = None
    if "model/" in row["url"] and dialect is Dialect.ANTHROPIC and "anthropic_version" not in body:
        # Another vendor's model through InvokeModel.
        dialect = None
    return Recorded(name, dialect, str(body.get("model") or unquote(model)), vendor)


def requests_by_folder() -> dict[str, list[Recorded]]:
    """Give the requests, folder by folder."""
    folders: dict[str, list[Recorded]] = {}
    for request in recorded_requests():
        folders.setdefault(request.folder, []).append(request)
    return dict(sorted(folders.items()))
