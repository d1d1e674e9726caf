"""What a listener lets in: one operation of a stream after another, and none that outlasts its turn."""

from __future__ import annotations

from typing import Any, TypeAlias

from sim.checks.check import Check, Scene, Told, answered, asked, by_addressee, by_process, happened
from sim.history import Crashed
from sim.protocol import (
    AcceptCapture,
    ClosePublisher,
    FinalizeCapture,
    FinishOutput,
    PreparePublication,
    PublisherClosed,
    StreamFinished,
    WriteOutput,
)

Open: TypeAlias = tuple[tuple[int, str, str], ...]
"""The operations that nobody has answered yet: exchange, execution, and the stream or what else it is about."""


def _entry(scene: Scene) -> tuple[int, str, str]:
    request: Any = scene.asked.request
    execution = request.reference.execution if isinstance(request, PreparePublication) else request.execution
    return scene.asked.exchange, execution, getattr(request, "stream", request.label)


def _asks(waiting: Open, request: object, scene: Scene) -> Told[Open]:
    return (*waiting, _entry(scene)), None


def _answers(waiting: Open, answer: object, scene: Scene) -> Told[Open]:
    return tuple(each for each in waiting if each[0] != scene.asked.exchange), None


def _arrived(exchange: int, scene: Scene) -> bool:
    """Whether a request was let in: one that is lost or late is nowhere yet."""
    return any(began.exchange == exchange for began in scene.began.values())


def _finishes(waiting: Open, answer: object, scene: Scene) -> Told[Open]:
    _, execution, stream = _entry(scene)
    after, _ = _answers(waiting, answer, scene)
    if not isinstance(answer, StreamFinished):
        return after, None
    here = [exchange for exchange, *of in after if of == [execution, stream]]
    overtaken = any(each < scene.asked.exchange and _arrived(each, scene) for each in here)
    return after, f"the end of {stream} of {execution} overtook a write before it" if overtaken else None


def _closes(waiting: Open, answer: object, scene: Scene) -> Told[Open]:
    if not isinstance(answer, PublisherClosed):
        return waiting, None
    running = [what for exchange, *what in waiting if _arrived(exchange, scene)]
    said = "".join(f"{what} of {execution}" for execution, what in running[:1])
    return waiting, f"{scene.asked.to} was closed while {said} was under way" if running else None


def _dies(waiting: Open, event: Crashed, scene: Scene) -> Told[Open]:
    return (() if event.process.startswith("owner:") else waiting), None


OPERATIONS = (PreparePublication, WriteOutput, FinalizeCapture, AcceptCapture)

ONE_AFTER_ANOTHER = Check(
    "one-after-another",
    cites="003 Ownership and transport; 003 Lifecycle",
    says="A stream ends behind every write that was let in, and a listener closes behind every operation.",
    start=(),
    hears=(
        *(asked(request, by_addressee, _asks) for request in (*OPERATIONS, FinishOutput)),
        *(answered(request, by_addressee, _answers) for request in OPERATIONS),
        answered(FinishOutput, by_addressee, _finishes),
        answered(ClosePublisher, by_addressee, _closes),
        happened(Crashed, by_process, _dies),
    ),
)

CHECKS = (ONE_AFTER_ANOTHER,)
