"""Whom a request is built for, and what of a message's origin it accepts."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, TypeAlias

from turntape.wire.capabilities import model_name

if TYPE_CHECKING:
    from turntape.conversation import Message
    from turntape.replay.texts import ReplayTexts
    from turntape.wire.capabilities import Capabilities, CapabilityTable
    from turntape.wire.dialect import Dialect
    from turntape.wire.vendors import VendorHabits

__all__ = ["CarrySignatures", "Origin", "Origins", "Target"]

CarrySignatures: TypeAlias = Literal["never", "same_vendor", "always"]
"""When signed thinking goes back."""

_Source: TypeAlias = "tuple[str | None, str | None, Dialect | None]"
"""Where a message came from: its vendor, model and wire."""


@dataclass(frozen=True, slots=True)
class Origin:
    """What a message's origin means to the target.

    Attributes:
        is_own_wire: It came over the same wire, from the same vendor or one that nothing is known of:
            what only this wire has goes back to it.
        is_signed_for: Its signatures count here.
        is_foreign: It is known to come from another vendor, whose unsigned reasoning means nothing here.
    """

    is_own_wire: bool
    is_signed_for: bool
    is_foreign: bool


@dataclass(slots=True)
class Target:
    """Whom a request is built for.

    Attributes:
        dialect: The wire.
        model: The model's id.
        capabilities: What the model takes.
        habits: What the vendor wants otherwise.
        table: The table of what models take, which also tells who made them.
        repairs: Whether a history that cannot be sent is mended.
        refuses: Whether parameters that the target lacks are refused, not left out.
        carry_signatures: When signed thinking goes back.
        texts: What is put in where a provider needs a text.
        api_version: The version of the API, where the wire names one.
        vendor: Who serves the model, in the host's words; empty where that is left to be found out.
        origins: What a message's origin means here, by its vendor, model and wire.
    """

    dialect: Dialect
    model: str
    capabilities: Capabilities
    habits: VendorHabits
    table: CapabilityTable
    repairs: bool
    refuses: bool
    carry_signatures: CarrySignatures
    texts: ReplayTexts
    api_version: str | None
    vendor: str
    origins: Origins = field(init=False)

    def __post_init__(self) -> None:
        self.origins = Origins(
            self.table, (self.dialect, self.model, self.vendor, self.carry_signatures)
        )

    def origin(self, message: Message) -> Origin:
        """What a message's origin means here."""
        return self.origins[message.vendor, message.model, message.dialect]


class Origins(dict["_Source", Origin]):
    """What each origin means to a target, found out when it is first asked for.

    Args:
        table: The table of what models take, which also tells who made them.
        target: The target's wire, model and vendor, and when signed thinking goes back.
    """

    def __init__(
        self, table: CapabilityTable, target: tuple[Dialect, str, str, CarrySignatures]
    ) -> None:
        super().__init__()
        self._table = table
        self._target = target

    def __missing__(self, source: _Source) -> Origin:
        origin = self[source] = _origin_of(self._table, self._target, source)
        return origin


# Makers and families are found by patterns; a conversation asks for the same few again and again.
@lru_cache(maxsize=1024)
def _origin_of(
    table: CapabilityTable,
    target: tuple[Dialect, str, str, CarrySignatures],
    source: _Source,
) -> Origin:
    """What an origin means to a target: vendor, model and wire of each."""
    dialect, our_model, our_vendor, carry = target
    vendor, model, their_dialect = source
    theirs, ours = _signer(table, vendor, model), _signer(table, our_vendor, our_model)
    is_foreign = bool(theirs and ours and theirs != ours)
    is_same_wire = their_dialect == dialect
    if carry != "same_vendor":
        is_signed_for = carry == "always"
    elif theirs != ours:
        # A history that was read back names no model: what came over a wire goes back over it.
        is_signed_for = is_same_wire and not theirs and model is None
    elif model is None:
        is_signed_for = bool(theirs) or is_same_wire
    elif not theirs:
        is_signed_for = is_same_wire and model_name(model) == model_name(our_model)
    else:
        group = table.of(our_model, dialect).signature_group
        is_signed_for = not group or table.of(model, dialect).signature_group == group
    return Origin(is_same_wire and not is_foreign, is_signed_for, is_foreign)


def _signer(table: CapabilityTable, vendor: str | None, model: str | None) -> str:
    """Who makes signatures; empty where that is not known."""
    maker = None if model is None else table.maker_of(model)
    # OpenAI's models on Azure sign with Azure's keys; other hosts pass on what the maker's models sign.
    if vendor == "azure" and maker in {None, "openai"}:
        return vendor
    return maker or vendor or ""
