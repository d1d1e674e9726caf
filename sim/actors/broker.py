"""The Broker: the execution ledger, the Workspace lease, and the way to the worker (003 Ownership and transport).

What it knows of an execution is in the ledger, written before what it speaks of is sent: a row that never became
``executing`` proves that no worker was asked. A Workspace lease ends by release alone; it has no clock.
"""

from __future__ import annotations

from msgspec.structs import replace

from sim.actor import Actor
from sim.deeds import NO_CODE
from sim.design import execution, lease, publication
from sim.design.limits import Limits
from sim.effects import Call, Commit, Disk, Facts, Failed, Request, Sleep, Start, Transaction, Uncertain
from sim.facts import (
    BINDINGS,
    JOURNAL,
    LEASES,
    LEDGER,
    PUBLICATIONS,
    RUNTIME_SESSIONS,
    Execution,
    RuntimeBinding,
    RuntimeSession,
    WorkspaceLease,
    in_session,
)
from sim.protocol import (
    Acknowledge,
    Acknowledged,
    Acquire,
    Activate,
    CancelExecution,
    Confirm,
    Deactivate,
    Envelope,
    Execute,
    ExecuteFileTool,
    Halt,
    HandBack,
    HandedBack,
    InstallPublisher,
    Lease,
    Observe,
    Observed,
    Prepare,
    Prepared,
    Receipt,
    Reference,
    Registered,
    RegisterPublisher,
    Release,
    Released,
    StartExecution,
    Status,
    ToolReceipt,
    Warm,
    Warmed,
    WorkerState,
)
from sim.publication import InstallGrant
from sim.rule import Decide

# --- the Workspace: runtime binding, Runtime Session, lease -------------------------------------------------------


class BindRuntime(Transaction[None], frozen=True, gc=False):
    """Bind a Workspace to the present life of its worker; the lease is only looked at."""

    workspace: str
    generation: int

    identity = "{0.workspace}"

    def apply(self, facts: Facts, ask: Decide) -> None:
        binding = facts.get(BINDINGS, self.workspace)
        if ask(lease.may_rebind, holder_of(facts, self.workspace), binding.state if binding else ""):
            facts.put(BINDINGS, self.workspace, RuntimeBinding(self.generation, lease.READY))


class ClaimWorkspace(Transaction[None], frozen=True, gc=False):
    """Claim Runtime Session and lease at once: busy first, then unavailable; the same holder may claim again.

    Failed: ``workspace_busy``, ``workspace_unavailable``; both prove that nothing was claimed.
    """

    asked: Acquire

    identity = "{0.asked.runtime_session}"

    def apply(self, facts: Facts, ask: Decide) -> None:
        asked = self.asked
        binding = facts.get(BINDINGS, asked.workspace) or RuntimeBinding(0, "")
        current = holder_of(facts, asked.workspace)
        claimant = ask(lease.holder_key, asked.workspace, binding.generation, asked.runtime_session)
        if ask(lease.is_held, current, facts.now) and not ask(lease.may_claim, current, claimant):
            raise Failed("workspace_busy")
        if not ask(lease.serves, binding.state):
            raise Failed("workspace_unavailable")
        known = facts.get(RUNTIME_SESSIONS, asked.runtime_session)
        if not ask(lease.may_begin, known.state if known else ""):
            raise Failed("runtime_session_released")

        claimed = RuntimeSession(asked.session, asked.workspace, lease.ACQUIRING, binding.generation)
        facts.put(RUNTIME_SESSIONS, asked.runtime_session, known or claimed)
        facts.put(LEASES, asked.workspace, WorkspaceLease(claimant, asked.session))


class Ready(Transaction[RuntimeSession], frozen=True, gc=False):
    """The worker answered the claim: the Runtime Session is ready, or failed because another life answered."""

    runtime_session: str
    generation: int

    identity = "{0.runtime_session}"

    def apply(self, facts: Facts, ask: Decide) -> RuntimeSession:
        session = known_session(facts, self.runtime_session)
        if not ask(lease.may_begin, session.state):
            return session
        if ask(lease.is_original, session.generation, self.generation):
            session = replace(session, state=lease.READY)
        else:
            session = replace(session, state=lease.FAILED)
            facts.put(BINDINGS, session.workspace, RuntimeBinding(session.generation, lease.LOST))
        facts.put(RUNTIME_SESSIONS, self.runtime_session, session)
        return session


class BeginRelease(Transaction[RuntimeSession], frozen=True, gc=False):
    """Stop taking reservations, when no execution may be live; a released Runtime Session is released again.

    Failed: ``runtime_session_reconciliation_required``, ``runtime_session_busy``, ``runtime_session_not_found``.
    """

    runtime_session: str
    acquired: bool

    identity = "{0.runtime_session}"

    def apply(self, facts: Facts, ask: Decide) -> RuntimeSession:
        session = known_session(facts, self.runtime_session)
        if session.state == lease.RELEASED:
            return session
        if not ask(lease.may_answer_for, self.acquired):
            raise Failed("runtime_session_reconciliation_required")
        executions = [row for _, row in facts.rows(LEDGER, "") if row.runtime_session == self.runtime_session]
        live = any(ask(lease.is_live, row.state) for row in executions)
        if live or not ask(lease.may_release, session.state):
            raise Failed("runtime_session_busy")

        session = replace(session, state=lease.RELEASING)
        facts.put(RUNTIME_SESSIONS, self.runtime_session, session)
        return session


class ClearLease(Transaction[None], frozen=True, gc=False):
    """The worker holds nothing any more: lease row and Runtime Session end together, by the matching holder only."""

    runtime_session: str

    identity = "{0.runtime_session}"

    def apply(self, facts: Facts, ask: Decide) -> None:
        session = known_session(facts, self.runtime_session)
        if session.state == lease.RELEASED:
            return
        if not ask(lease.may_clear, *claim_of(facts, ask, self.runtime_session, session)):
            raise Failed("workspace_owner_conflict")

        facts.delete(LEASES, session.workspace)
        facts.put(RUNTIME_SESSIONS, self.runtime_session, replace(session, state=lease.RELEASED))


class HandBackLease(Transaction[None], frozen=True, gc=False):
    """A blocked turn gives its Workspace up: the lease row alone ends, by its matching holder, whatever is live.

    Failed: ``runtime_session_not_found``, ``workspace_owner_conflict``.
    """

    runtime_session: str

    identity = "{0.runtime_session}"

    def apply(self, facts: Facts, ask: Decide) -> None:
        session = known_session(facts, self.runtime_session)
        if not ask(lease.may_clear, *claim_of(facts, ask, self.runtime_session, session)):
            raise Failed("workspace_owner_conflict")
        facts.delete(LEASES, session.workspace)


# --- the execution ledger ----------------------------------------------------------------------------------------


class Step(Transaction[Execution], frozen=True, gc=False):
    """One step of one ledger row; the answer is the row as it is afterwards, unmoved when it cannot take the step."""

    execution: str

    identity = "{0.execution}"

    def take(self, facts: Facts, ask: Decide, step: str, **learned: object) -> Execution:
        """Move the row as the ledger's transition table says, with what is learned in this step."""
        row = known_execution(facts, self.execution)
        state = ask(execution.next_state, row.state, step)
        if state is None:
            return row
        if state == execution.SETTLED and ask(execution.never_sent, row.state):
            learned = {"envelope": unsent(self.execution, ask(execution.unsent_status, row.protocol))}
        row = replace(row, state=state, **learned)
        facts.put(LEDGER, self.execution, row)
        return row


class Reserve(Transaction[Prepared], frozen=True, gc=False):
    """Reserve an execution under its idempotency key, once.

    Failed: ``runtime_execution_conflict`` for other content, whatever the state; ``runtime_session_unavailable``.
    """

    execution: str
    asked: Prepare

    identity = "{0.execution}"

    def apply(self, facts: Facts, ask: Decide) -> Prepared:
        asked = self.asked
        reserved = facts.get(LEDGER, self.execution)
        if reserved is None:
            reserved = self.first(facts, ask)
        if not ask(execution.same_reservation, content(reserved), content(asked)):
            raise Failed("runtime_execution_conflict")
        return Prepared(self.execution, reserved.worker_call, reserved.state, reserved.generation)

    def first(self, facts: Facts, ask: Decide) -> Execution:
        """The row of a key that was never used, bound to the generation of its Runtime Session."""
        asked = self.asked
        session = known_session(facts, asked.runtime_session)
        if not ask(lease.may_reserve, session.state):
            raise Failed("runtime_session_unavailable")
        row = Execution(
            runtime_session=asked.runtime_session,
            workspace=session.workspace,
            worker_call=asked.worker_call,
            tool=asked.tool,
            protocol=asked.protocol,
            payload_digest=asked.payload_digest,
            input_digest=asked.input_digest,
            generation=session.generation,
            state=execution.PREPARED,
            dispatches=0,
            envelope=None,
            receipt=None,
            publication=asked.publication,
        )
        facts.put(LEDGER, self.execution, row)
        return row


class ClaimDispatch(Step, frozen=True, gc=False):
    """Claim a reserved execution for its one dispatch; proved not started when the Workspace went elsewhere.

    Failed: ``runtime_idempotency_conflict`` for other bytes, whatever the state; ``runtime_execution_conflict``.
    """

    payload: bytes

    def apply(self, facts: Facts, ask: Decide) -> Execution:
        row = known_execution(facts, self.execution)
        same = ask(execution.payload_is_reserved, row.payload_digest, self.payload)
        claimable = ask(execution.next_state, row.state, execution.CLAIM) is not None
        if refusal := ask(execution.start_refusal, same, claimable):
            raise Failed(refusal)

        session = known_session(facts, row.runtime_session)
        if not ask(lease.may_dispatch, *claim_of(facts, ask, row.runtime_session, session)):
            return self.take(facts, ask, execution.WITHHOLD)
        return self.take(facts, ask, execution.CLAIM, dispatches=row.dispatches + 1)


class MarkExecuting(Step, frozen=True, gc=False):
    """From here on the worker may have been asked; written before it is."""

    def apply(self, facts: Facts, ask: Decide) -> Execution:
        return self.take(facts, ask, execution.SEND)


class Settle(Step, frozen=True, gc=False):
    """The worker's outcome becomes the ledger's, for good."""

    envelope: Envelope | None
    receipt: Receipt | None

    def apply(self, facts: Facts, ask: Decide) -> Execution:
        return self.take(facts, ask, execution.SETTLE, envelope=self.envelope, receipt=self.receipt)


class MarkUnknown(Step, frozen=True, gc=False):
    """What became of the execution cannot be proved; with ``gone``, its runtime binding is lost too."""

    gone: bool

    def apply(self, facts: Facts, ask: Decide) -> Execution:
        row = self.take(facts, ask, execution.LOSE)
        if self.gone and row.state == execution.UNKNOWN:
            facts.put(BINDINGS, row.workspace, RuntimeBinding(row.generation, lease.LOST))
        return row


class RequestCancel(Step, frozen=True, gc=False):
    """Settle as not started what was never sent; of what was sent, the physical end is awaited."""

    def apply(self, facts: Facts, ask: Decide) -> Execution:
        return self.take(facts, ask, execution.CANCEL)


class LapseClaims(Transaction[None], frozen=True, gc=False):
    """The claims of an earlier life of the Broker are over: what they sent is unknown."""

    executions: tuple[str, ...]

    @property
    def operation(self) -> str:
        return "+".join(self.executions)

    def apply(self, facts: Facts, ask: Decide) -> None:
        for name in self.executions:
            Step(name).take(facts, ask, execution.LAPSE)


# --- the actor ---------------------------------------------------------------------------------------------------


class Broker(Actor):
    """Claims Workspaces, reserves executions, dispatches each at most once, and tells what the ledger proves."""

    def __init__(self, disk: Disk, ask: Decide, limits: Limits) -> None:
        self.disk = disk
        self.ask = ask
        self.limits = limits
        self.acquired: set[str] = set()

    async def boot(self) -> None:
        """No claim outlives its Broker: what an earlier life dispatched is unknown, and is not dispatched again."""
        rows = self.disk.rows(LEDGER, "")
        lapsed = tuple(
            name for name, row in rows if self.ask(execution.next_state, row.state, execution.LAPSE)
        )
        if lapsed:
            await Commit(LapseClaims(lapsed))

    # --- Workspace ---

    async def warm(self, request: Warm) -> Warmed:
        """Provision the Workspace's runtime. It names no Runtime Session and touches no lease (003 Lifecycle)."""
        worker = await Call(worker_of(request.workspace), Activate(""))
        await Commit(BindRuntime(request.workspace, worker.generation))
        return Warmed(worker.generation)

    async def acquire(self, request: Acquire) -> Lease:
        """Claim first, then activate: whatever fails after the claim keeps the ownership and is doubt to the caller."""
        name = request.runtime_session
        await Commit(ClaimWorkspace(request))
        try:
            worker = await Call(worker_of(request.workspace), Activate(name))
        except Failed as refusal:
            raise Failed("runtime_session_acquire_failed", self.ask(lease.failed_claim_status)) from refusal
        session = await Commit(Ready(name, worker.generation))
        if session.state != lease.READY:
            raise Failed("runtime_session_acquire_failed", self.ask(lease.failed_claim_status))
        self.acquired.add(name)
        return Lease(name, request.workspace)

    async def register(self, request: RegisterPublisher) -> Registered:
        """Install the owner's publisher in the original Runtime Session; the binding generation comes back."""
        name = request.runtime_session
        session = known_session(self.disk, name)
        if not self.ask(lease.may_register, session.state, *claim_of(self.disk, self.ask, name, session)):
            raise Failed("runtime_session_unavailable")
        install = InstallPublisher(name, session.generation, request.publisher)
        await Call(worker_of(session.workspace), install)
        return Registered(session.generation)

    async def release(self, request: Release) -> Released:
        """Give the Workspace back: nothing live, then nothing at the worker, then no lease row."""
        name = request.runtime_session
        session = await Commit(BeginRelease(name, name in self.acquired))
        if session.state == lease.RELEASED:
            return Released(name)
        await Call(worker_of(session.workspace), Deactivate(name))
        await Commit(ClearLease(name))
        return Released(name)

    async def hand_back(self, request: HandBack) -> HandedBack:
        """Give the Workspace back, and nothing else: neither Runtime Session nor worker learns of it."""
        await Commit(HandBackLease(request.runtime_session))
        return HandedBack(request.runtime_session)

    # --- execution ---

    async def prepare(self, request: Prepare) -> Prepared:
        """Reserve; the protocol is chosen here, once."""
        tool, protocol = request.tool, request.protocol
        captured = self.ask(execution.v3_is_for, tool, protocol)
        if not captured or not self.ask(execution.shell_runs_by, tool, protocol):
            raise Failed("runtime_tool_v3_unsupported", 501)
        name = self.ask(execution.execution_id, request.runtime_session, request.worker_call)
        return await Commit(Reserve(name, request))

    async def start(self, request: StartExecution) -> Observed:
        """Claim a reserved execution, answer at once, and dispatch it beside."""
        name, payload = request.execution, request.payload
        if not self.ask(execution.payload_fits, len(payload), self.limits):
            raise Failed("runtime_payload_invalid", 400)
        if not self.ask(execution.payload_is_well_formed, payload):
            raise Failed("runtime_payload_invalid", 400)
        if not self.ask(execution.payload_has_exact_fields, payload):
            raise Failed("runtime_payload_invalid", 400)
        await self.install_grant(request)
        row = await Commit(ClaimDispatch(name, payload))
        if row.state == execution.DISPATCHING:
            await Start(self.dispatch, (name, payload))
        return self.observed(name, row)

    async def install_grant(self, request: StartExecution) -> None:
        """Before the claim: the worker gets the open grant of what is published; its failure proves no dispatch.

        Failed: ``managed_tool_publication_not_open``.
        """
        row = known_execution(self.disk, request.execution)
        if not row.publication:
            return
        grant, token = self.disk.get(PUBLICATIONS, row.publication), request.token
        state = grant.state if grant else ""
        own = grant is not None and token is not None and grant.token_hash == token.fingerprint
        granted = self.ask(publication.start_has_grant, row.publication, request.publication, own, state)
        if not granted or grant is None or token is None:
            raise Failed("managed_tool_publication_not_open")
        original = reference(request.execution, row)
        install = InstallGrant(
            row.runtime_session,
            request.execution,
            original.generation,
            row.publication,
            grant.capture,
            token,
        )
        await Call(worker_of(row.workspace), install)

    async def dispatch(self, name: str, payload: bytes) -> None:
        """The one dispatch of an execution, from its claim to what is proved of its end.

        A refusal by the worker proves nothing to the ledger, even one that says that nothing was spawned: publisher
        failure retains recovery-blocked ownership (003 Lifecycle).
        """
        try:
            row = await Commit(MarkExecuting(name))
            if row.state != execution.EXECUTING:
                return
            worker = await self.outcome(name, row, payload)
            await Commit(Settle(name, worker.envelope, worker.receipt))
        except Failed as refusal:
            await Commit(MarkUnknown(name, self.ask(execution.runtime_is_gone, refusal.code)))
        except Uncertain:
            await Commit(MarkUnknown(name, False))

    async def outcome(self, name: str, row: Execution, payload: bytes) -> WorkerState:
        """Execute once, then look until the worker proves an outcome.

        Failed: the worker refused, forgot or lost the execution, or the window ended.
        """
        worker, original = worker_of(row.workspace), reference(name, row)
        if self.ask(execution.answers_at_once, row.protocol):
            return await Call(worker, ExecuteFileTool(original, payload))
        try:
            seen = await Call(worker, Execute(original, payload))
        except Uncertain:
            seen = await self.look(worker, self.ask(execution.reconciles_by, original, payload))
        waited = 0
        while not (proof := self.ask(execution.worker_proves, seen.state)):
            if not self.ask(execution.observes_longer, waited, self.limits.worker_window):
                raise Failed("runtime_observation_window_ended")
            await Sleep(self.limits.worker_poll)
            waited += self.limits.worker_poll
            seen = await self.look(worker, Observe(original))
        if proof != execution.SETTLE:
            raise Failed("runtime_broker_execution_unknown")
        return seen

    async def look(self, worker: str, request: Request[WorkerState]) -> WorkerState:
        """One look at an execution, again while its reply is lost, boundedly."""
        lost = 0
        while True:
            try:
                return await Call(worker, request)
            except Uncertain:
                lost += 1
                if not self.ask(execution.looks_again, lost, self.limits.reconcile_looks):
                    raise Failed("managed_runtime_unreachable") from None
            await Sleep(self.limits.worker_poll)

    async def status(self, request: Status) -> Observed:
        """What the ledger proves; neither worker nor lease is asked."""
        return self.observed(request.execution, known_execution(self.disk, request.execution))

    async def cancel(self, request: CancelExecution) -> Observed:
        """Prove that a reserved execution never starts, or stop a running one: its dispatch observes the end."""
        name = request.execution
        row = await Commit(RequestCancel(name))
        if row.state == execution.CANCEL_REQUESTED:
            await Call(worker_of(row.workspace), Halt(reference(name, row)))
        return self.observed(name, row)

    async def acknowledge(self, request: Acknowledge) -> Acknowledged:
        """Hand the exact acknowledgement to the original worker execution; its answer is the answer."""
        name = request.execution
        row = known_execution(self.disk, name)
        if not self.ask(execution.may_acknowledge, row.state):
            raise Failed("managed_tool_result_conflict")
        referenced = not row.publication or receipt_in(self.disk, row.publication) == request.receipt
        if not self.ask(publication.receipt_is_referenced, referenced):
            raise Failed("managed_tool_result_conflict")
        return await Call(worker_of(row.workspace), Confirm(reference(name, row), request.receipt))

    def observed(self, name: str, row: Execution) -> Observed:
        """The row as its owner sees it.

        Failed: ``runtime_broker_execution_unknown``.
        """
        if not self.ask(execution.is_known, row.state):
            raise Failed("runtime_broker_execution_unknown")
        return Observed(name, self.ask(execution.shows_as, row.state), row.envelope, row.receipt)

    handlers = {
        Warm: warm,
        Acquire: acquire,
        RegisterPublisher: register,
        Prepare: prepare,
        StartExecution: start,
        Status: status,
        CancelExecution: cancel,
        Acknowledge: acknowledge,
        Release: release,
        HandBack: hand_back,
    }


# --- what rows say -----------------------------------------------------------------------------------------------


def worker_of(workspace: str) -> str:
    """The address of a Workspace's worker."""
    return f"worker:{workspace}"


def holder_of(disk: Disk, workspace: str) -> str:
    """Who holds a Workspace; empty when nobody does."""
    held = disk.get(LEASES, workspace)
    return held.holder if held else ""


def claim_of(disk: Disk, ask: Decide, name: str, session: RuntimeSession) -> tuple[str, str]:
    """Who holds a Runtime Session's Workspace, and that Runtime Session's own key."""
    own_key = ask(lease.holder_key, session.workspace, session.generation, name)
    return holder_of(disk, session.workspace), own_key


def known_session(disk: Disk, name: str) -> RuntimeSession:
    """A Runtime Session's row. Failed: ``runtime_session_not_found``."""
    session = disk.get(RUNTIME_SESSIONS, name)
    if session is None:
        raise Failed("runtime_session_not_found", 404)
    return session


def known_execution(disk: Disk, name: str) -> Execution:
    """An execution's row. Failed: ``runtime_execution_not_found``."""
    row = disk.get(LEDGER, name)
    if row is None:
        raise Failed("runtime_execution_not_found", 404)
    return row


def receipt_in(disk: Disk, name: str) -> Receipt | None:
    """The receipt that the Store holds for a publication; None when it holds none."""
    published = disk.get(PUBLICATIONS, name)
    if published is None:
        return None
    for _, entry in disk.rows(JOURNAL, in_session(published.session, "")):
        told = entry.record
        if isinstance(told, ToolReceipt) and told.execution == published.mapping.reference.execution:
            return told.at(entry.sequence)
    return None


def content(asked: Prepare | Execution) -> tuple[str, ...]:
    """What one idempotency key stands for."""
    identity = (asked.runtime_session, asked.worker_call, asked.tool, asked.protocol)
    return (*identity, asked.payload_digest, asked.input_digest, asked.publication)


def reference(name: str, row: Execution) -> Reference:
    """The original v3 reference of an execution: the only one by which its worker is asked (003 Identity)."""
    return Reference(name, row.worker_call, row.runtime_session, row.generation, row.input_digest)


def unsent(name: str, status: str) -> Envelope:
    """The result of what was never sent: null capture (003 Lifecycle); a file tool's answer says so in words."""
    answer = "Not executed: it was cancelled before its start." if status == "cancelled" else ""
    return Envelope(name, status, NO_CODE, "", answer, False, None)
