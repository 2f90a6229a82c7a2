"""What models take, as data: one table, a row a model family, dated, extended by the host.

The rows are in ``capability_rows``; this module says what a row is and how one is found.

>>> from turntape.wire.capability_rows import CAPABILITIES
>>> from turntape.wire.dialect import Dialect
>>> opus = CAPABILITIES.of("us.anthropic.claude-opus-4-7-v1:0", Dialect.BEDROCK_CONVERSE)
>>> opus.family, opus.maker, opus.prefill
('claude-opus-4.7', 'anthropic', False)
>>> opus.nearest_effort("minimal"), opus.budget_of_effort("high")
('low', None)

A host adds rows of its own, or changes one, without touching the table that others use:

>>> from dataclasses import replace
>>> mine = replace(opus, family="house-blend", maker="us", models=r"house-blend(-.*)?", prefill=True)
>>> table = CAPABILITIES.extended([mine])
>>> table.of("house-blend-2", Dialect.OPENAI_CHAT).prefill
True
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from math import log
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from turntape.requests import Effort
    from turntape.wire.dialect import Dialect

__all__ = [
    "EFFORTS",
    "Capabilities",
    "CapabilityTable",
    "ThinkingForm",
    "ThinkingOff",
    "ToolChoiceType",
    "model_name",
]

ThinkingForm: TypeAlias = Literal["adaptive", "budget", "level", "effort"]
"""A way to ask for thinking: ``adaptive`` (Anthropic; the model decides, an effort guides it), ``budget``
(a number of tokens: older Claude, Gemini 2.5), ``level`` (Gemini from 3 on), ``effort`` (OpenAI and its
imitators)."""

ThinkingOff: TypeAlias = Literal["disabled", "between_tools", "budget", "effort"]
"""How thinking is switched off: by the type ``disabled`` or ``between_tools`` (Anthropic; the latter
leaves notes between calls), by a budget of 0 (Gemini 2.5), by the effort ``none`` (OpenAI)."""

ToolChoiceType: TypeAlias = Literal["auto", "none", "required", "tool"]
"""The types of a tool choice."""

EFFORTS: Final[tuple[Effort, ...]] = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""All efforts, weakest first."""

EFFORT_BUDGETS: Final[Mapping[Effort, int]] = {
    "minimal": 1024,
    "low": 2048,
    "medium": 8192,
    "high": 24576,
    "xhigh": 32768,
    "max": 65536,
}
"""The budget of thinking, in tokens, that stands for an effort where only the other can be said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What one family of models takes: a row of the table.

    It says what the models take, not what a wire can say: a media type that a dialect has no place for
    stays unsayable there.

    Attributes:
        family: The family's name.
        maker: Who made the models, whoever serves them: ``anthropic``, ``openai``, ``google``, …; empty
            where unknown.
        models: A regular expression that the whole plain name of each model matches; see
            :func:`model_name`.
        dialects: Where the row counts; empty for everywhere.
        released: When the family came out, ``YYYY-MM-DD`` or ``YYYY-MM``; empty where it has no one date.
        as_of: When the row was last checked, ``YYYY-MM-DD``.
        source: The documentation that it was checked against.
        signatures: Signed thinking goes back within the models of one such group; empty: within the
            family.
        temperature: Whether ``temperature`` is taken.
        top_p: Whether ``top_p`` is taken.
        temperature_with_top_p: Whether both are taken in one request.
        sampling_while_thinking: Whether either is taken while the model thinks.
        stop: Whether stop words are taken.
        thinking: The ways in which thinking can be asked for, best first; empty: it cannot.
        thinks_by_default: Whether the model thinks where nothing is said.
        thinking_off: How thinking is switched off; None where it cannot be, or where there is none.
        efforts: The efforts that are taken, weakest first, ``none`` among them only where it is a word of
            the wire; empty: none.
        effort_with_tools: Whether an effort other than ``none`` is taken in a request with tools. Where it
            is not and the model thinks by default, a request with tools has to say ``none``.
        budget_range: The least and the greatest budget of thinking, in tokens, where there are budgets.
        prefill: Whether a final assistant message is taken as the beginning of the answer.
        system_in_conversation: Whether system messages may stand between the others.
        developer_role: Whether the role ``developer`` is wanted in place of ``system`` on Chat.
        binds_thinking: Whether signed thinking counts only while everything before it stays the same.
        signature_placeholder: What stands for the signature of a call that has none, where the model
            checks signatures; None where it does not.
        image_types: The media types of images.
        document_types: The media types of documents.
        audio_types: The media types of audio.
        video_types: The media types of video.
        media_in_results: Whether a tool's result may hold images and documents.
        tools: Whether tools are taken.
        tool_choices: What may be said of the choice of a tool.
        tool_choices_while_thinking: The same while the model is asked to think.
        parallel_tool_calls: Whether parallel calls can be switched off.
        strict_tools: Whether the model can be held to a tool's schema.
        json_schema: Whether the answer can be held to a schema.
        json_object: Whether any JSON object can be asked for.
        cache_marks: How many cache marks a request may hold.
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
    sampling_while_thinking: bool = True
    stop: bool = True
    thinking: tuple[ThinkingForm, ...] = ()
    thinks_by_default: bool = False
    thinking_off: ThinkingOff | None = None
    efforts: tuple[Effort, ...] = ()
    effort_with_tools: bool = True
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
    tool_choices_while_thinking: tuple[ToolChoiceType, ...] = ("auto", "none", "required", "tool")
    parallel_tool_calls: bool = True
    strict_tools: bool = True
    json_schema: bool = True
    json_object: bool = True
    cache_marks: int = 4
    cache_ttls: tuple[str, ...] = ("5m", "1h")

    def __post_init__(self) -> None:
        """Find out what is wrong with a row when it is made, not when it is needed.

        Raises:
            ValueError: The pattern is no regular expression, the efforts are not in order, or the range of
                budgets is empty.
        """
        try:
            re.compile(self.models)
        except re.error as error:
            raise ValueError(f"{self.family}: models is no regular expression: {error}") from None
        if list(self.efforts) != [effort for effort in EFFORTS if effort in self.efforts]:
            raise ValueError(f"{self.family}: efforts stand in the order of {', '.join(EFFORTS)}")
        if self.budget_range is not None and not 0 < self.budget_range[0] <= self.budget_range[1]:
            raise ValueError(f"{self.family}: budget_range is from a least to a greatest budget")

    @property
    def signature_group(self) -> str:
        """The name of the models that take each other's signed thinking."""
        return self.signatures or self.family

    def nearest_effort(self, effort: Effort) -> Effort | None:
        """The effort that is sent for one that was asked for.

        Args:
            effort: What was asked for. Whether ``none`` is said by :attr:`thinking_off` instead is for
                the caller to look at first.

        Returns:
            The same or the nearest weaker one that the model takes; where it takes none so weak, its
            weakest; None where it takes no effort at all.
        """
        weaker = EFFORTS[: EFFORTS.index(effort) + 1]
        fitting: list[Effort] = [taken for taken in self.efforts if taken in weaker]
        return fitting[-1] if fitting else next(iter(self.efforts), None)

    def effort_of_budget(self, tokens: int) -> Effort | None:
        """The effort that comes nearest to a budget of thinking.

        Args:
            tokens: The budget. 0 is ``none`` where the model takes that.

        Returns:
            The effort that the model takes whose budget is nearest in proportion, the weaker one of two;
            None where it takes none.
        """
        if tokens < 1 and "none" in self.efforts:
            return "none"
        thinking: list[Effort] = [effort for effort in self.efforts if effort != "none"]
        wanted = log(max(tokens, 1))
        return min(
            thinking, key=lambda effort: abs(log(EFFORT_BUDGETS[effort]) - wanted), default=None
        )

    def budget_of_effort(self, effort: Effort, *, below: int | None = None) -> int | None:
        """The budget of thinking that stands for an effort, where the model takes budgets.

        Args:
            effort: The effort.
            below: What the budget must be less than, such as ``max_tokens``.

        Returns:
            Tokens, within :attr:`budget_range`; 0 for ``none`` where a budget of 0 switches thinking off;
            None where the model takes no budget, or none that is small enough.
        """
        if self.budget_range is None:
            return None
        if effort == "none" and self.thinking_off == "budget":
            return 0
        least, most = self.budget_range
        if below is not None:
            most = min(most, below - 1)
        budget = min(max(EFFORT_BUDGETS.get(effort, 0), least), most)
        return budget if budget >= least else None


class CapabilityTable:
    """Rows, of which the first that matches a model counts.

    Args:
        rows: The rows, in the order in which they are looked at.
        defaults: What a model of no row takes, by dialect; a row's defaults where a dialect is missing.
    """

    __slots__ = ("_defaults", "_found", "_rows")

    def __init__(
        self, rows: Iterable[Capabilities], defaults: Mapping[Dialect, Capabilities] | None = None
    ) -> None:
        self._rows = tuple(rows)
        self._defaults = dict(defaults or {})
        # Of each table its own, so that a table that is given up takes its cache along.
        self._found = lru_cache(maxsize=256)(self._find)

    def __repr__(self) -> str:
        return f"CapabilityTable({len(self._rows)} rows)"

    def __reduce__(self) -> tuple[Any, ...]:
        # The cache stays behind.
        return CapabilityTable, (self._rows, self._defaults)

    @property
    def rows(self) -> tuple[Capabilities, ...]:
        """The rows, in the order in which they are looked at."""
        return self._rows

    def extended(self, rows: Iterable[Capabilities]) -> CapabilityTable:
        """A table with more rows, which are looked at before the present ones.

        Args:
            rows: The host's own. A row for a model that has one already replaces that.
        """
        return CapabilityTable((*rows, *self._rows), self._defaults)

    def of(self, model: str, dialect: Dialect) -> Capabilities:
        """What a model takes in a dialect.

        Args:
            model: The model's id, as a provider spells it.
            dialect: Where it is asked.

        Returns:
            The first row that matches, else the plain default of the dialect.
        """
        return self._found(model, dialect)

    def maker_of(self, model: str) -> str | None:
        """Who made a model, by its id.

        Args:
            model: The model's id, as a provider spells it.

        Returns:
            The maker's name, such as ``anthropic`` or ``google``; None where the id does not tell.
        """
        name = model_name(model)
        for row in self._rows:
            if row.maker and re.fullmatch(row.models, name):
                return row.maker
        makers = {row.maker for row in self._rows}
        led_by = re.split(r"[/.:]", unquote(model).strip().lower())[:-1]
        named = (_MAKERS.get(part, part) for part in led_by)
        return next((maker for maker in named if maker and maker in makers), None)

    def _find(self, model: str, dialect: Dialect) -> Capabilities:
        name = model_name(model)
        for row in self._rows:
            if (not row.dialects or dialect in row.dialects) and re.fullmatch(row.models, name):
                return row
        default = self._defaults.get(dialect)
        return default or Capabilities(family="", maker="", models="")


# What gateways call the makers where these stand before a name.
_MAKERS = {
    "cohereforai": "cohere",
    "deepseek-ai": "deepseek",
    "ibm-granite": "ibm",
    "meta-llama": "meta",
    "minimaxai": "minimax",
    "mistralai": "mistral",
    "moonshotai": "moonshot",
    "qwen": "alibaba",
    "x-ai": "xai",
    "z-ai": "zai",
    "zai-org": "zai",
}

# What providers put around a model's name, taken off in this order.
_TUNED = re.compile(r"^ft:")
_PATH = re.compile(r"^.*/(?=[^/])")
_SERVICE_VERSION = re.compile(r"(?<=[\db])-v?\d(?::\d+)+k?$|(?<=\d)-v\d$")
_TAG = re.compile(r":.*")
_REGION = re.compile(r"^(?:us|us-gov|eu|apac|jp|au|ca|sa|me|af|in|global)\.(?=[a-z0-9]+\.)")
_MAKER = re.compile(r"^(?:databricks-|[a-z][a-z0-9]*\.(?=[a-z]))")
_DATE = re.compile(
    r"(?:[-@_](?:20\d{6}|20\d\d-\d\d-\d\d|\d\d-20\d\d|(?:0[1-9]|1[0-2])-[0-3]\d|latest|default))+$"
)
# The digits of a version are joined by a dot, a dash, an underscore or a "p", depending on who spells it.
_POINT = re.compile(r"(?<=\d)[-_p](?=\d{1,2}(?:-|$))")


@lru_cache(maxsize=1024)
def model_name(model: str) -> str:
    """The plain name of a model, which the table's rows match.

    In lower case; without region, account, path, maker and tag before or behind it, and without a date or
    the version of a service at its end; with a dot between the digits of a version.

    Args:
        model: The model's id, as a provider spells it, also percent-encoded as in a path.

    >>> model_name("us.anthropic.claude-opus-4-7-v1:0")
    'claude-opus-4.7'
    >>> model_name("claude-sonnet-4-5@20250929"), model_name("anthropic/claude-sonnet-4.5:thinking")
    ('claude-sonnet-4.5', 'claude-sonnet-4.5')
    >>> model_name("models/gemini-2.5-flash"), model_name("gpt-5-2025-08-07")
    ('gemini-2.5-flash', 'gpt-5')
    """
    name = unquote(model).strip().lower()
    for around in (_TUNED, _PATH, _SERVICE_VERSION, _TAG, _REGION, _MAKER, _DATE):
        name = around.sub("", name, count=1)
    return _POINT.sub(".", name)
