"""Where a name of the bench shows in a real run: a few lines of the first row that has something to show."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from msgspec.structs import replace

from faults.fates import applicable
from faults.plans import write
from reports.bench import Bench, sightings
from reports.order import marked
from reports.timeline import laid_out
from reports.walk import Walk
from sim.checks.check import Judge, Scene, Told
from sim.history import Decided, Event, Struck
from sim.points import Plan, Strike

BEFORE, AFTER = 2, 2
"""How many lines stand before the one that matters, and behind it."""

TELLING = ("StartExecution", "Acquire", "Execute")
"""Where a fault has most to tell."""

Finder = Callable[[list[Event]], int | None]
"""Finds the place in a history that shows something, if it does."""


def of_rule(bench: Bench, name: str, width: int) -> list[str]:
    """The first time that a row consults a rule."""

    def consulted(events: list[Event]) -> int | None:
        return next((at for at, event in enumerate(events) if _asks(event, name)), None)

    return _shown(bench, consulted, width, "consulted in %s")


def of_check(bench: Bench, check: Any, width: int) -> list[str]:
    """The first time that a row gives a check something to look at."""

    def heard(events: list[Event]) -> int | None:
        told: list[Any] = []

        def note(state: Any, what: Any, _scene: Scene) -> Told[Any]:
            told.append(what)
            return state, None

        hears = tuple(replace(hearing, step=note) for hearing in check.hears)
        judge = Judge((replace(check, hears=hears),), events)
        for at, event in enumerate(events):
            judge.see((event,))
            if told:
                return at
        return None

    return _shown(bench, heard, width, "begins to watch in %s")


def of_step(bench: Bench, step: str, width: int) -> list[str]:
    """The first time that a row takes a step of the order."""

    def taken(events: list[Event]) -> int | None:
        return next((at for at, name in sorted(marked(events).items()) if name == step), None)

    return _shown(bench, taken, width, "taken in %s")


def of_fate(bench: Bench, name: str, width: int) -> list[str]:
    """A run that is struck by a fate: the first place of the first row where it applies."""
    for row, card in bench.rows().items():
        if not card.sweepable:
            continue
        for sighting in sorted(sightings(bench, row)[0], key=lambda each: each.point.label not in TELLING):
            fates = [fate for fate in applicable(sighting) if fate.name == name]
            if fates:
                plan = Plan((Strike(sighting.point, fates[0]),))
                return _struck(bench, row, plan, width)
    return []


def of_plan(bench: Bench, row: str, plan: Plan, width: int) -> list[str]:
    """A row's own run around its first strike; nothing, when it has none."""
    return _struck(bench, row, plan, width) if plan.strikes else []


def _asks(event: Event, rule: str) -> bool:
    return isinstance(event, Decided) and event.rule == rule


def _shown(bench: Bench, find: Finder, width: int, title: str) -> list[str]:
    """The lines around the place that a finder finds, in the first row where it does."""
    for row, card in bench.rows().items():
        events = bench.play(row, card.plan).events
        place = find(events)
        if place is not None:
            return [f"Shown: {title % row}", *_around(events, place, width)]
    return []


def _struck(bench: Bench, row: str, plan: Plan, width: int) -> list[str]:
    history = bench.play(row, plan)
    place = next((at for at, event in enumerate(history.events) if isinstance(event, Struck)), None)
    if place is None:
        return []
    ending = bench.judge(row, plan, history).ending
    lines = _around(history.events, place, width)
    return [
        f"Shown: strikes {row}, which then ends {ending}",
        *lines,
        f"  turnproof run {row} --plan '{write(plan)}'",
    ]


def _around(events: list[Event], place: int, width: int) -> Iterator[str]:
    """The line of an event, or the next one that is told, between its neighbours."""
    walk = Walk(events)
    at = next((number for number, step in enumerate(walk.steps) if step.place >= place), len(walk.steps) - 1)
    for number in range(max(at - BEFORE, 0), min(at + AFTER + 1, len(walk.steps))):
        mark = ">" if number == at else " "
        yield f"{mark} {laid_out(walk.steps[number].line, width - 2)}"
