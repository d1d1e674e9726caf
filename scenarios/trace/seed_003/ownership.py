"""003 Ownership and transport."""

from __future__ import annotations

from scenarios.trace.sentence import Omission, Section, Witness, carried, later, not_simulable

OWNERSHIP = Section(
    "Ownership and transport",
    (
        carried(
            "003.14",
            "The owner of a Session opens a listener of its own for the turn's commands.",
            Omission("OpenPublisher", "one-call", "publisher-asks-its-capability"),
        ),
        carried(
            "003.15",
            "The owner's listener has a port of its own on the loopback address, and one fixed path.",
            Witness("capture.publisher_is_local", "whatever port", "foreign-descriptor", "intrusion"),
            Witness("capture.publisher_is_local", "whatever path", "foreign-descriptor", "intrusion"),
        ),
        carried(
            "003.16",
            "The listener serves only who bears its own capability.",
            Witness("capture.bearer_opens", "always", "rc-40-prepare", "publisher-asks-its-capability"),
        ),
        not_simulable(
            "003.17",
            "The capability is random.",
            "Capabilities are derived here, so that a run repeats; whether one can be guessed, no run can show.",
        ),
        carried(
            "003.18",
            "The publisher is registered with the Broker only when the Workspace was acquired.",
            Omission("ClaimWorkspace", "one-call", "order"),
        ),
        carried(
            "003.19",
            "The publisher's registration installs the listener's address in the original Runtime Session.",
            Omission("RegisterPublisher", "one-call", "order"),
            Witness("lease.may_register", "always", "foreign-registration", "intrusion"),
        ),
        carried(
            "003.20",
            "The registration returns the generation of the runtime binding; no other life of the worker serves it.",
            Witness("capture.generation_is_own", "always", "restarted-worker", "promise"),
        ),
        carried(
            "003.21",
            "The worker accepts nothing but a canonical loopback address.",
            Witness("capture.publisher_is_local", "whatever host", "foreign-descriptor", "intrusion"),
            Witness("capture.publisher_is_local", "always", "foreign-descriptor", "intrusion"),
        ),
        carried(
            "003.22",
            "The worker follows no redirect.",
            Witness("capture.follows_redirect", "always", "redirecting-listener", "capability-stays-home"),
        ),
        carried(
            "003.23",
            "The worker keeps address and capability in memory, so that its next life has neither.",
            Witness("capture.generation_is_own", "always", "restarted-worker", "promise"),
        ),
        carried(
            "003.24",
            "No reference in a journal, and no argument of the model, contains the capability.",
            Witness(
                "execution.execution_id", "named after the capability", "one-call", "secrets-stand-nowhere"
            ),
            Witness("settlement.tells", "with the capability", "one-call", "secrets-stand-nowhere"),
        ),
        carried(
            "003.25",
            "The token of the Session Store's writer never reaches a worker.",
            Witness(
                "execution.reconciles_by",
                "with the writer's token",
                "one-call",
                "secrets-stand-nowhere",
                "broker:call:Execute#1=reply-lost",
            ),
        ),
        carried(
            "003.26",
            "Each capture is prepared through the owner's listener before its command runs.",
            Witness("capture.may_spawn", "always", "rc-40-prepare", "capture-before-spawn"),
            Omission("PreparePublication", "one-call", "capture-before-spawn"),
        ),
        carried(
            "003.27",
            "Raw output reaches the owner in writes of bounded size.",
            Witness("capture.write_fits", "always", "foreign-write", "intrusion"),
            Witness("capture.write_fits", "write is one more", "size-fit-chunk-plus-one", "promise"),
        ),
        carried(
            "003.28",
            "The end of each stream and of the capture are told to the owner.",
            Omission("FinalizeCapture", "one-call", "order"),
            Witness(
                "capture.capture_status",
                "failure forgotten",
                "one-call",
                "loss-table",
                "worker:w:call:FinishOutput.stderr#1=reply-lost",
            ),
        ),
        carried(
            "003.29",
            "The writes of a stream and its end go one after another.",
            Witness(
                "capture.stream_queue",
                "by offset",
                "cut-preview",
                "one-after-another",
                "journal:a:call:RenewWriter#6=paused",
            ),
        ),
        carried(
            "003.30",
            "What a pipe still gives while its process ends stands in the same queue.",
            Witness("capture.forwards_chunk", "always", "rc-29-at-once", "promise"),
            Witness("capture.forwards_chunk", "never", "one-call", "complete-means-complete"),
        ),
        carried(
            "003.31",
            "Captured output is cut into segments of at most 1 MiB.",
            Witness("writer.output_fits", "content is one more", "size-fit-content-plus-one", "promise"),
            Witness(
                "writer.output_fits", "content of any size", "large-publication", "outsider-changes-nothing"
            ),
        ),
        carried(
            "003.32",
            "Pages of a manifest are bounded.",
            Witness(
                "writer.output_fits", "pages of any size", "large-publication", "outsider-changes-nothing"
            ),
            Witness("capture.within_bounds", "pages is one more", "size-stream-plus-one", "promise"),
        ),
        carried(
            "003.33",
            "Each of the two streams waits when its owner is slow, and does not stop the other.",
            Witness("capture.stream_queue", "one for both", "slow-stream", "streams-do-not-wait"),
        ),
        carried(
            "003.34",
            "A complete capture ends with a manifest.",
            Omission("Output.manifest", "one-call", "complete-means-complete"),
        ),
        carried(
            "003.35",
            "The reply to a raw write promises no durability.",
            Witness("capture.worker_state", "settled", "rc-18-owner-killed", "settled-is-terminal"),
        ),
        carried(
            "003.36",
            "Bytes are durable only once their segment is published.",
            Omission("Output.content", "one-call", "complete-means-complete"),
        ),
        carried(
            "003.37",
            "A raw write is not sent again when its reply got lost.",
            Witness("capture.raw_write_sends", "twice", "rc-18-owner-killed", "bounded-identical-retries"),
        ),
        carried(
            "003.38",
            "A write or end of which anything is uncertain fails the capture for good.",
            Witness("capture.proxy_stays_failed", "never", "rc-29-incomplete", "promise"),
            Witness("capture.capture_stays_failed", "never fails", "rc-40-write", "complete-means-complete"),
        ),
        carried(
            "003.39",
            "When a capture failed, the physical process is drained all the same.",
            Witness("capture.drains_pipe", "never", "rc-25-huge", "promise"),
        ),
        not_simulable(
            "003.40",
            "Draining behind a failed capture needs bounded memory.",
            "What is dropped behind a failure leaves no event to show how much of it is held (decision Z26).",
        ),
        carried(
            "003.41",
            "A failed capture never becomes a complete receipt.",
            Witness("capture.capture_status", "complete", "rc-40-write", "complete-means-complete"),
            Witness("capture.delivery", "committed", "rc-40-write", "complete-means-complete"),
        ),
        carried(
            "003.42",
            "Finalization keeps how the process physically ended, or that it was cancelled.",
            Witness(
                "capture.physical_status",
                "a stop is an error",
                "cancel-running",
                "envelope-tells-what-happened",
            ),
            Witness(
                "capture.result_status",
                "error when incomplete",
                "rc-40-write",
                "envelope-tells-what-happened",
            ),
        ),
        carried(
            "003.43",
            "The model is shown at most 8 KiB of output.",
            Witness("capture.preview", "everything", "rc-34-whole", "promise"),
        ),
        carried(
            "003.44",
            "Such a preview fits a 64 KiB record, escaped as JSON and with what the receipt tells.",
            Witness("capture.preview", "everything", "rc-36-escaping", "promise"),
        ),
        carried(
            "003.45",
            "A longer preview keeps up to 2 KiB of the beginning.",
            Witness("capture.preview", "without the head", "size-forgotten", "preview-is-bounded"),
            Witness("capture.preview", "a byte more of head", "size-cut-2-1", "preview-is-bounded"),
        ),
        carried(
            "003.46",
            "The rest of a longer preview is a mark of the cut and the end of the output.",
            Witness("capture.preview", "the head", "cancel-running", "envelope-tells-what-happened"),
        ),
        carried(
            "003.47",
            "A preview is cut between characters only.",
            Witness("capture.preview", "half characters", "size-cut-3-0", "preview-is-bounded"),
        ),
        carried(
            "003.48",
            "A failure that is summed up at the end, and the exit status, reach the model.",
            Witness("settlement.tells", "without status", "cut-preview", "model-is-told-the-truth"),
            Witness("capture.preview", "nothing", "cancel-running", "envelope-tells-what-happened"),
        ),
        carried(
            "003.49",
            "The end that is shown is the end of the process's 64 KiB buffer.",
            Witness("capture.preview", "of half of the buffer", "size-forgotten", "preview-is-bounded"),
        ),
        not_simulable(
            "003.50",
            "Raw capture goes past the truncator that keeps output in a temporary file.",
            "The simulated worker has no temporary files; what the model is told of cut output is carried on its own.",
        ),
        carried(
            "003.51",
            "Of cut output the model is told the status of the execution.",
            Witness("settlement.tells", "without status", "cut-preview", "model-is-told-the-truth"),
        ),
        carried(
            "003.52",
            "Of cut output the model is told that the whole is retained with the Session.",
            Witness("settlement.tells", "cut in silence", "cut-preview", "model-is-told-the-truth"),
        ),
        carried(
            "003.53",
            "The model is not sent to a path on the worker, which it cannot reach.",
            Witness("settlement.tells", "with a path", "cut-preview", "model-is-told-the-truth"),
        ),
        carried(
            "003.54",
            "The Broker registers a publisher only for the Runtime Session that was selected originally.",
            Witness("lease.may_register", "always", "foreign-registration", "intrusion"),
        ),
        carried(
            "003.55",
            "The Broker's registration asks for the binding, the lease and the ownership of the Workspace.",
            Witness("lease.may_register", "whatever state", "early-registration", "intrusion"),
            Witness("lease.may_register", "always", "foreign-registration", "intrusion"),
        ),
        carried(
            "003.56",
            "The worker takes a registration only by the authenticated runtime that was selected.",
            Witness("capture.generation_is_own", "always", "foreign-descriptor", "intrusion"),
        ),
        carried(
            "003.57",
            "A registration at the worker cannot be changed for its Runtime Session.",
            Witness("capture.descriptor_stays", "always", "foreign-descriptor", "intrusion"),
            Witness("capture.descriptor_stays", "always", "overtaken-registration", "promise"),
        ),
        carried(
            "003.58",
            "A capture is prepared only while the owner of the Session is alive and open.",
            Witness(
                "capture.listener_takes",
                "always",
                "one-call",
                "listener-closes-with-its-turn",
                "broker:call:Execute#1=crash-waiting",
            ),
        ),
        carried(
            "003.59",
            "Preparing a capture checks writer and activation again, behind the reads of checkpoint and arguments.",
            Witness(
                "capture.rechecks_owner",
                "never",
                "one-call",
                "capture-opened-by-the-owner",
                "journal:a:call:ReadJournal#2=activation-replaced",
            ),
        ),
        carried(
            "003.60",
            "A capture is prepared only for the execution to which its arguments were mapped originally.",
            Witness(
                "capture.recorded_arguments_match",
                "always",
                "one-call",
                "loss-table",
                "store:commit:ToolIntent#1=altered-at-rest",
            ),
        ),
        carried(
            "003.61",
            "Writing, finishing, finalizing and accepting ask for the capability each time.",
            Witness("capture.bearer_opens", "always", "rc-40-write", "publisher-asks-its-capability"),
            Witness("capture.bearer_opens", "always", "rc-40-accept", "publisher-asks-its-capability"),
        ),
        carried(
            "003.62",
            "Write, finish, finalize and accept ask for the activation under which the capture was opened.",
            Witness(
                "capture.owner_is_same",
                "always",
                "one-call",
                "output-taken-by-the-owner",
                "journal:a:call:RenewWriter#5=activation-replaced",
                ("writer.still_active: always",),
            ),
        ),
        carried(
            "003.63",
            "Write, finish, finalize and accept ask for the original execution, as registered and mapped to its calls.",
            Witness("capture.execution_is_registered", "always", "foreign-prepare", "intrusion"),
        ),
        carried(
            "003.64",
            "Write, finish, finalize and accept ask for the identity of the capture.",
            Witness("capture.candidate_is_finalized", "always", "foreign-result", "intrusion"),
        ),
        later(
            "003.65",
            "Output is published only into a persisted Session of the same tenant and Workspace.",
            "SQL",
            "The Store in memory has no table of Sessions with tenant and Workspace.",
        ),
        carried(
            "003.66",
            "Output is published only with the writer's token and generation.",
            Witness(
                "writer.may_publish",
                "whoever it is",
                "one-call",
                "loss-table",
                "journal:a:call:Publish.page#1=writer-replaced",
                ("writer.may_renew: always",),
            ),
        ),
        carried(
            "003.67",
            "Output is published only under a writer lease that has not run out.",
            Witness(
                "writer.may_publish",
                "after expiry too",
                "one-call",
                "loss-table",
                "journal:a:call:Publish.content#1=writer-expired",
            ),
        ),
        carried(
            "003.68",
            "The Broker starts, observes, cancels and acknowledges the original execution.",
            Witness(
                "execution.reconciles_by",
                "another reference",
                "one-call",
                "gone-runtime-is-lost",
                "broker:call:Execute#1=reply-lost",
            ),
            Witness(
                "settlement.acknowledged",
                "always",
                "two-calls",
                "loss-table",
                "broker:call:Confirm#2=reply-crossed",
                ("transport.reply_is_mine: always",),
            ),
        ),
        carried(
            "003.69",
            "The Broker does so by the protocol that was saved for the execution, and never falls back to version 2.",
            Witness("execution.protocol_of", "v2", "mixed-batch", "promise"),
            Witness("execution.shell_runs_by", "always", "foreign-start", "outsider-changes-nothing"),
        ),
    ),
)
