"""The execution ledger moves one way, is told as it is, and loses a runtime exactly when its worker is gone."""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec
from msgspec.structs import replace

from sim.checks.check import (
    Check,
    Scene,
    Told,
    answered,
    asked,
    at_all,
    by_execution,
    by_key,
    by_reference,
    happened,
    learned,
    owner,
    wrote,
)
from sim.facts import BINDINGS, LEDGER, PUBLICATIONS, Execution
from sim.history import Crashed, Failure, Healed, Learned
from sim.protocol import CancelExecution, Observe, Observed, StartExecution, Status

UNCAPTURED = "managed-tool/v2"
"""The protocol of the file tools, whose results have no receipt."""

MOVES = {
    "prepared": ("prepared", "dispatching", "cancel_requested", "settled", "unknown"),
    "dispatching": ("dispatching", "prepared", "executing", "cancel_requested", "settled", "unknown"),
    "executing": ("executing", "cancel_requested", "settled", "unknown"),
    "cancel_requested": ("cancel_requested", "settled", "unknown"),
    "unknown": ("unknown", "settled"),
    "settled": ("settled",),
}
"""Where a row may go from each state (behaviour §1.10)."""


def _moved(state: bool, row: Execution, scene: Scene) -> Told[bool]:
    before: Execution | None = scene.before
    wrong = None if before is None else _unlike(scene.write.key, before, row)
    return state, wrong or _lacks_result(scene.write.key, row, scene)


def _unlike(execution: str, before: Execution, row: Execution) -> str | None:
    """What a row must not become after what it was."""
    if row.state not in MOVES.get(before.state, ()):
        return f"execution {execution} went from {before.state} to {row.state}"
    if before.state == "settled" and row.envelope != before.envelope:
        return f"execution {execution} was settled a second time, with another result"
    if before.receipt is not None and row.receipt != before.receipt:
        return f"execution {execution} got another receipt"
    return None


def _lacks_result(execution: str, row: Execution, scene: Scene) -> str | None:
    """What a settled row must have and does not: its result, and, when it ever ran, its receipt or its publication."""
    if row.state != "settled":
        return None
    if row.envelope is None:
        return f"execution {execution} was settled without a result"
    ran = row.envelope.status != "not_started" and row.protocol != UNCAPTURED
    if not ran or row.receipt is not None:
        return None
    published = scene.row(PUBLICATIONS, row.publication)
    if published is not None and published.envelope == row.envelope:
        return None
    return f"execution {execution} was settled without a receipt"


SETTLED_IS_TERMINAL = Check(
    "settled-is-terminal",
    cites="RC-84; behaviour §1.10",
    says="A settled execution has its result and stays so; an unknown one is never dispatched again.",
    start=False,
    hears=(wrote(Execution, by_key, _moved),),
)


# --- reservations


class Kept(msgspec.Struct, frozen=True, gc=False):
    """The executions whose cancellation was asked, and the Sessions whose owner died."""

    cancelled: frozenset[str] = frozenset()
    died: frozenset[str] = frozenset()


def _cancels(kept: Kept, request: CancelExecution, scene: Scene) -> Told[Kept]:
    return Kept(kept.cancelled | {request.execution}, kept.died), None


def _died(kept: Kept, event: Crashed, scene: Scene) -> Told[Kept]:
    if not event.process.startswith("owner:"):
        return kept, None
    return Kept(kept.cancelled, kept.died | {owner(event.process)}), None


def _healed(kept: Kept, event: Healed, scene: Scene) -> Told[Kept]:
    """What is intended and still reserved, when its owner lives and never asked to be rid of it."""
    left = [
        execution
        for execution, row in scene.table(LEDGER).items()
        if row.state == "prepared"
        and execution not in kept.cancelled
        and execution in scene.intended
        and scene.intended[execution].session not in kept.died
    ]
    return kept, f"{', '.join(left)} is left reserved: its cancellation was never asked" if left else None


NO_RESERVATION_LEFT_BEHIND = Check(
    "no-reservation-left-behind",
    cites="behaviour §1.10; RM-095",
    says="A living owner leaves no intended execution reserved without having asked for its cancellation.",
    start=Kept(),
    hears=(
        asked(CancelExecution, at_all, _cancels),
        happened(Crashed, at_all, _died),
        happened(Healed, at_all, _healed),
    ),
)

# --- what is told of a row

SHOWN = {"dispatching": "executing"}
"""How a state is told, where that is otherwise than it is kept: only ``prepared`` proves that nothing was sent."""
STALE = "cancel_requested"
"""What a cancellation may still tell when the worker was stopped meanwhile."""
NOT_KNOWN = "runtime_broker_execution_unknown"


def _asked_execution(answer: object, scene: Scene) -> str:
    return scene.asked.request.execution


def _told(state: bool, answer: object, scene: Scene) -> Told[bool]:
    execution: str = scene.asked.request.execution
    row = scene.row(LEDGER, execution)
    if row is None:
        return state, None
    kept, told = SHOWN.get(row.state, row.state), _state_in(answer)
    stale = told == STALE and isinstance(scene.asked.request, CancelExecution)
    if not told or told == kept or stale:
        return state, None
    return state, f"execution {execution} is {row.state}, and the broker told that it is {told}"


def _state_in(answer: object) -> str:
    """The state of an execution that an answer tells; empty when it tells none. Unknown can only be refused."""
    if isinstance(answer, Observed):
        return answer.state if answer.state != "unknown" else "an outcome"
    return "unknown" if isinstance(answer, Failure) and answer.code == NOT_KNOWN else ""


TOLD_AS_THE_LEDGER_SAYS = Check(
    "told-as-the-ledger-says",
    cites="behaviour §0.2, §7 guard 125",
    says="A broker tells of an execution the state in the ledger: a claimed one runs, an unknown one is told as that.",
    start=False,
    hears=tuple(
        answered(request, _asked_execution, _told) for request in (StartExecution, Status, CancelExecution)
    ),
)


# --- a broker that is gone

BROKER = "broker"
CLAIMED = ("dispatching", "executing", "cancel_requested")


Claims: TypeAlias = tuple[tuple[str, int], ...]
"""The executions that are dispatched, each with the life of the broker that did it."""


def _claimed(claims: Claims, row: Execution, scene: Scene) -> Told[Claims]:
    execution, before = scene.write.key, scene.before
    if row.state in CLAIMED and before is not None and before.state in CLAIMED:
        return claims, None
    others = tuple(claim for claim in claims if claim[0] != execution)
    return ((*others, (execution, scene.boots.get(BROKER, 0))) if row.state in CLAIMED else others), None


def _outlived(claims: Claims, event: Healed, scene: Scene) -> Told[Claims]:
    left = [execution for execution, life in claims if life < scene.boots.get(BROKER, 0)]
    return claims, f"{', '.join(left)} is left as running, and its broker died" if left else None


NO_CLAIM_OUTLIVES_ITS_BROKER = Check(
    "no-claim-outlives-its-broker",
    cites="behaviour §7 guard 124",
    says="What a broker had dispatched when it died is unknown to its next life, and not running for ever.",
    start=(),
    hears=(wrote(Execution, at_all, _claimed), happened(Healed, at_all, _outlived)),
)


# --- a runtime that is gone

LOOKS = 3
"""After so many lost looks in a row nobody answers there any more (behaviour §5)."""
FORGOT = "managed_runtime_execution_unknown"


class Looks(msgspec.Struct, frozen=True, gc=False):
    """How many looks at an execution were lost in a row, whether one is under way, and whether it was forgotten."""

    lost: int = 0
    open: bool = False
    forgotten: bool = False


def _looks(looks: Looks, request: Observe, scene: Scene) -> Told[Looks]:
    return Looks(0 if looks.open else looks.lost, True, looks.forgotten), None


def _missed(looks: Looks, event: Learned, scene: Scene) -> Told[Looks]:
    if event.failure:
        return replace(looks, forgotten=looks.forgotten or event.failure == FORGOT), None
    return Looks(looks.lost + 1, False, looks.forgotten), None


def _lost(looks: Looks, row: Execution, scene: Scene) -> Told[Looks]:
    before: Execution | None = scene.before
    if row.state != "unknown" or (before is not None and before.state == "unknown"):
        return looks, None
    event: Any = scene.event
    bound = [
        write.row for write in event.writes if (write.table, write.key) == (BINDINGS.name, row.workspace)
    ]
    given_up = any(binding is not None and binding.state == "lost" for binding in bound)
    gone = looks.forgotten or looks.lost >= LOOKS
    if gone == given_up:
        return looks, None
    execution, workspace = scene.write.key, row.workspace
    if gone:
        return looks, f"the worker of {workspace} lost execution {execution}, and its runtime is still bound"
    return (
        looks,
        f"the runtime of {workspace} was given up, though its worker never lost execution {execution}",
    )


GONE_RUNTIME_IS_LOST = Check(
    "gone-runtime-is-lost",
    cites="behaviour §1.10",
    says="A runtime is lost with an execution that its worker forgot or cannot be asked for, and with no other.",
    start=Looks(),
    hears=(
        asked(Observe, by_reference, _looks),
        learned(Observe, lambda event, scene: scene.asked.request.reference.execution, _missed),
        wrote(Execution, by_key, _lost),
    ),
)


# --- a start that failed

CONFLICTS = ("runtime_idempotency_conflict", "runtime_execution_conflict")
"""The two refusals that prove what became of a start; of one that publishes, every one does (behaviour §3.5)."""
REFUSED, UNSEEN, SEEN = "refused", "unseen", "seen"


def _start_failed(start: str, event: Learned, scene: Scene) -> Told[str]:
    definite = event.failure in CONFLICTS or (scene.asked.request.publication and bool(event.failure))
    return REFUSED if definite else UNSEEN, None


def _looked(start: str, status: Status, scene: Scene) -> Told[str]:
    if start == REFUSED:
        return start, f"execution {status.execution} is looked for, though its start was refused for good"
    return SEEN, None


def _called_off(start: str, cancel: CancelExecution, scene: Scene) -> Told[str]:
    unseen = f"execution {cancel.execution} was called off and nobody looked what became of its failed start"
    return start, unseen if start == UNSEEN else None


FAILED_START_IS_OBSERVED = Check(
    "failed-start-is-observed",
    cites="003 Identity; behaviour §3.5",
    says="A start that failed is observed before it is called off, unless it conflicted: then nobody looks for it.",
    start="",
    hears=(
        learned(StartExecution, lambda event, scene: scene.asked.request.execution, _start_failed),
        asked(Status, by_execution, _looked),
        asked(CancelExecution, by_execution, _called_off),
    ),
)

CHECKS = (
    SETTLED_IS_TERMINAL,
    NO_RESERVATION_LEFT_BEHIND,
    TOLD_AS_THE_LEDGER_SAYS,
    NO_CLAIM_OUTLIVES_ITS_BROKER,
    GONE_RUNTIME_IS_LOST,
    FAILED_START_IS_OBSERVED,
)
