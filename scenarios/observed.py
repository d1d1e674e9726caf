"""What reviewers of the real system published for four field cases, cell by cell, and what the simulation shows.

A published cell is a number or a word that the field cases give; where they give none, there is no cell. A simulated
one is read from the history of the case's row: from durable rows, answers and deeds, without the outcome reader.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

import msgspec

from scenarios.rows import ROWS
from sim.deeds import TouchFile
from sim.facts import JOURNAL, LEASES, LEDGER, RESOURCES
from sim.history import Acted, Answered, Asked, Committed, Event, Failure, Healed
from sim.protocol import (
    AwaitTurn,
    Checkpoint,
    Entry,
    Infer,
    LoadSession,
    Prepare,
    Prompt,
    Record,
    ToolReceipt,
    ToolResult,
    Transact,
    TurnEnded,
)
from sim.run import run

SESSION, WORKSPACE = "a", "w"
"""Every published table is of one Session on one Workspace."""

Value: TypeAlias = int | str
Cells: TypeAlias = Mapping[str, Value]

EVERY_CUT: Cells = {
    "model calls": 1,
    "cold load": 409,
    "owner": "held",
    "added by loads": "activation events",
}
"""RC-15, of every cut: "one model call, cold load 409, owner held, repeated loads add only activation events"."""

EVERY_FAULT: Cells = {
    "execution": "unknown",
    "dispatch": 1,
    "phase": "await_runtime",
    "lease": "held",
    "effect": 1,
    "cold load": 409,
    "tool_result": 0,
}
"""RC-18, of all: "unknown execution, dispatch 1, phase await_runtime, lease held, effect once, cold load 409, ..."."""

PUBLISHED: Mapping[str, Mapping[str, Cells]] = MappingProxyType(
    {
        "RC-10": {
            "rc-10-reply-lost": {"prepare": 2, "reservation": 1, "effect": 1},
            "rc-10-request-lost": {"prepare": 2, "reservation": 1, "effect": 1},
            "rc-10-reply-late": {"prepare": 2, "reservation": 1, "effect": 1},
            "rc-10-twice": {
                "prepare": 2,
                "reservation": 1,
                "effect": 0,
                "turn": "recovery-blocked",
                "execution": "prepared",
                "next prompt": 409,
            },
        },
        "RC-13": {
            "rc-13-acquire": {"owner": "held"},
            "rc-10-reply-lost": {"owner": "released"},
            "rc-10-twice": {"owner": "held"},
            "rc-13-start": {"owner": "released"},
            "rc-13-status": {"owner": "held"},
            "rc-13-cancel": {"owner": "held"},
            "rc-13-release": {"owner": "released"},
            "rc-13-unreleased": {"owner": "held"},
        },
        "RC-15": {
            "rc-15-intent": {"execution": "prepared", "dispatch": 0, "phase": "before_model", **EVERY_CUT},
            "rc-15-before-start": {
                "execution": "prepared",
                "dispatch": 0,
                "phase": "await_runtime",
                **EVERY_CUT,
            },
            "rc-15-result": {
                "execution": "settled",
                "dispatch": 1,
                "tool_result": 1,
                "phase": "await_runtime",
                **EVERY_CUT,
            },
        },
        "RC-18": {
            "rc-18-owner-killed": {"receipt": 0, "outcome": 0, "manifest": 0, "content": 1, **EVERY_FAULT},
            "rc-18-worker-killed": {"receipt": 0, "outcome": 0, "manifest": 0, "content": 1, **EVERY_FAULT},
            "rc-18-receipt-rejected": {
                "receipt": 0,
                "outcome": 0,
                "manifest": 1,
                "content": 5,
                **EVERY_FAULT,
            },
            "rc-18-receipt-lost": {"receipt attempt": 3, "receipt": 1, "outcome": 1, **EVERY_FAULT},
        },
    }
)
"""Case, row, column, published cell. RC-13 plays its lost ``prepare`` with the rows of RC-10."""

REASONS: Mapping[tuple[str, str, str], str] = MappingProxyType({})
"""Why a simulated cell (case, row, column) differs from the published one. There is none that does."""


class Compared(msgspec.Struct, frozen=True):
    """One published cell beside the simulated one; ``reason`` says why they differ, and is empty when they do not."""

    case: str
    row: str
    column: str
    published: Value
    simulated: Value
    reason: str = ""

    @property
    def agrees(self) -> bool:
        """Whether both are the same."""
        return self.published == self.simulated


class Tally(msgspec.Struct, frozen=True):
    """How many cells were compared, how many differ, and how many of these nobody has explained."""

    cells: int
    mismatches: int
    unexplained: int


def compare() -> list[Compared]:
    """Every published cell beside the simulated one, in the order of the tables."""
    compared: list[Compared] = []
    for case, rows in PUBLISHED.items():
        for name, published in rows.items():
            row = ROWS[name]
            simulated = cells(run(row.scenario, row.plan, row.design).events)
            compared += beside(case, name, published, simulated)
    return compared


def beside(case: str, row: str, published: Cells, simulated: Cells) -> list[Compared]:
    """The cells of one published line beside those of a run."""
    return [
        Compared(
            case,
            row,
            column,
            value,
            simulated[column],
            "" if simulated[column] == value else REASONS.get((case, row, column), ""),
        )
        for column, value in published.items()
    ]


def tally(compared: Iterable[Compared]) -> Tally:
    """The sum of a comparison."""
    lines = list(compared)
    unlike = [line for line in lines if not line.agrees]
    return Tally(len(lines), len(unlike), sum(not line.reason for line in unlike))


# --- one history, read cell by cell ------------------------------------------------------------------------------


def cells(events: Sequence[Event]) -> Cells:
    """Every column of the published tables, as a history shows it when it is healed and when it is loaded again."""
    healed = next(place for place, event in enumerate(events) if isinstance(event, Healed))
    before, after = events[:healed], events[healed:]
    records, ledger, kept = journal(before), table(before, LEDGER.name), table(before, RESOURCES.name)
    kinds = [resource.kind for resource in kept.values()]
    held = WORKSPACE in table(before, LEASES.name)
    phases = [record.phase for record in records if isinstance(record, Checkpoint)]
    return {
        "prepare": len(asked(before, Prepare)),
        "model calls": len(asked(before, Infer)),
        "receipt attempt": sum(
            isinstance(each.request.records[0], ToolReceipt) for each in asked(before, Transact)
        ),
        "reservation": len(ledger),
        "execution": "+".join(row.state for row in ledger.values()),
        "dispatch": sum(row.dispatches for row in ledger.values()),
        "effect": sum(isinstance(event, Acted) and isinstance(event.deed, TouchFile) for event in before),
        "phase": phases[-1] if phases else "",
        "receipt": sum(isinstance(record, ToolReceipt) for record in records),
        "tool_result": sum(isinstance(record, ToolResult) for record in records),
        "outcome": sum(f"{SESSION}/outcome-" in name for name in kept),
        "manifest": kinds.count("manifest"),
        "content": kinds.count("content"),
        "owner": "held" if held else "released",
        "lease": "held" if held else "released",
        "turn": told(before, AwaitTurn),
        "next prompt": told(after, Prompt),
        "cold load": told(after, LoadSession),
        "added by loads": added(after),
    }


def asked(events: Sequence[Event], request: type) -> list[Asked]:
    """Every request of this kind."""
    return [event for event in events if isinstance(event, Asked) and isinstance(event.request, request)]


def told(events: Sequence[Event], request: type) -> Value:
    """What the Session told of all requests of this kind: an HTTP status, how its turn ended, ``ok``, or nothing."""
    exchanges = {event.exchange for event in asked(events, request) if event.to == f"harness:{SESSION}"}
    answers = {
        _short(event.answer)
        for event in events
        if isinstance(event, Answered) and event.exchange in exchanges
    }
    return answers.pop() if len(answers) == 1 else " or ".join(sorted(map(str, answers)))


def _short(answer: Any) -> Value:
    if isinstance(answer, Failure):
        return answer.status
    return answer.state if isinstance(answer, TurnEnded) else "ok"


def table(events: Sequence[Event], name: str) -> dict[str, Any]:
    """The rows of a table as these events left them."""
    rows: dict[str, Any] = {}
    for event in events:
        for write in event.writes if isinstance(event, Committed) else ():
            if write.table == name:
                rows[write.key] = write.row
    return {key: row for key, row in rows.items() if row is not None}


def journal(events: Sequence[Event]) -> list[Record]:
    """The Session's records that these events committed, in order."""
    entries: dict[str, Entry] = table(events, JOURNAL.name)
    return [entry.record for key, entry in sorted(entries.items()) if key.startswith(f"{SESSION}/")]


def added(events: Sequence[Event]) -> str:
    """What the Session's journal got after healing."""
    labels = {record.label for record in journal(events)}
    return "activation events" if labels == {"ActivationChanged"} else "+".join(sorted(labels))
