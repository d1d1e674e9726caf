"""A turn whose output is published to the object store (O2): the order of design 003 with other hands.

No listener and no registration; instead each Shell has a grant, which is renewed while it may publish. What its
producer finished is admitted by the owner, in one transaction with all that the receipt refers to.
"""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace

from sim.actors.harness.calls import Batch, Done, Invocation, Owner, Refused, Reserved
from sim.actors.harness.turn import BROKER, RecoveryRequired, ToolTurn
from sim.content import sha256
from sim.design import Limits, capture, execution, publication
from sim.effects import Call, Failed, Script, Secret, Sleep, Start, Stop, Uncertain
from sim.protocol import (
    Acknowledge,
    Append,
    Envelope,
    Observed,
    Piece,
    Prepared,
    ReadOutput,
    Receipt,
    RegisterCapture,
    StartExecution,
    Status,
    ToolReceipt,
    Warmed,
)
from sim.publication import (
    AsWriter,
    CloseNotStarted,
    Finished,
    Grant,
    Mapping,
    PrepareAdmission,
    ReadFinished,
    ReadRange,
    RenewGrants,
    ReserveGrant,
)
from sim.rule import Decide
from sim.shell.admission import candidate
from sim.shell.reread import Reread


class PublishedTurn(ToolTurn):
    """The tools of one prompt, whose Shells publish their output themselves."""

    def __init__(
        self,
        owner: Owner,
        prompt: str,
        ask: Decide,
        limits: Limits,
        capture_bytes: int,
        warming: Script[Warmed] | None = None,
    ) -> None:
        super().__init__(owner, prompt, ask, limits, warming)
        self.capture_bytes = capture_bytes
        self.poll = limits.publication_poll
        self.mappings: dict[str, RegisterCapture] = {}
        self.open: set[str] = set()
        self.renewal: Script[None] | None = None

    # --- registration, reservation, grants ---------------------------------------------------------------------------

    async def register(self, batch: Batch) -> None:
        """Nobody has to be registered: whoever has a grant publishes."""

    def publication_of(self, planned: Invocation) -> str:
        """A Shell's output is published under a name that follows from its worker call."""
        return publication_name(planned.worker_call) if planned.input_digest else ""

    async def intend(self, planned: Invocation, prepared: Prepared) -> Reserved:
        """The actual input and the intent become durable, bound to the generation that was reserved."""
        self.generation = prepared.generation
        registered = await self.record_intent(planned, prepared.execution, planned.protocol)
        if planned.input_digest:
            self.mappings[prepared.execution] = registered
        return self.reserved(planned, registered)

    def reserved(self, planned: Invocation, registered: RegisterCapture) -> Reserved:
        """The call as it is going to be started; one that publishes is observed for half an hour."""
        reserved = super().reserved(planned, registered)
        if not planned.input_digest:
            return reserved
        return replace(reserved, window=self.limits.publication_window)

    async def grant(self, planned: list[Reserved | Refused]) -> None:
        """A grant for each Shell, and one timer that renews them all."""
        for _, call in enumerate(planned):
            if isinstance(call, Reserved) and call.reference.execution in self.mappings:
                await self.reserve_grant(call)
        if self.open and self.renewal is None:
            self.renewal = await Start(self.renew)

    async def reserve_grant(self, call: Reserved) -> None:
        """Reserve one publication. Only an open grant lets its execution be started."""
        registered, name = (
            self.mappings[call.reference.execution],
            publication_name(call.reference.worker_call),
        )
        mapping = Mapping(
            registered.reference,
            registered.model_call,
            registered.prompt,
            registered.args_ref,
            self.owner.activation,
            self.owner.epoch,
            self.capture_bytes,
        )
        request = ReserveGrant(self.owner.session, name, mapping, token_of(name))
        self.open.add(name)
        grant: Grant = await Call(self.journal, AsWriter(request))
        if not self.ask(publication.grant_is_open, grant.state):
            raise RecoveryRequired("the grant is not open")

    async def renew(self) -> None:
        """Renew what is open, until nothing is; one that fails is tried again, and told by what it lets run out."""
        while True:
            await Sleep(self.limits.grant_renewal)
            names = tuple(sorted(self.open))
            if not self.ask(publication.keeps_renewing, len(names)):
                break
            try:
                await Call(self.journal, AsWriter(RenewGrants(self.owner.session, names)))
            except (Failed, Uncertain):
                continue
        self.renewal = None

    # --- start and observation ---------------------------------------------------------------------------------------

    async def start(self, call: Reserved) -> None:
        """Dispatch; again only while the ledger proves, look after look, that nothing was dispatched."""
        if call.reference.execution not in self.mappings:
            await super().start(call)
            return
        name = publication_name(call.reference.worker_call)
        request = StartExecution(call.reference.execution, call.payload, name, token_of(name))
        starts = proven = 0
        while not starts or self.ask(publication.start_again, starts, proven, self.limits):
            starts += 1
            try:
                await Call(BROKER, request)
            except Failed as refusal:
                if self.ask(publication.start_refusal_is_definite, refusal.status, refusal.code):
                    raise
            except Uncertain:
                proven = await self.proofs(call)
            else:
                return

    async def proofs(self, call: Reserved) -> int:
        """How often in a row a status proved that nothing was dispatched; as many as are needed, at most."""
        seen = 0
        while seen < self.limits.start_proofs:
            observed = await Call(BROKER, Status(call.reference.execution))
            if not self.ask(publication.proves_unsent, observed.state):
                return 0
            seen += 1
            await Sleep(self.poll)
        return seen

    async def observe(self, call: Reserved) -> Observed:
        """What the broker proves; where it knows nothing, what the producer finished with."""
        try:
            return await super().observe(call)
        except Failed as refusal:
            published = call.reference.execution in self.mappings
            if not published or not self.ask(publication.asks_finished, refusal.code):
                raise
        finished = await self.finished(call)
        return Observed(call.reference.execution, execution.SETTLED, finished.envelope, None)

    async def finished(self, call: Reserved) -> Finished:
        """What the producer finished with. Failed: it never did."""
        request = ReadFinished(self.owner.session, publication_name(call.reference.worker_call))
        found: Finished = await Call(self.journal, AsWriter(request))
        return found

    # --- admission ---------------------------------------------------------------------------------------------------

    async def admitted(self, call: Reserved, envelope: Envelope) -> Receipt:
        """The finished result, verified byte by byte; then outcome, receipt and reference become durable."""
        finished = await self.finished(call)
        if not self.ask(publication.finished_is_reported, finished.envelope == envelope):
            raise RecoveryRequired("the broker reports another result than the producer finished with")
        kept, name = envelope.capture, publication_name(call.reference.worker_call)
        if kept is not None and kept.status == capture.COMPLETE:
            await Reread(partial(self.piece, name), self.ask, self.limits).verify(kept)
        receipt, outcome = candidate(envelope, self.ask)
        prepared = PrepareAdmission(self.owner.session, name, outcome, sha256(outcome))
        await Call(self.journal, AsWriter(prepared))
        return await self.receipt(name, receipt)

    async def piece(self, name: str, request: ReadOutput) -> Piece:
        """One range of a published piece."""
        read = ReadRange(self.owner.session, name, request.resource, request.start, request.end)
        found: Piece = await Call(self.journal, AsWriter(read))
        return found

    async def receipt(self, name: str, receipt: ToolReceipt) -> Receipt:
        """The receipt, in the Session's commit queue, where its publication is."""
        asserts = self.ask(capture.receipt_asserts_activation)
        append = Append(receipt.execution, (receipt,), (receipt.outcome_ref,), asserts, name)
        appended = await Call(self.journal, append)
        self.open.discard(name)
        return receipt.at(appended.last)

    def history_command(self, done: Done) -> str:
        """The history of a published result has an id that follows from its execution."""
        return self.ask(publication.history_command, done.receipt.execution) if done.receipt else ""

    def acknowledgement(self, receipt: Receipt) -> Acknowledge:
        """What acknowledges the receipt of a publication."""
        worker_call = self.mappings[receipt.execution].reference.worker_call
        return Acknowledge(receipt.execution, receipt, publication_name(worker_call))

    # --- what never started, and the end -----------------------------------------------------------------------------

    async def call_off(self, call: Reserved, observed: Observed) -> Done:
        """Cancelled before start: the ledger proves it, and the grant is closed upon that proof."""
        if call.reference.execution in self.mappings:
            await self.close_grant(publication_name(call.reference.worker_call))
        return await super().call_off(call, observed)

    async def close_grant(self, name: str) -> None:
        """Close the grant of an execution that never ran."""
        grant: Grant = await Call(self.journal, AsWriter(CloseNotStarted(self.owner.session, name)))
        if not self.ask(publication.is_closed, grant.state):
            raise RecoveryRequired("the grant of what never started is not closed")
        self.open.discard(name)

    async def abandon(self) -> None:
        """The batch failed: cancel what was reserved and close what never ran, as far as that can be done."""
        await super().abandon()
        for _, name in enumerate(sorted(self.open)):
            try:
                await self.close_grant(name)
            except (Failed, Uncertain, RecoveryRequired):
                continue
        self.open.clear()

    async def close(self) -> None:
        """The turn is over: no timer goes on."""
        if self.renewal is not None:
            await Stop(self.renewal)
            self.renewal = None
        await super().close()


def publication_name(worker_call: str) -> str:
    """As what the output of a worker call is published."""
    return f"{worker_call}.publication"


def token_of(name: str) -> Secret:
    """The token of a publication's grant."""
    return Secret.derived(f"token of {name}")
