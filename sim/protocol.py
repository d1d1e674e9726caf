"""What the actors say to each other: every request with its answer, in the designs' words. Values only.

Text that a model or a command produced travels as JSON text or as bytes, so that ill-formed Unicode never stands in
a message. Times are virtual milliseconds, sizes bytes.
"""

from __future__ import annotations

import msgspec

from sim.content import Content, flipped
from sim.effects import Request, Secret

SHELL = "run_shell_command"
READ, WRITE, EDIT, GLOB = "read_file", "write_file", "edit", "glob"
WRITING = (WRITE, EDIT)
"""The file tools that change a file."""
NO_TOOLS = ""
FILES_1, FILES_2 = "hosted-workspace-files/1", "hosted-workspace-files/2"
SHELL_1, SHELL_2 = "hosted-workspace-shell/1", "hosted-workspace-shell/2"
LOCAL_SHELL = "local-shell"
"""The profiles of a Session: the empty one is the default, the last one that of a local daemon."""
SAME_HOST = "same-host-process"
"""The one provisioner for which a profile with Shell is built (003 Problem and scope)."""
STDOUT, STDERR = "stdout", "stderr"
STREAMS = (STDOUT, STDERR)


class Value(msgspec.Struct, frozen=True, gc=False, array_like=True, tag=True):
    """A plain frozen value that messages and facts are made of."""


# --- what the model says and is shown ---------------------------------------------------------------------------


class ToolCall(Value, frozen=True, gc=False):
    """One call in a model's answer. ``arguments`` is JSON text; the flags say that the stream was cut."""

    id: str
    name: str
    arguments: str
    truncated: bool = False
    incomplete: bool = False


class Response(Value, frozen=True, gc=False):
    """The function response to one call, as the model sees it."""

    call: str
    name: str
    text: str
    error: bool = False


class Message(Value, frozen=True, gc=False):
    """One entry of the conversation shown to the model: text, calls or responses of ``role`` user, model or tool."""

    role: str
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    responses: tuple[Response, ...] = ()


ILL_FORMED_REQUEST = "model_request_ill_formed"
"""What a strict transport to the model answers to a request that is no well-formed Unicode."""


class ModelOutput(Value, frozen=True, gc=False):
    """What a model answers: text, or an ordered batch of calls."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()


class Infer(Request[ModelOutput], frozen=True, gc=False):
    """Ask the model to go on from exactly these messages."""

    session: str
    prompt: str
    messages: tuple[Message, ...]

    @property
    def operation(self) -> str:
        return f"{self.prompt}:{len(self.messages)}"


# --- execution, capture, receipt --------------------------------------------------------------------------------


class Reference(Value, frozen=True, gc=False):
    """The identity of one execution. Model call, worker call and execution id are kept apart (003 Identity)."""

    execution: str
    worker_call: str
    runtime_session: str
    generation: int
    input_digest: str


class Seal(Value, frozen=True, gc=False):
    """One stream's immutable seal over its exact accepted prefix (003 Durable output storage)."""

    stream: str
    segments: int
    length: int
    digest: str


class Capture(Value, frozen=True, gc=False):
    """What is durable of an execution's output.

    ``status`` is complete, partial or unavailable; ``reason`` is empty exactly when complete; ``manifest`` is the
    resource id of the manifest, empty when it could not be published.
    """

    id: str
    status: str
    reason: str
    manifest: str
    seals: tuple[Seal, ...]


class Physical(Value, frozen=True, gc=False):
    """How a process ended, as its worker saw it. ``preview`` is the bounded text shown to the model."""

    status: str
    exit_code: int
    signal: str
    preview: str
    truncated: bool
    failed: bool


class Envelope(Value, frozen=True, gc=False):
    """The result of one execution: success, error, cancelled or not_started.

    ``capture`` is None iff it was not started, or is a file tool's, which has no pipes: its answer is ``preview``.
    """

    execution: str
    status: str
    exit_code: int
    signal: str
    preview: str
    truncated: bool
    capture: Capture | None


class Receipt(Value, frozen=True, gc=False):
    """The durable admission of one execution's output.

    ``delivery`` is committed or blocked; ``history_revision`` is the journal sequence of the receipt when committed,
    else 0.
    """

    execution: str
    manifest: str
    delivery: str
    history_revision: int
    outcome_ref: str


class Descriptor(Value, frozen=True, gc=False):
    """Where the publisher of a Session's owner listens, and the capability that opens it."""

    url: str
    capability: Secret
    session: str = ""


# --- client -> harness ------------------------------------------------------------------------------------------


class Admitted(Value, frozen=True, gc=False):
    """The prompt is durable; ``watermark`` is its journal sequence."""

    watermark: int


class TurnEnded(Value, frozen=True, gc=False):
    """How a turn ended: ``state`` completed, cancelled, error or recovery-blocked; ``reason`` names the cause."""

    state: str
    reason: str


class LoadSession(Request["Loaded"], frozen=True, gc=False):
    """Open the Session in this process: writer lease, journal, a new activation.

    Failed: ``hosted_turn_recovery_required`` when an old turn is unresolved; ``managed_session_writer_conflict``
    while another owner's writer lease lives; ``hosted_tool_profile_conflict`` and
    ``hosted_shell_provisioner_unsupported`` when this owner is set up otherwise than the Session, or than it may be.
    """

    session: str


class Loaded(Value, frozen=True, gc=False):
    """The Session is open under this activation."""

    activation: str
    epoch: int


class Prompt(Request[Admitted], frozen=True, gc=False):
    """Begin a turn. The same prompt again gets the same watermark."""

    prompt: str
    text: str

    identity = "{0.prompt}"


class AwaitTurn(Request[TurnEnded], frozen=True, gc=False):
    """Wait until the turn of this prompt has ended."""

    prompt: str


class CancelTurn(Request["CancelNoted"], frozen=True, gc=False):
    """Ask that the active turn be cancelled."""

    prompt: str


class DetachSession(Request["Detached"], frozen=True, gc=False):
    """Give the Session up in order, so that the next owner need not wait for its writer lease; may be asked again.

    Failed: ``hosted_session_busy`` (503) while a turn runs, or the Session is recovery blocked.
    """

    session: str


class Detached(Value, frozen=True, gc=False):
    """Nothing of the Session is open in this process, and its writer is sealed."""

    session: str


class CancelNoted(Value, frozen=True, gc=False):
    """The request to cancel was noted; False when no such turn is active."""

    active: bool


# --- the Session's journal (in the owner's process) --------------------------------------------------------------


class Record(Value, frozen=True, gc=False):
    """One event of a Session's journal."""

    @property
    def label(self) -> str:
        """Its name in points, timelines and tables."""
        return type(self).__name__


class InputAccepted(Record, frozen=True, gc=False):
    """A prompt was admitted."""

    prompt: str
    text: str


class WakeRequested(Record, frozen=True, gc=False):
    """The admitted prompt asks for a turn; written in one transaction with it."""

    prompt: str


class UserMessage(Record, frozen=True, gc=False):
    """The user's message, as history shows it."""

    prompt: str
    text: str


class Assistant(Record, frozen=True, gc=False):
    """What the model said in one round, byte for byte: text or calls."""

    prompt: str
    round: int
    text: str
    calls: tuple[ToolCall, ...]


class ToolIntent(Record, frozen=True, gc=False):
    """One call is about to be executed; ``args_ref`` names the resource with its actual input (003 Identity)."""

    prompt: str
    execution: str
    model_call: str
    worker_call: str
    input_digest: str
    args_ref: str
    protocol: str


class Binding(Value, frozen=True, gc=False):
    """One runtime binding of a checkpoint: the tool item keeps the model call id, the binding the worker call id."""

    execution: str
    model_call: str
    worker_call: str
    input_digest: str
    state: str


class Checkpoint(Record, frozen=True, gc=False):
    """Where the turn stands: before_model, await_runtime, results_ready or turn_settled.

    ``covered`` is a journal sequence.
    """

    phase: str
    prompt: str
    activation: str
    epoch: int
    covered: int
    bindings: tuple[Binding, ...] = ()

    @property
    def label(self) -> str:
        return f"Checkpoint.{self.phase}"


class ToolReceipt(Record, frozen=True, gc=False):
    """The output of an execution was verified and is admitted, or is held back as blocked."""

    execution: str
    delivery: str
    manifest: str
    outcome_ref: str
    envelope: Envelope

    def at(self, sequence: int) -> Receipt:
        """The receipt, recorded at this journal sequence."""
        revision = sequence if self.delivery == "committed" else 0
        return Receipt(self.execution, self.manifest, self.delivery, revision, self.outcome_ref)


class ToolResult(Record, frozen=True, gc=False):
    """What the model is told of one call, or of a refused batch; ``execution`` is empty when none was meant."""

    prompt: str
    round: int
    execution: str
    responses: tuple[Response, ...]


class TurnSettled(Record, frozen=True, gc=False):
    """The turn is over and nothing of it is open: ``state`` completed, cancelled or error."""

    prompt: str
    state: str


class Definition(Value, frozen=True, gc=False):
    """What a Session is defined by; it is pinned when the Session is first opened.

    ``capture_bytes`` is the quota of captured output in the object store; 0 stands for capture by the owner itself.
    """

    profile: str
    provisioner: str
    capture_bytes: int = 0


FOREGROUND_SHELL = Definition(SHELL_1, SAME_HOST)
"""The Session of seed 003: the explicitly selected Shell profile, captured by its owner."""


class ActivationChanged(Record, frozen=True, gc=False):
    """A new owner's activation is installed, under the Session's pinned definition."""

    activation: str
    epoch: int
    definition: Definition


class FileHistory(Record, frozen=True, gc=False):
    """The files that a batch writes: ``pending`` before its first dispatch, ``snapshot`` behind all its results."""

    prompt: str
    round: int
    state: str
    files: tuple[str, ...]

    @property
    def label(self) -> str:
        return f"FileHistory.{self.state}"


class Entry(Value, frozen=True, gc=False):
    """A record in its place in the journal."""

    sequence: int
    activation: str
    epoch: int
    record: Record


class Appended(Value, frozen=True, gc=False):
    """The records are durable; ``last`` is the sequence of the last of them."""

    last: int


class OpenJournal(Request["Projection"], frozen=True, gc=False):
    """Take the Session's writer lease, read its journal, and install a new activation under the pinned definition.

    Failed: ``hosted_tool_profile_conflict`` when the Session was opened before under another definition.
    """

    session: str
    definition: Definition


class Projection(Value, frozen=True, gc=False):
    """The journal as a new owner finds it, and the activation under which it owns it."""

    activation: str
    epoch: int
    entries: tuple[Entry, ...]


class Append(Request[Appended], frozen=True, gc=False):
    """Make records durable, in the Session's one commit queue.

    ``command`` is the identity of the commit: the same with equal records replays the recorded receipt. With
    ``asserts_activation`` the queue refuses, at the moment of committing, an owner that was replaced (003 Identity).
    With ``publication`` the receipt among the records is committed where that publication is.
    """

    command: str
    records: tuple[Record, ...]
    resources: tuple[str, ...] = ()
    asserts_activation: bool = False
    publication: str = ""

    @property
    def label(self) -> str:
        return "Append." + "+".join([record.label for record in self.records])

    identity = "{0.command}"


class StageResource(Request["Staged"], frozen=True, gc=False):
    """Hand a small resource to the Store for the next transaction that refers to it; durable only with that."""

    resource: str
    content: bytes

    identity = "{0.resource}"

    def altered(self) -> StageResource:
        return StageResource(self.resource, flipped(self.content))


class Staged(Value, frozen=True, gc=False):
    """The resource waits in the Store's memory."""

    resource: str


class PublishOutput(Request["Published"], frozen=True, gc=False):
    """Make a piece of captured output durable under the Session's writer (003 Durable output storage)."""

    kind: str
    resource: str
    content: Content

    @property
    def label(self) -> str:
        return f"PublishOutput.{self.kind}"

    identity = "{0.resource}"

    def altered(self) -> PublishOutput:
        return PublishOutput(self.kind, self.resource, flipped(self.content))


class Published(Value, frozen=True, gc=False):
    """The resource is durable; ``digest`` is the SHA-256 hex of its bytes as the Store computed it."""

    resource: str
    digest: str


class SealJournal(Request["Sealed"], frozen=True, gc=False):
    """Behind every commit, end this owner's writer lease at once (the owner's own call)."""

    session: str


class CheckWriter(Request["Ownership"], frozen=True, gc=False):
    """Is this owner still the Session's writer, under the current activation? Asks the Store (a renewal)."""


class Ownership(Value, frozen=True, gc=False):
    """The writer's generation and the activation, as they are now."""

    generation: int
    activation: str
    epoch: int


class ReadOwn(Request["Projection"], frozen=True, gc=False):
    """The journal as it is durable now."""


class ReadOutput(Request["Piece"], frozen=True, gc=False):
    """Bytes ``start`` to ``end`` of a durable resource of this Session."""

    resource: str
    start: int
    end: int

    identity = "{0.resource}:{0.start}"


class Piece(Value, frozen=True, gc=False):
    """A range of a resource, and the resource's whole length."""

    content: Content
    total: int


# --- owner -> Session Store -------------------------------------------------------------------------------------


class WriterToken(Value, frozen=True, gc=False):
    """What fences a writer: its id, its token, and the generation it was granted."""

    owner: str
    token: Secret
    generation: int


class AcquireWriter(Request["WriterGrant"], frozen=True, gc=False):
    """Take or extend the Session's writer lease. Failed: ``managed_session_writer_conflict``."""

    session: str
    owner: str
    token: Secret

    identity = "{0.session}:{0.owner}"


class WriterGrant(Value, frozen=True, gc=False):
    """The lease runs until ``expires_at`` virtual milliseconds."""

    generation: int
    expires_at: int


class RenewWriter(Request["Renewed"], frozen=True, gc=False):
    """Extend the writer lease; tells the activation that the Store holds current."""

    session: str
    writer: WriterToken

    identity = "{0.session}:{0.writer.generation}"


class Renewed(Value, frozen=True, gc=False):
    """The lease was extended."""

    expires_at: int
    activation: str
    epoch: int


class SealWriter(Request["Sealed"], frozen=True, gc=False):
    """End the writer lease at once: the next owner need not wait, and this writer never writes again.

    Failed: ``managed_session_writer_conflict`` when another owner took it over.
    """

    session: str
    writer: WriterToken

    identity = "{0.session}:{0.writer.generation}"

    @property
    def refusal(self) -> str:
        return "managed_session_writer_conflict"


class Sealed(Value, frozen=True, gc=False):
    """Nothing is written under this generation any more."""

    generation: int


class Transact(Request[Appended], frozen=True, gc=False):
    """Commit all records of one command in one SQL transaction.

    Failed: ``managed_session_idempotency_conflict``, ``managed_session_writer_conflict``,
    ``managed_session_head_conflict``, ``managed_session_activation_conflict``, ``managed_session_resource_missing``,
    ``managed_session_resource_conflict``, ``managed_session_oss_disabled`` (a record over the inline limit).
    """

    session: str
    command: str
    records: tuple[Record, ...]
    resources: tuple[str, ...]
    writer: WriterToken
    head: int
    activation: str
    epoch: int

    @property
    def label(self) -> str:
        return "Transact." + "+".join([record.label for record in self.records])

    @property
    def refusal(self) -> str:
        return "managed_session_writer_conflict"

    identity = "{0.command}"


class Stage(Request[Staged], frozen=True, gc=False):
    """Keep a resource in memory until a transaction refers to it. Failed: ``managed_session_resource_invalid``."""

    session: str
    resource: str
    content: bytes
    digest: str
    writer: WriterToken

    identity = "{0.resource}"

    def altered(self) -> Stage:
        return Stage(self.session, self.resource, flipped(self.content), self.digest, self.writer)


class Publish(Request[Published], frozen=True, gc=False):
    """The writer-fenced publication of captured output; the reply follows the SQL commit.

    ``kind`` is content, page, seal or manifest. Failed: ``managed_session_writer_conflict``,
    ``managed_session_resource_conflict``, ``managed_session_resource_too_large``.
    """

    session: str
    kind: str
    resource: str
    content: Content
    digest: str
    writer: WriterToken

    @property
    def label(self) -> str:
        return f"Publish.{self.kind}"

    @property
    def refusal(self) -> str:
        return "managed_session_resource_conflict"

    identity = "{0.resource}"

    def altered(self) -> Publish:
        return Publish(
            self.session, self.kind, self.resource, flipped(self.content), self.digest, self.writer
        )


class ReadJournal(Request["Journal"], frozen=True, gc=False):
    """Every committed record of a Session."""

    session: str


class Journal(Value, frozen=True, gc=False):
    """The committed records, the activation that is current, and who may write."""

    entries: tuple[Entry, ...]
    activation: str
    epoch: int


class ReadResource(Request[Piece], frozen=True, gc=False):
    """Bytes ``start`` to ``end`` of a durable resource. Failed: ``managed_session_resource_missing``."""

    session: str
    resource: str
    start: int
    end: int

    identity = "{0.resource}:{0.start}"


class ListResources(Request["Resources"], frozen=True, gc=False):
    """What is durable of a Session beside its journal: names and sizes, no bytes."""

    session: str


class Retained(Value, frozen=True, gc=False):
    """One durable resource: ``kind`` is inline, content, page, seal or manifest."""

    resource: str
    kind: str
    length: int


class Resources(Value, frozen=True, gc=False):
    """Every durable resource of a Session, in order of name."""

    resources: tuple[Retained, ...]


# --- whoever looks afterwards -> a fresh reader -------------------------------------------------------------------


class VerifyRetained(Request["Reread"], frozen=True, gc=False):
    """Read everything that is retained of a Session afresh, with nothing but the Store to ask."""

    session: str

    identity = "{0.session}"


class RereadStream(Value, frozen=True, gc=False):
    """One stream as it was read afresh: how many segments on how many pages, its length and its SHA-256."""

    stream: str
    segments: int
    pages: int
    length: int
    digest: str


class RereadOutput(Value, frozen=True, gc=False):
    """The output behind one receipt; ``flaw`` is a code, empty when all that the receipt names verifies."""

    execution: str
    delivery: str
    streams: tuple[RereadStream, ...]
    flaw: str


class Reread(Value, frozen=True, gc=False):
    """Every output behind a receipt, and the published resources to which no receipt leads."""

    outputs: tuple[RereadOutput, ...]
    abandoned: tuple[str, ...]


# --- harness -> broker ------------------------------------------------------------------------------------------


class Warm(Request["Warmed"], frozen=True, gc=False):
    """Provision the Workspace's runtime beside inference; touches no lease."""

    workspace: str


class Warmed(Value, frozen=True, gc=False):
    """A runtime of this binding generation is ready."""

    generation: int


class Acquire(Request["Lease"], frozen=True, gc=False):
    """Take the Workspace for this Runtime Session.

    Failed: ``workspace_busy`` or ``workspace_unavailable`` (both definite); anything else is ambiguous.
    """

    session: str
    runtime_session: str
    workspace: str

    @property
    def refusal(self) -> str:
        return "workspace_unavailable"

    identity = "{0.runtime_session}"


class Lease(Value, frozen=True, gc=False):
    """The Workspace is held by this Runtime Session."""

    runtime_session: str
    workspace: str


class RegisterPublisher(Request["Registered"], frozen=True, gc=False):
    """Install the Session owner's publisher in the original Runtime Session."""

    runtime_session: str
    publisher: Descriptor

    identity = "{0.runtime_session}"


class Registered(Value, frozen=True, gc=False):
    """The publisher is installed; every execution is bound to this runtime generation."""

    generation: int


class Prepare(Request["Prepared"], frozen=True, gc=False):
    """Reserve an execution. Its idempotency key is Runtime Session and worker call.

    ``payload_digest`` protects the exact bytes of the later start; ``input_digest`` identifies the arguments;
    ``publication`` names what its output will be published as, empty when its owner captures it.
    Failed: ``runtime_execution_conflict``.
    """

    runtime_session: str
    worker_call: str
    tool: str
    protocol: str
    payload_digest: str
    input_digest: str
    publication: str = ""

    @property
    def label(self) -> str:
        return "Prepare.published" if self.publication else "Prepare"

    @property
    def refusal(self) -> str:
        return "runtime_execution_conflict"

    identity = "{0.worker_call}"


class Prepared(Value, frozen=True, gc=False):
    """The reservation, bound to a runtime generation; nothing was dispatched while ``state`` is prepared."""

    execution: str
    worker_call: str
    state: str
    generation: int


class StartExecution(Request["Observed"], frozen=True, gc=False):
    """Dispatch a reserved execution, under its grant where its output is published.

    Failed: ``runtime_idempotency_conflict``, ``runtime_execution_conflict``, ``managed_tool_publication_not_open``.
    """

    execution: str
    payload: bytes
    publication: str = ""
    token: Secret | None = None

    @property
    def label(self) -> str:
        return "StartExecution.published" if self.publication else "StartExecution"

    @property
    def refusal(self) -> str:
        return "runtime_idempotency_conflict"

    identity = "{0.execution}"

    def altered(self) -> StartExecution:
        return StartExecution(self.execution, reworded(self.payload), self.publication, self.token)


class Status(Request["Observed"], frozen=True, gc=False):
    """What is proved about an execution. Failed: ``runtime_broker_execution_unknown``."""

    execution: str

    identity = "{0.execution}"


class CancelExecution(Request["Observed"], frozen=True, gc=False):
    """Cancel: a reserved execution is then proved never to start; a running one ends physically first."""

    execution: str

    identity = "{0.execution}"


class Observed(Value, frozen=True, gc=False):
    """The state of an execution (prepared, executing, cancel_requested, settled), with its result when settled."""

    execution: str
    state: str
    envelope: Envelope | None
    receipt: Receipt | None


class Acknowledge(Request["Acknowledged"], frozen=True, gc=False):
    """Exact acknowledgement of an admitted result. Failed: ``managed_tool_result_conflict``."""

    execution: str
    receipt: Receipt
    publication: str = ""

    @property
    def label(self) -> str:
        return "Acknowledge.published" if self.publication else "Acknowledge"

    identity = "{0.execution}"


class Acknowledged(Value, frozen=True, gc=False):
    """The worker has noted the acknowledgement."""

    execution: str


class Release(Request["Released"], frozen=True, gc=False):
    """Give the Workspace back. Failed: ``runtime_session_busy`` while an execution may be live."""

    runtime_session: str

    @property
    def refusal(self) -> str:
        return "runtime_session_busy"

    identity = "{0.runtime_session}"


class Released(Value, frozen=True, gc=False):
    """The lease row is gone."""

    runtime_session: str


class HandBack(Request["HandedBack"], frozen=True, gc=False):
    """Free the Workspace of a blocked turn and keep its Runtime Session; no seed asks this, a policy does.

    Failed: ``workspace_owner_conflict`` when it is not the holder.
    """

    runtime_session: str

    @property
    def refusal(self) -> str:
        return "workspace_owner_conflict"

    identity = "{0.runtime_session}"


class HandedBack(Value, frozen=True, gc=False):
    """The lease row is gone, whatever may still live in the Runtime Session."""

    runtime_session: str


# --- broker -> worker -------------------------------------------------------------------------------------------


class Activate(Request["Activated"], frozen=True, gc=False):
    """Bind a Runtime Session to this worker; tells the worker's generation."""

    runtime_session: str


class Activated(Value, frozen=True, gc=False):
    """This life of the worker."""

    generation: int


class InstallPublisher(Request["PublisherInstalled"], frozen=True, gc=False):
    """Keep the immutable descriptor of a Runtime Session in memory.

    Failed: ``managed_runtime_identity_conflict`` for another descriptor, ``managed_runtime_attestation_invalid`` for
    a malformed one.
    """

    runtime_session: str
    generation: int
    publisher: Descriptor

    identity = "{0.runtime_session}"


class PublisherInstalled(Value, frozen=True, gc=False):
    """The descriptor is kept."""

    runtime_session: str


class Execute(Request["WorkerState"], frozen=True, gc=False):
    """Run a command. The identical request joins the execution that is there.

    Failed: ``managed_runtime_identity_conflict`` (digest or generation), ``managed_context_unavailable`` (no
    publisher: nothing was spawned).
    """

    reference: Reference
    payload: bytes

    @property
    def refusal(self) -> str:
        return "managed_context_unavailable"

    identity = "{0.reference.execution}"

    def altered(self) -> Execute:
        return Execute(self.reference, reworded(self.payload))


class ExecuteFileTool(Request["WorkerState"], frozen=True, gc=False):
    """Run a file tool (protocol v2): its outcome is the answer. The identical request gets the same answer again.

    Failed: ``managed_runtime_identity_conflict`` (generation, or another request under one id).
    """

    reference: Reference
    payload: bytes

    @property
    def refusal(self) -> str:
        return "managed_runtime_identity_conflict"

    identity = "{0.reference.execution}"

    def altered(self) -> ExecuteFileTool:
        return ExecuteFileTool(self.reference, reworded(self.payload))


class Observe(Request["WorkerState"], frozen=True, gc=False):
    """What the worker knows of an execution. Failed: ``managed_runtime_execution_unknown``."""

    reference: Reference

    identity = "{0.reference.execution}"


class Halt(Request["WorkerState"], frozen=True, gc=False):
    """Stop the command's process; its end is observed later."""

    reference: Reference

    identity = "{0.reference.execution}"


class WorkerState(Value, frozen=True, gc=False):
    """The worker's own state of an execution: executing, settled or unknown."""

    execution: str
    state: str
    envelope: Envelope | None
    receipt: Receipt | None


class Confirm(Request[Acknowledged], frozen=True, gc=False):
    """The acknowledgement as it reaches the worker. Failed: ``managed_tool_result_conflict``."""

    reference: Reference
    receipt: Receipt

    identity = "{0.reference.execution}"


class Deactivate(Request["Deactivated"], frozen=True, gc=False):
    """Forget a Runtime Session. Failed: ``runtime_session_busy`` while one of its processes lives."""

    runtime_session: str

    identity = "{0.runtime_session}"


class Deactivated(Value, frozen=True, gc=False):
    """The worker holds nothing of that Runtime Session any more."""

    runtime_session: str


# --- worker -> publisher, and the owner's own calls to it --------------------------------------------------------


class OpenPublisher(Request[Descriptor], frozen=True, gc=False):
    """Listen for this turn (the owner's own call)."""

    prompt: str


class ClosePublisher(Request["PublisherClosed"], frozen=True, gc=False):
    """Refuse what comes, drain what runs, close the listener; keep every byte of retained output."""

    prompt: str


class PublisherClosed(Value, frozen=True, gc=False):
    """Nothing of the publisher runs any more."""

    drained: int


class StopPublisher(Request[PublisherClosed], frozen=True, gc=False):
    """Refuse whatever comes, drain what runs, and close every segment store (the owner's own call)."""

    session: str


class RegisterCapture(Request["CaptureRegistered"], frozen=True, gc=False):
    """Tell the publisher which execution may publish, and for which model call (the owner's own call)."""

    reference: Reference
    model_call: str
    prompt: str
    args_ref: str


class CaptureRegistered(Value, frozen=True, gc=False):
    """The registration is immutable."""

    execution: str


class PreparePublication(Request["CaptureOpened"], frozen=True, gc=False):
    """Before spawn: the owner verifies the mapping and opens the capture.

    Failed: ``hosted_shell_publication_unauthorized`` (401), ``hosted_shell_publication_closing`` (503),
    ``hosted_shell_publication_failed``.
    """

    bearer: Secret
    reference: Reference

    identity = "{0.reference.execution}"


class CaptureOpened(Value, frozen=True, gc=False):
    """Output of this execution goes into this capture."""

    capture: str


class WriteOutput(Request["Buffered"], frozen=True, gc=False):
    """Raw bytes of one stream at one offset. Never sent twice; the reply acknowledges buffering, not durability."""

    bearer: Secret
    execution: str
    stream: str
    offset: int
    content: Content

    @property
    def label(self) -> str:
        return f"WriteOutput.{self.stream}"

    identity = "{0.execution}:{0.stream}:{0.offset}"

    def altered(self) -> WriteOutput:
        return WriteOutput(self.bearer, self.execution, self.stream, self.offset, flipped(self.content))


class Buffered(Value, frozen=True, gc=False):
    """The stream's accepted length."""

    length: int


class FinishOutput(Request["StreamFinished"], frozen=True, gc=False):
    """No more bytes of this stream; ``complete`` says that every byte was accepted."""

    bearer: Secret
    execution: str
    stream: str
    complete: bool

    @property
    def label(self) -> str:
        return f"FinishOutput.{self.stream}"

    identity = "{0.execution}:{0.stream}"


class StreamFinished(Value, frozen=True, gc=False):
    """The stream is sealed, or failed when ``sealed`` is False."""

    sealed: bool


class FinalizeCapture(Request[Envelope], frozen=True, gc=False):
    """The process has ended: publish the manifest and build the envelope, once."""

    bearer: Secret
    execution: str
    physical: Physical

    identity = "{0.execution}"


class AcceptCapture(Request[Receipt], frozen=True, gc=False):
    """Admit exactly this envelope: verify all output, commit the receipt. The identical candidate gets it again."""

    bearer: Secret
    execution: str
    envelope: Envelope

    identity = "{0.execution}"


class TakeReceipt(Request[Receipt], frozen=True, gc=False):
    """The receipt that this owner's publisher committed for exactly this envelope (the owner's own call)."""

    execution: str
    envelope: Envelope


def reworded(payload: bytes) -> bytes:
    """The same payload with a question mark where its command began: well-formed, and another command."""
    before, field, command = payload.partition(b'"command":"')
    return before + field + b"?" + command[1:] if field else flipped(payload)
