"""000 §5 Persistence, ownership, and compatibility."""

from __future__ import annotations

from scenarios.trace.sentence import Section, Witness, carried, missing, not_simulable

ANSWERED, NOTHING = "refused-text-is-answered", "refused-text-touches-nothing"
ALONE, INHERITED = "u1-local-1-command-lone-high-start", "u5-local-1-command-inherited"
BESIDE = "u3-local-1-description-lone-high-middle-behind-shell"

PERSISTENCE = Section(
    "Persistence, ownership, and compatibility",
    (
        carried(
            "000.77",
            "An error response holds the fixed reason and the identity of its call.",
            Witness("admission.refusals", "without text", ALONE, ANSWERED),
        ),
        carried(
            "000.78",
            "A valid sibling gets the explicit error that it was not executed.",
            Witness("admission.refusals", "without text", BESIDE, ANSWERED),
            Witness("admission.refusals", "as successes", BESIDE, ANSWERED),
        ),
        carried(
            "000.79",
            "Messages and diagnostics do not repeat the invalid value.",
            Witness("admission.text_error", "names the value", BESIDE, "refused-value-stands-nowhere"),
        ),
        missing(
            "000.80",
            "The original group is persisted through the escaped record without rewriting the command.",
            "text: a rule under which the record could be another than the model's.",
        ),
        missing(
            "000.81",
            "The group is persisted byte for byte and read again, in a real SQL store.",
            "sql: the escaped group in each SQL store.",
        ),
        carried(
            "000.82",
            "A fresh refusal acquires nothing.",
            Witness("admission.text_error", "never", ALONE, NOTHING),
        ),
        carried(
            "000.83",
            "A fresh refusal registers and reserves nothing.",
            Witness("admission.text_error", "never", BESIDE, NOTHING),
        ),
        carried(
            "000.84",
            "A fresh refusal prepares and starts nothing, and no worker acts for it.",
            Witness("admission.text_error", "never", ALONE, "promise"),
        ),
        carried(
            "000.85",
            "Warming precedes the model's answer, and is allowed.",
            Witness("profile.warms", "always", "no-tools", "runtime-is-for-tools"),
        ),
        carried(
            "000.86",
            "A later refusal acquires, reserves and starts nothing again.",
            Witness("admission.text_error", "never", INHERITED, NOTHING),
        ),
        carried(
            "000.87",
            "A later refusal may inherit the lease of earlier valid work.",
            Witness("lease.is_held", "never", "u5-local-1-command-inherited-open", "lease-has-one-holder"),
        ),
        carried(
            "000.88",
            "Normal settlement releases the owner.",
            Witness("settlement.must_release", "never", INHERITED, "promise"),
        ),
        missing(
            "000.89",
            "The validator neither releases the owner nor makes an execution not started.",
            "text: no rule of the refusal could release anything.",
        ),
        carried(
            "000.90",
            "A refusal that was committed is correctable, and does not block.",
            Witness("settlement.blocks", "always", ALONE, "promise"),
        ),
        carried(
            "000.91",
            "An assistant record of a refusal whose fate is uncertain blocks.",
            Witness("settlement.blocks", "never", "u6-local-1-fresh-assistant-refused", "promise"),
        ),
        carried(
            "000.92",
            "Responses of a refusal whose fate is uncertain block.",
            Witness("settlement.blocks", "never", "u6-local-1-fresh-responses-refused-always", "promise"),
        ),
        missing(
            "000.93",
            "An incomplete command is rejected before its approval, and none is created for it.",
            "approvals: the refusal beside one.",
        ),
        not_simulable(
            "000.94",
            "No configuration, migration, public type, protocol version or error code is added.",
            "It says what is not written, which no run shows.",
        ),
    ),
)
