"""One run move by move, short enough to keep of every run of a sweep: what a page draws and walks through.

A trail is told beside its row's run without faults: a stretch that both have in common is named by its place there,
and only what is new is written out. It is whole until the world is healed, and from then on what the client sees.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias, cast

import msgspec

from reports.blast import blast
from reports.story import BOOKKEEPING, of_deed
from reports.timeline import Teller, learned
from sim.facts import (
    Activation,
    Execution,
    RuntimeBinding,
    RuntimeSession,
    StoredResource,
    WorkspaceLease,
    Writer,
)
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
    Learned,
    Paused,
    Resumed,
    Struck,
    Write,
)
from sim.outcome import Outcome
from sim.protocol import Checkpoint, Entry, FileHistory, ToolReceipt, ToolResult, TurnSettled
from sim.text import show

ASK, ANSWER, LEARN, COMMIT, DECLINE, DEED = "ask", "answer", "learn", "commit", "decline", "deed"
STRIKE, DIES, STANDS, RUNS, BOOTS = "strike", "dies", "stands", "runs", "boots"
HEALS, STOPS, BEGIN, END = "heals", "stops", "begin", "end"
"""The kinds of moves. Of an answer, and of what a caller learns in its place, it is said how many requests ago."""

LONGEST = 28
"""Characters of a row's key."""

Move: TypeAlias = tuple[Any, ...]
"""Virtual milliseconds since the move before, the kind, and what there is to say of that kind: plain JSON."""


class Trail(msgspec.Struct, frozen=True):
    """A run that others are told beside: its events and its moves.

    ``before`` says how many moves come before each event, ``places`` where each move stands, with its time and without.
    """

    events: tuple[Event, ...] = ()
    moves: tuple[Move, ...] = ()
    before: tuple[int, ...] = (0,)
    places: dict[Move, int] = {}


NONE = Trail()


def trail(events: Sequence[Event]) -> Trail:
    """A run as one that others are told beside."""
    moves: list[Move] = []
    before: list[int] = []
    walker = Walker()
    for event in events:
        before.append(len(moves))
        moves += walker.moves((event,))
    places = {key: place for place, move in enumerate(moves) for key in (move, move[1:])}
    return Trail(tuple(events), tuple(moves), (*before, len(moves)), places)


def written(events: Sequence[Event], found: Outcome, beside: Trail = NONE) -> str:
    """A run as JSON: how far its end reaches, how many moves the run beside it has, and its own.

    ``[place, number]`` stands for so many moves from that place on: first come those of the run beside it, then its
    own so far. ``[time, place, number]`` is the same, but for the time of the first.
    """
    shared = _shared(events, beside.events)
    walker = Walker()
    common = beside.before[shared]
    walker.pass_by(events[:shared], sum(move[0] for move in beside.moves[:common]))
    pieces: list[Any] = [(0, common)] if common else []
    pieces += _stretches(list(walker.moves(events[shared:])), beside, common)
    return json.dumps([msgspec.to_builtins(blast(found)), len(beside.moves), pieces], separators=(",", ":"))


def read(text: str, beside: Trail = NONE) -> tuple[Move, ...]:
    """The moves that :func:`written` wrote."""
    known, first = list(beside.moves), len(beside.moves)
    for piece in json.loads(text)[2]:
        if len(piece) > 1 and isinstance(piece[1], str):
            known.append(_frozen(piece))
            continue
        *time, place, number = piece
        for each in range(place, place + number):
            known.append((time.pop(), *known[each][1:]) if time else known[each])
    return tuple(known[first:])


def _frozen(piece: Any) -> Any:
    return tuple(map(_frozen, cast("list[Any]", piece))) if isinstance(piece, list) else piece


def _shared(events: Sequence[Event], others: Sequence[Event]) -> int:
    """With how many equal events two histories begin."""
    pairs = enumerate(zip(events, others, strict=False))
    return next((number for number, (one, other) in pairs if one != other), min(len(events), len(others)))


def _stretches(moves: Sequence[Move], beside: Trail, there: int) -> Iterator[Any]:
    """The moves, with those that were seen before as stretches of what was seen: the latest, if there are several."""
    known = [*beside.moves, *beside.moves[:there]]
    places: dict[Move, int] = {}
    at = 0
    while at < len(moves):
        move = moves[at]
        if known[there : there + 1] != [move]:
            there = next(
                (each[key] for key in (move, move[1:]) for each in (places, beside.places) if key in each), -1
            )
        length = 1 if there < 0 else _common(moves, at, known, there)
        if there < 0:
            yield move
        else:
            yield (there, length) if known[there][0] == move[0] else (move[0], there, length)
        for move in moves[at : at + length]:
            places[move] = places[move[1:]] = len(known)
            known.append(move)
        at, there = at + length, there + length if there >= 0 else len(known)


def _common(moves: Sequence[Move], at: int, known: Sequence[Move], there: int) -> int:
    """How many moves from here on are those from there on, but for the time of the first. They may overlap."""
    length = 1
    while at + length < len(moves):
        place = there + length
        other = known[place] if place < len(known) else moves[at + place - len(known)]
        if other != moves[at + length]:
            break
        length += 1
    return length


# --- telling

INNER = (Committed, Declined, Acted, Ended, Struck)
"""The events that are told only until the world is healed."""

SETTING = frozenset({Asked, Began, Healed})
"""The events by which a walker knows what the others are about."""


class Walker:
    """Walks through a history, and remembers who runs which script and how many requests ago each was sent."""

    def __init__(self) -> None:
        self._actors: dict[int, str] = {}
        self._labels: dict[int, str] = {}
        self._nested: set[int] = set()
        self._asks: dict[int, int] = {}
        self._arrived: set[int] = set()
        self._healed = False
        self._time = 0
        self._answered = Teller([]).answered
        self._tell: dict[type, Callable[[Any], Move | None]] = {
            Asked: self._ask,
            Answered: self._answer,
            Learned: self._learn,
            Committed: self._commit,
            Declined: lambda event: (DECLINE, *self._at(event), event.label, show(event.code)),
            Acted: lambda event: (DEED, *self._at(event), event.deed.label, show(of_deed(event.deed)[2:])),
            Began: self._begin,
            Ended: lambda event: (END, *self._at(event), self._labels.get(event.script, "")),
            Struck: lambda event: (STRIKE, *self._at(event), event.fate, event.door, event.label, event.nth),
            Crashed: lambda event: (DIES, event.process),
            Paused: lambda event: (STANDS, event.process),
            Resumed: lambda event: (RUNS, event.process),
            Booted: lambda event: (BOOTS, event.process, event.life),
            Healed: self._heal,
            Exhausted: lambda event: (STOPS, event.limit),
        }

    def moves(self, events: Sequence[Event]) -> Iterator[Move]:
        """The moves of a stretch of the history."""
        tell = self._tell
        for event in events:
            look = tell.get(event.__class__)
            if look is not None and (said := look(event)) is not None:
                yield event.at - self._time, *said
                self._time = event.at

    def pass_by(self, events: Sequence[Event], time: int) -> None:
        """Walk on without a word, to where the last move was at this time."""
        for event in events:
            if event.__class__ in SETTING:
                self._tell[event.__class__](event)
        self._time = time

    def _at(self, event: Any) -> tuple[str]:
        return (self._actors.get(event.script, "outside"),)

    def _ask(self, event: Asked) -> Move | None:
        if self._healed and event.script in self._nested:
            return None
        self._asks[event.exchange] = len(self._asks)
        return (ASK, *self._at(event), event.to, event.request.label)

    def _back(self, event: Answered | Learned) -> int:
        """How many requests ago it was asked; -1 when that was not told."""
        return len(self._asks) - 1 - self._asks.get(event.exchange, len(self._asks))

    def _answer(self, event: Answered) -> Move | None:
        back = self._back(event)
        if back < 0:
            return None
        mark, words = self._answered(event.answer)
        return (ANSWER, back, mark, show(words))

    def _learn(self, event: Learned) -> Move | None:
        back = self._back(event)
        if back < 0:
            return None
        mark, words = learned(event)
        return (LEARN, back, mark, show(words), int(event.exchange in self._arrived))

    def _commit(self, event: Committed) -> Move:
        rows = tuple(_row(write) for write in event.writes if write.table not in BOOKKEEPING)
        return (COMMIT, *self._at(event), event.label, rows)

    def _begin(self, event: Began) -> Move | None:
        self._actors[event.script] = event.actor
        self._labels[event.script] = event.label
        if event.exchange:
            self._arrived.add(event.exchange)
        if event.exchange or event.parent in self._nested:
            self._nested.add(event.script)
        return None if event.exchange or self._healed else (BEGIN, event.actor, event.label)

    def _heal(self, _event: Healed) -> Move:
        self._healed = True
        for kind in INNER:
            del self._tell[kind]
        return (HEALS,)


def _row(write: Write) -> Move:
    """A durable row: its table, its key, and what it says of the state of things; nothing when it was removed."""
    key = write.key if len(write.key) <= LONGEST else f"{write.key[: LONGEST - 3]}..."
    return (write.table, show(key), None if write.row is None else show(_state(write.row)))


def _state(row: Any) -> str:
    match row:
        case Entry():
            return _record(row.record)
        case Writer():
            return f"{row.owner}, generation {row.generation}"
        case Activation():
            return f"{row.id}, epoch {row.epoch}"
        case StoredResource():
            return f"{row.kind}, {len(row.content):,} bytes"
        case RuntimeBinding() | RuntimeSession():
            return f"{row.state}, generation {row.generation}"
        case WorkspaceLease():
            return f"held by {row.session}"
        case Execution():
            settled = f", {row.envelope.status}" if row.envelope is not None else ""
            return f"{row.state}{settled}, dispatches {row.dispatches}"
        case _:
            return type(row).__name__


def _record(record: Any) -> str:
    name = type(record).__name__
    match record:
        case Checkpoint():
            return f"{name} {record.phase}"
        case ToolReceipt():
            return f"{name} {record.delivery}"
        case TurnSettled() | FileHistory():
            return f"{name} {record.state}"
        case ToolResult():
            said = [f"{each.call} error" if each.error else each.call for each in record.responses]
            return f"{name} {', '.join(said)}"
        case _:
            return name
