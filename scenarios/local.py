"""The local wrapper: a daemon Session that leads its turn and runs its commands in one process (003, O1c).

It asks no broker, so nothing is dispatched or acknowledged, and no Workspace lease is taken: a second local Session
completes whatever became of the first. What is retained by a blocked one is its journal, which no owner may go on with.
"""

from __future__ import annotations

from msgspec.structs import replace

from scenarios.base import BAD_SHAPE, DONE, LONG, WIDE, alone, quick
from scenarios.row import Promise, Row
from sim.protocol import ModelOutput
from sim.scenario import LOCAL, Exit, Program, Scenario, Touch, calls

ADMISSION = "003 Identity, admission and model history"
LIFECYCLE = "003 Lifecycle and failure handling"

FAILING = Program("false", (Touch("effects.log", "false"), Exit(3)))

RESERVED = "local:a:call:Append.Checkpoint.await_runtime#1"
"""When the batch is intended and nothing of it has run."""
RUNNING = "local:a:act:TouchFile#1"
"""When the first command changes its first file."""
MAPPING = "local-journal:a:call:ReadJournal#2"
"""The second read of the journal: the first was the load, this one verifies the mapping before spawn."""
VERIFYING = "local-journal:a:call:ReadResource#3"
"""While the output is re-read: the first read was that of the arguments, the second that of the manifest."""
LAST_SEAL = "local-store:a:commit:Output.seal#2"
RECEIPT = "local:a:call:Append.ToolReceipt+Checkpoint.results_ready#1"


def at_home(
    name: str, *answers: ModelOutput, programs: tuple[Program, ...] = (), cancel: str = ""
) -> Scenario:
    """One local Session, one turn."""
    hosted = alone(name, *answers, programs=programs, cancel=cancel)
    return replace(hosted, sessions=tuple(replace(each, leader=LOCAL) for each in hosted.sessions))


def completes(spawns: int, asked: int, ending: str = "completed") -> Promise:
    """The turn ends well; nothing is dispatched or acknowledged, and no Workspace lease is ever asked for."""
    return Promise((ending,), spawns, 0, asked, 0)


def stuck(spawns: int) -> Promise:
    """Recovery blocked, and the model is not asked again."""
    return Promise(("recovery-blocked",), spawns, 0, 1, 0)


ONE = at_home("local-one-call", calls(quick("call-1", "make")), DONE)
TWO = at_home("local-two-calls", calls(quick("call-1", "make"), quick("call-2", "make test")), DONE)

ROWS = (
    Row(
        "local-one-call",
        "the order of one process, once: the checkpoint advances with the receipt",
        ONE,
        completes(1, 2),
        ADMISSION,
    ),
    Row(
        "local-two-calls",
        "two calls in one answer run in order; results are ready with the second receipt",
        TWO,
        completes(2, 2),
        ADMISSION,
        tabled=False,
    ),
    Row(
        "local-error",
        "a command that fails is admitted and told as one that failed",
        at_home("local-error", calls(quick("call-1", "false")), DONE, programs=(FAILING,)),
        completes(1, 2),
        ADMISSION,
        swept=False,
    ),
    Row(
        "local-cut-preview",
        "the bounded preview is that of the Hosted path, failure at its end",
        at_home("local-cut-preview", calls(quick("call-1", "wide")), DONE, programs=(WIDE,)),
        completes(1, 2),
        "003 Ownership and transport",
        swept=False,
    ),
    Row(
        "local-refused",
        "an invalid call is refused before anything is written for it, and the model corrects it",
        at_home("local-refused", calls(BAD_SHAPE), calls(quick("call-2", "make")), DONE),
        completes(1, 3, "completed after refusal"),
        LIFECYCLE,
        swept=False,
    ),
    Row(
        "local-partial",
        "the last seal is not kept: the capture is partial, its receipt blocked, and the turn stops",
        ONE,
        stuck(1),
        ADMISSION,
        faults=(f"{LAST_SEAL}=commit-failed",),
    ),
    Row(
        "local-cancel-before-start",
        "cancelled before the first command: null capture, a receipt of that, and nothing ran",
        at_home("local-cancel-before-start", calls(quick("call-1", "make")), DONE, cancel=RESERVED),
        completes(0, 1, "cancelled"),
        LIFECYCLE,
        swept=False,
    ),
    Row(
        "local-cancel-running",
        "cancelled while running: the physical end and the capture are admitted, and no request follows",
        at_home(
            "local-cancel-running", calls(quick("call-1", "long")), DONE, programs=(LONG,), cancel=RUNNING
        ),
        completes(1, 1, "cancelled"),
        LIFECYCLE,
        swept=False,
    ),
    Row(
        "local-lease-lost-before-spawn",
        "the lease guard behind the reads of the mapping: a replaced writer runs nothing",
        ONE,
        stuck(0),
        ADMISSION,
        faults=(f"{MAPPING}=writer-replaced",),
    ),
    Row(
        "local-lease-lost-before-receipt",
        "the lease guard while the output is re-read: a replaced writer admits nothing",
        ONE,
        stuck(1),
        ADMISSION,
        faults=(f"{VERIFYING}=writer-replaced",),
    ),
    Row(
        "local-replaced-before-receipt",
        "another activation while the output is re-read: the old one admits nothing",
        ONE,
        stuck(1),
        ADMISSION,
        faults=(f"{VERIFYING}=activation-replaced",),
    ),
    Row(
        "local-root-moved-before-spawn",
        "the root guard behind the reads of the mapping: no command runs in another directory",
        ONE,
        stuck(0),
        ADMISSION,
        faults=(f"{MAPPING}=root-moved",),
    ),
    Row(
        "local-root-moved-before-receipt",
        "the root guard while the output is re-read: what another directory's command wrote is not admitted",
        ONE,
        stuck(1),
        ADMISSION,
        faults=(f"{VERIFYING}=root-moved",),
    ),
    Row(
        "local-died-running",
        "the process dies with its command: two cold loads refuse the turn, and nothing runs again",
        ONE,
        stuck(1),
        ADMISSION,
        faults=(f"{RUNNING}=crash-after",),
    ),
    Row(
        "local-died-behind-receipt",
        "receipt and checkpoint are durable and the owner dies: still unresolved, and no model result is made up",
        ONE,
        stuck(1),
        ADMISSION,
        faults=(f"{RECEIPT}=crash-after",),
    ),
)
"""In the order of a sweep."""
