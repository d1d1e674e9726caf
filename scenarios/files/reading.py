"""Reading a scenario file: every error that it holds, each with its line, or the row that it says."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import msgspec

from faults.plans import nearest
from scenarios.files import building, form
from scenarios.files.places import START, Path, Places
from scenarios.files.problem import Invalid, Problem
from scenarios.files.sense import of_sense
from scenarios.files.shape import of_shape
from scenarios.row import NoSuchPlace, Row
from sim.text import show

_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)")


def problems(text: str) -> list[Problem]:
    """Everything that is wrong with a scenario file, in its order; empty when it is right."""
    try:
        row(text, "file.toml")
    except Invalid as invalid:
        return invalid.problems
    return []


@cache
def row(text: str, name: str) -> Row:
    """The row that a file says.

    Raises:
        Invalid: names everything that is wrong with it.
    """
    try:
        table = _table(text)
        places = Places(text)
        wrong = {*of_shape(table, places), *of_sense(table, places)}
        if wrong:
            raise Invalid(sorted(wrong))
        return _built(msgspec.convert(table, form.File), name, places)
    except RecursionError:
        raise Invalid(
            [Problem(*START, "this is no scenario: something in it is nested too deeply.")]
        ) from None


def _table(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        told = str(error)
        at = _AT.search(told)
        line, column = (int(at[1]), int(at[2])) if at and at[1] else (text.count("\n") + 1, 1)
        says = _AT.sub("", told)
        raise Invalid(
            [Problem(line, column, f"this is no TOML: {show(says[0].lower() + says[1:])}.")]
        ) from None


def _built(file: form.File, name: str, places: Places) -> Row:
    """The row, when the world can be run with what the file makes of it."""
    try:
        return _placed(file, name, places)
    except (Invalid, RecursionError):
        raise
    except Exception as error:
        if not file.answers and not file.limits:
            raise
        where = places.of(("answers" if file.answers else "limits",))
        says = f"so the world breaks: {type(error).__name__}: {show(str(error))}."
        raise Invalid([Problem(*where, says)]) from None


def _placed(file: form.File, name: str, places: Places) -> Row:
    """The row, when every place that the file names is reached."""
    made = building.bare(file, name)
    lost: list[Problem] = []
    for index, fault in enumerate(file.faults):
        try:
            made = building.struck(made, fault)
        except NoSuchPlace as error:
            lost.append(Problem(*places.of(("faults", index)), f"{error}."))
    lost += _never_reached(file, made, places)
    if lost:
        raise Invalid(sorted(lost))
    return building.promised(made, file)


def _never_reached(file: form.File, made: Row, places: Places) -> Iterator[Problem]:
    """What waits for a place that the run never reaches would wait in silence."""
    named: list[tuple[Path, str]] = []
    for index, session in enumerate(file.session):
        named.append((("session", index, "after"), session.after))
        asides = enumerate(session.aside)
        named += [(("session", index, "aside", number, "at"), aside.at) for number, aside in asides]
        turns = enumerate(session.turn)
        named += [(("session", index, "turn", number, "cancel"), turn.cancel) for number, turn in turns]
    if not any(milestone for _, milestone in named):
        return
    seen = Counter(map(building.place_of, building.seen(made)))
    for path, milestone in named:
        place, _, nth = milestone.partition("#")
        if milestone and int(nth) > seen[place]:
            yield Problem(
                *places.of(path), f"{building.unreached(milestone, seen[place])}.{nearest(place, seen)}"
            )
