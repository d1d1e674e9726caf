"""How far a run came in the order of design 003, as the judge of that order follows it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sim.checks.check import Judge, Scene
from sim.checks.order import ACK, NEVER_STARTED, ORDER, RECEIPT, RESOLUTION, RESULT, THE_ORDER, Turn
from sim.facts import JOURNAL, LEASES
from sim.history import Answered, Asked, Event, Healed
from sim.protocol import Assistant, Checkpoint, Record, ToolReceipt, ToolResult

ACQUIRE, REGISTER, ASSISTANT = range(3)
INFERENCE, CONSUMPTION, RELEASE = range(11, 14)


def last_steps(events: Sequence[Event]) -> tuple[str, ...]:
    """The step that each Session had taken last when the run was healed, in the order of the design.

    Empty when no Session ever held a Workspace.
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
    return next(
        (place for place in reversed(range(len(events))) if type(events[place]) is Healed), len(events)
    )


def _taken(judge: Judge) -> frozenset[int]:
    """The last step of each Session, as of now; a Workspace that was given back and not taken again is released."""
    turns = judge.states[0].items()
    steps = {_last(turn, judge.scene, str(session)) for session, turn in turns if turn.held}
    if None in judge.scene.rows.get(LEASES.name, {}).values():
        steps.add(RELEASE)
    return frozenset(steps)


def _last(turn: Turn, scene: Scene, session: str) -> int:
    """The step that a turn took last; what its state leaves open, the journal tells."""
    if not turn.calls:
        return ASSISTANT if turn.spoke else REGISTER if turn.registered else ACQUIRE
    step = turn.calls[-1][1]
    if step > NEVER_STARTED:
        return _unstarted(_records(scene, session))
    if turn.ready:
        return INFERENCE if turn.inferred else max(step, RESOLUTION)
    if any(reached < ACK for _, reached in turn.calls):
        return step
    return ASSISTANT if _spoke_again(_records(scene, session)) else CONSUMPTION


def _unstarted(records: Iterator[Record]) -> int:
    """The last step of a call that is proved never to have started, read from the journal's end."""
    for record in records:
        if isinstance(record, ToolResult):
            return RESULT
        if isinstance(record, Checkpoint):
            return CONSUMPTION if record.phase == "before_model" else RESOLUTION
        if isinstance(record, ToolReceipt):
            break
    return RECEIPT


def _spoke_again(records: Iterator[Record]) -> bool:
    """Whether another batch was asked for since the last checkpoint."""
    for record in records:
        if isinstance(record, Assistant | Checkpoint):
            return isinstance(record, Assistant) and bool(record.calls)
    return False


def _records(scene: Scene, session: str) -> Iterator[Record]:
    """The journal of a Session, from its end."""
    entries = scene.table(JOURNAL)
    return (entries[key].record for key in reversed(entries) if key.partition("/")[0] == session)
