"""The loss table: for each step and fate, how the turn ends and who holds the Workspace.

Written by hand from behaviour §3.1 and §3.2, the seeds first. Too little blocking fails like too much. A step is
found by the first pattern that fits ``actor:door:label`` with the Session's name left out, and, where the step depends
on what it is done for, by the requests that caused it (``for_``).

Cells:

* ``holds``: the row's promise, as if nothing had happened;
* ``refused``: one call fails definitely, the model is told so, its siblings run;
* ``plain``: the turn ends as an error, settled, and the lease is given back;
* ``while open``: ``blocked held`` while an execution is open at worker and publisher, else ``holds``;
* ``when awaited``: ``plain`` if the turn waits for the runtime to acquire it, else ``holds``: nobody asked how it went;
* ``when captured``: ``blocked held`` if the execution concerned is a Shell's, else ``holds``: a file tool waits for no
  owner;
* ``when dispatched``: ``blocked held`` if the execution concerned is ever sent to a worker, or a grant is asked for it,
  else ``holds``;
* ``unless halted``: ``holds``, but ``blocked held`` if the worker was asked to stop and nobody learned that it heard;
* ``unless overtaken``: ``holds``, but ``blocked kept`` if a publication met the expired lease before its renewal did;
* ``unless renewed``: ``blocked kept``, but ``holds`` if a renewal for the other stream met the expired lease first;
* ``uncancelled``: the cancellation never arrived: the row's promise without it;
* ``blocked``: recovery blocked in place, and a cold load refuses the turn, twice;
* ``settled``: recovery blocked in place, though the turn is durably settled: a cold load opens the Session;
* ``died``: the owner is dead, and a cold load refuses the turn, twice;
* ``reopens``: nothing of the turn was begun, or all of it is settled: a cold load opens the Session, and the prompt
  completes.

A pause outlasts the writer lease, and with it every grant (behaviour §1.13). Where ``holds`` stands for a pause and
output meets a grant that has run out, ``blocked held`` is meant.

Behind ``blocked`` and ``died`` stands the lease: ``held``, ``free``, or ``kept`` (as it was when the fault struck).
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

import msgspec

from sim.points import Fate, Point

GROUPS: Mapping[str, tuple[str, ...]] = {
    "lost": ("request-lost", "error-before"),
    "unanswered": ("reply-lost", "reply-late", "reply-truncated", "error-after", "reply-crossed"),
    "harmless": ("duplicated", "delayed"),
    "crash": ("crash-before", "crash-waiting", "crash-after"),
    "replaced": ("writer-replaced", "activation-replaced"),
    "doubtful": ("commit-failed", "unknown-applied", "unknown-not-applied"),
    "unwritten": ("commit-failed", "unknown-not-applied"),
}
"""Fates that often share their cell, by one word; ``!`` behind a word means the sticky forms."""


ONCE = "reply-crossed"
"""The one fate of these groups without a sticky form."""


class Step(msgspec.Struct, frozen=True):
    """One step of the turn, and its cells: each with the fates that lead there."""

    place: str
    cites: str
    cells: Mapping[str, str]
    for_: str = "*"

    def fits(self, point: Point) -> bool:
        """Whether this point is such a step."""
        kind = point.actor.partition(":")[0]
        place = f"{kind}:{point.door}:{point.label}"
        return fnmatchcase(place, self.place) and fnmatchcase(point.parent, self.for_)

    def cell(self, fate: Fate) -> str:
        """The cell of this fate; empty when the table has none."""
        return next((cell for cell, words in self.cells.items() if str(fate) in fates(words)), "")


def fates(words: str) -> set[str]:
    """The fates that a cell's words stand for."""
    named: set[str] = set()
    for word in words.split():
        if word.endswith("!"):
            named |= {f"{fate}!" for fate in GROUPS.get(word[:-1], (word[:-1],)) if fate != ONCE}
        else:
            named |= set(GROUPS.get(word, (word,)))
    return named


def expected(point: Point, fate: Fate) -> str:
    """The cell for a fate at a point; empty when the table has none."""
    step = next((step for step in STEPS if step.fits(point)), None)
    return step.cell(fate) if step is not None else ""


ANY_LOSS = "lost lost! unanswered unanswered! delivered-late refused refused!"
"""Every way in which a call can fail that is never sent again."""

COMMITTED = {
    "holds": "lost unanswered delivered-late harmless paused",
    "blocked kept": "lost! unanswered! refused refused! writer-expired replaced",
    "died kept": "crash",
}
"""A journal commit inside a turn: three identical sends, then the writes stop."""

STORED = {
    "holds": "doubtful paused",
    "blocked kept": "doubtful! crash",
}
"""The Store's own commit behind it: the owner's three sends are over before a dead Store is up again."""

LEDGER = {"blocked kept": "doubtful doubtful! crash paused"}
"""A commit of the broker that nobody repeats."""

PUBLISHED = {
    "holds": "harmless",
    "blocked kept": f"{ANY_LOSS} request-altered replaced paused",
    "unless renewed": "writer-expired",
    "died kept": "crash",
}
"""A publication of output is sent once; whatever is not confirmed fails the capture."""

LOCAL = {"holds": "paused", "died kept": "crash"}
"""A call within the owner's process can only be cut by its end."""

CAPTURING = {"blocked kept": "paused", "died kept": "crash"}
"""The same while a worker waits for the owner: a pause outlasts its patience."""

LEASED = {
    "died kept": "crash",
    "blocked kept": "paused writer-expired replaced root-moved",
}
"""A local commit or publication: a pause outlasts the writer lease, and a moved root is met by the next guard."""

ON_DISK = {"holds": "doubtful paused", "blocked kept": "doubtful!", "died kept": "crash"}
"""A commit of the store in a local Session's own process: what was given to the disk is written during a pause."""

AT_HOME = (
    # --- a local Session: one process, no lease of a Workspace, nothing that could get lost between its parts
    Step("local:call:OpenJournal", "003 Lifecycle", {"holds": "paused", "reopens": "crash"}),
    Step(
        "local:call:Append.InputAccepted+WakeRequested",
        "behaviour §3.1 prompt admission",
        {"holds": "paused", "reopens": "crash-before crash-waiting", "died kept": "crash-after"},
    ),
    Step(
        "local:call:Infer",
        "behaviour §3.1 model stream",
        {"holds": "harmless paused", "plain": ANY_LOSS, "died kept": "crash"},
    ),
    Step(
        "local:call:PublishOutput.*",
        "003 Ownership and transport, table: unexpired lease",
        {"blocked kept": "paused", "died kept": "crash"},
    ),
    Step(
        "local:call:Append.TurnSettled+Checkpoint.turn_settled",
        "behaviour §3.1 turn.settled",
        {"holds": "paused", "died kept": "crash-before crash-waiting", "reopens": "crash-after"},
    ),
    Step("local:call:*", "003 Identity: new activations refuse unresolved old turns", LOCAL),
    Step(
        "local:act:Spawn",
        "003 Lifecycle",
        {"holds": "paused", "refused": "act-failed act-failed!", "died kept": "crash"},
    ),
    Step(
        "local:act:*",
        "003 Identity: new activations refuse unresolved old turns",
        {"holds": "act-failed act-failed!", "unless overtaken": "paused", "died kept": "act-half crash"},
    ),
    Step(
        "local-journal:call:AcquireWriter",
        "behaviour §1.11",
        {
            "holds": "writer-expired activation-replaced paused",
            "reopens": "crash writer-replaced",
            "plain": "root-moved",
        },
    ),
    Step(
        "local-journal:call:ReadJournal",
        "behaviour §1.11",
        {
            "holds": "activation-replaced",
            "reopens": "crash paused writer-expired writer-replaced",
            "plain": "root-moved",
        },
        "*LoadSession#*",
    ),
    Step(
        "local-journal:call:Transact.ActivationChanged",
        "behaviour §1.11",
        {"reopens": "crash paused writer-expired replaced", "plain": "root-moved"},
    ),
    Step(
        "local-journal:call:Transact.InputAccepted+WakeRequested",
        "behaviour §3.1 prompt admission: the client sends it again",
        {
            "holds": "paused",
            "reopens": "crash-before crash-waiting writer-expired replaced",
            "plain": "root-moved",
            "died kept": "crash-after",
        },
    ),
    Step(
        "local-journal:call:Transact.UserMessage+Checkpoint.before_model",
        "003 Identity: the root guard, before anything of a batch is written",
        {"plain": "root-moved", "blocked kept": "paused writer-expired replaced", "died kept": "crash"},
    ),
    Step(
        "local-journal:call:RenewWriter",
        "behaviour §1.11: the lease of an owner whose turns are over",
        {"holds": "paused writer-expired replaced root-moved", "reopens": "crash"},
        "*/LoadSession#*",
    ),
    Step(
        "local-journal:call:RenewWriter",
        "003 Identity: both guards, before anything of a batch is written",
        {
            "holds": "paused writer-expired",
            "plain": "root-moved",
            "blocked kept": "replaced",
            "died kept": "crash",
        },
        "*/take_turn#1/CheckWriter#1",
    ),
    Step(
        "local-journal:call:Re*",
        "003 Identity: both guards, after each asynchronous read",
        {
            "holds": "paused writer-expired",
            "blocked kept": "replaced root-moved",
            "died kept": "crash",
        },
    ),
    Step(
        "local-journal:call:Stage",
        "003 Identity: the outcome is staged last, and its commit asserts the activation by a renewal",
        {
            "holds": "paused writer-expired",
            "blocked kept": "replaced root-moved",
            "died kept": "crash",
        },
        "*/StageResource#4",
    ),
    Step(
        "local-journal:call:Stage",
        "behaviour §3.1 args publish",
        {
            "holds": "paused",
            "blocked kept": "writer-expired replaced root-moved",
            "died kept": "crash",
        },
    ),
    Step(
        "local-journal:call:Transact.TurnSettled+Checkpoint.turn_settled",
        "behaviour §3.1 turn.settled",
        {
            "holds": "paused root-moved",
            "blocked kept": "writer-expired replaced",
            "died kept": "crash-before crash-waiting",
            "reopens": "crash-after",
        },
    ),
    Step(
        "local-journal:call:Transact.*",
        "003 Identity: the guards are for tools, and the results of all are recorded",
        {"holds": "root-moved", "blocked kept": "paused writer-expired replaced", "died kept": "crash"},
        "*/Append.ToolResult#*",
    ),
    Step(
        "local-journal:call:Transact.*",
        "003 Identity: the guards are for tools, and the results of all are consumed",
        {"holds": "root-moved", "blocked kept": "paused writer-expired replaced", "died kept": "crash"},
        "*/Append.Checkpoint.before_model#*",
    ),
    Step(
        "local-journal:call:Transact.*",
        "003 Identity: the guards are for tools, and the model has answered with text",
        {"holds": "root-moved", "blocked kept": "paused writer-expired replaced", "died kept": "crash"},
        "*/Append.Assistant#2/*",
    ),
    Step("local-journal:call:Transact.*", "003 Identity: both guards, before each step", LEASED),
    Step("local-journal:call:Publish.*", "003 Ownership and transport, table: unexpired lease", LEASED),
    Step("local-store:commit:TakeWriter", "behaviour §1.11", {"reopens": "doubtful doubtful! crash paused"}),
    Step(
        "local-store:commit:ActivationChanged",
        "behaviour §1.11",
        {"holds": "doubtful", "reopens": "doubtful! crash paused"},
    ),
    Step(
        "local-store:commit:InputAccepted+WakeRequested",
        "behaviour §3.1 prompt admission",
        {
            "holds": "doubtful paused",
            "reopens": "unwritten! crash-before",
            "blocked kept": "unknown-applied!",
            "died kept": "crash-waiting crash-after",
        },
    ),
    Step(
        "local-store:commit:ExtendWriter",
        "behaviour §1.11: the lease of an owner whose turns are over",
        {"holds": "doubtful doubtful! paused", "reopens": "crash"},
        "*/LoadSession#*",
    ),
    Step(
        "local-store:commit:ExtendWriter",
        "003 Identity: the lease guard, before anything of a batch is written",
        {"holds": "doubtful paused", "plain": "doubtful!", "died kept": "crash"},
        "*/take_turn#1/CheckWriter#1/*",
    ),
    Step(
        "local-store:commit:ToolIntent",
        "003 Identity: the owner verifies the mapping before the first side effect",
        {"holds": "doubtful paused", "blocked kept": "doubtful! altered-at-rest", "died kept": "crash"},
    ),
    Step(
        "local-store:commit:Output.seal",
        "003 Durable output storage",
        {"holds": "altered-at-rest paused", "blocked kept": "doubtful doubtful!", "died kept": "crash"},
    ),
    Step(
        "local-store:commit:Output.*",
        "003 Durable output storage",
        {"holds": "paused", "blocked kept": "doubtful doubtful! altered-at-rest", "died kept": "crash"},
    ),
    Step(
        "local-store:commit:ToolReceipt+*",
        "003 Identity: lost receipt replies may replay the identical candidate",
        {"holds": "doubtful paused altered-at-rest", "blocked kept": "doubtful!", "died kept": "crash"},
    ),
    Step(
        "local-store:commit:TurnSettled+Checkpoint.turn_settled",
        "behaviour §3.1 turn.settled",
        {
            "holds": "doubtful paused",
            "blocked kept": "unwritten!",
            "settled": "unknown-applied!",
            "died kept": "crash-before",
            "reopens": "crash-waiting crash-after",
        },
    ),
    Step("local-store:commit:*", "behaviour §3.1", ON_DISK),
)
"""The steps of a Session that is led locally."""

RECOVERED = "lost unanswered unanswered! delivered-late harmless paused"
"""Losses after which an operation is looked up under its name, and asked for again when it did not happen."""

AGAIN = "lost unanswered delivered-late harmless"
"""Losses after which the Session authority asks a publication service again, three times in all."""

SIGNED = {
    "holds": f"{AGAIN} paused",
    "blocked kept": "lost! unanswered! refused refused! writer-expired replaced",
    "died kept": "crash",
}
"""A request that carries the writer's token, in the Session's name."""

EXPIRED = {"blocked kept": "paused", "died kept": "crash"}
"""A pause before such a request outlasts the writer lease, which nobody has renewed when it is sent."""

REMOTE = (
    # --- output that is published to the object store
    Step(
        "harness:call:Prepare.published",
        "behaviour §3.1 prepareV3 (O2): never replayed",
        {
            "holds": "harmless paused",
            "refused": "refused refused!",
            "blocked kept": "lost lost! unanswered unanswered! delivered-late",
            "died kept": "crash",
        },
    ),
    Step("harness:call:AsWriter.ReserveGrant", "behaviour §1.13: an expired grant is none", EXPIRED),
    Step("harness:call:AsWriter.PrepareAdmission", "behaviour §1.11: unexpired lease", EXPIRED),
    Step("harness:call:AsWriter.CloseNotStarted", "behaviour §1.11: unexpired lease", EXPIRED),
    Step(
        "journal:call:ReserveGrant",
        "behaviour §3.1 grant reserve (O2)",
        {
            "holds": f"{AGAIN} paused",
            "blocked kept": "lost! unanswered! refused refused! writer-expired replaced",
            "died kept": "crash",
        },
    ),
    Step("journal:call:CloseNotStarted", "behaviour §2.2, not started", SIGNED),
    Step(
        "journal:call:PrepareAdmission",
        "behaviour §3.1 admissions/prepare",
        {**SIGNED, "blocked kept": f"{SIGNED['blocked kept']} request-altered"},
    ),
    Step("journal:call:CommitReceipt", "behaviour §3.1 receipts/commit", SIGNED),
    Step(
        "journal:call:Read*",
        "behaviour §1.13: what is read may be readable, and the outcome behind it needs an unexpired lease",
        SIGNED,
        "*/AsWriter.*",
    ),
    Step(
        "harness:call:StartExecution.published",
        "behaviour §3.1 start (O2): sent again while the ledger proves that nothing was dispatched",
        {
            "holds": "lost unanswered unanswered! delivered-late harmless paused",
            "blocked kept": "lost! refused refused! request-altered",
            "died kept": "crash",
        },
    ),
    Step(
        "broker:call:InstallGrant",
        "behaviour §3.1 start (O2): nothing was claimed",
        {"holds": AGAIN, "blocked kept": "lost! unanswered! refused refused! crash paused"},
    ),
    Step(
        "broker:commit:ClaimDispatch",
        "behaviour §3.1 start (O2): what was not claimed is proved by a status",
        {
            "holds": "unwritten",
            "blocked kept": "unwritten! unknown-applied unknown-applied! crash paused",
        },
        "*/StartExecution.published#*",
    ),
    Step(
        "worker:call:PublishPiece.*",
        "behaviour §1.13: an operation is recovered three times",
        {
            "holds": RECOVERED,
            "blocked kept": "lost! refused refused! request-altered crash capability-expired",
        },
    ),
    Step(
        "worker:call:FinishPublication",
        "behaviour §3.1 O2 finish",
        {"holds": RECOVERED, "blocked kept": "lost! refused refused! crash capability-expired"},
    ),
    Step(
        "publications:call:PutObject",
        "behaviour §3.2 O2 object store",
        {"holds": f"{RECOVERED} crash", "blocked kept": "lost! refused refused! request-altered"},
    ),
    Step(
        "publications:call:GetObject",
        "003 Identity: full output is re-read",
        {"holds": f"{AGAIN} paused", "blocked kept": "lost! unanswered! refused refused! crash"},
    ),
    Step(
        "publications:commit:EndOperation",
        "behaviour §1.13",
        {"holds": "doubtful unknown-applied! crash paused", "blocked kept": "unwritten!"},
    ),
    Step(
        "publications:commit:*Operation*",
        "behaviour §1.13: what was left half-way is recovered, by the next life too",
        {"holds": "doubtful crash paused", "blocked kept": "doubtful!"},
    ),
    Step(
        "publications:commit:ToolReceipt",
        "behaviour §3.1 receipts/commit",
        {"holds": "doubtful paused altered-at-rest", "blocked kept": "doubtful! crash"},
    ),
    Step(
        "publications:commit:*",
        "behaviour §3.1: three sends outlast a pause, and are over before a dead service is up again",
        {"holds": "doubtful paused", "blocked kept": "doubtful! crash"},
    ),
    Step(
        "objects:commit:KeepObject.seal",
        "003 Durable output storage: a seal is what the receipt says, and is not read for it",
        {"holds": "doubtful unknown-applied! paused altered-at-rest", "blocked kept": "unwritten! crash"},
    ),
    Step(
        "objects:commit:*",
        "behaviour §3.2 O2 object store: recovered three times, before a dead one is up again",
        {"holds": "doubtful unknown-applied! paused", "blocked kept": "unwritten! altered-at-rest crash"},
    ),
    Step(
        "harness:call:Acknowledge.published",
        "behaviour §3.1 ACK (O2), D15: never replayed, and its failure blocks by the seed",
        {"holds": "harmless paused", "blocked kept": ANY_LOSS, "died kept": "crash"},
    ),
    Step(
        "broker:call:Confirm",
        "behaviour §3.1 ACK (O2), D15",
        {"holds": "harmless", "blocked kept": f"{ANY_LOSS} crash paused"},
        "*/Acknowledge.published#*",
    ),
)
"""The steps of a Session whose output is published."""

STEPS = (
    *AT_HOME,
    *REMOTE,
    # --- opening a Session, admitting a prompt
    Step("harness:call:OpenJournal", "003 Lifecycle", {"holds": "paused", "reopens": "crash"}),
    Step(
        "journal:call:AcquireWriter",
        "behaviour §1.11",
        {
            "holds": "harmless writer-expired activation-replaced",
            "reopens": f"{ANY_LOSS} crash paused writer-replaced",
        },
    ),
    Step(
        "store:commit:TakeWriter",
        "behaviour §1.11",
        {"reopens": "doubtful doubtful! crash paused"},
    ),
    Step(
        "journal:call:ReadJournal",
        "behaviour §1.11",
        {
            "holds": "lost unanswered delivered-late harmless activation-replaced",
            "reopens": "lost! unanswered! refused refused! crash paused writer-expired writer-replaced",
        },
        "*LoadSession#*",
    ),
    Step(
        "journal:call:Transact.ActivationChanged",
        "behaviour §1.11",
        {
            "holds": "lost unanswered delivered-late harmless",
            "reopens": "lost! unanswered! refused refused! crash paused writer-expired replaced",
        },
    ),
    Step(
        "store:commit:ActivationChanged",
        "behaviour §1.11",
        {"holds": "doubtful", "reopens": "doubtful! crash paused"},
    ),
    Step(
        "client:call:Prompt",
        "behaviour §3.1 prompt admission",
        {"holds": "lost unanswered delivered-late harmless", "reopens": "lost! unanswered! refused refused!"},
    ),
    Step(
        "harness:call:Append.InputAccepted+WakeRequested",
        "behaviour §3.1 prompt admission",
        {"holds": "paused", "reopens": "crash-before crash-waiting", "died kept": "crash-after"},
    ),
    Step(
        "journal:call:Transact.InputAccepted+WakeRequested",
        "behaviour §3.1 prompt admission",
        {
            "holds": "lost unanswered delivered-late harmless paused",
            "reopens": "lost! refused refused! crash-before writer-expired replaced",
            "blocked kept": "unanswered!",
            "died kept": "crash-waiting crash-after",
        },
    ),
    Step(
        "store:commit:InputAccepted+WakeRequested",
        "behaviour §3.1 prompt admission",
        {
            "holds": "doubtful paused",
            "reopens": "unwritten! crash-before",
            "blocked kept": "unknown-applied! crash-waiting crash-after",
        },
    ),
    # --- warming and inference: no side effect of a tool is open
    Step(
        "harness:call:Warm",
        "behaviour §3.1 warm",
        {"holds": "harmless paused", "when awaited": ANY_LOSS, "died kept": "crash"},
    ),
    Step(
        "broker:call:Activate",
        "behaviour §3.1 warm",
        {"holds": "harmless", "when awaited": f"{ANY_LOSS} crash paused"},
        "*/Warm#*",
    ),
    Step(
        "broker:commit:BindRuntime",
        "behaviour §3.1 warm",
        {"when awaited": "doubtful doubtful! crash paused"},
    ),
    Step(
        "harness:call:Infer",
        "behaviour §3.1 model stream",
        {"holds": "harmless paused", "plain": ANY_LOSS, "died kept": "crash"},
    ),
    # --- acquire and register
    Step(
        "harness:call:Acquire",
        "behaviour §3.1 acquire",
        {
            "holds": "harmless paused",
            "plain": "refused refused!",
            "blocked kept": "lost lost!",
            "blocked held": "unanswered unanswered! delivered-late",
            "died kept": "crash-before",
            "died held": "crash-waiting crash-after",
        },
    ),
    Step(
        "broker:commit:ClaimWorkspace",
        "behaviour §3.1 acquire",
        {
            "blocked kept": "unwritten unwritten! crash-before",
            "blocked held": "unknown-applied unknown-applied! crash-waiting crash-after paused",
        },
    ),
    Step(
        "broker:call:Activate",
        "behaviour §3.1 acquire",
        {"holds": "harmless", "blocked held": f"{ANY_LOSS} crash paused"},
        "*/Acquire#*",
    ),
    Step("broker:commit:Ready", "behaviour §3.1 acquire", LEDGER),
    Step("harness:call:OpenPublisher", "behaviour §3.1 registerPublisher", LOCAL),
    Step(
        "harness:call:RegisterPublisher",
        "behaviour §3.1 registerPublisher",
        {"holds": "harmless paused", "blocked kept": ANY_LOSS, "died kept": "crash"},
    ),
    Step(
        "broker:call:InstallPublisher",
        "behaviour §3.1 registerPublisher",
        {"holds": "harmless", "blocked kept": f"{ANY_LOSS} crash paused"},
    ),
    # --- reservation and start
    Step(
        "journal:call:Stage",
        "behaviour §3.1 args publish",
        {
            "holds": "harmless writer-expired",
            "blocked kept": f"{ANY_LOSS} request-altered replaced paused",
            "died kept": "crash",
        },
        "*/AcceptCapture#*",
    ),
    Step(
        "journal:call:Stage",
        "behaviour §3.1 args publish",
        {
            "holds": "harmless paused",
            "blocked kept": f"{ANY_LOSS} request-altered writer-expired replaced",
            "died kept": "crash",
        },
    ),
    Step(
        "harness:call:Prepare",
        "behaviour §3.1 prepare (local), §3.5",
        {
            "holds": "request-lost reply-lost reply-late reply-truncated reply-crossed delivered-late harmless paused",
            "refused": "refused refused!",
            "blocked kept": "error-before error-after lost! unanswered!",
            "died kept": "crash",
        },
    ),
    Step("broker:commit:Reserve", "behaviour §3.1 prepare (local)", LEDGER),
    Step(
        "harness:call:StartExecution",
        "behaviour §3.1 start (local)",
        {
            "holds": "unanswered unanswered! delivered-late harmless",
            "when captured": "paused",
            "blocked kept": "lost lost! refused refused! request-altered",
            "died kept": "crash",
        },
    ),
    Step("broker:commit:ClaimDispatch", "behaviour §3.1 start (local)", LEDGER),
    Step("broker:commit:MarkExecuting", "behaviour §3.1 start (local)", LEDGER),
    Step(
        "broker:call:Execute",
        "003 Identity: bounded status reconciliation",
        {
            "holds": "unanswered unanswered! harmless",
            "blocked kept": "lost lost! delivered-late refused refused! request-altered crash paused",
        },
    ),
    Step(
        "broker:call:ExecuteFileTool",
        "003 Problem and scope: no recovery of uncertain executions; by v2 nothing is observed",
        {"holds": "harmless", "blocked kept": f"{ANY_LOSS} request-altered crash paused"},
    ),
    Step(
        "worker:act:*",
        "behaviour §2.3: what a file tool cannot do is its answer",
        {"holds": "act-failed act-failed!", "blocked kept": "act-half crash paused"},
        "*/ExecuteFileTool#*",
    ),
    # --- observation
    Step(
        "harness:call:Status",
        "behaviour §3.1 status poll",
        {"holds": "harmless", "blocked kept": ANY_LOSS, "died kept": "crash", "while open": "paused"},
    ),
    Step(
        "broker:call:Observe",
        "003 Identity: bounded status reconciliation",
        {
            "holds": "lost unanswered delivered-late harmless",
            "blocked kept": "lost! unanswered! refused refused! crash paused",
        },
    ),
    Step(
        "broker:commit:Settle",
        "behaviour §1.10",
        {
            "holds": "unknown-applied unknown-applied!",
            "blocked kept": "unwritten unwritten! crash paused",
        },
    ),
    # --- the command and its output
    Step(
        "worker:call:PreparePublication",
        "behaviour §3.1 W -> P prepare",
        {"holds": "harmless paused", "blocked kept": f"{ANY_LOSS} crash capability-expired"},
    ),
    Step(
        "worker:act:Spawn",
        "003 Lifecycle",
        {"unless halted": "paused", "refused": "act-failed act-failed!", "blocked kept": "crash"},
    ),
    Step(
        "worker:act:*",
        "behaviour §3.1 release: a detached child writes while the turn is over, and its worker must yet let go",
        {"holds": "act-failed act-failed!", "blocked kept": "crash paused"},
        "*/_linger#*",
    ),
    Step(
        "worker:act:*",
        "behaviour §3.2 Worker",
        {"holds": "act-failed act-failed!", "unless halted": "paused", "blocked kept": "act-half crash"},
    ),
    Step(
        "worker:call:WriteOutput.*",
        "003 Ownership and transport: lost raw-write replies are not retried",
        {
            "holds": "delayed",
            "unless halted": "paused",
            "blocked kept": f"{ANY_LOSS} duplicated crash capability-expired",
        },
    ),
    Step(
        "worker:call:*",
        "behaviour §3.1 finish, finalize, accept",
        {
            "holds": "harmless",
            "unless halted": "paused",
            "blocked kept": f"{ANY_LOSS} crash capability-expired",
        },
    ),
    # --- durable capture and admission
    Step("publisher:call:*", "behaviour §3.1 segment, page, seal, manifest", CAPTURING),
    Step("journal:call:Publish.*", "behaviour §3.1 segment, page, seal, manifest", PUBLISHED),
    Step(
        "store:commit:Output.seal",
        "003 Durable output storage",
        {"holds": "altered-at-rest", "blocked kept": "doubtful doubtful! crash paused"},
    ),
    Step(
        "store:commit:Output.*",
        "003 Durable output storage",
        {"blocked kept": "doubtful doubtful! altered-at-rest crash paused"},
    ),
    Step(
        "journal:call:Read*",
        "003 Identity: full output is re-read",
        {
            "holds": "lost unanswered delivered-late harmless writer-expired",
            "blocked kept": "lost! unanswered! refused refused! paused replaced",
            "died kept": "crash",
        },
    ),
    Step(
        "journal:call:RenewWriter",
        "behaviour §1.11: the lease of an owner whose turns are over",
        {"holds": f"{ANY_LOSS} harmless paused writer-expired replaced", "reopens": "crash"},
        "*/LoadSession#*",
    ),
    Step(
        "store:commit:ExtendWriter",
        "behaviour §1.11: the lease of an owner whose turns are over",
        {"holds": "doubtful doubtful! altered-at-rest crash paused"},
        "*/LoadSession#*",
    ),
    Step(
        "journal:call:RenewWriter",
        "003 Ownership and transport, table",
        {
            "holds": "lost unanswered delivered-late harmless",
            "unless overtaken": "writer-expired",
            "blocked kept": "lost! unanswered! refused refused! paused replaced",
            "died kept": "crash",
        },
    ),
    Step(
        "store:commit:ExtendWriter",
        "003 Ownership and transport, table",
        {"holds": "doubtful", "blocked kept": "doubtful! crash paused"},
    ),
    Step(
        "journal:call:Transact.ToolReceipt",
        "behaviour §3.1 accept / receipt commit: the worker gives up at 30 s",
        {
            "holds": "reply-truncated error-before error-after harmless reply-crossed",
            "blocked kept": "request-lost reply-lost reply-late delivered-late lost! unanswered! refused refused! "
            "writer-expired replaced paused",
            "died kept": "crash",
        },
        "*/AcceptCapture#*",
    ),
    Step(
        "store:commit:ToolReceipt",
        "behaviour §3.1 accept / receipt commit",
        {"holds": "doubtful altered-at-rest", "blocked kept": "doubtful! crash paused"},
        "*/AcceptCapture#*",
    ),
    # --- acknowledgement
    Step(
        "harness:call:Acknowledge",
        "behaviour §3.1 ACK, §3.5",
        {
            "holds": "request-lost reply-lost reply-late reply-truncated reply-crossed delivered-late harmless paused",
            "blocked kept": "error-before error-after lost! unanswered! refused refused!",
            "died kept": "crash",
        },
    ),
    Step(
        "broker:call:Confirm",
        "behaviour §3.1 ACK, §3.5: a 5xx is not replayed",
        {
            "holds": "request-lost reply-lost reply-late delivered-late harmless",
            "blocked kept": "reply-truncated error-before error-after lost! unanswered! refused refused! "
            "reply-crossed crash paused",
        },
    ),
    # --- cancellation
    Step(
        "harness:call:CancelExecution",
        "003 Lifecycle: unconfirmed cancellation",
        {"holds": "harmless", "while open": "paused", "blocked kept": ANY_LOSS, "died kept": "crash"},
    ),
    Step(
        "broker:call:Halt",
        "003 Lifecycle: unconfirmed cancellation",
        {"holds": "harmless", "blocked kept": f"{ANY_LOSS} crash paused"},
    ),
    Step(
        "client:call:CancelTurn",
        "003 Lifecycle",
        {
            "holds": "unanswered unanswered! duplicated",
            "uncancelled": "lost lost! delivered-late delayed refused refused!",
        },
    ),
    # --- release and settlement
    Step(
        "harness:call:Release",
        "behaviour §3.1 release",
        {
            "holds": "harmless paused",
            "blocked kept": "lost lost! refused refused!",
            "blocked free": "unanswered unanswered! delivered-late",
            "died kept": "crash-before",
            "died free": "crash-waiting crash-after",
        },
    ),
    Step(
        "broker:commit:BeginRelease",
        "behaviour §3.1 release",
        {"blocked kept": "doubtful doubtful! crash", "blocked free": "paused"},
    ),
    Step(
        "broker:call:Deactivate",
        "behaviour §3.1 release",
        {"holds": "harmless", "blocked kept": f"{ANY_LOSS} crash", "blocked free": "paused"},
    ),
    Step(
        "broker:commit:ClearLease",
        "behaviour §3.1 release",
        {
            "blocked kept": "unwritten unwritten! crash-before",
            "blocked free": "unknown-applied unknown-applied! crash-waiting crash-after paused",
        },
    ),
    Step(
        "harness:call:Append.TurnSettled+Checkpoint.turn_settled",
        "behaviour §3.1 turn.settled",
        {"holds": "paused", "died kept": "crash-before crash-waiting", "reopens": "crash-after"},
    ),
    Step(
        "journal:call:Transact.TurnSettled+Checkpoint.turn_settled",
        "behaviour §3.1 turn.settled",
        {
            "holds": "lost unanswered delivered-late refused harmless paused",
            "blocked kept": "lost! refused! writer-expired replaced",
            "settled": "unanswered!",
            "died kept": "crash-before",
            "reopens": "crash-waiting crash-after",
        },
    ),
    Step(
        "store:commit:TurnSettled+Checkpoint.turn_settled",
        "behaviour §3.1 turn.settled",
        {
            "holds": "doubtful paused",
            "blocked kept": "unwritten! crash-before",
            "settled": "unknown-applied! crash-waiting crash-after",
        },
    ),
    Step(
        "harness:call:ClosePublisher",
        "behaviour §3.1 publisher close",
        {"holds": "paused", "reopens": "crash"},
    ),
    # --- leaving a Session: nothing is open, and whoever comes next can at worst wait for the writer lease
    Step("client:call:DetachSession", "003 Lifecycle; behaviour §4", {"holds": f"{ANY_LOSS} harmless"}),
    Step("harness:call:StopPublisher", "003 Lifecycle; behaviour §4", {"holds": "paused crash"}),
    Step("harness:call:SealJournal", "003 Lifecycle; behaviour §4", {"holds": "paused crash"}),
    Step(
        "journal:call:SealWriter",
        "003 Lifecycle; behaviour §4, §1.11",
        {"holds": f"{ANY_LOSS} harmless paused crash writer-expired replaced"},
    ),
    Step("store:commit:SealLease", "behaviour §4, §1.11", {"holds": "doubtful doubtful! crash paused"}),
    # --- every other record of a turn, last because these patterns fit all
    Step("harness:call:*", "behaviour §3.1", LOCAL),
    Step("journal:call:Transact.*", "behaviour §3.1", COMMITTED),
    Step(
        "store:commit:ToolIntent",
        "003 Identity: the owner verifies the mapping before the first side effect",
        {"holds": "doubtful paused", "when dispatched": "altered-at-rest", "blocked kept": "doubtful! crash"},
    ),
    Step(
        "store:commit:ToolResult",
        "behaviour §2.3: nobody reads a file tool's outcome again",
        {**STORED, "holds": "doubtful altered-at-rest paused"},
    ),
    Step("store:commit:*", "behaviour §3.1", STORED),
    Step("broker:commit:*", "behaviour §1.10", LEDGER),
)
