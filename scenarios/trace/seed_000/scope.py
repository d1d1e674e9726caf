"""000 §2 Problem, goals, and scope."""

from __future__ import annotations

from scenarios.trace.sentence import Section, Witness, carried, missing

FIRST, SECOND = "u1-local-1-command-lone-high-start", "u1-local-2-description-low-low-middle"
NOTHING = "refused-text-touches-nothing"

SCOPE = Section(
    "Problem, goals, and scope",
    (
        carried(
            "000.1",
            "A Shell call with half a character is rejected before it enters the chain of execution.",
            Witness("admission.text_error", "never", FIRST, NOTHING),
        ),
        carried(
            "000.2",
            "An incomplete command is refused before acquisition and reservation of its batch.",
            Witness("admission.text_error", "of the description alone", FIRST, NOTHING),
        ),
        carried(
            "000.3",
            "An incomplete description is refused there as well.",
            Witness("admission.text_error", "of the command alone", SECOND, NOTHING),
        ),
        missing(
            "000.4",
            "Both capture paths refuse alike.",
            "o2: the matrix on the second path.",
        ),
        carried(
            "000.5",
            "The model gets a durable function error for each call.",
            Witness("admission.refusals", "without text", FIRST, "refused-text-is-answered"),
            Witness(
                "admission.refusals",
                "only the first",
                "u3-local-1-command-lone-high-middle-before-shell",
                "refused-text-is-answered",
            ),
        ),
        carried(
            "000.6",
            "The errors stand in the order of the calls.",
            Witness(
                "admission.refusals",
                "reversed",
                "u3-local-1-command-lone-high-middle-before-shell",
                "paired-responses",
            ),
        ),
        carried(
            "000.7",
            "A corrected call later in the same turn can execute.",
            Witness("settlement.may_infer", "never", "u4-local-1-command-lone-high", "promise"),
        ),
        carried(
            "000.8",
            "Valid Unicode is preserved.",
            Witness(
                "admission.text_error",
                "without the Unicode flag",
                "u2-local-1-command-emoji",
                "valid-text-is-not-blamed",
            ),
        ),
        missing(
            "000.9",
            "The algorithm and the bytes of the canonical digest stay as they are.",
            "text: the digest is no rule; the recorded vectors hold it in the tests of text.",
        ),
        missing(
            "000.10",
            "A rewrite by a hook brings no incomplete text to a later command hook, or to the Runtime.",
            "hooks: rewrites.",
        ),
        carried(
            "000.11",
            "Uncertain persistence keeps blocking.",
            Witness(
                "settlement.blocks",
                "never",
                "u6-local-1-fresh-responses-refused",
                "promise",
            ),
        ),
        carried(
            "000.12",
            "Side effects that were admitted already keep blocking where they are uncertain.",
            Witness("settlement.blocks", "never", "rc-17-suicide", "order"),
        ),
        carried(
            "000.13",
            "Both versions of the profile are in scope.",
            Witness("admission.text_error", "never", "u1-local-2-command-reversed-end", NOTHING),
        ),
        carried(
            "000.14",
            "When the H3 branch is selected, the same field check is there.",
            Witness("admission.text_error", "not in the background", "u11-local-1-h3-text", "promise"),
        ),
        carried(
            "000.15",
            "The H3 branch is not enabled by this.",
            Witness("admission.takes_h3", "always", "one-call", "promise"),
        ),
        carried(
            "000.16",
            "The text of other file tools is not checked.",
            Witness(
                "admission.text_error", "of any tool", "u11-local-1-file-text", "valid-text-is-not-blamed"
            ),
        ),
        carried(
            "000.17",
            "Valid unrelated tools keep their behaviour.",
            Witness("admission.text_error", "always", "mixed-batch", "promise"),
        ),
    ),
)
