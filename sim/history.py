"""What happened in one run, as a list of plain events in the order in which they happened.

Only a kernel writes a history; only strangers (checks, reports) read it. Times are virtual milliseconds. A script
is named by its serial, an exchange (one request and its reply) by its own; both count from 1 within the run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import msgspec

from sim.effects import Secret


class Event(msgspec.Struct, frozen=True, gc=False, array_like=True, tag=True):
    """Something that happened at ``at`` virtual milliseconds."""

    at: int


class Began(Event, frozen=True, gc=False):
    """A script began: a handler (``exchange`` names the request), or one started by ``parent`` (``exchange`` is 0)."""

    script: int
    actor: str
    parent: int
    label: str
    nth: int
    exchange: int


class Ended(Event, frozen=True, gc=False):
    """A started script came to its end; ``error`` is empty, or the class of the exception that left it."""

    script: int
    error: str


class Asked(Event, frozen=True, gc=False):
    """A script sent a request; whether it arrives is another matter."""

    script: int
    nth: int
    exchange: int
    to: str
    request: Any


class Answered(Event, frozen=True, gc=False):
    """The peer sent its reply; whether it arrives is another matter. ``answer`` may be a :class:`Failure`."""

    exchange: int
    answer: Any


class Learned(Event, frozen=True, gc=False):
    """A caller got, instead of the answer, a definite failure or doubt (``doubt`` then names its cause)."""

    script: int
    exchange: int
    failure: str
    doubt: str


class Failure(msgspec.Struct, frozen=True, gc=False, array_like=True, tag=True):
    """A definite refusal as it travels: the error code and the HTTP status."""

    code: str
    status: int


class Write(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """One durable row as it is after a commit; ``row`` is None when it was removed."""

    table: str
    key: str
    row: Any


class Committed(Event, frozen=True, gc=False):
    """A transaction was applied: the rows that it wrote, in the order of writing, and what it answered."""

    script: int
    nth: int
    label: str
    writes: tuple[Write, ...]
    answer: Any


class Declined(Event, frozen=True, gc=False):
    """A transaction refused with ``code``, or the database failed; nothing was written."""

    script: int
    nth: int
    label: str
    code: str


class Acted(Event, frozen=True, gc=False):
    """A deed was done to the world outside."""

    script: int
    nth: int
    deed: Any


class Decided(Event, frozen=True, gc=False):
    """A rule of the design was consulted. ``verdict`` is its answer when that is plain, else its type's name."""

    script: int
    rule: str
    verdict: bool | int | str | None


class Struck(Event, frozen=True, gc=False):
    """A fault landed: the fate, at the nth effect of that door and label of that script."""

    script: int
    door: str
    label: str
    nth: int
    fate: str


class Crashed(Event, frozen=True, gc=False):
    """A process died: everything volatile in it is gone, nothing of it runs again."""

    process: str


class Booted(Event, frozen=True, gc=False):
    """A process was built, again from its disk; ``life`` counts from 1."""

    process: str
    life: int


class Paused(Event, frozen=True, gc=False):
    """A process stopped to run, and forgot nothing."""

    process: str


class Resumed(Event, frozen=True, gc=False):
    """A paused process runs on."""

    process: str


class Healed(Event, frozen=True, gc=False):
    """From here on no fault strikes any more: what follows asks how the world was left."""


class Left(Event, frozen=True, gc=False):
    """A file of the world outside, as it is when the run is over."""

    directory: str
    name: str
    content: bytes


class Exhausted(Event, frozen=True, gc=False):
    """The run was stopped from outside: ``limit`` is ``horizon`` (virtual time) or ``budget`` (effects)."""

    limit: str


class History(msgspec.Struct, frozen=True):
    """The record of one run. ``missed`` are the strikes that never landed, as text."""

    events: list[Event]
    missed: tuple[str, ...]


def _plain(value: Any) -> Any:
    """What the encoder writes for a value that is no data: only its name."""
    return repr(value) if isinstance(value, Secret) else f"<{type(value).__name__}>"


_ENCODER = msgspec.msgpack.Encoder(enc_hook=_plain, order="deterministic")


def encoded(events: Sequence[Any]) -> bytes:
    """The events, or parts of them, as canonical bytes: equal on any machine. Secrets appear by name only."""
    return _ENCODER.encode(events)


def digest(events: list[Event]) -> str:
    """The identity of a history: the first 32 hex digits of SHA-256 over :func:`encoded`."""
    return digest_of(encoded(events))


def digest_of(trace: bytes) -> str:
    """The identity of a history that is encoded already."""
    return hashlib.sha256(trace).hexdigest()[:32]


class Scripts:
    """Where each script of a history came from: its actor, and the path of causes that names its points."""

    def __init__(self, events: list[Event]) -> None:
        self.began = {event.script: event for event in events if isinstance(event, Began)}
        self._paths: dict[int, str] = {0: ""}

    def actor(self, script: int) -> str:
        """The actor that runs ``script``."""
        return self.began[script].actor

    def path(self, script: int) -> str:
        """The path of causes of ``script``, as it stands in a point's ``parent``."""
        if script not in self._paths:
            began = self.began[script]
            above = self.path(began.parent)
            step = f"{began.label}#{began.nth}"
            self._paths[script] = f"{above}/{step}" if above else step
        return self._paths[script]
