"""The base rows: a foreground Shell turn on the local path, in each shape that it can have."""

from __future__ import annotations

from scenarios.row import Promise, Row
from sim.design import SEED
from sim.protocol import STDERR, STDOUT, ModelOutput, ToolCall
from sim.scenario import (
    Exit,
    Pass,
    Print,
    Program,
    Scenario,
    SessionPlan,
    Touch,
    Turn,
    calls,
    says,
    shell,
)

DONE = says("done")
RESERVED = "harness:a:call:Append.Checkpoint.await_runtime#1"
"""When the batch is reserved and nothing of it is started."""
RUNNING = "worker:w:act:TouchFile#1"
"""When the first command changes its first file."""


def alone(name: str, *answers: ModelOutput, programs: tuple[Program, ...] = (), cancel: str = "") -> Scenario:
    """One Session, one turn."""
    return Scenario(name, (SessionPlan("a", "w", (Turn(answers, cancel=cancel),)),), programs)


def quick(call: str, command: str) -> ToolCall:
    """A Shell call with a timeout of 40 s: a lost start is looked for 100 s and not 180, still longer than a pause."""
    return shell(call, command, timeout=40_000)


def prints(name: str, stream: str, count: int, *more: Print | Pass, code: int = 0) -> Program:
    """A command that changes one file and then prints ``count`` bytes to a stream."""
    return Program(name, (Touch("effects.log", name), Print(stream, b"x", count), *more, Exit(code)))


def completes(spawns: int, asked: int) -> Promise:
    """The turn completes, and every execution is started, spawned and acknowledged once."""
    return Promise(("completed",), spawns, spawns, asked, spawns)


BAD_TEXT = ToolCall("call-1", "run_shell_command", '{"command": "echo \\ud800"}')
BAD_SHAPE = shell("call-1", "echo one", is_background=True)
CUT = ToolCall("call-1", "run_shell_command", '{"command": "rm one"}', truncated=True)
WIDE_TEXT = "x" * 70_000
"""More than a record, or the envelope of a call, can hold."""
LONG = Program(
    "long", (Touch("effects.log", "long"), Print(STDOUT, b"x", 40), Pass(2_000), Touch("effects.log", "end"))
)
SLOW = Program("slow", (Touch("effects.log", "slow"), Pass(75_000), Print(STDOUT, b"late", 1), Exit(0)))
DETACHED = Program(
    "fork",
    (Touch("effects.log", "fork"), Print(STDOUT, b"x", 9), Exit(0), Pass(1_000), Print(STDOUT, b"y", 9)),
)
HAUNTED = Program(
    "haunted", (Touch("effects.log", "haunted"), Exit(0), Pass(1_500), Touch("effects.log", "late"))
)
"""Its detached child acts when the next turn has begun: there an idle worker can be struck."""
SILENT = Program("true", (Touch("effects.log", "true"),))
WIDE = Program(
    "wide",
    (
        Touch("effects.log", "wide"),
        Print(STDOUT, "€uro ".encode(), 80),
        Print(STDERR, b"failed\n", 1),
        Exit(3),
    ),
)

ROWS = (
    Row(
        "one-call",
        "the whole order of the seed, once",
        alone("one-call", calls(quick("call-1", "make")), DONE),
        completes(1, 2),
        "003 Identity, admission and model history",
    ),
    Row(
        "two-calls",
        "two calls in one answer run in order, and their ids never cross",
        alone("two-calls", calls(quick("call-1", "make"), quick("call-2", "make test")), DONE),
        completes(2, 2),
        "003 Identity, admission and model history",
        ("RC-28",),
    ),
    Row(
        "two-rounds",
        "the second batch inherits the lease and the listener of the first",
        alone("two-rounds", calls(quick("call-1", "make")), calls(quick("call-2", "make test")), DONE),
        completes(2, 3),
        "003 Identity, admission and model history",
    ),
    Row(
        "two-turns",
        "a later turn of the Session acquires again, and its model sees the earlier one",
        Scenario(
            "two-turns",
            (
                SessionPlan(
                    "a",
                    "w",
                    (
                        Turn((calls(quick("call-1", "make")), DONE)),
                        Turn((calls(quick("call-2", "make test")), DONE)),
                    ),
                ),
            ),
        ),
        Promise(("completed", "completed"), 2, 2, 4, 2),
        "003 Lifecycle and failure handling",
    ),
    Row(
        "text-only",
        "a turn without calls needs no publication, no lease, no execution",
        alone("text-only", DONE),
        Promise(("completed",), 0, 0, 1, 0),
        "003 Lifecycle and failure handling",
    ),
    Row(
        "silent",
        "no byte of output is a complete output",
        alone("silent", calls(quick("call-1", "true")), DONE, programs=(SILENT,)),
        completes(1, 2),
        "003 Durable output storage",
    ),
    Row(
        "refused-shape",
        "background is refused before anything is acquired, and the model corrects the call",
        alone("refused-shape", calls(BAD_SHAPE), calls(quick("call-2", "make")), DONE),
        Promise(("completed after refusal",), 1, 1, 3, 1),
        "003 Lifecycle and failure handling",
    ),
    Row(
        "refused-text",
        "half a character is refused before anything is acquired, and the model corrects the call",
        alone("refused-text", calls(BAD_TEXT), calls(quick("call-2", "make")), DONE),
        Promise(("completed after refusal",), 1, 1, 3, 1),
        "000 §4.1",
    ),
    Row(
        "refused-sibling",
        "a valid call beside an invalid one does not run, and is told so",
        alone("refused-sibling", calls(BAD_SHAPE, quick("call-2", "make")), DONE),
        Promise(("completed after refusal",), 0, 0, 2, 0),
        "003 Lifecycle and failure handling",
    ),
    Row(
        "refused-later",
        "a batch refused later keeps the owner of the earlier one until normal settlement",
        alone(
            "refused-later",
            calls(quick("call-0", "make")),
            calls(BAD_SHAPE),
            calls(quick("call-2", "make test")),
            DONE,
        ),
        Promise(("completed after refusal",), 2, 2, 4, 2),
        "000 §5",
    ),
    Row(
        "cancel-before-start",
        "cancelled while reserved: not started, null capture, no ACK, and the lease is given back",
        alone("cancel-before-start", calls(quick("call-1", "make")), DONE, cancel=RESERVED),
        Promise(("cancelled",), 0, 0, 1, 0),
        "003 Lifecycle and failure handling",
        ("RC-24", "RC-91"),
        uncancelled=completes(1, 2),
    ),
    Row(
        "cancel-running",
        "cancelled while running: the physical end and the capture are admitted, and no request follows",
        alone("cancel-running", calls(quick("call-1", "long")), DONE, programs=(LONG,), cancel=RUNNING),
        Promise(("cancelled",), 1, 1, 1, 1),
        "003 Lifecycle and failure handling",
        ("RC-25",),
        uncancelled=completes(1, 2),
    ),
    Row(
        "cancel-first-of-two",
        "the running call ends physically, the reserved one is proved not started",
        alone(
            "cancel-first-of-two",
            calls(quick("call-1", "long"), quick("call-2", "make")),
            DONE,
            programs=(LONG,),
            cancel=RUNNING,
        ),
        Promise(("cancelled",), 1, 1, 1, 1),
        "003 Lifecycle and failure handling",
        uncancelled=completes(2, 2),
    ),
    Row(
        "late-output",
        "what a detached child prints after the exit is ignored, and the prefix stays complete",
        alone("late-output", calls(quick("call-1", "fork")), DONE, programs=(DETACHED,)),
        completes(1, 2),
        "003 Ownership and transport",
        ("RC-29",),
    ),
    Row(
        "segment-less-one",
        "output that ends one byte before a segment is full",
        alone("segment-less-one", calls(quick("call-1", "out")), DONE, programs=(prints("out", STDOUT, 63),)),
        completes(1, 2),
        "003 Ownership and transport",
    ),
    Row(
        "segment-exact",
        "output that fills a segment exactly",
        alone("segment-exact", calls(quick("call-1", "out")), DONE, programs=(prints("out", STDERR, 64),)),
        completes(1, 2),
        "003 Ownership and transport",
    ),
    Row(
        "segment-plus-one",
        "output that needs one byte of a second segment",
        alone("segment-plus-one", calls(quick("call-1", "out")), DONE, programs=(prints("out", STDOUT, 65),)),
        completes(1, 2),
        "003 Ownership and transport",
    ),
    Row(
        "cut-preview",
        "a long output of wide characters ends in a failure that the model still sees",
        alone("cut-preview", calls(quick("call-1", "wide")), DONE, programs=(WIDE,)),
        completes(1, 2),
        "003 Ownership and transport",
        ("RC-32", "RC-34"),
    ),
    Row(
        "longer-than-a-lease",
        "a command that outlives a writer lease is renewed, never dispatched again",
        alone("longer-than-a-lease", calls(shell("call-1", "slow")), DONE, programs=(SLOW,)),
        completes(1, 2),
        "003 Identity, admission and model history",
        ("RC-80",),
        swept=False,
    ),
    Row(
        "never-corrects",
        "a model that never corrects itself ends at the sixteenth request",
        alone("never-corrects", *(calls(BAD_SHAPE) for _ in range(20))),
        Promise(("uncorrected",), 0, 0, 16, 0),
        "000 §7",
        swept=False,
    ),
    Row(
        "foreign-tool",
        "a tool outside the profile ends the turn plainly, before anything is acquired",
        alone("foreign-tool", calls(ToolCall("call-1", "web_search", "{}")), DONE),
        Promise(("error",), 0, 0, 1, 0),
        "000 §6",
    ),
    Row(
        "same-id-twice",
        "two calls with one id end the turn plainly, before anything is acquired",
        alone("same-id-twice", calls(quick("call-1", "make"), quick("call-1", "make test")), DONE),
        Promise(("error",), 0, 0, 1, 0),
        "000 §6",
    ),
    Row(
        "cut-call",
        "a call that the model never finished ends the turn plainly, before anything is acquired",
        alone("cut-call", calls(CUT), DONE),
        Promise(("error",), 0, 0, 1, 0),
        "000 §4",
        swept=False,
    ),
    Row(
        "wide-call",
        "a call that no envelope can carry ends the turn plainly, before anything is acquired",
        alone("wide-call", calls(quick("call-1", WIDE_TEXT)), DONE),
        Promise(("error",), 0, 0, 1, 0),
        "000 §6",
        swept=False,
    ),
    Row(
        "wide-batch",
        "calls that fit alone, and no record together, end the turn plainly, before anything is acquired",
        alone("wide-batch", calls(*(quick(f"call-{n}", WIDE_TEXT[:15_000]) for n in range(1, 6))), DONE),
        Promise(("error",), 0, 0, 1, 0),
        "003 Problem and scope",
        swept=False,
    ),
    Row(
        "wide-text",
        "a text that no record can keep ends the turn plainly, with the Workspace given back",
        alone("wide-text", calls(quick("call-1", "make")), says(WIDE_TEXT)),
        Promise(("error",), 1, 1, 2, 1),
        "003 Problem and scope",
        swept=False,
    ),
    Row(
        "wide-prompt",
        "a prompt that no record can keep is not admitted",
        Scenario("wide-prompt", (SessionPlan("a", "w", (Turn((DONE,), WIDE_TEXT),)),)),
        Promise(("not accepted",), 0, 0, 0, 0),
        "behaviour §1.2, §5",
        swept=False,
    ),
    Row(
        "used-command",
        "a prompt under the id of a command that stands for something else is refused, by every owner",
        Scenario(
            "used-command",
            (
                SessionPlan(
                    "a",
                    "w",
                    (
                        Turn((calls(quick("call-1", "make")), DONE)),
                        Turn((calls(quick("call-2", "make test")), DONE), prompt="a.p1.settled"),
                    ),
                ),
            ),
        ),
        Promise(("completed", "not accepted"), 1, 1, 2, 1),
        "behaviour §1.11, §7 guard 135",
        swept=False,
    ),
    Row(
        "short-window",
        "a worker that stands still for longer than a call's own window: the turn does not wait for the default",
        alone("short-window", calls(shell("call-1", "make", timeout=1_000)), DONE),
        Promise(("recovery-blocked",), 1, 1, 1, 0, "held", "error"),
        "behaviour §5",
        faults=("worker:w:act:TouchFile#1=paused",),
    ),
    Row(
        "restarted-worker",
        "an idle worker restarts behind an acquisition: nothing is installed in its new life, and nothing runs",
        Scenario(
            "restarted-worker",
            (
                SessionPlan(
                    "a",
                    "w",
                    (
                        Turn((calls(quick("call-1", "haunted")), DONE)),
                        Turn((calls(quick("call-2", "make")), DONE)),
                    ),
                ),
            ),
            (HAUNTED,),
        ),
        Promise(("completed", "recovery-blocked"), 1, 1, 3, 1, "held", "error"),
        "behaviour §7 guard 133",
        faults=("harness:a:call:RegisterPublisher#2=delayed", "worker:w:act:TouchFile#2=crash-before"),
    ),
    Row(
        "replaced-owner",
        "an owner that learns of its replacement while it waits writes nothing more",
        alone("replaced-owner", calls(quick("call-1", "make")), DONE),
        Promise(("recovery-blocked",), 0, 0, 1, 0, "held", "error"),
        "behaviour §3.3",
        faults=("harness:a:call:Prepare#1=reply-lost", "journal:a:call:RenewWriter#1=writer-replaced"),
    ),
    Row(
        "two-workspaces",
        "Sessions on different Workspaces never interfere",
        Scenario(
            "two-workspaces",
            (
                SessionPlan("a", "w", (Turn((calls(quick("call-1", "make")), DONE)),)),
                SessionPlan("b", "v", (Turn((calls(quick("call-2", "make")), DONE)),)),
            ),
        ),
        Promise(("completed", "completed"), 2, 2, 4, 2),
        "behaviour §4",
        swept=False,
    ),
    Row(
        "busy-workspace",
        "a second Session on a held Workspace is told so, definitely, and ends plainly",
        Scenario(
            "busy-workspace",
            (
                SessionPlan("a", "w", (Turn((calls(quick("call-1", "long")), DONE)),)),
                SessionPlan("b", "w", (Turn((calls(quick("call-2", "make")), DONE)),), after=RUNNING),
            ),
            (LONG,),
        ),
        Promise(("completed", "error"), 1, 1, 3, 1),
        "behaviour §4",
        swept=False,
    ),
    Row(
        "real-limits",
        "the real limits: a full mebibyte and one byte more, over both streams",
        alone(
            "real-limits",
            calls(shell("call-1", "big")),
            DONE,
            programs=(
                Program(
                    "big",
                    (
                        Touch("effects.log", "big"),
                        Print(STDOUT, b"0123456789abcdef", 65_537),
                        Print(STDERR, b"!", 70_000),
                    ),
                ),
            ),
        ),
        completes(1, 2),
        "003 Durable output storage",
        swept=False,
        design=SEED,
    ),
)
"""In the order of a sweep."""
