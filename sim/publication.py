"""What is said about a publication of tool output in the object store (O2): grants, operations, admission. Values only.

A *grant* lets one execution publish, for as long as the writer and the activation that asked for it own the Session.
An *operation* is one step of its producer, under an id that it always has, so that it can be asked for again.
"""

from __future__ import annotations

from typing import Any

from sim.content import Content, flipped
from sim.effects import Request, Secret
from sim.protocol import Appended, Envelope, Piece, Reference, Transact, Value, WriterToken

NO_WRITER = WriterToken("", Secret("no token", ""), 0)
"""Stands in a request until the Session authority signs it."""

OPEN, FENCED, NOT_STARTED = "open", "fenced", "not_started"
"""The states of a grant: an owner that was replaced leaves it fenced, a proof that nothing ran not started."""

FINISHING, FINISHED, REFERENCED = "finishing", "finished", "referenced"
"""The phases of its producer, after ``open``."""

PENDING, SUCCEEDED, RETRYABLE, EXPIRED, REJECTED = "pending", "succeeded", "retryable", "expired", "rejected"
"""The states of an operation. Only the last three are failures, and only ``retryable`` may be asked for again."""


UNKNOWN_OPERATION = "managed_tool_publication_operation_unknown"
"""The code by which an operation is refused that was never begun."""


class Mapping(Value, frozen=True, gc=False):
    """The call that a publication is for, as its owner recorded it, and how many bytes it may publish."""

    reference: Reference
    model_call: str
    prompt: str
    args_ref: str
    activation: str
    epoch: int
    capture_bytes: int


# --- harness -> Session authority -------------------------------------------------------------------------------


class AsWriter(Request[Any], frozen=True, gc=False):
    """Send a request on with the writer's token, which leaves the Session authority for nobody else."""

    request: Request[Any]

    @property
    def label(self) -> str:
        return f"AsWriter.{self.request.label}"

    @property
    def operation(self) -> str:
        return self.request.operation


# --- Session owner -> grant service -----------------------------------------------------------------------------


class ReserveGrant(Request["Grant"], frozen=True, gc=False):
    """Reserve a publication for a reserved execution. The identical request gets the same grant again.

    Failed: ``managed_tool_publication_conflict``, ``managed_session_writer_conflict``,
    ``managed_tool_publication_refused`` (ledger, checkpoint, intent or arguments say otherwise),
    ``managed_tool_publication_busy`` (429: no capacity).
    """

    session: str
    publication: str
    mapping: Mapping
    token: Secret
    writer: WriterToken = NO_WRITER

    @property
    def refusal(self) -> str:
        return "managed_tool_publication_refused"

    identity = "{0.publication}"


class Grant(Value, frozen=True, gc=False):
    """A grant as it is now; output of its execution goes into this capture until ``expires_at`` virtual ms."""

    publication: str
    capture: str
    state: str
    expires_at: int


class RenewGrants(Request["Renewals"], frozen=True, gc=False):
    """Let grants live as long as the writer lease does now. One that is fenced stays so."""

    session: str
    publications: tuple[str, ...]
    writer: WriterToken = NO_WRITER

    @property
    def refusal(self) -> str:
        return "managed_session_writer_conflict"

    @property
    def operation(self) -> str:
        return "+".join(self.publications)


class Renewals(Value, frozen=True, gc=False):
    """The grants as they are now."""

    grants: tuple[Grant, ...]


class CloseNotStarted(Request["Grant"], frozen=True, gc=False):
    """Close a grant of which nothing ever ran. Failed: ``managed_tool_publication_refused`` without that proof."""

    session: str
    publication: str
    writer: WriterToken = NO_WRITER

    @property
    def refusal(self) -> str:
        return "managed_tool_publication_refused"

    identity = "{0.publication}"


class ReadFinished(Request["Finished"], frozen=True, gc=False):
    """What a producer finished with; it is readable after the producer is gone.

    Failed: ``managed_tool_publication_not_finished`` (404).
    """

    session: str
    publication: str
    writer: WriterToken = NO_WRITER

    @property
    def refusal(self) -> str:
        return "managed_tool_publication_not_finished"

    identity = "{0.publication}"


class Finished(Value, frozen=True, gc=False):
    """The producer's own result."""

    envelope: Envelope


class ReadRange(Request[Piece], frozen=True, gc=False):
    """Bytes ``start`` to ``end`` of a published piece. Failed: ``managed_session_resource_missing``."""

    session: str
    publication: str
    resource: str
    start: int
    end: int
    writer: WriterToken = NO_WRITER

    identity = "{0.resource}:{0.start}"


class PrepareAdmission(Request["AdmissionPrepared"], frozen=True, gc=False):
    """Keep the outcome that the receipt will name.

    Failed: ``managed_tool_publication_conflict`` for other bytes than before, ``managed_session_resource_invalid`` for
    other bytes than were sent.
    """

    session: str
    publication: str
    outcome: bytes
    digest: str
    writer: WriterToken = NO_WRITER

    @property
    def refusal(self) -> str:
        return "managed_tool_publication_conflict"

    identity = "{0.publication}"

    def altered(self) -> PrepareAdmission:
        told = (self.session, self.publication, flipped(self.outcome))
        return PrepareAdmission(*told, self.digest, self.writer)


class AdmissionPrepared(Value, frozen=True, gc=False):
    """The outcome waits for its receipt."""

    publication: str


class CommitReceipt(Request[Appended], frozen=True, gc=False):
    """Commit the receipt, install its resources and refer to the publication, in one SQL transaction.

    Failed: what a transaction of the Session Store refuses, and ``managed_tool_publication_conflict``.
    """

    publication: str
    transaction: Transact

    @property
    def refusal(self) -> str:
        return "managed_session_writer_conflict"

    identity = "{0.transaction.command}"


# --- worker -> data service -------------------------------------------------------------------------------------


class PublishPiece(Request["Operation"], frozen=True, gc=False):
    """Make one piece of output durable in the object store. ``kind`` is content, page, seal or manifest.

    Failed: ``managed_tool_publication_unauthorized`` (401), ``managed_tool_publication_conflict`` for other bytes.
    """

    publication: str
    bearer: Secret
    name: str
    kind: str
    resource: str
    content: Content
    digest: str

    @property
    def label(self) -> str:
        return f"PublishPiece.{self.kind}"

    @property
    def refusal(self) -> str:
        return "managed_tool_publication_conflict"

    identity = "{0.publication}:{0.name}"

    def altered(self) -> PublishPiece:
        told = (self.publication, self.bearer, self.name, self.kind, self.resource)
        return PublishPiece(*told, flipped(self.content), self.digest)


class FinishPublication(Request["Operation"], frozen=True, gc=False):
    """The process has ended and nothing more is published: the result becomes durable."""

    publication: str
    bearer: Secret
    name: str
    envelope: Envelope

    @property
    def refusal(self) -> str:
        return "managed_tool_publication_conflict"

    identity = "{0.publication}:{0.name}"


class ReadOperation(Request["Operation"], frozen=True, gc=False):
    """What became of an operation. Failed: ``managed_tool_publication_operation_unknown`` (404)."""

    publication: str
    bearer: Secret
    name: str

    @property
    def refusal(self) -> str:
        return UNKNOWN_OPERATION

    identity = "{0.publication}:{0.name}"


class RecoverOperation(Request["Operation"], frozen=True, gc=False):
    """Find out what became of an operation that the object store left in doubt."""

    publication: str
    bearer: Secret
    name: str

    @property
    def refusal(self) -> str:
        return UNKNOWN_OPERATION

    identity = "{0.publication}:{0.name}"


class Operation(Value, frozen=True, gc=False):
    """One operation as it is now; ``digest`` is that of the piece, ``reason`` says why it failed for good."""

    name: str
    state: str
    digest: str
    reason: str


# --- broker -> worker -------------------------------------------------------------------------------------------


class InstallGrant(Request["GrantInstalled"], frozen=True, gc=False):
    """Keep the grant under which an execution publishes, in memory.

    Failed: ``managed_runtime_identity_conflict`` for another life of the worker, or another grant.
    """

    runtime_session: str
    execution: str
    generation: int
    publication: str
    capture: str
    bearer: Secret

    @property
    def refusal(self) -> str:
        return "managed_runtime_identity_conflict"

    identity = "{0.execution}"


class GrantInstalled(Value, frozen=True, gc=False):
    """The grant is kept."""

    execution: str


# --- data service -> object store -------------------------------------------------------------------------------


class PutObject(Request["ObjectPut"], frozen=True, gc=False):
    """Keep bytes under a key, unless others are there. Failed: ``object_exists``, ``object_digest_mismatch``."""

    key: str
    kind: str
    content: Content
    digest: str

    @property
    def refusal(self) -> str:
        return "object_store_refused"

    identity = "{0.key}"

    def altered(self) -> PutObject:
        return PutObject(self.key, self.kind, flipped(self.content), self.digest)


class ObjectPut(Value, frozen=True, gc=False):
    """The object is durable under this digest."""

    digest: str


class HeadObject(Request["ObjectHead"], frozen=True, gc=False):
    """Whether an object is there. Failed: ``object_missing`` (404)."""

    key: str

    @property
    def refusal(self) -> str:
        return "object_missing"

    identity = "{0.key}"


class ObjectHead(Value, frozen=True, gc=False):
    """An object's length and digest."""

    length: int
    digest: str


class GetObject(Request[Piece], frozen=True, gc=False):
    """Bytes ``start`` to ``end`` of an object. Failed: ``object_missing`` (404)."""

    key: str
    start: int
    end: int

    @property
    def refusal(self) -> str:
        return "object_missing"

    identity = "{0.key}:{0.start}"
