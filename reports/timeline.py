"""One run as a timeline: a line for each request with its answer, each commit, deed, fault and death.

Columns: virtual milliseconds; milliseconds since the first fault; mark; who; what, further in the deeper it
was called. ``++`` became a fact, ``--`` refused or failed, ``!!`` a fault, a death, or doubt, ``==`` asked
and answered.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

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

_WHO = 16
_TELLING = ("state", "status", "delivery", "generation", "code")
"""Fields of an answer that are worth a word in its line."""


class Line:
    """One line before it is laid out; ``times`` counts equal lines in a row."""

    def __init__(self, at: int, mark: str, who: str, depth: int, what: str) -> None:
        self.at = at
        self.mark = mark
        self.who = who
        self.depth = depth
        self.what = what
        self.times = 1

    def repeats(self, other: Line) -> bool:
        """Whether this says the same as ``other``, later."""
        return (self.mark, self.who, self.what) == (other.mark, other.who, other.what)


def timeline(events: list[Event], width: int) -> Iterator[str]:
    """The lines of a run, none longer than ``width``."""
    first = next((event.at for event in events if isinstance(event, (Struck, Crashed))), None)
    since = first is not None and width >= ROOMY
    yield _laid_out("ms", "since" if since else "", "", "who", "what", width)
    for line in _folded(_Teller(events).lines()):
        after = f"{line.at - first:+,}" if since and first is not None else ""
        times = f"  ({line.times} times)" if line.times > 1 else ""
        what = f"{'  ' * line.depth}{line.what}{times}"
        yield _laid_out(f"{line.at:,}", after, line.mark, line.who, what, width)


def _laid_out(at: str, since: str, mark: str, who: str, what: str, width: int) -> str:
    middle = f" {since:>10}" if since else ""
    text = f"{at:>10}{middle} {mark:2} {who:<{_WHO}.{_WHO}} {show(what)}".rstrip()
    return text if len(text) <= width else f"{text[: max(width - 3, 0)]}..."


def _folded(lines: Iterator[Line]) -> Iterator[Line]:
    """Looks that get the same answer again and again are one line."""
    held: Line | None = None
    for line in lines:
        if held is not None and held.mark == ASKED and line.repeats(held):
            held.times += 1
            continue
        if held is not None:
            yield held
        held = line
    if held is not None:
        yield held


class _Teller:
    """Tells events in words, with every answer beside its question."""

    def __init__(self, events: list[Event]) -> None:
        self.events = events
        self.scripts = Scripts(events)
        self.replies: dict[int, tuple[str, str]] = {}
        for event in events:
            if isinstance(event, Learned):
                self.replies[event.exchange] = _learned(event)
            elif isinstance(event, Answered):
                self.replies.setdefault(event.exchange, _answered(event.answer))

    def lines(self) -> Iterator[Line]:
        """Every event worth a line, in order."""
        for event in self.events:
            line = self._line(event)
            if line is not None:
                yield line

    def _line(self, event: Event) -> Line | None:
        match event:
            case Asked():
                mark, reply = self.replies.get(event.exchange, (FAULT, "no answer"))
                return self._of(event.script, event.at, mark, f"{event.request.label} -> {event.to}: {reply}")
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

    def _of(self, script: int, at: int, mark: str, what: str) -> Line:
        began = self.scripts.began.get(script)
        who = began.actor if began is not None else "outside"
        return Line(at, mark, who, self._depth(began), what)

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


def _learned(event: Learned) -> tuple[str, str]:
    return (FAULT, f"doubt ({event.doubt})") if event.doubt else (REFUSED, f"refused {event.failure}")


def _answered(answer: Any) -> tuple[str, str]:
    if isinstance(answer, Failure):
        return REFUSED, f"refused {answer.code} ({answer.status})"
    words = [type(answer).__name__]
    words += [str(getattr(answer, field)) for field in _TELLING if hasattr(answer, field)]
    return ASKED, " ".join(words)


def _rows(event: Committed) -> str:
    tables = dict.fromkeys(
        write.table if write.row is not None else f"-{write.table}" for write in event.writes
    )
    return f": {', '.join(tables)}" if tables else ""
