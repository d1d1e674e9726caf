"""One run as a timeline: a line for each request with its answer, each commit, deed, fault and death.

Columns: virtual milliseconds; milliseconds since the first fault; mark; who; what, further in the deeper it
was called. ``++`` became a fact, ``--`` refused or failed, ``!!`` a fault, a death, or doubt, ``==`` asked
and answered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec

from sim.history import (
    Acted,
    Answered,
    Asked,
    Began,
    Booted,
    Committed,
    Crashed,
    Declined,
    Event,
    Exhausted,
    Failure,
    Healed,
    Learned,
    Paused,
    Resumed,
    Scripts,
    Struck,
)
from sim.text import show

FACT, REFUSED, FAULT, ASKED = "++", "--", "!!", "=="

WIDTH = 100
"""The widest that a timeline grows."""

ROOMY = 80
"""From this width on there is room for the time since the fault."""

_WHO = 18
_LONGEST_CYCLE = 3
LONG = 2_000
"""A timeline of more lines than this tells what is repeated by its first and its last line."""
_SHORTEST = 16
"""What stays of a request's name, even at the cost of its answer."""

_TELLING = ("state", "status", "delivery", "generation", "code")
"""Fields of an answer that are worth a word in its line."""


class Line(msgspec.Struct, frozen=True):
    """One line before it is laid out; ``what`` may be cut to keep ``reply`` whole."""

    at: int
    mark: str
    who: str
    depth: int
    what: str
    reply: str = ""

    @property
    def says(self) -> tuple[str, str, str, str]:
        """The line without its time."""
        return (self.mark, self.who, self.what, self.reply)


def timeline(events: list[Event], width: int, whole: bool = False) -> Iterator[str]:
    """The lines of a run, none longer than ``width``.

    What happens after the world was healed is told as the client sees it, and in full only as a ``whole``.
    """
    struck = next((event.at for event in events if isinstance(event, Struck)), None)
    healed = next((event.at for event in events if isinstance(event, Healed)), None)
    lines = list(Teller(events).lines())
    if healed is not None and not whole:
        lines = [line for line in lines if line.at <= healed or not line.depth]
    roomy = struck is not None and width >= ROOMY
    yield _laid_out("ms", "since" if roomy else "", Line(0, "", "who", 0, "what"), 1, width)
    told = list(_folded(lines))
    for line, times in told if len(told) <= LONG else _thinned(told):
        since = f"{line.at - struck:+,}" if roomy and struck is not None else ""
        yield _laid_out(f"{line.at:,}", since, line, times, width)


def laid_out(line: Line, width: int) -> str:
    """One line by itself."""
    return _laid_out(f"{line.at:,}", "", line, 1, width)


def _laid_out(at: str, since: str, line: Line, times: int, width: int) -> str:
    middle = f" {since:>9}" if since else ""
    further_in = ("  " if width >= ROOMY else " ") * line.depth
    start = f"{at:>9}{middle} {line.mark:2} {show(line.who):<{_WHO}.{_WHO}} {further_in}"
    reply = show(line.reply) + (f" ({times} times)" if times > 1 else "")
    what = show(line.what)
    room = max(width - len(start) - len(reply), _SHORTEST)
    text = start + (what if len(what) <= room else f"{what[: room - 3]}...") + reply
    return (text if len(text) <= width else f"{text[: width - 3]}...").rstrip()


def _folded(lines: list[Line]) -> Iterator[tuple[Line, int]]:
    """Every line with how often it stands for: looks that go on and on with the same answers are told once."""
    at = 0
    while at < len(lines):
        cycle, times = next(
            (
                found
                for size in range(1, _LONGEST_CYCLE + 1)
                if (found := (size, _times(lines, at, size)))[1] > 1
            ),
            (1, 1),
        )
        yield from ((line, times) for line in lines[at : at + cycle])
        at += cycle * times


def _thinned(told: list[tuple[Line, int]]) -> Iterator[tuple[Line, int]]:
    """Of lines that say the same the first and the last, which stands for all between: for the longest runs."""
    first: dict[tuple[str, ...], int] = {}
    last: dict[tuple[str, ...], int] = {}
    total = Counter[tuple[str, ...]]()
    for place, (line, times) in enumerate(told):
        first.setdefault(line.says, place)
        last[line.says] = place
        total[line.says] += times
    for place, (line, times) in enumerate(told):
        if place == first[line.says]:
            yield line, times
            total[line.says] -= times
        elif place == last[line.says]:
            yield line, total[line.says]


def _times(lines: list[Line], at: int, size: int) -> int:
    """How often in a row the ``size`` lines from here come; once, when any of them is more than a look."""
    cycle = [line.says for line in lines[at : at + size]]
    if any(mark != ASKED for mark, *_ in cycle):
        return 1
    times = 1
    while [line.says for line in lines[at + times * size : at + (times + 1) * size]] == cycle:
        times += 1
    return times


class Teller:
    """Tells events in words, with every answer beside its question."""

    def __init__(self, events: list[Event]) -> None:
        self.events = events
        self.scripts = Scripts(events)
        self.replies: dict[int, tuple[str, str]] = {}
        for event in events:
            if isinstance(event, Learned):
                self.replies[event.exchange] = learned(event)
            elif isinstance(event, Answered):
                self.replies.setdefault(event.exchange, self.answered(event.answer))

    def lines(self) -> Iterator[Line]:
        """Every event worth a line, in order."""
        for event in self.events:
            line = self.line(event)
            if line is not None:
                yield line

    def answered(self, answer: Any) -> tuple[str, str]:
        """An answer as mark and words."""
        if isinstance(answer, Failure):
            return REFUSED, f"refused {answer.code} ({answer.status})"
        words = [type(answer).__name__]
        words += [str(getattr(answer, field)) for field in _TELLING if hasattr(answer, field)]
        return ASKED, " ".join(words)

    def line(self, event: Event) -> Line | None:
        """The line that an event is worth, if any."""
        match event:
            case Asked():
                mark, reply = self.replies.get(event.exchange, (FAULT, "no answer"))
                return self._of(event.script, event.at, mark, event.request.label, f" -> {event.to}: {reply}")
            case Committed():
                mark = FACT if event.writes else ASKED
                return self._of(event.script, event.at, mark, f"commit {event.label}{_rows(event)}")
            case Declined():
                return self._of(event.script, event.at, REFUSED, f"commit {event.label}: {event.code}")
            case Acted():
                return self._of(event.script, event.at, FACT, f"deed {event.deed.label}")
            case Struck():
                what = f"{event.fate} strikes {event.door} {event.label}#{event.nth}"
                return self._of(event.script, event.at, FAULT, what)
            case _:
                return _of_process(event)

    def _of(self, script: int, at: int, mark: str, what: str, reply: str = "") -> Line:
        began = self.scripts.began.get(script)
        who = began.actor if began is not None else "outside"
        return Line(at, mark, who, self._depth(began), what, reply)

    def _depth(self, began: Began | None) -> int:
        """How many requests deep a script runs."""
        depth = 0
        while began is not None:
            depth += bool(began.exchange)
            began = self.scripts.began.get(began.parent)
        return depth


def _of_process(event: Event) -> Line | None:
    match event:
        case Crashed():
            return Line(event.at, FAULT, event.process, 0, "dies")
        case Paused():
            return Line(event.at, FAULT, event.process, 0, "stands still")
        case Resumed():
            return Line(event.at, ASKED, event.process, 0, "runs on")
        case Booted():
            return Line(event.at, ASKED, event.process, 0, f"comes up, life {event.life}")
        case Healed():
            return Line(event.at, ASKED, "client", 0, "heals the world: no fault strikes from here on")
        case Exhausted():
            return Line(event.at, FAULT, "client", 0, f"is stopped: the {event.limit} is used up")
        case _:
            return None


def learned(event: Learned) -> tuple[str, str]:
    """What a caller got in place of an answer, as mark and words."""
    return (FAULT, f"doubt ({event.doubt})") if event.doubt else (REFUSED, f"refused {event.failure}")


def _rows(event: Committed) -> str:
    tables = dict.fromkeys(
        write.table if write.row is not None else f"-{write.table}" for write in event.writes
    )
    return f": {', '.join(tables)}" if tables else ""
