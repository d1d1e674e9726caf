"""Any row comes to the same on both paths of capture, and its models are shown the same, but for what is listed."""

from __future__ import annotations

import pytest

from scenarios.parity import DIFFERENT, comparable, sides
from scenarios.published import published
from scenarios.rows import ROWS, THEMES
from sim.history import Asked
from sim.protocol import WriteOutput
from sim.publication import PublishPiece
from sim.run import run

LEFT_OUT = {"fixture": "600 MiB, twice"}
COMPARED = [row for row in ROWS.values() if comparable(row) and row.theme not in LEFT_OUT]


@pytest.mark.parametrize("theme", [theme for theme in THEMES if any(row.theme == theme for row in COMPARED)])
def test_a_row_comes_to_the_same_on_both_paths(theme: str) -> None:
    unlike: list[str] = []
    for row in COMPARED:
        if row.theme == theme:
            captured, remote = sides(row)
            unlike += [row.name] if captured != remote else []

    assert unlike == [row.name for row in COMPARED if row.theme == theme and row.name in DIFFERENT]


def test_every_listed_difference_is_of_a_row_that_is_compared() -> None:
    assert set(DIFFERENT) <= {row.name for row in COMPARED}


def test_only_the_published_side_publishes() -> None:
    row = ROWS["one-call"]
    asked = [
        {type(event.request) for event in run(scenario).events if isinstance(event, Asked)}
        for scenario in (row.scenario, published(row.scenario))
    ]
    assert [kinds & {PublishPiece, WriteOutput} for kinds in asked] == [{WriteOutput}, {PublishPiece}]
