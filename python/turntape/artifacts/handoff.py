"""A record in the log of every artifact that goes from one agent to another."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["HandoffStage", "note_artifact_handoff"]

HandoffStage: TypeAlias = Literal["recorded_by_child", "consumed_by_parent"]
"""Where an artifact is on its way from the agent that made it to the one that asked for it."""

_LOGGER = logging.getLogger("turntape.artifacts")


def note_artifact_handoff(stage: HandoffStage, agent: str, task: str, paths: Iterable[str]) -> int:
    """Write one record a path into the log ``turntape.artifacts``, at the level INFO.

    Each record has the attributes ``artifact_stage``, ``artifact_agent``, ``artifact_task`` and
    ``artifact_path``; its message says the same in JSON.

    Args:
        stage: Who has the artifacts now.
        agent: Who made them.
        task: For which task.
        paths: Their paths as the conversation knows them.

    Returns:
        How many records were written.

    Raises:
        ValueError: There is no such stage.

    >>> note_artifact_handoff("recorded_by_child", "scout", "t1", ["outputs/scout/t1-result.md"])
    1
    """
    if stage not in get_args(HandoffStage):
        raise ValueError(f"{stage!r} is no stage of a handoff")
    if isinstance(paths, str):
        raise TypeError("`paths` are several; one path is a list of one")
    count = 0
    for path in paths:
        told = {"stage": stage, "agent": agent, "task": task, "path": path}
        extra = {f"artifact_{name}": value for name, value in told.items()}
        # Escaped as JSON, so that no name begins a line of its own.
        _LOGGER.info("artifact handoff %s", json.dumps(told), extra=extra)
        count += 1
    return count
