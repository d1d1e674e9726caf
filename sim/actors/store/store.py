"""The Session Store: writer leases, journals and resources. Every change is one SQL transaction."""

from __future__ import annotations

from sim.actor import Actor
from sim.actors.store.objects import OBJECT_STORE
from sim.actors.store.records import CommitRecords, ExtendWriter, KeepOutput, SealLease, TakeWriter, claim_of
from sim.content import sha256
from sim.design import Limits, writer
from sim.effects import Call, Commit, Disk, Failed
from sim.facts import ACTIVATIONS, JOURNAL, REFERENCES, RESOURCES, Activation, in_session
from sim.protocol import (
    AcquireWriter,
    Appended,
    Journal,
    ListResources,
    Piece,
    Publish,
    Published,
    ReadJournal,
    ReadResource,
    Renewed,
    RenewWriter,
    Resources,
    Retained,
    Sealed,
    SealWriter,
    Stage,
    Staged,
    Transact,
    WriterGrant,
)
from sim.publication import GetObject
from sim.rule import Decide


class Store(Actor):
    """The Session Store. ``staged`` is memory: a restart forgets what no transaction referred to."""

    def __init__(self, disk: Disk, ask: Decide, limits: Limits) -> None:
        self.disk = disk
        self.ask = ask
        self.limits = limits
        self.staged: dict[tuple[str, int, str], bytes] = {}

    async def acquire(self, request: AcquireWriter) -> WriterGrant:
        """Grant the writer lease. Failed: ``managed_session_writer_conflict``."""
        token_hash = request.token.fingerprint
        lease = self.limits.writer_lease
        return await Commit(TakeWriter(request.session, request.owner, token_hash, lease))

    async def renew(self, request: RenewWriter) -> Renewed:
        """Extend the writer lease. Failed: ``managed_session_writer_conflict``."""
        extension = ExtendWriter(request.session, claim_of(request.writer), self.limits.writer_lease)
        return await Commit(extension)

    async def seal(self, request: SealWriter) -> Sealed:
        """End the writer lease. Failed: ``managed_session_writer_conflict``."""
        return await Commit(SealLease(request.session, claim_of(request.writer)))

    async def transact(self, request: Transact) -> Appended:
        """Commit all records of one command, or none."""
        places = {name: (request.session, request.writer.generation, name) for name in request.resources}
        staged = tuple((name, self.staged[place]) for name, place in places.items() if place in self.staged)
        appended = await Commit(
            CommitRecords(
                request.session,
                request.command,
                request.records,
                request.resources,
                staged,
                claim_of(request.writer),
                request.head,
                request.activation,
                request.epoch,
                self.limits,
            )
        )
        for place in places.values():
            self.staged.pop(place, None)
        return appended

    async def stage(self, request: Stage) -> Staged:
        """Keep bytes in memory, apart for each generation of the writer, if they are the ones that were sent."""
        if not self.ask(writer.digest_holds, request.digest, sha256(request.content)):
            raise Failed("managed_session_resource_invalid", 400)
        place = (request.session, request.writer.generation, request.resource)
        self.staged[place] = request.content
        return Staged(request.resource)

    async def publish(self, request: Publish) -> Published:
        """Make output durable; the reply follows the commit."""
        return await Commit(
            KeepOutput(
                request.session,
                request.kind,
                request.resource,
                request.content,
                request.digest,
                claim_of(request.writer),
                self.limits,
            )
        )

    async def read_journal(self, request: ReadJournal) -> Journal:
        """Every committed record of a Session, and its current activation."""
        rows = self.disk.rows(JOURNAL, in_session(request.session, ""))
        current = self.disk.get(ACTIVATIONS, request.session) or Activation("", 0)
        return Journal(tuple(entry for _, entry in rows), current.id, current.epoch)

    async def read_resource(self, request: ReadResource) -> Piece:
        """A range of a durable resource. Failed: ``managed_session_resource_missing``."""
        key = in_session(request.session, request.resource)
        held, referenced = self.disk.get(RESOURCES, key), self.disk.get(REFERENCES, key)
        if held is not None:
            return Piece(held.content[request.start : request.end], len(held.content))
        if referenced is None:
            raise Failed("managed_session_resource_missing", 404)
        return await Call(OBJECT_STORE, GetObject(referenced.key, request.start, request.end))

    async def list_resources(self, request: ListResources) -> Resources:
        """What is durable of a Session beside its journal."""
        beginning = in_session(request.session, "")
        stored = [(key, row.kind, len(row.content)) for key, row in self.disk.rows(RESOURCES, beginning)]
        referenced = [(key, row.kind, row.length) for key, row in self.disk.rows(REFERENCES, beginning)]
        listed = sorted(stored + referenced)
        return Resources(
            tuple(Retained(key.removeprefix(beginning), kind, length) for key, kind, length in listed)
        )

    handlers = {
        AcquireWriter: acquire,
        RenewWriter: renew,
        SealWriter: seal,
        Transact: transact,
        Stage: stage,
        Publish: publish,
        ReadJournal: read_journal,
        ReadResource: read_resource,
        ListResources: list_resources,
    }
