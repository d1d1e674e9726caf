"""Both paths of capture beside each other: what a row comes to, and what its models are shown, on each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from scenarios.published import publishable, published
from scenarios.row import Row
from sim.history import Asked, Event
from sim.outcome import outcome
from sim.protocol import Infer, Message
from sim.run import run

MIXED = "Two pipes have no order between them: a preview mixes what it has read when it read it."
DIFFERENT: Mapping[str, str] = {
    "cut-preview": MIXED,
    "reread-complete": MIXED,
    "output-at-exit": MIXED,
    "control-characters": MIXED,
    "size-fit-chunk-plus-one": "There are no raw writes, and so none that are too large.",
    "rc-25-long": "An execution that publishes is looked at half as often, so its 700th look comes later.",
}
"""The rows that come to something else on the other path, each with the reason (docs/decisions.md, O8 and O9)."""


class Left(msgspec.Struct, frozen=True):
    """What parity compares: endings, leases, the probing Session, and every conversation that a model was shown."""

    endings: tuple[str, ...]
    held: tuple[bool, ...]
    seconds: tuple[str, ...]
    shown: tuple[tuple[str, tuple[Message, ...]], ...]


def comparable(row: Row) -> bool:
    """Whether a row can be played on both paths with the same schedule: no fault or intrusion names a path's points."""
    return publishable(row) and not row.faults and not row.scenario.intrusions and row.theme != "published"


def sides(row: Row) -> tuple[Left, Left]:
    """What the row comes to when its owners capture, and when its commands publish."""
    captured = run(row.scenario, design=row.design)
    remote = run(published(row.scenario), design=row.design)
    return left(captured.events), left(remote.events)


def left(events: Sequence[Event]) -> Left:
    """What is left of a run that both paths must have in common."""
    found = outcome(events)
    asked = (event.request for event in events if isinstance(event, Asked))
    return Left(
        tuple(turn.ending for turn in found.turns),
        tuple(bool(holder) for _, holder in found.leases),
        tuple(probe.ending for probe in found.probes),
        tuple((request.prompt, request.messages) for request in asked if isinstance(request, Infer)),
    )
