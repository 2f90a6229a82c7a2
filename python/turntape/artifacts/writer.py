"""Writing artifacts below one root, for one task of one agent, and reading them again."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from turntape.artifacts.names import default_result_name
from turntape.artifacts.paths import (
    ArtifactKind,
    absolute,
    ask_policy,
    relative_to_root,
    resolve_artifact_path,
    split_relative,
)
from turntape.artifacts.pointer import resolve_steps
from turntape.artifacts.reading import ArtifactChunk, read_chunk
from turntape.artifacts.store import Store, as_storage_failure
from turntape.errors import RedactionFailed

if TYPE_CHECKING:
    from collections.abc import Callable

    from turntape.artifacts.policy import ArtifactPathPolicy
    from turntape.artifacts.redaction import ArtifactRedactor

__all__ = ["ArtifactWriter", "OffloadedArtifact", "Prepared"]
