"""The execution ledger moves one way: settled is final, unknown is not tried again."""

from __future__ import annotations

from sim.checks.check import Check, Scene, Told, by_key, wrote
from sim.facts import Execution

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

CHECKS = (SETTLED_IS_TERMINAL,)
