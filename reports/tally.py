"""Adds up a sweep, record by record, and says what it came to."""

from __future__ import annotations

from collections import Counter, defaultdict

from reports.accepted import Accepted
from reports.bench import AS_PROMISED, BROKEN, FINDING, MISSED, PASSED, UNACCEPTED
from reports.campaign import Record
from reports.outline import Outline
from reports.sometimes import Sometimes
from reports.traced import Traced
from reports.trouble import BENCH_ERROR, CLEAN, FINDINGS, INCOMPLETE, INTERRUPTED

KEPT = 1_000
"""Runs without a pass whose records are kept for the summary; every one is in ``runs.jsonl``."""


class Tally:
    """What the runs of a campaign came to, so far.

    Args:
        campaign: which runs there are.
        interrupted: whether the user stopped what is not complete.
    """

    def __init__(self, campaign: Outline, interrupted: bool = False) -> None:
        self.campaign = campaign
        self.interrupted = interrupted
        self.done = 0
        self.statuses: Counter[str] = Counter()
        self.rows: dict[str, Counter[str]] = defaultdict(Counter)
        self.cells: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        self.endings: Counter[str] = Counter()
        self.sometimes = Sometimes(campaign.rules)
        self.traced = Traced(campaign)
        self.accepted = Accepted(campaign)
        self.kept: list[Record] = []

    def add(self, record: Record) -> None:
        """Count one run."""
        if record.status != BROKEN:
            self.sometimes.add(record.seen)
        self.traced.add(record)
        self.accepted.add(record)
        self.done += 1
        self.statuses[record.status] += 1
        self.rows[record.row][record.mark] += 1
        if record.step:
            self.cells[record.step, record.fate][record.mark] += 1
        if record.status in AS_PROMISED:
            self.endings[record.ending] += 1
        elif len(self.kept) < KEPT:
            self.kept.append(record)

    @property
    def wrong(self) -> int:
        """The number of runs that did not pass."""
        return self.done - sum(self.statuses[status] for status in AS_PROMISED)

    @property
    def complete(self) -> bool:
        """Whether every run was made; of a shard, every run of its own."""
        return self.done == self.campaign.due

    @property
    def code(self) -> int:
        """The exit code that says how the sweep ended."""
        if not self.complete:
            return INTERRUPTED if self.interrupted else INCOMPLETE
        if self.statuses[BROKEN]:
            return BENCH_ERROR
        return FINDINGS if self.wrong else CLEAN

    @property
    def verdict(self) -> str:
        """How the sweep ended, in a word or two."""
        words = {CLEAN: "clean", FINDINGS: "findings", BENCH_ERROR: "bench error"}
        return words.get(self.code, "incomplete")

    @property
    def made(self) -> str:
        """How the count of runs was made."""
        size, shard = self.campaign.size, self.campaign.shard
        part = f"{shard.in_words}, " if shard.of > 1 else ""
        so_far = part if self.done == size.runs else f"{part}{self.done:,} of "
        text = f"{so_far}{_many(size.runs, 'run')} = {_many(size.rows, 'row')} as written"
        if size.faults:
            text += f" + {_many(size.faults, 'single fault')} at {_many(size.points, 'point')}"
        return f"{text}; {_many(size.polls, 'repeated look')} left out" if size.polls else text

    @property
    def came_to(self) -> str:
        """What the runs came to, in numbers."""
        results = [f"{self.statuses[PASSED]:,} passed"]
        results += [f"{self.statuses[UNACCEPTED]:,} {UNACCEPTED}"] if self.statuses[UNACCEPTED] else []
        results += [_many(self.statuses[FINDING], "finding")]
        results += [f"{self.statuses[MISSED]:,} never landed"] if self.statuses[MISSED] else []
        results += [f"{self.statuses[BROKEN]:,} broke the bench"] if self.statuses[BROKEN] else []
        return ", ".join(results)


def _many(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
