"""What the parameters of a request have in common, whatever the wire."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from turntape.errors import InvalidRequest, UnsupportedContent
from turntape.requests import RawTool
from turntape.wire.dialect import Dialect
from turntape.wire.outbound.raw import raw_object
from turntape.wire.outbound.surrogates import mended_text
from turntape.wire.raw_json import RawJson, write_json

if TYPE_CHECKING:
    from turntape.requests import ModelRequest, ToolDef
    from turntape.wire.outbound.notes import Notes
    from turntape.wire.outbound.target import Target

__all__ = ["Parameters", "Tool"]

_GREATEST_SAMPLING: Final = {Dialect.ANTHROPIC: 1, Dialect.BEDROCK_CONVERSE: 1}
"""The greatest ``temperature`` and ``top_p``, where the wire itself and not the model says it."""

_TYPED_SCHEMAS: Final = frozenset({Dialect.ANTHROPIC, Dialect.BEDROCK_CONVERSE})
"""The wires on which the schema of a tool must have the type ``object``."""


# Not frozen, as of `RawJson`: a request has one for each of its tools.
@dataclass(slots=True)
class Tool:
    """A tool of the host's, ready to be written. Nobody changes one.

    Attributes:
        name: Its name.
        description: What it does; empty for none.
        schema: The schema of its arguments.
        strict: Whether the model is to be held to it, and can be.
    """

    name: str
    description: str
    schema: RawJson
    strict: bool


class Parameters:
    """The parameters of a request, checked as they are read.

    Attributes:
        request: The request.
        target: Whom it is for.
        notes: Gets what was left out.
    """

    __slots__ = ("notes", "request", "target")

    def __init__(self, request: ModelRequest, target: Target, notes: Notes) -> None:
        self.request = request
        self.target = target
        self.notes = notes

    def drop(self, name: str, why: str) -> None:
        """Leave a parameter out, noted, or refuse it.

        Raises:
            InvalidRequest: What is not taken is to be refused.
        """
        if self.target.refuses:
            raise InvalidRequest(f"{name} cannot be sent: {why}")
        self.notes.add("parameter_dropped", None, f"{name} is left out: {why}")

    def clean(self, text: str, what: str) -> str:
        """A text that UTF-8 can hold."""
        mended = mended_text(text)
        if mended is None:
            return text
        self.notes.add("surrogate_replaced", None, f"half a surrogate pair in {what}")
        return mended

    def value(self, value: Any, what: str) -> RawJson:
        """A value of the host's as JSON, its members in their order.

        Raises:
            InvalidRequest: It has no JSON text.
        """
        try:
            text, replaced = write_json(value)
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidRequest(f"{what} cannot be written as JSON: {error}") from None
        if replaced:
            self.notes.add("surrogate_replaced", None, f"half a surrogate pair in {what}")
        return RawJson(text.decode())

    def system_texts(self) -> list[str]:
        """What the host says before everything, but for what says nothing."""
        system = self.request.system
        texts = [system] if isinstance(system, str) else [block.text for block in system or ()]
        if not isinstance(system, str) and any(block.extra is not None for block in system or ()):
            self.notes.add(
                "content_unsupported", None, "what the system text carries beside it is left out"
            )
        return [
            self.clean(text, "the system text") for text in texts if text and not text.isspace()
        ]

    def tools(self) -> list[Tool | RawJson]:
        """The tools: the host's own, and those of this dialect as they stand.

        Raises:
            InvalidRequest: A name cannot be sent, occurs twice, or a schema is no JSON.
            UnsupportedContent: A tool of another dialect.
        """
        tools: list[Tool | RawJson] = []
        for tool in self.request.tools:
            if isinstance(tool, RawTool):
                if tool.dialect != self.target.dialect:
                    raise UnsupportedContent(
                        f"a tool of {tool.dialect.value} means nothing to {self.target.dialect.value}"
                    )
                tools.append(raw_object(tool.json, "a tool", None, self.notes))
            else:
                tools.append(self._tool(tool))
        if tools and not self.target.capabilities.tools:
            self.drop("tools", "the model takes none")
            return []
        return tools

    def _tool(self, tool: ToolDef) -> Tool:
        what = f"the schema of the tool {tool.name!r}"
        strict = tool.strict
        if strict and not (self.target.capabilities.strict_tools and self.target.habits.strict):
            self.drop("strict", f"the model cannot be held to {what}")
            strict = False
        description = self.clean(tool.description, f"the description of {tool.name!r}")
        schema = self.value(tool.input_schema, what)
        if schema.text == "{}" and self.target.dialect in _TYPED_SCHEMAS:
            # They want to be told that arguments are an object, which they are anyway.
            schema = RawJson('{"type":"object"}')
        return Tool(tool.name, description, schema, strict)

    def number(self, name: str, value: float | None) -> float | None:
        """A number that JSON can say.

        Raises:
            InvalidRequest: It is not finite.
        """
        given = cast("object", value)
        if value is not None and (isinstance(given, bool) or not isinstance(given, int | float)):
            raise InvalidRequest(f"{name} is a number, not {value!r}")
        if value is not None and not math.isfinite(value):
            raise InvalidRequest(f"{name} is no finite number")
        return value

    def _within_range(self, name: str, value: float | None) -> float | None:
        """A number of sampling, if the wire says how great it may be and it is not greater."""
        value = self.number(name, value)
        most = _GREATEST_SAMPLING.get(self.target.dialect)
        if value is None or most is None or 0 <= value <= most:
            return value
        self.drop(name, f"this wire takes 0 to {most}, not {value}")
        return None

    def sampling(self, *, is_thinking: bool) -> tuple[float | None, float | None]:
        """``temperature`` and ``top_p``, as far as the model takes them."""
        takes = self.target.capabilities
        temperature = self._within_range("temperature", self.request.temperature)
        top_p = self._within_range("top_p", self.request.top_p)
        if temperature is not None and not takes.temperature:
            self.drop("temperature", "the model does not take it")
            temperature = None
        if top_p is not None and not takes.top_p:
            self.drop("top_p", "the model does not take it")
            top_p = None
        if is_thinking and not takes.sampling_while_thinking:
            for name, value in (("temperature", temperature), ("top_p", top_p)):
                if value is not None:
                    self.drop(name, "the model does not take it while it thinks")
            return None, None
        if temperature is not None and top_p is not None and not takes.temperature_with_top_p:
            self.drop("top_p", "the model does not take it together with temperature")
            top_p = None
        return temperature, top_p

    def stop_words(self, limit: int | None = None) -> list[str]:
        """The stop words, as far as the model takes them."""
        words = [self.clean(word, "a stop word") for word in self.request.stop]
        if words and not self.target.capabilities.stop:
            self.drop("stop", "the model takes no stop words")
            return []
        if limit is not None and len(words) > limit:
            self.drop("stop", f"only the first {limit} words are taken")
            return words[:limit]
        return words

    def max_tokens(self, *, least: int = 1) -> int | None:
        """The limit on the answer.

        Args:
            least: The least that the wire takes.

        Raises:
            InvalidRequest: It is less.
        """
        limit = self.request.max_tokens
        given = cast("object", limit)
        if limit is not None and (isinstance(given, bool) or not isinstance(given, int)):
            raise InvalidRequest(f"max_tokens is an integer, not {limit!r}")
        if limit is not None and limit < least:
            raise InvalidRequest(f"max_tokens is at least {least}, not {limit}")
        return limit

    def tool_choice(self, tools: list[Tool | RawJson], *, is_thinking: bool) -> str | None:
        """The type of the tool choice, if it can be said.

        Raises:
            InvalidRequest: It names a tool that the request does not have.
        """
        choice = self.request.tool_choice
        if choice is None:
            return None
        if choice.type == "tool":
            # Those that were asked for: a model that takes no tools is no mistake of the choice.
            asked = self.request.tools
            names = {tool.name for tool in asked if not isinstance(tool, RawTool)}
            if choice.name not in names and len(names) == len(asked):
                raise InvalidRequest(
                    f"tool_choice names {choice.name!r}, which is none of the tools"
                )
        if not tools:
            self.drop("tool_choice", "there are no tools")
            return None
        takes = self.target.capabilities
        if choice.type not in takes.tool_choices:
            self.drop("tool_choice", f"the model does not take {choice.type!r}")
            return None
        if is_thinking and choice.type not in takes.tool_choices_while_thinking:
            self.drop("tool_choice", f"the model does not take {choice.type!r} while it thinks")
            return None
        return choice.type

    def parallel(self, tools: list[Tool | RawJson]) -> bool | None:
        """Whether parallel calls are welcome, if that has to be said and can be."""
        parallel = self.request.parallel_tool_calls
        if parallel is None:
            return None
        if not tools:
            self.drop("parallel_tool_calls", "there are no tools")
            return None
        takes = self.target.capabilities.parallel_tool_calls
        if not (takes and self.target.habits.parallel_tool_calls):
            if not parallel:
                self.drop("parallel_tool_calls", "parallel calls cannot be switched off")
            return None
        return parallel

    @property
    def is_off(self) -> bool:
        """Whether the model is asked not to think."""
        reasoning = self.request.reasoning
        return reasoning is not None and (
            reasoning.effort == "none" or reasoning.budget_tokens == 0
        )

    @property
    def thinks_anyway(self) -> bool:
        """Whether the model thinks, or may, where nothing is said of it."""
        takes = self.target.capabilities
        return takes.thinks_by_default or (bool(takes.thinking) and takes.thinking_off is None)

    def effort(self) -> str | None:
        """The effort as a word of the wire, for an effort or a budget; None where none can be said."""
        reasoning = self.request.reasoning
        if reasoning is None:
            return None
        takes = self.target.capabilities
        if reasoning.effort is not None:
            sent = takes.nearest_effort(reasoning.effort)
            if sent is None:
                self.drop("reasoning", "the model takes no effort")
                return None
            if sent != reasoning.effort:
                self.notes.add("effort_mapped", None, f"{reasoning.effort!r} is sent as {sent!r}")
            return sent
        if reasoning.budget_tokens is None:
            return None
        sent = takes.effort_of_budget(reasoning.budget_tokens)
        if sent is None:
            self.drop("reasoning", "the model takes no effort")
            return None
        self.notes.add(
            "effort_mapped",
            None,
            f"a budget of {reasoning.budget_tokens} tokens is sent as {sent!r}",
        )
        return sent

    def schema(self) -> tuple[str | None, str | None, RawJson] | None:
        """Name, description and schema of the answer's form, where one is asked for and can be sent."""
        form = self.request.response_format
        if form is None or form.type != "json_schema" or form.schema is None:
            return None
        if not (self.target.capabilities.json_schema and self.target.habits.json_schema):
            self.drop("response_format", "the model cannot be held to a schema")
            return None
        name = None if form.name is None else self.clean(form.name, "the name of the schema")
        description = form.description
        if description is not None:
            description = self.clean(description, "the description of the schema")
        return name, description, self.value(form.schema, "the schema of the answer")

    def wants_json_object(self, *, can_say: bool = True) -> bool:
        """Whether any JSON object is asked for, and can be."""
        form = self.request.response_format
        if form is None or form.type != "json_object":
            return False
        if can_say and self.target.capabilities.json_object and self.target.habits.json_object:
            return True
        self.drop("response_format", "a JSON object without a schema cannot be asked for")
        return False
