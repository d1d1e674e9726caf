"""One run as a story: what passes between the parties, what becomes durable, what goes wrong; the order in the margin.

It is the timeline of the run without the errands that an owner's journal and publisher run for others, without ids
and sizes of the moment, and without what the reader knows already from the story that stands beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from reports.order import marked
from reports.timeline import ASKED, FACT, Line, Teller, folded
from sim.deeds import Emit, ExitProcess, Spawn, TouchFile
from sim.history import Acted, Answered, Asked, Booted, Committed, Event, Healed, Learned, Write
from sim.protocol import AwaitTurn, Entry, ModelOutput, ToolReceipt, ToolResult
from sim.text import show

OWN = ("journal", "publisher")
"""Who runs errands in the process of a Session's owner. They are told of when they go wrong; what they make durable
shows by itself."""

BOOKKEEPING = ("heads", "commands")
"""Tables that every transaction of the journal writes."""

LONG_MS = 1_000
"""From this many virtual milliseconds on it is told how long an answer took."""
LEAST = 3
"""As many lines in common with the story beside it are worth a word."""

_STEP, _WHO = 21, 13


class Beat(Line, frozen=True):
    """A line of a story; ``step`` names the step of the order that it is, if it is one."""

    step: str = ""


def story(events: list[Event], beside: list[Event] | None = None, there: str = "") -> Iterator[str]:
    """The lines of a run. Of what it shares with the run ``beside`` it, at either end, only the nearest line is told.

    ``there`` is the name of that other story.
    """
    beats = _beats(events)
    known = [] if beside is None else _beats(beside)
    start = _shared([(beat.at, beat.says) for beat in beats], [(beat.at, beat.says) for beat in known])
    rest = min(len(beats), len(known)) - start
    end = min(rest, _shared([beat.says for beat in beats[::-1]], [beat.says for beat in known[::-1]]))
    start, end = (start if start >= LEAST else 0), (end if end >= LEAST else 0)
    yield _laid_out("step", "ms", "", "who", "what")
    if start:
        yield _laid_out("", "", "", "", f"(as in {there}, until)")
    for beat, times in folded(beats[max(start - 1, 0) : len(beats) - end + bool(end)]):
        again = f" ({times} times)" if times > 1 else ""
        yield _laid_out(beat.step, f"{beat.at:,}", beat.mark, beat.who, f"{beat.what}{beat.reply}{again}")
    if end:
        yield _laid_out("", "", "", "", f"(and on as in {there})")


def _laid_out(step: str, at: str, mark: str, who: str, what: str) -> str:
    return f"{step:<{_STEP}} {at:>7} {mark:2} {show(who):<{_WHO}} {show(what)}".rstrip()


def _shared(these: Sequence[object], those: Sequence[object]) -> int:
    """How many of the first are equal."""
    pairs = enumerate(zip(these, those, strict=False))
    return next((place for place, (this, that) in pairs if this != that), min(len(these), len(those)))


def _beats(events: list[Event]) -> list[Beat]:
    """What a run has to tell. After the world was healed, that is what the client sees."""
    teller, steps = _Storyteller(events), marked(events)
    healed = next((event.at for event in events if isinstance(event, Healed)), None)
    return [
        Beat(line.at, line.mark, line.who, line.depth, line.what, line.reply, steps.get(place, ""))
        for place, event in enumerate(events)
        if (line := teller.line(event)) is not None and (healed is None or line.at <= healed or not line.depth)
    ]


class _Storyteller(Teller):
    """Tells of what is worth a line in a story."""

    def __init__(self, events: list[Event]) -> None:
        super().__init__(events)
        self.asked = {event.exchange: event for event in events if isinstance(event, Asked)}
        self.took: dict[int, int] = {}
        for event in events:
            if isinstance(event, Answered | Learned):
                self.took[event.exchange] = event.at - self.asked[event.exchange].at
                if isinstance(event, Answered) and isinstance(event.answer, ModelOutput):
                    self.replies[event.exchange] = ASKED, _said(event.answer)

    def line(self, event: Event) -> Line | None:
        match event:
            case Booted(life=1) | Committed(label="ExtendWriter"):
                return None
            case Asked():
                return self._question(event)
            case Answered() | Learned():
                return self._end(event)
            case Committed():
                mark = FACT if event.writes else ASKED
                return self._of(event.script, event.at, mark, f"commit {event.label}{_durable(event)}")
            case Acted():
                return self._of(event.script, event.at, FACT, f"deed {event.deed.label}{_done(event.deed)}")
            case _:
                return super().line(event)

    def _question(self, event: Asked) -> Line | None:
        line = super().line(event)
        if line is None or isinstance(event.request, AwaitTurn):
            return None
        asks, asked = (address.partition(":")[0] for address in (line.who, event.to))
        if line.mark == ASKED and (asks in OWN or (asked in OWN and asks == "harness")):
            return None
        took = self.took.get(event.exchange, 0)
        late = f" after {took:,} ms" if took >= LONG_MS else ""
        return msgspec.structs.replace(line, reply=f"{line.reply}{late}")

    def _end(self, event: Answered | Learned) -> Line | None:
        """The end of a turn, told when the client hears it and not where it began to wait."""
        asked = self.asked[event.exchange]
        mark, reply = self.replies[event.exchange]
        if not isinstance(asked.request, AwaitTurn):
            return None
        return self._of(asked.script, event.at, mark, f"is told by {asked.to}: {reply}")


def _said(output: ModelOutput) -> str:
    calls = ", ".join(call.id for call in output.calls)
    return f"calls {calls}" if calls else "text"


def _durable(event: Committed) -> str:
    """The tables that a commit wrote, each with what its rows say of the state of things."""
    tables: dict[str, list[str]] = {}
    for write in event.writes:
        if write.table not in BOOKKEEPING:
            table = write.table if write.row is not None else f"-{write.table}"
            tables.setdefault(table, []).extend(_states(write))
    told = [" ".join((table, *words)) for table, words in tables.items()]
    return f": {', '.join(told)}" if told else ""


def _states(write: Write) -> list[str]:
    row: Any = write.row
    match row.record if isinstance(row, Entry) else row:
        case ToolReceipt() as receipt:
            return [receipt.delivery]
        case ToolResult() as result:
            return [f"{each.call} error" if each.error else each.call for each in result.responses]
        case other:
            state: str = getattr(other, "state", "")
            return [state] if state else []


def _done(deed: object) -> str:
    match deed:
        case Spawn():
            return f": {deed.command.decode(errors='replace')}"
        case TouchFile():
            return f": {deed.file}"
        case Emit():
            return f": {len(deed.content):,} bytes"
        case ExitProcess():
            return f": {deed.signal or deed.exit_code}"
        case _:
            return ""
