"""OpenAI's two wires, on which calls and results are no blocks of a message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from turntape.errors import InvalidRequest
from turntape.wire.outbound.caching import refuse_marks
from turntape.wire.outbound.parts import MEDIA_TYPES
from turntape.wire.outbound.writer import Writer
from turntape.wire.raw_json import RawJson

if TYPE_CHECKING:
    from collections.abc import Callable

    from turntape.conversation import ToolResult
    from turntape.messages import RedactedThinkingBlock
    from turntape.replay.pairing import Placed
    from turntape.wire.outbound.parameters import Parameters, Tool
    from turntape.wire.outbound.parts import Call, Part
    from turntape.wire.outbound.target import Origin

__all__ = [
    "FlatWriter",
    "cache_members",
    "json_schema_form",
    "sampling_members",
    "system_role",
    "tool_members",
]


class FlatWriter(Writer):
    """Writes a history for one of OpenAI's wires."""

    text_type: ClassVar[str] = "text"

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.written: list[dict[str, Any] | Any] = []
        # Whether the last message of the history is the model's, its place, and whether it asks to be
        # sent back.
        self.is_open = False
        self.is_paused = False
        self.last_index = 0
        # Media of results, which follow the results of their round.
        self._moved: list[tuple[int, Part]] = []

    def plain_text(self, text: str) -> Part:
        return {"type": self.text_type, "text": text}

    def put(self, index: int, item: Any, *, is_thinking: bool = False) -> None:
        """Add a message or an item."""
        self.trace.append((index, item, is_thinking))
        self.written.append(item)

    def redacted_part(self, block: RedactedThinkingBlock, placed: Placed) -> Part | None:
        return None

    @property
    def may_end(self) -> bool:
        """Whether a turn of the model's may stand last."""
        prefill = self.target.habits.prefill
        takes = self.target.capabilities.prefill if prefill is None else prefill
        return self.is_paused or takes

    def answer(
        self, call: Call, result: ToolResult, placed: Placed, place: int, origin: Origin
    ) -> str | list[Part]:
        """What a result says: a text where it is one, else a list of parts."""
        index = placed.index
        prefix = self._error_prefix(result, call, index)
        if isinstance(result.content, str):
            text = self.clean(result.content, index)
            return prefix + text if text else prefix.strip().rstrip(":")
        parts: list[Part] = []
        moved: list[Part] = []
        for block in result.content:
            part = self._answer_part(block, placed, place, origin)
            if part is None or self.may_stand_in_result(part):
                parts += [] if part is None else [part]
            else:
                self.notes.add("media_moved", index, f"the {block.type} of a result goes after it")
                moved.append(part)
        if moved:
            lead = self.target.texts.media_lead.replace("{id}", call.id)
            self._moved += [(index, part) for part in (self.plain_text(lead), *moved)]
        return self._joined(prefix, parts, moved)

    def _answer_part(self, block: Any, placed: Placed, place: int, origin: Origin) -> Part | None:
        """A block of a result; None where nothing is left of it."""
        index = placed.index
        if block.type == "text":
            text = self.clean(block.text, index)
            if not text:
                self.notes.add("empty_text_dropped", index, "an empty text of a result is left out")
                return None
            extra: dict[str, Any] = {}
            if block.extra is not None and origin.is_own_wire:
                extra = self.extra_of(block.extra, "a text", index)
            return {"type": self.text_type, "text": text, **extra}
        if block.type == "provider_block":
            return self.provider_part(block, placed, origin)
        if block.type in MEDIA_TYPES:
            return self.medium(block, placed, origin)
        raise InvalidRequest(f"a result holds no {block.type!r}", index=index, block=place)

    def _joined(self, prefix: str, parts: list[Part], moved: list[Part]) -> str | list[Part]:
        if not parts and moved:
            parts = [self.plain_text(self.target.texts.media_moved)]
        if prefix and parts:
            first = parts[0]
            if isinstance(first, dict) and set(first) == {"type", "text"}:
                parts[0] = self.plain_text(prefix + first["text"])
            else:
                parts.insert(0, self.plain_text(prefix.strip()))
        if not parts:
            return prefix.strip().rstrip(":")
        first = parts[0]
        if len(parts) == 1 and isinstance(first, dict) and set(first) == {"type", "text"}:
            return str(first["text"])
        return parts

    def may_stand_in_result(self, part: Part) -> bool:
        """Whether a part that a message of the user's may hold may stand in a result too."""
        return isinstance(part, RawJson) or part.get("type") == self.text_type

    def _error_prefix(self, result: ToolResult, call: Call, index: int) -> str:
        if not result.is_error:
            return ""
        self.notes.add(
            "error_prefix_added", index, f"the result of {call.id!r} failed: its text says so"
        )
        return self.target.texts.error_prefix

    def flush_moved(self) -> None:
        """Write the media that follow the results of a round."""
        if not self._moved:
            return
        index = self._moved[-1][0]
        self.put(index, self.user_message([part for _, part in self._moved]))
        self._moved = []

    def user_message(self, parts: list[Part]) -> dict[str, Any]:
        """A message of the user's of parts."""
        raise NotImplementedError

    def end(self) -> None:
        """Bring the end of the history into a form that may stand last.

        Raises:
            InvalidRequest: It may not.
        """
        self.flush_moved()
        if not self.is_open:
            return
        if self.may_end:
            self.trim()
            return
        if not self.target.repairs:
            raise InvalidRequest(
                f"the history ends with a turn of the model's, and {self.target.model} takes no prefill; "
                "repair='repair' closes it with a short message of the user's",
                index=self.last_index,
            )
        self.written.append(self.user_message([self.plain_text(self.target.texts.closing)]))
        self.notes.add(
            "prefill_closed", self.last_index, "a short message of the user's goes after it"
        )

    def trim(self) -> None:
        """Take the white space from the end of a prefill."""
        raise NotImplementedError


def sampling_members(parameters: Parameters, *, is_thinking: bool) -> dict[str, Any]:
    """The members ``temperature`` and ``top_p``, as far as they are given and taken."""
    temperature, top_p = parameters.sampling(is_thinking=is_thinking)
    members = {"temperature": temperature, "top_p": top_p}
    return {name: value for name, value in members.items() if value is not None}


def cache_members(parameters: Parameters) -> dict[str, Any]:
    """The member that routes a conversation to one cache, where one is asked for and taken."""
    policy = parameters.request.cache
    refuse_marks(policy, parameters.notes)
    if policy.key is None:
        return {}
    if not parameters.target.habits.prompt_cache_key:
        parameters.notes.add("cache_control_dropped", None, "the vendor has no key of the cache")
        return {}
    return {"prompt_cache_key": parameters.clean(policy.key, "the key of the cache")}


def tool_members(
    parameters: Parameters, tools: list[Tool | RawJson], one: Callable[[str], dict[str, Any]]
) -> dict[str, Any]:
    """The members that say which tools may be called, and how many at once.

    Args:
        parameters: The parameters.
        tools: The tools.
        one: How the wire names the one tool that must be called.
    """
    members: dict[str, Any] = {}
    habits = parameters.target.habits
    kind = parameters.tool_choice(tools, is_thinking=False)
    if kind is not None and kind not in habits.tool_choices:
        parameters.drop("tool_choice", f"the vendor does not take {kind!r}")
    elif kind is not None:
        choice = parameters.request.tool_choice
        named = choice.name if choice is not None else None
        words: dict[str, Any] = {"required": habits.tool_choice_required}
        members["tool_choice"] = words.get(kind, kind) if named is None else one(named)
    parallel = parameters.parallel(tools)
    return members if parallel is None else members | {"parallel_tool_calls": parallel}


def system_role(writer: FlatWriter) -> str:
    """The role of what the host says."""
    target = writer.target
    wants = target.capabilities.developer_role and target.habits.developer_role
    return "developer" if wants else "system"


def json_schema_form(parameters: Parameters) -> dict[str, Any] | None:
    """The schema of the answer with what stands beside it; None where none is asked for."""
    form = parameters.schema()
    if form is None:
        return None
    name, description, schema = form
    written: dict[str, Any] = {"name": name or "answer"}
    if description is not None:
        written["description"] = description
    written["schema"] = schema
    response_format = parameters.request.response_format
    if response_format is not None and response_format.strict is not None:
        written["strict"] = response_format.strict
    return written
