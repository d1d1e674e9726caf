"""003 Lifecycle and failure handling."""

from __future__ import annotations

from scenarios.trace.sentence import Omission, Section, Witness, carried, not_simulable

LIFECYCLE = Section(
    "Lifecycle and failure handling",
    (
        carried(
            "003.146",
            "The runtime is warmed while the model is asked.",
            Witness("profile.warms", "never", "one-call", "promise"),
        ),
        carried(
            "003.147",
            "A turn of text alone asks for no publication, and holds nothing.",
            Witness("settlement.must_release", "always", "text-only", "released-before-settled"),
        ),
        carried(
            "003.148",
            "A turn of file tools alone asks for no publication either.",
            Witness("capture.needs_publisher", "always", "file-write", "listener-is-for-shell"),
        ),
        carried(
            "003.149",
            "Arguments that ask for the background are rejected.",
            Witness("admission.shape_error", "never", "refused-shape", "argument-bytes"),
        ),
        not_simulable(
            "003.150",
            "A command runs in the saved directory of its Workspace.",
            "A worker is built for one directory; no rule could choose another (`effects-under-the-lease` looks).",
        ),
        carried(
            "003.151",
            "Invalid arguments come back to the model as durable errors of their functions.",
            Witness("admission.refusals", "as successes", "refused-sibling", "refusals-say-why"),
            Witness("admission.refusals", "only the first", "refused-sibling", "paired-responses"),
        ),
        carried(
            "003.152",
            "Invalid arguments come back before anything is acquired or dispatched.",
            Witness("admission.shape_error", "never", "refused-shape", "argument-bytes"),
        ),
        carried(
            "003.153",
            "One invalid call refuses the entire batch.",
            Witness("admission.refuses_batch", "never", "refused-sibling", "argument-bytes"),
        ),
        carried(
            "003.154",
            "Each other call of the batch is told explicitly that it did not run.",
            Witness("admission.refusals", "without siblings", "refused-sibling", "paired-responses"),
            Witness("admission.refusals", "without text", "refused-sibling", "refusals-say-why"),
        ),
        carried(
            "003.155",
            "The model may correct the batch in the same turn.",
            Witness("settlement.may_infer", "never", "refused-shape", "promise"),
        ),
        carried(
            "003.156",
            "A refusal that cannot be made durable blocks for recovery.",
            Witness(
                "settlement.blocks",
                "never",
                "refused-sibling",
                "loss-table",
                "journal:a:call:Transact.ToolResult#1=refused",
            ),
            Witness(
                "settlement.blocks",
                "never",
                "refused-sibling",
                "loss-table",
                "journal:a:call:Transact.Assistant#1=refused",
            ),
        ),
        carried(
            "003.157",
            "Without its publisher, a command is rejected before it is spawned.",
            Witness("capture.may_spawn", "always", "rc-40-prepare", "capture-before-spawn"),
        ),
        carried(
            "003.158",
            "A failing publisher keeps ownership for recovery.",
            Witness("settlement.blocks", "never", "rc-40-prepare", "order"),
        ),
        carried(
            "003.159",
            "The loss of the writer keeps ownership for recovery.",
            Witness("settlement.blocks", "never", "replaced-owner", "promise"),
        ),
        carried(
            "003.160",
            "An unknown execution keeps ownership for recovery.",
            Witness("settlement.blocks", "never", "rc-17-suicide", "order"),
            Witness("lease.is_held", "with a clock", "rc-13-acquire", "lease-has-one-holder"),
        ),
        carried(
            "003.161",
            "A receipt that fails keeps ownership for recovery.",
            Witness("settlement.blocks", "never", "rc-18-receipt-lost", "order"),
        ),
        carried(
            "003.162",
            "A result that cannot be written into history keeps ownership for recovery.",
            Witness("settlement.blocks", "never", "rc-28-rejected", "order"),
        ),
        carried(
            "003.163",
            "An acknowledgement that fails keeps ownership for recovery.",
            Witness("settlement.blocks", "never", "rc-84-unacknowledged", "order"),
        ),
        carried(
            "003.164",
            "A cancellation that nobody confirms keeps ownership for recovery.",
            Witness("settlement.blocks", "never", "rc-13-cancel", "order"),
        ),
        carried(
            "003.165",
            "What is cancelled before its start stays not started, without a capture.",
            Witness("cancel.proves_not_started", "never", "cancel-before-start", "promise"),
            Witness("execution.never_sent", "never", "cancel-before-start", "promise"),
        ),
        carried(
            "003.166",
            "What is cancelled behind its start needs the physical outcome of its process.",
            Witness(
                "execution.next_state", "a cancelled run is settled", "cancel-running", "settled-is-terminal"
            ),
            Witness("capture.physical_status", "success", "cancel-running", "envelope-tells-what-happened"),
        ),
        carried(
            "003.167",
            "The capture of what is cancelled behind its start needs admission.",
            Witness("cancel.confirmed", "only when settled", "cancel-running", "promise"),
            Witness("execution.never_sent", "also what executes", "cancel-running", "no-duplicated-history"),
        ),
        carried(
            "003.168",
            "A publisher that closes lets nothing in.",
            Witness(
                "capture.listener_takes",
                "always",
                "one-call",
                "listener-closes-with-its-turn",
                "broker:call:Execute#1=crash-waiting",
            ),
        ),
        carried(
            "003.169",
            "What a publisher let in is done before the Session's writer is closed.",
            Witness("capture.close_waits", "never", "short-window", "one-after-another"),
        ),
        carried(
            "003.170",
            "A turn that completed closes its listener.",
            Omission("ClosePublisher", "one-call", "listener-closes-with-its-turn"),
        ),
        carried(
            "003.171",
            "Closing deletes no retained output.",
            Omission("Output.manifest", "reread-complete", "retained-verifies-afresh"),
        ),
    ),
)
