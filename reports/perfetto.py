"""One run as a trace in the trace-event format, for ui.perfetto.dev and chrome://tracing.

A process is a process, and its actors' scripts run in lanes, side by side where they overlap. A call is a slice in
the lane of its caller, with an arrow to its handler and one back; commits and deeds are instants; a strike is one
across all tracks. Where a slice or an instant is a point, it says which, as a plan writes it. The format counts in
microseconds: a virtual millisecond is a thousand. Which rules were consulted is left out.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import msgspec

from reports.timeline import Teller
from sim.history import (
    Acted,
    Answered,
    Asked,
    Began,
    Booted,
    Committed,
    Crashed,
    Declined,
    Ended,
    Event,
    Exhausted,
    Healed,
    History,
    Learned,
    Paused,
    Resumed,
    Struck,
)
from sim.points import ACT, CALL, COMMIT, Point
from sim.text import show

HOP_MS = 1
"""How long a reply is on its way from one process to another."""

US_PER_MS = 1_000

REQUEST, REPLY = "request", "reply"

Track: TypeAlias = tuple[int, int]
"""A process and a track in it, by their numbers."""

Moment: TypeAlias = tuple[int, int, int]
"""When: virtual milliseconds, the place in the history, and the order at that place."""

FIRST, BEFORE, AT, THEN, AFTER = range(5)
"""At one place: an arrow's head, the end of the slice that it meets, what happens there, an arrow, a script's end."""

OUTSIDE = (0, 0)
"""The track of what no script does."""


def trace(history: History, about: Mapping[str, str]) -> Iterator[str]:
    """The trace as JSON, an event a line; ``about`` is what it says of itself. Equal runs give equal bytes."""
    told = json.dumps({key: show(value) for key, value in about.items()})
    yield f'{{"displayTimeUnit": "ms", "otherData": {told}, "traceEvents": [\n'
    yield ",\n".join(map(json.dumps, _Tracer(history.events).entries()))
    yield "\n]}\n"


class _Slice(msgspec.Struct, frozen=True):
    """From when to when a script runs, or a call is waited for; ``arrives`` says that a reply ended the waiting."""

    begin: Moment
    end: Moment
    arrives: bool = False


class _Times:
    """Reads from a history when scripts and calls begin and end: by an answer, by a death, or not at all."""

    def __init__(self, events: list[Event]) -> None:
        self.events = events
        self.began = {event.script: event for event in events if isinstance(event, Began)}
        self.callers = {event.exchange: event for event in events if isinstance(event, Asked)}
        self.handlers = {event.exchange: event.script for event in self.began.values() if event.exchange}
        self.homes = _homes(events)
        self._deaths: dict[str, list[Moment]] = defaultdict(list)
        self._resumed: dict[str, list[Moment]] = defaultdict(list)
        self._own: dict[int, list[int]] = defaultdict(list)
        self._over: dict[int, Moment] = {}
        self._told: dict[int, tuple[int, Answered]] = {}
        for place, event in enumerate(events):
            self._note(place, event)
        self._never = (events[-1].at if events else 0, len(events), BEFORE)
        self.scripts: dict[int, _Slice] = {
            event.script: self._script(place, event) for place, event in self._all(Began)
        }
        self.calls: dict[int, _Slice] = {
            event.exchange: self._call(place, event) for place, event in self._all(Asked)
        }

    def death(self, process: str, place: int) -> Moment:
        """When a process that lives at this place dies; the end of the run, when it does not."""
        return next((moment for moment in self._deaths[process] if moment[1] > place), self._never)

    def resumption(self, process: str, place: int) -> Moment:
        """When a process that was paused at this place runs on, or dies."""
        resumed = next((moment for moment in self._resumed[process] if moment[1] > place), self._never)
        return min(resumed, self.death(process, place))

    def _all(self, kind: type[Any]) -> Iterator[tuple[int, Any]]:
        return ((place, event) for place, event in enumerate(self.events) if isinstance(event, kind))

    def _note(self, place: int, event: Event) -> None:
        """Which script shows here that it runs, and whether it ends with that."""
        match event:
            case Crashed():
                self._deaths[event.process].append((event.at, place, BEFORE))
            case Resumed():
                self._resumed[event.process].append((event.at, place, BEFORE))
            case Began(parent=parent, exchange=0) if parent and self._beside(event):
                self._own[parent].append(place)
            case Answered():
                handler = self.handlers.get(event.exchange, 0)
                self._told[event.exchange] = (place, event)
                self._over[handler] = (event.at, place, AFTER)
                self._own[handler].append(place)
            case Ended():
                self._over[event.script] = (event.at, place, AFTER)
                self._own[event.script].append(place)
            case Asked() | Committed() | Declined() | Acted() | Learned() | Struck():
                self._own[event.script].append(place)
            case _:
                pass

    def _beside(self, event: Began) -> bool:
        """Whether a script was started by its parent, and is no second copy of what that one asked for."""
        return self.began[event.parent].actor == event.actor

    def _script(self, place: int, event: Began) -> _Slice:
        at, where, _ = self.death(self.homes[event.actor], place)
        return _Slice((event.at, place, AT), self._over.get(event.script, (at, where, AFTER)))

    def _call(self, place: int, event: Asked) -> _Slice:
        """A call ends when its caller goes on, but no later than the reply needs to get there."""
        begin, caller = (event.at, place, AT), event.script
        own = self._own[caller]
        after = bisect_right(own, place)
        goes_on = own[after] if after < len(own) else len(self.events)
        told = self._told.get(event.exchange)
        if told is not None and told[0] > goes_on:
            told = None
        going = self.events[goes_on] if goes_on < len(self.events) else None
        if isinstance(going, Learned):
            arrives = told is not None and going.doubt != "timeout"
            return _Slice(begin, (going.at, goes_on, BEFORE), arrives)
        death = self.death(self.homes[self.began[caller].actor], place)
        if told is None:
            return _Slice(begin, min(death, (going.at, goes_on, BEFORE)) if going else death)
        arrival = (told[1].at + self._distance(event), goes_on, BEFORE)
        if going is not None:
            return _Slice(begin, min(arrival, (going.at, goes_on, BEFORE)), arrives=True)
        return _Slice(begin, min(arrival, death), arrives=arrival < death)

    def _distance(self, event: Asked) -> int:
        """The way of a reply, in virtual milliseconds."""
        here, there = self.homes[self.began[event.script].actor], self.homes.get(event.to)
        return 0 if here == there else HOP_MS


def _homes(events: list[Event]) -> dict[str, str]:
    """The process of each actor: the one that came up last when the actor booted."""
    homes: dict[str, str] = {}
    process = ""
    for event in events:
        if isinstance(event, Booted):
            process = event.process
        elif isinstance(event, Began):
            boots = event.label == f"{event.actor}.boot"
            homes.setdefault(event.actor, process if boots and process else event.actor)
    return homes


class _Tracer:
    """Writes the events of a trace, each with its moment."""

    def __init__(self, events: list[Event]) -> None:
        self.times = _Times(events)
        self.teller = Teller(events)
        names = [event.process for event in events if isinstance(event, Booted)]
        self.pids = {
            name: pid for pid, name in enumerate(dict.fromkeys((*names, *self.times.homes.values())), 1)
        }
        self.lives = {name: len(self.pids) + pid for name, pid in self.pids.items()}
        self.lanes: dict[str, list[Moment]] = defaultdict(list)
        self.tids: dict[tuple[str, int], int] = {}
        self.tracks = {script: self._lane(script) for script in self.times.scripts}
        self.found: list[tuple[Moment, dict[str, Any]]] = []

    def entries(self) -> Iterator[dict[str, Any]]:
        """All of them, in order."""
        for place, event in enumerate(self.times.events):
            self._tell(place, event)
        yield from self._names()
        for (at, _, _), entry in sorted(self.found, key=lambda found: found[0]):
            yield {**entry, "ts": at * US_PER_MS}

    # --- tracks

    def _lane(self, script: int) -> Track:
        """The first lane of its actor that is free while a script runs."""
        actor, span = self.times.began[script].actor, self.times.scripts[script]
        taken = self.lanes[actor]
        lane = next((lane for lane, end in enumerate(taken) if end < span.begin), len(taken))
        taken[lane : lane + 1] = [span.end]
        tid = self.tids.setdefault((actor, lane), 2 * len(self.pids) + len(self.tids) + 1)
        return self.pids[self.times.homes[actor]], tid

    def _names(self) -> Iterator[dict[str, Any]]:
        yield from _name("process", *OUTSIDE, "outside", 0)
        for name, pid in self.pids.items():
            yield from _name("process", pid, self.lives[name], name, pid)
            yield from _name("thread", pid, self.lives[name], "life", 0)
        for (actor, lane), tid in self.tids.items():
            which = f"{actor} ({lane + 1})" if lane else actor
            yield from _name("thread", self.pids[self.times.homes[actor]], tid, which, tid)

    # --- what happens

    def _tell(self, place: int, event: Event) -> None:
        here = (event.at, place, AT)
        match event:
            case Began():
                self._began(event)
            case Asked():
                self._asked(event)
            case Committed() | Declined():
                self._point(here, event, COMMIT, event.label)
            case Acted():
                self._point(here, event, ACT, event.deed.label)
            case Struck():
                self._instant(here, "g", self.tracks.get(event.script, OUTSIDE), event)
            case Healed() | Exhausted():
                self._instant(here, "g", OUTSIDE, event)
            case Booted():
                self._of_process(
                    here, event.process, f"life {event.life}", self.times.death(event.process, place)
                )
            case Paused():
                self._of_process(
                    here, event.process, "stands still", self.times.resumption(event.process, place)
                )
            case Crashed():
                self._instant(here, "p", (self.pids[event.process], self.lives[event.process]), event)
            case _:
                pass

    def _began(self, event: Began) -> None:
        """A script runs in its lane; an arrow leads to it from the call that it answers, and one back."""
        span, track = self.times.scripts[event.script], self.tracks[event.script]
        self._slice(span, track, f"{event.label}#{event.nth}", {})
        asked = self.times.callers.get(event.exchange)
        if asked is None:
            return
        call = self.times.calls[event.exchange]
        self._arrow(REQUEST, 2 * event.exchange, call.begin, self.tracks[asked.script], span.begin, track)
        if call.arrives:
            at, place, _ = span.end
            back = self.tracks[asked.script]
            self._arrow(REPLY, 2 * event.exchange + 1, (at, place, THEN), track, call.end, back)

    def _asked(self, event: Asked) -> None:
        label, line = event.request.label, self.teller.line(event)
        told = {"mark": line.mark, "answer": line.reply.rpartition(": ")[2]} if line else {}
        told["point"] = self._address(event.script, CALL, label, event.nth)
        span = self.times.calls[event.exchange]
        self._slice(span, self.tracks[event.script], f"{label} -> {event.to}", told)

    def _point(self, here: Moment, event: Any, door: str, label: str) -> None:
        address = self._address(event.script, door, label, event.nth)
        self._instant(here, "t", self.tracks.get(event.script, OUTSIDE), event, {"point": address})

    def _address(self, script: int, door: str, label: str, nth: int) -> str:
        scripts = self.teller.scripts
        return str(Point(scripts.path(script), scripts.actor(script), door, label, nth)) if script else ""

    def _of_process(self, here: Moment, process: str, name: str, end: Moment) -> None:
        self._slice(_Slice(here, end), (self.pids[process], self.lives[process]), name, {})

    # --- entries

    def _slice(self, span: _Slice, track: Track, name: str, told: dict[str, str]) -> None:
        args = {"args": {key: show(value) for key, value in told.items()}} if told else {}
        self._add(span.begin, track, {"ph": "B", "name": show(name), "cat": "run", **args})
        self._add(span.end, track, {"ph": "E"})

    def _arrow(self, cat: str, number: int, begin: Moment, tail: Track, end: Moment, head: Track) -> None:
        at, place, _ = begin
        self._add((at, place, THEN), tail, {"ph": "s", "name": cat, "cat": cat, "id": number})
        at, place, order = end
        met = FIRST if order == BEFORE else THEN
        self._add((at, place, met), head, {"ph": "f", "bp": "e", "name": cat, "cat": cat, "id": number})

    def _instant(
        self, here: Moment, scope: str, track: Track, event: Event, told: dict[str, str] | None = None
    ) -> None:
        line = self.teller.line(event)
        if line is not None:
            args = {"args": {key: show(value) for key, value in told.items()}} if told else {}
            name = f"{line.mark} {show(line.what)}"
            self._add(here, track, {"ph": "i", "s": scope, "name": name, "cat": "run", **args})

    def _add(self, moment: Moment, track: Track, entry: dict[str, Any]) -> None:
        pid, tid = track
        self.found.append((moment, {**entry, "pid": pid, "tid": tid}))


def _name(what: str, pid: int, tid: int, name: str, order: int) -> Iterator[dict[str, Any]]:
    """What a track is called, and where it stands among the others."""
    track = {"ph": "M", "pid": pid, "tid": tid, "ts": 0}
    yield {**track, "name": f"{what}_name", "args": {"name": show(name)}}
    yield {**track, "name": f"{what}_sort_index", "args": {"sort_index": order}}
