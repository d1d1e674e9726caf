"""The Session authority in the owner's process: one commit queue, one writer lease, one activation."""

from __future__ import annotations

from typing import Any, TypeVar

from msgspec.structs import replace

from sim.actor import Actor
from sim.content import sha256
from sim.design import Limits, profile, publication, retry, writer
from sim.effects import Call, Failed, Request, Script, Secret, Serial, Sleep, Start, Stop, Uncertain
from sim.protocol import (
    AcquireWriter,
    ActivationChanged,
    Append,
    Appended,
    CheckWriter,
    Definition,
    Entry,
    OpenJournal,
    Ownership,
    Piece,
    Projection,
    Publish,
    Published,
    PublishOutput,
    ReadJournal,
    ReadOutput,
    ReadOwn,
    ReadResource,
    Record,
    Renewed,
    RenewWriter,
    Sealed,
    SealJournal,
    SealWriter,
    Stage,
    Staged,
    StageResource,
    Transact,
    Value,
    WriterToken,
)
from sim.publication import AsWriter, CommitReceipt
from sim.rule import Decide

R = TypeVar("R")

STORE, PUBLICATIONS = "store", "publications"
QUEUE = "commits"


class Done(Value, frozen=True, gc=False):
    """A commit whose receipt this owner holds."""

    records: tuple[Record, ...]
    last: int


class Journal(Actor):
    """What an owner knows of its Session. All of it is memory: the next life opens the journal again."""

    def __init__(self, session: str, life: int, ask: Decide, limits: Limits, store: str = STORE) -> None:
        self.session = session
        self.life = life
        self.ask = ask
        self.limits = limits
        self.store = store
        self.writer = WriterToken(f"{session}.owner{life}", writer_token(session, life), 0)
        self.activation = ""
        self.epoch = 0
        self.head = 0
        self.done: dict[str, Done] = {}
        self.stopped = False
        self.sealed = False
        self.renewal: Script[None] | None = None

    # --- opening

    async def open(self, request: OpenJournal) -> Projection:
        """Become the Session's writer.

        Failed: ``managed_session_writer_conflict`` while another owner's lease lives.
        """
        return await Serial(QUEUE, self.take_over, (request.definition,))

    async def take_over(self, definition: Definition) -> Projection:
        """Take the lease, read the journal, and install a new activation under the definition that is pinned there."""
        self.refuse_when_stopped()

        taken = await Call(self.store, AcquireWriter(self.session, self.writer.owner, self.writer.token))
        self.writer = WriterToken(self.writer.owner, self.writer.token, taken.generation)
        found = await self.read(ReadJournal(self.session))
        self.refuse_other_definition(found.entries, definition)
        self.head = last_of(found.entries)
        epoch = self.ask(writer.next_epoch, found.epoch)
        activation = f"{self.session}.activation{self.life}.{epoch}"
        change = Append(activation, (ActivationChanged(activation, epoch, definition),))
        await self.send(self.candidate(change, activation, epoch))
        self.activation, self.epoch = activation, epoch
        self.sealed = False
        if self.renewal is None:
            self.renewal = await Start(self.keep_lease)
        return Projection(activation, epoch, found.entries)

    def refuse_other_definition(self, entries: tuple[Entry, ...], definition: Definition) -> None:
        """The first activation pinned what the Session is."""
        pinned = next(
            (entry.record.definition for entry in entries if isinstance(entry.record, ActivationChanged)),
            definition,
        )
        if not self.ask(profile.definition_holds, pinned, definition):
            raise Failed("hosted_tool_profile_conflict")

    # --- the one commit queue

    async def append(self, request: Append) -> Appended:
        """Make records durable, when every earlier commit has ended."""
        return await Serial(QUEUE, self.commit, (request,))

    async def commit(self, append: Append) -> Appended:
        """One commit of the queue. Failed: ``managed_session_writes_stopped``, and what the Store refuses."""
        done = self.done.get(append.command)
        if done is not None and not self.ask(writer.same_records, done.records == append.records):
            raise Failed("managed_session_idempotency_conflict")
        if done is not None:
            return Appended(done.last)
        self.refuse_when_sealed()
        if append.asserts_activation:
            await self.assert_activation()

        candidate = self.candidate(append, self.activation, self.epoch)
        appended = await self.send(candidate, append.publication)
        self.done[append.command] = Done(append.records, appended.last)
        return appended

    def refuse_when_stopped(self) -> None:
        """After doubt, or a lost lease, nothing is sent any more: what is in the journal is not known."""
        if not self.ask(writer.may_append, self.stopped):
            raise Failed("managed_session_writes_stopped")

    def refuse_when_sealed(self) -> None:
        """A writer that is being sealed commits nothing any more."""
        self.refuse_when_stopped()
        if not self.ask(writer.unsealed, self.sealed):
            raise Failed("managed_session_writer_sealed")

    async def assert_activation(self) -> None:
        """Ask the Store, with the queue held, whether this owner was replaced (003 Identity)."""
        renewed = await self.renew()
        own, current = (self.activation, self.epoch), (renewed.activation, renewed.epoch)
        if not self.ask(writer.still_active_in_queue, *own, *current):
            raise Failed("managed_session_activation_conflict")

    def candidate(self, append: Append, activation: str, epoch: int) -> Transact:
        """What is sent, and sent again, for one commit."""
        return Transact(
            self.session,
            append.command,
            append.records,
            append.resources,
            self.writer,
            self.head,
            activation,
            epoch,
        )

    async def send(self, candidate: Transact, publication: str = "") -> Appended:
        """Send the identical candidate until it has a receipt, is refused, or stays in doubt."""
        to, request = self.store, candidate
        if publication:
            to, request = PUBLICATIONS, CommitReceipt(publication, candidate)
        doubtful = 0
        while True:
            try:
                appended = await Call(to, request)
                self.head = appended.last
                return appended
            except Failed:
                self.stop(self.ask(writer.doubt_stops_writes, doubtful))
                raise
            except Uncertain as doubt:
                doubtful += 1
                if not self.ask(retry.commit_again, doubt.cause, doubtful, self.limits):
                    self.stop(self.ask(writer.doubt_stops_writes, doubtful))
                    raise
            await Sleep(self.limits.commit_pause)

    def stop(self, stops: bool) -> None:
        """Writes that have stopped never start again in this life."""
        self.stopped = self.stopped or stops

    # --- the seal

    async def seal(self, request: SealJournal) -> Sealed:
        """End the writer lease behind every commit that was asked before.

        Failed: ``managed_session_writer_conflict`` when another owner took it over.
        """
        return await Serial(QUEUE, self.give_up)

    async def give_up(self) -> Sealed:
        """No commit and no renewal from here on; then the Store is told, once."""
        self.sealed = True
        if self.renewal is not None:
            await Stop(self.renewal)
            self.renewal = None
        return await Call(STORE, SealWriter(self.session, self.writer))

    # --- resources and output

    async def stage(self, request: StageResource) -> Staged:
        """Hand a resource over once; when that is lost, the transaction that refers to it is refused."""
        digest = sha256(request.content)
        staging = Stage(self.session, request.resource, request.content, digest, self.writer)
        return await Call(self.store, staging)

    async def publish(self, request: PublishOutput) -> Published:
        """Publish a piece of output once, under a digest of the owner's own computing."""
        digest = sha256(request.content)
        publication = Publish(
            self.session, request.kind, request.resource, request.content, digest, self.writer
        )
        return await Call(self.store, publication)

    async def read_own(self, request: ReadOwn) -> Projection:
        """The journal as it is durable now, under this owner's activation."""
        found = await self.read(ReadJournal(self.session))
        return Projection(self.activation, self.epoch, found.entries)

    async def read_output(self, request: ReadOutput) -> Piece:
        """A range of a durable resource. Failed: ``managed_session_resource_missing``."""
        return await self.read(ReadResource(self.session, request.resource, request.start, request.end))

    # --- what else needs the writer's token

    async def sign(self, request: AsWriter) -> Any:
        """Send a request with the writer's token, again after doubt, boundedly; the token goes nowhere else."""
        signed = replace(request.request, writer=self.writer)
        sends = 0
        while True:
            sends += 1
            try:
                return await Call(PUBLICATIONS, signed)
            except Uncertain as doubt:
                if not self.ask(publication.asks_again, signed.label, doubt.cause, sends, self.limits):
                    raise
            await Sleep(self.limits.publication_pause)

    # --- the writer lease

    async def check(self, request: CheckWriter) -> Ownership:
        """The activation, the writer, the activation again (003 Identity).

        Failed: ``managed_session_activation_conflict``, ``managed_session_writer_conflict``.
        """
        own = (self.activation, self.epoch)
        if not self.ask(writer.is_active, self.activation):
            raise Failed("managed_session_activation_conflict")
        renewed = await self.renew()
        if not self.ask(writer.still_active, *own, renewed.activation, renewed.epoch):
            raise Failed("managed_session_activation_conflict")

        return Ownership(self.writer.generation, renewed.activation, renewed.epoch)

    async def keep_lease(self) -> None:
        """Renew until that is refused."""
        doubtful = False
        while True:
            await Sleep(self.ask(writer.renew_after, self.limits.writer_lease, doubtful))
            try:
                await self.renew()
                doubtful = False
            except Failed:
                return
            except Uncertain:
                doubtful = True

    async def renew(self) -> Renewed:
        """Extend the lease; a definite refusal stops every later write."""
        try:
            return await self.read(RenewWriter(self.session, self.writer))
        except Failed as refusal:
            self.stop(self.ask(writer.refused_renewal_stops_writes, refusal.code))
            raise

    async def read(self, request: Request[R]) -> R:
        """Ask the Store what is safe to ask again, a bounded number of times within one request's time."""
        limits = self.limits
        patience = limits.request_timeout // limits.read_sends - limits.commit_pause
        sends = 0
        while True:
            sends += 1
            try:
                return await Call(self.store, request, patience)
            except Uncertain as doubt:
                if not self.ask(retry.read_again, doubt.cause, sends, limits):
                    raise
            await Sleep(limits.commit_pause)

    handlers = {
        OpenJournal: open,
        Append: append,
        SealJournal: seal,
        StageResource: stage,
        PublishOutput: publish,
        AsWriter: sign,
        CheckWriter: check,
        ReadOwn: read_own,
        ReadOutput: read_output,
    }


def last_of(entries: tuple[Entry, ...]) -> int:
    """The sequence of the last entry; 0 when there is none."""
    return entries[-1].sequence if entries else 0


def writer_token(session: str, life: int) -> Secret:
    """The token of one life of a Session's owner."""
    return Secret.derived(f"writer token of {session} in life {life}")
