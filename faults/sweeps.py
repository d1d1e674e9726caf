"""Every single fault of a row: its points, seen in a run without faults, struck with each fate that applies.

A sweep is named by numbers, so that it can be cut into ranges and each range worked out where it is run.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fnmatch import fnmatchcase

import msgspec

from faults.fates import VOCABULARY, applicable
from sim.points import CALL, NO_FAULTS, Fate, Plan, Point, Sighting, Strike

POLLS = frozenset({"Status", "Observe"})
"""Requests that only look. Equal looks with nothing else between them are one class."""


class Selection(msgspec.Struct, frozen=True):
    """What is swept: rows, and patterns of fates and points, empty where nothing was said of them."""

    rows: tuple[str, ...] = ()
    fates: tuple[str, ...] = ()
    points: tuple[str, ...] = ()

    def holds(self, point: Point) -> bool:
        """Whether faults at this point are wanted."""
        return not self.points or any(covers(pattern, point) for pattern in self.points)

    def wants(self, fate: Fate) -> bool:
        """Whether this fate is wanted; a pattern with ``!`` behind it means the sticky form alone."""
        return not self.fates or any(
            fnmatchcase(fate.name, pattern.removesuffix("!")) and (fate.sticky or not pattern.endswith("!"))
            for pattern in self.fates
        )


EVERYTHING = Selection()


def covers(pattern: str, point: Point) -> bool:
    """Whether a pattern means this point: by its label, by ``actor:door:label``, or by its whole text."""
    place = f"{point.actor}:{point.door}:{point.label}"
    return any(fnmatchcase(text, pattern) for text in (point.label, place, str(point)))


def select(words: Sequence[str], rows: Mapping[str, Collection[str]]) -> Selection:
    """Sort the words of a selection into rows, fates and points.

    Words of one kind add up; words of different kinds narrow each other. A word, which may be a pattern
    with ``*``, names rows, or the field case of some rows, or fates, or else points; whether it does shows
    in a run.

    Args:
        words: what the user wrote.
        rows: every row's name with the field cases it plays.
    """
    chosen: set[str] = set()
    fates: list[str] = []
    points: list[str] = []
    for word in words:
        found = [name for name, cases in rows.items() if _names(word, name, cases)]
        if found:
            chosen.update(found)
        elif any(fnmatchcase(name, word.removesuffix("!")) for name in VOCABULARY):
            fates.append(word)
        else:
            points.append(word)
    wanted = tuple(name for name in rows if not chosen or name in chosen)
    return Selection(wanted, tuple(fates), tuple(points))


def _names(word: str, row: str, cases: Collection[str]) -> bool:
    return fnmatchcase(row, word) or any(fnmatchcase(case.lower(), word.lower()) for case in cases)


class Sweep(msgspec.Struct, frozen=True):
    """The plans of one row: first its own, mostly without faults; then each strike alone, in the order of the run.

    ``points`` counts the points struck; ``polls`` those left out because another look stands for them.
    """

    own: Plan = NO_FAULTS
    strikes: tuple[tuple[Point, Fate], ...] = ()
    points: int = 0
    polls: int = 0

    def __len__(self) -> int:
        return 1 + len(self.strikes)

    def plan(self, index: int) -> Plan:
        """The plan of this number; number 0 is the row's own."""
        return Plan((Strike(*self.strikes[index - 1]),)) if index else self.own


def single(sightings: Sequence[Sighting], selection: Selection = EVERYTHING) -> Sweep:
    """Every single fault at the points of a run without faults."""
    spare = spare_looks(sightings)
    strikes = tuple(
        (sighting.point, fate)
        for index, sighting in enumerate(sightings)
        if index not in spare and selection.holds(sighting.point)
        for fate in applicable(sighting)
        if selection.wants(fate)
    )
    polls = sum(selection.holds(sightings[index].point) for index in spare)
    return Sweep(NO_FAULTS, strikes, len({point for point, _ in strikes}), polls)


def spare_looks(sightings: Sequence[Sighting]) -> set[int]:
    """The places in ``sightings`` of looks that others stand for.

    Looks of one actor at one operation form a class as long as nothing but looks is asked between them; of
    each class the first, the second and the last stay.
    """
    classes: dict[tuple[str, str, str], list[int]] = {}
    spare: set[int] = set()
    for index, sighting in enumerate(sightings):
        point = sighting.point
        if point.door != CALL or point.label not in POLLS:
            classes.clear()
            continue
        looks = classes.setdefault((point.actor, point.label, sighting.operation), [])
        if len(looks) >= 3:
            spare.add(looks[-1])
        looks.append(index)
    return spare
