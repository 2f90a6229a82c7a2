"""What vendors of one wire want otherwise, as data: one table, a row a vendor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from turntape.wire.dialect import Dialect

__all__ = ["PLAIN", "VENDORS", "ReasoningBack", "VendorHabits", "vendor_habits"]

ReasoningBack: TypeAlias = Literal["never", "tool_rounds", "always"]
"""When unsigned reasoning goes back to the vendor that it came from: ``never``, ``tool_rounds`` (with the
messages that hold calls, or that follow the last user text), ``always``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorHabits:
    """What a vendor's OpenAI-like endpoint wants otherwise than OpenAI: a row of the table.

    The defaults are the plain form, which unknown vendors get.

    Attributes:
        vendor: The vendor's name, as in ``vendor=``.
        aliases: Other names for it.
        hosts: What the host of its base URL is or, with a leading dot, ends in.
        models: A regular expression for model ids that only this vendor's own endpoint has.
        as_of: When the row was last checked, ``YYYY-MM-DD``.
        source: The title of the documentation that it was checked against.
        max_tokens_member: What the limit on the answer is called on Chat.
        stream_usage: Whether ``stream_options.include_usage`` is taken.
        developer_role: Whether the role ``developer`` is taken where the model wants it.
        system_in_conversation: Whether system messages may stand between the others.
        id_length: How long the id of a call may be.
        id_exact: Whether it must be exactly that long, and of letters and digits alone.
        reasoning_back: When reasoning goes back.
        reasoning_fields: Under which members it may come and go, the usual one first.
        effort_member: How an effort is said: ``reasoning_effort``, ``reasoning`` (an object with the
            member ``effort``), or None where it cannot be said.
        tool_choice_required: The word for "any tool must be called".
        tool_choice_one: Whether one tool can be asked for by name.
        parallel_tool_calls: Whether the member ``parallel_tool_calls`` is taken.
        strict: Whether ``strict`` is taken in a tool.
        image_url: Whether images are taken as URLs (data URIs always are).
        json_schema: Whether ``response_format`` takes a schema.
        json_object: Whether ``response_format`` takes ``json_object``.
        prompt_cache_key: Whether the member is taken.
        max_stop: How many stop words are taken; 0 where none are.
        prefill_member: The member that must be true on a final assistant message that the model is to
            go on with, or None.
        tool_result_name: Whether a tool's result has the tool's name beside the call's id.
        alternates: Whether neighbours of one role must be merged.
        content_null: Whether an assistant message with calls alone may have ``content: null``.
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
    id_length: int = 40
    id_exact: bool = False
    reasoning_back: ReasoningBack = "never"
    reasoning_fields: tuple[str, ...] = ("reasoning_content", "reasoning")
    effort_member: Literal["reasoning_effort", "reasoning"] | None = "reasoning_effort"
    tool_choice_required: Literal["required", "any"] = "required"
    tool_choice_one: bool = True
    parallel_tool_calls: bool = True
    strict: bool = True
    image_url: bool = True
    json_schema: bool = True
    json_object: bool = True
    prompt_cache_key: bool = True
    max_stop: int = 4
    prefill_member: str | None = None
    tool_result_name: bool = False
    alternates: bool = False
    content_null: bool = True


PLAIN: Final = VendorHabits(vendor="")
"""The plain form."""

VENDORS: Final[tuple[VendorHabits, ...]] = ()
"""The table."""


def vendor_habits(
    vendor: str, model: str, base_url: str | None, dialect: Dialect
) -> VendorHabits:
    """The habits of the vendor that a request goes to.

    Args:
        vendor: Its name, or ``auto`` to tell it by base URL, then by model.
        model: The model's id.
        base_url: Where the request goes; None where that is not known.
        dialect: The wire.

    Returns:
        The vendor's row, else :data:`PLAIN`.
    """
    raise NotImplementedError
