"""003 Problem and scope."""

from __future__ import annotations

from scenarios.trace.sentence import Omission, Section, Witness, carried, later, not_simulable

SCOPE = Section(
    "Problem and scope",
    (
        carried(
            "003.1",
            "A Hosted turn runs Shell commands only under a profile that was chosen for them explicitly.",
            Witness("profile.offers", "always", "shell-outside", "session-stays-as-defined"),
        ),
        carried(
            "003.2",
            "The Shell profile offers reading, writing and editing of files as Hosted turns had them before.",
            Witness("profile.offers", "Shell without files", "mixed-batch", "promise"),
            Witness("files.is_file_tool", "never", "mixed-batch", "promise"),
        ),
        carried(
            "003.3",
            "The Shell profile adds the foreground Shell to the file tools.",
            Witness("profile.offers", "never", "one-call", "promise"),
        ),
        carried(
            "003.4",
            "The Shell profile holds no further tool.",
            Witness("profile.offers", "always", "foreign-tool", "promise"),
        ),
        carried(
            "003.5",
            "A turn without tools goes exactly as it did before there was the profile.",
            Witness("profile.warms", "always", "no-tools", "runtime-is-for-tools"),
            Witness("settlement.must_release", "always", "no-tools", "released-before-settled"),
        ),
        carried(
            "003.6",
            "A turn under the profile of file tools goes exactly as it did before.",
            Witness("capture.needs_publisher", "always", "files-profile", "listener-is-for-shell"),
            Witness("execution.protocol_of", "v3", "files-profile", "promise"),
            Witness("files.tells", "nothing", "files-profile", "file-answer-is-told"),
        ),
        carried(
            "003.7",
            "Only a worker that was provisioned on its owner's host is served.",
            Witness(
                "profile.provisioner_serves", "always", "foreign-provisioner", "session-stays-as-defined"
            ),
        ),
        not_simulable(
            "003.8",
            "Nothing makes output public for download.",
            "Nobody in the simulation stands outside the system and could ask for it, so no run could go wrong here.",
        ),
        later(
            "003.9",
            "Object storage is no part of this bridge.",
            "O2",
            "There is no object store in the simulated world that a turn could reach by mistake.",
        ),
        carried(
            "003.10",
            "No command runs in the background or at a terminal.",
            Witness("admission.shape_error", "never", "refused-shape", "argument-bytes"),
        ),
        carried(
            "003.11",
            "Nothing collects retained output by itself.",
            Omission("Output.content", "reread-complete", "retained-verifies-afresh"),
        ),
        carried(
            "003.12",
            "An execution that is in doubt is not started again.",
            Witness("execution.start_again", "always", "rc-88-cut", "no-start-after-doubt"),
            Witness("execution.reconciles_by", "another execute", "rc-85-unapplied", "dispatch-once"),
        ),
        carried(
            "003.13",
            "A restarted owner or Broker does not take up what was in doubt.",
            Witness("settlement.unresolved", "nothing", "rc-15-intent", "blocked-stays-blocked"),
            Witness(
                "execution.next_state",
                "lapsed is prepared",
                "one-call",
                "settled-is-terminal",
                "broker:commit:MarkExecuting#1=crash-waiting",
            ),
        ),
    ),
)
