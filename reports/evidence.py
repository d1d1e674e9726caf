"""What is kept of a run that did not pass, so that a reader need not play it again to believe it.

The ledger as the run left it, who holds what, the last durable commit; and, of the first such run of a chunk, a scene:
what happened around the strike, as lines and as a diagram.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from reports.mermaid import sequence
from reports.story import Beat, beats
from sim.checks.check import Finding
from sim.facts import LEDGER, Execution
from sim.history import Committed, Event, Healed, History, Scripts, Struck
from sim.outcome import outcome
from sim.text import show

BEFORE, BEHIND, ENDING = 8, 24, 3
"""Lines of a scene before and behind its middle, and of the end of the run."""

WIDEST = 110
"""The longest line of a scene."""

NOT_COMMITTED = ("ExtendWriter", "rot")
"""A renewal of the writer lease says nothing of the turn, and what rots on a disk was no commit."""


class Ledger(msgspec.Struct, frozen=True):
    """One execution as the run left it: its row of the ledger, its receipt, and how often it ran.

    ``generation`` is that of the runtime it is bound to; ``status`` and ``receipt`` are empty when there is none.
    """

    execution: str
    generation: int
    state: str
    status: str
    receipt: str
    dispatches: int
    spawns: int


class Scene(msgspec.Struct, frozen=True):
    """What happened around the strike, with times relative to it, as lines and as the lines of a Mermaid diagram."""

    lines: tuple[str, ...]
    diagram: tuple[str, ...]


class Evidence(msgspec.Struct, frozen=True):
    """How a run left the world when it was healed. ``leases`` names the holder of each Workspace, empty when free."""

    ledger: tuple[Ledger, ...]
    leases: tuple[tuple[str, str], ...]
    durable: str
    scene: Scene | None = None

    def plain(self) -> Evidence:
        """The same without the scene."""
        return msgspec.structs.replace(self, scene=None)


class Firsts:
    """Tells the first of the numbers that it is asked about in each group, though a group may be gone through again."""

    def __init__(self) -> None:
        self._group: object = None
        self._first = 0

    def is_first(self, group: object, number: int) -> bool:
        """Whether no lower number of this group is known to come before."""
        if self._group == group and self._first < number:
            return False
        self._group, self._first = group, number
        return True


def evidence(history: History, findings: Sequence[Finding], scenic: bool) -> Evidence:
    """The evidence of a run; with its scene, when that is wanted."""
    events, middle = history.events, _middle(history.events, findings)
    found = outcome(events)
    facts = _ledger(events[: _healed(events)])
    ledger = tuple(
        Ledger(
            each.execution,
            facts[each.execution].generation,
            each.ledger,
            each.status,
            each.receipt,
            each.dispatches,
            each.spawns,
        )
        for each in found.executions
    )
    scene = Scene(tuple(_lines(events, middle)), tuple(sequence(events, middle))) if scenic else None
    return Evidence(ledger, found.leases, _last_commit(events), scene)


def _ledger(events: Sequence[Event]) -> dict[str, Execution]:
    """The rows of the execution ledger."""
    rows: dict[str, Execution] = {}
    for event in events:
        if isinstance(event, Committed):
            rows |= {
                write.key: write.row for write in event.writes if write.table == LEDGER.name and write.row
            }
    return rows


def _middle(events: Sequence[Event], findings: Sequence[Finding]) -> int:
    """The place that a scene is about: the strike; without one, the first thing found before the world was healed."""
    healed = _healed(events)
    struck = next((place for place, event in enumerate(events) if isinstance(event, Struck)), None)
    if struck is not None:
        return struck
    since = min((finding.at for finding in findings if finding.at), default=events[-1].at)
    return next((place for place, event in enumerate(events[:healed]) if event.at >= since), healed - 1)


def _healed(events: Sequence[Event]) -> int:
    return next((place for place, event in enumerate(events) if isinstance(event, Healed)), len(events))


def _last_commit(events: Sequence[Event]) -> str:
    """The last commit before the world was healed, in words."""
    scripts = Scripts(list(events))
    struck = next((event.at for event in events if isinstance(event, Struck)), None)
    for event in reversed(events[: _healed(events)]):
        if isinstance(event, Committed) and event.writes and event.label not in NOT_COMMITTED:
            since = f"{event.at:,} ms" if struck is None else f"{event.at - struck:+,} ms"
            return show(f"{event.label} by {scripts.actor(event.script)} at {since}")
    return "none"


def _lines(events: list[Event], middle: int) -> Iterator[str]:
    """The scene as lines: around its middle, and how it ended."""
    told = beats(events)
    at = events[middle].at
    struck = isinstance(events[middle], Struck)
    centre = next((place for place, beat in enumerate(told) if _is_middle(beat, at, struck)), len(told) - 1)
    spans = (range(centre - BEFORE, centre + BEHIND + 1), range(len(told) - ENDING, len(told)))
    yield f"{'ms':>9}    {'step':<21} {'who':<11} what"
    left = 0
    for place, beat in enumerate(told):
        if not any(place in span for span in spans):
            left += 1
            continue
        if left:
            yield f"{'...':>9}    {left:,} line{'s' * (left > 1)} left out"
            left = 0
        yield _laid_out(beat, beat.at - at if struck else beat.at, struck)


def _is_middle(beat: Beat, at: int, struck: bool) -> bool:
    return beat.at == at and " strikes " in beat.what if struck else beat.at >= at


def _laid_out(beat: Beat, ms: int, signed: bool) -> str:
    when = f"{ms:+,}" if signed else f"{ms:,}"
    text = f"{when:>9} {beat.mark:2} {beat.step:<21} {show(beat.who):<11} {show(beat.what + beat.reply)}".rstrip()
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 3]}..."
