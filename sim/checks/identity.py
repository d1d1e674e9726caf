"""One call stays one call: its arguments are the same wherever they stand, from the model to the process."""

from __future__ import annotations

import json
from typing import Any, cast

from sim.checks.check import (
    Check,
    Scene,
    Told,
    acted,
    answered,
    asked,
    by_execution,
    by_reference,
    by_session,
    recorded,
)
from sim.content import read
from sim.deeds import Spawn
from sim.facts import RESOURCES
from sim.protocol import (
    Assistant,
    Entry,
    Execute,
    ExecuteFileTool,
    Infer,
    ModelOutput,
    ToolCall,
    ToolIntent,
)

UNREADABLE = "unreadable"


def _said(said: tuple[ToolCall, ...], answer: object, scene: Scene) -> Told[tuple[ToolCall, ...]]:
    return (answer.calls if isinstance(answer, ModelOutput) else said), None


def _wrote(said: tuple[ToolCall, ...], entry: Entry, scene: Scene) -> Told[tuple[ToolCall, ...]]:
    record: Any = entry.record
    if not record.calls or record.calls == said:
        return said, None
    return said, f"round {record.round} of {record.prompt} is recorded with other calls than the model made"


def _shown(said: tuple[ToolCall, ...], infer: Infer, scene: Scene) -> Told[tuple[ToolCall, ...]]:
    shown = [message.calls for message in infer.messages if message.calls]
    spoken = scene.spoken.get(infer.session)
    record: Any = None if spoken is None else spoken.record
    if not shown or record is None or shown[-1] == record.calls:
        return said, None
    return said, f"the model of {infer.prompt} is shown other calls than round {record.round} recorded"


def _by_asked_session(answer: object, scene: Scene) -> str:
    return scene.asked.request.session


CALLS_AS_THE_MODEL_MADE_THEM = Check(
    "calls-as-the-model-made-them",
    cites="000 §5; 003 Identity",
    says="A batch is recorded, and shown to the model again, exactly as the model made it.",
    start=(),
    hears=(
        answered(Infer, _by_asked_session, _said),
        recorded(Assistant, by_session, _wrote),
        asked(Infer, lambda infer, scene: infer.session, _shown),
    ),
)


def _parsed(content: bytes | str) -> Any:
    """A JSON value; :data:`UNREADABLE` for what is no JSON text."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return UNREADABLE


def _foreground(value: Any) -> Any:
    """An input as it is meant when nothing says otherwise: in the foreground."""
    if not isinstance(value, dict):
        return value
    given = cast("dict[str, Any]", value)
    return {"is_background": False, **given}


def _meant(execution: str, scene: Scene) -> dict[str, Any] | None:
    """The input that the model meant; None when the journal knows of no such call."""
    intended = scene.intended.get(execution)
    if intended is None or intended.call is None:
        return None
    arguments = _foreground(_parsed(intended.call.arguments))
    return arguments if isinstance(arguments, dict) else None  # pyright: ignore[reportUnknownVariableType]


def _kept(state: bool, entry: Entry, scene: Scene) -> Told[bool]:
    intent: Any = entry.record
    meant = _meant(intent.execution, scene)
    row = scene.row(RESOURCES, f"{scene.session}/{intent.args_ref}")
    if meant is None:
        return state, None
    if row is None:
        return state, f"intent of {intent.execution} names arguments that are not durable"
    if _foreground(_parsed(read(row.content))) != meant:
        return state, f"intent of {intent.execution} keeps other arguments than the model gave"
    call: Any = scene.intended[intent.execution].call
    for kind, content in (("input", call.arguments), ("definition", call.name)):
        row = scene.row(RESOURCES, f"{scene.session}/{intent.worker_call}.{kind}")
        if row is None or row.content != content.encode("utf-8", "surrogatepass"):
            return state, f"intent of {intent.execution} keeps another {kind} than the model gave"
    return state, None


def _sent(state: bool, execute: Execute | ExecuteFileTool, scene: Scene) -> Told[bool]:
    execution = execute.reference.execution
    meant = _meant(execution, scene)
    payload = _parsed(execute.payload)
    if meant is None:
        return state, None
    given = cast("dict[str, Any]", payload).get("input") if isinstance(payload, dict) else None
    same = _foreground(given) == meant
    return (
        state,
        None if same else f"execution {execution} was dispatched with other arguments than the model gave",
    )


def _ran(state: bool, spawn: Spawn, scene: Scene) -> Told[bool]:
    meant = _meant(spawn.execution, scene)
    if meant is None:
        return state, None
    command = str(meant.get("command", "")).encode("utf-8", "surrogatepass")
    return (
        state,
        None if command == spawn.command else f"execution {spawn.execution} ran another command than meant",
    )


def _identified(state: bool, execute: Execute, scene: Scene) -> Told[bool]:
    reference, intended = execute.reference, scene.intended.get(execute.reference.execution)
    if intended is None:
        return state, None
    named = (reference.worker_call, reference.input_digest)
    recorded_as = (intended.intent.worker_call, intended.intent.input_digest)
    same = named == recorded_as and reference.worker_call != intended.intent.model_call
    return state, None if same else f"execution {reference.execution} was dispatched under another identity"


ONE_ARGUMENT = Check(
    "argument-bytes",
    cites="003 Identity; 000 §5",
    says="The tool and arguments of a call are the same in model output, record, kept input, dispatch and process.",
    start=False,
    hears=(
        recorded(ToolIntent, lambda entry, scene: entry.record.execution, _kept),
        asked(Execute, by_reference, _sent),
        asked(ExecuteFileTool, by_reference, _sent),
        acted(Spawn, by_execution, _ran),
    ),
)

CALLS_KEPT_APART = Check(
    "calls-kept-apart",
    cites="003 Identity",
    says="A dispatch names the worker call and input digest of its intent, and never the model's call id as its own.",
    start=False,
    hears=(asked(Execute, by_reference, _identified),),
)

CHECKS = (CALLS_AS_THE_MODEL_MADE_THEM, ONE_ARGUMENT, CALLS_KEPT_APART)
