"""The field cases as rows: each fault that reviewers met, with the right behaviour under the seeds.

Where a case needs a recovery that the seeds put out of scope, the promise is the seeds' refusal (003: "New
activations continue to refuse unresolved old tool turns").
"""

from __future__ import annotations

from scenarios.base import (
    BAD_SHAPE,
    DETACHED,
    DONE,
    LONG,
    RESERVED,
    RUNNING,
    SLOW,
    alone,
    completes,
)
from scenarios.row import Promise, Row
from sim.design import SEED, SMALL, Design
from sim.protocol import STDOUT, ToolCall
from sim.scenario import Exit, Pass, Print, Program, Scenario, SessionPlan, Touch, Turn, calls, shell

# --- what is played ----------------------------------------------------------------------------------------------

MAKE = calls(shell("call-1", "make"))
STREAM = Program(
    "stream",
    (Touch("effects.log", "stream"), Print(STDOUT, b"s", 160), Pass(200), Print(STDOUT, b"t", 160), Exit(0)),
)
FIVE_MIB = Program("flood", (Touch("effects.log", "flood"), Print(STDOUT, b"0123456789abcdef", 327_680)))
ONE_GIB = Program(
    "pour",
    (
        Touch("effects.log", "pour"),
        Print(STDOUT, b"0123456789abcdef", 67_108_864),
        Touch("effects.log", "end"),
    ),
)
FORTY_FIVE_SECONDS = Program(
    "wait", (Touch("effects.log", "wait"), Print(STDOUT, b"x", 40), Pass(45_000), Touch("effects.log", "end"))
)
CONTROL = Program("control", (Touch("effects.log", "control"), Print(STDOUT, b"\x01", 71_680), Exit(3)))
CHILD = Program(
    "child",
    (Touch("effects.log", "child"), Print(STDOUT, b"x", 9), Exit(0), Pass(120), Print(STDOUT, b"y", 9)),
)
HASTY = Program(
    "hasty",
    (Touch("effects.log", "hasty"), Print(STDOUT, b"x", 9), Exit(0), Pass(8), Print(STDOUT, b"y", 9)),
)

ONE = alone("one-call", MAKE, DONE)
TWO = alone("two-calls", calls(shell("call-1", "make"), shell("call-2", "make test")), DONE)
STREAMING = alone("streaming", calls(shell("call-1", "stream")), DONE, programs=(STREAM,))
FLOOD = alone("five-segments", calls(shell("call-1", "flood")), DONE, programs=(FIVE_MIB,))
POURING = alone(
    "cancel-huge",
    calls(shell("call-1", "pour")),
    DONE,
    programs=(ONE_GIB,),
    cancel="worker:w:call:WriteOutput.stdout#40",
)
WAITING = alone("slow", calls(shell("call-1", "slow")), DONE, programs=(SLOW,))
ORPHAN = alone("orphan", calls(shell("call-1", "child")), DONE, programs=(CHILD,))
AT_ONCE = alone("at-once", calls(shell("call-1", "hasty")), DONE, programs=(HASTY,))
FORK = alone("late-output", calls(shell("call-1", "fork")), DONE, programs=(DETACHED,))
CANCELLED = alone("cancel-running", calls(shell("call-1", "long")), DONE, programs=(LONG,), cancel=RUNNING)
CALLED_OFF = alone("cancel-before-start", MAKE, DONE, cancel=RESERVED)
RESERVING = alone("cancel-reserving", MAKE, DONE, cancel="harness:a:call:Prepare#1")


def turns(name: str, *played: Turn, programs: tuple[Program, ...] = ()) -> Scenario:
    """One Session, several turns."""
    return Scenario(name, (SessionPlan("a", "w", played),), programs)


def wide(behind: int) -> Scenario:
    """80,000 bytes of four-byte characters with so many bytes behind them: the last 64 KiB begin there in one."""
    emoji = Print(STDOUT, "\N{GRINNING FACE}".encode(), 20_000)
    program = Program("wide", (Touch("effects.log", "wide"), emoji, Print(STDOUT, b"!", behind), Exit(1)))
    return alone(f"wide-{behind}", calls(shell("call-1", "wide")), DONE, programs=(program,))


def corrected(name: str, *wrong: ToolCall) -> Scenario:
    """The model makes these calls first, and reads what is wrong with them."""
    return alone(name, calls(*wrong), calls(shell("call-2", "make")), DONE)


HUGE_EXPONENT = ToolCall("call-1", "run_shell_command", '{"command": "make", "timeout": 1e400}')
REFUSED = corrected("refused", BAD_SHAPE)
TWENTY_SEVEN = (BAD_SHAPE, *(shell(f"sibling-{number}", "make") for number in range(26)))
EMOJI = Program(
    "emoji",
    (Touch("effects.log", "emoji"), Print(STDOUT, "\N{GRINNING FACE}".encode(), 3_000), Pass(10_000)),
)
NEXT = Turn((calls(shell("call-2", "make test")), DONE))
THEN_NEXT = turns("cancelled-then-next", Turn((MAKE, DONE), cancel=RESERVED), NEXT)
STOPPED_THEN_NEXT = turns(
    "stopped-then-next",
    Turn((calls(shell("call-1", "wait")), DONE), cancel="harness:a:call:Status#700"),
    NEXT,
    programs=(FORTY_FIVE_SECONDS,),
)
CONTROL_THEN_NEXT = turns(
    "control-then-next", Turn((calls(shell("call-1", "control")), DONE)), NEXT, programs=(CONTROL,)
)
EMOJI_THEN_NEXT = turns(
    "emoji-then-next",
    Turn((calls(shell("call-1", "emoji")), DONE), cancel="harness:a:call:Status#20"),
    NEXT,
    programs=(EMOJI,),
)
SIX = turns("six-turns", *(Turn((calls(shell(f"call-{number}", "make")), DONE)) for number in range(1, 7)))
THREE = turns("three-turns", Turn((MAKE, DONE)), NEXT, Turn((calls(shell("call-3", "make install")), DONE)))
APART = Scenario(
    "apart",
    (SessionPlan("a", "w", (Turn((MAKE, DONE)),)), SessionPlan("b", "v", (NEXT,))),
)

# --- what is promised --------------------------------------------------------------------------------------------


def stuck(spawns: int, starts: int, asked: int = 1, acks: int = 0) -> Promise:
    """Recovery blocked with the Workspace held: a second Session is told that it is busy."""
    return Promise(("recovery-blocked",), spawns, starts, asked, acks, "held", "error")


def case(
    number: int,
    what: str,
    why: str,
    promise: Promise,
    *faults: str,
    on: Scenario = ONE,
    also: tuple[int, ...] = (),
    design: Design = SMALL,
) -> Row:
    """One field case on a scenario, with its faults; it plays the cases ``also`` too."""
    cases = tuple(f"RC-{each:02}" for each in (number, *also))
    return Row(
        f"rc-{number}-{what}", why, on, promise, "field cases", cases, faults, swept=False, design=design
    )


ACQUIRE, PREPARE, START = (
    "harness:a:call:Acquire#1",
    "harness:a:call:Prepare#1",
    "harness:a:call:StartExecution#1",
)
STATUS, CANCEL = "harness:a:call:Status#1", "harness:a:call:CancelExecution#1"
ACKNOWLEDGE, RELEASE = "harness:a:call:Acknowledge#1", "harness:a:call:Release#1"
INTENT, RESULT = "journal:a:call:Transact.ToolIntent#1", "journal:a:call:Transact.ToolResult#1"
RECEIPT, RECEIPT_ROW = "journal:a:call:Transact.ToolReceipt#1", "store:commit:ToolReceipt#1"
FIRST_MIB, FIRST_MIB_SENT = "journal:a:call:Publish.content#1", "worker:w:call:WriteOutput.stdout#16"
OPENING, WRITING = "worker:w:call:PreparePublication#1", "worker:w:call:WriteOutput.stdout#1"
ADMITTING = "worker:w:call:AcceptCapture#1"
SEGMENT, OPENED = "journal:a:call:Publish.content#2", "journal:a:call:ReadJournal#1"
SPOKEN = "journal:a:call:Transact.Assistant#1"
SETTLED = "journal:a:call:Transact.TurnSettled+Checkpoint.turn_settled#1"
RENEWAL = "journal:a:call:RenewWriter#3"
"""On :data:`WAITING`: the first by the clock, while the command runs."""

CORRECTED = Promise(("completed after refusal",), 1, 1, 3, 1)
NOBODY_HELD = Promise(("recovery-blocked",), 0, 0, 1, 0, "free", "completed")
"""Recovery blocked with nothing acquired: a second Session runs."""
NOT_OPENED = Promise((), 0, 0, 0, 0)
"""The Session could not be loaded, so that nothing was asked of it."""

ROWS = (
    case(
        3,
        "zero",
        "a timeout of 0 is told to the model, which corrects it within the turn",
        CORRECTED,
        on=corrected("zero", shell("call-1", "make", timeout=0)),
    ),
    case(
        3,
        "above",
        "a timeout above the largest is told to the model, which corrects it within the turn",
        CORRECTED,
        on=corrected("above", shell("call-1", "make", timeout=600_001)),
    ),
    case(
        3,
        "fraction",
        "a timeout that is no whole number is told to the model, which corrects it within the turn",
        CORRECTED,
        on=corrected("fraction", shell("call-1", "make", timeout=1.5)),
    ),
    case(
        3,
        "exponent",
        "a timeout that no double holds is told to the model, which corrects it within the turn",
        CORRECTED,
        on=corrected("exponent", HUGE_EXPONENT),
    ),
    case(
        3,
        "unknown",
        "an argument that nobody knows is told to the model, which corrects it within the turn",
        CORRECTED,
        on=corrected("unknown", shell("call-1", "make", cwd="elsewhere")),
    ),
    case(
        3,
        "foreground",
        "to say that a command is no background command is no error on the local path",
        Promise(("completed",), 2, 2, 3, 2),
        on=corrected("foreground", shell("call-1", "make install", is_background=False)),
    ),
    case(
        4,
        "background",
        "a background command is told to the model as an error, and ends no turn",
        CORRECTED,
        on=REFUSED,
    ),
    case(
        10,
        "reply-lost",
        "a lost reservation reply is replayed, one effect",
        completes(1, 2),
        f"{PREPARE}=reply-lost",
        also=(13,),
    ),
    case(
        10,
        "request-lost",
        "a lost reservation is sent again, one effect",
        completes(1, 2),
        f"{PREPARE}=request-lost",
    ),
    case(
        10,
        "reply-late",
        "the reply of 31 s is too late, the retry wins",
        completes(1, 2),
        f"{PREPARE}=reply-late",
    ),
    case(
        10,
        "twice",
        "lost twice: blocked, no effect, one reservation left",
        stuck(0, 0),
        f"{PREPARE}=reply-lost!",
        also=(13,),
    ),
    case(13, "acquire", "the owner is held though nobody knows", stuck(0, 0), f"{ACQUIRE}=reply-lost"),
    case(13, "start", "a lost start reply is observed, not repeated", completes(1, 2), f"{START}=reply-lost"),
    case(13, "status", "one lost look is enough to stop", stuck(1, 1), f"{STATUS}=reply-lost"),
    case(
        13, "cancel", "an unconfirmed cancellation blocks", stuck(1, 1), f"{CANCEL}=reply-lost", on=CANCELLED
    ),
    case(
        13,
        "release",
        "the lease is free, and the Session does not know",
        Promise(("recovery-blocked",), 1, 1, 2, 1, "free", "completed"),
        f"{RELEASE}=reply-lost",
    ),
    case(13, "unreleased", "the release never arrives", stuck(1, 1, 2, 1), f"{RELEASE}=request-lost"),
    case(
        15,
        "intent",
        "killed with the intent durable: nothing ran, and the seeds' cold load refuses, twice",
        stuck(0, 0),
        f"{INTENT}=crash-waiting",
    ),
    case(
        15,
        "before-start",
        "killed before the start is sent: reserved and covered, and the seeds' cold load refuses",
        stuck(0, 0),
        f"{START}=crash-before",
    ),
    case(
        15,
        "result",
        "killed with the result durable: settled once, and the seeds' cold load refuses to go on",
        stuck(1, 1),
        f"{RESULT}=crash-waiting",
    ),
    case(
        17,
        "suicide",
        "the command kills its own worker: unknown, and its Workspace stays held",
        stuck(1, 1),
        "worker:w:act:TouchFile#1=crash-after",
    ),
    case(
        17,
        "half",
        "the worker dies half-way through the command's effect: unknown, never not started",
        stuck(1, 1),
        "worker:w:act:TouchFile#1=act-half",
    ),
    case(
        17,
        "elsewhere",
        "a Session on another Workspace does not notice",
        Promise(("recovery-blocked", "completed"), 2, 2, 3, 1, "held", "error"),
        "worker:w:act:TouchFile#1=crash-after",
        on=APART,
    ),
    case(
        18,
        "owner-killed",
        "the publisher's process dies with one mebibyte durable: nothing is admitted",
        stuck(1, 1),
        f"{FIRST_MIB}=crash-after",
        on=FLOOD,
        design=SEED,
    ),
    case(
        18,
        "worker-killed",
        "the worker dies with one mebibyte durable: nothing is admitted",
        stuck(1, 1),
        f"{FIRST_MIB_SENT}=crash-after",
        on=FLOOD,
        design=SEED,
    ),
    case(
        18,
        "receipt-rejected",
        "all five segments and the manifest are durable, the receipt is not: no history, no ACK",
        stuck(1, 1),
        f"{RECEIPT_ROW}=commit-failed!",
        on=FLOOD,
        design=SEED,
    ),
    case(
        18,
        "receipt-lost",
        "the receipt is durable and nobody knows, after three identical attempts: unknown",
        stuck(1, 1),
        f"{RECEIPT}=reply-lost!",
        on=FLOOD,
        design=SEED,
    ),
    case(
        20,
        "replayed",
        "the connection breaks behind the receipt: the identical candidate gets the recorded one",
        completes(1, 2),
        f"{RECEIPT}=reply-truncated",
    ),
    case(
        20,
        "silence",
        "after 30 s of silence the replay is in time for the owner, and too late for the worker: unknown",
        stuck(1, 1),
        f"{RECEIPT}=reply-lost",
    ),
    case(
        20,
        "crash",
        "killed after the receipt: to repair history from it is recovery, which the seeds refuse",
        stuck(1, 1),
        f"{RECEIPT}=crash-after",
    ),
    case(
        21,
        "reply-lost",
        "a segment is durable and nobody knows: the command ran, and its output is never called complete",
        stuck(1, 1),
        f"{SEGMENT}=reply-lost",
        on=STREAMING,
    ),
    case(
        21,
        "request-lost",
        "a segment never reaches the Store: what was taken from the pipe cannot be asked for again",
        stuck(1, 1),
        f"{SEGMENT}=request-lost",
        on=STREAMING,
    ),
    case(
        21,
        "gateway",
        "one 5xx before a segment is durable fails the capture, and no raw write is repeated",
        stuck(1, 1),
        f"{SEGMENT}=error-before",
        on=STREAMING,
    ),
    case(
        24,
        "next-turn",
        "the turn after a cancelled one acquires, runs, and sees the call that did not start",
        Promise(("cancelled", "completed"), 1, 1, 3, 1),
        on=THEN_NEXT,
    ),
    case(
        24,
        "reload",
        "the owner dies behind the settled cancellation: a cold load finds nothing open",
        Promise(("cancelled",), 0, 0, 1, 0),
        "harness:a:call:ClosePublisher#1=crash-before",
        on=CALLED_OFF,
    ),
    case(
        25,
        "huge",
        "cancelled in the third of 1,024 mebibytes: the end is physical, and its prefix is admitted",
        Promise(("cancelled",), 1, 1, 1, 1),
        on=POURING,
        design=SEED,
    ),
    case(
        25,
        "long",
        "cancelled at 35 of 45 seconds, and the next turn is fine",
        Promise(("cancelled", "completed"), 2, 2, 3, 2),
        on=STOPPED_THEN_NEXT,
    ),
    case(
        28,
        "rejected",
        "the first result is not durable: the second call never starts, both are cancelled",
        stuck(1, 1),
        "store:commit:ToolResult#1=commit-failed!",
        on=TWO,
    ),
    case(
        29,
        "at-once",
        "a detached child prints between the finish of its stream and the receipt: ignored, nothing fails",
        completes(1, 2),
        on=AT_ONCE,
    ),
    case(
        29,
        "incomplete",
        "bytes that may be missing are no late bytes: capture fails, the receipt is blocked, the turn stops",
        stuck(1, 1),
        f"{WRITING}=reply-lost",
        on=STREAMING,
    ),
    case(34, "whole", "the window begins at a character", completes(1, 2), on=wide(0), design=SEED),
    case(
        34,
        "one-in",
        "the window begins at a character's second byte",
        completes(1, 2),
        on=wide(1),
        design=SEED,
    ),
    case(
        34,
        "two-in",
        "the window begins at a character's third byte",
        completes(1, 2),
        on=wide(2),
        design=SEED,
    ),
    case(
        34,
        "three-in",
        "the window begins at a character's last byte",
        completes(1, 2),
        on=wide(3),
        design=SEED,
    ),
    case(
        36,
        "escaping",
        "70 KiB of U+0001 fit their record six-fold, exit 3 is told, and the next turn works",
        Promise(("completed", "completed"), 2, 2, 4, 2),
        on=CONTROL_THEN_NEXT,
        design=SEED,
    ),
    case(
        37,
        "reservation",
        "a reservation is refused: the model reads why, and its corrected call runs",
        CORRECTED,
        f"{PREPARE}=refused",
        on=corrected("reservation", shell("call-1", "make install")),
    ),
    case(
        39,
        "reload",
        "six settled turns, and a cold load that acknowledges none of them again",
        Promise(("completed",) * 6, 6, 6, 12, 6),
        "harness:a:call:ClosePublisher#6=crash-before",
        on=SIX,
    ),
    case(
        40,
        "prepare",
        "without the bearer no capture is opened, and nothing is spawned",
        stuck(0, 1),
        f"{OPENING}=capability-expired",
    ),
    case(
        40,
        "write",
        "without the bearer no byte is taken: the capture fails, and its receipt is blocked",
        stuck(1, 1),
        f"{WRITING}=capability-expired",
    ),
    case(
        40,
        "accept",
        "without the bearer nothing is admitted",
        stuck(1, 1),
        f"{ADMITTING}=capability-expired",
    ),
    case(
        40,
        "listeners",
        "three turns, the second failed: each closes its own listener",
        Promise(("completed", "error", "completed"), 3, 3, 6, 3),
        "harness:a:call:Infer#4=refused",
        on=THREE,
    ),
    case(
        57,
        "writer",
        "a renewal that lands after a replacement revives no writer",
        stuck(1, 1),
        f"{RENEWAL}=writer-replaced",
        f"{RENEWAL}=delayed",
        on=WAITING,
    ),
    case(
        57,
        "activation",
        "a renewal that lands after a replacement revives no activation",
        stuck(1, 1),
        f"{RENEWAL}=activation-replaced",
        f"{RENEWAL}=delayed",
        on=WAITING,
    ),
    case(
        58,
        "stale",
        "the connection of a read at load was closed: it is read again, and the Session opens",
        completes(1, 2),
        f"{OPENED}=reply-truncated",
    ),
    case(
        58,
        "corrupt",
        "a corrupt journal that is told as a 5xx looks like a transient: three reads, and the Session stays shut",
        NOT_OPENED,
        f"{OPENED}=error-before!",
    ),
    case(
        58,
        "refused",
        "a definite refusal of a read at load is an answer: it is read once, and the Session stays shut",
        NOT_OPENED,
        f"{OPENED}=refused!",
    ),
    case(
        61,
        "stopped",
        "a command is stopped behind 12,000 bytes of emoji: no cut is inside one, and the next turn reads it",
        Promise(("cancelled", "completed"), 2, 2, 3, 2),
        on=EMOJI_THEN_NEXT,
        design=SEED,
    ),
    case(
        71,
        "siblings",
        "one wrong call among 27: nothing runs, and each of the 26 others says that it did not",
        CORRECTED,
        on=corrected("siblings", *TWENTY_SEVEN),
    ),
    case(
        73,
        "call",
        "killed with the call durable and no result: the seeds' cold load refuses, and no model sees half a pair",
        stuck(0, 0),
        f"{SPOKEN}=crash-waiting",
    ),
    case(
        73,
        "refusal",
        "killed between a refused call and its refusal: half a group proves nothing, but nobody is held",
        NOBODY_HELD,
        f"{SPOKEN}=crash-waiting",
        on=REFUSED,
    ),
    case(
        78,
        "unsettled",
        "killed between the last record and the end: the seeds' cold load refuses, and nothing runs again",
        Promise(("recovery-blocked",), 1, 1, 2, 1, "free", "completed"),
        f"{SETTLED}=crash-before",
    ),
    case(
        78,
        "settled",
        "killed with the end durable: the cold load finds a turn that is over",
        completes(1, 2),
        f"{SETTLED}=crash-waiting",
    ),
    case(
        79,
        "reply-lost",
        "a lost ACK is replayed, and nothing else is",
        completes(1, 2),
        f"{ACKNOWLEDGE}=reply-lost",
    ),
    case(
        82,
        "killed",
        "killed with the lease written: it stays, says whose it is, and the next owner of the Session may not go on",
        stuck(0, 0),
        f"{ACQUIRE}=crash-waiting",
    ),
    case(
        84,
        "late",
        "the worker dies a second after the turn: what is settled stays settled",
        completes(1, 2),
        "worker:w:act:Emit.stdout#2=crash-before",
        on=FORK,
    ),
    case(
        84,
        "unacknowledged",
        "the worker dies between settlement and ACK: settled stays settled, the lost ACK blocks",
        stuck(1, 1, acks=1),
        "worker:w:act:Emit.stdout#2=crash-before",
        on=ORPHAN,
    ),
    case(
        85,
        "applied",
        "the worker runs behind a partition: unknown after three lost looks, and no replacement",
        stuck(1, 1),
        "broker:call:Execute#1=reply-lost",
        "broker:call:Observe#1=request-lost!",
    ),
    case(
        85,
        "unapplied",
        "the worker never heard: indistinguishable, so no replacement either",
        stuck(0, 1),
        "broker:call:Execute#1=request-lost",
        "broker:call:Observe#1=request-lost!",
    ),
    case(
        87,
        "other-payload",
        "another payload under a reserved key conflicts, and nothing is dispatched",
        stuck(0, 0),
        f"{START}=request-altered",
    ),
    case(
        88,
        "cut",
        "the connection breaks after the start was applied: it is observed, never sent again",
        completes(1, 2),
        f"{START}=reply-truncated",
    ),
    case(
        88,
        "gateway",
        "a gateway fails after the start was applied: it is observed, never sent again",
        completes(1, 2),
        f"{START}=error-after",
    ),
    case(89, "refused", "a definite refusal of the start ends it: no loop", stuck(0, 0), f"{START}=refused"),
    case(
        91,
        "reserving",
        "cancelled while the reservation is under way: it never starts",
        Promise(("cancelled",), 0, 0, 1, 0),
        on=RESERVING,
    ),
)
"""In the order of their numbers."""
