"""000 §4 Admission and Hook order."""

from __future__ import annotations

from scenarios.trace.sentence import Section, Witness, carried, missing

ANSWERED, NOTHING = "refused-text-is-answered", "refused-text-touches-nothing"


ADMISSION = Section(
    "Admission and Hook order",
    (
        carried(
            "000.35",
            "The refusals for profile, identity, truncated arguments and size keep their meaning.",
            Witness("admission.cut_short", "never", "u10-local-1-truncated", "promise"),
            Witness("admission.duplicate_ids", "never", "u10-local-1-same-id", "promise"),
        ),
        missing(
            "000.36", "The text is checked before PermissionRequest.", "hooks: a hook that would see it."
        ),
        missing(
            "000.37",
            "It is checked before any hook that carries arguments.",
            "hooks: a hook that would see it.",
        ),
        carried(
            "000.38",
            "One failing call refuses the whole batch, wherever it stands.",
            Witness(
                "admission.refuses_batch",
                "never",
                "u3-local-1-command-lone-high-middle-between-both",
                NOTHING,
            ),
        ),
        carried(
            "000.39",
            "Valid siblings are refused with it.",
            Witness(
                "admission.refusals",
                "without siblings",
                "u3-local-1-command-lone-high-middle-behind-write",
                ANSWERED,
            ),
        ),
        missing("000.40", "A refused batch runs no command hook.", "hooks: the whole refusal beside a hook."),
        missing(
            "000.41", "A refused batch asks for no approval.", "approvals: the whole refusal beside one."
        ),
        missing("000.42", "A refused batch skips the post-tool callbacks.", "hooks: suppression, live."),
        missing(
            "000.43",
            "No callback receives the original incomplete command.",
            "hooks: suppression, live and cold.",
        ),
        missing(
            "000.44",
            "After each applied sequential result the effective input is checked, before the next hook is admitted.",
            "hooks: sequential plans.",
        ),
        missing(
            "000.45", "Both forms of a rewrite are covered, merged into the input.", "hooks: both forms."
        ),
        missing(
            "000.46",
            "The plan stops at the first invalid input, though a later hook could repair it.",
            "hooks: stop.",
        ),
        missing("000.47", "The results of the children that ran are kept.", "hooks: the executed prefix."),
        missing(
            "000.48",
            "The executed prefix gives its invalid input to the turn's own check.",
            "hooks: the aggregate.",
        ),
        missing("000.49", "The model's turn does not end for this.", "hooks: a correction behind a rewrite."),
        missing("000.50", "A saved marker rebuilds the same prefix and stop.", "hooks: the saved marker."),
        missing("000.51", "It tests the stop before it looks for a later child.", "hooks: the saved marker."),
        missing("000.52", "It is finished from the prefix after a crash.", "hooks: crash behind a child."),
        missing("000.53", "An uncertain earlier child keeps blocking.", "hooks: uncertain children."),
        missing("000.54", "Parallel hooks get the original input.", "hooks: parallel plans."),
        missing("000.55", "Their aggregate is checked before native execution.", "hooks: parallel plans."),
        missing("000.56", "Admitted siblings are neither cancelled nor reordered.", "hooks: parallel plans."),
        missing(
            "000.57",
            "A rewrite by PermissionRequest is checked before its approval input or an acquisition.",
            "hooks: permission rewrites.",
        ),
        missing("000.58", "A malformed one refuses the whole native batch.", "hooks: permission rewrites."),
        missing("000.59", "A hook's own owner is kept until normal settlement.", "hooks: owners."),
        missing("000.60", "The text is checked again behind PreToolUse.", "hooks: pre-tool rewrites."),
        missing(
            "000.61",
            "A refusal there asks for no approval, reserves nothing and starts nothing of its batch.",
            "hooks: pre-tool rewrites.",
        ),
        missing("000.62", "It does not clear the owner by force.", "hooks: pre-tool rewrites."),
        missing("000.63", "Committed decisions and results of hooks are kept.", "hooks: pre-tool rewrites."),
        missing("000.64", "No intent is made up for a refused call.", "hooks: cold completion."),
        missing(
            "000.65", "Only effective input that passes is reserved and started.", "hooks: valid rewrites."
        ),
        missing("000.66", "A valid rewrite is approved again.", "approvals: rewrites."),
        carried(
            "000.67",
            "A refusal before the assistant record writes that record once.",
            Witness("writer.replays", "never", "u6-local-1-fresh-assistant-reply-lost", "promise"),
        ),
        carried(
            "000.68",
            "It writes one ordered response for each call.",
            Witness(
                "admission.refusals",
                "only the first",
                "u3-local-1-command-lone-high-middle-before-both",
                ANSWERED,
            ),
        ),
        missing(
            "000.69",
            "A refusal behind the assistant record writes only the responses.",
            "hooks: pre-tool rewrites, for which the function is there.",
        ),
        missing(
            "000.70", "No transient flag decides whether callbacks are skipped.", "hooks: cold completion."
        ),
        missing(
            "000.71",
            "Live and cold rebuild the effective input by the same rules.",
            "hooks: cold completion.",
        ),
        missing(
            "000.72",
            "Invalid text, a complete paired group and no intent prove a refusal only together.",
            "hooks: cold completion.",
        ),
        missing("000.73", "An ordinary refusal keeps its callbacks.", "hooks: cold completion."),
        missing("000.74", "A contradictory intent is a recovery error.", "hooks: cold completion."),
        missing("000.75", "An incomplete refusal record is a recovery error.", "hooks: cold completion."),
        missing("000.76", "The next valid batch decides from its own records.", "hooks: cold completion."),
    ),
)
