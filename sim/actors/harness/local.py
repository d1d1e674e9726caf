"""The local wrapper of O1c: harness, Session writer and process in one process; nobody else has a part in a call."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from sim.actors.harness.calls import Batch, Invocation, Owner, Reserved
from sim.actors.harness.session import Harness
from sim.actors.harness.turn import RecoveryRequired, ToolTurn
from sim.deeds import NO_CODE, Spawn
from sim.design import Limits, admission, cancel, execution, local, settlement
from sim.effects import Call, Disk, Failed
from sim.facts import ROOTS, Root
from sim.ids import capture_id
from sim.protocol import (
    LOCAL_SHELL,
    SAME_HOST,
    Assistant,
    CancelNoted,
    CancelTurn,
    Checkpoint,
    CheckWriter,
    Definition,
    Envelope,
    Loaded,
    LoadSession,
    Ownership,
    Prepared,
    Prompt,
    Published,
    PublishOutput,
    Record,
    RegisterCapture,
    Response,
    ToolReceipt,
    ToolResult,
)
from sim.rule import Decide
from sim.scenario import Program
from sim.shell.admission import Admission
from sim.shell.foreground import Foreground
from sim.shell.segments import Segments
from sim.shell.sink import Sink
from sim.text import utf8

ROOT_MOVED = "local_session_root_moved"


class LocalTurn(ToolTurn):
    """The tools of one prompt, run by the Session's own process. It is the local wrapper of the shared admission."""

    def __init__(
        self,
        owner: Owner,
        prompt: str,
        ask: Decide,
        limits: Limits,
        life: int,
        programs: Callable[[str], Program],
        root_is_same: Callable[[], bool],
    ) -> None:
        super().__init__(owner, prompt, ask, limits)
        self.journal = journal_of(owner.session)
        self.generation = life
        self.programs = programs
        self.root_is_same = root_is_same
        self.admission = Admission(self.journal, ask, limits, self)
        self.registered: dict[str, RegisterCapture] = {}
        self.running: Foreground | None = None

    # --- the order of design 003, as far as one process needs it -------------------------------------------------

    async def execute(self, batch: Batch) -> None:
        """One batch of tool calls: no acquisition, registration, ACK and release, for there is no other party."""
        if refusal := self.refusal(batch):
            await self.refuse(batch, refusal)
            return

        await self.guard()
        await self.append(Assistant(self.prompt, batch.round, "", batch.calls))
        self.doubt()
        planned = await self.reserve(batch)
        await self.checkpoint("await_runtime")
        for _, call in enumerate(each for each in planned if isinstance(each, Reserved)):
            response = await self.perform(
                call
            )  # capture, and the receipt with its checkpoint, become durable in here
            await self.guard()
            await self.append(ToolResult(self.prompt, batch.round, call.reference.execution, (response,)))
        self.proved()

    async def perform(self, call: Reserved) -> Response:
        """Run one call; what comes back is durable, admitted and resolved."""
        if self.ask(cancel.stops_before_start, self.cancelled):
            return await self.never_start(call)
        owner = await self.guard()
        await self.admission.verify_mapping(self.registered[call.reference.execution], owner)
        envelope = await self.capture(call)
        await self.guard()
        receipt = await self.admission.admit(envelope)
        if not self.ask(settlement.goes_on, receipt.delivery):
            raise RecoveryRequired("the output is not complete")
        return self.told(call, envelope)

    async def finish(self) -> None:
        """Settle consumption; nothing was acquired that could be released."""
        if self.ask(settlement.blocks, self.uncertain):
            raise RecoveryRequired("the outcome of a step is not proved")
        await self.consume()

    # --- the guards, and the automatic checkpoint ----------------------------------------------------------------

    async def guard(self) -> Ownership:
        """The writer lease is held, under this activation, and the root is the directory that was opened.

        Failed: ``managed_session_writer_conflict``, ``managed_session_activation_conflict``,
        ``local_session_root_moved``.
        """
        owner = Ownership(0, self.owner.activation, self.owner.epoch)
        if self.ask(local.guards_lease):
            owner = await Call(self.journal, CheckWriter())
        if not self.ask(local.root_is_same, self.root_is_same()):
            raise Failed(ROOT_MOVED)
        return owner

    async def after_read(self) -> None:
        """Both guards again: the read took time."""
        if self.ask(local.guards_reads):
            await self.guard()

    def with_receipt(self, receipt: ToolReceipt) -> tuple[Record, ...]:
        """The checkpoint that settles the receipt's call; with the last of a batch, results are ready."""
        if not self.ask(local.advances_with, receipt.delivery):
            return ()
        binding = self.bindings[receipt.execution]
        self.bindings[receipt.execution] = replace(binding, state="settled")
        left = [each for each in self.bindings.values() if each.state != "settled"]
        self.phase = "await_runtime" if left else "results_ready"
        owner, bindings = self.owner, tuple(self.bindings.values())
        return (Checkpoint(self.phase, self.prompt, owner.activation, owner.epoch, self.covered, bindings),)

    # --- reservation, process, cancellation ----------------------------------------------------------------------

    async def prepare(self, planned: Invocation) -> Prepared:
        """The Session names its executions itself."""
        name = self.ask(execution.execution_id, self.prompt, planned.worker_call)
        return Prepared(name, planned.worker_call, "prepared", self.generation)

    async def intend(self, planned: Invocation, prepared: Prepared) -> Reserved:
        """The actual input and the intent become durable; its protocol says that no broker knows of it."""
        name = prepared.execution
        self.registered[name] = await self.record_intent(planned, name, local.LOCAL)
        return self.reserved(planned, self.registered[name])

    async def capture(self, call: Reserved) -> Envelope:
        """The command from spawn to exit, both its pipes in durable segments, and the result."""
        reference, session = call.reference, self.owner.session
        key = {"tenantId": "tenant", "sessionId": session}
        name = capture_id(key, reference.execution, str(reference.generation))
        segments = Segments(name, self.publish, self.ask, self.limits)
        command = str((admission.fields_of(call.call) or {}).get("command"))
        spawn = Spawn(reference.execution, reference.worker_call, self.owner.workspace, utf8(command))
        self.running = Foreground(spawn, self.programs(command), Sink(segments))
        physical = await self.running.run(call.timeout)
        self.running = None
        return await segments.finalize(reference.execution, physical)

    async def publish(self, output: PublishOutput, name: str) -> Published:
        """Make a piece of output durable in the Session's own store."""
        return await Call(self.journal, output)

    async def halt(self) -> None:
        """Stop the command that runs now; its end is captured and admitted."""
        if self.running is not None:
            await self.running.halt()

    async def never_start(self, call: Reserved) -> Response:
        """Cancelled before start: null capture, and a receipt of that with its checkpoint."""
        envelope = Envelope(call.reference.execution, "not_started", NO_CODE, "", "", False, None)
        receipt = ToolReceipt(envelope.execution, "not_started", "", "", envelope)
        await self.append(receipt, *self.with_receipt(receipt))
        return self.told(call, envelope)

    async def abandon(self) -> None:
        """Nothing is reserved anywhere else, and a command that ran has ended before its batch could fail."""


class Local(Harness):
    """A local daemon Session: it leads its turns as every Session does, and runs their commands itself."""

    def __init__(
        self,
        session: str,
        workspace: str,
        life: int,
        disk: Disk,
        ask: Decide,
        limits: Limits,
        programs: Callable[[str], Program],
    ) -> None:
        super().__init__(session, workspace, life, ask, limits, Definition(LOCAL_SHELL, SAME_HOST))
        self.journal = journal_of(session)
        self.life = life
        self.disk = disk
        self.programs = programs
        self.opened: Root | None = None

    async def load(self, request: LoadSession) -> Loaded:
        """Open the Session, and note which directory stands at its root."""
        self.opened = self.disk.get(ROOTS, self.session)
        return await super().load(request)

    async def begin(self, request: Prompt) -> LocalTurn:
        """A turn whose commands run here; nothing has to be provisioned for it."""
        return LocalTurn(
            self.owner, request.prompt, self.ask, self.limits, self.life, self.programs, self.root_is_same
        )

    async def cancel(self, request: CancelTurn) -> CancelNoted:
        """Note the wish, and stop the command that runs."""
        noted = await super().cancel(request)
        if noted.active and isinstance(self.turn, LocalTurn):
            await self.turn.halt()
        return noted

    def root_is_same(self) -> bool:
        """Whether the directory that was opened is the one that stands there now."""
        return self.disk.get(ROOTS, self.session) == self.opened

    handlers = {**Harness.handlers, LoadSession: load, CancelTurn: cancel}


def journal_of(session: str) -> str:
    """The authority of a local Session, whose store is in its own process."""
    return f"local-journal:{session}"
