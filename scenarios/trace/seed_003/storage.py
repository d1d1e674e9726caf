"""003 Durable output storage."""

from __future__ import annotations

from scenarios.trace.sentence import Omission, Section, Witness, carried, not_simulable

STORAGE = Section(
    "Durable output storage",
    (
        carried(
            "003.70",
            "Output is published by an operation of the Session Store that is fenced by the writer.",
            Witness(
                "writer.may_publish",
                "always",
                "one-call",
                "loss-table",
                "journal:a:call:Publish.content#1=writer-expired",
            ),
        ),
        carried(
            "003.71",
            "The publication keeps to the resource table that the SQL Store has.",
            Omission("Output.content", "one-call", "complete-means-complete"),
        ),
        carried(
            "003.72",
            "The publication admits content of tool results, of at most 1 MiB.",
            Witness(
                "writer.output_fits", "content of any size", "large-publication", "outsider-changes-nothing"
            ),
        ),
        carried(
            "003.73",
            "The publication admits pages, of at most 256 KiB.",
            Witness(
                "writer.output_fits", "pages of any size", "large-publication", "outsider-changes-nothing"
            ),
        ),
        carried(
            "003.74",
            "The publication admits manifests, of at most 64 KiB.",
            Witness(
                "writer.output_fits", "manifests of any size", "large-publication", "outsider-changes-nothing"
            ),
        ),
        carried(
            "003.75",
            "The publication admits no other kind of resource.",
            Witness(
                "writer.output_fits", "a kind of one's own", "foreign-publication", "outsider-changes-nothing"
            ),
        ),
        carried(
            "003.76",
            "The bounds of ordinary inline resources and of journal records stay as they were.",
            Witness("admission.assistant_fits", "always", "wide-batch", "promise"),
            Witness("settlement.output_fits", "always", "wide-text", "promise"),
            Witness(
                "writer.fits_inline",
                "always",
                "wide-prompt",
                "promise",
                "",
                ("settlement.prompt_fits: always",),
            ),
        ),
        carried(
            "003.77",
            "A publication is answered as a success only behind its commit.",
            Omission("Output.seal", "one-call", "complete-means-complete"),
        ),
        carried(
            "003.78",
            "Publishing the same bytes under the same id again is welcome.",
            Witness(
                "writer.output_conflicts",
                "always",
                "one-call",
                "conflicts-are-about-bytes",
                "journal:a:call:Publish.content#1=duplicated",
            ),
        ),
        carried(
            "003.79",
            "Publishing other bytes or metadata under an id that is used conflicts.",
            Witness("writer.output_conflicts", "never", "foreign-publication", "immutable-resources"),
        ),
        carried(
            "003.80",
            "Each capture, stream and ordinal has a resource id that follows from them.",
            Omission("Output.content", "one-call", "complete-means-complete"),
        ),
        carried(
            "003.81",
            "The adapter of segments computes lengths and digests itself.",
            Witness(
                "capture.publication_is_exact",
                "always",
                "one-call",
                "loss-table",
                "journal:a:call:Publish.page#1=reply-crossed",
                ("transport.reply_is_mine: always",),
            ),
        ),
        carried(
            "003.82",
            "A stream is sealed once, when exactly its accepted prefix is verified.",
            Witness(
                "capture.offset_follows",
                "always",
                "one-call",
                "complete-means-complete",
                "worker:w:call:WriteOutput.stdout#1=duplicated",
            ),
            Omission("Output.seal", "one-call", "complete-means-complete"),
        ),
        carried(
            "003.83",
            "The adapter serves a producer in the foreground, and takes nothing out of order.",
            Witness(
                "capture.offset_follows",
                "always",
                "one-call",
                "complete-means-complete",
                "worker:w:call:WriteOutput.stdout#1=duplicated",
            ),
        ),
        carried(
            "003.84",
            "The adapter takes only standard output and standard error.",
            Witness("capture.stream_is_known", "always", "foreign-write", "intrusion"),
        ),
        carried(
            "003.85",
            "The adapter takes ordinals only without a gap.",
            Witness("capture.offset_follows", "always", "stolen-gap", "complete-means-complete"),
        ),
        carried(
            "003.86",
            "What is known of open uploads is bounded in memory.",
            Witness("capture.within_bounds", "pages is one more", "size-stream-plus-one", "promise"),
            Witness("capture.within_bounds", "last_ordinal is one more", "size-ordinal-plus-one", "promise"),
        ),
        carried(
            "003.87",
            "No upload is taken up again when its owner was lost.",
            Witness("settlement.unresolved", "nothing", "rc-18-owner-killed", "blocked-stays-blocked"),
        ),
        carried(
            "003.88",
            "Pages and manifests are durable at once, too.",
            Omission("Output.manifest", "one-call", "complete-means-complete"),
        ),
        carried(
            "003.89",
            "A new reader can verify manifest, pages, seals and segments when no producer lives any more.",
            Witness("reading.segment_is_exact", "always", "rotten-segment", "retained-verifies-afresh"),
            Witness("reading.seal_is_recorded", "never", "reread-cancelled", "retained-verifies-afresh"),
        ),
        carried(
            "003.90",
            "What was published stays with its Session.",
            Witness("reading.is_abandoned", "never", "reread-owner-killed", "retained-verifies-afresh"),
        ),
        carried(
            "003.91",
            "An acknowledgement deletes nothing.",
            Omission("Output.page", "reread-complete", "retained-verifies-afresh"),
        ),
        carried(
            "003.92",
            "What is published and not admitted never lets the model go on.",
            Witness("settlement.goes_on", "always", "rc-40-write", "no-inference-on-doubt"),
            Witness("settlement.blocks", "never", "rc-18-receipt-rejected", "order"),
        ),
        not_simulable(
            "003.93",
            "Abandoned bytes wait for a cleanup of the Session that is still to come.",
            "No seed describes that cleanup, so there is nothing that could come too early.",
        ),
    ),
)
