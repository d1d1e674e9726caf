"""Lifecycle: owners that leave and come back, prompts beside prompts, cancellation in every window, retained owners."""

from __future__ import annotations

from msgspec.structs import replace

from scenarios.base import BAD_SHAPE, DONE, LONG, RUNNING, alone, completes, prints, quick
from scenarios.row import Promise, Row
from sim.design import SCALED, SEED, Design
from sim.protocol import SHELL, STDOUT, ModelOutput, ToolCall
from sim.scenario import (
    CANCEL,
    DETACH,
    KILL,
    LOAD,
    MOVE,
    PROMPT,
    RESTART,
    Aside,
    Exit,
    Print,
    Program,
    Scenario,
    SessionPlan,
    Touch,
    Turn,
    calls,
    shell,
)

LIFECYCLE = "003 Lifecycle and failure handling"
MAKE, TEST = calls(quick("call-1", "make")), calls(quick("call-2", "make test"))
LONG_CALL = calls(quick("call-1", "long"))
EURO = Program("euro", (Touch("effects.log", "euro"), Print(STDOUT, "\u20acuro ".encode(), 2_000), Exit(3)))


# --- rows


def plain(
    name: str,
    why: str,
    scenario: Scenario,
    promise: Promise,
    *faults: str,
    cites: str = LIFECYCLE,
    cases: tuple[str, ...] = (),
    design: Design = SCALED,
    swept: bool = False,
) -> Row:
    """A row that takes no further faults, unless it is ``swept``."""
    return Row(name, why, replace(scenario, name=name), promise, cites, cases, faults, swept, design=design)


def blocked(spawns: int, starts: int, asked: int = 1, acks: int = 0) -> Promise:
    """Recovery blocked, and the Workspace retained: a second Session is told that it is busy."""
    return Promise(("recovery-blocked",), spawns, starts, asked, acks, "held", "error")


def ended(*endings: str, runs: int = 0, asked: int = 1) -> Promise:
    """These endings; every execution is started, spawned and acknowledged once; the Workspace is free."""
    return Promise(endings, runs, runs, asked, runs)


def turns(*played: Turn, asides: tuple[Aside, ...] = (), programs: tuple[Program, ...] = ()) -> Scenario:
    """One Session, several turns, and what is asked beside them."""
    return Scenario("turns", (SessionPlan("a", "w", played, asides=asides),), programs)


def beside(answer: ModelOutput, *asides: Aside) -> Scenario:
    """One Session, one turn with one batch, and what is asked beside it."""
    programs = (LONG,) if answer == LONG_CALL else ()
    return turns(Turn((answer, DONE)), asides=asides, programs=programs)


def pair(after: str, workspace: str = "w") -> Scenario:
    """A Session on a Workspace, and a second one that begins at a milestone of the first."""
    first = SessionPlan("a", "w", (Turn((MAKE, DONE)),))
    return Scenario("pair", (first, SessionPlan("b", workspace, (Turn((TEST, DONE)),), after)))


ACQUIRE, REGISTER = "harness:a:call:Acquire#1", "harness:a:call:RegisterPublisher#1"
PREPARE, START = "harness:a:call:Prepare#1", "harness:a:call:StartExecution#1"
EXECUTE, OPENING = "broker:call:Execute#1", "worker:w:call:PreparePublication#1"
EXIT, FINALIZE = "worker:w:act:ExitProcess#1", "worker:w:call:FinalizeCapture#1"
ADMITTING, RECEIPT = "worker:w:call:AcceptCapture#1", "journal:a:call:Transact.ToolReceipt#1"
TAKING, RESULT = "harness:a:call:TakeReceipt#1", "harness:a:call:Append.ToolResult#1"
ACKNOWLEDGE, NEXT = "harness:a:call:Acknowledge#1", "harness:a:call:Infer#2"
RELEASE, SETTLED = "harness:a:call:Release#1", "harness:a:call:Append.TurnSettled+Checkpoint.turn_settled#1"
CLOSE, INFERENCE = "harness:a:call:ClosePublisher#1", "harness:a:call:Infer#1"
OPENED, WARM = "harness:a:call:OpenJournal#1", "harness:a:call:Warm#1"
FIRST, SECOND = "a.p1", "a.p2"

OWNERS = (
    plain(
        "detach-load",
        "a Session is left in order and opened again at once in the same process; its later turn works",
        turns(Turn((DONE,), then=DETACH), Turn((DONE,))),
        ended("completed", "completed", asked=2),
        swept=True,
    ),
    plain(
        "detach-tools",
        "turns with tools before and after: the listener is drained and the writer sealed between them",
        turns(Turn((MAKE, DONE), then=DETACH), Turn((TEST, DONE))),
        ended("completed", "completed", runs=2, asked=4),
    ),
    plain(
        "detach-move",
        "another process opens a Session that was left in order, and does not wait for a lease",
        turns(Turn((MAKE, DONE), then=MOVE), Turn((TEST, DONE))),
        ended("completed", "completed", runs=2, asked=4),
    ),
    plain(
        "replaced-after-move",
        "a checkpoint that was written behind a load belongs to the activation of that load",
        turns(Turn((MAKE, DONE), then=MOVE), Turn((TEST, DONE))),
        Promise(("completed", "recovery-blocked"), 1, 2, 3, 1, "held", "error"),
        "journal:a:call:ReadJournal#4=activation-replaced",
        cites="003 Identity, admission and model history",
    ),
    plain(
        "replaced-after-restart",
        "a checkpoint that was written behind a restart belongs to the activation of that life",
        turns(Turn((MAKE, DONE), then=RESTART), Turn((TEST, DONE))),
        Promise(("completed", "recovery-blocked"), 1, 2, 3, 1, "held", "error"),
        "journal:a:call:ReadJournal#4=activation-replaced",
        cites="003 Identity, admission and model history",
    ),
    plain(
        "detach-twice",
        "a Session that was left is left again, and nothing changes",
        turns(
            Turn((MAKE, DONE), then=DETACH),
            Turn((TEST, DONE)),
            asides=(Aside("journal:a:call:SealWriter#1", DETACH),),
        ),
        ended("completed", "completed", runs=2, asked=4),
    ),
    plain(
        "detach-unconfirmed",
        "the reply to the seal is lost: it is asked again, and answered as before",
        turns(Turn((MAKE, DONE), then=MOVE), Turn((TEST, DONE))),
        ended("completed", "completed", runs=2, asked=4),
        "journal:a:call:SealWriter#1=reply-lost",
    ),
    plain(
        "detach-replaced",
        "a replaced owner seals nobody's lease: the Session opens again when the lease of its rival has run out",
        turns(Turn((DONE,), then=DETACH), Turn((DONE,))),
        ended("completed", "completed", asked=2),
        "journal:a:call:SealWriter#1=writer-replaced",
    ),
    plain(
        "detach-late-renewal",
        "a renewal that was under way lands behind the seal, and revives nothing",
        turns(Turn((DONE,)), asides=(Aside("journal:a:call:RenewWriter#1", DETACH, later=1_000),)),
        ended("completed"),
        "journal:a:call:RenewWriter#1=delayed",
    ),
    plain(
        "detach-running",
        "while a turn runs the Session is not left, and the turn ends as if nobody had asked",
        beside(LONG_CALL, Aside(RUNNING, DETACH)),
        completes(1, 2),
        cases=("RC-06",),
    ),
    plain(
        "detach-blocked",
        "a blocked Session is not left, takes no prompt, and is refused by a new process",
        beside(MAKE, Aside(CLOSE, PROMPT, SECOND, later=1_000), Aside(CLOSE, DETACH, later=2_000)),
        Promise(("recovery-blocked", "not accepted"), 1, 1, 1, 0, "held", "error"),
        f"{RESULT.replace('harness', 'journal').replace('Append', 'Transact')}=refused",
        cases=("RC-06", "RC-20"),
    ),
    plain(
        "prompt-while-left",
        "a prompt that meets a Session on its way out is not accepted, and can be sent again",
        turns(
            Turn((DONE,), then=DETACH),
            Turn((DONE,), prompt=SECOND),
            asides=(Aside("journal:a:call:SealWriter#1", PROMPT, "a.early"),),
        ),
        ended("completed", "not accepted", "completed", asked=2),
    ),
    plain(
        "load-attached",
        "a Session that is open in a process is not opened there again",
        beside(LONG_CALL, Aside(RUNNING, LOAD)),
        completes(1, 2),
        cases=("RC-20",),
    ),
    plain(
        "restart-between",
        "the process is ended between two turns: a cold load finds all settled, and later turns work",
        turns(Turn((MAKE, DONE), then=RESTART), Turn((TEST, DONE))),
        ended("completed", "completed", runs=2, asked=4),
        cases=("RC-39",),
    ),
    plain(
        "restart-nothing-begun",
        "ended before the prompt was admitted: a cold load finds nothing, and the prompt sent again completes",
        turns(
            Turn((MAKE, DONE), then=RESTART),
            asides=(Aside("client:call:Prompt#1", KILL),),
        ),
        completes(1, 2),
    ),
    plain(
        "restart-settled",
        "ended behind the settlement: a cold load finds the turn over, and its prompt is not run again",
        turns(Turn((MAKE, DONE), then=RESTART), Turn((TEST, DONE)), asides=(Aside(SETTLED, KILL, later=3),)),
        ended("completed", "completed", runs=2, asked=4),
    ),
    plain(
        "restart-running",
        "ended while the command runs: a cold load refuses, and the next prompt is not accepted",
        turns(
            Turn((LONG_CALL, DONE), then=RESTART),
            Turn((TEST, DONE)),
            asides=(Aside(RUNNING, KILL), Aside(RUNNING, PROMPT, SECOND, later=70_000)),
            programs=(LONG,),
        ),
        Promise(("recovery-blocked", "not accepted"), 1, 1, 1, 0, "held", "error"),
        cases=("RC-15",),
    ),
    plain(
        "restart-admitted",
        "ended before the first inference, with the prompt durable: a cold load refuses, and nobody holds anything",
        turns(Turn((MAKE, DONE), then=RESTART), asides=(Aside(INFERENCE, KILL),)),
        Promise(("recovery-blocked",), 0, 0, 1, 0),
    ),
)
"""Detach and load, restart within and between turns."""

PROMPTS = (
    plain(
        "prompt-again-running",
        "the same prompt while its turn runs gets the same watermark, and is not run again",
        beside(LONG_CALL, Aside(RUNNING, PROMPT, FIRST)),
        completes(1, 2),
    ),
    plain(
        "prompt-again-after",
        "the same prompt after its turn has ended gets the same watermark, and is not run again",
        beside(MAKE, Aside(CLOSE, PROMPT, FIRST, later=1_000)),
        completes(1, 2),
    ),
    plain(
        "prompt-again-loaded",
        "the same prompt to the next owner gets the watermark of the first one",
        turns(Turn((MAKE, DONE), then=RESTART), Turn((MAKE, DONE), prompt=FIRST)),
        completes(1, 2),
    ),
    plain(
        "prompt-other-text",
        "the id of a prompt with another text is refused, and the turn goes on",
        beside(LONG_CALL, Aside(RUNNING, PROMPT, FIRST, "stop")),
        completes(1, 2),
    ),
    plain(
        "prompt-other-after",
        "the id of an ended prompt with another text is refused",
        beside(MAKE, Aside(CLOSE, PROMPT, FIRST, "stop", later=1_000)),
        completes(1, 2),
    ),
    plain(
        "prompt-second",
        "another prompt while a turn runs is refused, and runs when it is sent again",
        turns(
            Turn((LONG_CALL, DONE)),
            Turn((TEST, DONE)),
            asides=(Aside(RUNNING, PROMPT, "a.early"),),
            programs=(LONG,),
        ),
        ended("completed", "not accepted", "completed", runs=2, asked=4),
    ),
    plain(
        "prompt-loading",
        "a prompt while the Session is being opened is refused",
        beside(MAKE, Aside("journal:a:call:AcquireWriter#1", PROMPT, "a.early")),
        Promise(("not accepted", "completed"), 1, 1, 2, 1),
    ),
    plain(
        "prompt-blocked",
        "a prompt to a blocked Session is refused",
        beside(MAKE, Aside(CLOSE, PROMPT, SECOND, later=1_000)),
        Promise(("recovery-blocked", "not accepted"), 1, 1, 1, 0, "held", "error"),
        "harness:a:call:Status#1=reply-lost",
    ),
    plain(
        "prompt-again-blocked",
        "the prompt of a blocked turn gets its watermark again, and nothing of it runs again",
        beside(MAKE, Aside(CLOSE, PROMPT, FIRST, later=1_000)),
        blocked(1, 1),
        "harness:a:call:Status#1=reply-lost",
    ),
)
"""Prompts beside prompts (behaviour §1.2)."""

SESSIONS = (
    plain(
        "second-before",
        "a second Session that takes the Workspace first makes the first one's turn end plainly",
        pair(INFERENCE),
        Promise(("completed", "error"), 1, 1, 3, 1),
    ),
    plain(
        "second-during",
        "while the Workspace is held a second Session is told that it is busy",
        pair(RUNNING),
        Promise(("completed", "error"), 1, 1, 3, 1),
    ),
    plain(
        "second-after",
        "after the release a second Session takes the Workspace",
        pair(SETTLED),
        ended("completed", "completed", runs=2, asked=4),
    ),
    plain(
        "second-blocked",
        "after a block the Workspace is held, and a second Session is told that it is busy",
        pair(CLOSE),
        Promise(("recovery-blocked", "error"), 1, 1, 2, 0, "held", "error"),
        "harness:a:call:Status#1=reply-lost",
    ),
    plain(
        "second-elsewhere",
        "a second Session on another Workspace never notices a blocked one",
        pair(CLOSE, "v"),
        Promise(("recovery-blocked", "completed"), 2, 2, 3, 1, "held", "error"),
        "harness:a:call:Status#1=reply-lost",
    ),
    plain(
        "second-refused",
        "a refused batch takes nothing: a second Session has the Workspace while the first one's turn is open",
        Scenario(
            "refused",
            (
                SessionPlan("a", "w", (Turn((calls(BAD_SHAPE), DONE)),)),
                SessionPlan("b", "w", (Turn((TEST, DONE)),), NEXT),
            ),
        ),
        Promise(("completed after refusal", "completed"), 1, 1, 4, 1),
    ),
    plain(
        "second-writer-lost",
        "an owner that lost its Session's writer still holds the Workspace",
        pair(CLOSE),
        Promise(("recovery-blocked", "error"), 1, 1, 2, 0, "held", "error"),
        f"{RECEIPT}=writer-replaced",
    ),
)
"""A second Session (behaviour §4.9 to §4.11)."""

NOT_STARTED = Promise(("cancelled",), 0, 0, 1, 0)
SENT_NOT_STARTED = Promise(("cancelled",), 0, 1, 1, 0)
RAN = Promise(("cancelled",), 1, 1, 1, 1)


def cancelled(
    name: str, why: str, at: str, promise: Promise, *faults: str, later: int = 0, on: ModelOutput = MAKE
) -> Row:
    """One window of one call's turn in which the user cancels."""
    return plain(f"cancel-{name}", why, beside(on, Aside(at, CANCEL, FIRST, later=later)), promise, *faults)


CANCELLATION = (
    cancelled("inference", "the answer comes and is not followed", INFERENCE, NOT_STARTED),
    cancelled(
        "warming",
        "the runtime is warm at last, and is given back",
        WARM,
        NOT_STARTED,
        "broker:call:Activate#1=delayed",
        later=1_000,
    ),
    cancelled("acquiring", "nothing is recorded, and the Workspace is given back", ACQUIRE, NOT_STARTED),
    cancelled("registering", "nothing is recorded, and the Workspace is given back", REGISTER, NOT_STARTED),
    cancelled("reserving", "the reservation never starts", PREPARE, NOT_STARTED),
    cancelled(
        "reserved",
        "covered by a checkpoint, proved not started, null capture",
        "harness:a:call:Append.Checkpoint.await_runtime#1",
        NOT_STARTED,
    ),
    cancelled("starting", "it is stopped on its way, or never leaves", START, SENT_NOT_STARTED),
    cancelled("dispatched", "the worker has it, and has spawned nothing", EXECUTE, SENT_NOT_STARTED),
    cancelled(
        "opening",
        "its capture is being opened, and it has not spawned",
        OPENING,
        SENT_NOT_STARTED,
        f"{OPENING}=delayed",
    ),
    cancelled("command", "the physical end and the capture are admitted", RUNNING, RAN, on=LONG_CALL),
    cancelled("exit", "it ended by itself, and its result is admitted", EXIT, RAN),
    cancelled("finalizing", "its capture is completed and admitted", FINALIZE, RAN),
    cancelled("admitting", "its output is verified and admitted", ADMITTING, RAN),
    cancelled("receipt", "its receipt becomes durable", RECEIPT, RAN),
    cancelled("history", "behind the receipt: the result is recorded", TAKING, RAN),
    cancelled("resolution", "behind the result: it is resolved and acknowledged", RESULT, RAN),
    cancelled("ack", "the ACK is sent, and no inference follows", ACKNOWLEDGE, RAN),
    cancelled("next", "the next answer comes and is not followed", NEXT, Promise(("cancelled",), 1, 1, 2, 1)),
    cancelled("release", "the work is done: too late to cancel", RELEASE, completes(1, 2)),
    cancelled("settling", "the turn is over: too late to cancel", SETTLED, completes(1, 2)),
    plain(
        "cancel-twice",
        "cancelled again while it is being stopped: nothing is asked twice",
        beside(LONG_CALL, Aside(RUNNING, CANCEL, FIRST), Aside("broker:call:Halt#1", CANCEL, FIRST)),
        RAN,
    ),
    plain(
        "cancel-sticky",
        "cancelled while reserved, and again at its end: what is not started stays so",
        beside(MAKE, Aside(PREPARE, CANCEL, FIRST), Aside(RELEASE, CANCEL, FIRST)),
        NOT_STARTED,
    ),
    plain(
        "cancel-second-of-two",
        "the first call is done and stays so, the running one ends physically",
        turns(
            Turn((calls(quick("call-1", "make"), quick("call-2", "long")), DONE)),
            asides=(Aside("worker:w:act:TouchFile#2", CANCEL, FIRST),),
            programs=(LONG,),
        ),
        Promise(("cancelled",), 2, 2, 1, 2),
    ),
    plain(
        "cancel-between-two",
        "the first call is done, the second one is proved not started",
        turns(
            Turn((calls(quick("call-1", "make"), quick("call-2", "make test")), DONE)),
            asides=(Aside(ACKNOWLEDGE, CANCEL, FIRST),),
        ),
        RAN,
    ),
    plain(
        "cancel-other",
        "a cancellation of a prompt that does not run changes nothing",
        beside(LONG_CALL, Aside(RUNNING, CANCEL, SECOND)),
        completes(1, 2),
    ),
    cancelled(
        "halt-lost",
        "nobody knows whether the command was stopped",
        RUNNING,
        blocked(1, 1),
        "broker:call:Halt#1=request-lost",
        on=LONG_CALL,
    ),
    cancelled(
        "halt-refused",
        "the worker does not stop the command",
        RUNNING,
        blocked(1, 1),
        "broker:call:Halt#1=refused",
        on=LONG_CALL,
    ),
    cancelled(
        "unconfirmed",
        "the broker does not confirm the cancellation",
        RUNNING,
        blocked(1, 1),
        "harness:a:call:CancelExecution#1=refused",
        on=LONG_CALL,
    ),
    cancelled(
        "reserved-lost",
        "nobody knows whether the reservation was called off",
        "harness:a:call:Append.Checkpoint.await_runtime#1",
        blocked(0, 0),
        "harness:a:call:CancelExecution#1=request-lost!",
    ),
)
"""One row for each window (behaviour §2.10; 003 Lifecycle)."""


def retained(name: str, why: str, promise: Promise, fault: str) -> Row:
    """One failure that retains ownership, in a turn with one call."""
    return plain(f"retained-{name}", why, alone(name, MAKE, DONE), promise, fault)


RETAINED = (
    retained(
        "publisher", "an unavailable publisher is rejected before spawn", blocked(0, 1), f"{OPENING}=refused"
    ),
    retained(
        "publisher-silent",
        "a publisher that does not answer is rejected before spawn",
        blocked(0, 1),
        f"{OPENING}=request-lost",
    ),
    retained(
        "writer-before-spawn",
        "the writer is lost while the mapping is read: the second look refuses",
        blocked(0, 1),
        "journal:a:call:RenewWriter#2=writer-replaced",
    ),
    retained(
        "activation-before-spawn",
        "the activation is lost while the mapping is read: the second look refuses",
        blocked(0, 1),
        "journal:a:call:RenewWriter#2=activation-replaced",
    ),
    retained(
        "writer",
        "the writer is lost while the command runs",
        blocked(1, 1),
        "journal:a:call:Publish.content#1=writer-replaced",
    ),
    retained(
        "activation",
        "the activation is lost during the verification of the output",
        blocked(1, 1),
        "journal:a:call:ReadResource#2=activation-replaced",
    ),
    retained("unknown", "the worker dies with the command", blocked(1, 1), f"{RUNNING}=crash-after"),
    retained("receipt", "the receipt cannot be recorded", blocked(1, 1), f"{RECEIPT}=refused"),
    retained(
        "history",
        "the result cannot be recorded: the receipt stays, no ACK",
        blocked(1, 1),
        "journal:a:call:Transact.ToolResult#1=refused",
    ),
    retained(
        "resolution",
        "the result cannot be resolved: no ACK",
        blocked(1, 1),
        "journal:a:call:Transact.Checkpoint.results_ready#1=refused",
    ),
    retained("ack", "the result is not acknowledged", blocked(1, 1, acks=1), f"{ACKNOWLEDGE}=refused"),
    retained("release", "the Workspace is not given back", blocked(1, 1, 2, 1), f"{RELEASE}=refused"),
)
"""Each failure that retains recovery-blocked ownership, by its name in the seed."""

TIGHT = replace(SCALED, name="seed-tight", limits=replace(SCALED.limits, history_record=8_400))
"""A record that holds an admitted preview, and not the result that tells of it."""

WORKSPACES = (
    plain(
        "directory-saved",
        "each Session's command runs in its own saved Workspace, whatever its files are called",
        Scenario(
            "saved",
            (
                SessionPlan("a", "w", (Turn((MAKE, DONE)),)),
                SessionPlan("b", "v", (Turn((MAKE, DONE)),)),
            ),
        ),
        ended("completed", "completed", runs=2, asked=4),
    ),
    plain(
        "history-limit",
        "an admitted result that fits no record: no omission, no ACK, and the receipt stays",
        alone(
            "history-limit", calls(quick("call-1", "full")), DONE, programs=(prints("full", STDOUT, 7_900),)
        ),
        blocked(1, 1),
        cites="003 Identity, admission and model history",
        design=replace(TIGHT, limits=replace(TIGHT.limits, process_buffer=8_192)),
    ),
    plain(
        "preview-bounds",
        "of 14 KB of wide characters the model sees head and tail, cut between characters, and the exit code",
        alone("preview", calls(shell("call-1", "euro")), DONE, programs=(EURO,)),
        completes(1, 2),
        cites="003 Ownership and transport",
        design=SEED,
    ),
    plain(
        "warm-slow",
        "a runtime that is slow to warm delays the tool turn, and nothing else",
        alone("warm-slow", MAKE, DONE),
        completes(1, 2),
        "broker:call:Activate#1=delayed",
    ),
    plain(
        "warm-refused",
        "a runtime that does not warm ends the tool turn plainly, with nothing acquired",
        alone("warm-refused", MAKE, DONE),
        ended("error"),
        f"{WARM}=refused",
    ),
    plain(
        "warm-lost",
        "nobody knows whether the runtime is warm: the tool turn ends plainly, with nothing acquired",
        alone("warm-lost", MAKE, DONE),
        ended("error"),
        f"{WARM}=request-lost",
    ),
    plain(
        "warm-unwanted",
        "a turn of text does not care whether the runtime warms",
        alone("warm-unwanted", DONE),
        ended("completed"),
        f"{WARM}=refused",
    ),
)
"""The saved Workspace, the history limit, warming beside inference."""


def misshapen(name: str, why: str, call: ToolCall) -> Row:
    """One shape error, refused with nothing acquired, and the corrected call, which runs once."""
    return plain(
        f"shape-{name}",
        why,
        alone(name, calls(call), calls(quick("call-2", "make")), DONE),
        Promise(("completed after refusal",), 1, 1, 3, 1),
        cites=f"{LIFECYCLE}; behaviour §6.5",
    )


SHAPES = (
    misshapen("no-object", "arguments that are no object", ToolCall("call-1", SHELL, '["make"]')),
    misshapen("no-json", "arguments that are no JSON", ToolCall("call-1", SHELL, '{"command": ')),
    misshapen("no-command", "no command", ToolCall("call-1", SHELL, "{}")),
    misshapen("blank", "a blank command", shell("call-1", "  \t")),
    misshapen("number", "a command that is no text", ToolCall("call-1", SHELL, '{"command": 7}')),
    misshapen("directory", "a directory: the Workspace is saved", shell("call-1", "make", directory="/srv")),
    misshapen("unknown", "an argument that Shell does not know", shell("call-1", "make", umask=22)),
    misshapen("background", "a background job", BAD_SHAPE),
    misshapen("description", "a description that is no text", shell("call-1", "make", description=[1])),
    misshapen("timeout-zero", "no time at all", shell("call-1", "make", timeout=0)),
    misshapen("timeout-long", "more time than there is", shell("call-1", "make", timeout=600_001)),
    misshapen("timeout-fraction", "half a millisecond", shell("call-1", "make", timeout=1.5)),
    misshapen("timeout-text", "a timeout that is no number", shell("call-1", "make", timeout="1000")),
    misshapen("timeout-boolean", "a timeout that is a boolean", shell("call-1", "make", timeout=True)),
)
"""One row for each shape error of behaviour §6.5."""

ROWS = (
    *OWNERS,
    *PROMPTS,
    *SESSIONS,
    *CANCELLATION,
    *RETAINED,
    *WORKSPACES,
    *SHAPES,
)
"""In the order of a sweep."""
