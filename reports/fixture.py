"""The seed's six-Workspace fixture, read from the history of one run: what was written, what is retained, who says so.

What a process wrote is taken from its deeds, what is retained from the rows of the database and from the words of the
fresh reader. Nothing here shares code with the capture.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from sim.checks.durable import resource_of
from sim.content import Content, join, read, sha256
from sim.deeds import Emit, Spawn, TouchFile
from sim.facts import JOURNAL, RESOURCES
from sim.history import Acted, Answered, Asked, Committed, Event, Healed
from sim.outcome import Outcome, outcome
from sim.points import Plan, Strike
from sim.protocol import (
    STREAMS,
    CaptureOpened,
    PreparePublication,
    Reread,
    RereadOutput,
    ToolIntent,
    ToolReceipt,
    VerifyRetained,
    WriteOutput,
)
from sim.scenario import Scenario

NAME = "six-workspaces"
TAIL = 24
"""How many of the last characters of a stream are shown."""


_PLAYED = re.compile(r"/play#(\d+)")


class StreamTold(msgspec.Struct, frozen=True):
    """One stream: what the process wrote, and what a fresh reader found. Lengths are bytes, digests SHA-256."""

    stream: str
    written: int
    written_digest: str
    written_tail: str
    retained: int
    retained_digest: str
    retained_tail: str
    segments: int
    pages: int

    @property
    def says(self) -> str:
        """How the two compare: whole, a prefix that was cut at an end, or nothing."""
        if not self.retained_digest:
            return "not retained"
        if (self.written, self.written_digest) == (self.retained, self.retained_digest):
            return "equal"
        return "prefix" if self.retained else "nothing listed"


class WorkspaceTold(msgspec.Struct, frozen=True):
    """One Workspace of the fixture, from what struck it to what is left of its output."""

    name: str
    struck: str
    ending: str
    lease: str
    spawned: int
    started: int
    effects: int
    asked: int
    status: str
    capture: str
    receipt: str
    streams: tuple[StreamTold, ...]
    reread: str
    abandoned: int
    abandoned_bytes: int
    buffered: int


class Facts(msgspec.Struct):
    """What one pass over a history gathers, by execution, by Session, or by both."""

    sessions: dict[str, str] = {}
    receipts: dict[str, ToolReceipt] = {}
    written: dict[tuple[str, str], Content] = {}
    rows: dict[str, Any] = {}
    rereads: dict[str, Reread] = {}
    effects: Counter[str] = Counter()
    struck: dict[str, str] = {}


def told(events: Sequence[Event], plan: Plan, scenario: Scenario) -> tuple[WorkspaceTold, ...]:
    """Every Workspace whose Session a fresh reader looked at, in the order in which the Sessions ran."""
    facts = gathered(events)
    for strike in plan.strikes:
        played = int(_PLAYED.findall(f"/{strike.point.parent}")[0])
        facts.struck[scenario.sessions[played - 1].name] = _words(strike)
    for session in scenario.sessions:
        if session.turns[0].cancel:
            facts.struck[session.name] = f"cancelled at {session.turns[0].cancel.rpartition(':')[2]}"
    found = outcome(events)
    buffers = largest_buffers(events)
    sessions = [turn.session for turn in found.turns if turn.session in facts.rereads]
    return tuple(_workspace(session, facts, found, buffers) for session in sessions)


def _words(strike: Strike) -> str:
    """A strike without its causes."""
    point = strike.point
    return f"{strike.fate} at {point.actor.partition(':')[0]} {point.door} {point.label}"


def gathered(events: Sequence[Event]) -> Facts:
    """One pass over the history."""
    facts = Facts({}, {}, {}, {}, {}, Counter(), {})
    asked: dict[int, str] = {}
    healed = False
    for event in events:
        if isinstance(event, Asked) and isinstance(event.request, VerifyRetained):
            asked[event.exchange] = event.request.session
        elif isinstance(event, Answered) and isinstance(event.answer, Reread):
            facts.rereads[asked[event.exchange]] = event.answer
        elif isinstance(event, Acted) and not healed:
            _act(facts, event.deed)
        elif isinstance(event, Committed):
            _commit(facts, event)
        healed = healed or isinstance(event, Healed)
    return facts


def _act(facts: Facts, deed: object) -> None:
    if isinstance(deed, Emit):
        place = (deed.execution, deed.stream)
        facts.written[place] = join(facts.written.get(place, b""), deed.content)
    elif isinstance(deed, TouchFile | Spawn):
        facts.effects[f"{deed.workspace} {deed.label}"] += 1


def _commit(facts: Facts, event: Committed) -> None:
    for write in event.writes:
        if write.table == RESOURCES.name:
            facts.rows[write.key] = write.row
        elif write.table == JOURNAL.name:
            record = write.row.record
            if isinstance(record, ToolIntent):
                facts.sessions[write.key.partition("/")[0]] = record.execution
            elif isinstance(record, ToolReceipt):
                facts.receipts[record.execution] = record


def _workspace(session: str, facts: Facts, found: Outcome, buffers: Mapping[str, int]) -> WorkspaceTold:
    execution = facts.sessions.get(session, "")
    receipt = facts.receipts.get(execution)
    reread = facts.rereads[session]
    output = next((each for each in reread.outputs if each.execution == execution), None)
    turn = next(turn for turn in found.turns if turn.session == session)
    ran = next(each for each in found.executions if each.execution == execution)
    lost = [facts.rows[f"{session}/{name}"] for name in reread.abandoned]
    return WorkspaceTold(
        name=session,
        struck=facts.struck.get(session, "nothing"),
        ending=turn.ending,
        lease="held" if found.lease(session) else "free",
        spawned=ran.spawns,
        started=ran.dispatches,
        effects=facts.effects[f"{session} TouchFile"],
        asked=turn.inferences,
        status=ran.status,
        capture=receipt.envelope.capture.status if receipt and receipt.envelope.capture else "none",
        receipt=receipt.delivery if receipt else "none",
        streams=tuple(_stream(session, execution, stream, facts, output) for stream in STREAMS),
        reread=_reread(output),
        abandoned=len(lost),
        abandoned_bytes=sum(len(row.content) for row in lost if row.kind == "content"),
        buffered=buffers.get(session, 0),
    )


def _reread(output: RereadOutput | None) -> str:
    """What the fresh reader says of an output, in words."""
    if output is None:
        return "no receipt"
    if output.flaw:
        return f"flawed: {output.flaw}"
    listed = sum(stream.segments for stream in output.streams)
    return "all verifies" if listed else "no bytes named"


def _stream(
    session: str, execution: str, stream: str, facts: Facts, output: RereadOutput | None
) -> StreamTold:
    written = facts.written.get((execution, stream), b"")
    found = next((each for each in output.streams if each.stream == stream), None) if output else None
    last: Content = b""
    receipt = facts.receipts.get(execution)
    if found is not None and found.segments and receipt is not None and receipt.envelope.capture is not None:
        name = resource_of(receipt.envelope.capture.id, stream, found.segments - 1)
        last = facts.rows[f"{session}/{name}"].content
    return StreamTold(
        stream,
        len(written),
        sha256(written),
        _tail(written),
        found.length if found else 0,
        found.digest if found else "",
        _tail(last),
        found.segments if found else 0,
        found.pages if found else 0,
    )


def _tail(content: Content) -> str:
    return read(content[-TAIL:]).decode("ascii", "replace").strip()


# --- bounded memory ----------------------------------------------------------------------------------------------


def largest_buffers(events: Sequence[Event]) -> dict[str, int]:
    """For each Session the most bytes of one stream that were sent to its owner and not yet durable."""
    opening: dict[int, str] = {}
    awaited: dict[str, Segment] = {}
    waiting: Counter[tuple[str, str]] = Counter()
    most: Counter[str] = Counter()
    for event in events:
        if isinstance(event, Asked) and isinstance(event.request, PreparePublication):
            opening[event.exchange] = event.to.partition(":")[2]
        elif isinstance(event, Asked) and isinstance(event.request, WriteOutput):
            place = (event.to.partition(":")[2], event.request.stream)
            waiting[place] += len(event.request.content)
            most[place[0]] = max(most[place[0]], waiting[place])
        elif isinstance(event, Answered) and isinstance(event.answer, CaptureOpened):
            capture = event.answer.capture
            firsts = [Segment(opening[event.exchange], capture, stream, 0) for stream in STREAMS]
            awaited |= {first.key: first for first in firsts}
        elif isinstance(event, Committed) and event.label == "Output.content":
            for write in event.writes:
                segment = awaited.pop(write.key, None)
                if segment is not None:
                    waiting[segment.session, segment.stream] -= len(write.row.content)
                    awaited[segment.next.key] = segment.next
    return dict(most)


class Segment(msgspec.Struct, frozen=True):
    """A segment that a stream is going to publish."""

    session: str
    capture: str
    stream: str
    ordinal: int

    @property
    def key(self) -> str:
        """The key of its row."""
        return f"{self.session}/{resource_of(self.capture, self.stream, self.ordinal)}"

    @property
    def next(self) -> Segment:
        """The one behind it."""
        return Segment(self.session, self.capture, self.stream, self.ordinal + 1)
