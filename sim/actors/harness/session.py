"""The harness's Session: it opens, takes prompts, runs one turn at a time, and remembers how each ended."""

from __future__ import annotations

from sim.actor import Actor
from sim.actors.harness.calls import Batch, Owner
from sim.actors.harness.conversation import conversation
from sim.actors.harness.published import PublishedTurn
from sim.actors.harness.turn import BROKER, RecoveryRequired, ToolTurn
from sim.design import Limits, admission, lifecycle, profile, publication, retry, settlement
from sim.effects import Call, Failed, Serial, Signal, Start, Uncertain, Wait
from sim.protocol import (
    Admitted,
    Append,
    Assistant,
    AwaitTurn,
    CancelNoted,
    CancelTurn,
    Checkpoint,
    Definition,
    Detached,
    DetachSession,
    Entry,
    Infer,
    InputAccepted,
    Loaded,
    LoadSession,
    ModelOutput,
    OpenJournal,
    Prompt,
    Record,
    SealJournal,
    StopPublisher,
    TurnEnded,
    TurnSettled,
    UserMessage,
    Value,
    WakeRequested,
    Warm,
    Warmed,
)
from sim.rule import Decide

INFERENCE_TIMEOUT_MS = 600_000
COMPLETED, CANCELLED, ERROR, BLOCKED = "completed", "cancelled", "error", "recovery-blocked"


class Accepted(Value, frozen=True, gc=False):
    """A prompt that the journal holds: its text, and the watermark with which it was admitted."""

    text: str
    watermark: int


class Harness(Actor):
    """Leads one Session in one life of its owner's process."""

    def __init__(
        self, session: str, workspace: str, life: int, ask: Decide, limits: Limits, definition: Definition
    ) -> None:
        self.session = session
        self.workspace = workspace
        self.definition = definition
        self.ask = ask
        self.limits = limits
        self.owner = Owner(session, workspace, definition.profile, f"{session}.a{life}", 0)
        self.journal = f"journal:{session}"
        self.publisher = f"publisher:{session}"
        self.records: list[Record] = []
        self.admitted: dict[str, Accepted] = {}
        self.ended: dict[str, TurnEnded] = {}
        self.turn: ToolTurn | None = None
        self.blocked = True
        self.attached = False

    # --- requests ------------------------------------------------------------------------------------------------

    async def load(self, request: LoadSession) -> Loaded:
        """Open the Session under a new activation; an old turn that is not settled is refused (003 Identity)."""
        if not self.ask(lifecycle.may_open, self.attached):
            raise Failed("hosted_session_already_attached")
        tools, provisioner = self.definition.profile, self.definition.provisioner
        if not self.ask(profile.provisioner_serves, tools, provisioner):
            raise Failed("hosted_shell_provisioner_unsupported")
        found = await Call(self.journal, OpenJournal(self.session, self.definition))
        self.owner = Owner(self.session, self.workspace, tools, found.activation, found.epoch)
        self.remember(found.entries)
        if self.ask(settlement.unresolved, tuple(self.records)):
            raise Failed("hosted_turn_recovery_required")
        self.blocked, self.attached = False, True
        return Loaded(found.activation, found.epoch)

    def remember(self, entries: tuple[Entry, ...]) -> None:
        """What the journal tells of earlier turns."""
        self.records = [entry.record for entry in entries]
        for entry in entries:
            if isinstance(entry.record, InputAccepted):
                self.admitted[entry.record.prompt] = Accepted(entry.record.text, entry.sequence)
            elif isinstance(entry.record, WakeRequested):
                accepted = self.admitted[entry.record.prompt]
                self.admitted[entry.record.prompt] = Accepted(accepted.text, entry.sequence)
            elif isinstance(entry.record, TurnSettled):
                self.ended[entry.record.prompt] = TurnEnded(entry.record.state, "")

    async def prompt(self, request: Prompt) -> Admitted:
        """Admit a prompt, durably, before anything is done for it; one admission at a time."""
        return await Serial("prompts", self.admit, (request,))

    async def admit(self, request: Prompt) -> Admitted:
        """The same prompt again gets the same answer; a new one starts a turn."""
        if self.ask(settlement.known_prompt, request.prompt, frozenset(self.admitted)):
            return self.admit_again(request)
        if not self.ask(settlement.prompt_fits, request.text, self.limits):
            raise Failed("invalid_hosted_prompt", 413)
        if not self.ask(settlement.one_turn, self.turn.prompt if self.turn else "", request.prompt):
            raise Failed("hosted_turn_active")
        attached = self.ask(lifecycle.is_attached, self.attached)
        if not attached or not self.ask(settlement.takes_prompts, self.blocked):
            raise Failed("hosted_turn_recovery_required")
        accepted = (InputAccepted(request.prompt, request.text), WakeRequested(request.prompt))
        appended = await Call(self.journal, Append(request.prompt, accepted))
        self.admitted[request.prompt] = Accepted(request.text, appended.last)
        await Start(self.take_turn, (request,))
        return Admitted(appended.last)

    def admit_again(self, request: Prompt) -> Admitted:
        """The answer that this prompt got before. Failed: ``hosted_prompt_conflict`` for another text."""
        accepted = self.admitted.get(request.prompt, Accepted(request.text, 0))
        if self.ask(lifecycle.prompt_conflicts, request.text, accepted.text):
            raise Failed("hosted_prompt_conflict")
        return Admitted(accepted.watermark)

    async def detach(self, request: DetachSession) -> Detached:
        """Leave this process, behind every admission that was asked before."""
        return await Serial("prompts", self.leave)

    async def leave(self) -> Detached:
        """Stop publisher ingress and drain it before the Session writer is closed (003 Lifecycle)."""
        running = self.turn.prompt if self.turn else ""
        if not self.ask(lifecycle.turn_is_over, running) or not self.ask(lifecycle.is_proved, self.blocked):
            raise Failed("hosted_session_busy", 503)
        self.attached = False
        await Call(self.publisher, StopPublisher(self.session))
        await Call(self.journal, SealJournal(self.session))
        return Detached(self.session)

    async def wait(self, request: AwaitTurn) -> TurnEnded:
        """The turn's end, as soon as it is there."""
        while request.prompt not in self.ended:
            await Wait(f"ended {request.prompt}")
        return self.ended[request.prompt]

    async def cancel(self, request: CancelTurn) -> CancelNoted:
        """Note the wish to cancel; the turn acts on it where it can prove something."""
        if self.turn is None or self.turn.prompt != request.prompt:
            return CancelNoted(False)
        self.turn.cancelled = True
        return CancelNoted(True)

    # --- the turn ------------------------------------------------------------------------------------------------

    async def take_turn(self, request: Prompt) -> None:
        """One turn from its first record to its end, which is settled or recovery blocked."""
        turn = await self.begin(request)
        self.turn = turn
        ended = await self.attempt(turn, request)
        if ended.state == BLOCKED and self.ask(settlement.hands_back, turn.acquired):
            await Start(turn.hand_back)
        await turn.close()
        self.blocked = ended.state == BLOCKED
        self.turn = None
        self.ended[request.prompt] = ended
        await Signal(f"ended {request.prompt}")

    async def begin(self, request: Prompt) -> ToolTurn:
        """A turn whose commands run in the runtime, which is provisioned meanwhile."""
        warming = await Start(self.warm)
        told = (self.owner, request.prompt, self.ask, self.limits)
        quota = self.definition.capture_bytes
        if self.ask(publication.publishes, quota):
            return PublishedTurn(*told, quota, warming)
        return ToolTurn(*told, warming)

    async def attempt(self, turn: ToolTurn, request: Prompt) -> TurnEnded:
        """Converse, then settle and release; whatever cannot be proved blocks the Session instead."""
        state, reason = COMPLETED, ""
        try:
            await self.converse(turn, request)
        except Failed as refusal:
            state, reason = CANCELLED if turn.cancelled else ERROR, refusal.code
        except Uncertain as doubt:
            state, reason = ERROR, doubt.cause
        except RecoveryRequired as required:
            return TurnEnded(BLOCKED, required.reason)
        try:
            await turn.finish()
            await self.settle(turn, state)
        except RecoveryRequired as required:
            return TurnEnded(BLOCKED, reason or required.reason)
        except (Failed, Uncertain) as failure:
            return TurnEnded(BLOCKED, str(failure))
        return TurnEnded(state, reason)

    async def warm(self) -> Warmed:
        """Provision the runtime beside inference; it touches no lease (003 Lifecycle)."""
        if not self.ask(profile.warms, self.definition.profile):
            return Warmed(0)
        return await Call(BROKER, Warm(self.workspace))

    async def converse(self, turn: ToolTurn, request: Prompt) -> None:
        """Ask the model, execute its batch, ask again with the results; until it answers with text."""
        owner = self.owner
        opening = Checkpoint("before_model", request.prompt, owner.activation, owner.epoch, turn.covered)
        await turn.append(UserMessage(request.prompt, request.text), opening)
        asked = 0
        while self.ask(admission.rounds_left, asked, self.limits):
            asked += 1
            output = await self.infer(turn)
            await turn.consume()
            turn.stop_if_cancelled()
            if not self.ask(settlement.output_fits, output.text, self.limits):
                raise Failed("hosted_model_output_too_large", 413)
            if not output.calls:
                await turn.append(Assistant(request.prompt, asked, output.text, ()))
                return
            await self.tools(turn, Batch(asked, output.calls))
            turn.stop_if_cancelled()
        raise Failed("hosted_turn_round_limit")

    async def infer(self, turn: ToolTurn) -> ModelOutput:
        """Show the model the whole conversation, once nothing of it is open."""
        if not self.ask(settlement.may_infer, turn.phase):
            raise RecoveryRequired("results are not resolved")
        shown = conversation(self.records + turn.records)
        return await Call("model", Infer(self.session, turn.prompt, shown), INFERENCE_TIMEOUT_MS)

    async def tools(self, turn: ToolTurn, batch: Batch) -> None:
        """Execute a batch; when it fails half-way, cancel what it had reserved."""
        try:
            await turn.execute(batch)
        except (Failed, Uncertain, RecoveryRequired):
            await turn.abandon()
            raise

    async def settle(self, turn: ToolTurn, state: str) -> None:
        """The turn is over and nothing of it is open: written last, the identical record twice at most."""
        owner = self.owner
        closing = Checkpoint("turn_settled", turn.prompt, owner.activation, owner.epoch, turn.covered)
        records = (TurnSettled(turn.prompt, state), closing)
        writes = 0
        while True:
            writes += 1
            try:
                await Call(self.journal, Append(f"{turn.prompt}.settled", records))
                break
            except (Failed, Uncertain) as failure:
                if not self.ask(retry.settle_again, str(failure), writes, self.limits):
                    raise
        self.records += [*turn.records, *records]

    handlers = {
        LoadSession: load,
        Prompt: prompt,
        AwaitTurn: wait,
        CancelTurn: cancel,
        DetachSession: detach,
    }
