"""What is sent again, how often, and whether it is the same."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import msgspec

from sim.checks.check import Check, Scene, Told, asked, learned
from sim.effects import Request
from sim.history import Learned
from sim.protocol import (
    AcceptCapture,
    Acknowledge,
    Acquire,
    FinalizeCapture,
    FinishOutput,
    Prepare,
    PreparePublication,
    Publish,
    ReadJournal,
    ReadResource,
    RegisterPublisher,
    Release,
    RenewWriter,
    Stage,
    StartExecution,
    Transact,
    WriteOutput,
)
from sim.publication import (
    CloseNotStarted,
    CommitReceipt,
    FinishPublication,
    InstallGrant,
    PrepareAdmission,
    PublishPiece,
    PutObject,
    ReadFinished,
    ReadRange,
    RecoverOperation,
    RenewGrants,
    ReserveGrant,
)

SENDS: dict[type[Request[Any]], int] = {
    Acquire: 1,
    RegisterPublisher: 1,
    Prepare: 2,
    StartExecution: 1,
    Acknowledge: 2,
    Release: 1,
    PreparePublication: 1,
    WriteOutput: 1,
    FinishOutput: 1,
    FinalizeCapture: 1,
    AcceptCapture: 1,
    Stage: 1,
    Publish: 1,
    PublishPiece: 4,
    FinishPublication: 4,
    RecoverOperation: 3,
    InstallGrant: 3,
    PutObject: 4,
}
"""How often one operation may be sent in all (behaviour §3.6)."""

PUBLISHED: dict[type[Request[Any]], int] = {Prepare: 1, StartExecution: 3, Acknowledge: 1}
"""The same where the output is published: a start may be sent again on proof, and nothing else."""

AFTER_DOUBT: dict[type[Request[Any]], int] = {
    Transact: 3,
    ReadJournal: 3,
    ReadResource: 3,
    RenewWriter: 3,
    ReserveGrant: 3,
    RenewGrants: 3,
    CloseNotStarted: 3,
    ReadFinished: 3,
    ReadRange: 3,
    PrepareAdmission: 3,
    CommitReceipt: 3,
}
"""How often one may be sent while nothing but doubt comes back: a later, fresh one counts anew."""

FRESH_MS = 5_000
"""What is sent longer after doubt than this is a new operation, as the next renewal is, and no further attempt."""


class Sent(msgspec.Struct, frozen=True, gc=False):
    """How often an operation was sent (or left in doubt), what was sent first, and whether and when doubt came last."""

    times: int = 0
    first: Request[Any] | None = None
    doubt: bool = False
    at: int = 0


NEVER = Sent()


def _operation(request: Request[Any], scene: Scene) -> Hashable:
    """What is asked, by whom, in which life of its process."""
    return scene.actor, scene.life, request.__class__, request.operation


def _attempt(request: Request[Any], scene: Scene) -> Hashable:
    """One loop of sends: those of one script."""
    return scene.asked.script, request.__class__, request.operation


def _attempt_of(event: Learned, scene: Scene) -> Hashable:
    return _attempt(scene.asked.request, scene)


def _named(request: Request[Any]) -> str:
    return f"{type(request).__name__} {request.operation}".rstrip()


def _bound(request: Request[Any]) -> int:
    """How often this request may be sent in all."""
    published = isinstance(request, Prepare | StartExecution | Acknowledge) and request.publication
    return (PUBLISHED if published else SENDS).get(type(request), SENDS[type(request)])


def _sent(sent: Sent, request: Request[Any], scene: Scene) -> Told[Sent]:
    times, bound = sent.times + 1, _bound(request)
    after = Sent(times, sent.first or request)
    if times > bound:
        return after, f"{scene.actor} sent {_named(request)} {times} times, at most {bound} allowed"
    if sent.first is not None and sent.first != request:
        return after, f"{scene.actor} sent another candidate for {_named(request)}"
    return after, None


def _sent_again(sent: Sent, request: Request[Any], scene: Scene) -> Told[Sent]:
    if not sent.doubt or scene.event.at - sent.at > FRESH_MS:
        return NEVER, None
    times, bound = sent.times + 1, AFTER_DOUBT[type(request)]
    after = Sent(sent.times, sent.first)
    if times > bound:
        return (
            after,
            f"{scene.actor} sent {_named(request)} {times} times into doubt, at most {bound} allowed",
        )
    if sent.first != request:
        return after, f"{scene.actor} sent another candidate for {_named(request)}"
    return after, None


def _learned(sent: Sent, event: Learned, scene: Scene) -> Told[Sent]:
    if not event.doubt:
        return NEVER, None
    return Sent(sent.times + 1, sent.first or scene.asked.request, True, event.at), None


RETRIES = Check(
    "bounded-identical-retries",
    cites="behaviour §3.6; 003 Identity",
    says="An operation is sent no oftener than its bound, and every time as the identical candidate.",
    start=NEVER,
    hears=(
        *(asked(request, _operation, _sent) for request in SENDS),
        *(asked(request, _attempt, _sent_again) for request in AFTER_DOUBT),
        *(learned(request, _attempt_of, _learned) for request in AFTER_DOUBT),
    ),
)


def _committed(first: Transact | None, request: Transact, scene: Scene) -> Told[Transact | None]:
    if first is None or first.records == request.records:
        return first or request, None
    return first, f"{scene.actor} committed other records under command {request.command}"


ONE_COMMAND_ONE_CONTENT = Check(
    "one-command-one-content",
    cites="behaviour §1.11",
    says="A command id stands for one content in one life of its owner.",
    start=None,
    hears=(asked(Transact, _operation, _committed),),
)

CHECKS = (RETRIES, ONE_COMMAND_ONE_CONTENT)
