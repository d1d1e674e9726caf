"""Every row of the acceptance matrix, in the order in which a sweep takes them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec.structs import replace

from scenarios import (
    acceptance,
    base,
    capture,
    cases,
    fixture,
    lifecycle,
    local,
    policies,
    published,
    publisher,
    sizes,
    tools,
)
from scenarios.row import Row

THEMES: Mapping[str, tuple[Row, ...]] = MappingProxyType(
    {
        "base": base.ROWS,
        "tools": tools.ROWS,
        "publisher": publisher.ROWS,
        "lifecycle": lifecycle.ROWS,
        "local": local.ROWS,
        "published": published.ROWS,
        "capture": capture.ROWS,
        "policies": policies.ROWS,
        "sizes": sizes.ROWS,
        "fixture": fixture.ROWS,
        "cases": cases.ROWS,
        "acceptance": acceptance.ROWS,
    }
)
"""The rows of each theme, in order."""

ROWS: Mapping[str, Row] = MappingProxyType(
    {row.name: replace(row, theme=theme) for theme, rows in THEMES.items() for row in rows}
)
"""All rows by name."""
