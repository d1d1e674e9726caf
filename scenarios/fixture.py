"""The seed's own fixture: six Workspaces at once, with the real limits (003 Implementation and validation).

"The six-Workspace fixture verifies complete 100 MiB output, SQL publication failure, lost raw/start replies,
cancellation, and a fresh reader after producer shutdown."
"""

from __future__ import annotations

from scenarios.base import DONE
from scenarios.row import Promise, Row
from sim.design import SEED
from sim.design.limits import KIB, MIB
from sim.protocol import STDERR, STDOUT
from sim.scenario import Exit, Generate, Program, Scenario, SessionPlan, Touch, Turn, calls, shell

STDOUT_BYTES, STDERR_BYTES = 100 * MIB, 10 * MIB + 3 * KIB + 7
"""What each command writes if it is let: standard error ends inside a segment, a write and a line."""

COMPLETE, UNPUBLISHED, RAW_LOST = "complete", "publication-failed", "raw-reply-lost"
START_LOST, CANCELLED, SHUTDOWN = "start-reply-lost", "cancelled", "producers-shut-down"
WORKSPACES = (COMPLETE, UNPUBLISHED, RAW_LOST, START_LOST, CANCELLED, SHUTDOWN)
"""What each of the six is there for, in the order of the seed's sentence; each Session has its Workspace's name."""


def pouring(name: str) -> Program:
    """One effect, then both streams by turns, each with a text of its own."""
    half, third = STDOUT_BYTES // 2, STDERR_BYTES // 3
    return Program(
        name,
        (
            Touch("effects.log", name),
            Generate(STDOUT, f"{name} stdout 1", half),
            Generate(STDERR, f"{name} stderr 1", third),
            Generate(STDOUT, f"{name} stdout 2", half),
            Generate(STDERR, f"{name} stderr 2", STDERR_BYTES - third),
            Exit(0),
        ),
    )


def session(name: str, cancel: str = "") -> SessionPlan:
    """One turn with one Shell call on a Workspace of its own."""
    answers = (calls(shell(f"call-{name}", name)), DONE)
    return SessionPlan(name, name, (Turn(answers, cancel=cancel),))


def taken(name: str) -> str:
    """The causes of what a Workspace's owner does in its turn."""
    return f"client.boot#1/play#{WORKSPACES.index(name) + 1}/Prompt#1/admit#1/take_turn#1"


def running(name: str) -> str:
    """The causes of what a Workspace's worker does with its process."""
    return f"{taken(name)}/StartExecution#1/dispatch#1/Execute#1/begin#1/run#1"


def pumped(name: str, write: int) -> str:
    """The causes of what follows from so many writes of standard output."""
    return f"{running(name)}/pump#1/WriteOutput.stdout#{write}"


PUBLISHING = "append#1/PublishOutput.content#1/Publish.content#1"
ADMITTING = "AcceptCapture#1/admit#1/Append.ToolReceipt#1/commit#1"

FIXTURE = Scenario(
    "six-workspaces",
    tuple(
        session(name, f"worker:{name}:call:WriteOutput.stdout#640" if name == CANCELLED else "")
        for name in WORKSPACES
    ),
    tuple(pouring(name) for name in WORKSPACES),
    reread=True,
)

ROWS = (
    Row(
        "six-workspaces",
        "the seed's fixture: 100 MiB whole, publication failed, raw and start replies lost, cancelled, read afresh",
        FIXTURE,
        Promise(
            (
                "completed",
                "recovery-blocked",
                "recovery-blocked",
                "completed",
                "cancelled",
                "recovery-blocked",
            ),
            6,
            6,
            8,
            3,
            "held",
        ),
        "003 Implementation and validation",
        (),
        (
            f"store:commit:Output.content#1@{pumped(UNPUBLISHED, 640)}/{PUBLISHING}=commit-failed",
            f"worker:{RAW_LOST}:call:WriteOutput.stdout#700@{running(RAW_LOST)}/pump#1=reply-lost",
            f"harness:{START_LOST}:call:StartExecution#1@{taken(START_LOST)}=reply-lost",
            f"journal:{SHUTDOWN}:call:Transact.ToolReceipt#1@{running(SHUTDOWN)}/{ADMITTING}=crash-waiting",
        ),
        swept=False,
        design=SEED,
    ),
)
"""The one row of the fixture."""
