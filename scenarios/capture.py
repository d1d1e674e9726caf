"""Capture: whatever becomes of its producers, retained output reads afresh as it was written, or says what rotted."""

from __future__ import annotations

from scenarios.base import DONE, LONG, RUNNING, completes, quick
from scenarios.row import Promise, Row
from sim.design import SCALED, SEED, Design
from sim.protocol import STDERR, STDOUT
from sim.scenario import (
    Exit,
    Generate,
    Pass,
    Print,
    Program,
    Scenario,
    SessionPlan,
    Step,
    Touch,
    Turn,
    calls,
)

# --- commands ----------------------------------------------------------------------------------------------------


def command(name: str, *steps: Step) -> Program:
    """A command that changes one file and then does its steps."""
    return Program(name, (Touch("effects.log", name), *steps))


BOTH = command(
    "both", Print(STDOUT, b"standard output\n", 20), Print(STDERR, b"standard error\n", 12), Exit(0)
)
"""Enough of both streams for two pages of each."""
GRANDCHILD = command(
    "grandchild",
    Print(STDOUT, b"own line\n", 9),
    Print(STDERR, b"warning\n", 9),
    Exit(0),
    Pass(40),
    Print(STDOUT, b"late\n", 30),
    Print(STDERR, b"late\n", 30),
    Pass(180_000),
)
"""It writes into both pipes while they are finished, and holds them open for three minutes more."""
AT_EXIT = command(
    "at-exit", Print(STDOUT, b"x", 150), Print(STDERR, b"y", 150), Exit(3), Print(STDOUT, b"z", 150)
)
"""Both pipes are full when the process ends, and somebody goes on at once."""
CONTROL = command(
    "control", Print(STDOUT, b"\x00\x1b[2J\x07\r\x7f", 40), Print(STDERR, b"\x1b]0;\xff\x9b", 30)
)
"""Control characters and bytes that are no text at all."""
CUT = command(
    "cut",
    Print(STDOUT, b"!"),
    Print(STDOUT, "\N{GRINNING FACE}".encode(), 90),
    Print(STDERR, "€".encode(), 99),
)
"""Every segment, and the process buffer, begins and ends inside a character."""
WIDE = command(
    "wide",
    Generate(STDOUT, "wide", 300_000),
    Generate(STDERR, "err", 20_000),
    Print(STDOUT, b"failed\n"),
    Exit(1),
)
"""More than the process buffer of 64 KiB and less than a segment of 1 MiB."""
POUR = command("pour", Generate(STDOUT, "pour", 1_000), Exit(0))
"""Longer than what pipe, write and segment hold together, sixteen segments long."""
UNEVEN = command(
    "uneven", Print(STDOUT, b"head\n"), Generate(STDOUT, "uneven", 200), Print(STDOUT, b"tail\n"), Exit(0)
)
"""Plain bytes and generated ones in one segment."""
TALKING = command("talking", Print(STDOUT, b"x", 150), Pass(300_000), Print(STDOUT, b"y", 150))
"""It still talks when a new owner has opened the Session."""


def reread(name: str, *programs: Program, cancel: str = "") -> Scenario:
    """One call that runs the first of these commands, and a fresh reader at the end."""
    answers = (calls(quick("call-1", programs[0].command if programs else "make")), DONE)
    session = SessionPlan("a", "w", (Turn(answers, cancel=cancel),))
    return Scenario(name, (session,), programs, reread=True)


STUCK = Promise(("recovery-blocked",), 1, 1, 1, 0, "held", "error")
"""Recovery blocked with the Workspace held, and no request to the model behind it."""


def kept(
    name: str,
    why: str,
    promise: Promise,
    scenario: Scenario,
    *faults: str,
    cites: str = "003 Durable output storage",
    design: Design = SCALED,
    cases: tuple[str, ...] = (),
) -> Row:
    """A row of its own faults, or of none, on which no other fault is struck."""
    return Row(name, why, scenario, promise, cites, cases, faults, swept=False, design=design)


# --- places ------------------------------------------------------------------------------------------------------

LOST_WRITE = "worker:w:call:WriteOutput.stderr#1=reply-lost"
"""Standard error is lost in doubt, and standard output is whole: a partial capture with a blocked receipt."""
PUBLISHED = "journal:a:call:Publish.content#2"
ROTS = "altered-at-rest"

ROWS = (
    Row(
        "reread-complete",
        "after a good turn and the death of its producers both streams verify from the receipt down",
        reread("reread-complete", BOTH),
        completes(1, 2),
        "003 Durable output storage",
    ),
    Row(
        "reread-cancelled",
        "what a cancelled command had written is admitted, and verifies afresh",
        reread("reread-cancelled", LONG, cancel=RUNNING),
        Promise(("cancelled",), 1, 1, 1, 1),
        "003 Lifecycle and failure handling",
        uncancelled=completes(1, 2),
    ),
    kept(
        "reread-partial",
        "a blocked receipt names what a partial capture kept, and that verifies afresh",
        STUCK,
        reread("reread-partial", BOTH),
        LOST_WRITE,
    ),
    kept(
        "reread-owner-killed",
        "the owner dies in the middle: what it published is kept, abandoned, and never shown to the model",
        STUCK,
        reread("reread-owner-killed", BOTH),
        f"{PUBLISHED}=crash-after",
    ),
    kept(
        "reread-worker-killed",
        "the worker dies in the middle: what the owner published is kept, and abandoned",
        STUCK,
        reread("reread-worker-killed", BOTH),
        "worker:w:call:WriteOutput.stdout#6=crash-after",
    ),
    kept(
        "reread-unadmitted",
        "everything is published down to the manifest, and the receipt is not: all of it is abandoned",
        STUCK,
        reread("reread-unadmitted", BOTH),
        "store:commit:ToolReceipt#1=commit-failed!",
    ),
    kept(
        "reread-owner-killed-behind-the-receipt",
        "the owner dies with the receipt durable and untold: the output is admitted, and verifies afresh",
        STUCK,
        reread("reread-owner-killed-behind-the-receipt", BOTH),
        "journal:a:call:Transact.ToolReceipt#1=crash-waiting",
    ),
    kept(
        "cursors-are-not-resumed",
        "a command still talks when a new owner has the Session: nothing of it is taken up again",
        STUCK,
        reread("cursors-are-not-resumed", TALKING),
        f"{PUBLISHED}=crash-after",
    ),
    # --- bytes that changed at rest
    kept(
        "rotten-seal",
        "a seal that rots behind its back costs the turn nothing, and only a fresh reader finds it",
        completes(1, 2),
        reread("rotten-seal", BOTH),
        f"store:commit:Output.seal#1={ROTS}",
    ),
    kept(
        "rotten-segment",
        "a segment of a blocked receipt rots: the reader says that, and which output it was",
        STUCK,
        reread("rotten-segment", BOTH),
        LOST_WRITE,
        f"store:commit:Output.content#1={ROTS}",
    ),
    kept(
        "rotten-page",
        "a page of a blocked receipt rots: the reader finds no way to its segments, and says so",
        STUCK,
        reread("rotten-page", BOTH),
        LOST_WRITE,
        f"store:commit:Output.page#1={ROTS}",
    ),
    kept(
        "rotten-manifest",
        "the manifest of a blocked receipt rots: the reader finds no way in, and says so",
        STUCK,
        reread("rotten-manifest", BOTH),
        LOST_WRITE,
        f"store:commit:Output.manifest#1={ROTS}",
    ),
    kept(
        "rotten-before-the-receipt",
        "a segment that rots before its admission is never admitted: it is abandoned with all the rest",
        STUCK,
        reread("rotten-before-the-receipt", BOTH),
        f"store:commit:Output.content#1={ROTS}",
    ),
    # --- a slow Store
    kept(
        "slow-sink",
        "the Store takes five seconds for a segment: the process waits, and the owner's buffer stays bounded",
        completes(1, 2),
        reread("slow-sink", POUR),
        "journal:a:call:Publish.content#1=delayed",
        "journal:a:call:Publish.content#2=delayed",
        "journal:a:call:Publish.content#9=delayed",
        cites="003 Ownership and transport",
    ),
    kept(
        "same-bytes-again",
        "a publication that arrives twice is one resource: the same bytes under one id are welcome",
        completes(1, 2),
        reread("same-bytes-again", BOTH),
        f"{PUBLISHED}=duplicated",
    ),
    kept(
        "changed-on-the-way",
        "bytes that change on their way into the Store are no publication: the capture fails, the turn stops",
        STUCK,
        reread("changed-on-the-way", BOTH),
        f"{PUBLISHED}=request-altered",
    ),
    # --- around the exit
    kept(
        "grandchild",
        "a grandchild writes into finished pipes and holds them open: its bytes are dropped, the turn goes on",
        completes(1, 2),
        reread("grandchild", GRANDCHILD),
        cites="003 Ownership and transport",
        cases=("RC-29",),
    ),
    kept(
        "output-at-exit",
        "both pipes are full when the process ends: every byte of its own is captured",
        completes(1, 2),
        reread("output-at-exit", AT_EXIT),
        cites="003 Ownership and transport",
    ),
    # --- what the bytes are
    kept(
        "control-characters",
        "control characters and ill-formed bytes are captured as they are",
        completes(1, 2),
        reread("control-characters", CONTROL),
        cites="003 Ownership and transport",
        cases=("RC-36",),
    ),
    kept(
        "cut-characters",
        "segments and process buffer are cut inside characters: the capture is exact, the preview is whole text",
        completes(1, 2),
        reread("cut-characters", CUT),
        cites="003 Ownership and transport",
        cases=("RC-34",),
    ),
    kept(
        "mixed-segment",
        "plain and generated bytes stand in one segment",
        completes(1, 2),
        reread("mixed-segment", UNEVEN),
    ),
    kept(
        "wide-buffer",
        "with the real limits the preview ends as the last 64 KiB do, and the capture has everything",
        completes(1, 2),
        reread("wide-buffer", WIDE),
        design=SEED,
        cites="003 Ownership and transport",
        cases=("RC-32",),
    ),
)
"""In the order in which a capture lives: read afresh, rotten, slow, around the exit, and what its bytes are."""
