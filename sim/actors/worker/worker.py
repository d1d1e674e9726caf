"""The worker: one per Workspace, born without a disk. A restart is a new generation that knows no old reference."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sim.actor import Actor
from sim.actors.worker.files import FileTool
from sim.actors.worker.proxy import Proxy
from sim.actors.worker.uploads import Uploads
from sim.deeds import NO_CODE, Spawn
from sim.design import Limits, capture, files, publication
from sim.effects import Failed, Serial, Start, Uncertain
from sim.protocol import (
    Acknowledged,
    Activate,
    Activated,
    Confirm,
    Deactivate,
    Deactivated,
    Descriptor,
    Envelope,
    Execute,
    ExecuteFileTool,
    Halt,
    InstallPublisher,
    Observe,
    Physical,
    PublisherInstalled,
    Receipt,
    Reference,
    WorkerState,
)
from sim.publication import GrantInstalled, InstallGrant
from sim.rule import Decide
from sim.scenario import Program
from sim.shell.foreground import Foreground
from sim.text import DigestError, Json, JsonError, parse_json, tool_digest, utf8

PIECE = 16 * 1024
"""What is read of a registration at once."""


Producer = Proxy | Uploads
"""Who takes what a process writes: its owner's publisher, or the object store."""


class Run:
    """One execution in the worker's memory: executing, settled or unknown."""

    def __init__(self, reference: Reference, producer: Producer, foreground: Foreground) -> None:
        self.reference = reference
        self.producer = producer
        self.foreground = foreground
        self.state = "executing"
        self.envelope: Envelope | None = None
        self.receipt: Receipt | None = None
        self.acknowledged: Receipt | None = None

    def never_started(self) -> None:
        """Stopped before its spawn: settled with null capture, and with nothing to acknowledge."""
        self.state = "settled"
        self.envelope = Envelope(self.reference.execution, "not_started", NO_CODE, "", "", False, None)

    def is_of(self, receipt: Receipt) -> bool:
        """Whether this is the receipt of the result: the one that came with it, or one that names its output."""
        kept = self.envelope.capture if self.envelope else None
        manifest = kept.manifest if kept else ""
        if isinstance(self.producer, Uploads):
            return (receipt.execution, receipt.manifest) == (self.reference.execution, manifest)
        return receipt == self.receipt

    def told(self) -> WorkerState:
        """What the broker is told of it."""
        return WorkerState(self.reference.execution, self.state, self.envelope, self.receipt)


class Worker(Actor):
    """Runs foreground commands in one Workspace, each only after the owner has opened its capture."""

    def __init__(
        self, workspace: str, life: int, ask: Decide, limits: Limits, programs: Callable[[str], Program]
    ) -> None:
        self.workspace = workspace
        self.life = life
        self.ask = ask
        self.limits = limits
        self.programs = programs
        self.publishers: dict[str, Descriptor] = {}
        self.grants: dict[str, InstallGrant] = {}
        self.runs: dict[str, Run] = {}
        self.answers: dict[str, tuple[Reference, WorkerState]] = {}
        self.called_off: set[str] = set()

    async def activate(self, request: Activate) -> Activated:
        """Tell which life of this worker the Runtime Session is bound to."""
        return Activated(self.life)

    async def install(self, request: InstallPublisher) -> PublisherInstalled:
        """Keep the descriptor in memory, for the whole life of the Runtime Session."""
        publisher = request.publisher
        self.refuse_other_life(request.generation)
        self.read(len(request.runtime_session) + len(publisher.url))
        local = self.ask(capture.publisher_is_local, publisher.url)
        if not local or not self.ask(capture.capability_is_whole, publisher.capability):
            raise Failed("managed_runtime_attestation_invalid", 400)
        kept = self.publishers.get(request.runtime_session)
        if not self.ask(capture.descriptor_stays, kept is not None, kept == publisher):
            raise Failed("managed_runtime_identity_conflict")
        self.publishers[request.runtime_session] = publisher
        return PublisherInstalled(request.runtime_session)

    def read(self, size: int) -> None:
        """Read a registration; what is over the limit is not kept."""
        read = 0
        while size - read > PIECE:
            read += PIECE
            if not self.ask(capture.registration_goes_on, read, self.limits):
                raise Failed("managed_runtime_attestation_invalid", 400)

    async def install_grant(self, request: InstallGrant) -> GrantInstalled:
        """Keep the grant of one execution in memory, for its whole life."""
        self.refuse_other_life(request.generation)
        kept = self.grants.get(request.execution)
        if not self.ask(publication.grant_stays, kept is not None, kept == request):
            raise Failed("managed_runtime_identity_conflict")
        self.grants[request.execution] = request
        return GrantInstalled(request.execution)

    async def execute(self, request: Execute) -> WorkerState:
        """Run a command, or join it; copies of one request wait for each other."""
        return await Serial(f"{request.reference.execution}:execute", self.begin, (request,))

    async def begin(self, request: Execute) -> WorkerState:
        """Identity, then the owner's capture, then the journal, then the process."""
        reference = request.reference
        self.refuse_other_life(reference.generation)
        arguments = self.identified(request)
        known = self.runs.get(reference.execution)
        same = known is not None and known.reference == reference
        met = self.ask(capture.meets_execution, known is not None, same)
        if met == "conflict":
            raise Failed("managed_runtime_identity_conflict")
        if known is not None and met == "join":
            return known.told()

        producer = self.producer(reference)
        opened = await producer.opens()
        if not self.ask(capture.may_spawn, opened):
            raise Failed("managed_context_unavailable")

        command = str(arguments.get("command"))
        spawn = Spawn(reference.execution, reference.worker_call, self.workspace, utf8(command))
        foreground = Foreground(spawn, self.programs(command), producer)
        run = self.runs[reference.execution] = Run(reference, producer, foreground)
        if self.ask(capture.stays_unspawned, reference.execution in self.called_off):
            run.never_started()
            return run.told()

        await Start(self.run, (run, self.timeout(arguments)))
        return run.told()

    def producer(self, reference: Reference) -> Producer:
        """Who takes the output: the grant's publication, or the publisher of the Session's owner.

        Failed: ``managed_context_unavailable`` where there is neither.
        """
        grant = self.grants.get(reference.execution)
        if grant is not None:
            return Uploads(reference, grant, self.ask, self.limits)
        publisher = self.publishers.get(reference.runtime_session)
        if publisher is None:
            raise Failed("managed_context_unavailable")
        return Proxy(reference, publisher, self.ask, self.limits)

    async def execute_file_tool(self, request: ExecuteFileTool) -> WorkerState:
        """Run a file tool, or answer as before; copies of one request wait for each other."""
        return await Serial(f"{request.reference.execution}:execute", self.answer, (request,))

    async def answer(self, request: ExecuteFileTool) -> WorkerState:
        """The outcome of a file tool, which is done once; one that was called off before is not done."""
        reference = request.reference
        self.refuse_other_life(reference.generation)
        known = self.answers.get(reference.execution)
        met = self.ask(
            capture.meets_execution, known is not None, known is not None and known[0] == reference
        )
        if met == "conflict":
            raise Failed("managed_runtime_identity_conflict")
        if known is not None and met == "join":
            return known[1]
        tool, arguments = _called(request.payload)
        if not self.ask(files.is_file_tool, tool):
            raise Failed("managed_tool_invalid_request", 400)

        status, text = "cancelled", ""
        if not self.ask(capture.stays_unspawned, reference.execution in self.called_off):
            status, text = await FileTool(reference.execution, self.workspace, arguments).run(tool)
        envelope = Envelope(reference.execution, status, 0, "", text, False, None)
        settled = WorkerState(reference.execution, "settled", envelope, None)
        self.answers[reference.execution] = (reference, settled)
        return settled

    async def run(self, run: Run, timeout: int) -> None:
        """One execution from spawn to admission."""
        physical = await run.foreground.run(timeout)
        await self.admit(run, physical)

    async def admit(self, run: Run, physical: Physical) -> None:
        """The owner's envelope and receipt; without them nobody knows what became of the output."""
        try:
            envelope = await run.producer.finalize(physical)
            receipt = await run.producer.accept(envelope)
        except (Failed, Uncertain):
            run.state = self.ask(capture.worker_state, False)
            return
        run.envelope, run.receipt = envelope, receipt
        run.state = self.ask(capture.worker_state, True)

    async def observe(self, request: Observe) -> WorkerState:
        """What this life of the worker knows of exactly this reference."""
        return self.known(request.reference).told()

    async def stop(self, request: Halt) -> WorkerState:
        """Kill the process; what it wrote so far is captured, and its end is observed later.

        A halt that overtakes the execution, or meets it before its spawn, is kept: no process will come of it.
        """
        reference = request.reference
        if reference.execution not in self.runs and reference.generation == self.life:
            self.called_off.add(reference.execution)
            return WorkerState(reference.execution, "executing", None, None)
        run = self.known(reference)
        await run.foreground.halt()
        return run.told()

    async def confirm(self, request: Confirm) -> Acknowledged:
        """The exact acknowledgement of a settled execution."""
        run = self.known(request.reference)
        exact = self.ask(capture.acknowledges, run.state, run.is_of(request.receipt))
        same = run.acknowledged == request.receipt
        if not exact or not self.ask(capture.acknowledgement_stays, run.acknowledged is not None, same):
            raise Failed("managed_tool_result_conflict")
        run.acknowledged = request.receipt
        return Acknowledged(request.reference.execution)

    async def deactivate(self, request: Deactivate) -> Deactivated:
        """Forget a Runtime Session of which nothing runs."""
        session = request.runtime_session
        own = {name: run for name, run in self.runs.items() if run.reference.runtime_session == session}
        running = sum(run.state == "executing" for run in own.values())
        if not self.ask(capture.may_deactivate, running):
            raise Failed("runtime_session_busy")
        self.runs = {name: run for name, run in self.runs.items() if name not in own}
        self.publishers.pop(session, None)
        self.grants = {name: grant for name, grant in self.grants.items() if grant.runtime_session != session}
        return Deactivated(session)

    def refuse_other_life(self, generation: int) -> None:
        """A reference to another life of this worker is not served."""
        if not self.ask(capture.generation_is_own, generation, self.life):
            raise Failed("managed_runtime_identity_conflict")

    def identified(self, request: Execute) -> Mapping[str, Json]:
        """The arguments that the payload carries, if they are those that the reference names."""
        _, arguments = _called(request.payload)
        try:
            computed = tool_digest(arguments)
        except DigestError:
            computed = ""
        if not self.ask(capture.arguments_are_those, computed, request.reference.input_digest):
            raise Failed("managed_runtime_identity_conflict")
        if not self.ask(capture.runs_in_foreground, bool(arguments.get("is_background"))):
            raise Failed("managed_tool_invalid_request", 400)
        return arguments

    def timeout(self, arguments: Mapping[str, Json]) -> int:
        """How long the command may run, in virtual milliseconds."""
        asked = arguments.get("timeout")
        return int(asked) if isinstance(asked, float) else self.limits.shell_timeout

    def known(self, reference: Reference) -> Run:
        """The run of exactly this reference."""
        run = self.runs.get(reference.execution)
        if run is None or run.reference != reference:
            raise Failed("managed_runtime_execution_unknown", 404)
        return run

    handlers = {
        Activate: activate,
        InstallPublisher: install,
        InstallGrant: install_grant,
        Execute: execute,
        ExecuteFileTool: execute_file_tool,
        Observe: observe,
        Halt: stop,
        Confirm: confirm,
        Deactivate: deactivate,
    }


def _called(payload: bytes) -> tuple[str, Mapping[str, Json]]:
    """The tool in a payload and its input; nothing when it is not what a payload is."""
    try:
        parsed = parse_json(payload.decode(errors="replace"))
    except JsonError:
        return "", {}
    fields = parsed if isinstance(parsed, dict) else {}
    arguments = fields.get("input")
    return str(fields.get("toolName", "")), arguments if isinstance(arguments, dict) else {}
