"""The publication services: grants, output, admission, over the Session Store's own database (behaviour §1.13)."""

from __future__ import annotations

import hashlib

import msgspec

from sim.actor import Actor
from sim.actors.store.grants import (
    FINISH,
    BeginOperation,
    CloseGrant,
    CommitReferenced,
    EndOperation,
    ExtendGrants,
    KeepOutcome,
    LapseOperations,
    OpenGrant,
    authorized,
    known_publication,
    object_key,
    shown,
)
from sim.actors.store.objects import OBJECT_STORE
from sim.actors.store.records import claim_of
from sim.content import sha256
from sim.design import Limits, publication, writer
from sim.effects import Call, Commit, Disk, Failed, Serial, Uncertain
from sim.facts import OPERATIONS, PublicationOperation
from sim.protocol import Appended, Piece
from sim.publication import (
    PENDING,
    RETRYABLE,
    SUCCEEDED,
    UNKNOWN_OPERATION,
    AdmissionPrepared,
    CloseNotStarted,
    CommitReceipt,
    Finished,
    FinishPublication,
    GetObject,
    Grant,
    HeadObject,
    Operation,
    PrepareAdmission,
    PublishPiece,
    PutObject,
    ReadFinished,
    ReadOperation,
    ReadRange,
    RecoverOperation,
    Renewals,
    RenewGrants,
    ReserveGrant,
)
from sim.rule import Decide


class Publications(Actor):
    """Grants publications, does a producer's operations one after the other, and admits what was finished."""

    def __init__(self, disk: Disk, ask: Decide, limits: Limits) -> None:
        self.disk = disk
        self.ask = ask
        self.limits = limits

    async def boot(self) -> None:
        """Nobody works on what an earlier life began: it can be recovered."""
        rows = self.disk.rows(OPERATIONS, "")
        pending = tuple(key for key, row in rows if row.state == PENDING)
        if pending:
            await Commit(LapseOperations(pending))

    # --- the Session owner's requests

    async def reserve(self, request: ReserveGrant) -> Grant:
        """Grant a publication. Failed: see :class:`~sim.publication.ReserveGrant`."""
        claim, token_hash = claim_of(request.writer), request.token.fingerprint
        opened = OpenGrant(
            request.session, request.publication, claim, request.mapping, token_hash, self.limits
        )
        return await Commit(opened)

    async def renew(self, request: RenewGrants) -> Renewals:
        """Let grants live longer. Failed: ``managed_session_writer_conflict``."""
        return await Commit(ExtendGrants(request.session, request.publications, claim_of(request.writer)))

    async def close(self, request: CloseNotStarted) -> Grant:
        """Close a grant of which nothing ran. Failed: ``managed_tool_publication_refused``."""
        return await Commit(CloseGrant(request.session, request.publication, claim_of(request.writer)))

    async def finished(self, request: ReadFinished) -> Finished:
        """What the producer finished with. Failed: ``managed_tool_publication_not_finished``."""
        row = known_publication(self.disk, request.publication)
        if row.envelope is None or not self.ask(publication.is_finished, row.phase):
            raise Failed(publication.NOT_FINISHED, 404)
        return Finished(row.envelope)

    async def range(self, request: ReadRange) -> Piece:
        """Bytes of a published piece, from the object store."""
        known_publication(self.disk, request.publication)
        key = object_key(request.publication, request.resource)
        return await Call(OBJECT_STORE, GetObject(key, request.start, request.end))

    async def prepare(self, request: PrepareAdmission) -> AdmissionPrepared:
        """Keep an outcome for its receipt. Failed: ``managed_tool_publication_conflict``."""
        if not self.ask(writer.digest_holds, request.digest, sha256(request.outcome)):
            raise Failed("managed_session_resource_invalid", 400)
        claim = claim_of(request.writer)
        return await Commit(KeepOutcome(request.session, request.publication, claim, request.outcome))

    async def commit(self, request: CommitReceipt) -> Appended:
        """Receipt, resources and reference in one transaction."""
        asked = request.transaction
        row = known_publication(self.disk, request.publication)
        staged = tuple((resource, row.outcome) for resource in asked.resources)
        return await Commit(
            CommitReferenced(
                asked.session,
                asked.command,
                asked.records,
                asked.resources,
                staged,
                claim_of(asked.writer),
                asked.head,
                asked.activation,
                asked.epoch,
                self.limits,
                request.publication,
            )
        )

    # --- a producer's operations, one after the other

    async def publish(self, request: PublishPiece) -> Operation:
        """Make a piece durable. A lost answer is no loss: the operation can be looked up under its name."""
        return await Serial(request.publication, self.put, (request,))

    async def finish(self, request: FinishPublication) -> Operation:
        """End the publication with its producer's result."""
        return await Serial(request.publication, self.end, (request,))

    async def read(self, request: ReadOperation) -> Operation:
        """What became of an operation, behind those that still run."""
        return await Serial(request.publication, self.look, (request,))

    async def recover(self, request: RecoverOperation) -> Operation:
        """Find out what the object store did of an operation in doubt."""
        return await Serial(request.publication, self.find, (request,))

    async def put(self, request: PublishPiece) -> Operation:
        """Noted, then put, then noted again."""
        if not self.ask(writer.digest_holds, request.digest, sha256(request.content)):
            raise Failed("managed_session_resource_invalid", 400)
        begun = await Commit(
            BeginOperation(
                request.publication,
                request.bearer.fingerprint,
                request.name,
                request.kind,
                request.resource,
                request.digest,
                request.content,
                request.digest,
                self.limits,
            )
        )
        if begun.state != PENDING:
            return shown(request.name, begun)
        state, reason = SUCCEEDED, ""
        try:
            await Call(OBJECT_STORE, PutObject(begun.key, request.kind, request.content, request.digest))
        except Failed as refusal:
            state, reason = self.ask(publication.after_put, False), refusal.code
        except Uncertain as doubt:
            state, reason = self.ask(publication.after_put, True), doubt.cause
        ended = await Commit(EndOperation(request.publication, request.name, state, reason))
        return shown(request.name, ended)

    async def end(self, request: FinishPublication) -> Operation:
        """The result, once everything that it names is noted as durable."""
        digest = hashlib.sha256(msgspec.msgpack.encode(request.envelope)).hexdigest()
        begun = await Commit(
            BeginOperation(
                request.publication,
                request.bearer.fingerprint,
                request.name,
                FINISH,
                "",
                digest,
                b"",
                digest,
                self.limits,
                request.envelope,
            )
        )
        if begun.state != PENDING:
            return shown(request.name, begun)
        ended = await Commit(EndOperation(request.publication, request.name, SUCCEEDED, ""))
        return shown(request.name, ended)

    async def look(self, request: ReadOperation) -> Operation:
        """An operation as it is; one that was begun and is not being done counts as in doubt."""
        row = self.known(request)
        state = self.ask(publication.shows_as, row.state)
        return Operation(request.name, state, row.digest, row.reason)

    async def find(self, request: RecoverOperation) -> Operation:
        """The object is there, or it is not: then the operation may be asked for again."""
        row = self.known(request)
        if row.state not in (PENDING, RETRYABLE):
            return shown(request.name, row)
        there = await self.is_there(row)
        state = SUCCEEDED if there else RETRYABLE
        ended = await Commit(EndOperation(request.publication, request.name, state, ""))
        return shown(request.name, ended)

    async def is_there(self, row: PublicationOperation) -> bool:
        """Whether the object store has exactly this piece; the finish has none. Uncertain: it does not say."""
        if not row.key:
            return False
        try:
            head = await Call(OBJECT_STORE, HeadObject(row.key))
        except Failed:
            return False
        return self.ask(publication.is_recovered, head.digest, row.digest)

    def known(self, request: ReadOperation | RecoverOperation) -> PublicationOperation:
        """The row of an operation, for who holds the grant's token."""
        authorized(self.disk, request.publication, request.bearer.fingerprint, self.ask)
        row = self.disk.get(OPERATIONS, f"{request.publication}/{request.name}")
        if row is None:
            raise Failed(UNKNOWN_OPERATION, 404)
        return row

    handlers = {
        ReserveGrant: reserve,
        RenewGrants: renew,
        CloseNotStarted: close,
        ReadFinished: finished,
        ReadRange: range,
        PrepareAdmission: prepare,
        CommitReceipt: commit,
        PublishPiece: publish,
        FinishPublication: finish,
        ReadOperation: read,
        RecoverOperation: recover,
    }
