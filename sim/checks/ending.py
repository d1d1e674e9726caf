"""Every run ends, every turn ends, and what a turn opened is closed."""

from __future__ import annotations

from collections.abc import Iterator

from sim.checks.check import (
    Check,
    Scene,
    Told,
    answered,
    asked,
    at_all,
    by_addressee,
    by_process,
    happened,
    learned,
)
from sim.history import Crashed, Event, Exhausted, Learned
from sim.protocol import (
    AwaitTurn,
    Buffered,
    ClosePublisher,
    Descriptor,
    OpenPublisher,
    PublisherClosed,
    TurnEnded,
    WriteOutput,
)


def _exhausted(state: bool, event: Event, scene: Scene) -> Told[bool]:
    limit = event.limit if isinstance(event, Exhausted) else ""
    return state, f"the run did not end: it was stopped at its {limit}"


EVERY_RUN_ENDS = Check(
    "every-run-ends",
    cites="behaviour §9.4",
    says="A run ends by itself, within its virtual-time horizon and its budget of effects.",
    start=False,
    hears=(happened(Exhausted, at_all, _exhausted),),
)


# --- turns


def _awaited(waiting: bool, request: AwaitTurn, scene: Scene) -> Told[bool]:
    return True, None


def _told(waiting: bool, answer: object, scene: Scene) -> Told[bool]:
    return False, None


def _turn(request: object, scene: Scene) -> tuple[str, str]:
    return scene.asked.to, scene.asked.request.prompt


def _unanswered(turn: tuple[str, str], waiting: bool, scene: Scene) -> Iterator[tuple[int, str]]:
    if waiting:
        yield scene.event.at, f"nobody was told how turn {turn[1]} ended"


def _overdue(waiting: bool, event: Learned, scene: Scene) -> Told[bool]:
    late = event.doubt == "timeout"
    return (
        False,
        f"turn {scene.asked.request.prompt} did not end in time" if late and not scene.healed else None,
    )


EVERY_TURN_ENDS = Check(
    "every-turn-ends",
    cites="behaviour §9.4",
    says="Whoever waits for a turn is told how it ended, or that its owner is gone.",
    start=False,
    hears=(
        asked(AwaitTurn, _turn, _awaited),
        answered(AwaitTurn, _turn, _told),
        learned(AwaitTurn, _turn, _overdue),
    ),
    end=_unanswered,
)


# --- the listener

CLOSED, OPEN = "closed", "open"


def _opened(listener: str, answer: object, scene: Scene) -> Told[str]:
    if not isinstance(answer, Descriptor):
        return listener, None
    second = f"session {by_addressee(None, scene)} opened a second listener" if listener == OPEN else None
    return OPEN, second


def _closed(listener: str, answer: object, scene: Scene) -> Told[str]:
    return (CLOSED if isinstance(answer, PublisherClosed) else listener), None


def _died(listener: str, event: Crashed, scene: Scene) -> Told[str]:
    return (CLOSED if event.process.startswith("owner:") else listener), None


def _ended(listener: str, answer: object, scene: Scene) -> Told[str]:
    left = listener == OPEN and isinstance(answer, TurnEnded)
    return listener, f"turn {scene.asked.request.prompt} ended and left its listener open" if left else None


def _took(listener: str, answer: object, scene: Scene) -> Told[str]:
    taken = listener != OPEN and isinstance(answer, Buffered)
    late = f"{scene.asked.to} took output of {scene.asked.request.execution} after its listener was closed"
    return listener, late if taken else None


LISTENER_CLOSES_WITH_ITS_TURN = Check(
    "listener-closes-with-its-turn",
    cites="003 Lifecycle; RC-40",
    says="A turn's listener is closed when the turn has ended, however it ended, and takes nothing after that.",
    start=CLOSED,
    hears=(
        answered(OpenPublisher, by_addressee, _opened),
        answered(ClosePublisher, by_addressee, _closed),
        answered(AwaitTurn, by_addressee, _ended),
        answered(WriteOutput, by_addressee, _took),
        happened(Crashed, by_process, _died),
    ),
)

CHECKS = (EVERY_RUN_ENDS, EVERY_TURN_ENDS, LISTENER_CLOSES_WITH_ITS_TURN)
