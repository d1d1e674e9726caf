"""What a check is, and the one loop that runs any number of them over a history.

A check is a fold. It keeps one small hashable state for each subject (an execution, a Session, a Workspace), and a
step for each kind of thing that it hears of; a step is pure, total, and gives the next state and at most one
sentence. What nobody hears of costs one look into a table.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import lru_cache
from typing import Any, TypeAlias, TypeVar

import msgspec

from sim.effects import Table
from sim.facts import LEDGER, OBJECTS, REFERENCES, RESOURCES, StoredResource
from sim.history import (
    Acted,
    Answered,
    Asked,
    Began,
    Booted,
    Committed,
    Event,
    Healed,
    Learned,
    Write,
    encoded,
)
from sim.protocol import Assistant, Entry, ToolCall, ToolIntent

Row = TypeVar("Row")
S = TypeVar("S")

Told: TypeAlias = tuple[S, str | None]
"""What a step gives: the next state, and what is wrong, if anything is."""


OWNED = ("harness", "journal", "publisher", "local", "local-journal", "local-store")
"""The kinds of actors that live in the process of a Session's owner."""


OUTSIDER = "intruder"
"""An actor that is no part of the system. What it asks, and what is asked for its sake, is no step of any turn: only
``intruded`` hears of that. What it is answered, and every row and deed that comes of it, is judged as anybody's."""
LOCAL = "local-shell"
"""The protocol in the intent of an execution that a local Session runs in its own process."""


class Finding(msgspec.Struct, frozen=True):
    """What a check has to say: its name, the virtual millisecond, and one sentence."""

    check: str
    at: int
    sentence: str


class Intended(msgspec.Struct, frozen=True, gc=False):
    """Why an execution exists, as its Session's journal tells: its intent, and the call of which assistant record."""

    session: str
    assistant: int
    call: ToolCall | None
    intent: ToolIntent


NOBODY = Asked(0, 0, 0, 0, "", None)
"""The question at hand before anything was asked."""


class Scene:
    """What the history has told so far, for every check to look at: who asked what, and every durable row.

    ``event`` is the event at hand and ``write`` the row at hand, with ``before`` what stood in its place. ``asked`` is
    the question to which the event belongs, ``actor`` who asked it (empty when the history does not tell), and
    ``session`` the Session whose row is at hand or whose owner asked.
    """

    __slots__ = (
        "_trace",
        "actor",
        "asked",
        "before",
        "began",
        "boots",
        "event",
        "events",
        "healed",
        "intended",
        "requests",
        "rows",
        "session",
        "spoken",
        "write",
    )

    def __init__(self, events: Sequence[Event], trace: bytes | None = None) -> None:
        self.events = events
        self._trace = trace
        self.event = Event(0)
        self.asked = NOBODY
        self.actor = ""
        self.session = ""
        self.write = Write("", "", None)
        self.before: Any = None
        self.healed = False
        self.began: dict[int, Began] = {}
        self.boots: dict[str, int] = {}
        self.requests: dict[int, Asked] = {}
        self.rows: dict[str, dict[str, Any]] = {}
        self.spoken: dict[str, Entry] = {}
        self.intended: dict[str, Intended] = {}

    def trace(self) -> bytes:
        """The whole history as it is encoded."""
        if self._trace is None:
            self._trace = encoded(list(self.events))
        return self._trace

    @property
    def life(self) -> int:
        """In which life of its process the actor at hand is."""
        kind, _, name = self.actor.partition(":")
        process = f"owner:{name}" if kind in OWNED else self.actor
        return self.boots.get(process, 0)

    def row(self, table: Table[Row], key: str) -> Row | None:
        """The durable row under ``key``, as of now."""
        return self.rows.get(table.name, {}).get(key)

    def table(self, table: Table[Row]) -> dict[str, Row]:
        """Every durable row of a table, as of now."""
        return {key: row for key, row in self.rows.get(table.name, {}).items() if row is not None}

    def cause(self) -> Asked | None:
        """The request that the script at hand is handling, if the history tells."""
        event: Any = self.event
        began = self.began.get(event.script)
        while began is not None and not began.exchange:
            above = self.began.get(began.parent)
            began = (
                above
                if above is not None and above.actor == began.actor and above.script < began.script
                else None
            )
        return None if began is None else self.requests.get(began.exchange)


Step: TypeAlias = Callable[[Any, Any, Scene], Told[Any]]
Subject: TypeAlias = Callable[[Any, Scene], Hashable]


class Hearing(msgspec.Struct, frozen=True, eq=False):
    """One kind of thing that a check hears of.

    ``subject`` says whose state the ``step`` moves on; None when it is nobody's.
    """

    event: type[Event]
    kind: Hashable
    subject: Subject
    step: Step


def silent(subject: Any, state: Any, scene: Scene) -> Iterator[tuple[int, str]]:
    """The end of a check that has nothing to say there."""
    return iter(())


class Check(msgspec.Struct, frozen=True, eq=False):
    """One thing that holds in every history.

    ``says`` is the promise in a sentence, ``cites`` where it is written. At the end of a history ``end`` is asked
    once for every subject that has a state; it yields times and sentences.
    """

    name: str
    cites: str
    says: str
    start: Hashable
    hears: tuple[Hearing, ...]
    end: Callable[[Any, Any, Scene], Iterator[tuple[int, str]]] = silent


# --- what a check can hear of


def asked(request: type, subject: Subject, step: Step) -> Hearing:
    """A request was sent; the step is given the request."""
    return Hearing(Asked, request, subject, step)


def intruded(request: type, subject: Subject, step: Step) -> Hearing:
    """An outsider sent a request, or somebody for its sake; the step is given the request."""
    return Hearing(Asked, (OUTSIDER, request), subject, step)


def answered(request: type, subject: Subject, step: Step) -> Hearing:
    """The peer answered such a request; the step is given the answer, which may be a Failure."""
    return Hearing(Answered, request, subject, step)


def learned(request: type, subject: Subject, step: Step) -> Hearing:
    """The caller of such a request got failure or doubt; the step is given the event."""
    return Hearing(Learned, request, subject, step)


def recorded(record: type, subject: Subject, step: Step) -> Hearing:
    """A journal record became durable; the step is given its entry."""
    return Hearing(Committed, record, subject, step)


def wrote(row: type, subject: Subject, step: Step) -> Hearing:
    """A row of this type became durable; the step is given the row."""
    return Hearing(Committed, row, subject, step)


def removed(table: Table[Any], subject: Subject, step: Step) -> Hearing:
    """A row of this table was removed; the step is given the row as it was, or None."""
    return Hearing(Committed, table.name, subject, step)


def acted(deed: type, subject: Subject, step: Step) -> Hearing:
    """A deed was done to the world outside; the step is given the deed."""
    return Hearing(Acted, deed, subject, step)


def happened(event: type[Event], subject: Subject, step: Step) -> Hearing:
    """Any other event; the step is given the event."""
    return Hearing(event, event, subject, step)


# --- whose state it is


def owner(address: str) -> str:
    """The Session or Workspace after the colon of an address or process name."""
    return address.partition(":")[2]


def by_execution(what: Any, scene: Scene) -> str:
    """The execution that a request, deed or record names."""
    return what.execution


def by_reference(what: Any, scene: Scene) -> str:
    """The execution that a request to the worker names."""
    return what.reference.execution


def by_recorded_execution(entry: Entry, scene: Scene) -> str | None:
    """The execution that a journal entry is about; nobody, when it is about none."""
    record: Any = entry.record
    return record.execution or None


def by_session(what: Any, scene: Scene) -> str:
    """The Session whose row is at hand, or whose owner asked."""
    return scene.session


def by_addressee(what: Any, scene: Scene) -> str:
    """The Session to whose owner the request went."""
    return owner(scene.asked.to)


def by_intent(what: Any, scene: Scene) -> str | None:
    """The Session whose journal holds the intent of the execution at hand; nobody, when none does."""
    request: Any = what
    if isinstance(scene.event, Answered):
        request = scene.asked.request
    execution = request.reference.execution if hasattr(request, "reference") else request.execution
    intended = scene.intended.get(execution)
    return None if intended is None else intended.session


def is_local(execution: str, scene: Scene) -> bool:
    """Whether an execution's intent says that its Session runs it itself (``local-runs-at-home`` verifies that)."""
    intended = scene.intended.get(execution)
    return intended is not None and intended.intent.protocol == LOCAL


def published_as(execution: str, scene: Scene) -> str:
    """As what the output of an execution is published; empty, where its owner captures it."""
    row = scene.row(LEDGER, execution)
    return "" if row is None else row.publication


def durable_output(session: str, resource: str, scene: Scene) -> StoredResource | None:
    """A resource of a Session that is durable now, in the Store or in the object store; None when it is neither."""
    key = f"{session}/{resource}"
    referenced = scene.row(REFERENCES, key)
    if referenced is None:
        return scene.row(RESOURCES, key)
    held = scene.row(OBJECTS, referenced.key)
    return None if held is None else StoredResource(held.kind, held.digest, held.content)


def of_broker(subject: Subject) -> Subject:
    """The same subject, but nobody for an execution in which no broker has a part."""

    def who(what: Any, scene: Scene) -> Hashable:
        about: Any = what.record if isinstance(what, Entry) else what
        return None if is_local(about.execution, scene) else subject(what, scene)

    return who


def by_key(row: Any, scene: Scene) -> str:
    """The key of the row at hand."""
    return scene.write.key


def by_process(event: Any, scene: Scene) -> str:
    """The Session or Workspace of a process that came up or died; empty for any other process."""
    return owner(event.process)


def at_all(what: Any, scene: Scene) -> str:
    """One state for the whole history."""
    return ""


# --- the one loop

Listeners: TypeAlias = tuple[tuple[int, Subject, Step], ...]


@lru_cache(maxsize=64)
def listeners(checks: tuple[Check, ...]) -> dict[type[Event], dict[Hashable, Listeners]]:
    """Who hears of what: for each event type and kind, the place of the check, its subject and its step."""
    heard: dict[type[Event], dict[Hashable, Listeners]] = {}
    for place, check in enumerate(checks):
        for hearing in check.hears:
            kinds = heard.setdefault(hearing.event, {})
            kinds[hearing.kind] = (*kinds.get(hearing.kind, ()), (place, hearing.subject, hearing.step))
    return heard


class Judge:
    """Folds checks over a history, event by event.

    ``events`` is the list that it reads along; ``trace`` the same encoded, when the caller has that already.
    """

    def __init__(
        self, checks: tuple[Check, ...], events: Sequence[Event], trace: bytes | None = None
    ) -> None:
        self.checks = checks
        self.scene = Scene(events, trace)
        self.findings: list[Finding] = []
        self.states: list[dict[Hashable, Any]] = [{} for _ in checks]
        self._heard = listeners(checks)
        nothing: dict[Hashable, Listeners] = {}
        self._asked = self._heard.get(Asked, nothing)
        self._answered = self._heard.get(Answered, nothing)
        self._learned = self._heard.get(Learned, nothing)
        self._committed = self._heard.get(Committed, nothing)
        self._acted = self._heard.get(Acted, nothing)
        self._began, self._requests = self.scene.began, self.scene.requests
        self._outside: set[int] = set()
        self._see: dict[type[Event], Callable[[Any], None]] = {
            Began: self._on_began,
            Asked: self._on_asked,
            Answered: self._on_answered,
            Learned: self._on_learned,
            Committed: self._on_committed,
            Acted: self._on_acted,
            Booted: self._on_booted,
            Healed: self._on_healed,
        }
        for event in self._heard:
            self._see.setdefault(event, self._on_other)

    def see(self, events: Sequence[Event]) -> None:
        """Some more events, in their order."""
        looks = self._see
        for event in events:
            look = looks.get(event.__class__)
            if look is not None:
                look(event)

    def end(self) -> tuple[Finding, ...]:
        """The history is over: everything that was found, in order."""
        for place, check in enumerate(self.checks):
            if check.end is not silent:
                for subject, state in self.states[place].items():
                    found = check.end(subject, state, self.scene)
                    self.findings += [Finding(check.name, at, sentence) for at, sentence in found]
        return tuple(self.findings)

    def _tell(self, heard: Listeners, what: Any, event: Event) -> None:
        scene = self.scene
        scene.event = event
        for place, subject, step in heard:
            who = subject(what, scene)
            if who is None:
                continue
            states = self.states[place]
            state = states.get(who, self)
            if state is self:
                state = self.checks[place].start
            after, sentence = step(state, what, scene)
            if after is not state:
                states[who] = after
            if sentence is not None:
                self.findings.append(Finding(self.checks[place].name, event.at, sentence))

    def _tell_of(self, heard: Listeners, question: Asked, what: Any, event: Event) -> None:
        """Tell of something that belongs to a question."""
        scene = self.scene
        began = self._began.get(question.script)
        scene.asked = question
        scene.actor = actor = "" if began is None else began.actor
        scene.session = actor.partition(":")[2]
        self._tell(heard, what, event)

    def _on_began(self, event: Began) -> None:
        self._began[event.script] = event
        if event.actor == OUTSIDER or event.parent in self._outside:
            self._outside.add(event.script)

    def _on_asked(self, event: Asked) -> None:
        self._requests[event.exchange] = event
        kind = event.request.__class__
        heard = self._asked.get((OUTSIDER, kind) if event.script in self._outside else kind)
        if heard is not None:
            self._tell_of(heard, event, event.request, event)

    def _on_answered(self, event: Answered) -> None:
        question = self._requests.get(event.exchange, NOBODY)
        heard = self._answered.get(question.request.__class__)
        if heard is not None:
            self._tell_of(heard, question, event.answer, event)

    def _on_learned(self, event: Learned) -> None:
        question = self._requests.get(event.exchange, NOBODY)
        heard = self._learned.get(question.request.__class__)
        if heard is not None and event.script not in self._outside:
            self._tell_of(heard, question, event, event)

    def _on_committed(self, event: Committed) -> None:
        for write in event.writes:
            self._on_write(event, write, write.row)

    def _on_write(self, event: Committed, write: Write, row: Any) -> None:
        scene = self.scene
        rows = scene.rows.get(write.table)
        if rows is None:
            rows = scene.rows[write.table] = {}
        scene.write, scene.before = write, rows.get(write.key)
        rows[write.key] = row
        kind: Hashable = row.__class__
        if kind is Entry:
            kind = row.record.__class__
            if kind is ToolIntent or kind is Assistant:
                _remember(scene, row, write.key.partition("/")[0])
        heard = self._committed.get(write.table if row is None else kind)
        if heard is not None:
            scene.session = write.key.partition("/")[0]
            self._tell(heard, scene.before if row is None else row, event)

    def _on_acted(self, event: Acted) -> None:
        heard = self._acted.get(event.deed.__class__)
        if heard is not None:
            self._tell(heard, event.deed, event)

    def _on_booted(self, event: Booted) -> None:
        self.scene.boots[event.process] = event.life
        self._on_other(event)

    def _on_healed(self, event: Healed) -> None:
        self.scene.healed = True
        self._on_other(event)

    def _on_other(self, event: Event) -> None:
        heard = self._heard.get(event.__class__)
        if heard is not None:
            self._tell(heard[event.__class__], event, event)


def _remember(scene: Scene, entry: Entry, session: str) -> None:
    """Note the last batch that a Session's model asked for, or to which call of it an execution belongs."""
    record = entry.record
    if isinstance(record, Assistant):
        if record.calls:
            scene.spoken[session] = entry
    elif isinstance(record, ToolIntent):
        spoken = scene.spoken.get(session)
        calls = spoken.record.calls if spoken is not None and isinstance(spoken.record, Assistant) else ()
        call = next((call for call in calls if call.id == record.model_call), None)
        place = 0 if spoken is None else spoken.sequence
        scene.intended[record.execution] = Intended(session, place, call, record)
