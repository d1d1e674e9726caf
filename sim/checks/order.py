"""The order of design 003, judged from outside: a turn may stop anywhere, it may not skip."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from sim.checks.check import (
    Check,
    Scene,
    Told,
    acted,
    answered,
    asked,
    by_addressee,
    by_execution,
    by_intent,
    by_recorded_execution,
    by_session,
    is_local,
    of_broker,
    published_as,
    recorded,
    removed,
    wrote,
)
from sim.deeds import Spawn
from sim.facts import ACTIVATIONS, LEASES, LEDGER, WRITERS, Publication, WorkspaceLease
from sim.history import Failure
from sim.protocol import (
    AcceptCapture,
    Acknowledge,
    Acknowledged,
    Assistant,
    CaptureOpened,
    Checkpoint,
    Confirm,
    Entry,
    Execute,
    ExecuteFileTool,
    FinalizeCapture,
    FinishOutput,
    Infer,
    PreparePublication,
    RegisterPublisher,
    Release,
    StartExecution,
    ToolIntent,
    ToolReceipt,
    ToolResult,
    WriteOutput,
)

OF_THE_CAPTURE = (WriteOutput, FinishOutput, FinalizeCapture, AcceptCapture)

ORDER = (
    "acquire",
    "register",
    "assistant",
    "intent",
    "checkpoint",
    "execute",
    "durable capture",
    "durable receipt",
    "model result",
    "checkpoint resolution",
    "exact ACK",
    "next inference",
    "result consumption",
    "release",
)
"""003 Identity, admission and model history, "The order is", step by step; a judge's own copy."""

INTENT, CHECKPOINT, EXECUTE, CAPTURE, RECEIPT, RESULT, RESOLUTION, ACK = range(3, 11)
NEVER_STARTED = 20
"""Added to the step of a call that is proved never to have started: it has no execution, capture and ACK."""
UNCAPTURED = "managed-tool/v2"
"""The protocol of the file tools: their calls have no listener, capture, receipt and ACK."""


class Turn(msgspec.Struct, frozen=True, gc=False):
    """How far a Session's turn is. ``calls`` holds, for each execution, the last step that it reached."""

    held: bool = False
    registered: bool = False
    spoke: bool = False
    spoke_registered: bool = False
    calls: tuple[tuple[str, int], ...] = ()
    ready: bool = False
    inferred: bool = False
    skipped: bool = False

    def at(self, execution: str) -> int:
        """The last step that an execution reached; that of the assistant when it is not known."""
        return next((step for known, step in self.calls if known == execution), INTENT - 1)

    def reaching(self, execution: str, step: int) -> Turn:
        """The same turn with an execution one step further; nobody steps back."""
        if step <= self.at(execution):
            return self
        rest = tuple(call for call in self.calls if call[0] != execution)
        return replace(self, calls=(*rest, (execution, step)))


def _reach(turn: Turn, execution: str, step: int) -> Told[Turn]:
    """An execution takes a step; it may not skip the one before."""
    at = turn.at(execution)
    after = turn.reaching(execution, step)
    if at >= step - 1:
        return after, None
    return after, f"{ORDER[step]} of {execution} came before its {ORDER[at + 1]}"


def _acquired(turn: Turn, lease: WorkspaceLease, scene: Scene) -> Told[Turn]:
    return (turn if turn.held else Turn(held=True)), None


def _by_holder(lease: WorkspaceLease | None, scene: Scene) -> str | None:
    return None if lease is None else lease.session


def _freed(turn: Turn, lease: WorkspaceLease, scene: Scene) -> Told[Turn]:
    return Turn(), None


def _registers(turn: Turn, request: RegisterPublisher, scene: Scene) -> Told[Turn]:
    return turn, None if turn.held else f"{request.runtime_session} asked to register before acquire"


def _registered(turn: Turn, answer: object, scene: Scene) -> Told[Turn]:
    return (turn if isinstance(answer, Failure) else replace(turn, registered=True)), None


def _spoke(turn: Turn, entry: Entry, scene: Scene) -> Told[Turn]:
    record: Any = entry.record
    spoken = replace(turn, spoke=turn.held, spoke_registered=turn.registered, ready=False)
    after = spoken if record.calls else turn
    if turn.ready:
        return after, f"round {record.round} of {record.prompt} was recorded before result consumption"
    return after, None


def _intends(turn: Turn, entry: Entry, scene: Scene) -> Told[Turn]:
    intent: Any = entry.record
    after = turn.reaching(intent.execution, INTENT)
    if scene.intended[intent.execution].call is None:
        return after, f"intent of {intent.execution} came before the assistant record of its call"
    if not turn.spoke:
        return after, f"intent of {intent.execution}: its assistant record came before acquire"
    captured = intent.protocol != UNCAPTURED and not published_as(intent.execution, scene)
    if captured and not turn.spoke_registered:
        return after, f"intent of {intent.execution}: its assistant record came before register"
    return after, None


def _checkpointed(turn: Turn, entry: Entry, scene: Scene) -> Told[Turn]:
    checkpoint: Any = entry.record
    if checkpoint.phase == "before_model":
        skipped = turn.ready and not turn.inferred
        return replace(turn, ready=False, inferred=False, skipped=skipped), None
    wrong: str | None = None
    for binding in checkpoint.bindings:
        if is_local(binding.execution, scene):
            continue
        step = RESOLUTION if binding.state == "settled" else CHECKPOINT
        turn, late = _reach(turn, binding.execution, step)
        if step == RESOLUTION and _uncaptured(binding.execution, scene):
            turn = turn.reaching(binding.execution, ACK)
        wrong = wrong or late
    if checkpoint.phase == "results_ready":
        turn = replace(turn, ready=True, inferred=False)
    return turn, wrong


def _starts(turn: Turn, start: StartExecution, scene: Scene) -> Told[Turn]:
    return _reach(turn, start.execution, EXECUTE)


def _dispatched(turn: Turn, execute: Execute | ExecuteFileTool, scene: Scene) -> Told[Turn]:
    execution = execute.reference.execution
    return turn, None if turn.at(
        execution
    ) >= EXECUTE else f"{execution} was dispatched before its start was asked"


def _spawned(turn: Turn, spawn: Spawn, scene: Scene) -> Told[Turn]:
    started = turn.at(spawn.execution) >= EXECUTE
    return turn, None if started else f"{spawn.execution} was spawned before its start was asked"


def _captured(turn: Turn, answer: object, scene: Scene) -> Told[Turn]:
    return (
        (turn, None) if isinstance(answer, Failure) else _reach(turn, scene.asked.request.execution, CAPTURE)
    )


def _finished(turn: Turn, row: Publication, scene: Scene) -> Told[Turn]:
    execution = row.mapping.reference.execution
    return _reach(turn, execution, CAPTURE) if row.phase == "finished" else (turn, None)


def _received(turn: Turn, entry: Entry, scene: Scene) -> Told[Turn]:
    receipt: Any = entry.record
    if receipt.envelope.status == "not_started":
        turn, wrong = _reach(turn, receipt.execution, CHECKPOINT)
        return turn.reaching(receipt.execution, RECEIPT + NEVER_STARTED), wrong
    return _reach(turn, receipt.execution, RECEIPT)


def _uncaptured(execution: str, scene: Scene) -> bool:
    """Whether an execution is a file tool's, as its own intent says."""
    intended = scene.intended.get(execution)
    return intended is not None and intended.intent.protocol == UNCAPTURED


def _resulted(turn: Turn, entry: Entry, scene: Scene) -> Told[Turn]:
    result: Any = entry.record
    if not _uncaptured(result.execution, scene):
        return _reach(turn, result.execution, RESULT)
    row = scene.row(LEDGER, result.execution)
    unsent = row is not None and row.envelope is not None and row.envelope.status == "cancelled"
    turn, wrong = _reach(turn, result.execution, CHECKPOINT if unsent else EXECUTE)
    return turn.reaching(result.execution, RESULT), wrong


def _acknowledges(turn: Turn, request: Acknowledge, scene: Scene) -> Told[Turn]:
    at = turn.at(request.execution)
    late = (
        f"exact ACK of {request.execution} was asked before its {ORDER[at + 1]}" if at < RESOLUTION else None
    )
    return turn, late


def _acknowledged(turn: Turn, answer: object, scene: Scene) -> Told[Turn]:
    done = isinstance(answer, Acknowledged)
    return turn.reaching(scene.asked.request.execution, ACK) if done else turn, None


def _behind(turn: Turn) -> str:
    """The first execution that is not acknowledged and not proved unstarted, with the step that it lacks."""
    return next((f"{ORDER[step + 1]} of {execution}" for execution, step in turn.calls if step < ACK), "")


def _by_asking_session(infer: Infer, scene: Scene) -> str:
    return infer.session


def _infers(turn: Turn, infer: Infer, scene: Scene) -> Told[Turn]:
    after = replace(turn, inferred=True)
    if behind := _behind(turn):
        return after, f"the next inference of {infer.prompt} was asked before {behind}"
    if turn.skipped:
        return after, f"results of {infer.prompt} were consumed before the next inference"
    return after, None


def _releases(turn: Turn, release: Release, scene: Scene) -> Told[Turn]:
    started = [(execution, step) for execution, step in turn.calls if step >= EXECUTE]
    if behind := _behind(replace(turn, calls=tuple(started))):
        return turn, f"release of {release.runtime_session} was asked before {behind}"
    if turn.ready:
        return turn, f"release of {release.runtime_session} was asked before result consumption"
    return turn, None


THE_ORDER = Check(
    "order",
    cites="003 Identity, admission and model history",
    says="A turn takes the steps of the seed's order: it may stop anywhere, it may not skip.",
    start=Turn(),
    hears=(
        wrote(WorkspaceLease, _by_holder, _acquired),
        removed(LEASES, _by_holder, _freed),
        asked(RegisterPublisher, by_session, _registers),
        answered(RegisterPublisher, by_session, _registered),
        recorded(Assistant, by_session, _spoke),
        recorded(ToolIntent, of_broker(by_session), _intends),
        recorded(Checkpoint, by_session, _checkpointed),
        asked(StartExecution, by_session, _starts),
        asked(Execute, by_intent, _dispatched),
        asked(ExecuteFileTool, by_intent, _dispatched),
        acted(Spawn, of_broker(by_intent), _spawned),
        answered(FinalizeCapture, by_intent, _captured),
        wrote(Publication, lambda row, scene: row.session, _finished),
        recorded(ToolReceipt, of_broker(by_session), _received),
        recorded(
            ToolResult,
            of_broker(lambda entry, scene: scene.session if entry.record.execution else None),
            _resulted,
        ),
        asked(Acknowledge, by_session, _acknowledges),
        answered(Acknowledge, by_session, _acknowledged),
        asked(Infer, _by_asking_session, _infers),
        asked(Release, by_session, _releases),
    ),
)


# --- the four durable steps, each execution for itself

FOUR = ("receipt", "history", "resolution", "ACK")


def _step(reached: int, step: int, execution: str) -> Told[int]:
    """The next of the four; a step taken again is no step back."""
    late = f"{FOUR[step]} of {execution} came before its {FOUR[reached]}" if reached < step else None
    return max(reached, step + 1), late


def _four_receipt(reached: int, entry: Entry, scene: Scene) -> Told[int]:
    return max(reached, 1), None


def _four_result(reached: int, entry: Entry, scene: Scene) -> Told[int]:
    result: Any = entry.record
    admitted = 1 if _uncaptured(result.execution, scene) else reached
    return _step(admitted, 1, result.execution)


def _four_confirm(reached: int, confirm: Confirm, scene: Scene) -> Told[int]:
    return _step(reached, 3, confirm.reference.execution)


def _four_ack(reached: int, ack: Acknowledge, scene: Scene) -> Told[int]:
    return _step(reached, 3, ack.execution)


def _resolved(entry: Entry, scene: Scene) -> str | None:
    """The execution that a checkpoint settles, when it was not settled before: one at a time."""
    checkpoint: Any = entry.record
    fresh = [binding.execution for binding in checkpoint.bindings if binding.state == "settled"]
    return fresh[-1] if fresh and not is_local(fresh[-1], scene) else None


def _four_resolution(reached: int, entry: Entry, scene: Scene) -> Told[int]:
    return _step(reached, 2, str(_resolved(entry, scene)))


RECEIPT_HISTORY_RESOLUTION_ACK = Check(
    "receipt-history-resolution-ack",
    cites="003 Identity, admission and model history",
    says="The receipt is durable before history, history before resolution, resolution before the ACK.",
    start=0,
    hears=(
        recorded(ToolReceipt, of_broker(by_recorded_execution), _four_receipt),
        recorded(ToolResult, of_broker(by_recorded_execution), _four_result),
        recorded(Checkpoint, _resolved, _four_resolution),
        asked(Acknowledge, by_execution, _four_ack),
        asked(Confirm, lambda confirm, scene: confirm.reference.execution, _four_confirm),
    ),
)


# --- the capture is open before anything runs


def _granted(opened: bool, row: Publication, scene: Scene) -> Told[bool]:
    return opened or row.state == "open", None


def _opened(opened: bool, answer: object, scene: Scene) -> Told[bool]:
    return opened or isinstance(answer, CaptureOpened), None


def _runs(opened: bool, spawn: Spawn, scene: Scene) -> Told[bool]:
    return opened, None if opened else f"execution {spawn.execution} was spawned before its capture was open"


CAPTURE_BEFORE_SPAWN = Check(
    "capture-before-spawn",
    cites="003 Lifecycle",
    says="Nothing is spawned before the owner has verified the mapping and opened the capture.",
    start=False,
    hears=(
        answered(PreparePublication, lambda answer, scene: scene.asked.request.reference.execution, _opened),
        wrote(Publication, lambda row, scene: row.mapping.reference.execution, _granted),
        acted(Spawn, of_broker(by_execution), _runs),
    ),
)


class Ownership(msgspec.Struct, frozen=True, gc=False):
    """Who led a Session when its newest checkpoint became durable: activation, writer, and the writer's generation."""

    activation: str = ""
    writer: str = ""
    generation: int = 0


def _present(scene: Scene, session: str) -> Ownership:
    """Who leads a Session as of now."""
    activation, writer = scene.row(ACTIVATIONS, session), scene.row(WRITERS, session)
    if activation is None or writer is None:
        return Ownership()
    return Ownership(activation.id, writer.owner, writer.generation)


def _led(owner: Ownership, entry: Entry, scene: Scene) -> Told[Ownership]:
    return _present(scene, scene.session), None


def _opened_by(owner: Ownership, answer: object, scene: Scene) -> Told[Ownership]:
    session = by_addressee(answer, scene)
    if not isinstance(answer, CaptureOpened) or owner == _present(scene, session):
        return owner, None
    execution = scene.asked.request.reference.execution
    return owner, f"the capture of {execution} was opened by an owner of {session} that had been replaced"


OPENED_BY_THE_OWNER = Check(
    "capture-opened-by-the-owner",
    cites="003 Identity; behaviour §7 guard 76",
    says="A capture is opened by the owner of its checkpoint, and not once that was replaced during the reads.",
    start=Ownership(),
    hears=(
        recorded(Checkpoint, by_session, _led),
        answered(PreparePublication, by_addressee, _opened_by),
    ),
)


class Taking(msgspec.Struct, frozen=True, gc=False):
    """Who led the Session when each capture was opened, and when each operation that nobody has answered was asked."""

    opened: tuple[tuple[str, Ownership], ...] = ()
    asked: tuple[tuple[int, Ownership], ...] = ()


def _is_open(taking: Taking, answer: object, scene: Scene) -> Told[Taking]:
    execution = scene.asked.request.reference.execution
    if not isinstance(answer, CaptureOpened) or execution in dict(taking.opened):
        return taking, None
    led = _present(scene, by_addressee(answer, scene))
    return replace(taking, opened=(*taking.opened, (execution, led))), None


def _asks(taking: Taking, request: object, scene: Scene) -> Told[Taking]:
    led = _present(scene, by_addressee(request, scene))
    return replace(taking, asked=(*taking.asked, (scene.asked.exchange, led))), None


def _takes(taking: Taking, answer: object, scene: Scene) -> Told[Taking]:
    question = scene.asked
    led = dict(taking.asked).get(question.exchange)
    after = replace(taking, asked=tuple(each for each in taking.asked if each[0] != question.exchange))
    opened = dict(taking.opened).get(question.request.execution)
    if isinstance(answer, Failure) or led is None or opened is None or led == opened:
        return after, None
    label, execution = question.request.label, question.request.execution
    return after, f"{label} of {execution} was done though its owner had been replaced before"


OUTPUT_IS_TAKEN_BY_THE_OWNER = Check(
    "output-taken-by-the-owner",
    cites="003 Ownership and transport",
    says="Write, finish, finalize and accept are done by the owner that opened the capture, while it is the owner.",
    start=Taking(),
    hears=(
        answered(PreparePublication, by_addressee, _is_open),
        *(asked(request, by_addressee, _asks) for request in OF_THE_CAPTURE),
        *(answered(request, by_addressee, _takes) for request in OF_THE_CAPTURE),
    ),
)

CHECKS = (
    THE_ORDER,
    RECEIPT_HISTORY_RESOLUTION_ACK,
    CAPTURE_BEFORE_SPAWN,
    OPENED_BY_THE_OWNER,
    OUTPUT_IS_TAKEN_BY_THE_OWNER,
)
