"""How what a carrier breaks is planted: under which strikes its row is played, and what is cut out of a history."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from scenarios.row import Row, own_plan
from scenarios.trace.sentence import Carrier
from sim.history import Acted, Answered, Asked, Committed, Declined, Event, Learned
from sim.points import Plan


def plan_of(carrier: Carrier, row: Row) -> Plan:
    """The strikes under which a carrier's row is played: its own, and the carrier's on top.

    Raises:
        NoSuchPlace: the row never reaches the place of the carrier's fault.
    """
    return own_plan(replace(row, faults=(*row.faults, carrier.fault))) if carrier.fault else row.plan


def without(events: Sequence[Event], label: str) -> list[Event]:
    """The events but for each call, commit and deed of this label, as if none of them had happened."""
    calls = {event.exchange for event in events if isinstance(event, Asked) and event.request.label == label}
    return [event for event in events if not _is_of(event, label, calls)]


def _is_of(event: Event, label: str, calls: set[int]) -> bool:
    if isinstance(event, Asked | Answered | Learned):
        return event.exchange in calls
    if isinstance(event, Committed | Declined):
        return event.label == label
    return isinstance(event, Acted) and event.deed.label == label
