"""An outsider: every request it can send is sent by a row, and what it is answered is judged."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from faults.sweeps import single
from scenarios.judge import answers, verdict
from scenarios.row import reached
from scenarios.rows import ROWS
from sim.actors.intruder import forgeries
from sim.checks.intruder import ROUTES
from sim.points import NO_FAULTS
from sim.run import run
from sim.scenario import IllFormed, Intrusion

ROW = ROWS["no-bearer"]
PLAYED = {(each.route, each.wrong) for row in ROWS.values() for each in row.scenario.intrusions}


def test_every_forgery_is_sent_by_a_row_and_every_route_is_judged() -> None:
    assert set(forgeries()) == PLAYED
    assert {route for route, _ in forgeries()} == {route.__name__ for route in ROUTES}


def test_the_rows_without_an_outsider_have_no_process_of_its_own() -> None:
    hosts = {sighting.point.actor for sighting in reached(ROWS["one-call"])}

    assert "intruder" not in hosts


def test_an_intrusion_that_nobody_can_play_is_refused_before_the_run() -> None:
    unknown = replace(ROW.scenario, intrusions=(Intrusion("x:call:Y#1", "WriteOutput", "upside down"),))

    with pytest.raises(
        IllFormed, match=r"no intruder sends WriteOutput with 'upside down' wrong; .*no bearer"
    ):
        run(unknown)


def test_what_befalls_an_outsider_is_no_fault_of_the_system() -> None:
    strikes = single(reached(ROWS["intruder-under-faults"])).strikes

    assert strikes
    assert not [point for point, _ in strikes if point.actor == "intruder"]


def test_another_answer_than_promised_is_found() -> None:
    wrong = replace(ROW, answers=("200 granted", *ROW.answers[1:]))

    found = verdict(wrong, NO_FAULTS, run(wrong.scenario)).findings

    (sentence,) = (finding.sentence for finding in found)
    assert sentence.startswith("PreparePublication with wrong no bearer was answered 401 hosted_shell_")
    assert sentence.endswith("promised 200 granted")


def test_an_intrusion_whose_moment_never_comes_is_found() -> None:
    never = replace(ROW.scenario.intrusions[0], at="worker:w:act:Spawn#9")
    row = replace(ROW, scenario=replace(ROW.scenario, intrusions=(never,)), answers=ROW.answers[:1])

    found = verdict(row, NO_FAULTS, run(row.scenario)).findings

    assert [finding.sentence for finding in found] == ["0 of 1 intrusions were sent, 1 answers promised"]


def test_answers_stand_in_the_order_of_the_scenario_whenever_they_came() -> None:
    first, *others = ROW.scenario.intrusions
    scenario = replace(
        ROW.scenario, intrusions=(*others, replace(first, route="Status", wrong="unknown execution"))
    )

    got = answers(run(scenario).events)

    assert got[-1] == "404 runtime_execution_not_found"
    assert got[:-1] == ROW.answers[1:]
