"""Everything a script may ask of the world, as plain frozen values.

A script is a coroutine of an actor. It never touches the world: it awaits an effect and is handed the answer.
These are the only classes that ever yield to a kernel, so whatever performs them, simulated or real, can run
the very same scripts.
"""

from __future__ import annotations

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Callable, Coroutine, Generator
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import msgspec

from sim.rule import Decide

R = TypeVar("R")
Row = TypeVar("Row")

REQUEST_TIMEOUT_MS = 30_000
"""How long a caller waits for a reply, in virtual milliseconds (003 and its implementation: 30 s)."""


class Failed(Exception):
    """A definite answer: the callee proved that it refused, and that nothing happened.

    ``code`` is the field's error code; ``status`` its HTTP status. A handler that fails with a status of 500 or
    more proves nothing to its caller, who then learns only :class:`Uncertain`.
    """

    def __init__(self, code: str, status: int = 409) -> None:
        super().__init__(code)
        self.code = code
        self.status = status


class Uncertain(Exception):
    """Doubt: what was asked may or may not have happened.

    ``cause`` is ``timeout``, ``transport`` (connection lost, reply unreadable) or ``server`` (an HTTP 5xx, by the
    peer or by an intermediary).
    """

    def __init__(self, cause: str) -> None:
        super().__init__(cause)
        self.cause = cause


class Effect(msgspec.Struct, Generic[R], frozen=True, gc=False):
    """A question to the world; awaiting it gives the answer, of type ``R``.

    Effects that carry plain data are kept out of the garbage collector; those that carry a script are not, for a script
    leads back to its actor, and so to the world that holds the effect.
    """

    def __await__(self) -> Generator[Effect[Any], Any, R]:
        return (yield self)


class Subject(msgspec.Struct, frozen=True, gc=False, array_like=True, tag=True):
    """What a call, a commit or an act is about.

    ``identity`` says of which fields its identity is made, as a template: every attempt at the same thing carries the
    same one.
    """

    identity: ClassVar[str] = ""

    @property
    def label(self) -> str:
        """Its name in points, timelines and tables."""
        return type(self).__name__

    @property
    def operation(self) -> str:
        """Its identity."""
        return self.identity.format(self)


class Request(Subject, Generic[R], frozen=True, gc=False, array_like=True, tag=True):
    """What one actor asks of another; ``R`` is the type of the answer."""

    @property
    def refusal(self) -> str:
        """The code with which a peer definitely refuses this kind of request."""
        return "managed_request_refused"

    def altered(self) -> Request[R] | None:
        """The same request with one byte of its payload changed in transit; None when it carries no bytes."""
        return None


class Call(Effect[R], frozen=True, gc=False):
    """Ask another actor and wait for its answer.

    Raises:
        Failed: the peer refused, and proved it.
        Uncertain: no readable answer came within ``timeout_ms`` virtual milliseconds.
    """

    to: str
    request: Request[R]
    timeout_ms: int = REQUEST_TIMEOUT_MS


class Table(msgspec.Struct, Generic[Row], frozen=True):
    """A named set of durable rows, each found by a text key."""

    name: str


class Facts(Protocol):
    """What is durable, as one transaction sees it."""

    @property
    def now(self) -> int:
        """The database's clock, in virtual milliseconds."""
        ...

    def get(self, table: Table[Row], key: str) -> Row | None:
        """The row under ``key``, or None."""
        ...

    def put(self, table: Table[Row], key: str, row: Row) -> None:
        """Insert or replace the row under ``key``."""
        ...

    def delete(self, table: Table[Any], key: str) -> None:
        """Remove the row under ``key``; nothing happens when there is none."""
        ...

    def rows(self, table: Table[Row], prefix: str) -> list[tuple[str, Row]]:
        """Every (key, row) whose key starts with ``prefix``, in key order."""
        ...


class Disk(Protocol):
    """What is durable, as an actor reads it between its commits."""

    def get(self, table: Table[Row], key: str) -> Row | None:
        """The committed row under ``key``, or None."""
        ...

    def rows(self, table: Table[Row], prefix: str) -> list[tuple[str, Row]]:
        """Every committed (key, row) whose key starts with ``prefix``, in key order."""
        ...


class Transaction(Subject, Generic[R], frozen=True, gc=False, array_like=True, tag=True):
    """A pure function from facts to new facts and an answer, applied whole or not at all."""

    @property
    def stores_bytes(self) -> bool:
        """Whether it makes content durable that can rot: the bytes of a resource."""
        return False

    def apply(self, facts: Facts, ask: Decide) -> R:
        """Read and write ``facts`` under the one lock; raise :class:`Failed` to refuse and change nothing."""
        raise NotImplementedError


class Commit(Effect[R], frozen=True, gc=False):
    """Make a change durable.

    Raises:
        Failed: the transaction refused; nothing changed.
        Uncertain: the database did not say whether it was applied.
    """

    transaction: Transaction[R]


class Outside(Protocol):
    """The world outside the system: files that a command changes, by directory and name."""

    def read(self, directory: str, name: str) -> bytes:
        """The bytes of a file; empty when there is none."""
        ...

    def append(self, directory: str, name: str, content: bytes) -> None:
        """Add bytes at the end of a file: an effect that shows when it is repeated."""
        ...

    def replace(self, directory: str, name: str, content: bytes) -> None:
        """Put bytes in the place of a file's content."""
        ...

    def names(self, directory: str) -> tuple[str, ...]:
        """The files of a directory, the one that was changed last first."""
        ...


class Deed(Subject, Generic[R], frozen=True, gc=False, array_like=True, tag=True):
    """Something done to the world outside, which no database can undo."""

    def happen(self, outside: Outside) -> R:
        """Do it."""
        raise NotImplementedError

    def halfway(self, outside: Outside) -> None:
        """Do the part of it that is done when its doer dies half-way; nothing, when it is indivisible."""


class Act(Effect[R], frozen=True, gc=False):
    """Do something to the world outside.

    Raises:
        Failed: it could not be done, and was not.
    """

    deed: Deed[R]


class Sleep(Effect[None], frozen=True, gc=False):
    """Wait for a number of virtual milliseconds."""

    ms: int


class Script(msgspec.Struct, Generic[R], frozen=True, gc=False):
    """A running script of this actor, to join or to stop."""

    serial: int


class Start(Effect[Script[R]], frozen=True, gc=True):
    """Run another script of this actor beside this one."""

    script: Callable[..., Coroutine[Effect[Any], Any, R]]
    arguments: tuple[Any, ...] = ()


class Join(Effect[R], frozen=True, gc=False):
    """Wait until a script has ended; its answer, or its exception, is handed over."""

    script: Script[R]


class Stop(Effect[None], frozen=True, gc=False):
    """Never feed that script again. Nothing of it runs any more, not even a ``finally``."""

    script: Script[Any]


class Signal(Effect[None], frozen=True, gc=False):
    """Wake every script of this actor that waits for ``name``."""

    name: str


class Wait(Effect[None], frozen=True, gc=False):
    """Wait for the next signal of ``name`` within this actor."""

    name: str


class Select(Effect[int], frozen=True, gc=False):
    """Wait for the first of several; the answer is its place in ``options``. The others are forgotten."""

    options: tuple[Wait | Sleep | Join[Any], ...]


class Serial(Effect[R], frozen=True, gc=True):
    """Run a script of this actor when every earlier one of the same ``queue`` has ended, and wait for its answer."""

    queue: str
    script: Callable[..., Coroutine[Effect[Any], Any, R]]
    arguments: tuple[Any, ...] = ()


class Boot(Effect[None], frozen=True, gc=False):
    """An operator starts a process that is down; nothing happens when it is up."""

    process: str


class Kill(Effect[None], frozen=True, gc=False):
    """An operator ends a process at once, as a crash does; nothing happens when it is down."""

    process: str


class Heal(Effect[None], frozen=True, gc=False):
    """An operator ends every fault: nothing strikes any more, and what was paused runs on."""


class Secret:
    """A capability or token. It can be compared and handed over; no encoder of ours ever writes its value.

    ``fingerprint`` is the SHA-256 of the value, as whoever must recognise it keeps it: 64 hex digits.
    """

    __slots__ = ("fingerprint", "name", "value")

    def __init__(self, name: str, value: str) -> None:
        self.name = name
        self.value = value
        self.fingerprint = hashlib.sha256(value.encode()).hexdigest()

    @classmethod
    def derived(cls, name: str) -> Secret:
        """The secret that follows from its name: 43 base64url characters, as 32 random bytes would give."""
        digest = hashlib.sha256(name.encode()).digest()
        return cls(name, urlsafe_b64encode(digest).decode().rstrip("="))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value)

    def __repr__(self) -> str:
        return f"<{self.name}>"


Scripted = Coroutine[Effect[Any], Any, R]
"""What an ``async def`` of an actor returns."""
