"""Capabilities and writer tokens: their values stand nowhere, and only their holders get in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from sim.checks.check import Check, Scene, Told, answered, asked, at_all, happened
from sim.effects import Secret
from sim.history import Asked, Committed, Event, Failure, Struck, encoded
from sim.protocol import (
    AcceptCapture,
    AcquireWriter,
    Descriptor,
    FinalizeCapture,
    FinishOutput,
    Infer,
    OpenPublisher,
    PreparePublication,
    RegisterPublisher,
    WriteOutput,
)
from sim.publication import ReserveGrant


def _token(secrets: frozenset[Secret], request: AcquireWriter, scene: Scene) -> Told[frozenset[Secret]]:
    return secrets | {request.token}, None


def _registers(
    secrets: frozenset[Secret], request: RegisterPublisher, scene: Scene
) -> Told[frozenset[Secret]]:
    return secrets | {request.publisher.capability}, None


def _bears(secrets: frozenset[Secret], request: PreparePublication, scene: Scene) -> Told[frozenset[Secret]]:
    return secrets | {request.bearer}, None


def _reserves(secrets: frozenset[Secret], request: ReserveGrant, scene: Scene) -> Told[frozenset[Secret]]:
    return secrets | {request.token}, None


def _place(event: Event) -> str:
    """What a reader would call the place of this event."""
    if isinstance(event, Committed):
        return "a durable row"
    if isinstance(event, Asked):
        message = "a message to the model" if isinstance(event.request, Infer) else "a request"
        return f"{message} ({type(event.request).__name__})"
    return f"the trace ({type(event).__name__})"


def _leaks(subject: str, secrets: frozenset[Secret], scene: Scene) -> Iterator[tuple[int, str]]:
    """Every secret whose value stands in the encoded history, with the first place where it does."""
    whole = scene.trace()
    for secret in sorted(secrets, key=lambda secret: secret.name):
        value = secret.value.encode()
        if not value or value not in whole:
            continue
        event = next((event for event in scene.events if value in encoded([event])), scene.events[-1])
        yield event.at, f"the value of {secret.name} stands in {_place(event)}"


SECRETS_STAND_NOWHERE = Check(
    "secrets-stand-nowhere",
    cites="003 Ownership and transport",
    says="No capability or writer token stands in a journal, a message to the model, or any trace.",
    start=frozenset[Secret](),
    hears=(
        asked(AcquireWriter, at_all, _token),
        asked(RegisterPublisher, at_all, _registers),
        asked(PreparePublication, at_all, _bears),
        asked(ReserveGrant, at_all, _reserves),
    ),
    end=_leaks,
)


# --- the publisher's door

GUARDED = (PreparePublication, WriteOutput, FinishOutput, FinalizeCapture, AcceptCapture)
FORGED = "capability-expired"
"""The fate under which a request arrives with a capability that opens nothing."""


class Door(msgspec.Struct, frozen=True, gc=False):
    """The capabilities that were given out, and the effects that were struck to arrive with another one."""

    capabilities: frozenset[Secret] = frozenset()
    forged: frozenset[tuple[int, str, int]] = frozenset()


def _opened(door: Door, answer: object, scene: Scene) -> Told[Door]:
    if not isinstance(answer, Descriptor):
        return door, None
    return Door(door.capabilities | {answer.capability}, door.forged), None


def _struck(door: Door, event: Struck, scene: Scene) -> Told[Door]:
    if event.fate != FORGED:
        return door, None
    return Door(door.capabilities, door.forged | {(event.script, event.label, event.nth)}), None


def _let_in(door: Door, answer: object, scene: Scene) -> Told[Door]:
    if isinstance(answer, Failure):
        return door, None
    question = scene.asked
    request: Any = question.request
    forged = bool(door.forged) and (question.script, request.label, question.nth) in door.forged
    if not forged and request.bearer in door.capabilities:
        return door, None
    return (
        door,
        f"{question.to} answered {request.label} of {request_execution(request)} to a foreign capability",
    )


def request_execution(request: Any) -> str:
    """The execution that a request to the publisher is about."""
    return request.reference.execution if isinstance(request, PreparePublication) else request.execution


PUBLISHER_ASKS_ITS_CAPABILITY = Check(
    "publisher-asks-its-capability",
    cites="003 Ownership and transport; RC-40",
    says="The publisher answers nobody who does not bear the capability of a listener that was opened.",
    start=Door(),
    hears=(
        answered(OpenPublisher, at_all, _opened),
        happened(Struck, at_all, _struck),
        *(answered(request, at_all, _let_in) for request in GUARDED),
    ),
)

CHECKS = (SECRETS_STAND_NOWHERE, PUBLISHER_ASKS_ITS_CAPABILITY)
