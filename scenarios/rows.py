"""Every row of the acceptance matrix, in the order in which a sweep takes them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from scenarios import base, cases
from scenarios.row import Row

ROWS: Mapping[str, Row] = MappingProxyType({row.name: row for row in (*base.ROWS, *cases.ROWS)})
"""All rows by name."""
