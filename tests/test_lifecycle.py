"""The lifecycle rows in detail, and the time fates in every window of the order of design 003."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from faults.sweeps import single
from scenarios.judge import PASSED, verdict
from scenarios.row import reached
from scenarios.rows import ROWS
from sim.deeds import Spawn, TouchFile
from sim.design.order import ORDER
from sim.facts import WRITERS
from sim.history import Acted, Answered, Asked, Committed, Failure, Healed, History
from sim.points import Fate, Plan, Strike
from sim.protocol import (
    AcquireWriter,
    Admitted,
    DetachSession,
    LoadSession,
    Prompt,
    Request,
    SealWriter,
    StopPublisher,
    ToolReceipt,
    ToolResult,
)
from sim.run import run
from sim.scenario import Aside, IllFormed, Scenario, SessionPlan, Turn, says


@cache
def history(name: str) -> History:
    """The run of one row."""
    row = ROWS[name]
    return run(row.scenario, row.plan, row.design)


def before_healing(name: str) -> list[Any]:
    events = history(name).events
    return events[: next(place for place, event in enumerate(events) if isinstance(event, Healed))]


def answers(name: str, request: type[Request[Any]], to: str = "harness:a") -> list[Any]:
    """What was answered to every such request before the world was healed, in the order of the questions."""
    events = before_healing(name)
    asked = [event for event in events if isinstance(event, Asked) and isinstance(event.request, request)]
    told = {event.exchange: event.answer for event in events if isinstance(event, Answered)}
    return [told.get(event.exchange) for event in asked if event.to == to]


def short(answer: Any) -> str:
    """An answer as a client sees it."""
    return f"{answer.status} {answer.code}" if isinstance(answer, Failure) else type(answer).__name__


# --- owners


@pytest.mark.parametrize("name", ["detach-tools", "detach-move"])
def test_a_session_is_stopped_drained_sealed_and_opened_at_once(name):
    events = before_healing(name)
    asked = [event for event in events if isinstance(event, Asked)]
    steps = [
        event
        for event in asked
        if isinstance(event.request, DetachSession | StopPublisher | SealWriter | AcquireWriter)
    ]

    assert [event.request.label for event in steps] == [
        "AcquireWriter",
        "DetachSession",
        "StopPublisher",
        "SealWriter",
        "AcquireWriter",
    ]
    assert steps[-1].at - steps[-2].at < 10
    assert [answer.generation for answer in answers(name, AcquireWriter, "store")] == [1, 2]


def test_a_renewal_behind_the_seal_revives_no_writer():
    rows = [
        write.row
        for event in before_healing("detach-late-renewal")
        if isinstance(event, Committed)
        for write in event.writes
        if write.table == WRITERS.name
    ]

    assert rows[-1].owner == ""
    assert answers("detach-late-renewal", DetachSession) != []


def told(name: str, request: type[Request[Any]]) -> list[str]:
    return [short(answer) for answer in answers(name, request)]


@pytest.mark.parametrize(
    ("name", "request_", "expected"),
    [
        ("detach-running", DetachSession, ["503 hosted_session_busy"]),
        ("detach-blocked", DetachSession, ["503 hosted_session_busy"]),
        ("detach-blocked", Prompt, ["Admitted", "409 hosted_turn_recovery_required"]),
        ("load-attached", LoadSession, ["Loaded", "409 hosted_session_already_attached"]),
        ("restart-running", LoadSession, ["Loaded", "409 hosted_turn_recovery_required"]),
        ("prompt-while-left", Prompt, ["Admitted", "409 hosted_turn_recovery_required", "Admitted"]),
        ("prompt-again-running", Prompt, ["Admitted", "Admitted"]),
        ("prompt-again-after", Prompt, ["Admitted", "Admitted"]),
        ("prompt-again-loaded", Prompt, ["Admitted", "Admitted"]),
        ("prompt-again-blocked", Prompt, ["Admitted", "Admitted"]),
        ("prompt-other-text", Prompt, ["Admitted", "409 hosted_prompt_conflict"]),
        ("prompt-other-after", Prompt, ["Admitted", "409 hosted_prompt_conflict"]),
        ("prompt-second", Prompt, ["Admitted", "409 hosted_turn_active", "Admitted"]),
        ("prompt-loading", Prompt, ["409 hosted_turn_recovery_required", "Admitted"]),
        ("prompt-blocked", Prompt, ["Admitted", "409 hosted_turn_recovery_required"]),
    ],
)
def test_what_is_answered_in_each_state_of_a_session(name, request_, expected):
    assert told(name, request_) == expected


@pytest.mark.parametrize("when", ["running", "after", "loaded", "blocked"])
def test_the_same_prompt_gets_the_same_watermark(when):
    marks = {
        answer.watermark for answer in answers(f"prompt-again-{when}", Prompt) if isinstance(answer, Admitted)
    }

    assert len(marks) == 1


# --- the Workspace, and what a record holds


def test_each_session_changes_its_own_saved_workspace():
    deeds = [event.deed for event in before_healing("directory-saved") if isinstance(event, Acted)]

    assert sorted(deed.workspace for deed in deeds if isinstance(deed, TouchFile)) == ["v", "w"]


def test_an_admitted_result_that_fits_no_record_is_neither_told_nor_omitted():
    records = [
        write.row.record
        for event in before_healing("history-limit")
        if isinstance(event, Committed)
        for write in event.writes
        if write.table == "journal"
    ]

    assert [record.delivery for record in records if isinstance(record, ToolReceipt)] == ["committed"]
    assert not [record for record in records if isinstance(record, ToolResult)]


@pytest.mark.parametrize("name", [name for name in ROWS if name.startswith("retained-") and "before" in name])
def test_nothing_is_spawned_for_an_owner_that_is_none(name):
    assert not [
        event for event in before_healing(name) if isinstance(event, Acted) and isinstance(event.deed, Spawn)
    ]


# --- time and other owners, in every window of the order

WINDOWS = {
    "acquire": "Transact.Assistant#1",
    "register": "Transact.Assistant#1",
    "assistant": "Stage#1",
    "intent": "Transact.ToolIntent#1",
    "checkpoint": "Transact.Checkpoint.await_runtime#1",
    "execute": "RenewWriter#1",
    "durable capture": "Publish.manifest#1",
    "durable receipt": "Transact.ToolReceipt#1",
    "model result": "Transact.ToolResult#1",
    "checkpoint resolution": "Transact.Checkpoint.results_ready#1",
    "exact ACK": "Transact.Checkpoint.before_model#1",
    "next inference": "Transact.Checkpoint.before_model#1",
    "result consumption": "Transact.Assistant#2",
    "release": "Transact.TurnSettled+Checkpoint.turn_settled#1",
}
"""For each step of the order, the owner's first call to the Store in it or behind it: there it notices (W10)."""

TIMES = ("writer-expired", "writer-replaced", "activation-replaced")


def test_every_step_of_the_order_has_its_window():
    assert tuple(WINDOWS) == ORDER


@pytest.mark.parametrize("step", ORDER)
def test_the_sweep_strikes_every_window_with_time_and_other_owners(step):
    label, _, nth = WINDOWS[step].partition("#")
    row = ROWS["one-call"]
    at = [
        sighting.point
        for sighting in reached(row)
        if (sighting.point.actor, sighting.point.label) == ("journal:a", label)
        and "/take_turn#" in sighting.point.parent
    ][int(nth) - 1]
    struck = {strike[1].name for strike in single(reached(row)).strikes if strike[0] == at}

    assert set(TIMES) <= struck
    for fate in TIMES:
        plan = Plan((Strike(at, Fate(fate)),))
        assert verdict(row, plan, run(row.scenario, plan, row.design)).status == PASSED, fate


# --- scenarios that say nothing that can be done


@pytest.mark.parametrize(
    ("session", "message"),
    [
        (SessionPlan("a", "w", (Turn((says("done"),), then="leave"),)), "'leave' is done to no owner"),
        (SessionPlan("a", "w", (), asides=(Aside("x", "shout"),)), "'shout' is no aside"),
    ],
)
def test_an_owner_is_only_left_and_asked_in_ways_that_exist(session, message):
    with pytest.raises(IllFormed, match=message):
        run(Scenario("ill", (session,)))
