"""Every route of the table in 003 Ownership and transport, and an outsider on each of them.

Behind each forbidden request stands the definite answer that it gets, decided from behaviour §1.7, §1.10 to §1.12.
Without a stolen capability the turn completes unharmed. With one, an operation that does not fit the stream fails that
capture, and so blocks the turn: a capture that may lack bytes is never called complete.
"""

from __future__ import annotations

from scenarios.base import DONE, LONG, completes, quick
from scenarios.row import Promise, Row
from sim.design import SEED
from sim.protocol import STDERR, STDOUT, ModelOutput, ToolCall
from sim.scenario import (
    Exit,
    Intrusion,
    Print,
    Program,
    Resume,
    Scenario,
    SessionPlan,
    Touch,
    Turn,
    calls,
)

# --- when -------------------------------------------------------------------------------------------------------------

HELD = "harness:a:call:RegisterPublisher#1"
"""The Workspace is held; the owner is about to register its publisher."""
RESERVING = "harness:a:call:StageResource#2"
"""The execution is reserved, and its publisher does not expect it yet."""
RESERVED = "harness:a:call:Append.Checkpoint.await_runtime#1"
"""The execution is reserved and expected, and nothing of it is started."""
OPENED = "worker:w:act:Spawn#1"
"""The capture is open, the process is about to be spawned."""
WRITTEN = "worker:w:call:FinishOutput.stdout#1"
"""All of stdout is written, its end is about to be told."""
FINISHED = "worker:w:call:FinalizeCapture#1"
"""Both streams are finished."""
FINALIZED = "worker:w:call:AcceptCapture#1"
"""The envelope is built."""
ACCEPTED = "harness:a:call:Append.ToolResult#1"
"""The receipt is durable, and the model's result is about to be."""
RELEASED = "harness:a:call:Append.TurnSettled+Checkpoint.turn_settled#1"
"""The Workspace is given back."""
CLOSED = "client:call:Prompt#2"
"""The first turn is over, its listener closed."""

# --- what an outsider is answered -------------------------------------------------------------------------------------

UNAUTHORIZED = "401 hosted_shell_publication_unauthorized"
CLOSING = "503 hosted_shell_publication_closing"
INVALID = "400 hosted_shell_publication_invalid"
REFUSED = "409 hosted_shell_publication_failed"
MALFORMED = "400 managed_runtime_attestation_invalid"
OTHER_IDENTITY = "409 managed_runtime_identity_conflict"
NO_SESSION = "404 runtime_session_not_found"
NOT_THERE = "409 runtime_session_unavailable"
NO_EXECUTION = "404 runtime_execution_not_found"
ONLY_V3 = "501 runtime_tool_v3_unsupported"
OTHER_RESULT = "409 managed_tool_result_conflict"
FORGOTTEN = "404 managed_runtime_execution_unknown"
NO_WRITER = "409 managed_session_writer_conflict"
TOO_LARGE = "413 managed_session_resource_too_large"

Attempt = tuple[Intrusion, str]
"""What is sent, and the definite answer."""

MAKE = quick("call-1", "make")


def one(name: str, *attempts: Attempt, call: ToolCall = MAKE, programs: tuple[Program, ...] = ()) -> Scenario:
    """One Session, one turn, one call; and what an outsider sends meanwhile."""
    return several(name, ModelOutput(calls=(call,)), DONE, attempts=attempts, programs=programs)


def several(
    name: str, *answers: ModelOutput, attempts: tuple[Attempt, ...], programs: tuple[Program, ...] = ()
) -> Scenario:
    """One Session and one turn of these answers."""
    sessions = (SessionPlan("a", "w", (Turn(answers),)),)
    return Scenario(name, sessions, programs, tuple(intrusion for intrusion, _ in attempts))


def told(*attempts: Attempt) -> tuple[str, ...]:
    """The answers that are promised."""
    return tuple(answer for _, answer in attempts)


def sent(at: str, route: str, wrong: str, answer: str, **aimed: str) -> Attempt:
    """One forbidden request at a milestone, and its definite answer."""
    return Intrusion(at, route, wrong, **aimed), answer


BLOCKED = Promise(("recovery-blocked",), 1, 1, 1, 0, "held", "error")
"""The designed harm of a stolen capability: the capture failed, nothing is called complete, the Workspace is held."""

# --- the publisher's five operations ----------------------------------------------------------------------------------

WITHOUT_BEARER = (
    sent(HELD, "PreparePublication", "no bearer", UNAUTHORIZED),
    sent(RESERVED, "PreparePublication", "no bearer", UNAUTHORIZED),
    sent(RESERVED, "PreparePublication", "wrong bearer", UNAUTHORIZED),
    sent(OPENED, "WriteOutput", "no bearer", UNAUTHORIZED),
    sent(OPENED, "WriteOutput", "wrong bearer", UNAUTHORIZED),
    sent(WRITTEN, "FinishOutput", "no bearer", UNAUTHORIZED),
    sent(WRITTEN, "FinishOutput", "wrong bearer", UNAUTHORIZED),
    sent(FINISHED, "FinalizeCapture", "no bearer", UNAUTHORIZED),
    sent(FINISHED, "FinalizeCapture", "wrong bearer", UNAUTHORIZED),
    sent(FINALIZED, "AcceptCapture", "no bearer", UNAUTHORIZED),
    sent(ACCEPTED, "AcceptCapture", "wrong bearer", UNAUTHORIZED),
)
PREPARING = (
    sent(RESERVING, "PreparePublication", "nothing", REFUSED),
    sent(RESERVED, "PreparePublication", "unknown execution", REFUSED),
    sent(RESERVED, "PreparePublication", "other worker call", REFUSED),
    sent(RESERVED, "PreparePublication", "other Runtime Session", REFUSED),
    sent(RESERVED, "PreparePublication", "other generation", REFUSED),
    sent(RESERVED, "PreparePublication", "other digest", REFUSED),
    sent(OPENED, "PreparePublication", "nothing", "CaptureOpened"),
    sent(OPENED, "PreparePublication", "other digest", REFUSED),
)
STREAMING = (
    sent(OPENED, "WriteOutput", "unknown execution", REFUSED),
    sent(OPENED, "WriteOutput", "other stream", REFUSED),
    sent(OPENED, "WriteOutput", "oversized", INVALID),
    sent(WRITTEN, "FinishOutput", "unknown execution", REFUSED),
    sent(WRITTEN, "FinishOutput", "other stream", REFUSED),
    sent(FINISHED, "FinishOutput", "nothing", REFUSED),
)
ENVELOPES = (
    sent(OPENED, "FinalizeCapture", "unknown execution", REFUSED),
    sent(OPENED, "FinalizeCapture", "oversized", INVALID),
    sent(OPENED, "AcceptCapture", "other envelope", REFUSED),
    sent(FINALIZED, "WriteOutput", "nothing", REFUSED),
    sent(FINALIZED, "FinalizeCapture", "nothing", "Envelope"),
    sent(FINALIZED, "FinalizeCapture", "a large body", "Envelope"),
    sent(FINALIZED, "AcceptCapture", "unknown execution", REFUSED),
    sent(FINALIZED, "AcceptCapture", "other envelope", REFUSED),
    sent(FINALIZED, "AcceptCapture", "oversized", INVALID),
    sent(ACCEPTED, "AcceptCapture", "other envelope", REFUSED),
    sent(ACCEPTED, "AcceptCapture", "nothing", "Receipt"),
)
GAP = (sent(OPENED, "WriteOutput", "gap", REFUSED),)
FIRST = (sent(OPENED, "WriteOutput", "nothing", "Buffered"),)
AGAIN = (sent(WRITTEN, "WriteOutput", "nothing", REFUSED),)
AFTER_END = (sent(FINISHED, "WriteOutput", "nothing", REFUSED),)
TOO_EARLY = (sent(OPENED, "FinishOutput", "nothing", "StreamFinished"),)
EARLY_RESULT = (sent(OPENED, "FinalizeCapture", "nothing", "Envelope"),)

# --- registration, at the broker and at the worker --------------------------------------------------------------------

REGISTERING = (
    sent(HELD, "RegisterPublisher", "foreign Runtime Session", NO_SESSION),
    sent(RESERVED, "RegisterPublisher", "other descriptor", OTHER_IDENTITY),
    sent(RELEASED, "RegisterPublisher", "other descriptor", NOT_THERE),
)
ACQUIRING = (sent("broker:call:Activate#2", "RegisterPublisher", "other descriptor", NOT_THERE),)
OVERTAKING = (sent("broker:commit:Ready#1", "RegisterPublisher", "other descriptor", "Registered"),)
INSTALLING = (
    sent(HELD, "InstallPublisher", "localhost", MALFORMED),
    sent(HELD, "InstallPublisher", "another host", MALFORMED),
    sent(HELD, "InstallPublisher", "https", MALFORMED),
    sent(HELD, "InstallPublisher", "a query", MALFORMED),
    sent(HELD, "InstallPublisher", "another path", MALFORMED),
    sent(HELD, "InstallPublisher", "port 0", MALFORMED),
    sent(HELD, "InstallPublisher", "port 65536", MALFORMED),
    sent(HELD, "InstallPublisher", "a leading zero", MALFORMED),
    sent(HELD, "InstallPublisher", "user info", MALFORMED),
    sent(HELD, "InstallPublisher", "short capability", MALFORMED),
    sent(HELD, "InstallPublisher", "foreign alphabet", MALFORMED),
    sent(HELD, "InstallPublisher", "oversized", MALFORMED),
    sent(RESERVED, "InstallPublisher", "other descriptor", OTHER_IDENTITY),
    sent(RESERVED, "InstallPublisher", "other generation", OTHER_IDENTITY),
    sent(RESERVED, "InstallPublisher", "stolen descriptor", "PublisherInstalled"),
)

# --- the broker's other routes, and the Store -------------------------------------------------------------------------

STARTING = (
    sent(RESERVED, "Prepare", "foreign Runtime Session", NO_SESSION),
    sent(RESERVED, "Prepare", "protocol v2", ONLY_V3),
    sent(RESERVED, "Prepare", "another tool", ONLY_V3),
    sent(RESERVED, "Prepare", "other content", "409 runtime_execution_conflict"),
    sent(RESERVED, "StartExecution", "unknown execution", NO_EXECUTION),
    sent(RESERVED, "StartExecution", "more fields", "400 runtime_payload_invalid"),
    sent(RESERVED, "StartExecution", "other payload", "409 runtime_idempotency_conflict"),
    sent(OPENED, "StartExecution", "other payload", "409 runtime_idempotency_conflict"),
    sent(OPENED, "StartExecution", "nothing", "409 runtime_execution_conflict"),
    sent(OPENED, "Status", "unknown execution", NO_EXECUTION),
    sent(OPENED, "CancelExecution", "unknown execution", NO_EXECUTION),
    sent(OPENED, "Acknowledge", "unknown execution", NO_EXECUTION),
    sent(OPENED, "Acknowledge", "another receipt", OTHER_RESULT),
    sent(ACCEPTED, "Acknowledge", "another receipt", OTHER_RESULT),
    sent(RELEASED, "Acknowledge", "another receipt", FORGOTTEN),
)
PUBLISHING = (
    sent(ACCEPTED, "Publish", "guessed token", NO_WRITER),
    sent(ACCEPTED, "Publish", "stale generation", NO_WRITER),
    sent(ACCEPTED, "Publish", "other Session", NO_WRITER),
    sent(ACCEPTED, "Publish", "wrong kind", TOO_LARGE),
    sent(ACCEPTED, "Publish", "oversized", TOO_LARGE),
    sent(ACCEPTED, "Publish", "wrong digest", "400 managed_session_resource_invalid"),
    sent(ACCEPTED, "Publish", "other bytes", "409 managed_session_resource_conflict"),
    sent(ACCEPTED, "Publish", "other kind", "409 managed_session_resource_conflict"),
    sent(ACCEPTED, "Publish", "same again", "Published"),
)
LARGER = (
    sent(ACCEPTED, "Publish", "content over its bound", TOO_LARGE),
    sent(ACCEPTED, "Publish", "a page over its bound", TOO_LARGE),
    sent(ACCEPTED, "Publish", "a manifest over its bound", TOO_LARGE),
)
EXPIRED = (sent("journal:a:call:Publish.content#1", "Publish", "stolen token", NO_WRITER),)

# --- a listener's life ------------------------------------------------------------------------------------------------

BAD_SHAPE = ToolCall("call-2", "web_search", "{}")
CANCEL = "worker:w:act:TouchFile#2"
OLD_CAPABILITY = (
    sent(CLOSED, "PreparePublication", "nothing", CLOSING),
    sent(CLOSED, "WriteOutput", "nothing", CLOSING),
    sent(CLOSED, "FinishOutput", "nothing", CLOSING),
    sent(CLOSED, "FinalizeCapture", "nothing", CLOSING),
    sent(CLOSED, "AcceptCapture", "nothing", CLOSING),
    sent(CANCEL, "PreparePublication", "nothing", UNAUTHORIZED),
    sent(CANCEL, "WriteOutput", "nothing", UNAUTHORIZED),
    sent("client:call:Prompt#4", "AcceptCapture", "nothing", CLOSING, prompt="a.p3"),
    sent("client:call:Prompt#4", "AcceptCapture", "nothing", UNAUTHORIZED),
)
DRAINED = (sent("harness:a:call:CancelExecution#1", "FinishOutput", "nothing", "StreamFinished"),)
BLOCKED_LISTENER = (sent("client:call:Prompt#2", "PreparePublication", "nothing", CLOSING),)
REDIRECTING = (
    sent(OPENED, "Acquire", "own", "Lease", session="b"),
    sent(OPENED, "RegisterPublisher", "own", "Registered", session="b"),
    sent(OPENED, "Prepare", "own", "Prepared", session="b"),
    sent(OPENED, "StartExecution", "own", "Observed", session="b"),
)
HURRIED = Program(
    "hurry",
    (Touch("effects.log", "hurry"), Print(STDOUT, b"0123456789", 20), Resume(STDOUT), Exit(0)),
)
BOTH = Program(
    "both",
    (Touch("effects.log", "both"), Print(STDOUT, b"x", 100), Print(STDERR, b"y", 100), Exit(0)),
)
ON_HURRIED = one("overlapping", call=quick("call-1", "hurry"), programs=(HURRIED,))

# --- under faults -----------------------------------------------------------------------------------------------------

ANY_TIME = (
    sent(RESERVED, "InstallPublisher", "other descriptor", OTHER_IDENTITY),
    sent(OPENED, "WriteOutput", "wrong bearer", UNAUTHORIZED),
    sent(FINALIZED, "AcceptCapture", "no bearer", UNAUTHORIZED),
)

ROWS = (
    # --- an outsider at the publisher
    Row(
        "no-bearer",
        "no operation of the publisher is done for who does not bear its capability, at whatever moment",
        one("no-bearer", *WITHOUT_BEARER),
        completes(1, 2),
        "003 Ownership and transport",
        swept=False,
        answers=told(*WITHOUT_BEARER),
    ),
    Row(
        "foreign-prepare",
        "a capture is opened for the registered execution alone, not before it is registered, and once",
        one("foreign-prepare", *PREPARING),
        completes(1, 2),
        "003 Ownership and transport",
        swept=False,
        answers=told(*PREPARING),
    ),
    Row(
        "foreign-write",
        "the right capability opens no other execution, no third stream, no body over its limit",
        one("foreign-write", *STREAMING),
        completes(1, 2),
        "003 Ownership and transport",
        swept=False,
        answers=told(*STREAMING),
    ),
    Row(
        "foreign-result",
        "only the finalized envelope is admitted, once; who finalizes or accepts again is told the same",
        one("foreign-result", *ENVELOPES),
        completes(1, 2),
        "003 Identity, admission and model history",
        swept=False,
        answers=told(*ENVELOPES),
    ),
    Row(
        "stolen-gap",
        "a write behind a gap, with a stolen capability, fails that capture for ever",
        one("stolen-gap", *GAP),
        BLOCKED,
        "003 Ownership and transport",
        swept=False,
        answers=told(*GAP),
    ),
    Row(
        "stolen-first",
        "foreign bytes at the right offset, with a stolen capability: the worker's own write then overlaps",
        one("stolen-first", *FIRST),
        BLOCKED,
        "003 Ownership and transport",
        swept=False,
        answers=told(*FIRST),
    ),
    Row(
        "stolen-again",
        "a write that is sent again, with a stolen capability, is never taken for the next one",
        one("stolen-again", *AGAIN),
        BLOCKED,
        "003 Ownership and transport",
        swept=False,
        answers=told(*AGAIN),
    ),
    Row(
        "stolen-after-end",
        "a write behind the end of its stream, with a stolen capability, fails the capture",
        one("stolen-after-end", *AFTER_END),
        BLOCKED,
        "behaviour §1.7",
        swept=False,
        answers=told(*AFTER_END),
    ),
    Row(
        "stolen-end",
        "an end before the last write, with a stolen capability: what follows it fails the capture",
        one("stolen-end", *TOO_EARLY),
        BLOCKED,
        "behaviour §1.7",
        swept=False,
        answers=told(*TOO_EARLY),
    ),
    Row(
        "stolen-result",
        "a result before the end, with a stolen capability, is incomplete, and never admitted as complete",
        one("stolen-result", *EARLY_RESULT),
        BLOCKED,
        "003 Ownership and transport",
        swept=False,
        answers=told(*EARLY_RESULT),
    ),
    # --- an outsider at broker, worker and Store
    Row(
        "foreign-registration",
        "a publisher is registered only in the Runtime Session that holds the Workspace, and one only",
        one("foreign-registration", *REGISTERING),
        completes(1, 2),
        "003 Ownership and transport",
        swept=False,
        answers=told(*REGISTERING),
    ),
    Row(
        "early-registration",
        "no publisher is registered in a Runtime Session that is not ready",
        one("early-registration", *ACQUIRING),
        completes(1, 2),
        "003 Ownership and transport",
        swept=False,
        answers=told(*ACQUIRING),
    ),
    Row(
        "overtaken-registration",
        "another descriptor that was registered first stays: the owner learns it, and nothing is started",
        one("overtaken-registration", *OVERTAKING),
        Promise(("recovery-blocked",), 0, 0, 1, 0, "held", "error"),
        "003 Ownership and transport",
        swept=False,
        answers=told(*OVERTAKING),
    ),
    Row(
        "foreign-descriptor",
        "the worker takes a canonical loopback URL and a whole capability, and one descriptor for ever",
        one("foreign-descriptor", *INSTALLING),
        completes(1, 2),
        "003 Ownership and transport",
        swept=False,
        answers=told(*INSTALLING),
    ),
    Row(
        "foreign-start",
        "start, status, cancel and ACK are about the original execution, by its saved protocol",
        one("foreign-start", *STARTING),
        completes(1, 2),
        "003 Ownership and transport",
        swept=False,
        answers=told(*STARTING),
    ),
    Row(
        "foreign-publication",
        "output becomes durable for the live writer alone, of the known kinds and sizes, and never changes",
        one("foreign-publication", *PUBLISHING),
        completes(1, 2),
        "003 Durable output storage",
        swept=False,
        answers=told(*PUBLISHING),
    ),
    Row(
        "large-publication",
        "the real bounds: no byte more than 1 MiB of content, 256 KiB of a page, 64 KiB of a manifest",
        one("large-publication", *LARGER),
        completes(1, 2),
        "003 Durable output storage",
        swept=False,
        design=SEED,
        answers=told(*LARGER),
    ),
    Row(
        "expired-publication",
        "a stolen token publishes nothing once the writer lease ran out",
        one("expired-publication", *EXPIRED),
        BLOCKED,
        "003 Ownership and transport",
        faults=("journal:a:call:Publish.content#1=writer-expired",),
        answers=told(*EXPIRED),
    ),
    Row(
        "redirecting-listener",
        "a listener that redirects is a definite failure: the worker goes nowhere, and nothing runs",
        Scenario(
            "redirecting-listener",
            (
                SessionPlan("a", "w", (Turn((calls(MAKE), DONE)),)),
                SessionPlan("b", "v", (Turn((DONE,)),)),
            ),
            intrusions=tuple(intrusion for intrusion, _ in REDIRECTING),
        ),
        Promise(("completed", "completed"), 1, 2, 3, 1, "held", "completed"),
        "003 Ownership and transport",
        swept=False,
        answers=told(*REDIRECTING),
    ),
    # --- the life of a listener
    Row(
        "old-capabilities",
        "three turns, one completed, one cancelled, one failed: each has a listener of its own, and none stays",
        Scenario(
            "old-capabilities",
            (
                SessionPlan(
                    "a",
                    "w",
                    (
                        Turn((calls(MAKE), DONE)),
                        Turn((calls(quick("call-2", "long")), DONE), cancel=CANCEL),
                        Turn((calls(quick("call-3", "make install")), calls(BAD_SHAPE))),
                        Turn((DONE,)),
                    ),
                ),
            ),
            (LONG,),
            tuple(intrusion for intrusion, _ in OLD_CAPABILITY),
        ),
        Promise(("completed", "cancelled", "error", "completed"), 3, 3, 6, 3),
        "003 Lifecycle and failure handling",
        ("RC-40",),
        swept=False,
        answers=told(*OLD_CAPABILITY),
    ),
    Row(
        "blocked-listener",
        "a blocked turn's listener is closed too; what was retained stays",
        one("blocked-listener", *BLOCKED_LISTENER),
        Promise(("recovery-blocked",), 1, 1, 1, 0, "held", "error"),
        "003 Lifecycle and failure handling",
        ("RC-40",),
        faults=("worker:w:call:WriteOutput.stdout#1=reply-lost",),
        answers=told(*BLOCKED_LISTENER),
    ),
    Row(
        "drained-listener",
        "an operation that was let in ends before the listener is closed, and writes nothing after that",
        one("drained-listener", *DRAINED),
        Promise(("recovery-blocked",), 0, 1, 1, 0, "held", "error"),
        "003 Lifecycle and failure handling",
        faults=("worker:w:act:Spawn#1=crash-before",),
        answers=told(*DRAINED),
    ),
    # --- pipe callbacks
    Row(
        "overlapping-callbacks",
        "two callbacks of one stream are in flight when the process exits, and its bytes stay in order",
        ON_HURRIED,
        completes(1, 2),
        "003 Ownership and transport",
    ),
    Row(
        "delayed-callback",
        "the second callback waits for the first one's delayed write, and no byte is missing",
        ON_HURRIED,
        completes(1, 2),
        "003 Ownership and transport",
        faults=("worker:w:call:WriteOutput.stdout#6=delayed",),
    ),
    Row(
        "slow-stream",
        "while the owner is slow with one stream, the other one goes on",
        one("slow-stream", call=quick("call-1", "both"), programs=(BOTH,)),
        completes(1, 2),
        "003 Ownership and transport",
        faults=("journal:a:call:Publish.content#1=delayed",),
    ),
    # --- under every single fault
    Row(
        "intruder-under-faults",
        "whatever fails, an outsider without a capability changes nothing",
        one(
            "intruder-under-faults",
            *ANY_TIME,
        ),
        completes(1, 2),
        "003 Ownership and transport",
        answers=told(*ANY_TIME),
    ),
)
"""In the order of a sweep."""
