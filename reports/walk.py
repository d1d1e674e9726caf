"""A walk over a run that has ended: where it stands, what is durable there, and which scripts are alive."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from reports.timeline import Line, Teller
from sim.checks.check import OWNED
from sim.effects import Secret
from sim.history import Answered, Asked, Began, Committed, Crashed, Ended, Event, Learned, Scripts, Struck
from sim.text import show

_LONGEST = 40
"""What is shown of one field of a row, in characters."""
_TELLING = ("state", "status", "holder", "record", "kind")
"""Fields that come first."""


class Step(msgspec.Struct, frozen=True):
    """One step of a walk: the place of its event in the history, and the line that tells it."""

    place: int
    line: Line


class Alive(msgspec.Struct, frozen=True):
    """A script that is alive: whose it is, the path of its causes, and the question it waits on, if it does."""

    actor: str
    path: str
    waits: str


class Walk:
    """The steps of a run, which are the lines of its timeline, and the way from one to another.

    ``at`` is the number of the step at hand, from 0.
    """

    def __init__(self, events: list[Event]) -> None:
        self.events = events
        self._scripts = Scripts(events)
        teller = Teller(events)
        told = ((place, teller.line(event)) for place, event in enumerate(events))
        self.steps = [Step(place, line) for place, line in told if line is not None]
        self.at = 0

    @property
    def step(self) -> Step:
        """The step at hand."""
        return self.steps[self.at]

    def go(self, number: int) -> bool:
        """Go to a step, from 0; to the nearest end when there is none of that number, and then False."""
        self.at = min(max(number, 0), len(self.steps) - 1)
        return self.at == number

    def next(self) -> bool:
        """One step on; False at the end."""
        return self.go(self.at + 1)

    def back(self) -> bool:
        """One step back; False at the beginning."""
        return self.go(self.at - 1)

    def commit(self) -> bool:
        """On to the next commit; False when none comes."""
        return self._to(lambda event: isinstance(event, Committed))

    def strike(self) -> bool:
        """On to the next strike, or back to the first one; False when nothing struck."""
        if self._to(lambda event: isinstance(event, Struck)):
            return True
        first = [number for number, step in enumerate(self.steps) if isinstance(self._event(step), Struck)]
        return bool(first) and self.go(first[0])

    def disk(self) -> Iterator[tuple[str, str, str]]:
        """Every durable row as it stands: its table, its key, and its fields in words."""
        rows: dict[tuple[str, str], Any] = {}
        for event in self._so_far():
            if isinstance(event, Committed):
                rows.update({(write.table, write.key): write.row for write in event.writes})
        for (table, key), row in sorted(rows.items(), key=lambda item: item[0]):
            if row is not None:
                yield table, key, in_words(row)

    def scripts(self) -> Iterator[Alive]:
        """Every script that is alive, in the order in which they began."""
        alive: dict[int, Began] = {}
        asked: dict[int, Asked] = {}
        for event in self._so_far():
            if isinstance(event, Began):
                alive[event.script] = event
            elif isinstance(event, Ended):
                alive.pop(event.script, None)
            elif isinstance(event, Asked):
                asked[event.exchange] = event
            elif isinstance(event, Answered):
                _end_of_handler(alive, event.exchange)
            elif isinstance(event, Crashed):
                alive = {
                    script: began
                    for script, began in alive.items()
                    if process_of(began.actor) != event.process
                }
        waits = self._waits(asked)
        for script, began in alive.items():
            yield Alive(began.actor, self._scripts.path(script), waits.get(script, ""))

    def _waits(self, asked: dict[int, Asked]) -> dict[int, str]:
        """For each script, the question that it has no answer to."""
        over = {event.exchange for event in self._so_far() if isinstance(event, Answered | Learned)}
        return {
            event.script: f"{event.request.label} -> {event.to}"
            for event in asked.values()
            if event.exchange not in over
        }

    def _so_far(self) -> Sequence[Event]:
        return self.events[: self.step.place + 1]

    def _event(self, step: Step) -> Event:
        return self.events[step.place]

    def _to(self, wanted: Callable[[Event], bool]) -> bool:
        for number in range(self.at + 1, len(self.steps)):
            if wanted(self._event(self.steps[number])):
                return self.go(number)
        return False


def process_of(actor: str) -> str:
    """The process in which an actor lives."""
    kind, colon, name = actor.partition(":")
    return f"owner:{name}" if kind in OWNED else f"{kind}{colon}{name}"


def _end_of_handler(alive: dict[int, Began], exchange: int) -> None:
    """Who answers a request has come to its end; the second copy of a request answers nobody."""
    for script, began in list(alive.items()):
        if began.exchange == exchange:
            del alive[script]
            return


def in_words(row: Any) -> str:
    """A durable row in a line: its fields that hold something."""
    if not isinstance(row, msgspec.Struct):
        return _short(row)
    names = sorted(row.__struct_fields__, key=lambda name: name not in _TELLING)
    fields = ((name, getattr(row, name)) for name in names)
    return ", ".join(f"{name} {_short(value)}" for name, value in fields if value not in ("", None, (), b""))


def _short(value: Any) -> str:
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    if isinstance(value, msgspec.Struct):
        label = getattr(value, "label", type(value).__name__)
        return str(label)
    if isinstance(value, tuple):
        return f"{len(value)} of them"  # pyright: ignore[reportUnknownArgumentType]
    text = repr(value) if isinstance(value, Secret) else show(str(value))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
