"""The file tools: no capture, receipt or ACK; the model is told their own answer; their history stands around them."""

from __future__ import annotations

import json
from typing import Any, TypeAlias, cast

import msgspec
from msgspec.structs import replace

from sim.checks.check import (
    Check,
    Scene,
    Told,
    acted,
    asked,
    by_execution,
    by_recorded_execution,
    by_reference,
    by_session,
    recorded,
)
from sim.deeds import WriteFile
from sim.facts import LEDGER
from sim.protocol import (
    SHELL,
    Acknowledge,
    ActivationChanged,
    Assistant,
    Definition,
    Entry,
    FileHistory,
    OpenPublisher,
    PreparePublication,
    Response,
    ToolIntent,
    ToolReceipt,
    ToolResult,
    TurnSettled,
    Warm,
)

UNCAPTURED = "managed-tool/v2"
"""The protocol of the file tools, as an intent names it."""


def _of_file_tool(execution: str, scene: Scene) -> bool:
    intended = scene.intended.get(execution)
    return intended is not None and intended.intent.protocol == UNCAPTURED


def _received(state: bool, entry: Entry, scene: Scene) -> Told[bool]:
    execution = str(by_recorded_execution(entry, scene))
    return state, f"file tool {execution} has a receipt" if _of_file_tool(execution, scene) else None


def _acknowledges(state: bool, request: Acknowledge, scene: Scene) -> Told[bool]:
    wrong = _of_file_tool(request.execution, scene)
    return state, f"file tool {request.execution} was acknowledged" if wrong else None


def _captures(state: bool, request: PreparePublication, scene: Scene) -> Told[bool]:
    execution = request.reference.execution
    return state, f"a capture was asked for file tool {execution}" if _of_file_tool(
        execution, scene
    ) else None


FILE_TOOLS_HAVE_NO_RECEIPT = Check(
    "file-tools-have-no-receipt",
    cites="003 Problem and scope; behaviour §2.3",
    says="A file tool has no capture, no receipt and no ACK, with a Shell beside it or without.",
    start=False,
    hears=(
        recorded(ToolReceipt, by_recorded_execution, _received),
        asked(Acknowledge, by_execution, _acknowledges),
        asked(PreparePublication, by_reference, _captures),
    ),
)


# --- what the model is told


def _omitted(response: Response, status: str) -> bool:
    """Whether a response says that the output was left out, and how the call ended."""
    try:
        said = json.loads(response.text)
    except (ValueError, RecursionError):
        return False
    told = cast("dict[str, Any]", said) if isinstance(said, dict) else {}
    return (
        told.get("outputOmitted") is True
        and told.get("executionStatus") == status
        and bool(told.get("error"))
    )


SMALL = 1_000
"""An answer of so many characters fits every record."""
NOT_STARTED = "not_started"
"""The status with which protocol v3 proves that nothing was spawned."""


def _told(state: bool, entry: Entry, scene: Scene) -> Told[bool]:
    result: Any = entry.record
    row = scene.row(LEDGER, result.execution)
    if not _of_file_tool(result.execution, scene) or row is None:
        return state, None
    if row.state != "settled" or row.envelope is None:
        return state, f"the model is told of {result.execution}, which is {row.state}"
    if row.envelope.status == NOT_STARTED:
        return state, f"file tool {result.execution} has the status of a Shell that was never started"
    for response in result.responses:
        answer, status = row.envelope.preview, row.envelope.status
        whole = response.text == answer
        if not whole and (len(answer) <= SMALL or not _omitted(response, status)):
            return state, f"the model is told something else of {result.execution} than its tool answered"
        if response.error != (status != "success"):
            return (
                state,
                f"the model is told an error is {response.error} of {result.execution}, which is {status}",
            )
    return state, None


FILE_ANSWER_IS_TOLD = Check(
    "file-answer-is-told",
    cites="behaviour §2.3, §7 guard 112",
    says="A model is told a file tool's own answer and whether it failed; only a large one is left out, and said so.",
    start=False,
    hears=(recorded(ToolResult, by_recorded_execution, _told),),
)


# --- the file history


class Files(msgspec.Struct, frozen=True, gc=False):
    """The files that a Session's batch announced and has not yet put into a snapshot, and those it really wrote."""

    pending: frozenset[str] = frozenset()
    written: frozenset[str] = frozenset()
    sent: bool = False


def _kept(files: Files, entry: Entry, scene: Scene) -> Told[Files]:
    record: Any = entry.record
    if record.state == "pending":
        return Files(frozenset(record.files)), None
    missing = sorted(files.written - set(record.files))
    return Files(), f"the snapshot of {record.prompt} lacks {', '.join(missing)}" if missing else None


def _by_owner(deed: WriteFile, scene: Scene) -> str | None:
    intended = scene.intended.get(deed.execution)
    return None if intended is None else intended.session


def _wrote(files: Files, deed: WriteFile, scene: Scene) -> Told[Files]:
    after = replace(files, written=files.written | {deed.file})
    announced = deed.file in files.pending
    return after, None if announced else f"{deed.file} was written, and the file history did not announce it"


def _settled(files: Files, entry: Entry, scene: Scene) -> Told[Files]:
    turn: Any = entry.record
    left = f"turn {turn.prompt} settled without a snapshot of {', '.join(sorted(files.written))}"
    completed = turn.state == "completed" and bool(files.written)
    return Files(), left if completed else None


FILE_HISTORY_STANDS_AROUND = Check(
    "file-history-stands-around",
    cites="behaviour §2.3",
    says="A written file was announced before, and is in a snapshot when its turn completes.",
    start=Files(),
    hears=(
        recorded(FileHistory, by_session, _kept),
        acted(WriteFile, _by_owner, _wrote),
        recorded(TurnSettled, by_session, _settled),
    ),
)


# --- the listener


def _opens(opened: bool, request: OpenPublisher, scene: Scene) -> Told[bool]:
    return True, None


def _spoke(opened: bool, entry: Entry, scene: Scene) -> Told[bool]:
    record: Any = entry.record
    if not record.calls:
        return opened, None
    needless = opened and all(call.name != SHELL for call in record.calls)
    return (
        False,
        f"round {record.round} of {record.prompt} has no Shell call, and a listener" if needless else None,
    )


LISTENER_IS_FOR_SHELL = Check(
    "listener-is-for-shell",
    cites="003 Lifecycle and failure handling",
    says="A listener is opened for a batch with a Shell call, never for one of file tools alone.",
    start=False,
    hears=(asked(OpenPublisher, by_session, _opens), recorded(Assistant, by_session, _spoke)),
)


# --- what a Session is


FILE_TOOLS = frozenset({"read_file", "write_file", "edit"})
OFFERED = {
    "": frozenset[str](),
    "hosted-workspace-files/1": FILE_TOOLS,
    "hosted-workspace-files/2": FILE_TOOLS | {"glob"},
    "hosted-workspace-shell/1": FILE_TOOLS | {SHELL},
    "hosted-workspace-shell/2": FILE_TOOLS | {"glob", SHELL},
    "local-shell": frozenset({SHELL}),
}
"""The tools of each profile: a judge's own copy."""
SAME_HOST = "same-host-process"


def _activated(pinned: Definition | None, entry: Entry, scene: Scene) -> Told[Definition | None]:
    record: Any = entry.record
    definition: Definition = record.definition
    if pinned is not None and definition != pinned:
        return pinned, f"{scene.session} is {pinned.profile}, and was opened as {definition.profile}"
    if SHELL in OFFERED[definition.profile] and definition.provisioner != SAME_HOST:
        return definition, f"{scene.session} offers Shell on {definition.provisioner}"
    return definition, None


def _intended(pinned: Definition | None, entry: Entry, scene: Scene) -> Told[Definition | None]:
    intent: Any = entry.record
    call = scene.intended[intent.execution].call
    if pinned is None or call is None or call.name in OFFERED[pinned.profile]:
        return pinned, None
    return (
        pinned,
        f"{call.name} is executed for {scene.session}, whose profile '{pinned.profile}' has no such tool",
    )


SESSION_STAYS_AS_DEFINED = Check(
    "session-stays-as-defined",
    cites="003 Problem and scope; behaviour §1.2, §7 guard 55",
    says="A Session keeps the definition of its first opening, offers its profile's tools, and Shell on the same host.",
    start=None,
    hears=(
        recorded(ActivationChanged, by_session, _activated),
        recorded(ToolIntent, by_session, _intended),
    ),
)

Opened: TypeAlias = Definition | None


def _defined(known: Opened, entry: Entry, scene: Scene) -> Told[Opened]:
    record: Any = entry.record
    return record.definition, None


def _warms(known: Opened, request: Warm, scene: Scene) -> Told[Opened]:
    needless = known is not None and not OFFERED[known.profile]
    return known, f"{scene.session} has no tools, and warms {request.workspace}" if needless else None


RUNTIME_IS_FOR_TOOLS = Check(
    "runtime-is-for-tools",
    cites="003 Problem and scope",
    says="A Session without tools provisions no runtime.",
    start=None,
    hears=(recorded(ActivationChanged, by_session, _defined), asked(Warm, by_session, _warms)),
)

CHECKS = (
    FILE_TOOLS_HAVE_NO_RECEIPT,
    FILE_ANSWER_IS_TOLD,
    FILE_HISTORY_STANDS_AROUND,
    LISTENER_IS_FOR_SHELL,
    SESSION_STAYS_AS_DEFINED,
    RUNTIME_IS_FOR_TOOLS,
)
