"""The acceptance matrix of seed 000: every combination that its table of evidence names (000 §6)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from scenarios.acceptance import limits, ownership, refusals, valid
from scenarios.acceptance.cell import TESTS, entered

__all__ = ["PENDING", "ROWS", "TESTS"]

ROWS = tuple(entered((*refusals.every(), *valid.every(), *ownership.every(), *limits.every())))
"""In the order of the seed's parts."""

PENDING: Mapping[str, str] = MappingProxyType(
    {
        TESTS["u7"]: "hooks and approvals",
        TESTS["u8"]: "hooks and approvals",
    }
)
"""The tests of which there is no row yet, by what will bring them."""
