"""The second path of capture: output that is published to the object store (O2), in each shape of a turn."""

from __future__ import annotations

from msgspec.structs import replace

from scenarios import base
from scenarios.base import DONE, RESERVED, RUNNING, alone, completes, prints, quick
from scenarios.row import Promise, Row
from scenarios.sizes import scaled
from scenarios.tools import SEEN, WROTE
from sim.protocol import SHELL_1, SHELL_2, STDOUT, Definition
from sim.scenario import HARNESS, LOCAL, Scenario, SessionPlan, Turn, calls, shell

QUOTA = 2**30
"""What a Session of these rows may capture of one command, in bytes: more than any of them writes."""

MOMENTS = {
    "Prepare": "Prepare.published",
    "StartExecution": "StartExecution.published",
    "Acknowledge": "Acknowledge.published",
    "Transact.ToolReceipt": "CommitReceipt",
    "FinalizeCapture": "FinishPublication",
    "AcceptCapture": "FinishPublication",
    "OpenPublisher": "Append.Assistant",
    "RegisterPublisher": "Append.Assistant",
    "PreparePublication": "PublishPiece.content",
    "TakeReceipt": "Append.ToolReceipt",
    "WriteOutput.stdout": "PublishPiece.content",
}
"""The moment of a published turn that stands in the place of one of a captured turn, by label."""

SHELLS = (SHELL_1, SHELL_2)


def published(scenario: Scenario, quota: int = QUOTA) -> Scenario:
    """The same scenario, in which every Hosted Session with Shell publishes its output."""
    sessions = tuple(
        replace(
            session,
            definitions=tuple(_published(definition, quota) for definition in session.definitions),
            turns=tuple(replace(turn, cancel=moment(turn.cancel)) for turn in session.turns),
            asides=tuple(replace(aside, at=moment(aside.at)) for aside in session.asides),
        )
        if session.leader == HARNESS
        else session
        for session in scenario.sessions
    )
    return replace(scenario, sessions=sessions)


def _published(definition: Definition, quota: int) -> Definition:
    if definition.profile not in SHELLS or definition.capture_bytes:
        return definition
    return replace(definition, capture_bytes=quota)


def moment(milestone: str) -> str:
    """The milestone of a published turn that stands in the place of this one."""
    place, mark, nth = milestone.partition("#")
    actor, colon, label = place.rpartition(":")
    return f"{actor}{colon}{MOMENTS.get(label, label)}{mark}{nth}"


def publishable(row: Row) -> bool:
    """Whether the other path has something to say of a row."""
    return any(
        session.leader != LOCAL and definition.profile in SHELLS
        for session in row.scenario.sessions
        for definition in session.definitions
    )


_BASE = {row.name: row for row in base.ROWS}


def again(name: str, why: str, *, swept: bool = True) -> Row:
    """A base row on the other path, with the same promise."""
    row = _BASE[name]
    scenario = published(replace(row.scenario, name=f"published-{name}"))
    return replace(row, name=scenario.name, why=why, scenario=scenario, cases=(), swept=swept)


LOUD = prints("loud", STDOUT, 200)
FULL = scaled(publication_capacity=2**30)
"""An object store that is full before the first grant."""

ROWS = (
    again(
        "one-call",
        "the whole order of the seed, with grant, publication and reference in the listener's place",
    ),
    again("two-calls", "two grants in one batch, renewed by one timer"),
    again("two-rounds", "the second batch has grants of its own", swept=False),
    again("text-only", "a turn without calls asks for no grant", swept=False),
    again("silent", "no byte of output is a complete publication", swept=False),
    again("refused-shape", "a refused batch asks for no grant", swept=False),
    Row(
        "published-mixed",
        "a file tool in the same batch has neither grant nor receipt",
        published(alone("published-mixed", calls(WROTE, quick("call-3", "make"), SEEN), DONE)),
        Promise(("completed",), 1, 3, 2, 1),
        "behaviour §2.2, §2.3",
    ),
    Row(
        "published-cancelled-reserved",
        "cancelled before its start: the ledger's proof closes the grant, and nothing is acknowledged",
        published(
            alone("published-cancelled-reserved", calls(quick("call-1", "make")), DONE, cancel=RESERVED)
        ),
        Promise(("cancelled",), 0, 0, 1, 0),
        "behaviour §2.2; 003 Lifecycle and failure handling",
        uncancelled=completes(1, 2),
    ),
    Row(
        "published-cancelled-running",
        "cancelled while it runs: what it wrote is finished and admitted",
        published(
            alone(
                "published-cancelled-running",
                calls(quick("call-1", "long")),
                DONE,
                programs=(base.LONG,),
                cancel=RUNNING,
            )
        ),
        Promise(("cancelled",), 1, 1, 1, 1),
        "behaviour §2.10",
        uncancelled=completes(1, 2),
    ),
    Row(
        "published-slow",
        "a command that outlives a writer lease goes on publishing, for its grant is renewed",
        published(alone("published-slow", calls(shell("call-1", "slow")), DONE, programs=(base.SLOW,))),
        completes(1, 2),
        "behaviour §1.13",
        ("RC-42",),
        swept=False,
    ),
    Row(
        "published-late-renewal",
        "a renewal whose reply is lost is not repeated: nothing of it is sent behind the settlement of its turn",
        published(
            alone("published-late-renewal", calls(shell("call-1", "slow")), DONE, programs=(base.SLOW,))
        ),
        completes(1, 2),
        "behaviour §1.13",
        ("RC-42",),
        faults=("journal:a:call:RenewGrants#7=reply-lost",),
    ),
    Row(
        "published-slow-again",
        "a grant that is asked for when the timer of an earlier batch has ended is renewed too",
        published(
            alone(
                "published-slow-again",
                calls(quick("call-1", "make")),
                calls(shell("call-2", "slow")),
                DONE,
                programs=(base.SLOW,),
            )
        ),
        completes(2, 3),
        "behaviour §1.13",
        faults=("harness:a:call:Infer#2=delayed",),
        design=scaled(grant_renewal=1_000),
    ),
    Row(
        "published-segment-reply-lost",
        "a segment whose reply is lost is looked up under its name: it is there once",
        published(alone("published-segment-reply-lost", calls(quick("call-1", "make")), DONE)),
        completes(1, 2),
        "behaviour §1.13",
        ("RC-21",),
        faults=("worker:w:call:PublishPiece.content#1=reply-lost",),
    ),
    Row(
        "published-segment-lost",
        "a segment that never arrived is published again, under the same name and with the same bytes",
        published(alone("published-segment-lost", calls(quick("call-1", "make")), DONE)),
        completes(1, 2),
        "behaviour §1.13",
        ("RC-21",),
        faults=("worker:w:call:PublishPiece.content#1=request-lost",),
    ),
    Row(
        "published-object-refused",
        "an object store that refuses is not asked again: the capture fails, and the turn stops",
        published(alone("published-object-refused", calls(quick("call-1", "make")), DONE)),
        Promise(("recovery-blocked",), 1, 1, 1, 0, "held", "error"),
        "behaviour §3.1 O2 finish",
        ("RC-43",),
        faults=("publications:call:PutObject#1=refused!",),
    ),
    Row(
        "published-fenced",
        "an owner that is replaced while its command runs has its grant fenced: what comes late is published nowhere",
        published(alone("published-fenced", calls(quick("call-1", "long")), DONE, programs=(base.LONG,))),
        Promise(("recovery-blocked",), 1, 1, 1, 0, "held", "error"),
        "behaviour §1.13, §3.3",
        faults=("journal:a:call:RenewGrants#1=writer-replaced",),
        design=scaled(grant_renewal=1_000),
    ),
    Row(
        "published-beside-captured",
        "one Session publishes, another one captures by itself: neither knows of the other's way",
        Scenario(
            "published-beside-captured",
            (
                *published(alone("", calls(quick("call-1", "make")), DONE)).sessions,
                SessionPlan("b", "x", (Turn((calls(quick("call-2", "make")), DONE)),)),
            ),
        ),
        Promise(("completed", "completed"), 2, 2, 4, 2),
        "behaviour §1.2",
        swept=False,
    ),
    Row(
        "published-quota",
        "an exhausted quota is final: the capture is partial, and the turn stops",
        published(alone("published-quota", calls(quick("call-1", "loud")), DONE, programs=(LOUD,)), 100),
        Promise(("recovery-blocked",), 1, 1, 1, 0, "held", "error"),
        "behaviour §1.13",
        swept=False,
    ),
    Row(
        "published-no-room",
        "no place is promised twice: a grant without capacity is refused, nothing starts, and the turn stops",
        published(alone("published-no-room", calls(quick("call-1", "make")), DONE)),
        Promise(("recovery-blocked",), 0, 0, 1, 0, "held", "error"),
        "behaviour §3.1 grant reserve",
        swept=False,
        design=FULL,
    ),
)
