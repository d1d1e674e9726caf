"""A history without one of its steps."""

from __future__ import annotations

from collections.abc import Sequence

from sim.history import Acted, Answered, Asked, Committed, Declined, Event, Learned


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
