"""What a turn costs, in counts: a change that makes every run dearer is noticed without a clock."""

from __future__ import annotations

from collections import Counter

from scenarios.rows import ROWS
from sim.history import Asked, Decided
from sim.run import run

MESSAGES = 460
EVENTS = 1_600
DECISIONS = 690


def test_a_clean_call_costs_no_more_messages_events_and_decisions_than_it_did():
    row = ROWS["one-call"]
    kinds = Counter(type(event) for event in run(row.scenario, design=row.design).events)

    assert 2 * kinds[Asked] <= MESSAGES
    assert sum(kinds.values()) <= EVENTS
    assert kinds[Decided] <= DECISIONS
