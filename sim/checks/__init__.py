"""What must hold in every history. A check is a stranger: it knows events, messages and rows, nothing else."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from sim.checks import (
    admission,
    doubt,
    durable,
    ending,
    identity,
    intruder,
    journal,
    leases,
    ledger,
    lifecycle,
    listener,
    local,
    once,
    order,
    publication,
    refusal,
    retained,
    retries,
    secrecy,
    tools,
    truth,
)
from sim.checks.check import Check, Finding, Judge
from sim.history import Event

__all__ = ["CHECKS", "Check", "Finding", "Judge", "UnknownCheck", "chosen", "judge"]

CHECKS: tuple[Check, ...] = (
    *once.CHECKS,
    *order.CHECKS,
    *durable.CHECKS,
    *retained.CHECKS,
    *doubt.CHECKS,
    *leases.CHECKS,
    *journal.CHECKS,
    *ledger.CHECKS,
    *identity.CHECKS,
    *retries.CHECKS,
    *secrecy.CHECKS,
    *truth.CHECKS,
    *refusal.CHECKS,
    *listener.CHECKS,
    *tools.CHECKS,
    *intruder.CHECKS,
    *local.CHECKS,
    *admission.CHECKS,
    *ending.CHECKS,
    *lifecycle.CHECKS,
    *publication.CHECKS,
)
"""All of them."""

NAMES = {check.name: check for check in CHECKS}


class UnknownCheck(Exception):
    """No check has this name; ``nearest`` are those that look most like it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.nearest = tuple(difflib.get_close_matches(name, NAMES, n=3, cutoff=0.4))
        meant = f"; nearest: {', '.join(self.nearest)}" if self.nearest else ""
        super().__init__(f"no check is named {name!r}{meant}")


def chosen(names: Iterable[str]) -> tuple[Check, ...]:
    """The checks of these names, in their own order.

    Raises:
        UnknownCheck: one of the names is nobody's.
    """
    wanted = list(names)
    for name in wanted:
        if name not in NAMES:
            raise UnknownCheck(name)
    return tuple(check for check in CHECKS if check.name in wanted)


def judge(
    events: Sequence[Event], checks: tuple[Check, ...] = CHECKS, trace: bytes | None = None
) -> tuple[Finding, ...]:
    """Everything that these checks find in a history, in the order in which they found it.

    ``trace`` is the encoded history, when the caller has it already.
    """
    bench = Judge(checks, events, trace)
    bench.see(events)
    return bench.end()
