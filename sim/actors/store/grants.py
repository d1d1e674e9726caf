"""The transactions of the publication services: grants, operations, admission; each applied whole or not at all."""

from __future__ import annotations

from msgspec.structs import replace

from sim.actors.store.records import CommitRecords
from sim.content import Content, read
from sim.design import Limits, publication, writer
from sim.design.writer import Claim
from sim.effects import Disk, Facts, Failed, Transaction
from sim.facts import (
    ACTIVATIONS,
    COMMANDS,
    JOURNAL,
    LEDGER,
    OPERATIONS,
    PUBLICATIONS,
    REFERENCES,
    RESOURCES,
    WRITERS,
    Activation,
    Publication,
    PublicationOperation,
    ReferencedOutput,
    in_session,
)
from sim.ids import capture_id
from sim.protocol import Appended, Envelope, Ownership, RegisterCapture
from sim.publication import (
    EXPIRED,
    FENCED,
    FINISHED,
    FINISHING,
    NOT_STARTED,
    OPEN,
    PENDING,
    REFERENCED,
    REJECTED,
    RETRYABLE,
    SUCCEEDED,
    UNKNOWN_OPERATION,
    AdmissionPrepared,
    Grant,
    Mapping,
    Operation,
    Renewals,
)
from sim.rule import Decide
from sim.shell.mapping import require_arguments, require_mapping
from sim.shell.retained import SealContent, decoded

CONFLICT, REFUSED = "managed_tool_publication_conflict", "managed_tool_publication_refused"
FINISH = "finish"
"""The kind, and the name, of the last operation of a publication."""


# --- grants -------------------------------------------------------------------------------------------------------


class Granting(Transaction[Grant], frozen=True, gc=False):
    """A change of one grant, by the writer of its Session."""

    session: str
    publication: str
    claim: Claim

    identity = "{0.publication}"


class OpenGrant(Granting, frozen=True, gc=False):
    """Reserve a publication for an execution that is recorded and never was dispatched; asked again, renew it."""

    mapping: Mapping
    token_hash: str
    limits: Limits

    def apply(self, facts: Facts, ask: Decide) -> Grant:
        known = facts.get(PUBLICATIONS, self.publication)
        if known is not None:
            same = (known.mapping, known.token_hash) == (self.mapping, self.token_hash)
            if not ask(publication.same_grant, same):
                raise Failed(CONFLICT)
        expires_at = lease_end(facts, self.session, self.claim, ask)
        if known is not None:
            known = replace(known, expires_at=expires_at)
            facts.put(PUBLICATIONS, self.publication, known)
            return told(self.publication, known)
        self.require_recorded(facts, ask)
        self.require_capacity(facts, ask)

        mapping, key = self.mapping, {"tenantId": "tenant", "sessionId": self.session}
        capture = capture_id(key, mapping.reference.execution, str(mapping.reference.generation))
        opened = Publication(
            self.session, mapping, capture, self.claim.generation, self.token_hash, expires_at, OPEN, OPEN
        )
        facts.put(PUBLICATIONS, self.publication, opened)
        return told(self.publication, opened)

    def require_recorded(self, facts: Facts, ask: Decide) -> None:
        """Ledger, checkpoint, intent and arguments say the same as the mapping."""
        mapping, reference = self.mapping, self.mapping.reference
        row = facts.get(LEDGER, reference.execution)
        if row is None or not ask(
            publication.is_grantable, row.state, row.dispatches, row.publication == self.publication
        ):
            raise Failed(REFUSED)
        entries = [entry for _, entry in facts.rows(JOURNAL, in_session(self.session, ""))]
        current = facts.get(ACTIVATIONS, self.session) or Activation("", 0)
        same_activation = (current.id, current.epoch) == (mapping.activation, mapping.epoch)
        if ask(publication.is_fenced, True, same_activation):
            raise Failed("managed_session_activation_conflict")
        owner = Ownership(self.claim.generation, mapping.activation, mapping.epoch)
        registered = RegisterCapture(reference, mapping.model_call, mapping.prompt, mapping.args_ref)
        arguments = facts.get(RESOURCES, in_session(self.session, mapping.args_ref))
        try:
            require_mapping(entries, registered, owner, ask)
            require_arguments(read(arguments.content) if arguments else b"", registered, ask)
        except Failed:
            raise Failed(REFUSED) from None

    def require_capacity(self, facts: Facts, ask: Decide) -> None:
        """The object store has room for all that may be published."""
        promised = sum(
            row.mapping.capture_bytes + self.limits.producer_bytes + self.limits.admission_bytes
            for _, row in facts.rows(PUBLICATIONS, "")
            if row.state != NOT_STARTED
        )
        if not ask(publication.has_capacity, promised, self.mapping.capture_bytes, self.limits):
            raise Failed("managed_tool_publication_busy", 429)


class ExtendGrants(Transaction[Renewals], frozen=True, gc=False):
    """Grants live as long as the writer lease does now, if their owner is still the owner."""

    session: str
    publications: tuple[str, ...]
    claim: Claim

    @property
    def operation(self) -> str:
        return "+".join(self.publications)

    def apply(self, facts: Facts, ask: Decide) -> Renewals:
        expires_at = lease_end(facts, self.session, self.claim, ask)
        grants: list[Grant] = []
        for name in self.publications:
            row = known_publication(facts, name)
            state = FENCED if fenced(facts, row, ask) else row.state
            row = replace(row, state=state, expires_at=expires_at)
            facts.put(PUBLICATIONS, name, row)
            grants.append(told(name, row))
        return Renewals(tuple(grants))


class CloseGrant(Granting, frozen=True, gc=False):
    """Close a grant of which nothing ever ran."""

    def apply(self, facts: Facts, ask: Decide) -> Grant:
        lease_end(facts, self.session, self.claim, ask)
        row = known_publication(facts, self.publication)
        ledger = facts.get(LEDGER, row.mapping.reference.execution)
        status = ledger.envelope.status if ledger and ledger.envelope else ""
        proof = (ledger.state, status, ledger.dispatches) if ledger else ("", "", 0)
        operations = len(facts.rows(OPERATIONS, f"{self.publication}/"))
        if not ask(publication.never_ran, *proof, operations, row.phase):
            raise Failed(REFUSED)
        row = replace(row, state=NOT_STARTED)
        facts.put(PUBLICATIONS, self.publication, row)
        return told(self.publication, row)


# --- operations ---------------------------------------------------------------------------------------------------


class BeginOperation(Transaction[PublicationOperation], frozen=True, gc=False):
    """Note an operation before it is done: pending, or failed for good where it may not be done.

    Failed: ``managed_tool_publication_unauthorized``, ``managed_tool_publication_conflict``.
    """

    publication: str
    token_hash: str
    name: str
    kind: str
    resource: str
    digest: str
    content: Content
    request: str
    limits: Limits
    envelope: Envelope | None = None

    identity = "{0.publication}:{0.name}"

    @property
    def label(self) -> str:
        return f"BeginOperation.{self.kind}"

    def apply(self, facts: Facts, ask: Decide) -> PublicationOperation:
        row = authorized(facts, self.publication, self.token_hash, ask)
        known = facts.get(OPERATIONS, self.key)
        if known is not None and not ask(publication.same_operation, known.request, self.request):
            raise Failed(CONFLICT)
        if known is not None and known.state != RETRYABLE:
            return known
        state, reason = self.begun(facts, row, known is not None, ask)
        if state == EXPIRED:
            row = replace(row, state=FENCED)
        elif self.envelope is not None and state == PENDING:
            row = replace(row, phase=FINISHING, envelope=self.envelope)
        facts.put(PUBLICATIONS, self.publication, row)
        place = object_key(self.publication, self.resource) if self.resource else ""
        size = len(self.content)
        operation = PublicationOperation(
            self.kind, self.resource, place, self.request, self.digest, size, state, reason
        )
        facts.put(OPERATIONS, self.key, operation)
        return operation

    @property
    def key(self) -> str:
        """Where its row stands."""
        return f"{self.publication}/{self.name}"

    def begun(self, facts: Facts, row: Publication, again: bool, ask: Decide) -> tuple[str, str]:
        """The state in which it begins, and the reason for which it may not."""
        if fenced(facts, row, ask) or ask(publication.is_expired, facts.now, row.expires_at):
            return EXPIRED, "grant_expired"
        if not again and not ask(publication.takes_operation, row.phase):
            return REJECTED, "publication_finished"
        if self.envelope is not None:
            return self.finished(row, self.envelope, ask)
        if not ask(writer.output_fits, self.kind, len(self.content), self.limits):
            return REJECTED, "size_limit"
        size, quota = len(self.content), row.mapping.capture_bytes
        if self.kind == "content" and not ask(publication.within_quota, row.used, size, quota):
            return REJECTED, publication.QUOTA_EXHAUSTED
        if self.kind == "seal" and not self.sealable(row, ask):
            return REJECTED, "storage_failed"
        return PENDING, ""

    def finished(self, row: Publication, envelope: Envelope, ask: Decide) -> tuple[str, str]:
        """Whether the result says no more than the operations before it prove."""
        seals = sum(stream.sealed for stream in row.streams)
        complete = envelope.capture is not None and envelope.capture.status == "complete"
        whole = ask(publication.finish_is_whole, complete, seals, row.manifest)
        return (PENDING, "") if whole else (REJECTED, "storage_failed")

    def sealable(self, row: Publication, ask: Decide) -> bool:
        """Whether the segments of the sealed stream are durable, and no more and no fewer than the seal says."""
        stream = row.stream(self.name.removeprefix("seal-"))
        seal = decoded(read(self.content), SealContent)
        told = (seal.segment_count, seal.byte_length)
        return ask(publication.prefix_is_whole, stream.segments, stream.length, *told)


class EndOperation(Transaction[PublicationOperation], frozen=True, gc=False):
    """Note what became of an operation. One that has succeeded stays so."""

    publication: str
    name: str
    state: str
    reason: str

    identity = "{0.publication}:{0.name}"

    def apply(self, facts: Facts, ask: Decide) -> PublicationOperation:
        key = f"{self.publication}/{self.name}"
        operation = facts.get(OPERATIONS, key)
        if operation is None:
            raise Failed(UNKNOWN_OPERATION, 404)
        if operation.state == SUCCEEDED:
            return operation
        operation = replace(operation, state=self.state, reason=self.reason)
        facts.put(OPERATIONS, key, operation)
        if self.state == SUCCEEDED:
            row = known_publication(facts, self.publication)
            facts.put(PUBLICATIONS, self.publication, grown(row, self.name, operation))
        return operation


class LapseOperations(Transaction[None], frozen=True, gc=False):
    """The operations that an earlier life of the service left half-way can be recovered."""

    operations: tuple[str, ...]

    @property
    def operation(self) -> str:
        return "+".join(self.operations)

    def apply(self, facts: Facts, ask: Decide) -> None:
        for key in self.operations:
            held = facts.get(OPERATIONS, key)
            if held is not None:
                facts.put(OPERATIONS, key, replace(held, state=ask(publication.shows_as, held.state)))


# --- admission ----------------------------------------------------------------------------------------------------


class KeepOutcome(Transaction[AdmissionPrepared], frozen=True, gc=False):
    """Keep the outcome of a finished publication for its receipt; the same bytes may be kept again."""

    session: str
    publication: str
    claim: Claim
    outcome: bytes

    identity = "{0.publication}"

    def apply(self, facts: Facts, ask: Decide) -> AdmissionPrepared:
        lease_end(facts, self.session, self.claim, ask)
        row = known_publication(facts, self.publication)
        if not ask(publication.is_finished, row.phase):
            raise Failed(CONFLICT)
        if row.outcome and not ask(publication.same_admission, row.outcome.hex(), self.outcome.hex()):
            raise Failed(CONFLICT)
        facts.put(PUBLICATIONS, self.publication, replace(row, outcome=self.outcome))
        return AdmissionPrepared(self.publication)


class CommitReferenced(CommitRecords, frozen=True, gc=False):
    """Commit a receipt, install the resources of its publication, and refer to it: all at once (behaviour §1.13)."""

    publication: str

    def apply(self, facts: Facts, ask: Decide) -> Appended:
        if facts.get(COMMANDS, in_session(self.session, self.command)) is None:
            self.refer(facts, ask)
        return super().apply(facts, ask)

    def refer(self, facts: Facts, ask: Decide) -> None:
        """Everything that the publication holds becomes the Session's."""
        row = known_publication(facts, self.publication)
        if not ask(publication.may_refer, row.phase, bool(row.outcome)):
            raise Failed(CONFLICT)
        for each in succeeded(facts, self.publication):
            if each.resource:
                installed = ReferencedOutput(each.kind, each.digest, each.length, each.key)
                facts.put(REFERENCES, in_session(self.session, each.resource), installed)
        facts.put(PUBLICATIONS, self.publication, replace(row, phase=REFERENCED))


# --- what rows say ------------------------------------------------------------------------------------------------


def lease_end(facts: Facts, session: str, claim: Claim, ask: Decide) -> int:
    """When the writer lease of a Session ends, for its live writer. Failed: ``managed_session_writer_conflict``."""
    held = facts.get(WRITERS, session)
    if held is None or not ask(writer.may_publish, claim, held, facts.now):
        raise Failed("managed_session_writer_conflict")
    return held.expires_at


def known_publication(facts: Disk, name: str) -> Publication:
    """A publication's row. Failed: ``managed_tool_publication_unknown``."""
    row = facts.get(PUBLICATIONS, name)
    if row is None:
        raise Failed("managed_tool_publication_unknown", 404)
    return row


def authorized(facts: Disk, name: str, token_hash: str, ask: Decide) -> Publication:
    """A publication's row, for who holds its token. Failed: ``managed_tool_publication_unauthorized``."""
    row = facts.get(PUBLICATIONS, name)
    if row is None or not ask(publication.token_opens, token_hash, row.token_hash):
        raise Failed("managed_tool_publication_unauthorized", 401)
    return row


def fenced(facts: Facts, row: Publication, ask: Decide) -> bool:
    """Whether the owner that asked for a grant was replaced, or its grant was closed."""
    held = facts.get(WRITERS, row.session)
    current = facts.get(ACTIVATIONS, row.session) or Activation("", 0)
    same_writer = held is not None and held.generation == row.generation
    same_activation = (current.id, current.epoch) == (row.mapping.activation, row.mapping.epoch)
    return row.state != OPEN or ask(publication.is_fenced, same_writer, same_activation)


def succeeded(facts: Disk, name: str) -> list[PublicationOperation]:
    """Every operation of a publication that succeeded, in order of name."""
    return [each for _, each in facts.rows(OPERATIONS, f"{name}/") if each.state == SUCCEEDED]


def told(name: str, row: Publication) -> Grant:
    """A grant as its owner is told of it."""
    return Grant(name, row.capture, row.state, row.expires_at)


def grown(row: Publication, name: str, operation: PublicationOperation) -> Publication:
    """A publication with one operation more that has succeeded."""
    if operation.kind == FINISH:
        return replace(row, phase=FINISHED)
    if operation.kind == "manifest":
        return replace(row, manifest=True)
    if operation.kind == "page":
        return row
    stream = row.stream(name.split("-")[1])
    if operation.kind == "seal":
        stream = replace(stream, sealed=True)
    else:
        stream = replace(stream, segments=stream.segments + 1, length=stream.length + operation.length)
    others = tuple(each for each in row.streams if each.name != stream.name)
    return replace(row, streams=(*others, stream))


def object_key(name: str, resource: str) -> str:
    """Where the object store keeps a piece of a publication."""
    return f"{name}/{resource}"


def shown(name: str, row: PublicationOperation) -> Operation:
    """An operation as its producer is told of it."""
    return Operation(name, row.state, row.digest, row.reason)
