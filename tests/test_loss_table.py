"""The loss table: whole over every swept row, without a dead line, and able to say no."""

from __future__ import annotations

import pytest

from faults.fates import VOCABULARY
from faults.sweeps import single
from scenarios import loss_table
from scenarios.judge import FINDING, PASSED, verdict
from scenarios.loss_table import STEPS, Step, expected, fates
from scenarios.row import reached
from scenarios.rows import ROWS
from sim.points import Plan, Strike
from sim.run import run

SWEPT = [row for row in ROWS.values() if row.sweepable]
HOW = (
    "holds",
    "refused",
    "plain",
    "uncancelled",
    "settled",
    "reopens",
    "while open",
    "when awaited",
    "when captured",
    "unless renewed",
    "when dispatched",
    "unless halted",
    "unless overtaken",
)
LEASE = ("kept", "held", "free")


def test_every_fate_of_the_table_is_in_the_vocabulary_and_stands_in_one_cell():
    for step in STEPS:
        named = [fate for words in step.cells.values() for fate in sorted(fates(words))]
        assert len(named) == len(set(named)), f"{step.place}: one fate in two cells"
        for fate in named:
            kind = VOCABULARY.get(fate.rstrip("!"))
            assert kind, f"{step.place}: unknown fate {fate}"
            assert kind.sticky or not fate.endswith("!"), f"{step.place}: {fate} has no sticky form"


def test_every_cell_says_how_the_turn_ends_and_where_the_lease_is():
    for step in STEPS:
        assert step.cites
        for cell in step.cells:
            how, _, lease = cell.rpartition(" ")
            assert cell in HOW or (how in ("blocked", "died") and lease in LEASE), f"{step.place}: {cell}"


def test_the_table_has_a_cell_for_every_single_fault_of_every_swept_row():
    missing = {
        f"{row.name}: {point.label} under {fate}"
        for row in SWEPT
        for point, fate in single(reached(row)).strikes
        if not expected(point, fate)
    }
    assert not missing, sorted(missing)[:10]


def test_every_line_and_every_cell_of_the_table_is_used_by_some_row():
    used: set[tuple[int, str]] = set()
    for row in SWEPT:
        for point, fate in single(reached(row)).strikes:
            place = next(place for place, step in enumerate(STEPS) if step.fits(point))
            used.add((place, STEPS[place].cell(fate)))
    dead = [
        f"{step.place} {step.for_}: {cell}"
        for place, step in enumerate(STEPS)
        for cell in step.cells
        if (place, cell) not in used
    ]
    assert not dead


@pytest.mark.parametrize("row", SWEPT, ids=lambda row: row.name)
def test_a_sample_of_the_single_faults_of_each_row_matches_the_table(row):
    strikes = single(reached(row)).strikes
    offset = sum(map(ord, row.name)) % 53
    for point, fate in strikes[offset::53]:
        plan = Plan((Strike(point, fate),))
        found = verdict(row, plan, run(row.scenario, plan, row.design))

        assert found.status == PASSED, (str(plan.strikes[0]), found)


def test_too_much_and_too_little_blocking_are_both_noticed(monkeypatch):
    row = ROWS["one-call"]
    strikes = single(reached(row)).strikes
    acquire = next((p, f) for p, f in strikes if p.label == "Acquire" and f.name == "reply-lost")
    plan = Plan((Strike(*acquire),))
    history = run(row.scenario, plan, row.design)
    assert verdict(row, plan, history).status == PASSED

    for wrong in ("holds", "plain", "blocked free", "died held"):
        monkeypatch.setattr(loss_table, "STEPS", (Step("*", "003", {wrong: "reply-lost"}),))
        found = verdict(row, plan, history)

        assert found.status == FINDING
        assert [finding.check for finding in found.findings] == ["loss-table"]
