"""A stretch of one run as a Mermaid sequence diagram, which GitHub and GitLab draw in a comment."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from faults.sweeps import POLLS
from reports.story import Storyteller
from reports.timeline import ASKED, Line
from sim.history import Answered, Asked, Began, Event, Healed, Learned
from sim.protocol import AwaitTurn
from sim.text import show

BEFORE, BEHIND = 8, 20
"""Arrows and notes that are drawn before and behind the middle."""

LONGEST = 72
"""Characters of an arrow or a note."""

_FIRST = ("client", "harness", "journal", "publisher", "model", "broker", "store", "worker")
"""From left to right."""

_SPECIAL = re.compile(r"[^\w .,:+=!?()/-]|\b(?:end|wrap|nowrap)\b", re.IGNORECASE)
"""What Mermaid would read as more than text: its own signs, comments, markup, and words of its language."""


class _Entry(msgspec.Struct, frozen=True):
    """A line of the diagram: who takes part, and what stands between and behind their names."""

    place: int
    left: str
    between: str
    right: str
    text: str


def sequence(events: list[Event], middle: int) -> Iterator[str]:
    """The lines of a diagram of what happened around the event at this place, before the world was healed."""
    entries, looks = _Drawer(events).entries()
    centre = next((number for number, entry in enumerate(entries) if entry.place >= middle), len(entries))
    first, last = max(centre - BEFORE, 0), centre + BEHIND + 1
    drawn = entries[first:last]
    if last < len(entries):
        drawn = [*drawn, entries[-1]]
    names = _parties(drawn)
    yield "sequenceDiagram"
    for name, number in names.items():
        yield f"  participant p{number} as {text(name)}"
    for entry in drawn:
        yield f"  {_statement(entry, names)}"
    left = (
        (first, "before"),
        (len(entries) - first - len(drawn), "before the last"),
        (looks, "repeated"),
    )
    told = ", ".join(f"{number:,} {what}" for number, what in left if number > 0)
    if told and names:
        yield f"  Note over p1,p{len(names)}: left out: {text(told)}"


def text(words: str) -> str:
    """Text that Mermaid shows as it is: what means something to it goes in by its code."""
    shown = show(words)
    shown = shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 3]}..."
    return _SPECIAL.sub(lambda found: "".join(f"#{ord(sign)};" for sign in found.group()), shown)


def _statement(entry: _Entry, names: dict[str, int]) -> str:
    left, right = names[entry.left], names[entry.right]
    if not entry.between:
        return f"Note over p{left}: {text(entry.text)}"
    return f"p{left}{entry.between}p{right}: {text(entry.text)}"


def _parties(entries: Iterable[_Entry]) -> dict[str, int]:
    """Who takes part, from left to right, with a number each."""
    names = dict.fromkeys(name for entry in entries for name in (entry.left, entry.right))
    ordered = sorted(names, key=lambda name: (_column(name), name))
    return {name: number for number, name in enumerate(ordered, 1)}


def _column(name: str) -> int:
    kind = name.partition(":")[0]
    return _FIRST.index(kind) if kind in _FIRST else len(_FIRST)


class _Drawer:
    """Makes arrows and notes of what a story tells of a run."""

    def __init__(self, events: list[Event]) -> None:
        healed = (place for place, event in enumerate(events) if isinstance(event, Healed))
        self.events = events[: next(healed, len(events))]
        self.teller = Storyteller(events)
        self.came = {event.exchange for event in events if isinstance(event, Began)}
        self.doubted = {event.exchange for event in events if isinstance(event, Learned) and event.doubt}
        self.drawn: dict[int, Line] = {}
        self.awaited: set[int] = set()
        self.looked: set[object] = set()
        self.looks = 0

    def entries(self) -> tuple[list[_Entry], int]:
        """All arrows and notes, and how many looks were not drawn again."""
        found = [entry for place, event in enumerate(self.events) for entry in self._of(place, event)]
        return found, self.looks

    def _of(self, place: int, event: Event) -> Sequence[_Entry]:
        match event:
            case Asked():
                return self._asked(place, event)
            case Answered(exchange=exchange) | Learned(exchange=exchange) if exchange in self.awaited:
                return self._ended(place, event, self.teller.asked[exchange])
            case Answered(exchange=exchange) if exchange in self.drawn:
                return self._answered(place, event)
            case Learned(exchange=exchange) if exchange in self.drawn:
                return self._learned(place, event)
            case Answered() | Learned():
                return []
            case _:
                line = self.teller.line(event)
                return [self._note(place, line)] if line is not None else []

    def _note(self, place: int, line: Line) -> _Entry:
        who = line.who.replace("owner:", "harness:", 1)
        what = f"{line.who} {line.what}" if who != line.who else line.what
        return _Entry(place, who, "", who, f"{line.mark} {what}{line.reply}")

    def _asked(self, place: int, event: Asked) -> Sequence[_Entry]:
        line = self.teller.line(event)
        if isinstance(event.request, AwaitTurn):
            self.awaited.add(event.exchange)
        if line is None:
            return []
        if line.mark == ASKED and line.what in POLLS and line.says in self.looked:
            self.looks += 1
            return []
        self.looked.add(line.says)
        self.drawn[event.exchange] = line
        arrow = "->>" if event.exchange in self.came else "-x"
        return [_Entry(place, line.who, arrow, event.to, line.what)]

    def _ended(self, place: int, event: Answered | Learned, asked: Asked) -> Sequence[_Entry]:
        """How a turn ended, told when the client hears it and not where it began to wait."""
        line = self.teller.line(event)
        who = self.teller.scripts.actor(asked.script)
        return [_Entry(place, asked.to, "-->>", who, self.teller.replies[asked.exchange][1])] if line else []

    def _answered(self, place: int, event: Answered) -> Sequence[_Entry]:
        line = self.drawn[event.exchange]
        lost = event.exchange in self.doubted
        _, words = self.teller.answered(event.answer)
        asked = self.teller.asked[event.exchange]
        return [_Entry(place, asked.to, "--x" if lost else "-->>", line.who, words)]

    def _learned(self, place: int, event: Learned) -> Sequence[_Entry]:
        """Doubt is told where it is felt; a refusal was an answer already, unless the peer was never reached."""
        line = self.drawn[event.exchange]
        if event.failure and event.exchange in self.came:
            return []
        mark, words = self.teller.replies[event.exchange]
        return [_Entry(place, line.who, "", line.who, f"{mark} {line.what}: {words}")]
