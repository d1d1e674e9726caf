"""What doubt forbids: no model request over it, and nothing at all once the Session is recovery blocked."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from sim.checks.check import (
    Check,
    Scene,
    Told,
    answered,
    asked,
    by_addressee,
    by_process,
    by_session,
    happened,
    learned,
    recorded,
)
from sim.history import Booted, Failure, Learned
from sim.protocol import (
    Acknowledge,
    Acquire,
    Admitted,
    Append,
    AwaitTurn,
    CancelExecution,
    Entry,
    Infer,
    InputAccepted,
    Loaded,
    LoadSession,
    Observed,
    Prepare,
    Prompt,
    RegisterPublisher,
    Release,
    StartExecution,
    Status,
    ToolIntent,
    ToolReceipt,
    ToolResult,
    TurnEnded,
    TurnSettled,
)
from sim.publication import CloseNotStarted, PrepareAdmission, ReserveGrant

RECOVERY_REQUIRED = "hosted_turn_recovery_required"
DOUBTFUL = (
    Acquire,
    RegisterPublisher,
    Prepare,
    StartExecution,
    Status,
    CancelExecution,
    Acknowledge,
    Release,
    Append,
    ReserveGrant,
    PrepareAdmission,
    CloseNotStarted,
)
"""What leaves a turn in doubt when its answer is lost."""


class Known(msgspec.Struct, frozen=True, gc=False):
    """What is open in a Session.

    ``unrecorded`` are executions with an intent and no result, ``doubts`` questions whose answer was lost, ``held``
    executions whose output is held back, ``open`` the admitted prompts that are not settled, each with its activation.
    """

    unrecorded: frozenset[str] = frozenset()
    doubts: frozenset[tuple[str, str]] = frozenset()
    held: str = ""
    open: tuple[tuple[str, str], ...] = ()


def _accepted(known: Known, entry: Entry, scene: Scene) -> Told[Known]:
    record: Any = entry.record
    return replace(known, open=(*known.open, (record.prompt, entry.activation))), None


def _settled(known: Known, entry: Entry, scene: Scene) -> Told[Known]:
    record: Any = entry.record
    return replace(known, open=tuple(turn for turn in known.open if turn[0] != record.prompt)), None


def _intended(known: Known, entry: Entry, scene: Scene) -> Told[Known]:
    record: Any = entry.record
    return replace(known, unrecorded=known.unrecorded | {record.execution}), None


def _resulted(known: Known, entry: Entry, scene: Scene) -> Told[Known]:
    record: Any = entry.record
    return replace(known, unrecorded=known.unrecorded - {record.execution}), None


def _received(known: Known, entry: Entry, scene: Scene) -> Told[Known]:
    record: Any = entry.record
    return (replace(known, held=record.execution) if record.delivery == "blocked" else known), None


def _learned(known: Known, event: Learned, scene: Scene) -> Told[Known]:
    if not event.doubt:
        return known, None
    request = scene.asked.request
    return replace(known, doubts=known.doubts | {(type(request).__name__, request.operation)}), None


def _answered(known: Known, answer: object, scene: Scene) -> Told[Known]:
    if not known.doubts:
        return known, None
    request = scene.asked.request
    gone = {(type(request).__name__, request.operation)}
    if isinstance(answer, Observed) and answer.state == "settled":
        gone |= {(name, answer.execution) for name in ("StartExecution", "CancelExecution", "Status")}
    return replace(known, doubts=known.doubts - gone), None


def _rebooted(known: Known, event: Booted, scene: Scene) -> Told[Known]:
    return (replace(known, doubts=frozenset()) if known.doubts else known), None


def _infers(known: Known, infer: Infer, scene: Scene) -> Told[Known]:
    asks = f"the model of {infer.session} was asked for {infer.prompt} while"
    if known.held:
        return known, f"{asks} the output of {known.held} is held back"
    if known.unrecorded:
        return known, f"{asks} {', '.join(sorted(known.unrecorded))} lacks its history record"
    if known.doubts:
        name, operation = min(known.doubts)
        return known, f"{asks} the answer to {name} {operation} is in doubt"
    if others := [prompt for prompt, _ in known.open if prompt != infer.prompt]:
        return known, f"{asks} {others[0]} is unresolved"
    return known, None


NO_INFERENCE_ON_DOUBT = Check(
    "no-inference-on-doubt",
    cites="003 Implementation and validation; 003 Lifecycle",
    says="The model is not asked while an outcome, a record or an answer of its Session is missing.",
    start=Known(),
    hears=(
        recorded(InputAccepted, by_session, _accepted),
        recorded(TurnSettled, by_session, _settled),
        recorded(ToolIntent, by_session, _intended),
        recorded(ToolResult, by_session, _resulted),
        recorded(ToolReceipt, by_session, _received),
        *(learned(request, by_session, _learned) for request in DOUBTFUL),
        *(answered(request, by_session, _answered) for request in DOUBTFUL),
        happened(Booted, by_process, _rebooted),
        asked(Infer, lambda infer, scene: infer.session, _infers),
    ),
)


# --- recovery blocked


class Standing(msgspec.Struct, frozen=True, gc=False):
    """Whether a Session is blocked, and which prompts its journal holds as admitted and as open."""

    blocked: bool = False
    admitted: frozenset[str] = frozenset()
    open: frozenset[str] = frozenset()


def _took(standing: Standing, entry: Entry, scene: Scene) -> Told[Standing]:
    prompt: Any = entry.record
    if standing.blocked:  # what is written now was not admitted before
        return standing, None
    admitted, opened = standing.admitted | {prompt.prompt}, standing.open | {prompt.prompt}
    return Standing(standing.blocked, admitted, opened), None


def _closed(standing: Standing, entry: Entry, scene: Scene) -> Told[Standing]:
    settled: Any = entry.record
    return replace(standing, open=standing.open - {settled.prompt}), None


def _ended(standing: Standing, answer: object, scene: Scene) -> Told[Standing]:
    blocked = isinstance(answer, TurnEnded) and answer.state == "recovery-blocked"
    return (replace(standing, blocked=True) if blocked else standing), None


def _loaded(standing: Standing, answer: object, scene: Scene) -> Told[Standing]:
    if isinstance(answer, Failure) and answer.code == RECOVERY_REQUIRED:
        return replace(standing, blocked=True), None
    if not isinstance(answer, Loaded):
        return standing, None
    opened = replace(standing, blocked=False)
    if standing.open:
        return opened, f"session {owner_of(scene)} was opened while {min(standing.open)} is unresolved"
    return opened, None


def owner_of(scene: Scene) -> str:
    """The Session to which the question at hand went."""
    return str(by_addressee(None, scene))


def _prompted(standing: Standing, answer: object, scene: Scene) -> Told[Standing]:
    prompt = scene.asked.request.prompt
    if not standing.blocked or not isinstance(answer, Admitted) or prompt in standing.admitted:
        return standing, None
    return standing, f"session {owner_of(scene)} admitted {prompt} while it is recovery blocked"


def _acts(standing: Standing, request: Any, scene: Scene) -> Told[Standing]:
    said = f"session {scene.session} sent {request.label} {request.operation} after it was recovery blocked"
    return standing, said if standing.blocked else None


def _asks(standing: Standing, infer: Infer, scene: Scene) -> Told[Standing]:
    said = f"session {infer.session} asked the model for {infer.prompt} after it was recovery blocked"
    return standing, said if standing.blocked else None


BLOCKED_STAYS_BLOCKED = Check(
    "blocked-stays-blocked",
    cites="003 Lifecycle; behaviour §0.2",
    says="A recovery-blocked Session asks no model, takes no prompt, acquires, executes and releases nothing.",
    start=Standing(),
    hears=(
        recorded(InputAccepted, by_session, _took),
        recorded(TurnSettled, by_session, _closed),
        answered(AwaitTurn, by_addressee, _ended),
        answered(LoadSession, by_addressee, _loaded),
        answered(Prompt, by_addressee, _prompted),
        *(
            asked(request, by_session, _acts)
            for request in (Acquire, Prepare, ReserveGrant, StartExecution, Acknowledge, Release)
        ),
        asked(Infer, lambda infer, scene: infer.session, _asks),
    ),
)

CHECKS = (NO_INFERENCE_ON_DOUBT, BLOCKED_STAYS_BLOCKED)
