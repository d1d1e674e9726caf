"""A planted bug, found by a real sweep, and the finding told step by step."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import fill

from faults.engine import deliver
from faults.plans import read_capsule
from faults.sweeps import Selection
from reports.bench import FINDING, House
from reports.campaign import Campaign, Record
from reports.explain import rules
from reports.timeline import laid_out
from reports.walk import Walk
from sim.history import Struck
from sim.points import Plan
from sim.text import show

RULE = "settlement.blocks"
FILE = "demo.turn.toml"
PLANTED = f"""
[answers]
"{RULE}" = false      # the planted bug: doubt blocks nothing
"""
SCENARIO = """why = "a build is run once"
{planted}
[[session]]
[[session.turn]]
prompt = "build it"
[[session.turn.answer]]
calls = [{{ command = "make" }}]
[[session.turn.answer]]
text = "done"
"""
FATES, POINTS = ("reply-lost",), ("harness:a:call:*",)
BEFORE, AFTER = 3, 6
"""How many steps are shown around the strike."""


class Demo:
    """One sweep of a small scenario, with the planted bug or without it."""

    def __init__(self, planted: bool, columns: int) -> None:
        self.bench = House()
        self.bench.hold(FILE, scenario(planted))
        self.columns = columns
        campaign = Campaign(self.bench, Selection((FILE,), FATES, POINTS), 1)
        for _ in campaign.count():
            pass
        runs = deliver(campaign.outline().ranges(), campaign.work, jobs=1)
        self.records = [campaign.kept(run) for run in runs]

    @property
    def findings(self) -> list[Record]:
        """The runs that did not keep what the design promises."""
        return [record for record in self.records if record.status == FINDING]


def scenario(planted: bool) -> str:
    """The demo's scenario file."""
    return SCENARIO.format(planted=PLANTED if planted else "")


def chapters(columns: int) -> Iterator[list[str]]:
    """The walk through the finding, chapter by chapter."""
    demo = Demo(planted=True, columns=columns)
    found = demo.findings[0]
    plan = read_capsule(found.replay).plan
    history = demo.bench.play(FILE, plan)
    walk = Walk(history.events)
    yield _planted(columns)
    yield _swept(demo)
    yield _found(found, columns)
    yield ["4. What happened", "", *_around_the_strike(walk, columns)]
    yield _without_the_bug(plan, columns)
    yield _next(columns)


def _planted(columns: int) -> list[str]:
    rule = rules()[RULE]
    told = f"The design has {len(rules())} rules. This one is made to answer no, always: {rule.name} ({rule.cites})."
    return [
        "1. A rule is taken out",
        "",
        fill(told, columns),
        fill(f"It says: {rule.says}", columns, subsequent_indent="  "),
        fill(f"Without it: {rule.without}.", columns, subsequent_indent="  "),
    ]


def _swept(demo: Demo) -> list[str]:
    told = (
        f"One Shell call is played {len(demo.records)} times: once as it is, and once for each request of the harness, "
        "with the reply to that request lost. Each run is judged by every check."
    )
    return [
        "2. The sweep",
        "",
        fill(told, demo.columns),
        f"  {len(demo.records) - len(demo.findings)} runs passed, {len(demo.findings)} did not.",
    ]


def _found(found: Record, columns: int) -> list[str]:
    says = [fill(f"-- {text}", columns, subsequent_indent="   ") for text in found.says]
    return ["3. The first finding", "", f"{found.where}, and then", *says]


def _around_the_strike(walk: Walk, columns: int) -> Iterator[str]:
    walk.strike()
    struck = walk.at
    yield laid_out_head(columns)
    for number in range(struck - BEFORE, struck + AFTER + 1):
        if walk.go(number):
            yield laid_out(walk.step.line, columns)
    yield "      ..."
    answer = next(
        (step for step in walk.steps[struck:] if "AwaitTurn" in step.line.what),
        walk.steps[-1],
    )
    told = [step for step in walk.steps[struck + AFTER :] if step.line.who == "harness:a"][:2]
    for step in dict.fromkeys([*told, answer]):
        yield laid_out(step.line, columns)


def laid_out_head(columns: int) -> str:
    """The names of the columns."""
    return f"{'ms':>9} {'':2} {'who':<18} what"[:columns]


def _without_the_bug(plan: Plan, columns: int) -> list[str]:
    whole = Demo(planted=False, columns=columns)
    history = whole.bench.play(FILE, plan)
    judged = whole.bench.judge(FILE, plan, history)
    landed = sum(isinstance(event, Struck) for event in history.events)
    told = (
        f"Under the whole design the same fault strikes too ({landed} strike landed), and the run comes out "
        f"{judged.status}: {show(judged.ending)}. On doubt the Session is blocked for recovery, and what may be "
        "running keeps its lease."
    )
    clean = f"All {len(whole.records)} runs of the sweep: {len(whole.findings)} findings."
    return ["5. The nearest run that passes", "", fill(told, columns), clean]


def _next(columns: int) -> list[str]:
    told = f"`turnproof demo --save {FILE}` writes this scenario into a file of your own. Then:"
    return [
        "6. By yourself",
        "",
        fill(told, columns),
        f"  turnproof sweep {FILE} reply-lost     # the findings, each with its replay line",
        f"  turnproof run {FILE} --step           # walk through a run",
        f"  turnproof explain {RULE}",
        "  turnproof new my.turn.toml                  # a scenario of your own",
    ]
