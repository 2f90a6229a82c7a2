"""OpenAI's two wires, on which calls and results are no blocks of a message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from turntape.errors import InvalidRequest
from turntape.wire.outbound.writer import MEDIA_TYPES, Writer

if TYPE_CHECKING:
    from turntape.conversation import ToolResult
    from turntape.messages import ProviderBlock, RedactedThinkingBlock
    from turntape.replay.pairing import Placed
    from turntape.wire.outbound.parameters import Parameters
    from turntape.wire.outbound.target import Origin
    from turntape.wire.outbound.writer import Call, Part

__all__ = ["FlatWriter", "json_schema_form", "system_role"]


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

    def redacted_part(self, block: RedactedThinkingBlock) -> Part | None:  # noqa: ARG002
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
            if block.type == "text":
                text = self.clean(block.text, index)
                if not text:
                    self.notes.add(
                        "empty_text_dropped", index, "an empty text of a result is left out"
                    )
                    continue
                extra = {}
                if block.extra is not None and origin.is_own_wire:
                    extra = self.extra_of(block.extra, "a text", index)
                parts.append({"type": self.text_type, "text": text, **extra})
            elif block.type == "provider_block":
                part = self.provider_part(block, index, origin)
                parts += [] if part is None else [part]
            elif block.type in MEDIA_TYPES:
                part = self.medium(block, placed, origin)
                if part is not None and self.may_stand_in_result(part):
                    parts.append(part)
                elif part is not None:
                    self.notes.add(
                        "media_moved", index, f"the {block.type} of a result goes after it"
                    )
                    moved.append(part)
            else:
                raise InvalidRequest(f"a result holds no {block.type!r}", index=index, block=place)
        if moved:
            lead = self.target.texts.media_lead.replace("{id}", call.id)
            self._moved += [(index, part) for part in (self.plain_text(lead), *moved)]
        return self._joined(prefix, parts, moved)

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
        return isinstance(part, dict) and part.get("type") == self.text_type

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

    def provider_part(self, block: ProviderBlock, index: int, origin: Origin) -> Part | None:
        return super().provider_part(block, index, origin)

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
