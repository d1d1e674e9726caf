"""The field cases as rows: each fault that reviewers met, with the right behaviour under the seeds.

Where a case needs a recovery that the seeds put out of scope, the promise is the seeds' refusal (003: "New
activations continue to refuse unresolved old tool turns").
"""

from __future__ import annotations

from scenarios.base import DONE, LONG, RUNNING, alone, completes
from scenarios.row import Promise, Row
from sim.protocol import STDOUT
from sim.scenario import Exit, Pass, Print, Program, Touch, calls, shell

ONE = alone("one-call", calls(shell("call-1", "make")), DONE)
TWO = alone("two-calls", calls(shell("call-1", "make"), shell("call-2", "make test")), DONE)
STREAM = Program(
    "stream",
    (Touch("effects.log", "stream"), Print(STDOUT, b"s", 160), Pass(200), Print(STDOUT, b"t", 160), Exit(0)),
)
STREAMING = alone("streaming", calls(shell("call-1", "stream")), DONE, programs=(STREAM,))
CANCELLED = alone("cancel-running", calls(shell("call-1", "long")), DONE, programs=(LONG,), cancel=RUNNING)
ESCAPES = Program("control", (Touch("effects.log", "control"), Print(STDOUT, b"\x01", 300), Exit(3)))


def stuck(spawns: int, starts: int, asked: int = 1, acks: int = 0) -> Promise:
    """Recovery blocked with the Workspace held: a second Session is told that it is busy."""
    return Promise(("recovery-blocked",), spawns, starts, asked, acks, "held", "error")


def case(number: int, what: str, why: str, promise: Promise, *faults: str, on: object = ONE) -> Row:
    """One field case on a base scenario, with its faults."""
    return Row(f"rc-{number}-{what}", why, on, promise, "field cases", (f"RC-{number}",), faults)  # type: ignore[arg-type]


PREPARE, START, STATUS = "harness:a:call:Prepare#1", "harness:a:call:StartExecution#1", "harness:a:call:Status#1"
RELEASE, CANCEL = "harness:a:call:Release#1", "harness:a:call:CancelExecution#1"
RECEIPT = "journal:a:call:Transact.ToolReceipt#1"

ROWS = (
    case(10, "reply-lost", "a lost reservation reply is replayed, one effect", completes(1, 2), f"{PREPARE}=reply-lost"),
    case(10, "request-lost", "a lost reservation is sent again, one effect", completes(1, 2), f"{PREPARE}=request-lost"),
    case(10, "reply-late", "the reply of 31 s is too late, the retry wins", completes(1, 2), f"{PREPARE}=reply-late"),
    case(10, "twice", "lost twice: blocked, no effect, one reservation left", stuck(0, 0), f"{PREPARE}=reply-lost!"),
    case(13, "acquire", "the owner is held though nobody knows", stuck(0, 0), "harness:a:call:Acquire#1=reply-lost"),
    case(13, "start", "a lost start reply is observed, not repeated", completes(1, 2), f"{START}=reply-lost"),
    case(13, "status", "one lost look is enough to stop", stuck(1, 1), f"{STATUS}=reply-lost"),
    case(13, "cancel", "an unconfirmed cancellation blocks", stuck(1, 1), f"{CANCEL}=reply-lost", on=CANCELLED),
    case(
        13,
        "release",
        "the lease is free, and the Session does not know",
        Promise(("recovery-blocked",), 1, 1, 2, 1, "free", "completed"),
        f"{RELEASE}=reply-lost",
    ),
    case(13, "unreleased", "the release never arrives", stuck(1, 1, 2, 1), f"{RELEASE}=request-lost"),
)
"""In the order of their numbers."""
