"""The cells of the loss table over one run: the one that the table means there, and the one that the run shows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import cast

from scenarios.promise import FREE, HELD, broken
from scenarios.row import Row
from sim.facts import JOURNAL, LEASES, LEDGER, OPERATIONS, Execution
from sim.history import Answered, Asked, Committed, Crashed, Declined, Event, Healed, Learned, Struck
from sim.outcome import AFTER_REFUSAL, BLOCKED, ERROR, UNCORRECTED, Outcome
from sim.points import Strike
from sim.protocol import SHELL, AcceptCapture, Execute, Halt, StartExecution
from sim.publication import EXPIRED, ReserveGrant

REFUSED_AT_LOAD = "hosted_turn_recovery_required"
WHILE_OPEN, WHEN_AWAITED = "while open", "when awaited"
WHEN_CAPTURED, WHEN_DISPATCHED = "when captured", "when dispatched"
UNLESS_HALTED, UNLESS_OVERTAKEN = "unless halted", "unless overtaken"
UNLESS_RENEWED = "unless renewed"
RENEWAL = "ExtendWriter"
"""The transaction that extends a writer lease."""
AS_TOLD = {AFTER_REFUSAL: "completed", UNCORRECTED: ERROR}
"""What a client that was not there before is told of an ending."""


def resolved(cell: str, row: Row, events: Sequence[Event]) -> str:
    """The cell with what depends on the row, or on when the fault struck, filled in."""
    if cell == WHILE_OPEN:
        cell = f"blocked {HELD}" if _open_at_strike(events) else "holds"
    if cell == WHEN_AWAITED:
        cell = "plain" if row.acquires else "holds"
    if cell == "plain" and set(row.promise.endings) <= {ERROR, UNCORRECTED}:
        return "holds"
    if cell == WHEN_CAPTURED:
        cell = f"blocked {HELD}" if _captured(events) else "holds"
    if cell == WHEN_DISPATCHED:
        cell = f"blocked {HELD}" if _dispatched(events) else "holds"
    if cell == UNLESS_OVERTAKEN:
        cell = "blocked kept" if _overtaken(events) else "holds"
    if cell == UNLESS_RENEWED:
        cell = "holds" if _renewed(events) else "blocked kept"
    if cell == UNLESS_HALTED:
        cell = f"blocked {HELD}" if _halt_lost(events) else "holds"
    if cell == "holds" and _grant_ran_out(events):
        return f"blocked {HELD}"
    return cell.replace("kept", _lease_at_strike(events))


def shown_cell(row: Row, strike: Strike, found: Outcome, events: Sequence[Event]) -> str:
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
                state = write.row.state if write.table == LEDGER.name and _needs_owner(write.row) else state
        elif isinstance(event, Asked) and isinstance(event.request, AcceptCapture):
            accepting.add(event.exchange)
        elif isinstance(event, Answered) and event.exchange in accepting:
            state = "admitted"
    return state in ("dispatching", "executing", "cancel_requested")


def _is_shell(row: Execution) -> bool:
    return row.tool == SHELL


def _needs_owner(row: Execution) -> bool:
    """Whether a worker asks the Session's owner while it executes this."""
    return _is_shell(row) and not row.publication


def _captured(events: Sequence[Event]) -> bool:
    """Whether the execution whose start was struck is a Shell's."""
    struck = next(event for event in events if isinstance(event, Struck))
    started = [
        event.request.execution
        for event in asking(events, StartExecution)
        if (event.script, event.nth) == (struck.script, struck.nth)
    ]
    return any(_is_shell(row) for name, row in _ledger(events) if name in started)


def _ledger(events: Sequence[Event]) -> Iterator[tuple[str, Execution]]:
    """Every row of the ledger that was ever written."""
    for event in events:
        if isinstance(event, Committed):
            yield from ((write.key, write.row) for write in event.writes if write.table == LEDGER.name)


def _dispatched(events: Sequence[Event]) -> bool:
    """Whether the execution whose intent was struck was sent to a worker, or a grant was asked for it."""
    struck = next(event for event in events if isinstance(event, Struck))
    written = {
        write.row.record.execution
        for event in events
        if isinstance(event, Committed) and (event.script, event.label) == (struck.script, struck.label)
        for write in event.writes
        if write.table == JOURNAL.name
    }
    sent = {event.request.reference.execution for event in asking(events, Execute)}
    sent |= {event.request.mapping.reference.execution for event in asking(events, ReserveGrant)}
    return bool(sent & written)


def _halt_lost(events: Sequence[Event]) -> bool:
    """Whether a worker was asked to stop a command, and nobody learned that it heard."""
    halts = {event.exchange for event in asking(events, Halt)}
    return any(isinstance(event, Learned) and event.exchange in halts for event in events)


def _grant_ran_out(events: Sequence[Event]) -> bool:
    """Whether a pause was so long that output met a grant that had run out."""
    struck = next((event for event in events if isinstance(event, Struck)), None)
    return (
        struck is not None
        and struck.fate == "paused"
        and any(
            write.table == OPERATIONS.name and write.row.state == EXPIRED
            for event in events
            if isinstance(event, Committed)
            for write in event.writes
        )
    )


def _overtaken(events: Sequence[Event]) -> bool:
    """Whether a publication met the expired lease before its renewal did."""
    return any(isinstance(event, Declined) and event.label.startswith("Output.") for event in events)


def _renewed(events: Sequence[Event]) -> bool:
    """Whether the expired lease was renewed before the next publication met it."""
    struck = next(place for place, event in enumerate(events) if isinstance(event, Struck))
    met = (event for event in events[struck:] if isinstance(event, Committed | Declined))
    labels = (event.label for event in met if event.label.startswith(("Output.", RENEWAL)))
    return next(labels, "") == RENEWAL


def asking(events: Sequence[Event], request: type) -> list[Asked]:
    """Every question of a kind, in order."""
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
