"""Whom a request is built for, and what of a message's origin it accepts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from turntape.wire.capabilities import model_name

if TYPE_CHECKING:
    from turntape.conversation import Message
    from turntape.replay.texts import ReplayTexts
    from turntape.wire.capabilities import Capabilities, CapabilityTable
    from turntape.wire.dialect import Dialect
    from turntape.wire.vendors import VendorHabits

__all__ = ["CarrySignatures", "Origin", "Target"]

CarrySignatures: TypeAlias = Literal["never", "same_vendor", "always"]
"""When signed thinking goes back."""


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
    _origins: dict[tuple[str | None, str | None, Dialect | None], Origin] = field(
        default_factory=dict[tuple["str | None", "str | None", "Dialect | None"], Origin]
    )

    @property
    def signer(self) -> str:
        """Who makes the signatures of the target; empty where that is not known."""
        return self._signer(self.vendor or None, self.model)

    def origin(self, message: Message) -> Origin:
        """What a message's origin means here."""
        key = (message.vendor, message.model, message.dialect)
        origin = self._origins.get(key)
        if origin is None:
            origin = self._origins[key] = self._find(*key)
        return origin

    def _find(self, vendor: str | None, model: str | None, dialect: Dialect | None) -> Origin:
        theirs, ours = self._signer(vendor, model), self.signer
        is_foreign = bool(theirs and ours and theirs != ours)
        is_same_wire = dialect == self.dialect
        return Origin(
            is_own_wire=is_same_wire and not is_foreign,
            is_signed_for=self._carries(theirs, ours, model, is_same_wire=is_same_wire),
            is_foreign=is_foreign,
        )

    def _carries(self, theirs: str, ours: str, model: str | None, *, is_same_wire: bool) -> bool:
        if self.carry_signatures != "same_vendor":
            return self.carry_signatures == "always"
        if theirs != ours:
            # A history that was read back names no model: what came over a wire goes back over it.
            return is_same_wire and not theirs and model is None
        if model is None:
            return bool(theirs) or is_same_wire
        group = self.capabilities.signature_group
        if not theirs:
            return is_same_wire and model_name(model) == model_name(self.model)
        return not group or self.table.of(model, self.dialect).signature_group == group

    def _signer(self, vendor: str | None, model: str | None) -> str:
        maker = None if model is None else self.table.maker_of(model)
        # OpenAI's models on Azure sign with Azure's keys; other hosts pass on what the maker's models sign.
        if vendor == "azure" and maker in {None, "openai"}:
            return vendor
        return maker or vendor or ""
