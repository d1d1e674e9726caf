"""003 Identity, admission and model history."""

from __future__ import annotations

from scenarios.trace.sentence import Omission, Section, Witness, carried, missing

IDENTITY = Section(
    "Identity, admission and model history",
    (
        carried(
            "003.94",
            "The digest of the payload's exact bytes protects the deferred start.",
            Witness("execution.payload_is_reserved", "always", "rc-87-other-payload", "argument-bytes"),
        ),
        carried(
            "003.95",
            "Another digest, that of the tool and its input, identifies the arguments.",
            Witness(
                "capture.arguments_are_those",
                "always",
                "one-call",
                "argument-bytes",
                "broker:call:Execute#1=request-altered",
            ),
        ),
        carried(
            "003.96",
            "The ids of model call, worker call and execution, and the input's digest, are durable before a start.",
            Omission("ToolIntent", "one-call", "order"),
        ),
        carried(
            "003.97",
            "Each call has a worker call id, and an execution, of its own.",
            Witness("execution.execution_id", "one a Runtime Session", "two-calls", "promise"),
        ),
        carried(
            "003.98",
            "That a call runs by protocol v3 is durable before a start, too.",
            Witness("execution.protocol_of", "v2", "mixed-batch", "promise"),
        ),
        carried(
            "003.99",
            "The arguments to which a Shell's intent refers are its actual input.",
            Witness(
                "writer.digest_holds",
                "always",
                "one-call",
                "argument-bytes",
                "journal:a:call:Stage#3=request-altered",
            ),
        ),
        carried(
            "003.100",
            "The resource of an intent's route keeps the payload for the Broker.",
            Witness(
                "writer.digest_holds",
                "always",
                "one-call",
                "argument-bytes",
                "journal:a:call:Stage#1=request-altered",
            ),
        ),
        carried(
            "003.101",
            "Before the first side effect the owner holds the mapping of a call against the checkpoint that covers it.",
            Omission("Checkpoint.await_runtime", "one-call", "order"),
            Witness(
                "capture.recorded_arguments_match",
                "always",
                "one-call",
                "loss-table",
                "store:commit:ToolIntent#1=altered-at-rest",
            ),
        ),
        missing(
            "003.102",
            "The checkpoint over a call belongs to the current turn, its prompt and the activation that committed it.",
            "lifecycle: a checkpoint of another turn, prompt or activation.",
        ),
        missing(
            "003.103",
            "The checkpoint still belongs to them after detaching and loading, and after a restart of the harness.",
            "lifecycle: a Session that is detached and loaded again.",
        ),
        carried(
            "003.104",
            "A turn that is not finished cannot pass for another one.",
            Witness("settlement.unresolved", "nothing", "rc-13-acquire", "blocked-stays-blocked"),
            Witness("settlement.one_turn", "always", "prompt-second", "order"),
        ),
        carried(
            "003.105",
            "The binding keeps the worker call's id as that of its invocation.",
            Witness("execution.invocation_of", "the execution", "one-call", "checkpoint-is-bound"),
        ),
        carried(
            "003.106",
            "The tool item keeps the id of the model's call.",
            Witness("settlement.tells", "for another call", "one-call", "paired-responses"),
        ),
        carried(
            "003.107",
            "Preparation checks writer and activation again when it has read checkpoint and arguments.",
            Witness(
                "capture.rechecks_owner",
                "never",
                "one-call",
                "capture-opened-by-the-owner",
                "journal:a:call:ReadJournal#2=activation-replaced",
            ),
        ),
        carried(
            "003.108",
            "A check of the writer looks at the activation again after its wait.",
            Witness(
                "writer.still_active",
                "always",
                "one-call",
                "loss-table",
                "journal:a:call:ReadJournal#2=activation-replaced",
                (
                    "capture.owner_is_same: always",
                    "writer.still_active_in_queue: always",
                    "writer.activation_is_fresh: always",
                ),
            ),
        ),
        carried(
            "003.109",
            "Local and Hosted turns share one admission.",
            Witness("capture.delivery", "blocked", "one-call", "complete-means-complete"),
            Witness("capture.delivery", "blocked", "local-one-call", "complete-means-complete"),
        ),
        carried(
            "003.110",
            "The local wrapper keeps its guards of lease and root.",
            Witness("local.root_is_same", "always", "local-root-moved-before-spawn", "local-guards"),
            Witness("local.guards_lease", "never", "local-error", "rechecked-after-reads"),
        ),
        carried(
            "003.111",
            "The local wrapper advances its checkpoint by itself.",
            Witness("local.advances_with", "never", "local-error", "local-order"),
        ),
        carried(
            "003.112",
            "A Hosted turn admits through the writer and the activation that it has.",
            Witness(
                "writer.activation_is_fresh",
                "always",
                "one-call",
                "loss-table",
                "journal:a:call:Transact.InputAccepted+WakeRequested#1=activation-replaced",
            ),
            Witness("capture.receipt_asserts_activation", "never", "one-call", "admitted-by-the-active"),
        ),
        carried(
            "003.113",
            "A Hosted turn advances only when the result for the model is committed.",
            Omission("ToolResult", "one-call", "receipt-history-resolution-ack"),
        ),
        carried(
            "003.114",
            "All output is read again before its receipt is committed.",
            Witness(
                "capture.output_is_exact",
                "always",
                "one-call",
                "complete-means-complete",
                "store:commit:Output.content#1=altered-at-rest",
            ),
        ),
        carried(
            "003.115",
            "Output is read again in bounded ranges.",
            Witness("capture.range_end", "of any length", "one-call", "reread-before-receipt"),
        ),
        carried(
            "003.116",
            "Output that is read again must have the digests of its streams.",
            Witness(
                "capture.output_is_exact",
                "always",
                "one-call",
                "complete-means-complete",
                "store:commit:Output.content#1=altered-at-rest",
            ),
        ),
        carried(
            "003.117",
            "Output that is read again must be that of the original execution.",
            Witness(
                "capture.receipt_belongs",
                "always",
                "two-calls",
                "loss-table",
                "harness:a:call:Status#6=reply-crossed",
                ("transport.reply_is_mine: always",),
            ),
        ),
        carried(
            "003.118",
            "The original activation is checked once more in the commit queue, where the receipt is made.",
            Witness(
                "writer.still_active_in_queue",
                "always",
                "one-call",
                "admitted-by-the-active",
                "journal:a:call:ReadResource#2=activation-replaced",
            ),
            Witness("capture.receipt_asserts_activation", "never", "one-call", "admitted-by-the-active"),
        ),
        carried(
            "003.119",
            "An owner that is replaced while it verifies output admits nothing.",
            Witness(
                "writer.still_active_in_queue",
                "always",
                "one-call",
                "admitted-by-the-active",
                "journal:a:call:ReadResource#2=activation-replaced",
            ),
        ),
        carried(
            "003.120",
            "Complete output gets a committed receipt.",
            Witness("capture.delivery", "blocked", "one-call", "complete-means-complete"),
        ),
        carried(
            "003.121",
            "Partial or unavailable output gets a blocked one.",
            Witness("capture.delivery", "committed", "rc-40-write", "complete-means-complete"),
        ),
        carried(
            "003.122",
            "A blocked receipt keeps the physical result.",
            Witness(
                "capture.result_status",
                "error when incomplete",
                "rc-40-write",
                "envelope-tells-what-happened",
            ),
        ),
        carried(
            "003.123",
            "A blocked receipt stops the turn.",
            Witness("settlement.goes_on", "always", "rc-29-incomplete", "no-inference-on-doubt"),
        ),
        carried(
            "003.124",
            "A turn first acquires its Workspace, and then registers its publisher.",
            Omission("ClaimWorkspace", "one-call", "order"),
            Omission("RegisterPublisher", "one-call", "order"),
        ),
        carried(
            "003.125",
            "Behind the registration the assistant's record becomes durable, and then intent and checkpoint.",
            Omission("Assistant", "one-call", "order"),
            Omission("ToolIntent", "one-call", "order"),
        ),
        carried(
            "003.126",
            "A command is executed only behind the checkpoint that covers it.",
            Omission("Checkpoint.await_runtime", "one-call", "order"),
            Omission("StartExecution", "one-call", "order"),
        ),
        carried(
            "003.127",
            "Behind the execution its capture becomes durable, and nothing later before that.",
            Omission("FinalizeCapture", "one-call", "order"),
        ),
        carried(
            "003.128",
            "The receipt becomes durable behind the capture, and before the model's result.",
            Omission("ToolReceipt", "one-call", "order"),
        ),
        carried(
            "003.129",
            "The model's result becomes durable behind the receipt, and before the checkpoint is resolved.",
            Omission("ToolResult", "one-call", "order"),
        ),
        carried(
            "003.130",
            "The checkpoint is resolved before the acknowledgement.",
            Omission("Checkpoint.results_ready", "one-call", "order"),
        ),
        carried(
            "003.131",
            "The result is acknowledged exactly, before the model is asked again.",
            Omission("Acknowledge", "one-call", "order"),
        ),
        carried(
            "003.132",
            "Results count as consumed behind the next request to the model, and before the next record of its answer.",
            Omission("Checkpoint.before_model", "one-call", "order"),
        ),
        carried(
            "003.133",
            "Last of all, before the turn is settled, the Workspace is released.",
            Omission("ClearLease", "one-call", "released-before-settled"),
        ),
        carried(
            "003.134",
            "A worker that asks for admission again gets the receipt that is durable.",
            Witness(
                "capture.admits_anew",
                "always",
                "cancel-first-of-two",
                "bounded-identical-retries",
                "worker:w:call:AcceptCapture#1=duplicated",
            ),
        ),
        carried(
            "003.135",
            "A later acknowledgement only repeats that receipt.",
            Omission("ToolReceipt", "one-call", "exact-ack"),
        ),
        carried(
            "003.136",
            "A lost reply to an execute is made good by a bounded number of looks at its status.",
            Witness(
                "execution.looks_again",
                "never",
                "one-call",
                "gone-runtime-is-lost",
                "broker:call:Observe#1=request-lost",
            ),
            Witness("execution.runtime_is_gone", "never", "rc-17-half", "gone-runtime-is-lost"),
        ),
        carried(
            "003.137",
            "Looks at a status are at the original reference of protocol v3.",
            Witness(
                "execution.reconciles_by",
                "another reference",
                "one-call",
                "gone-runtime-is-lost",
                "broker:call:Execute#1=reply-lost",
            ),
        ),
        carried(
            "003.138",
            "A command is never issued again when its status is unknown.",
            Witness("execution.start_again", "always", "rc-13-start", "no-start-after-doubt"),
            Witness(
                "execution.next_state",
                "claims again",
                "one-call",
                "dispatch-once",
                "harness:a:call:StartExecution#1=duplicated",
            ),
        ),
        carried(
            "003.139",
            "A command is never issued again when its admission is missing.",
            Witness(
                "execution.worker_proves", "unknown is settled", "rc-18-owner-killed", "settled-is-terminal"
            ),
        ),
        carried(
            "003.140",
            "A lost reply to a receipt may be made good with the identical candidate.",
            Witness("retry.commit_again", "never", "rc-20-replayed", "promise"),
            Witness("writer.replays", "never", "rc-20-replayed", "promise"),
        ),
        carried(
            "003.141",
            "A new activation refuses an old turn with tools that is not resolved.",
            Witness("settlement.unresolved", "nothing", "rc-13-acquire", "blocked-stays-blocked"),
        ),
        carried(
            "003.142",
            "An admitted Shell result fits its whole serialized record.",
            Witness("capture.preview", "everything", "rc-36-escaping", "promise"),
        ),
        carried(
            "003.143",
            "If an admitted result does not fit, ownership is kept for recovery, and no omission is committed.",
            Witness("settlement.result_fits", "always", "size-result-plus-one", "promise"),
        ),
        carried(
            "003.144",
            "An admitted result that does not fit is not acknowledged.",
            Witness("settlement.result_fits", "always", "size-result-plus-one", "promise"),
        ),
        carried(
            "003.145",
            "Results of file tools that are too large still get their bounded note instead.",
            Witness("files.bounded", "never", "large-file", "promise"),
            Witness("files.bounded", "in silence", "large-file", "file-answer-is-told"),
        ),
    ),
)
