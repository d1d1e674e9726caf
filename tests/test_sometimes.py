"""What a sweep has shown at least once, and what it calls not exercised."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from reports.bench import House
from reports.cli import cli
from reports.order import last_steps, marked
from reports.sometimes import FORMS, NOWHERE, Seen, Sometimes, Witness, seen
from scenarios.rows import ROWS
from sim.design.order import ORDER
from sim.history import Decided, Event, History
from sim.points import NO_FAULTS, Fate, Plan, Point, Strike
from sim.run import run

LAST = (
    ("acquire", "harness:a:call:Acquire#1=crash-after"),
    ("register", "harness:a:call:RegisterPublisher#1=crash-after"),
    ("assistant", "harness:a:call:Prepare#1=crash-before"),
    ("intent", "journal:a:call:Transact.ToolIntent#1=crash-after"),
    ("checkpoint", "harness:a:call:StartExecution#1=crash-before"),
    ("execute", "harness:a:call:StartExecution#1=request-lost"),
    ("durable capture", "worker:w:call:AcceptCapture#1=crash-before"),
    ("durable receipt", "journal:a:call:Transact.ToolReceipt#1=crash-after"),
    ("model result", "journal:a:call:Transact.ToolResult#1=crash-after"),
    ("checkpoint resolution", "harness:a:call:Acknowledge#1=crash-before"),
    ("exact ACK", "harness:a:call:Acknowledge#1=crash-after"),
    ("next inference", "harness:a:call:Infer#2=crash-after"),
    ("result consumption", "harness:a:call:Release#1=crash-before"),
    ("release", "harness:a:call:ClosePublisher#1=crash-before"),
)
"""For each step of the order, a fault behind which no other step follows."""


# --- the last step of a run


@pytest.mark.parametrize(("step", "fault"), LAST)
def test_a_run_stops_at_each_step_of_the_order(step: str, fault: str) -> None:
    row = replace(ROWS["one-call"], faults=(fault,))

    assert last_steps(run(row.scenario, row.plan).events) == (step,)


def test_every_step_of_the_order_is_tried() -> None:
    assert tuple(step for step, _ in LAST) == ORDER


def test_what_follows_the_healing_is_no_step_of_the_run() -> None:
    history = run(ROWS["text-only"].scenario)

    assert any(event for event in history.events if getattr(event, "label", "") == "ClaimWorkspace")
    assert last_steps(history.events) == ()


@pytest.mark.parametrize(
    ("row", "steps"),
    [
        ("one-call", ORDER),
        ("two-rounds", (*ORDER[:13], *ORDER[2:])),
        (
            "cancel-before-start",
            (
                *ORDER[:5],
                "durable receipt",
                "model result",
                "checkpoint resolution",
                "result consumption",
                "release",
            ),
        ),
        ("refused-sibling", ()),
    ],
)
def test_the_steps_of_a_run_are_marked_where_they_are_taken(row: str, steps: tuple[str, ...]) -> None:
    found = marked(run(ROWS[row].scenario).events)

    assert tuple(found[place] for place in sorted(found)) == steps


# --- what was seen


RULES = {"lease.exclusive": "bool", "lease.key": "str", "lease.tells": "Response", "lease.unasked": "bool"}
STRIKE = Strike(Point("", "harness:a", "call", "Acquire", 1), Fate("reply-lost", sticky=True))


def asked(**answers: object) -> History:
    events: list[Event] = [Decided(0, 1, f"lease.{rule}", answer) for rule, answer in answers.items()]  # type: ignore[arg-type]
    return History(events, ())


def added(*histories: History, plan: Plan = NO_FAULTS, parts: int = 1) -> Sometimes:
    witnesses = [Witness() for _ in range(parts)]
    sometimes = Sometimes(RULES)
    for number, history in enumerate(histories):
        sometimes.add(witnesses[number % parts].news(seen(plan, history)))
    return sometimes


def test_a_rule_has_to_answer_both_ways() -> None:
    never = list(added(asked(exclusive=True, key="a", tells="Response")).never())

    assert never[:3] == [
        "Rules of the design that no run consulted: lease.unasked.",
        "Rules that never said no: lease.exclusive.",
        "Rules that always answered alike: lease.key.",
    ]
    assert "Rules that never said yes: lease.exclusive." in added(asked(exclusive=False)).never()
    both = added(asked(exclusive=True, key="a"), asked(exclusive=False, key="b"))
    assert not [
        sentence for sentence in both.never() if "lease.exclusive" in sentence or "lease.key" in sentence
    ]
    assert "2 of 4 rules consulted, 2 of 3 answered more than one way" in both.in_a_line


def test_a_fate_is_seen_where_it_landed() -> None:
    plan = Plan((STRIKE,))

    assert added(History([], ()), plan=plan).fates == {"reply-lost!"}
    assert added(History([], (str(STRIKE),)), plan=plan).fates == set()
    assert f"1 of {len(FORMS)} fates landed" in added(History([], ()), plan=plan).in_a_line


def test_nothing_is_left_when_all_of_it_was_seen() -> None:
    sometimes = Sometimes({"lease.exclusive": "bool"})
    answers = frozenset({("lease.exclusive", True), ("lease.exclusive", False)})

    sometimes.add(Seen(answers, frozenset(FORMS), ORDER))

    assert list(sometimes.never()) == []


def test_each_thing_is_told_once_and_any_division_of_work_comes_to_the_same() -> None:
    histories = [asked(exclusive=True, key=f"key-{number}") for number in range(9)]
    witness = Witness()

    told = [len(witness.news(seen(NO_FAULTS, history)).answers) for history in histories]

    assert told == [2, 1, 0, 0, 0, 0, 0, 0, 0]
    sums = [added(*histories, parts=parts) for parts in (1, 2, 5)]
    assert len({(each.in_a_line, *each.never()) for each in sums}) == 1
    assert sums[0].last[NOWHERE] == len(histories)


def test_a_sweep_says_what_it_did_not_exercise(tmp_path: Path) -> None:
    outs: list[str] = []
    for jobs in ("1", "2"):
        words = ["sweep", "refused-sibling", "text-only", "Infer", "--out", str(tmp_path), "-j", jobs]
        result = CliRunner().invoke(cli, words, obj=House())
        assert result.exit_code == 0, result.output
        outs.append((tmp_path / "summary.md").read_text("utf-8") + result.stdout)

    assert outs[0] == outs[1]
    assert "\nsometimes: " in outs[0]
    assert f"0 of {len(ORDER)} steps were a run's last" in outs[0]
    exercised, _, rest = outs[0].partition("## Not exercised")
    assert "| release | 0 |" in exercised
    idle, _, _ = rest.partition("## Not covered")
    assert f"no run's last: {', '.join(ORDER)}." in idle
    assert "execution.execution_id" in idle
    assert "admission.shape_error" not in idle
    assert "reply-lost!" not in idle.partition("Fates")[2].split(":")[1].split(".")[0]
