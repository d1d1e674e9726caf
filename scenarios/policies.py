"""Where the designs part: rows that end one way under the seeds and another way under a policy beside them.

Each promise is that of the seeds; ``turnproof diff seed POLICY policies`` shows the other endings.
"""

from __future__ import annotations

from scenarios.base import DONE, LONG, RUNNING, alone, quick
from scenarios.row import Promise, Row
from sim.scenario import Scenario, SessionPlan, Turn, calls

CLOSED = "harness:a:call:ClosePublisher#1"
"""When the first turn has ended, however it did."""
UNCAPTURED = "worker:w:call:WriteOutput.stdout#1=reply-lost"
"""After it no complete receipt is possible: the first turn blocks, with its process ended."""
UNWATCHED = ("harness:a:call:Status#1=refused", "harness:a:call:CancelExecution#1=refused")
"""After them nobody knows how the command ends: the first turn blocks, while its process runs."""
LATER = "worker:v:act:TouchFile#2"
"""Two seconds after the first turn has ended, by the clock of a command elsewhere."""


def beside(name: str, after: str, cancel: str = "") -> Scenario:
    """A second Session that wants the Workspace of a first one, whose command runs for two seconds."""
    return Scenario(
        name,
        (
            SessionPlan("a", "w", (Turn((calls(quick("call-1", "long")), DONE)),)),
            SessionPlan("b", "w", (Turn((calls(quick("call-2", "make")), DONE), cancel=cancel),), after),
        ),
        (LONG,),
    )


def behind(name: str) -> Scenario:
    """A second Session comes when the first turn has ended, and is cancelled two seconds later if it still waits."""
    first, second = beside(name, CLOSED, cancel=LATER).sessions
    clock = SessionPlan("c", "v", (Turn((calls(quick("call-3", "long")), DONE)),), CLOSED)
    return Scenario(name, (first, second, clock), (LONG,))


ROWS = (
    Row(
        "busy-then-cancelled",
        "a busy Workspace ends the turn at once: the cancellation two seconds later comes too late",
        beside("busy-then-cancelled", RUNNING, cancel="worker:w:act:TouchFile#2"),
        Promise(("completed", "error"), 1, 1, 3, 1),
        "003 Implementation and validation; behaviour §8 D2",
        swept=False,
    ),
    Row(
        "busy-behind-a-block",
        "who finds a Workspace busy does not wait for a turn that then blocks",
        beside("busy-behind-a-block", RUNNING, cancel=CLOSED),
        Promise(("recovery-blocked", "error"), 1, 1, 2, 0, "held", "error"),
        "003 Lifecycle; behaviour §8 D2",
        faults=(UNCAPTURED,),
    ),
    Row(
        "busy-after-a-block",
        "a turn that blocked keeps its Workspace from every later Session",
        behind("busy-after-a-block"),
        Promise(("recovery-blocked", "error", "completed"), 2, 2, 4, 1, "held", "error"),
        "003 Lifecycle; field cases §0.3.1",
        faults=(UNCAPTURED,),
    ),
    Row(
        "busy-beside-a-process",
        "a turn that blocked keeps its Workspace while its process may still change files in it",
        behind("busy-beside-a-process"),
        Promise(("recovery-blocked", "error", "completed"), 2, 2, 4, 1, "held", "error"),
        "003 Lifecycle; field cases §0.3.1",
        faults=UNWATCHED,
    ),
    Row(
        "ack-lost-twice",
        "an acknowledgement that is lost with its replay blocks the turn, though its result is durable",
        alone("ack-lost-twice", calls(quick("call-1", "make")), DONE),
        Promise(("recovery-blocked",), 1, 1, 1, 1, "held", "error"),
        "003 Lifecycle; behaviour §8 D15",
        faults=("harness:a:call:Acknowledge#1=reply-lost!",),
    ),
    Row(
        "ack-refused",
        "an acknowledgement that is refused blocks the turn, though its result is durable",
        alone("ack-refused", calls(quick("call-1", "make")), DONE),
        Promise(("recovery-blocked",), 1, 1, 1, 1, "held", "error"),
        "003 Lifecycle; behaviour §8 D15",
        faults=("harness:a:call:Acknowledge#1=refused",),
    ),
)
"""In the order of the policies."""
