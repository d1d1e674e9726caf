"""Output in the object store: published under a live grant alone, admitted whole with its receipt, or not at all."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
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
    at_all,
    by_key,
    by_recorded_execution,
    published_as,
    recorded,
    wrote,
)
from sim.deeds import Spawn
from sim.facts import (
    ACTIVATIONS,
    LEDGER,
    OBJECTS,
    OPERATIONS,
    PUBLICATIONS,
    REFERENCES,
    WRITERS,
    Publication,
    PublicationOperation,
)
from sim.history import Committed, Failure
from sim.protocol import (
    Checkpoint,
    Entry,
    Execute,
    Observed,
    StartExecution,
    Status,
    ToolReceipt,
    ToolResult,
    Transact,
    TurnSettled,
)
from sim.publication import ReadFinished, RenewGrants

# --- the grant


def _covered(bound: frozenset[str], entry: Entry, scene: Scene) -> Told[frozenset[str]]:
    checkpoint: Any = entry.record
    return bound | {binding.execution for binding in checkpoint.bindings}, None


def _granted(bound: frozenset[str], row: Publication, scene: Scene) -> Told[frozenset[str]]:
    if scene.before is not None:
        return bound, None
    execution = row.mapping.reference.execution
    ledger = scene.row(LEDGER, execution)
    if ledger is None or (ledger.state, ledger.dispatches) != ("prepared", 0):
        return bound, f"{scene.write.key} was granted for {execution}, which is not merely reserved"
    if execution not in scene.intended or execution not in bound:
        return bound, f"{scene.write.key} was granted before {execution} was intended and covered"
    return bound, None


GRANTED_WHEN_RECORDED = Check(
    "granted-when-recorded",
    cites="behaviour §1.13, §7 guard 153",
    says="A publication is granted for a reserved execution that was never sent, behind its intent and its checkpoint.",
    start=frozenset[str](),
    hears=(recorded(Checkpoint, at_all, _covered), wrote(Publication, at_all, _granted)),
)


def _begun(state: bool, row: PublicationOperation, scene: Scene) -> Told[bool]:
    before: PublicationOperation | None = scene.before
    begins = row.state == "pending" and (before is None or before.state != "pending")
    published = scene.row(PUBLICATIONS, scene.write.key.partition("/")[0])
    if not begins or published is None:
        return state, None
    writer, current = (
        scene.row(WRITERS, published.session),
        scene.row(ACTIVATIONS, published.session),
    )
    mapping = published.mapping
    same = writer is not None and writer.generation == published.generation
    active = current is not None and (current.id, current.epoch) == (mapping.activation, mapping.epoch)
    if not same or not active:
        return state, f"{scene.write.key} was begun for an owner that was replaced"
    if scene.event.at >= published.expires_at:
        return state, f"{scene.write.key} was begun after its grant had run out"
    return state, None


PUBLISHED_UNDER_A_LIVE_GRANT = Check(
    "published-under-a-live-grant",
    cites="behaviour §1.13, §7 guard 154",
    says="An operation begins only while the writer and the activation of its grant own the Session, and in its time.",
    start=False,
    hears=(wrote(PublicationOperation, by_key, _begun),),
)


def _dispatched(state: bool, execute: Execute, scene: Scene) -> Told[bool]:
    execution = execute.reference.execution
    published = scene.row(PUBLICATIONS, published_as(execution, scene))
    if not published_as(execution, scene) or (published is not None and published.state != "not_started"):
        return state, None
    return state, f"{execution} was dispatched, and nobody may publish its output"


def _by_dispatched(execute: Execute, scene: Scene) -> str:
    return execute.reference.execution


DISPATCHED_UNDER_ITS_GRANT = Check(
    "dispatched-under-its-grant",
    cites="behaviour §1.10, §2.2",
    says="An execution that publishes is dispatched under a grant that was given and not closed.",
    start=False,
    hears=(asked(Execute, _by_dispatched, _dispatched),),
)


def _spawned(spawned: frozenset[str], spawn: Spawn, scene: Scene) -> Told[frozenset[str]]:
    wrong = None
    published = scene.row(PUBLICATIONS, published_as(spawn.execution, scene))
    if published is not None and published.state == "not_started":
        wrong = f"{spawn.execution} was spawned, and its grant was closed as not started"
    return spawned | {spawn.execution}, wrong


def _closed(spawned: frozenset[str], row: Publication, scene: Scene) -> Told[frozenset[str]]:
    if row.state != "not_started":
        return spawned, None
    execution, name = row.mapping.reference.execution, scene.write.key
    ledger = scene.row(LEDGER, execution)
    envelope = ledger.envelope if ledger else None
    if envelope is None or envelope.status != "not_started" or execution in spawned:
        return spawned, f"{name} was closed as not started, and the ledger does not prove it"
    if any(key.startswith(f"{name}/") for key in scene.table(OPERATIONS)):
        return spawned, f"{name} was closed as not started, and output of it is there"
    return spawned, None


CLOSED_MEANS_NOTHING_RAN = Check(
    "closed-means-nothing-ran",
    cites="behaviour §1.13, §7 guard 155",
    says="A grant is closed as not started when the ledger proves it and nothing was published, and stays true.",
    start=frozenset[str](),
    hears=(acted(Spawn, at_all, _spawned), wrote(Publication, at_all, _closed)),
)


def _renews(over: frozenset[str], request: RenewGrants, scene: Scene) -> Told[frozenset[str]]:
    for name in request.publications:
        row = scene.row(PUBLICATIONS, name)
        if row is not None and row.mapping.prompt in over:
            return over, f"{name} was renewed after its turn was settled"
    return over, None if request.publications else f"session {request.session} renewed no grant at all"


def _over(over: frozenset[str], entry: Entry, scene: Scene) -> Told[frozenset[str]]:
    settled: Any = entry.record
    return over | {settled.prompt}, None


RENEWALS_STOP = Check(
    "renewals-stop",
    cites="behaviour §1.13, §2.2",
    says="Grants are renewed while there are any and their turn is open, and never behind its settlement.",
    start=frozenset[str](),
    hears=(asked(RenewGrants, at_all, _renews), recorded(TurnSettled, at_all, _over)),
)


# --- operations and their bytes


def _moved(state: bool, row: PublicationOperation, scene: Scene) -> Told[bool]:
    before: PublicationOperation | None = scene.before
    name = scene.write.key
    if before is not None and (before.request, before.digest) != (row.request, row.digest):
        return state, f"{name} stands for two pieces of output"
    if before is not None and before.state == "succeeded" and row.state != "succeeded":
        return state, f"{name} had succeeded and is {row.state}"
    held = scene.row(OBJECTS, row.key) if row.key else None
    if row.state == "succeeded" and row.key and (held is None or held.digest != row.digest):
        return state, f"{name} is told to be durable, and the object store does not have it"
    return state, None


OPERATIONS_ARE_DONE = Check(
    "operations-are-done",
    cites="behaviour §1.13",
    says="An operation stands for one piece of output, and has succeeded exactly when its object is there.",
    start=False,
    hears=(wrote(PublicationOperation, by_key, _moved),),
)


def _counts(used: int, row: PublicationOperation, scene: Scene) -> Told[int]:
    name = scene.write.key.partition("/")[0]
    published = scene.row(PUBLICATIONS, name)
    before: PublicationOperation | None = scene.before
    done = row.state == "succeeded" and (before is None or before.state != "succeeded")
    if published is None or row.kind != "content" or not done:
        return used, None
    used, quota = used + row.length, published.mapping.capture_bytes
    return used, f"{name} holds {used} bytes, and has a quota of {quota}" if used > quota else None


def _by_publication(row: PublicationOperation, scene: Scene) -> str:
    return scene.write.key.partition("/")[0]


QUOTA_HOLDS = Check(
    "quota-holds",
    cites="behaviour §1.13",
    says="What is published of one execution never exceeds its quota.",
    start=0,
    hears=(wrote(PublicationOperation, _by_publication, _counts),),
)


# --- what was finished, and why it was not

UNKNOWN = "runtime_broker_execution_unknown"


class Sought(msgspec.Struct, frozen=True, gc=False):
    """Whether a broker told that an execution is unknown, and whether its owner asked what was finished."""

    unknown: bool = False
    asked: bool = False


def _told_unknown(sought: Sought, answer: object, scene: Scene) -> Told[Sought]:
    unknown = isinstance(answer, Failure) and answer.code == UNKNOWN
    return (replace(sought, unknown=True) if unknown else sought), None


def _seeks(sought: Sought, request: ReadFinished, scene: Scene) -> Told[Sought]:
    return replace(sought, asked=True), None


def _unsought(execution: str, sought: Sought, scene: Scene) -> Iterator[tuple[int, str]]:
    if sought.unknown and not sought.asked:
        said = f"{execution} is unknown to its broker, and nobody asked what its producer finished with"
        yield scene.events[-1].at, said


def _published_status(answer: object, scene: Scene) -> str | None:
    execution = scene.asked.request.execution
    owned = scene.actor.startswith("harness:")
    return execution if owned and published_as(execution, scene) else None


def _read_execution(request: ReadFinished, scene: Scene) -> str | None:
    row = scene.row(PUBLICATIONS, request.publication)
    return None if row is None else row.mapping.reference.execution


FINISHED_IS_SOUGHT = Check(
    "finished-is-sought",
    cites="behaviour §2.2, §3.2",
    says="Where the broker knows no outcome of what publishes, its owner asks what the producer finished with.",
    start=Sought(),
    hears=(answered(Status, _published_status, _told_unknown), asked(ReadFinished, _read_execution, _seeks)),
    end=_unsought,
)


def _rejected(reasons: frozenset[str], row: PublicationOperation, scene: Scene) -> Told[frozenset[str]]:
    return (reasons | {row.reason} if row.state == "rejected" else reasons), None


def _gives_reason(reasons: frozenset[str], entry: Entry, scene: Scene) -> Told[frozenset[str]]:
    receipt: Any = entry.record
    capture = receipt.envelope.capture
    if capture is None or EXHAUSTED not in reasons or capture.reason == EXHAUSTED:
        return reasons, None
    return reasons, f"the quota of {receipt.execution} is exhausted, and its receipt says {capture.reason}"


EXHAUSTED = "quota_exhausted"


def _execution_published(row: PublicationOperation, scene: Scene) -> str | None:
    published = scene.row(PUBLICATIONS, _by_publication(row, scene))
    return None if published is None else published.mapping.reference.execution


QUOTA_IS_TOLD = Check(
    "quota-is-told",
    cites="behaviour §1.8, §1.13",
    says="A capture that is partial for want of quota gives that as its reason.",
    start=frozenset[str](),
    hears=(
        wrote(PublicationOperation, _execution_published, _rejected),
        recorded(ToolReceipt, by_recorded_execution, _gives_reason),
    ),
)


# --- admission


def _received(state: bool, entry: Entry, scene: Scene) -> Told[bool]:
    receipt: Any = entry.record
    name = published_as(receipt.execution, scene)
    if not name or receipt.envelope.capture is None:
        return state, None
    event: Any = scene.event
    row = scene.row(PUBLICATIONS, name)
    together = {
        (write.table, write.key)
        for write in (event.writes if isinstance(event, Committed) else ())
        if write.row is not None
    }
    if row is None or row.envelope != receipt.envelope:
        return state, f"{receipt.execution} is admitted with another result than its producer finished with"
    pieces = [
        each.resource
        for key, each in scene.table(OPERATIONS).items()
        if key.startswith(f"{name}/") and each.state == "succeeded" and each.resource
    ]
    wanted = {(REFERENCES.name, f"{scene.session}/{resource}") for resource in pieces}
    lacking = len((wanted | {(PUBLICATIONS.name, name)}) - together)
    said = f"the receipt of {receipt.execution} became durable without {lacking} of what it refers to"
    return state, said if lacking else None


RECEIPT_WITH_ITS_OUTPUT = Check(
    "receipt-with-its-output",
    cites="behaviour §1.13, §7 guards 156, 157",
    says="A receipt of published output, its resources and the reference become durable in one transaction.",
    start=False,
    hears=(recorded(ToolReceipt, by_recorded_execution, _received),),
)


def _history(state: bool, transact: Transact, scene: Scene) -> Told[bool]:
    for record in transact.records:
        told: Any = record
        if not isinstance(record, ToolResult) or not published_as(told.execution, scene):
            continue
        row = scene.row(LEDGER, told.execution)
        if row is None or row.envelope is None or row.envelope.capture is None:
            continue
        if transact.command != f"recorder:{_uuid(told.execution)}":
            return state, f"the history of {told.execution} is written under {transact.command}"
    return state, None


def _uuid(execution: str) -> str:
    """The id of an execution's history record (behaviour §6.4), computed apart from the design's code."""
    name = f"qwen-hosted-shell-history/1:{execution}".encode()
    value = bytearray(hashlib.sha1(name, usedforsecurity=False).digest()[:16])
    value[6], value[8] = value[6] & 0x0F | 0x50, value[8] & 0x3F | 0x80
    text = value.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


HISTORY_HAS_ONE_ID = Check(
    "history-has-one-id",
    cites="behaviour §6.4, §7 guard 158",
    says="The history of a published result is written under the id that follows from its execution.",
    start=False,
    hears=(asked(Transact, at_all, _history),),
)


# --- a start that is sent again

PROOFS = 10
"""So many statuses in a row prove a reservation before its start is sent again (behaviour §1.10)."""


class Started(msgspec.Struct, frozen=True, gc=False):
    """How often a start was sent, and how many looks since proved in a row that nothing was dispatched."""

    sends: int = 0
    proofs: int = 0


def _starts(started: Started, start: StartExecution, scene: Scene) -> Told[Started]:
    few = started.sends and started.proofs < PROOFS
    said = f"the start of {start.execution} was sent again after {started.proofs} proofs"
    return Started(started.sends + 1), said if few else None


def _looked(started: Started, answer: object, scene: Scene) -> Told[Started]:
    if not started.sends:
        return started, None
    proof = isinstance(answer, Observed) and answer.state == "prepared"
    return replace(started, proofs=started.proofs + 1 if proof else 0), None


def _published_start(start: StartExecution, scene: Scene) -> str | None:
    return start.execution if start.publication else None


STARTED_AGAIN_ON_PROOF = Check(
    "started-again-on-proof",
    cites="behaviour §1.10, §7 guard 123",
    says="The start of what is published is sent again after ten looks that prove that nothing was dispatched.",
    start=Started(),
    hears=(
        asked(StartExecution, _published_start, _starts),
        answered(Status, lambda answer, scene: scene.asked.request.execution, _looked),
    ),
)

CHECKS = (
    GRANTED_WHEN_RECORDED,
    PUBLISHED_UNDER_A_LIVE_GRANT,
    DISPATCHED_UNDER_ITS_GRANT,
    CLOSED_MEANS_NOTHING_RAN,
    RENEWALS_STOP,
    OPERATIONS_ARE_DONE,
    QUOTA_HOLDS,
    QUOTA_IS_TOLD,
    FINISHED_IS_SOUGHT,
    RECEIPT_WITH_ITS_OUTPUT,
    HISTORY_HAS_ONE_ID,
    STARTED_AGAIN_ON_PROOF,
)
