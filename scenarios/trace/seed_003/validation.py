"""003 Implementation and validation."""

from __future__ import annotations

from scenarios.trace.sentence import Omission, Section, Witness, carried, not_simulable

VALIDATION = Section(
    "Implementation and validation",
    (
        not_simulable(
            "003.172",
            "No ordinary route of the daemon is added or leads elsewhere.",
            "There is no daemon and no routing in the simulated world, only requests to actors.",
        ),
        carried(
            "003.173",
            "It is tested that publications are immutable.",
            Witness("writer.output_conflicts", "never", "foreign-publication", "immutable-resources"),
        ),
        carried(
            "003.174",
            "It is tested that a stale writer is refused.",
            Witness(
                "writer.may_commit",
                "whoever it is",
                "one-call",
                "loss-table",
                "journal:a:call:ReadJournal#1=writer-replaced",
            ),
            Witness(
                "writer.may_publish",
                "after expiry too",
                "one-call",
                "loss-table",
                "journal:a:call:Publish.content#1=writer-expired",
            ),
        ),
        carried(
            "003.175",
            "It is tested that prefixes of segments and their seals are intact.",
            Witness(
                "capture.offset_follows",
                "always",
                "one-call",
                "complete-means-complete",
                "worker:w:call:WriteOutput.stdout#1=duplicated",
            ),
            Witness(
                "capture.output_is_exact",
                "always",
                "one-call",
                "complete-means-complete",
                "store:commit:Output.content#1=altered-at-rest",
            ),
        ),
        carried(
            "003.176",
            "It is tested that identities of other Sessions and activations are refused.",
            Witness("writer.may_publish", "whoever it is", "foreign-publication", "outsider-changes-nothing"),
            Witness("capture.execution_is_registered", "always", "foreign-prepare", "intrusion"),
            Witness("capture.bearer_opens", "always", "old-capabilities", "intrusion"),
        ),
        carried(
            "003.177",
            "Lost replies to raw writes are tested.",
            Witness("capture.raw_write_sends", "twice", "rc-18-owner-killed", "bounded-identical-retries"),
        ),
        carried(
            "003.178",
            "That admission comes before history is tested.",
            Omission("ToolReceipt", "one-call", "receipt-history-resolution-ack"),
        ),
        carried(
            "003.179",
            "Exact acknowledgement is tested.",
            Omission("ToolReceipt", "one-call", "exact-ack"),
            Witness("retry.ack_again", "never", "rc-79-reply-lost", "promise"),
        ),
        carried(
            "003.180",
            "Cancellation is tested.",
            Witness("cancel.stops_before_start", "never", "cancel-before-start", "promise"),
            Witness(
                "execution.next_state", "a cancelled run is settled", "cancel-running", "settled-is-terminal"
            ),
        ),
        carried(
            "003.181",
            "That turns of files alone, and without tools, go as before is tested.",
            Witness("capture.needs_publisher", "always", "files-profile", "listener-is-for-shell"),
            Witness("profile.warms", "always", "no-tools", "runtime-is-for-tools"),
        ),
        carried(
            "003.182",
            "Previews of head and tail in UTF-8 are pinned.",
            Witness("capture.preview", "everything", "rc-34-whole", "promise"),
            Witness("capture.preview", "the head", "cancel-running", "envelope-tells-what-happened"),
        ),
        carried(
            "003.183",
            "That a refused batch is made good is pinned.",
            Witness("settlement.may_infer", "never", "refused-shape", "promise"),
        ),
        carried(
            "003.184",
            "That the publisher asks for its bearer is pinned.",
            Witness("capture.bearer_opens", "always", "rc-40-prepare", "publisher-asks-its-capability"),
        ),
        carried(
            "003.185",
            "That the listener closes behind completed and failed turns is pinned.",
            Omission("ClosePublisher", "one-call", "listener-closes-with-its-turn"),
            Omission("ClosePublisher", "rc-40-listeners", "listener-closes-with-its-turn"),
        ),
        carried(
            "003.186",
            "That admitted results fit history under the worst escaping is pinned.",
            Witness("capture.preview", "everything", "rc-36-escaping", "promise"),
        ),
        not_simulable(
            "003.187",
            "The packaged harness and worker run through the production Broker and SQL Store.",
            "The bench has a model of them; what the packages do only they themselves can show.",
        ),
        not_simulable(
            "003.188",
            "A command changes the selected Workspace, and never a decoy beside the harness.",
            "No rule chooses a directory that could be the decoy's (`decoy-untouched` looks after every run).",
        ),
        carried(
            "003.189",
            "100 MiB go through, with a digest and an end of its own for each stream.",
            Witness("capture.delivery", "blocked", "six-workspaces", "complete-means-complete"),
        ),
        carried(
            "003.190",
            "Retained output is read again when its producers have stopped.",
            Witness("reading.stream_is_as_sealed", "never", "reread-cancelled", "retained-verifies-afresh"),
        ),
        carried(
            "003.191",
            "Under faults a side effect happens at most once.",
            Witness(
                "capture.meets_execution",
                "begin",
                "one-call",
                "effect-once-per-execution",
                "broker:call:Execute#1=duplicated",
            ),
            Witness("admission.duplicate_ids", "never", "same-id-twice", "effect-once-per-model-call"),
        ),
        carried(
            "003.192",
            "Faults do not set off the next request to the model.",
            Witness("settlement.goes_on", "always", "rc-40-write", "no-inference-on-doubt"),
        ),
        not_simulable(
            "003.193", "Build, types and bundle are sound.", "They are properties of the real source tree."
        ),
        not_simulable(
            "003.194",
            "Two clean audits of the whole change come before its review.",
            "It is work of people on a change, and no behaviour.",
        ),
        not_simulable(
            "003.195",
            "The global command line is recorded apart, and its lack of private routes is no passed test.",
            "It is about what a record of another program may claim.",
        ),
        carried(
            "003.196",
            "What is accepted is a complete capture, durably admitted; an answer by protocol v3 is not enough.",
            Witness("capture.worker_state", "settled", "rc-18-owner-killed", "settled-is-terminal"),
            Witness("capture.delivery", "committed", "rc-40-write", "complete-means-complete"),
        ),
        not_simulable(
            "003.197",
            "Capture is shown between real processes.",
            "Processes are simulated: a message between them arrives, or one of the fates befalls it.",
        ),
        carried(
            "003.198",
            "Publication and fencing do not change with how often a writer renews its lease.",
            Witness("writer.renew_after", "at the end", "replaced-owner", "promise"),
        ),
        not_simulable(
            "003.199",
            "It is validated on macOS, with real processes of Node.js and Java, over H2 as MySQL.",
            "These are machines and programs, and none of them is in a simulation.",
        ),
        carried(
            "003.200",
            "The fixture of six Workspaces verifies complete output of 100 MiB.",
            Witness("capture.delivery", "blocked", "six-workspaces", "complete-means-complete"),
        ),
        carried(
            "003.201",
            "The fixture verifies a publication that fails in SQL.",
            Witness(
                "capture.capture_stays_failed", "never fails", "six-workspaces", "complete-means-complete"
            ),
        ),
        carried(
            "003.202",
            "The fixture verifies lost replies to a raw write and to a start.",
            Witness(
                "capture.capture_stays_failed", "never fails", "six-workspaces", "complete-means-complete"
            ),
            Witness("execution.start_again", "always", "rc-88-cut", "no-start-after-doubt"),
        ),
        carried(
            "003.203",
            "The fixture verifies cancellation.",
            Witness("cancel.confirmed", "only when settled", "cancel-running", "promise"),
        ),
        carried(
            "003.204",
            "The fixture verifies a fresh reader when the producers are shut down.",
            Witness(
                "reading.manifest_is_of_capture", "never", "reread-cancelled", "retained-verifies-afresh"
            ),
        ),
    ),
)
