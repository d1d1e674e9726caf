"""000 §6 Implementation and verification plan, §7 Acceptance and risk."""

from __future__ import annotations

from scenarios.trace.sentence import Section, Witness, carried, missing, not_simulable

NOTHING, ANSWERED, BLAMED = (
    "refused-text-touches-nothing",
    "refused-text-is-answered",
    "valid-text-is-not-blamed",
)


VERIFICATION = Section(
    "Verification plan, acceptance and risk",
    (
        not_simulable(
            "000.95",
            "The problem is reproduced on a build of that time, in a real environment of its own.",
            "A simulation shows rules, and no build.",
        ),
        *(
            carried(
                f"000.{number}",
                text,
                Witness("admission.text_error", "never", f"u1-local-1-{row}", NOTHING),
            )
            for number, text, row in (
                (96, "An unpaired high surrogate is refused.", "command-lone-high-end"),
                (97, "An unpaired low surrogate is refused.", "description-lone-low-end"),
                (98, "A high surrogate before ASCII is refused.", "command-high-ascii-middle"),
                (99, "A reversed pair is refused.", "description-reversed-middle"),
                (100, "Two high surrogates are refused.", "command-high-high-start"),
                (101, "Two low surrogates are refused.", "description-low-low-start"),
                (102, "A valid pair before an unpaired surrogate is refused.", "command-pair-unpaired-end"),
                (
                    103,
                    "Half a character behind a valid emoji is refused.",
                    "description-lone-high-after-emoji",
                ),
            )
        ),
        carried(
            "000.104",
            "Every kind of valid text that the seed names keeps its bytes, from the model to the process.",
            Witness("admission.text_error", "without the Unicode flag", "u2-local-1-command-pair", BLAMED),
            Witness(
                "admission.text_error", "in the text as it is written", "u2-local-1-command-emoji", BLAMED
            ),
        ),
        carried(
            "000.105",
            "An invalid call is refused as the first of its batch, and as the last.",
            Witness(
                "admission.text_error", "never", "u3-local-1-command-lone-high-middle-before-shell", NOTHING
            ),
            Witness(
                "admission.text_error", "never", "u3-local-1-command-lone-high-middle-behind-shell", NOTHING
            ),
        ),
        carried(
            "000.106",
            "It is refused beside valid Shell and Write.",
            Witness(
                "admission.refuses_batch", "never", "u3-local-1-command-low-low-end-between-both", NOTHING
            ),
        ),
        carried(
            "000.107",
            "No refused batch leaves an intent.",
            Witness(
                "admission.refuses_batch", "never", "u3-local-1-command-reversed-end-behind-write", NOTHING
            ),
        ),
        carried(
            "000.108",
            "A call that is corrected in the same turn executes.",
            Witness("admission.text_error", "always", "u4-local-1-command-lone-high", "promise"),
        ),
        carried(
            "000.109",
            "The result of a corrected call reaches the next request to the model.",
            Witness("settlement.may_infer", "never", "u4-local-1-description-lone-high", "promise"),
        ),
        carried(
            "000.110",
            "Behind a correction the turn settles.",
            Witness("settlement.blocks", "always", "u4-local-1-command-lone-high", "promise"),
        ),
        carried(
            "000.111",
            "Behind a refusal a reload and later turns work.",
            Witness("settlement.unresolved", "everything", "u4-local-1-command-refused-restart", "promise"),
        ),
        carried(
            "000.112",
            "A fresh refusal holds no lease, and a valid call of a second Session completes.",
            Witness("admission.text_error", "never", "u5-local-1-command-fresh-open", "promise"),
        ),
        carried(
            "000.113",
            "A later refusal keeps its owner until normal settlement.",
            Witness(
                "lease.is_held", "never", "u5-local-1-description-inherited-open", "lease-has-one-holder"
            ),
        ),
        carried(
            "000.114",
            "A lost response of a committed refusal duplicates no history.",
            Witness("writer.replays", "never", "u6-local-1-fresh-responses-reply-lost", "promise"),
        ),
        carried(
            "000.115",
            "A refusal that fails is no success to anybody.",
            Witness("settlement.blocks", "never", "u6-local-1-fresh-assistant-refused-always", "promise"),
        ),
        missing(
            "000.116", "A plan of two real hooks covers both rewrites, in order.", "hooks: two real hooks."
        ),
        missing("000.117", "A reloaded refusal runs no post-batch callback.", "hooks: cold completion."),
        missing("000.118", "A reloaded refusal duplicates no history.", "hooks: cold completion."),
        carried(
            "000.119",
            "The deterministic model receives the group with its paired errors, and corrects the call.",
            Witness("admission.refusals", "without siblings", "u4-local-1-command-before-both", ANSWERED),
        ),
        carried(
            "000.120",
            "Acceptance fails when the transport rejects the group.",
            Witness("admission.text_error", "never", "u9-local-1-strict-command", "promise"),
        ),
        carried(
            "000.121",
            "The guard for the inline size applies ahead of a refusal.",
            Witness("admission.assistant_fits", "always", "u10-local-1-wide-batch", "promise"),
        ),
        carried(
            "000.122",
            "The guard for unsupported tools applies ahead of a refusal.",
            Witness("profile.offers", "always", "u10-local-1-unsupported-before", "promise"),
        ),
        carried(
            "000.123",
            "The guard for duplicate calls applies ahead of a refusal.",
            Witness("admission.duplicate_ids", "never", "u10-local-2-same-id", "promise"),
        ),
        carried(
            "000.124",
            "The guard for incomplete arguments applies ahead of a refusal.",
            Witness("admission.cut_short", "never", "u10-local-1-incomplete", "promise"),
        ),
        carried(
            "000.125",
            "Removing the check of original input fails its negative case.",
            Witness("admission.text_error", "never", "u1-local-1-command-lone-high-middle", NOTHING),
        ),
        carried(
            "000.126",
            "Removing the Unicode flag fails the witness of valid emoji.",
            Witness(
                "admission.text_error", "without the Unicode flag", "u2-local-1-description-emoji", BLAMED
            ),
        ),
        missing(
            "000.127",
            "Removing a check of rewritten input, or of callbacks, fails its negative case.",
            "hooks: their mutants.",
        ),
        missing(
            "000.128", "Both paths refuse before the first native side effect.", "o2: the matrix on both."
        ),
        carried(
            "000.129",
            "What legitimately prevents a correctable continuation is recorded explicitly.",
            Witness("admission.rounds_left", "one more", "u10-local-1-never-corrects-command", "promise"),
            Witness("admission.answers_fit", "always", "u10-local-1-many", "promise"),
        ),
        not_simulable(
            "000.130",
            "No failure is answered by replacing the command in silence, or by calling the issue fixed.",
            "It is a demand on those who deliver, not on a run.",
        ),
    ),
)
