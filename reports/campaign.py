"""One sweep: which runs it is made of, and what is kept of each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache

import msgspec

from faults.engine import Broken, Chunk, Delivery, chunks
from faults.plans import Capsule, replay_line, write
from faults.sweeps import Selection, Sweep, covers, single
from reports.bench import BROKEN, FINDING, PASSED, Bench, sightings
from reports.sometimes import NOTHING, Seen, Witness
from sim.history import digest
from sim.points import Plan, Point
from sim.text import show

AS_BEFORE, OTHERWISE, WRONG, TROUBLE = "==", "++", "--", "!!"
"""The marks of a run: ended as without the fault; otherwise, as promised; a finding; no verdict."""

MEANING = {
    AS_BEFORE: "ended as without the fault",
    OTHERWISE: "ended otherwise, as promised",
    WRONG: "finding",
    TROUBLE: "no verdict: the fault never landed, or the bench failed",
}


class Record(msgspec.Struct, frozen=True):
    """What is kept of one run.

    ``step`` and ``fate`` are its cell in the fault matrix, empty unless one fault was struck; ``where`` tells
    all of its faults. ``line`` is the whole record as JSON, ``says`` what is wrong, ``replay`` the line that
    plays it again, ``details`` a traceback; ``seen`` is what the run adds to what its process has shown.
    """

    row: str
    step: str
    fate: str
    where: str
    status: str
    mark: str
    ending: str
    line: str
    says: tuple[str, ...] = ()
    replay: str = ""
    details: str = ""
    seen: Seen = NOTHING


class Listed(msgspec.Struct, frozen=True):
    """A row's plans, how its run without faults ends, its labels, and the patterns of points that it matches."""

    sweep: Sweep
    ending: str
    labels: frozenset[str]
    matched: frozenset[str]


class Size(msgspec.Struct):
    """How a count of runs was made: every row as it stands, and single faults on top."""

    rows: int = 0
    runs: int = 0
    faults: int = 0
    points: int = 0
    polls: int = 0


class Campaign:
    """The runs of a selection of rows: each as it stands, and with each single fault.

    Args:
        bench: what plays and judges.
        selection: what is wanted of it.
        faults: how many faults are struck on top of a row: 0 or 1.
    """

    def __init__(self, bench: Bench, selection: Selection, faults: int) -> None:
        self.bench = bench
        self.selection = selection
        self.faults = faults
        self.size = Size()
        self.labels: set[str] = set()
        self.matched: set[str] = set()
        self._runs: dict[str, int] = {}
        self._witness = Witness()
        self._listed = lru_cache(maxsize=1)(self._list)

    def count(self) -> Iterator[str]:
        """Count the runs, row by row; gives the name of each row when it is counted."""
        for row in self.selection.rows:
            try:
                listed = self._listed(row)
            except Exception:  # the row itself breaks the bench; it will be run, and reported so
                listed = Listed(Sweep(), "", frozenset(), frozenset())
            self._runs[row] = len(listed.sweep)
            self.size.rows += 1
            self.size.runs += len(listed.sweep)
            self.size.faults += len(listed.sweep.strikes)
            self.size.points += listed.sweep.points
            self.size.polls += listed.sweep.polls
            self.labels |= listed.labels
            self.matched |= listed.matched
            yield row

    def ranges(self) -> Iterator[Chunk]:
        """The counted runs in ranges, for the engine."""
        for row, runs in self._runs.items():
            yield from chunks(row, runs)

    def work(self, row: str, index: int) -> Record:
        """One run, judged."""
        listed = self._listed(row)
        plan = listed.sweep.plan(index)
        history = self.bench.play(row, plan)
        judged = self.bench.judge(row, plan, history)
        return self._record(
            row,
            plan,
            judged.status,
            judged.ending,
            mark=_mark(judged.status, judged.ending == listed.ending),
            says=(
                *(show(f"{finding.check}: {finding.sentence}") for finding in judged.findings),
                *(show(f"never landed: {strike}") for strike in history.missed),
            ),
            seen=self._witness.see(plan, history),
            findings=[msgspec.to_builtins(finding) for finding in judged.findings],
            missed=list(history.missed),
            events=len(history.events),
            history=digest(history.events),
        )

    def broken(self, delivery: Delivery[Record], broken: Broken) -> Record:
        """What is kept of a run in which the bench itself failed."""
        row, index = delivery.key, delivery.index
        plan = self._listed(row).sweep.plan(index) if index else self.bench.rows()[row].plan
        says = (show(f"the bench failed: {broken.reason}"),)
        record = self._record(row, plan, BROKEN, "", mark=TROUBLE, says=says, error=broken.reason)
        return msgspec.structs.replace(record, details=broken.details)

    def _list(self, row: str) -> Listed:
        card = self.bench.rows()[row]
        seen, history = sightings(self.bench, row, card.plan)
        ending = self.bench.judge(row, card.plan, history).ending
        labels = frozenset(sighting.point.label for sighting in seen)
        matched = frozenset(
            pattern
            for pattern in self.selection.points
            if any(covers(pattern, sighting.point) for sighting in seen)
        )
        swept = self.faults and card.sweepable
        return Listed(single(seen, self.selection) if swept else Sweep(card.plan), ending, labels, matched)

    def _record(
        self,
        row: str,
        plan: Plan,
        status: str,
        ending: str,
        *,
        mark: str,
        says: tuple[str, ...],
        seen: Seen = NOTHING,
        **more: object,
    ) -> Record:
        capsule = Capsule(self.bench.design(row), row, plan)
        replay = "" if status == PASSED else replay_line(capsule)
        line: dict[str, object] = {"row": row, "plan": write(plan), "design": capsule.design}
        line |= {"status": status, "mark": mark, "ending": ending} | more
        line |= {"replay": replay} if replay else {}
        cells = [(_step(strike.point), str(strike.fate)) for strike in plan.strikes]
        step, fate = cells[0] if len(cells) == 1 else ("", "")
        where = " and ".join(f"{fate} at {step}" for step, fate in cells) or "no fault"
        return Record(row, step, fate, where, status, mark, ending, json.dumps(line), says, replay, seen=seen)


def _mark(status: str, as_before: bool) -> str:
    if status == FINDING:
        return WRONG
    if status != PASSED:
        return TROUBLE
    return AS_BEFORE if as_before else OTHERWISE


def _step(point: Point) -> str:
    """A point as a step of the fault matrix."""
    return f"{point.actor.partition(':')[0]} {point.door} {point.label}"
