"""The seed's own table of evidence (000 §6) over a campaign: what each of its tests came to here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from reports.bench import PASSED, UNACCEPTED
from reports.campaign import Record
from reports.outline import Outline
from scenarios.evidence import Demand


class Line:
    """One test of the table: its selected rows, each with its place in the sweep, and its runs by what they came to."""

    def __init__(self, demand: Demand, rows: list[tuple[int, str]]) -> None:
        self.demand = demand
        self.rows = rows
        self.statuses = Counter[str]()

    @property
    def runs(self) -> int:
        """How many runs were made of its rows."""
        return self.statuses.total()

    @property
    def passed(self) -> int:
        """How many of them passed."""
        return self.statuses[PASSED]

    @property
    def unaccepted(self) -> int:
        """How many were not accepted, as the seed says."""
        return self.statuses[UNACCEPTED]

    @property
    def wrong(self) -> int:
        """How many came to anything else."""
        return self.runs - self.passed - self.unaccepted


class Accepted:
    """Every test of the table, in its order.

    Args:
        outline: the campaign; without a row of the matrix it has no table.
    """

    def __init__(self, outline: Outline) -> None:
        titles = outline.bench.rows()
        rows: dict[str, list[tuple[int, str]]] = {}
        for place, name in enumerate(outline.selection.rows):
            rows.setdefault(titles[name].evidence, []).append((place, name))
        self._of = {name: titles[name].evidence for name in outline.selection.rows}
        self._lines = {demand.key: Line(demand, rows.get(demand.key, [])) for demand in outline.demands}

    def add(self, record: Record) -> None:
        """Count one run."""
        line = self._lines.get(self._of.get(record.row, ""))
        if line is not None:
            line.statuses[record.status] += 1

    def lines(self) -> Iterator[Line]:
        """Every test, those without rows too; none when no row of the matrix was selected."""
        if any(line.rows for line in self._lines.values()):
            yield from self._lines.values()
