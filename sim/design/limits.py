"""The limits and time constants of the design. Sizes are bytes, times virtual milliseconds."""

from __future__ import annotations

import msgspec

KIB, MIB = 1024, 1024 * 1024


class Limits(msgspec.Struct, frozen=True):
    """The real values by default; a sweep may scale sizes down, so that small output crosses every boundary."""

    rounds: int = 16
    """Model requests a turn."""
    prompt: int = 64 * KIB
    history_record: int = 64 * KIB
    """A serialized journal record, as its owner may write it (003 Identity, admission and model history)."""
    inline: int = 64 * KIB
    """A serialized journal record or an inline resource, as the Store takes it (003 Problem and scope)."""
    call_envelope: int = 64 * KIB
    """Ids and payload of one call as the broker gets them."""
    payload: int = 256 * KIB
    """The payload of a start, as the broker takes it (behaviour §1.10)."""
    segment: int = MIB
    """One captured segment (003 Ownership and transport)."""
    segments_per_page: int = 512
    pages: int = 64
    last_ordinal: int = 65_535
    """The number of the last segment that a stream can have; the first is 0."""
    page: int = 256 * KIB
    manifest: int = 64 * KIB
    content: int = MIB
    """One published piece of tool-result content (003 Durable output storage)."""
    reread: int = 16 * MIB
    """One range of the re-read at admission."""
    chunk: int = 64 * KIB
    """What the worker reads from a pipe, and sends, at once."""
    write: int = 64 * KIB
    """One raw write, as the owner takes it."""
    body: int = 256 * KIB
    """One request's body at the publisher (behaviour §5)."""
    registration: int = 16 * KIB
    """The body of a publisher registration at the worker (behaviour §5)."""
    process_buffer: int = 64 * KIB
    """The tail of the output from which the preview is cut (003 Ownership and transport)."""
    pipe: int = 64 * KIB
    """What one operating-system pipe holds before its writer waits."""

    request_timeout: int = 30_000
    commit_sends: int = 3
    commit_pause: int = 250
    prepare_sends: int = 2
    ack_sends: int = 2
    settle_writes: int = 2
    read_sends: int = 3
    reconcile_looks: int = 3
    """Consecutive lost looks at a worker's execution before the broker calls it unknown."""
    writer_lease: int = 60_000
    status_poll: int = 50
    worker_poll: int = 100
    busy_poll: int = 250
    """Between two tries at a busy Workspace, where a policy waits for one (behaviour §1.10, newer code)."""
    shell_timeout: int = 120_000
    shell_timeout_min: int = 1
    shell_timeout_max: int = 600_000
    window_slack: int = 60_000
    """Added to a Shell's own timeout to give the observation window."""
    file_window: int = 120_000
    """The observation window of a file tool."""
    worker_window: int = 1_800_000
    """How long the broker observes a worker's execution: 30 minutes."""

    publication_sends: int = 3
    """Sends of one request to the grant or admission service (behaviour §5)."""
    publication_pause: int = 250
    """Between two of them, and between two looks at an operation."""
    publication_starts: int = 3
    start_proofs: int = 10
    """Statuses that prove a reservation before its start is sent again."""
    publication_recoveries: int = 3
    publication_window: int = 1_800_000
    """How long an operation, and an execution that publishes, is looked for: 30 minutes."""
    publication_poll: int = 100
    """Between two looks at an execution that publishes."""
    grant_renewal: int = 10_000
    producer_bytes: int = 2_686_976
    admission_bytes: int = 2 * MIB
    publication_capacity: int = 2**43
    """All that the object store may promise; a capture takes at most 2**41 (behaviour §5)."""
