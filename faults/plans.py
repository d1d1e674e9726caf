"""Plans as text: how a fault is written, read back, and carried in a replay line.

A strike is ``actor:door:label#nth@causes=fate``, with ``!`` behind a sticky fate; a plan is its strikes
with commas between them, or ``none``. A capsule is ``tp1:<design digest>:<row>:<plan>``: all that a run
depends on.
"""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Iterable

import msgspec

from faults.fates import VOCABULARY
from sim.points import NO_FAULTS, Fate, Plan, Point, Strike
from sim.text import show

FORMAT = "tp1"
"""The first word of a capsule. It changes when old capsules can no longer be read."""

NOTHING = "none"
"""The plan without faults."""

SHAPE = "actor:door:label#nth@causes=fate"

_POINT = re.compile(
    r"(?P<actor>[^@#=]+):(?P<door>call|commit|act):(?P<label>[^:@#=]+)#(?P<nth>[1-9][0-9]*)@(?P<parent>[^@=]*)"
)
_CAPSULE = re.compile(FORMAT + r":(?P<design>[0-9a-f]+):(?P<row>[^:]+):(?P<plan>.+)")
_OTHER_FORMAT = re.compile(rf"(?!{FORMAT}:)(?P<format>tp[0-9]+):")
_PLAIN = re.compile(r"[!-~]+")


class Malformed(ValueError):
    """Text that is no plan, point or capsule. The message says what was read, and what was expected."""


class Foreign(ValueError):
    """A well-formed text that names what this bench does not have."""


class Capsule(msgspec.Struct, frozen=True):
    """What a replay line carries: the digest of the design it was made under, the row, and the plan."""

    design: str
    row: str
    plan: Plan

    def __str__(self) -> str:
        return f"{FORMAT}:{self.design}:{self.row}:{write(self.plan)}"


def nearest(name: str, names: Iterable[str]) -> str:
    """A sentence that names what was probably meant, with a space before it; empty when nothing is near."""
    close = difflib.get_close_matches(name, list(names), n=3, cutoff=0.5)
    return f" Nearest: {', '.join(map(show, close))}." if close else ""


def write(plan: Plan) -> str:
    """The plan as text that :func:`read` reads back."""
    return ",".join(map(str, plan.strikes)) or NOTHING


def read(text: str) -> Plan:
    """The plan that was written so.

    Raises:
        Malformed: a strike is not written as ``actor:door:label#nth@causes=fate``.
        Foreign: a fate is not in the vocabulary.
    """
    if text.strip() == NOTHING:
        return NO_FAULTS
    return Plan(tuple(_strike(piece.strip()) for piece in text.split(",")))


def _strike(text: str) -> Strike:
    place, equals, name = text.partition("=")
    point = _POINT.fullmatch(place)
    if not equals or point is None or not _PLAIN.fullmatch(text):
        raise Malformed(
            f"'{show(text)}' is no strike. A strike is written {SHAPE}, "
            f"a plan as strikes with commas between them, or as '{NOTHING}'."
        )
    fate = Fate(name.removesuffix("!"), sticky=name.endswith("!"))
    kind = VOCABULARY.get(fate.name)
    if kind is None:
        raise Foreign(f"Unknown fate '{show(fate.name)}'.{nearest(fate.name, VOCABULARY)}")
    if fate.sticky and not kind.sticky:
        raise Malformed(f"'{fate}': the fate {fate.name} has no sticky form; write it without the '!'.")
    actor, door, label, nth, parent = point.groups()
    return Strike(Point(parent, actor, door, label, int(nth)), fate)


def replay_line(capsule: Capsule) -> str:
    """The one line, safe to paste into a shell, that plays a run again."""
    return f"turnproof replay {shlex.quote(str(capsule))}"


def read_capsule(text: str) -> Capsule:
    """What a replay line carries; the whole line is accepted as well as the capsule in it.

    Raises:
        Malformed: it is no capsule.
        Foreign: another version of the bench wrote it, or it names a fate that this one does not have.
    """
    bare = text.strip().removeprefix("turnproof replay").strip().strip("'\"")
    found = _CAPSULE.fullmatch(bare)
    if found is not None:
        return Capsule(found["design"], found["row"], read(found["plan"]))
    other = _OTHER_FORMAT.match(bare)
    if other is not None:
        raise Foreign(f"{other['format']} is the format of another version; this bench reads {FORMAT}.")
    raise Malformed(
        f"'{show(bare)}' is no replay line. One is written {FORMAT}:<design digest>:<row>:<plan>; "
        "copy it whole, with its quotes."
    )
