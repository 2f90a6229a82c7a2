"""Proofs of thinking, which each wire writes in its own way."""

from __future__ import annotations

from turntape.wire.outbound.raw import members_of

__all__ = ["bare_signature", "encrypted_item"]


def bare_signature(signature: str) -> str | None:
    """The proof itself, where a wire carries it as a string.

    Args:
        signature: As the block has it: the string itself, or an entry of a Chat endpoint's
            ``reasoning_details``.

    Returns:
        The string; None where the entry has none.

    >>> bare_signature('{"type":"reasoning.text","signature":"U0lH"}')
    'U0lH'
    """
    if not signature.startswith("{"):
        return signature
    entry = members_of(signature)
    found = entry.get("signature")
    return found if isinstance(found, str) and found else None


def encrypted_item(signature: str) -> tuple[str, str | None] | None:
    """The encrypted content and the id of a reasoning item of Responses; None where it is none.

    >>> encrypted_item('{"encrypted_content":"RU5D","id":"rs_1"}')
    ('RU5D', 'rs_1')
    """
    entry = members_of(signature)
    content, item_id = entry.get("encrypted_content"), entry.get("id")
    if not isinstance(content, str) or not content:
        return None
    return content, item_id if isinstance(item_id, str) and item_id else None
