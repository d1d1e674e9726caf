"""Where a fault strikes, and what it does there: points, fates, strikes, plans. Values only.

A point names one effect of one run by its causes, not by its number in the run: (actor, door, label, the causal
parent, nth within that parent). It is the same in every run that gets there, and survives unrelated edits.
"""

from __future__ import annotations

from typing import Protocol

import msgspec

CALL, COMMIT, ACT = "call", "commit", "act"
DOORS = (CALL, COMMIT, ACT)


class Point(msgspec.Struct, frozen=True, order=True):
    """One effect of one run.

    ``parent`` is the path of causes, ``/`` between them, each written ``label#nth``; ``nth`` counts from 1.
    """

    parent: str
    actor: str
    door: str
    label: str
    nth: int

    def __str__(self) -> str:
        return f"{self.actor}:{self.door}:{self.label}#{self.nth}@{self.parent}"


class Fate(msgspec.Struct, frozen=True, order=True):
    """What happens at a point instead of what was asked.

    ``sticky`` means that every later attempt at the same operation shares the fate, until the run is healed; a
    sticky fate counts as one fault.
    """

    name: str
    sticky: bool = False

    def __str__(self) -> str:
        return f"{self.name}!" if self.sticky else self.name


class Strike(msgspec.Struct, frozen=True, order=True):
    """One fault: a fate at a point."""

    point: Point
    fate: Fate

    def __str__(self) -> str:
        return f"{self.point}={self.fate}"


class Plan(msgspec.Struct, frozen=True):
    """The faults of one run. The plan is the seed: a run is a function of scenario, plan and design."""

    strikes: tuple[Strike, ...] = ()


NO_FAULTS = Plan()


class Sighting(msgspec.Struct, frozen=True):
    """A point that a run reached, with what decides which fates apply to it.

    ``peer`` is the callee of a call, else empty; ``operation`` the identity that all attempts share; ``local`` says
    that caller and callee share a process, ``payload`` that bytes are carried or stored, ``crossable`` that the peer
    answered another request of the kind before, ``divisible`` that the deed can be done half.
    """

    point: Point
    operation: str
    peer: str
    local: bool
    payload: bool
    crossable: bool
    divisible: bool


class Watcher(Protocol):
    """Told of every point a run reaches, in order. Used to discover the points of a row."""

    def __call__(self, sighting: Sighting, /) -> None:
        """One point was reached."""
        ...
