"""The columns of a row's promise: what a run keeps of them, and what it breaks."""

from __future__ import annotations

from scenarios.row import Promise
from sim.outcome import Outcome

HELD, FREE = "held", "free"
NOBODY = ""
"""The ending of a second Session that never came to try."""

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
