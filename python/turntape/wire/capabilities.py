"""What models take, as data: one table, a row a model family, dated, extended by the host.

>>> from turntape.wire.dialect import Dialect
>>> CAPABILITIES.of("claude-opus-4-7", Dialect.ANTHROPIC).family
'claude-opus-4.7'
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

    from turntape.requests import Effort
    from turntape.wire.dialect import Dialect

__all__ = ["CAPABILITIES", "Capabilities", "CapabilityTable", "Thinking", "maker_of", "model_name"]

Thinking: TypeAlias = Literal["adaptive", "budget", "level", "effort"]
"""A way to ask for thinking: ``adaptive`` (Anthropic; the model decides, an effort guides it), ``budget``
(a number of tokens: older Claude, Gemini 2.5), ``level`` (Gemini 3), ``effort`` (OpenAI and imitators)."""

ToolChoiceType: TypeAlias = Literal["auto", "none", "required", "tool"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What one family of models takes: a row of the table.

    Attributes:
        family: The family's name.
        maker: Who made the models, whoever serves them: ``anthropic``, ``openai``, ``google``, …
        models: A regular expression that the whole plain name of each model matches; see
            :func:`model_name`.
        dialects: Where the row counts; empty for everywhere.
        released: When the family came out, ``YYYY-MM-DD`` or ``YYYY-MM``; empty where unknown.
        as_of: When the row was last checked, ``YYYY-MM-DD``.
        source: The title of the documentation that it was checked against.
        signatures: Signed thinking goes back within this group of models; empty: within the family.
        temperature: Whether ``temperature`` is taken.
        top_p: Whether ``top_p`` is taken.
        temperature_with_top_p: Whether both are taken in one request.
        stop: Whether stop words are taken.
        thinking: The ways in which thinking can be asked for, best first; empty: it cannot.
        efforts: The efforts that are taken, weakest first; empty: none.
        thinking_off: Whether thinking can be switched off.
        budget_range: The least and the greatest budget of thinking, in tokens, where there are budgets.
        prefill: Whether a final assistant message is taken as the beginning of the answer.
        system_in_conversation: Whether system messages may stand between the others.
        developer_role: Whether the system message has the role ``developer`` on Chat and Responses.
        binds_thinking: Whether signed thinking counts only while everything before it stays the same.
        signature_placeholder: What stands for the signature of a call that has none, where the model
            checks signatures; None where it does not.
        image_types: The media types of images.
        document_types: The media types of documents.
        audio_types: The media types of audio.
        video_types: The media types of video.
        media_in_results: Whether a tool's result may hold images and documents.
        tools: Whether tools are taken.
        tool_choices: What may be asked of the choice of a tool.
        tool_choice_with_thinking: The same while the model thinks.
        parallel_tool_calls: Whether parallel calls can be switched off.
        strict_tools: Whether the model can be held to a tool's schema.
        json_schema: Whether the answer can be held to a schema.
        json_object: Whether any JSON object can be asked for.
        cache_marks: How many cache marks a request may hold; 0 where it may hold none.
        cache_ttls: How long a mark may ask the cache to keep.
    """

    family: str
    maker: str
    models: str
    dialects: tuple[Dialect, ...] = ()
    released: str = ""
    as_of: str = ""
    source: str = ""
    signatures: str = ""
    temperature: bool = True
    top_p: bool = True
    temperature_with_top_p: bool = True
    stop: bool = True
    thinking: tuple[Thinking, ...] = ()
    efforts: tuple[Effort, ...] = ()
    thinking_off: bool = True
    budget_range: tuple[int, int] | None = None
    prefill: bool = False
    system_in_conversation: bool = True
    developer_role: bool = False
    binds_thinking: bool = False
    signature_placeholder: str | None = None
    image_types: tuple[str, ...] = ("image/png", "image/jpeg", "image/gif", "image/webp")
    document_types: tuple[str, ...] = ("application/pdf",)
    audio_types: tuple[str, ...] = ()
    video_types: tuple[str, ...] = ()
    media_in_results: bool = True
    tools: bool = True
    tool_choices: tuple[ToolChoiceType, ...] = ("auto", "none", "required", "tool")
    tool_choice_with_thinking: tuple[ToolChoiceType, ...] = ("auto", "none", "required", "tool")
    parallel_tool_calls: bool = True
    strict_tools: bool = True
    json_schema: bool = True
    json_object: bool = True
    cache_marks: int = 4
    cache_ttls: tuple[str, ...] = ("5m", "1h")

    def nearest_effort(self, effort: Effort) -> Effort | None:
        """The effort that is sent for one that was asked for.

        Args:
            effort: What was asked for.

        Returns:
            The same or the nearest weaker one that the model takes; where there is no weaker one, the
            weakest above it; None where the model takes none.
        """
        raise NotImplementedError

    def effort_of_budget(self, tokens: int) -> Effort | None:
        """The effort that comes nearest to a budget; None where the model takes none."""
        raise NotImplementedError

    def budget_of_effort(self, effort: Effort) -> int | None:
        """The budget, in tokens, that stands for an effort, within the model's range."""
        raise NotImplementedError


class CapabilityTable:
    """Rows, of which the first that matches counts."""

    __slots__ = ("_rows",)

    def __init__(self, rows: Iterable[Capabilities]) -> None:
        self._rows = tuple(rows)

    @property
    def rows(self) -> tuple[Capabilities, ...]:
        """The rows, in the order in which they are looked at."""
        return self._rows

    def extended(self, rows: Iterable[Capabilities]) -> CapabilityTable:
        """A table with more rows, which are looked at before the present ones."""
        return CapabilityTable((*rows, *self._rows))

    def of(self, model: str, dialect: Dialect) -> Capabilities:
        """What a model takes in a dialect.

        Args:
            model: The model's id, as a provider spells it.
            dialect: Where it is asked.

        Returns:
            The first row that matches, else the plain default of the dialect.
        """
        raise NotImplementedError


CAPABILITIES: Final = CapabilityTable(())
"""The table of the models that this version knows."""


def model_name(model: str) -> str:
    """The plain name of a model: without region, path, vendor, date and version of the service."""
    raise NotImplementedError


def maker_of(model: str) -> str | None:
    """Who made a model, by its id; None where the id does not tell."""
    raise NotImplementedError
