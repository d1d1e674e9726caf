"""Who holds a Workspace, who gives it back and when; and what must not happen without it."""

from __future__ import annotations

from typing import Any

from sim.checks.check import (
    Check,
    Scene,
    Told,
    acted,
    answered,
    asked,
    by_execution,
    by_key,
    by_process,
    by_session,
    happened,
    of_broker,
    recorded,
    removed,
    wrote,
)
from sim.deeds import ExitProcess, Spawn, TouchFile, WriteFile
from sim.facts import LEASES, LEDGER, RUNTIME_SESSIONS, WorkspaceLease
from sim.history import Crashed, Failure
from sim.protocol import Acquire, Entry, Release, TurnSettled


def _claimed(state: bool, lease: WorkspaceLease, scene: Scene) -> Told[bool]:
    before: WorkspaceLease | None = scene.before
    if before is None or before.holder == lease.holder:
        return state, None
    return state, f"workspace {scene.write.key} was taken by {lease.session} while {before.session} held it"


def _cleared(state: bool, lease: WorkspaceLease | None, scene: Scene) -> Told[bool]:
    cause = scene.cause()
    if lease is None or cause is None:
        return state, None
    workspace, request = scene.write.key, cause.request
    if not isinstance(request, Release):
        return state, f"workspace {workspace} was freed by {request.label}, which is no release"
    runtime_session = scene.row(RUNTIME_SESSIONS, request.runtime_session)
    if runtime_session is not None and runtime_session.session != lease.session:
        return state, f"workspace {workspace} of {lease.session} was released by {runtime_session.session}"
    return state, None


LEASE_HAS_ONE_HOLDER = Check(
    "lease-has-one-holder",
    cites="003 Ownership and transport; behaviour §1.10",
    says="A held Workspace is taken by nobody else, and freed by nothing but a release of its own holder.",
    start=False,
    hears=(wrote(WorkspaceLease, by_key, _claimed), removed(LEASES, by_key, _cleared)),
)


# --- never while something may live


def _where(deed: Spawn | ExitProcess, scene: Scene) -> str | None:
    row = scene.row(LEDGER, deed.execution)
    return None if row is None else row.workspace


def _spawned(running: frozenset[str], spawn: Spawn, scene: Scene) -> Told[frozenset[str]]:
    return running | {spawn.execution}, None


def _exited(running: frozenset[str], deed: ExitProcess, scene: Scene) -> Told[frozenset[str]]:
    return running - {deed.execution}, None


def _worker_died(running: frozenset[str], event: Crashed, scene: Scene) -> Told[frozenset[str]]:
    died = event.process.startswith("worker:") and bool(running)
    return (frozenset[str]() if died else running), None


def _freed(running: frozenset[str], lease: WorkspaceLease | None, scene: Scene) -> Told[frozenset[str]]:
    workspace = scene.write.key
    if running:
        return running, f"workspace {workspace} was freed while the process of {min(running)} runs"
    rows = scene.table(LEDGER)
    live = [name for name, row in rows.items() if row.workspace == workspace and row.state != "settled"]
    if lease is not None and live:
        return running, f"workspace {workspace} was freed while {live[0]} is {rows[live[0]].state}"
    return running, None


NO_RELEASE_WHILE_LIVE = Check(
    "no-release-while-live",
    cites="003 Lifecycle; behaviour §4",
    says="A Workspace is not freed while a process of it runs, or an execution of it is not settled.",
    start=frozenset[str](),
    hears=(
        acted(Spawn, _where, _spawned),
        acted(ExitProcess, _where, _exited),
        happened(Crashed, by_process, _worker_died),
        removed(LEASES, by_key, _freed),
    ),
)


# --- exactly when the rules say


def _held_by(scene: Scene, session: str) -> str:
    """The Workspace that a Session holds; empty when it holds none."""
    leases = scene.table(LEASES)
    return next((workspace for workspace, lease in leases.items() if lease.session == session), "")


def _releases(state: bool, release: Release, scene: Scene) -> Told[bool]:
    if _held_by(scene, scene.session):
        return state, None
    return (
        state,
        f"session {scene.session} asked to release {release.runtime_session}, and holds no workspace",
    )


def _settled(state: bool, entry: Entry, scene: Scene) -> Told[bool]:
    turn: Any = entry.record
    workspace = _held_by(scene, scene.session)
    return state, f"turn {turn.prompt} was settled while its session holds {workspace}" if workspace else None


RELEASED_BEFORE_SETTLED = Check(
    "released-before-settled",
    cites="003 Identity; behaviour §4",
    says="Only a Session that holds a Workspace asks to release it, and no turn is settled before it has.",
    start=False,
    hears=(asked(Release, by_session, _releases), recorded(TurnSettled, by_session, _settled)),
)


def _under_lease(state: bool, spawn: Spawn, scene: Scene) -> Told[bool]:
    row = scene.row(LEDGER, spawn.execution)
    if row is None:
        return state, f"execution {spawn.execution} was spawned and is in no ledger"
    lease, runtime_session = (
        scene.row(LEASES, row.workspace),
        scene.row(RUNTIME_SESSIONS, row.runtime_session),
    )
    holder = "nobody" if lease is None else lease.session
    session = "" if runtime_session is None else runtime_session.session
    if holder != session:
        return (
            state,
            f"execution {spawn.execution} of {session} was spawned while {holder} holds {row.workspace}",
        )
    return state, None


def _touched(state: bool, deed: TouchFile | WriteFile, scene: Scene) -> Told[bool]:
    row = scene.row(LEDGER, deed.execution)
    if row is None or row.workspace == deed.workspace:
        return state, None
    return state, f"execution {deed.execution} of {row.workspace} changed {deed.file} in {deed.workspace}"


EFFECTS_UNDER_THE_LEASE = Check(
    "effects-under-the-lease",
    cites="003 Ownership and transport; 003 Implementation and validation",
    says="A command runs only while its Session holds the Workspace, and changes files of that Workspace alone.",
    start=False,
    hears=(
        acted(Spawn, of_broker(by_execution), _under_lease),
        acted(TouchFile, by_execution, _touched),
        acted(WriteFile, by_execution, _touched),
    ),
)

# --- a refusal that proves something

DEFINITE = 409
"""The status of an answer that proves that an acquisition claimed nothing."""
CLAIMING = ("acquiring", "ready", "failed")


def _refused(state: bool, answer: object, scene: Scene) -> Told[bool]:
    if not isinstance(answer, Failure) or answer.status != DEFINITE:
        return state, None
    request: Any = scene.asked.request
    lease = scene.row(LEASES, request.workspace)
    claim = scene.row(RUNTIME_SESSIONS, request.runtime_session)
    if lease is None or claim is None or lease.session != request.session or claim.state not in CLAIMING:
        return state, None
    return (
        state,
        f"{request.runtime_session} was refused {request.workspace} ({answer.status} {answer.code}) and holds it",
    )


REFUSED_HOLDS_NOTHING = Check(
    "refused-holds-nothing",
    cites="behaviour §3.1, §3.5",
    says="An acquisition that is refused for good has claimed nothing; one that failed after its claim is in doubt.",
    start=False,
    hears=(answered(Acquire, by_session, _refused),),
)

CHECKS = (
    LEASE_HAS_ONE_HOLDER,
    NO_RELEASE_WHILE_LIVE,
    RELEASED_BEFORE_SETTLED,
    EFFECTS_UNDER_THE_LEASE,
    REFUSED_HOLDS_NOTHING,
)
