"""The rows of the table of vendors: who serves models of its own, who serves those of others, and servers.

Where a vendor's documentation and its recorded traffic differ, the row follows the documentation: what is
left out is noted on the request, what is refused would fail it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from turntape.wire.vendor_rows import local, makers, services

if TYPE_CHECKING:
    from turntape.wire.vendors import VendorHabits

__all__ = ["VENDORS"]

VENDORS: Final[tuple[VendorHabits, ...]] = (*makers.ROWS, *services.ROWS, *local.ROWS)
"""The table. Of two rows that match, the first counts."""
