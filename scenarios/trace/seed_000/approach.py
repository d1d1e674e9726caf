"""000 §3 Chosen approach."""

from __future__ import annotations

from scenarios.trace.sentence import Section, Witness, carried, missing, not_simulable

ANSWERED = "refused-text-is-answered"

APPROACH = Section(
    "Chosen approach",
    (
        missing(
            "000.18",
            "One validator serves the tool turn and the hook session.",
            "hooks: the second caller.",
        ),
        not_simulable(
            "000.19",
            "The validator is neither exported from the core nor made a general sanitizer.",
            "It says where code lies, which no run shows.",
        ),
        carried(
            "000.20",
            "The checks of type, of required fields and of the profile stay.",
            Witness("admission.shape_error", "never", "u11-local-1-shape-number", "argument-bytes"),
            Witness("profile.offers", "always", "u10-local-1-unsupported-behind", "promise"),
        ),
        carried(
            "000.21",
            "A valid pair is one code point, and does not match.",
            Witness(
                "admission.text_error",
                "without the Unicode flag",
                "u2-local-2-description-pair",
                "valid-text-is-not-blamed",
            ),
        ),
        carried(
            "000.22",
            "The message for a command is fixed.",
            Witness(
                "admission.text_error", "names the value", "u1-local-1-command-lone-low-middle", ANSWERED
            ),
        ),
        carried(
            "000.23",
            "The message for a description is fixed.",
            Witness(
                "admission.text_error", "names the value", "u1-local-1-description-lone-low-middle", ANSWERED
            ),
        ),
        carried(
            "000.24",
            "A message names only the field, and never contains its value.",
            Witness(
                "admission.text_error",
                "names the value",
                "u1-local-1-command-high-high-middle",
                "refused-value-stands-nowhere",
            ),
        ),
        missing(
            "000.25",
            "Nothing is trimmed, normalized, deleted or replaced in a refused text.",
            "text: a rule under which the record of a batch could be another than the model's.",
        ),
        carried(
            "000.26",
            "The six printable characters of an escape are valid text.",
            Witness(
                "admission.text_error",
                "in the text as it is written",
                "u1-local-1-beside-literal",
                "refused-text-is-answered",
            ),
        ),
        carried(
            "000.27",
            "A parsed half is not.",
            Witness(
                "admission.text_error",
                "never",
                "u1-local-1-beside-literal",
                "refused-text-touches-nothing",
            ),
        ),
        carried(
            "000.28",
            "An omitted description is valid.",
            Witness("admission.text_error", "always", "u2-local-1-no-description", "promise"),
        ),
        carried(
            "000.29",
            "An empty description is valid.",
            Witness(
                "admission.text_error",
                "also of nothing",
                "u2-local-1-empty-description",
                "valid-text-is-not-blamed",
            ),
        ),
        carried(
            "000.30",
            "A missing command keeps its error.",
            Witness("admission.shape_error", "never", "u11-local-1-shape-no-command", "promise"),
        ),
        carried(
            "000.31",
            "A command that is no text keeps its error.",
            Witness("admission.shape_error", "never", "u11-local-1-shape-number", "promise"),
        ),
        carried(
            "000.32",
            "A description that is no text keeps its error.",
            Witness("admission.shape_error", "never", "u11-local-1-shape-description", "promise"),
        ),
        carried(
            "000.33",
            "Unknown keys keep being rejected.",
            Witness("admission.shape_error", "never", "u11-local-1-shape-unknown-key", "promise"),
        ),
        carried(
            "000.34",
            "Tool v3, its payload and the Broker's own validation stay as they are.",
            Witness("execution.payload_is_well_formed", "always", "u11-local-1-file-text", "promise"),
        ),
    ),
)
