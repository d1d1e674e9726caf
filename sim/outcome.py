"""How a run ended, as its history tells: read from answers and durable rows, by a stranger to what produced them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import msgspec

from sim.checks.refusal import refused_calls
from sim.deeds import Spawn
from sim.effects import Table
from sim.facts import JOURNAL, LEASES, LEDGER
from sim.history import Acted, Answered, Asked, Committed, Event, Exhausted, Failure, Healed, Learned
from sim.protocol import (
    Acknowledge,
    Acquire,
    AwaitTurn,
    Checkpoint,
    Entry,
    Execute,
    ExecuteFileTool,
    Infer,
    InputAccepted,
    Loaded,
    LoadSession,
    Prompt,
    StartExecution,
    ToolIntent,
    ToolReceipt,
    ToolResult,
    TurnEnded,
    TurnSettled,
)

Row = TypeVar("Row")

COMPLETED, AFTER_REFUSAL, UNCORRECTED = "completed", "completed after refusal", "uncorrected"
CANCELLED, ERROR, BLOCKED = "cancelled", "error", "recovery-blocked"
NOT_ACCEPTED, RAN_OUT = "not accepted", "ran out"

LIMITED = frozenset({"hosted_turn_round_limit", "hosted_tool_batch_too_large", "hosted_tool_call_too_large"})
"""The codes of the limits that can keep a model from correcting what was wrong (000 §7)."""

LATER = ".later"
"""How the prompt ends with which a blocked Session is asked whether it takes another one."""
LOADED = "loaded"
COUNTED = (StartExecution, Execute, ExecuteFileTool, Acknowledge)
TELLING = frozenset({*COUNTED, Acquire, AwaitTurn, Infer, LoadSession, Prompt})
"""The questions that tell how a run ended."""

PROBE = "probe"
"""What the names of the Sessions that try a Workspace at the end begin with."""


class TurnOutcome(msgspec.Struct, frozen=True):
    """How one prompt of one Session ended. ``reason`` is a cause or an error code, empty when there is none.

    It is ``uncorrected`` when its last batch was refused, or had to be and met a limit, and the turn then ended as an
    error; the reason says what kept the model from correcting it (000 §7). ``took`` is how long it was until its end
    was told, in virtual milliseconds from the first sending of its prompt; 0 when it never was.
    """

    session: str
    prompt: str
    ending: str
    reason: str
    inferences: int
    took: int = 0


class ExecutionOutcome(msgspec.Struct, frozen=True):
    """What became of one execution: how often it was started, dispatched, spawned and acknowledged, and its records.

    ``ledger`` is its ledger state, ``status`` its result's status, ``receipt`` its delivery; each is empty when there
    is none: an execution of a local Session is in no ledger. The counts are of requests sent, whether they arrived or
    not, and of processes spawned.
    """

    execution: str
    session: str
    model_call: str
    starts: int
    dispatches: int
    spawns: int
    acknowledgements: int
    ledger: str
    status: str
    receipt: str
    results: int


class Loads(msgspec.Struct, frozen=True):
    """What two cold loads of a Session answered: ``loaded``, an error code, a doubt, or empty when not asked."""

    session: str
    first: str
    second: str
    equal: bool


class Outcome(msgspec.Struct, frozen=True):
    """How a run was left when it was healed, and what was found afterwards.

    ``leases`` names the holding Session of each Workspace, empty when it is free; ``phases`` the phase of each
    Session's last checkpoint; ``probes`` how the second Session on each Workspace ended; ``reopened`` how prompts
    ended that were sent again to an owner that was opened anew.
    """

    turns: tuple[TurnOutcome, ...]
    executions: tuple[ExecutionOutcome, ...]
    leases: tuple[tuple[str, str], ...]
    phases: tuple[tuple[str, str], ...]
    loads: tuple[Loads, ...]
    probes: tuple[TurnOutcome, ...]
    reopened: tuple[TurnOutcome, ...]
    exhausted: str

    def ending(self, prompt: str) -> str:
        """How this prompt ended; ``not accepted`` when nobody ever sent it."""
        return next((turn.ending for turn in self.turns if turn.prompt == prompt), NOT_ACCEPTED)

    def lease(self, workspace: str) -> str:
        """Who held this Workspace; empty when nobody did."""
        return dict(self.leases).get(workspace, "")


def outcome(events: Sequence[Event]) -> Outcome:
    """How the run with this history ended."""
    kinds = [event.__class__ for event in events]
    healed = kinds.index(Healed) if Healed in kinds else len(events)
    exhausted = events[-1].limit if events and isinstance(events[-1], Exhausted) else ""
    before, after = _Told(events[:healed]), _Told(events[healed:])
    loads = _loads(after)
    found = {load.session: load.first for load in loads}
    probing = [asked for asked in after.prompts() if asked.to.partition(":")[2].startswith(PROBE)]
    return Outcome(
        tuple(_turn(before, asked, found, exhausted) for asked in before.prompts()),
        _executions(before),
        _leases(before),
        tuple(sorted((session, rows[-1].phase) for session, rows in before.records(Checkpoint).items())),
        loads,
        tuple(_turn(after, asked, {}, exhausted) for asked in probing),
        tuple(_turn(after, asked, {}, exhausted) for asked in after.prompts() if _sent_again(asked)),
        exhausted,
    )


def _sent_again(asked: Asked) -> bool:
    """Whether a prompt after healing is one of the scenario's own, and not a look at a blocked Session."""
    return not asked.to.partition(":")[2].startswith(PROBE) and not asked.request.prompt.endswith(LATER)


# --- what the history tells -----------------------------------------------------------------------------------------


class _Told:
    """A stretch of a history: what was asked and what came of it, the rows as they were left, the processes born."""

    def __init__(self, events: Sequence[Event]) -> None:
        self.asked: dict[type, list[Asked]] = {}
        self.answers: dict[int, Any] = {}
        self.told_at: dict[int, int] = {}
        self.learned: dict[int, Learned] = {}
        self.spawned: list[str] = []
        self.rows: dict[str, dict[str, Any]] = {}
        look: dict[type, Callable[[Any], None]] = {
            Asked: self._asked,
            Answered: self._answered,
            Learned: self._learned,
            Committed: self._committed,
            Acted: self._acted,
        }
        for event in events:
            if (see := look.get(event.__class__)) is not None:
                see(event)

    def _asked(self, event: Asked) -> None:
        kind = event.request.__class__
        if kind in TELLING:
            self.asked.setdefault(kind, []).append(event)

    def _answered(self, event: Answered) -> None:
        self.answers[event.exchange] = event.answer
        if event.answer.__class__ is TurnEnded:
            self.told_at[event.exchange] = event.at

    def _learned(self, event: Learned) -> None:
        self.learned[event.exchange] = event

    def _committed(self, event: Committed) -> None:
        for write in event.writes:
            self.rows.setdefault(write.table, {})[write.key] = write.row

    def _acted(self, event: Acted) -> None:
        if isinstance(event.deed, Spawn):
            self.spawned.append(event.deed.execution)

    def of(self, exchange: int) -> Any:
        """The answer that arrived; a Failure for failure; a doubt's cause as text; None for silence."""
        learned = self.learned.get(exchange)
        if learned is None:
            return self.answers.get(exchange)
        return learned.doubt or Failure(learned.failure, 409)

    def last(self, request: type, prompt: str) -> Any:
        """What was told last to those who asked this about a prompt; a doubt only when nothing better was."""
        told = [self.of(asked.exchange) for asked in self.about(request, prompt)]
        plain = [answer for answer in told if answer is not None and not isinstance(answer, str)]
        return plain[-1] if plain else told[-1] if told else None

    def about(self, request: type, prompt: str) -> list[Asked]:
        """Every question of a kind about a prompt, in order."""
        return [asked for asked in self.asked.get(request, ()) if asked.request.prompt == prompt]

    def prompts(self) -> list[Asked]:
        """The first sending of each prompt."""
        first: dict[str, Asked] = {}
        for asked in self.asked.get(Prompt, ()):
            first.setdefault(asked.request.prompt, asked)
        return list(first.values())

    def records(self, record: type) -> dict[str, list[Any]]:
        """Every journal record of a type, by Session, in order."""
        found: dict[str, list[Any]] = {}
        for key, entry in self.rows.get(JOURNAL.name, {}).items():
            if isinstance(entry, Entry) and isinstance(entry.record, record):
                found.setdefault(key.partition("/")[0], []).append(entry.record)
        return found

    def all(self, record: type) -> list[Any]:
        """The same of every Session."""
        return [row for rows in self.records(record).values() for row in rows]

    def table(self, table: Table[Row]) -> dict[str, Row | None]:
        """Every row of a table that was written, None for what was removed again."""
        return dict(self.rows.get(table.name, {}))


# --- turns ----------------------------------------------------------------------------------------------------------


def _turn(told: _Told, asked: Asked, found: dict[str, str], exhausted: str) -> TurnOutcome:
    session, prompt = asked.to.partition(":")[2], asked.request.prompt
    ending, reason = _ending(told, prompt, found.get(session, ""), exhausted)
    inferences = len(told.about(Infer, prompt))
    ends = [told.told_at.get(each.exchange, 0) for each in told.about(AwaitTurn, prompt)]
    took = max(min(filter(None, ends), default=0) - asked.at, 0)
    return TurnOutcome(session, prompt, _corrected(told, prompt, ending, reason), reason, inferences, took)


def _ending(told: _Told, prompt: str, found: str, exhausted: str) -> tuple[str, str]:
    """How the client was told that a turn ended; else what the journal says; else what a new owner found."""
    ended = told.last(AwaitTurn, prompt)
    if isinstance(ended, TurnEnded):
        return ended.state, ended.reason
    settled = [record for record in told.all(TurnSettled) if record.prompt == prompt]
    if settled:
        return settled[-1].state, ""
    if all(record.prompt != prompt for record in told.all(InputAccepted)):
        answer = told.last(Prompt, prompt)
        return NOT_ACCEPTED, answer.code if isinstance(answer, Failure) else str(answer or "")
    if exhausted:
        return RAN_OUT, exhausted
    if found and found != LOADED:
        return BLOCKED, found
    return BLOCKED, ended.code if isinstance(ended, Failure) else str(ended or "unsettled")


def _corrected(told: _Told, prompt: str, ending: str, reason: str) -> str:
    """The same ending, told apart by whether a batch of the turn was refused, and whether the model went on."""
    results = [record for record in told.all(ToolResult) if record.prompt == prompt]
    if ending == COMPLETED and any(not record.execution for record in results):
        return AFTER_REFUSAL
    if ending != ERROR:
        return ending
    refused = bool(results) and not results[-1].execution
    limited = reason in LIMITED and refused_calls(told.last(Infer, prompt))
    return UNCORRECTED if refused or limited else ending


# --- executions, leases, loads --------------------------------------------------------------------------------------


def _executions(told: _Told) -> tuple[ExecutionOutcome, ...]:
    spawns = Counter(told.spawned)
    asks = Counter(_ask_of(asked) for kind in COUNTED for asked in told.asked.get(kind, ()))
    records = told.records(ToolIntent).items()
    intents = {
        intent.execution: (session, intent.model_call) for session, found in records for intent in found
    }
    receipts = {receipt.execution: receipt for receipt in told.all(ToolReceipt)}
    results = Counter(result.execution for result in told.all(ToolResult))
    ledger = told.table(LEDGER)
    reserved = {execution: row for execution, row in ledger.items() if row is not None}
    own = [execution for execution in intents if execution not in ledger]  # of a local Session
    outcomes: list[ExecutionOutcome] = []
    for execution in (*reserved, *own):
        row, receipt = reserved.get(execution), receipts.get(execution)
        envelope = row.envelope if row is not None else receipt.envelope if receipt is not None else None
        outcomes.append(
            ExecutionOutcome(
                execution,
                *intents.get(execution, ("", "")),
                asks[StartExecution.__name__, execution],
                asks[Execute.__name__, execution] + asks[ExecuteFileTool.__name__, execution],
                spawns[execution],
                asks[Acknowledge.__name__, execution],
                row.state if row is not None else "",
                envelope.status if envelope is not None else "",
                receipt.delivery if receipt is not None else "",
                results[execution],
            )
        )
    return tuple(outcomes)


def _ask_of(asked: Asked) -> tuple[str, str]:
    """What is counted of a question: its kind, and the execution that it is about."""
    request = asked.request
    sent = isinstance(request, Execute | ExecuteFileTool)
    execution = request.reference.execution if sent else request.execution
    return type(request).__name__, execution


def _leases(told: _Told) -> tuple[tuple[str, str], ...]:
    """Who holds each Workspace that anybody asked for."""
    asked = {event.request.workspace: "" for event in told.asked.get(Acquire, ())}
    held = {workspace: lease.session if lease else "" for workspace, lease in told.table(LEASES).items()}
    return tuple(sorted({**asked, **held}.items()))


def _loads(told: _Told) -> tuple[Loads, ...]:
    """The first two loads of each Session after the run was healed, those of the probes left out."""
    answers: dict[str, list[str]] = {}
    for asked in told.asked.get(LoadSession, ()):
        session: str = asked.request.session
        if not session.startswith(PROBE):
            answers.setdefault(session, []).append(_load_text(told.of(asked.exchange)))
    return tuple(
        Loads(session, first, second, first == second)
        for session, (first, second, *_) in (
            (name, [*texts, "", ""]) for name, texts in sorted(answers.items())
        )
    )


def _load_text(answer: Any) -> str:
    """What a load answered, without what differs from one load to the next."""
    if isinstance(answer, Loaded):
        return LOADED
    return answer.code if isinstance(answer, Failure) else str(answer or "")
