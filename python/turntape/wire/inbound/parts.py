"""The parts of a request that are read alike on every wire."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast, get_args

from turntape.messages import Text
from turntape.requests import (
    DELETE,
    Effort,
    ModelRequest,
    RawTool,
    Reasoning,
    ResponseFormat,
    ToolDef,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from turntape.conversation import Message
    from turntape.requests import CachePolicy, ToolChoice
    from turntape.wire.dialect import Dialect
    from turntape.wire.inbound.raw import Members, Raw
    from turntape.wire.inbound.reader import Reader

__all__ = ["RequestParts"]

_EFFORTS = frozenset(get_args(Effort))


@dataclass(slots=True)
class RequestParts:
    """A body that is being read, and what of the request is known so far.

    What a :class:`ModelRequest` has no place for goes into ``extra`` as it stands, under the names of the
    body, so that building for the same wire gives it back.

    Attributes:
        reader: The reading.
        body: The members of the body that nobody has taken yet.
        target: The wire that the request is meant for, where it is told.
        extra: What has no place.
        tools: The tools.
    """

    reader: Reader
    body: Members
    target: Dialect | None = None
    model: str | None = None
    extra: dict[str, Any] = field(default_factory=dict[str, Any])
    tools: list[ToolDef | RawTool] = field(default_factory=list[ToolDef | RawTool])
    _values: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def is_foreign(self) -> bool:
        """Whether the request is meant for another wire."""
        return self.target is not None and self.target != self.reader.dialect

    def take_model(self, *names: str) -> str:
        """The model, as the caller named it or from the body.

        The turns in the history were made by the one in the body. Where that names none, they were made by the
        caller's, unless that one is another wire's, and then nobody knows.

        Raises:
            InvalidRequest: Neither names one.
        """
        named = self.body.string(*names)
        model = self.model or named
        if not model:
            raise self.body.raw.fail("the body names no model: give model=")
        self._values["model"] = model
        self.reader.model = named or (None if self.is_foreign else model)
        return model

    def set(self, name: str, value: Any) -> None:
        """Set a field of the request, unless the value is None."""
        if value is not None:
            self._values[name] = value

    def set_default(self, name: str, value: Any) -> None:
        """Set a field of the request, unless it is set."""
        self._values.setdefault(name, value)

    def leading_system(self, messages: list[Message]) -> list[Message]:
        """Take the first message for the system text where it is one; give the others.

        Further ones that follow stay messages, which building appends to the system text.
        """
        if not messages or messages[0].role != "system":
            return messages
        first, *others = messages
        texts = tuple(block for block in first.content if isinstance(block, Text))
        if first.extra is not None or len(texts) != len(first.content):
            return messages
        self.reader.places.pop(0)
        self.system(texts[0].text if texts and texts == (Text(texts[0].text),) else texts)
        return others

    def sampling(
        self,
        members: Members,
        *,
        max_tokens: str,
        temperature: str,
        top_p: str,
        stop: str | None = None,
    ) -> None:
        """Read what most wires have, under the names of this one."""
        limit = members.take(max_tokens)
        self.set("max_tokens", None if limit is None else limit.integer())
        for name, wire_name in (("temperature", temperature), ("top_p", top_p)):
            number = members.take(wire_name)
            self.set(name, None if number is None else number.number())
        words = None if stop is None else members.take(stop)
        if words is not None:
            texts = [words] if words.is_string else words.elements()
            self.set("stop", tuple(text.string() for text in texts))

    def keep(self, members: Members, *path: str) -> None:
        """Put what is left of an object below the body into ``extra``."""
        if not members:
            return
        held = self.extra
        for name in path[:-1]:
            held = held.setdefault(name, {})
        held.setdefault(path[-1], {}).update(members.left_values())

    def without(self, name: str) -> None:
        """Keep a member out of the body that building would otherwise add."""
        self.extra[name] = DELETE

    def keep_whole(self, raw: Raw | None, *path: str) -> None:
        """Put a member as it stands into ``extra``."""
        if raw is None:
            return
        held = self.extra
        for name in path[:-1]:
            held = held.setdefault(name, {})
        held[path[-1]] = raw.value()

    def system(self, texts: Sequence[Text] | str | None) -> None:
        """Set the system text; one that says nothing is none."""
        if isinstance(texts, str):
            self.set("system", texts or None)
        elif texts:
            self.set("system", tuple(texts))

    def budget(self, raw: Raw, *path: str, summary: str | None = None) -> None:
        """Set the reasoning by a budget of tokens; a negative one means something else and stays in ``extra``."""
        tokens = raw.integer()
        if tokens >= 0:
            self.set("reasoning", Reasoning(budget_tokens=tokens, summary=summary))
        else:
            self.keep_whole(raw, *path)

    def effort(self, raw: Raw, *path: str, summary: str | None = None) -> bool:
        """Set the reasoning by the name of a level; one that has no name here stays in ``extra``.

        Returns:
            Whether it has one.
        """
        level = raw.string().lower() if raw.is_string else None
        if level not in _EFFORTS:
            self.keep_whole(raw, *path)
            return False
        self.set("reasoning", Reasoning(effort=cast("Effort", level), summary=summary))
        return True

    def summary(self, summary: str | None) -> None:
        """Set what is shown of the reasoning where nothing says how much there is to be."""
        if summary is not None:
            self.set_default("reasoning", Reasoning(summary=summary))

    def function_tool(
        self,
        raw: Raw,
        *,
        name: str | None,
        description: str | None,
        schema: Any,
        strict: bool = False,
        rest: str | None = None,
    ) -> None:
        """Add a tool of the host's.

        One that says more than a :class:`ToolDef` can is kept whole for its own wire; for another one the
        rest is left out, noted.

        Args:
            raw: The element of ``tools``.
            name: The tool's name.
            description: What it does.
            schema: The schema of its arguments; None where it has none.
            strict: Whether the model is held to it.
            rest: What else it says, as a raw object.
        """
        if name is None or not isinstance(schema, dict | None):
            self.raw_tool(raw)
            return
        if rest is not None:
            if not self.is_foreign:
                self.raw_tool(raw)
                return
            self.reader.note(
                "parameter_dropped", f"the tool {name!r} says more than {self.target} takes"
            )
        if schema is None:
            schema = {"type": "object", "properties": {}}
        self.tools.append(ToolDef(name, description or "", cast("dict[str, Any]", schema), strict))

    def raw_tool(self, raw: Raw) -> None:
        """Add a tool that only this wire knows."""
        self.tools.append(RawTool(self.reader.dialect, raw.text))

    def tool_choice(self, choice: ToolChoice | None) -> None:
        """Set the tool choice."""
        self.set("tool_choice", choice)

    def json_schema(self, schema: Raw | None, members: Members, whole: Raw, *path: str) -> None:
        """Set a response format of a schema, whose name, description and strictness stand beside it."""
        name = members.string("name")
        description = members.string("description")
        strict = members.take("strict")
        if schema is None or not schema.is_object:
            self.keep_whole(whole, *path)
            return
        self.set(
            "response_format",
            ResponseFormat(
                "json_schema",
                name,
                schema.value(),
                description,
                None if strict is None else strict.boolean(),
            ),
        )
        if members:
            self.keep_whole(whole, *path)

    def build(self, messages: Sequence[Message], cache: CachePolicy) -> ModelRequest:
        """The request of all that was read, with what is left of the body in ``extra``."""
        extra = {**self.body.left_values(), **self.extra}
        if self.is_foreign:
            self.reader.index = None
            for name in sorted(name for name, value in extra.items() if value is not DELETE):
                self.reader.note("parameter_dropped", f"{name!r} means nothing to {self.target}")
            extra = {}
        request = ModelRequest(messages=messages, **self._values)
        return replace(request, tools=self.tools, cache=cache, extra=extra)
