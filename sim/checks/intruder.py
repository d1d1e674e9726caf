"""What an outsider gains: a definite answer, and nothing else; and no capability travels to a place of its choice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from sim.checks.check import (
    OUTSIDER,
    Check,
    Scene,
    Told,
    answered,
    asked,
    at_all,
    intruded,
    recorded,
    wrote,
)
from sim.effects import Secret
from sim.facts import LEDGER, RUNTIME_SESSIONS, Execution, RuntimeSession, StoredResource, WorkspaceLease
from sim.history import Failure, Struck
from sim.protocol import (
    AcceptCapture,
    Acknowledge,
    Acquire,
    CancelExecution,
    Descriptor,
    FinalizeCapture,
    FinishOutput,
    InstallPublisher,
    OpenPublisher,
    Prepare,
    PreparePublication,
    Publish,
    RegisterPublisher,
    StartExecution,
    Status,
    ToolReceipt,
    WriteOutput,
)

GUARDED = (PreparePublication, WriteOutput, FinishOutput, FinalizeCapture, AcceptCapture)
ROUTES = (
    *GUARDED,
    RegisterPublisher,
    InstallPublisher,
    Acquire,
    Prepare,
    StartExecution,
    Status,
    CancelExecution,
    Acknowledge,
    Publish,
)
"""Every route of the table in 003 Ownership and transport."""

DOUBT = "doubt"
"""The code of an answer that proves nothing."""
WAITING, TOLD = "waiting", "told"


def _question(what: object, scene: Scene) -> int | None:
    """One question of an outsider; nobody's, when somebody else asked."""
    return scene.asked.exchange if scene.actor == OUTSIDER else None


def _struck(scene: Scene) -> bool:
    """Whether a fault may be why nobody could answer."""
    return any(isinstance(event, Struck) for event in scene.events)


def _waits(state: str, request: Any, scene: Scene) -> Told[str]:
    return WAITING, None


def _is_told(state: str, answer: object, scene: Scene) -> Told[str]:
    vague = isinstance(answer, Failure) and answer.code == DOUBT and not _struck(scene)
    request = scene.asked.request
    return (
        TOLD,
        f"an outsider's {request.label} to {scene.asked.to} was answered with doubt" if vague else None,
    )


def _unanswered(question: int, state: str, scene: Scene) -> Iterator[tuple[int, str]]:
    asked = scene.requests[question]
    if state == WAITING and not _struck(scene):
        yield asked.at, f"an outsider's {asked.request.label} to {asked.to} was never answered"


OUTSIDER_IS_TOLD = Check(
    "outsider-is-told",
    cites="003 Ownership and transport",
    says="A request of an outsider gets a definite answer, on every route.",
    start="",
    hears=(
        *(intruded(route, _question, _waits) for route in ROUTES),
        *(answered(route, _question, _is_told) for route in ROUTES),
    ),
    end=_unanswered,
)


# --- what it changes


def _source(scene: Scene) -> Any:
    """The outsider's request that led to the row at hand; None when none did."""
    event: Any = scene.event
    began = scene.began.get(event.script)
    while began is not None:
        above = scene.began.get(began.parent)
        if above is not None and above.actor == OUTSIDER:
            asked = scene.requests.get(began.exchange)
            return None if asked is None else asked.request
        began = above
    return None


def _tenant(scene: Scene) -> bool:
    """Whether the row at hand belongs to the outsider itself, as to anybody who takes a Workspace."""
    row: Any = scene.write.row
    if scene.write.table == LEDGER.name:
        row = scene.row(RUNTIME_SESSIONS, row.runtime_session)
    return getattr(row, "session", "") == OUTSIDER


Capabilities: TypeAlias = frozenset[Secret]


def _opens(capabilities: Capabilities, answer: object, scene: Scene) -> Told[Capabilities]:
    return (capabilities | {answer.capability} if isinstance(answer, Descriptor) else capabilities), None


def _changes(capabilities: Capabilities, row: object, scene: Scene) -> Told[Capabilities]:
    if not scene.boots.get(OUTSIDER):
        return capabilities, None
    source = _source(scene)
    if source is None or getattr(source, "bearer", None) in capabilities or _tenant(scene):
        return capabilities, None
    return capabilities, f"an outsider's {source.label} changed {scene.write.table} {scene.write.key}"


OUTSIDER_CHANGES_NOTHING = Check(
    "outsider-changes-nothing",
    cites="003 Ownership and transport",
    says="Without a capability that was given out, an outsider changes no durable row but its own.",
    start=frozenset[Secret](),
    hears=(
        answered(OpenPublisher, at_all, _opens),
        *(
            wrote(row, at_all, _changes)
            for row in (StoredResource, Execution, RuntimeSession, WorkspaceLease)
        ),
        recorded(ToolReceipt, at_all, _changes),
    ),
)


# --- where a capability goes

Places: TypeAlias = frozenset[tuple[Secret, str]]
"""Which listener each capability opens."""


def _stands(places: Places, answer: object, scene: Scene) -> Told[Places]:
    if not isinstance(answer, Descriptor):
        return places, None
    return places | {(answer.capability, scene.asked.to)}, None


def _lures(places: Places, request: RegisterPublisher, scene: Scene) -> Told[Places]:
    publisher = request.publisher
    return places | {(publisher.capability, f"publisher:{publisher.session}")}, None


def _travels(places: Places, request: Any, scene: Scene) -> Told[Places]:
    own = {place for capability, place in places if capability == request.bearer}
    if not own or scene.asked.to in own or scene.actor == OUTSIDER:
        return places, None
    return places, f"{scene.actor} sent the capability of {min(own)} to {scene.asked.to}"


CAPABILITY_STAYS_HOME = Check(
    "capability-stays-home",
    cites="003 Ownership and transport; behaviour §7 guard 69",
    says="A worker sends a capability to the listener that it opens, and nowhere else.",
    start=frozenset[tuple[Secret, str]](),
    hears=(
        answered(OpenPublisher, at_all, _stands),
        intruded(RegisterPublisher, at_all, _lures),
        *(asked(request, at_all, _travels) for request in GUARDED),
        *(intruded(request, at_all, _travels) for request in GUARDED),
    ),
)

CHECKS = (OUTSIDER_IS_TOLD, OUTSIDER_CHANGES_NOTHING, CAPABILITY_STAYS_HOME)
