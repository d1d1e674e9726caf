"""One sweep: which runs it is made of, and what is kept of each."""

from __future__ import annotations

import hashlib
import json
import pickle
from collections.abc import Iterator
from functools import lru_cache

import msgspec

from faults.engine import CHUNK, Broken, Delivery, Work
from faults.plans import Capsule, replay_line, write
from faults.sweeps import Selection, Sweep, covers, single
from reports.bench import AS_PROMISED, BROKEN, FINDING, Bench, Judged, sightings
from reports.evidence import Evidence, Firsts, evidence
from reports.outline import WHOLE, Counted, Outline, Shard, Title, code, released
from reports.schema import FORMAT
from reports.sometimes import NOTHING, Seen, seen
from reports.trail import NONE, Trail, trail, written
from sim.history import History
from sim.outcome import outcome
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
    plays it again; ``seen`` is what the run has shown, ``evidence`` how one that did not pass left the world,
    ``trail`` what happened in it, told beside the row's first run.
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
    seen: Seen = NOTHING
    evidence: Evidence | None = None
    trail: str = ""


class Listed(msgspec.Struct, frozen=True):
    """A row's plans; of a swept one how its run without faults ends, its labels, the patterns of points it matches."""

    sweep: Sweep
    ending: str
    labels: frozenset[str]
    matched: frozenset[str]
    trail: Trail = NONE


class Campaign:
    """The runs of a selection of rows: each as it stands, and with each single fault.

    Args:
        bench: what plays and judges.
        selection: what is wanted of it.
        faults: how many faults are struck on top of a row: 0 or 1.

    ``details`` is a traceback of the first run that broke the bench in this process.
    """

    def __init__(self, bench: Bench, selection: Selection, faults: int) -> None:
        self.bench = bench
        self.selection = selection
        self.faults = faults
        self.details = ""
        self.labels: set[str] = set()
        self.matched: set[str] = set()
        self._rows: list[Counted] = []
        self._listed = lru_cache(maxsize=1)(self._list)
        self._scenic = Firsts()

    def count(self) -> Iterator[str]:
        """Count the runs, row by row; gives the name of each row when it is counted."""
        for row in self.selection.rows:
            try:
                listed = self._listed(row)
            except Exception:  # the row itself breaks the bench; it will be run, and reported so
                listed = Listed(Sweep(), "", frozenset(), frozenset())
            self._rows.append(_counted(row, self.bench.design(row), listed.sweep))
            self.labels |= listed.labels
            self.matched |= listed.matched
            yield row

    def outline(self, shard: Shard = WHOLE) -> Outline:
        """The counted campaign, or a part of it."""
        titles = tuple(
            Title(name, card.theme, tuple(card.cases), card.why, card.cites, card.sweepable, card.evidence)
            for name, card in self.bench.rows().items()
        )
        rules = dict(self.bench.rules())
        rows = tuple(self._rows)
        return Outline(
            released(),
            code(),
            self.selection,
            self.faults,
            rows,
            titles,
            rules,
            shard=shard,
            traced=self.bench.traced(),
            named=self.bench.named,
            store=self.bench.store,
            demands=self.bench.demands(),
        )

    def plan(self, row: str, index: int) -> Plan:
        """The plan of this number of a row."""
        return self._listed(row).sweep.plan(index)

    def recipe(self) -> Recipe:
        """What to send to another machine, to have runs of this campaign made there."""
        return Recipe(pickle.dumps(self.bench), self.selection, self.faults, code())

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
            mark=_mark(judged.status, not index or judged.ending == listed.ending),
            says=(
                *(show(f"{finding.check}: {finding.sentence}") for finding in judged.findings),
                *(show(f"never landed: {strike}") for strike in history.missed),
            ),
            seen=seen(plan, history),
            evidence=None if judged.status in AS_PROMISED else self._evidence(row, index, history, judged),
            trail=written(
                history.events, judged.found or outcome(history.events), listed.trail if index else NONE
            ),
            findings=[msgspec.to_builtins(finding) for finding in judged.findings],
            missed=list(history.missed),
            events=len(history.events),
            history=judged.history,
        )

    def _evidence(self, row: str, index: int, history: History, judged: Judged) -> Evidence:
        """Drawing a scene takes longer than the run: of a chunk, only that of its first finding is kept."""
        scenic = judged.status == FINDING and self._scenic.is_first((row, index // CHUNK), index)
        return evidence(history, judged.findings, scenic)

    def kept(self, delivery: Delivery[Record]) -> Record:
        """What is kept of a run, also of one in which the bench itself failed."""
        if not isinstance(delivery.result, Broken):
            return delivery.result
        return self._broken(delivery, delivery.result)

    def _broken(self, delivery: Delivery[Record], broken: Broken) -> Record:
        row, index = delivery.key, delivery.index
        plan = self._listed(row).sweep.plan(index) if index else self.bench.rows()[row].plan
        says = (show(f"the bench failed: {broken.reason}"),)
        self.details = self.details or broken.details
        return self._record(row, plan, BROKEN, "", mark=TROUBLE, says=says, error=broken.reason)

    def _is_swept(self, row: str) -> bool:
        """Whether faults are struck on top of a row; one that takes none need not be run to be counted."""
        return bool(self.faults) and self.bench.rows()[row].sweepable

    def _list(self, row: str) -> Listed:
        card = self.bench.rows()[row]
        if not self._is_swept(row):
            return Listed(Sweep(card.plan), "", frozenset(), frozenset())
        seen, history = sightings(self.bench, row, card.plan)
        ending = self.bench.judge(row, card.plan, history).ending
        labels = frozenset(sighting.point.label for sighting in seen)
        matched = frozenset(
            pattern
            for pattern in self.selection.points
            if any(covers(pattern, sighting.point) for sighting in seen)
        )
        return Listed(single(seen, self.selection), ending, labels, matched, trail(history.events))

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
        evidence: Evidence | None = None,
        trail: str = "",
        **more: object,
    ) -> Record:
        capsule = Capsule(self.bench.design(row), row, plan)
        replay = "" if status in AS_PROMISED else replay_line(capsule)
        line: dict[str, object] = {
            "format": FORMAT,
            "row": row,
            "plan": write(plan),
            "design": capsule.design,
        }
        line |= {"status": status, "mark": mark, "ending": ending} | more
        line |= {"replay": replay} if replay else {}
        cells = [(_step(strike.point), str(strike.fate)) for strike in plan.strikes]
        step, fate = cells[0] if len(cells) == 1 else ("", "")
        text = json.dumps(line)
        where = in_words(plan)
        return Record(row, step, fate, where, status, mark, ending, text, says, replay, seen, evidence, trail)


class OtherCode(Exception):
    """The code here is not that of the process which wants the runs."""


class Recipe(msgspec.Struct, frozen=True):
    """Builds a campaign's work in another process: its bench, pickled, what is wanted, and the digest of the code."""

    bench: bytes
    selection: Selection
    faults: int
    code: str

    def __call__(self) -> Work[Record]:
        """The work, built once in a process. OtherCode: what it came to here would be no result of theirs."""
        if code() != self.code:
            raise OtherCode(
                f"the code of turnproof there is {code()}, here it is {self.code}: install the same"
            )
        return _campaign(self).work


@lru_cache(maxsize=1)
def _campaign(recipe: Recipe) -> Campaign:
    return Campaign(pickle.loads(recipe.bench), recipe.selection, recipe.faults)


def _counted(row: str, design: str, sweep: Sweep) -> Counted:
    plans = "\n".join(write(sweep.plan(index)) for index in range(len(sweep)))
    digest = hashlib.sha256(plans.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return Counted(row, design, len(sweep), sweep.points, sweep.polls, digest)


def _mark(status: str, as_before: bool) -> str:
    if status == FINDING:
        return WRONG
    if status not in AS_PROMISED:
        return TROUBLE
    return AS_BEFORE if as_before else OTHERWISE


def in_words(plan: Plan) -> str:
    """All faults of a plan, each with its step of the fault matrix."""
    return " and ".join(f"{strike.fate} at {_step(strike.point)}" for strike in plan.strikes) or "no fault"


def _step(point: Point) -> str:
    """A point as a step of the fault matrix."""
    return f"{point.actor.partition(':')[0]} {point.door} {point.label}"
