"""What is durable: the tables of the one database that Session Store and broker share, and their rows.

Store, execution ledger, Workspace leases and journal share one database, so that one transaction can read the ledger
and write the journal. A row is a plain frozen value; an update replaces it.
"""

from __future__ import annotations

from sim.content import Content
from sim.effects import Table
from sim.protocol import Entry, Envelope, Receipt, Value
from sim.publication import Mapping


class Writer(Value, frozen=True, gc=False):
    """A Session's writer lease; the token is kept hashed."""

    owner: str
    token_hash: str
    generation: int
    expires_at: int


class Activation(Value, frozen=True, gc=False):
    """The activation that a Session's Store holds current."""

    id: str
    epoch: int


class Head(Value, frozen=True, gc=False):
    """The last committed sequence of a Session's journal."""

    sequence: int


class CommandReceipt(Value, frozen=True, gc=False):
    """What a committed command was, so that its exact replay gets the recorded answer."""

    digest: str
    generation: int
    token_hash: str
    last: int


class StoredResource(Value, frozen=True, gc=False):
    """A durable resource: immutable under its id."""

    kind: str
    digest: str
    content: Content


class RuntimeBinding(Value, frozen=True, gc=False):
    """A Workspace's runtime: ``state`` ready or lost; the generation is that of the worker's life."""

    generation: int
    state: str


class RuntimeSession(Value, frozen=True, gc=False):
    """A Runtime Session of the broker: acquiring, ready, releasing, released or failed."""

    session: str
    workspace: str
    state: str
    generation: int


class WorkspaceLease(Value, frozen=True, gc=False):
    """Who holds a Workspace. It has no clock (003 Lifecycle: ownership is retained)."""

    holder: str
    session: str


class Execution(Value, frozen=True, gc=False):
    """One row of the execution ledger.

    ``state``: prepared, dispatching, executing, cancel_requested, settled or unknown. ``dispatches`` counts how often
    it was sent to a worker. ``generation`` is the runtime generation it is bound to; ``publication`` names what its
    output is published as, empty when its owner captures it.
    """

    runtime_session: str
    workspace: str
    worker_call: str
    tool: str
    protocol: str
    payload_digest: str
    input_digest: str
    generation: int
    state: str
    dispatches: int
    envelope: Envelope | None
    receipt: Receipt | None
    publication: str = ""


class PublishedStream(Value, frozen=True, gc=False):
    """How many segments and bytes of a stream are durable, and whether it is sealed."""

    name: str
    segments: int
    length: int
    sealed: bool


class Publication(Value, frozen=True, gc=False):
    """One publication of tool output: what it is bound to, its grant, and how far its producer is.

    ``state`` is that of the grant: open, fenced or not_started. ``phase`` is open, finishing, finished or referenced.
    ``streams`` and ``manifest`` tell what is durable, ``outcome`` is what was prepared for the receipt, empty before.
    Times are virtual milliseconds.
    """

    session: str
    mapping: Mapping
    capture: str
    generation: int
    token_hash: str
    expires_at: int
    state: str
    phase: str
    streams: tuple[PublishedStream, ...] = ()
    manifest: bool = False
    envelope: Envelope | None = None
    outcome: bytes = b""

    def stream(self, name: str) -> PublishedStream:
        """One stream as far as it is durable."""
        return next((each for each in self.streams if each.name == name), PublishedStream(name, 0, 0, False))

    @property
    def used(self) -> int:
        """The captured bytes that are durable."""
        return sum(each.length for each in self.streams)


class PublicationOperation(Value, frozen=True, gc=False):
    """One operation of a producer: pending, succeeded, retryable, expired or rejected.

    ``request`` is the digest of what was asked; ``key`` names the object, empty for the finish.
    """

    kind: str
    resource: str
    key: str
    request: str
    digest: str
    length: int
    state: str
    reason: str = ""


class StoredObject(Value, frozen=True, gc=False):
    """Bytes in the object store; ``kind`` is that of the piece that they are."""

    kind: str
    digest: str
    content: Content


class ReferencedOutput(Value, frozen=True, gc=False):
    """A resource of a Session whose bytes are in the object store."""

    kind: str
    digest: str
    length: int
    key: str


class Root(Value, frozen=True, gc=False):
    """Which directory stands at the root of a Session; no row: the one that has stood there from the beginning."""

    identity: int


WRITERS: Table[Writer] = Table("writers")
ACTIVATIONS: Table[Activation] = Table("activations")
HEADS: Table[Head] = Table("heads")
JOURNAL: Table[Entry] = Table("journal")
COMMANDS: Table[CommandReceipt] = Table("commands")
RESOURCES: Table[StoredResource] = Table("resources")
BINDINGS: Table[RuntimeBinding] = Table("bindings")
RUNTIME_SESSIONS: Table[RuntimeSession] = Table("runtime_sessions")
LEASES: Table[WorkspaceLease] = Table("leases")
LEDGER: Table[Execution] = Table("ledger")
ROOTS: Table[Root] = Table("roots")
PUBLICATIONS: Table[Publication] = Table("publications")
OPERATIONS: Table[PublicationOperation] = Table("operations")
OBJECTS: Table[StoredObject] = Table("objects")
REFERENCES: Table[ReferencedOutput] = Table("referenced_output")


def in_session(session: str, key: str) -> str:
    """The key of a row that belongs to a Session."""
    return f"{session}/{key}"


def journal_key(session: str, sequence: int) -> str:
    """The key of a journal entry; keys sort as sequences do."""
    return f"{session}/{sequence:06d}"
