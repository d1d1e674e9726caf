"""One run as a story: what passes between the parties, what becomes durable, what goes wrong; the order in the margin.

It is the timeline of the run without the errands that an owner's journal and publisher run for others, without ids
and sizes of the moment, and without what the reader knows already from the story that stands beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import groupby
from typing import Any

from msgspec.structs import replace

from faults.sweeps import POLLS
from reports.order import marked
from reports.timeline import ASKED, FACT, Line, Teller
from sim.deeds import Emit, ExitProcess, Spawn, TouchFile
from sim.history import Acted, Answered, Asked, Booted, Committed, Event, Healed, Learned, Write
from sim.protocol import AwaitTurn, Capture, Entry, Envelope, ModelOutput, ToolReceipt, ToolResult
from sim.text import show

OWN = ("journal", "publisher")
"""Who runs errands in the process of a Session's owner. They are told of when they go wrong; what they make durable
shows by itself."""

BOOKKEEPING = ("heads", "commands")
"""Tables that every transaction of the journal writes."""

LONG_MS = 1_000
"""From this many virtual milliseconds on it is told how long an answer took."""
LEAST = 5
"""From so many lines on, a stretch in common with another story is told by its ends."""

_STEP, _WHO = 21, 11


class Beat(Line, frozen=True):
    """A line of a story; ``step`` names the step of the order that it is, if it is one."""

    step: str = ""


def story(events: list[Event], beside: list[Event] | None = None, there: str = "") -> Iterator[str]:
    """The lines of a run. Of each stretch that it shares with the run ``beside`` it, only the ends are told.

    ``there`` is the name of that other story.
    """
    told = beats(events)
    inner = _inner(told, [] if beside is None else beats(beside))
    yield _laid_out("step", "ms", "", "who", "what")
    for place, beat in enumerate(told):
        if place not in inner:
            yield _laid_out(beat.step, f"{beat.at:,}", beat.mark, beat.who, f"{beat.what}{beat.reply}")
        elif place - 1 not in inner:
            yield _laid_out("", "...", "", "", f"as in {there}")


def _laid_out(step: str, at: str, mark: str, who: str, what: str) -> str:
    return f"{step:<{_STEP}} {at:>7} {mark:2} {show(who):<{_WHO}} {show(what)}".rstrip()


def _inner(told: list[Beat], known: list[Beat]) -> set[int]:
    """The places in ``told`` that lie inside of a stretch that is ``known``."""
    matcher = SequenceMatcher(
        None, [beat.says for beat in told], [beat.says for beat in known], autojunk=False
    )
    stretches = (range(at, at + size) for at, _, size in matcher.get_matching_blocks() if size >= LEAST)
    return {place for stretch in stretches for place in stretch[1:-1]}


def beats(events: list[Event]) -> list[Beat]:
    """What a run has to tell. After the world was healed, that is what the client sees."""
    teller, steps = Storyteller(events), marked(events)
    healed = next((event.at for event in events if isinstance(event, Healed)), None)
    found = (
        Beat(line.at, line.mark, line.who, line.depth, line.what, line.reply, steps.get(place, ""))
        for place, event in enumerate(events)
        if (line := teller.line(event)) is not None
        and (healed is None or line.at <= healed or not line.depth)
    )
    return [beat for _, stretch in groupby(found, _kind) for beat in _counted(stretch)]


def _kind(beat: Beat) -> object:
    """Looks with nothing else in between belong together, as do equal lines."""
    return "look" if beat.mark == ASKED and beat.what in POLLS else beat.says


def _counted(stretch: Iterator[Beat]) -> Iterator[Beat]:
    """Each line that says something else, once, with how often it was said."""
    found: dict[object, list[Beat]] = {}
    for beat in stretch:
        found.setdefault(beat.says, []).append(beat)
    for same in found.values():
        again = f" ({len(same):,} times)" if len(same) > 1 else ""
        yield replace(same[0], reply=f"{same[0].reply}{again}")


class Storyteller(Teller):
    """Tells of what is worth a line in a story."""

    def __init__(self, events: list[Event]) -> None:
        super().__init__(events)
        self.asked = {event.exchange: event for event in events if isinstance(event, Asked)}
        self.took: dict[int, int] = {}
        for event in events:
            if isinstance(event, Answered | Learned):
                self.took[event.exchange] = event.at - self.asked[event.exchange].at

    def answered(self, answer: Any) -> tuple[str, str]:
        match answer:
            case ModelOutput():
                return ASKED, _said(answer)
            case Envelope(capture=Capture() as capture):
                return ASKED, f"Envelope {answer.status}, capture {capture.status}"
            case _:
                return super().answered(answer)

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
                return self._of(event.script, event.at, FACT, f"deed {event.deed.label}{of_deed(event.deed)}")
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
        return replace(line, reply=f"{line.reply}{late}")

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


def of_deed(deed: object) -> str:
    """What is worth telling of a deed, behind its label."""
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
