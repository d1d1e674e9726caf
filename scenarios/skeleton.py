"""The skeleton of a history: what happens in it, with every value left out.

It keeps the time of each event and everything that a point is made of (script, actor, door, label, number), who was
asked, which type of answer came, which failure or doubt, which tables and which kinds of rows and records were
written, and how many calls and responses stand in one record. It leaves out texts, bytes, ids, digests and sizes; and
decisions, for a rule that says something else shows in what is done next. Two rows of one skeleton meet each fault at
the same points, so that one of them is swept for both.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from scenarios.row import Row
from sim.history import (
    Acted,
    Answered,
    Asked,
    Began,
    Booted,
    Committed,
    Crashed,
    Decided,
    Declined,
    Event,
    Failure,
    Learned,
    Left,
    Struck,
)
from sim.protocol import Assistant, Entry, ModelOutput, ToolResult
from sim.run import run


def skeleton(events: Sequence[Event]) -> str:
    """The identity of a history's skeleton: 32 hex digits."""
    kept = [
        (type(event).__name__, event.at, *_bones(event)) for event in events if type(event) is not Decided
    ]
    return hashlib.sha256(repr(kept).encode()).hexdigest()[:32]


@lru_cache(maxsize=64)
def skeleton_of(row: Row) -> str:
    """The skeleton of a row as written."""
    return skeleton(run(row.scenario, row.plan, row.design).events)


def _bones(event: Event) -> tuple[Any, ...]:
    look = LOOKS.get(type(event))
    return () if look is None else look(event)


def _answer(answer: Any) -> tuple[Any, ...]:
    """The type of an answer; which failure it is, or how many calls it holds."""
    if isinstance(answer, Failure):
        return answer.code, answer.status
    return type(answer).__name__, len(answer.calls) if isinstance(answer, ModelOutput) else 0


def _row(row: Any) -> tuple[Any, ...]:
    """The type of a row; of a journal entry its record, with how many calls or responses stand in it."""
    if not isinstance(row, Entry):
        return (type(row).__name__,)
    record = row.record
    calls = len(record.calls) if isinstance(record, Assistant) else 0
    return record.label, calls, len(record.responses) if isinstance(record, ToolResult) else 0


def _committed(event: Committed) -> tuple[Any, ...]:
    writes = tuple((write.table, *_row(write.row)) for write in event.writes)
    return event.script, event.nth, event.label, writes, *_answer(event.answer)


LOOKS: Mapping[type[Event], Callable[[Any], tuple[Any, ...]]] = {
    Began: lambda event: (event.script, event.actor, event.parent, event.label, event.nth, event.exchange),
    Asked: lambda event: (event.script, event.nth, event.exchange, event.to, event.request.label),
    Answered: lambda event: (event.exchange, *_answer(event.answer)),
    Learned: lambda event: (event.script, event.exchange, event.failure, event.doubt),
    Committed: _committed,
    Declined: lambda event: (event.script, event.nth, event.label, event.code),
    Acted: lambda event: (event.script, event.nth, event.deed.label),
    Struck: lambda event: (event.script, event.door, event.label, event.nth, event.fate),
    Crashed: lambda event: (event.process,),
    Booted: lambda event: (event.process, event.life),
    Left: lambda event: (event.directory,),
}
"""What is kept of each kind of event; of any other only that it happened."""
