"""What a sweep came to, in words and tables: for the terminal, and as Markdown for a pull request."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

from faults.engine import Broken, Delivery
from faults.fates import UNSTRUCK, VOCABULARY
from reports.bench import BROKEN, FINDING, MISSED, PASSED
from reports.campaign import AS_BEFORE, MEANING, OTHERWISE, TROUBLE, WRONG, Campaign, Record
from reports.trouble import BENCH_ERROR, CLEAN, FINDINGS, INCOMPLETE, INTERRUPTED
from sim.text import show

KEPT = 1_000
"""Findings kept for the summary; every one is in ``runs.jsonl``."""

ON_TERMINAL = 50
"""Findings shown on the terminal."""

MARKS = (AS_BEFORE, OTHERWISE, WRONG, TROUBLE)
LEGEND = " · ".join(f"`{mark}` {meaning}" for mark, meaning in MEANING.items())

BLIND = (
    "Several faults in one run: this sweep strikes one at a time.",
    "Other schedules: messages that no fault touches keep the order of the simulated world.",
    "What the model of the world leaves out: SQL dialects, real model providers, pipes and processes of an operating "
    "system, real object stores, performance.",
)
"""What no sweep of this kind can see."""


class Tally:
    """Adds up the records of a sweep, in order, without keeping them."""

    def __init__(self, campaign: Campaign) -> None:
        self.campaign = campaign
        self.done = 0
        self.statuses: Counter[str] = Counter()
        self.rows: dict[str, Counter[str]] = defaultdict(Counter)
        self.endings: Counter[str] = Counter()
        self.cells: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        self.steps: dict[str, None] = {}
        self.rules: set[str] = set()
        self.troubles: list[Record] = []
        self.interrupted = False
        self.stopped = False

    def add(self, delivery: Delivery[Record]) -> Record:
        """Count the result of one run; its record."""
        record = delivery.result
        if isinstance(record, Broken):
            record = self.campaign.broken(delivery, record)
        self.done += 1
        self.statuses[record.status] += 1
        self.rows[record.row][record.mark] += 1
        if record.status == PASSED:
            self.endings[record.ending] += 1
        elif len(self.troubles) < KEPT:
            self.troubles.append(record)
        if record.step:
            self.steps.setdefault(record.step)
            self.cells[record.step, record.fate][record.mark] += 1
        self.rules |= record.rules
        return record

    @property
    def complete(self) -> bool:
        """Whether every run was made."""
        return self.done == self.campaign.size.runs

    @property
    def code(self) -> int:
        """The exit code that says how the sweep ended."""
        if self.interrupted:
            return INTERRUPTED
        if not self.complete:
            return INCOMPLETE
        if self.statuses[BROKEN]:
            return BENCH_ERROR
        return FINDINGS if self.done > self.statuses[PASSED] else CLEAN

    def verdict(self) -> str:
        """The sweep in a word or two."""
        words = {CLEAN: "clean", FINDINGS: "findings", BENCH_ERROR: "bench error"}
        return words.get(self.code, "incomplete")

    def count(self) -> str:
        """How the count was made, and what it came to."""
        size = self.campaign.size
        parts = [
            f"{self.done:,} of {size.runs:,} runs" if not self.complete else f"{size.runs:,} runs",
            f"= {size.clean:,} without a fault + {size.faults:,} single faults at {size.points:,} points "
            f"of {size.rows:,} rows",
        ]
        text = " ".join(parts)
        if size.polls:
            text += f" ({size.polls:,} more looks stand for by the first, second and last of their kind)"
        results = [f"{self.statuses[PASSED]:,} passed", f"{self.statuses[FINDING]:,} with findings"]
        results += [f"{self.statuses[MISSED]:,} never landed"] if self.statuses[MISSED] else []
        results += [f"{self.statuses[BROKEN]:,} broke the bench"] if self.statuses[BROKEN] else []
        return f"{text}: {', '.join(results)}"
