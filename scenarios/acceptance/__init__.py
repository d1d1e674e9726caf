"""The acceptance matrix of seed 000: every combination that its table of evidence names (000 §6)."""

from __future__ import annotations

from scenarios.acceptance import limits, ownership, refusals, valid
from scenarios.acceptance.cell import entered

__all__ = ["ROWS"]

ROWS = tuple(entered((*refusals.every(), *valid.every(), *ownership.every(), *limits.every())))
"""In the order of the seed's parts."""
