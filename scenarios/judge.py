"""The verdict over one run: the checks, the row's promise, the loss table, and whether the faults landed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import cast

import msgspec

from scenarios.loss_table import expected
from scenarios.row import Promise, Row
from sim.checks import Finding, judge
from sim.effects import Request
from sim.facts import JOURNAL, LEASES, LEDGER, Execution
from sim.history import (
    Answered,
    Asked,
    Began,
    Committed,
    Crashed,
    Declined,
    Event,
    Failure,
    Healed,
    History,
    Learned,
    Struck,
    digest_of,
    encoded,
)
from sim.outcome import AFTER_REFUSAL, BLOCKED, ERROR, NOT_ACCEPTED, UNCORRECTED, Outcome, outcome
from sim.points import Plan, Strike
from sim.protocol import SHELL, AcceptCapture, Execute, Halt, StartExecution

PASSED, FINDING, MISSED = "passed", "finding", "missed"
REFUSED_AT_LOAD = "hosted_turn_recovery_required"
HELD, FREE = "held", "free"
INTRUDER = "intruder"
"""The actor that plays a scenario's intrusions."""
NOBODY = ""
"""The ending of a second Session that never came to try."""
WHILE_OPEN, WHEN_AWAITED = "while open", "when awaited"
WHEN_CAPTURED, WHEN_DISPATCHED = "when captured", "when dispatched"
UNLESS_HALTED, UNLESS_OVERTAKEN = "unless halted", "unless overtaken"
UNLESS_RENEWED = "unless renewed"
RENEWAL = "ExtendWriter"
"""The transaction that extends a writer lease."""
AS_TOLD = {AFTER_REFUSAL: "completed", UNCORRECTED: ERROR}
"""What a client that was not there before is told of an ending."""


class Verdict(msgspec.Struct, frozen=True):
    """What a run came to: passed, finding or missed; what was found; how the world was left; its history's digest.

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
    status = MISSED if history.missed else FINDING if findings else PASSED
    return Verdict(status, tuple(findings), in_words(found), digest_of(trace), found)


def in_words(found: Outcome) -> str:
    """The endings of all turns, who holds what, and what a cold load says, on one line."""
    endings = ", ".join(turn.ending for turn in found.turns) or NOT_ACCEPTED
    leases = ", ".join(f"{workspace} {HELD if holder else FREE}" for workspace, holder in found.leases)
    loads = "; cold load " + ", ".join(load.first for load in found.loads) if found.loads else ""
    return f"{endings}; {leases or 'no lease asked'}{loads}"


# --- the row's own promise


COLUMNS = {
    "endings": "the turns ended",
    "spawns": "processes spawned",
    "starts": "dispatches",
    "asked": "requests to the model",
    "acks": "acknowledged results",
    "lease": "the lease is",
    "second": "a second Session ends",
}
"""What a column of a promise is about."""


def shown(found: Outcome) -> Promise:
    """The promise that a run keeps, whatever was promised of it."""
    return Promise(
        tuple(turn.ending for turn in found.turns),
        sum(each.spawns for each in found.executions),
        sum(each.dispatches for each in found.executions),
        sum(turn.inferences for turn in found.turns),
        sum(bool(each.acknowledgements) for each in found.executions),
        HELD if any(holder for _, holder in found.leases) else FREE,
        found.probes[0].ending if found.probes else NOBODY,
    )


def broken(promise: Promise, found: Outcome) -> list[str]:
    """Each column of the promise that the run does not keep, in a sentence."""
    kept = shown(found)
    columns = [(what, getattr(kept, name), getattr(promise, name)) for name, what in COLUMNS.items()]
    return [f"{what} {is_}, promised {says}" for what, is_, says in columns if is_ not in (says, NOBODY)]


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
    asked = sorted(
        (each.script, each.exchange) for each in _asking(events, Request) if each.script in scripts
    )
    told = {event.exchange: event.answer for event in events if isinstance(event, Answered)}
    return tuple(_as_answer(told.get(exchange)) for _, exchange in asked)


def _as_answer(answer: object) -> str:
    if isinstance(answer, Failure):
        return f"{answer.status} {answer.code}"
    return "no answer" if answer is None else type(answer).__name__


def _answered_otherwise(row: Row, events: Sequence[Event]) -> list[str]:
    """Each intrusion that was not played, or not answered as the row promises."""
    intrusions, got = row.scenario.intrusions, answers(events)
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
    says = _resolved(expected(strike.point, strike.fate), row, events)
    is_ = cell(row, strike, found, events)
    if not says:
        return [f"the table has no cell for {strike.point.label} under {strike.fate}; the run shows: {is_}"]
    what = f"{strike.point.label} under {strike.fate}"
    untold = (says, is_) == ("refused", "holds") and "cancelled" in row.promise.endings
    return [] if says == is_ or untold else [f"{what}: the table says {says}, the run shows {is_}"]


def _resolved(cell: str, row: Row, events: Sequence[Event]) -> str:
    """The cell with what depends on the row, or on when the fault struck, filled in."""
    if cell == WHILE_OPEN:
        return f"blocked {HELD}" if _open_at_strike(events) else "holds"
    if cell == WHEN_AWAITED:
        cell = "plain" if row.acquires else "holds"
    if cell == "plain" and set(row.promise.endings) <= {ERROR, UNCORRECTED}:
        return "holds"
    if cell == WHEN_CAPTURED:
        return f"blocked {HELD}" if _captured(events) else "holds"
    if cell == WHEN_DISPATCHED:
        return f"blocked {HELD}" if _dispatched(events) else "holds"
    if cell == UNLESS_OVERTAKEN:
        cell = "blocked kept" if _overtaken(events) else "holds"
    if cell == UNLESS_RENEWED:
        cell = "holds" if _renewed(events) else "blocked kept"
    if cell == UNLESS_HALTED:
        return f"blocked {HELD}" if _halt_lost(events) else "holds"
    return cell.replace("kept", _lease_at_strike(events))


def cell(row: Row, strike: Strike, found: Outcome, events: Sequence[Event]) -> str:
    """The cell of the loss table that a run shows for the Session that was struck."""
    session = _session(row, strike)
    loads = next((load for load in found.loads if load.session == session), None)
    lease = HELD if found.lease(_workspace(row, session)) else FREE
    if loads is None:
        return _in_place(row, found, lease)
    if loads.first != loads.second:
        return f"unlike loads: {loads.first}, then {loads.second}"
    if loads.first == REFUSED_AT_LOAD:
        return f"{'died' if _died(session, events) else 'blocked'} {lease}"
    told = [turn.ending for turn in found.turns if turn.session == session]
    if BLOCKED in told and not _died(session, events):
        return "settled"
    again = {turn.ending for turn in found.reopened if turn.session == session}
    promises = [row.promise] if row.uncancelled is None else [row.promise, row.uncancelled]
    endings = {ending for promise in promises for ending in promise.endings}
    promised = endings | {AS_TOLD.get(ending, ending) for ending in endings}
    return "reopens" if again <= promised else f"reopens, then {', '.join(sorted(again))}"


def _in_place(row: Row, found: Outcome, lease: str) -> str:
    """The cell of a run whose Sessions all settled."""
    if not broken(row.promise, found):
        return "holds"
    if row.uncancelled is not None and not broken(row.uncancelled, found):
        return "uncancelled"
    endings = [turn.ending for turn in found.turns]
    unlike = [is_ for says, is_ in zip(row.promise.endings, endings, strict=False) if says != is_]
    if lease == FREE and len(endings) == len(row.promise.endings):
        if unlike and set(unlike) <= {ERROR, UNCORRECTED}:
            return "plain"
        if unlike in ([AFTER_REFUSAL], []) or (row.uncancelled and endings == [*row.uncancelled.endings]):
            return "refused"
    return f"{', '.join(endings)}, {lease}; {'; '.join(broken(row.promise, found))}"


def _session(row: Row, strike: Strike) -> str:
    """Whose turn was struck: the Session whose playing is among the causes."""
    played = re.search(r"/play#(\d+)", f"/{strike.point.parent}")
    return row.scenario.sessions[int(played[1]) - 1 if played else 0].name


def _workspace(row: Row, session: str) -> str:
    return next(each.workspace for each in row.scenario.sessions if each.name == session)


def _died(session: str, events: Sequence[Event]) -> bool:
    """Whether the Session's owner died before the run was healed."""
    for event in events:
        if event.__class__ is Healed:
            break
        if event.__class__ is Crashed and event == Crashed(event.at, f"owner:{session}"):
            return True
    return False


def _open_at_strike(events: Sequence[Event]) -> bool:
    """Whether an execution was between its dispatch and its admission when the first fault struck."""
    state = ""
    accepting: set[int] = set()
    for event in events:
        if isinstance(event, Struck):
            break
        if isinstance(event, Committed):
            for write in event.writes:
                state = write.row.state if write.table == LEDGER.name and _is_shell(write.row) else state
        elif isinstance(event, Asked) and isinstance(event.request, AcceptCapture):
            accepting.add(event.exchange)
        elif isinstance(event, Answered) and event.exchange in accepting:
            state = "admitted"
    return state in ("dispatching", "executing", "cancel_requested")


def _is_shell(row: Execution) -> bool:
    return row.tool == SHELL


def _captured(events: Sequence[Event]) -> bool:
    """Whether the execution whose start was struck is a Shell's."""
    struck = next(event for event in events if isinstance(event, Struck))
    started = [
        event.request.execution
        for event in _asking(events, StartExecution)
        if (event.script, event.nth) == (struck.script, struck.nth)
    ]
    return any(_is_shell(row) for name, row in _ledger(events) if name in started)


def _ledger(events: Sequence[Event]) -> Iterator[tuple[str, Execution]]:
    """Every row of the ledger that was ever written."""
    for event in events:
        if isinstance(event, Committed):
            yield from ((write.key, write.row) for write in event.writes if write.table == LEDGER.name)


def _dispatched(events: Sequence[Event]) -> bool:
    """Whether the execution whose intent was struck was sent to a worker."""
    struck = next(event for event in events if isinstance(event, Struck))
    written = {
        write.row.record.execution
        for event in events
        if isinstance(event, Committed) and (event.script, event.label) == (struck.script, struck.label)
        for write in event.writes
        if write.table == JOURNAL.name
    }
    return any(event.request.reference.execution in written for event in _asking(events, Execute))


def _halt_lost(events: Sequence[Event]) -> bool:
    """Whether a worker was asked to stop a command, and nobody learned that it heard."""
    halts = {event.exchange for event in _asking(events, Halt)}
    return any(isinstance(event, Learned) and event.exchange in halts for event in events)


def _overtaken(events: Sequence[Event]) -> bool:
    """Whether a publication met the expired lease before its renewal did."""
    return any(isinstance(event, Declined) and event.label.startswith("Output.") for event in events)


def _renewed(events: Sequence[Event]) -> bool:
    """Whether the expired lease was renewed before the next publication met it."""
    struck = next(place for place, event in enumerate(events) if isinstance(event, Struck))
    met = (event for event in events[struck:] if isinstance(event, Committed | Declined))
    labels = (event.label for event in met if event.label.startswith(("Output.", RENEWAL)))
    return next(labels, "") == RENEWAL


def _asking(events: Sequence[Event], request: type) -> list[Asked]:
    return [event for event in events if isinstance(event, Asked) and isinstance(event.request, request)]


def _lease_at_strike(events: Sequence[Event]) -> str:
    """Whether any Workspace was held when the first fault struck."""
    held: set[str] = set()
    for event in events:
        if event.__class__ is Struck:
            break
        if event.__class__ is Committed:
            for write in cast("Committed", event).writes:
                if write.table == LEASES.name:
                    held = held | {write.key} if write.row is not None else held - {write.key}
    return HELD if held else FREE
