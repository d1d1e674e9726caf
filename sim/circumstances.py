"""What time and other owners do to a Session: the transactions behind the fates of time.

Each changes the shared database as something outside the run would: the clock, or another owner.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from msgspec.structs import replace

from sim.effects import Facts, Transaction
from sim.facts import ACTIVATIONS, ROOTS, WRITERS, Activation, Root, Writer
from sim.rule import Decide

RIVAL = "rival"
RIVAL_LEASE_MS = 60_000


class ExpireWriter(Transaction[None], frozen=True, gc=False):
    """The Session's writer lease runs out now."""

    session: str

    def apply(self, facts: Facts, ask: Decide) -> None:
        held = facts.get(WRITERS, self.session)
        if held is not None:
            facts.put(WRITERS, self.session, replace(held, expires_at=facts.now))


class ReplaceWriter(Transaction[None], frozen=True, gc=False):
    """Another owner has taken the writer lease over, one generation up."""

    session: str

    def apply(self, facts: Facts, ask: Decide) -> None:
        held = facts.get(WRITERS, self.session)
        generation = held.generation + 1 if held is not None else 1
        facts.put(WRITERS, self.session, Writer(RIVAL, RIVAL, generation, facts.now + RIVAL_LEASE_MS))


class ReplaceActivation(Transaction[None], frozen=True, gc=False):
    """Another activation is installed, one epoch up."""

    session: str

    def apply(self, facts: Facts, ask: Decide) -> None:
        current = facts.get(ACTIVATIONS, self.session)
        epoch = current.epoch + 1 if current is not None else 1
        facts.put(ACTIVATIONS, self.session, Activation(f"{self.session}.{RIVAL}", epoch))


class MoveRoot(Transaction[None], frozen=True, gc=False):
    """Another directory stands where the Session's root was."""

    session: str

    def apply(self, facts: Facts, ask: Decide) -> None:
        there = facts.get(ROOTS, self.session)
        facts.put(ROOTS, self.session, Root(there.identity + 1 if there is not None else 1))


CIRCUMSTANCES: Mapping[str, Callable[[str], Transaction[Any]]] = MappingProxyType(
    {
        "writer-expired": ExpireWriter,
        "writer-replaced": ReplaceWriter,
        "activation-replaced": ReplaceActivation,
        "root-moved": MoveRoot,
    }
)
"""For each fate of time that changes durable state, the transaction that brings it about in a Session."""
