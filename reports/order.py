"""How far a run came in the order of design 003, as the judge of that order follows it."""

from __future__ import annotations

from collections.abc import Sequence

from sim.checks.check import Judge
from sim.checks.order import ACK, NEVER_STARTED, ORDER, RESOLUTION, THE_ORDER, Turn
from sim.facts import LEASES
from sim.history import Answered, Asked, Event, Healed

ACQUIRE, REGISTER, ASSISTANT = range(3)
INFERENCE, CONSUMPTION, RELEASE = range(11, 14)


def last_steps(events: Sequence[Event]) -> tuple[str, ...]:
    """The step that each Session had taken last when the run was healed, in the order of the design.

    Empty when no Session held a Workspace. A call that never started is followed up to its receipt.
    """
    judge = Judge((THE_ORDER,), events)
    judge.see(events[: _healed(events)])
    return tuple(ORDER[step] for step in sorted(_taken(judge)))


def marked(events: Sequence[Event]) -> dict[int, str]:
    """For the place of each event that is a step of the order, its name; of an answer, the place of its question."""
    judge = Judge((THE_ORDER,), events)
    questions: dict[int, int] = {}
    before: frozenset[int] = frozenset()
    found: dict[int, str] = {}
    for place, event in enumerate(events[: _healed(events)]):
        if isinstance(event, Asked):
            questions[event.exchange] = place
        judge.see((event,))
        now = _taken(judge)
        for step in sorted(now - before):
            found[questions[event.exchange] if isinstance(event, Answered) else place] = ORDER[step]
        before = now
    return found


def _healed(events: Sequence[Event]) -> int:
    """The place of the event with which the world was healed; the end, when it never was."""
    return next((place for place in reversed(range(len(events))) if type(events[place]) is Healed), len(events))


def _taken(judge: Judge) -> frozenset[int]:
    """The last step of each Session, as of now; a Workspace that was given back and not taken again is released."""
    steps = {step for turn in judge.states[0].values() if (step := _last(turn)) is not None}
    if None in judge.scene.rows.get(LEASES.name, {}).values():
        steps.add(RELEASE)
    return frozenset(steps)


def _last(turn: Turn) -> int | None:
    """The step that a turn took last; none while it holds no Workspace."""
    if not turn.held:
        return None
    if not turn.calls:
        return ASSISTANT if turn.spoke else REGISTER if turn.registered else ACQUIRE
    step = turn.calls[-1][1] % NEVER_STARTED
    if turn.ready:
        return INFERENCE if turn.inferred else max(step, RESOLUTION)
    return CONSUMPTION if all(reached == ACK for _, reached in turn.calls) else step
