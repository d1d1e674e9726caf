"""The execution ledger moves one way: settled is final, unknown is not tried again, none stays reserved."""

from __future__ import annotations

import msgspec

from sim.checks.check import Check, Scene, Told, asked, at_all, by_key, happened, owner, wrote
from sim.facts import LEDGER, Execution
from sim.history import Crashed, Healed
from sim.protocol import CancelExecution

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
    if before is None:
        return state, None
    if row.state not in MOVES.get(before.state, ()):
        return state, f"execution {scene.write.key} went from {before.state} to {row.state}"
    if before.state == "settled" and row.envelope != before.envelope:
        return state, f"execution {scene.write.key} was settled a second time, with another result"
    if before.receipt is not None and row.receipt != before.receipt:
        return state, f"execution {scene.write.key} got another receipt"
    return state, None


SETTLED_IS_TERMINAL = Check(
    "settled-is-terminal",
    cites="RC-84; behaviour §1.10",
    says="A settled execution stays settled with its result; an unknown one is never dispatched again.",
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

CHECKS = (SETTLED_IS_TERMINAL, NO_RESERVATION_LEFT_BEHIND)
