"""A row: one scenario, the fewest faults, the promised results."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import msgspec

from faults.plans import read
from sim.design import SCALED, Design
from sim.points import NO_FAULTS, Fate, Plan, Sighting, Strike
from sim.run import points, run
from sim.scenario import Scenario


class Promise(msgspec.Struct, frozen=True):
    """What a run of the row comes to.

    ``endings`` are those of all turns, Session by Session. ``spawns`` counts physical processes, ``starts`` the
    dispatches sent to a worker, ``asked`` the requests to the model, ``acks`` the acknowledged results. ``lease`` is
    free or held when the world is healed; ``second`` says how a second Session then fares: completed or error.
    """

    endings: tuple[str, ...]
    spawns: int
    starts: int
    asked: int
    acks: int
    lease: str = "free"
    second: str = "completed"


class Row(msgspec.Struct, frozen=True):
    """One line of the acceptance matrix.

    ``faults`` are strikes that belong to the row, each written ``actor:door:label#nth=fate`` with the nth such effect
    of the whole run under the faults before it, or with the causes behind it as a plan has them. A row with faults of
    its own, or with ``swept`` False, takes no further ones; ``cases`` are the field cases that it plays;
    ``uncancelled`` is the promise when its cancellation never arrives; ``tabled`` says whether single faults must end
    as the loss table says. ``theme`` is the group of rows that it belongs to, by which it can be selected. ``answers``
    are those that the scenario's intrusions get, in their order, each written ``status code``, or as the type of an
    answer that grants something. ``evidence`` is the test of 000 §6 to which it belongs; ``like`` names the row of the
    same skeleton whose fault sweep stands for this one's.
    """

    name: str
    why: str
    scenario: Scenario
    promise: Promise
    cites: str
    cases: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    swept: bool = True
    uncancelled: Promise | None = None
    design: Design = SCALED
    tabled: bool = True
    theme: str = ""
    answers: tuple[str, ...] = ()
    evidence: str = ""
    like: str = ""

    @property
    def sweepable(self) -> bool:
        """Whether single faults are struck on top of the row."""
        return self.swept and not self.faults and not self.like

    @property
    def plan(self) -> Plan:
        """The row's own faults."""
        return own_plan(self)

    @property
    def acquires(self) -> bool:
        """Whether any turn of the row takes a Workspace when nothing goes wrong."""
        return any(sighting.point.label == "Acquire" for sighting in reached(self))


class NoSuchPlace(Exception):
    """A row names a place that its run, under the faults before it, never reaches."""


@lru_cache(maxsize=256)
def reached(row: Row) -> tuple[Sighting, ...]:
    """Every point of the row's run without faults, in order."""
    return tuple(points(row.scenario, row.design))


@lru_cache(maxsize=256)
def own_plan(row: Row) -> Plan:
    """The strikes of a row, each with the address that its place has in the run under the strikes before it."""
    plan = NO_FAULTS
    for fault in row.faults:
        strikes = read(fault).strikes if "@" in fault else (_strike(fault, _reached_under(row, plan)),)
        plan = Plan((*plan.strikes, *strikes))
    return plan


def _reached_under(row: Row, plan: Plan) -> Sequence[Sighting]:
    if not plan.strikes:
        return reached(row)
    sightings: list[Sighting] = []
    run(row.scenario, plan, row.design, sightings.append)
    return sightings


def _strike(fault: str, sightings: Sequence[Sighting]) -> Strike:
    place, _, fate = fault.partition("=")
    name, _, nth = place.partition("#")
    found = [
        at for at in (sighting.point for sighting in sightings) if f"{at.actor}:{at.door}:{at.label}" == name
    ]
    if not nth.isdigit() or not 0 < int(nth) <= len(found):
        raise NoSuchPlace(f"{place} is never reached; {name} is reached {len(found)} times")
    return Strike(found[int(nth) - 1], Fate(fate.rstrip("!"), fate.endswith("!")))
