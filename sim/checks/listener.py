"""What a listener lets in: one operation of a stream after another, and none that outlasts its turn."""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from sim.checks.check import (
    OUTSIDER,
    Check,
    Scene,
    Told,
    answered,
    asked,
    at_all,
    by_addressee,
    by_process,
    by_session,
    happened,
    learned,
    recorded,
    wrote,
)
from sim.checks.durable import COPY
from sim.effects import Secret
from sim.facts import StoredResource
from sim.history import Began, Crashed
from sim.protocol import (
    AcceptCapture,
    CheckWriter,
    ClosePublisher,
    Descriptor,
    FinalizeCapture,
    FinishOutput,
    OpenPublisher,
    PreparePublication,
    PublisherClosed,
    StreamFinished,
    ToolReceipt,
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


# --- one raw write at a time

UNDER_WAY = (WriteOutput, FinishOutput)


def _by_stream(what: object, scene: Scene) -> tuple[int, str, str] | None:
    """One stream of one execution, in one life of its worker; nobody, when an outsider asks."""
    request: Any = scene.asked.request
    if scene.actor == OUTSIDER:
        return None
    return scene.life, request.execution, request.stream


def _sends(waiting: int, request: object, scene: Scene) -> Told[int]:
    _, execution, stream = _entry(scene)
    early = f"{scene.actor} sent more of {stream} of {execution} before its last write was answered"
    return scene.asked.exchange, early if waiting else None


def _hears(waiting: int, what: object, scene: Scene) -> Told[int]:
    return (0 if scene.asked.exchange == waiting else waiting), None


ONE_RAW_WRITE_AT_A_TIME = Check(
    "one-raw-write-at-a-time",
    cites="003 Ownership and transport; behaviour §7 guard 81",
    says="A worker sends nothing more of a stream before the last of it was answered, or is known to be lost.",
    start=0,
    hears=(
        *(asked(request, _by_stream, _sends) for request in UNDER_WAY),
        *(answered(request, _by_stream, _hears) for request in UNDER_WAY),
        *(learned(request, _by_stream, _hears) for request in UNDER_WAY),
    ),
)


# --- the listener of one turn


class Closing(msgspec.Struct, frozen=True, gc=False):
    """Whether a Session's listener is open, and the question by which the last one was closed."""

    open: bool = False
    closed_by: int = 0


def _opens(closing: Closing, answer: object, scene: Scene) -> Told[Closing]:
    return (Closing(True, closing.closed_by) if isinstance(answer, Descriptor) else closing), None


def _is_closed(closing: Closing, answer: object, scene: Scene) -> Told[Closing]:
    return (Closing(False, scene.asked.exchange) if isinstance(answer, PublisherClosed) else closing), None


def _is_gone(closing: Closing, event: Crashed, scene: Scene) -> Told[Closing]:
    return (Closing() if event.process.startswith("owner:") else closing), None


def _let_in(scene: Scene) -> Began | None:
    """How the listener of the Session at hand let in what led to the event at hand; None when nothing did."""
    event: Any = scene.event
    began = scene.began.get(event.script)
    while began is not None and (not began.exchange or began.actor != f"publisher:{scene.session}"):
        began = scene.began.get(began.parent)
    return began


def _operation(scene: Scene) -> int:
    """The question to the publisher of the Session at hand behind the row at hand; 0 when there is none."""
    began = _let_in(scene)
    return 0 if began is None else began.exchange


def _storing(scene: Scene) -> int:
    """The question to the Store that wrote the row at hand; 0 for the second copy of one."""
    event: Any = scene.event
    began = scene.began.get(event.script)
    return 0 if began is None else began.exchange


def _commits(closing: Closing, row: object, scene: Scene) -> Told[Closing]:
    """What was on its way to the Store when the listener was closed may still arrive: its operation has ended."""
    if not closing.closed_by or _storing(scene) < closing.closed_by:
        return closing, None
    exchange = _operation(scene)
    late = exchange and (exchange < closing.closed_by or not closing.open)
    if not late:
        return closing, None
    request = scene.requests[exchange].request
    return closing, f"{request.label} wrote {scene.write.key} after the listener of its turn was closed"


NOTHING_COMMITS_AFTER_CLOSE = Check(
    "nothing-commits-after-close",
    cites="003 Lifecycle and failure handling; behaviour §7 guard 100",
    says="No operation that a listener let in has anything written after the listener was closed.",
    start=Closing(),
    hears=(
        answered(OpenPublisher, by_addressee, _opens),
        answered(ClosePublisher, by_addressee, _is_closed),
        happened(Crashed, by_process, _is_gone),
        wrote(StoredResource, by_session, _commits),
        recorded(ToolReceipt, by_session, _commits),
    ),
)

# --- one stream beside the other

Served: TypeAlias = tuple[tuple[str, str, int], ...]
"""When the last operation of a stream was answered: execution, stream and time."""


def _is_served(served: Served, answer: object, scene: Scene) -> Told[Served]:
    _, execution, stream = _entry(scene)
    others = tuple(each for each in served if each[:2] != (execution, stream))
    return (*others, (execution, stream, scene.event.at)), None


def _copied(stream: str, scene: Scene) -> bool:
    """Whether an operation of this stream arrived twice: the answer to its second copy is nobody's."""
    return any(began.label.endswith(f".{stream}{COPY}") for began in scene.began.values())


def _begins(served: Served, request: CheckWriter, scene: Scene) -> Told[Served]:
    """What was let in begins at once, or behind an operation of its own stream, or a second copy of one."""
    began = _let_in(scene)
    question = scene.requests.get(began.exchange) if began else None
    asks: Any = question and question.request
    if began is None or not isinstance(asks, UNDER_WAY) or scene.event.at == began.at:
        return served, None
    since = [each[:2] for each in served if each[2] >= began.at]
    own = (asks.execution, asks.stream)
    other = any(execution == asks.execution for execution, _ in since)
    alone = own in since or not other or _copied(asks.stream, scene)
    return served, None if alone else f"{asks.stream} of {asks.execution} waited for the other stream"


STREAMS_DO_NOT_WAIT = Check(
    "streams-do-not-wait",
    cites="003 Ownership and transport",
    says="What a listener let in waits for operations of its own stream, and for none of the other one.",
    start=(),
    hears=(
        *(answered(request, by_addressee, _is_served) for request in UNDER_WAY),
        asked(CheckWriter, by_session, _begins),
    ),
)

Given: TypeAlias = frozenset[tuple[Secret, str]]
"""The capabilities that were given out, each with the life of the owner and the turn to which it belongs."""


def _gives(given: Given, answer: object, scene: Scene) -> Told[Given]:
    if not isinstance(answer, Descriptor):
        return given, None
    turn = f"{scene.asked.request.prompt} in life {scene.life}"
    others = [owner for capability, owner in given if capability == answer.capability and owner != turn]
    again = f"the listener of {turn} has the capability of {others[0]}" if others else None
    return given | {(answer.capability, turn)}, again


A_CAPABILITY_IS_ONE_TURNS = Check(
    "a-capability-is-one-turns",
    cites="003 Ownership and transport; behaviour §7 guard 101",
    says="The listener of a turn has a capability that no other turn has, or had.",
    start=frozenset[tuple[Secret, str]](),
    hears=(answered(OpenPublisher, at_all, _gives),),
)

CHECKS = (
    ONE_AFTER_ANOTHER,
    ONE_RAW_WRITE_AT_A_TIME,
    NOTHING_COMMITS_AFTER_CLOSE,
    STREAMS_DO_NOT_WAIT,
    A_CAPABILITY_IS_ONE_TURNS,
)
