"""What a local Session must do: its own order, its own process, and both guards.

That an execution is local is told by its durable intent, and believed because ``local-runs-at-home`` compares that
with who reserved, dispatched and spawned it.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec
from msgspec.structs import replace

from sim.checks.check import (
    Check,
    Scene,
    Told,
    acted,
    answered,
    asked,
    by_execution,
    by_intent,
    by_key,
    by_reference,
    by_session,
    is_local,
    recorded,
    wrote,
)
from sim.deeds import Spawn
from sim.facts import ACTIVATIONS, RESOURCES, ROOTS, WRITERS, Execution
from sim.protocol import (
    Checkpoint,
    Entry,
    Execute,
    Loaded,
    LoadSession,
    StageResource,
    ToolIntent,
    ToolReceipt,
    ToolResult,
)

# --- the order of one process

LOCAL_ORDER = (
    "assistant",
    "intent",
    "checkpoint",
    "execute",
    "durable capture",
    "durable receipt",
    "checkpoint resolution",
    "model result",
)
"""The order of 003 without broker and worker: the checkpoint advances with the receipt, before the model result."""

ASSISTANT, INTENT, CHECKPOINT, EXECUTE, CAPTURE, RECEIPT, RESOLUTION, RESULT = range(8)


class Step(msgspec.Struct, frozen=True, gc=False):
    """How far one execution is, and at which sequence its receipt stands in the journal."""

    at: int = ASSISTANT
    receipt: int = 0


Steps: TypeAlias = tuple[tuple[str, Step], ...]
"""Every local execution of a Session, and how far it is."""


def _at(steps: Steps, execution: str) -> Step:
    return next((step for known, step in steps if known == execution), Step())


def _to(steps: Steps, execution: str, step: Step) -> Steps:
    return (*(each for each in steps if each[0] != execution), (execution, step))


def _reach(steps: Steps, execution: str, step: int) -> Told[Steps]:
    """An execution takes its next step; a step taken again is no step back."""
    known = _at(steps, execution)
    after = _to(steps, execution, replace(known, at=max(known.at, step)))
    if known.at >= step - 1:
        return after, None
    return after, f"{LOCAL_ORDER[step]} of {execution} came before its {LOCAL_ORDER[known.at + 1]}"


def _local_session(entry: Entry, scene: Scene) -> str | None:
    record: Any = entry.record
    return scene.session if is_local(record.execution, scene) else None


def _intends(steps: Steps, entry: Entry, scene: Scene) -> Told[Steps]:
    intent: Any = entry.record
    after = _to(steps, intent.execution, Step(INTENT))
    spoken = scene.intended[intent.execution].call is not None
    return after, None if spoken else f"intent of {intent.execution} came before its assistant"


def _checkpointed(steps: Steps, entry: Entry, scene: Scene) -> Told[Steps]:
    checkpoint: Any = entry.record
    wrong: str | None = None
    for binding in checkpoint.bindings:
        if not is_local(binding.execution, scene):
            continue
        step = _at(steps, binding.execution)
        fresh = binding.state == "settled" and step.at < RESOLUTION
        if fresh and step.receipt and entry.sequence != step.receipt + 1:
            wrong = wrong or f"the checkpoint of {binding.execution} did not advance with its receipt"
        reached = RESOLUTION if binding.state == "settled" else CHECKPOINT
        steps, late = _reach(steps, binding.execution, reached)
        wrong = wrong or late
    return steps, wrong


def _spawned(steps: Steps, spawn: Spawn, scene: Scene) -> Told[Steps]:
    if _at(steps, spawn.execution).receipt:
        return steps, f"{spawn.execution} was spawned after its receipt"
    return _reach(steps, spawn.execution, EXECUTE)


CANNOT_START = 127
"""How a shell tells that a command could not become a process: its step was taken, and left no deed."""


def _received(steps: Steps, entry: Entry, scene: Scene) -> Told[Steps]:
    """A receipt stands over a manifest that is durable; over none when nothing could be kept, or nothing ran."""
    receipt: Any = entry.record
    ran = receipt.envelope.status != "not_started" and receipt.envelope.exit_code != CANNOT_START
    before = EXECUTE if ran else CHECKPOINT
    missing = receipt.manifest and scene.row(RESOURCES, f"{scene.session}/{receipt.manifest}") is None
    late: str | None = None
    if (at := _at(steps, receipt.execution).at) < before:
        late = f"durable receipt of {receipt.execution} came before its {LOCAL_ORDER[at + 1]}"
    if missing:
        late = late or f"durable receipt of {receipt.execution} came before its durable capture"
    held = receipt.delivery == "blocked"
    step = Step(max(_at(steps, receipt.execution).at, CAPTURE if held else RECEIPT), entry.sequence)
    return _to(steps, receipt.execution, step), late


def _resulted(steps: Steps, entry: Entry, scene: Scene) -> Told[Steps]:
    result: Any = entry.record
    return _reach(steps, result.execution, RESULT)


def by_local_spawn(spawn: Spawn, scene: Scene) -> str | None:
    """The Session that runs an execution itself; nobody for any other execution."""
    return by_intent(spawn, scene) if is_local(spawn.execution, scene) else None


THE_LOCAL_ORDER = Check(
    "local-order",
    cites="003 Identity, admission and model history",
    says="A local call goes from intent to model result without a gap, and its checkpoint advances with its receipt.",
    start=(),
    hears=(
        recorded(ToolIntent, _local_session, _intends),
        recorded(Checkpoint, by_session, _checkpointed),
        acted(Spawn, by_local_spawn, _spawned),
        recorded(ToolReceipt, _local_session, _received),
        recorded(ToolResult, _local_session, _resulted),
    ),
)


# --- whose process it is


def _home(scene: Scene) -> str:
    """The Session whose own process did the deed at hand; empty when a worker did it."""
    event: Any = scene.event
    began = scene.began.get(event.script)
    kind, _, session = ("" if began is None else began.actor).partition(":")
    return session if kind == "local" else ""


def _ran(state: bool, spawn: Spawn, scene: Scene) -> Told[bool]:
    home, intended = _home(scene), scene.intended.get(spawn.execution)
    if not is_local(spawn.execution, scene):
        return state, f"execution {spawn.execution} was spawned by session {home} itself" if home else None
    if intended is not None and intended.session != home:
        return state, f"local execution {spawn.execution} of {intended.session} was spawned elsewhere"
    named = intended is not None and spawn.worker_call == intended.intent.worker_call
    apart = intended is not None and spawn.worker_call != intended.intent.model_call
    other = f"local execution {spawn.execution} was spawned under another identity"
    return state, None if named and apart else other


def _dispatched(state: bool, execute: Execute, scene: Scene) -> Told[bool]:
    execution = execute.reference.execution
    sent = f"local execution {execution} was sent to a worker"
    return state, sent if is_local(execution, scene) else None


def _reserved(state: bool, row: Execution, scene: Scene) -> Told[bool]:
    local = is_local(scene.write.key, scene)
    return state, f"local execution {scene.write.key} is in the ledger of a broker" if local else None


def _intended_twice(state: bool, entry: Entry, scene: Scene) -> Told[bool]:
    record: Any = entry.record
    kept = scene.rows.get("ledger", {}).get(record.execution) is not None
    said = f"execution {record.execution} is reserved by a broker, and its intent says that it is local"
    return state, said if kept and is_local(record.execution, scene) else None


RUNS_AT_HOME = Check(
    "local-runs-at-home",
    cites="003 Problem and scope",
    says="What an intent calls local is run by its Session's own process, and no broker or worker has a part in it.",
    start=False,
    hears=(
        acted(Spawn, by_execution, _ran),
        asked(Execute, by_reference, _dispatched),
        wrote(Execution, by_key, _reserved),
        recorded(ToolIntent, by_session, _intended_twice),
    ),
)


# --- both guards

OUTCOME = "outcome-"
"""How the resource begins with which an admission begins."""


class Held(msgspec.Struct, frozen=True, gc=False):
    """Who led a local Session when its newest checkpoint became durable, and which root it had when it was opened."""

    owner: tuple[str, str, int] = ("", "", 0)
    root: object = None


def _leads(scene: Scene, session: str) -> tuple[str, str, int]:
    activation, writer = scene.row(ACTIVATIONS, session), scene.row(WRITERS, session)
    return (
        "" if activation is None else activation.id,
        "" if writer is None else writer.owner,
        0 if writer is None else writer.generation,
    )


def _opened(held: Held, answer: object, scene: Scene) -> Told[Held]:
    if not isinstance(answer, Loaded):
        return held, None
    return replace(held, root=scene.row(ROOTS, scene.asked.request.session)), None


def _led(held: Held, entry: Entry, scene: Scene) -> Told[Held]:
    return replace(held, owner=_leads(scene, scene.session)), None


def _lost(held: Held, session: str, scene: Scene) -> str:
    """What a Session has lost since; empty when it has lost nothing."""
    if held.owner != _leads(scene, session):
        return "its owner had been replaced"
    return "its root had been moved" if held.root != scene.row(ROOTS, session) else ""


def _begins(held: Held, spawn: Spawn, scene: Scene) -> Told[Held]:
    lost = _lost(held, scene.intended[spawn.execution].session, scene)
    return held, f"local execution {spawn.execution} was spawned after {lost}" if lost else None


def _admits(held: Held, stage: StageResource, scene: Scene) -> Told[Held]:
    lost = _lost(held, scene.session, scene)
    return held, f"{stage.resource} of session {scene.session} was staged after {lost}" if lost else None


def by_local_admission(stage: StageResource, scene: Scene) -> str | None:
    """The local Session that begins an admission; nobody when something else is staged."""
    at_home = scene.actor.startswith("local:") and stage.resource.startswith(OUTCOME)
    return scene.session if at_home else None


LOCAL_GUARDS = Check(
    "local-guards",
    cites="003 Identity, admission and model history",
    says="A local Session spawns and admits nothing once its writer, its activation or its root is another one.",
    start=Held(),
    hears=(
        answered(LoadSession, lambda answer, scene: scene.asked.request.session, _opened),
        recorded(Checkpoint, by_session, _led),
        acted(Spawn, by_local_spawn, _begins),
        asked(StageResource, by_local_admission, _admits),
    ),
)

CHECKS = (THE_LOCAL_ORDER, RUNS_AT_HOME, LOCAL_GUARDS)
