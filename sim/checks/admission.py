"""Admission, as anybody can see it: what it rests on, what it reads, and that it decides once."""

from __future__ import annotations

import hashlib
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
    by_reference,
    by_session,
    recorded,
)
from sim.checks.local import by_local_admission, by_local_spawn
from sim.deeds import Spawn
from sim.facts import LEDGER, OBJECTS, RESOURCES
from sim.history import Failure
from sim.protocol import (
    CaptureOpened,
    Checkpoint,
    CheckWriter,
    Entry,
    Execute,
    InputAccepted,
    Ownership,
    PreparePublication,
    ReadOutput,
    ReadOwn,
    Stage,
    StageResource,
    ToolReceipt,
    Transact,
)
from sim.publication import AsWriter, CommitReceipt, PrepareAdmission, ReadRange

# --- what a read took time for


def _read(stale: bool, answer: object, scene: Scene) -> Told[bool]:
    return stale or not isinstance(answer, Failure), None


def _checked(stale: bool, answer: object, scene: Scene) -> Told[bool]:
    return stale and not isinstance(answer, Ownership), None


def _opens(stale: bool, answer: object, scene: Scene) -> Told[bool]:
    if not stale or not isinstance(answer, CaptureOpened):
        return stale, None
    execution = scene.asked.request.reference.execution
    return stale, f"the capture of {execution} was opened, and nobody checked its owner after the last read"


def _runs(stale: bool, spawn: Spawn, scene: Scene) -> Told[bool]:
    said = f"local execution {spawn.execution} was spawned, and nobody checked its owner after the last read"
    return stale, said if stale else None


def _stages(stale: bool, stage: StageResource, scene: Scene) -> Told[bool]:
    said = f"{stage.resource} was staged, and nobody checked its local owner after the last read"
    return stale, said if stale else None


def _opening_session(answer: object, scene: Scene) -> str:
    return scene.asked.to.partition(":")[2]


RECHECKED_AFTER_READS = Check(
    "rechecked-after-reads",
    cites="003 Identity, admission and model history; 003 Ownership and transport, table",
    says="After the last asynchronous read and before what rests on it, writer and activation are checked again.",
    start=False,
    hears=(
        *(answered(request, by_session, _read) for request in (ReadOwn, ReadOutput)),
        answered(CheckWriter, by_session, _checked),
        answered(PreparePublication, _opening_session, _opens),
        acted(Spawn, by_local_spawn, _runs),
        asked(StageResource, by_local_admission, _stages),
    ),
)


# --- the re-read

LARGEST = 16 * 1024 * 1024
"""The most bytes of one range (behaviour §5)."""
CONTENT = "content"


class Reread(msgspec.Struct, frozen=True, gc=False):
    """How many bytes of output a Session has read since its last receipt, and where the last range ended."""

    total: int = 0
    resource: str = ""
    end: int = 0


def _kind(request: ReadOutput | ReadRange, scene: Scene) -> str:
    """What kind of piece is read: one in the Store, or one of a publication."""
    if isinstance(request, ReadOutput):
        stored = scene.row(RESOURCES, f"{scene.session}/{request.resource}")
        return "" if stored is None else stored.kind
    held = scene.row(OBJECTS, f"{request.publication}/{request.resource}")
    return "" if held is None else held.kind


def _ranged(reread: Reread, answer: object, scene: Scene) -> Told[Reread]:
    return _read_on(reread, scene.asked.request, answer, scene)


def _read_on(reread: Reread, request: Any, answer: object, scene: Scene) -> Told[Reread]:
    if isinstance(answer, Failure) or _kind(request, scene) != CONTENT:
        return reread, None
    piece: Any = answer
    begins = reread.end if request.resource == reread.resource else 0
    end = request.start + len(piece.content)
    after = Reread(reread.total + len(piece.content), request.resource, end)
    if request.end - request.start > LARGEST:
        return after, f"{request.resource} was read in a range of {request.end - request.start} bytes"
    return after, None if request.start == begins else f"{request.resource} was read with a gap at {begins}"


def _ranged_for(reread: Reread, answer: object, scene: Scene) -> Told[Reread]:
    """What an owner was told in the end of a range of a publication, however often that was asked."""
    asked_for = scene.asked.request.request
    return _read_on(reread, asked_for, answer, scene) if isinstance(asked_for, ReadRange) else (reread, None)


def _admitted(reread: Reread, entry: Entry, scene: Scene) -> Told[Reread]:
    receipt: Any = entry.record
    kept = receipt.envelope.capture
    if receipt.delivery != "committed" or kept is None:
        return Reread(), None
    sealed = sum(seal.length for seal in kept.seals)
    less = f"receipt of {receipt.execution}: {reread.total} of {sealed} bytes were read again"
    return Reread(), less if reread.total < sealed else None


REREAD_BEFORE_RECEIPT = Check(
    "reread-before-receipt",
    cites="003 Identity, admission and model history",
    says="Before a receipt is committed its owner has read every byte again, in ranges of bounded size.",
    start=Reread(),
    hears=(
        answered(ReadOutput, by_session, _ranged),
        answered(AsWriter, by_session, _ranged_for),
        recorded(ToolReceipt, by_session, _admitted),
    ),
)


# --- one candidate


def _admitting(transact: Transact, scene: Scene) -> str | None:
    """The execution that a commit admits; nobody, when it admits none."""
    return next((each.execution for each in transact.records if isinstance(each, ToolReceipt)), None)


def _admitting_publication(commit: CommitReceipt, scene: Scene) -> str | None:
    return _admitting(commit.transaction, scene)


def _referring(first: object, commit: CommitReceipt, scene: Scene) -> Told[object]:
    return _candidate(first, commit.transaction, scene)


def _outcome_of(prepare: PrepareAdmission, scene: Scene) -> str:
    return prepare.publication


def _prepared(first: object, prepare: PrepareAdmission, scene: Scene) -> Told[object]:
    if first is None or first == prepare.outcome:
        return prepare.outcome, None
    return first, f"the outcome of {prepare.publication} was prepared with other bytes than before"


def _candidate(first: object, transact: Transact, scene: Scene) -> Told[object]:
    candidate = (transact.command, transact.records, transact.resources)
    if first is None or first == candidate:
        return candidate, None
    return (
        first,
        f"another candidate than before was offered for the receipt of {_admitting(transact, scene)}",
    )


def _outcome(stage: Stage, scene: Scene) -> str | None:
    return stage.resource if stage.resource.startswith("outcome-") else None


def _staged(first: object, stage: Stage, scene: Scene) -> Told[object]:
    if first is None or first == stage.content:
        return stage.content, None
    return first, f"{stage.resource} was staged with other bytes than before"


ONE_CANDIDATE = Check(
    "one-candidate",
    cites="003 Identity: lost receipt replies may replay the identical candidate",
    says="An execution has one candidate: whenever it is offered, its records and outcome are the same bytes.",
    start=None,
    hears=(
        asked(Transact, _admitting, _candidate),
        asked(CommitReceipt, _admitting_publication, _referring),
        asked(Stage, _outcome, _staged),
        asked(PrepareAdmission, _outcome_of, _prepared),
    ),
)


# --- the checkpoint


UNCAPTURED = "managed-tool/v2"
"""The protocol of the file tools, whose bindings name the execution in the place of a worker call."""


class Turn(msgspec.Struct, frozen=True, gc=False):
    """The prompt that is open in a Session; empty when none is."""

    prompt: str = ""


def _accepted(turn: Turn, entry: Entry, scene: Scene) -> Told[Turn]:
    record: Any = entry.record
    return replace(turn, prompt=record.prompt), None


def _bound(turn: Turn, entry: Entry, scene: Scene) -> Told[Turn]:
    checkpoint: Any = entry.record
    named = f"checkpoint {checkpoint.phase} of {checkpoint.prompt}"
    if (checkpoint.activation, checkpoint.epoch) != (entry.activation, entry.epoch):
        return turn, f"{named} is bound to {checkpoint.activation}, and {entry.activation} committed it"
    if turn.prompt and checkpoint.prompt != turn.prompt:
        return turn, f"{named} was written in the turn of {turn.prompt}"
    for binding in checkpoint.bindings:
        intended = scene.intended.get(binding.execution)
        if intended is None:
            return turn, f"{named} binds {binding.execution}, which nobody intended"
        intent = intended.intent
        worker_call = binding.execution if intent.protocol == UNCAPTURED else intent.worker_call
        told = (intent.prompt, intent.model_call, worker_call, intent.input_digest)
        if told != (checkpoint.prompt, binding.model_call, binding.worker_call, binding.input_digest):
            return turn, f"{named} binds {binding.execution} otherwise than its intent"
    return turn, None


CHECKPOINT_IS_BOUND = Check(
    "checkpoint-is-bound",
    cites="003 Identity: binds that checkpoint to the current turn, prompt and committing activation",
    says="A checkpoint names the open turn, the activation that commits it, and of each call what its intent names.",
    start=Turn(),
    hears=(
        recorded(InputAccepted, by_session, _accepted),
        recorded(Checkpoint, by_session, _bound),
    ),
)


# --- two digests


def _digests(state: bool, execute: Execute, scene: Scene) -> Told[bool]:
    execution = execute.reference.execution
    row = scene.row(LEDGER, execution)
    if row is None:
        return state, None
    if row.payload_digest == row.input_digest:
        return state, f"execution {execution} has one digest for its payload and for its arguments"
    if row.payload_digest != f"sha256:{hashlib.sha256(execute.payload).hexdigest()}":
        return state, f"execution {execution} was dispatched with a payload that its digest does not protect"
    same = execute.reference.input_digest == row.input_digest
    return state, None if same else f"execution {execution} was dispatched with another input digest"


TWO_DIGESTS = Check(
    "two-digests",
    cites="003 Identity, admission and model history",
    says="One digest protects the exact bytes of a deferred start, another identifies its arguments.",
    start=False,
    hears=(asked(Execute, by_reference, _digests),),
)

CHECKS = (RECHECKED_AFTER_READS, REREAD_BEFORE_RECEIPT, ONE_CANDIDATE, CHECKPOINT_IS_BOUND, TWO_DIGESTS)
