"""Two designs side by side: the same rows under the same plans, and in which columns they end otherwise."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

import msgspec

from faults.engine import Broken, Delivery
from faults.plans import Capsule, replay_line, write
from reports.bench import MISSED, Bench
from reports.campaign import Campaign, in_words
from reports.trouble import BENCH_ERROR, CLEAN, FINDINGS, INCOMPLETE, INTERRUPTED
from sim.outcome import BLOCKED, NOT_ACCEPTED, PROBE, Outcome, outcome
from sim.points import Plan
from sim.text import show

FORMAT = "turnproof-diff/1"
"""What each line of ``diff.jsonl`` says it is."""

SAME, CHANGED = "same", "changed"
"""What a compared run can come to, beside ``missed`` and ``broken``."""


class Left(msgspec.Struct, frozen=True):
    """How a run was left, in the columns that are compared: each turn, each Workspace, a second Session on each.

    ``blocked`` says which turn was told to be recovery blocked, and how long after its prompt.
    """

    ending: str
    lease: str
    second: str
    blocked: str


COLUMNS = Left.__struct_fields__
"""The compared columns, in the order in which they are shown."""


class Side(msgspec.Struct, frozen=True):
    """One run of a pair: what came of it, the checks that objected to it, and the line that plays it again.

    ``landed`` is False when a fault of the plan never met its point.
    """

    left: Left
    landed: bool
    findings: tuple[str, ...]
    history: str
    replay: str


class Pair(msgspec.Struct, frozen=True):
    """One plan of one row under both designs."""

    row: str
    plan: str
    where: str
    one: Side
    other: Side

    @property
    def changes(self) -> tuple[str, ...]:
        """The columns in which the two runs differ; none when a fault did not land, which leaves nothing to compare."""
        return changes(self.one.left, self.other.left) if self.one.landed and self.other.landed else ()

    @property
    def status(self) -> str:
        """Missed when the plan does not land on both sides; else changed or the same."""
        if not (self.one.landed and self.other.landed):
            return MISSED
        return CHANGED if self.changes else SAME


def changes(one: Left, other: Left) -> tuple[str, ...]:
    """The columns in which two runs differ."""
    return tuple(column for column in COLUMNS if getattr(one, column) != getattr(other, column))


def left(found: Outcome) -> Left:
    """How a run was left."""
    return Left(
        ", ".join(turn.ending for turn in found.turns) or NOT_ACCEPTED,
        ", ".join(f"{workspace} {'held' if holder else 'free'}" for workspace, holder in found.leases)
        or "none asked",
        ", ".join(f"{turn.session.removeprefix(f'{PROBE}-')} {turn.ending}" for turn in found.probes)
        or "none came",
        ", ".join(f"{turn.prompt} after {turn.took:,} ms" for turn in found.turns if turn.ending == BLOCKED)
        or "none",
    )


# --- making the runs


class Comparison:
    """The runs of a campaign, each made again under another design. The first design's run names the points."""

    def __init__(self, campaign: Campaign, other: Bench) -> None:
        self.campaign = campaign
        self.other = other

    @property
    def names(self) -> tuple[str, str]:
        """The two designs."""
        return self.campaign.bench.named, self.other.named

    def work(self, row: str, index: int) -> Pair:
        """One plan under both designs."""
        plan = self.campaign.plan(row, index)
        one, other = (_played(bench, row, plan) for bench in (self.campaign.bench, self.other))
        return Pair(row, write(plan), in_words(plan), one, other)


def _played(bench: Bench, row: str, plan: Plan) -> Side:
    history = bench.play(row, plan)
    judged = bench.judge(row, plan, history)
    return Side(
        left(judged.found or outcome(history.events)),
        not history.missed,
        tuple(dict.fromkeys(finding.check for finding in judged.findings)),
        judged.history,
        replay_line(Capsule(bench.design(row), row, plan)),
    )


def line(pair: Pair, names: Sequence[str]) -> str:
    """A pair as a line of JSON."""
    sides = {
        key: {"design": name, **msgspec.to_builtins(side)}
        for key, name, side in zip(("one", "other"), names, (pair.one, pair.other), strict=True)
    }
    told = {
        "format": FORMAT,
        "row": pair.row,
        "plan": pair.plan,
        "status": pair.status,
        "changes": pair.changes,
    }
    return json.dumps(told | sides)


# --- counting them


class Changed(msgspec.Struct):
    """What the runs of one row came to.

    ``columns`` counts the runs that differ in each, ``findings`` those with findings on either side; ``smallest`` is
    the first pair that changed, which has the fewest faults, or else the first that did not land.
    """

    statuses: Counter[str]
    columns: Counter[str]
    findings: tuple[int, int] = (0, 0)
    smallest: Pair | None = None

    @property
    def differs(self) -> bool:
        """Whether any run changed, did not land, or broke the bench."""
        return self.statuses.total() > self.statuses[SAME]


class Differences:
    """What a comparison came to: numbers for each row, and what the bench broke of."""

    def __init__(self, names: tuple[str, str], due: int) -> None:
        self.names = names
        self.due = due
        self.interrupted = False
        self.rows: dict[str, Changed] = {}
        self.lines: list[str] = []
        self.broken: list[str] = []
        self.details = ""

    def add(self, delivery: Delivery[Pair]) -> None:
        """Count one pair of runs."""
        row = self.rows.setdefault(delivery.key, Changed(Counter(), Counter()))
        if isinstance(delivery.result, Broken):
            row.statuses["broken"] += 1
            self.broken.append(show(f"{delivery.key}, run {delivery.index}: {delivery.result.reason}"))
            self.details = self.details or delivery.result.details
            return
        pair = delivery.result
        row.statuses[pair.status] += 1
        row.columns.update(pair.changes)
        one, other = row.findings
        row.findings = (one + bool(pair.one.findings), other + bool(pair.other.findings))
        if pair.status != SAME and (row.smallest is None or (pair.changes and not row.smallest.changes)):
            row.smallest = pair
        self.lines.append(line(pair, self.names))

    @property
    def differing(self) -> dict[str, Changed]:
        """The rows of which not every run is the same."""
        return {name: row for name, row in self.rows.items() if row.differs}

    @property
    def statuses(self) -> Counter[str]:
        """How many runs came to what."""
        counts = Counter[str]()
        for row in self.rows.values():
            counts.update(row.statuses)
        return counts

    @property
    def code(self) -> int:
        """The exit code, as that of ``diff``: 1 when anything differs."""
        if self.interrupted:
            return INTERRUPTED
        if self.statuses.total() < self.due:
            return INCOMPLETE
        if self.broken:
            return BENCH_ERROR
        return FINDINGS if self.differing else CLEAN
