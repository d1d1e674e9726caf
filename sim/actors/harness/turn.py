"""One turn's work on the Workspace, in the order of design 003."""

from __future__ import annotations

from msgspec.structs import replace

from sim.actors.harness.calls import (
    Batch,
    Done,
    Invocation,
    Owner,
    Refused,
    Reserved,
    alone,
    execution_of,
    invoked,
)
from sim.design import (
    Limits,
    admission,
    cancel,
    capture,
    execution,
    files,
    lease,
    profile,
    publication,
    retry,
    settlement,
)
from sim.effects import Call, Failed, Join, Script, Sleep, Uncertain
from sim.protocol import (
    SHELL,
    Acknowledge,
    Acquire,
    Append,
    Assistant,
    Binding,
    CancelExecution,
    Checkpoint,
    ClosePublisher,
    Envelope,
    FileHistory,
    HandBack,
    Observed,
    OpenPublisher,
    Prepare,
    Prepared,
    Receipt,
    Record,
    Reference,
    RegisterCapture,
    RegisterPublisher,
    Release,
    Response,
    StageResource,
    StartExecution,
    Status,
    TakeReceipt,
    ToolCall,
    ToolIntent,
    ToolReceipt,
    ToolResult,
    Warmed,
)
from sim.rule import Decide

BROKER = "broker"


class RecoveryRequired(Exception):
    """The turn cannot prove what happened; only an explicit recovery may go on (003 Lifecycle)."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class ToolTurn:
    """The tools of one prompt. ``uncertain`` is true while something may have happened that is not proved."""

    def __init__(
        self,
        owner: Owner,
        prompt: str,
        ask: Decide,
        limits: Limits,
        warming: Script[Warmed] | None = None,
    ) -> None:
        self.owner = owner
        self.prompt = prompt
        self.ask = ask
        self.limits = limits
        self.warming = warming
        self.journal = f"journal:{owner.session}"
        self.publisher = f"publisher:{owner.session}"
        self.records: list[Record] = []
        self.phase = "before_model"
        self.covered = 0
        self.generation = 0
        self.acquired = False
        self.listening = False
        self.uncertain = False
        self.cancelled = False
        self.poll = limits.status_poll
        self.bindings: dict[str, Binding] = {}

    # --- the order of design 003 ---------------------------------------------------------------------------------

    async def execute(self, batch: Batch) -> None:
        """One batch of tool calls, in the order of design 003."""
        if refusal := self.refusal(batch):
            await self.refuse(batch, refusal)
            return

        await self.acquire()
        await self.register(batch)
        self.stop_if_cancelled()
        await self.append(Assistant(self.prompt, batch.round, "", batch.calls))
        self.doubt()
        await self.keep_files(batch, "pending")
        planned = await self.reserve(batch)
        if not self.bindings:  # every call is refused alone: no intent, no checkpoint (behaviour §2.4)
            await self.refuse_recorded(batch, alone(planned))
            return

        await self.checkpoint("await_runtime")
        await self.grant(planned)
        for _, call in enumerate(planned):
            done = await self.run(call)  # a Shell's capture and receipt become durable in here
            result = ToolResult(self.prompt, batch.round, execution_of(call), (done.response,))
            await self.append(result, resources=done.resources, command=self.history_command(done))
            await self.resolve(call)
            await self.acknowledge(done.receipt)
        await self.keep_files(batch, "snapshot")
        self.proved()

    async def consume(self) -> None:
        """The results were read by the inference that has just ended."""
        if self.phase == "results_ready":
            await self.checkpoint("before_model")

    async def finish(self) -> None:
        """Settle consumption and release the Workspace; on doubt, neither."""
        if self.ask(settlement.blocks, self.uncertain):
            raise RecoveryRequired("the outcome of a step is not proved")
        if not self.ask(settlement.must_release, self.acquired):
            return
        await self.consume()
        self.doubt()
        released = await Call(BROKER, Release(self.prompt))
        if not self.ask(settlement.released, self.prompt, released.runtime_session):
            raise RecoveryRequired("the release is not confirmed")
        self.proved()

    async def hand_back(self) -> None:
        """Free the Workspace of a turn that stays blocked, as far as that can be done; its Runtime Session is kept."""
        await Call(BROKER, HandBack(self.prompt))

    async def close(self) -> None:
        """Close the turn's listener, whatever became of the turn; retained output stays (003 Lifecycle)."""
        if self.listening:
            self.listening = False
            await Call(self.publisher, ClosePublisher(self.prompt))

    # --- refusal -------------------------------------------------------------------------------------------------

    def refusal(self, batch: Batch) -> tuple[Response, ...]:
        """The responses with which the whole batch is refused; none when it may run. A guard ends the turn plainly."""
        self.guarded(batch)
        verdicts = tuple(admission.Verdict(call, self.error_in(call)) for call in batch.calls)
        if self.ask(admission.refuses_batch, verdicts):
            return self.ask(admission.refusals, verdicts)
        if any(self.ask(admission.takes_h3, call) for call in batch.calls):
            raise Failed("hosted_background_shell_unavailable", 501)
        return ()

    def guarded(self, batch: Batch) -> None:
        """What no refusal is for: it ends the turn plainly, whatever else is wrong with the batch (000 §6)."""
        ask, calls, limits = self.ask, batch.calls, self.limits
        if ask(admission.duplicate_ids, calls):
            raise Failed("hosted_tool_batch_invalid", 400)
        if not ask(admission.assistant_fits, calls, limits) or not ask(admission.answers_fit, calls, limits):
            raise Failed("hosted_tool_batch_too_large", 413)
        for call in calls:
            if not ask(profile.offers, self.owner.profile, call.name) or ask(admission.cut_short, call):
                raise Failed("hosted_tool_call_invalid", 400)
            if ask(admission.oversized, call, limits):
                raise Failed("hosted_tool_call_too_large", 413)

    def error_in(self, call: ToolCall) -> str:
        """Why a call cannot run; empty when it can. Its text is checked first, on whatever branch it would take."""
        if error := self.ask(admission.text_error, call):
            return error
        return (
            "" if self.ask(admission.takes_h3, call) else self.ask(admission.shape_error, call, self.limits)
        )

    async def refuse(self, batch: Batch, refusal: tuple[Response, ...]) -> None:
        """The batch and one error for each of its calls become durable; nothing is acquired or started."""
        self.doubt()
        await self.append(Assistant(self.prompt, batch.round, "", batch.calls))
        await self.refuse_recorded(batch, refusal)

    async def refuse_recorded(self, batch: Batch, refusal: tuple[Response, ...]) -> None:
        """Refuse a batch whose assistant record stands already: one record with all responses (000 §4)."""
        self.doubt()
        await self.append(ToolResult(self.prompt, batch.round, "", refusal))
        self.proved()

    # --- acquire and register ------------------------------------------------------------------------------------

    async def acquire(self) -> None:
        """Take the Workspace, for the first batch that needs it."""
        if self.acquired:
            return
        if self.warming is not None:
            await Join(self.warming)
        await self.claim()
        self.acquired = True
        self.proved()
        self.stop_if_cancelled()

    async def claim(self) -> None:
        """Ask for the Workspace. Only a definite refusal proves that it is not held; a busy one may be waited for."""
        while True:
            self.doubt()
            try:
                await Call(BROKER, Acquire(self.owner.session, self.prompt, self.owner.workspace))
                return
            except Failed as refusal:
                if self.ask(lease.acquire_refusal_is_definite, refusal.status, refusal.code):
                    self.proved()
                if not self.ask(lease.waits_when_busy, refusal.code):
                    raise
            await Sleep(self.limits.busy_poll)
            self.stop_if_cancelled()

    async def register(self, batch: Batch) -> None:
        """Listen for this turn's output, and install the publisher in the Runtime Session, when a Shell is to run."""
        needed = self.ask(capture.needs_publisher, tuple(call.name for call in batch.calls))
        if self.listening or not needed:
            return
        self.doubt()
        descriptor = await Call(self.publisher, OpenPublisher(self.prompt))
        self.listening = True
        registered = await Call(BROKER, RegisterPublisher(self.prompt, descriptor))
        self.generation = registered.generation
        self.proved()

    # --- reservation, intent, checkpoint -------------------------------------------------------------------------

    async def reserve(self, batch: Batch) -> list[Reserved | Refused]:
        """Reserve each call in order and record what is going to be executed, before anything is."""
        self.bindings = {}
        planned: list[Reserved | Refused] = []
        for position, call in enumerate(batch.calls):
            if why := self.file_error(call):
                planned.append(self.refused(call, why))
                continue
            worker_call = f"{self.owner.activation}.{self.prompt}.r{batch.round}.c{position}.w"
            invocation = invoked(call, worker_call, self.ask(execution.protocol_of, call.name))
            await Call(self.journal, StageResource(f"{worker_call}.input", call.arguments.encode()))
            try:
                prepared = await self.prepare(invocation)
            except Failed as refusal:
                if not self.ask(execution.refuses_one_call, refusal.code):
                    raise
                planned.append(self.refused(call, "the execution could not be reserved."))
                continue
            reserved = await self.intend(invocation, prepared)
            planned.append(reserved)
        return planned

    async def grant(self, planned: list[Reserved | Refused]) -> None:
        """Let what is reserved publish its output; nothing, where the owner captures it by itself."""

    def file_error(self, call: ToolCall) -> str:
        """Why a file call cannot run; empty when it can, and for a Shell call, which was admitted with its batch."""
        return "" if call.name == SHELL else self.ask(files.call_error, call)

    def refused(self, call: ToolCall, why: str) -> Refused:
        """A call that is refused alone."""
        return Refused(call, self.ask(admission.refused_alone, call, why))

    async def prepare(self, planned: Invocation) -> Prepared:
        """Reserve the execution; a lost reservation is replayed once, identically, where the owner captures."""
        worker_call = planned.worker_call
        request = Prepare(
            self.prompt,
            worker_call,
            planned.call.name,
            planned.protocol,
            planned.payload_digest,
            planned.input_digest,
            self.publication_of(planned),
        )
        again = publication.prepares_again if request.publication else retry.prepare_again
        sends = 0
        while True:
            sends += 1
            try:
                prepared = await Call(BROKER, request)
                break
            except Uncertain as doubt:
                if not self.ask(again, doubt.cause, sends, self.limits):
                    raise
        if not self.ask(execution.is_reservation, worker_call, prepared.worker_call, prepared.state):
            raise RecoveryRequired("the reservation is for another call, or is running")
        return prepared

    def publication_of(self, planned: Invocation) -> str:
        """As what the output of a call is published; empty, where the owner captures it."""
        return ""

    async def intend(self, planned: Invocation, prepared: Prepared) -> Reserved:
        """The actual input and the intent become durable; the publisher learns which Shell to expect."""
        registered = await self.record_intent(planned, prepared.execution, planned.protocol)
        if planned.input_digest:
            await Call(self.publisher, registered)
        return self.reserved(planned, registered)

    async def record_intent(self, planned: Invocation, name: str, protocol: str) -> RegisterCapture:
        """The actual input and the intent become durable together: the mapping that admission verifies."""
        call, worker_call = planned.call, planned.worker_call
        reference = Reference(name, worker_call, self.prompt, self.generation, planned.input_digest)
        digest = planned.input_digest or planned.payload_digest.removeprefix("sha256:")
        invocation = self.ask(execution.invocation_of, planned.protocol, worker_call, name)
        self.bindings[name] = Binding(name, call.id, invocation, digest, "dispatch")
        args_ref = f"{worker_call}.args"
        await Call(self.journal, StageResource(f"{worker_call}.definition", call.name.encode()))
        await Call(self.journal, StageResource(args_ref, planned.input))
        await self.append(
            ToolIntent(self.prompt, name, call.id, worker_call, digest, args_ref, protocol),
            resources=(f"{worker_call}.input", f"{worker_call}.definition", args_ref),
        )
        return RegisterCapture(reference, call.id, self.prompt, args_ref)

    def reserved(self, planned: Invocation, registered: RegisterCapture) -> Reserved:
        """The call as it is going to be started, for as long as it may be observed."""
        timeout = self.ask(admission.timeout_of, planned.call, self.limits)
        window = self.ask(execution.window_of, planned.call.name, timeout, self.limits)
        return Reserved(
            planned.call, registered.reference, planned.protocol, planned.payload, timeout, window
        )

    async def checkpoint(self, phase: str) -> None:
        """Where the turn stands becomes durable, bound to this turn, prompt and activation."""
        owner = self.owner
        bindings = tuple(self.bindings.values()) if phase != "before_model" else ()
        await self.append(
            Checkpoint(phase, self.prompt, owner.activation, owner.epoch, self.covered, bindings)
        )
        self.phase = phase

    # --- execution -----------------------------------------------------------------------------------------------

    async def run(self, call: Reserved | Refused) -> Done:
        """Execute one reserved call; what comes back of a Shell is durable and admitted."""
        if isinstance(call, Refused):
            return Done(call.response)
        if self.ask(cancel.stops_before_start, self.cancelled):
            observed = await self.cancel(call)
            return await self.call_off(call, observed)
        await self.start(call)
        observed = await self.observe(call)
        envelope = observed.envelope
        if envelope is not None and self.ask(execution.answers_at_once, call.protocol):
            return await self.answer(call, envelope)
        if envelope is None or envelope.capture is None:
            return await self.call_off(call, observed)
        receipt = await self.admitted(call, envelope)
        if not self.ask(settlement.goes_on, receipt.delivery):
            raise RecoveryRequired("the output is not complete")
        return Done(self.told(call, envelope), receipt)

    async def admitted(self, call: Reserved, envelope: Envelope) -> Receipt:
        """The receipt under which the owner's publisher admitted exactly this result."""
        return await Call(self.publisher, TakeReceipt(call.reference.execution, envelope))

    async def start(self, call: Reserved) -> None:
        """Dispatch, once. A lost start is never sent again: its outcome is observed (003 Identity)."""
        sends = 0
        while True:
            sends += 1
            try:
                await Call(BROKER, StartExecution(call.reference.execution, call.payload))
                return
            except Failed as refusal:
                if self.ask(execution.start_refusal_is_definite, refusal.code):
                    raise
                return
            except Uncertain:
                if not self.ask(execution.start_again, sends):
                    return

    async def observe(self, call: Reserved) -> Observed:
        """Look until the execution is settled, within its window; a cancellation is sent on once."""
        waited, asked = 0, False
        while waited < call.window:
            observed = await Call(BROKER, Status(call.reference.execution))
            if self.ask(execution.status_answers, observed.state):
                return observed
            if self.cancelled and not asked:
                asked = True
                await self.cancel(call)
            await Sleep(self.poll)
            waited += self.poll
        raise RecoveryRequired("the execution was not settled within its window")

    async def cancel(self, call: Reserved) -> Observed:
        """Ask for the end of an execution, and have it confirmed."""
        observed = await Call(BROKER, CancelExecution(call.reference.execution))
        if not self.ask(cancel.confirmed, observed.state):
            raise RecoveryRequired("the cancellation is not confirmed")
        return observed

    async def call_off(self, call: Reserved, observed: Observed) -> Done:
        """Cancelled before start: proved so, with null capture, for a Shell a receipt of that, and nothing to ACK."""
        envelope = observed.envelope
        status = envelope.status if envelope else ""
        unsent = self.ask(execution.unsent_status, call.protocol)
        proof = self.ask(cancel.proves_not_started, self.cancelled, observed.state, status, unsent)
        if not envelope or not proof:
            raise RecoveryRequired("the execution did not end as it had to")
        if self.ask(execution.answers_at_once, call.protocol):
            return await self.answer(call, envelope)
        await self.append(ToolReceipt(call.reference.execution, "not_started", "", "", envelope))
        return Done(self.told(call, envelope))

    async def answer(self, call: Reserved, envelope: Envelope) -> Done:
        """What a file tool answered, bounded, as the outcome that its record refers to: no receipt and no ACK."""
        response = self.ask(files.tells, call.call.id, call.call.name, envelope)
        bounded = self.ask(files.bounded, response, envelope.status, self.limits)
        outcome = f"outcome-{call.reference.execution}"
        await Call(self.journal, StageResource(outcome, bounded.text.encode()))
        return Done(bounded, resources=(outcome,))

    def told(self, call: Reserved, envelope: Envelope) -> Response:
        """What the model is told; an admitted result that fits no record is never shortened (003 Identity)."""
        response = self.ask(settlement.tells, call.call.id, call.call.name, envelope)
        if not self.ask(settlement.result_fits, response.text, self.limits):
            raise RecoveryRequired("the admitted result does not fit its history record")
        return response

    # --- resolution and acknowledgement --------------------------------------------------------------------------

    def history_command(self, done: Done) -> str:
        """The identity under which a result is written; empty for that of its place in the turn."""
        return ""

    async def resolve(self, call: Reserved | Refused) -> None:
        """The call's result is in history: its binding is settled; with the last one, results are ready."""
        if isinstance(call, Reserved):
            binding = self.bindings[call.reference.execution]
            self.bindings[binding.execution] = replace(binding, state="settled")
        open_calls = [each for each in self.bindings.values() if each.state != "settled"]
        await self.checkpoint("await_runtime" if open_calls else "results_ready")

    async def acknowledge(self, receipt: Receipt | None) -> None:
        """Acknowledge what was admitted, or block (003 Lifecycle). What never started has no acknowledgement."""
        if receipt is None:
            return
        try:
            await self.confirm(self.acknowledgement(receipt))
        except (Failed, Uncertain, RecoveryRequired) as failure:
            if self.ask(settlement.ack_failure_blocks, str(failure)):
                raise

    def acknowledgement(self, receipt: Receipt) -> Acknowledge:
        """What acknowledges a receipt."""
        return Acknowledge(receipt.execution, receipt)

    async def confirm(self, request: Acknowledge) -> None:
        """Exact acknowledgement; a lost one is replayed once, identically, where the owner captured the output."""
        again = publication.acknowledges_again if request.publication else retry.ack_again
        sends = 0
        while True:
            sends += 1
            try:
                acknowledged = await Call(BROKER, request)
                break
            except Uncertain as doubt:
                if not self.ask(again, doubt.cause, sends, self.limits):
                    raise
        if not self.ask(settlement.acknowledged, request.execution, acknowledged.execution):
            raise RecoveryRequired("the acknowledgement is for another execution")

    async def abandon(self) -> None:
        """The batch failed: cancel what was reserved, as far as that can be done; nothing is concluded from it."""
        for _, binding in enumerate(self.bindings.values()):
            if binding.state == "settled":
                continue
            try:
                await Call(BROKER, CancelExecution(binding.execution))
            except (Failed, Uncertain):
                if not self.ask(cancel.is_best_effort):
                    raise

    # --- file history, journal and doubt ---------------------------------------------------------------------------

    async def keep_files(self, batch: Batch, state: str) -> None:
        """The files that this batch writes, in the file history: before its first dispatch, and behind all results."""
        named = self.ask(files.files_written, batch.calls)
        if named:
            await self.append(FileHistory(self.prompt, batch.round, state, named))

    async def append(self, *records: Record, resources: tuple[str, ...] = (), command: str = "") -> None:
        """Make records durable. A record that may or may not be written leaves the turn in doubt."""
        settled = not self.uncertain
        self.doubt()
        command = command or f"{self.prompt}.{len(self.records)}.{records[0].label}"
        appended = await Call(self.journal, Append(command, records, resources))
        self.records.extend(records)
        self.covered = appended.last
        if settled:
            self.proved()

    def doubt(self) -> None:
        """From here until proof, what was asked may have happened without our knowing."""
        self.uncertain = self.ask(settlement.doubt_first)

    def proved(self) -> None:
        """Everything asked so far is known to have happened, or not to have."""
        self.uncertain = False

    def stop_if_cancelled(self) -> None:
        """Between acquisition and the first record a cancellation ends the turn plainly (behaviour §2.1, step 9)."""
        if self.ask(cancel.stops_before_start, self.cancelled):
            raise Failed("hosted_turn_cancelled")
