"""At most once: physical effects, dispatches, starts; and what is said never to have started never ran."""

from __future__ import annotations

from sim.checks.check import (
    Check,
    Scene,
    Told,
    acted,
    answered,
    asked,
    at_all,
    by_execution,
    by_key,
    by_reference,
    happened,
    wrote,
)
from sim.deeds import Spawn, WriteFile
from sim.facts import Execution
from sim.history import Left
from sim.protocol import CancelExecution, Execute, ExecuteFileTool, Observed, StartExecution, Status


def _spawned(spawned: bool, spawn: Spawn, scene: Scene) -> Told[bool]:
    return True, f"execution {spawn.execution} was spawned a second time" if spawned else None


def _wrote(wrote: bool, deed: WriteFile, scene: Scene) -> Told[bool]:
    return True, f"execution {deed.execution} wrote {deed.file} a second time" if wrote else None


EFFECT_ONCE_PER_EXECUTION = Check(
    "effect-once-per-execution",
    cites="003 Implementation and validation",
    says="A command becomes a process, and a file tool writes, at most once for each execution.",
    start=False,
    hears=(acted(Spawn, by_execution, _spawned), acted(WriteFile, by_execution, _wrote)),
)


def _model_call(spawn: Spawn | WriteFile, scene: Scene) -> tuple[str, int, str] | None:
    """The call of one recorded batch to which an execution belongs; nobody, when no intent tells."""
    intended = scene.intended.get(spawn.execution)
    return None if intended is None else (intended.session, intended.assistant, intended.intent.model_call)


def _spawned_for_call(execution: str, spawn: Spawn | WriteFile, scene: Scene) -> Told[str]:
    if not execution or execution == spawn.execution:
        return spawn.execution, None
    call = scene.intended[spawn.execution].intent.model_call
    return execution, f"model call {call} was executed a second time, by {spawn.execution} after {execution}"


EFFECT_ONCE_PER_MODEL_CALL = Check(
    "effect-once-per-model-call",
    cites="003 Identity",
    says="A call of the model is executed at most once, by whatever execution.",
    start="",
    hears=(
        acted(Spawn, _model_call, _spawned_for_call),
        acted(WriteFile, _model_call, _spawned_for_call),
    ),
)


def _dispatched(dispatched: bool, execute: Execute | ExecuteFileTool, scene: Scene) -> Told[bool]:
    twice = f"execution {execute.reference.execution} was dispatched to its worker a second time"
    return True, twice if dispatched else None


def _counted(dispatched: bool, row: Execution, scene: Scene) -> Told[bool]:
    counted = f"the ledger counts {row.dispatches} dispatches of execution {scene.write.key}"
    before: Execution | None = scene.before
    known = before is not None and before.dispatches == row.dispatches
    return dispatched, counted if row.dispatches > 1 and not known else None


DISPATCH_ONCE = Check(
    "dispatch-once",
    cites="003 Identity",
    says="An execution is sent to a worker at most once.",
    start=False,
    hears=(
        asked(Execute, by_reference, _dispatched),
        asked(ExecuteFileTool, by_reference, _dispatched),
        wrote(Execution, by_key, _counted),
    ),
)


SENT, PROVED, CANCELLED = "sent", "proved", "cancelled"


def _start(known: str, start: StartExecution, scene: Scene) -> Told[str]:
    if known == CANCELLED:
        return known, f"execution {start.execution} was started after it was cancelled"
    if known == SENT:
        return known, f"execution {start.execution} was started again without proof that it had not started"
    return SENT, None


def _observed(known: str, answer: object, scene: Scene) -> Told[str]:
    proof = isinstance(answer, Observed) and answer.state == "prepared"
    return PROVED if proof and known == SENT else known, None


def _execution_asked(answer: object, scene: Scene) -> str:
    return scene.asked.request.execution


def _cancelled(known: str, cancel: CancelExecution, scene: Scene) -> Told[str]:
    return CANCELLED, None


NO_START_AFTER_DOUBT = Check(
    "no-start-after-doubt",
    cites="003 Identity; behaviour §0.2",
    says="A start is never asked again, unless a status of prepared proved it unsent; a cancelled one is not asked.",
    start="",
    hears=(
        asked(StartExecution, by_execution, _start),
        answered(Status, _execution_asked, _observed),
        asked(CancelExecution, by_execution, _cancelled),
    ),
)


RAN, NEVER = "ran", "never"


def _ran(known: str, spawn: Spawn, scene: Scene) -> Told[str]:
    return (
        RAN,
        f"execution {spawn.execution} ran after it was settled as not started" if known == NEVER else None,
    )


def _settled(known: str, row: Execution, scene: Scene) -> Told[str]:
    envelope = row.envelope
    if row.state != "settled" or envelope is None or envelope.status != "not_started":
        return known, None
    if known == RAN:
        return known, f"execution {scene.write.key} ran and is settled as not started"
    if envelope.capture is not None:
        return NEVER, f"execution {scene.write.key} is settled as not started and has a capture"
    return NEVER, None


NOT_STARTED_NEVER_RAN = Check(
    "not-started-never-ran",
    cites="003 Lifecycle; behaviour §1.8",
    says="What is settled as not started has no process and no capture, before and after.",
    start="",
    hears=(acted(Spawn, by_execution, _ran), wrote(Execution, by_key, _settled)),
)


def _left(state: str, file: Left, scene: Scene) -> Told[str]:
    if file.directory != "harness" or file.content == b"untouched\n":
        return state, None
    return (
        state,
        f"the decoy {file.directory}/{file.name} holds {len(file.content)} bytes that are not its own",
    )


DECOY_UNTOUCHED = Check(
    "decoy-untouched",
    cites="003 Implementation and validation",
    says="A command changes its Workspace, never the harness's own directory.",
    start="",
    hears=(happened(Left, at_all, _left),),
)

CHECKS = (
    DECOY_UNTOUCHED,
    EFFECT_ONCE_PER_EXECUTION,
    EFFECT_ONCE_PER_MODEL_CALL,
    DISPATCH_ONCE,
    NO_START_AFTER_DOUBT,
    NOT_STARTED_NEVER_RAN,
)
