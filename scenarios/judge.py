"""The verdict over one run: the checks, the row's promise, the loss table, and whether the faults landed."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from scenarios.cells import asking, resolved, shown_cell
from scenarios.loss_table import expected
from scenarios.promise import FREE, HELD, broken
from scenarios.row import Row
from scenarios.rows import ROWS
from scenarios.skeleton import skeleton, skeleton_of
from sim.checks import Finding, judge
from sim.effects import Request
from sim.history import (
    Answered,
    Began,
    Event,
    Failure,
    History,
    digest_of,
    encoded,
)
from sim.outcome import NOT_ACCEPTED, UNCORRECTED, Outcome, TurnOutcome, outcome
from sim.points import Plan
from sim.protocol import ILL_FORMED_REQUEST

PASSED, FINDING, MISSED = "passed", "finding", "missed"
NOT_ACCEPTED_EXPECTED = "not accepted (expected)"
"""What a run came to in which all is as promised, and acceptance fails as the seed says that it must (000 §6)."""
INTRUDER = "intruder"
"""The actor that plays a scenario's intrusions."""


class Verdict(msgspec.Struct, frozen=True):
    """What a run came to: passed, not accepted (expected), finding or missed; what was found; how the world was left;
    its history's digest.

    ``outcome`` is in words what ``found`` is in fields.
    """

    status: str
    findings: tuple[Finding, ...]
    outcome: str
    history: str
    found: Outcome


def verdict(row: Row, plan: Plan, history: History) -> Verdict:
    """Judge a run of ``row`` under ``plan``: an empty plan stands for the row's own faults."""
    found = outcome(history.events)
    trace = encoded(history.events)
    findings = [*judge(history.events, trace=trace), *_second(found), *_loads(found)]
    at = history.events[-1].at
    if row.sweepable and plan.strikes:
        against = _against_table(row, plan, found, history.events) if row.tabled else []
        findings += [Finding("loss-table", at, text) for text in against]
    else:
        findings += [Finding("promise", at, text) for text in broken(row.promise, found)]
        findings += [Finding("intrusion", at, text) for text in _answered_otherwise(row, history.events)]
    findings += [Finding("skeleton", at, text) for text in _unlike(row, plan, history.events)]
    status = MISSED if history.missed else FINDING if findings else _accepted(found)
    return Verdict(status, tuple(findings), in_words(found), digest_of(trace), found)


def _unlike(row: Row, plan: Plan, events: Sequence[Event]) -> list[str]:
    """A row whose faults are swept in another row has the skeleton of that one, under its own design."""
    if not row.like or plan.strikes or row.design != ROWS[row.name].design:
        return []
    swept = replace(ROWS[row.like], design=row.design)
    return (
        [] if skeleton(events) == skeleton_of(swept) else [f"it is swept as {row.like}, and runs otherwise"]
    )


def _accepted(found: Outcome) -> str:
    """Passed, unless the transport to the model refused the group that the journal keeps."""
    rejected = any(turn.reason == ILL_FORMED_REQUEST for turn in found.turns)
    return NOT_ACCEPTED_EXPECTED if rejected else PASSED


def in_words(found: Outcome) -> str:
    """The endings of all turns, who holds what, and what a cold load says, on one line.

    Why a turn is uncorrected stands behind it (000 §7: this must be recorded explicitly).
    """
    endings = ", ".join(map(_ending, found.turns)) or NOT_ACCEPTED
    leases = ", ".join(f"{workspace} {HELD if holder else FREE}" for workspace, holder in found.leases)
    loads = "; cold load " + ", ".join(load.first for load in found.loads) if found.loads else ""
    return f"{endings}; {leases or 'no lease asked'}{loads}"


def _ending(turn: TurnOutcome) -> str:
    return f"{turn.ending} ({turn.reason})" if turn.ending == UNCORRECTED else turn.ending


# --- the second Session, and cold loads


def _second(found: Outcome) -> list[Finding]:
    """A second Session completes exactly when nobody holds the Workspace."""
    findings: list[Finding] = []
    for probe in found.probes:
        workspace = probe.session.removeprefix("probe-")
        free = not found.lease(workspace)
        if (probe.ending == "completed") != free:
            text = f"{workspace} is {FREE if free else HELD}, and a second Session there ends {probe.ending}"
            findings.append(Finding("second-session", 0, f"{text} ({probe.reason or 'no reason'})"))
    return findings


def _loads(found: Outcome) -> list[Finding]:
    """A second cold load finds what the first one found."""
    unlike = [load for load in found.loads if load.second and not load.equal]
    return [
        Finding("equal-loads", 0, f"{load.session} was loaded {load.first}, then {load.second}")
        for load in unlike
    ]


# --- what an outsider is answered


def answers(events: Sequence[Event]) -> tuple[str, ...]:
    """The answer to each intrusion, in the order of the scenario: one script plays those of one milestone."""
    scripts = {event.script for event in events if isinstance(event, Began) and event.actor == INTRUDER}
    asked = sorted((each.script, each.exchange) for each in asking(events, Request) if each.script in scripts)
    told = {event.exchange: event.answer for event in events if isinstance(event, Answered)}
    return tuple(_as_answer(told.get(exchange)) for _, exchange in asked)


def _as_answer(answer: object) -> str:
    if isinstance(answer, Failure):
        return f"{answer.status} {answer.code}"
    return "no answer" if answer is None else type(answer).__name__


def _answered_otherwise(row: Row, events: Sequence[Event]) -> list[str]:
    """Each intrusion that was not played, or not answered as the row promises."""
    intrusions = row.scenario.intrusions
    got = answers(events) if intrusions else ()
    if len(got) != len(row.answers):
        return [f"{len(got)} of {len(intrusions)} intrusions were sent, {len(row.answers)} answers promised"]
    return [
        f"{each.route} with wrong {each.wrong} was answered {is_}, promised {says}"
        for each, is_, says in zip(intrusions, got, row.answers, strict=True)
        if is_ != says
    ]


# --- the loss table


def _against_table(row: Row, plan: Plan, found: Outcome, events: Sequence[Event]) -> list[str]:
    if len(plan.strikes) != 1:
        return []
    strike = plan.strikes[0]
    says = resolved(expected(strike.point, strike.fate), row, events)
    is_ = shown_cell(row, strike, found, events)
    if not says:
        return [f"the table has no cell for {strike.point.label} under {strike.fate}; the run shows: {is_}"]
    what = f"{strike.point.label} under {strike.fate}"
    untold = (says, is_) == ("refused", "holds") and "cancelled" in row.promise.endings
    return [] if says == is_ or untold else [f"{what}: the table says {says}, the run shows {is_}"]
