"""What vendors of OpenAI's wires want otherwise than OpenAI, as data: one table, a row a vendor.

The rows are in ``vendor_rows.py``; this module says what a row is and how one is found.

>>> from turntape.wire.dialect import Dialect
>>> mistral = vendor_habits("auto", "mistral-large-latest", None, Dialect.OPENAI_CHAT)
>>> mistral.vendor, mistral.id_length, mistral.tool_choice_required
('mistral', 9, 'any')

A vendor that the table does not know is told by a row of the host's own, in place of its name:

>>> mine = VendorHabits(vendor="house", max_tokens_member="max_tokens", reasoning_back=True)
>>> vendor_habits(mine, "house-blend-2", None, Dialect.OPENAI_CHAT).max_tokens_member
'max_tokens'
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast
from urllib.parse import urlsplit

from turntape.wire.dialect import Dialect

if TYPE_CHECKING:
    from turntape.wire.capabilities import ToolChoiceType

__all__ = ["PLAIN", "EffortMember", "VendorHabits", "members", "vendor_habits"]

EffortMember: TypeAlias = Literal["reasoning_effort", "reasoning"]
"""Where an effort stands on Chat: by itself, or as the member ``effort`` of an object."""


def members(text: str) -> dict[str, Any]:
    """The members that a row holds as JSON text; none where the text is empty.

    >>> members('{"prefix":true}')
    {'prefix': True}
    """
    value: Any = json.loads(text) if text else {}
    if not isinstance(value, dict):
        raise ValueError("not an object")  # noqa: TRY004 (the row's type is right, what it says is not)
    return cast("dict[str, Any]", value)


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorHabits:
    """What a vendor's OpenAI-like endpoint wants otherwise than OpenAI: a row of the table.

    The defaults are the plain form, which unknown vendors get. Members that a vendor does not take are
    named here where it refuses them, and where it passes over them, so that nothing is believed to be in
    force that is not.

    Attributes:
        vendor: The vendor's name, as in ``vendor=``.
        aliases: Other names for it.
        hosts: What the host of its base URL is or, with a leading dot or dash, ends in; with a leading
            colon, the port of a service on this computer.
        models: A regular expression for the ids that its models have at its own endpoint, in lower case;
            empty where ids do not tell.
        as_of: When the row was last checked, ``YYYY-MM-DD``.
        source: The documentation that it was checked against.
        max_tokens_member: What the limit on the answer is called on Chat.
        stream_usage: Whether ``stream_options.include_usage`` is taken.
        developer_role: Whether the role ``developer`` is taken where the model wants it.
        system_in_conversation: Whether system messages may stand between the others.
        alternates: Whether neighbours of one role must be merged.
        id_length: How long the id of a call may be.
        id_exact: Whether it must be exactly that long, and of letters and digits alone.
        reasoning_back: Whether unsigned reasoning that came from this vendor goes back to it.
        reasoning_fields: Under which members it may go back, the usual one first.
        effort_member: Where an effort stands on Chat; None where it cannot be said.
        thinking_off: Members of the body that switch thinking off, as a JSON object; empty where only the
            effort ``none`` does. See :func:`members`.
        tool_choices: What may be said of the choice of a tool.
        tool_choice_required: The word for "any tool must be called".
        parallel_tool_calls: Whether the member ``parallel_tool_calls`` is taken.
        strict: Whether ``strict`` is taken in a tool.
        image_url: Whether images are taken as URLs; as data URIs they always are.
        json_schema: Whether ``response_format`` takes a schema.
        json_object: Whether ``response_format`` takes ``json_object``.
        prompt_cache_key: Whether the member is taken.
        max_stop: How many stop words are taken.
        prefill: Whether a final assistant message is taken as the beginning of the answer; None leaves it
            to the model.
        prefill_message: Members of such a message, as a JSON object.
        prefill_body: Members of the body beside such a message, as a JSON object.
    """

    vendor: str
    aliases: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    models: str = ""
    as_of: str = ""
    source: str = ""
    max_tokens_member: Literal["max_tokens", "max_completion_tokens"] = "max_completion_tokens"
    stream_usage: bool = True
    developer_role: bool = False
    system_in_conversation: bool = True
    alternates: bool = False
    id_length: int = 40
    id_exact: bool = False
    reasoning_back: bool = False
    reasoning_fields: tuple[str, ...] = ("reasoning_content", "reasoning")
    effort_member: EffortMember | None = "reasoning_effort"
    thinking_off: str = ""
    tool_choices: tuple[ToolChoiceType, ...] = ("auto", "none", "required", "tool")
    tool_choice_required: Literal["required", "any"] = "required"
    parallel_tool_calls: bool = True
    strict: bool = True
    image_url: bool = True
    json_schema: bool = True
    json_object: bool = True
    prompt_cache_key: bool = True
    max_stop: int = 4
    prefill: bool | None = None
    prefill_message: str = ""
    prefill_body: str = ""

    def __post_init__(self) -> None:
        """Find out what is wrong with a row when it is made, not when it is needed.

        Raises:
            ValueError: The pattern is no regular expression, or members are no JSON object.
        """
        try:
            re.compile(self.models)
        except re.error as error:
            raise ValueError(f"{self.vendor}: models is no regular expression: {error}") from None
        for name in ("thinking_off", "prefill_message", "prefill_body"):
            try:
                members(getattr(self, name))
            except ValueError as error:
                raise ValueError(f"{self.vendor}: {name} is no JSON object: {error}") from None


PLAIN: Final = VendorHabits(vendor="")
"""The plain form."""


_OPENAI_WIRES = (Dialect.OPENAI_CHAT, Dialect.OPENAI_RESPONSES)
_LOOPBACK = re.compile(r"localhost|127(?:\.\d+){3}|0\.0\.0\.0|::1|host\.docker\.internal")


def vendor_habits(
    vendor: str | VendorHabits,
    model: str,
    base_url: str | None,
    dialect: Dialect,
) -> VendorHabits:
    """The habits of the vendor that a request goes to.

    Args:
        vendor: Its name; a row of the host's own; or ``auto``, which tells it by the base URL and, where
            there is none, by the model.
        model: The model's id, as the vendor spells it.
        base_url: Where the request goes; None where that is not known.
        dialect: The wire. Only OpenAI's have habits; elsewhere the plain form comes back under the name of
            the vendor.

    Returns:
        The vendor's row; the plain form where there is none, under the name that was given.

    >>> vendor_habits("auto", "llama-3.3-70b", "https://api.groq.com/openai/v1", Dialect.OPENAI_CHAT).vendor
    'groq'
    >>> vendor_habits("auto", "quill-2", None, Dialect.OPENAI_CHAT) == PLAIN
    True
    """
    if isinstance(vendor, VendorHabits):
        return vendor
    # Imported here: the rows are made of the class above.
    from turntape.wire.vendor_rows import VENDORS  # noqa: PLC0415

    name = vendor.strip().lower()
    if name == "auto":
        row = _by_url(base_url, VENDORS) if base_url else _by_model(model, VENDORS)
        name = ""
    else:
        row = next((row for row in VENDORS if name in (row.vendor, *row.aliases)), None)
    if row is None:
        return replace(PLAIN, vendor=name) if name else PLAIN
    return row if dialect in _OPENAI_WIRES else replace(PLAIN, vendor=row.vendor)


def _by_url(base_url: str, rows: tuple[VendorHabits, ...]) -> VendorHabits | None:
    try:
        parts = urlsplit(base_url if "//" in base_url else f"//{base_url}")
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return None
    here = {host}
    if port is not None and _LOOPBACK.fullmatch(host):
        here.add(f":{port}")
    for row in rows:
        if any(known in here or (known[0] in ".-" and host.endswith(known)) for known in row.hosts):
            return row
    return None


def _by_model(model: str, rows: tuple[VendorHabits, ...]) -> VendorHabits | None:
    name = model.strip().lower()
    return next((row for row in rows if row.models and re.fullmatch(row.models, name)), None)
