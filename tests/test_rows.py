"""The rows: each keeps its promise, each column of a promise can be broken, each fault of a row lands."""

from __future__ import annotations

import msgspec
import pytest

from faults.sweeps import single
from scenarios.base import DONE, alone
from scenarios.judge import MISSED, NOT_ACCEPTED_EXPECTED, PASSED, verdict
from scenarios.promise import broken
from scenarios.row import NoSuchPlace, own_plan, reached
from scenarios.rows import ROWS
from sim.design import SEED
from sim.outcome import outcome
from sim.points import NO_FAULTS, Fate, Plan, Point, Strike
from sim.run import run
from sim.scenario import IllFormed, Scenario, SessionPlan, calls, says, shell


@pytest.mark.parametrize("row", ROWS.values(), ids=lambda row: row.name)
def test_the_row_keeps_its_promise(row):
    found = verdict(row, NO_FAULTS, run(row.scenario, row.plan, row.design))

    assert found.status in (PASSED, NOT_ACCEPTED_EXPECTED), found


def test_every_row_says_why_it_is_there_and_where_that_is_written():
    for name, row in ROWS.items():
        assert (name, bool(row.why), bool(row.cites)) == (row.name, True, True)


@pytest.mark.parametrize("column", ["endings", "spawns", "starts", "asked", "acks", "lease", "second"])
def test_each_column_of_a_promise_is_judged(column):
    row = ROWS["one-call"]
    wrong = {"endings": ("error",), "lease": "held", "second": "error"}.get(column, 7)
    promise = msgspec.structs.replace(row.promise, **{column: wrong})

    sentences = broken(promise, outcome(run(row.scenario).events))

    assert len(sentences) == 1
    assert str(wrong) in sentences[0]


def test_a_strike_that_never_lands_fails_the_run():
    row = ROWS["one-call"]
    nowhere = Plan((Strike(Point("nobody#1", "broker", "commit", "Settle", 9), Fate("commit-failed")),))

    assert verdict(row, nowhere, run(row.scenario, nowhere)).status == MISSED


def test_a_row_that_names_a_place_it_never_reaches_is_told_so():
    row = msgspec.structs.replace(ROWS["one-call"], faults=("broker:commit:Settle#2=commit-failed",))

    with pytest.raises(NoSuchPlace, match=r"broker:commit:Settle#2 is never reached; .* is reached 1 times"):
        own_plan(row)


def test_a_fault_of_a_row_may_strike_where_only_the_faults_before_it_lead():
    crash, lost = "worker:w:act:Spawn#1=crash-before", "harness:a:call:CancelExecution#1=reply-lost"
    alone_, led = (
        msgspec.structs.replace(ROWS["one-call"], faults=faults) for faults in ((lost,), (crash, lost))
    )

    with pytest.raises(NoSuchPlace, match=r"CancelExecution#1 is never reached"):
        own_plan(alone_)
    assert [strike.point.label for strike in own_plan(led).strikes] == ["Spawn", "CancelExecution"]
    assert run(led.scenario, led.plan, led.design).missed == ()


OWN = ("harness:a", "journal:a", "publisher:a", "worker:w")


def test_what_befalls_one_session_never_reaches_another_on_its_own_workspace():
    row = ROWS["two-workspaces"]
    strikes = [strike for strike in single(reached(row)).strikes if strike[0].actor in OWN]
    assert len(strikes) > 1_000
    for strike in strikes[::41]:
        found = outcome(run(row.scenario, Plan((Strike(*strike),))).events)

        assert [turn.ending for turn in found.turns if turn.session == "b"] == ["completed"], strike
        assert found.lease("v") == ""


@pytest.mark.parametrize(
    ("scenario", "ending", "reason"),
    [
        (alone("quotes", calls(shell("c", '"' * 25_000)), DONE), "error", "hosted_tool_batch_too_large"),
        (alone("wide", calls(shell("c", "\u00e9" * 40_000)), DONE), "error", "hosted_tool_batch_too_large"),
        (
            alone("text", calls(shell("c", "make")), says("x" * 70_000)),
            "error",
            "hosted_model_output_too_large",
        ),
        (alone("fits", calls(shell("c", "x" * 20_000)), says("x" * 60_000)), "completed", ""),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_what_no_record_can_keep_ends_the_turn_plainly_and_frees_the_workspace(scenario, ending, reason):
    found = outcome(run(scenario, design=SEED).events)

    assert [(turn.ending, turn.reason) for turn in found.turns] == [(ending, reason)]
    assert found.lease("w") == ""


@pytest.mark.parametrize("answer", [says("\ud800"), calls(shell("\ud800", "make"))])
def test_ill_formed_text_outside_arguments_is_refused_before_the_run(answer):
    with pytest.raises(IllFormed, match=r"'\\ud800' holds an unpaired surrogate"):
        run(alone("ill", answer))


@pytest.mark.parametrize("name", ["", "a:b", "a/b", "a#1", "\ud800"])
def test_a_session_or_workspace_whose_name_cannot_stand_in_an_address_is_refused(name):
    with pytest.raises(IllFormed, match="names no Session or Workspace"):
        run(Scenario("named", (SessionPlan("a", name, ()),)))
